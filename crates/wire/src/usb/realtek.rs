//! Frames as the RTL8188C and RTL8192C families put them on USB (fields as in Linux' rtl8xxxu.h). Little endian.
//!
//! Towards the device: a descriptor of 32 bytes with length and its own size, and a checksum that makes the XOR of its
//! halfwords zero; then one 802.11 frame. Towards the host: descriptors of 24 bytes, driver information and frame, each
//! starting at a multiple of 128 bytes when the chip aggregates.

use super::Fault;
use crate::pcap::ByteOrder;

/// Bytes of a transmit descriptor.
pub const TX_DESCRIPTOR: usize = 32;
/// Bytes of a receive descriptor.
pub const RX_DESCRIPTOR: usize = 24;
/// Where the next packet of an aggregate starts.
pub const RX_ALIGNMENT: usize = 128;

/// Vendor request that reads and writes registers; its value is the register.
pub const REGISTER_REQUEST: u8 = 5;

/// The frame length, when a transfer of `transfer_len` bytes begins with a transmit descriptor that describes it.
pub fn tx_frame_len(captured: &[u8], transfer_len: usize) -> Option<usize> {
    let descriptor = captured.first_chunk::<TX_DESCRIPTOR>()?;
    let frame_len = usize::from(u16::from_le_bytes([descriptor[0], descriptor[1]]));
    let offset = usize::from(descriptor[2]);
    let checksum = descriptor.chunks_exact(2).fold(0, |sum, half| match half {
        [low, high] => sum ^ u16::from_le_bytes([*low, *high]),
        _ => sum,
    });
    (checksum == 0 && offset == TX_DESCRIPTOR && frame_len != 0 && offset + frame_len == transfer_len)
        .then_some(frame_len)
}

/// A frame of that length is all that follows: own, first and last segment (`TXDESC_OWN` and its like).
const TX_WHOLE: u8 = 0x8c;
/// First and last segment (`ls` and `fs` of the receive descriptor).
const RX_WHOLE: u32 = 3 << 28;

/// The transmit descriptor of a frame of `frame_len` bytes; what the chip is to do with it is left out.
pub fn tx_descriptor(frame_len: u16) -> [u8; TX_DESCRIPTOR] {
    let mut descriptor = [0; TX_DESCRIPTOR];
    let [low, high] = frame_len.to_le_bytes();
    descriptor[..4].copy_from_slice(&[low, high, TX_DESCRIPTOR as u8, TX_WHOLE]);
    let sum = frame_len ^ u16::from_le_bytes([TX_DESCRIPTOR as u8, TX_WHOLE]);
    descriptor[28..30].copy_from_slice(&sum.to_le_bytes());
    descriptor
}

/// Where a receive descriptor has the number of packets (`pkt_cnt`, `usb_agg_pktnum`).
const RX_PACKETS: usize = 10;

/// The receive descriptor of a frame of `frame_len` bytes (16,383 at most) without driver information. `packets`: how many the
/// transfer has, in the first descriptor; 0 in others.
pub fn rx_descriptor(frame_len: u16, packets: u8) -> [u8; RX_DESCRIPTOR] {
    let mut descriptor = [0; RX_DESCRIPTOR];
    let word = u32::from(frame_len & 0x3fff) | RX_WHOLE;
    descriptor[..4].copy_from_slice(&word.to_le_bytes());
    descriptor[RX_PACKETS] = packets;
    descriptor
}

/// Packets in a transfer towards the host, by its first descriptor, reports included; `None` where it does not say.
pub fn rx_packets(captured: &[u8]) -> Option<u8> {
    captured.get(RX_PACKETS).copied().filter(|packets| *packets > 0)
}

/// One received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Offset of its descriptor in the transfer.
    pub offset: usize,
    /// Bytes of descriptor and driver information.
    pub overhead: usize,
    /// Bytes of the frame.
    pub frame_len: usize,
    /// 0: a frame. Otherwise a report of the chip to its driver, which an RTL8188E sends this way (`rpt_sel` of the
    /// descriptor): 1 of a frame that was sent, 2 of all frames that were sent over a time, 3 what others send as an interrupt.
    pub report: u8,
}

/// Walks through a transfer towards the host of which `captured` bytes are there; see [`super::qmap::Walk`].
#[derive(Clone, Debug)]
pub struct RxWalk<'a> {
    captured: &'a [u8],
    transfer_len: usize,
    offset: usize,
    finished: bool,
}

impl<'a> RxWalk<'a> {
    /// At the start of a transfer.
    pub fn new(captured: &'a [u8], transfer_len: usize) -> Self {
        Self { captured, transfer_len: transfer_len.max(captured.len()), offset: 0, finished: false }
    }

