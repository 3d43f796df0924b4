//! The key cache: 128 entries of 32 bytes, each a key or a part of one, its type, and the address of a station (Linux ath/key.c;
//! ath/reg.h, AR_KEYTABLE).

use wire::ieee80211::tkip::{self, michael, MIC_LEN};
use wire::ieee80211::{Header, MacAddr, Mpdu};

use super::registers as reg;
use crate::chips::ccmp::{header_len, Ccmp};
use crate::chips::tkip::Tkip;
use crate::chips::wep::{self, Wep};
use crate::state::{Reader, State, StateError, Writer};

/// Entries.
const ENTRIES: usize = ((reg::KEYTABLE_END - reg::KEYTABLE) / ENTRY_LEN) as usize;
const ENTRY_LEN: u32 = 32;
const WORDS: usize = (ENTRY_LEN / 4) as usize;
/// Where its type is: behind the five words of a key, before the two of an address.
const TYPE: usize = 5;
/// The address counts.
const VALID: u32 = 1 << 15;
/// The MIC keys of a TKIP key are so many entries behind it (ath/key.c, ath_setkey_tkip).
const MIC_ENTRIES: usize = 64;

const TYPE_WEP_40: u32 = 0;
const TYPE_WEP_104: u32 = 1;
const TYPE_TKIP: u32 = 4;
const TYPE_CCM: u32 = 6;

/// How the decryption of a received frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decryption {
    /// There is no key for it: it stays as it is.
    NoKey,
    /// It is in clear now; entry of the key.
    Done(usize),
    /// Its integrity code is wrong.
    Failed,
    /// That is right, but its Michael code is not.
    MichaelFailed,
}

/// The cache.
pub(super) struct KeyCache {
    entries: Vec<[u32; WORDS]>,
    /// Keys that were used, ready for use.
    ready: Vec<Option<Cipher>>,
}

/// A key, ready for use.
enum Cipher {
    Ccmp(Box<Ccmp>),
    /// With the key of the Michael code of what comes.
    Tkip(Tkip, [u8; MIC_LEN]),
    Wep(Wep),
}

impl Default for KeyCache {
    fn default() -> Self {
        Self { entries: vec![[0; WORDS]; ENTRIES], ready: (0..ENTRIES).map(|_| None).collect() }
    }
}

fn place(offset: u32) -> (usize, usize) {
    let at = (offset.saturating_sub(reg::KEYTABLE) / 4) as usize;
    (at / WORDS, at % WORDS)
}

impl KeyCache {
    pub(super) fn read(&self, offset: u32) -> u32 {
        let (entry, word) = place(offset);
        self.entries.get(entry).and_then(|words| words.get(word)).copied().unwrap_or(0)
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        let (entry, word) = place(offset);
        if let Some(slot) = self.entries.get_mut(entry).and_then(|words| words.get_mut(word)) {
            *slot = value;
        }
        // The entry, and the one that it has the Michael keys of.
        for stale in [Some(entry), entry.checked_sub(MIC_ENTRIES)].into_iter().flatten() {
            if let Some(ready) = self.ready.get_mut(stale) {
                *ready = None;
            }
        }
    }

    fn cipher(&mut self, entry: usize) -> Option<&mut Cipher> {
        if self.ready.get(entry)?.is_none() {
            let cipher = self.expand(entry);
            *self.ready.get_mut(entry)? = cipher;
        }
        self.ready.get_mut(entry)?.as_mut()
    }

    /// The bytes of a key: 4, 2, 4, 2 and 4 of them in its five words.
    fn bytes(&self, entry: usize) -> Option<[u8; 16]> {
        let [k0, k1, k2, k3, k4, ..] = *self.entries.get(entry)?;
        let mut bytes = [0; 16];
        let parts = [(k0, 4), (k1, 2), (k2, 4), (k3, 2), (k4, 4)];
        let all = parts.into_iter().flat_map(|(word, len)| word.to_le_bytes().into_iter().take(len));
        bytes.iter_mut().zip(all).for_each(|(slot, byte)| *slot = byte);
        Some(bytes)
    }

