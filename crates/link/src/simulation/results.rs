//! What a simulation gives.

use serde::Serialize;

use crate::engine::DropCause;
use crate::traffic::Latency;

/// The results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct SimulationResult {
    /// Seed of the random sources.
    pub seed: u64,
    /// When measuring began, s.
    pub warm_up_s: f64,
    /// How long was measured, s.
    pub duration_s: f64,
    /// Length of the intervals of the time series, s.
    pub interval_s: f64,
    /// In the order of the settings.
    pub flows: Vec<FlowResult>,
    /// Packets that hosts handed down, over the whole run.
    pub packets: u64,
}

/// What happened to one flow. Counts are those of the measuring window.
#[derive(Clone, Debug, Serialize)]
pub struct FlowResult {
    /// Its name.
    pub name: String,
    /// `tcp`, `udp` or `echo`.
    pub kind: &'static str,
    /// Sender.
    pub from: u16,
    /// Receiver.
    pub to: u16,
    /// Payload that the receiving application got, Mbit/s; of an echo: of the replies.
    pub goodput_mbit_s: f64,
    /// The same in bytes.
    pub payload_bytes: u64,
    /// Packets that the sender handed down (TCP: with payload; echo: requests).
    pub packets_sent: u64,
    /// Packets that reached the receiver (echo: replies that reached the sender).
    pub packets_received: u64,
    /// Packets of the flow, both ways, that were dropped, by cause.
    pub drops: Vec<Drops>,
    /// TCP: of segments that were sent once, as the sender sees it. Echo: of the replies.
    pub round_trip: Latency,
    /// From sender to receiver.
    pub one_way: Latency,
    /// Interarrival jitter (RFC 3550, 6.4.1) at the end, ms.
    pub jitter_ms: Option<f64>,
    /// Results of a TCP flow.
    pub tcp: Option<TcpResult>,
    /// Over the whole run, warm-up included.
    pub series: Vec<IntervalResult>,
}

/// Dropped packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// Why.
    pub cause: DropCause,
    /// How many.
    pub packets: u64,
}

/// What is special about a TCP flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpResult {
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Times that losses were repaired without a timeout.
    pub recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Reductions that were undone: the retransmission was spurious.
    pub undone: u64,
    /// Segments that the sender's own host refused.
    pub local_drops: u64,
    /// Reductions because of ECN marks.
    pub ecn_reductions: u64,
    /// ACKs that the receiver sent.
    pub acks: u64,
    /// Times that the sending process waited for its socket: voluntary context switches.
    pub sender_waits: u64,
    /// Times that the receiving process waited for data: voluntary context switches. Data that reach it at the same time wake it once.
    pub receiver_waits: u64,
    /// Most bytes that were below the sender's socket at once, over the whole run.
    pub below_socket_most_bytes: u64,
    /// When everything had been acknowledged, s after the flow began; `None`: it had not.
    pub completed_s: Option<f64>,
}

/// One interval of a flow's time series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalResult {
    /// Its beginning, s after measuring began; negative: in the warm-up.
    pub at_s: f64,
    /// Payload, Mbit/s.
    pub goodput_mbit_s: f64,
    /// Mean round-trip time (UDP: one-way delay), ms; `None`: nothing came.
    pub latency_ms: Option<f64>,
    /// Longest, ms.
    pub latency_max_ms: Option<f64>,
    /// Congestion window of a TCP flow at its last ACK, segments.
    pub cwnd: Option<f32>,
}

impl SimulationResult {
    /// Goodput of all TCP and UDP flows, Mbit/s.
    pub fn goodput_mbit_s(&self) -> f64 {
        self.flows.iter().filter(|f| f.kind != "echo").map(|f| f.goodput_mbit_s).sum()
    }
}
