//! Sentences that carry the figures they rest on.
//!
//! A [`Sentence`] is made by [`sentence!`] and by nothing else: its text names every figure, every figure has its n, and one
//! without any figure does not compile. So no conclusion goes further than what was counted.

use std::fmt;

use serde::Serialize;

use crate::agreement::agreed;

/// A figure that a sentence rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What it is, as the sentence's template names it.
    pub name: &'static str,
    /// Its value in `unit`.
    pub value: f64,
    /// `count`, `%`, `µs`, `ms`, `s`, `Mbit/s`, `MPDUs/PPDU`, `MPDUs/bin`, `bytes`, `standard deviations`.
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

    /// `part` of `whole` in %, with `decimals`, or with more where these would make it nothing or everything; 0 % of nothing.
    pub fn percent(part: u64, whole: u64, decimals: usize) -> Self {
        let value = 100.0 * part as f64 / whole.max(1) as f64;
        Self::new(value, "%", whole, in_percent(value, decimals))
    }

    /// A share (fraction of one) in %, resting on `n` observations.
    pub fn share(share: f64, n: u64, decimals: usize) -> Self {
        let value = 100.0 * share;
        Self::new(value, "%", n, in_percent(value, decimals))
    }

    /// Any other figure, shown with `decimals` and without its unit, which the sentence names.
    pub fn of(value: f64, unit: &'static str, n: u64, decimals: usize) -> Self {
        let shown = format!("{value:.decimals$}");
        let is_zero =
            shown.strip_prefix('-').is_some_and(|digits| digits.bytes().all(|byte| matches!(byte, b'0' | b'.')));
        Self::new(value, unit, n, if is_zero { shown.replacen('-', "", 1) } else { shown })
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

/// A percentage that is rounded to 0 or 100 only where it is that, or differs by less than a ten-thousandth.
fn in_percent(value: f64, decimals: usize) -> String {
    let decimals = (decimals..4)
        .find(|more| {
            let half_a_digit = 0.5 * 0.1f64.powi(*more as i32);
            !(value > 0.0 && value < half_a_digit || value < 100.0 && value >= 100.0 - half_a_digit)
        })
        .unwrap_or(4.max(decimals));
    format!("{value:.decimals$} %")
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

/// A statement that cannot be made without its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sentence {
    /// In words.
    text: String,
    /// What the words rest on, in the order of the text.
    figures: Vec<Figure>,
}

impl Sentence {
    /// For [`sentence!`], which makes sure that there is a figure and that the text names it.
    #[doc(hidden)]
    pub fn from_parts(text: String, figures: Vec<Figure>) -> Self {
        debug_assert!(!figures.is_empty(), "a sentence without a figure: {text}");
        Self { text: agreed(text), figures }
    }

    /// In words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the words rest on.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// With a full stop.
    #[must_use]
    pub fn ended(mut self) -> Self {
        self.text.push('.');
        self
    }

    /// With words behind it.
    #[must_use]
    pub fn with(mut self, words: &str) -> Self {
        self.text.push_str(words);
        self
    }

    /// With words before it.
    #[must_use]
    pub fn after(mut self, words: &str) -> Self {
        self.text.insert_str(0, words);
        self
    }

    /// Both sentences in one, joined by `with`.
    #[must_use]
    pub fn and(mut self, with: &str, other: Self) -> Self {
        self.text.push_str(with);
        self.text.push_str(&other.text);
        self.figures.extend(other.figures);
        self
    }
}

/// A [`Sentence`] of a template that names its figures: `sentence!("{late} of {n} are late", late = ..., n = ...)`. Words
/// that are no figures (addresses, labels) follow a semicolon. A figure that the template does not name, and a template
/// without figures, do not compile.
macro_rules! sentence {
    ($template:literal, $($name:ident = $figure:expr),+ $(; $($word:ident = $text:expr),+)? $(,)?) => {{
        // All at once: no expression sees what another one is called here.
        let ($($name,)+ $($($word,)+)?) =
            ($($crate::sentence::Figure::named($figure, stringify!($name)),)+ $($(&$text,)+)?);
        $crate::sentence::Sentence::from_parts(
            format!($template, $($name = $name),+ $(, $($word = $word),+)?),
            vec![$($name),+],
        )
    }};
}
pub(crate) use sentence;

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
        assert_eq!(shown(999_999_999, 1_000_000_000, 0), "100.0000 %");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_sentence_carries_what_it_says() {
        let said = sentence!(
            "{late} of {all} responses of {who} are late ({share})",
            late = Figure::count(3, 40),
            all = Figure::total(40),
            share = Figure::percent(3, 40, 1);
            who = "02:00:00:00:00:01"
        );
        assert_eq!(said.text(), "3 of 40 responses of 02:00:00:00:00:01 are late (7.5 %)");
        let names: Vec<_> = said.figures().iter().map(|figure| (figure.name, figure.value, figure.n)).collect();
        assert_eq!(names, [("late", 3.0, 40), ("all", 40.0, 40), ("share", 7.5, 40)]);
    }

    #[test]
    fn nothing_has_no_sign() {
        let shown =
            |value: f64| sentence!("z = {z}", z = Figure::of(value, "standard deviations", 40, 1)).text().to_owned();
        assert_eq!([shown(-0.04), shown(-0.06), shown(0.0)], ["z = 0.0", "z = -0.1", "z = 0.0"]);
    }

    #[test]
    fn two_sentences_keep_the_figures_of_both() {
        let first = sentence!("{a} heard", a = Figure::total(1));
        let both = first.and(", ", sentence!("{b} missed", b = Figure::count(2, 9)));
        assert_eq!((both.text(), both.figures().len()), ("1 heard, 2 missed", 2));
    }
}
