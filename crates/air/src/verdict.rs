//! "Not received, or just too slow to acknowledge?", answered with evidence, or not answered.

mod block_ack;
mod response;

pub use block_ack::block_ack;
pub use response::{ack, Receiver};

use hashbrown::HashMap;

use crate::report::{Link, RetryCount};
use sentence::{sentence, Figure, Sentence};

/// Retries (% of the MPDUs) that a verdict of complete responses has to mention.
const MANY_RETRIES: f64 = 5.0;

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Retries of a link, where they are so frequent that a verdict of complete responses has to mention them.
fn many_retries(retry: Option<RetryCount>) -> Option<RetryCount> {
    retry.filter(|retry| retry.percent.is_some_and(|percent| percent >= MANY_RETRIES))
}

/// A verdict that finds nothing wrong does not stand beside many retries without a word on them.
fn beside_retries(said: Sentence, retries: &RetriesOf, ta: &str, ra: &str) -> Sentence {
    match many_retries(retries.get(ta, ra)) {
        None => said,
        Some(retry) => said.and(
            "; ",
            sentence!(
                "yet {retries} of the {mpdus} MPDUs captured carry the retry bit ({share}): {why}",
                retries = Figure::count(retry.retries, retry.frames),
                mpdus = Figure::total(retry.frames),
                share = Figure::percent(retry.retries, retry.frames, 1);
                why = if retries.lack_attempts(ta, ra) {
                    "of most of these no undamaged attempt of the second before was captured, nor its outcome"
                } else {
                    "what made the sender repeat them, these responses do not show"
                }
            ),
        ),
    }
}

/// Retries of the data MPDUs of each (transmitter, receiver).
#[derive(Debug, Default)]
pub struct RetriesOf(HashMap<(String, String), (RetryCount, u64)>);

impl RetriesOf {
    /// From the rows of the report.
    pub fn links(links: &[Link]) -> Self {
        let of = |link: &Link| (link.mpdu_retry, link.retries_without_attempt.unwrap_or(0));
        Self(links.iter().map(|link| ((link.ta.clone(), link.ra.clone()), of(link))).collect())
    }

    fn get(&self, ta: &str, ra: &str) -> Option<RetryCount> {
        self.0.get(&(ta.to_owned(), ra.to_owned())).map(|(retries, _)| *retries)
    }

    /// Most retries repeat something that was not captured.
    fn lack_attempts(&self, ta: &str, ra: &str) -> bool {
        let known = self.0.get(&(ta.to_owned(), ra.to_owned()));
        known.is_some_and(|(retry, unseen)| unseen * 2 > retry.retries)
    }
}
