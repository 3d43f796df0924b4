//! What the accounts of the channel say.

use super::{BusySum, Medium};
use crate::link::SpentNs;
use crate::micros::us;
use crate::ppdu_time::Unseen;
use crate::report;

/// Names of the PHYs, as the accounts number them.
const PHYS: [&str; 8] = ["DSSS/CCK", "OFDM", "HT mixed", "HT greenfield", "VHT", "HE", "EHT", "unknown"];

/// The channel's accounts, ns.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// First PPDU to last, away times included.
    pub observed_ns: i64,
    /// Tuned elsewhere, or deaf.
    pub unobserved_ns: i64,
    /// The part of it between frames of different channels.
    pub hopped_ns: i64,
    /// The longest pause in it on one channel.
    pub longest_pause_ns: i64,
    /// No station sends.
    pub idle_ns: i64,
    /// All links together.
    pub all: SpentNs,
    /// Management and beacons with their spaces and responses.
    pub management_ns: i64,
    /// Damaged frames and uncaptured subframes.
    pub damaged_ns: i64,
    /// Control frames without a captured partner.
    pub stray_ns: i64,
    /// Retries without a captured earlier attempt.
    pub unseen: Unseen,
    /// Gaps could be distinguished.
    pub gaps_usable: bool,
}

impl Medium {
    /// Share of frames with a known duration.
    pub fn duration_known_share(&self) -> Option<f64> {
        let all = self.with_duration + self.without_duration;
        (all > 0).then(|| self.with_duration as f64 / all as f64)
    }

    /// Frames with a known duration.
    pub fn timed(&self) -> u64 {
        self.with_duration
    }

    /// Frames of unknown duration.
    pub fn untimed(&self) -> u64 {
        self.without_duration
    }

    /// Beacons captured.
    pub fn beacons(&self) -> u64 {
        self.beacons
    }

    /// Durations of all PPDUs, whether or not there was time for them, ns.
    pub fn modelled_ns(&self) -> i64 {
        self.kinds.total()
    }

    /// Least and most of the observed time that can have been busy, as shares: unknown preambles either way, and frames
    /// without a known duration from none to the longest they can have taken.
    fn busy_bounds(&self) -> Option<(f64, f64)> {
        if self.observed_ns <= 0 {
            return None;
        }
        let observed = self.observed_ns as f64;
        let low = (self.busy_ns - self.uncertainty_ns).max(0) as f64 / observed;
        let high = self.busy_ns.saturating_add(self.uncertainty_ns).saturating_add(self.untimed_ns) as f64 / observed;
        Some((low.min(1.0), high.min(1.0)))
    }

    /// Busy share of the bin that starts at `start_ns` and is `width_ns` wide.
    pub fn busy_share(&self, start_ns: i64, width_ns: i64) -> Option<f64> {
        let (busy, covered) = self.within(start_ns, width_ns, |bin| bin.busy);
        (covered > 0).then(|| (busy / covered as f64).min(1.0))
    }

    /// Was more than half of this time not observed?
    pub fn is_blind(&self, start_ns: i64, width_ns: i64) -> bool {
        let (blind, _) = self.within(start_ns, width_ns, |bin| bin.blind);
        blind * 2.0 > width_ns as f64
    }

    /// The sum of a figure over a span, ns, and how much of the span there are bins of, ns.
    fn within(&self, start_ns: i64, width_ns: i64, get: impl Fn(&BusySum) -> i64) -> (f64, i64) {
        let (width, end_ns) = (self.busy.width_ns(), start_ns + width_ns);
        let (mut sum, mut covered) = (0.0, 0i64);
        for (at, bin) in self.busy.between(start_ns, end_ns) {
            // The two series have bins of different width: a bin counts by the part that lies inside.
            let inside = ((at + width).min(end_ns) - at.max(start_ns)).max(0);
            sum += get(&bin) as f64 * inside as f64 / width as f64;
            covered += inside;
        }
        (sum, covered)
    }

    /// Section 6. `timely`: the capture's times can be used; `has_choice`: a network was chosen.
    pub fn report(&self, timely: bool, has_choice: bool) -> report::Airtime {
        let known = timely && self.with_duration > 0;
        // Where nothing but the frames themselves was observed, they are all of it by definition.
        let has_share = known && self.observed_ns > self.busy_ns;
        let width = self.busy.width_ns();
        report::Airtime {
            busy_us: known.then(|| us(self.busy_ns)),
            observed_us: known.then(|| us(self.observed_ns)),
            busy_share: has_share.then(|| self.busy_ns as f64 / self.observed_ns as f64),
            kinds: known.then(|| self.kinds.report()),
            bss_us: (known && has_choice).then(|| us(self.chosen_ns)),
            bss_share: (has_share && has_choice).then(|| self.chosen_ns as f64 / self.observed_ns as f64),
            bss_busy_share: (known && has_choice && self.busy_ns > 0)
                .then(|| self.chosen_ns as f64 / self.busy_ns as f64),
            bss_kinds: (known && has_choice).then(|| self.chosen_kinds.report()),
            busy_share_low: self.busy_bounds().filter(|_| has_share).map(|(low, _)| low),
            busy_share_high: self.busy_bounds().filter(|_| has_share).map(|(_, high)| high),
            frames_without_duration: self.without_duration,
            uncertainty_us: known.then(|| us(self.uncertainty_ns)),
            by_phy: PHYS
                .iter()
                .zip(&self.phys)
                .filter(|(_, phy)| phy.ppdus > 0)
                .map(|(name, phy)| report::PhyAirtime {
                    phy: (*name).to_owned(),
                    ppdus: phy.ppdus,
                    airtime_us: us(phy.ns),
                })
                .collect(),
            series: self
                .busy
                .iter()
                .filter(|_| timely)
                .map(|(start, bin)| {
                    let share = |ns: i64| (ns as f64 / width as f64).min(1.0);
                    report::BusyBin {
                        start_us: us(start),
                        busy_share: share(bin.busy),
                        data_share: share(bin.data),
                        retry_share: share(bin.retry),
                        bss_share: has_choice.then(|| share(bin.chosen)),
                    }
                })
                .collect(),
            bin_us: us(width),
        }
    }

    /// Airtime of beacons, and of all other management, ns.
    pub fn management_ns(&self) -> (i64, i64) {
        (self.kinds.beacon, self.kinds.management)
    }

    /// The accounts that a waterfall needs beside its two links.
    pub fn totals(&self) -> Totals {
        let held = self.held.map_or(0, |held| held.air_ns + held.ifs_ns);
        Totals {
            observed_ns: self.observed_ns + self.unobserved_ns,
            unobserved_ns: self.unobserved_ns,
            hopped_ns: self.hopped_ns,
            longest_pause_ns: self.longest_pause_ns,
            idle_ns: self.idle_ns,
            all: self.all,
            management_ns: self.management_ns,
            damaged_ns: self.damaged_ns,
            stray_ns: self.stray_ns + held,
            unseen: self.unseen,
            gaps_usable: self.gaps_usable,
        }
    }
}
