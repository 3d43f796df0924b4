//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
pub use super::htc::HtcCounters;
use crate::air::AirCounters;
use crate::chips::dynamic_power::PowerCounters;
use crate::chips::station_counters::{RxCounters, TxCounters};
use crate::peers::PeerStatistics;
use crate::ushc::SdioStatistics;

/// What the chip was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar6003Counters"))]
pub struct ChipCounters {
    /// Commands of BMI, before the firmware runs.
    pub bmi_commands: u64,
    /// Bytes that they wrote into the chip's memory.
    pub bmi_bytes: u64,
    /// Times that the firmware began to run.
    pub boots: u64,
    /// Cold resets.
    pub cold_resets: u64,
    /// Commands of WMI.
    pub wmi_commands: u64,
    /// Those among them that have no effect here.
    pub wmi_without_effect: u64,
    /// Events of WMI.
    pub wmi_events: u64,
    /// Times that the host read the interrupt registers.
    pub register_reads: u64,
    /// Scans.
    pub scans: u64,
    /// Associations.
    pub associations: u64,
}

/// What an AR6003 or AR6004 has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar6003Statistics"))]
pub struct Statistics {
    /// The SDIO bus.
    pub sdio: SdioStatistics,
    /// What the chip was asked for.
    pub chip: ChipCounters,
    /// Messages between host and chip.
    pub htc: HtcCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// The transmitter.
    pub tx: TxCounters,
    /// The receiver.
    pub rx: RxCounters,
    /// Power save.
    pub power: PowerCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points.
    pub peers: PeerStatistics,
}
