//! ksdioirqd without an interrupt (drivers/mmc/core/sdio_irq.c): it asks every 10 ms, twice as often after each time that the
//! card had something, a tick less often after each time that it had not.

/// `idle_period`, ms.
const IDLE_MS: u64 = 10;

/// See the module. Time is counted in ticks from 0.
#[derive(Clone, Debug)]
pub(crate) struct Poll {
    tick_ns: u64,
    late: u64,
    idle: u64,
    period: u64,
    due_ns: u64,
}

impl Poll {
    /// A time-out takes `late_ticks` more ticks than asked for.
    pub(crate) fn new(hz: u32, late_ticks: u32) -> Self {
        let hz = u64::from(hz);
        // msecs_to_jiffies rounds up.
        let idle = (IDLE_MS * hz).div_ceil(1_000);
        Self { tick_ns: 1_000_000_000 / hz, late: u64::from(late_ticks), idle, period: idle, due_ns: 0 }
    }

    /// When it asks next.
    pub(crate) const fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// It has asked, and done what there was to be done.
    pub(crate) fn asked(&mut self, now_ns: u64, found: bool) {
        self.period = if found { self.period / 2 } else { (self.period + 1).min(self.idle) };
        // A time-out of n ticks ends with the n-th tick from now; one of none at once.
        self.due_ns =
            if self.period == 0 { now_ns } else { (now_ns / self.tick_ns + self.period + self.late) * self.tick_ns };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods(hz: u32, found: &[bool]) -> Vec<u64> {
        let mut poll = Poll::new(hz, 0);
        let step = |&found: &bool| {
            poll.asked(1, found);
            poll.period
        };
        found.iter().map(step).collect()
    }

    #[test]
    fn it_backs_off_in_ticks() {
        assert_eq!(periods(1_000, &[true; 5]), [5, 2, 1, 0, 0]);
        assert_eq!(periods(100, &[true, false, false]), [0, 1, 1]);
        assert_eq!(periods(250, &[true, true, false, false, false, false]), [1, 0, 1, 2, 3, 3]);
    }

    #[test]
    fn time_outs_end_with_ticks() {
        let mut poll = Poll::new(100, 0);
        poll.asked(12_000_000, false);
        assert_eq!(poll.due_ns(), 20_000_000);
        poll.asked(20_100_000, true);
        assert_eq!(poll.due_ns(), 20_100_000);
    }

    /// 10 ms are 3 ticks of 4 ms, and now end with the fourth: an idle card is asked 62.5 times a second.
    #[test]
    fn a_time_out_of_today_takes_a_tick_more() {
        let mut poll = Poll::new(250, 1);
        poll.asked(0, false);
        assert_eq!(poll.due_ns(), 16_000_000);
        // At once is at once.
        (0..2).for_each(|_| poll.asked(16_000_000, true));
        assert_eq!(poll.due_ns(), 16_000_000);
    }
}
