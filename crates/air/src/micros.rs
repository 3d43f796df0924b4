//! Times are counted in whole nanoseconds and reported in microseconds.

/// A time unit, ns (IEEE 802.11-2020, 3.1).
pub const TU_NS: i64 = 1_024_000;

/// `ns` in µs.
#[inline]
pub fn us(ns: i64) -> f64 {
    ns as f64 / 1000.0
}
