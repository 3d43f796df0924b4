//! What deserialisation says, in words for the author of the scenario.

use super::key::{Key, Part};

/// The message about a list where a table belongs.
pub(super) const NOT_A_TABLE: &str = "is not a table of keys and values";

/// A wrong key or value.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    /// What belongs behind the key of the path: the name of an unknown key.
    unknown: Option<String>,
    what: String,
}

/// Words for serde's message about a value at `key`, and the key that is meant. `beside`: other keys that the same table may
/// have.
pub(super) fn locate(key: Key, message: &str, beside: &[&str]) -> (Key, String) {
    let said = say(message, beside);
    match said.unknown.map(Part::Name) {
        Some(part) if key.0.last() != Some(&part) => (key.then(part), said.what),
        _ => (key, said.what),
    }
}

/// Words for serde's message about a value.
fn say(message: &str, beside: &[&str]) -> Said {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let said = |what: String| Said { unknown: None, what };
    if message.starts_with("unknown field") {
        let Some((name, known)) = quoted.split_first() else { return said(message.to_owned()) };
        let known: Vec<&str> = known.iter().chain(beside).copied().collect();
        let what = format!("there is no such key here{}", among(name, &known, "the keys are"));
        return Said { unknown: Some((*name).to_owned()), what };
    }
    if message.starts_with("unknown variant") {
        let Some((name, known)) = quoted.split_first() else { return said(message.to_owned()) };
        return said(format!("\"{name}\" is not a value of this key{}", among(name, known, "the values are")));
    }
    if let Some(name) = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return said(format!("the key {name} is missing"));
    }
    for beginning in ["invalid type: ", "invalid value: "] {
        if let Some((found, expected)) = message.strip_prefix(beginning).and_then(|rest| rest.split_once(", expected "))
        {
            return said(format!("{} is not {}", shown(found), plainly(expected)));
        }
    }
    said(message.to_owned())
}

/// The path of an error as a key.
pub(super) fn key_of(path: &serde_path_to_error::Path) -> Key {
    use serde_path_to_error::Segment;
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Part::Index(*index)),
        Segment::Map { key } => Some(Part::Name(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    Key(path.iter().filter_map(part).collect())
}

/// The nearest of `known` to an unknown name, if one is near.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate));
    scored.filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4).min().map(|(_, candidate)| candidate)
}

fn among(name: &str, known: &[&str], are: &str) -> String {
    let near = nearest(name, known.iter().copied());
    match (near, known.is_empty()) {
        (Some(near), _) => format!("; did you mean {near}?"),
        (None, false) => format!("; {are} {}", known.join(", ")),
        (None, true) => String::new(),
    }
}

/// What was found: serde names the type before the value.
fn shown(found: &str) -> String {
    let bare = ["integer ", "floating point ", "boolean ", "string "]
        .iter()
        .find_map(|kind| found.strip_prefix(kind))
        .map(|value| value.trim_matches('`'));
    match (bare, found) {
        (Some(value), _) => value.to_owned(),
        (None, "map") => "a table".to_owned(),
        (None, "sequence") => "an array".to_owned(),
        (None, other) => other.to_owned(),
    }
}

fn plainly(expected: &str) -> String {
    let range = |most: u64| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => range(u8::MAX.into()),
        "u16" => range(u16::MAX.into()),
        "u32" => range(u32::MAX.into()),
        "u64" | "usize" => "a whole number of 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotation marks".to_owned(),
        "a sequence" => "an array".to_owned(),
        other if other.starts_with("struct ") || other == "a map" => "a table of keys and values".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(message: &str) -> String {
        say(message, &[]).what
    }

    #[test]
    fn words_of_serde_become_words_of_people() {
        assert_eq!(
            say("unknown field `mcz`, expected one of `mcs`, `rts`, `queue_packets`", &[]),
            Said { unknown: Some("mcz".into()), what: "there is no such key here; did you mean mcs?".into() }
        );
        assert_eq!(
            what("unknown field `colour`, expected `mcs` or `rts`"),
            "there is no such key here; the keys are mcs, rts"
        );
        assert_eq!(
            what("unknown variant `tpc`, expected one of `tcp`, `udp`, `ping`"),
            "\"tpc\" is not a value of this key; did you mean tcp?"
        );
        assert_eq!(what("missing field `kind`"), "the key kind is missing");
        assert_eq!(what("invalid value: integer `-1`, expected u8"), "-1 is not a whole number from 0 to 255");
        assert_eq!(what("invalid type: string \"x\", expected f64"), "\"x\" is not a number");
        assert_eq!(what("invalid type: map, expected a boolean"), "a table is not true or false");
        assert_eq!(what("invalid type: sequence, expected struct Ap"), "an array is not a table of keys and values");
        assert_eq!(what("unknown field ``, there are no fields"), "there is no such key here");
        assert_eq!(what("something else"), "something else");
    }
}
