//! One direction of a TCP connection on one hop: which segments come again.

use std::collections::VecDeque;

use hashbrown::HashMap;
use wire::ip::TcpSegment;

use super::mpdus::Place;

/// Segments kept of a flow.
const MAX_SEGMENTS: usize = 4_096;
/// Segments looked through for one that begins elsewhere but overlaps.
const MAX_LOOKED_AT: usize = 64;
/// Gaps in the sequence numbers that are remembered.
const MAX_HOLES: usize = 64;

/// `a` comes after `b` in sequence space.
fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    start: u32,
    end: u32,
    /// The MPDU that carried it.
    pub place: Option<Place>,
    /// When.
    pub at_ns: i64,
}

/// What a segment is, seen from the ones before it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Takes no sequence numbers: an acknowledgement.
    Bare,
    /// Bytes beyond all before.
    New,
    /// One byte or none just below the next: asks whether the peer is there.
    KeepAlive,
    /// Bytes that were sent before; the copy before this one.
    Again(Sent),
    /// Bytes below the highest that were not captured before.
    Unseen,
}

/// State of a direction.
#[derive(Debug, Default)]
pub struct Direction {
    next: Option<u32>,
    sent: VecDeque<Sent>,
    /// Running number of the first one kept.
    first: u64,
    by_start: HashMap<u32, u64>,
    holes: Vec<(u32, u32)>,
}

impl Direction {
    /// Takes a segment in a new MPDU (not another attempt of one).
    pub fn segment(&mut self, segment: &TcpSegment, place: Option<Place>, at_ns: i64) -> Kind {
        let start = segment.sequence;
        let end = start.wrapping_add(segment.sequence_len());
        if segment.syn() && !self.by_start.contains_key(&start) {
            *self = Self::default(); // another connection between the same ports
        }
        if start == end {
            let probes = !segment.fin() && self.next == Some(start.wrapping_add(1));
            return if probes { Kind::KeepAlive } else { Kind::Bare };
        }
        let kind = match self.next {
            None => Kind::New,
            Some(next) if !after(next, start) => {
                if start != next && self.holes.len() < MAX_HOLES {
                    self.holes.push((next, start));
                }
                Kind::New
            }
            Some(next)
                if segment.sequence_len() == 1 && start.wrapping_add(1) == next && !segment.fin() && !segment.syn() =>
            {
                return Kind::KeepAlive;
            }
            Some(_) => match self.before(start, end) {
                Some(sent) => Kind::Again(sent),
                None => {
                    self.fill(start, end);
                    Kind::Unseen
                }
            },
        };
        if self.next.is_none_or(|next| after(end, next)) {
            self.next = Some(end);
        }
        self.remember(Sent { start, end, place, at_ns });
        kind
    }

    /// The latest copy of these bytes, or of some of them.
    fn before(&self, start: u32, end: u32) -> Option<Sent> {
        let same = self.by_start.get(&start).and_then(|number| number.checked_sub(self.first));
        let same = same.and_then(|index| self.sent.get(usize::try_from(index).ok()?));
        let overlaps = |sent: &&Sent| after(end, sent.start) && after(sent.end, start);
        same.or_else(|| self.sent.iter().rev().take(MAX_LOOKED_AT).find(overlaps)).copied()
    }

    fn fill(&mut self, start: u32, end: u32) {
        let holes = std::mem::take(&mut self.holes);
        for (from, to) in holes {
            if !after(to, start) || !after(end, from) {
                self.holes.push((from, to));
                continue;
            }
            if after(start, from) {
                self.holes.push((from, start));
            }
            if after(to, end) {
                self.holes.push((end, to));
            }
        }
        self.holes.truncate(MAX_HOLES);
    }

    fn remember(&mut self, sent: Sent) {
        if self.sent.len() >= MAX_SEGMENTS {
            if let Some(oldest) = self.sent.pop_front() {
                if self.by_start.get(&oldest.start) == Some(&self.first) {
                    self.by_start.remove(&oldest.start);
                }
            }
            self.first += 1;
        }
        self.by_start.insert(sent.start, self.first + self.sent.len() as u64);
        self.sent.push_back(sent);
    }

    /// Bytes below the highest that were never captured.
    pub fn missing(&self) -> u64 {
        self.holes.iter().map(|(from, to)| u64::from(to.wrapping_sub(*from))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(sequence: u32, payload_len: u32) -> TcpSegment {
        TcpSegment { sequence, acknowledgment: 0, flags: 0x10, payload_len }
    }

    fn kinds(segments: &[TcpSegment]) -> Vec<&'static str> {
        let mut direction = Direction::default();
        let name = |kind| match kind {
            Kind::Bare => "bare",
            Kind::New => "new",
            Kind::KeepAlive => "keep-alive",
            Kind::Again(_) => "again",
            Kind::Unseen => "unseen",
        };
        segments.iter().map(|segment| name(direction.segment(segment, None, 0))).collect()
    }

    #[test]
    fn segments_are_told_apart() {
        assert_eq!(
            kinds(&[data(1, 100), data(101, 100), data(1, 100), data(51, 100)]),
            ["new", "new", "again", "again"]
        );
        assert_eq!(
            kinds(&[data(1, 100), data(201, 100), data(101, 100), data(101, 100)]),
            ["new", "new", "unseen", "again"]
        );
        assert_eq!(
            kinds(&[data(1, 100), data(101, 0), data(100, 0), data(100, 1)]),
            ["new", "bare", "keep-alive", "keep-alive"]
        );
        // Across the end of the sequence numbers.
        assert_eq!(kinds(&[data(u32::MAX - 49, 100), data(50, 10), data(u32::MAX - 49, 100)]), ["new", "new", "again"]);
    }

    #[test]
    fn a_syn_begins_another_connection_and_a_repeated_one_does_not() {
        let syn = |sequence| TcpSegment { sequence, acknowledgment: 0, flags: 0x02, payload_len: 0 };
        let fin = TcpSegment { sequence: 101, acknowledgment: 0, flags: 0x11, payload_len: 0 };
        assert_eq!(
            kinds(&[syn(0), syn(0), data(1, 100), fin, fin, syn(5), data(6, 10)]),
            ["new", "again", "new", "new", "again", "new", "new"]
        );
    }

    #[test]
    fn missing_bytes_are_what_holes_are_left() {
        let mut direction = Direction::default();
        for segment in [data(0, 10), data(100, 10), data(40, 20)] {
            direction.segment(&segment, None, 0);
        }
        assert_eq!((direction.missing(), direction.holes.len()), (70, 2));
        direction.segment(&data(0, 100), None, 0);
        assert_eq!(direction.sent.len(), 4);
    }

    proptest::proptest! {
        #[test]
        fn any_segments_are_taken_and_nothing_grows(
            segments in proptest::collection::vec((proptest::prelude::any::<u32>(), 0u8..64, 0u32..3_000), 0..300),
        ) {
            let mut direction = Direction::default();
            for (sequence, flags, payload_len) in segments {
                direction.segment(&TcpSegment { sequence, acknowledgment: 0, flags, payload_len }, None, 0);
                assert!(direction.holes.len() <= MAX_HOLES && direction.by_start.len() <= direction.sent.len());
            }
        }
    }
}
