//! What an emulation has to say when it ends.

use std::path::PathBuf;

use link::{Counters, Scenario};
use serde::Serialize;

use crate::lateness::Lateness;

/// The account of an emulation.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Always `txop-emulate`.
    pub format: &'static str,
    /// Layout version: 1.
    pub version: u32,
    /// The link that was emulated, defaults filled in.
    pub scenario: Scenario,
    /// How long, s.
    pub seconds: f64,
    /// CPU time of the process, s.
    pub cpu_seconds: f64,
    /// The link's own counters.
    pub counters: Counters,
    /// The station's end.
    pub dut: EndStatus,
    /// The access point's end.
    pub ap: EndStatus,
    /// The capture file, if one was asked for.
    pub air: Option<AirStatus>,
}

/// One TUN device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndStatus {
    /// How late packets were handed to this end's host.
    pub late_release: Lateness,
    /// Packets that the host did not take.
    pub not_taken: u64,
}

/// The capture file.
#[derive(Clone, Debug, Serialize)]
pub struct AirStatus {
    /// Its name.
    pub path: PathBuf,
    /// Frames in it.
    pub frames: u64,
    /// Frames left out because the writer did not keep up or the file had reached its limit.
    pub dropped: u64,
    /// Collided frames: never in the file.
    pub collided: u64,
    /// Why writing stopped early.
    pub error: Option<String>,
}
