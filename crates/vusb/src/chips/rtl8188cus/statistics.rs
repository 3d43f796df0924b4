//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
use super::eu_assumptions::EuAssumptions;
use super::reports::ReportCounters;
use crate::air::AirCounters;
use crate::chips::realtek::power::PowerCounters;
use crate::peers::PeerStatistics;

/// Registers, interrupts and commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188cusCounters"))]
pub struct ChipCounters {
    /// Register reads.
    pub reads: u64,
    /// Register writes.
    pub writes: u64,
    /// Transfers of the interrupt endpoint.
    pub interrupts: u64,
    /// Commands to the firmware.
    pub commands: u64,
}

/// What the transmitter of an RTL8188CUS has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188cusTxCounters"))]
pub struct TxCounters {
    /// Frames from the driver.
    pub frames: u64,
    /// Descriptors with a wrong checksum: the frame is dropped.
    pub bad_checksums: u64,
    /// Transfers in which no descriptor and frame could be found.
    pub malformed: u64,
    /// Frames for the beacon queue: they are kept back.
    pub reserved: u64,
    /// Frames with AGG_ENABLE.
    pub aggregate: u64,
    /// Frames with RTS_CTS_ENABLE.
    pub rts: u64,
    /// Frames with CTS_SELF_ENABLE.
    pub cts_to_self: u64,
    /// Frames with HW_RTS_ENABLE.
    pub hardware_rts: u64,
    /// Frames by RTS rate: 1, 2, 5.5 Mbit/s and so on.
    pub rts_rates: [u64; 12],
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames for which there was no key.
    pub no_key: u64,
    /// Frames given up after the last retry.
    pub given_up: u64,
    /// Times that a bulk OUT endpoint was NAKed because the packet buffer was full (counted once per wait).
    pub buffer_full: u64,
}

/// What the receiver of an RTL8188CUS has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188cusRxCounters"))]
pub struct RxCounters {
    /// Frames that came off the air whole.
    pub frames: u64,
    /// Frames handed to the driver.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bulk IN transfers.
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

/// What an RTL8188CUS or RTL8723AU has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188cusStatistics"))]
pub struct Statistics {
    /// Registers, interrupts and commands.
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

/// What an RTL8188EU has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188euStatistics"))]
pub struct EuStatistics {
    /// Registers and commands; it has no interrupt endpoint.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: EuAssumptions,
    /// The transmitter.
    pub tx: TxCounters,
    /// Transmit reports.
    pub reports: ReportCounters,
    /// The receiver.
    pub rx: RxCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points.
    pub ap: PeerStatistics,
}
