//! Counts that are one, and the words after them: "1 MPDUs were" becomes "1 MPDU was". Counts that are nothing: "only 0 of 12"
//! becomes "none of 12", "only 0 responses" becomes "no responses".
//!
//! A sentence's template is written for any number. Only "of 1 frames" stays as it is: there the noun is that of the whole
//! ("0 of 1 frames tell"), and the verb goes with what comes before.

/// Words that may stand between the number and the noun.
const BETWEEN: [&str; 15] = [
    "unanswered",
    "data",
    "received",
    "authentication",
    "HT",
    "QoS",
    "Block",
    "solicited",
    "control",
    "management",
    "left-out",
    "damaged",
    "captured",
    "other",
    "TCP",
];
/// Nouns, as templates have them and as one of them is called.
const NOUNS: [(&str, &str); 22] = [
    ("frames", "frame"),
    ("MPDUs", "MPDU"),
    ("PPDUs", "PPDU"),
    ("A-MPDUs", "A-MPDU"),
    ("Acks", "Ack"),
    ("ACKs", "ACK"),
    ("beacons", "beacon"),
    ("responses", "response"),
    ("requests", "request"),
    ("records", "record"),
    ("packets", "packet"),
    ("changes", "change"),
    ("ones", "one"),
    ("times", "time"),
    ("retries", "retry"),
    ("interfaces", "interface"),
    ("acknowledgements", "acknowledgement"),
    ("rows", "row"),
    ("segments", "segment"),
    ("cases", "case"),
    ("bytes", "byte"),
    ("retransmissions", "retransmission"),
];
/// Verbs that may follow the noun.
const VERBS: [(&str, &str); 10] = [
    ("were", "was"),
    ("are", "is"),
    ("have", "has"),
    ("carry", "carries"),
    ("tell", "tells"),
    ("ask", "asks"),
    ("answer", "answers"),
    ("hold", "holds"),
    ("claim", "claims"),
    ("repeat", "repeats"),
];

/// `text` with its words in the number of its counts.
pub fn agreed(text: String) -> String {
    one(nothing(text))
}

/// Nothing is not "only 0".
fn nothing(text: String) -> String {
    if !text.contains("only 0 ") {
        return text;
    }
    let mut parts = text.split("only 0 ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_pronoun = ["of ", "were ", "are "].iter().any(|word| part.starts_with(word));
        said.push_str(if is_pronoun { "none " } else { "no " });
        said.push_str(part);
    }
    said
}

fn one(text: String) -> String {
    if !text.starts_with("1 ") && !text.contains(" 1 ") && !text.contains("(1 ") {
        return text;
    }
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 0..words.len() {
        let is_one = words.get(at).is_some_and(|word| word.trim_start_matches('(') == "1");
        if !is_one || at.checked_sub(1).and_then(|before| words.get(before)) == Some(&"of") {
            continue;
        }
        if let Some((place, verb)) = verb_of_one(&words, at) {
            put(&mut words, place, verb);
            continue;
        }
        let between = words.iter().skip(at + 1).take(2).take_while(|word| BETWEEN.contains(word)).count();
        let noun = at + 1 + between;
        let Some((singular, rest)) = words.get(noun).and_then(|word| replaced(word, &NOUNS)) else { continue };
        let ends_here = !rest.is_empty();
        put(&mut words, noun, singular);
        if let Some((verb, "")) = words.get(noun + 1).filter(|_| !ends_here).and_then(|word| replaced(word, &VERBS)) {
            put(&mut words, noun + 1, verb);
        }
        if ends_here {
            let (before, after) = words.split_at(noun + 1);
            let (before, after) = (before.join(" "), after.join(" "));
            let gap = if after.is_empty() { "" } else { " " };
            return format!("{before}{rest}{gap}{}", one(after));
        }
    }
    words.join(" ")
}

fn put<'a>(words: &mut [&'a str], place: usize, word: &'a str) {
    if let Some(slot) = words.get_mut(place) {
        *slot = word;
    }
}

