//! MBIM control messages (USB CDC MBIM 1.0, 9), as USB carries them in encapsulated commands and responses. Little endian.
//!
//! A host opens the function, sends commands to services of the device, each named by a UUID, and closes it. A message goes
//! with SEND_ENCAPSULATED_COMMAND; the device announces an answer on the interrupt endpoint, and the host fetches it with
//! GET_ENCAPSULATED_RESPONSE. Layouts of commands are also in libmbim's `data/mbim-service-basic-connect.json`.
//!
//! | module | what |
//! | --- | --- |
//! | [`buffer`] | fields of an information buffer: numbers in order, and what offsets point to |
//! | [`basic_connect`] | commands of the service that sets connections up |

pub mod basic_connect;
pub mod buffer;

#[cfg(test)]
mod tests;

use super::Fault;
use crate::pcap::ByteOrder;

/// Bytes of the header that all messages have: type, length, transaction.
pub const HEADER: usize = 12;
/// Bytes behind it in messages that may come in fragments: their number, and which one this is.
const FRAGMENT: usize = 8;

/// A UUID, in the order of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// The service Basic Connect (10.1).
    pub const BASIC_CONNECT: Self =
        Self([0xa2, 0x89, 0xcc, 0x33, 0xbc, 0xbb, 0x8b, 0x4f, 0xb6, 0xb0, 0x13, 0x3e, 0xc2, 0xaa, 0xe6, 0xdf]);
    /// The context type Internet (10.5.12.1.3).
    pub const INTERNET: Self =
        Self([0x7e, 0x5e, 0x2a, 0x7e, 0x4e, 0x6f, 0x72, 0x72, 0x73, 0x6b, 0x65, 0x6e, 0x7e, 0x5e, 0x2a, 0x7e]);
}

/// What happened to a command (`MBIM_STATUS_CODES`, 9.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Status(pub u32);

impl Status {
    /// Carried out.
    pub const SUCCESS: Self = Self(0);
    /// It did not work.
    pub const FAILURE: Self = Self(2);
    /// The device does not know the command.
    pub const NO_DEVICE_SUPPORT: Self = Self(9);
    /// There is no packet service.
    pub const PACKET_SERVICE_DETACHED: Self = Self(12);
    /// No more connections are possible.
    pub const MAX_ACTIVATED_CONTEXTS: Self = Self(13);
    /// The session has no connection.
    pub const CONTEXT_NOT_ACTIVATED: Self = Self(16);
    /// The information buffer is malformed, or a value in it is out of its range.
    pub const INVALID_PARAMETERS: Self = Self(21);
}

/// Why a message was not taken (`MBIM_PROTOCOL_ERROR_CODES`, 9.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProtocolError(pub u32);

impl ProtocolError {
    /// A fragment came out of order.
    pub const FRAGMENT_OUT_OF_SEQUENCE: Self = Self(2);
    /// The message's length is not that of the transfer.
    pub const LENGTH_MISMATCH: Self = Self(3);
    /// The function is not open.
    pub const NOT_OPENED: Self = Self(5);
    /// The message is of an unknown type, or malformed.
    pub const UNKNOWN: Self = Self(6);
}

/// Whether a command reads or changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Reads.
    Query,
    /// Changes.
    Set,
}

/// A command: its service and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Command {
    /// The service.
    pub service: Uuid,
    /// The command (CID).
    pub number: u32,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Host: the function is to be opened; it sends at most this many bytes in a transfer.
    Open {
        /// MaxControlTransfer.
        max_transfer: u32,
    },
    /// Host: the function is to be closed.
    Close,
    /// Host: a command, or a fragment of it.
    Command {
        /// Number of fragments, and which one this is, from 0.
        fragment: (u32, u32),
        /// Which.
        command: Command,
        /// Reads or changes.
        operation: Operation,
        /// Its information buffer.
        buffer: &'a [u8],
    },
    /// Host: a message of the device was not taken.
    HostError(ProtocolError),
    /// Device: answer to [`Message::Open`].
    OpenDone(Status),
    /// Device: answer to [`Message::Close`].
    CloseDone(Status),
    /// Device: answer to a command.
    CommandDone {
        /// Number of fragments, and which one this is, from 0.
        fragment: (u32, u32),
        /// Which.
        command: Command,
        /// What happened to it.
        status: Status,
        /// Its information buffer.
        buffer: &'a [u8],
    },
    /// Device: a message of the host was not taken.
    FunctionError(ProtocolError),
    /// Device: something has changed.
    Indicate {
        /// Number of fragments, and which one this is, from 0.
        fragment: (u32, u32),
        /// What.
        command: Command,
        /// Its information buffer.
        buffer: &'a [u8],
    },
}

/// The number of fragments, and which one this is, of a message in one piece.
pub const WHOLE: (u32, u32) = (1, 0);

/// Numbers of the message types (9.3, 9.4); an answer has the number of its request and the highest bit.
mod types {
    pub(super) const OPEN: u32 = 1;
    pub(super) const CLOSE: u32 = 2;
    pub(super) const COMMAND: u32 = 3;
    pub(super) const ERROR: u32 = 4;
    pub(super) const INDICATE: u32 = 7;
    pub(super) const DEVICE: u32 = 0x8000_0000;
}

