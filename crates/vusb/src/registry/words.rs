//! Names of devices in sentences.

/// Letters that are spoken with a vowel first: an RTL8188CUS, a QMI modem.
const VOWELS: &str = "AEFHILMNORSX";

/// With its article.
pub(super) fn with_article(label: &str) -> String {
    let article = if label.starts_with(|letter| VOWELS.contains(letter)) { "an" } else { "a" };
    format!("{article} {label}")
}

/// One, two or more.
pub(super) fn any_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_read_aloud() {
        assert_eq!(with_article("SD8686"), "an SD8686");
        assert_eq!(with_article("QMI modem"), "a QMI modem");
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(
            (any_of(&names[..1]), any_of(&names[..2]), any_of(&names)),
            ("a".into(), "a or b".into(), "a, b or c".into())
        );
    }
}
