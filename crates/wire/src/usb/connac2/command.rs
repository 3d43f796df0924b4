//! Commands to the firmware, and its events.

use super::{kind, word, COMMAND_DESCRIPTOR, EVENT_HEADER, RX_DESCRIPTOR};

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
        let [_, _, low, high, first, mark, query, sequence, _, extended, _, option] =
            *descriptor.first_chunk::<12>()?;
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
        Some(Self {
            id: CommandId::Unified(number),
            sequence,
            acknowledge: option & 1 == 1,
            query: option & 4 == 0,
            body,
        })
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
        for (slot, byte) in
            packet.iter_mut().zip(first.to_le_bytes().into_iter().chain((1u32 << 31 | 1 << 16).to_le_bytes()))
        {
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
