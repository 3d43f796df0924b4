//! A station, and the network that it is in.

use wire::ieee80211::{Action, Amsdu};
use wire::phy::{AccessCategory, Bandwidth, EdcaParameters, Ht, Mode};

use crate::air::{ChannelSettings, Medium, Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};
use crate::fault::Script;
use crate::peers::builtin::{Builtin, BuiltinSettings, ADDRESS, ONE_MBIT_S};
use crate::peers::Peers;
use crate::wired::WiredQueues;

pub const OWN: [u8; 6] = [0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4];
pub const BEYOND: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// QoS data.
const DATA_UP: u8 = 0x88;

/// Sends what it is given, and keeps what it hears.
pub struct Sta {
    pub channel: u8,
    /// HT Capability Information.
    pub ht: u16,
    /// Parameters that it agrees to (9.4.1.13).
    pub agreement: u16,
    pub deaf: bool,
    /// Attempts behind the first.
    pub retries: usize,
    pub heard: Vec<(u64, Vec<u8>, Reception)>,
    pub outbox: Vec<Ppdu>,
    pub outcomes: Vec<Vec<bool>>,
    now_ns: u64,
}

impl Station for Sta {
    fn tuned(&self) -> Option<Tuned> {
        Tuned::channel(self.channel).map(|tuned| Tuned { width: Bandwidth::Mhz40, ..tuned })
    }
    fn ready_since(&self) -> Option<u64> {
        (!self.outbox.is_empty()).then_some(self.now_ns)
    }
    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::Voice)
    }
    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        (!self.outbox.is_empty()).then(|| self.outbox.remove(0))
    }
    fn ended(&mut self, now_ns: u64, mut ppdu: Ppdu, outcome: &Outcome) {
        self.now_ns = now_ns;
        self.outcomes.push(outcome.acknowledged.clone());
        if outcome.acknowledged.contains(&false) && self.retries > 0 {
            self.retries -= 1;
            ppdu.mpdus.iter_mut().for_each(|mpdu| mpdu[1] |= 0x08);
            self.outbox.insert(0, ppdu);
        }
    }
    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        if self.deaf {
            return false;
        }
        self.now_ns = now_ns;
        self.heard.push((now_ns, mpdu.to_vec(), *reception));
        if mpdu[0] == 0xd0 && mpdu[24..].starts_with(&[3, 0]) {
            let mut body = vec![3, 1, mpdu[26], 0, 0];
            body.extend(self.agreement.to_le_bytes());
            body.extend([0, 0]);
            self.outbox.push(plain(management(0xd0, &body)));
        }
        mpdu[4..10] == OWN
    }
}

pub fn management(kind: u8, body: &[u8]) -> Vec<u8> {
    let to = if kind == 0x40 { [0xff; 6] } else { ADDRESS.0 };
    [&[kind, 0, 0, 0][..], &to, &OWN, &to, &[0, 0], body].concat()
}

pub fn plain(mpdu: Vec<u8>) -> Ppdu {
    let response = if mpdu[4] & 1 == 1 { Response::None } else { Response::Ack };
    Ppdu { mode: ONE_MBIT_S, mpdus: vec![mpdu], aggregated: false, protection: Protection::None, response }
}

pub fn mcs7() -> Mode {
    let (bandwidth, stbc) = (Bandwidth::Mhz20, Some(0));
    Mode::Ht(Ht { mcs: 7, bandwidth, short_gi: Some(false), greenfield: Some(false), ldpc: Some(false), stbc, ness: 0 })
}

