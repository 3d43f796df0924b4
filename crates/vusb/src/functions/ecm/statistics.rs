//! What the function counts, and what `--stats` says of it.

use serde::Serialize;

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EcmDirection {
    /// Ethernet frames, which are as many transfers.
    pub frames: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl EcmDirection {
    pub(super) fn count(&mut self, frame: &[u8]) {
        self.frames += 1;
        self.bytes += frame.len() as u64;
    }
}

/// What went between host and function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EcmCounters {
    /// From the host.
    pub uplink: EcmDirection,
    /// To the host.
    pub downlink: EcmDirection,
    /// Transfers from the host that are longer than a frame can be.
    pub too_long: u64,
    /// Frames that the wired end did not take.
    pub not_taken: u64,
    /// Frames for the host that came before it read, or that are longer than a frame can be.
    pub dropped: u64,
}

/// What an ECM function has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EcmStatistics {
    /// Transfers.
    pub ecm: EcmCounters,
}
