//! Which chip it is, and what follows from that outside of one file.

/// What the chip is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Model {
    /// RTL8822BU (0bda:b812): two streams.
    #[default]
    Rtl8822bu,
    /// RTL8822BE (10ec:b822): the same chip on PCI Express.
    Rtl8822be,
    /// RTL8822BS (024c:b822): the same chip on an SDIO card.
    Rtl8822bs,
    /// RTL8821CU (0bda:c811): one stream, smaller buffers. Files named for it are rtw8821c.c and rtw8821c.h.
    Rtl8821cu,
}

/// 80 MHz (7) and VHT (3), and numbers of streams and antennas (rtw88 efuse.h, GET_EFUSE_HW_CAP_*): the second word of what the
/// firmware says of the hardware.
const fn capabilities(streams: u32) -> u32 {
    7 << 16 | streams << 19 | streams << 21 | 3 << 26
}

/// Gains of the amplifier of an RTL8821CU with the front end of its efuse, dB (rtw8821c.c, lna_gain_table_0).
const GAINS_DB: [i16; 8] = [22, 8, -6, -22, -31, -40, -46, -52];
/// Steps of 2 dB behind the amplifier.
const STEPS: i16 = 31;

impl Model {
    /// Realtek, on USB, on PCI and on SDIO (include/linux/mmc/sdio_ids.h).
    pub(super) const fn vendor(self) -> u16 {
        match self {
            Self::Rtl8822be => 0x10ec,
            Self::Rtl8822bs => 0x024c,
            Self::Rtl8822bu | Self::Rtl8821cu => 0x0bda,
        }
    }

    /// "USB Single-function, WiFi only" (rtw8822bu.c); rtw8822be.c's and rtw8822bs.c's; one of rtw8821cu.c's table.
    pub(super) const fn product(self) -> u16 {
        match self {
            Self::Rtl8822bu => 0xb812,
            Self::Rtl8822be | Self::Rtl8822bs => 0xb822,
            Self::Rtl8821cu => 0xc811,
        }
    }

    /// Whether transmit descriptors have a checksum: the driver fills it in on USB and SDIO only (rtw88 usb.c,
    /// sdio.c, tx.h).
    pub(super) const fn has_checksums(self) -> bool {
        !matches!(self, Self::Rtl8822be)
    }

    /// The address in its efuse: Realtek's prefix, and a number of our own.
    pub const fn address(self) -> [u8; 6] {
        match self {
            Self::Rtl8822bu | Self::Rtl8821cu => [0x00, 0xe0, 0x4c, 0x88, 0x22, 0xb0],
            Self::Rtl8822be => [0x00, 0xe0, 0x4c, 0x88, 0x22, 0xbe],
            Self::Rtl8822bs => [0x00, 0xe0, 0x4c, 0x88, 0x22, 0xb5],
        }
    }

    /// Version D (rtw88 main.h, enum rtw_chip_ver), and whether there are two antennas.
    pub(super) const fn sys_cfg1(self) -> u32 {
        match self {
            Self::Rtl8822bu | Self::Rtl8822be | Self::Rtl8822bs => 1 << 27 | 3 << 12,
            Self::Rtl8821cu => 3 << 12,
        }
    }

    /// What the firmware says of the hardware.
    pub(super) const fn capabilities(self) -> u32 {
        match self {
            Self::Rtl8822bu | Self::Rtl8822be | Self::Rtl8822bs => capabilities(2),
            Self::Rtl8821cu => capabilities(1),
        }
    }

    /// Bytes of the efuse, and of its map (phy_efuse_size, log_efuse_size).
    pub(super) const fn efuse_bytes(self) -> (usize, usize) {
        match self {
            Self::Rtl8822bu | Self::Rtl8822be | Self::Rtl8822bs => (1_024, 768),
            Self::Rtl8821cu => (512, 512),
        }
    }

    /// Type of the front end, one that the driver has tables for (rtw8822b_rfe_defs, rtw8821c_rfe_defs).
    pub(super) const fn front_end(self) -> u8 {
        match self {
            Self::Rtl8822bu | Self::Rtl8822be | Self::Rtl8822bs => 3,
            Self::Rtl8821cu => 0,
        }
    }

    /// Bytes of the receive buffer where the driver has not said (rxff_size).
    pub(super) const fn receive_buffer(self) -> usize {
        match self {
            Self::Rtl8822bu | Self::Rtl8822be | Self::Rtl8822bs => 24_576,
            Self::Rtl8821cu => 16_384,
        }
    }

    /// Gain of the amplifier and steps behind it for a DSSS frame of this strength, of which the driver of an RTL8821CU computes it
    /// (rtw8821c.c, get_cck_rx_pwr).
    pub(super) fn gain(self, dbm: i8) -> (u8, u8) {
        let dbm = i16::from(dbm);
        let fits = |gain: &i16| (*gain - dbm) / 2 <= STEPS;
        let at = GAINS_DB.iter().position(fits).unwrap_or(GAINS_DB.len() - 1);
        let gain = GAINS_DB.get(at).copied().unwrap_or(0);
        (at as u8, ((gain - dbm) / 2).clamp(0, STEPS) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_read_back() {
        for dbm in -110..=20i8 {
            let (amplifier, steps) = Model::Rtl8821cu.gain(dbm);
            let read = GAINS_DB[usize::from(amplifier)] - 2 * i16::from(steps);
            assert!((read - i16::from(dbm)).abs() <= 1, "{dbm}: {read}");
        }
    }
}
