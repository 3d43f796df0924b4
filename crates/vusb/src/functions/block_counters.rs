//! What functions count of transfer blocks.

use serde::Serialize;

use super::histogram;

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockDirection {
    /// Transfer blocks.
    pub blocks: u64,
    /// Bytes of them as transferred.
    pub block_bytes: u64,
    /// Datagrams in them.
    pub datagrams: u64,
    /// Bytes of the datagrams.
    pub datagram_bytes: u64,
    /// Blocks by their number of datagrams; index 0 is those without.
    pub histogram: Vec<u64>,
}

impl BlockDirection {
    pub(super) fn count(&mut self, block: usize, lengths: impl Iterator<Item = usize>) {
        let before = self.datagrams;
        self.blocks += 1;
        self.block_bytes += block as u64;
        for len in lengths {
            self.datagrams += 1;
            self.datagram_bytes += len as u64;
        }
        histogram::count(&mut self.histogram, usize::try_from(self.datagrams - before).unwrap_or(usize::MAX));
    }
}

/// What went between host and function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockCounters {
    /// From the host.
    pub uplink: BlockDirection,
    /// To the host.
    pub downlink: BlockDirection,
    /// Transfers that were not a block.
    pub not_blocks: u64,
    /// Faults in blocks.
    pub faults: u64,
    /// Faults of the host's block numbering.
    pub out_of_sequence: u64,
    /// Datagrams that the wired end did not take.
    pub not_taken: u64,
    /// Datagrams for the host that came before it read, or that fit into no block.
    pub dropped: u64,
}

/// What transfer blocks look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockFormat {
    /// With 16-bit lengths and offsets.
    Ntb16,
    /// With 32-bit lengths and offsets.
    Ntb32,
}
