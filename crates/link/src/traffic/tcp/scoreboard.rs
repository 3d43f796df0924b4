//! What was sent and not yet acknowledged: SACK (RFC 2018, RFC 6675) and RACK loss detection (RFC 8985, 6).

use std::collections::VecDeque;

/// What the sender knew when it sent a segment: needed for the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendState {
    /// Segments that had been delivered.
    pub delivered: u64,
    /// When the last of them was.
    pub delivered_ns: u64,
    /// When the first segment of this flight was sent.
    pub first_sent_ns: u64,
    /// The application, not the window, limited the flow.
    pub app_limited: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Every transmission has a number of its own, in their order.
    transmission: u64,
    sent_ns: u64,
    state: SendState,
    sacked: bool,
    lost: bool,
    /// A retransmission of it is under way.
    again: bool,
    /// It was retransmitted at some time, so it is not clear what an ACK of it is for (Karn's algorithm).
    ever_again: bool,
}

/// A segment that has just been delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub transmission: u64,
    pub sent_ns: u64,
    pub state: SendState,
    pub ever_again: bool,
}

/// What an ACK reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acknowledged {
    /// Segments below the cumulative ACK that were not before.
    pub acked: u32,
    /// Segments delivered that were not known to be.
    pub delivered: u32,
    /// The one of them that was sent last.
    pub latest: Option<Delivered>,
    /// When the first of those was sent that were sent once and are below the cumulative ACK, or else are in a SACK block.
    pub oldest_sent_ns: Option<u64>,
    /// A segment that was sent once arrived after one with a higher number.
    pub reordered: bool,
}

/// The scoreboard. Segments are identified by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    una: u64,
    sent: VecDeque<Sent>,
    /// Transmissions in their order, stale ones included: RACK looks at the oldest only.
    order: VecDeque<(u64, u64)>,
    transmissions: u64,
    sacked: u32,
    lost: u32,
    again: u32,
    /// Segments that were retransmitted at some time and have not arrived, as far as is known.
    repeated: u32,
    /// No lost segment below this one waits for its retransmission.
    lost_from: u64,
    /// One past the highest that was ever delivered.
    highest: u64,
    /// The SACK blocks of the last ACK: what is in them needs no second look.
    known: [(u64, u64); 4],
}

impl Scoreboard {
    /// First segment that is not acknowledged.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Number of the next new segment.
    pub(crate) fn next(&self) -> u64 {
        self.una + self.sent.len() as u64
    }

    /// Segments sent and not cumulatively acknowledged.
    pub(crate) fn outstanding(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Segments that SACK says have arrived.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments thought to be in the network: RFC 6675's pipe.
    pub(crate) fn in_flight(&self) -> u32 {
        (self.outstanding() + self.again).saturating_sub(self.sacked + self.lost)
    }

    /// Whether an ACK to come may be for a retransmission.
    pub(crate) fn repeating(&self) -> bool {
        self.repeated > 0
    }

    /// A new segment is sent. Gives its number.
    pub(crate) fn send_new(&mut self, now_ns: u64, state: SendState) -> u64 {
        let number = self.next();
        let transmission = self.transmissions;
        self.transmissions += 1;
        self.sent.push_back(Sent {
            transmission,
            sent_ns: now_ns,
            state,
            sacked: false,
            lost: false,
            again: false,
            ever_again: false,
        });
        self.order.push_back((number, transmission));
        number
    }

    /// A segment is sent again; it must be outstanding.
    pub(crate) fn send_again(&mut self, now_ns: u64, number: u64, state: SendState) {
        let transmission = self.transmissions;
        let Some(sent) = self.get_mut(number) else { return };
        let (counted, repeated) = (sent.again, sent.ever_again);
        *sent = Sent { transmission, sent_ns: now_ns, state, again: true, ever_again: true, ..*sent };
        self.transmissions += 1;
        self.again += u32::from(!counted);
        self.repeated += u32::from(!repeated);
        self.order.push_back((number, transmission));
        if number == self.lost_from {
            self.lost_from += 1;
        }
    }

    /// The first lost segment that was not retransmitted since.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let from = self.lost_from.max(self.una);
        let waits = |s: &Sent| s.lost && !s.again;
        let found = self.sent.range((from - self.una) as usize..).position(waits).map(|i| from + i as u64);
        self.lost_from = found.unwrap_or_else(|| self.next());
        found
    }

    /// The last segment that has not arrived, as far as is known.
    pub(crate) fn last_missing(&self) -> Option<u64> {
        self.sent.iter().rposition(|s| !s.sacked).map(|i| self.una + i as u64)
    }

