//! What the modem counts, and what `--stats` says of it.

use serde::Serialize;

use super::format::DataFormat;
use super::settings::ModemSettings;
use crate::functions::histogram;

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModemDirection {
    /// Transfers.
    pub transfers: u64,
    /// Bytes of them.
    pub transfer_bytes: u64,
    /// Datagrams in them.
    pub datagrams: u64,
    /// Bytes of the datagrams.
    pub datagram_bytes: u64,
    /// Transfers by their number of datagrams; index 0 is those without.
    pub histogram: Vec<u64>,
    /// Datagrams that were lost for want of room, or that the wired end did not take.
    pub dropped: u64,
}

impl ModemDirection {
    pub(super) fn count(&mut self, transfer: usize, datagrams: usize, bytes: usize) {
        self.transfers += 1;
        self.transfer_bytes += transfer as u64;
        self.datagrams += datagrams as u64;
        self.datagram_bytes += bytes as u64;
        histogram::count(&mut self.histogram, datagrams);
    }
}

/// What went between host, modem and radio.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModemCounters {
    /// From the host.
    pub uplink: ModemDirection,
    /// To the host.
    pub downlink: ModemDirection,
    /// Time that the engine has worked on transfers from the host, ns.
    pub engine_busy_ns: u64,
    /// QMAP commands of the host; they are not answered.
    pub commands: u64,
    /// QMAP datagrams of other multiplexed connections: not forwarded.
    pub other_connections: u64,
    /// Transfers with faults in them.
    pub faults: u64,
    /// Packets for the host that are not IP.
    pub not_ip: u64,
    /// Packets for the host while it has no connection.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub unconnected: u64,
    /// Checksums that the host left to the modem, and that were filled in.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub checksums_filled: u64,
    /// How often it crashed.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub crashes: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// QMI messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlCounters {
    /// Requests of the host.
    pub requests: u64,
    /// Answers to them, refusals included.
    pub answers: u64,
    /// Answers that refuse.
    pub refused: u64,
    /// Indications: what the modem sent unasked.
    pub indications: u64,
    /// Messages that break the rules of their layout, and others than requests.
    pub malformed: u64,
    /// Requests that were not taken: the host does not listen, or fetches no answers.
    pub not_taken: u64,
}

/// The control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlStatistics {
    /// QMI messages.
    pub messages: ControlCounters,
    /// What they have made of the data path.
    pub format: DataFormat,
}

/// What a QMI modem has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QmiModemStatistics {
    /// Transfers, and what was in them.
    pub qmi_modem: ModemCounters,
    /// How it is set up.
    pub settings: ModemSettings,
    /// The control plane, once the host has used it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlStatistics>,
}

crate::state!(ModemCounters {
    uplink,
    downlink,
    engine_busy_ns,
    commands,
    other_connections,
    faults,
    not_ip,
    unconnected,
    checksums_filled,
    crashes,
});
