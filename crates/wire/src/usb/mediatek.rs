//! Frames, commands and firmware as the MT76x0 family puts them on USB (fields as in Linux' mt76: mt76x02_mac.h,
//! mt76x02_dma.h, mt76x02_usb_core.c, mt76x02_usb_mcu.c). Little endian.
//!
//! Towards the device: a word of information, a wireless descriptor of 20 bytes (TXWI), the 802.11 frame with its header
//! padded to a multiple of 4 bytes, and 4 to 7 bytes of padding. Towards the host: length, a wireless descriptor of 32
//! bytes (RXWI), the frame, padding and 4 bytes of information. Commands have the word of information only.

use crate::phy::{Bandwidth, Ht, Mode, Vht};

/// Bytes of the word before everything (mt76x02_dma.h, MT_DMA_HDR_LEN).
pub const INFO: usize = 4;
/// Bytes of the descriptor of a frame to be sent (mt76x02_mac.h, struct mt76x02_txwi).
pub const TXWI: usize = 20;
/// Bytes of the descriptor of a received frame (mt76x02_mac.h, struct mt76x02_rxwi).
pub const RXWI: usize = 32;
/// Bytes behind each received frame (mt76x02_dma.h, MT_FCE_INFO_LEN).
pub const RX_TRAILER: usize = 4;

/// Vendor requests (mt76.h, enum mt_vendor_req).
pub mod request {
    /// Mode of the device: resets and starts the MCU.
    pub const DEVICE_MODE: u8 = 0x01;
    /// Writes half a register: the index is its address, or two more for its upper half, the value are 16 bits for it.
    pub const WRITE: u8 = 0x02;
    /// Writes registers: bits 31:16 of the address in the value, 15:0 in the index, words as data.
    pub const MULTI_WRITE: u8 = 0x06;
    /// Reads registers.
    pub const MULTI_READ: u8 = 0x07;
    /// Reads the EEPROM that these devices do not have.
    pub const READ_EEPROM: u8 = 0x09;
    /// Writes a register of the front end's DMA: the index is the register, the value are 16 bits for it.
    pub const WRITE_FCE: u8 = 0x42;
    /// Writes registers of the configuration space.
    pub const WRITE_CFG: u8 = 0x46;
    /// Reads registers of the configuration space.
    pub const READ_CFG: u8 = 0x47;
}

/// Word of information before a frame or a command (mt76x02_dma.h, MT_TXD_INFO_*, MT_MCU_MSG_*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxInfo(pub u32);

impl TxInfo {
    /// Bytes that follow, padding to a multiple of 4 included, the last four not.
    pub const fn len(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// Nothing follows.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The frame has its CCMP or TKIP header in the descriptor's IV (MT_TXD_INFO_WIV).
    pub const fn with_iv(self) -> bool {
        self.0 >> 24 & 1 == 1
    }

    /// 0: management, 1: HCCA, 2: EDCA (MT_TXD_INFO_QSEL, enum mt76_qsel).
    pub const fn queue(self) -> u8 {
        (self.0 >> 25 & 3) as u8
    }

    /// Number of a command in a sequence; 0: no answer is waited for (MT_MCU_MSG_CMD_SEQ).
    pub const fn command_sequence(self) -> u8 {
        (self.0 >> 16 & 0x0f) as u8
    }

    /// Which command it is (MT_MCU_MSG_CMD_TYPE).
    pub const fn command(self) -> u8 {
        (self.0 >> 20 & 0x7f) as u8
    }

    /// The word that a transfer begins with, and the rest of it, as long as it says. `None`: it is shorter.
    pub fn split(transfer: &[u8]) -> Option<(Self, &[u8])> {
        let (info, rest) = transfer.split_first_chunk::<INFO>()?;
        let info = Self(u32::from_le_bytes(*info));
        Some((info, rest.get(..info.len())?))
    }
}

/// A rate (mt76x02_mac.h, MT_RXWI_RATE_*, MT_RATE_INDEX_VHT_*, enum mt76_phy_type and mt76_phy_bandwidth): index, width, guard
/// interval and format in 16 bits. The index of VHT has the MCS in bits 3:0 and the streams less one in 5:4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rate(pub u16);

const PHY_CCK: u16 = 0;
const PHY_OFDM: u16 = 1;
const PHY_HT: u16 = 2;
const PHY_HT_GREENFIELD: u16 = 3;
const PHY_VHT: u16 = 4;
const CCK: [u8; 4] = [2, 4, 11, 22];
const OFDM: [u8; 8] = [12, 18, 24, 36, 48, 72, 96, 108];

impl Rate {
    /// Index of the rate within its format (CCK: 8 more with the short preamble).
    pub const fn index(self) -> u8 {
        (self.0 & 0x3f) as u8
    }

