//! What the controller counts, and what `--stats` says of it.

use sdio::CardCounters;
use serde::Serialize;

/// What the host controller has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostCounters {
    /// Commands, whatever the outcome.
    pub commands: u64,
    /// Commands that the card did not answer.
    pub timeouts: u64,
    /// Transfers that are not a command.
    pub malformed: u64,
    /// Transfers of the interrupt endpoint.
    pub interrupt_transfers: u64,
    /// Times that the card got power.
    pub power_ups: u64,
    /// Lines of the data bus that the driver has set: 1 or 4; 0: none yet.
    pub bus_width: u8,
    /// The driver has set high speed.
    pub high_speed: bool,
    /// The clock that the driver has set.
    pub clock_hz: u32,
}

/// An SDIO bus: its host controller, and its card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioStatistics {
    /// The host controller.
    pub host: HostCounters,
    /// The card.
    pub card: CardCounters,
}
