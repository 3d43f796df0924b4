//! How frames were received.

use super::{kind, word, RateNumber, RX_DESCRIPTOR};

/// To whom a received frame was sent (MT_RXD3_NORMAL_ADDR_TYPE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressed {
    /// To the chip.
    Own,
    /// To a group.
    Group,
    /// To all.
    #[default]
    All,
    /// To another station.
    Other,
}

/// How a frame was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxDescriptor {
    /// Its sender, or [`super::UNKNOWN_STATION`].
    pub station: u16,
    /// The cipher that the chip has removed (enum mt76_cipher_type); 0: none.
    pub cipher: u8,
    /// Number of its key.
    pub key_id: u8,
    /// Packet number of the cipher, where one was removed.
    pub packet_number: Option<[u8; 6]>,
    /// The integrity check of the cipher has failed.
    pub integrity_error: bool,
    /// The MIC of TKIP is wrong.
    pub michael_error: bool,
    /// The 802.11 header was made an Ethernet one: Frame Control, transmitter, sequence control and QoS control of it.
    pub translated: Option<(u16, [u8; 6], u16, u16)>,
    /// Bytes of the 802.11 header.
    pub header_len: u8,
    /// Part of an A-MPDU.
    pub ampdu: bool,
    /// A fragment.
    pub fragment: bool,
    /// User priority.
    pub tid: u8,
    /// Channel.
    pub channel: u8,
    /// To whom it was sent.
    pub addressed: Addressed,
    /// The clock of the network, us.
    pub tsf_us: u32,
    /// How it was modulated.
    pub rate: RateNumber,
    /// 0, 1, 2: 20, 40, 80 MHz.
    pub bandwidth: u8,
    /// Short guard interval of HT and VHT; of HE 0, 1, 2: 0.8, 1.6, 3.2 us.
    pub guard: u8,
    /// LDPC.
    pub ldpc: bool,
    /// Strength at two antennas, dBm.
    pub signal_dbm: [i8; 2],
}

/// Strength as the chip writes it (mt7921.h, to_rcpi).
fn rcpi(dbm: i8) -> u8 {
    (2 * i16::from(dbm) + 220).clamp(0, 255) as u8
}

