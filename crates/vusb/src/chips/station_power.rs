//! What a station that sleeps between beacons reads and sends (IEEE 802.11-2020, 11.2.3).

use wire::ieee80211::{FrameControl, FrameKind, Header, MacAddr, ManagementBody, Mpdu, Seq};

/// Beacons for which the receiver stays on after a PS-Poll without an answer: it may be on its way when the first
/// comes.
const BEACONS_WITHOUT_ANSWER: u8 = 1;

/// A data frame without data, which carries the power management bit.
pub(super) const NULL: FrameKind = FrameKind::Data { qos: false, null: true };

/// Whether the TIM element has the bit of this station, and that of group frames (9.4.2.5).
pub(super) fn buffered(beacon: &Mpdu<&[u8]>, aid: u16) -> (bool, bool) {
    let body = beacon.frame_control().and_then(|fc| ManagementBody::parse(fc, beacon.management_body()));
    let Some(tim) = body.and_then(|body| body.elements.tim) else { return (false, false) };
    (tim.has(aid), tim.group_traffic())
}

/// A PS-Poll of the station with this AID, which takes the place of the duration, with its two highest bits set.
pub(super) fn poll(aid: u16, network: MacAddr, own: MacAddr) -> Vec<u8> {
    let mut frame = Vec::new();
    let duration_id = aid & 0x3fff | 0xc000;
    Header { duration_id, ..Header::control(FrameKind::PsPoll, network, Some(own)) }.emit(&mut frame);
    frame
}

/// A Null frame which says whether the station sleeps.
pub(super) fn null(network: MacAddr, own: MacAddr, sequence: Seq, sleeps: bool) -> Vec<u8> {
    let fc = FrameControl::new(NULL).with_to_ds(true).with_power_management(sleeps);
    let header = Header::data(fc, [network, own, network], sequence, None);
    let mut frame = Vec::new();
    Header { fc, ..header }.emit(&mut frame);
    frame
}

/// What a frame is to a station that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A beacon of its network, and whether frames for the station are kept there.
    Beacon(bool),
    /// The receiver is on.
    On,
    /// The receiver is off, and the frame was for the station.
    Missed,
    /// The receiver is off, and the frame is no affair of the station.
    Foreign,
}

/// What the receiver of a station that sleeps is on for, besides the beacons of its network.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Listening {
    /// A PS-Poll is out: beacons that have come since.
    polled: Option<u8>,
    /// Group frames follow the last beacon.
    for_groups: bool,
}

impl Listening {
    /// A PS-Poll is sent.
    pub(super) fn polls(&mut self) {
        self.polled = Some(0);
    }

    /// A frame comes.
    pub(super) fn hears(&mut self, own: MacAddr, network: MacAddr, aid: u16, frame: &Mpdu<&[u8]>) -> Heard {
        let of_network = frame.transmitter() == Some(network);
        if of_network && frame.kind() == Some(FrameKind::Beacon) {
            let (for_station, for_groups) = buffered(frame, aid);
            self.for_groups = for_groups;
            self.polled = self.polled.filter(|&beacons| beacons < BEACONS_WITHOUT_ANSWER).map(|beacons| beacons + 1);
            return Heard::Beacon(for_station);
        }
        let is_on = self.polled.is_some() || self.for_groups;
        if of_network && frame.is_group() {
            self.for_groups &= keeps_more(frame);
        }
        match frame.receiver() {
            _ if is_on => Heard::On,
            Some(receiver) if of_network && (receiver == own || frame.is_group()) => Heard::Missed,
            _ => Heard::Foreign,
        }
    }

    /// The station has accepted a frame: whether it was the answer to a PS-Poll, and the access point keeps more.
    /// Without that the receiver stays on for its retries.
    pub(super) fn accepted(&mut self, own: MacAddr, network: MacAddr, frame: &Mpdu<&[u8]>) -> bool {
        let for_station = frame.transmitter() == Some(network) && frame.receiver() == Some(own);
        let is_answer = for_station && is_bufferable(frame) && self.polled.is_some();
        if is_answer {
            self.polled = None;
        }
        is_answer && keeps_more(frame)
    }
}

fn keeps_more(frame: &Mpdu<&[u8]>) -> bool {
    frame.frame_control().is_some_and(FrameControl::more_data)
}

