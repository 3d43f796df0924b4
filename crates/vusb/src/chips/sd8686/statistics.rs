//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
use crate::air::AirCounters;
use crate::chips::station_counters::{RxCounters, TxCounters};
use crate::peers::PeerStatistics;
use crate::ushc::SdioStatistics;

/// What the chip was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sd8686Counters"))]
pub struct ChipCounters {
    /// Blocks of the helper that were written.
    pub helper_blocks: u64,
    /// Bytes of the firmware that were written, with their padding.
    pub firmware_bytes: u64,
    /// Times that the firmware began to run.
    pub boots: u64,
    /// Packets of the host.
    pub packets_from_host: u64,
    /// Packets that the host has fetched.
    pub packets_to_host: u64,
    /// Packets of the host that are cut, or of no kind that a host sends.
    pub malformed: u64,
    /// Times that the host read the port when there was no packet.
    pub empty_reads: u64,
    /// Commands.
    pub commands: u64,
    /// Those among them that have no effect here.
    pub commands_without_effect: u64,
    /// Those that were answered with a failure.
    pub commands_failed: u64,
    /// Events.
    pub events: u64,
    /// Times that the chip let the host wait because its transmit queue was full.
    pub held_back: u64,
    /// Scans.
    pub scans: u64,
    /// Associations.
    pub associations: u64,
}

/// What the receiver of an SD8686 has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sd8686RxCounters"))]
pub struct FilteringRxCounters {
    /// What every receiver counts.
    #[serde(flatten)]
    pub rx: RxCounters,
    /// Frames for groups that the host has not asked for.
    pub filtered: u64,
}

/// What an SD8686 has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sd8686Statistics"))]
pub struct Statistics {
    /// The SDIO bus.
    pub sdio: SdioStatistics,
    /// What the chip was asked for.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// The transmitter.
    pub tx: TxCounters,
    /// The receiver.
    pub rx: FilteringRxCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points.
    pub peers: PeerStatistics,
}