    const fn format(self) -> u16 {
        self.0 >> 13
    }

    /// 802.11n, mixed or greenfield.
    pub const fn is_ht(self) -> bool {
        matches!(self.format(), PHY_HT | PHY_HT_GREENFIELD)
    }

    /// 802.11ac.
    pub const fn is_vht(self) -> bool {
        self.format() == PHY_VHT
    }

    /// OFDM without HT or VHT.
    pub const fn is_ofdm(self) -> bool {
        self.format() == PHY_OFDM
    }

    /// The same with another index.
    #[must_use]
    pub const fn with_index(self, index: u8) -> Self {
        Self(self.0 & !0x3f | (index & 0x3f) as u16)
    }

    /// 20, 40 or 80 MHz; `None`: a number that stands for none.
    pub const fn bandwidth(self) -> Option<Bandwidth> {
        match self.0 >> 7 & 3 {
            0 => Some(Bandwidth::Mhz20),
            1 => Some(Bandwidth::Mhz40),
            2 => Some(Bandwidth::Mhz80),
            _ => None,
        }
    }

    /// The same rate, narrowed to this width where it is wider.
    #[must_use]
    pub fn within(self, most: Bandwidth) -> Self {
        match self.bandwidth() {
            Some(bandwidth) if bandwidth <= most => self,
            _ => Self(self.0 & !(3 << 7) | width_bits(most)),
        }
    }

    const fn short_gi(self) -> bool {
        self.0 >> 9 & 1 == 1
    }

    const fn ldpc(self) -> bool {
        self.0 >> 6 & 1 == 1
    }

    /// How it is modulated; `None`: a rate that a device with one antenna has not (two streams, MCS 10).
    pub fn mode(self) -> Option<Mode> {
        let index = usize::from(self.index());
        match self.format() {
            PHY_CCK => {
                let (rate, short) = if index >= 8 { (index - 8, true) } else { (index, false) };
                let rate_500kbps = *CCK.get(rate)?;
                Some(Mode::Dsss { rate_500kbps, short_preamble: Some(short && rate_500kbps != 2) })
            }
            PHY_OFDM => {
                let rate_500kbps = *OFDM.get(index)?;
                Some(Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 })
            }
            PHY_HT | PHY_HT_GREENFIELD if index < 8 => Some(Mode::Ht(Ht {
                mcs: self.index(),
                bandwidth: self.bandwidth().filter(|&bandwidth| bandwidth != Bandwidth::Mhz80)?,
                short_gi: Some(self.short_gi()),
                greenfield: Some(self.format() == PHY_HT_GREENFIELD),
                ldpc: Some(self.ldpc()),
                stbc: Some((self.0 >> 10 & 1) as u8),
                ness: 0,
            })),
            PHY_VHT => {
                let mode = Mode::Vht(Vht {
                    mcs: self.index(),
                    nss: 1,
                    bandwidth: self.bandwidth()?,
                    short_gi: Some(self.short_gi()),
                    stbc: Some(self.0 >> 10 & 1 == 1),
                    ldpc: Some(self.ldpc()),
                    ldpc_extra_symbol: Some(self.0 >> 11 & 1 == 1),
                });
                // MCS 9 does not exist in 20 MHz with one stream (IEEE 802.11-2020, 21.5).
                mode.rate_kbps().filter(|_| index < 10).map(|_| mode)
            }
            _ => None,
        }
    }