/// The verb of "1 were" and of "1 of 23 PPDUs were": its place, and what it becomes.
fn verb_of_one(words: &[&str], at: usize) -> Option<(usize, &'static str)> {
    let is_number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let verb = match (words.get(at + 1), words.get(at + 2)) {
        (Some(&"of"), Some(whole)) if is_number(whole) => {
            if words.get(at + 3).is_some_and(|word| VERBS.iter().any(|(many, _)| many == word)) {
                return verb_at(words, at + 3);
            }
            let between = words.iter().skip(at + 3).take(2).take_while(|word| BETWEEN.contains(word)).count();
            let noun = at + 3 + between;
            words.get(noun).filter(|word| NOUNS.iter().any(|(many, one)| many == *word || one == *word))?;
            noun + 1
        }
        _ => at + 1,
    };
    verb_at(words, verb)
}

fn verb_at(words: &[&str], place: usize) -> Option<(usize, &'static str)> {
    let (singular, rest) = replaced(words.get(place)?, &VERBS)?;
    rest.is_empty().then_some((place, singular))
}

/// The other form of a word, and the punctuation after it.
fn replaced<'a>(word: &'a str, forms: &[(&str, &'static str)]) -> Option<(&'static str, &'a str)> {
    let end = word.trim_end_matches([',', ';', ':', '.', ')']).len();
    let (bare, rest) = word.split_at_checked(end)?;
    forms.iter().find(|(many, _)| *many == bare).map(|(_, one)| (*one, rest))
}

#[cfg(test)]
mod tests {
    use super::agreed;

    fn said(text: &str) -> String {
        agreed(text.to_owned())
    }

    #[test]
    fn one_is_one() {
        assert_eq!(said("only 1 data MPDUs were captured"), "only 1 data MPDU was captured");
        assert_eq!(
            said("1 Block Acks: 8 MPDUs acknowledged, 1 PPDUs lost"),
            "1 Block Ack: 8 MPDUs acknowledged, 1 PPDU lost"
        );
        assert_eq!(said("in 1 A-MPDUs"), "in 1 A-MPDU");
        assert_eq!(said("answered (1 unanswered ones sent again)"), "answered (1 unanswered one sent again)");
        assert_eq!(said("1 frames carry it; 1 frames"), "1 frame carries it; 1 frame");
        assert_eq!(said("as only 1 were sent again"), "as only 1 was sent again");
        assert_eq!(said("only 1 of 23 PPDUs were sent again"), "only 1 of 23 PPDUs was sent again");
        assert_eq!(said("1 of 1,762 MPDUs were left out"), "1 of 1,762 MPDUs was left out");
        assert_eq!(
            said("1 of 40 data frames carry it, 2 of 40 frames carry"),
            "1 of 40 data frames carries it, 2 of 40 frames carry"
        );
        assert_eq!(said("1 of 1 were answered, 1 of 12 were"), "1 of 1 was answered, 1 of 12 was");
        assert_eq!(said("of only 1 MPDUs (at least"), "of only 1 MPDU (at least");
    }

    #[test]
    fn nothing_is_not_only_0() {
        assert_eq!(said("only 0 of 12 frames tell"), "none of 12 frames tell");
        assert_eq!(said("as only 0 were sent again"), "as none were sent again");
        assert_eq!(said("because only 0 response delays were measured"), "because no response delays were measured");
        assert_eq!(said("only 0 of 1 frames; only 0 MPDUs, only 01"), "none of 1 frames; no MPDUs, only 01");
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "0 of 1 frames tell",
            "11 frames",
            "2.1 MPDUs",
            "1 Mb/s",
            "1 of 1 frames it sent",
            "",
            " 1 ",
            "1 frames-like",
        ] {
            assert_eq!(said(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_accepted(text in "[ 1(),a-z]{0,40}|(1 |frames|MPDUs |were |of |\\(|, ){0,12}") {
            let once = said(&text);
            assert_eq!(said(&once), once);
            assert!(once.len() <= text.len() + 20);
        }
    }
}
