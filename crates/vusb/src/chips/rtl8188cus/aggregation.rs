//! What goes into one A-MPDU.

use std::collections::VecDeque;

use wire::phy::Mode;

use super::eu_assumptions::AggregateLimit;
use super::registers as reg;
use super::tx_descriptor::TxDescriptor;
use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::air::rates::MCS0;
use crate::chips::realtek::memory::Memory;
use crate::chips::realtek::queues::Queued;

/// Most MPDUs of an A-MPDU where the descriptor does not say how many: the vendor's limit for this family (rtlwifi
/// rtl8192cu/trx.c sets it in every descriptor).
const AGGREGATE_DEFAULT: usize = 0x14;
/// Longest A-MPDU in bytes (HT: 65535; the chip's table of lengths has nibbles of 4 KiB).
const AGGREGATE_BYTES: usize = 65_535;
/// Longest PPDU (aPPDUMaxTime of HT-mixed: 5.484 ms, table 19-25).
const PPDU_NS: u64 = 5_484_000;
/// Block Ack window.
const WINDOW: u16 = 64;

/// Takes what may go into one A-MPDU with the first frame: the same receiver and TID, within the window, within limits.
/// `unless_said`: most MPDUs where the descriptor does not say.
pub(super) fn aggregate(
    queue: &mut VecDeque<Queued<TxDescriptor>>,
    taken: &mut Vec<Queued<TxDescriptor>>,
    mode: &Mode,
    memory: &Memory,
    rate: u8,
    unless_said: AggregateLimit,
) {
    let Some(first) = taken.first() else { return };
    let (tid, start) = (first.tid(), first.sequence());
    let receiver = first.receiver();
    let limit = match first.descriptor.max_aggregate() {
        0 => most(memory, unless_said),
        limit => usize::from(limit),
    };
    let bytes = aggregate_bytes(memory, rate);
    let mut len = (first.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
    while taken.len() < limit {
        let Some(next) = queue.front() else { return };
        let ahead = next.sequence().distance_from(start);
        let same = next.tid() == tid && next.receiver() == receiver && next.descriptor.aggregate() && ahead < WINDOW;
        let longer = len + (next.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
        if !same || longer > bytes || duration_ns(mode, longer) > PPDU_NS {
            return;
        }
        len = longer;
        taken.extend(queue.pop_front());
    }
}

fn most(memory: &Memory, unless_said: AggregateLimit) -> usize {
    match (unless_said, memory.u8(reg::MAX_AGGR_NUM)) {
        (AggregateLimit::Fixed, _) | (AggregateLimit::Register, 0) => AGGREGATE_DEFAULT,
        (AggregateLimit::Register, limit) => usize::from(limit),
    }
}

/// The nibble of AGGLEN_LMT for the MCS, in 4 KiB (rtlwifi rtl8192cu/hw.c, HW_VAR_AMPDU_FACTOR, writes factors there).
fn aggregate_bytes(memory: &Memory, rate: u8) -> usize {
    let lengths = memory.u32(reg::AGGLEN_LMT);
    if lengths == 0 {
        return AGGREGATE_BYTES;
    }
    let nibble = lengths >> (4 * u32::from(rate.saturating_sub(MCS0) & 7)) & 0x0f;
    ((nibble as usize + 1) * 4096).min(AGGREGATE_BYTES)
}