/// Where fields are read from: all of them behind the header.
struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Body<'a> {
    fn u32(&mut self) -> Result<u32, Fault> {
        let value = ByteOrder::Little.u32_at(self.bytes, self.at);
        let value = value.ok_or(Fault { offset: self.at, what: "the message ends within its fields" })?;
        self.at += 4;
        Ok(value)
    }

    fn command(&mut self) -> Result<Command, Fault> {
        let fault = Fault { offset: self.at, what: "the message ends within its service" };
        let service = Uuid(*self.bytes.get(self.at..).and_then(<[u8]>::first_chunk).ok_or(fault)?);
        self.at += service.0.len();
        Ok(Command { service, number: self.u32()? })
    }

    /// The information buffer, which its length precedes.
    fn buffer(&mut self) -> Result<&'a [u8], Fault> {
        let offset = self.at;
        let len = self.u32()? as usize;
        let fault = Fault { offset, what: "the information buffer goes past the end of the message" };
        let end = self.at.checked_add(len).ok_or(fault)?;
        self.bytes.get(self.at..end).ok_or(fault)
    }
}

/// The transaction of a message, whatever else it is.
pub fn transaction(bytes: &[u8]) -> Option<u32> {
    ByteOrder::Little.u32_at(bytes, 8)
}

impl<'a> Message<'a> {
    /// The message that is these bytes, with its transaction.
    ///
    /// # Errors
    /// A length that is not that of the bytes, an unknown type, or fields that are cut.
    pub fn parse(bytes: &'a [u8]) -> Result<(u32, Self), Fault> {
        let mut body = Body { bytes, at: 0 };
        let (kind, len, transaction) = (body.u32()?, body.u32()?, body.u32()?);
        if len as usize != bytes.len() {
            return Err(Fault { offset: 4, what: "MessageLength is not the length of the transfer" });
        }
        let mut fragment = || Ok::<_, Fault>((body.u32()?, body.u32()?));
        let message = match (kind & !types::DEVICE, kind & types::DEVICE != 0) {
            (types::OPEN, false) => Self::Open { max_transfer: body.u32()? },
            (types::CLOSE, false) => Self::Close,
            (types::COMMAND, false) => {
                let fragment = fragment()?;
                let command = body.command()?;
                let operation = match body.u32()? {
                    0 => Operation::Query,
                    1 => Operation::Set,
                    _ => return Err(Fault { offset: body.at - 4, what: "a command that is neither query nor set" }),
                };
                Self::Command { fragment, command, operation, buffer: body.buffer()? }
            }
            (types::ERROR, false) => Self::HostError(ProtocolError(body.u32()?)),
            (types::OPEN, true) => Self::OpenDone(Status(body.u32()?)),
            (types::CLOSE, true) => Self::CloseDone(Status(body.u32()?)),
            (types::COMMAND, true) => {
                let (fragment, command, status) = (fragment()?, body.command()?, Status(body.u32()?));
                Self::CommandDone { fragment, command, status, buffer: body.buffer()? }
            }
            (types::ERROR, true) => Self::FunctionError(ProtocolError(body.u32()?)),
            (types::INDICATE, true) => {
                let (fragment, command) = (fragment()?, body.command()?);
                Self::Indicate { fragment, command, buffer: body.buffer()? }
            }
            _ => return Err(Fault { offset: 0, what: "unknown type of message" }),
        };
        Ok((transaction, message))
    }

    /// Its bytes. Buffers longer than 4 GiB are cut.
    pub fn emit(&self, transaction: u32) -> Vec<u8> {
        let mut body = Vec::new();
        let number = |body: &mut Vec<u8>, value: u32| body.extend(value.to_le_bytes());
        let command = |body: &mut Vec<u8>, (total, current): (u32, u32), command: &Command| {
            number(body, total);
            number(body, current);
            body.extend(command.service.0);
            number(body, command.number);
        };
        let data = |body: &mut Vec<u8>, buffer: &[u8]| {
            number(body, u32::try_from(buffer.len()).unwrap_or(u32::MAX));
            body.extend(buffer.iter().take(u32::MAX as usize));
        };
        let kind = match self {
            Self::Open { max_transfer } => {
                number(&mut body, *max_transfer);
                types::OPEN
            }
            Self::Close => types::CLOSE,
            Self::Command { fragment, command: which, operation, buffer } => {
                command(&mut body, *fragment, which);
                number(&mut body, u32::from(*operation == Operation::Set));
                data(&mut body, buffer);
                types::COMMAND
            }
            Self::HostError(error) => {
                number(&mut body, error.0);
                types::ERROR
            }
            Self::OpenDone(status) => {
                number(&mut body, status.0);
                types::DEVICE | types::OPEN
            }
            Self::CloseDone(status) => {
                number(&mut body, status.0);
                types::DEVICE | types::CLOSE
            }
            Self::CommandDone { fragment, command: which, status, buffer } => {
                command(&mut body, *fragment, which);
                number(&mut body, status.0);
                data(&mut body, buffer);
                types::DEVICE | types::COMMAND
            }
            Self::FunctionError(error) => {
                number(&mut body, error.0);
                types::DEVICE | types::ERROR
            }
            Self::Indicate { fragment, command: which, buffer } => {
                command(&mut body, *fragment, which);
                data(&mut body, buffer);
                types::DEVICE | types::INDICATE
            }
        };
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        for value in [kind, u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX), transaction] {
            number(&mut bytes, value);
        }
        bytes.extend(body);
        bytes
    }

    /// Bytes of an answer to a command without those of its information buffer.
    pub const DONE_HEAD: usize = HEADER + FRAGMENT + 16 + 4 + 4 + 4;
}
