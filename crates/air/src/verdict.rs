//! "Not received, or just too slow to acknowledge?", answered with evidence, or not answered.

mod block_ack;
mod response;

pub use block_ack::block_ack;
pub use response::ack;

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
fn beside_retries(said: Sentence, retry: Option<RetryCount>) -> Sentence {
    match many_retries(retry) {
        None => said,
        Some(retry) => said.and(
            "; ",
            sentence!(
                "yet {retries} of the {mpdus} MPDUs captured carry the retry bit ({share}): what made the sender repeat them, \
                 these responses do not show",
                retries = Figure::count(retry.retries, retry.frames),
                mpdus = Figure::total(retry.frames),
                share = Figure::percent(retry.retries, retry.frames, 1)
            ),
        ),
    }
}

/// Retries of the data MPDUs of each (transmitter, receiver).
#[derive(Debug, Default)]
pub struct RetriesOf(HashMap<(String, String), RetryCount>);

impl RetriesOf {
    /// From the rows of the report.
    pub fn links(links: &[Link]) -> Self {
        Self(links.iter().map(|link| ((link.ta.clone(), link.ra.clone()), link.mpdu_retry)).collect())
    }

    fn get(&self, ta: &str, ra: &str) -> Option<RetryCount> {
        self.0.get(&(ta.to_owned(), ra.to_owned())).copied()
    }
}
