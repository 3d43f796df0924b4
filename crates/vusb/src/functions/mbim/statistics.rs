//! What the function counts, and what `--stats` says of it.

use serde::Serialize;

use super::settings::MbimSettings;
use crate::functions::{BlockCounters, BlockFormat};

/// MBIM messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MbimControlCounters {
    /// Messages of the host, errors included.
    pub messages: u64,
    /// Answers to them, refusals included.
    pub answers: u64,
    /// Answers to commands that refuse.
    pub refused: u64,
    /// Function errors: a message was malformed, in fragments, or came before the function was opened.
    pub errors: u64,
    /// Messages that were not taken: the host fetches no answers.
    pub not_taken: u64,
}

/// Packets that no session carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MbimUncarried {
    /// Packets from the host in sessions that are not connected.
    pub other_sessions: u64,
    /// Packets for the host while no session was connected.
    pub unconnected: u64,
    /// Datagrams from the host of device service streams, which the function has not.
    pub streams: u64,
    /// What came from the wired end and was no IP packet.
    pub not_ip: u64,
}

/// What an MBIM function has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MbimStatistics {
    /// Transfers, and what was in them.
    pub mbim: BlockCounters,
    /// Packets that no session carries.
    pub uncarried: MbimUncarried,
    /// The control plane.
    pub messages: MbimControlCounters,
    /// How it is set up.
    pub settings: MbimSettings,
    /// Bytes of a block to the host that the host asked for at most.
    pub input_size: u32,
    /// What blocks look like.
    pub format: BlockFormat,
}
