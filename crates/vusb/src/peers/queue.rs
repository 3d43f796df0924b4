//! Frames on their way from an access point to the chip: order, aggregation, retries.

use std::collections::VecDeque;

use wire::ieee80211::{FrameKind, Mpdu, Seq};
use wire::phy::{AccessCategory, EdcaParameters, Mode};

use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::air::{response_to, Outcome, Ppdu, Protection};

/// Most MPDUs of an A-MPDU (assumed: half a Block Ack window), its size (HT: 65535) and its longest duration
/// (aPPDUMaxTime, table 19-25).
const AGGREGATE_MAX: usize = 32;
const AGGREGATE_BYTES: usize = 65_535;
const PPDU_NS: u64 = 5_484_000;

/// A frame.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Queued {
    /// Without frame check sequence.
    pub mpdu: Vec<u8>,
    /// Modes to try, each this many times, in this order.
    pub modes: Vec<(Mode, u8)>,
    /// What goes before it.
    pub protection: Protection,
    /// Says which it was when it is done.
    pub cookie: u64,
    /// When it was queued.
    pub since_ns: u64,
    /// How often it was sent.
    pub attempts: u8,
}

impl Queued {
    /// The mode of the next attempt.
    fn mode(&self) -> Mode {
        let mut left = self.attempts;
        for (mode, count) in &self.modes {
            match left.checked_sub(*count) {
                Some(rest) => left = rest,
                None => return *mode,
            }
        }
        self.modes.last().map_or(Mode::Unknown, |(mode, _)| *mode)
    }

    /// How often it is sent at most.
    fn limit(&self) -> u8 {
        self.modes.iter().fold(0, |sum: u8, (_, count)| sum.saturating_add(*count)).max(1)
    }

    /// It is for a group address.
    pub fn is_group(&self) -> bool {
        self.frame().is_group()
    }

    /// QoS data: the TID.
    pub fn tid(&self) -> Option<u8> {
        self.frame().tid()
    }

    /// What it says.
    pub fn frame(&self) -> Mpdu<&[u8]> {
        Mpdu::new(&self.mpdu)
    }

    fn sequence(&self) -> Seq {
        self.frame().sequence().unwrap_or_default()
    }

    const fn category(&self, tid: Option<u8>) -> AccessCategory {
        match tid {
            Some(tid) => match AccessCategory::of_tid(tid) {
                Some(category) => category,
                None => AccessCategory::BestEffort,
            },
            // Management and frames without QoS that are not data go first; mac80211 puts them into AC_VO.
            None => AccessCategory::Voice,
        }
    }
}

/// What happened to a frame.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Done {
    /// The frame's cookie.
    pub cookie: u64,
    /// It was acknowledged, or needs not be.
    pub acknowledged: bool,
    /// How often it was sent.
    pub attempts: u8,
}

/// All frames that wait: urgent ones, then data.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Queue {
    urgent: VecDeque<Queued>,
    data: VecDeque<Queued>,
    on_air: Vec<Queued>,
}

impl Queue {
    /// How many frames wait.
    pub fn len(&self) -> usize {
        self.urgent.len() + self.data.len() + self.on_air.len()
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: Queued) {
        if frame.frame().is_data() {
            self.data.push_back(frame);
        } else {
            self.urgent.push_back(frame);
        }
    }

    /// Takes all data frames that are not on the air.
    pub fn take_data(&mut self) -> VecDeque<Queued> {
        std::mem::take(&mut self.data)
    }

    /// Takes what a station sends only in a connection, and is not on the air: data and PS-Polls.
    pub fn take_connected(&mut self) -> impl Iterator<Item = Queued> {
        let is_poll = |frame: &Queued| frame.frame().kind() == Some(FrameKind::PsPoll);
        let (polls, urgent): (VecDeque<_>, _) = std::mem::take(&mut self.urgent).into_iter().partition(is_poll);
        self.urgent = urgent;
        polls.into_iter().chain(self.take_data())
    }

    /// The data frame that was added last, if it was not sent yet.
    pub fn last_unsent(&mut self) -> Option<&mut Queued> {
        self.data.back_mut().filter(|frame| frame.attempts == 0)
    }

    fn next(&self) -> Option<&Queued> {
        self.urgent.front().or_else(|| self.data.front())
    }

    /// Since when there is something to send.
    pub fn ready_since(&self) -> Option<u64> {
        self.next().map(|frame| frame.since_ns)
    }

    fn next_category(&self) -> AccessCategory {
        self.next().map_or(AccessCategory::BestEffort, |frame| {
            if frame.frame().is_data() {
                frame.category(frame.tid().or(Some(0)))
            } else {
                frame.category(None)
            }
        })
    }

    /// Contention parameters of what comes next.
    pub fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(self.next_category())
    }

    /// The category of what comes next: each contends with a backoff of its own.
    pub fn access_function(&self) -> usize {
        self.next_category() as usize
    }

    /// The next PPDU. `agreed`: the TIDs for which the chip's host has agreed to Block Ack, with a window of `window`.
    pub fn begin(&mut self, agreed: u16, window: u16) -> Option<Ppdu> {
        let from_urgent = !self.urgent.is_empty();
        let queue = if from_urgent { &mut self.urgent } else { &mut self.data };
        let first = queue.pop_front()?;
        let mode = first.mode();
        let is_group = first.is_group();
        let aggregated = mode.can_aggregate() && !is_group && first.tid().is_some_and(|tid| agreed >> tid & 1 == 1);
        let protection = first.protection;
        let response = response_to(&first.mpdu, aggregated);
        let mut taken = vec![first];
        if aggregated {
            aggregate(queue, &mut taken, &mode, window);
        }
        let mpdus = taken.iter().map(|frame| frame.mpdu.clone()).collect();
        self.on_air = taken;
        Some(Ppdu { mode, mpdus, aggregated, protection, response })
    }

    /// What happened to it.
    pub fn ended(&mut self, outcome: &Outcome, done: &mut Vec<Done>) {
        let mut again = Vec::new();
        for (mut frame, &acknowledged) in std::mem::take(&mut self.on_air).into_iter().zip(&outcome.acknowledged) {
            frame.attempts = frame.attempts.saturating_add(1);
            if acknowledged || frame.attempts >= frame.limit() {
                done.push(Done { cookie: frame.cookie, acknowledged, attempts: frame.attempts });
                continue;
            }
            // What only had an RTS sent before it was not sent: no retry (IEEE 802.11-2020 9.2.4.1.5).
            if outcome.sent {
                Mpdu::new(&mut frame.mpdu).set_retry(true);
            }
            again.push(frame);
        }
        for frame in again.into_iter().rev() {
            if frame.frame().is_data() {
                self.data.push_front(frame);
            } else {
                self.urgent.push_front(frame);
            }
        }
    }
}

fn aggregate(queue: &mut VecDeque<Queued>, taken: &mut Vec<Queued>, mode: &Mode, window: u16) {
    let Some(first) = taken.first() else { return };
    let (tid, start, receiver) = (first.tid(), first.sequence(), first.frame().receiver());
    let mut len = (first.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
    while taken.len() < AGGREGATE_MAX.min(usize::from(window)) {
        let Some(next) = queue.front() else { return };
        let ahead = next.sequence().distance_from(start);
        let longer = len + (next.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
        let fits = longer <= AGGREGATE_BYTES && duration_ns(mode, longer) <= PPDU_NS && ahead < window;
        if next.tid() != tid || next.frame().receiver() != receiver || !fits {
            return;
        }
        len = longer;
        taken.extend(queue.pop_front());
    }
}
