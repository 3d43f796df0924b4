//! The sending end of a flow: queue, window, retries, rates.

use std::collections::VecDeque;

use wire::phy::Mode;

use crate::ledger::BlockAckLedger;
use crate::recipient::{Recipient, Shown};
use crate::scene::{legacy, Flow, Offered};
use crate::truth::{AggregationTruth, FlowTruth};
use random::Rng;

/// Frames that wait in the sender's queue at most.
const QUEUE_MAX: u64 = 200;
/// Time that a TCP stack takes to answer.
const HOST_DELAY_NS: u64 = 150_000;

/// An MPDU that is not yet done with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) serial: u64,
    pub(crate) seq: u16,
    pub(crate) payload: u16,
    /// Transmissions so far.
    pub(crate) sent: u32,
    /// The receiver has it.
    pub(crate) received: bool,
    /// Acknowledged or given up.
    done: bool,
    /// Sent, and its acknowledgement still to be asked for by BAR.
    awaiting: bool,
    /// Number of the flow's PPDU from which on it may be sent again.
    eligible: u64,
}

/// State of a flow.
pub(crate) struct Sender<'a> {
    pub(crate) plan: &'a Flow,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// `None`: without QoS.
    pub(crate) tid: Option<u8>,
    /// When it may begin; `None` before the station has joined.
    pub(crate) started_ns: Option<u64>,
    /// When it ends.
    pub(crate) stop_ns: u64,
    /// Block Ack session in force.
    pub(crate) session: bool,
    /// BAR to send, and how often it was sent.
    pub(crate) bar: Option<u32>,
    pub(crate) pending: VecDeque<Pending>,
    pub(crate) board: Recipient,
    pub(crate) next_seq: u16,
    pub(crate) ppdus: u64,
    pub(crate) ledger: BlockAckLedger,
    pub(crate) truth: FlowTruth,
    pub(crate) aggregation: AggregationTruth,
    serial: u64,
    /// Frames taken from a constant-rate source.
    taken: u64,
    /// TCP acknowledgements due, and since when.
    due: u64,
    due_ns: u64,
    mode: Mode,
    hold: u32,
}

impl<'a> Sender<'a> {
    pub(crate) fn new(
        plan: &'a Flow,
        (from, to): (usize, usize),
        tid: Option<u8>,
        first_seq: u16,
        ledger: BlockAckLedger,
        truth: FlowTruth,
    ) -> Self {
        Self {
            plan,
            from,
            to,
            tid,
            started_ns: None,
            stop_ns: u64::MAX,
            session: false,
            bar: None,
            pending: VecDeque::new(),
            board: Recipient::new(first_seq),
            next_seq: first_seq,
            ppdus: 0,
            ledger,
            truth,
            aggregation: AggregationTruth::default(),
            serial: 0,
            taken: 0,
            due: 0,
            due_ns: 0,
            mode: legacy(12),
            hold: 0,
        }
    }

    /// Counts a PPDU.
    pub(crate) fn count_ppdu(&mut self, mpdus: usize, bytes: usize, duration_ns: u64) {
        let tally = &mut self.aggregation;
        tally.ppdus += 1;
        tally.ampdus += u64::from(mpdus > 1);
        tally.mpdus += mpdus as u64;
        tally.bytes += bytes as u64;
        tally.duration_ns += duration_ns;
        if tally.mpdus_per_ppdu.len() < mpdus {
            tally.mpdus_per_ppdu.resize(mpdus, 0);
        }
        tally.mpdus_per_ppdu[mpdus - 1] += 1;
    }

    /// The flow is to be a Block Ack session once it is agreed.
    pub(crate) fn wants_session(&self) -> bool {
        self.plan.aggregation.is_some() && self.tid.is_some()
    }

    fn window(&self) -> usize {
        match self.plan.aggregation {
            Some(aggregation) if self.session => usize::from(aggregation.window.max(1)),
            _ => 1,
        }
    }

    /// ns between frames of a constant-rate source.
    fn interval_ns(&self, mbit_s: f64) -> u64 {
        let mean = f64::from(self.plan.payload_bytes.0) / 2.0 + f64::from(self.plan.payload_bytes.1) / 2.0;
        ((mean * 8000.0 / mbit_s.max(1e-6)) as u64).max(1)
    }