/// A QoS data frame to the access point with one Ethernet frame that says `number`.
pub fn data_up(number: u16, flags: u8) -> Vec<u8> {
    let mut mpdu = vec![DATA_UP, 0x01 | flags, 0, 0];
    mpdu.extend([ADDRESS.0, OWN, BEYOND].concat());
    mpdu.extend((number << 4).to_le_bytes());
    mpdu.extend([0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    mpdu.extend(number.to_be_bytes());
    mpdu
}

pub struct Network {
    pub station: Sta,
    pub ap: Builtin,
    pub now_ns: u64,
    medium: Medium,
    wire: WiredQueues,
    sent_down: u16,
}

impl Network {
    pub fn new(script: &str) -> Self {
        let mut settings = BuiltinSettings::default();
        let script = Script::parse(script).unwrap();
        if let Some(network) = &script.network {
            network.apply(&mut settings);
        }
        let wire = WiredQueues::default();
        let ap = Builtin::with(settings, script.ap, Box::new(wire.clone()));
        let station = Sta {
            channel: 6,
            ht: 0x01fe,
            agreement: 0x1003,
            deaf: false,
            retries: 0,
            heard: Vec::new(),
            outbox: Vec::new(),
            outcomes: Vec::new(),
            now_ns: 0,
        };
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        Self { station, ap, now_ns: 0, medium, wire, sent_down: 0 }
    }

    pub fn joined(script: &str) -> Self {
        let mut network = Self::new(script);
        network.join();
        network
    }

    pub fn join(&mut self) {
        self.authenticate();
        self.associate();
        self.run_ms(10);
        assert_eq!(self.frames(0x10)[0][26..28], [0, 0], "associated");
    }

    pub fn authenticate(&mut self) {
        // After the first beacon: this station tries once.
        self.run_ms(5);
        self.station.outbox.push(plain(management(0xb0, &[0, 0, 1, 0, 0, 0])));
        self.run_ms(10);
    }

    pub fn associate(&mut self) {
        let mut body = vec![0x21, 0x04, 10, 0, 0, 4];
        body.extend(b"txop");
        body.extend([45, 26]);
        body.extend(self.station.ht.to_le_bytes());
        body.extend([0; 24]);
        self.station.outbox.push(plain(management(0x00, &body)));
    }

    pub fn probe(&mut self, name: &str) {
        let body = [&[0, name.len() as u8], name.as_bytes()].concat();
        self.station.outbox.push(plain(management(0x40, &body)));
    }

    /// Asks the access point for an agreement of TID 0, from number 0 on.
    pub fn ask_agreement(&mut self) {
        self.station.outbox.push(plain(management(0xd0, &[3, 0, 9, 0x03, 0x10, 0, 0, 0, 0])));
        self.run_ms(5);
    }

    pub fn send_up(&mut self, numbers: &[u16], aggregated: bool) {
        self.up_with(numbers, aggregated, 0);
    }

    pub fn send_up_again(&mut self, numbers: &[u16], aggregated: bool) {
        self.up_with(numbers, aggregated, 0x08);
    }

    /// With more bits of the second byte of frame control.
    pub fn up_with(&mut self, numbers: &[u16], aggregated: bool, flags: u8) {
        let mpdus: Vec<_> = numbers.iter().map(|&number| data_up(number, flags)).collect();
        let response = if aggregated { Response::BlockAck } else { Response::Ack };
        let ppdu = |mpdus| Ppdu { mode: mcs7(), mpdus, aggregated, protection: Protection::None, response };
        if aggregated {
            self.station.outbox.push(ppdu(mpdus));
        } else {
            self.station.outbox.extend(mpdus.into_iter().map(|mpdu| ppdu(vec![mpdu])));
        }
    }

    pub fn send_up_amsdu(&mut self, numbers: &[u16]) {
        let mut mpdu = data_up(0, 0);
        mpdu.truncate(26);
        mpdu[24] |= 0x80;
        for &number in numbers {
            mpdu.resize(26 + (mpdu.len() - 26).next_multiple_of(4), 0);
            mpdu.extend([BEYOND, OWN].concat());
            mpdu.extend([0, 10, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
            mpdu.extend(number.to_be_bytes());
        }
        let (protection, response) = (Protection::None, Response::BlockAck);
        self.station.outbox.push(Ppdu { mode: mcs7(), mpdus: vec![mpdu], aggregated: true, protection, response });
    }

    /// Ethernet frames of `len` bytes for the station, with running numbers.
    pub fn send_down(&mut self, count: u16, len: usize) {
        self.wire_down(OWN, count, len);
    }

    /// As many as are missing from `count` that wait on the wire.
    pub fn fill_down(&mut self, count: u16, len: usize) {
        let waiting = self.wire.to_host.borrow().len() as u16;
        self.send_down(count.saturating_sub(waiting), len);
    }

    pub fn wire_down(&mut self, to: [u8; 6], count: u16, len: usize) {
        for _ in 0..count {
            let mut frame = [to, BEYOND].concat();
            frame.extend([8, 0]);
            frame.extend(self.sent_down.to_be_bytes());
            frame.resize(len.max(16), 0);
            self.sent_down = self.sent_down.wrapping_add(1);
            self.wire.to_host.borrow_mut().push_back(frame);
        }
    }

    pub fn run_ms(&mut self, ms: u64) {
        let end_ns = self.now_ns + ms * 1_000_000;
        let mut steps = 0;
        loop {
            let Self { station, ap, medium, now_ns, .. } = self;
            station.now_ns = *now_ns;
            ap.readable(*now_ns, 0);
            ap.advance(*now_ns);
            medium.advance(*now_ns, station, &mut [&mut *ap as &mut dyn Station]);
            ap.flush(*now_ns);
            let next_ns =
                [medium.next_event(station, &[&*ap as &dyn Station]), ap.next_event()].into_iter().flatten().min();
            let Some(next_ns) = next_ns.filter(|&next_ns| next_ns <= end_ns) else { break };
            steps += 1;
            assert!(steps < 1_000_000, "it spins");
            *now_ns = next_ns.max(*now_ns);
        }
        self.now_ns = end_ns;
    }

    /// Frames of a kind that the station has heard.
    pub fn frames(&self, kind: u8) -> Vec<Vec<u8>> {
        self.station.heard.iter().filter(|heard| heard.1[0] == kind).map(|heard| heard.1.clone()).collect()
    }

    pub fn actions(&self) -> Vec<Action> {
        self.frames(0xd0).iter().filter_map(|frame| Action::read(&frame[24..])).collect()
    }

    /// Kinds and reasons of the frames that part.
    pub fn reasons(&self) -> Vec<(u8, u16)> {
        let parts = self.station.heard.iter().map(|heard| &heard.1).filter(|frame| [0xa0, 0xc0].contains(&frame[0]));
        parts.map(|frame| (frame[0], u16::from_le_bytes([frame[24], frame[25]]))).collect()
    }

    /// Numbers of the Ethernet frames that the station has got.
    pub fn down(&self) -> Vec<u16> {
        let mut numbers = Vec::new();
        for (_, mpdu, _) in self.station.heard.iter().filter(|heard| heard.1[0] & 0x4c == 0x08) {
            let header = if mpdu[0] & 0x80 != 0 { 26 } else { 24 };
            let body = &mpdu[header..];
            let number = |msdu: &[u8]| u16::from_be_bytes([msdu[8], msdu[9]]);
            if header == 26 && mpdu[24] & 0x80 != 0 {
                numbers.extend(Amsdu::new(body, body.len()).map(|part| number(part.msdu)));
            } else {
                numbers.push(number(body));
            }
        }
        numbers
    }

    /// Numbers of the Ethernet frames that came out of the wire.
    pub fn up(&self) -> Vec<u16> {
        let frames = self.wire.from_host.borrow();
        frames.iter().map(|frame| u16::from_be_bytes([frame[14], frame[15]])).collect()
    }
}
