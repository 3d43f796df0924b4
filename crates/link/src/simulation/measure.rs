//! What is measured of a flow while it runs.

use crate::engine::DropCause;
use crate::traffic::Latency;

/// All causes, in the order of their numbers.
pub(super) const CAUSES: [DropCause; 7] = [
    DropCause::QueueFull,
    DropCause::Codel,
    DropCause::Overlimit,
    DropCause::RetryLimit,
    DropCause::ReceiverFull,
    DropCause::Oversize,
    DropCause::DeviceDown,
];

/// Sums of one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    pub bytes: u64,
    pub latency_sum_ns: u64,
    pub latency_max_ns: u64,
    pub latencies: u32,
    pub cwnd: Option<f32>,
}

/// What is measured of a flow: within the measuring window, and (intervals) over the whole run.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    window_ns: (u64, u64),
    interval_ns: u64,
    /// End of the interval that is being summed.
    interval_end_ns: u64,
    interval: Interval,
    pub intervals: Vec<Interval>,
    pub bytes: u64,
    pub sent: u64,
    pub received: u64,
    pub drops: [u64; CAUSES.len()],
    pub round_trip: Latency,
    pub one_way: Latency,
    /// The last packet's one-way delay, and the jitter estimate of RFC 3550, 6.4.1, ns.
    jitter: Option<(u64, f64)>,
}

impl Measure {
    pub(super) fn new(window_ns: (u64, u64), interval_ns: u64) -> Self {
        Self {
            window_ns,
            interval_ns,
            interval_end_ns: interval_ns,
            interval: Interval::default(),
            intervals: Vec::new(),
            bytes: 0,
            sent: 0,
            received: 0,
            drops: [0; CAUSES.len()],
            round_trip: Latency::new(),
            one_way: Latency::new(),
            jitter: None,
        }
    }

    fn measuring(&self, at_ns: u64) -> bool {
        self.window_ns.0 <= at_ns && at_ns < self.window_ns.1
    }

    fn interval(&mut self, at_ns: u64) -> &mut Interval {
        while at_ns >= self.interval_end_ns {
            self.intervals.push(std::mem::take(&mut self.interval));
            self.interval_end_ns += self.interval_ns;
        }
        &mut self.interval
    }

    /// The run is over.
    pub(super) fn end(&mut self, end_ns: u64) {
        self.interval(end_ns);
    }

    pub(super) fn on_sent(&mut self, at_ns: u64) {
        self.sent += u64::from(self.measuring(at_ns));
    }

    /// A packet of the flow reaches its receiver.
    pub(super) fn on_received(&mut self, at_ns: u64, one_way_ns: u64) {
        if self.measuring(at_ns) {
            self.received += 1;
            self.one_way.record(one_way_ns);
            let (before_ns, jitter) = self.jitter.unwrap_or((one_way_ns, 0.0));
            let difference = before_ns.abs_diff(one_way_ns) as f64;
            self.jitter = Some((one_way_ns, jitter + (difference - jitter) / 16.0));
        }
    }

    /// A request reaches who answers it.
    pub(super) fn on_one_way(&mut self, at_ns: u64, one_way_ns: u64) {
        if self.measuring(at_ns) {
            self.one_way.record(one_way_ns);
        }
    }

    /// The receiving application gets payload.
    pub(super) fn on_payload(&mut self, at_ns: u64, bytes: u64) {
        if self.measuring(at_ns) {
            self.bytes += bytes;
        }
        self.interval(at_ns).bytes += bytes;
    }

    pub(super) fn on_round_trip(&mut self, at_ns: u64, ns: u64) {
        if self.measuring(at_ns) {
            self.round_trip.record(ns);
        }
        self.note_latency(at_ns, ns);
    }

    /// For the time series.
    pub(super) fn note_latency(&mut self, at_ns: u64, ns: u64) {
        let interval = self.interval(at_ns);
        interval.latency_sum_ns += ns;
        interval.latency_max_ns = interval.latency_max_ns.max(ns);
        interval.latencies += 1;
    }

    pub(super) fn note_cwnd(&mut self, at_ns: u64, cwnd: f64) {
        self.interval(at_ns).cwnd = Some(cwnd as f32);
    }

    pub(super) fn on_drop(&mut self, at_ns: u64, cause: DropCause) {
        if self.measuring(at_ns) {
            if let Some(i) = CAUSES.iter().position(|c| *c == cause) {
                self.drops[i] += 1;
            }
        }
    }

    pub(super) fn jitter_ms(&self) -> Option<f64> {
        self.jitter.map(|j| j.1 / 1e6)
    }
}
