//! Carries a script out: says what is due, and how a frame is met.

use super::script::{Action, Event, FrameKind};
use crate::peers::EventCounters;

const MS: u64 = 1_000_000;

/// How a frame of the station is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Verdict {
    /// As usual.
    #[default]
    Usual,
    /// Neither acknowledged nor taken.
    NoAck,
    /// Acknowledged, nothing more.
    Ignore,
    /// The answer comes later by this many nanoseconds.
    Delay(u64),
    /// The answer is no, with this status or a usual one.
    Refuse(Option<u16>),
    /// The answer has this many bytes.
    Cut(usize),
    /// No Block Ack.
    NoBlockAck,
    /// A Block Ack this many nanoseconds late.
    LateBlockAck(u64),
}

struct Armed {
    event: Event,
    /// Frames of its kind.
    seen: u64,
    /// How often it happened.
    happened: u64,
}

/// The script and how far it is.
#[derive(Default)]
pub(super) struct Director {
    armed: Vec<Armed>,
    since: Since,
}

/// What times count from.
#[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct Since {
    /// The first moment that it was asked about: the clock of a guest does not start with the run.
    started_ns: Option<u64>,
    /// The first association.
    associated_ns: Option<u64>,
}

impl Armed {
    /// From when on, if that is known.
    fn start_ns(&self, since: Since) -> Option<u64> {
        match self.event.at_ms {
            Some(ms) => Some(since.associated_ns?.saturating_add(ms.saturating_mul(MS))),
            None => since.started_ns,
        }
    }

    fn end_ns(&self, since: Since) -> Option<u64> {
        let for_ns = self.event.for_ms?.saturating_mul(MS);
        Some(self.start_ns(since)?.saturating_add(for_ns))
    }

    fn is_on(&self, now_ns: u64, since: Since) -> bool {
        self.start_ns(since).is_some_and(|from_ns| from_ns <= now_ns)
            && self.end_ns(since).is_none_or(|until_ns| now_ns < until_ns)
    }

    /// Counts a frame of its kind; whether it is one that it happens to.
    fn meets(&mut self) -> bool {
        self.seen += 1;
        let times = self.event.times.or(self.event.action.is_moment().then_some(1));
        let end = times.map_or(u64::MAX, |times| self.event.nth.saturating_add(times));
        let now = (self.event.nth..end).contains(&self.seen);
        self.happened += u64::from(now);
        now
    }
}

impl Director {
    pub(super) fn new(events: Vec<Event>) -> Self {
        let armed = events.into_iter().map(|event| Armed { event, seen: 0, happened: 0 }).collect();
        Self { armed, since: Since::default() }
    }

    /// What times count from; the first call is the start.
    fn since_now(&mut self, now_ns: u64) -> Since {
        self.since.started_ns.get_or_insert(now_ns);
        self.since
    }

    /// The station is associated; the first time counts.
    pub(super) fn associated(&mut self, now_ns: u64) {
        self.since_now(now_ns);
        self.since.associated_ns.get_or_insert(now_ns);
    }

    /// Moments that have come.
    pub(super) fn due(&mut self, now_ns: u64) -> Vec<Event> {
        let since = self.since_now(now_ns);
        let mut due = Vec::new();
        for armed in &mut self.armed {
            let by_time = armed.event.action.is_moment() && armed.event.frame.is_none() && armed.happened == 0;
            if by_time && armed.is_on(now_ns, since) {
                armed.happened = 1;
                due.push(armed.event.clone());
            }
        }
        due
    }

    /// When a moment comes next.
    pub(super) fn next_event(&self) -> Option<u64> {
        let waiting = self
            .armed
            .iter()
            .filter(|armed| armed.event.action.is_moment() && armed.event.frame.is_none() && armed.happened == 0);
        waiting.filter_map(|armed| armed.start_ns(self.since)).min()
    }

    /// Whether it sends beacons.
    pub(super) fn beacons(&mut self, now_ns: u64) -> bool {
        let since = self.since_now(now_ns);
        let silent = |armed: &&mut Armed| armed.event.action == Action::NoBeacons && armed.is_on(now_ns, since);
        match self.armed.iter_mut().find(silent) {
            Some(armed) => {
                armed.happened += 1;
                false
            }
            None => true,
        }
    }

