//! Counters of cycles: all, those with the channel busy, those in which the chip receives, those in which it sends (Linux
//! ath/hw.c, ath_hw_cycle_counters_update). Whether the chip counts its own frames as busy no source says; here it does.

use super::registers as reg;

/// What they count, by the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Times {
    all_ns: u64,
    busy_ns: u64,
    sent_ns: u64,
}

/// The counters.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Cycles {
    now: Times,
    /// When each was set to 0.
    all_from: Times,
    busy_from: Times,
    received_from: Times,
    sent_from: Times,
}

impl Cycles {
    /// The time up to which everything has happened.
    pub(super) const fn now_ns(&self) -> u64 {
        self.now.all_ns
    }

    /// What the air has counted until now: time that it was taken, and that by this chip.
    pub(super) fn set(&mut self, now_ns: u64, busy_ns: u64, sent_ns: u64) {
        self.now = Times { all_ns: now_ns, busy_ns, sent_ns };
    }

    /// A counter, in cycles of a clock.
    pub(super) fn read(&self, offset: u32, now_ns: u64, clock_mhz: u64) -> u32 {
        let ns = match offset {
            reg::CCCNT => now_ns.saturating_sub(self.all_from.all_ns),
            reg::RCCNT => self.now.busy_ns - self.busy_from.busy_ns,
            reg::RFCNT => {
                let busy_ns = self.now.busy_ns - self.received_from.busy_ns;
                busy_ns.saturating_sub(self.now.sent_ns - self.received_from.sent_ns)
            }
            _ => self.now.sent_ns - self.sent_from.sent_ns,
        };
        (ns * clock_mhz / 1_000) as u32
    }

    /// The driver sets a counter, always to 0.
    pub(super) fn write(&mut self, offset: u32, now_ns: u64) {
        let now = Times { all_ns: now_ns, ..self.now };
        match offset {
            reg::CCCNT => self.all_from = now,
            reg::RCCNT => self.busy_from = now,
            reg::RFCNT => self.received_from = now,
            _ => self.sent_from = now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_the_clock_since_they_were_set() {
        let mut cycles = Cycles::default();
        cycles.set(1_000_000, 400_000, 100_000);
        for offset in [reg::CCCNT, reg::RCCNT, reg::RFCNT, reg::TFCNT] {
            cycles.write(offset, 1_000_000);
        }
        cycles.set(3_000_000, 900_000, 300_000);
        let read = |offset| cycles.read(offset, 3_000_000, 44);
        assert_eq!([reg::CCCNT, reg::RCCNT, reg::RFCNT, reg::TFCNT].map(read), [88_000, 22_000, 13_200, 8_800]);
    }
}