impl RxDescriptor {
    /// The packet of this frame.
    pub fn emit(&self, frame: &[u8]) -> Vec<u8> {
        // Behind a header of 26 or 14 bytes data begin at a multiple of four: two bytes stand before it.
        let pad = frame_pad(if self.translated.is_some() { 14 } else { self.header_len.into() });
        let group_1 = self.packet_number.is_some();
        let group_4 = self.translated.is_some();
        let addressed = match self.addressed {
            Addressed::Other => 0,
            Addressed::Own => 1,
            Addressed::Group => 2,
            Addressed::All => 3,
        };
        let mut words = vec![
            0,
            u32::from(self.station & 0x3ff)
                | u32::from(group_1) << 11
                | 1 << 12
                | 1 << 13
                | u32::from(group_4) << 14
                | u32::from(self.cipher & 0x1f) << 16
                | u32::from(self.key_id & 3) << 21
                | u32::from(self.integrity_error) << 25
                | u32::from(self.michael_error) << 26,
            u32::from((self.header_len / 2) & 0x1f) << 8
                | u32::from(group_4) << 13
                | (pad as u32 / 2) << 14
                | u32::from(self.tid & 0xf) << 16
                | u32::from(self.fragment) << 27
                | u32::from(!self.ampdu) << 30,
            u32::from(self.channel) << 8 | addressed << 16,
            0,
            0,
        ];
        if let Some((frame_control, [a, b, c, d, e, f], sequence, qos)) = self.translated {
            words.extend([
                u32::from(frame_control) | u32::from(u16::from_le_bytes([a, b])) << 16,
                u32::from_le_bytes([c, d, e, f]),
                u32::from(sequence) | u32::from(qos) << 16,
                0,
            ]);
        }
        if let Some([a, b, c, d, e, f]) = self.packet_number {
            words.extend([u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, 0, 0]), 0, 0]);
        }
        words.extend([self.tsf_us, 0]);
        let [first, second] = self.signal_dbm.map(rcpi);
        words.push(
            u32::from(self.rate.index & 0x7f)
                | u32::from(self.rate.streams.saturating_sub(1) & 7) << 7
                | u32::from(self.ldpc) << 11
                | u32::from(self.bandwidth & 7) << 12
                | u32::from(self.guard & 3) << 15
                | u32::from(self.rate.phy & 0xf) << 24,
        );
        words.push(u32::from_le_bytes([first, second, 0, 0]));
        let len = 4 * words.len() + pad + frame.len();
        if let Some(slot) = words.first_mut() {
            *slot = len as u32 & 0xffff | u32::from(kind::FRAME) << 27;
        }
        let mut packet: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        packet.resize(packet.len() + pad, 0);
        packet.extend_from_slice(frame);
        packet
    }

    /// Reads a packet, and the frame in it; `None`: it is no frame, or cut.
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let first = word(packet, 0);
        if (first >> 27) as u8 != kind::FRAME {
            return None;
        }
        let packet = packet.get(..(first & 0xffff) as usize)?;
        let [second, third, fourth] = [1, 2, 3].map(|at| word(packet, at));
        let group = |number: u32| second >> (10 + number) & 1 == 1;
        let mut at = RX_DESCRIPTOR / 4;
        let mut take = |present: bool, words: usize| {
            let start = at;
            at += if present { words } else { 0 };
            present.then_some(start)
        };
        let (fourth_group, first_group) = (take(group(4), 4), take(group(1), 4));
        let (time, vector) = (take(group(2), 2), take(group(3), 2));
        let frame = packet.get(4 * at + 2 * (third >> 14 & 3) as usize..)?;
        let translated = fourth_group.filter(|_| third >> 13 & 1 == 1).map(|at| {
            let ([_, _, a, b], [c, d, e, f]) = (word(packet, at).to_le_bytes(), word(packet, at + 1).to_le_bytes());
            let third = word(packet, at + 2);
            (word(packet, at) as u16, [a, b, c, d, e, f], third as u16, (third >> 16) as u16)
        });
        let packet_number = first_group.map(|at| {
            let ([a, b, c, d], [e, f, ..]) = (word(packet, at).to_le_bytes(), word(packet, at + 1).to_le_bytes());
            [a, b, c, d, e, f]
        });
        let vector = vector.map_or((0, 0), |at| (word(packet, at), word(packet, at + 1)));
        let dbm = |rcpi: u8| ((i16::from(rcpi) - 220) / 2) as i8;
        let [one, two, ..] = vector.1.to_le_bytes();
        let descriptor = Self {
            station: (second & 0x3ff) as u16,
            cipher: (second >> 16 & 0x1f) as u8,
            key_id: (second >> 21 & 3) as u8,
            packet_number,
            integrity_error: second >> 25 & 1 == 1,
            michael_error: second >> 26 & 1 == 1,
            translated,
            header_len: (third >> 8 & 0x1f) as u8 * 2,
            ampdu: third >> 30 & 1 == 0,
            fragment: third >> 27 & 1 == 1,
            tid: (third >> 16 & 0xf) as u8,
            channel: (fourth >> 8) as u8,
            addressed: match fourth >> 16 & 3 {
                0 => Addressed::Other,
                1 => Addressed::Own,
                2 => Addressed::Group,
                _ => Addressed::All,
            },
            tsf_us: time.map_or(0, |at| word(packet, at)),
            rate: RateNumber {
                phy: (vector.0 >> 24 & 0xf) as u8,
                index: (vector.0 & 0x7f) as u8,
                streams: (vector.0 >> 7 & 7) as u8 + 1,
            },
            bandwidth: (vector.0 >> 12 & 7) as u8,
            guard: (vector.0 >> 15 & 3) as u8,
            ldpc: vector.0 >> 11 & 1 == 1,
            signal_dbm: [dbm(one), dbm(two)],
        };
        Some((descriptor, frame))
    }
}

const fn frame_pad(header: usize) -> usize {
    header.next_multiple_of(4) - header
}
