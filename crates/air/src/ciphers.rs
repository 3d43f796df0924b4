//! TKIP or CCMP? One header in 256 is one of both: the other frames of its stream tell.

use wire::ieee80211::{Cipher, Header, MacAddr};

/// Streams remembered; those that share a slot replace each other.
const SLOTS: usize = 512;

/// Transmitter and receiver; all group addresses are one, because the transmitter has one group key for them.
type Stream = (MacAddr, MacAddr);

/// The streams that are known to be encrypted with TKIP.
#[derive(Debug, Default)]
pub struct Ciphers {
    /// Empty until the first TKIP frame: most captures have none, and need no memory of it.
    tkip: Vec<Option<Stream>>,
}

impl Ciphers {
    /// The cipher of a protected frame with this body. Only a frame with an FCS that `is_usable` says something of others.
    #[inline]
    pub fn of(&mut self, header: &Header, body: &[u8], is_usable: bool) -> Option<Cipher> {
        let guess = Cipher::guess(body);
        match guess {
            Some(Cipher::Tkip) if is_usable => self.learn(header),
            Some(Cipher::Ccmp128) if !self.tkip.is_empty() => return Some(self.recall(header, body, is_usable)),
            _ => {}
        }
        guess
    }

    #[cold]
    fn learn(&mut self, header: &Header) {
        let Some((slot, stream)) = place(header) else { return };
        if self.tkip.is_empty() {
            self.tkip = vec![None; SLOTS];
        }
        if let Some(known) = self.tkip.get_mut(slot) {
            *known = Some(stream);
        }
    }

    #[cold]
    fn recall(&mut self, header: &Header, body: &[u8], is_usable: bool) -> Cipher {
        let Some((slot, stream)) = place(header) else { return Cipher::Ccmp128 };
        let Some(known) = self.tkip.get_mut(slot).filter(|known| **known == Some(stream)) else {
            return Cipher::Ccmp128;
        };
        if Cipher::is_doubtful(body) {
            return Cipher::Tkip;
        }
        if is_usable {
            *known = None; // another key, by a new association
        }
        Cipher::Ccmp128
    }
}

fn place(header: &Header) -> Option<(usize, Stream)> {
    let receiver = header.receiver();
    let receiver = if receiver.is_group() { MacAddr::BROADCAST } else { receiver };
    let stream = (header.transmitter()?, receiver);
    // Fibonacci hashing: stations of one maker differ in few bits.
    let mixed = (stream.0.as_u64() ^ stream.1.as_u64().rotate_left(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some(((mixed >> 32) as usize % SLOTS, stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AP: u8 = 1;
    const OTHER_AP: u8 = 2;

    fn header(from: u8, to: [u8; 6]) -> Header {
        let mut bytes = vec![0x08, 0x42, 0, 0];
        bytes.extend(to);
        bytes.extend([2, 0, 0, 0, 0, from, 2, 0, 0, 0, 0, from, 0, 0]);
        Header::parse(&bytes, false).unwrap()
    }

    /// TSC1, WEPSeed[1], TSC0, key ID with Extended IV.
    fn tkip(tsc: u16) -> [u8; 8] {
        let [tsc0, tsc1] = tsc.to_le_bytes();
        [tsc1, (tsc1 | 0x20) & 0x7f, tsc0, 0x20, 0, 0, 0, 0]
    }

    fn ccmp(pn: u16) -> [u8; 8] {
        let [pn0, pn1] = pn.to_le_bytes();
        [pn0, pn1, 0, 0x20, 0, 0, 0, 0]
    }

    #[test]
    fn every_frame_of_a_stream_has_its_cipher() {
        let station = [2, 0, 0, 0, 0, 9];
        let (pair, other) = (header(AP, station), header(OTHER_AP, station));
        let mut ciphers = Ciphers::default();
        let mut doubtful = [0, 0];
        for number in 1..=u16::MAX {
            doubtful[0] += u32::from(Cipher::is_doubtful(&tkip(number)));
            assert_eq!(ciphers.of(&pair, &tkip(number), true), Some(Cipher::Tkip), "TSC {number}");
            doubtful[1] += u32::from(Cipher::is_doubtful(&ccmp(number)));
            assert_eq!(ciphers.of(&other, &ccmp(number), true), Some(Cipher::Ccmp128), "PN {number}");
        }
        assert_eq!(doubtful, [255, 256]);
    }

    #[test]
    fn group_keys_are_apart_from_pairwise_ones_and_new_keys_count() {
        let (group, pair) = (header(AP, [1, 0, 0x5e, 0, 0, 1]), header(AP, [2, 0, 0, 0, 0, 9]));
        let mut ciphers = Ciphers::default();
        assert_eq!(ciphers.of(&group, &tkip(3), true), Some(Cipher::Tkip));
        assert_eq!(ciphers.of(&header(AP, [255; 6]), &tkip(0x100), true), Some(Cipher::Tkip), "the same group key");
        let doubtful = ccmp(0x2000);
        assert!(Cipher::is_doubtful(&doubtful));
        assert_eq!(ciphers.of(&pair, &doubtful, true), Some(Cipher::Ccmp128), "CCMP for one, TKIP for all");
        assert_eq!(ciphers.of(&pair, &tkip(3), false), Some(Cipher::Tkip), "damaged");
        assert_eq!(ciphers.of(&pair, &doubtful, true), Some(Cipher::Ccmp128), "learnt nothing");
        assert_eq!(ciphers.of(&group, &ccmp(1), true), Some(Cipher::Ccmp128), "a new key");
        assert_eq!(ciphers.of(&group, &doubtful, true), Some(Cipher::Ccmp128));
    }
}