    /// The rate of a mode; `None`: none that these devices know.
    pub fn of(mode: &Mode) -> Option<Self> {
        let position = |rates: &[u8], rate: u8| rates.iter().position(|&it| it == rate).map(|at| at as u16);
        Some(Self(match mode {
            Mode::Dsss { rate_500kbps, short_preamble } => {
                let short = *short_preamble == Some(true) && *rate_500kbps != 2;
                position(&CCK, *rate_500kbps)? + if short { 8 } else { 0 }
            }
            Mode::Ofdm { rate_500kbps, .. } => position(&OFDM, *rate_500kbps)? | PHY_OFDM << 13,
            Mode::Ht(ht) if ht.mcs < 32 => {
                let format = if ht.greenfield == Some(true) { PHY_HT_GREENFIELD } else { PHY_HT };
                u16::from(ht.mcs)
                    | u16::from(ht.ldpc == Some(true)) << 6
                    | width_bits(ht.bandwidth)
                    | u16::from(ht.short_gi == Some(true)) << 9
                    | u16::from(ht.stbc.unwrap_or(0) > 0) << 10
                    | format << 13
            }
            Mode::Vht(vht) if vht.mcs < 16 && (1..=4).contains(&vht.nss) => {
                u16::from(vht.mcs)
                    | u16::from(vht.nss - 1) << 4
                    | u16::from(vht.ldpc == Some(true)) << 6
                    | width_bits(vht.bandwidth)
                    | u16::from(vht.short_gi == Some(true)) << 9
                    | u16::from(vht.stbc == Some(true)) << 10
                    | u16::from(vht.ldpc_extra_symbol == Some(true)) << 11
                    | PHY_VHT << 13
            }
            _ => return None,
        }))
    }

    /// A rate as protection registers of an MT7601U have it: format in bits 15:14, CCK or OFDM only (mt7601u/regs.h,
    /// MT_PROT_RATE_*).
    pub fn of_mt7601u_protection(register: u16) -> Option<Mode> {
        let format = if register >> 14 == 1 { PHY_OFDM } else { PHY_CCK };
        Self(register & 0x3f | format << 13).mode()
    }
}

/// Bits 8:7 of a rate.
const fn width_bits(bandwidth: Bandwidth) -> u16 {
    match bandwidth {
        Bandwidth::Mhz40 => 1 << 7,
        Bandwidth::Mhz80 => 2 << 7,
        _ => 0,
    }
}

/// What a driver says of a frame to be sent (mt76x02_mac.h, struct mt76x02_txwi).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Txwi {
    /// The chip puts its timer into the frame (MT_TXWI_FLAGS_TS).
    pub timestamp: bool,
    /// The frame may be part of an A-MPDU (MT_TXWI_FLAGS_AMPDU).
    pub ampdu: bool,
    /// Its rate; that of the first try.
    pub rate: Rate,
    /// It is to be acknowledged (MT_TXWI_ACK_CTL_REQ).
    pub ack: bool,
    /// The chip numbers it (MT_TXWI_ACK_CTL_NSEQ).
    pub number: bool,
    /// Size of an A-MPDU less one, in MPDUs (MT_TXWI_ACK_CTL_BA_WINDOW).
    pub window: u8,
    /// Entry of the table of stations; 255: none.
    pub wcid: u8,
    /// Bytes of the frame, without padding.
    pub frame_len: usize,
    /// Header of the cipher, if the word of information says that it is here.
    pub iv: [u8; 8],
    /// What the report of transmission is to be marked with; 0: no report.
    pub packet_id: u8,
}

