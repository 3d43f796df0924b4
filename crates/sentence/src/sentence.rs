//! Sentences that carry the figures they rest on.
//!
//! A [`Sentence`] is made by [`sentence!`] and by nothing else: its text names every figure, every figure has its n, and one
//! without any figure does not compile. So no conclusion goes further than what was counted.

use serde::Serialize;

use crate::figure::Figure;

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
        Self { text, figures }
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
/// that are not figures (addresses, labels) follow a semicolon. A figure that the template does not name, and a template
/// without figures, do not compile.
#[macro_export]
macro_rules! sentence {
    ($template:literal, $($name:ident = $figure:expr),+ $(; $($word:ident = $text:expr),+)? $(,)?) => {{
        // All at once: no expression sees what another one is called here.
        let ($($name,)+ $($($word,)+)?) =
            ($($crate::Figure::named($figure, stringify!($name)),)+ $($(&$text,)+)?);
        $crate::Sentence::from_parts(
            format!($template, $($name = $name),+ $(, $($word = $word),+)?),
            vec![$($name),+],
        )
    }};
}
#[cfg(test)]
mod tests {
    use crate::Figure;

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
