//! VHT Capabilities (9.4.2.157), VHT Operation (9.4.2.158) and Operating Mode (9.4.1.53).

use super::elements::{u16_at, u32_at};

/// Streams and highest MCS of a VHT-MCS or HE-MCS map: two bits for each of eight stream counts, 3 meaning "none".
pub(super) fn map_streams(map: u16) -> u8 {
    (0..8u8).rev().find(|index| map >> (index * 2) & 3 != 3).map_or(0, |index| index + 1)
}

/// VHT Capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct VhtCapabilities {
    /// VHT Capabilities Information, as sent.
    pub info: u32,
    /// RX VHT-MCS map, as sent: 0 is MCS 0-7, 1 MCS 0-8, 2 MCS 0-9, 3 none; two bits for each stream count.
    pub rx_mcs_map: u16,
    /// TX VHT-MCS map.
    pub tx_mcs_map: u16,
}

impl VhtCapabilities {
    /// Reads the element's data; `None` when there are fewer than its 12 bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        let data = data.get(..12)?;
        Some(Self { info: u32_at(data, 0)?, rx_mcs_map: u16_at(data, 4)?, tx_mcs_map: u16_at(data, 8)? })
    }

    /// Supported Channel Width Set, as sent: 0 80 MHz, 1 and 160, 2 and 80+80.
    pub const fn width_set(self) -> u8 {
        (self.info >> 2 & 3) as u8
    }

    /// Receives LDPC.
    pub const fn ldpc(self) -> bool {
        self.info & 0x10 != 0
    }

    /// Receives short guard interval at 80 MHz.
    pub const fn short_gi_80(self) -> bool {
        self.info & 0x20 != 0
    }

    /// Receives short guard interval at 160 MHz.
    pub const fn short_gi_160(self) -> bool {
        self.info & 0x40 != 0
    }

    /// Transmits STBC.
    pub const fn tx_stbc(self) -> bool {
        self.info & 0x80 != 0
    }

    /// Receives STBC of this many streams; 0: not at all.
    pub const fn rx_stbc_streams(self) -> u8 {
        (self.info >> 8 & 7) as u8
    }

    /// Single-user beamformer.
    pub const fn su_beamformer(self) -> bool {
        self.info & 0x0800 != 0
    }

    /// Single-user beamformee.
    pub const fn su_beamformee(self) -> bool {
        self.info & 0x1000 != 0
    }

    /// Multi-user beamformer.
    pub const fn mu_beamformer(self) -> bool {
        self.info & 0x0008_0000 != 0
    }

    /// Multi-user beamformee.
    pub const fn mu_beamformee(self) -> bool {
        self.info & 0x0010_0000 != 0
    }

    /// Longest A-MPDU it receives, bytes.
    pub const fn max_ampdu_bytes(self) -> u32 {
        (1 << (13 + (self.info >> 23 & 7))) - 1
    }

    /// Spatial streams it receives: 0..=8.
    pub fn rx_streams(self) -> u8 {
        map_streams(self.rx_mcs_map)
    }

    /// Spatial streams it transmits: 0..=8.
    pub fn tx_streams(self) -> u8 {
        map_streams(self.tx_mcs_map)
    }
}

/// VHT Operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VhtOperation {
    /// Channel Width, as sent: 0 20 or 40 MHz (see HT Operation), 1 80 or more, 2 160 and 3 80+80 (both deprecated).
    pub width: u8,
    /// Channel centre frequency segment 0, channel number.
    pub center_segment_0: u8,
    /// Channel centre frequency segment 1, channel number; 0: none.
    pub center_segment_1: u8,
    /// Basic VHT-MCS and NSS set.
    pub basic_mcs_map: u16,
}

impl VhtOperation {
    /// Reads the element's data; `None` when there are fewer than its 5 bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        Some(Self {
            width: *data.first()?,
            center_segment_0: *data.get(1)?,
            center_segment_1: *data.get(2)?,
            basic_mcs_map: u16_at(data, 3)?,
        })
    }

    /// Channel width, MHz: 80, or 160 (also for 80+80); `None` when HT Operation decides, and for reserved values.
    pub const fn width_mhz(self) -> Option<u16> {
        match (self.width, self.center_segment_1) {
            (1, 0) => Some(80),
            (1..=3, _) => Some(160),
            _ => None,
        }
    }
}

/// An Operating Mode field: what a station will receive from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperatingMode(pub u8);

impl OperatingMode {
    /// Channel width, MHz: 20, 40, 80 or 160.
    pub const fn width_mhz(self) -> u16 {
        match (self.0 & 3, self.0 & 4 != 0) {
            (2, true) => 160,
            (code, _) => 20 << code,
        }
    }

    /// Spatial streams, 1..=8; `None` when the field is about beamforming instead.
    pub const fn streams(self) -> Option<u8> {
        if self.0 & 0x80 != 0 {
            None
        } else {
            Some((self.0 >> 4 & 7) + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_stream_phone() {
        let data = [0xb2, 0x71, 0x90, 0x0f, 0xfa, 0xff, 0, 0, 0xfa, 0xff, 0, 0];
        let vht = VhtCapabilities::read(&data).unwrap();
        assert_eq!((vht.rx_streams(), vht.tx_streams()), (2, 2));
        assert!(vht.ldpc() && vht.short_gi_80() && !vht.short_gi_160() && vht.tx_stbc() && vht.su_beamformee());
        assert_eq!(vht.rx_stbc_streams(), 1);
        assert_eq!(vht.max_ampdu_bytes(), (1 << 20) - 1);
        assert_eq!(map_streams(0xffff), 0);
    }

    #[test]
    fn operation_and_mode() {
        assert_eq!(VhtOperation::read(&[1, 42, 0, 0xfc, 0xff]).unwrap().width_mhz(), Some(80));
        assert_eq!(VhtOperation::read(&[1, 42, 50, 0xfc, 0xff]).unwrap().width_mhz(), Some(160));
        assert_eq!(VhtOperation::read(&[0, 0, 0, 0xfc, 0xff]).unwrap().width_mhz(), None);
        assert_eq!((OperatingMode(0x12).width_mhz(), OperatingMode(0x12).streams()), (80, Some(2)));
        assert_eq!((OperatingMode(0x06).width_mhz(), OperatingMode(0x80).streams()), (160, None));
    }
}