    /// Where the next descriptor would be.
    pub fn next_offset(&self) -> usize {
        self.offset
    }
}

impl Iterator for RxWalk<'_> {
    type Item = Result<Received, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        if self.finished || start >= self.transfer_len {
            return None;
        }
        if self.transfer_len - start < RX_DESCRIPTOR {
            self.finished = true;
            return Some(Err(Fault { offset: start, what: "fewer bytes are left than a receive descriptor has" }));
        }
        let Some(word) = ByteOrder::Little.u32_at(self.captured, start) else {
            self.finished = true;
            return None;
        };
        let frame_len = (word & 0x3fff) as usize;
        let overhead = RX_DESCRIPTOR + 8 * (word >> 16 & 0xf) as usize + (word >> 24 & 3) as usize;
        let end = start + overhead + frame_len;
        if frame_len == 0 || end > self.transfer_len {
            self.finished = true;
            return Some(Err(Fault { offset: start, what: "frame length of a receive descriptor is impossible" }));
        }
        // A report has neither driver information nor the state of the receiver, and a frame of the first generation,
        // with bits that have another meaning, has both.
        let plain = overhead == RX_DESCRIPTOR && word >> 26 & 1 == 0;
        let kind = ByteOrder::Little.u32_at(self.captured, start + 12).map_or(0, |word| (word >> 14 & 3) as u8);
        let report = if plain { kind } else { 0 };
        self.offset = end.next_multiple_of(RX_ALIGNMENT).min(self.transfer_len);
        Some(Ok(Received { offset: start, overhead, frame_len, report }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe request that Linux' rtl8xxxu sent.
    const TX: [u8; 32] = [
        0x49, 0, 0x20, 0x8d, 0x40, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x1a, 0, 0, 0, 0, 0, 0, 0x33,
        0x9e, 0, 0,
    ];

    #[test]
    fn a_transmit_descriptor_is_known_by_length_and_checksum() {
        let mut bytes = TX;
        let sum = bytes.chunks_exact(2).fold(0u16, |sum, h| sum ^ u16::from_le_bytes([h[0], h[1]]));
        let fixed = u16::from_le_bytes([bytes[28], bytes[29]]) ^ sum;
        bytes[28..30].copy_from_slice(&fixed.to_le_bytes());
        assert_eq!(tx_frame_len(&bytes, 105), Some(73));
        assert_eq!(tx_frame_len(&bytes, 106), None);
        bytes[28] ^= 1;
        assert_eq!(tx_frame_len(&bytes, 105), None);
    }

    #[test]
    fn reports_are_no_frames() {
        let mut transfer = rx_descriptor(16, 1).to_vec();
        transfer[13] = 2 << 6;
        transfer.resize(40, 0);
        let found = RxWalk::new(&transfer, 40).next().unwrap().unwrap();
        assert_eq!((found.frame_len, found.report), (16, 2));
        // In a frame of the first generation these bits are of its checksum of headers.
        let mut frame = rx_descriptor(16, 1).to_vec();
        (frame[2], frame[13]) = (4, 3 << 6);
        frame.resize(72, 0);
        let found = RxWalk::new(&frame, 72).next().unwrap().unwrap();
        assert_eq!((found.overhead, found.report), (RX_DESCRIPTOR + 32, 0));
        // Only the length of a truncated descriptor is known.
        assert_eq!(RxWalk::new(&transfer[..8], 40).next().unwrap().unwrap().report, 0);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(frame_len in 1u16..0x4000, more in 1u16..0x4000) {
            let len = usize::from(frame_len);
            proptest::prop_assert_eq!(tx_frame_len(&tx_descriptor(frame_len), TX_DESCRIPTOR + len), Some(len));
            let mut transfer = rx_descriptor(frame_len, 2).to_vec();
            transfer.resize((RX_DESCRIPTOR + len).next_multiple_of(RX_ALIGNMENT), 0);
            transfer.extend(rx_descriptor(more, 0));
            transfer.resize(transfer.len() + usize::from(more), 0);
            let lens: Vec<_> = RxWalk::new(&transfer, transfer.len()).map(|found| found.map(|r| r.frame_len)).collect();
            proptest::prop_assert_eq!(lens, [Ok(len), Ok(usize::from(more))]);
            proptest::prop_assert_eq!(rx_packets(&transfer), Some(2));
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>, longer in 0usize..70_000) {
            let transfer_len = bytes.len() + longer;
            let _ = tx_frame_len(&bytes, transfer_len);
            assert!(RxWalk::new(&bytes, transfer_len).count() <= transfer_len / RX_DESCRIPTOR + 1);
        }
    }
}
