//! Settings that can be wrong, and the message about a wrong one.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// An invalid scenario.
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
    let value = number(value);
    let what = format!("{value} is not in the range from {} to {}{unit}", range.start(), range.end());
    Err(ScenarioError::new(format!("{table}.{name}"), what))
}

/// A number as it is written; with an exponent when it has very many digits.
fn number(value: impl Display) -> String {
    let text = value.to_string();
    match text.parse::<f64>() {
        Ok(number) if text.len() > 24 => format!("{number:e}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_very_many_digits_has_an_exponent() {
        let said = |value: f64| in_range("a", "b", value, 0.5..=1.5, " s").expect_err("out of range").to_string();
        assert_eq!(said(0.25), "a.b: 0.25 is not in the range from 0.5 to 1.5 s");
        assert_eq!(said(1e308), "a.b: 1e308 is not in the range from 0.5 to 1.5 s");
        assert_eq!(said(-1e-300), "a.b: -1e-300 is not in the range from 0.5 to 1.5 s");
        assert_eq!(
            in_range("a", "b", u64::MAX, 0..=1, "").expect_err("out of range").what,
            "18446744073709551615 is not in the range from 0 to 1"
        );
    }
}
