//! Packets as MediaTek's second generation of "connac" chips (MT7921) puts them on USB. Little endian. The fields are those of
//! Linux drivers/net/wireless/mediatek/mt76: mt76_connac2_mac.h (MT_TXD*, MT_TXS*, MT_RXD*, MT_PRXV_*), mt76_connac_mcu.h
//! (struct mt76_connac2_mcu_txd, mt76_connac2_mcu_uni_txd and mt76_connac2_mcu_rxd), mt792x.h (mt792x_skb_add_usb_sdio_hdr).
//!
//! Towards the device: a header of 4 bytes with the length of what follows it; a descriptor of 64 bytes and a frame, a command, or
//! a part of the firmware; padding. Towards the host: one packet in each transfer, which begins with its length and its kind.

/// Bytes in front of each packet towards the device.
pub const USB_HEADER: usize = 4;
/// Bytes of the descriptor of a frame (mt76_connac.h, MT_SDIO_TXD_SIZE).
pub const TX_DESCRIPTOR: usize = 64;
/// Bytes of the descriptor of a command.
pub const COMMAND_DESCRIPTOR: usize = 32;
/// Bytes of a receive descriptor without its groups.
pub const RX_DESCRIPTOR: usize = 24;
/// Bytes in front of what an event says.
pub const EVENT_HEADER: usize = 36;
/// The station that a received frame has when its sender is none that the chip knows: beyond every table of the driver.
pub const UNKNOWN_STATION: u16 = 0x3ff;

/// Kinds of packets towards the host (mt76_connac.h, enum rx_pkt_type).
pub mod kind {
    /// What happened to frames.
    pub const TX_STATUS: u8 = 0;
    /// A received frame.
    pub const FRAME: u8 = 2;
    /// An event of the firmware.
    pub const EVENT: u8 = 7;
}

/// Numbers of modulations (mt76.h, MT_PHY_TYPE_*).
pub mod phy {
    /// DSSS and CCK.
    pub const CCK: u8 = 0;
    /// OFDM.
    pub const OFDM: u8 = 1;
    /// HT with a mixed preamble.
    pub const HT: u8 = 2;
    /// VHT.
    pub const VHT: u8 = 4;
    /// HE, single user.
    pub const HE_SU: u8 = 8;
}

/// Errors of a transmit status (MT_TXS0_ACK_TIMEOUT): no ACK.
const ACK_TIMEOUT: u32 = 1 << 16;

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(4 * at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The packet of a transfer to the device: what follows the header, without padding. `None`: there is less than the header says.
pub fn packet(transfer: &[u8]) -> Option<&[u8]> {
    let [low, high, _, _] = transfer.first_chunk::<USB_HEADER>()?;
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    transfer.get(USB_HEADER..USB_HEADER + len)
}

/// A transfer with a packet, as drivers make it: padded to 4 bytes, and 4 more.
pub fn transfer(packet: &[u8]) -> Vec<u8> {
    let mut bytes = (packet.len() as u32 & 0xffff).to_le_bytes().to_vec();
    bytes.extend_from_slice(packet);
    bytes.resize(bytes.len().next_multiple_of(4) + 4, 0);
    bytes
}

/// How a rate is numbered: modulation, index and streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RateNumber {
    /// One of [`phy`].
    pub phy: u8,
    /// MCS, or the number of a legacy rate.
    pub index: u8,
    /// Streams, from 1 on.
    pub streams: u8,
}

impl RateNumber {
    /// The 14 bits of descriptors and statuses (MT_TX_RATE_*).
    pub const fn bits(self) -> u32 {
        self.index as u32 & 0x3f | (self.phy as u32 & 0xf) << 6 | (self.streams.saturating_sub(1) as u32 & 7) << 10
    }

    /// The rate of 14 bits.
    pub const fn of_bits(bits: u32) -> Self {
        Self { phy: (bits >> 6 & 0xf) as u8, index: (bits & 0x3f) as u8, streams: (bits >> 10 & 7) as u8 + 1 }
    }
}