    /// An ACK arrives. Blocks that cannot be are left out.
    pub(crate) fn acknowledge(&mut self, ack: u64, blocks: &[(u64, u64)]) -> Acknowledged {
        let mut outcome = Acknowledged::default();
        let highest_before = self.highest;
        let mut oldest_sacked = None;
        let ack = ack.min(self.next());
        while self.una < ack {
            let Some(sent) = self.sent.pop_front() else { break };
            self.lost -= u32::from(sent.lost);
            self.again -= u32::from(sent.again);
            self.sacked -= u32::from(sent.sacked);
            if !sent.sacked {
                self.repeated -= u32::from(sent.ever_again);
                outcome.delivered += 1;
                if !sent.ever_again {
                    outcome.oldest_sent_ns.get_or_insert(sent.sent_ns);
                    outcome.reordered |= self.una < highest_before;
                }
                note_latest(&mut outcome.latest, &sent);
            }
            self.una += 1;
            outcome.acked += 1;
        }
        self.highest = self.highest.max(self.una);
        let mut known = [(0, 0); 4];
        for (slot, &(first, end)) in known.iter_mut().zip(blocks) {
            let (first, end) = (first.max(self.una), end.min(self.next()));
            if first >= end {
                continue;
            }
            *slot = (first, end);
            // What was in a block of the last ACK is known: look only before and behind it.
            let seen = self.known.iter().find(|k| k.0 < end && first < k.1).copied().unwrap_or((end, end));
            for number in (first..end.min(seen.0)).chain(seen.1.max(first)..end) {
                self.sack(number, highest_before, &mut outcome, &mut oldest_sacked);
            }
            self.highest = self.highest.max(end);
        }
        self.known = known;
        if outcome.acked == 0 || outcome.oldest_sent_ns.is_none() {
            outcome.oldest_sent_ns = outcome.oldest_sent_ns.or(oldest_sacked);
        }
        // Stale transmissions at the front go, so that the list stays as long as the window.
        while let Some(&(number, transmission)) = self.order.front() {
            if number >= self.una && self.get(number).is_some_and(|s| s.transmission == transmission) {
                break;
            }
            self.order.pop_front();
        }
        outcome
    }

    fn sack(&mut self, number: u64, highest: u64, outcome: &mut Acknowledged, oldest: &mut Option<u64>) {
        let Some(sent) = self.get_mut(number) else { return };
        if sent.sacked {
            return;
        }
        sent.sacked = true;
        let was = *sent;
        (sent.lost, sent.again) = (false, false);
        self.lost -= u32::from(was.lost);
        self.again -= u32::from(was.again);
        self.repeated -= u32::from(was.ever_again);
        self.sacked += 1;
        outcome.delivered += 1;
        if !was.ever_again {
            oldest.get_or_insert(was.sent_ns);
            outcome.reordered |= number < highest;
        }
        note_latest(&mut outcome.latest, &was);
    }

    /// RACK (RFC 8985, 6.2, step 5): a transmission is lost when one that was sent after it has been delivered
    /// (`latest` is the last such) and `patience_ns` have passed since it was sent. Gives how many are lost now, and when
    /// to look again.
    pub(crate) fn detect_losses(&mut self, now_ns: u64, latest: u64, patience_ns: u64) -> (u32, Option<u64>) {
        let mut newly = 0;
        while let Some(&(number, transmission)) = self.order.front() {
            let Some(sent) = self.get(number).filter(|s| s.transmission == transmission) else {
                self.order.pop_front();
                continue;
            };
            if sent.sacked || (sent.lost && !sent.again) {
                self.order.pop_front();
                continue;
            }
            if transmission >= latest {
                break;
            }
            let due = sent.sent_ns + patience_ns;
            if due > now_ns {
                return (newly, Some(due));
            }
            self.mark_lost(number);
            newly += 1;
            self.order.pop_front();
        }
        (newly, None)
    }

    /// A segment will not arrive: its own host dropped it.
    pub(crate) fn mark_lost(&mut self, number: u64) {
        let Some(sent) = self.get_mut(number) else { return };
        if sent.sacked {
            return;
        }
        let was = *sent;
        (sent.lost, sent.again) = (true, false);
        self.lost += u32::from(!was.lost);
        self.again -= u32::from(was.again);
        self.lost_from = self.lost_from.min(number);
    }

    /// After a timeout: whatever SACK does not say has arrived is lost (RFC 6675, 5.1, as Linux does).
    pub(crate) fn mark_all_lost(&mut self) {
        for number in self.una..self.next() {
            self.mark_lost(number);
        }
    }

    /// The losses were spurious: what was sent is in flight (RFC 4015). A retransmission counts no longer beside what it
    /// repeats.
    pub(crate) fn forget_losses(&mut self) {
        self.order.clear();
        for (number, sent) in (self.una..).zip(&mut self.sent) {
            (sent.lost, sent.again) = (false, false);
            if !sent.sacked {
                self.order.push_back((number, sent.transmission));
            }
        }
        (self.lost, self.again) = (0, 0);
        self.order.make_contiguous().sort_unstable_by_key(|o| o.1);
    }

    fn get(&self, number: u64) -> Option<&Sent> {
        self.sent.get(usize::try_from(number.checked_sub(self.una)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Sent> {
        self.sent.get_mut(usize::try_from(number.checked_sub(self.una)?).ok()?)
    }
}

fn note_latest(latest: &mut Option<Delivered>, sent: &Sent) {
    if latest.is_none_or(|l| l.transmission < sent.transmission) {
        *latest = Some(Delivered {
            transmission: sent.transmission,
            sent_ns: sent.sent_ns,
            state: sent.state,
            ever_again: sent.ever_again,
        });
    }
}
