//! QMI messages of a modem: which there were, what data format was agreed on, and whether transfers keep to it.

use std::collections::BTreeMap;

use wire::usb::qmi::qmux::{Header, Kind, Message};
use wire::usb::qmi::{read_outcome, wda, ErrorCode, Fields, Service};

use crate::payload::{Found, Framing};
use crate::report;

/// Kinds of messages that are distinguished.
const KINDS_MAX: usize = 256;
/// Data formats that are kept.
const FORMATS_MAX: usize = 64;
/// Requests for one that wait for their answer.
const WAITING_MAX: usize = 16;
/// Reasons of refusals kept of a message.
const ERRORS_MAX: usize = 4;

/// Counters of one message.
#[derive(Clone, Debug, Default)]
struct Row {
    requests: u64,
    answers: u64,
    refused: u64,
    indications: u64,
    errors: Vec<ErrorCode>,
}

/// What transfers of one direction did while a format was in force.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    transfers: u64,
    cut: u64,
    unread: u64,
    beyond: u64,
    most_datagrams: u64,
    most_bytes: u64,
    first_beyond: Option<u64>,
    other_framing: u64,
}

/// A data format that was asked for, or about.
#[derive(Clone, Debug)]
struct Agreed {
    is_set: bool,
    place: Place,
    asked: wda::DataFormat,
    answered: Result<wda::DataFormat, ErrorCode>,
    uplink: Kept,
    downlink: Kept,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Qmi {
    rows: BTreeMap<(Service, u16), Row>,
    waiting: Vec<(Header, wda::DataFormat)>,
    formats: Vec<Agreed>,
    /// In `formats`: the one in force.
    current: Option<usize>,
    /// Transfers with datagrams before there was one.
    before: u64,
    /// Messages with fields that are not all in the capture, and those that break the rules of their layout.
    cut: u64,
    unreadable: u64,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub record: u64,
    pub time_us: Option<i64>,
    /// At the end of the window or later.
    pub is_after: bool,
}

impl Qmi {
    /// Looks at the data of SEND_ENCAPSULATED_COMMAND or GET_ENCAPSULATED_RESPONSE; `len`: what they were on the bus.
    /// Whether it is a message.
    pub fn look(&mut self, place: Place, data: &[u8], len: usize) -> bool {
        let message = match Message::parse(data, len) {
            Ok(Some(message)) => message,
            Ok(None) => {
                let begins = data.first() == Some(&wire::usb::qmi::qmux::MARKER);
                self.cut += u64::from(begins);
                return begins;
            }
            Err(_) => {
                self.unreadable += u64::from(!data.is_empty());
                return false;
            }
        };
        let header = message.header;
        let key = (header.service, header.message);
        if self.rows.len() < KINDS_MAX || self.rows.contains_key(&key) {
            let row = self.rows.entry(key).or_default();
            match header.kind {
                Kind::Request => row.requests += 1,
                Kind::Indication => row.indications += 1,
                Kind::Response => {
                    row.answers += 1;
                    if let Ok(Err(code)) = read_outcome::<wire::usb::qmi::Nothing>(&message.tlvs) {
                        row.refused += 1;
                        if row.errors.len() < ERRORS_MAX && !row.errors.contains(&code) {
                            row.errors.push(code);
                        }
                    }
                }
            }
        }
        if message.tlvs.is_cut() {
            self.cut += 1;
        } else if message.tlvs.check().is_err() {
            self.unreadable += 1;
        } else if header.service == Service::WDA {
            self.data_format(place, &message);
        }
        true
    }

    fn data_format(&mut self, place: Place, message: &Message<'_>) {
        let header = message.header;
        let is_set = match header.message {
            wda::SET_DATA_FORMAT => true,
            wda::GET_DATA_FORMAT => false,
            _ => return,
        };
        if header.kind == Kind::Request {
            let asked = if is_set {
                wda::Request::read(&message.tlvs).map(|request| request.format)
            } else {
                Ok(wda::DataFormat::default())
            };
            let Ok(asked) = asked else { return };
            if self.waiting.len() >= WAITING_MAX {
                self.waiting.remove(0);
            }
            self.waiting.push((header, asked));
            return;
        }
        let Ok(outcome) = read_outcome::<wda::Answer>(&message.tlvs) else { return };
        let belongs = |(request, _): &(Header, wda::DataFormat)| request.answer() == header;
        let asked = self.waiting.iter().position(belongs).map(|at| self.waiting.remove(at).1);
        if self.formats.len() >= FORMATS_MAX {
            return;
        }
        let answered = outcome.map(|answer| answer.format);
        if answered.is_ok() {
            self.current = Some(self.formats.len());
        }
        let (uplink, downlink) = (Kept::default(), Kept::default());
        self.formats.push(Agreed { is_set, place, asked: asked.unwrap_or_default(), answered, uplink, downlink });
    }

