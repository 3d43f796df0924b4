//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with the allowance for aggregated ACKs that Linux'
//! `net/ipv4/tcp_bbr.c` has since 5.1.

use std::collections::VecDeque;

use super::congestion::{Ack, CongestionControl, Window};
use random::Rng;

/// 2/ln 2: doubles the rate each round (draft, 4.3.2).
const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of ProbeBW (draft, 4.3.4).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds that the bottleneck rate is the maximum of.
const RATE_WINDOW_ROUNDS: u64 = 10;
/// How long the least RTT is good for, ns.
const MIN_RTT_WINDOW_NS: u64 = 10_000_000_000;
/// How long ProbeRTT lasts, ns.
const PROBE_RTT_NS: u64 = 200_000_000;
/// Window of ProbeRTT, segments.
const MIN_CWND: f64 = 4.0;
/// Linux paces a little below the estimate, to keep the queue short.
const PACING_MARGIN: f64 = 0.99;
/// Rounds that the allowance for aggregated ACKs is the maximum of, and how much of the rate's time it covers at most, s.
const EXTRA_ACKED: (u64, f64) = (10, 0.1);

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The largest value of the last rounds.
#[derive(Clone, Debug, Default)]
struct RoundMax(VecDeque<(u64, f64)>);

impl RoundMax {
    fn update(&mut self, round: u64, window: u64, value: f64) {
        while self.0.back().is_some_and(|b| b.1 <= value) {
            self.0.pop_back();
        }
        self.0.push_back((round, value));
        while self.0.front().is_some_and(|f| f.0 + window < round) {
            self.0.pop_front();
        }
    }

    fn get(&self) -> f64 {
        self.0.front().map_or(0.0, |f| f.1)
    }
}

/// BBR.
#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    state: State,
    /// Bytes of a segment on the wire.
    packet_bytes: f64,
    initial_cwnd: f64,
    /// Segments per second.
    rate: RoundMax,
    extra: RoundMax,
    extra_epoch: (u64, f64),
    round: u64,
    round_end: u64,
    round_start: bool,
    min_rtt: Option<(u64, u64)>,
    full_rate: f64,
    full_rounds: u32,
    full: bool,
    cycle: usize,
    cycle_ns: u64,
    pacing_gain: f64,
    cwnd_gain: f64,
    probe_rtt_done_ns: Option<u64>,
    probe_rtt_round: bool,
    prior_cwnd: f64,
    recovering: bool,
    conserve: bool,
    pacing_bytes: f64,
    rng: Rng,
}

impl Bbr {
    pub(crate) fn new(packet_bytes: u32, initial_cwnd: u32, rng: Rng) -> Self {
        Self {
            state: State::Startup,
            packet_bytes: f64::from(packet_bytes),
            initial_cwnd: f64::from(initial_cwnd),
            rate: RoundMax::default(),
            extra: RoundMax::default(),
            extra_epoch: (0, 0.0),
            round: 0,
            round_end: 0,
            round_start: false,
            min_rtt: None,
            full_rate: 0.0,
            full_rounds: 0,
            full: false,
            cycle: 0,
            cycle_ns: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            probe_rtt_done_ns: None,
            probe_rtt_round: false,
            prior_cwnd: 0.0,
            recovering: false,
            conserve: false,
            // The draft's 4.2.1: the initial window in a millisecond, until there is an RTT.
            pacing_bytes: HIGH_GAIN * f64::from(initial_cwnd) * f64::from(packet_bytes) / 1e-3,
            rng,
        }
    }

