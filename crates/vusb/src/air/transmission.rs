//! What is on the air: PPDUs, and how far they are.

use medium::Timeline;

use super::Ppdu;

/// An exchange under way, or several that collide.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Busy {
    pub(super) end_ns: u64,
    /// The answer is on the air.
    pub(super) answering: bool,
    /// Until when the sender may go on after this exchange; `None`: it may not.
    pub(super) txop_ends_ns: Option<u64>,
    pub(super) transmissions: Vec<Transmission>,
}

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Transmission {
    pub(super) side: usize,
    /// The side that is to answer, or the one that it is for; `None`: none here, or several.
    pub(super) to: Option<usize>,
    pub(super) function: u32,
    pub(super) start_ns: u64,
    pub(super) ppdu: Ppdu,
    pub(super) timeline: Timeline,
    /// When each MPDU has arrived.
    pub(super) mpdu_ends_ns: Vec<u64>,
    pub(super) collided: bool,
    /// The PPDU follows its protection: nothing kept the receiver from answering RTS.
    pub(super) data_sent: bool,
    /// For each MPDU that has ended: whether it was destroyed, and whether the receiver answers for it.
    pub(super) lost: Vec<bool>,
    pub(super) accepted: Vec<bool>,
    /// The answer is lost on the way.
    pub(super) answer_lost: bool,
}

impl Transmission {
    /// The frame that ends the stage before the answer: the PPDU, or the RTS that is not answered.
    pub(super) fn sent_until_ns(&self) -> u64 {
        let last = if self.data_sent { &self.timeline.data } else { self.timeline.first() };
        self.start_ns + last.end_ns
    }

    pub(super) fn silence_ns(&self) -> u64 {
        if self.data_sent {
            self.timeline.data.silence_ns
        } else {
            self.timeline.first().silence_ns
        }
    }

    /// When the next MPDU ends that the other side may receive: MPDUs of an A-MPDU one after the other.
    pub(super) fn next_mpdu_ns(&self) -> Option<u64> {
        let receivable = self.data_sent && !self.collided;
        self.mpdu_ends_ns.get(self.lost.len()).copied().filter(|_| receivable)
    }

    /// From the end of what was sent to the end of the answer that might have come.
    pub(super) fn answer_ns(&self) -> u64 {
        let answer = if self.data_sent { self.timeline.response } else { self.timeline.cts };
        answer.map_or(0, |slice| (self.start_ns + slice.end_ns).saturating_sub(self.sent_until_ns()))
    }
}
