//! What a virtual SD host controller in the kernel and the process that is its card send each other
//! (`python/txop/guest_image/virtual_mmc_host/virtual_mmc_host.c`). Little endian.

use crate::usb::ushc::StatusBlock;

/// The host's lines and clock, and how often it has switched power on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BusSettings {
    /// Lines of the data bus.
    pub lines: u8,
    /// High speed is set.
    pub high_speed: bool,
    /// How often the card got power, modulo 256.
    pub power_ups: u8,
    /// The clock.
    pub clock_hz: u32,
}

/// A command for the card. The data that it writes follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlotCommand {
    /// Number by which the answer names it.
    pub sequence: u32,
    /// Number of the command.
    pub number: u8,
    /// Its argument.
    pub argument: u32,
    /// Bytes of a block of its data; 0: it has none.
    pub block_bytes: u16,
    /// Bytes that follow.
    pub len: u32,
    /// The bus at that time.
    pub bus: BusSettings,
}

impl SlotCommand {
    /// Bytes in front of the data.
    pub const LEN: usize = 24;

    /// From a message: the command, and the data that it writes. `None`: it is cut, or has more than it says.
    pub fn parse(message: &[u8]) -> Option<(Self, &[u8])> {
        let (head, data) = message.split_first_chunk::<{ Self::LEN }>()?;
        let [s0, s1, s2, s3, number, lines, fast, power_ups, a0, a1, a2, a3, c0, c1, c2, c3, b0, b1, _, _, l0, l1, l2, l3] =
            *head;
        let command = Self {
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            number,
            argument: u32::from_le_bytes([a0, a1, a2, a3]),
            block_bytes: u16::from_le_bytes([b0, b1]),
            len: u32::from_le_bytes([l0, l1, l2, l3]),
            bus: BusSettings {
                lines,
                high_speed: fast != 0,
                power_ups,
                clock_hz: u32::from_le_bytes([c0, c1, c2, c3]),
            },
        };
        (data.len() == command.len as usize).then_some((command, data))
    }

    /// The bytes in front of the data.
    pub fn emit(&self) -> Vec<u8> {
        let Self { sequence, number, argument, block_bytes, len, bus } = *self;
        let mut bytes = Vec::with_capacity(Self::LEN);
        bytes.extend(sequence.to_le_bytes());
        bytes.extend([number, bus.lines, u8::from(bus.high_speed), bus.power_ups]);
        bytes.extend(argument.to_le_bytes());
        bytes.extend(bus.clock_hz.to_le_bytes());
        bytes.extend(block_bytes.to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(len.to_le_bytes());
        bytes
    }
}

/// What the card sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotMessage<'a> {
    /// Its interrupt line has changed.
    Line,
    /// A command was carried out.
    Answer {
        /// The command's sequence number.
        sequence: u32,
        /// How it went.
        status: StatusBlock,
        /// What it has read.
        data: &'a [u8],
    },
}

impl SlotMessage<'_> {
    /// Bytes in front of the data.
    pub const LEN: usize = 16;

    /// The message, with the state of the interrupt line.
    pub fn emit(&self, line: bool) -> Vec<u8> {
        let (sequence, flags, status, data) = match *self {
            Self::Line => (0, 0, StatusBlock::default(), &[][..]),
            Self::Answer { sequence, status, data } => (sequence, 1, status, data),
        };
        let mut bytes = Vec::with_capacity(Self::LEN + data.len());
        bytes.extend(sequence.to_le_bytes());
        bytes.extend([flags | u8::from(line) << 1, status.status, 0, 0]);
        bytes.extend(status.response.to_le_bytes());
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend_from_slice(data);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn commands_come_back(
            (sequence, number, argument) in any::<(u32, u8, u32)>(),
            (lines, high_speed, power_ups, clock_hz) in any::<(u8, bool, u8, u32)>(),
            block_bytes in any::<u16>(),
            data in any::<Vec<u8>>(),
        ) {
            let bus = BusSettings { lines, high_speed, power_ups, clock_hz };
            let command = SlotCommand { sequence, number, argument, block_bytes, len: data.len() as u32, bus };
            let mut message = command.emit();
            message.extend_from_slice(&data);
            prop_assert_eq!(SlotCommand::parse(&message), Some((command, &data[..])));
            message.push(0);
            prop_assert_eq!(SlotCommand::parse(&message), None);
        }

        #[test]
        fn other_bytes_are_no_command(bytes: Vec<u8>) {
            prop_assert!(SlotCommand::parse(&bytes).is_none_or(|(command, data)| command.len as usize == data.len()));
        }
    }

    #[test]
    fn messages_have_the_places_that_the_module_reads() {
        assert_eq!(SlotMessage::Line.emit(true), [[0, 0, 0, 0, 2, 0, 0, 0], [0; 8]].concat());
        let status = StatusBlock { status: 9, response: 0x1234_5678 };
        let answer = SlotMessage::Answer { sequence: 7, status, data: &[1, 2, 3] };
        let bytes = [&[7, 0, 0, 0, 1, 9, 0, 0][..], &[0x78, 0x56, 0x34, 0x12], &[3, 0, 0, 0], &[1, 2, 3]].concat();
        assert_eq!(answer.emit(false), bytes);
    }
}
