//! How late packets were released: a histogram of fixed size.

use serde::{Serialize, Serializer};

/// Steps in each octave: the error of a percentile is at most one in eight.
const STEPS: usize = 8;
/// Up to 2^36 ns, more than a minute.
const OCTAVES: usize = 36;
/// Releases later than this are counted apart, ns.
const MUCH_NS: u64 = 1_000_000;

/// Delays of packet releases behind the time that the link had given them.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    releases: u64,
    over_1_ms: u64,
    max_ns: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; STEPS * OCTAVES], releases: 0, over_1_ms: 0, max_ns: 0 }
    }
}

fn bucket(ns: u64) -> usize {
    let ns = ns.max(STEPS as u64);
    let octave = ns.ilog2();
    let step = (ns >> (octave - STEPS.ilog2())) as usize - STEPS;
    ((octave - STEPS.ilog2()) as usize * STEPS + step).min(STEPS * OCTAVES - 1)
}

/// First ns beyond a bucket.
fn edge_ns(bucket: usize) -> u64 {
    ((bucket % STEPS + STEPS + 1) as u64) << (bucket / STEPS)
}

impl Lateness {
    pub(crate) fn record(&mut self, late_ns: u64) {
        self.counts[bucket(late_ns)] += 1;
        self.releases += 1;
        self.over_1_ms += u64::from(late_ns > MUCH_NS);
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// Packets released.
    pub const fn releases(&self) -> u64 {
        self.releases
    }

    /// Releases more than 1 ms late.
    pub const fn over_1_ms(&self) -> u64 {
        self.over_1_ms
    }

    /// The delay that this share (0 to 1) of the releases did not exceed, µs, to within 12 %; `None` without releases.
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.releases as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|&count| {
            seen += count;
            count > 0 && seen >= wanted
        })?;
        Some(edge_ns(found).min(self.max_ns) as f64 / 1_000.0)
    }
}

#[derive(Serialize)]
struct Summary {
    releases: u64,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
    over_1_ms: u64,
    histogram: Vec<Bar>,
}

/// One octave.
#[derive(Serialize)]
struct Bar {
    below_us: f64,
    releases: u64,
}

impl Serialize for Lateness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bars = self.counts.chunks(STEPS).enumerate().map(|(octave, counts)| Bar {
            below_us: edge_ns(octave * STEPS + STEPS - 1) as f64 / 1_000.0,
            releases: counts.iter().sum(),
        });
        Summary {
            releases: self.releases,
            p50_us: self.quantile_us(0.5),
            p99_us: self.quantile_us(0.99),
            max_us: (self.releases > 0).then_some(self.max_ns as f64 / 1_000.0),
            over_1_ms: self.over_1_ms,
            histogram: bars.filter(|bar| bar.releases > 0).collect(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for ns in [0, 7, 8, 9, 15, 16, 17, 1_000, 999_999, 1 << 30] {
            assert!(ns < edge_ns(bucket(ns)), "{ns}");
            assert!(bucket(ns) == 0 || ns >= edge_ns(bucket(ns) - 1), "{ns}");
        }
        assert_eq!(bucket(u64::MAX), STEPS * OCTAVES - 1);
    }

    #[test]
    fn quantiles_are_near() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile_us(0.5), None);
        (1..=10_000u64).for_each(|us| lateness.record(us * 1_000));
        for (share, us) in [(0.5, 5_000.0), (0.99, 9_900.0), (1.0, 10_000.0)] {
            let found = lateness.quantile_us(share).expect("releases");
            assert!((us..=us * 1.13).contains(&found), "{share}: {found}");
        }
        assert_eq!((lateness.releases(), lateness.over_1_ms()), (10_000, 9_000));
        let json = serde_json::to_value(&lateness).expect("JSON");
        let bars = json["histogram"].as_array().expect("bars");
        assert_eq!(bars.iter().map(|bar| bar["releases"].as_u64().unwrap_or(0)).sum::<u64>(), 10_000);
    }
}