/// How the frame behind a descriptor begins (enum tx_header_format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFormat {
    /// Ethernet: the chip makes the 802.11 header.
    Ethernet,
    /// A command to the firmware.
    Command,
    /// 802.11.
    Ieee80211,
}

/// What a driver asks for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TxDescriptor {
    words: [u32; TX_DESCRIPTOR / 4],
}

impl TxDescriptor {
    /// Reads the descriptor at the start of a packet; `None`: there are too few bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<TX_DESCRIPTOR>()?;
        let mut words = [0; TX_DESCRIPTOR / 4];
        for (at, slot) in words.iter_mut().enumerate() {
            *slot = word(bytes, at);
        }
        Some(Self { words })
    }

    /// That of a frame of `len` bytes in a queue, to a station.
    pub fn new(len: u16, queue: u8, station: u16) -> Self {
        let bytes = u32::from(len) + TX_DESCRIPTOR as u32;
        Self::default()
            .with(0, 0, bytes & 0xffff)
            .with(0, 23, 1)
            .with(0, 25, queue.into())
            .with(1, 0, station.into())
            .with(1, 16, 2)
            .with(1, 31, 1)
            .with(3, 11, 15)
    }

    /// Puts the bits of `value` into a word from bit `shift` on, beside those that are there.
    #[must_use]
    pub fn with(mut self, word: usize, shift: u32, value: u32) -> Self {
        if let Some(word) = self.words.get_mut(word) {
            *word |= value << shift;
        }
        self
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; TX_DESCRIPTOR] {
        let mut bytes = [0; TX_DESCRIPTOR];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn field(&self, word: usize, shift: u32, width: u32) -> u32 {
        self.words.get(word).copied().unwrap_or(0) >> shift & ((1 << width) - 1)
    }

    fn bit(&self, word: usize, bit: u32) -> bool {
        self.field(word, bit, 1) == 1
    }

    /// Queue: four of access categories for each of four sets, BK, BE, VI, VO; from 16 on others (MT_LMAC_ALTX0).
    pub fn queue(&self) -> u8 {
        self.field(0, 25, 7) as u8
    }

    /// How what follows begins.
    pub fn format(&self) -> HeaderFormat {
        match self.field(1, 16, 2) {
            0 => HeaderFormat::Ethernet,
            1 => HeaderFormat::Command,
            _ => HeaderFormat::Ieee80211,
        }
    }

    /// Its receiver, by number.
    pub fn station(&self) -> u16 {
        self.field(1, 0, 10) as u16
    }

    /// Which of the chip's addresses sends it.
    pub fn own_address(&self) -> u8 {
        self.field(1, 24, 6) as u8
    }

    /// User priority.
    pub fn tid(&self) -> u8 {
        self.field(1, 20, 3) as u8
    }

    /// Of an Ethernet frame: it has an EtherType.
    pub fn has_ethertype(&self) -> bool {
        self.bit(1, 15)
    }

    /// Of an Ethernet frame: it becomes QoS data.
    pub fn is_qos(&self) -> bool {
        self.field(2, 0, 4) == 8
    }

    /// It has the rate of the descriptor.
    pub fn fixed_rate(&self) -> Option<RateNumber> {
        self.bit(2, 31).then(|| RateNumber::of_bits(self.field(6, 16, 14)))
    }

    /// Times that it is sent at most.
    pub fn attempts(&self) -> u8 {
        self.field(3, 11, 5) as u8
    }

    /// It may not be part of an A-MPDU.
    pub fn alone(&self) -> bool {
        self.bit(3, 28)
    }

    /// The chip encrypts it.
    pub fn protect(&self) -> bool {
        self.bit(3, 1)
    }

    /// No answer is waited for.
    pub fn no_ack(&self) -> bool {
        self.bit(3, 0)
    }

    /// The driver has numbered it.
    pub fn sequence(&self) -> Option<u16> {
        self.bit(3, 31).then(|| self.field(3, 16, 12) as u16)
    }

    /// A request for a Block Ack agreement: the chip, which numbers frames, puts in where it starts.
    pub fn starts_block_ack(&self) -> bool {
        self.bit(5, 14)
    }

    /// The driver's number of it, when the host is to know what happened to it.
    pub fn packet_id(&self) -> Option<u8> {
        self.bit(5, 10).then(|| self.field(5, 0, 8) as u8)
    }
}

