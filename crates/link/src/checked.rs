//! Settings that can be wrong, and what is said about a wrong one.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A scenario that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}")]
pub struct ScenarioError {
    /// The key, dotted (`wlan.ap.mcs`), or `scenario` for the whole.
    pub key: String,
    /// What is wrong with it, with the values it may have.
    pub what: String,
}

impl ScenarioError {
    /// An error at `key`.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { key: key.into(), what: what.into() }
    }
}

/// Whether `value` of the key `table.name` is in its range; `unit` is put behind the range (` µs`).
pub(crate) fn in_range<T: PartialOrd + Display + Copy>(
    table: &str,
    name: &str,
    value: T,
    range: RangeInclusive<T>,
    unit: &str,
) -> Result<(), ScenarioError> {
    if range.contains(&value) {
        return Ok(());
    }
    let what = format!("{value} is not in the range from {} to {}{unit}", range.start(), range.end());
    Err(ScenarioError::new(format!("{table}.{name}"), what))
}
