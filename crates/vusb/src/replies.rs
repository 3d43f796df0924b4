//! A device that knows nothing but what another one answered once: the recorded replies of a probe, in place of a model.
//!
//! The file is the document that `txop guest probe` writes (`txop-guest-probe`; docs/guest-faults.md), of which it takes
//! `requests` and `endpoints`, or a changed one. A request is answered by its own replies in order, the last one again and again.
//! One that was not recorded is answered by zeros; with `seed` in the file, by bytes drawn from it. A recorded error is a
//! STALL. What else the host writes is taken, and endpoints send what was recorded as fast as the host asks, then nothing any more.

use std::collections::BTreeMap;
use std::path::Path;

use random::{Rng, Stream};
use serde::{Deserialize, Deserializer};
use wire::usb::setup::Setup;

use crate::device::{ControlReply, Device, Effect, Identity, InReply, OutReply};
use crate::small_file;
use crate::state::{Reader, State, StateError, Writer};

/// Replies of one request or endpoint, and which is next.
#[derive(Clone, Debug, Default)]
struct Recorded {
    replies: Vec<Reply>,
    place: Place,
}

/// Where a sequence of replies is.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, Deserialize)]
struct Place {
    /// The reply that is next.
    reply: usize,
    /// How often it was given.
    given: u64,
}

/// A reply, and how often in a row.
#[derive(Clone, Debug, Deserialize)]
struct Reply {
    /// 0, or a negative error number.
    status: i32,
    #[serde(deserialize_with = "hexadecimal")]
    data: Vec<u8>,
    times: u64,
}

#[derive(Deserialize)]
struct Document {
    format: String,
    version: u32,
    requests: Vec<Request>,
    endpoints: Vec<Endpoint>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
struct Request {
    request_type: u8,
    request: u8,
    value: u16,
    index: u16,
    length: u16,
    replies: Vec<Reply>,
}

#[derive(Deserialize)]
struct Endpoint {
    endpoint: u8,
    replies: Vec<Reply>,
}

fn hexadecimal<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            let byte = |pair: &[u8]| pair.iter().fold(0, |value: u8, digit| value << 4 | digit);
            Ok(digits.chunks(2).map(byte).collect())
        }
        _ => Err(serde::de::Error::custom("data are not hexadecimal")),
    }
}

impl Recorded {
    /// The next reply; `None`: there is none. `last_repeats`: the last one is given again and again.
    fn next(&mut self, last_repeats: bool) -> Option<&Reply> {
        let last = self.replies.len().checked_sub(1)?;
        while let Some(reply) = self.replies.get(self.place.reply) {
            if self.place.given < reply.times || last_repeats && self.place.reply == last {
                break;
            }
            self.place = Place { reply: self.place.reply + 1, given: 0 };
        }
        let reply = self.replies.get(self.place.reply)?;
        self.place.given = self.place.given.saturating_add(1);
        Some(reply)
    }
}

/// The device.
pub struct Replayed {
    identity: Identity,
    requests: BTreeMap<Setup, Recorded>,
    endpoints: BTreeMap<u8, Recorded>,
    others: Option<Rng>,
}

impl Replayed {
    /// One with these descriptors and the replies of a document.
    ///
    /// # Errors
    /// What is wrong with the document.
    pub fn new(identity: Identity, document: &[u8]) -> Result<Self, String> {
        let document: Document = serde_json::from_slice(document).map_err(|error| error.to_string())?;
        if document.format != "txop-guest-probe" || document.version != 1 {
            return Err("not a document of the format txop-guest-probe, version 1".into());
        }
        let recorded = |replies| Recorded { replies, place: Place::default() };
        let requests = document.requests.into_iter().map(|one| {
            let Request { request_type, request, value, index, length, replies } = one;
            (Setup { request_type, request, value, index, length }, recorded(replies))
        });
        Ok(Self {
            identity,
            requests: requests.collect(),
            endpoints: document.endpoints.into_iter().map(|one| (one.endpoint, recorded(one.replies))).collect(),
            others: document.seed.map(|seed| Rng::new(seed, Stream::UnrecordedReply, 0)),
        })
    }

    /// The same of a file.
    ///
    /// # Errors
    /// Those of the file, and what is wrong with the document in it.
    pub fn open(identity: Identity, path: &Path) -> Result<Self, String> {
        let document = small_file::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::new(identity, &document).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn recorded(&mut self) -> impl Iterator<Item = &mut Recorded> {
        self.requests.values_mut().chain(self.endpoints.values_mut())
    }
}

impl Device for Replayed {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, _data: &[u8]) -> ControlReply {
        match self.requests.get_mut(&setup).and_then(|recorded| recorded.next(true)) {
            Some(reply) if reply.status != 0 => ControlReply::Stall,
            Some(reply) if setup.is_in() => ControlReply::Data(reply.data.clone()),
            None if setup.is_in() => {
                let mut bytes = vec![0; usize::from(setup.length)];
                if let Some(rng) = &mut self.others {
                    rng.fill(&mut bytes);
                }
                ControlReply::Data(bytes)
            }
            _ => ControlReply::Accepted,
        }
    }

    fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, _data: &[u8]) -> OutReply {
        OutReply::Accepted
    }

    fn transfer_in(&mut self, _now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        let recorded = self.endpoints.get_mut(&(0x80 | endpoint));
        match recorded.and_then(|recorded| recorded.next(false)) {
            None => InReply::Nak,
            Some(reply) if reply.status != 0 => InReply::Stall,
            Some(reply) => {
                transfer.extend_from_slice(&reply.data);
                InReply::Transfer
            }
        }
    }

    fn advance(&mut self, _now_ns: u64) {}

    fn next_event(&self) -> Option<u64> {
        None
    }

    fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
        let unplugged = matches!(effect, Effect::Unplug(_));
        if unplugged {
            self.recorded().for_each(|recorded| recorded.place = Place::default());
        }
        unplugged
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        let places: Vec<Place> =
            self.requests.values().chain(self.endpoints.values()).map(|recorded| recorded.place).collect();
        to.put(&places)?;
        self.others.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let places: Vec<Place> = from.take()?;
        if places.len() != self.requests.len() + self.endpoints.len() {
            return Err(StateError::Length);
        }
        self.recorded().zip(places).for_each(|(recorded, place)| recorded.place = place);
        self.others.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::device::Speed;

    const READ: Setup = Setup { request_type: 0xc0, request: 5, value: 0x80, index: 0, length: 4 };

    fn identity() -> Identity {
        Identity { device: [0; 18], configuration: Vec::new(), strings: Vec::new(), speed: Speed::High }
    }

    fn document(more: &str) -> String {
        let replies = |rows: &str| format!("\"replies\":[{rows}]");
        let read = replies(
            "{\"status\":0,\"data\":\"01000000\",\"times\":2},{\"status\":0,\"data\":\"02000000\",\"times\":1}",
        );
        let stalled = replies("{\"status\":-32,\"data\":\"\",\"times\":1}");
        let sent = replies("{\"status\":0,\"data\":\"aabb\",\"times\":1}");
        format!(
            "{{\"format\":\"txop-guest-probe\",\"version\":1{more},\"requests\":[\
             {{\"request_type\":192,\"request\":5,\"value\":128,\"index\":0,\"length\":4,{read}}},\
             {{\"request_type\":192,\"request\":6,\"value\":0,\"index\":0,\"length\":4,{stalled}}}],\
             \"endpoints\":[{{\"endpoint\":131,{sent}}}]}}"
        )
    }

    fn made(more: &str) -> Replayed {
        Replayed::new(identity(), document(more).as_bytes()).unwrap()
    }

    #[test]
    fn replies_come_in_order_and_the_last_one_stays() {
        let mut device = made("");
        let mut read = || device.control(0, READ, &[]);
        let data = |first| ControlReply::Data(vec![first, 0, 0, 0]);
        assert_eq!([read(), read(), read(), read()], [data(1), data(1), data(2), data(2)]);
        assert_eq!(device.control(0, Setup { request: 6, value: 0, ..READ }, &[]), ControlReply::Stall);
        assert_eq!(device.control(0, Setup { request_type: 0x40, ..READ }, &[1]), ControlReply::Accepted);
        assert!(device.inject(0, Effect::Unplug(1)) && !device.inject(0, Effect::FirmwareHang));
        assert_eq!(device.control(0, READ, &[]), data(1));
    }

    #[test]
    fn what_was_not_recorded_is_zeros_or_drawn_from_the_seed() {
        let other = Setup { value: 0x84, length: 64, ..READ };
        assert_eq!(made("").control(0, other, &[]), ControlReply::Data(vec![0; 64]));
        let drawn = |seed: u64| made(&format!(",\"seed\":{seed}")).control(0, other, &[]);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn endpoints_send_what_came_and_then_nothing() {
        let (mut device, mut transfer) = (made(""), Vec::new());
        assert_eq!(device.transfer_in(0, 3, &mut transfer), InReply::Transfer);
        assert_eq!(transfer, [0xaa, 0xbb]);
        assert_eq!(device.transfer_in(0, 3, &mut Vec::new()), InReply::Nak);
        assert_eq!(device.transfer_in(0, 4, &mut Vec::new()), InReply::Nak);
        assert_eq!(device.transfer_out(0, 2, &[1, 2]), OutReply::Accepted);
    }

    #[test]
    fn a_restored_device_goes_on_where_it_was_saved() {
        let mut device = made(",\"seed\":3");
        let other = Setup { value: 0x84, ..READ };
        device.control(0, READ, &[]);
        device.control(0, READ, &[]);
        device.control(0, other, &[]);
        let mut writer = Writer::default();
        device.save_state(&mut writer).unwrap();
        let (bytes, mut again) = (writer.into_bytes(), made(",\"seed\":3"));
        again.restore_state(&mut Reader::new(&bytes)).unwrap();
        for setup in [READ, other] {
            assert_eq!(again.control(0, setup, &[]), device.control(0, setup, &[]));
        }
    }

    #[test]
    fn another_document_is_refused() {
        for text in ["", "{}", &document("").replace("probe", "survey"), &document("").replace("aabb", "aab")] {
            assert!(Replayed::new(identity(), text.as_bytes()).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_device_or_an_error(at in 0usize..600, byte: u8) {
            let mut text = document("").into_bytes();
            let len = text.len();
            if let Some(place) = text.get_mut(at % len) {
                *place = byte;
            }
            if let Ok(mut device) = Replayed::new(identity(), &text) {
                for _ in 0..4 {
                    device.control(0, READ, &[]);
                    device.transfer_in(0, 3, &mut Vec::new());
                }
            }
        }
    }
}
