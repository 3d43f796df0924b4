//! Histograms of fixed size: how long packets took, and how late they were released.

use histogram::Histogram;
use serde::{Serialize, Serializer};

/// Buckets to each octave, as a power of two: the error of a percentile is at most one in eight.
const PRECISION_BITS: u32 = 3;
/// Shorter delays count as this.
const SHORTEST_NS: u64 = 8;
/// Longest delay that is distinguished, nine minutes. Longer ones count as this.
const LONGEST_NS: u64 = (1 << 39) - 1;

/// A histogram of delays.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    histogram: Histogram<PRECISION_BITS, u64>,
    max_ns: u64,
}

impl Delays {
    pub(crate) fn record(&mut self, ns: u64) {
        self.histogram.add(ns.clamp(SHORTEST_NS, LONGEST_NS));
        self.max_ns = self.max_ns.max(ns);
    }

    /// Packets counted.
    pub const fn packets(&self) -> u64 {
        self.histogram.n()
    }

    /// The delay that this share (0 to 1) of the packets did not exceed, µs, to within 12 %; `None` without packets.
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        Some(self.histogram.quantile(share)?.next.min(self.max_ns) as f64 / 1_000.0)
    }
}

/// Delays of packets.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Delays"))]
pub(crate) struct Summary {
    /// How many.
    packets: u64,
    /// Median; `None` without packets, as are the three below.
    p50_us: Option<f64>,
    /// 90th percentile.
    p90_us: Option<f64>,
    /// 99th percentile.
    p99_us: Option<f64>,
    /// Longest.
    max_us: Option<f64>,
    /// Octaves with packets, shortest first.
    histogram: Vec<Bar>,
}

/// Packets with a delay that was in one octave.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Bar {
    /// Its end: they took less (and not less than the end of the octave before).
    below_us: f64,
    /// How many.
    packets: u64,
}

impl Serialize for Delays {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bars = self.histogram.octaves().into_iter();
        let bars = bars.map(|(low_ns, packets)| Bar { below_us: (2 * low_ns) as f64 / 1_000.0, packets });
        Summary {
            packets: self.packets(),
            p50_us: self.quantile_us(0.5),
            p90_us: self.quantile_us(0.9),
            p99_us: self.quantile_us(0.99),
            max_us: (self.packets() > 0).then_some(self.max_ns as f64 / 1_000.0),
            histogram: bars.collect(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_beyond_all_bounds_count() {
        let mut delays = Delays::default();
        [0, 7, u64::MAX].into_iter().for_each(|ns| delays.record(ns));
        assert_eq!(
            (delays.quantile_us(0.5), delays.quantile_us(1.0)),
            (Some(0.009), Some((1u64 << 39) as f64 / 1_000.0))
        );
        let json = serde_json::to_value(&delays).expect("JSON");
        let bars = serde_json::json!([{"below_us": 0.016, "packets": 2}, {"below_us": 549_755_813.888, "packets": 1}]);
        assert_eq!(json["histogram"], bars);
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
