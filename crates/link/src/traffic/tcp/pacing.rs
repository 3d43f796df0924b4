//! What the sender would pace with, and when it may send if it does (Linux: `tcp_update_pacing_rate`,
//! `tcp_tso_autosize`, `tcp_update_skb_after_send`, `tcp_small_queue_check`).

/// Linux' `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;
/// Largest burst, bytes (`GSO_MAX_SIZE`).
const LARGEST_BURST: f64 = 65_536.0;
/// The shift that the size of bursts goes by unless the device asks for another.
const BURST_FLOOR_BYTES_PER_S: f64 = 150_000.0;

/// Pacing of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    enabled: bool,
    shift: u8,
    packet_bytes: f64,
    /// Bytes per second; `None`: no RTT is known yet.
    rate: Option<f64>,
    next_ns: u64,
    /// Packets that may still go in this burst.
    burst: u32,
}

impl Pacing {
    pub(crate) fn new(enabled: bool, shift: u8, packet_bytes: u32) -> Self {
        Self { enabled, shift, packet_bytes: f64::from(packet_bytes), rate: None, next_ns: 0, burst: 0 }
    }

    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate
    }

    pub(crate) fn set_rate(&mut self, bytes_per_s: f64) {
        self.rate = Some(bytes_per_s.max(1.0));
    }

    /// The rate that Linux gives a window: twice of what it needs in (the first half of) slow start, 1.2 times otherwise.
    pub(crate) fn set_from_window(&mut self, cwnd: f64, ssthresh: f64, smoothed_ns: Option<u64>) {
        let Some(rtt_ns) = smoothed_ns else { return };
        let ratio = if cwnd < ssthresh / 2.0 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        self.set_rate(ratio * cwnd * self.packet_bytes * 1e9 / (rtt_ns as f64).max(1e3));
    }

    /// Bytes below the socket at most (TCP small queues): two packets, or what is paced in 2^-shift seconds.
    pub(crate) fn small_queue_bytes(&self) -> u64 {
        let paced = self.rate.map_or(0.0, |rate| rate / f64::from(1u32 << self.shift));
        paced.max(2.0 * self.packet_bytes) as u64
    }

    /// Whether a packet may go now.
    pub(crate) fn open(&mut self, now_ns: u64) -> bool {
        if !self.enabled || self.burst > 0 {
            return true;
        }
        let Some(rate) = self.rate else { return true };
        if now_ns < self.next_ns {
            return false;
        }
        let least = if rate < BURST_FLOOR_BYTES_PER_S { 1.0 } else { 2.0 };
        let bytes = (rate / f64::from(1u32 << self.shift)).min(LARGEST_BURST);
        self.burst = (bytes / self.packet_bytes).floor().max(least) as u32;
        // What it is late is made up for, by half of what the burst takes at most.
        let half_ns = (0.5 * f64::from(self.burst) * self.packet_bytes * 1e9 / rate) as u64;
        self.next_ns = self.next_ns.max(now_ns.saturating_sub(half_ns));
        true
    }

    /// A packet has gone.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        if let (true, Some(rate)) = (self.enabled, self.rate) {
            self.burst = self.burst.saturating_sub(1);
            self.next_ns += (bytes as f64 * 1e9 / rate) as u64;
        }
    }

    /// Nothing more can go now: the rest of the burst is not kept.
    pub(crate) fn end_burst(&mut self) {
        self.burst = 0;
    }

    /// When the next burst may go, if that is what the sender waits for.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns
    }
}
