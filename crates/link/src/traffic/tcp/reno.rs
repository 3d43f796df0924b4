//! Reno: RFC 5681.

use super::congestion::{Ack, CongestionControl, Window};

/// Reno.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    /// A segment per round trip in congestion avoidance, bytes counted (RFC 3465) so that it does not matter how many ACKs
    /// there are.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        let mut acked = f64::from(ack.acked);
        if window.slow_start() {
            acked = window.grow_slow_start(acked);
        }
        if acked > 0.0 {
            window.cwnd += acked / window.cwnd;
        }
    }

    /// Half, and at least 2 segments (RFC 5681, 3.1, equation 4; of the window, as Linux does, not of what is in flight).
    fn on_congestion(&mut self, _now_ns: u64, window: &Window) -> f64 {
        (window.cwnd / 2.0).max(2.0)
    }
}
