//! Compressed Block Ack and its request as representations (9.3.1.7.2, 9.3.1.8.2): what every station since 802.11n sends.
//! Each is what follows the MAC header of its frame.

use super::block_ack::{Bitmap, BlockAck, BlockAckControl, BlockAckReq, BlockAckType};
use super::Seq;

/// Bytes of the control field and the Starting Sequence Control.
const FIXED_LEN: usize = 4;

const fn control(tid: u8) -> BlockAckControl {
    BlockAckControl(2 << 1 | (tid as u16 & 0x0f) << 12)
}

/// A Compressed BlockAckReq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedBlockAckReq {
    /// TID, 0..=15.
    pub tid: u8,
    /// The recipient's window moves here.
    pub start: Seq,
}

impl CompressedBlockAckReq {
    /// Parses what follows the MAC header; `None` for other variants, and when it is cut.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let request = BlockAckReq::parse(body).filter(|request| request.kind == BlockAckType::Compressed)?;
        Some(Self { tid: request.tid?, start: request.start? })
    }

    /// Bytes that [`Self::emit`] appends.
    pub const fn buffer_len(&self) -> usize {
        FIXED_LEN
    }

    /// Appends it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&control(self.tid).0.to_le_bytes());
        out.extend_from_slice(&(self.start.value() << 4).to_le_bytes());
    }
}

/// A Compressed BlockAck, one bit for each MSDU or A-MSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedBlockAck {
    /// TID, 0..=15.
    pub tid: u8,
    /// The sequence number of the first bit.
    pub start: Seq,
    /// The bits: 64, 256, 512 or 1024 of them. Of another size, the largest of these that it fills, or 64.
    pub bitmap: Bitmap,
}

impl CompressedBlockAck {
    /// Parses what follows the MAC header; `None` for other variants, for bitmaps of fragments, and when it is cut.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let ack = BlockAck::parse(body)?;
        if ack.kind != BlockAckType::Compressed || ack.bits_per_msdu != 1 {
            return None;
        }
        Some(Self { tid: ack.tid?, start: ack.start?, bitmap: ack.bitmap? })
    }

    /// Bytes of the bitmap, and the Fragment Number that says so (802.11ax table 9-30, 802.11be).
    const fn layout(&self) -> (usize, u16) {
        match self.bitmap.len {
            0..=255 => (8, 0),
            256..=511 => (32, 4),
            512..=1023 => (64, 8),
            _ => (128, 10),
        }
    }

    /// Bytes that [`Self::emit`] appends.
    pub const fn buffer_len(&self) -> usize {
        FIXED_LEN + self.layout().0
    }

    /// Appends it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (bytes, fragment) = self.layout();
        out.extend_from_slice(&control(self.tid).0.to_le_bytes());
        out.extend_from_slice(&(self.start.value() << 4 | fragment).to_le_bytes());
        out.extend(self.bitmap.bits.iter().flat_map(|word| word.to_le_bytes()).take(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn block_acks_come_back(
            tid in 0u8..16, start: u16, bits: [u64; 16], len in prop::sample::select(vec![64u16, 256, 512, 1024]),
        ) {
            let bytes: Vec<u8> = bits.iter().flat_map(|word| word.to_le_bytes()).take(usize::from(len / 8)).collect();
            let bitmap = Bitmap::from_bytes(&bytes).unwrap();
            let ack = CompressedBlockAck { tid, start: Seq::new(start), bitmap };
            let mut out = Vec::new();
            ack.emit(&mut out);
            prop_assert_eq!(out.len(), ack.buffer_len());
            prop_assert_eq!(CompressedBlockAck::parse(&out), Some(ack));
            prop_assert_eq!(CompressedBlockAck::parse(&out[..out.len() - 1]), None);
        }

        #[test]
        fn requests_come_back(tid in 0u8..16, start: u16) {
            let request = CompressedBlockAckReq { tid, start: Seq::new(start) };
            let mut out = Vec::new();
            request.emit(&mut out);
            prop_assert_eq!(out.len(), request.buffer_len());
            prop_assert_eq!(CompressedBlockAckReq::parse(&out), Some(request));
            prop_assert_eq!(CompressedBlockAckReq::parse(&out[..3]), None);
        }

        #[test]
        fn any_bytes_and_sizes_do_no_harm(body: Vec<u8>, len: u16) {
            let _ = (CompressedBlockAck::parse(&body), CompressedBlockAckReq::parse(&body));
            let ack = CompressedBlockAck { tid: 255, start: Seq::new(0), bitmap: Bitmap { len, ..Bitmap::EMPTY } };
            let mut out = Vec::new();
            ack.emit(&mut out);
            prop_assert_eq!(out.len(), ack.buffer_len());
        }
    }

    #[test]
    fn bytes_as_on_the_air() {
        let mut out = Vec::new();
        let bitmap = Bitmap::from_bytes(&0x8000_0000_0000_0005u64.to_le_bytes()).unwrap();
        CompressedBlockAck { tid: 5, start: Seq::new(4094), bitmap }.emit(&mut out);
        assert_eq!(out, [0x04, 0x50, 0xe0, 0xff, 0x05, 0, 0, 0, 0, 0, 0, 0x80]);
    }
}
