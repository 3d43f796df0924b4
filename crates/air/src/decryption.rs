//! What the keys given made of the protected frames, for the report.

use decrypt::{Counts, Pair, Sessions, State};
use wire::ieee80211::{display_ssid, Cipher, MacAddr};

use crate::report::{DecryptedGroup, DecryptedPair, Decryption, ProtectedMpdus};
use sentence::{sentence, Figure, Sentence};

/// Rows of pairs and of groups in a report.
const MAX_ROWS: usize = 512;
/// Pairs that get a sentence.
const MAX_SAID: usize = 16;

/// Rows and sentences; `keys`: how many were given.
pub fn report(sessions: &Sessions, keys: usize) -> Decryption {
    let total = *sessions.total();
    let mut pairs: Vec<&Pair> = sessions.pairs().collect();
    pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.counts().protected), pair.access_point(), pair.station()));
    let mut groups: Vec<(MacAddr, &Counts)> = sessions.groups().filter(|(_, counts)| counts.protected > 0).collect();
    groups.sort_by_key(|(address, counts)| (std::cmp::Reverse(counts.protected), *address));
    let mut sentences = vec![if total.protected == 0 {
        sentence!(
            "{protected} protected data MPDUs are in it: there is nothing to decrypt",
            protected = Figure::total(0)
        )
    } else {
        sentence!(
            "{decrypted} of {protected} protected data MPDUs were decrypted",
            decrypted = Figure::count(total.decrypted, total.protected),
            protected = Figure::total(total.protected)
        )
    }];
    sentences.extend(pairs.iter().filter_map(|pair| said(pair, ssid(sessions, pair.access_point()))).take(MAX_SAID));
    sentences.extend(groups.iter().filter_map(|(sender, counts)| said_of_group(*sender, counts)).take(MAX_SAID));
    Decryption {
        keys: keys as u64,
        protected: total.protected,
        decrypted: total.decrypted,
        packet_number_not_above: total.behind,
        pairs: pairs.iter().take(MAX_ROWS).map(|pair| row(pair, ssid(sessions, pair.access_point()))).collect(),
        groups: groups
            .iter()
            .take(MAX_ROWS)
            .map(|(sender, counts)| DecryptedGroup {
                sender: sender.to_string(),
                ssid: ssid(sessions, *sender),
                mpdus: mpdus(counts),
            })
            .collect(),
        sentences,
    }
}

fn ssid(sessions: &Sessions, address: MacAddr) -> Option<String> {
    sessions.ssid(address).map(display_ssid)
}

fn row(pair: &Pair, ssid: Option<String>) -> DecryptedPair {
    let counts = pair.counts();
    DecryptedPair {
        access_point: pair.access_point().to_string(),
        station: pair.station().to_string(),
        ssid,
        state: match pair.state() {
            State::Keys => "keys",
            State::NoHandshake => "no-handshake",
            State::Incomplete => "incomplete-handshake",
            State::WrongKey => "wrong-key",
            State::NoKeyForNetwork => "no-key-for-network",
            State::PmkNeeded => "pmk-needed",
            State::UnsupportedAkm => "unsupported-akm",
            State::UnsupportedCipher => "unsupported-cipher",
            State::NoWepKey => "no-wep-key",
            State::TooMany => "too-many-handshakes",
        }
        .to_owned(),
        akm: pair.akm().map(|akm| akm.to_string()),
        cipher: pair.cipher().map(|cipher| cipher.name().to_owned()),
        messages: pair.messages(),
        handshakes: pair.handshakes(),
        mismatches: pair.mismatches(),
        mpdus: mpdus(counts),
    }
}

fn mpdus(counts: &Counts) -> ProtectedMpdus {
    ProtectedMpdus {
        protected: counts.protected,
        decrypted: counts.decrypted,
        no_key: counts.no_key + counts.no_group_key,
        other_key: counts.other_key,
        cut: counts.cut,
    }
}

/// Why frames of a pair were not decrypted, the cause with most frames.
fn said(pair: &Pair, ssid: Option<String>) -> Option<Sentence> {
    let counts = pair.counts();
    let of = counts.protected;
    let messages = pair.messages();
    let named =
        ssid.map_or_else(|| "a network with a name that was not captured".to_owned(), |ssid| format!("{ssid:?}"));
    let said = match [counts.no_key, counts.other_key, counts.cut].into_iter().max()? {
        0 => return None,
        most if most == counts.no_key => {
            let why = match pair.state() {
                State::Keys => "they came before the handshake with the known keys".to_owned(),
                State::NoHandshake => "no message of a four-way handshake was captured".to_owned(),
                State::Incomplete => {
                    let [first, second, third, fourth] = messages;
                    format!(
                        "of the four-way handshake, messages 1 to 4 were captured {first}, {second}, {third} and {fourth} times; message 2, \
                         and message 1 or 3 of the same handshake, are needed"
                    )
                }
                State::WrongKey => {
                    let captured = (1..).zip(messages).filter(|(_, count)| *count > 0).map(|(number, _)| number.to_string());
                    let captured = captured.collect::<Vec<_>>().join(", ");
                    format!(
                        "of the handshake, messages {captured} were captured, and no key given for {named} fits them (the MIC did not \
                         match)"
                    )
                }
                State::NoKeyForNetwork => format!("the key file has no key for {named}"),
                State::PmkNeeded => {
                    let akm = pair.akm().map_or_else(String::new, |akm| format!(" with {akm}"));
                    format!("a session{akm} needs its PMK, which no passphrase gives")
                }
                State::UnsupportedAkm => match pair.akm() {
                    Some(akm) => format!("keys of {akm} are not derived here"),
                    None => "the key management in message 2 could not be read".to_owned(),
                },
                State::UnsupportedCipher => match pair.cipher() {
                    Some(cipher) => format!("{} is not decrypted here", cipher.name()),
                    None => "the cipher in message 2 could not be read".to_owned(),
                },
                State::NoWepKey => format!("they have WEP, and the key file has no WEP key for {named}"),
                State::TooMany => "there were too many handshakes to try".to_owned(),
            };
            sentence!("{left} of {of} not decrypted: {why}", left = Figure::count(most, of), of = Figure::total(of); why = why)
        }
        most if most == counts.other_key && pair.cipher() == Some(Cipher::Wep) => sentence!(
            "{left} of {of} not decrypted: they have WEP, and no WEP key given fits them (the integrity check value did not match), or they are damaged",
            left = Figure::count(most, of),
            of = Figure::total(of)
        ),
        most if most == counts.other_key => sentence!(
            "{left} of {of} not decrypted: keys are known, and they fit none of these: another session's, whose handshake was missed, or damaged",
            left = Figure::count(most, of),
            of = Figure::total(of)
        ),
        most => sentence!(
            "{left} of {of} not decrypted: they are cut in the capture",
            left = Figure::count(most, of),
            of = Figure::total(of)
        ),
    };
    Some(said.after(&format!("Between {} and {}, ", pair.access_point(), pair.station())))
}

fn said_of_group(sender: MacAddr, counts: &Counts) -> Option<Sentence> {
    let of = counts.protected;
    let causes = [
        (counts.no_group_key, "no group key of the sender was known when they came"),
        (counts.other_key, "no group key known fits them"),
        (counts.cut, "they are cut in the capture"),
    ];
    let (most, why) = causes.into_iter().max_by_key(|(frames, _)| *frames).filter(|(frames, _)| *frames > 0)?;
    Some(sentence!(
        "Group-addressed, from {sender}: {left} of {of} not decrypted: {why}",
        left = Figure::count(most, of),
        of = Figure::total(of);
        sender = sender,
        why = why
    ))
}
