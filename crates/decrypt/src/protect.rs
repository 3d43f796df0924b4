//! CCMP, GCMP and TKIP (12.5.3, 12.5.5, 12.5.2): what of a header is authenticated, the nonce, and the opening of an MPDU.

use aes::{Aes128, Aes256};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use ccm::aead::generic_array::GenericArray;
use ccm::aead::{AeadInPlace, KeyInit};
use ccm::consts::{U13, U16, U8};
use ccm::Ccm;
use wire::ieee80211::tkip::{self, michael, KeyMixer};
use wire::ieee80211::{Cipher, Header};

use zeroize::Zeroizing;

use crate::derive::key_len;
use crate::stream;

/// Bytes of a CCMP or GCMP header.
const SECURITY_HEADER_LEN: usize = 8;
/// Bits of Frame Control that may change from one attempt to the next, or that the receiver cannot know: the lower subtype
/// bits, Retry, Power Management, More Data.
const MASKED_FC: u16 = 0x0070 | 0x0800 | 0x1000 | 0x2000;
const PROTECTED: u16 = 0x4000;
const ORDER: u16 = 0x8000;
/// A-MSDU Present in QoS Control.
const AMSDU_PRESENT: u16 = 0x80;
/// Frame Control, three addresses, Sequence Control, address 4, QoS Control.
const LONGEST_AAD: usize = 2 + 3 * 6 + 2 + 6 + 2;
/// Counters of packet numbers: one for each TID, and one for frames without.
const COUNTERS: usize = 17;

enum Opener {
    Ccmp128(Ccm<Aes128, U8, U13>),
    Ccmp256(Ccm<Aes256, U16, U13>),
    Gcmp128(Aes128Gcm),
    Gcmp256(Aes256Gcm),
}

/// A temporal or group key.
pub(crate) struct TemporalKey {
    /// `None`: TKIP, with a key that differs from MPDU to MPDU.
    opener: Option<Box<Opener>>,
    cipher: Cipher,
    key: Zeroizing<Vec<u8>>,
    /// Highest packet number so far.
    highest: [u64; COUNTERS],
}

/// Additional authenticated data.
struct Aad {
    bytes: [u8; LONGEST_AAD],
    len: usize,
}