    fn expand(&self, entry: usize) -> Option<Cipher> {
        let key = self.bytes(entry)?;
        match self.entries.get(entry)?.get(TYPE)? & 7 {
            TYPE_WEP_40 => Some(Cipher::Wep(Wep::new(key, false))),
            TYPE_WEP_104 => Some(Cipher::Wep(Wep::new(key, true))),
            TYPE_TKIP => {
                let [low, _, high, ..] = *self.entries.get(entry + MIC_ENTRIES)?;
                let mut michael = [0; MIC_LEN];
                let bytes = low.to_le_bytes().into_iter().chain(high.to_le_bytes());
                michael.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
                Some(Cipher::Tkip(Tkip::new(key), michael))
            }
            TYPE_CCM => Some(Cipher::Ccmp(Box::new(Ccmp::new(key)))),
            _ => None,
        }
    }

    /// Encrypts a frame with the key of an entry; it has the cipher's header already, and with TKIP its Michael code
    /// (IEEE80211_KEY_FLAG_GENERATE_IV and _GENERATE_MMIC, ath9k/main.c, ath9k_set_key). `false`: there is no such key, or the
    /// frame is none that can be encrypted.
    pub(super) fn encrypt(&mut self, entry: usize, frame: &mut Vec<u8>) -> bool {
        match self.cipher(entry) {
            Some(Cipher::Ccmp(ccmp)) => ccmp.encrypt(frame),
            Some(Cipher::Tkip(tkip, _)) => tkip.encrypt(frame),
            Some(Cipher::Wep(wep)) => wep.encrypt(frame),
            None => false,
        }
    }

    /// The entry of a station; addresses are kept without their first bit, which says that they are of groups.
    fn of_station(&self, address: MacAddr) -> Option<usize> {
        let wanted = address.0.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte)) >> 1;
        let is_it = |words: &[u32; WORDS]| {
            let [.., low, high] = *words;
            high & VALID != 0 && u64::from(low) | u64::from(high & !VALID) << 32 == wanted
        };
        (wanted != 0).then(|| self.entries.iter().position(is_it)).flatten()
    }

    /// The entry with the key of a frame that came: that of its transmitter, or, of frames for groups and where the transmitter
    /// has none, the one with the frame's key ID.
    fn of_frame(&mut self, frame: &[u8]) -> Option<usize> {
        let mpdu = Mpdu::new(frame);
        let (receiver, transmitter) = (mpdu.receiver()?, mpdu.transmitter()?);
        let header = header_len(frame)?;
        let by_id = frame.get(header + 3).map(|byte| usize::from(byte >> 6));
        let own = self.of_station(transmitter).filter(|_| !receiver.is_group());
        own.filter(|&entry| self.cipher(entry).is_some())
            .or_else(|| by_id.filter(|&entry| self.cipher(entry).is_some()))
    }

    /// Decrypts a frame; what the cipher has put around the data stays.
    pub(super) fn decrypt(&mut self, frame: &mut [u8]) -> Decryption {
        if !Mpdu::new(&*frame).protected() {
            return Decryption::NoKey;
        }
        let Some(entry) = self.of_frame(frame) else { return Decryption::NoKey };
        let right = match self.cipher(entry) {
            Some(Cipher::Ccmp(ccmp)) => ccmp.decrypt(frame),
            Some(Cipher::Tkip(tkip, michael)) => {
                let right = tkip.decrypt(frame);
                if right == Some(true) && !has_michael(*michael, frame) {
                    return Decryption::MichaelFailed;
                }
                right
            }
            Some(Cipher::Wep(wep)) => wep.decrypt(frame),
            None => None,
        };
        match right {
            Some(true) => Decryption::Done(entry),
            Some(false) => Decryption::Failed,
            None => Decryption::NoKey,
        }
    }
}

/// Whether the Michael code of a decrypted frame is right; that of a fragment is not looked at.
fn has_michael(key: [u8; MIC_LEN], frame: &[u8]) -> bool {
    let Ok(header) = Header::parse(frame, false) else { return false };
    if header.fc.more_fragments() || header.fragment.unwrap_or(0) > 0 {
        return true;
    }
    let (Some(MacAddr(destination)), Some(MacAddr(source))) = (header.destination(), header.source()) else {
        return false;
    };
    let body =
        frame.get(header.header_len + tkip::HEADER_LEN..frame.len().saturating_sub(wep::ICV)).unwrap_or_default();
    let Some((msdu, code)) = body.split_last_chunk::<MIC_LEN>() else { return false };
    michael(key, destination, source, header.qos.map_or(0, |qos| qos.tid()), msdu) == *code
}

