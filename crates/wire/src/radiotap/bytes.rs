//! Numbers in the data of a field, little-endian, which may be shorter than the field.

/// The byte at `at`; bytes that are not there are zero.
pub(super) fn byte(data: &[u8], at: usize) -> u8 {
    data.get(at).copied().unwrap_or(0)
}

pub(super) fn le16(data: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(chunk(data, at))
}

pub(super) fn le32(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(chunk(data, at))
}

pub(super) fn le64(data: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(chunk(data, at))
}

/// The bytes from `at`; those that are not there are zero.
#[inline]
fn chunk<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    match data.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => *bytes,
        None => core::array::from_fn(|index| byte(data, at + index)),
    }
}
