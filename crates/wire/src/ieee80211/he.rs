//! HE Capabilities and HE Operation (IEEE Std 802.11ax-2021, 9.4.2.248 and 9.4.2.249).

use super::elements::{bit_at, u16_at};
use super::vht::map_streams;

/// HE Capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct HeCapabilities {
    /// HE MAC Capabilities Information, as sent.
    pub mac: [u8; 6],
    /// HE PHY Capabilities Information, as sent.
    pub phy: [u8; 11],
    /// RX HE-MCS map up to 80 MHz, as sent: 0 is MCS 0-7, 1 MCS 0-9, 2 MCS 0-11, 3 none; two bits for each stream count.
    pub rx_mcs_map_80: u16,
    /// TX HE-MCS map up to 80 MHz.
    pub tx_mcs_map_80: u16,
}

impl HeCapabilities {
    /// Reads the element's data (after the extension ID); `None` when there are fewer than its 21 bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        Some(Self {
            mac: data.get(..6)?.try_into().ok()?,
            phy: data.get(6..17)?.try_into().ok()?,
            rx_mcs_map_80: u16_at(data, 17)?,
            tx_mcs_map_80: u16_at(data, 19)?,
        })
    }

    const fn phy_bit(self, bit: usize) -> bool {
        bit_at(&self.phy, bit)
    }

    /// TWT requester.
    pub const fn twt_requester(self) -> bool {
        self.mac[0] & 2 != 0
    }

    /// TWT responder.
    pub const fn twt_responder(self) -> bool {
        self.mac[0] & 4 != 0
    }

    /// Broadcast TWT.
    pub const fn broadcast_twt(self) -> bool {
        self.mac[2] & 0x10 != 0
    }

    /// 40 and 80 MHz in 5 and 6 GHz.
    pub const fn width_80(self) -> bool {
        self.phy_bit(2)
    }

    /// 160 MHz in 5 and 6 GHz.
    pub const fn width_160(self) -> bool {
        self.phy_bit(3)
    }

    /// LDPC in payload.
    pub const fn ldpc(self) -> bool {
        self.phy_bit(13)
    }

    /// Transmits STBC up to 80 MHz.
    pub const fn tx_stbc(self) -> bool {
        self.phy_bit(18)
    }

    /// Receives STBC up to 80 MHz.
    pub const fn rx_stbc(self) -> bool {
        self.phy_bit(19)
    }

    /// Single-user beamformer.
    pub const fn su_beamformer(self) -> bool {
        self.phy_bit(31)
    }

    /// Single-user beamformee.
    pub const fn su_beamformee(self) -> bool {
        self.phy_bit(32)
    }

    /// Multi-user beamformer.
    pub const fn mu_beamformer(self) -> bool {
        self.phy_bit(33)
    }

    /// Spatial streams it receives up to 80 MHz: 0..=8.
    pub fn rx_streams(self) -> u8 {
        map_streams(self.rx_mcs_map_80)
    }

    /// Spatial streams it transmits up to 80 MHz: 0..=8.
    pub fn tx_streams(self) -> u8 {
        map_streams(self.tx_mcs_map_80)
    }
}

/// HE Operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeOperation {
    /// HE Operation Parameters, 24 bits, as sent.
    pub parameters: u32,
    /// BSS Color Information, as sent.
    pub color: u8,
    /// Basic HE-MCS and NSS set.
    pub basic_mcs_map: u16,
    /// 6 GHz Operation Information: primary channel, control, centre segments 0 and 1, minimum rate.
    pub six_ghz: Option<[u8; 5]>,
}

impl HeOperation {
    /// Reads the element's data (after the extension ID); `None` when there are fewer than its 6 fixed bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        let parameters = u32::from(u16_at(data, 0)?) | u32::from(*data.get(2)?) << 16;
        let vht_len = if parameters & 0x4000 != 0 { 3 } else { 0 };
        let cohosted_len = if parameters & 0x8000 != 0 { 1 } else { 0 };
        let six_at = 6 + vht_len + cohosted_len;
        let six_ghz = if parameters & 0x2_0000 != 0 {
            data.get(six_at..six_at + 5).and_then(|bytes| bytes.try_into().ok())
        } else {
            None
        };
        Some(Self { parameters, color: *data.get(3)?, basic_mcs_map: u16_at(data, 4)?, six_ghz })
    }

    /// Stations that can are to use TWT.
    pub const fn twt_required(self) -> bool {
        self.parameters & 8 != 0
    }

    /// Channel width in 6 GHz, MHz: 20, 40, 80 or 160 (also for 80+80); `None` in other bands.
    pub const fn six_ghz_width_mhz(self) -> Option<u16> {
        match self.six_ghz {
            Some([_, control, ..]) => Some(20 << (control & 3)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phy_bits_and_streams() {
        let mut data = [0; 21];
        data[0] = 0x02;
        data[6] = 0x06; // 40 MHz in 2.4 GHz; 40 and 80 MHz in 5 GHz
        data[7] = 0x20; // LDPC
        data[8] = 0x08; // RX STBC
        data[10] = 0x01; // SU beamformee
        data[17..].copy_from_slice(&[0xfa, 0xff, 0xfe, 0xff]);
        let he = HeCapabilities::read(&data).unwrap();
        assert!(he.twt_requester() && he.width_80() && !he.width_160());
        assert!(he.ldpc() && he.rx_stbc() && !he.tx_stbc() && he.su_beamformee() && !he.su_beamformer());
        assert_eq!((he.rx_streams(), he.tx_streams()), (2, 1));
    }

    #[test]
    fn optional_parts_of_the_operation_element_are_skipped() {
        // VHT info and co-hosted BSS present before the 6 GHz information.
        let data = [0, 0xc0, 0x02, 5, 0xfc, 0xff, 9, 9, 9, 8, 37, 2, 39, 47, 6];
        let operation = HeOperation::read(&data).unwrap();
        assert_eq!((operation.color & 0x3f, operation.six_ghz), (5, Some([37, 2, 39, 47, 6])));
        assert_eq!(operation.six_ghz_width_mhz(), Some(80));
    }
}
