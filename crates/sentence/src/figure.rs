//! Figures, and how they are written.

use std::fmt;

use serde::Serialize;

/// A figure that a sentence rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What it is, as the sentence's template names it.
    pub name: &'static str,
    /// Its value in `unit`.
    pub value: f64,
    /// `count`, `record`, `%`, `µs`, `ms`, `s`, `Mbit/s`, `per second`, `MPDUs/PPDU`, `MPDUs/bin`, `datagrams/transfer`,
    /// `packets/transfer`, `commands/packet`, `bytes`, `standard deviations`.
    pub unit: &'static str,
    /// How many observations it is made of: the denominator of a count or share, the sample of a median.
    pub n: u64,
    /// As the text shows it.
    #[serde(skip)]
    shown: String,
}

impl Figure {
    fn new(value: f64, unit: &'static str, n: u64, shown: String) -> Self {
        Self { name: "", value, unit, n, shown }
    }

    /// `count` of the `n` that could have been counted.
    pub fn count(count: u64, n: u64) -> Self {
        Self::new(count as f64, "count", n, grouped(count))
    }

    /// A count that is a whole by itself.
    pub fn total(count: u64) -> Self {
        Self::count(count, count)
    }

    /// `count` of the `n` that could have been counted, with what they are: `1 transfer`, `1,200 transfers`.
    pub fn counted(count: u64, n: u64, one: &str) -> Self {
        Self::new(count as f64, "count", n, counted(count, one))
    }

    /// A count that is a whole by itself, with what they are: `1,200 transfers`.
    pub fn all(count: u64, one: &str) -> Self {
        Self::counted(count, count, one)
    }

    /// `count` of the `n` that could have been counted, where that is few: `only 12`, `none`.
    pub fn only(count: u64, n: u64) -> Self {
        let shown = if count == 0 { "none".to_owned() } else { format!("only {}", grouped(count)) };
        Self::new(count as f64, "count", n, shown)
    }

    /// The same with what they are: `only 12 frames`, `no frames`.
    pub fn only_counted(count: u64, n: u64, one: &str) -> Self {
        let shown = if count == 0 { format!("no {one}s") } else { format!("only {}", counted(count, one)) };
        Self::new(count as f64, "count", n, shown)
    }

    /// A size in bytes, with its unit: `1 byte`, `1,200 bytes`.
    pub fn sized(bytes: u64) -> Self {
        Self::new(bytes as f64, "bytes", 1, counted(bytes, "byte"))
    }

    /// `part` of `whole` in %, with `decimals`, or with more where these would make it nothing or everything; 0 % of nothing.
    pub fn percent(part: u64, whole: u64, decimals: usize) -> Self {
        let value = 100.0 * part as f64 / whole.max(1) as f64;
        Self::new(value, "%", whole, percent(value, decimals))
    }

    /// A share (fraction of one) in %, resting on `n` observations.
    pub fn share(share: f64, n: u64, decimals: usize) -> Self {
        let value = 100.0 * share;
        Self::new(value, "%", n, percent(value, decimals))
    }

    /// Any other figure, shown with `decimals` and without its unit, which the sentence names.
    pub fn of(value: f64, unit: &'static str, n: u64, decimals: usize) -> Self {
        let shown = in_thousands(format!("{value:.decimals$}"), unit);
        let is_zero =
            shown.strip_prefix('-').is_some_and(|digits| digits.bytes().all(|byte| matches!(byte, b'0' | b'.')));
        Self::new(value, unit, n, if is_zero { shown.replacen('-', "", 1) } else { shown })
    }

    /// A rate, size or time, with its thousands separated; a small one has a decimal: `9.9`, `1,116`.
    pub fn rounded(value: f64, unit: &'static str, n: u64) -> Self {
        let shown = if value < 10.0 { format!("{value:.1}") } else { grouped(value.round_ties_even() as u64) };
        Self::new(value, unit, n, shown)
    }

    /// A figure that a word stands for: `one` datagram per transfer, `no` transfer, `each` frame.
    pub fn said(value: f64, unit: &'static str, n: u64, word: &str) -> Self {
        Self::new(value, unit, n, word.to_owned())
    }

