//! What an emulation has to say when it ends.

use std::path::PathBuf;

use monitor::CaptureStatus;
use serde::Serialize;
use serde_json::Value;

use crate::pairs::Pair;
use crate::timing::Timing;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-emulate";
/// Version of its layout.
pub const VERSION: u32 = 2;

/// The account of an emulation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// Always `txop-emulate`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 2.
    #[cfg_attr(feature = "schema", schemars(extend("const" = VERSION)))]
    pub version: u32,
    /// Always `emulated`.
    pub origin: &'static str,
    /// `wlan`, `modem`, `sdio` or `pipe`.
    pub link: &'static str,
    /// The scenario, defaults filled in.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, Value>"))]
    pub scenario: Value,
    /// How long, s.
    pub seconds: f64,
    /// CPU time of the process, s.
    pub cpu_seconds: f64,
    /// Whether this machine kept up.
    pub timing: Timing,
    /// The hosts, in the order of their numbers.
    pub hosts: Vec<HostStatus>,
    /// Which host sent what to which.
    pub pairs: Vec<Pair>,
    /// The link's own counters.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, Value>"))]
    pub counters: Value,
    /// The capture of the air, if one was asked for.
    pub air: Option<FileStatus>,
    /// The capture of the bus, if one was asked for.
    pub usb: Option<FileStatus>,
}

/// One host's TUN device.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostStatus {
    /// Its name.
    pub name: String,
    /// Packets that its device gave.
    pub taken: u64,
    /// Packets to no host of the link (multicast, a foreign address), or no IP at all.
    pub unroutable: u64,
    /// Packets that the host did not take.
    pub not_taken: u64,
    /// Time on the air of the PPDUs that a station sent or got, s; `None` for the server, and on links without air.
    pub airtime_s: Option<f64>,
    /// Packets lost in the queue of its device; `None` where the kernel does not report it.
    pub lost_in_device: Option<u64>,
}

/// A capture file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileStatus {
    /// Its name.
    pub path: PathBuf,
    /// What is in it, and what is not.
    #[serde(flatten)]
    pub status: CaptureStatus,
}
