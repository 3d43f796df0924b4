//! What a run has found: the parts of the JSON document `txop-simulate`.
//!
//! What is not available is `null`, never 0.

use air::report::Waterfall;
use link::scenario::FlowKind;
use link::simulation::TcpResult;
use link::traffic::LatencySummary;
use serde::Serialize;
use serde_json::Value;

use crate::sweep::Axis;

/// Name of the format.
pub const FORMAT: &str = "txop-simulate";
/// Its version.
pub const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Always `"txop-simulate"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version.
    #[cfg_attr(feature = "schema", schemars(extend("const" = VERSION)))]
    pub version: u32,
    /// Where the figures come from.
    pub origin: &'static str,
    /// Version of txop.
    pub txop: &'static str,
    /// The scenario.
    pub scenario: ScenarioSummary,
    /// What was swept, outermost first.
    pub axes: Vec<Axis>,
    /// One for every combination of the values of the axes; one without any axis.
    pub points: Vec<Point>,
}

/// The scenario, before anything is swept.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenarioSummary {
    /// Its file, or its name.
    pub name: String,
    /// One line.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Where its figures were measured, if its parameters were fitted.
    pub calibrated_from: Option<String>,
    /// Kind of its link.
    pub link: &'static str,
    /// Names of the hosts; the first is at the far end of the wire.
    pub hosts: Vec<String>,
    /// Every setting, defaults filled in.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, Value>"))]
    pub settings: Value,
}

/// A combination of values, run with several seeds.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Values of the axes, in their order.
    pub values: Vec<String>,
    /// One for each seed.
    pub runs: Vec<Run>,
    /// Over the seeds.
    pub summary: Vec<Summary>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// Time that counts, s.
    pub measured_s: f64,
    /// Goodput of all flows that carry data, Mbit/s; `null`: there is none.
    pub goodput_mbit_s: Option<f64>,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// The air, if the link has one.
    pub air: Option<AirResult>,
    /// Endpoints of the bus, if the link shows one.
    pub bus: Vec<EndpointResult>,
    /// What the link itself counted since time 0, warm-up included; keys depend on its kind.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Map<String, Value>>"))]
    pub counters: Value,
    /// Over time, from the beginning of the warm-up.
    pub series: SeriesResult,
    /// Where the goodput of each direction went, as `txop air` explains it from what a perfect monitor would have captured;
    /// `null`: not asked for, or the link has no air.
    pub waterfalls: Option<Vec<Waterfall>>,
}

/// One flow of one run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowResult {
    /// Its name.
    pub name: String,
    /// `tcp`, `udp` or `ping`.
    pub kind: FlowKind,
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Packets handed down by the sender: with payload for `tcp`, requests for `ping`.
    pub packets_sent: u64,
    /// Packets that arrived; for `ping` replies that came back.
    pub packets_received: u64,
    /// Payload of transport delivered, Mbit/s; for TCP in order and once. `null` for `ping`.
    pub goodput_mbit_s: Option<f64>,
    /// One way from the sender's stack to the receiver's; for `ping` the round trip; for `tcp` the round trips that its
    /// sender measured.
    pub latency: Option<Latency>,
    /// One way from the sender's stack to the receiver's, for `tcp`.
    pub one_way: Option<Latency>,
    /// Jitter of RFC 3550, 6.4.1, at the end, ms.
    pub jitter_ms: Option<f64>,
    /// Packets dropped, both ways, by cause; only causes that occurred.
    pub drops: Vec<Drop>,
    /// What is special about `tcp`.
    pub tcp: Option<TcpResult>,
}

/// A distribution of times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Its percentiles.
    #[serde(flatten)]
    pub summary: LatencySummary,
    /// Points of the distribution: ms, and the share of times up to there.
    pub cdf: Vec<(f64, f64)>,
}

/// Packets dropped for one cause.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drop {
    /// As in [`link::DropCause`].
    pub cause: link::DropCause,
    /// How many.
    pub packets: u64,
}

/// The air of one run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AirResult {
    /// Share of the time in which a station sent.
    pub busy_share: f64,
    /// Share of the time in which frames collided; overlaps count once.
    pub collided_share: f64,
    /// Share of the time for beacons.
    pub broadcast_share: f64,
    /// PPDUs of any kind lost in collisions.
    pub ppdus_collided: u64,
    /// Jain's index of the airtime of the stations; `null`: there is only one, or none sent.
    pub jain: Option<f64>,
    /// The stations.
    pub stations: Vec<StationResult>,
}

/// A station and its link with the access point.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StationResult {
    /// Its name.
    pub name: String,
    /// Time on the air between it and the access point, both ways, control frames included, as share of the run.
    pub airtime_share: f64,
    /// Its share of the airtime of all stations.
    pub share_of_stations: Option<f64>,
    /// From the access point to it.
    pub down: DirectionResult,
    /// From it to the access point.
    pub up: DirectionResult,
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionResult {
    /// Data PPDUs, collided ones included.
    pub ppdus: u64,
    /// PPDUs lost in a collision.
    pub ppdus_collided: u64,
    /// Data MPDUs, retransmissions and collided ones included.
    pub mpdus: u64,
    /// MPDUs in PPDUs lost in a collision.
    pub mpdus_collided: u64,
    /// Retransmissions among the MPDUs.
    pub retries: u64,
    /// Retransmissions in PPDUs lost in a collision.
    pub retries_collided: u64,
    /// Retransmissions among the data MPDUs, %.
    pub retry_percent: Option<f64>,
    /// Time of the data PPDUs, as share of the run.
    pub data_airtime_share: f64,
    /// Time of control frames sent in this direction, as share of the run.
    pub control_airtime_share: f64,
    /// MPDUs in a data PPDU, on average.
    pub mean_aggregate: Option<f64>,
    /// Data PPDUs by their number of MPDUs: number, PPDUs. Only numbers that occurred.
    pub aggregates: Vec<(usize, u64)>,
}

/// One endpoint of a USB device.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointResult {
    /// Address of the device.
    pub device: u8,
    /// Address of the endpoint.
    pub endpoint: u8,
    /// `in` or `out`.
    pub direction: &'static str,
    /// `bulk` or `interrupt`.
    pub transfer: &'static str,
    /// URBs completed in a second.
    pub urbs_per_s: f64,
    /// URBs with an error in a second.
    pub errors_per_s: f64,
    /// Rate, Mbit/s.
    pub mbit_s: f64,
    /// Bytes of a URB, on average.
    pub mean_bytes: Option<f64>,
    /// From submission to completion, on average, ms.
    pub mean_ms: Option<f64>,
    /// URBs under way at once, at most.
    pub most_in_flight: usize,
}

/// Figures over time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesResult {
    /// Length of an interval, s.
    pub interval_s: f64,
    /// When the first begins, s from the end of the warm-up: 0 or negative.
    pub start_s: f64,
    /// Goodput by flow, Mbit/s; `null` for `ping`.
    pub goodput_mbit_s: Vec<Option<Vec<f64>>>,
    /// Mean latency by flow, ms; `null`: nothing arrived.
    pub latency_ms: Vec<Vec<Option<f64>>>,
    /// Airtime by station, as share of the interval; empty: the link has no air.
    pub airtime_share: Vec<Vec<f64>>,
}

/// A figure over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// `goodput_mbit_s`, `latency_p50_ms`, ...
    pub figure: String,
    /// The flow or station it is of; `null`: of the whole run.
    pub of: Option<String>,
    /// Seeds that have it.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (of a sample); `null` with less than two.
    pub sd: Option<f64>,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}
