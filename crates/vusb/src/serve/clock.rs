//! The one clock of a run.

use rustix::time::{clock_gettime, ClockId};

/// Nanoseconds since the machine was started: the same from run to run where instructions are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

fn now(id: ClockId) -> i128 {
    let time = clock_gettime(id);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

impl Clock {
    /// What it shows.
    pub fn now_ns(self) -> u64 {
        u64::try_from(now(ClockId::Monotonic)).unwrap_or(0)
    }

    /// What to add to get the time since 1970.
    pub fn epoch_ns(self) -> i64 {
        i64::try_from(now(ClockId::Realtime) - now(ClockId::Monotonic)).unwrap_or(0)
    }
}