    /// A frame arrived: how it is met, and what it sets off. The first event that matches counts; all count the frame.
    pub(super) fn met(&mut self, now_ns: u64, kind: FrameKind, moments: &mut Vec<Event>) -> Verdict {
        let since = self.since_now(now_ns);
        let mut verdict = Verdict::Usual;
        for armed in &mut self.armed {
            if armed.event.frame != Some(kind) || !armed.is_on(now_ns, since) || !armed.meets() {
                continue;
            }
            let Event { action, by_us, status, length, .. } = &armed.event;
            let by_ns = by_us.unwrap_or(0).saturating_mul(1_000);
            let says = match action {
                Action::NoAck => Verdict::NoAck,
                Action::Ignore => Verdict::Ignore,
                Action::Delay => Verdict::Delay(by_ns),
                Action::Refuse => Verdict::Refuse(*status),
                Action::Cut => Verdict::Cut(length.unwrap_or(0)),
                Action::NoBlockAck => Verdict::NoBlockAck,
                Action::LateBlockAck => Verdict::LateBlockAck(by_ns),
                _ => {
                    moments.push(armed.event.clone());
                    continue;
                }
            };
            if verdict == Verdict::Usual {
                verdict = says;
            }
        }
        verdict
    }

    /// What happened how often.
    pub(super) fn statistics(&self) -> Vec<EventCounters> {
        let one = |armed: &Armed| EventCounters { name: armed.event.name.clone(), happened: armed.happened };
        self.armed.iter().map(one).collect()
    }
}

crate::state!(Director { since } each { armed });
crate::state!(Armed { seen, happened } made { event });

#[cfg(test)]
mod tests {
    use super::*;

    fn director(text: &str) -> Director {
        #[derive(serde::Deserialize)]
        struct Script {
            ap: Vec<Event>,
        }
        let script: Script = toml::from_str(text).unwrap();
        script.ap.iter().for_each(|event| event.check().unwrap());
        Director::new(script.ap)
    }

    #[test]
    fn moments_come_once_and_count_from_the_association() {
        let mut director = director("[[ap]]\naction = \"deauthenticate\"\nat_ms = 5\n");
        assert_eq!((director.next_event(), director.due(u64::MAX).len()), (None, 0));
        director.associated(100);
        director.associated(1_000);
        assert_eq!(director.next_event(), Some(5_000_100));
        assert_eq!(director.due(5_000_099).len(), 0);
        assert_eq!((director.due(5_000_100).len(), director.due(5_000_100).len()), (1, 0));
        assert_eq!(director.next_event(), None);
    }

    #[test]
    fn frames_are_counted() {
        let mut director = director(
            "[[ap]]\nframe = \"association\"\nnth = 2\ntimes = 2\naction = \"refuse\"\nstatus = 17\n\
             [[ap]]\nframe = \"data\"\nnth = 3\naction = \"forget\"\n\
             [[ap]]\nframe = \"data\"\naction = \"no_ack\"\nat_ms = 1\nfor_ms = 1\n",
        );
        let mut moments = Vec::new();
        let verdicts: Vec<_> = (0..4).map(|_| director.met(0, FrameKind::Association, &mut moments)).collect();
        let refused = Verdict::Refuse(Some(17));
        assert_eq!(verdicts, [Verdict::Usual, refused, refused, Verdict::Usual]);
        director.associated(0);
        for (now_ns, verdict) in [
            (MS - 1, Verdict::Usual),
            (MS, Verdict::NoAck),
            (2 * MS - 1, Verdict::NoAck),
            (2 * MS, Verdict::Usual),
            (3 * MS, Verdict::Usual),
        ] {
            assert_eq!(director.met(now_ns, FrameKind::Data, &mut moments), verdict, "{now_ns}");
        }
        assert_eq!(moments.len(), 1);
        assert_eq!(director.statistics()[0].happened, 2);
    }

    #[test]
    fn what_has_no_start_of_its_own_counts_from_the_first_moment() {
        let mut director = director("[[ap]]\naction = \"no_beacons\"\nfor_ms = 20\n");
        // A guest has run for 15 s when the chip is plugged in.
        let plugged_ms = 15_000;
        assert!(director.due(plugged_ms * MS).is_empty());
        let sent: Vec<_> = [0, 19, 20].map(|ms| director.beacons((plugged_ms + ms) * MS)).into();
        assert_eq!(sent, [false, false, true]);
    }

    #[test]
    fn beacons_stop_and_come_back() {
        let mut director = director("[[ap]]\naction = \"no_beacons\"\nat_ms = 10\nfor_ms = 20\n");
        assert!(director.beacons(u64::MAX), "no station is associated");
        director.associated(0);
        let sent: Vec<_> = [9, 10, 29, 30].map(|ms| director.beacons(ms * MS)).into();
        assert_eq!(sent, [true, false, false, true]);
    }
}
