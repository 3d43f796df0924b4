//! WEP (IEEE 802.11-2020, 12.3.2): RC4 over data and their CRC-32, which TKIP uses as well.

use rc4::consts::{U16, U8};
use rc4::{Key, KeyInit, Rc4, StreamCipher};
use wire::fcs::fcs32;

use crate::chips::ccmp::header_len;

/// Bytes of the header between MAC header and data: initialisation vector and key number.
pub const HEADER: usize = 4;
/// Bytes of the integrity check value, after the data.
pub const ICV: usize = 4;

/// What RC4 starts with.
#[derive(Clone, Copy, Debug)]
pub enum Seed {
    /// Initialisation vector and a key of 40 bits.
    Short([u8; 8]),
    /// Initialisation vector and a key of 104 bits, or what TKIP has mixed.
    Long([u8; 16]),
}

fn apply(seed: &Seed, data: &mut [u8]) {
    match seed {
        Seed::Short(bytes) => Rc4::<U8>::new(Key::<U8>::from_slice(bytes)).apply_keystream(data),
        Seed::Long(bytes) => Rc4::<U16>::new(Key::<U16>::from_slice(bytes)).apply_keystream(data),
    }
}

/// Encrypts what follows `start`, and appends the integrity check value.
pub fn seal(seed: &Seed, frame: &mut Vec<u8>, start: usize) {
    let value = fcs32(frame.get(start..).unwrap_or_default());
    frame.extend(value.to_le_bytes());
    apply(seed, frame.get_mut(start..).unwrap_or_default());
}

/// Decrypts what follows `start`, data and integrity check value, which stay where they are. `None`: too short, and not
/// changed; `Some(false)`: the value is wrong (and the frame is what the key has made of it, as hardware hands it on).
pub fn open(seed: &Seed, frame: &mut [u8], start: usize) -> Option<bool> {
    let body = frame.get_mut(start..).filter(|body| body.len() >= ICV)?;
    apply(seed, body);
    body.split_last_chunk::<ICV>().map(|(data, value)| fcs32(data) == u32::from_le_bytes(*value))
}

/// A WEP key, ready for use.
#[derive(Clone)]
pub struct Wep {
    key: [u8; 16],
    long: bool,
}

impl Wep {
    /// With the first 5 bytes of `key`, or (`long`) the first 13.
    pub const fn new(key: [u8; 16], long: bool) -> Self {
        Self { key, long }
    }

    fn seed(&self, frame: &[u8], header: usize) -> Option<Seed> {
        let vector = frame.get(header..header + 3)?;
        let mut bytes = [0; 16];
        bytes[..3].copy_from_slice(vector);
        bytes[3..].copy_from_slice(&self.key[..13]);
        Some(if self.long { Seed::Long(bytes) } else { Seed::Short(*bytes.first_chunk()?) })
    }

    /// Encrypts what follows the WEP header, which the frame has already. `false`: too short, and not changed.
    pub fn encrypt(&self, frame: &mut Vec<u8>) -> bool {
        let Some(header) = header_len(frame).filter(|header| frame.len() >= header + HEADER) else { return false };
        let Some(seed) = self.seed(frame, header) else { return false };
        seal(&seed, frame, header + HEADER);
        true
    }

    /// Decrypts; header and integrity check value stay. `None`: too short; `Some(false)`: the value is wrong.
    pub fn decrypt(&self, frame: &mut [u8]) -> Option<bool> {
        let header = header_len(frame)?;
        let seed = self.seed(frame, header)?;
        open(&seed, frame, header + HEADER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn bytes(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// IEEE 802.11-2020, annex J.4 (WEP test vector): a NetBIOS name query under the key 30 31 32 33 34.
    #[test]
    fn the_standards_test_vector() {
        let data = bytes(
            "aa aa 03 00 00 00 08 00 45 00 00 4e 66 1a 00 00 80 11 be 64 0a 00 01 22 0a ff ff ff 00 89 00 89 00 3a 00 00
             80 a6 01 10 00 01 00 00 00 00 00 00 20 45 43 45 4a 45 48 45 43 46 43 45 50 46 45 45 49 45 46 46 43 43 41 43
             41 43 41 43 41 43 41 41 41 00 00 20 00 01",
        );
        let expected = bytes(
            "f6 9c 58 06 bd 6c e8 46 26 bc be fb 94 74 65 0a ad 1f 79 09 b0 f6 4d 5f 58 a5 03 a2 58 b7 ed 22 eb 0e a6 49
             30 d3 a0 56 a5 57 42 fc ce 14 1d 48 5f 8a a8 36 de a1 8d f4 2c 53 80 80 5a d0 c6 1a 5d 6f 58 f4 10 40 b2 4b
             7d 1a 69 38 56 ed 0d 43 98 e7 ae e3 bf 0e 2a 2c a8 f7",
        );
        let mut key = [0; 16];
        key[..5].copy_from_slice(b"01234");
        let wep = Wep::new(key, false);
        let mut frame = vec![0x08, 0x41];
        frame.resize(24, 0);
        frame.extend(bytes("fb 02 9e 80"));
        frame.extend(&data);
        assert!(wep.encrypt(&mut frame));
        assert_eq!(frame[28..], expected);
        assert_eq!(wep.decrypt(&mut frame), Some(true));
        assert_eq!(frame[28..28 + data.len()], data);
        assert_eq!(frame[28 + data.len()..], bytes("1b d0 b6 04"));
    }

    proptest::proptest! {
        #[test]
        fn any_frame_comes_back_or_is_refused(mut frame: Vec<u8>, key: [u8; 16], long: bool) {
            let wep = Wep::new(key, long);
            let before = frame.clone();
            if wep.encrypt(&mut frame) {
                assert_eq!(wep.decrypt(&mut frame), Some(true));
                assert_eq!(frame[..before.len()], before);
            } else {
                assert_eq!(frame, before);
            }
            let _ = wep.decrypt(&mut frame);
        }
    }
}
