//! The sender's timers: retransmission (RFC 6298), tail loss probe (RFC 8985, 7), and those of others.

use super::{Sender, State};
use crate::traffic::segment::Modelled;

/// RFC 8985, 7.2: what a lone segment's ACK may be delayed by, as Linux has it (`TCP_RTO_MIN`).
const LONE_SEGMENT_NS: u64 = 200_000_000;
/// What Linux adds to a probe timeout: two jiffies at 1000 Hz.
const PROBE_SLACK_NS: u64 = 2_000_000;

impl Sender {
    /// When [`Self::on_timer`] wants to be called.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        [self.rto_ns, self.probe_ns, self.rack.timer_ns()].into_iter().flatten().min()
    }

    /// A pacing, retransmission, probe or reordering timer may have expired.
    pub(crate) fn on_timer(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if self.state == State::SynSent {
            if self.rto_ns.is_some_and(|at| at <= now_ns) {
                self.rtt.back_off();
                self.counts.timeouts += 1;
                self.send_syn(now_ns, out);
            }
            return;
        }
        if self.rack.timer_ns().is_some_and(|at| at <= now_ns) {
            let lost = self.find_losses(now_ns, false);
            if lost > 0 && self.state != State::Recovery && self.state != State::Timeout {
                self.enter_recovery(now_ns);
            }
            if lost > 0 && self.state == State::Recovery && !self.control.owns_window() {
                let (in_flight, ssthresh) = (self.board.in_flight(), self.window.ssthresh);
                self.window.cwnd = self.prr.on_ack(0, in_flight, ssthresh, false, true);
            }
            self.send(now_ns, out);
        }
        if self.rto_ns.is_some_and(|at| at <= now_ns) {
            self.on_timeout(now_ns, out);
        } else if self.probe_ns.is_some_and(|at| at <= now_ns) {
            self.send_probe(now_ns, out);
        }
    }

    pub(super) fn arm_timers(&mut self, now_ns: u64) {
        self.rto_ns = None;
        self.probe_ns = None;
        if self.board.outstanding() == 0 {
            return;
        }
        let rto_ns = now_ns + self.rtt.rto_ns();
        let calm = self.state == State::Open && self.board.sacked() == 0 && self.probed.is_none();
        match self.rtt.smoothed_ns() {
            Some(rtt_ns) if calm => {
                let lone = self.board.outstanding() == 1;
                let slack_ns = if lone { LONE_SEGMENT_NS } else { PROBE_SLACK_NS };
                // As in Linux the probe is always before the timeout.
                self.probe_ns = Some(rto_ns.min(now_ns + 2 * rtt_ns + slack_ns));
            }
            _ => self.rto_ns = Some(rto_ns),
        }
    }

    /// RFC 8985, 7.3: a new segment, or else the last one again.
    pub(super) fn send_probe(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.probe_ns = None;
        let fresh = self.board.next() < self.segments && self.board.outstanding() < self.settings.window_segments();
        let again = if fresh { None } else { self.board.last_missing() };
        if fresh || again.is_some() {
            self.counts.probes += 1;
            self.transmit(now_ns, again, out);
            self.probed = Some((self.board.next(), again.is_some()));
        }
        self.arm_timers(now_ns);
    }

    /// RFC 8985, 7.4: a probe that repaired a loss is one.
    pub(super) fn end_probe(&mut self, now_ns: u64, duplicate: bool) {
        let Some((next, again)) = self.probed else { return };
        if duplicate {
            self.probed = None;
        } else if self.board.una() >= next {
            self.probed = None;
            if again {
                self.reduce(now_ns);
            }
        }
    }

    pub(super) fn on_timeout(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if self.board.outstanding() == 0 {
            self.rto_ns = None;
            return;
        }
        self.counts.timeouts += 1;
        if self.state != State::Timeout || self.board.una() >= self.high {
            if self.state == State::Open || self.before.is_none() {
                self.before = Some(self.window);
            }
            if self.state != State::Timeout && self.state != State::Recovery {
                self.window.ssthresh = self.control.on_congestion(now_ns, &self.window);
            }
        }
        self.state = State::Timeout;
        self.high = self.board.next();
        self.window.cwnd = 1.0;
        self.control.on_timeout();
        self.board.mark_all_lost();
        self.rack.forget_timer();
        self.probed = None;
        self.rtt.back_off();
        self.rto_ns = Some(now_ns + self.rtt.rto_ns());
        self.probe_ns = None;
        self.update_pacing();
        self.send(now_ns, out);
    }
}
