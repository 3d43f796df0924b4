//! Requests of one endpoint that have been handed over and have not come back, and what their order shows of missing records.
//!
//! An endpoint is served in the order in which requests are handed over; only a driver takes one back out of turn. So when a
//! later request has succeeded, those before it have come back, seen or not: they were *overtaken*, and their completion is
//! missing in the capture. Likewise, a completion without submission belongs to a request from before the capture only as
//! long as no request that was handed over in it has succeeded.
//!
//! A completion with the identifier of an overtaken request is *late*. It has two causes. Streams of USB 3 keep no order: then
//! it comes soon, while requests that were under way with it are still so, and nothing else is missing. Or both that request's
//! completion and the submission of a later one with its identifier are missing: then it comes behind all that were under way,
//! and identifiers that are used again show that records are missing.

use std::collections::VecDeque;

/// Requests with an order that is followed.
const FOLLOWED_MAX: usize = 16_384;
/// One request in this many may come back out of turn, though its endpoint keeps the order.
const OUT_OF_TURN: u64 = 10;
/// One late completion in this many has to go with records that are missing by their identifiers, or none is.
const MISSING: u64 = 10;
/// Where more than one completion in this many is late, the order is not kept: that many records are not missing.
const OFTEN_LATE: u64 = 4;

/// Which of the requests of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    number: u64,
    /// Requests under way when it was handed over.
    ahead: u64,
}

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
    /// Late completions, and those that come soon.
    late: u64,
    soon: u64,
    /// Requests with an identifier that was used again before they came back, and those of them that had been overtaken.
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
    pub fn hand_over(&mut self, is_inside: bool) -> Turn {
        let turn = Turn { number: self.turns, ahead: self.in_order.now };
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

    /// The request of this turn comes back, whether late; `is_success`: when it was its turn, and not because the driver took it
    /// back.
    pub fn come_back(&mut self, turn: Turn, is_success: bool, is_inside: bool) -> bool {
        self.came_back += u64::from(is_inside);
        if is_success {
            self.has_succeeded = true;
            let [.., before] = &mut self.unmatched;
            *before += std::mem::take(&mut self.unplaced);
        }
        self.all.take();
        let Some(place) = self.place(turn) else {
            // Since then at most this many requests behind it have come back.
            let behind = self.first().saturating_sub(turn.number);
            self.late += u64::from(is_inside);
            self.soon += u64::from(is_inside && behind * 2 < turn.ahead);
            return true;
        };
        self.leave(place);
        if is_success {
            for _ in self.waiting.drain(..=place).filter(|is_waiting| *is_waiting) {
                self.overtaken += u64::from(is_inside);
                self.in_order.take();
            }
        }
        self.shorten();
        false
    }

    /// Nothing is known of the request of this turn any more: its identifier is used again (`is_replaced`), or there are too
    /// many.
    pub fn abandon(&mut self, turn: Turn, is_replaced: bool) {
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

    /// A completion comes without its submission in the capture.
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

    /// The turn of the oldest request that can be under way.
    fn first(&self) -> u64 {
        self.turns.saturating_sub(self.waiting.len() as u64)
    }

    /// Where a turn stands in `waiting`; `None` when it was overtaken.
    fn place(&self, turn: Turn) -> Option<usize> {
        turn.number.checked_sub(self.first()).map(|place| place as usize)
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

    /// Late completions of other requests than their identifiers say: records are missing by identifiers, too.
    fn strange(&self) -> u64 {
        let ([replaced, _], [_, behind, _]) = (self.replaced, self.unmatched);
        let late = self.late - self.soon;
        if (replaced + behind) * MISSING >= late && late * OFTEN_LATE <= self.came_back {
            late
        } else {
            0
        }
    }

    /// Whether requests come back in the order in which they were handed over.
    pub fn keeps_order(&self) -> bool {
        !self.is_too_long && (self.late - self.strange()) * OUT_OF_TURN <= self.came_back
    }

    /// Whether the request of this turn must have come back.
    pub fn is_overtaken(&self, turn: Turn) -> bool {
        self.keeps_order() && self.place(turn).is_none()
    }

    /// Whether identifiers show that records are missing.
    pub fn lacks_records(&self) -> bool {
        let ([replaced, _], [_, behind, _]) = (self.replaced, self.unmatched);
        replaced + behind > 0
    }

    /// Requests of which the completion is missing, as far as order and identifiers show.
    pub fn lost_completions(&self) -> u64 {
        let [any, overtaken] = self.replaced;
        if self.keeps_order() {
            any - overtaken.min(any) + self.overtaken.saturating_sub(self.late - self.strange())
        } else {
            any
        }
    }

    /// Requests of which the submission is missing, as far as order and identifiers show.
    pub fn lost_submissions(&self) -> u64 {
        let [_, behind, _] = self.unmatched;
        if self.keeps_order() {
            behind + self.strange()
        } else {
            0
        }
    }

    /// Completions without submission, and those of them that can be of requests from before the capture: requests that were
    /// handed over in it came back later.
    pub fn unmatched(&self) -> (u64, u64) {
        let [any, _, before] = self.unmatched;
        (any, if self.keeps_order() { before } else { 0 })
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
        // For one request it is 1 by definition.
        let mean = (self.followed_us > 0 && completions > 1).then(|| level.time as f64 / self.followed_us as f64);
        Some((level.max, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands `count` requests over.
    fn handed_over(count: u64) -> (UnderWay, Vec<Turn>) {
        let mut endpoint = UnderWay::default();
        let turns = (0..count).map(|_| endpoint.hand_over(true)).collect();
        (endpoint, turns)
    }

    #[test]
    fn a_success_shows_which_earlier_completions_are_missing() {
        let (mut endpoint, turns) = handed_over(6);
        endpoint.come_back(turns[0], true, true);
        endpoint.come_back(turns[3], true, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (2, 2));
        assert_eq!([1, 2, 4].map(|turn| endpoint.is_overtaken(turns[turn])), [true, true, false]);
        assert_eq!(endpoint.most_and_mean(2).map(|(most, _)| most), Some(6));
    }

    #[test]
    fn a_request_taken_back_out_of_turn_shows_nothing() {
        let (mut endpoint, turns) = handed_over(3);
        endpoint.come_back(turns[1], false, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (0, 2));
        endpoint.come_back(turns[0], true, true);
        endpoint.come_back(turns[2], true, true);
        assert_eq!((endpoint.lost_completions(), endpoint.now()), (0, 0));
    }

    #[test]
    fn where_requests_overtake_each_other_order_shows_nothing() {
        for depth in [2, 40] {
            let (mut endpoint, _) = handed_over(0);
            for _ in 0..10 {
                let turns: Vec<Turn> = (0..depth).map(|_| endpoint.hand_over(true)).collect();
                turns.iter().rev().for_each(|turn| {
                    endpoint.come_back(*turn, true, true);
                });
            }
            assert!(!endpoint.keeps_order(), "{depth}");
            assert_eq!((endpoint.lost_completions(), endpoint.lost_submissions(), endpoint.now()), (0, 0, 0));
        }
    }

    /// A ring of four requests, each handed over again when it comes back; some records of both kinds are not in the capture.
    #[test]
    fn a_completion_behind_all_that_were_under_way_is_of_another_request() {
        let mut endpoint = UnderWay::default();
        let mut pending: [Option<Turn>; 4] = [None; 4];
        let (mut completions, mut submissions) = (0, 0);
        for n in 0..4_000u64 {
            let id = (n % 4) as usize;
            // Both at once, as where a burst is dropped; and now and then the completion alone.
            let (both, alone) = (n % 13 == 5, n % 101 == 50);
            if both || alone {
                completions += u64::from(n >= 4);
            } else if let Some(turn) = pending[id].take() {
                endpoint.come_back(turn, true, true);
            } else if n >= 4 {
                endpoint.come_unmatched();
            }
            if both && n >= 4 {
                submissions += 1;
            } else {
                let turn = endpoint.hand_over(true);
                if let Some(old) = pending[id].replace(turn) {
                    endpoint.abandon(old, true);
                }
            }
        }
        assert!(endpoint.keeps_order());
        let (found_completions, found_submissions) = (endpoint.lost_completions(), endpoint.lost_submissions());
        assert!(
            found_completions <= completions && found_completions + 5 > completions * 9 / 10,
            "{found_completions} of {completions}"
        );
        assert!(
            found_submissions <= submissions && found_submissions > submissions / 2,
            "{found_submissions} of {submissions}"
        );
        assert!(endpoint.most_and_mean(4_000).is_some_and(|(most, _)| most <= 5));
    }

    /// 16 under way that come back in no order; of one in twenty the submission is missing, and of one in twenty the completion.
    #[test]
    fn where_order_is_not_kept_a_few_missing_records_stay_few() {
        let mut endpoint = UnderWay::default();
        let (mut waiting, mut lost): (Vec<(Option<Turn>, u64)>, u64) = (Vec::new(), 0);
        let mut last: [Option<Turn>; 64] = [None; 64];
        for n in 0..2_000u64 {
            let id = (0..64u64).find(|id| waiting.iter().all(|(_, used)| used != id)).unwrap();
            let turn = (n % 20 != 7).then(|| endpoint.hand_over(true));
            if let Some(old) = turn.and_then(|turn| last[id as usize].replace(turn)) {
                endpoint.abandon(old, true);
            }
            waiting.push((turn, id));
            if waiting.len() == 16 {
                let (turn, id) = waiting.swap_remove((n * 7 % 16) as usize);
                if n % 20 == 13 {
                    lost += 1;
                } else if let Some(turn) = turn {
                    last[id as usize] = None;
                    endpoint.come_back(turn, true, true);
                } else {
                    endpoint.come_unmatched();
                }
            }
        }
        assert!(!endpoint.keeps_order());
        assert!(endpoint.lost_completions() <= lost && endpoint.lost_submissions() == 0);
    }

    #[test]
    fn an_identifier_used_again_is_not_counted_twice() {
        let (mut endpoint, turns) = handed_over(3);
        endpoint.come_back(turns[1], true, true);
        endpoint.abandon(turns[0], true);
        endpoint.abandon(turns[2], true);
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
        assert_eq!((endpoint.unmatched(), endpoint.lost_submissions()), ((3, 2), 1));
    }

    #[test]
    fn a_restart_forgets_what_is_under_way() {
        let (mut endpoint, turns) = handed_over(3);
        endpoint.come_back(turns[0], true, true);
        endpoint.restart();
        endpoint.come_unmatched();
        assert_eq!((endpoint.now(), endpoint.lost_completions(), endpoint.lost_submissions()), (0, 0, 0));
        assert_eq!(endpoint.unmatched(), (1, 0));
    }

    proptest::proptest! {
        #[test]
        fn any_order_is_taken(steps in proptest::collection::vec((0u8..5, 0u64..50, proptest::bool::ANY), 0..400)) {
            let mut endpoint = UnderWay::default();
            let mut pending = std::collections::BTreeMap::new();
            for (step, which, flag) in steps {
                let turn = pending.values().nth(which as usize % pending.len().max(1)).copied();
                match (step, turn) {
                    (0, _) => {
                        let turn = endpoint.hand_over(flag);
                        pending.insert(turn.number, turn);
                    }
                    (1, Some(turn)) => {
                        pending.remove(&turn.number);
                        endpoint.come_back(turn, flag, true);
                    }
                    (2, Some(turn)) => {
                        pending.remove(&turn.number);
                        endpoint.abandon(turn, flag);
                    }
                    (3, _) => endpoint.come_unmatched(),
                    (4, _) if which == 0 => {
                        pending.clear();
                        endpoint.restart();
                    }
                    _ => {}
                }
                assert_eq!(endpoint.all.now, pending.len() as u64);
                let first = endpoint.first();
                assert_eq!(endpoint.in_order.now, pending.keys().filter(|turn| **turn >= first).count() as u64);
                assert!(endpoint.lost_completions() <= endpoint.turns);
            }
            let _ = (endpoint.lost_submissions(), endpoint.unmatched(), endpoint.most_and_mean(10));
        }
    }
}
