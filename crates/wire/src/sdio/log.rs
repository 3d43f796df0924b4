//! Records of a command log: what went over an SDIO bus, a record per command and per change of the interrupt line. In a capture
//! file they have [`crate::linktype::LinkType::SDIO_LOG`]. Little endian; the layout is stated in docs/virtual-sdio.md.

use super::{u16_at, u32_at};

/// How each record begins: the link type is one of those for private use.
pub const MAGIC: [u8; 4] = *b"SDIO";
/// Version of the layout.
pub const VERSION: u8 = 1;
/// Bytes in front of the data of a command.
pub const HEADER: usize = 32;
/// `took_ns` where it is not known or longer.
pub const TOOK_UNKNOWN: u32 = u32::MAX;

const COMMAND: u8 = 1;
const LINE: u8 = 2;

/// The card has answered: the response is valid.
const ANSWERED: u8 = 0x01;
/// The host has fetched the status of the command.
const FETCHED: u8 = 0x02;
/// `took_ns` has the time that the command takes on the wires, as modelled.
const BUS_TIME: u8 = 0x04;
/// The host has seen a wrong CRC.
const WRONG_CRC: u8 = 0x08;

/// The header of a command's record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LoggedCommand {
    /// Number of the command, 0 to 63.
    pub number: u8,
    /// Its argument.
    pub argument: u32,
    /// The 32 bits of the card's response; `None`: it did not answer.
    pub response: Option<u32>,
    /// Whether the host has fetched what happened to the command.
    pub fetched: bool,
    /// Whether the controller let it take its time on the wires.
    pub bus_time: bool,
    /// The host has seen a wrong CRC: of the data, or where there is no response of that.
    pub wrong_crc: bool,
    /// From the command to the time of its record, ns; [`TOOK_UNKNOWN`].
    pub took_ns: u32,
    /// The bus clock that the host has set, Hz; 0: none yet.
    pub clock_hz: u32,
    /// Lines of the data bus that the host has set, 1 or 4; 0: none yet.
    pub bus_width: u8,
    /// Bytes of a block, as the host gave them with the command; 0: it has no data.
    pub block_bytes: u16,
    /// Bytes of data that went with it, in either direction. They follow the header.
    pub data_len: u32,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A command, at the time when the host had its status.
    Command(LoggedCommand),
    /// The interrupt line of the card is up or down from now on.
    Line(bool),
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRecord {
    /// Shorter than the header.
    Short(usize),
    /// Another user of the link type.
    Magic,
    /// A layout of another version.
    Version(u8),
    /// Neither a command nor a change of the line, or a level that a line cannot have.
    Kind(u8),
}

impl core::fmt::Display for NoRecord {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Short(len) => write!(f, "{len} bytes are shorter than the {HEADER} of a header"),
            Self::Magic => f.write_str("it does not begin with \"SDIO\": another user of this link type wrote it"),
            Self::Version(version) => write!(f, "layout version {version}; {VERSION} is known"),
            Self::Kind(kind) => write!(f, "kind {kind} of record is not known"),
        }
    }
}

