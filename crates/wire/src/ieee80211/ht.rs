//! HT Capabilities (9.4.2.55) and HT Operation (9.4.2.56).

use super::elements::{id, u16_at, Element};

/// HT Capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct HtCapabilities {
    /// HT Capability Information, as sent.
    pub info: u16,
    /// A-MPDU Parameters, as sent.
    pub ampdu_parameters: u8,
    /// Supported MCS Set, as sent: 77 RX MCS bits, highest RX rate, TX parameters.
    pub mcs_set: [u8; 16],
    /// HT Extended Capabilities, as sent.
    pub extended: u16,
}

impl HtCapabilities {
    /// Reads the element's data; `None` when there are fewer than its 26 bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        let data = data.get(..26)?;
        Some(Self {
            info: u16_at(data, 0)?,
            ampdu_parameters: *data.get(2)?,
            mcs_set: data.get(3..19)?.try_into().ok()?,
            extended: u16_at(data, 19)?,
        })
    }

    /// Appends the element, Transmit Beamforming and ASEL Capabilities all zeros.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::HT_CAPABILITIES, out, |out| {
            out.extend_from_slice(&self.info.to_le_bytes());
            out.push(self.ampdu_parameters);
            out.extend_from_slice(&self.mcs_set);
            out.extend_from_slice(&self.extended.to_le_bytes());
            out.extend_from_slice(&[0; 5]);
        });
    }

    /// Receives LDPC.
    pub const fn ldpc(self) -> bool {
        self.info & 0x0001 != 0
    }

    /// Supports 40 MHz.
    pub const fn width_40(self) -> bool {
        self.info & 0x0002 != 0
    }

    /// SM power save: 0 static, 1 dynamic, 2 reserved, 3 disabled.
    pub const fn sm_power_save(self) -> u8 {
        (self.info >> 2 & 3) as u8
    }

    /// Receives the greenfield preamble.
    pub const fn greenfield(self) -> bool {
        self.info & 0x0010 != 0
    }

    /// Receives short guard interval at 20 MHz.
    pub const fn short_gi_20(self) -> bool {
        self.info & 0x0020 != 0
    }

    /// Receives short guard interval at 40 MHz.
    pub const fn short_gi_40(self) -> bool {
        self.info & 0x0040 != 0
    }

    /// Transmits STBC.
    pub const fn tx_stbc(self) -> bool {
        self.info & 0x0080 != 0
    }

    /// Receives STBC of this many spatial streams; 0: not at all.
    pub const fn rx_stbc_streams(self) -> u8 {
        (self.info >> 8 & 3) as u8
    }

    /// Longest A-MSDU it receives, bytes: 3839 or 7935.
    pub const fn max_amsdu_bytes(self) -> u16 {
        if self.info & 0x0800 != 0 {
            7935
        } else {
            3839
        }
    }

    /// Forbids 40 MHz operation around it in 2.4 GHz.
    pub const fn intolerant_40(self) -> bool {
        self.info & 0x4000 != 0
    }

    /// Longest A-MPDU it receives, bytes: 8191, 16383, 32767 or 65535.
    pub const fn max_ampdu_bytes(self) -> u32 {
        (1 << (13 + (self.ampdu_parameters & 3) as u32)) - 1
    }

    /// Spatial streams it receives with equal modulation (MCS 0 to 31): 0..=4.
    pub fn rx_streams(self) -> u8 {
        self.mcs_set[..4].iter().rposition(|rates| *rates != 0).map_or(0, |last| last as u8 + 1)
    }

    /// Spatial streams it transmits: as `rx_streams` unless it says that its TX set is another one. `None` when it does
    /// not define its TX set.
    pub fn tx_streams(self) -> Option<u8> {
        let transmit = self.mcs_set[12];
        match (transmit & 1 != 0, transmit & 2 != 0) {
            (false, _) => None,
            (true, false) => Some(self.rx_streams()),
            (true, true) => Some((transmit >> 2 & 3) + 1),
        }
    }
}

/// Where the secondary 20 MHz channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecondaryChannel {
    /// 0: none.
    None,
    /// 1: above the primary channel.
    Above,
    /// 3: below the primary channel.
    Below,
    /// 2.
    Reserved,
}

