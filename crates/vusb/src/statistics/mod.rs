//! What `--stats` writes: counters of the bus, and of the device.

#[cfg(feature = "schema")]
mod schema;

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::device::{DeviceCounters, FaultCounters};
use crate::urbs::UrbCounters;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-vusb-statistics";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 1;

/// Everything that was counted up to a moment.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Always `"txop-vusb-statistics"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 1. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// When that was, by CLOCK_MONOTONIC (/proc/uptime without suspend), ns.
    pub monotonic_ns: u64,
    /// What has to be added to it for the time stamps of the captures, ns.
    pub epoch_ns: i64,
    /// The bus.
    pub urbs: UrbCounters,
    /// The device; `None` when it counts nothing.
    pub device: Option<DeviceStatistics>,
}

/// What a device has counted, and what was counted of the faults of its script.
#[derive(Serialize)]
pub struct DeviceStatistics {
    /// The fields of the device.
    #[serde(flatten)]
    pub counters: Box<dyn DeviceCounters>,
    /// Faults of its script; `None` for a device that no script is around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<FaultCounters>>,
}

impl Statistics {
    /// Writes the document atomically, with its keys in the order of the alphabet.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let sorted = serde_json::to_value(self).map_err(io::Error::other)?;
        let mut text = serde_json::to_string_pretty(&sorted).map_err(io::Error::other)?;
        text.push('\n');
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        std::fs::write(&unfinished, text)?;
        std::fs::rename(&unfinished, path)
    }
}
