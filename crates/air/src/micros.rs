//! Times are counted in whole nanoseconds and reported in microseconds.

/// `ns` in µs.
#[inline]
pub fn us(ns: i64) -> f64 {
    ns as f64 / 1000.0
}
