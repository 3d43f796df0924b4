//! What is counted of a card.

use serde::Serialize;

/// What a card was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardCounters {
    /// CMD52 that read.
    pub cmd52_reads: u64,
    /// CMD52 that write.
    pub cmd52_writes: u64,
    /// CMD53 that read.
    pub cmd53_reads: u64,
    /// CMD53 that write.
    pub cmd53_writes: u64,
    /// Bytes that CMD53 read.
    pub cmd53_read_bytes: u64,
    /// Bytes that CMD53 wrote.
    pub cmd53_written_bytes: u64,
    /// CMD53 in block mode, among all.
    pub cmd53_block_mode: u64,
    /// Commands that start a card: CMD0, 3, 5 and 7.
    pub other_commands: u64,
    /// Commands that the card does not know, and does not answer.
    pub unknown_commands: u64,
    /// Commands that were refused: a function or an address that is not there, or a length that the card does not take.
    pub refused_commands: u64,
    /// Transfers that the host aborted (I/O Abort).
    pub aborts: u64,
    /// Resets of the card's I/O.
    pub resets: u64,
    /// Times that the interrupt line rose.
    pub interrupts: u64,
}