impl SecondaryChannel {
    /// Its number in HT Operation and in Secondary Channel Offset (9.4.2.19); the low two bits count.
    pub const fn from_number(number: u8) -> Self {
        match number & 3 {
            0 => Self::None,
            1 => Self::Above,
            3 => Self::Below,
            _ => Self::Reserved,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Above => 1,
            Self::Reserved => 2,
            Self::Below => 3,
        }
    }
}

/// HT Operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HtOperation {
    /// Primary channel number.
    pub primary_channel: u8,
    /// HT Operation Information, its first five bytes as sent.
    pub info: [u8; 5],
    /// Basic HT-MCS Set, as sent.
    pub basic_mcs_set: [u8; 16],
}

impl HtOperation {
    /// Reads the element's data; `None` when there are fewer than its 22 bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        Some(Self {
            primary_channel: *data.first()?,
            info: data.get(1..6)?.try_into().ok()?,
            basic_mcs_set: data.get(6..22)?.try_into().ok()?,
        })
    }

    /// Operation element of a network of 20 MHz, or of 40 MHz with a secondary channel: any width is allowed there.
    pub const fn new(primary_channel: u8, secondary: SecondaryChannel) -> Self {
        let any_width = if matches!(secondary, SecondaryChannel::None) { 0 } else { 0x04 };
        Self { primary_channel, info: [any_width | secondary.number(), 0, 0, 0, 0], basic_mcs_set: [0; 16] }
    }

    /// Appends the element.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::HT_OPERATION, out, |out| {
            out.push(self.primary_channel);
            out.extend_from_slice(&self.info);
            out.extend_from_slice(&self.basic_mcs_set);
        });
    }

    /// Secondary channel offset.
    pub const fn secondary_channel(self) -> SecondaryChannel {
        SecondaryChannel::from_number(self.info[0])
    }

    /// STA Channel Width: any supported width (set) or 20 MHz only.
    pub const fn any_width(self) -> bool {
        self.info[0] & 4 != 0
    }

    /// HT protection mode: 0 none, 1 non-member, 2 20 MHz, 3 non-HT mixed.
    pub const fn protection(self) -> u8 {
        self.info[1] & 3
    }

    /// Stations that cannot receive greenfield are associated.
    pub const fn nongreenfield_present(self) -> bool {
        self.info[1] & 4 != 0
    }

    /// Overlapping BSS with non-HT stations.
    pub const fn obss_non_ht_present(self) -> bool {
        self.info[1] & 0x10 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_one_stream_2_4_ghz_dongle() {
        // Info 0x016e: 40 MHz, SM power save disabled, SGI 20 and 40, RX STBC 1; A-MPDU 0x17: 64 KiB, 8 us; MCS 0-7.
        let mut data = [0; 26];
        data[..4].copy_from_slice(&[0x6e, 0x01, 0x17, 0xff]);
        data[15] = 0x01;
        let ht = HtCapabilities::read(&data).unwrap();
        assert!(
            ht.width_40() && ht.short_gi_20() && ht.short_gi_40() && !ht.greenfield() && !ht.ldpc() && !ht.tx_stbc()
        );
        assert_eq!((ht.sm_power_save(), ht.rx_stbc_streams(), ht.max_amsdu_bytes()), (3, 1, 3839));
        assert_eq!(ht.max_ampdu_bytes(), 65535);
        assert_eq!((ht.rx_streams(), ht.tx_streams()), (1, Some(1)));
        assert_eq!(HtCapabilities::read(&data[..25]), None);
    }

    #[test]
    fn a_tx_set_that_differs_counts_its_own_streams() {
        let mut ht = HtCapabilities::default();
        ht.mcs_set[..2].copy_from_slice(&[0xff, 0xff]);
        assert_eq!((ht.rx_streams(), ht.tx_streams()), (2, None));
        ht.mcs_set[12] = 0x03;
        assert_eq!(ht.tx_streams(), Some(1));
    }

    #[test]
    fn operation_bits() {
        let mut data = [0; 22];
        data[..3].copy_from_slice(&[6, 0x07, 0x17]);
        let operation = HtOperation::read(&data).unwrap();
        assert_eq!((operation.primary_channel, operation.protection()), (6, 3));
        assert_eq!(operation.secondary_channel(), SecondaryChannel::Below);
        assert!(operation.any_width() && operation.nongreenfield_present() && operation.obss_non_ht_present());
    }
}
