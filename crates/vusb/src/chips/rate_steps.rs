//! Rate control by steps: down when too few of the MPDUs got through, up when nearly all did. Which algorithm the firmware of a
//! chip has is in no source; this one has four numbers, each of which is an assumption of its chip.

use serde::{Deserialize, Serialize};

/// When it decides, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// MPDUs of one decision at least.
    pub sample: u32,
    /// Time between two decisions at least, ms.
    pub interval_ms: u32,
    /// One step down when a smaller part of the MPDUs than this was acknowledged.
    pub down: f64,
    /// One step up when a larger part was.
    pub up: f64,
}

/// Steps below the highest rate, and what decides on the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    below: usize,
    sent: u32,
    acknowledged: u32,
    /// When the first MPDU of this decision ended.
    since_ns: Option<u64>,
}

impl Steps {
    /// So many steps below the highest.
    pub fn at(below: usize) -> Self {
        Self { below, ..Self::default() }
    }

    /// Steps below the highest rate.
    pub const fn below(&self) -> usize {
        self.below
    }

    /// Whether an MPDU was acknowledged; `lowest`: the most steps there are. Gives whether that made it decide.
    pub fn report(&mut self, now_ns: u64, acknowledged: bool, lowest: usize, rules: &Rules) -> bool {
        self.sent += 1;
        self.acknowledged += u32::from(acknowledged);
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        let interval_ns = u64::from(rules.interval_ms) * 1_000_000;
        if self.sent < rules.sample || now_ns.saturating_sub(since_ns) < interval_ns {
            return false;
        }
        let part = f64::from(self.acknowledged) / f64::from(self.sent);
        let below = if part < rules.down {
            (self.below + 1).min(lowest)
        } else if part > rules.up {
            self.below.saturating_sub(1)
        } else {
            self.below
        };
        *self = Self::at(below);
        true
    }
}
