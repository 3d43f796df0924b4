//! Which chip of the family it is.

use crate::pci::{Base, PciIdentity};

/// Atheros.
const VENDOR: u16 = 0x168c;
/// A card's own; any will do (Linux ath9k/pci.c lists only a few by subsystem, for their antennas and sleep).
const SUBSYSTEM: u16 = 0x3093;

/// A chip of the family that ath9k calls AR9002.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Two streams in 2.4 and 5 GHz.
    #[default]
    Ar9280,
    /// The same on PCI without Express, as routers have it.
    Ar9220,
    /// Two streams in 2.4 GHz, with the short guard interval in 20 MHz too.
    Ar9287,
}

impl Model {
    /// As sentences call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ar9280 => "AR9280",
            Self::Ar9220 => "AR9220",
            Self::Ar9287 => "AR9287",
        }
    }

    /// Who it says it is on PCI (Linux ath9k/hw.h, AR9280_DEVID_PCIE, AR9280_DEVID_PCI and AR9287_DEVID_PCIE).
    pub const fn identity(self) -> PciIdentity {
        let device = match self {
            Self::Ar9280 => 0x002a,
            Self::Ar9220 => 0x0029,
            Self::Ar9287 => 0x002e,
        };
        PciIdentity {
            vendor: VENDOR,
            device,
            revision: 1,
            subsystem_vendor: VENDOR,
            subsystem: SUBSYSTEM,
            base: Base::Zero,
        }
    }

    /// The silicon's revision (Linux ath9k/hw.c, ath9k_hw_read_revisions): 0xff, then version and revision in the upper bits;
    /// bit 13 is 0 for PCI Express.
    pub(super) const fn revision(self) -> u32 {
        match self {
            Self::Ar9280 => 0x0008_01ff,
            Self::Ar9220 => 0x0008_21ff,
            Self::Ar9287 => 0x0018_02ff,
        }
    }

    /// Whether it is in 5 GHz too.
    pub const fn has_5ghz(self) -> bool {
        matches!(self, Self::Ar9280 | Self::Ar9220)
    }
}
