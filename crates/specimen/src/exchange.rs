//! PPDUs and their responses, per pair of nodes.

use wire::ieee80211::MacAddr;
use wire::phy::Mode;

use crate::sniffer::Heard;
use crate::truth::{ExchangeRateTruth, ExchangeTruth};

/// Kinds of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Ack,
    BlockAck,
    Cts,
}

/// A response on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) answer: Answer,
    pub(crate) heard: Heard,
    /// The sender of the soliciting PPDU got it.
    pub(crate) reached: bool,
    /// It came more than a slot after SIFS.
    pub(crate) late: bool,
}

/// One pair of nodes, and its soliciting PPDUs and captured responses by mode.
type Pair = (ExchangeTruth, Vec<(Mode, u64, u64)>);

/// Counters.
pub(crate) struct Exchanges {
    nodes: usize,
    pairs: Vec<Pair>,
}

impl Exchanges {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes, pairs: (0..nodes * nodes).map(|_| Default::default()).collect() }
    }

    /// Counts a soliciting PPDU of which at least one MPDU was captured undamaged.
    pub(crate) fn count(&mut self, (from, to): (usize, usize), mode: Mode, response: Option<&Response>) {
        let (pair, rates) = &mut self.pairs[from * self.nodes + to];
        pair.ppdus += 1;
        let captured = response.filter(|r| r.heard == Heard::Good);
        match (response, captured) {
            (None, _) => pair.not_answered += 1,
            (Some(_), None) => pair.answer_not_captured += 1,
            (_, Some(response)) => {
                pair.late_responses += u64::from(response.late);
                *(match response.answer {
                    Answer::Ack => &mut pair.acked,
                    Answer::BlockAck => &mut pair.block_acked,
                    Answer::Cts => &mut pair.cts,
                }) += 1;
            }
        }
        let at = rates.iter().position(|(m, ..)| *m == mode).unwrap_or_else(|| {
            rates.push((mode, 0, 0));
            rates.len() - 1
        });
        rates[at].1 += 1;
        rates[at].2 += u64::from(captured.is_some());
    }

    pub(crate) fn finish(self, addresses: &[MacAddr]) -> Vec<ExchangeTruth> {
        let nodes = self.nodes;
        let mut out = Vec::new();
        for (index, (pair, rates)) in self.pairs.into_iter().enumerate().filter(|(_, (pair, _))| pair.ppdus > 0) {
            let mut by_rate: Vec<ExchangeRateTruth> = Vec::new();
            for (mode, ppdus, answered) in rates {
                let label = mode.label();
                match by_rate.iter_mut().find(|row| row.label == label) {
                    Some(row) => {
                        row.ppdus += ppdus;
                        row.answered += answered;
                    }
                    None => by_rate.push(ExchangeRateTruth { label, ppdus, answered }),
                }
            }
            by_rate.sort_by(|a, b| b.ppdus.cmp(&a.ppdus).then_with(|| a.label.cmp(&b.label)));
            out.push(ExchangeTruth {
                ta: addresses[index / nodes].to_string(),
                ra: addresses[index % nodes].to_string(),
                by_rate,
                ..pair
            });
        }
        out
    }
}