/// What happened to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TxStatus {
    /// Its receiver, by number.
    pub station: u16,
    /// The driver's number of it.
    pub packet_id: u8,
    /// It was acknowledged, or needed no answer.
    pub arrived: bool,
    /// How it was sent last.
    pub rate: RateNumber,
    /// 0, 1, 2: 20, 40, 80 MHz.
    pub bandwidth: u8,
    /// Part of an A-MPDU.
    pub ampdu: bool,
    /// User priority.
    pub tid: u8,
    /// Its sequence number.
    pub sequence: u16,
    /// The clock of the network, us.
    pub tsf_us: u32,
}

impl TxStatus {
    /// Bytes of one.
    pub const LEN: usize = 32;

    /// A packet of statuses.
    pub fn emit(statuses: &[Self]) -> Vec<u8> {
        let len = 8 + Self::LEN * statuses.len();
        let mut words = vec![len as u32 & 0xffff | u32::from(kind::TX_STATUS) << 27, statuses.len() as u32];
        for status in statuses {
            let error = if status.arrived { 0 } else { ACK_TIMEOUT };
            words.extend([
                status.rate.bits()
                    | 1 << 15
                    | error
                    | u32::from(status.ampdu) << 25
                    | u32::from(status.tid & 7) << 26
                    | u32::from(status.bandwidth & 3) << 29,
                u32::from(status.sequence & 0xfff) << 20,
                u32::from(status.station & 0x3ff) << 16,
                u32::from(status.packet_id) << 24,
                status.tsf_us,
                0,
                0,
                0,
            ]);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The statuses of a packet.
    pub fn parse(packet: &[u8]) -> Vec<Self> {
        let Some(rest) = packet.get(8..) else { return Vec::new() };
        let status = |bytes: &[u8]| {
            let first = word(bytes, 0);
            Self {
                station: (word(bytes, 2) >> 16 & 0x3ff) as u16,
                packet_id: (word(bytes, 3) >> 24) as u8,
                arrived: first >> 16 & 7 == 0,
                rate: RateNumber::of_bits(first & 0x3fff),
                bandwidth: (first >> 29 & 3) as u8,
                ampdu: first >> 25 & 1 == 1,
                tid: (first >> 26 & 7) as u8,
                sequence: (word(bytes, 1) >> 20) as u16,
                tsf_us: word(bytes, 4),
            }
        };
        rest.chunks_exact(Self::LEN).map(status).collect()
    }
}

/// Which command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandId {
    /// One of the older kind: its number, and with [`CommandId::EXTENDED`] an extended number.
    Plain(u8, u8),
    /// A unified one.
    Unified(u16),
}

impl CommandId {
    /// The number of commands with an extended number (MCU_CMD_EXT_CID).
    pub const EXTENDED: u8 = 0xed;
}

/// A command to the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// Which it is.
    pub id: CommandId,
    /// Its number, which the answer repeats.
    pub sequence: u8,
    /// An answer is asked for (of a plain one: of an extended one).
    pub acknowledge: bool,
    /// A plain one that asks, instead of setting something.
    pub query: bool,
    /// What follows its descriptor.
    pub body: &'a [u8],
}

/// Where a plain command says for whom it is: the processor of the chip (MCU_PQ_ID).
const PLAIN: u16 = 0x8000;
/// What a command is marked with (MCU_PKT_ID).
const COMMAND_MARK: u8 = 0xa0;

impl<'a> Command<'a> {
    /// Reads a packet; `None`: it is none, or too short.
    pub fn parse(packet: &'a [u8]) -> Option<Self> {
        let descriptor = packet.get(COMMAND_DESCRIPTOR..)?;
        let [_, _, low, high, first, mark, query, sequence, _, extended, _, option] = *descriptor.first_chunk::<12>()?;
        let number = u16::from_le_bytes([low, high]);
        if mark != COMMAND_MARK {
            return None;
        }
        if number == PLAIN {
            let extended = if first == CommandId::EXTENDED { extended } else { 0 };
            return Some(Self {
                id: CommandId::Plain(first, extended),
                sequence,
                acknowledge: option != 0,
                query: query == 0,
                body: descriptor.get(32..)?,
            });
        }
        let body = descriptor.get(16..)?;
        Some(Self { id: CommandId::Unified(number), sequence, acknowledge: option & 1 == 1, query: option & 4 == 0, body })
    }