impl Txwi {
    /// Reads one, and what is behind it. `None`: too short.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (b, rest) = bytes.split_first_chunk::<TXWI>()?;
        let flags = u16::from_le_bytes([b[0], b[1]]);
        let mut iv = [0; 8];
        iv.copy_from_slice(&b[8..16]);
        let txwi = Self {
            timestamp: flags >> 3 & 1 == 1,
            ampdu: flags >> 4 & 1 == 1,
            rate: Rate(u16::from_le_bytes([b[2], b[3]])),
            ack: b[4] & 1 == 1,
            number: b[4] >> 1 & 1 == 1,
            window: b[4] >> 2,
            wcid: b[5],
            frame_len: usize::from(u16::from_le_bytes([b[6], b[7]]) & 0x0fff),
            iv,
            packet_id: b[19],
        };
        Some((txwi, rest))
    }

    /// Writes it.
    pub fn emit(&self) -> [u8; TXWI] {
        let mut b = [0; TXWI];
        let flags = u16::from(self.timestamp) << 3 | u16::from(self.ampdu) << 4;
        b[..2].copy_from_slice(&flags.to_le_bytes());
        b[2..4].copy_from_slice(&self.rate.0.to_le_bytes());
        b[4] = u8::from(self.ack) | u8::from(self.number) << 1 | self.window << 2;
        b[5] = self.wcid;
        b[6..8].copy_from_slice(&((self.frame_len & 0x0fff) as u16).to_le_bytes());
        b[8..16].copy_from_slice(&self.iv);
        b[19] = self.packet_id;
        b
    }
}

/// What a chip says of a received frame (mt76x02_mac.h, struct mt76x02_rxwi, MT_RXINFO_* and MT_RXWI_CTL_*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rxwi {
    /// Part of a Block Ack agreement.
    pub block_ack: bool,
    /// A data frame.
    pub data: bool,
    /// For one receiver.
    pub unicast: bool,
    /// For a multicast group.
    pub multicast: bool,
    /// For broadcast.
    pub broadcast: bool,
    /// From the own network.
    pub own_network: bool,
    /// There are two bytes behind the 802.11 header.
    pub padded: bool,
    /// It came in an A-MPDU.
    pub ampdu: bool,
    /// The chip decrypted it: its header is still there, its integrity code is not.
    pub decrypted: bool,
    /// Entry of the table of stations; 255: none.
    pub wcid: u8,
    /// Bytes of the frame as it follows, without padding.
    pub frame_len: usize,
    /// TID in bits 3:0, sequence number in bits 15:4.
    pub tid_sequence: u16,
    /// How it was modulated.
    pub rate: Rate,
    /// Signal strength.
    pub signal_dbm: i8,
}

/// Words of the cipher's header that a decrypted frame still has (MT_RXINFO_PN_LEN).
const CIPHER_HEADER_WORDS: u32 = 2;

impl Rxwi {
    /// Writes it.
    pub fn emit(&self) -> [u8; RXWI] {
        let bit = |set: bool, at: u32| u32::from(set) << at;
        let info = bit(self.block_ack, 0)
            | bit(self.data, 1)
            | bit(self.unicast, 4)
            | bit(self.multicast, 5)
            | bit(self.broadcast, 6)
            | bit(self.own_network, 7)
            | bit(true, 13)
            | bit(self.padded, 14)
            | bit(self.ampdu, 15)
            | bit(self.decrypted, 16)
            | if self.decrypted { CIPHER_HEADER_WORDS << 19 } else { 0 };
        let control = u32::from(self.wcid) | ((self.frame_len & 0x3fff) as u32) << 16;
        let mut b = [0; RXWI];
        b[..4].copy_from_slice(&info.to_le_bytes());
        b[4..8].copy_from_slice(&control.to_le_bytes());
        b[8..10].copy_from_slice(&self.tid_sequence.to_le_bytes());
        b[10..12].copy_from_slice(&self.rate.0.to_le_bytes());
        b[12] = self.signal_dbm as u8;
        b
    }

    /// Reads one, and what is behind it. `None`: too short.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (b, rest) = bytes.split_first_chunk::<RXWI>()?;
        let info = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let control = u32::from_le_bytes([b[4], b[5], b[6], b[7]]);
        let bit = |at: u32| info >> at & 1 == 1;
        let rxwi = Self {
            block_ack: bit(0),
            data: bit(1),
            unicast: bit(4),
            multicast: bit(5),
            broadcast: bit(6),
            own_network: bit(7),
            padded: bit(14),
            ampdu: bit(15),
            decrypted: bit(16),
            wcid: control as u8,
            frame_len: (control >> 16 & 0x3fff) as usize,
            tid_sequence: u16::from_le_bytes([b[8], b[9]]),
            rate: Rate(u16::from_le_bytes([b[10], b[11]])),
            signal_dbm: b[12] as i8,
        };
        Some((rxwi, rest))
    }
}

