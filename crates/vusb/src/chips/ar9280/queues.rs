//! Queues of frames: each a QCU, which reads descriptors, and the DCU of the same number, which contends (Linux ath9k/mac.c).
//!
//! 0 to 3 are the access categories from background to voice, 7 is for U-APSD, 8 for what goes behind beacons (CAB), 9 for beacons
//! (hw.h; mac.c, ath9k_hw_setuptxqueue). The last two wait for the DMA beacon alert.

use wire::phy::EdcaParameters;

use super::frame::Fetched;
use super::memory::Registers;
use super::registers as reg;
use super::timers::Fired;

/// The channel access function of all queues that are not those of an access category.
const OTHER_FUNCTION: usize = 4;

/// Whether a queue that waits for the beacon alert has its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Gate {
    #[default]
    Closed,
    /// The alert was there while the queue had frames; it begins at the time of the beacon.
    Alerted { until_ns: u64 },
    /// That has come.
    Open { until_ns: u64 },
}

/// A queue.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Queue {
    /// The descriptor that comes next; 0: none.
    pub(super) next: u32,
    /// The last one that is done. The driver goes on at its link: it keeps it until then (xmit.c, ath_tx_txqaddbuf).
    pub(super) held: u32,
    /// The frame that is being sent.
    pub(super) current: Option<Fetched>,
    /// Since when it has something to send.
    pub(super) since_ns: u64,
    gate: Gate,
}

/// All of them.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Queues {
    pub(super) all: [Queue; reg::QUEUES],
    /// Q_TXE: those that are to send.
    pub(super) enabled: u32,
    /// Q_TXD: those that are to stop.
    pub(super) stopped: u32,
}

/// The channel access function of a queue.
pub(super) const fn function(queue: usize) -> usize {
    if queue < OTHER_FUNCTION {
        queue
    } else {
        OTHER_FUNCTION
    }
}

fn waits_for_alert(registers: &Registers, queue: usize) -> bool {
    registers.of_queue(reg::Q_MISC, queue) & reg::MISC_POLICY == reg::POLICY_BEACON_ALERT
}

fn has_beacons(registers: &Registers, queue: usize) -> bool {
    registers.of_queue(reg::Q_MISC, queue) & reg::MISC_BEACON_USE != 0
}

impl Queues {
    pub(super) const fn is_enabled(&self, queue: usize) -> bool {
        self.enabled >> queue & 1 == 1
    }

    /// Whether a queue has something to send now.
    fn is_ready(&self, registers: &Registers, now_ns: u64, queue: usize) -> bool {
        let Some(found) = self.all.get(queue) else { return false };
        if !self.is_enabled(queue) || found.next == 0 && found.current.is_none() {
            return false;
        }
        if !waits_for_alert(registers, queue) {
            return true;
        }
        // What goes behind a beacon waits for it.
        let behind = |other: usize| has_beacons(registers, other) && self.is_enabled(other);
        matches!(found.gate, Gate::Open { until_ns } if now_ns <= until_ns)
            && (has_beacons(registers, queue) || !(0..reg::QUEUES).any(behind))
    }

    /// The queue of a channel access function that sends next: the one with the highest number.
    pub(super) fn head(&self, registers: &Registers, now_ns: u64, of: usize) -> Option<usize> {
        (0..reg::QUEUES).rev().find(|&queue| function(queue) == of && self.is_ready(registers, now_ns, queue))
    }

    /// Those that contend, with their functions.
    pub(super) fn heads<'a>(
        &'a self,
        registers: &'a Registers,
        now_ns: u64,
    ) -> impl Iterator<Item = (usize, &'a Queue)> {
        (0..=OTHER_FUNCTION).filter_map(move |of| {
            let number = self.head(registers, now_ns, of)?;
            Some((number, self.all.get(number)?))
        })
    }

    /// A beacon's timer has fired.
    pub(super) fn timer(&mut self, registers: &Registers, now_ns: u64, fired: Fired) {
        for (number, queue) in self.all.iter_mut().enumerate() {
            if !waits_for_alert(registers, number) {
                continue;
            }
            match (fired, queue.gate) {
                (Fired::DmaBeaconAlert, _) if self.enabled >> number & 1 == 1 => {
                    let ready = registers.of_queue(reg::Q_RDYTIMECFG, number);
                    let lasts_ns = u64::from(ready & reg::RDYTIME_DURATION) * 1_000;
                    let ends = ready & reg::RDYTIME_EN != 0;
                    queue.gate = Gate::Alerted { until_ns: if ends { now_ns + lasts_ns } else { u64::MAX } };
                }
                (Fired::Tbtt, Gate::Alerted { until_ns }) => {
                    queue.gate = Gate::Open { until_ns };
                    queue.since_ns = queue.since_ns.max(now_ns);
                }
                _ => {}
            }
        }
    }

    /// A queue came to the end of its descriptors.
    pub(super) fn ended(&mut self, queue: usize) {
        self.enabled &= !(1 << queue);
        if let Some(queue) = self.all.get_mut(queue) {
            queue.next = 0;
            queue.gate = Gate::Closed;
        }
    }

    /// A queue loses its frames.
    pub(super) fn stop(&mut self, queue: usize) {
        self.enabled &= !(1 << queue);
        if let Some(queue) = self.all.get_mut(queue) {
            *queue = Queue::default();
        }
    }
}

