//! Requests of one endpoint that have been handed over and have not come back, and what their order tells of missing records.
//!
//! An endpoint is served in the order in which requests are handed over; only a driver takes one back out of turn. So when a
//! later request has succeeded, those before it have come back, seen or not: they were *overtaken*, and their completion is
//! missing in the capture. Likewise, a completion without submission belongs to a request from before the capture only as
//! long as no request that was handed over in it has succeeded.
//!
//! Streams of USB 3 keep no such order. Where overtaken requests come back after all, the order says nothing, and only
//! requests whose identifier is used again count as missing their completion.

use std::collections::VecDeque;

/// Requests whose order is followed.
const FOLLOWED_MAX: usize = 16_384;
/// One request in this many may come back after a later one: identifiers are used again while records are missing.
const LATE: u64 = 10;

/// How many were under way over time.
#[derive(Clone, Debug, Default)]
struct Level {
    now: u64,
    max: u64,
    /// Sum of requests under way times µs.
    time: u128,
}

impl Level {
    fn add(&mut self) {
        self.now += 1;
    }

    fn take(&mut self) {
        self.now = self.now.saturating_sub(1);
    }

    fn pass(&mut self, us: u128) {
        self.max = self.max.max(self.now);
        self.time = self.time.saturating_add(us * u128::from(self.now));
    }
}

/// Completions whose submission is not in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    pub any: u64,
    /// Their submission would have to be in the capture.
    pub lost: u64,
    /// They can be of requests from before the capture: those that were handed over in it came back later.
    pub from_before: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    /// Requests handed over, which is the turn of the next.
    turns: u64,
    /// From the oldest request that can be under way: whether it is.
    waiting: VecDeque<bool>,
    /// More were under way than are followed.
    is_too_long: bool,
    /// Without those that were overtaken.
    in_order: Level,
    all: Level,
    changed_us: Option<i64>,
    /// Time in which it is known how many were under way.
    followed_us: u128,
    came_back: u64,
    overtaken: u64,
    /// Overtaken requests that came back.
    late: u64,
    /// Requests whose identifier was used again before they came back, and those of them that had been overtaken.
    replaced: [u64; 2],
    /// A request that was handed over in the capture has succeeded.
    has_succeeded: bool,
    /// Completions without submission, those of them behind such a success, and those in front of it.
    unmatched: [u64; 3],
    /// Those since which there was none.
    unplaced: u64,
}

impl UnderWay {
    /// Time goes on.
    pub fn advance(&mut self, time: Option<i64>) {
        let Some(now) = time else { return };
        let passed = self.changed_us.map_or(0, |before| now.saturating_sub(before).max(0) as u128);
        self.followed_us = self.followed_us.saturating_add(passed);
        self.in_order.pass(passed);
        self.all.pass(passed);
        self.changed_us = Some(self.changed_us.map_or(now, |before| before.max(now)));
    }

    /// A request is handed over; its turn.
    pub fn hand_over(&mut self, is_inside: bool) -> u64 {
        let turn = self.turns;
        self.turns += 1;
        self.waiting.push_back(true);
        if self.waiting.len() > FOLLOWED_MAX {
            self.waiting.pop_front();
            self.is_too_long = true;
        }
        self.in_order.add();
        self.all.add();
        if is_inside {
            self.in_order.pass(0);
            self.all.pass(0);
        }
        turn
    }

    /// The request of this turn comes back; `is_success`: when it was its turn, and not because the driver took it back.
    pub fn come_back(&mut self, turn: u64, is_success: bool, is_inside: bool) {
        self.came_back += u64::from(is_inside);
        if is_success {
            self.has_succeeded = true;
            let [.., before] = &mut self.unmatched;
            *before += std::mem::take(&mut self.unplaced);
        }
        self.all.take();
        let Some(place) = self.place(turn) else {
            self.late += u64::from(is_inside);
            return;
        };
        self.leave(place);
        if is_success {
            for _ in self.waiting.drain(..=place).filter(|is_waiting| *is_waiting) {
                self.overtaken += u64::from(is_inside);
                self.in_order.take();
            }
        }
        self.shorten();
    }

    /// Nothing is known of the request of this turn any more: its identifier is used again (`is_replaced`), or there are too
    /// many.
    pub fn abandon(&mut self, turn: u64, is_replaced: bool) {
        self.all.take();
        let place = self.place(turn);
        let [any, overtaken] = &mut self.replaced;
        *any += u64::from(is_replaced);
        *overtaken += u64::from(is_replaced && place.is_none());
        if let Some(place) = place {
            self.leave(place);
            self.shorten();
        }
    }

    /// A completion comes whose submission is not in the capture.
    pub fn come_unmatched(&mut self) {
        let [any, behind, _] = &mut self.unmatched;
        *any += 1;
        *behind += u64::from(self.has_succeeded);
        self.unplaced += u64::from(!self.has_succeeded);
    }

    /// Nothing that is under way will come back any more: time steps back here.
    pub fn restart(&mut self) {
        self.waiting.clear();
        self.in_order.now = 0;
        self.all.now = 0;
        self.has_succeeded = false;
        self.unplaced = 0;
        self.changed_us = None;
    }

    /// Where a turn stands in `waiting`; `None` when it was overtaken.
    fn place(&self, turn: u64) -> Option<usize> {
        let first = self.turns.saturating_sub(self.waiting.len() as u64);
        turn.checked_sub(first).map(|place| place as usize)
    }

    fn leave(&mut self, place: usize) {
        if let Some(is_waiting) = self.waiting.get_mut(place).filter(|is_waiting| **is_waiting) {
            *is_waiting = false;
            self.in_order.take();
        }
    }