/// Puts a received frame into a transfer, behind its descriptor. `header` is the length of its 802.11 header, behind which it
/// is padded where that is not a multiple of 4.
pub fn emit_received(descriptor: &[u8], frame: &[u8], header: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let padding = if header % 4 == 0 { 0 } else { 2 };
    let len = (descriptor.len() + frame.len() + padding).next_multiple_of(4);
    out.extend((len as u16).to_le_bytes());
    out.extend([0; 2]);
    out.extend_from_slice(descriptor);
    let (head, body) = frame.split_at(header.min(frame.len()));
    out.extend_from_slice(head);
    out.resize(out.len() + padding, 0);
    out.extend_from_slice(body);
    out.resize(start + INFO + len + RX_TRAILER, 0);
}

/// The frame behind a descriptor that says it has `frame_len` bytes: without the padding behind its header, which drivers
/// put there when the header is not a multiple of 4 bytes (mt76.h, mt76_insert_hdr_pad). `None`: there are fewer.
pub fn unpadded(bytes: &[u8], frame_len: usize, header: usize) -> Option<Vec<u8>> {
    let padding = if header % 4 == 0 { 0 } else { 2 };
    let mut frame = bytes.get(..header.min(frame_len))?.to_vec();
    frame.extend_from_slice(bytes.get(header + padding..(frame_len + padding).max(header + padding))?);
    (frame.len() == frame_len).then_some(frame)
}

