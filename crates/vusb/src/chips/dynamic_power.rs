//! Power save of a firmware that sleeps by itself. What the firmware of an AR6003 or of an MT7921 does then is not public. This one
//! does what IEEE 802.11-2020, 11.2.3 asks of a station: after some time without data it announces with a Null frame that it
//! sleeps. Then its receiver is on for the beacons of its network, for group frames behind a DTIM beacon, and while a PS-Poll
//! is out. A frame of the host ends the sleep, and so does an access point that keeps more frames than are polled one
//! by one.

use serde::Serialize;
use wire::ieee80211::{FrameType, MacAddr, Mpdu};

use super::station_power::{Heard, Listening, NULL};

/// What power save has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SleepCounters"))]
pub struct PowerCounters {
    /// Times that the access point has acknowledged that the card sleeps.
    pub announced: u64,
    /// Time asleep as far as the access point knows, ns. Listening to beacons counts as sleep.
    pub asleep_ns: u64,
    /// PS-Polls sent.
    pub polls: u64,
    /// Times that a frame of the host, or a management frame, has ended the sleep.
    pub woken_by_host: u64,
    /// Times that the card has ended it to fetch what the access point kept.
    pub woken_by_access_point: u64,
    /// Frames of the own network, to the station or to groups, that came while the receiver was off.
    pub missed: u64,
}

/// What the access point thinks, and what is about to change that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum State {
    /// The station is awake.
    #[default]
    Awake,
    /// A Null frame that says that it sleeps is on its way.
    Announcing,
    /// It sleeps.
    Asleep,
    /// A Null frame that says that it is awake is on its way; the receiver is on.
    Waking,
}

/// A frame that power save makes the firmware send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Send {
    /// A PS-Poll.
    Poll,
    /// A Null frame, and whether it says that the station sleeps.
    Null(bool),
}

/// The state of power save.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PowerSave {
    /// The driver lets it sleep.
    enabled: bool,
    state: State,
    /// AID of the station.
    pub(super) aid: u16,
    /// When there were data last.
    active_ns: u64,
    /// Time without data before it sleeps.
    idle_ns: u64,
    /// PS-Polls between two beacons at most.
    polls: u16,
    polls_left: u16,
    listening: Listening,
    asleep_since_ns: Option<u64>,
    counters: PowerCounters,
}

impl PowerSave {
    /// As a firmware starts that the driver takes to be in power save.
    pub(super) fn new(idle_ms: u16, polls: u16) -> Self {
        Self {
            enabled: true,
            state: State::Awake,
            aid: 0,
            active_ns: 0,
            idle_ns: u64::from(idle_ms) * 1_000_000,
            polls,
            polls_left: polls,
            listening: Listening::default(),
            asleep_since_ns: None,
            counters: PowerCounters::default(),
        }
    }

    /// What it has done by now.
    pub(super) fn counters(&self, now_ns: u64) -> PowerCounters {
        let asleep_ns = self.asleep_since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        PowerCounters { asleep_ns: self.counters.asleep_ns + asleep_ns, ..self.counters }
    }

    /// The firmware has started again, with the counters of the one before.
    pub(super) fn restarted(self, now_ns: u64, before: &Self) -> Self {
        Self { counters: before.counters(now_ns), ..self }
    }

    /// A network is joined, or left: it knows nothing of sleep yet.
    pub(super) fn changed_network(&mut self, now_ns: u64) {
        self.awake(now_ns);
    }

    fn awake(&mut self, now_ns: u64) {
        self.counters = self.counters(now_ns);
        (self.state, self.asleep_since_ns, self.listening) = (State::Awake, None, Listening::default());
        self.active_ns = now_ns;
    }

    /// The driver chooses. Gives what the access point has to be sent.
    pub(super) fn choose(&mut self, recommended: bool) -> Option<Send> {
        self.enabled = recommended;
        (!recommended && matches!(self.state, State::Announcing | State::Asleep)).then(|| self.wake())
    }

