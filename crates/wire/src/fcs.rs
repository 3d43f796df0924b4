//! The frame check sequence of an MPDU (IEEE 802.11-2020, 9.2.4.8): the 32-bit CRC of IEEE 802.3.

/// Bytes of an FCS.
pub const FCS_BYTES: usize = 4;

/// The shortest MPDU without its FCS: an ACK or CTS frame (frame control, duration, receiver address).
pub const SHORTEST_MPDU_BYTES: usize = 10;

/// The FCS of `bytes` (an MPDU without its FCS). On air, and in captures, it follows the MPDU in little-endian order.
pub fn fcs32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Whether the last four bytes of `mpdu_with_fcs` are the FCS of the bytes before them.
///
/// `None` when the frame is too short to hold a MAC header and an FCS, so that nothing is known. The caller must
/// know that the frame was captured whole.
pub fn check(mpdu_with_fcs: &[u8]) -> Option<bool> {
    let (mpdu, fcs) = mpdu_with_fcs.split_last_chunk::<FCS_BYTES>()?;
    (mpdu.len() >= SHORTEST_MPDU_BYTES).then(|| fcs32(mpdu) == u32::from_le_bytes(*fcs))
}

/// As [`check`], for many frames: what the processor can do is found out once.
#[derive(Clone, Debug, Default)]
pub struct Checker(crc32fast::Hasher);

impl Checker {
    /// See [`check`].
    #[inline]
    pub fn check(&self, mpdu_with_fcs: &[u8]) -> Option<bool> {
        let (mpdu, fcs) = mpdu_with_fcs.split_last_chunk::<FCS_BYTES>()?;
        if mpdu.len() < SHORTEST_MPDU_BYTES {
            return None;
        }
        let mut hasher = self.0.clone();
        hasher.update(mpdu);
        Some(hasher.finalize() == u32::from_le_bytes(*fcs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that catalogues of CRCs give for CRC-32/ISO-HDLC.
    #[test]
    fn the_polynomial_is_that_of_802_3() {
        assert_eq!(fcs32(b"123456789"), 0xcbf4_3926);
    }

    /// An ACK frame from a real capture: the FCS is the last four bytes as they went over the air.
    const ACK: [u8; 14] = [0xd4, 0, 0, 0, 0x00, 0x14, 0xa5, 0xcb, 0x6e, 0x1a, 0xc2, 0x59, 0x43, 0xc1];

    #[test]
    fn an_ack_captured_off_the_air_passes_and_a_flipped_bit_fails() {
        assert_eq!(check(&ACK), Some(true));
        let checker = Checker::default();
        assert_eq!(checker.check(&ACK), Some(true));
        for bit in 0..ACK.len() * 8 {
            let mut bad = ACK;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&bad), Some(false), "bit {bit}");
            assert_eq!(checker.check(&bad), Some(false), "bit {bit}");
        }
    }

    #[test]
    fn too_short_to_say() {
        for len in 0..ACK.len() {
            assert_eq!(check(&ACK[..len]), None, "{len} bytes");
            assert_eq!(Checker::default().check(&ACK[..len]), None, "{len} bytes");
        }
    }
}
