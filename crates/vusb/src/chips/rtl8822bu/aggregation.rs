//! What goes into one A-MPDU.

use std::collections::VecDeque;

use wire::phy::Mode;
use wire::usb::rtw88::TxDescriptor;

use super::assumptions::Assumptions;
use super::registers as reg;
use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::chips::realtek::memory::Memory;
use crate::chips::realtek::queues::Queued;

/// Longest A-MPDU in bytes: what every receiver here announces (HT: 65535). rtw88 of Linux 6.12 writes no register of lengths.
const AGGREGATE_BYTES: usize = 65_535;
/// Longest PPDU (aPPDUMaxTime of HT-mixed and VHT: 5.484 ms).
const PPDU_NS: u64 = 5_484_000;
/// Block Ack window.
const WINDOW: u16 = 64;

/// Takes what may go into one A-MPDU with the first frame: the same receiver and TID, within the window, within limits.
pub(super) fn aggregate(
    queue: &mut VecDeque<Queued<TxDescriptor>>,
    taken: &mut Vec<Queued<TxDescriptor>>,
    mode: &Mode,
    memory: &Memory,
    assumed: &Assumptions,
) {
    let Some(first) = taken.first() else { return };
    let (tid, start) = (first.tid(), first.sequence());
    let receiver = first.receiver();
    let limit = most(memory, first.descriptor.max_aggregate());
    let longest_ns = longest_ns(memory, assumed);
    let entry = |queued: &Queued<TxDescriptor>| (queued.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
    let mut len = entry(first);
    while taken.len() < limit {
        let Some(next) = queue.front() else { return };
        let ahead = next.sequence().distance_from(start);
        let same = next.tid() == tid && next.receiver() == receiver && next.descriptor.aggregate() && ahead < WINDOW;
        let longer = len + entry(next);
        if !same || longer > AGGREGATE_BYTES || duration_ns(mode, longer) > longest_ns {
            return;
        }
        len = longer;
        taken.extend(queue.pop_front());
    }
}

/// Twice what the descriptor says (rtw88 tx.c, get_tx_ampdu_factor), and no more than the register.
fn most(memory: &Memory, said: u8) -> usize {
    let register = match memory.u8(reg::MAX_AGGR_NUM) {
        0 => usize::from(WINDOW),
        most => usize::from(most),
    };
    match said {
        0 => register,
        said => (2 * usize::from(said)).min(register),
    }
}

/// The longest A-MPDU in time.
fn longest_ns(memory: &Memory, assumed: &Assumptions) -> u64 {
    match u64::from(memory.u8(reg::AMPDU_MAX_TIME_V1)) * u64::from(assumed.ampdu_time_us) * 1_000 {
        0 => PPDU_NS,
        longest_ns => longest_ns.min(PPDU_NS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::rtl8822bu::rates::{mode, Shape};

    fn queued(sequence: u16, tid: u8, said: u32, len: usize) -> Queued<TxDescriptor> {
        let mut mpdu = vec![0x88, 0x01, 0, 0];
        mpdu.resize(22, 2);
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend([tid, 0]);
        mpdu.resize(len, 0);
        let descriptor = TxDescriptor::new(len as u16, tid).with(2, 12, 1).with(3, 17, said);
        Queued::new(descriptor, mpdu, (1, 1), 0)
    }

    fn together(said: u32, register: u8, time: u8, rate: u8, frames: impl Iterator<Item = (u16, u8, usize)>) -> usize {
        let mut memory = Memory::default();
        memory.set_u8(reg::MAX_AGGR_NUM, register);
        memory.set_u8(reg::AMPDU_MAX_TIME_V1, time);
        let mut queue: VecDeque<Queued<TxDescriptor>> =
            frames.map(|(sequence, tid, len)| queued(sequence, tid, said, len)).collect();
        let mut taken: Vec<Queued<TxDescriptor>> = queue.pop_front().into_iter().collect();
        let mode = mode(rate, Shape::default()).unwrap();
        aggregate(&mut queue, &mut taken, &mode, &memory, &Assumptions::default());
        taken.len()
    }

    #[test]
    fn each_limit_holds() {
        let short = || (0..80).map(|sequence| (sequence, 0, 100));
        assert_eq!(together(31, 0x20, 0, 0x1b, short()), 32, "the register");
        assert_eq!(together(31, 0, 0, 0x1b, short()), 62, "twice what the descriptor says");
        assert_eq!(together(0, 0, 0, 0x1b, short()), 64);
        assert_eq!(together(3, 0x20, 0, 0x1b, short()), 6);
        // MCS 0, 6.5 Mbit/s: 112 x 32 us are two frames of 1,400 bytes.
        let long = || (0..80).map(|sequence| (sequence, 0, 1_400));
        assert_eq!(together(31, 0x20, 0x70, 0x0c, long()), 2);
        assert_eq!(together(31, 0x20, 0, 0x0c, long()), 3, "5.484 ms");
        assert_eq!(together(31, 0, 0, 0x1b, long()), 46, "65,535 bytes");
        let others = [(0, 0, 100), (1, 0, 100), (2, 5, 100), (3, 0, 100)];
        assert_eq!(together(31, 0x20, 0, 0x1b, others.into_iter()), 2, "another TID");
        let ahead = [(0, 0, 100), (63, 0, 100), (64, 0, 100)];
        assert_eq!(together(31, 0x20, 0, 0x1b, ahead.into_iter()), 2, "the window");
    }
}
