//! Quantities as their percentiles and as histograms.

use serde::Serialize;

/// Percentiles of a quantity, read from a histogram (minimum, maximum and mean are exact).
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Samples.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// How wide the buckets of the histogram are, as part of the numbers in them: percentiles are right to half of it. 1/2,048, unless the
    /// numbers lie very far apart; older documents lack it, and theirs is 1/32.
    #[serde(default)]
    pub resolution: Option<f64>,
}

/// One bar of a histogram: `low` to below `high`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bar {
    /// Inclusive lower edge.
    pub low: u64,
    /// Exclusive upper edge.
    pub high: u64,
    /// Samples in it.
    pub count: u64,
}
