//! How an NCM function is set up.

use serde::Serialize;

use crate::functions::block_limits::{BlockLimits, BLOCK_BYTES};
use crate::functions::{Aggregation, SettingsError};

/// What it looks like to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NcmPosing"))]
#[serde(rename_all = "kebab-case")]
pub enum Posing {
    /// As the standard has it (Linux: cdc_ncm, which prefers 16-bit blocks).
    Standard,
    /// As a modem of Huawei (Linux: huawei_cdc_ncm, which prefers 32-bit blocks).
    Huawei,
}

/// How an NCM function is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NcmSettings {
    /// What it looks like.
    pub posing: Posing,
    /// Offers 32-bit blocks beside 16-bit ones.
    pub wide: bool,
    /// dwNtbInMaxSize: bytes of a block to the host, 2,048 to 1 MiB.
    pub in_max: u32,
    /// dwNtbOutMaxSize: bytes of a block from the host, 2,048 to 1 MiB.
    pub out_max: u32,
    /// wNtbOutMaxDatagrams: datagrams of a block from the host; 0 is unlimited.
    pub out_datagrams_max: u16,
    /// How it packs frames for the host.
    pub to_host: Aggregation,
    /// The host's Ethernet address.
    pub address: [u8; 6],
}

impl Default for NcmSettings {
    /// Blocks of 16 KiB and up to 40 datagrams, as Linux' own limits for cdc_ncm are (include/linux/usb/cdc_ncm.h), sent
    /// without waiting for more.
    fn default() -> Self {
        Self {
            posing: Posing::Standard,
            wide: false,
            in_max: BLOCK_BYTES,
            out_max: BLOCK_BYTES,
            out_datagrams_max: 0,
            to_host: Aggregation { datagrams: 40, bytes: 16_384, hold_ns: 0 },
            address: [0x02, 0x74, 0x78, 0x6f, 0x70, 0x02],
        }
    }
}

impl NcmSettings {
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