    /// Looks at a bulk transfer: whether it keeps to the format in force.
    pub fn transfer(&mut self, record: u64, is_in: bool, framing: Framing, len: usize, found: &Found) {
        let Some(agreed) = self.current.and_then(|at| self.formats.get_mut(at)) else {
            self.before += u64::from(framing.is_network());
            return;
        };
        let Ok(format) = agreed.answered else { return };
        let (way, kept) =
            if is_in { (format.downlink, &mut agreed.downlink) } else { (format.uplink, &mut agreed.uplink) };
        kept.transfers += 1;
        let multiplexed = way.aggregation.is_some_and(wda::Aggregation::is_qmap);
        // Nothing, or 0, means no limit. The modem's buffer does not ask for the framing, but what is in other transfers of the
        // device may be on an endpoint that has nothing to do with the data path.
        let over = |limit: Option<u32>, value: u64| limit.is_some_and(|limit| limit > 0 && value > u64::from(limit));
        let is_datagram = matches!(framing, Framing::Qmap | Framing::RawIp | Framing::Ethernet);
        if !is_datagram {
            kept.unread += 1;
        } else if multiplexed {
            kept.most_bytes = kept.most_bytes.max(len as u64);
            if over(way.bytes, len as u64) || (framing == Framing::Qmap && over(way.datagrams, found.datagrams)) {
                kept.beyond += 1;
                kept.first_beyond.get_or_insert(record);
            }
        }
        match framing {
            Framing::Qmap if multiplexed => {
                kept.cut += u64::from(found.is_cut());
                kept.most_datagrams = kept.most_datagrams.max(found.datagrams);
            }
            Framing::Qmap => kept.other_framing += u64::from(way.aggregation.is_some()),
            Framing::RawIp | Framing::Ethernet => kept.other_framing += u64::from(multiplexed),
            _ => {}
        }
    }

    /// Transfers with datagrams before the first data format that was agreed on; 0 where none was.
    pub fn unjudged(&self) -> u64 {
        if self.current.is_some() {
            self.before
        } else {
            0
        }
    }

    /// Messages that are not whole in the capture.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// As data: messages, the most frequent first.
    pub fn messages(&self, device: &str) -> Vec<report::QmiMessage> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(key, row)| (std::cmp::Reverse(row.requests + row.answers + row.indications), **key));
        let named = rows.into_iter().map(|((service, message), row)| report::QmiMessage {
            device: device.to_owned(),
            service: service.name().map_or_else(|| format!("0x{:02x}", service.0), str::to_owned),
            message: service.message_name(*message).map(str::to_owned),
            code: format!("0x{message:04x}"),
            requests: row.requests,
            answers: row.answers,
            refused: row.refused,
            indications: row.indications,
            errors: row.errors.iter().map(|code| error_name(*code)).collect(),
        });
        named.collect()
    }

    /// As data: data formats in order. `first_us`: time of the first record.
    pub fn formats(&self, device: &str, first_us: Option<i64>) -> Vec<report::DataFormat> {
        let in_force = |at: usize| self.formats.get(at).is_some_and(|agreed| agreed.answered.is_ok());
        let rows = self.formats.iter().enumerate().map(|(at, agreed)| report::DataFormat {
            device: device.to_owned(),
            request: if agreed.is_set { "set" } else { "get" }.to_owned(),
            record: agreed.place.record,
            after_window: Some(agreed.place.is_after),
            time_us: agreed.place.time_us.zip(first_us).map(|(time, first)| time.saturating_sub(first)),
            refused: agreed.answered.err().map(error_name),
            asked_link: agreed.asked.link.map(|link| link.name().to_owned()),
            link: agreed.answered.ok().and_then(|format| format.link).map(|link| link.name().to_owned()),
            uplink: way(agreed.asked.uplink, agreed.answered.ok().map(|f| f.uplink), agreed.uplink, in_force(at)),
            downlink: way(
                agreed.asked.downlink,
                agreed.answered.ok().map(|f| f.downlink),
                agreed.downlink,
                in_force(at),
            ),
        });
        rows.collect()
    }
}

fn error_name(code: ErrorCode) -> String {
    code.name().map_or_else(|| format!("error {}", code.0), str::to_owned)
}

fn way(asked: wda::Direction, got: Option<wda::Direction>, kept: Kept, in_force: bool) -> report::AgreedDirection {
    let got = got.unwrap_or_default();
    // 0 is how modems say that there is no limit to tell.
    let limit = |number: Option<u32>| number.filter(|&number| number > 0);
    let aggregated = got.aggregation.is_some_and(wda::Aggregation::is_qmap);
    report::AgreedDirection {
        asked: asked.aggregation.map(|protocol| protocol.name().to_owned()),
        asked_datagrams: limit(asked.datagrams),
        asked_bytes: limit(asked.bytes),
        agreed: got.aggregation.map(|protocol| protocol.name().to_owned()),
        datagrams: limit(got.datagrams),
        bytes: limit(got.bytes),
        transfers: in_force.then_some(kept.transfers),
        cut_transfers: in_force.then_some(kept.cut),
        unread_transfers: in_force.then_some(kept.unread),
        beyond: (in_force
            && kept.transfers > 0
            && aggregated
            && (limit(got.datagrams).is_some() || limit(got.bytes).is_some()))
        .then_some(kept.beyond),
        first_beyond_record: kept.first_beyond,
        most_datagrams: (in_force && kept.most_bytes > 0).then_some(kept.most_datagrams),
        most_bytes: (in_force && kept.most_bytes > 0).then_some(kept.most_bytes),
        other_framing: (in_force && got.aggregation.is_some()).then_some(kept.other_framing),
    }
}
