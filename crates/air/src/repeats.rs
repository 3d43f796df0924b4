//! Beacons and probe responses say the same again and again: those that do are not read again.

use std::sync::Arc;

use wire::ieee80211::{FrameControl, FrameKind, MacAddr, Management};

use crate::network::Recall;

/// Senders remembered; those that share a slot replace each other.
const SLOTS: usize = 2_048;
/// Longer bodies are not remembered.
const MAX_BODY_BYTES: usize = 1_024;
/// The TSF timestamp, at the start of the body, is new in every frame.
const TIMESTAMP_BYTES: usize = 8;
/// Timestamp, beacon interval and capability information.
const FIXED_BYTES: usize = 12;
/// The TIM element, too, is new in every beacon.
const TIM_ID: u8 = 5;
/// A TIM element with fewer bytes cannot be read.
const SHORTEST_TIM: usize = 3;

#[derive(Debug)]
struct Repeat {
    body: Vec<u8>,
    /// Where the first TIM element starts and ends; twice the end of the body when there is none.
    tim: (usize, usize),
    management: Arc<Management>,
    recall: Recall,
}

impl Repeat {
    /// Does `body` differ from the known one in nothing but the timestamp and the TIM element?
    fn is_said_again(&self, body: &[u8]) -> bool {
        let (tim_at, tim_end) = self.tim;
        if body.get(TIMESTAMP_BYTES..tim_at) != self.body.get(TIMESTAMP_BYTES..tim_at) {
            return false;
        }
        let rest = body.get(tim_at..).unwrap_or_default();
        match rest {
            _ if tim_at == tim_end => rest.is_empty(),
            [TIM_ID, len, ..] if usize::from(*len) >= SHORTEST_TIM => {
                let after = rest.get(2 + usize::from(*len)..);
                after.is_some() && after == self.body.get(tim_end..)
            }
            _ => false,
        }
    }
}

/// What one sender said last.
#[derive(Debug, Default)]
struct Sender {
    address: MacAddr,
    beacon: Option<Box<Repeat>>,
    probe_response: Option<Box<Repeat>>,
    /// Which of the two was handed over last.
    latest: Option<FrameKind>,
}

impl Sender {
    fn said(&mut self, kind: FrameKind) -> &mut Option<Box<Repeat>> {
        match kind {
            FrameKind::Beacon => &mut self.beacon,
            _ => &mut self.probe_response,
        }
    }
}

/// A management frame's contents.
#[derive(Debug)]
pub enum Said<'a> {
    /// New.
    New(Arc<Management>),
    /// Those of an earlier frame of the same sender, which were handed over last of all that it said.
    Again(&'a Arc<Management>, &'a mut Recall),
    /// Those of an earlier frame of the same sender, which has said something else since.
    Before(&'a Arc<Management>, &'a mut Recall),
}

/// The latest beacon and probe response of each sender.
#[derive(Debug)]
pub struct Repeats {
    senders: Vec<Sender>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { senders: std::iter::repeat_with(Sender::default).take(SLOTS).collect() }
    }
}

impl Repeats {
    /// Reads the body of a management frame, as [`Management::parse`] does. Of a frame that repeats an earlier one,
    /// the earlier one's contents are returned: timestamp and TIM are those of then. With `remember`, this frame is
    /// kept for comparison with later ones.
    pub fn read(&mut self, address: MacAddr, fc: FrameControl, body: &[u8], remember: bool) -> Option<Said<'_>> {
        let kind = fc.kind();
        if !matches!(kind, FrameKind::Beacon | FrameKind::ProbeResponse) {
            return Management::parse(fc, body).map(Arc::new).map(Said::New);
        }
        let Some(sender) = self.senders.get_mut(slot_of(address)) else {
            return Management::parse(fc, body).map(Arc::new).map(Said::New);
        };
        let is_latest = sender.latest == Some(kind);
        let is_same = sender.address == address;
        if is_same {
            // What a frame says that is not remembered may be believed all the same: nothing is the latest after it.
            sender.latest = remember.then_some(kind);
        }
        if is_same && sender.said(kind).as_ref().is_some_and(|known| known.is_said_again(body)) {
            let known = sender.said(kind).as_mut()?;
            return Some(match remember && is_latest {
                true => Said::Again(&known.management, &mut known.recall),
                false => Said::Before(&known.management, &mut known.recall),
            });
        }
        if is_same {
            sender.latest = None;
        }
        let management = Arc::new(Management::parse(fc, body)?);
        if remember && body.len() <= MAX_BODY_BYTES {
            if let Some(tim) = tim_of(body) {
                if !is_same {
                    *sender = Sender { address, ..Sender::default() };
                }
                sender.latest = Some(kind);
                let (recall, management) = (Recall::default(), management.clone());
                match sender.said(kind) {
                    Some(known) => {
                        known.body.clear();
                        known.body.extend_from_slice(body);
                        (known.tim, known.management, known.recall) = (tim, management, recall);
                    }
                    new => *new = Some(Box::new(Repeat { body: body.to_vec(), tim, management, recall })),
                }
            }
        }
        Some(Said::New(management))
    }
}