impl Aad {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    /// Additional authenticated data of a data frame (12.5.3.3.3). `amsdu_bit`: both ends protect A-MSDU Present (SPP A-MSDUs),
    /// which the frame does not say.
    fn new(header: &Header, amsdu_bit: bool) -> Self {
        let mut aad = Self { bytes: [0; LONGEST_AAD], len: 0 };
        let order = if header.qos.is_some() { ORDER } else { 0 };
        aad.push(&(header.fc.0 & !MASKED_FC & !order | PROTECTED).to_le_bytes());
        for address in [Some(header.addr1), header.addr2, header.addr3].into_iter().flatten() {
            aad.push(&address.0);
        }
        aad.push(&[header.fragment.unwrap_or(0), 0]);
        if let Some(address) = header.addr4 {
            aad.push(&address.0);
        }
        if let Some(qos) = header.qos {
            let kept = if amsdu_bit { 0xf | AMSDU_PRESENT } else { 0xf };
            aad.push(&(qos.0 & kept).to_le_bytes());
        }
        aad
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// The packet number in a CCMP or GCMP header, and its six bytes as the nonce has them.
fn packet_number(body: &[u8]) -> Option<(u64, [u8; 6])> {
    let &[pn0, pn1, _, _, pn2, pn3, pn4, pn5] = body.first_chunk::<SECURITY_HEADER_LEN>()?;
    Some((u64::from_be_bytes([0, 0, pn5, pn4, pn3, pn2, pn1, pn0]), [pn5, pn4, pn3, pn2, pn1, pn0]))
}

impl TemporalKey {
    /// `None`: the cipher is not one of these, or the key is shorter than it needs.
    pub(crate) fn new(cipher: Cipher, key: &[u8]) -> Option<Self> {
        let key = key.get(..key_len(cipher)?)?;
        let opener = match cipher {
            Cipher::Ccmp128 => Opener::Ccmp128(Ccm::new_from_slice(key).ok()?),
            Cipher::Ccmp256 => Opener::Ccmp256(Ccm::new_from_slice(key).ok()?),
            Cipher::Gcmp128 => Opener::Gcmp128(Aes128Gcm::new_from_slice(key).ok()?),
            Cipher::Gcmp256 => Opener::Gcmp256(Aes256Gcm::new_from_slice(key).ok()?),
            Cipher::Tkip => return Some(Self::with(None, cipher, key)),
            Cipher::Wep => return None,
        };
        Some(Self::with(Some(Box::new(opener)), cipher, key))
    }

    fn with(opener: Option<Box<Opener>>, cipher: Cipher, key: &[u8]) -> Self {
        Self { opener, cipher, key: Zeroizing::new(key.to_vec()), highest: [0; COUNTERS] }
    }

    /// Its cipher.
    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// The same key, with no packet number seen.
    pub(crate) fn again(&self) -> Option<Self> {
        Self::new(self.cipher, &self.key)
    }

    /// Both are one key: a handshake delivers the same group key to every station, and again when a message is repeated.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cipher == other.cipher && self.key == other.key
    }

    /// Opens the body of an MPDU (security header, data, MIC; no FCS) into `clear`; `false` when its MIC does not match, and
    /// `clear` is empty then.
    pub(crate) fn open(&self, header: &Header, body: &[u8], clear: &mut Vec<u8>) -> bool {
        let opened = self.try_open(header, body, clear, false).is_some()
            || (header.is_amsdu() && self.try_open(header, body, clear, true).is_some());
        if !opened {
            clear.clear();
        }
        opened
    }

    fn try_open(&self, header: &Header, body: &[u8], clear: &mut Vec<u8>, amsdu_bit: bool) -> Option<()> {
        let Some(opener) = &self.opener else { return self.try_open_tkip(header, body, clear) };
        let (_, pn) = packet_number(body)?;
        let sender = header.addr2?.0;
        let (data, tag) = body.split_at_checked(body.len().checked_sub(self.cipher.trailer_len())?)?;
        clear.clear();
        clear.extend_from_slice(data.get(SECURITY_HEADER_LEN..)?);
        let aad = Aad::new(header, amsdu_bit);
        // CCMP has the priority before address and packet number, GCMP has not.
        let mut nonce = [0; 13];
        let (priority, rest) = nonce.split_first_mut()?;
        *priority = header.qos.map_or(0, |qos| qos.tid());
        let (address, counter) = rest.split_at_mut(sender.len());
        address.copy_from_slice(&sender);
        counter.copy_from_slice(&pn);
        let ccmp = GenericArray::from_slice(&nonce);
        let gcmp = GenericArray::from_slice(nonce.get(1..)?);
        let aad = aad.bytes();
        match &**opener {
            Opener::Ccmp128(key) => key.decrypt_in_place_detached(ccmp, aad, clear, GenericArray::from_slice(tag)),
            Opener::Ccmp256(key) => key.decrypt_in_place_detached(ccmp, aad, clear, GenericArray::from_slice(tag)),
            Opener::Gcmp128(key) => key.decrypt_in_place_detached(gcmp, aad, clear, GenericArray::from_slice(tag)),
            Opener::Gcmp256(key) => key.decrypt_in_place_detached(gcmp, aad, clear, GenericArray::from_slice(tag)),
        }
        .ok()
    }

    /// The integrity check value of every MPDU, and Michael's code of those that are a whole MSDU. Of one in fragments the code is behind
    /// the last, and stays there unchecked.
    fn try_open_tkip(&self, header: &Header, body: &[u8], clear: &mut Vec<u8>) -> Option<()> {
        let (temporal, michael_keys) = self.key.split_first_chunk::<16>()?;
        let (from_authenticator, to_authenticator) = michael_keys.split_first_chunk::<{ tkip::MIC_LEN }>()?;
        let seed = KeyMixer::new(*temporal).mpdu_key(header.addr2?.0, tkip::counter(body)?);
        clear.clear();
        clear.extend_from_slice(body.get(tkip::HEADER_LEN..)?);
        stream::open(&seed, clear)?;
        if header.fragment != Some(0) || header.fc.more_fragments() {
            return Some(());
        }
        let key = if header.fc.from_ds() { from_authenticator } else { to_authenticator.first_chunk()? };
        let (msdu, code) = clear.split_last_chunk::<{ tkip::MIC_LEN }>()?;
        let priority = header.qos.map_or(0, |qos| qos.tid());
        if michael(*key, header.destination()?.0, header.source()?.0, priority, msdu) != *code {
            return None;
        }
        clear.truncate(clear.len() - tkip::MIC_LEN);
        Some(())
    }

    /// Records the packet number of an MPDU that was opened; `true` when it is not higher than all before it under the
    /// same TID although the MPDU is not a retry: a replay, or a file in disorder.
    pub(crate) fn is_behind(&mut self, header: &Header, body: &[u8]) -> bool {
        let number = match self.cipher {
            Cipher::Tkip => tkip::counter(body).map(|(upper, lower)| u64::from(upper) << 16 | u64::from(lower)),
            _ => packet_number(body).map(|(number, _)| number),
        };
        let Some(number) = number else { return false };
        let counter = header.qos.map_or(COUNTERS - 1, |qos| usize::from(qos.tid()));
        let Some(highest) = self.highest.get_mut(counter) else { return false };
        let behind = number <= *highest && !header.fc.retry();
        *highest = number.max(*highest);
        behind
    }
}

#[cfg(test)]
pub(crate) mod sealing {
    //! The other way round, for tests.

