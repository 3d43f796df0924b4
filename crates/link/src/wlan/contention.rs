//! EDCA: when a station may send (IEEE 802.11-2020 10.23.2).
//!
//! Time since the medium fell silent is counted in slots after AIFS. Both stations use the same access category, so they
//! share one grid of slots, and two that begin in the same slot collide.

use crate::rng::Rng;
use crate::wlan::phy::Phy;

/// The backoff of one station.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// Slots still to count down. Counting goes on while there is nothing to send.
    backoff: u32,
    /// Contention window.
    window: u32,
    /// Slots to wait before counting: after a timeout, or after something undecodable.
    penalty: u32,
    /// Since when there has been something to send.
    ready_ns: Option<u64>,
}

impl Contender {
    pub(crate) fn new(phy: &Phy) -> Self {
        Self { backoff: 0, window: phy.cw_min, penalty: 0, ready_ns: None }
    }

    /// Takes note of whether there is something to send.
    pub(crate) fn set_ready(&mut self, now_ns: u64, ready: bool, medium_busy: bool, rng: &mut Rng) {
        match (ready, self.ready_ns) {
            (true, None) => {
                self.ready_ns = Some(now_ns);
                if medium_busy && self.backoff == 0 {
                    self.backoff = rng.up_to(self.window);
                }
            }
            (false, Some(_)) => self.ready_ns = None,
            _ => {}
        }
    }

    /// The slot, counted from AIFS after `idle_ns`, in which it sends; `None` with nothing to send.
    pub(crate) fn slot(&self, phy: &Phy, idle_ns: u64) -> Option<u64> {
        let grid_ns = idle_ns + phy.aifs_ns;
        let ready = self.ready_ns?.saturating_sub(grid_ns).div_ceil(phy.slot_ns);
        Some(ready.max(u64::from(self.penalty) + u64::from(self.backoff)))
    }

    /// The medium was silent for that many slots and is taken by somebody else.
    pub(crate) fn count_down(&mut self, slots: u64) {
        let after_penalty = slots.saturating_sub(u64::from(self.penalty));
        self.penalty = 0;
        self.backoff = u64::from(self.backoff).saturating_sub(after_penalty) as u32;
    }

    /// It begins to send.
    pub(crate) fn begin(&mut self) {
        self.penalty = 0;
        self.backoff = 0;
    }

    /// Its exchange is over; a backoff follows in any case.
    pub(crate) fn end(&mut self, phy: &Phy, success: bool, rng: &mut Rng) {
        self.window = if success { phy.cw_min } else { (2 * self.window + 1).min(phy.cw_max) };
        self.penalty = if success { 0 } else { phy.timeout_slots };
        self.backoff = rng.up_to(self.window);
    }

    /// A frame was given up: the next one begins with the smallest window.
    pub(crate) fn forget_failures(&mut self, phy: &Phy) {
        self.window = phy.cw_min;
    }

    /// It heard something that it could not decode.
    pub(crate) fn defer_longer(&mut self, slots: u32) {
        self.penalty = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::scenario::Scenario;

    #[test]
    fn slots_are_counted_only_in_silence() {
        let phy = Phy::new(&Scenario::default()).expect("a scenario");
        let mut rng = Rng::new(3);
        let mut contender = Contender::new(&phy);
        assert_eq!(contender.slot(&phy, 1_000), None);
        // Ready while the medium is silent and no backoff is left: at the next slot, at the earliest after AIFS.
        contender.set_ready(1_000, true, false, &mut rng);
        assert_eq!(contender.slot(&phy, 1_000), Some(0));
        assert_eq!(contender.slot(&phy, 0), Some(0));
        contender.set_ready(0, false, false, &mut rng);
        contender.set_ready(100_000, true, false, &mut rng);
        assert_eq!(contender.slot(&phy, 1_000), Some((100_000u64 - 44_000).div_ceil(9_000)));
        contender.backoff = 10;
        contender.penalty = 3;
        contender.count_down(5);
        assert_eq!((contender.backoff, contender.penalty), (8, 0));
        contender.begin();
        contender.end(&phy, false, &mut rng);
        assert_eq!((contender.window, contender.penalty), (31, 1));
        for _ in 0..10 {
            contender.end(&phy, false, &mut rng);
        }
        assert_eq!(contender.window, 1023);
        contender.end(&phy, true, &mut rng);
        assert_eq!((contender.window, contender.penalty), (15, 0));
    }
}