    fn shorten(&mut self) {
        while self.waiting.front() == Some(&false) {
            self.waiting.pop_front();
        }
    }

    /// Whether requests come back in the order in which they were handed over.
    pub fn keeps_order(&self) -> bool {
        !self.is_too_long && self.late * LATE <= self.came_back
    }

    /// Whether the request of this turn must have come back.
    pub fn is_overtaken(&self, turn: u64) -> bool {
        self.keeps_order() && self.place(turn).is_none()
    }

    /// Requests of which the completion is missing, as far as order and identifiers tell.
    pub fn lost_completions(&self) -> u64 {
        let [any, overtaken] = self.replaced;
        if self.keeps_order() {
            any - overtaken.min(any) + self.overtaken.saturating_sub(self.late)
        } else {
            any
        }
    }

    /// Completions without submission.
    pub fn unmatched(&self) -> Unmatched {
        let [any, behind, before] = self.unmatched;
        let of_order = |count| if self.keeps_order() { count } else { 0 };
        Unmatched { any, lost: of_order(behind), from_before: of_order(before) }
    }

    fn level(&self) -> &Level {
        if self.keeps_order() {
            &self.in_order
        } else {
            &self.all
        }
    }

    /// Requests under way now.
    pub fn now(&self) -> u64 {
        self.level().now
    }

    /// The most under way at once, and the mean over time; `None` where the capture has no submission of the endpoint, or lacks
    /// those of most completions (`completions`: in the window).
    pub fn most_and_mean(&self, completions: u64) -> Option<(u64, Option<f64>)> {
        let [unmatched, ..] = self.unmatched;
        if self.turns == 0 || unmatched > completions / 2 {
            return None;
        }
        let level = self.level();
        let mean = (self.followed_us > 0).then(|| level.time as f64 / self.followed_us as f64);
        Some((level.max, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands `count` requests over.
    fn handed_over(count: u64) -> UnderWay {
        let mut endpoint = UnderWay::default();
        for turn in 0..count {
            assert_eq!(endpoint.hand_over(true), turn);
        }
        endpoint
    }

    #[test]
    fn a_success_shows_which_earlier_completions_are_missing() {
        let mut endpoint = handed_over(6);
        endpoint.come_back(0, true, true);
        endpoint.come_back(3, true, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (2, 2));
        assert_eq!([1, 2, 4].map(|turn| endpoint.is_overtaken(turn)), [true, true, false]);
        assert_eq!(endpoint.most_and_mean(2).map(|(most, _)| most), Some(6));
    }

    #[test]
    fn a_request_taken_back_out_of_turn_shows_nothing() {
        let mut endpoint = handed_over(3);
        endpoint.come_back(1, false, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (0, 2));
        endpoint.come_back(0, true, true);
        endpoint.come_back(2, true, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (0, 0));
    }

    #[test]
    fn where_requests_overtake_each_other_order_shows_nothing() {
        let mut endpoint = handed_over(40);
        (0..40).rev().for_each(|turn| endpoint.come_back(turn, true, true));
        assert!(!endpoint.keeps_order());
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (0, 0));
    }

    #[test]
    fn an_identifier_used_again_is_not_counted_twice() {
        let mut endpoint = handed_over(3);
        endpoint.come_back(1, true, true);
        endpoint.abandon(0, true);
        endpoint.abandon(2, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (2, 0));
    }

    #[test]
    fn completions_without_submission_are_from_before_until_a_request_has_succeeded() {
        let mut endpoint = UnderWay::default();
        endpoint.come_unmatched();
        assert_eq!(endpoint.most_and_mean(1), None, "nothing was seen to be handed over");
        let turn = endpoint.hand_over(true);
        endpoint.come_unmatched();
        endpoint.come_back(turn, true, true);
        endpoint.come_unmatched();
        assert_eq!(endpoint.unmatched(), Unmatched { any: 3, lost: 1, from_before: 2 });
    }

    #[test]
    fn a_restart_forgets_what_is_under_way() {
        let mut endpoint = handed_over(3);
        endpoint.come_back(0, true, true);
        endpoint.restart();
        endpoint.come_unmatched();
        assert_eq!((endpoint.now(), endpoint.lost_completions()), (0, 0));
        assert_eq!(endpoint.unmatched(), Unmatched { any: 1, lost: 0, from_before: 0 });
    }

    proptest::proptest! {
        #[test]
        fn any_order_is_taken(steps in proptest::collection::vec((0u8..5, 0u64..50, proptest::bool::ANY), 0..400)) {
            let mut endpoint = UnderWay::default();
            let mut pending = std::collections::BTreeSet::new();
            for (step, which, flag) in steps {
                let turn = pending.iter().nth(which as usize % pending.len().max(1)).copied();
                match (step, turn) {
                    (0, _) => { pending.insert(endpoint.hand_over(flag)); }
                    (1, Some(turn)) => { pending.remove(&turn); endpoint.come_back(turn, flag, true); }
                    (2, Some(turn)) => { pending.remove(&turn); endpoint.abandon(turn, flag); }
                    (3, _) => endpoint.come_unmatched(),
                    (4, _) if which == 0 => { pending.clear(); endpoint.restart(); }
                    _ => {}
                }
                assert_eq!(endpoint.all.now, pending.len() as u64);
                let first = endpoint.turns - endpoint.waiting.len() as u64;
                assert_eq!(endpoint.in_order.now, pending.iter().filter(|turn| **turn >= first).count() as u64);
            }
            let _ = (endpoint.lost_completions(), endpoint.unmatched(), endpoint.most_and_mean(10));
        }
    }
}
