//! Sweeps: which values a key takes, one after the other.

use serde::Serialize;

/// Values of one axis at most.
const MOST_VALUES: usize = 10_000;

/// A key and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Dotted key, as [`link::scenario::Draft::set`] takes it.
    pub key: String,
    /// The values, as they would be written in TOML.
    pub values: Vec<String>,
}

impl Axis {
    /// Reads `key=a..b`, `key=a..b:step` (both ends included) or `key=v1,v2,...`.
    ///
    /// # Errors
    /// In words: what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, values) =
            text.split_once('=').ok_or("write it as key=first..last, key=first..last:step or key=a,b")?;
        let (key, values) = (key.trim(), values.trim());
        if key.is_empty() {
            return Err("there is no key before the =".to_owned());
        }
        let values = match values.split_once("..") {
            Some((first, rest)) => range(first, rest)?,
            None => list(values)?,
        };
        Ok(Self { key: key.to_owned(), values })
    }
}

fn list(text: &str) -> Result<Vec<String>, String> {
    let values: Vec<String> = text.split(',').map(|value| value.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err("a value of the list is empty".to_owned());
    }
    if values.len() > MOST_VALUES {
        return Err(format!("{} values are too many ({MOST_VALUES} at most)", values.len()));
    }
    Ok(values)
}

fn range(first: &str, rest: &str) -> Result<Vec<String>, String> {
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let whole = |text: &str| text.trim().parse::<i64>().ok();
    let number = |text: &str| {
        let parsed = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        parsed.ok_or_else(|| format!("\"{}\" is not a number", text.trim()))
    };
    let (from, to) = (number(first)?, number(last)?);
    let by = step.map_or(Ok(if to < from { -1.0 } else { 1.0 }), number)?;
    if by == 0.0 || (to - from) * by < 0.0 {
        return Err(format!("steps of {by} do not lead from {from} to {to}"));
    }
    // A little more than the last step, so that 0..1:0.1 has eleven values.
    let steps = ((to - from) / by + 1e-9).floor();
    if steps >= MOST_VALUES as f64 {
        return Err(format!("{} values are too many ({MOST_VALUES} at most)", steps + 1.0));
    }
    let steps = steps as i64;
    if let (Some(from), Some(_), Some(by)) = (whole(first), whole(last), step.map_or(Some(by as i64), whole)) {
        return Ok((0..=steps).map(|n| from.saturating_add(n.saturating_mul(by)).to_string()).collect());
    }
    // As many decimals as were written: 0.1 + 2 * 0.1 is 0.3.
    let decimals =
        [first, step.unwrap_or("1")].map(|text| text.trim().split_once('.').map_or(0, |(_, digits)| digits.len()));
    let digits = decimals.into_iter().max().unwrap_or(0).min(12);
    Ok((0..=steps).map(|n| format!("{:.digits$}", from + n as f64 * by)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<String> {
        Axis::parse(text).expect(text).values
    }

    #[test]
    fn ranges_and_lists() {
        assert_eq!(Axis::parse("wlan.ap.mcs=0..3").expect("an axis").key, "wlan.ap.mcs");
        assert_eq!(values("mcs=0..3"), ["0", "1", "2", "3"]);
        assert_eq!(values("mcs=7..0:-3"), ["7", "4", "1"]);
        assert_eq!(values("mcs=3..1"), ["3", "2", "1"]);
        assert_eq!(values("x=0..0.3:0.1"), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("x=-1..1:0.5"), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(values("q=fifo, fq_codel"), ["fifo", "fq_codel"]);
        assert_eq!(values("x=5..5"), ["5"]);
    }

    #[test]
    fn what_cannot_be_swept_is_said() {
        for text in [
            "",
            "mcs",
            "=1",
            "mcs=",
            "mcs=1,,2",
            "mcs=1..",
            "mcs=..2",
            "mcs=a..b",
            "mcs=0..7:0",
            "mcs=0..7:-1",
            "mcs=0..1e9",
            "x=nan..1",
            "x=0..inf",
            "x=0..1:1e-300",
            "x=-9e18..9e18:1e17x",
        ] {
            assert!(Axis::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_an_axis_or_words(text in ".{0,60}") {
            if let Ok(axis) = Axis::parse(&text) {
                prop_assert!(!axis.values.is_empty() && axis.values.len() <= MOST_VALUES);
            }
        }

        #[test]
        fn a_range_of_whole_numbers_has_both_ends(from in -1000i64..1000, count in 0i64..100, by in 1i64..9) {
            let to = from + count * by;
            let found = values(&format!("k={from}..{to}:{by}"));
            prop_assert_eq!(found.len() as i64, count + 1);
            prop_assert_eq!(found.first().cloned(), Some(from.to_string()));
            prop_assert_eq!(found.last().cloned(), Some(to.to_string()));
        }
    }
}
