//! RNDIS data messages (Microsoft MS-RNDIS, 2.2.14). Little endian; a transfer may hold several.

use super::Fault;
use crate::pcap::ByteOrder;

/// REMOTE_NDIS_PACKET_MSG.
pub const PACKET_MSG: u32 = 1;
/// Bytes of a packet message before its out-of-band data and payload.
pub const HEADER: usize = 44;
/// `DataOffset` counts from here.
pub const OFFSET_BASE: usize = 8;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Offset in the transfer.
    pub offset: usize,
    /// Bytes of the message.
    pub len: usize,
    /// Bytes of the Ethernet frame, whether captured or not.
    pub payload_len: usize,
    /// What of it was captured.
    pub payload: &'a [u8],
}

/// The 44 bytes in front of an Ethernet frame of `payload` bytes, without out-of-band data; `None` when too long.
pub fn header(payload: usize) -> Option<[u8; HEADER]> {
    let mut out = [0; HEADER];
    let len = u32::try_from(HEADER.checked_add(payload)?).ok()?;
    let fields = [PACKET_MSG, len, (HEADER - OFFSET_BASE) as u32, payload as u32];
    for (slot, field) in out.chunks_exact_mut(4).zip(fields) {
        slot.copy_from_slice(&field.to_le_bytes());
    }
    Some(out)
}

/// Whether the start of a transfer of `transfer_len` bytes is a packet message.
pub fn is_packet(captured: &[u8], transfer_len: usize) -> bool {
    let number = |at| ByteOrder::Little.u32_at(captured, at).map(|value| value as usize);
    number(0) == Some(PACKET_MSG as usize)
        && number(4).is_some_and(|len| (HEADER..=transfer_len).contains(&len))
        && number(8).is_some_and(|offset| offset >= HEADER - OFFSET_BASE && offset < transfer_len)
        && number(12).is_some_and(|len| len <= transfer_len - HEADER)
}

/// Walks through a transfer of `transfer_len` bytes of which `captured` are there; see [`super::qmap::Walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    captured: &'a [u8],
    transfer_len: usize,
    offset: usize,
    finished: bool,
}

impl<'a> Walk<'a> {
    /// At the start of a transfer.
    pub fn new(captured: &'a [u8], transfer_len: usize) -> Self {
        Self { captured, transfer_len: transfer_len.max(captured.len()), offset: 0, finished: false }
    }

    /// Where the next message would be.
    pub fn next_offset(&self) -> usize {
        self.offset
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Message<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        // A device may add one byte of padding to avoid a zero-length packet.
        if self.finished || self.transfer_len.saturating_sub(start) <= 1 {
            self.offset = self.offset.max(self.transfer_len);
            return None;
        }
        let number = |at| ByteOrder::Little.u32_at(self.captured, start + at).map(|value| value as usize);
        let (Some(kind), Some(len), Some(data), Some(payload_len)) = (number(0), number(4), number(8), number(12))
        else {
            self.finished = true;
            if self.captured.len() >= self.transfer_len {
                return Some(Err(Fault { offset: start, what: "the transfer ends inside an RNDIS message" }));
            }
            return None;
        };
        let fault = if kind != PACKET_MSG as usize {
            Some(Fault { offset: start, what: "not an RNDIS packet message" })
        } else if len < HEADER || start.saturating_add(len) > self.transfer_len {
            Some(Fault { offset: start + 4, what: "RNDIS message length is impossible" })
        } else if OFFSET_BASE.saturating_add(data).saturating_add(payload_len) > len {
            Some(Fault { offset: start + 8, what: "RNDIS data lie outside their message" })
        } else {
            None
        };
        if let Some(fault) = fault {
            self.finished = true;
            return Some(Err(fault));
        }
        let from = (start + OFFSET_BASE + data).min(self.captured.len());
        let to = (from + payload_len).min(self.captured.len());
        self.offset = start + len;
        let payload = self.captured.get(from..to).unwrap_or_default();
        Some(Ok(Message { offset: start, len, payload_len, payload }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(lengths in proptest::collection::vec(14usize..1_600, 1..20)) {
            let mut bytes = Vec::new();
            for &len in &lengths {
                bytes.extend(header(len).unwrap());
                bytes.resize(bytes.len() + len, 9);
            }
            assert!(is_packet(&bytes, bytes.len()));
            let found: Result<Vec<_>, _> = Walk::new(&bytes, bytes.len()).collect();
            assert_eq!(found.unwrap().iter().map(|m| m.payload_len).collect::<Vec<_>>(), lengths);
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>, longer in 0usize..70_000) {
            let transfer_len = bytes.len() + longer;
            let _ = is_packet(&bytes, transfer_len);
            assert!(Walk::new(&bytes, transfer_len).count() <= transfer_len / HEADER + 1);
        }
    }

    #[test]
    fn a_message_longer_than_the_transfer_is_named() {
        let mut bytes = header(60).unwrap().to_vec();
        bytes.resize(100, 0);
        let found: Vec<_> = Walk::new(&bytes, 100).collect();
        assert_eq!(found, [Err(Fault { offset: 4, what: "RNDIS message length is impossible" })]);
    }
}
