//! CCMP with 128-bit keys (IEEE 802.11-2020, 12.5.3), with the keys that the driver has put into the key memory.

use aes::Aes128;
use ccm::aead::generic_array::GenericArray;
use ccm::aead::AeadInPlace;
use ccm::consts::{U13, U8};
use ccm::{Ccm, KeyInit};
use wire::ieee80211::{FrameType, Header, Mpdu};

type Aes128Ccm = Ccm<Aes128, U8, U13>;

/// Bytes of the CCMP header, between MAC header and data.
pub const HEADER: usize = 8;
/// Bytes of the message integrity code, after the data.
pub const MIC: usize = 8;

/// A key, ready for use.
#[derive(Clone)]
pub struct Ccmp {
    cipher: Aes128Ccm,
    key: [u8; 16],
}

/// What goes into the cipher besides key and data: nonce, additional data and its length.
struct Context {
    nonce: [u8; 13],
    additional: [u8; 30],
    additional_len: usize,
}

/// Bytes of the MAC header; `None`: too short, or four addresses (which no station here uses).
pub fn header_len(frame: &[u8]) -> Option<usize> {
    let header = Header::parse(frame, false).ok().filter(|header| header.sequence.is_some())?;
    header.addr4.is_none().then_some(header.header_len)
}

fn context(frame: &[u8], header: usize) -> Option<Context> {
    let ccmp = frame.get(header..header + HEADER)?;
    let mpdu = Mpdu::new(frame);
    let tid = mpdu.tid();
    let is_management = mpdu.frame_type() == Some(FrameType::Management);
    let mut nonce = [0; 13];
    nonce[0] = tid.unwrap_or(0) | if is_management { 0x10 } else { 0 };
    nonce[1..7].copy_from_slice(&mpdu.transmitter()?.0);
    for (slot, &at) in nonce[7..].iter_mut().zip(&[7usize, 6, 5, 4, 1, 0]) {
        *slot = *ccmp.get(at)?;
    }
    // Frame control without the bits that change on the way, addresses, sequence control without the number, TID.
    let mut additional = [0; 30];
    additional[0] = frame.first()? & if is_management { 0xff } else { 0x8f };
    additional[1] = (frame.get(1)? & if tid.is_some() { 0x47 } else { 0xc7 }) | 0x40;
    additional[2..20].copy_from_slice(frame.get(4..22)?);
    additional[20] = frame.get(22)? & 0x0f;
    additional[22] = tid.unwrap_or(0);
    Some(Context { nonce, additional, additional_len: if tid.is_some() { 24 } else { 22 } })
}

impl Ccmp {
    /// Expands a key.
    pub fn new(key: [u8; 16]) -> Self {
        Self { cipher: Aes128Ccm::new(&GenericArray::from(key)), key }
    }

    /// Which key it is.
    pub const fn key(&self) -> &[u8; 16] {
        &self.key
    }

    /// Encrypts what follows the CCMP header, which the frame has already, and appends the integrity code. `false`: the
    /// frame is too short, and was not changed.
    pub fn encrypt(&self, frame: &mut Vec<u8>) -> bool {
        let Some(header) = header_len(frame) else { return false };
        let Some(context) = context(frame, header) else { return false };
        let additional = context.additional.get(..context.additional_len).unwrap_or_default();
        let Some(data) = frame.get_mut(header + HEADER..) else { return false };
        let nonce = GenericArray::from(context.nonce);
        let Ok(mic) = self.cipher.encrypt_in_place_detached(&nonce, additional, data) else { return false };
        frame.extend_from_slice(&mic);
        true
    }

    /// Decrypts what lies between CCMP header and integrity code, which both stay. `None`: too short; `Some(false)`: the
    /// integrity code is wrong, and the frame was not changed.
    pub fn decrypt(&self, frame: &mut [u8]) -> Option<bool> {
        let header = header_len(frame)?;
        let context = context(frame, header)?;
        let additional = context.additional.get(..context.additional_len)?;
        let body = frame.get_mut(header + HEADER..)?;
        let (data, mic) = body.split_last_chunk_mut::<MIC>()?;
        let nonce = GenericArray::from(context.nonce);
        let mic = GenericArray::from(*mic);
        // A failed check leaves zeros where the data were: try on a copy.
        let mut plain = data.to_vec();
        let right = self.cipher.decrypt_in_place_detached(&nonce, additional, &mut plain, &mic).is_ok();
        if right {
            data.copy_from_slice(&plain);
        }
        Some(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// IEEE 802.11-2020, annex J.6.4 (CCMP test vector).
    #[test]
    fn the_standards_test_vector() {
        let key = bytes("c9 7c 1f 67 ce 37 11 85 51 4a 8a 19 f2 bd d5 2f");
        let header = bytes("08 48 c3 2c 0f d2 e1 28 a5 7c 50 30 f1 84 44 08 ab ae a5 b8 fc ba 80 33");
        let ccmp_header = bytes("0c e7 00 20 76 97 03 b5");
        let data = bytes("f8 ba 1a 55 d0 2f 85 ae 96 7b b6 2f b6 cd a8 eb 7e 78 a0 50");
        let expected = bytes("f3 d0 a2 fe 9a 3d bf 23 42 a6 43 e4 32 46 e8 0c 3c 04 d0 19 78 45 ce 0b 16 f9 76 23");
        let mut frame = [header.clone(), ccmp_header.clone(), data.clone()].concat();
        let ccmp = Ccmp::new(key.try_into().unwrap());
        assert!(ccmp.encrypt(&mut frame));
        assert_eq!(frame[32..], expected);
        assert_eq!(ccmp.decrypt(&mut frame), Some(true));
        assert_eq!(frame[32..52], data);

        let mut damaged = [header, ccmp_header, expected].concat();
        damaged[40] ^= 1;
        let before = damaged.clone();
        assert_eq!(ccmp.decrypt(&mut damaged), Some(false));
        assert_eq!(damaged, before);
    }

    proptest::proptest! {
        #[test]
        fn any_frame_comes_back_or_is_refused(mut frame: Vec<u8>, key: [u8; 16]) {
            let ccmp = Ccmp::new(key);
            let before = frame.clone();
            if ccmp.encrypt(&mut frame) {
                assert_eq!(ccmp.decrypt(&mut frame), Some(true));
                assert_eq!(frame[..before.len()], before);
            } else {
                assert_eq!(frame, before);
            }
            let _ = ccmp.decrypt(&mut frame);
        }
    }
}
