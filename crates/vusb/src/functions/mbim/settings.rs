//! How an MBIM function is set up.

use serde::Serialize;

use crate::functions::block_limits::{BlockLimits, BLOCK_BYTES};
use crate::functions::{Aggregation, SettingsError};

/// How sessions begin to carry packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "MbimConnect"))]
#[serde(rename_all = "kebab-case")]
pub enum Connect {
    /// Session 0 carries packets without messages.
    Fixed,
    /// The host connects sessions with CONNECT.
    Negotiated,
}

/// How an MBIM function is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MbimSettings {
    /// How sessions begin to carry packets.
    pub connect: Connect,
    /// Offers 32-bit blocks beside 16-bit ones.
    pub wide: bool,
    /// dwNtbInMaxSize: bytes of a block to the host, 2,048 to 1 MiB.
    pub in_max: u32,
    /// dwNtbOutMaxSize: bytes of a block from the host, 2,048 to 1 MiB.
    pub out_max: u32,
    /// wNtbOutMaxDatagrams: datagrams of a block from the host; 0 is unlimited.
    pub out_datagrams_max: u16,
    /// How it packs packets for the host.
    pub to_host: Aggregation,
}

impl Default for MbimSettings {
    /// As an NCM function's.
    fn default() -> Self {
        Self {
            connect: Connect::Fixed,
            wide: false,
            in_max: BLOCK_BYTES,
            out_max: BLOCK_BYTES,
            out_datagrams_max: 0,
            to_host: Aggregation { datagrams: 40, bytes: 16_384, hold_ns: 0 },
        }
    }
}

impl MbimSettings {
    /// Whether all are in their ranges.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.blocks().check()?;
        self.to_host.check()
    }

    pub(super) const fn blocks(&self) -> BlockLimits {
        BlockLimits {
            wide: self.wide,
            in_max: self.in_max,
            out_max: self.out_max,
            out_datagrams_max: self.out_datagrams_max,
        }
    }
}
