//! Airtime queue limits: how much of each station may wait in the hardware (`net/mac80211/tx.c`).

use crate::engine::AccessCategory;
use crate::queue::settings::AqlSettings;
use crate::queue::skb::WLAN_HEADER_BYTES;

/// What waits in the hardware, by estimate.
#[derive(Clone, Debug)]
pub(crate) struct Aql {
    limits: AqlSettings,
    /// By peer and access category, µs.
    pending_us: Vec<[u64; 4]>,
    of_category_us: [u64; 4],
    total_us: u64,
}

impl Aql {
    /// Nothing waits.
    pub(crate) fn new(limits: AqlSettings, peers: usize) -> Self {
        Self { limits, pending_us: vec![[0; 4]; peers], of_category_us: [0; 4], total_us: 0 }
    }

    /// What of a peer waits, µs.
    pub(crate) fn pending_us(&self, peer: usize, category: AccessCategory) -> u64 {
        self.pending_us.get(peer).map_or(0, |pending| pending[category.priority()])
    }

    pub(crate) fn add(&mut self, peer: usize, category: AccessCategory, us: u32) {
        if let Some(pending) = self.pending_us.get_mut(peer) {
            pending[category.priority()] += u64::from(us);
            self.of_category_us[category.priority()] += u64::from(us);
            self.total_us += u64::from(us);
        }
    }

    /// Subtracts what was added; more than that is ignored.
    pub(crate) fn remove(&mut self, peer: usize, category: AccessCategory, us: u32) {
        if let Some(pending) = self.pending_us.get_mut(peer) {
            let us = u64::from(us).min(pending[category.priority()]);
            pending[category.priority()] -= us;
            self.of_category_us[category.priority()] -= us;
            self.total_us -= us;
        }
    }

    /// Whether more of a peer may be handed to the hardware: less than the lower limit waits, or less than the higher one
    /// while the device is not busy.
    pub(crate) fn allows(&self, peer: usize, category: AccessCategory) -> bool {
        let AqlSettings { on, low_us, high_us, device_us } = self.limits;
        let pending_us = self.pending_us(peer, category);
        !on || pending_us < u64::from(low_us) || self.total_us < u64::from(device_us) && pending_us < u64::from(high_us)
    }

    /// Whether stations may be served at all in an access category in which that many take part.
    pub(crate) fn allows_round(&self, category: AccessCategory, stations: usize) -> bool {
        let AqlSettings { on, low_us, high_us, .. } = self.limits;
        let limit_us = (stations as u64).saturating_sub(1) * u64::from(low_us) / 2 + u64::from(high_us);
        !on || self.of_category_us[category.priority()] < limit_us
    }

    /// Whether they are kept.
    pub(crate) const fn is_on(&self) -> bool {
        self.limits.on
    }
}

/// What mac80211 takes for the airtime of a packet before it is sent (`net/mac80211/airtime.c`), µs: at an HT rate at which
/// 1024 bytes take `per_1024_bytes_us` without a preamble, on that many streams. When the packet may be `aggregated` (it may
/// in every access category but voice) it bears only a part of the preamble, the smaller the higher the rate.
pub fn estimated_airtime_us(packet_bytes: usize, per_1024_bytes_us: f64, streams: u32, aggregated: bool) -> u32 {
    /// What the kernel adds to each packet.
    const OVERHEAD_BYTES: f64 = 38.0;
    let data_us = per_1024_bytes_us * (packet_bytes as f64 + f64::from(WLAN_HEADER_BYTES) + OVERHEAD_BYTES) / 1024.0;
    let preamble_us = 36 + 4 * streams;
    if !aggregated {
        return data_us as u32 + preamble_us;
    }
    let shift = match per_1024_bytes_us {
        us if us > 400.0 => 1,
        us if us > 250.0 => 2,
        us if us > 150.0 => 3,
        us if us > 70.0 => 4,
        _ => 5,
    };
    (data_us as u32 + (preamble_us >> shift)).max(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessCategory::{BestEffort, Voice};

    fn aql(peers: usize) -> Aql {
        Aql::new(AqlSettings { on: true, ..AqlSettings::default() }, peers)
    }

    #[test]
    fn a_station_alone_may_have_the_higher_limit_and_among_many_the_lower() {
        let mut aql = aql(5);
        aql.add(0, BestEffort, 11_999);
        assert!(aql.allows(0, BestEffort) && aql.allows(0, Voice));
        aql.add(0, BestEffort, 1);
        assert!(!aql.allows(0, BestEffort), "12 ms wait");
        aql.add(1, BestEffort, 5_000);
        assert!(aql.allows(1, BestEffort), "17 of 24 ms in all");
        aql.add(2, Voice, 7_000);
        assert!(!aql.allows(1, BestEffort), "the device is busy");
        aql.remove(1, BestEffort, 1);
        assert!(aql.allows(1, BestEffort), "less than 5 ms wait");
    }

    #[test]
    fn a_round_is_begun_while_the_category_has_little_waiting() {
        let mut aql = aql(5);
        aql.add(0, BestEffort, 12_000);
        assert!(!aql.allows_round(BestEffort, 1) && aql.allows_round(Voice, 1));
        assert!(aql.allows_round(BestEffort, 2), "(2 - 1) * 5 / 2 + 12 ms");
        aql.add(1, BestEffort, 2_500);
        assert!(!aql.allows_round(BestEffort, 2));
    }

    #[test]
    fn no_more_is_taken_away_than_was_there() {
        let mut aql = aql(1);
        aql.add(0, Voice, 10);
        aql.remove(0, Voice, 30);
        aql.remove(7, Voice, 30);
        assert_eq!((aql.pending_us(0, Voice), aql.total_us, aql.of_category_us), (0, 0, [0; 4]));
    }

    #[test]
    fn limits_that_are_off_limit_nothing() {
        let mut aql = Aql::new(AqlSettings::default(), 1);
        aql.add(0, BestEffort, u32::MAX);
        assert!(aql.allows(0, BestEffort) && aql.allows_round(BestEffort, 1) && !aql.is_on());
    }

    /// MCS 0 at 20 MHz with the long guard interval sends 26 bits in 4 µs, MCS 15 with the short one 520 in 3.6.
    #[test]
    fn estimates() {
        let (slow, fast) = (8.0 * 1024.0 / 6.5, 8.0 * 1024.0 / 144.44);
        // 1572 bytes in 1934.8 µs, and half of 40 µs.
        assert_eq!(estimated_airtime_us(1500, slow, 1, true), 1954);
        assert_eq!(estimated_airtime_us(1500, slow, 1, false), 1974);
        // 87.07 µs and a 32nd of 44 µs.
        assert_eq!(estimated_airtime_us(1500, fast, 2, true), 88);
        assert_eq!(estimated_airtime_us(0, 1.0, 1, true), 4);
    }
}