/// Contention parameters of a queue (mac.c, ath9k_hw_resettxqueue).
pub(super) fn access(registers: &Registers, queue: usize) -> EdcaParameters {
    let value = registers.of_queue(reg::D_LCL_IFS, queue);
    // Windows are one less than a power of two.
    let exponent = |window: u32| (u32::BITS - (window & 0x3ff).leading_zeros()) as u8;
    EdcaParameters {
        aifsn: (value >> 20 & 0xff) as u8,
        ecw_min: exponent(value),
        ecw_max: exponent(value >> 10),
        txop_limit_32us: u16::try_from(txop_us(registers, queue) / 32).unwrap_or(u16::MAX),
    }
}

/// How long a queue may go on sending, µs; 0: one exchange.
pub(super) fn txop_us(registers: &Registers, queue: usize) -> u32 {
    let value = registers.of_queue(reg::D_CHNTIME, queue);
    if value & reg::CHNTIME_EN != 0 {
        value & reg::CHNTIME_DURATION
    } else {
        0
    }
}

/// After how many failures in a row the contention window begins again: the limit of frames (D_RETRY_LIMIT, FR_SH).
pub(super) fn retry_limit(registers: &Registers, queue: usize) -> u32 {
    (registers.of_queue(reg::D_RETRY_LIMIT, queue) & 0xf).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers() -> Registers {
        let mut registers = Registers::default();
        registers.set(reg::Q_MISC + 4 * 8, reg::POLICY_BEACON_ALERT);
        registers.set(reg::Q_MISC + 4 * 9, reg::POLICY_BEACON_ALERT | reg::MISC_BEACON_USE);
        registers.set(reg::Q_RDYTIMECFG + 4 * 8, reg::RDYTIME_EN | 20_000);
        registers.set(reg::D_LCL_IFS + 4, 15 | 1_023 << 10 | 3 << 20);
        registers
    }

    fn with_frames(queues: &mut Queues, queue: usize) {
        queues.all[queue].next = 0x1000;
        queues.enabled |= 1 << queue;
    }

    #[test]
    fn beacons_go_at_their_time_and_what_is_behind_them_after_them() {
        let (registers, mut queues) = (registers(), Queues::default());
        with_frames(&mut queues, 9);
        queues.timer(&registers, 1_000_000, Fired::Tbtt);
        assert_eq!(queues.head(&registers, 1_000_000, 4), None, "without an alert before");
        queues.timer(&registers, 2_000_000, Fired::DmaBeaconAlert);
        with_frames(&mut queues, 8);
        assert_eq!(queues.head(&registers, 2_500_000, 4), None, "before the time");
        queues.timer(&registers, 3_000_000, Fired::Tbtt);
        assert_eq!(queues.head(&registers, 3_000_000, 4), Some(9));
        queues.ended(9);
        assert_eq!(queues.head(&registers, 3_000_000, 4), None, "8 came after the alert");
        with_frames(&mut queues, 9);
        queues.timer(&registers, 102_000_000, Fired::DmaBeaconAlert);
        queues.timer(&registers, 103_000_000, Fired::Tbtt);
        queues.ended(9);
        assert_eq!(queues.head(&registers, 103_000_000, 4), Some(8));
        assert_eq!(queues.head(&registers, 123_000_000, 4), None, "its ready time is over");
    }

    #[test]
    fn queues_contend_beside_each_other() {
        let (mut registers, mut queues) = (registers(), Queues::default());
        let heads =
            |queues: &Queues| queues.heads(&Registers::default(), 0).map(|(queue, _)| queue).collect::<Vec<_>>();
        assert_eq!(heads(&queues), Vec::<usize>::new());
        for queue in [1, 3, 5, 7] {
            with_frames(&mut queues, queue);
        }
        assert_eq!(heads(&queues), [1, 3, 7], "of those of one function the highest");
        queues.stop(3);
        queues.stop(7);
        assert_eq!((heads(&queues), function(1), function(7)), (vec![1, 5], 1, 4));
        registers.set(reg::D_CHNTIME + 4, 2_048);
        assert_eq!(txop_us(&registers, 1), 0, "switched off");
        registers.set(reg::D_CHNTIME + 4, reg::CHNTIME_EN | 2_048);
        let access = access(&registers, 1);
        assert_eq!((access.aifsn, access.ecw_min, access.ecw_max, access.txop_limit_32us), (3, 4, 10, 64));
    }
}