/// The answer to a command: a word with its sequence number, the answer, and 4 bytes (mt76x02_usb_mcu.c,
/// mt76x02u_mcu_wait_resp).
pub fn emit_answer(sequence: u8, answer: &[u8], out: &mut Vec<u8>) {
    let len = (answer.len() + RX_TRAILER) as u32;
    // Bits 31:30: it came from the MCU; bits 23:20: the kind of event, 0 is "command done".
    let word = len & 0x3fff | u32::from(sequence & 0x0f) << 16 | 1 << 30;
    out.extend(word.to_le_bytes());
    out.extend_from_slice(answer);
    out.resize(out.len() + RX_TRAILER, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A beacon's descriptor and a probe response's, by hand from mt76x02_mac_write_txwi.
    #[test]
    fn fields_are_where_the_driver_puts_them() {
        let mut bytes = [0; 24];
        bytes[0] = 1 << 3 | 1 << 4;
        (bytes[2], bytes[3]) = (7, 2 << 5 | 1 << 1);
        (bytes[4], bytes[5], bytes[6], bytes[19]) = (1 | 31 << 2, 3, 100, 0x85);
        let (txwi, rest) = Txwi::split(&bytes).unwrap();
        assert_eq!((txwi.timestamp, txwi.ampdu, txwi.ack, txwi.number, txwi.window), (true, true, true, false, 31));
        assert_eq!((txwi.wcid, txwi.frame_len, txwi.packet_id, rest.len()), (3, 100, 0x85, 4));
        assert_eq!(txwi.rate.mode().unwrap().rate_kbps(), Some(72_222));
        let info = TxInfo(0x0708_0000 | 128);
        assert_eq!((info.len(), info.with_iv(), info.queue()), (128, true, 3));
        let command = TxInfo(1 << 30 | 12 << 20 | 5 << 16 | 16);
        assert_eq!((command.command(), command.command_sequence()), (12, 5));
    }

    #[test]
    fn rates_by_hand() {
        let kbps = |rate: u16| Rate(rate).mode().and_then(|mode| mode.rate_kbps());
        assert_eq!([kbps(0), kbps(3), kbps(0x2000), kbps(0x2007)], [1_000, 11_000, 6_000, 54_000].map(Some));
        assert_eq!([kbps(0x4000), kbps(0x4007), kbps(0x4087)], [6_500, 65_000, 135_000].map(Some));
        assert_eq!([kbps(0x4008), kbps(4), kbps(0x2008), kbps(0x4107), kbps(0xa000)], [None; 5]);
        // VHT, IEEE 802.11-2020 tables 21-30, 21-38 and 21-46: MCS 8 in 20 MHz, 9 in 40 and 80 MHz, also with the short guard
        // interval.
        assert_eq!([kbps(0x8008), kbps(0x8089), kbps(0x8109)], [78_000, 180_000, 390_000].map(Some));
        assert_eq!([kbps(0x8000), kbps(0x8309), kbps(0x8100)], [6_500, 433_333, 29_250].map(Some));
        // MCS 9 in 20 MHz, MCS 10, two streams, 160 MHz.
        assert_eq!([kbps(0x8009), kbps(0x810a), kbps(0x8110), kbps(0x8180)], [None; 4]);
        assert_eq!(
            [Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80].map(|most| Rate(0x8309).within(most).0),
            [0x8209, 0x8289, 0x8309]
        );
        assert_eq!(Rate(0x8209).within(Bandwidth::Mhz80).0, 0x8209);
        let protection = |register| Rate::of_mt7601u_protection(register).and_then(|mode| mode.rate_kbps());
        assert_eq!([protection(0x4004), protection(0x0003), protection(0x4000)], [24_000, 11_000, 6_000].map(Some));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(timestamp: bool, ampdu: bool, rate: u16, ack: bool, number: bool, window in 0u8..64,
                                   wcid: u8, frame_len in 0usize..4_096, iv: [u8; 8], packet_id: u8) {
            let rate = Rate(rate);
            let txwi = Txwi { timestamp, ampdu, rate, ack, number, window, wcid, frame_len, iv, packet_id };
            let bytes = txwi.emit();
            prop_assert_eq!(Txwi::split(&bytes), Some((txwi, &[][..])));
        }

        #[test]
        fn what_was_received_is_read(bits: [bool; 9], wcid: u8, frame_len in 0usize..16_384, tid_sequence: u16, rate: u16,
                                     signal_dbm: i8) {
            let [block_ack, data, unicast, multicast, broadcast, own_network, padded, ampdu, decrypted] = bits;
            let rxwi = Rxwi {
                block_ack, data, unicast, multicast, broadcast, own_network, padded, ampdu, decrypted, wcid, frame_len,
                tid_sequence, rate: Rate(rate), signal_dbm,
            };
            let bytes = rxwi.emit();
            prop_assert_eq!(Rxwi::split(&bytes), Some((rxwi, &[][..])));
        }

        #[test]
        fn modes_come_back(rate: u16) {
            if let Some(mode) = Rate(rate).mode() {
                let again = Rate::of(&mode).unwrap().mode();
                prop_assert_eq!(again, Some(mode));
            }
        }

        /// A frame in a transfer towards the host is found again where the padding says, and ends at a multiple of 4.
        #[test]
        fn padding_goes_and_comes(frame in prop::collection::vec(any::<u8>(), 26..200), header in prop::sample::select(vec![24usize, 26])) {
            let padded = header % 4 != 0;
            let mut out = Vec::new();
            let rxwi = Rxwi { padded, frame_len: frame.len(), ..Rxwi::default() };
            emit_received(&rxwi.emit(), &frame, header, &mut out);
            let len = usize::from(u16::from_le_bytes([out[0], out[1]]));
            prop_assert!(len % 4 == 0 && out.len() == INFO + len + RX_TRAILER);
            prop_assert_eq!(unpadded(&out[INFO + RXWI..], frame.len(), header), Some(frame));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, frame_len in 0usize..5_000, header in 0usize..40) {
            if let Some((_, rest)) = TxInfo::split(&bytes) {
                let _ = Txwi::split(rest);
            }
            let _ = (Rxwi::split(&bytes), unpadded(&bytes, frame_len, header));
        }
    }
}