    /// The packet, as a driver makes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut packet = vec![0; COMMAND_DESCRIPTOR];
        match self.id {
            CommandId::Plain(number, extended) => {
                packet.extend([0, 0, 0, 0x80, number, COMMAND_MARK, u8::from(!self.query), self.sequence]);
                packet.extend([0, extended, 0, u8::from(self.acknowledge)]);
                packet.resize(packet.len() + 20, 0);
            }
            CommandId::Unified(number) => {
                let [low, high] = number.to_le_bytes();
                packet.extend([0, 0, low, high, 0, COMMAND_MARK, 0, self.sequence]);
                let option = 2 | u8::from(self.acknowledge) | u8::from(!self.query) << 2;
                packet.extend([0, 0, 0, option, 0, 0, 0, 0]);
            }
        }
        packet.extend_from_slice(self.body);
        let len = packet.len();
        let first = len as u32 & 0xffff | 2 << 23 | 0x20 << 25;
        for (slot, byte) in packet.iter_mut().zip(first.to_le_bytes().into_iter().chain((1u32 << 31 | 1 << 16).to_le_bytes())) {
            *slot = byte;
        }
        let own = ((len - COMMAND_DESCRIPTOR) as u16).to_le_bytes();
        for (slot, byte) in packet.iter_mut().skip(COMMAND_DESCRIPTOR).zip(own) {
            *slot = byte;
        }
        packet
    }
}

/// What an event of the firmware begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EventHeader {
    /// Which it is.
    pub id: u8,
    /// Its extended number, or 0.
    pub extended: u8,
    /// The number of the command that it answers; 0: of none.
    pub sequence: u8,
    /// A unified one that answers no command (MCU_UNI_CMD_UNSOLICITED_EVENT).
    pub unsolicited: bool,
}

impl EventHeader {
    /// The packet with what it says.
    pub fn emit(&self, body: &[u8]) -> Vec<u8> {
        let len = EVENT_HEADER + body.len();
        let mut packet = Vec::with_capacity(len);
        packet.extend((len as u32 & 0xffff | u32::from(kind::EVENT) << 27).to_le_bytes());
        packet.resize(RX_DESCRIPTOR, 0);
        packet.extend(((len - RX_DESCRIPTOR) as u16).to_le_bytes());
        let option = u8::from(self.unsolicited) << 2;
        packet.extend([0, 0xe0, self.id, self.sequence, option, 0, self.extended, 0, 0, 0]);
        packet.extend_from_slice(body);
        packet
    }