fn slot_of(sender: MacAddr) -> usize {
    // Fibonacci hashing: access points of one maker differ in few bits.
    (sender.as_u64().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % SLOTS
}

/// Start and end of the first TIM element; `None` when it is too short to be read.
fn tim_of(body: &[u8]) -> Option<(usize, usize)> {
    let mut at = FIXED_BYTES;
    while let Some([id, len, ..]) = body.get(at..) {
        let end = at + 2 + usize::from(*len);
        if end > body.len() {
            break;
        }
        if *id == TIM_ID {
            return (usize::from(*len) >= SHORTEST_TIM).then_some((at, end));
        }
        at = end;
    }
    Some((body.len(), body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEACON: FrameControl = FrameControl(0x0080);

    fn without_what_changes(mut management: Management) -> Management {
        use wire::ieee80211::FixedFields;
        if let FixedFields::Beacon { timestamp_us, .. } = &mut management.fixed {
            *timestamp_us = 0;
        }
        management.capabilities.tim = None;
        management
    }

    fn body(timestamp: u64, elements: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut body = timestamp.to_le_bytes().to_vec();
        body.extend([100, 0, 0x31, 4]);
        for (id, data) in elements {
            body.extend([*id, data.len() as u8]);
            body.extend(data);
        }
        body
    }

    #[test]
    fn a_repeated_beacon_is_not_read_again() {
        let mut repeats = Repeats::default();
        let ap = MacAddr([2, 0, 0, 0, 0, 1]);
        let beacon = |time, tim: &[u8]| body(time, &[(0, b"lab".to_vec()), (5, tim.to_vec()), (42, vec![1])]);
        let Some(Said::New(first)) = repeats.read(ap, BEACON, &beacon(1, &[0, 2, 0, 0]), true) else { panic!() };
        let again = repeats.read(ap, BEACON, &beacon(2, &[1, 2, 1, 0, 7, 9]), true);
        assert!(matches!(again, Some(Said::Again(management, _)) if Arc::ptr_eq(management, &first)));
        let other = body(3, &[(0, b"bal".to_vec()), (5, vec![0, 2, 0, 0])]);
        let Some(Said::New(other)) = repeats.read(ap, BEACON, &other, true) else { panic!() };
        assert_eq!(other.capabilities.ssid.unwrap().as_bytes(), b"bal");
    }

    /// The reader of what is handed over keeps the latest: a repeat after something else must be handed over again.
    #[test]
    fn what_was_said_before_something_else_is_handed_over_again() {
        const PROBE_RESPONSE: FrameControl = FrameControl(0x0050);
        let mut repeats = Repeats::default();
        let ap = MacAddr([2, 0, 0, 0, 0, 1]);
        let said = body(1, &[(0, b"lab".to_vec())]);
        let other = body(1, &[(0, b"bal".to_vec())]);
        assert!(matches!(repeats.read(ap, BEACON, &said, true), Some(Said::New(_))));
        assert!(matches!(repeats.read(ap, BEACON, &said, true), Some(Said::Again(..))));
        assert!(matches!(repeats.read(ap, PROBE_RESPONSE, &other, true), Some(Said::New(_))));
        assert!(matches!(repeats.read(ap, BEACON, &said, true), Some(Said::Before(..))));
        assert!(matches!(repeats.read(ap, BEACON, &said, true), Some(Said::Again(..))));
        // Damaged, but perhaps believed later.
        assert!(matches!(repeats.read(ap, BEACON, &other, false), Some(Said::New(_))));
        assert!(matches!(repeats.read(ap, BEACON, &said, true), Some(Said::Before(..))));
        assert!(matches!(repeats.read(ap, PROBE_RESPONSE, &other, true), Some(Said::Before(..))));
    }

    proptest! {
        /// Whatever came before: what is returned is what reading afresh would give.
        #[test]
        fn nothing_but_timestamp_and_tim_is_old(
            frames in proptest::collection::vec(
                (any::<u64>(), proptest::collection::vec(
                    (prop_oneof![Just(0u8), Just(3), Just(5), Just(42)], proptest::collection::vec(0u8..2, 0..5)), 0..4),
                 0usize..4),
                1..60),
        ) {
            let mut repeats = Repeats::default();
            for (time, elements, cut) in frames {
                let mut body = body(time, &elements);
                body.truncate(body.len() - cut);
                let got = repeats.read(MacAddr::ZERO, BEACON, &body, true).map(|said| match said {
                    Said::New(management) => without_what_changes(*management),
                    Said::Again(management, _) => without_what_changes(**management),
                    Said::Before(management, _) => without_what_changes(**management),
                });
                prop_assert_eq!(got, Management::parse(BEACON, &body).map(without_what_changes));
            }
        }
    }
}