/// Keys are made ready again.
impl State for KeyCache {
    fn save(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(&self.entries)
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.entries = from.take()?;
        self.ready.fill_with(|| None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATION: [u8; 6] = [0x02, 0x33, 0x44, 0x55, 0x66, 0x77];

    fn set(cache: &mut KeyCache, entry: u32, words: [u32; WORDS]) {
        for (at, word) in (0..).zip(words) {
            cache.write(reg::KEYTABLE + ENTRY_LEN * entry + 4 * at, word);
        }
    }

    /// As ath/key.c writes them (ath_hw_set_keycache_entry, ath_hw_keysetmac).
    fn entry(key: [u8; 16], kind: u32, [a, b, c, d, e, f]: [u8; 6]) -> [u32; WORDS] {
        let word = |at: usize| u32::from_le_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
        let half = |at: usize| u32::from(u16::from_le_bytes([key[at], key[at + 1]]));
        let (low, high) = (u32::from_le_bytes([a, b, c, d]), u32::from(u16::from_le_bytes([e, f])));
        [word(0), half(4), word(6), half(10), word(12), kind, low >> 1 | high << 31, high >> 1 | VALID]
    }

    fn frame(to: [u8; 6], key_id: u8) -> Vec<u8> {
        [
            &[0x08, 0x41, 0, 0][..],
            &to,
            &STATION,
            &[9; 6],
            &[0x10, 0],
            &[1, 0, 0, 0x20 | key_id << 6, 0, 0, 0, 0],
            &[7; 60],
        ]
        .concat()
    }

    #[test]
    fn frames_are_decrypted_with_the_key_of_their_transmitter_or_their_number() {
        let key = std::array::from_fn(|at| at as u8);
        let group = [0x5a; 16];
        let mut cache = KeyCache::default();
        set(&mut cache, 0, [0, 0, 0, 0, 0, 7, 0, 0]);
        set(&mut cache, 1, entry(group, TYPE_CCM, [0; 6]));
        set(&mut cache, 9, entry(key, TYPE_CCM, STATION));
        for (to, key_id, used, by) in [([4; 6], 0, key, 9), ([0xff; 6], 1, group, 1)] {
            let mut sent = frame(to, key_id);
            assert!(Ccmp::new(used).encrypt(&mut sent));
            assert_eq!(cache.decrypt(&mut sent), Decryption::Done(by));
            assert_eq!(sent[32..92], [7; 60]);
            sent[40] ^= 1;
            assert_eq!(cache.decrypt(&mut sent), Decryption::Failed);
        }
        assert_eq!(cache.decrypt(&mut frame([0xff; 6], 2)), Decryption::Failed, "a key of WEP with 40 bits");
        set(&mut cache, 2, [0, 0, 0, 0, 0, 7, 0, 0]);
        assert_eq!(cache.decrypt(&mut frame([0xff; 6], 2)), Decryption::NoKey);
        let mut own = frame([4; 6], 0);
        assert!(
            cache.encrypt(9, &mut own) && !cache.encrypt(2, &mut frame([4; 6], 0)) && !cache.encrypt(500, &mut own)
        );
        assert_eq!(own.len(), 92 + 8);
    }

    #[test]
    fn the_michael_code_of_tkip_is_checked() {
        let (key, receives) = ([3; 16], [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut cache = KeyCache::default();
        set(&mut cache, 5, entry(key, TYPE_TKIP, STATION));
        set(&mut cache, 5 + 64, [0x0403_0201, 0, 0x0807_0605, 0, 0, 7, 0, 0]);
        let data = [7; 60];
        for (damage, expected) in [(0, Decryption::Done(5)), (1, Decryption::MichaelFailed)] {
            let mut sent = frame([4; 6], 0);
            // To the distribution system: the destination is the third address.
            let mut code = michael(receives, [9; 6], STATION, 0, &data);
            code[0] ^= damage;
            sent.extend(code);
            assert!(Tkip::new(key).encrypt(&mut sent));
            assert_eq!(cache.decrypt(&mut sent), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_frame_and_any_cache(frame: Vec<u8>, words: [u32; 8], at in 0u32..128) {
            let mut cache = KeyCache::default();
            set(&mut cache, at, words);
            let mut frame = frame;
            let _ = cache.decrypt(&mut frame);
            let _ = cache.encrypt(at as usize, &mut frame);
        }
    }
}
