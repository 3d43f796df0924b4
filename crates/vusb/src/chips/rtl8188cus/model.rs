//! Which chip it is, and what follows from that outside of one file.

use super::registers as reg;

/// What the chip is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Model {
    /// RTL8188CUS, as in an Edimax EW-7811Un (7392:7811).
    #[default]
    Rtl8188cus,
    /// RTL8723AU (0bda:1724): the same generation, which Debian's rtl8xxxu knows without RTL8XXXU_UNTESTED.
    Rtl8723au,
    /// RTL8188EU (0bda:8179): rate adaptation is the driver's, fed by transmit reports.
    Rtl8188eu,
}

impl Model {
    /// Whether the interrupt endpoint exists. rtl8xxxu requests transfers of it from the RTL8723AU and some RTL8192C (8723a.c
    /// and 8192c.c, usb_interrupts), never from the RTL8188EU.
    pub(super) const fn has_interrupts(self) -> bool {
        !matches!(self, Self::Rtl8188eu)
    }

    /// Whether the MAC reports the fate of frames (rtl8xxxu: has_tx_report).
    pub(super) const fn has_reports(self) -> bool {
        matches!(self, Self::Rtl8188eu)
    }

    /// Pages of the transmit packet buffer (rtl8xxxu.h, TX_TOTAL_PAGE_NUM and TX_TOTAL_PAGE_NUM_8188E).
    pub(super) const fn pages(self) -> usize {
        match self {
            Self::Rtl8188cus | Self::Rtl8723au => 0xf8,
            Self::Rtl8188eu => 0xa9,
        }
    }

    /// Bits 11:10 of RF register 0x18 that are 40 MHz; both set is 20 MHz. (rtl8xxxu core.c, rtl8xxxu_gen1_config_channel;
    /// rtlwifi rtl8192cu/rf.c, rtl92cu_phy_rf6052_set_bandwidth; regs.h, MODE_AG_BW_40MHZ_8723B.)
    pub(super) const fn rf_40mhz(self) -> u32 {
        match self {
            Self::Rtl8188cus | Self::Rtl8723au => 0,
            Self::Rtl8188eu => 0x0400,
        }
    }

    /// Where a transmit descriptor has the bit by which a frame may be part of an A-MPDU: word and bit (rtl8xxxu.h,
    /// TXDESC32_AGG_ENABLE; core.c, rtl8xxxu_fill_txdesc_v3).
    pub(super) const fn aggregate_bit(self) -> (usize, u32) {
        match self {
            Self::Rtl8188cus | Self::Rtl8723au => (1, 5),
            Self::Rtl8188eu => (2, 12),
        }
    }

    /// What SYS_CFG says. RTL8188C: cut A, made by TSMC. RTL8723A: there is Bluetooth. RTL8188E: cut D, made by TSMC (cut I is
    /// refused: 8188e.c, rtl8188eu_identify_chip).
    pub(super) const fn sys_cfg(self) -> u32 {
        match self {
            Self::Rtl8188cus => 0,
            Self::Rtl8723au => reg::SYS_CFG_BT_FUNC,
            Self::Rtl8188eu => 3 << reg::SYS_CFG_CUT_SHIFT,
        }
    }
}