/// Whether an access point keeps such a frame for a station that sleeps (11.2.2).
fn is_bufferable(frame: &Mpdu<&[u8]>) -> bool {
    let kept = [FrameKind::Action, FrameKind::Disassociation, FrameKind::Deauthentication];
    frame.is_data() || frame.kind().is_some_and(|kind| kept.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const NETWORK: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
    const OTHER: MacAddr = MacAddr([2, 0, 0, 0, 0, 3]);
    const DATA: u8 = 0x08;
    const ACTION: u8 = 0xd0;
    const PROBE_RESPONSE: u8 = 0x50;
    const MORE_DATA: u8 = 0x20;

    fn frame(kind: u8, flags: u8, to: MacAddr, from: MacAddr) -> Vec<u8> {
        let mut frame = vec![kind, flags, 0, 0];
        [to, from, from].iter().for_each(|address| frame.extend(address.0));
        frame.resize(40, 0);
        frame
    }

    /// A beacon with this bitmap control, and the bits of AIDs 0 to 7.
    fn beacon(from: MacAddr, control: u8, stations: u8) -> Vec<u8> {
        let mut beacon = frame(0x80, 0, MacAddr::BROADCAST, from);
        beacon.truncate(24);
        beacon.resize(24 + 12, 0);
        beacon.extend([5, 4, 0, 1, control, stations]);
        beacon
    }

    fn hears(listening: &mut Listening, frame: &[u8]) -> Heard {
        listening.hears(OWN, NETWORK, 3, &Mpdu::new(frame))
    }

    fn accepts(listening: &mut Listening, frame: &[u8]) -> bool {
        listening.accepted(OWN, NETWORK, &Mpdu::new(frame))
    }

    #[test]
    fn a_foreign_beacon_does_not_end_the_wait_for_group_frames() {
        let mut listening = Listening::default();
        let group = |flags| frame(DATA, 2 | flags, MacAddr::BROADCAST, NETWORK);
        assert_eq!(hears(&mut listening, &beacon(OTHER, 1, 0)), Heard::Foreign);
        assert_eq!(hears(&mut listening, &group(0)), Heard::Missed);
        assert_eq!(hears(&mut listening, &beacon(NETWORK, 1, 0)), Heard::Beacon(false));
        hears(&mut listening, &beacon(OTHER, 0, 0));
        let heard = [MORE_DATA, 0, 0].map(|flags| hears(&mut listening, &group(flags)));
        assert_eq!(heard, [Heard::On, Heard::On, Heard::Missed]);
    }

    #[test]
    fn an_answer_ends_the_fetch_when_it_is_accepted() {
        let mut listening = Listening::default();
        let answer = |kind, flags| frame(kind, 2 | flags, OWN, NETWORK);
        for (kind, flags) in [(DATA, MORE_DATA), (ACTION, MORE_DATA), (ACTION, 0), (DATA, 0)] {
            listening.polls();
            // There was no room for it at first.
            assert_eq!([0, 0].map(|_| hears(&mut listening, &answer(kind, flags))), [Heard::On; 2]);
            assert!(!accepts(&mut listening, &answer(PROBE_RESPONSE, 0)), "it is not kept, so it is no answer");
            assert!(!accepts(&mut listening, &frame(DATA, 2, OWN, OTHER)), "of another network");
            assert_eq!(accepts(&mut listening, &answer(kind, flags)), flags == MORE_DATA, "{kind:x} {flags:x}");
            assert_eq!(hears(&mut listening, &answer(kind, flags)), Heard::Missed);
        }
    }

    #[test]
    fn a_poll_without_an_answer_ends_with_the_second_beacon() {
        let mut listening = Listening::default();
        let answer = frame(DATA, 2, OWN, NETWORK);
        listening.polls();
        let mut after = || {
            assert_eq!(hears(&mut listening, &beacon(NETWORK, 0, 1 << 2)), Heard::Beacon(false));
            hears(&mut listening, &answer)
        };
        assert_eq!([after(), after()], [Heard::On, Heard::Missed]);
        assert_eq!(hears(&mut listening, &beacon(NETWORK, 0, 1 << 3)), Heard::Beacon(true));
    }
}
