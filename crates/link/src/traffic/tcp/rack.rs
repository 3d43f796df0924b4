//! RACK: when a segment is lost (RFC 8985, 6).

use super::rtt::RttEstimator;
use super::scoreboard::{Delivered, Scoreboard};

/// RFC 5681's duplicate ACKs: this many SACKed segments, and no reordering is waited for while none was seen.
const DUPLICATES: u32 = 3;
/// Most quarters of the least RTT that are waited.
const MOST_QUARTERS: u32 = 255;
/// Recoveries that a longer wait is kept for (RFC 8985, 6.2, step 4).
const KEEP: u32 = 16;

/// The state of RACK.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// Transmission that was sent last of those delivered, and what it took.
    latest: Option<(u64, u64)>,
    reordering_seen: bool,
    /// Quarters of the least RTT to wait beyond 1; grows with duplicates.
    quarters: u32,
    keep: u32,
    /// No second duplicate counts before this segment is acknowledged.
    duplicates_from: u64,
    timer_ns: Option<u64>,
}

impl Rack {
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.timer_ns
    }

    pub(crate) fn forget_timer(&mut self) {
        self.timer_ns = None;
    }

    /// Something was delivered (step 2). What was retransmitted counts only when it was not the first transmission that
    /// arrived: the retransmission was no faster than the path, and the timestamp that a cumulative ACK echoes is not from
    /// before it.
    pub(crate) fn on_delivered(
        &mut self,
        delivered: &Delivered,
        rtt_ns: u64,
        min_rtt_ns: Option<u64>,
        ts_echo: Option<u32>,
    ) {
        let sent = (delivered.sent_ns / 1_000_000) as u32;
        let before = ts_echo.is_some_and(|echo| (1..1 << 31).contains(&sent.wrapping_sub(echo)));
        if delivered.ever_again && (before || min_rtt_ns.is_some_and(|min| rtt_ns < min)) {
            return;
        }
        if self.latest.is_none_or(|(transmission, _)| transmission < delivered.transmission) {
            self.latest = Some((delivered.transmission, rtt_ns));
        }
    }

    /// A segment arrived twice: a retransmission was too early (step 4).
    pub(crate) fn on_duplicate(&mut self, una: u64, next: u64) {
        if una >= self.duplicates_from {
            self.duplicates_from = next;
            self.quarters = (self.quarters + 1).min(MOST_QUARTERS);
            self.keep = KEEP;
        }
    }

    /// Finds losses (step 5) and sets the timer for what may be lost later. Gives how many there are.
    pub(crate) fn find_losses(
        &mut self,
        now_ns: u64,
        board: &mut Scoreboard,
        reordered: bool,
        repairing: bool,
        rtt: &RttEstimator,
    ) -> u32 {
        self.reordering_seen |= reordered;
        self.timer_ns = None;
        let Some((latest, rtt_ns)) = self.latest else { return 0 };
        if board.outstanding() == 0 {
            return 0;
        }
        let window_ns = if !self.reordering_seen && (repairing || board.sacked() >= DUPLICATES) {
            0
        } else {
            let quarter = rtt.min_ns().unwrap_or(0) / 4;
            (quarter * u64::from(1 + self.quarters)).min(rtt.smoothed_ns().unwrap_or(0))
        };
        let (lost, timer_ns) = board.detect_losses(now_ns, latest, rtt_ns + window_ns);
        self.timer_ns = timer_ns;
        if lost > 0 && !repairing && self.quarters > 0 {
            self.keep = self.keep.saturating_sub(1);
            if self.keep == 0 {
                self.quarters = 0;
            }
        }
        lost
    }
}