    /// Segments in `gain` times the path; infinite before there are estimates.
    fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some((_, rtt_ns)) if self.rate.get() > 0.0 => gain * self.rate.get() * rtt_ns as f64 / 1e9,
            _ => self.initial_cwnd * gain,
        }
    }

    /// What leaves the host at once, segments: what it would pace in a millisecond, up to 64 KiB.
    fn quantum(&self) -> f64 {
        let least = if self.pacing_bytes < 150_000.0 { 1.0 } else { 2.0 };
        (self.pacing_bytes * 1e-3 / self.packet_bytes).floor().clamp(least, (65_536.0 / self.packet_bytes).floor())
    }

    /// Three bursts on top: one at the sender, two at the receiver (draft, 4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        let target = self.bdp(gain) + 3.0 * self.quantum();
        // Room for one more when probing.
        if self.state == State::ProbeBw && self.cycle == 0 {
            target + 2.0
        } else {
            target
        }
    }

    fn update_round(&mut self, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = ack.rate else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = sample.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserve = false;
        }
        if let Some(rate) = sample.per_second {
            if !sample.app_limited || rate >= self.rate.get() {
                self.rate.update(self.round, RATE_WINDOW_ROUNDS, rate);
            }
        }
    }

    /// How many more are acknowledged than the rate explains: what a link that aggregates does.
    fn update_extra_acked(&mut self, ack: &Ack, cwnd: f64) {
        if ack.delivered == 0 || self.rate.get() == 0.0 {
            return;
        }
        let (began_ns, acked) = self.extra_epoch;
        let expected = self.rate.get() * (ack.now_ns - began_ns) as f64 / 1e9;
        let acked = if acked <= expected {
            self.extra_epoch = (ack.now_ns, f64::from(ack.delivered));
            self.extra_epoch.1
        } else {
            self.extra_epoch.1 = acked + f64::from(ack.delivered);
            self.extra_epoch.1
        };
        let expected = self.rate.get() * (ack.now_ns - self.extra_epoch.0) as f64 / 1e9;
        self.extra.update(self.round, EXTRA_ACKED.0, (acked - expected).clamp(0.0, cwnd));
    }

    fn check_full(&mut self, ack: &Ack) {
        if self.full || !self.round_start || ack.rate.is_none_or(|r| r.app_limited) {
            return;
        }
        if self.rate.get() >= self.full_rate * 1.25 {
            self.full_rate = self.rate.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= 3;
    }

    fn begin_probe_bw(&mut self, now_ns: u64) {
        self.state = State::ProbeBw;
        self.cwnd_gain = 2.0;
        // Any phase but the one that drains.
        self.cycle = match self.rng.up_to(6) as usize {
            0 => 0,
            phase => phase + 1,
        };
        self.cycle_ns = now_ns;
        self.pacing_gain = CYCLE[self.cycle];
    }

    fn update_state(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.full {
            self.state = State::Drain;
            (self.pacing_gain, self.cwnd_gain) = (1.0 / HIGH_GAIN, HIGH_GAIN);
        }
        if self.state == State::Drain && f64::from(ack.in_flight) <= self.bdp(1.0) + 3.0 * self.quantum() {
            self.begin_probe_bw(ack.now_ns);
        }
        if self.state == State::ProbeBw {
            let phase_over = ack.now_ns - self.cycle_ns > self.min_rtt.map_or(0, |m| m.1);
            let next = match self.pacing_gain {
                gain if gain > 1.0 => {
                    phase_over && (ack.lost > 0 || f64::from(ack.in_flight_before) >= self.inflight(gain))
                }
                gain if gain < 1.0 => phase_over || f64::from(ack.in_flight_before) <= self.inflight(1.0),
                _ => phase_over,
            };
            if next {
                self.cycle = (self.cycle + 1) % CYCLE.len();
                self.cycle_ns = ack.now_ns;
                self.pacing_gain = CYCLE[self.cycle];
            }
        }
    }

    fn update_min_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let expired = self.min_rtt.is_some_and(|(at, _)| ack.now_ns > at + MIN_RTT_WINDOW_NS);
        if let Some(rtt_ns) = ack.rtt_ns {
            if expired || self.min_rtt.is_none_or(|(_, min)| rtt_ns <= min) {
                self.min_rtt = Some((ack.now_ns, rtt_ns));
            }
        }
        if expired && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.prior_cwnd = window.cwnd.max(if self.recovering { self.prior_cwnd } else { 0.0 });
            self.probe_rtt_done_ns = None;
        }
        if self.state != State::ProbeRtt {
            return;
        }
        match self.probe_rtt_done_ns {
            None if f64::from(ack.in_flight) <= MIN_CWND => {
                self.probe_rtt_done_ns = Some(ack.now_ns + PROBE_RTT_NS);
                self.probe_rtt_round = false;
                self.round_end = ack.rate.map_or(self.round_end, |r| r.delivered);
            }
            None => {}
            Some(done_ns) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round && ack.now_ns >= done_ns {
                    if let Some(min) = &mut self.min_rtt {
                        min.0 = ack.now_ns;
                    }
                    window.cwnd = window.cwnd.max(self.prior_cwnd);
                    if self.full {
                        self.begin_probe_bw(ack.now_ns);
                    } else {
                        self.state = State::Startup;
                        (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
                    }
                }
            }
        }
    }

    fn set_pacing(&mut self, ack: &Ack) {
        let rate = if self.rate.get() > 0.0 {
            self.rate.get()
        } else {
            let Some(rtt_ns) = ack.smoothed_ns else { return };
            self.initial_cwnd * 1e9 / (rtt_ns as f64).max(1e3)
        };
        let bytes = self.pacing_gain * rate * self.packet_bytes * PACING_MARGIN;
        if self.full || bytes > self.pacing_bytes || self.rate.get() == 0.0 {
            self.pacing_bytes = bytes;
        }
    }

    fn set_cwnd(&mut self, ack: &Ack, window: &mut Window) {
        let delivered = f64::from(ack.delivered);
        if ack.recovering != self.recovering {
            self.recovering = ack.recovering;
            if ack.recovering {
                // Packet conservation for the first round of a recovery (draft, 4.2.3.4).
                self.prior_cwnd = window.cwnd.max(self.prior_cwnd);
                self.conserve = true;
                self.round_end = ack.rate.map_or(self.round_end, |r| r.delivered);
                window.cwnd = f64::from(ack.in_flight) + delivered.max(1.0);
            } else {
                self.conserve = false;
                window.cwnd = window.cwnd.max(self.prior_cwnd);
                self.prior_cwnd = 0.0;
            }
        } else if ack.lost > 0 {
            window.cwnd = (window.cwnd - f64::from(ack.lost)).max(1.0);
        }
        if self.conserve {
            window.cwnd = window.cwnd.max(f64::from(ack.in_flight) + delivered);
        } else {
            let extra = self.extra.get().min(EXTRA_ACKED.1 * self.rate.get());
            let target = self.inflight(self.cwnd_gain) + if self.full { extra } else { 0.0 };
            if self.full {
                window.cwnd = (window.cwnd + delivered).min(target);
            } else if window.cwnd < target || (ack.rate.map_or(0, |r| r.delivered) as f64) < self.initial_cwnd {
                window.cwnd += delivered;
            }
            window.cwnd = window.cwnd.max(MIN_CWND);
        }
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.update_round(ack);
        self.update_extra_acked(ack, window.cwnd);
        self.check_full(ack);
        self.update_state(ack);
        self.update_min_rtt(ack, window);
        self.set_pacing(ack);
        self.set_cwnd(ack, window);
    }

    /// It does not take losses for congestion.
    fn on_congestion(&mut self, _now_ns: u64, window: &Window) -> f64 {
        if !self.recovering && self.state != State::ProbeRtt {
            self.prior_cwnd = window.cwnd;
        }
        window.ssthresh
    }

    /// As after Linux' timeout: the bandwidth found in startup is to be found again.
    fn on_timeout(&mut self) {
        self.full_rate = 0.0;
        self.conserve = false;
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_bytes)
    }
}
