//! The control plane: MBIM messages in, answers out (MBIM 1.0, 9).
//!
//! It has the service that it takes to set a session up, Basic Connect, and answers at once. What it says of the network is
//! made up: there is none.

use std::collections::BTreeMap;

use wire::usb::mbim::{transaction, Command, Message, Operation, ProtocolError, Status, WHOLE};
use wire::usb::Fault;

use super::settings::Connect;
use super::statistics::MbimControlCounters;
use crate::descriptors::CONTROL_INTERFACE;
use crate::functions::channels::Channels;
use crate::functions::outbox::Outbox;
use crate::functions::BlockCounters;

/// A session that is connected.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Session {
    /// Its connection; none where it is there without messages.
    pub(super) handle: Option<u32>,
    /// IPType, as the host asked for it.
    pub(super) ip_type: u32,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Control {
    connect: Connect,
    outbox: Outbox,
    is_open: bool,
    pub(super) radio_is_on: bool,
    pub(super) is_attached: bool,
    pub(super) sessions: BTreeMap<u8, Session>,
    pub(super) channels: Channels,
    counters: MbimControlCounters,
}

/// Why a command is refused.
pub(super) struct Refused(pub(super) Status);

impl From<Fault> for Refused {
    fn from(_: Fault) -> Self {
        Self(Status::INVALID_PARAMETERS)
    }
}

impl From<Status> for Refused {
    fn from(status: Status) -> Self {
        Self(status)
    }
}

/// The information buffer of an answer, or why there is none.
pub(super) type Answered = Result<Vec<u8>, Refused>;

impl Control {
    pub(super) fn new(connect: Connect) -> Self {
        let mut control = Self {
            connect,
            outbox: Outbox::new(CONTROL_INTERFACE),
            is_open: false,
            radio_is_on: true,
            is_attached: true,
            sessions: BTreeMap::new(),
            channels: Channels::fixed(&[]),
            counters: MbimControlCounters::default(),
        };
        control.restart();
        control
    }

    /// What it has counted.
    pub(super) const fn counters(&self) -> &MbimControlCounters {
        &self.counters
    }

    /// As after power came; counters stay.
    pub(super) fn restart(&mut self) {
        self.outbox.clear();
        self.is_open = false;
        (self.radio_is_on, self.is_attached) = (true, true);
        self.sessions.clear();
        self.channels = Channels::fixed(&[]);
        if self.connect == Connect::Fixed {
            self.sessions.insert(0, Session { handle: None, ip_type: 0 });
            self.channels = Channels::fixed(&[0]);
        }
    }

    /// Ends the sessions that messages have begun.
    pub(super) fn disconnect_all(&mut self) {
        self.sessions.retain(|_, session| session.handle.is_none());
        self.channels.close_all();
    }

    /// SEND_ENCAPSULATED_COMMAND; `carried` is what went over the sessions so far.
    pub(super) fn command(&mut self, bytes: &[u8], carried: &BlockCounters) {
        if self.outbox.is_full() {
            self.counters.not_taken += 1;
            return;
        }
        self.counters.messages += 1;
        let (transaction, message) = match Message::parse(bytes) {
            Ok(parsed) => parsed,
            Err(fault) => {
                let mismatch = fault.offset == 4;
                let error = if mismatch { ProtocolError::LENGTH_MISMATCH } else { ProtocolError::UNKNOWN };
                self.error(transaction(bytes).unwrap_or(0), error);
                return;
            }
        };
        match message {
            // Whoever opens it again begins again (9.3.1).
            Message::Open { .. } => {
                self.disconnect_all();
                self.is_open = true;
                self.send(transaction, &Message::OpenDone(Status::SUCCESS));
            }
            Message::HostError(_) => {}
            Message::Close | Message::Command { .. } if !self.is_open => {
                self.error(transaction, ProtocolError::NOT_OPENED);
            }
            Message::Close => {
                self.disconnect_all();
                self.is_open = false;
                self.send(transaction, &Message::CloseDone(Status::SUCCESS));
            }
            Message::Command { fragment, command, operation, buffer } if fragment == WHOLE => {
                self.carry_out(transaction, command, operation, buffer, carried);
            }
            // Commands of this service fit into one transfer.
            Message::Command { .. } => self.error(transaction, ProtocolError::FRAGMENT_OUT_OF_SEQUENCE),
            _ => self.error(transaction, ProtocolError::UNKNOWN),
        }
    }

    fn carry_out(
        &mut self,
        transaction: u32,
        command: Command,
        operation: Operation,
        buffer: &[u8],
        carried: &BlockCounters,
    ) {
        let answer = self.basic_connect(command, operation, buffer, carried);
        let (status, buffer) = match answer {
            Ok(buffer) => (Status::SUCCESS, buffer),
            Err(Refused(status)) => {
                self.counters.refused += 1;
                (status, Vec::new())
            }
        };
        self.send(transaction, &Message::CommandDone { fragment: WHOLE, command, status, buffer: &buffer });
    }

    fn error(&mut self, transaction: u32, error: ProtocolError) {
        self.counters.errors += 1;
        self.outbox.push(Message::FunctionError(error).emit(transaction));
    }

    fn send(&mut self, transaction: u32, message: &Message<'_>) {
        self.counters.answers += 1;
        self.outbox.push(message.emit(transaction));
    }

    /// GET_ENCAPSULATED_RESPONSE: the next message, or nothing.
    pub(super) fn response(&mut self) -> Vec<u8> {
        self.outbox.response()
    }

    /// The next notification that a message waits.
    pub(super) fn notification(&mut self) -> Option<[u8; 8]> {
        self.outbox.notification()
    }
}

crate::state!(Control { outbox, is_open, radio_is_on, is_attached, sessions, channels, counters } made { connect });
