//! What a driver asks for frames, and what happened to them.

use super::{kind, word, RateNumber, TX_DESCRIPTOR};

/// Errors of a transmit status (MT_TXS0_ACK_TIMEOUT): no ACK.
const ACK_TIMEOUT: u32 = 1 << 16;

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

    /// Whether an Ethernet frame has an EtherType.
    pub fn has_ethertype(&self) -> bool {
        self.bit(1, 15)
    }

    /// Whether an Ethernet frame becomes QoS data.
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
