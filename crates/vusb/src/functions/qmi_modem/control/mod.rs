//! The control plane: QMI messages in, answers and indications out.
//!
//! It has the services that it takes to set a data path up, CTL, WDA, DMS, NAS and WDS, and answers at once. What it says of
//! the network is made up: there is none.

mod clients;
mod services;

use wire::usb::qmi::qmux::{Header, Kind, Message};
use wire::usb::qmi::tlv::{Tlvs, Writer};
use wire::usb::qmi::{write_outcome, ErrorCode, Nothing, Outcome, Service};
use wire::usb::Fault;

use super::format::DataFormat;
use super::format::Framing;
use super::settings::ModemSettings;
use super::statistics::ControlCounters;
use crate::functions::channels::Channels;
use crate::functions::outbox::Outbox;
use clients::Clients;

/// See the module.
#[derive(Debug)]
pub(super) struct Control {
    settings: ModemSettings,
    /// As DMS reports it.
    model: &'static str,
    interface: u8,
    needs_dtr: bool,
    /// The host says that it is there.
    listening: bool,
    outbox: Outbox,
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
            channels: channels_at_power_on(settings),
            settings: settings.clone(),
            model: posing.model,
            interface: posing.interface,
            needs_dtr: posing.needs_dtr,
            listening: false,
            outbox: Outbox::new(posing.interface),
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
        self.channels = channels_at_power_on(&self.settings);
        self.listening = false;
        self.outbox.clear();
        self.clients = Clients::default();
    }

    /// Whether messages decide on the data path.
    fn is_negotiated(&self) -> bool {
        self.settings.framing == Framing::Negotiated
    }

    /// SET_CONTROL_LINE_STATE: its lowest bit is DTR (PSTN 1.2, 6.3.12).
    pub(super) fn line_state(&mut self, value: u16) {
        self.listening = value & 1 != 0;
    }

    /// SEND_ENCAPSULATED_COMMAND.
    pub(super) fn command(&mut self, bytes: &[u8]) {
        if (self.needs_dtr && !self.listening) || self.outbox.is_full() {
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
        if let Some(bytes) = header.emit(fields) {
            self.outbox.push(bytes);
        }
    }

    /// GET_ENCAPSULATED_RESPONSE: the next message, or nothing.
    pub(super) fn response(&mut self) -> Vec<u8> {
        self.outbox.response()
    }

    /// The next notification that a message waits.
    pub(super) fn notification(&mut self) -> Option<[u8; 8]> {
        self.outbox.notification()
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

/// Connections that are there without messages.
fn channels_at_power_on(settings: &ModemSettings) -> Channels {
    match settings.framing {
        Framing::Negotiated => Channels::fixed(&[]),
        _ => Channels::fixed(&settings.mux_ids()),
    }
}

/// The answer to a request that succeeded.
fn done<F: wire::usb::qmi::Fields>(fields: F) -> Answered {
    let outcome: Outcome<F> = Ok(fields);
    Ok(write_outcome(&outcome))
}

crate::state!(Control { listening, outbox, clients, format, channels, counters }
    made { settings, model, interface, needs_dtr });
