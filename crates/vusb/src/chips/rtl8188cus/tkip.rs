//! TKIP (IEEE 802.11-2020, 12.5.2) as far as the chip does it: the key of every frame mixed from the temporal key, the
//! transmitter and the sequence counter, then WEP. The message integrity code (Michael) is the drivers' affair: both ask
//! mac80211 to append and check it (IEEE80211_KEY_FLAG_GENERATE_MMIC in rtl8xxxu core.c, rtl8xxxu_set_key, and rtlwifi
//! core.c, rtl_op_set_key), so it comes as part of the data.

use wire::ieee80211::{MacAddr, Mpdu};

use super::wep::{open, seal, Seed};
use crate::chips::ccmp::header_len;

/// Bytes of the TKIP header, between MAC header and data.
pub const HEADER: usize = 8;

/// A temporal key, and the first phase of the mixing, which stays the same for 65,536 frames of one transmitter.
pub struct Tkip {
    key: [u8; 16],
    /// Transmitter, upper 32 bits of the counter, and what came of them.
    first: Option<([u8; 6], u32, [u16; 5])>,
}

/// The S-box of AES, made as FIPS 197 defines it: the inverse in GF(2^8), then an affine map. Here by walking through the
/// field with the generator 3 and its inverse.
#[expect(clippy::indexing_slicing, reason = "const, and a byte is below 256")]
const fn aes_sbox() -> [u8; 256] {
    let mut table = [0; 256];
    let (mut power, mut inverse) = (1u8, 1u8);
    loop {
        power = power ^ (power << 1) ^ if power & 0x80 == 0 { 0 } else { 0x1b };
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        inverse ^= if inverse & 0x80 == 0 { 0 } else { 0x09 };
        let spread =
            inverse ^ inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4);
        table[power as usize] = spread ^ 0x63;
        if power == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
}

const SBOX: [u8; 256] = aes_sbox();

/// The 16-bit S-box of TKIP (12.5.2.5.3): of either byte, the AES S-box times 2 and times 3.
fn substitute(value: u16) -> u16 {
    let half = |byte: u8| {
        let s = SBOX.get(usize::from(byte)).copied().unwrap_or(0);
        let double = s << 1 ^ if s & 0x80 == 0 { 0 } else { 0x1b };
        u16::from_be_bytes([double, double ^ s])
    };
    let [high, low] = value.to_be_bytes();
    half(low) ^ half(high).swap_bytes()
}

