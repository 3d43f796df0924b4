//! Block Acks that come as frames of their own, later than they should.

use wire::ieee80211::{CompressedBlockAck, FrameKind, Header, MacAddr, Mpdu, Seq};

/// A Block Ack that is still to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct LateBlockAck {
    /// When.
    pub(super) due_ns: u64,
    tid: u8,
    start: Seq,
    bitmap: u64,
}

/// TID and sequence number of a QoS data frame.
pub(super) fn tid_and_sequence(mpdu: &[u8]) -> Option<(u8, Seq)> {
    let mpdu = Mpdu::new(mpdu);
    Some((mpdu.tid()?, mpdu.sequence()?))
}

impl LateBlockAck {
    /// The first MPDU of an A-MPDU has arrived.
    pub(super) fn new(mpdu: &[u8], due_ns: u64) -> Option<Self> {
        let (tid, start) = tid_and_sequence(mpdu)?;
        Some(Self { due_ns, tid, start, bitmap: 1 })
    }

    /// Another has.
    pub(super) fn add(&mut self, mpdu: &[u8], due_ns: u64) {
        let Some((_, sequence)) = tid_and_sequence(mpdu) else { return };
        let offset = sequence.distance_from(self.start);
        if offset < 64 {
            self.bitmap |= 1 << offset;
            self.due_ns = due_ns;
        }
    }

    /// The frame (9.3.1.8.2, compressed).
    pub(super) fn frame(&self, to: MacAddr, from: MacAddr) -> Vec<u8> {
        let mut frame = Vec::new();
        Header::control(FrameKind::BlockAck, to, Some(from)).emit(&mut frame);
        CompressedBlockAck { tid: self.tid, start: self.start, bitmap: self.bitmap.into() }.emit(&mut frame);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::ieee80211::BlockAck;

    #[test]
    fn it_says_what_arrived() {
        let mpdu = |sequence: u16| {
            let mut mpdu = vec![0; 26];
            mpdu[0] = 0x88;
            mpdu[22..24].copy_from_slice(&(sequence << 4).to_le_bytes());
            mpdu[24] = 5;
            mpdu
        };
        let mut late = LateBlockAck::new(&mpdu(4095), 10).unwrap();
        late.add(&mpdu(1), 20);
        let frame = late.frame(MacAddr([1; 6]), MacAddr([2; 6]));
        let read = BlockAck::parse(&frame[16..]).unwrap();
        assert_eq!(late.due_ns, 20);
        let said = [4095, 0, 1, 2].map(|sequence| read.acknowledges(Seq::new(sequence)));
        assert_eq!(said, [Some(true), Some(false), Some(true), Some(false)]);
    }
}
