//! What a congestion control is to the sender.

use super::rate::RateSample;

/// Congestion window and slow-start threshold, in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub cwnd: f64,
    pub ssthresh: f64,
}

impl Window {
    pub(crate) fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681, 3.1): a segment for each one acknowledged, up to the threshold. Gives how many were not used.
    pub(crate) fn grow_slow_start(&mut self, acked: f64) -> f64 {
        let grown = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }
}

/// What an ACK reported, and what the sender knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub now_ns: u64,
    /// Segments that this ACK acknowledges cumulatively.
    pub acked: u32,
    /// Segments that it says were delivered, SACK counted.
    pub delivered: u32,
    /// Segments that were found lost with it.
    pub lost: u32,
    /// Segments in flight before this ACK.
    pub in_flight_before: u32,
    /// Segments in flight now.
    pub in_flight: u32,
    /// Round-trip time of the segment that was sent last of those delivered, if it was sent once.
    pub rtt_ns: Option<u64>,
    pub smoothed_ns: Option<u64>,
    pub min_rtt_ns: Option<u64>,
    /// First segment not acknowledged.
    pub una: u64,
    /// Next new segment.
    pub next: u64,
    /// The window, not the application, the receiver or the queues below limit the flow.
    pub cwnd_limited: bool,
    /// Losses are being repaired.
    pub recovering: bool,
    pub rate: Option<RateSample>,
    /// What the sender paces with now, bytes per second, if it knows.
    pub pacing_rate: Option<f64>,
}

/// A congestion control.
pub(crate) trait CongestionControl: Send {
    /// An ACK arrives. Unless [it owns the window](Self::owns_window), not while losses are being repaired.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// There is congestion. Gives the slow-start threshold; called once for each round of losses or marks.
    fn on_congestion(&mut self, now_ns: u64, window: &Window) -> f64;

    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}

    /// The congestion signal was spurious (RFC 4015).
    fn undo(&mut self) {}

    /// It sets the congestion window itself all the time, also while losses are being repaired.
    fn owns_window(&self) -> bool {
        false
    }

    /// The rate that it wants to send at, bytes per second of payload and headers.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
}