    fn wake(&mut self) -> Send {
        self.state = State::Waking;
        Send::Null(false)
    }

    /// Whether the access point knows that the station sleeps.
    pub(super) const fn is_asleep(&self) -> bool {
        self.asleep_since_ns.is_some()
    }

    /// There are data, or something was sent: it stays awake for some time.
    pub(super) fn active(&mut self, now_ns: u64) {
        self.active_ns = now_ns;
    }

    /// When it would announce that it sleeps, if nothing is to be sent until then.
    pub(super) fn sleeps_at(&self) -> Option<u64> {
        (self.enabled && self.state == State::Awake).then_some(self.active_ns.saturating_add(self.idle_ns))
    }

    /// It announces that it sleeps.
    pub(super) fn announce(&mut self) -> Send {
        self.state = State::Announcing;
        Send::Null(true)
    }

    /// The access point has acknowledged a frame: it goes by its power management bit (11.2.3.2).
    pub(super) fn acknowledged(&mut self, now_ns: u64, mpdu: &[u8]) {
        let mpdu = Mpdu::new(mpdu);
        let is_null = mpdu.kind() == Some(NULL);
        if !matches!(mpdu.frame_type(), Some(FrameType::Data | FrameType::Management)) {
            return;
        }
        match self.state {
            State::Announcing | State::Waking if is_null && mpdu.power_management() => {
                if self.state == State::Announcing {
                    self.state = State::Asleep;
                }
                self.asleep_since_ns = Some(now_ns);
                self.counters.announced += 1;
            }
            State::Asleep | State::Waking if !mpdu.power_management() => {
                let woken =
                    if is_null { &mut self.counters.woken_by_access_point } else { &mut self.counters.woken_by_host };
                // Else it is the driver's choice.
                *woken += u64::from(self.enabled && self.asleep_since_ns.is_some());
                self.awake(now_ns);
            }
            _ => {}
        }
    }

    /// A Null frame which says whether the station sleeps was given up: the access point thinks what it thought before.
    pub(super) fn given_up(&mut self, now_ns: u64, sleeps: bool) {
        match (self.state, sleeps) {
            (State::Announcing, true) => self.awake(now_ns),
            (State::Waking, false) if self.asleep_since_ns.is_some() => self.state = State::Asleep,
            (State::Waking, false) => self.awake(now_ns),
            _ => {}
        }
    }

    /// A frame comes: whether the receiver is on for it, and what it makes the firmware send.
    pub(super) fn hears(&mut self, own: MacAddr, network: MacAddr, frame: &[u8]) -> (bool, Option<Send>) {
        if self.state != State::Asleep {
            return (true, None);
        }
        match self.listening.hears(own, network, self.aid, &Mpdu::new(frame)) {
            // Else: the access point has not heard yet that the station is awake.
            Heard::Beacon(_) if !self.enabled => (true, Some(self.wake())),
            Heard::Beacon(for_station) => {
                self.polls_left = self.polls;
                (true, for_station.then(|| self.fetch()))
            }
            Heard::On => (true, None),
            heard => {
                self.counters.missed += u64::from(heard == Heard::Missed);
                (false, None)
            }
        }
    }

    /// The receiver has accepted a frame: what it makes the firmware send.
    pub(super) fn accepted(&mut self, own: MacAddr, network: MacAddr, frame: &[u8]) -> Option<Send> {
        let more = self.listening.accepted(own, network, &Mpdu::new(frame));
        (more && self.state == State::Asleep).then(|| self.fetch())
    }

