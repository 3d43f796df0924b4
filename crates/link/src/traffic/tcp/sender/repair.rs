//! Losses and marks: what state the sender is in, and how it gets out (RFC 6675, RFC 3168, RFC 4015).

use super::{Sender, State, Window};
use crate::traffic::tcp::prr::Prr;

impl Sender {
    pub(super) fn find_losses(&mut self, now_ns: u64, reordered: bool) -> u32 {
        let repairing = matches!(self.state, State::Recovery | State::Timeout);
        self.rack.find_losses(now_ns, &mut self.board, reordered, repairing, &self.rtt)
    }

    pub(super) fn change_state(&mut self, now_ns: u64, lost: u32, ece: bool) {
        let repaired = self.board.una() >= self.high;
        let beyond = self.board.una() > self.high || self.board.outstanding() == 0;
        match self.state {
            // After marks the window is held until something above is acknowledged: CWR has then reached the receiver.
            State::Recovery | State::Reduced if repaired && (self.state == State::Recovery || beyond) => {
                self.state = State::Open;
                self.before = None;
                if !self.control.owns_window() {
                    self.window.cwnd = self.window.ssthresh;
                }
            }
            State::Timeout if repaired => {
                self.state = State::Open;
                self.before = None;
            }
            _ => {}
        }
        if lost > 0 && matches!(self.state, State::Open | State::Reduced) {
            self.enter_recovery(now_ns);
        } else if ece && self.state == State::Open {
            self.counts.ecn_reductions += 1;
            self.send_cwr = true;
            self.reduce(now_ns);
        }
    }

    pub(super) fn enter_recovery(&mut self, now_ns: u64) {
        self.counts.recoveries += 1;
        self.begin_reduction(now_ns);
        self.state = State::Recovery;
        self.probe_ns = None;
        self.probed = None;
    }

    /// Without a loss in the network.
    pub(super) fn reduce(&mut self, now_ns: u64) {
        if self.state == State::Open {
            self.begin_reduction(now_ns);
            self.state = State::Reduced;
        }
    }

    pub(super) fn begin_reduction(&mut self, now_ns: u64) {
        if self.state == State::Open {
            self.before = Some(self.window);
            self.window.ssthresh = self.control.on_congestion(now_ns, &self.window);
            self.prr = Prr::begin(self.window.cwnd);
        }
        self.high = self.board.next();
    }

    /// RFC 3522: the ACK echoes a timestamp from before the retransmission, so what was sent first has arrived.
    pub(super) fn check_spurious(&mut self, ts_echo: u32) {
        let (Some(window), Some(ts_value)) = (self.before, self.repeated_since) else { return };
        let earlier = ts_value.wrapping_sub(ts_echo);
        if earlier == 0 || earlier > 1 << 31 || !matches!(self.state, State::Recovery | State::Timeout) {
            return;
        }
        self.counts.undone += 1;
        self.before = None;
        self.window = Window { cwnd: self.window.cwnd.max(window.cwnd), ssthresh: window.ssthresh };
        self.control.undo();
        self.board.forget_losses();
        self.state = State::Open;
    }
}
