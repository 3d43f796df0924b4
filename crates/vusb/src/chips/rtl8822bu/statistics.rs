//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
use crate::air::AirCounters;
use crate::chips::realtek::power::PowerCounters;
use crate::peers::PeerStatistics;

/// Registers and the firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822buCounters"))]
pub struct ChipCounters {
    /// Register reads.
    pub reads: u64,
    /// Register writes.
    pub writes: u64,
    /// Bytes of firmware in the chip's memories.
    pub firmware_bytes: u64,
    /// Commands to the firmware by mailboxes.
    pub commands: u64,
    /// Commands to the firmware by the queue of commands.
    pub packets: u64,
    /// Calibrations among them, which succeed at once.
    pub calibrations: u64,
    /// Transfers for the packet buffer: parts of the firmware, and templates.
    pub pages_written: u64,
    /// Reports of the firmware to the host.
    pub reports: u64,
    /// Reports that got lost: a fault, or the receive buffer was full.
    pub reports_lost: u64,
}

/// What the transmitter of an RTL8822BU has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822buTxCounters"))]
pub struct TxCounters {
    /// Frames from the driver.
    pub frames: u64,
    /// Transfers that held several of them.
    pub aggregated_transfers: u64,
    /// Descriptors with a wrong checksum: the frame is dropped.
    pub bad_checksums: u64,
    /// Transfers in which a descriptor and frame could not be found.
    pub malformed: u64,
    /// Frames that may be part of an A-MPDU.
    pub aggregate: u64,
    /// Frames with RTS.
    pub rts: u64,
    /// Frames that the firmware was to report on.
    pub reported: u64,
    /// Frames at the driver's rate.
    pub driver_rate: u64,
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames for which there was no key.
    pub no_key: u64,
    /// Frames given up after the last retry.
    pub given_up: u64,
    /// Times that a bulk OUT endpoint was NAKed, or a ring was not read on, because the packet buffer was full (counted once per
    /// wait).
    pub buffer_full: u64,
}

/// What the receiver of an RTL8822BU has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822buRxCounters"))]
pub struct RxCounters {
    /// Frames that came off the air whole.
    pub frames: u64,
    /// Frames handed to the driver.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bulk IN transfers; on PCI buffers.
    pub transfers: u64,
    /// Frames that the filters kept back.
    pub filtered: u64,
    /// Frames that found the receive buffer full (they are not acknowledged either).
    pub overflows: u64,
    /// Frames that the chip decrypted.
    pub decrypted: u64,
    /// Frames with an integrity check that failed.
    pub integrity_errors: u64,
}

/// What an RTL8822BU has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822buStatistics"))]
pub struct Statistics {
    /// Registers and the firmware.
    pub chip: ChipCounters,
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
    pub ap: PeerStatistics,
}