    fn fetch(&mut self) -> Send {
        let Some(left) = self.polls_left.checked_sub(1) else { return self.wake() };
        self.polls_left = left;
        self.listening.polls();
        self.counters.polls += 1;
        Send::Poll
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::station_power::null;
    use proptest::prelude::*;
    use wire::ieee80211::Seq;

    const OWN: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const NETWORK: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
    const IDLE_NS: u64 = 100_000_000;
    const MORE_DATA: u8 = 0x20;

    fn frame(kind: u8, flags: u8, to: MacAddr) -> Vec<u8> {
        let mut frame = vec![kind, flags, 0, 0];
        frame.extend(to.0);
        frame.extend(NETWORK.0);
        frame.extend(NETWORK.0);
        frame.resize(60, 0);
        frame
    }

    /// A beacon with this bitmap control and the bits of stations 0 to 7.
    fn beacon(control: u8, stations: u8) -> Vec<u8> {
        let mut beacon = frame(0x80, 0, MacAddr::BROADCAST);
        beacon.truncate(24);
        beacon.resize(24 + 12, 0);
        beacon.extend([0, 1, b'x', 5, 4, 0, 1, control, stations]);
        beacon
    }

    fn from_station(sleeps: bool) -> Vec<u8> {
        null(NETWORK, OWN, Seq::default(), sleeps)
    }

    fn asleep(polls: u16) -> PowerSave {
        let mut power = PowerSave::new(100, polls);
        power.aid = 3;
        power.changed_network(1_000);
        assert_eq!(power.sleeps_at(), Some(1_000 + IDLE_NS));
        assert_eq!(power.announce(), Send::Null(true));
        assert_eq!((power.sleeps_at(), power.hears(OWN, NETWORK, &frame(0x08, 2, OWN))), (None, (true, None)));
        power.acknowledged(5_000, &from_station(true));
        power
    }

    /// A frame comes for the station while its receiver is on, and is accepted.
    fn answered(power: &mut PowerSave, kind: u8, flags: u8) -> Option<Send> {
        let frame = frame(kind, 2 | flags, OWN);
        assert_eq!(power.hears(OWN, NETWORK, &frame), (true, None));
        power.accepted(OWN, NETWORK, &frame)
    }

    #[test]
    fn one_frame_is_polled_and_for_more_it_wakes_up() {
        let mut power = asleep(1);
        assert_eq!(power.hears(OWN, NETWORK, &frame(0x08, 2, OWN)), (false, None));
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 1 << 4)), (true, None), "for another station");
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 1 << 3)), (true, Some(Send::Poll)));
        assert_eq!(answered(&mut power, 0x08, 0), None, "the only one");
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 1 << 3)), (true, Some(Send::Poll)));
        assert_eq!(answered(&mut power, 0x08, MORE_DATA), Some(Send::Null(false)));
        assert_eq!(power.hears(OWN, NETWORK, &frame(0x08, 2, OWN)), (true, None), "the receiver is on from now on");
        power.acknowledged(9_000, &from_station(false));
        assert_eq!(power.sleeps_at(), Some(9_000 + IDLE_NS));
        let expected = PowerCounters {
            announced: 1,
            asleep_ns: 4_000,
            polls: 2,
            woken_by_host: 0,
            woken_by_access_point: 1,
            missed: 1,
        };
        assert_eq!(power.counters(20_000), expected);
        let mut power = asleep(2);
        power.hears(OWN, NETWORK, &beacon(0, 1 << 3));
        assert_eq!(answered(&mut power, 0xd0, MORE_DATA), Some(Send::Poll), "more behind a management frame");
        assert_eq!(asleep(0).hears(OWN, NETWORK, &beacon(0, 1 << 3)), (true, Some(Send::Null(false))));
    }

    #[test]
    fn a_frame_of_the_host_and_the_driver_s_choice_end_the_sleep() {
        let mut power = asleep(1);
        power.acknowledged(7_000, &frame(0x08, 1, NETWORK));
        assert_eq!((power.counters(9_000).woken_by_host, power.counters(9_000).asleep_ns), (1, 2_000));
        let mut power = asleep(1);
        assert_eq!(power.choose(false), Some(Send::Null(false)));
        power.given_up(8_000, false);
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 0)), (true, Some(Send::Null(false))), "it is sent again");
        power.acknowledged(9_000, &from_station(false));
        assert_eq!((power.sleeps_at(), power.choose(true)), (None, None));
        assert_eq!(power.sleeps_at(), Some(9_000 + IDLE_NS));
        assert_eq!(power.counters(9_000).woken_by_access_point, 0);
    }

    #[test]
    fn the_driver_changes_its_mind_while_sleep_is_announced() {
        let announcing = || {
            let mut power = PowerSave::new(100, 1);
            power.announce();
            assert_eq!(power.choose(false), Some(Send::Null(false)));
            power
        };
        // The access point hears neither frame: it never thinks that the station sleeps.
        let mut power = announcing();
        power.given_up(2_000, true);
        power.given_up(3_000, false);
        assert_eq!(power.hears(OWN, NETWORK, &frame(0x08, 2, OWN)), (true, None));
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 0)), (true, None), "there is nothing to say");
        assert_eq!(power.counters(9_000), PowerCounters::default());
        // It hears the first: the second is said again.
        let mut power = announcing();
        power.acknowledged(2_000, &from_station(true));
        assert_eq!(power.hears(OWN, NETWORK, &frame(0x08, 2, OWN)), (true, None), "the receiver is on");
        power.given_up(3_000, false);
        assert_eq!(power.hears(OWN, NETWORK, &beacon(0, 0)), (true, Some(Send::Null(false))));
        power.acknowledged(6_000, &from_station(false));
        assert_eq!((power.counters(9_000).announced, power.counters(9_000).asleep_ns), (1, 4_000));
    }

    #[test]
    fn group_frames_follow_their_beacon() {
        let mut power = asleep(1);
        let group = |flags| frame(0x08, 2 | flags, MacAddr::BROADCAST);
        assert!(!power.hears(OWN, NETWORK, &group(0)).0);
        assert!(power.hears(OWN, NETWORK, &beacon(1, 0)).0);
        let heard = [MORE_DATA, 0, 0].map(|flags| power.hears(OWN, NETWORK, &group(flags)).0);
        assert_eq!(heard, [true, true, false]);
    }

    proptest! {
        /// Who is asleep for the access point has announced it, and the time asleep never shrinks.
        #[test]
        fn any_order_of_things(steps in prop::collection::vec((0u8..8, 0u64..300_000_000), 0..80), polls in 0u16..3) {
            let mut power = PowerSave::new(100, polls);
            power.aid = 3;
            let (mut now_ns, mut asleep_ns, mut sent) = (0, 0, None);
            for (what, after_ns) in steps {
                now_ns += after_ns;
                let next = match what {
                    0 => power.choose(false),
                    1 => power.choose(true),
                    2 if power.sleeps_at().is_some_and(|at_ns| at_ns <= now_ns) => Some(power.announce()),
                    3 => power.hears(OWN, NETWORK, &beacon(1, 1 << 3)).1,
                    4 => {
                        let data = frame(0x08, 2 | MORE_DATA, OWN);
                        let heard = power.hears(OWN, NETWORK, &data).0;
                        heard.then(|| power.accepted(OWN, NETWORK, &data)).flatten()
                    }
                    5 => {
                        if let Some(Send::Null(sleeps)) = sent.take() {
                            power.given_up(now_ns, sleeps);
                        }
                        None
                    }
                    6 => {
                        if let Some(Send::Null(sleeps)) = sent.take() {
                            power.acknowledged(now_ns, &from_station(sleeps));
                        }
                        None
                    }
                    _ => { power.acknowledged(now_ns, &frame(0x08, 1, NETWORK)); None }
                };
                sent = next.or(sent);
                let counted = power.counters(now_ns);
                prop_assert!(counted.asleep_ns >= asleep_ns && counted.asleep_ns <= now_ns);
                prop_assert!(counted.announced >= counted.woken_by_host + counted.woken_by_access_point);
                asleep_ns = counted.asleep_ns;
            }
        }
    }
}
