//! What the chip counts, and what `--stats` says of it.

use serde::Serialize;

use super::assumptions::Assumptions;
use crate::air::AirCounters;
use crate::peers::PeerStatistics;

/// Accesses to registers, and what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280Counters"))]
pub struct ChipCounters {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Times that the interrupt line was raised.
    pub interrupts: u64,
    /// Resets of the MAC.
    pub resets: u64,
    /// Alerts to the host for the next beacon.
    pub beacon_alerts: u64,
}

/// What the transmitter of an AR9280, AR9220 or AR9287 has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280TxCounters"))]
pub struct TxCounters {
    /// Frames and A-MPDUs of the host that are done.
    pub frames: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Bytes of these, as they were read from the host's memory.
    pub bytes: u64,
    /// PPDUs that were sent, each try counted.
    pub ppdus: u64,
    /// Tries that were not acknowledged, those among them of which only the RTS was sent.
    pub failed: u64,
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames with a key that is not there or of a cipher that is not modelled; they are sent as they are.
    pub not_encrypted: u64,
    /// Frames to stations that did not answer before, given back unsent.
    pub filtered: u64,
    /// Frames with a rate that the chip does not have, or without a try.
    pub no_rate: u64,
}

/// What the receiver of an AR9280, AR9220 or AR9287 has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280RxCounters"))]
pub struct RxCounters {
    /// Frames that came off the air whole.
    pub frames: u64,
    /// Frames handed to the driver.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Frames that the filters kept back.
    pub filtered: u64,
    /// Frames that found no descriptor (they are not acknowledged either).
    pub overruns: u64,
    /// Frames that are longer than the buffers that the host had ready.
    pub too_long: u64,
    /// Frames that the chip decrypted.
    pub decrypted: u64,
    /// Frames with an integrity check that failed.
    pub integrity_errors: u64,
}

/// One of several chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280Chip"))]
pub struct OneChip {
    /// Its registers.
    pub chip: ChipCounters,
    /// Its transmitter.
    pub tx: TxCounters,
    /// Its receiver.
    pub rx: RxCounters,
}

/// What an AR9280, AR9220 or AR9287 has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280Statistics"))]
pub struct Statistics {
    /// The chip under test.
    #[serde(flatten)]
    pub under_test: OneChip,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// Its stations, where these are chips of the same kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub station_chips: Vec<OneChip>,
    /// The air.
    pub air: AirCounters,
    /// The access points, or the stations.
    pub peers: PeerStatistics,
}