    /// Reads a packet, and what follows the header; `None`: it is no event.
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        if (word(packet, 0) >> 27) as u8 != kind::EVENT {
            return None;
        }
        let [_, _, _, _, id, sequence, option, _, extended, ..] = *packet.get(RX_DESCRIPTOR..)?.first_chunk::<12>()?;
        let header = Self { id, extended, sequence, unsolicited: option & 4 != 0 };
        Some((header, packet.get(EVENT_HEADER..)?))
    }
}

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
    /// Its sender, or [`UNKNOWN_STATION`].
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
            u32::from(self.header_len / 2 & 0x1f) << 8
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate() -> impl Strategy<Value = RateNumber> {
        (0u8..16, 0u8..64, 1u8..9).prop_map(|(phy, index, streams)| RateNumber { phy, index, streams })
    }

    fn received() -> impl Strategy<Value = RxDescriptor> {
        let first = (0u16..1024, 0u8..14, 0u8..4, any::<Option<[u8; 6]>>(), any::<[bool; 5]>());
        let second = (any::<Option<(u16, [u8; 6], u16, u16)>>(), 5u8..16, 0u8..16, any::<u8>());
        let third = (0u8..4, any::<u32>(), rate(), 0u8..4, 0u8..4, [-110i8..17, -110i8..17]);
        (first, second, third).prop_map(|(first, (translated, half, tid, channel), third)| {
            let (station, cipher, key_id, packet_number, [integrity_error, michael_error, ampdu, fragment, ldpc]) = first;
            let (addressed, tsf_us, rate, bandwidth, guard, signal_dbm) = third;
            let addressed = [Addressed::Other, Addressed::Own, Addressed::Group, Addressed::All][usize::from(addressed)];
            let header_len = 2 * half;
            RxDescriptor {
                station, cipher, key_id, packet_number, integrity_error, michael_error, translated, header_len, ampdu,
                fragment, tid, channel, addressed, tsf_us, rate, bandwidth, guard, ldpc, signal_dbm,
            }
        })
    }

    proptest! {
        #[test]
        fn received_frames_are_read_back(descriptor in received(), frame: Vec<u8>) {
            let packet = descriptor.emit(&frame);
            let read = RxDescriptor::parse(&packet).unwrap();
            prop_assert_eq!(read, (descriptor, &frame[..]));
        }

        #[test]
        fn statuses_are_read_back(
            station in 0u16..1024, packet_id: u8, arrived: bool, rate in rate(), bandwidth in 0u8..4, ampdu: bool, tid in 0u8..8,
            sequence in 0u16..4096, tsf_us: u32, count in 0usize..4,
        ) {
            let status = TxStatus { station, packet_id, arrived, rate, bandwidth, ampdu, tid, sequence, tsf_us };
            let packet = TxStatus::emit(&vec![status; count]);
            prop_assert_eq!(usize::from(u16::from_le_bytes([packet[0], packet[1]])), packet.len());
            prop_assert_eq!(TxStatus::parse(&packet), vec![status; count]);
        }

        #[test]
        fn commands_and_events_are_read_back(
            number: u8, extended: u8, unified in 0u16..0x8000, plain: bool, sequence: u8, acknowledge: bool, query: bool, body: Vec<u8>,
        ) {
            let extended = if number == CommandId::EXTENDED { extended } else { 0 };
            let id = if plain { CommandId::Plain(number, extended) } else { CommandId::Unified(unified) };
            let command = Command { id, sequence, acknowledge, query, body: &body };
            let transfer = transfer(&command.emit());
            prop_assert_eq!(Command::parse(packet(&transfer).unwrap()), Some(command));
            let event = EventHeader { id: number, extended, sequence, unsolicited: query };
            let bytes = event.emit(&body);
            prop_assert_eq!(EventHeader::parse(&bytes), Some((event, &body[..])));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = (packet(&bytes), TxDescriptor::parse(&bytes), TxStatus::parse(&bytes));
            let _ = (Command::parse(&bytes), EventHeader::parse(&bytes), RxDescriptor::parse(&bytes));
        }
    }

    /// As mt76_connac2_mac_write_txwi writes them.
    #[test]
    fn fields_of_a_descriptor() {
        let rate = RateNumber { phy: phy::OFDM, index: 11, streams: 1 };
        let descriptor = TxDescriptor::new(100, 16, 19)
            .with(2, 31, 1)
            .with(6, 16, rate.bits())
            .with(3, 1, 1)
            .with(3, 28, 1)
            .with(5, 0, 7)
            .with(5, 10, 1)
            .with(1, 24, 1)
            .with(1, 20, 5);
        let read = TxDescriptor::parse(&descriptor.emit()).unwrap();
        assert_eq!((read.queue(), read.station(), read.own_address(), read.tid()), (16, 19, 1, 5));
        assert_eq!((read.fixed_rate(), read.packet_id(), read.attempts()), (Some(rate), Some(7), 15));
        assert_eq!((read.format(), read.protect(), read.alone(), read.no_ack()), (HeaderFormat::Ieee80211, true, true, false));
        assert_eq!((read.sequence(), read.starts_block_ack(), read.has_ethertype(), read.is_qos()), (None, false, false, false));
        assert_eq!(TxDescriptor::default().format(), HeaderFormat::Ethernet);
    }
}
