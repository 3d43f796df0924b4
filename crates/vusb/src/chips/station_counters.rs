//! What a station with firmware that encrypts has counted.

use serde::Serialize;

/// What the transmitter of a card has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CardTxCounters"))]
pub struct TxCounters {
    /// Frames of the host.
    pub frames: u64,
    /// Bytes of them, from the destination address on.
    pub bytes: u64,
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames that were dropped: there is no connection, the transmitter is off, or they are cut.
    pub dropped: u64,
    /// Frames sent again.
    pub retries: u64,
    /// Frames given up after their last retry.
    pub given_up: u64,
}

/// What the receiver of a card has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CardRxCounters"))]
pub struct RxCounters {
    /// Data frames that came off the air for this station.
    pub frames: u64,
    /// Frames handed to the host.
    pub delivered: u64,
    /// Bytes of them, from the destination address on.
    pub bytes: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that found no room (they are not acknowledged either).
    pub overflows: u64,
    /// Frames that the chip decrypted.
    pub decrypted: u64,
    /// Frames with an integrity check that failed.
    pub integrity_errors: u64,
    /// Frames with a MIC (Michael) that was wrong (TKIP).
    pub michael_errors: u64,
    /// Frames that could not be handed on: no key for them, or of a kind that is not modelled.
    pub dropped: u64,
}
