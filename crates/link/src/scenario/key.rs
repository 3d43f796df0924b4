//! Dotted keys: how settings are named in errors, in `--set` and in sweeps.

use std::fmt;

/// The parts of a dotted key at most.
const MOST_PARTS: usize = 16;

/// One part of a dotted key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Key of a table.
    Name(String),
    /// Index into an array, from 0.
    Index(usize),
    /// Every element of an array.
    Every,
}

/// A dotted key (`wlan.ap.mcs`, `traffic.0.rate_mbit_s`, `traffic.*.start_s`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Key(pub(super) Vec<Part>);

impl Key {
    /// Reads a dotted key: names of letters, digits, `_` and `-`, or `*`. Elements of arrays may also be written with
    /// brackets (`stations[0].mcs`).
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let dotted = text.trim().replace('[', ".").replace(']', "");
        let parts: Vec<Part> = dotted.split('.').map(Part::parse).collect::<Result<_, _>>()?;
        if parts.len() > MOST_PARTS {
            return Err(format!("a key has {MOST_PARTS} parts at most"));
        }
        Ok(Self(parts))
    }

    pub(super) fn join(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }

    pub(super) fn then(&self, part: Part) -> Self {
        let mut parts = self.0.clone();
        parts.push(part);
        Self(parts)
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::Every);
        }
        if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(format!("{text:?} is not a key: letters, digits, _ and -, with dots between the tables"));
        }
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str(".")?;
            }
            match part {
                Part::Name(name) => f.write_str(name)?,
                Part::Index(index) => write!(f, "{index}")?,
                Part::Every => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_shown() {
        for text in ["wlan.ap.mcs", "traffic.0.rate_mbit_s", "traffic.*.start_s", "seed"] {
            assert_eq!(Key::parse(text).expect(text).to_string(), text);
        }
        assert_eq!(Key::parse("a.3").expect("a key").0[1], Part::Index(3));
        for text in ["", ".", "a.", "a..b", "a b", "a=b", "a.\u{1b}[31m", &"a.".repeat(40)] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
    }
}
