//! Histograms of fixed size: how long packets took, and how late they were released.

use serde::{Serialize, Serializer};

/// Steps in each octave: the error of a percentile is at most one in eight.
const STEPS: usize = 8;
/// Up to 2^36 ns, more than a minute.
const OCTAVES: usize = 36;

/// A histogram of delays.
#[derive(Clone, Debug)]
pub struct Delays {
    counts: Vec<u64>,
    packets: u64,
    max_ns: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { counts: vec![0; STEPS * OCTAVES], packets: 0, max_ns: 0 }
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

impl Delays {
    pub(crate) fn record(&mut self, ns: u64) {
        self.counts[bucket(ns)] += 1;
        self.packets += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// Packets counted.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The delay that this share (0 to 1) of the packets did not exceed, µs, to within 12 %; `None` without packets.
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.packets as f64).ceil().max(1.0) as u64;
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
    packets: u64,
    p50_us: Option<f64>,
    p90_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
    histogram: Vec<Bar>,
}

/// One octave.
#[derive(Serialize)]
struct Bar {
    below_us: f64,
    packets: u64,
}

impl Serialize for Delays {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bars = self.counts.chunks(STEPS).enumerate().map(|(octave, counts)| Bar {
            below_us: edge_ns(octave * STEPS + STEPS - 1) as f64 / 1_000.0,
            packets: counts.iter().sum(),
        });
        Summary {
            packets: self.packets,
            p50_us: self.quantile_us(0.5),
            p90_us: self.quantile_us(0.9),
            p99_us: self.quantile_us(0.99),
            max_us: (self.packets > 0).then_some(self.max_ns as f64 / 1_000.0),
            histogram: bars.filter(|bar| bar.packets > 0).collect(),
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
        let mut delays = Delays::default();
        assert_eq!(delays.quantile_us(0.5), None);
        (1..=10_000u64).for_each(|us| delays.record(us * 1_000));
        for (share, us) in [(0.5, 5_000.0), (0.99, 9_900.0), (1.0, 10_000.0)] {
            let found = delays.quantile_us(share).expect("packets");
            assert!((us..=us * 1.13).contains(&found), "{share}: {found}");
        }
        let json = serde_json::to_value(&delays).expect("JSON");
        let bars = json["histogram"].as_array().expect("bars");
        assert_eq!(bars.iter().map(|bar| bar["packets"].as_u64().unwrap_or(0)).sum::<u64>(), 10_000);
    }
}
