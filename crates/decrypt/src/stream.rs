//! RC4, which WEP, TKIP and the Key Data of its handshakes have.

use rc4::consts::{U16, U32, U8};
use rc4::{Key, KeyInit, Rc4, StreamCipher};
use wire::fcs::fcs32;

/// Bytes of the integrity check value behind the data of WEP and TKIP.
pub(crate) const ICV_LEN: usize = 4;
/// First bytes of the key stream that Key Data leaves out (12.7.2).
const KEY_DATA_SKIPS: usize = 256;

/// Key stream over `data`; `None` for a key of another length than 8, 16 or 32 bytes.
fn apply(key: &[u8], skipped: &mut [u8], data: &mut [u8]) -> Option<()> {
    macro_rules! over {
        ($len:ty) => {{
            let mut stream = Rc4::<$len>::new(Key::<$len>::from_slice(key));
            stream.apply_keystream(skipped);
            stream.apply_keystream(data);
        }};
    }
    match key.len() {
        8 => over!(U8),
        16 => over!(U16),
        32 => over!(U32),
        _ => return None,
    }
    Some(())
}

/// Decrypts data and integrity check value in place, and takes the value away; `None` when it does not match.
pub(crate) fn open(key: &[u8], data: &mut Vec<u8>) -> Option<()> {
    apply(key, &mut [], data)?;
    let (clear, icv) = data.split_last_chunk::<ICV_LEN>()?;
    if fcs32(clear) != u32::from_le_bytes(*icv) {
        return None;
    }
    data.truncate(data.len() - ICV_LEN);
    Some(())
}

/// The Key Data of a handshake with descriptors of version 1: its key is initialisation vector and KEK.
pub(crate) fn key_data(key: &[u8], data: &mut [u8]) -> Option<()> {
    apply(key, &mut [0; KEY_DATA_SKIPS], data)
}

#[cfg(test)]
pub(crate) fn seal(key: &[u8], clear: &[u8]) -> Vec<u8> {
    let mut data = [clear, &fcs32(clear).to_le_bytes()].concat();
    apply(key, &mut [], &mut data).unwrap();
    data
}
