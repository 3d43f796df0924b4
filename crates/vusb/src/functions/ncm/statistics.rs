//! What `--stats` says of the function.

use serde::Serialize;

use super::settings::NcmSettings;
use crate::functions::{BlockCounters, BlockFormat};

/// What an NCM function has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NcmStatistics {
    /// Transfers, and what was in them.
    pub ncm: BlockCounters,
    /// How it is set up.
    pub settings: NcmSettings,
    /// Bytes of a block to the host that the host asked for at most.
    pub input_size: u32,
    /// What the host chose for both directions.
    pub format: BlockFormat,
}
