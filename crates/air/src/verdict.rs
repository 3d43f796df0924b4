//! "Not received, or just too slow to acknowledge?", answered with evidence, or not answered.

mod block_ack;
mod response;

pub use block_ack::block_ack;
pub use response::{ack, Heard, Receiver};

use hashbrown::HashMap;

use crate::report::{BlockAckFlow, Link, RetryCount};
use sentence::{sentence, Figure, Sentence};

/// Retries (% of the MPDUs) that a verdict of complete responses has to mention.
const MANY_RETRIES: f64 = 5.0;

/// An answer, why there is none, and the sentence that says it.
struct Answer {
    answer: &'static str,
    reason: Option<&'static str>,
    because: Option<String>,
    sentence: Sentence,
}

impl Answer {
    /// What was found.
    fn found(answer: &'static str, sentence: Sentence) -> Self {
        Self { answer, reason: None, because: None, sentence }
    }

    /// It cannot be determined, for a reason with this code, which the sentence gives behind "because".
    fn open(reason: &'static str, because: Sentence) -> Self {
        let words = because.text().to_owned();
        let sentence = because.after("unknown: ");
        Self { answer: "not-determined", reason: Some(reason), because: Some(words), sentence }
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Retries of a link, where they are so frequent that a verdict of complete responses has to mention them.
fn many_retries(retry: Option<RetryCount>) -> Option<RetryCount> {
    retry.filter(|retry| retry.percent.is_some_and(|percent| percent >= MANY_RETRIES))
}

/// A verdict that finds nothing wrong does not stand beside many retries without a word on them.
fn beside_retries(said: Sentence, retries: &RetriesOf, ta: &str, ra: &str) -> Sentence {
    let Some(retry) = many_retries(retries.get(ta, ra)) else { return said };
    let carried = sentence!(
        "yet {retries} of the {mpdus} captured carry the retry bit ({share})",
        retries = Figure::count(retry.retries, retry.frames),
        mpdus = Figure::all(retry.frames, "MPDU"),
        share = Figure::percent(retry.retries, retry.frames, 1)
    );
    let left_out = retries.left_out(ta, ra);
    let why = if retries.lack_attempts(ta, ra) {
        "of most of these no undamaged earlier attempt was captured, nor its outcome"
    } else if left_out == 0 {
        "what made the sender repeat them, these responses do not show"
    } else if many_retries(retries.beside_left_out(ta, ra)).is_some() {
        "what made the sender repeat the others, these responses do not show"
    } else {
        ""
    };
    let carried = match left_out {
        0 => carried,
        _ => carried.and(
            ": ",
            sentence!(
                "{left_out} of these retransmit a Block Ack hole",
                left_out = Figure::count(left_out, retry.retries)
            ),
        ),
    };
    let carried = match (why, left_out) {
        ("", _) => carried,
        (why, 0) => carried.with(&format!(": {why}")),
        (why, _) => carried.with(&format!("; {why}")),
    };
    said.and("; ", carried)
}

/// Retries of the data MPDUs of each (transmitter, receiver).
#[derive(Debug, Default)]
pub struct RetriesOf(HashMap<(String, String), Retries>);

#[derive(Clone, Copy, Debug, Default)]
struct Retries {
    all: RetryCount,
    /// Those without a captured earlier attempt.
    unseen: u64,
    /// Those that retransmit a Block Ack hole.
    left_out: u64,
}

impl RetriesOf {
    /// From the rows of the report.
    pub fn new(links: &[Link], flows: &[BlockAckFlow]) -> Self {
        let of = |link: &Link| Retries {
            all: link.mpdu_retry,
            unseen: link.retries_without_attempt.unwrap_or(0),
            left_out: 0,
        };
        let mut all: HashMap<_, _> = links.iter().map(|link| ((link.ta.clone(), link.ra.clone()), of(link))).collect();
        for flow in flows {
            if let Some(retries) = all.get_mut(&(flow.originator.clone(), flow.recipient.clone())) {
                retries.left_out += flow.left_out_retransmissions;
            }
        }
        Self(all)
    }

    fn of(&self, ta: &str, ra: &str) -> Option<&Retries> {
        self.0.get(&(ta.to_owned(), ra.to_owned()))
    }

    fn get(&self, ta: &str, ra: &str) -> Option<RetryCount> {
        self.of(ta, ra).map(|retries| retries.all)
    }

    /// Retries of Block Ack holes.
    fn left_out(&self, ta: &str, ra: &str) -> u64 {
        self.of(ta, ra).map_or(0, |retries| retries.left_out.min(retries.all.retries))
    }

    /// The others.
    fn beside_left_out(&self, ta: &str, ra: &str) -> Option<RetryCount> {
        let all = self.get(ta, ra)?;
        Some(RetryCount::new(all.frames, all.retries - self.left_out(ta, ra)))
    }

    /// Most retries repeat something that was not captured.
    fn lack_attempts(&self, ta: &str, ra: &str) -> bool {
        self.of(ta, ra).is_some_and(|retries| retries.unseen * 2 > retries.all.retries)
    }
}
