//! The TSF and the timers that go by it (Linux ath9k/hw.c, ath9k_hw_beaconinit and ath9k_hw_set_sta_beacon_timers; reg.h,
//! AR_NEXT_TBTT_TIMER to AR_NDP_PERIOD).

/// Timers: the time of a beacon, the DMA beacon alert, the software beacon alert, HCF, TIM, DTIM, quiet time, NDP.
pub(super) const TIMERS: usize = 8;
const TBTT: usize = 0;
const DMA_BEACON_ALERT: usize = 1;
const SOFTWARE_BEACON_ALERT: usize = 2;
/// It makes no interrupt here: quiet times are not kept.
const QUIET: usize = 6;
/// From here on a period ends in the past.
const PERIOD_MAX: u32 = 1 << 30;
/// What a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fired {
    /// It is the time of a beacon.
    Tbtt,
    /// Queues that wait for it get their turn.
    DmaBeaconAlert,
    /// The host is to make the next beacon.
    SoftwareBeaconAlert,
    /// Another one.
    Generic(usize),
}

/// The TSF, and the timers.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Timers {
    /// What is added to the run's clock, in µs, to get the TSF.
    offset_us: i64,
    next_us: [u32; TIMERS],
    period_us: [u32; TIMERS],
    enabled: u32,
}

impl Timers {
    /// The TSF, µs.
    pub(super) fn tsf_us(&self, now_ns: u64) -> u64 {
        (now_ns / 1_000).wrapping_add_signed(self.offset_us)
    }

    /// Sets it.
    pub(super) fn set_tsf(&mut self, now_ns: u64, tsf_us: u64) {
        self.offset_us = tsf_us.wrapping_sub(now_ns / 1_000) as i64;
    }

    pub(super) fn next(&self, timer: usize) -> u32 {
        self.next_us.get(timer).copied().unwrap_or(0)
    }

    pub(super) fn set_next(&mut self, timer: usize, tsf_us: u32) {
        if let Some(next) = self.next_us.get_mut(timer) {
            *next = tsf_us;
        }
    }

    pub(super) fn period(&self, timer: usize) -> u32 {
        self.period_us.get(timer).copied().unwrap_or(0)
    }

    pub(super) fn set_period(&mut self, timer: usize, us: u32) {
        if let Some(period) = self.period_us.get_mut(timer) {
            *period = us;
        }
    }

    pub(super) const fn enabled(&self) -> u32 {
        self.enabled
    }

    pub(super) fn enable(&mut self, mask: u32) {
        self.enabled = mask;
    }

    fn running(&self) -> impl Iterator<Item = usize> + '_ {
        (0..TIMERS).filter(|&timer| timer != QUIET && self.enabled >> timer & 1 == 1)
    }

    /// How long until a timer fires, µs; half of all times of the TSF are in the past.
    fn left_us(&self, timer: usize, tsf_us: u32) -> i32 {
        self.next(timer).wrapping_sub(tsf_us) as i32
    }

    /// When the next one fires; `None`: never.
    pub(super) fn next_event(&self, now_ns: u64) -> Option<u64> {
        let tsf_us = self.tsf_us(now_ns) as u32;
        let at = |timer: usize| {
            u64::try_from(self.left_us(timer, tsf_us))
                .map_or(now_ns, |left_us| now_ns - now_ns % 1_000 + left_us * 1_000)
        };
        self.running().map(at).min()
    }

    /// The next one that is due; one without a period fires once.
    pub(super) fn fire(&mut self, now_ns: u64) -> Option<Fired> {
        let tsf_us = self.tsf_us(now_ns) as u32;
        let timer = self.running().find(|&timer| self.left_us(timer, tsf_us) <= 0)?;
        match self.period(timer) {
            // None, or one that ends in the past.
            0 | PERIOD_MAX.. => self.enabled &= !(1 << timer),
            period => {
                let behind = tsf_us.wrapping_sub(self.next(timer)) / period;
                let next = self.next(timer).wrapping_add(behind.wrapping_mul(period));
                self.set_next(timer, next.wrapping_add(period));
            }
        }
        Some(match timer {
            TBTT => Fired::Tbtt,
            DMA_BEACON_ALERT => Fired::DmaBeaconAlert,
            SOFTWARE_BEACON_ALERT => Fired::SoftwareBeaconAlert,
            other => Fired::Generic(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_at_their_times_of_the_tsf() {
        let mut timers = Timers::default();
        timers.set_tsf(5_000_000, 1_000);
        assert_eq!(timers.tsf_us(5_250_000), 1_250);
        timers.set_next(TBTT, 1_500);
        timers.set_period(TBTT, 100);
        timers.set_next(4, 1_700);
        assert_eq!(timers.next_event(5_000_000), None);
        timers.enable(1 | 1 << 4);
        assert_eq!((timers.next_event(5_000_900), timers.fire(5_499_000)), (Some(5_500_000), None));
        assert_eq!((timers.fire(5_500_000), timers.fire(5_500_000)), (Some(Fired::Tbtt), None));
        assert_eq!(timers.next(TBTT), 1_600);
        // What was missed meanwhile is one time; a timer without a period is off then.
        assert_eq!([0; 3].map(|_| timers.fire(6_000_000)), [Some(Fired::Tbtt), Some(Fired::Generic(4)), None]);
        assert_eq!((timers.next(TBTT), timers.enabled()), (2_100, 1));
    }

    /// As far away as can be is in the past for both who ask.
    #[test]
    fn a_timer_at_the_other_side_of_the_circle_is_due() {
        let mut timers = Timers::default();
        timers.set_next(TBTT, 1 << 31);
        timers.enable(1);
        assert_eq!((timers.next_event(0), timers.fire(0), timers.next_event(0)), (Some(0), Some(Fired::Tbtt), None));
    }

    proptest::proptest! {
        #[test]
        fn any_times_end(tsf: u64, next: u32, period: u32, mask: u32, now: u64) {
            let mut timers = Timers::default();
            timers.set_tsf(0, tsf);
            for timer in 0..TIMERS {
                timers.set_next(timer, next);
                timers.set_period(timer, period);
            }
            timers.enable(mask);
            let now_ns = now >> 1;
            let fired = std::iter::from_fn(|| timers.fire(now_ns)).take(100).count();
            proptest::prop_assert!(fired <= TIMERS);
            proptest::prop_assert!(timers.next_event(now_ns).is_none_or(|at| at > now_ns));
        }
    }
}