impl Record {
    /// From a record of a capture file: the header, and as many of the data as are in it.
    ///
    /// # Errors
    /// See [`NoRecord`].
    pub fn parse(record: &[u8]) -> Result<(Self, &[u8]), NoRecord> {
        let short = NoRecord::Short(record.len());
        let (header, data) = record.split_first_chunk::<HEADER>().ok_or(short)?;
        let &[m0, m1, m2, m3, version, kind, number, flags, ..] = header;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(NoRecord::Magic);
        }
        if version != VERSION {
            return Err(NoRecord::Version(version));
        }
        let word = |at| u32_at(header, at).unwrap_or(0);
        match (kind, number) {
            (COMMAND, 0..=63) => {
                let command = LoggedCommand {
                    number,
                    argument: word(8),
                    response: (flags & ANSWERED != 0).then(|| word(12)),
                    fetched: flags & FETCHED != 0,
                    bus_time: flags & BUS_TIME != 0,
                    wrong_crc: flags & WRONG_CRC != 0,
                    took_ns: word(16),
                    clock_hz: word(20),
                    bus_width: header[24],
                    block_bytes: u16_at(header, 26).unwrap_or(0),
                    data_len: word(28),
                };
                Ok((Self::Command(command), data))
            }
            (LINE, 0 | 1) => Ok((Self::Line(number == 1), &[])),
            _ => Err(NoRecord::Kind(kind)),
        }
    }

    /// The header; the data of a command are to follow.
    pub fn emit(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4] = VERSION;
        match self {
            Self::Command(command) => {
                header[5..7].copy_from_slice(&[COMMAND, command.number]);
                let flags = [
                    (command.response.is_some(), ANSWERED),
                    (command.fetched, FETCHED),
                    (command.bus_time, BUS_TIME),
                    (command.wrong_crc, WRONG_CRC),
                ];
                header[7] = flags.into_iter().filter(|(is_so, _)| *is_so).fold(0, |all, (_, flag)| all | flag);
                header[8..12].copy_from_slice(&command.argument.to_le_bytes());
                header[12..16].copy_from_slice(&command.response.unwrap_or(0).to_le_bytes());
                header[16..20].copy_from_slice(&command.took_ns.to_le_bytes());
                header[20..24].copy_from_slice(&command.clock_hz.to_le_bytes());
                header[24] = command.bus_width;
                header[26..28].copy_from_slice(&command.block_bytes.to_le_bytes());
                header[28..].copy_from_slice(&command.data_len.to_le_bytes());
            }
            Self::Line(level) => header[5..7].copy_from_slice(&[LINE, u8::from(*level)]),
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_is_laid_out_as_the_documentation_says() {
        let command = LoggedCommand {
            number: 52,
            argument: 0x8000_0c08,
            response: Some(0x1008),
            fetched: true,
            bus_time: true,
            wrong_crc: false,
            took_ns: 0x0102_0304,
            clock_hz: 50_000_000,
            bus_width: 4,
            block_bytes: 0x0080,
            data_len: 0,
        };
        let bytes = Record::Command(command).emit();
        assert_eq!(&bytes[..16], b"SDIO\x01\x01\x34\x07\x08\x0c\x00\x80\x08\x10\x00\x00");
        assert_eq!(&bytes[16..], b"\x04\x03\x02\x01\x80\xf0\xfa\x02\x04\x00\x80\x00\x00\x00\x00\x00");
        assert_eq!(&Record::Line(true).emit()[..8], b"SDIO\x01\x02\x01\x00");
    }

    #[test]
    fn other_bytes_are_named() {
        let line = Record::Line(false).emit();
        let with = |at: usize, value: u8| {
            let mut bytes = line;
            bytes[at] = value;
            Record::parse(&bytes).map(|_| ())
        };
        assert_eq!(with(0, b'X'), Err(NoRecord::Magic));
        assert_eq!(with(4, 9), Err(NoRecord::Version(9)));
        assert_eq!(with(5, 7), Err(NoRecord::Kind(7)));
        assert_eq!(with(6, 2), Err(NoRecord::Kind(2)));
        assert_eq!(Record::parse(&line[..31]), Err(NoRecord::Short(31)));
    }

    proptest! {
        #[test]
        fn commands_come_back(
            number in 0u8..64, argument: u32, response: Option<u32>, fetched: bool, bus_time: bool, wrong_crc: bool, took_ns: u32, clock_hz: u32,
            bus_width: u8, block_bytes: u16, data: Vec<u8>,
        ) {
            let data_len = data.len() as u32;
            let command = LoggedCommand {
                number, argument, response, fetched, bus_time, wrong_crc, took_ns, clock_hz, bus_width, block_bytes, data_len,
            };
            let mut bytes = Record::Command(command).emit().to_vec();
            bytes.extend(&data);
            prop_assert_eq!(Record::parse(&bytes), Ok((Record::Command(command), &data[..])));
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let _ = Record::parse(&bytes);
        }
    }
}
