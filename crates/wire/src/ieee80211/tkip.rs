//! TKIP (IEEE 802.11-2020, 12.5.2) without its RC4: the key of every MPDU mixed from temporal key, transmitter and TSC
//! (the TKIP sequence counter), and Michael, which makes the MIC of MSDUs.

/// Bytes between MAC header and data: initialisation vector and extended initialisation vector.
pub const HEADER_LEN: usize = 8;
/// Bytes of the MIC.
pub const MIC_LEN: usize = 8;

/// The S-box of AES, made as FIPS 197 defines it: the inverse in GF(2^8), then an affine map. Here by walking through
/// the field with the generator 3 and its inverse.
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

/// The TSC in a TKIP header: its upper 32 bits and its lower 16.
pub fn counter(body: &[u8]) -> Option<(u32, u16)> {
    let &[high, _, low, _, a, b, c, d] = body.first_chunk::<HEADER_LEN>()?;
    Some((u32::from_le_bytes([a, b, c, d]), u16::from_be_bytes([high, low])))
}

/// The header of the MPDU with this TSC, 48 bits, and this key ID (12.5.2.2): the extended initialisation vector is
/// there, and the second byte keeps RC4 from its weak keys.
pub const fn header(counter: u64, key_id: u8) -> [u8; HEADER_LEN] {
    let [low, high, a, b, c, d, ..] = counter.to_le_bytes();
    [high, (high | 0x20) & 0x7f, low, key_id << 6 | 0x20, a, b, c, d]
}

/// Mixes the keys of MPDUs. The first phase stays the same for 65,536 MPDUs of one transmitter, and is kept.
#[derive(Clone)]
pub struct KeyMixer {
    key: [u8; 16],
    /// Transmitter, upper 32 bits of the counter, and what the phase gave.
    first: Option<([u8; 6], u32, [u16; 5])>,
}

impl KeyMixer {
    /// With a temporal key.
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key, first: None }
    }

    /// The temporal key.
    pub const fn key(&self) -> &[u8; 16] {
        &self.key
    }

    /// The RC4 key of the MPDU with this [`counter`].
    pub fn mpdu_key(&mut self, transmitter: [u8; 6], (upper, lower): (u32, u16)) -> [u8; 16] {
        let mixed = match self.first {
            Some((of, at, mixed)) if of == transmitter && at == upper => mixed,
            _ => self.phase1(transmitter, upper),
        };
        self.first = Some((transmitter, upper, mixed));
        self.phase2(mixed, lower)
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
}

/// Michael (12.5.2.3) of an MSDU with these addresses and priority.
pub fn michael(key: [u8; MIC_LEN], destination: [u8; 6], source: [u8; 6], priority: u8, msdu: &[u8]) -> [u8; MIC_LEN] {
    let [a, b, c, d, e, f, g, h] = key;
    let mut state = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    let priority = [priority, 0, 0, 0];
    let head = destination.iter().chain(&source).chain(&priority);
    let mut word = [0; 4];
    let mut filled = 0;
    // A byte of 0x5a, and zeros: at least four, up to the end of a word.
    let padding = 5 + (7 - (msdu.len() + 4) % 4) % 4;
    let end = [0x5a, 0, 0, 0, 0, 0, 0, 0];
    for byte in head.chain(msdu).chain(end.iter().take(padding)) {
        if let Some(place) = word.get_mut(filled) {
            *place = *byte;
        }
        filled = (filled + 1) % word.len();
        if filled == 0 {
            state = michael_block(state.0 ^ u32::from_le_bytes(word), state.1);
        }
    }
    let ([a, b, c, d], [e, f, g, h]) = (state.0.to_le_bytes(), state.1.to_le_bytes());
    [a, b, c, d, e, f, g, h]
}

const fn michael_block(mut left: u32, mut right: u32) -> (u32, u32) {
    right ^= left.rotate_left(17);
    left = left.wrapping_add(right);
    right ^= (left & 0xff00_ff00) >> 8 | (left & 0x00ff_00ff) << 8;
    left = left.wrapping_add(right);
    right ^= left.rotate_left(3);
    left = left.wrapping_add(right);
    right ^= left.rotate_right(2);
    left = left.wrapping_add(right);
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<const N: usize>(text: &str) -> [u8; N] {
        let bytes: Vec<u8> = text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        bytes.try_into().unwrap()
    }

    /// Michael of a whole message, header included, padded beforehand.
    fn padded_michael(key: [u8; 8], message: &[u8]) -> Vec<u8> {
        let mut padded = [message, &[0x5a, 0, 0, 0, 0]].concat();
        padded.resize(padded.len().next_multiple_of(4), 0);
        let (left, right) = key.split_at(4);
        let half = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let state = padded
            .chunks(4)
            .fold((half(left), half(right)), |state, word| michael_block(state.0 ^ half(word), state.1));
        [state.0.to_le_bytes(), state.1.to_le_bytes()].concat()
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
            let tkip = KeyMixer::new(array(key));
            let mixed = tkip.phase1(array(transmitter), upper);
            assert_eq!(mixed, first);
            assert_eq!(tkip.phase2(mixed, lower), array::<16>(second));
        }
    }

    /// IEEE 802.11-2020, annex J.3 (Michael test vectors): without the addresses and the priority, each key is the MIC
    /// of the row before.
    #[test]
    fn the_standards_test_vectors_of_michael() {
        let mut key = [0; 8];
        for (text, code) in [
            ("", "82 92 5c 1c a1 d1 30 b8"),
            ("M", "43 47 21 ca 40 63 9b 3f"),
            ("Mi", "e8 f9 be ca e9 7e 5d 29"),
            ("Mic", "90 03 8f c6 cf 13 c1 db"),
            ("Mich", "d5 5e 10 05 10 12 89 86"),
            ("Michael", "0a 94 2b 12 4e ca a5 46"),
        ] {
            let made = padded_michael(key, text.as_bytes());
            assert_eq!(made, array::<8>(code), "{text}");
            key = array(code);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_header_has_its_counter(value in 0u64..1 << 48, key_id in 0u8..4) {
            let made = header(value, key_id);
            assert_eq!(counter(&made), Some(((value >> 16) as u32, value as u16)));
            assert_eq!((made[1], made[3] >> 6), ((made[0] | 0x20) & 0x7f, key_id));
        }

        /// The header is a part of the message like any other, and the padding goes to the next word.
        #[test]
        fn michael_is_of_header_and_msdu(key: [u8; 8], da: [u8; 6], sa: [u8; 6], priority: u8, msdu: Vec<u8>) {
            let message = [&da[..], &sa, &[priority, 0, 0, 0], &msdu].concat();
            assert_eq!(michael(key, da, sa, priority, &msdu).to_vec(), padded_michael(key, &message));
        }
    }
}
