//! Block Ack accounting of one flow, as the file allows it: who was acknowledged when, what was left out, what became
//! of it.

use crate::sniffer::Heard;
use crate::truth::{BlockAckTruth, PositionRow};

/// Sequence numbers.
const MODULUS: usize = 4096;

/// What is known of the MPDU that last had a sequence number.
#[derive(Clone, Copy, Default)]
struct Fate {
    /// Its number in the flow, plus one; 0: nothing sent yet.
    serial: u64,
    /// A transmission was captured undamaged.
    captured: bool,
    /// An acknowledgement was captured.
    acked: bool,
    /// Left out, and not sent again since.
    open: bool,
    /// Left out and then sent again, this many times.
    resent: u32,
}

/// An MPDU of a PPDU that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    pub(crate) seq: u16,
    pub(crate) heard: Heard,
    /// The recipient got it (in this PPDU).
    pub(crate) received: bool,
}

/// Accounts of one flow.
pub(crate) struct BlockAckLedger {
    pub(crate) truth: BlockAckTruth,
    fates: Vec<Fate>,
}

impl BlockAckLedger {
    pub(crate) fn new(truth: BlockAckTruth) -> Self {
        Self { truth, fates: vec![Fate::default(); MODULUS] }
    }

    /// An MPDU was on the air. True if it is the first captured transmission of it.
    pub(crate) fn transmission(&mut self, seq: u16, serial: u64, retry: bool, heard: Heard) -> bool {
        let fate = &mut self.fates[usize::from(seq) % MODULUS];
        if fate.serial != serial + 1 {
            let old = std::mem::replace(fate, Fate { serial: serial + 1, ..Fate::default() });
            settle(&mut self.truth, &old);
        }
        let fate = &mut self.fates[usize::from(seq) % MODULUS];
        if heard != Heard::Good {
            return false;
        }
        self.truth.transmissions += 1;
        self.truth.retransmissions += u64::from(retry);
        if fate.open {
            fate.open = false;
            fate.resent += 1;
        }
        let first = !fate.captured;
        fate.captured = true;
        self.truth.mpdus += u64::from(first);
        first
    }

    /// A Block Ack was on the air: the numbers with their bit set, and the PPDU it answers (empty after a BAR).
    pub(crate) fn block_ack(
        &mut self,
        acked: impl Fn(u16) -> bool,
        ssn: u16,
        bits: u16,
        ppdu: &[Answered],
        heard: Heard,
    ) {
        if heard != Heard::Good {
            return;
        }
        let truth = &mut self.truth;
        truth.block_acks += 1;
        // What was acknowledged before this Block Ack came.
        let before: Vec<bool> = ppdu.iter().map(|m| self.fates[usize::from(m.seq) % MODULUS].acked).collect();
        for offset in 0..bits {
            let seq = ssn.wrapping_add(offset) & 0x0fff;
            let fate = &mut self.fates[usize::from(seq)];
            if !acked(seq) || fate.serial == 0 {
                continue;
            }
            if fate.acked {
                truth.stale_bits += 1;
                continue;
            }
            fate.acked = true;
            *(if fate.captured { &mut truth.newly_acked } else { &mut truth.acked_not_captured }) += 1;
            truth.left_out_late += u64::from(fate.open);
            truth.left_out_resent_acked += u64::from(fate.resent);
            (fate.open, fate.resent) = (false, 0);
        }
        for (index, (mpdu, acked_before)) in ppdu.iter().zip(before).enumerate() {
            if mpdu.heard != Heard::Good {
                continue;
            }
            let from_end = ppdu.len() - 1 - index;
            if truth.by_position_from_end.len() <= from_end {
                let rows = truth.by_position_from_end.len() as u32..=from_end as u32;
                truth.by_position_from_end.extend(rows.map(|from_end| PositionRow { from_end, ..Default::default() }));
            }
            let row = &mut truth.by_position_from_end[from_end];
            row.mpdus += 1;
            let inside = mpdu.seq.wrapping_sub(ssn) & 0x0fff < bits;
            if acked_before || (inside && acked(mpdu.seq)) {
                continue;
            }
            row.left_out += 1;
            truth.left_out += 1;
            *(if mpdu.received { &mut truth.left_out_received } else { &mut truth.left_out_not_received }) += 1;
            self.fates[usize::from(mpdu.seq) % MODULUS].open = true;
        }
    }

    /// The end: what is still open stays so.
    pub(crate) fn finish(mut self) -> BlockAckTruth {
        for fate in &self.fates {
            settle(&mut self.truth, fate);
        }
        self.truth
    }
}

/// Accounts for an MPDU that will not occur again.
fn settle(truth: &mut BlockAckTruth, fate: &Fate) {
    truth.left_out_abandoned += u64::from(fate.open);
    truth.left_out_resent_lost += u64::from(fate.resent);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ledger: &mut BlockAckLedger, seq: u16, retry: bool, received: bool) -> Answered {
        ledger.transmission(seq, u64::from(seq), retry, Heard::Good);
        Answered { seq, heard: Heard::Good, received }
    }

    #[test]
    fn fates_of_three_left_out_mpdus() {
        let mut ledger = BlockAckLedger::new(BlockAckTruth::default());
        let first: Vec<_> = (4094u16..4098).map(|seq| sent(&mut ledger, seq & 4095, false, seq & 4095 != 1)).collect();
        // 4094 acknowledged, 4095 and 0 late, 1 lost.
        ledger.block_ack(|seq| seq == 4094, 4094, 64, &first, Heard::Good);
        assert_eq!((ledger.truth.left_out_received, ledger.truth.left_out_not_received), (2, 1));
        // 0 is sent again, 4095 is acknowledged without that.
        let second = [sent(&mut ledger, 0, true, true)];
        ledger.block_ack(|seq| seq >= 4094 || seq == 0, 4094, 64, &second, Heard::Good);
        let truth = ledger.finish();
        assert_eq!(truth.newly_acked, 3);
        assert_eq!(truth.stale_bits, 1);
        assert_eq!(
            (truth.left_out, truth.left_out_late, truth.left_out_resent_acked, truth.left_out_abandoned),
            (3, 1, 1, 1)
        );
        assert_eq!((truth.transmissions, truth.mpdus, truth.retransmissions), (5, 4, 1));
    }
}