    /// When there is something to send: now (any time up to `now_ns`), later, or never (`u64::MAX`).
    pub(crate) fn ready_at(&self, now_ns: u64) -> u64 {
        let Some(started_ns) = self.started_ns else { return u64::MAX };
        if now_ns >= self.stop_ns {
            return u64::MAX;
        }
        let to_ns = |s: f64| (s.max(0.0) * 1e9) as u64;
        let silent = self.plan.silent.iter().find(|&&(from, to)| (to_ns(from)..to_ns(to)).contains(&now_ns));
        if let Some(&(_, to)) = silent {
            return to_ns(to);
        }
        if self.bar.is_some() || !self.pending.is_empty() {
            return started_ns;
        }
        self.arrival_ns(started_ns)
    }

    /// When the next new frame is there.
    fn arrival_ns(&self, started_ns: u64) -> u64 {
        match self.plan.offered {
            Offered::Saturated => started_ns,
            Offered::MbitPerS(mbit_s) => started_ns.saturating_add(self.taken.saturating_mul(self.interval_ns(mbit_s))),
            Offered::TcpAcksOf(_) if self.due > 0 => self.due_ns,
            Offered::TcpAcksOf(_) => u64::MAX,
        }
    }

    /// A TCP acknowledgement falls due.
    pub(crate) fn acknowledge(&mut self, now_ns: u64) {
        if self.due == 0 {
            self.due_ns = now_ns + HOST_DELAY_NS;
        }
        self.due = (self.due + 1).min(QUEUE_MAX);
    }

    /// Takes the next frame from the queue into the window.
    fn take(&mut self, now_ns: u64, node_seq: &mut u16) -> bool {
        let Some(started_ns) = self.started_ns else { return false };
        if self.pending.len() >= self.window() || self.arrival_ns(started_ns) > now_ns {
            return false;
        }
        match self.plan.offered {
            Offered::Saturated => {}
            Offered::MbitPerS(mbit_s) => {
                let arrived = (now_ns - started_ns) / self.interval_ns(mbit_s);
                self.taken = (self.taken + 1).max((arrived + 1).saturating_sub(QUEUE_MAX));
            }
            Offered::TcpAcksOf(_) => self.due -= 1,
        }
        let counter = if self.tid.is_some() { &mut self.next_seq } else { node_seq };
        let seq = *counter & 0x0fff;
        *counter = (seq + 1) & 0x0fff;
        let (low, high) = self.plan.payload_bytes;
        let spread = u64::from(high.saturating_sub(low)) + 1;
        let payload = low + (random::mix(self.serial ^ (self.from as u64) << 56) % spread) as u16;
        self.pending.push_back(Pending {
            serial: self.serial,
            seq,
            payload,
            sent: 0,
            received: false,
            done: false,
            awaiting: false,
            eligible: 0,
        });
        self.serial += 1;
        true
    }

    /// Chooses what goes into the next PPDU: indices into `pending`. `fits(bytes of the PSDU)` decides on each.
    pub(crate) fn fill(
        &mut self,
        now_ns: u64,
        node_seq: &mut u16,
        overhead: usize,
        mut fits: impl FnMut(usize, usize) -> bool,
        chosen: &mut Vec<usize>,
    ) {
        chosen.clear();
        let mut psdu = 0usize;
        let mut add = |chosen: &mut Vec<usize>, index: usize, payload: u16| {
            let next = psdu.next_multiple_of(4) + 4 + overhead + usize::from(payload);
            if !chosen.is_empty() && !fits(next, chosen.len() + 1) {
                return false;
            }
            psdu = next;
            chosen.push(index);
            true
        };
        let number = self.ppdus;
        let mut full = false;
        for (index, mpdu) in self.pending.iter().enumerate() {
            if !mpdu.done && mpdu.eligible <= number && !add(chosen, index, mpdu.payload) {
                full = true;
                break;
            }
        }
        while !full && self.take(now_ns, node_seq) {
            let index = self.pending.len() - 1;
            full = !add(chosen, index, self.pending[index].payload);
        }
        if chosen.is_empty() {
            // The hardware has run dry: what waits for its turn goes at once.
            for (index, mpdu) in self.pending.iter().enumerate() {
                if !mpdu.done && !add(chosen, index, mpdu.payload) {
                    break;
                }
            }
        }
    }

