//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
use crate::air::AirCounters;
use crate::peers::PeerStatistics;

/// Vendor requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7610uCounters"))]
pub struct ChipCounters {
    /// Vendor requests that read.
    pub reads: u64,
    /// Vendor requests that write.
    pub writes: u64,
}

/// What the MCU was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McuCounters {
    /// Bytes of firmware.
    pub firmware_bytes: u64,
    /// Commands.
    pub commands: u64,
    /// Calibrations among them, which succeed at once.
    pub calibrations: u64,
    /// Commands to an MCU that does not run, or that are damaged.
    pub ignored: u64,
}

/// What the transmitter of an MT7610U or MT7601U has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7610uTxCounters"))]
pub struct TxCounters {
    /// Frames of the host.
    pub frames: u64,
    /// Those among them that may be aggregated.
    pub aggregate: u64,
    /// Transfers that hold no frame.
    pub malformed: u64,
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames with a key for a cipher that is not modelled; they are not sent.
    pub not_encrypted: u64,
    /// Times that bulk OUT began to be NAKed.
    pub queue_full: u64,
    /// Frames of the beacon's memory: beacons, and what is sent behind them.
    pub beacons: u64,
    /// Times that beacons were due while some of the time before still waited: none are sent then.
    pub beacons_missed: u64,
    /// Frames given up after their last retry.
    pub given_up: u64,
    /// Frames to stations that sleep, dropped.
    pub asleep: u64,
    /// Reports of transmission.
    pub reports: u64,
    /// Reports that found no room.
    pub reports_lost: u64,
}

/// What the receiver of an MT7610U or MT7601U has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7610uRxCounters"))]
pub struct RxCounters {
    /// Frames that came off the air whole.
    pub frames: u64,
    /// Frames handed to the driver.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Frames that the filters kept back.
    pub filtered: u64,
    /// Frames that found the buffer full (they are not acknowledged either).
    pub overflows: u64,
    /// Frames that the chip decrypted.
    pub decrypted: u64,
    /// Frames with an integrity check that failed.
    pub integrity_errors: u64,
}

/// What an MT7610U or MT7601U has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7610uStatistics"))]
pub struct Statistics {
    /// Vendor requests.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// Its microcontroller.
    pub mcu: McuCounters,
    /// The transmitter.
    pub tx: TxCounters,
    /// The receiver.
    pub rx: RxCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points, or the stations.
    pub peers: PeerStatistics,
}