    /// The same figure under the name that the sentence gives it.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A number with its thousands separated; records have numbers of their own, which are searched for.
fn in_thousands(shown: String, unit: &str) -> String {
    let end = shown.find('.').unwrap_or(shown.len());
    let (whole, rest) = shown.split_at(end);
    match whole.parse() {
        Ok(whole @ 1_000..) if unit != "record" => format!("{}{rest}", grouped(whole)),
        _ => shown,
    }
}

/// `12345` as `12,345`, as tables have it.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 transfer`, `1,200 transfers`.
pub fn counted(count: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The word that goes with a count: `one` with 1, `many` with any other.
pub fn one_or(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 {
        one
    } else {
        many
    }
}

/// A percentage with `decimals`, or with as many more (up to three) as it takes for 0 and 100 % to be shown for nothing and for all only: `99.98 %`, `below 0.001 %`.
pub fn percent(value: f64, decimals: usize) -> String {
    let is_end = |value: f64| value == 0.0 || value == 100.0;
    let is_true = |shown: &String| is_end(value) || !shown.parse().is_ok_and(is_end);
    let shown = (decimals..4.max(decimals + 1)).map(|decimals| format!("{value:.decimals$}"));
    let end = if value < 50.0 { "below 0.001" } else { "above 99.999" };
    format!("{} %", shown.into_iter().find(is_true).unwrap_or_else(|| end.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_neither_nothing_nor_everything() {
        let shown = |part, whole, decimals| Figure::percent(part, whole, decimals).to_string();
        assert_eq!(shown(4_662, 4_666, 0), "99.9 %");
        assert_eq!(shown(4_666, 4_666, 0), "100 %");
        assert_eq!(shown(1, 30_000, 1), "0.003 %");
        assert_eq!(shown(0, 30_000, 1), "0.0 %");
        assert_eq!(shown(1, 3, 1), "33.3 %");
        assert_eq!(shown(999_999_999, 1_000_000_000, 0), "above 99.999 %");
        assert_eq!(shown(1, 1_000_000_000, 1), "below 0.001 %");
        assert_eq!(shown(1, 3, 5), "33.33333 %");
    }

    #[test]
    fn few_and_none_are_said() {
        let only = [0, 1, 1_200].map(|count| Figure::only(count, 2_000).to_string());
        assert_eq!(only, ["none", "only 1", "only 1,200"]);
        let frames = [0, 1, 2].map(|count| Figure::only_counted(count, 9, "frame").to_string());
        assert_eq!(frames, ["no frames", "only 1 frame", "only 2 frames"]);
        assert_eq!([0, 1, 2].map(|count| one_or(count, "was", "were")), ["were", "was", "were"]);
        let few = Figure::only(3, 40);
        assert_eq!((few.value, few.unit, few.n), (3.0, "count", 40));
        assert_eq!(Figure::sized(1).to_string(), "1 byte");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((counted(1, "byte"), counted(2_000, "byte")), ("1 byte".to_owned(), "2,000 bytes".to_owned()));
    }

    #[test]
    fn times_are_grouped_and_records_are_not() {
        let shown = |value, unit| Figure::of(value, unit, 1, 2).to_string();
        assert_eq!(shown(99_959.24, "s"), "99,959.24");
        assert_eq!(shown(-1_234.5, "ms"), "-1234.50");
        assert_eq!(Figure::of(12_345.0, "record", 1, 0).to_string(), "12345");
    }

    #[test]
    fn small_rates_have_a_decimal() {
        let shown = [9.94, 10.4, 1_116.4].map(|rate| Figure::rounded(rate, "URB/s", 40).to_string());
        assert_eq!(shown, ["9.9", "10", "1,116"]);
    }

    proptest::proptest! {
        #[test]
        fn a_share_is_all_or_nothing_only_where_it_is(
            part in 0_u64..1_000_000_000,
            more in 0_u64..1_000_000_000,
            decimals in 0_usize..3,
        ) {
            let whole = part + more;
            let text = Figure::percent(part, whole, decimals).to_string();
            let number: Option<f64> = text.trim_end_matches(" %").parse().ok();
            proptest::prop_assert_eq!(number == Some(0.0), part == 0, "{}", text);
            proptest::prop_assert_eq!(number == Some(100.0), more == 0 && whole > 0, "{}", text);
        }
    }
}