    use super::*;

    /// Encrypts `clear` as the body of a frame with `header`, under packet number `pn`.
    pub(crate) fn seal(cipher: Cipher, key: &[u8], header: &Header, pn: u64, clear: &[u8]) -> Vec<u8> {
        let [_, _, pn5, pn4, pn3, pn2, pn1, pn0] = pn.to_be_bytes();
        if cipher == Cipher::Tkip {
            let head = [pn1, (pn1 | 0x20) & 0x7f, pn0, 0x20, pn2, pn3, pn4, pn5];
            let at = if header.fc.from_ds() { 16 } else { 24 };
            let (to, from) = (header.destination().unwrap().0, header.source().unwrap().0);
            let priority = header.qos.map_or(0, |qos| qos.tid());
            let code = michael(key[at..at + 8].try_into().unwrap(), to, from, priority, clear);
            let seed = KeyMixer::new(key[..16].try_into().unwrap())
                .mpdu_key(header.addr2.unwrap().0, tkip::counter(&head).unwrap());
            return [&head[..], &stream::seal(&seed, &[clear, &code].concat())].concat();
        }
        let mut nonce = vec![header.qos.map_or(0, |qos| qos.tid())];
        nonce.extend(header.addr2.unwrap().0);
        nonce.extend([pn5, pn4, pn3, pn2, pn1, pn0]);
        let mut data = clear.to_vec();
        let aad = Aad::new(header, false);
        let (aad, ccmp, gcmp) = (aad.bytes(), GenericArray::from_slice(&nonce), GenericArray::from_slice(&nonce[1..]));
        let key = TemporalKey::new(cipher, key).unwrap();
        let tag = match key.opener.as_deref().unwrap() {
            Opener::Ccmp128(key) => key.encrypt_in_place_detached(ccmp, aad, &mut data).unwrap().to_vec(),
            Opener::Ccmp256(key) => key.encrypt_in_place_detached(ccmp, aad, &mut data).unwrap().to_vec(),
            Opener::Gcmp128(key) => key.encrypt_in_place_detached(gcmp, aad, &mut data).unwrap().to_vec(),
            Opener::Gcmp256(key) => key.encrypt_in_place_detached(gcmp, aad, &mut data).unwrap().to_vec(),
        };
        [&[pn0, pn1, 0, 0x20, pn2, pn3, pn4, pn5], &data[..], &tag].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CIPHERS: [Cipher; 5] = [Cipher::Ccmp128, Cipher::Ccmp256, Cipher::Gcmp128, Cipher::Gcmp256, Cipher::Tkip];

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    /// J.6.4: the CCMP test vector of the standard.
    #[test]
    fn the_mpdu_of_the_standard() {
        let mpdu =
            hex("08 48 c3 2c 0f d2 e1 28 a5 7c 50 30 f1 84 44 08 ab ae a5 b8 fc ba 80 33 0c e7 00 20 76 97 03 b5 \
             f3 d0 a2 fe 9a 3d bf 23 42 a6 43 e4 32 46 e8 0c 3c 04 d0 19 78 45 ce 0b 16 f9 76 23");
        let header = Header::parse(&mpdu, false).unwrap();
        let key = TemporalKey::new(Cipher::Ccmp128, &hex("c9 7c 1f 67 ce 37 11 85 51 4a 8a 19 f2 bd d5 2f")).unwrap();
        let mut clear = Vec::new();
        assert!(key.open(&header, &mpdu[header.header_len..], &mut clear));
        assert_eq!(clear, hex("f8 ba 1a 55 d0 2f 85 ae 96 7b b6 2f b6 cd a8 eb 7e 78 a0 50"));
    }

    #[test]
    fn a_packet_number_that_comes_again_is_behind() {
        let header = |fc1| Header::parse(&[&[0x88, fc1][..], &[2; 24]].concat(), false).unwrap();
        let mut key = TemporalKey::new(Cipher::Ccmp128, &[1; 16]).unwrap();
        let number = |pn: u8| [pn, 0, 0, 0x20, 0, 0, 0, 0];
        assert!(!key.is_behind(&header(0x41), &number(1)));
        assert!(!key.is_behind(&header(0x41), &number(3)));
        assert!(!key.is_behind(&header(0x49), &number(3)), "a retry");
        assert!(key.is_behind(&header(0x41), &number(3)));
        assert!(key.is_behind(&header(0x41), &number(2)));
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens_and_what_was_changed_does_not(
            cipher in prop::sample::select(CIPHERS.to_vec()), key: [u8; 32], pn in 0u64..1 << 48, fc1 in 0u8..4,
            addresses: [u8; 24], qos: [u8; 2], is_qos: bool, clear in prop::collection::vec(any::<u8>(), 0..200), flip: prop::sample::Index,
            retry: bool,
        ) {
            let fc0 = if is_qos { 0x88 } else { 0x08 };
            let mut mpdu = vec![fc0, fc1 | 0x40, 0, 0];
            mpdu.extend(&addresses[..18]);
            mpdu.extend([0x20, 0x01]);
            if fc1 == 3 {
                mpdu.extend(&addresses[18..]);
            }
            if is_qos {
                // There are no A-MSDUs with TKIP (12.5.2.1).
                let kept = if cipher == Cipher::Tkip { 0x7f } else { 0xff };
                mpdu.extend([qos[0] & kept, qos[1]]);
            }
            let header = Header::parse(&mpdu, false).unwrap();
            let mut body = sealing::seal(cipher, &key, &header, pn, &clear);
            mpdu[1] |= u8::from(retry) << 3;
            let header = Header::parse(&mpdu, false).unwrap();
            let opener = TemporalKey::new(cipher, &key).unwrap();
            let mut opened = Vec::new();
            prop_assert!(opener.open(&header, &body, &mut opened));
            prop_assert_eq!(&opened, &clear);
            prop_assert!(!opener.open(&header, &body[..body.len() - 1], &mut opened));
            // Only the packet number of the security header counts.
            let not_counted = if cipher == Cipher::Tkip { [1, 3] } else { [2, 3] };
            let index = Some(flip.index(body.len())).filter(|index| !not_counted.contains(index)).unwrap_or(0);
            body[index] ^= 1;
            prop_assert!(!opener.open(&header, &body, &mut opened) && opened.is_empty());
        }

        #[test]
        fn never_panics(mpdu in prop::collection::vec(any::<u8>(), 0..120), key: [u8; 32]) {
            let Ok(header) = Header::parse(&mpdu, false) else { return Ok(()) };
            for cipher in CIPHERS {
                let mut key = TemporalKey::new(cipher, &key).unwrap();
                let body = &mpdu[header.header_len..];
                prop_assert!(!key.open(&header, body, &mut Vec::new()));
                key.is_behind(&header, body);
            }
        }
    }
}
