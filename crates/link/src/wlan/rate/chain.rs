//! The rates of the attempts at one PPDU.

use crate::wlan::phy::RateId;

/// Attempts at a PPDU without an answer, and the rate of each, before what it carries goes back to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    stages: [(RateId, u8); 4],
    len: u8,
    /// It tries out a rate: one MPDU.
    pub(crate) probe: bool,
}

impl Chain {
    /// One attempt at this rate.
    pub(crate) const fn one(rate: RateId) -> Self {
        Self { stages: [(rate, 1); 4], len: 1, probe: false }
    }

    /// These rates with this many attempts each, four at most.
    pub(crate) fn of(given: &[(RateId, u8)], probe: bool) -> Self {
        let mut stages = [(0, 0); 4];
        let len = given.len().min(stages.len());
        stages[..len].copy_from_slice(&given[..len]);
        Self { stages, len: len as u8, probe }
    }

    fn stages(&self) -> &[(RateId, u8)] {
        &self.stages[..usize::from(self.len)]
    }

    /// All attempts.
    pub(crate) fn attempts(&self) -> u32 {
        self.stages().iter().map(|&(_, tries)| u32::from(tries)).sum()
    }

    /// The rate of an attempt, counted from 0; beyond the end that of the last.
    pub(crate) fn rate(&self, attempt: u32) -> RateId {
        let mut left = attempt;
        for &(rate, tries) in self.stages() {
            if left < u32::from(tries) {
                return rate;
            }
            left -= u32::from(tries);
        }
        self.stages[usize::from(self.len.max(1)) - 1].0
    }

    /// Every rate in it.
    pub(crate) fn rates(&self) -> impl Iterator<Item = RateId> + '_ {
        self.stages().iter().map(|&(rate, _)| rate)
    }
}