impl Tkip {
    /// With a temporal key.
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key, first: None }
    }

    fn word(&self, at: usize) -> u16 {
        let byte = |at: usize| self.key.get(at).copied().unwrap_or(0);
        u16::from_le_bytes([byte(2 * at), byte(2 * at + 1)])
    }

    /// Phase 1 (12.5.2.5.4).
    fn phase1(&self, transmitter: [u8; 6], upper: u32) -> [u16; 5] {
        let [a, b, c, d, e, f] = transmitter;
        let [low, middle, high] = [[a, b], [c, d], [e, f]].map(u16::from_le_bytes);
        let mut mixed = [upper as u16, (upper >> 16) as u16, low, middle, high];
        for round in 0..8u16 {
            let odd = usize::from(round & 1);
            let mut before = mixed[4];
            for (at, word) in mixed.iter_mut().enumerate() {
                let key = self.word(odd + 2 * (at % 4));
                *word = word.wrapping_add(substitute(before ^ key));
                before = *word;
            }
            mixed[4] = mixed[4].wrapping_add(round);
        }
        mixed
    }

    /// Phase 2 (12.5.2.5.5): the RC4 key of the frame with the lower 16 bits of the counter.
    fn phase2(&self, mixed: [u16; 5], lower: u16) -> [u8; 16] {
        let mut words = [0; 6];
        words[..5].copy_from_slice(&mixed);
        words[5] = mixed[4].wrapping_add(lower);
        let mut before = words[5];
        for (at, word) in words.iter_mut().enumerate() {
            *word = word.wrapping_add(substitute(before ^ self.word(at)));
            before = *word;
        }
        for (at, word) in words.iter_mut().enumerate() {
            let key = if at < 2 { self.word(6 + at) } else { 0 };
            *word = word.wrapping_add((before ^ key).rotate_right(1));
            before = *word;
        }
        let mut key = [0; 16];
        let [high, low] = lower.to_be_bytes();
        // The second byte keeps RC4 from its weak keys.
        key[..3].copy_from_slice(&[high, (high | 0x20) & 0x7f, low]);
        key[3] = ((words[5] ^ self.word(0)) >> 1) as u8;
        for (bytes, word) in key[4..].chunks_exact_mut(2).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        key
    }

    fn seed(&mut self, frame: &[u8], header: usize) -> Option<Seed> {
        let MacAddr(transmitter) = Mpdu::new(frame).transmitter()?;
        let [high, _, low, _, upper @ ..] = *frame.get(header..)?.first_chunk::<HEADER>()?;
        let upper = u32::from_le_bytes(upper);
        let mixed = match self.first {
            Some((of, at, mixed)) if of == transmitter && at == upper => mixed,
            _ => self.phase1(transmitter, upper),
        };
        self.first = Some((transmitter, upper, mixed));
        Some(Seed::Long(self.phase2(mixed, u16::from_be_bytes([high, low]))))
    }

    /// Encrypts what follows the TKIP header, which the frame has already (data and their integrity code), and appends the
    /// integrity check value. `false`: too short, and not changed.
    pub fn encrypt(&mut self, frame: &mut Vec<u8>) -> bool {
        let Some(header) = header_len(frame) else { return false };
        let Some(seed) = self.seed(frame, header) else { return false };
        seal(&seed, frame, header + HEADER);
        true
    }

    /// Decrypts; header, integrity code and integrity check value stay. `None`: too short; `Some(false)`: the value is
    /// wrong.
    pub fn decrypt(&mut self, frame: &mut [u8]) -> Option<bool> {
        let header = header_len(frame)?;
        let seed = self.seed(frame, header)?;
        open(&seed, frame, header + HEADER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<const N: usize>(text: &str) -> [u8; N] {
        let bytes: Vec<u8> = text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        bytes.try_into().unwrap()
    }

    #[test]
    fn the_s_box_is_that_of_aes() {
        // FIPS 197, figure 7: corners, and the worked example (s-box of 53 is ed).
        assert_eq!([SBOX[0], SBOX[0x0f], SBOX[0xf0], SBOX[0xff], SBOX[0x53]], [0x63, 0x76, 0x8c, 0x16, 0xed]);
        let mut all = SBOX;
        all.sort_unstable();
        assert!(all.iter().enumerate().all(|(at, &byte)| at == usize::from(byte)));
    }

    /// IEEE 802.11-2020, annex J.3 (TKIP temporal key mixing function test vectors).
    #[test]
    fn the_standards_test_vectors_of_key_mixing() {
        let ascending = "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f";
        let other = "63 89 3b 25 08 40 b8 ae 0b d0 fa 7e 61 d2 78 3e";
        for (key, transmitter, upper, lower, first, second) in [
            (
                ascending,
                "10 22 33 44 55 66",
                0,
                0,
                [0x3dd2, 0x016e, 0x76f4, 0x8697, 0xb2e8],
                "00 20 00 33 ea 8d 2f 60 ca 6d 13 74 23 4a 66 0b",
            ),
            (
                ascending,
                "10 22 33 44 55 66",
                0,
                1,
                [0x3dd2, 0x016e, 0x76f4, 0x8697, 0xb2e8],
                "00 20 01 90 ff dc 31 43 89 a9 d9 d0 74 fd 20 aa",
            ),
            (
                other,
                "64 f2 ea ed dc 25",
                0x20dc_fd43,
                0xffff,
                [0x7c67, 0x49d7, 0x9724, 0xb5e9, 0xb4f1],
                "ff 7f ff 93 81 0f c6 e5 8f 5d d3 26 25 15 44 ce",
            ),
            (
                other,
                "64 f2 ea ed dc 25",
                0x20dc_fd44,
                0,
                [0x5a5d, 0x73a8, 0xa859, 0x2ec1, 0xdc8b],
                "00 20 00 49 8c a4 71 fc fb fa a1 6e 36 10 f0 05",
            ),
        ] {
            let tkip = Tkip::new(array(key));
            let mixed = tkip.phase1(array(transmitter), upper);
            assert_eq!(mixed, first);
            assert_eq!(tkip.phase2(mixed, lower), array::<16>(second));
        }
    }

    #[test]
    fn a_damaged_frame_is_noticed() {
        let mut frame = vec![0x08, 0x41];
        frame.resize(24, 7);
        frame.extend([0, 0x20, 1, 0x20, 0, 0, 0, 0]);
        frame.extend([0x55; 40]);
        let mut tkip = Tkip::new([9; 16]);
        assert!(tkip.encrypt(&mut frame));
        frame[40] ^= 1;
        assert_eq!(tkip.decrypt(&mut frame), Some(false));
    }

    proptest::proptest! {
        #[test]
        fn any_frame_comes_back_or_is_refused(mut frame: Vec<u8>, key: [u8; 16]) {
            let mut tkip = Tkip::new(key);
            let before = frame.clone();
            if tkip.encrypt(&mut frame) {
                assert_eq!(tkip.decrypt(&mut frame), Some(true));
                assert_eq!(frame[..before.len()], before);
            } else {
                assert_eq!(frame, before);
            }
            let _ = tkip.decrypt(&mut frame);
        }
    }
}
