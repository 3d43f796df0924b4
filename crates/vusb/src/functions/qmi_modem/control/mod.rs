//! The control plane: QMI messages in, answers and indications out.
//!
//! It has the services that it takes to set a data path up, CTL, WDA, DMS, NAS and WDS, and answers at once. What it says of
//! the network is made up: there is none.

mod clients;
mod services;

use std::collections::VecDeque;

use wire::usb::qmi::qmux::{Header, Kind, Message};
use wire::usb::qmi::tlv::{Tlvs, Writer};
use wire::usb::qmi::{write_outcome, ErrorCode, Nothing, Outcome, Service};
use wire::usb::Fault;

use super::channels::Channels;
use super::format::DataFormat;
use super::format::Framing;
use super::settings::ModemSettings;
use super::statistics::ControlCounters;
use clients::Clients;

/// Messages that wait for the host at most; requests beyond are lost, and counted.
const OUTBOX_MAX: usize = 64;
/// RESPONSE_AVAILABLE of CDC 1.2, 6.3.2, and what it belongs to.
const RESPONSE_AVAILABLE: [u8; 4] = [0xa1, 0x01, 0, 0];

/// See the module.
#[derive(Debug)]
pub(super) struct Control {
    settings: ModemSettings,
    /// As DMS tells it.
    model: &'static str,
    interface: u8,
    needs_dtr: bool,
    /// The host says that it is there.
    listening: bool,
    outbox: VecDeque<Vec<u8>>,
    /// Messages in it that the host was not told of.
    unannounced: usize,
    clients: Clients,
    pub(super) format: DataFormat,
    pub(super) channels: Channels,
    counters: ControlCounters,
}

/// Why there is no good answer: the request is broken, or refused.
enum Refused {
    Malformed,
    Code(ErrorCode),
}

impl From<Fault> for Refused {
    fn from(_: Fault) -> Self {
        Self::Malformed
    }
}

impl From<ErrorCode> for Refused {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

type Answered = Result<Writer, Refused>;

impl Control {
    pub(super) fn new(settings: &ModemSettings, posing: &super::identities::Posing) -> Self {
        Self {
            format: DataFormat::at_power_on(settings.framing, settings.limit_to_host()),
            channels: Channels::at_power_on(settings),
            settings: settings.clone(),
            model: posing.model,
            interface: posing.interface,
            needs_dtr: posing.needs_dtr,
            listening: false,
            outbox: VecDeque::new(),
            unannounced: 0,
            clients: Clients::default(),
            counters: ControlCounters::default(),
        }
    }

    /// What it has counted.
    pub(super) const fn counters(&self) -> &ControlCounters {
        &self.counters
    }

    /// As after power came; counters stay.
    pub(super) fn restart(&mut self) {
        self.format = DataFormat::at_power_on(self.settings.framing, self.settings.limit_to_host());
        self.channels = Channels::at_power_on(&self.settings);
        self.listening = false;
        self.outbox.clear();
        self.unannounced = 0;
        self.clients = Clients::default();
    }

    /// Whether messages decide on the data path.
    fn is_negotiated(&self) -> bool {
        self.settings.framing == Framing::Negotiated
    }

    /// SET_CONTROL_LINE_STATE, whose lowest bit is DTR (PSTN 1.2, 6.3.12).
    pub(super) fn line_state(&mut self, value: u16) {
        self.listening = value & 1 != 0;
    }

    /// SEND_ENCAPSULATED_COMMAND.
    pub(super) fn command(&mut self, bytes: &[u8]) {
        if (self.needs_dtr && !self.listening) || self.outbox.len() >= OUTBOX_MAX {
            self.counters.not_taken += 1;
            return;
        }
        let message = match Message::parse(bytes, bytes.len()) {
            Ok(Some(message)) if message.header.kind == Kind::Request => message,
            _ => {
                self.counters.malformed += 1;
                return;
            }
        };
        self.counters.requests += 1;
        let fields = match self.answer(message.header, &message.tlvs) {
            Ok(fields) => fields,
            Err(refused) => {
                self.counters.refused += 1;
                let code = match refused {
                    Refused::Malformed => ErrorCode::MALFORMED_MESSAGE,
                    Refused::Code(code) => code,
                };
                write_outcome::<Nothing>(&Err(code))
            }
        };
        self.counters.answers += 1;
        // The answer goes first: what it brought about follows.
        let before = self.outbox.len();
        self.send(message.header.answer(), &fields);
        self.announce_changes(before);
    }

    fn send(&mut self, header: Header, fields: &Writer) {
        if let Some(bytes) = header.emit(fields).filter(|_| self.outbox.len() < OUTBOX_MAX) {
            self.outbox.push_back(bytes);
            self.unannounced += 1;
        }
    }

    /// GET_ENCAPSULATED_RESPONSE: the next message, or nothing.
    pub(super) fn response(&mut self) -> Vec<u8> {
        let message = self.outbox.pop_front().unwrap_or_default();
        // A host may fetch what it was not told of.
        self.unannounced = self.unannounced.min(self.outbox.len());
        message
    }

    /// The next notification that a message waits.
    pub(super) fn notification(&mut self) -> Option<[u8; 8]> {
        self.unannounced = self.unannounced.checked_sub(1)?;
        let [a, b, c, d] = RESPONSE_AVAILABLE;
        Some([a, b, c, d, self.interface, 0, 0, 0])
    }

    fn answer(&mut self, header: Header, tlvs: &Tlvs<'_>) -> Answered {
        tlvs.check()?;
        if header.service != Service::CTL && !self.clients.has(header.service, header.client) {
            return Err(ErrorCode::INVALID_CLIENT_ID.into());
        }
        match header.service {
            Service::CTL => self.ctl(header.message, tlvs),
            Service::DMS => self.dms(header.message),
            Service::NAS => Self::nas(header.message),
            Service::WDS => self.wds(header, tlvs),
            Service::WDA => self.wda(header.message, tlvs),
            _ => Err(ErrorCode::INVALID_SERVICE_TYPE.into()),
        }
    }
}

/// The answer to a request that succeeded.
fn done<F: wire::usb::qmi::Fields>(fields: F) -> Answered {
    let outcome: Outcome<F> = Ok(fields);
    Ok(write_outcome(&outcome))
}