    /// Mode of the next PPDU, `steps` down the list where the flow falls back.
    pub(crate) fn choose_mode(&mut self, rng: &mut Rng, steps: u32) -> Mode {
        let modes = &self.plan.rates.modes;
        if self.hold == 0 {
            self.hold = self.plan.rates.hold_ppdus.max(1);
            let total: u32 = modes.iter().map(|&(_, weight)| weight).sum();
            let mut at = rng.below(total);
            self.mode = legacy(12);
            for &(mode, weight) in modes {
                if at < weight {
                    self.mode = mode;
                    break;
                }
                at -= weight;
            }
        }
        self.hold -= 1;
        if steps == 0 || !self.plan.rates.fallback {
            return self.mode;
        }
        let current = modes.iter().position(|&(mode, _)| mode == self.mode).unwrap_or(0);
        // Two tries per rate.
        let lower = (current + (steps / 2) as usize).min(modes.len().saturating_sub(1));
        modes.get(lower).map_or(self.mode, |&(mode, _)| mode)
    }

    /// Loss probability at this time.
    pub(crate) fn loss(&self, now_ns: u64) -> f64 {
        let now_s = now_ns as f64 / 1e9;
        let burst = self.plan.bursts.iter().find(|burst| (burst.from_s..burst.to_s).contains(&now_s));
        burst.map_or(self.plan.loss, |burst| burst.loss)
    }

    /// A transmission has reached the receiver (or not).
    pub(crate) fn delivered(&mut self, index: usize) -> bool {
        let mpdu = &mut self.pending[index];
        let new = !mpdu.received;
        mpdu.received = true;
        if new {
            self.truth.mpdus_delivered += 1;
            self.truth.payload_bytes_delivered += u64::from(mpdu.payload);
        }
        new
    }

    /// The answer to the PPDU with these MPDUs is in: a Block Ack, or nothing.
    pub(crate) fn answered(&mut self, sent: &[usize], shown: Option<&Shown>) {
        let aggregation = self.plan.aggregation.unwrap_or_default();
        match shown {
            Some(shown) => {
                self.apply(shown);
                self.requeue(sent, u64::from(aggregation.ahead));
            }
            None if aggregation.bar => {
                for &index in sent {
                    self.pending[index].awaiting = true;
                }
                self.bar = Some(0);
            }
            None => self.requeue(sent, 0),
        }
        self.slide();
    }

    /// The answer to a BAR is in. True if the BAR is done with.
    pub(crate) fn bar_answered(&mut self, shown: Option<&Shown>) -> bool {
        let tries = self.bar.unwrap_or(0) + 1;
        match shown {
            Some(shown) => self.apply(shown),
            None if tries < 4 => {
                self.bar = Some(tries);
                return false;
            }
            None => {}
        }
        self.bar = None;
        let waiting: Vec<usize> = (0..self.pending.len()).filter(|&i| self.pending[i].awaiting).collect();
        for &index in &waiting {
            self.pending[index].awaiting = false;
        }
        self.requeue(&waiting, 0);
        self.slide();
        true
    }

    /// A single MPDU was acknowledged, or not.
    pub(crate) fn single_answered(&mut self, index: usize, acked: bool) {
        if acked {
            self.pending[index].done = true;
        } else {
            self.requeue(&[index], 0);
        }
        self.slide();
    }

    fn apply(&mut self, shown: &Shown) {
        for mpdu in self.pending.iter_mut().filter(|m| m.sent > 0 && !m.done) {
            if shown.has(mpdu.seq) {
                mpdu.done = true;
                mpdu.awaiting = false;
            }
        }
    }

    /// What is not acknowledged is sent again, `later` PPDUs after the next one, or given up.
    fn requeue(&mut self, sent: &[usize], later: u64) {
        let mut dropped = false;
        for &index in sent {
            let mpdu = &mut self.pending[index];
            if mpdu.done {
                continue;
            }
            if mpdu.sent > u32::from(self.plan.retry_limit) {
                mpdu.done = true;
                dropped = true;
                self.truth.dropped += 1;
            } else {
                mpdu.eligible = self.ppdus + later;
            }
        }
        // The receiver must not wait for what will never come.
        if dropped && self.session && self.plan.aggregation.is_some_and(|a| a.bar) {
            self.bar = self.bar.or(Some(0));
        }
    }

    fn slide(&mut self) {
        while self.pending.front().is_some_and(|m| m.done) {
            self.pending.pop_front();
        }
    }

    /// First number of the window.
    pub(crate) fn window_start(&self) -> u16 {
        self.pending.front().map_or(self.next_seq, |m| m.seq)
    }
}
