//! Channel access: contention, and what it makes of the end of an exchange.

use random::Rng;
use wire::phy::{Band, Bandwidth, Mode, Timing};

use super::contention::{Contention, Parameters};

/// aRxPHYStartDelay: how long after the start of a PPDU its start is known (IEEE 802.11-2020 tables 17-21 and 15-5).
const OFDM_RX_START_NS: u64 = 20_000;
const DSSS_RX_START_NS: u64 = 192_000;

/// The times that channel access counts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Spaces {
    /// A slot.
    pub slot_ns: u64,
    /// SIFS, counted from the end of the signal extension.
    pub sifs_ns: u64,
    /// From the end of a PPDU that is not answered until its sender takes note (10.3.2.11).
    pub timeout_ns: u64,
    /// What EIFS is longer than DIFS.
    pub eifs_extra_ns: u64,
}

impl Spaces {
    /// Those of a band. `short_slot` matters in 2.4 GHz only; `dsss`: there are stations that know only 802.11b. In a
    /// band with control frames that have no known duration, EIFS is DIFS.
    pub fn new(band: Band, short_slot: bool, dsss: bool) -> Self {
        let timing = Timing::new(band, Bandwidth::Mhz20, short_slot);
        let lowest_ack = if dsss {
            Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) }
        } else {
            Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 }
        };
        let eifs_ns = timing.eifs_ns(&lowest_ack).unwrap_or(timing.difs_ns());
        let (slot_ns, sifs_ns) = (u64::from(timing.slot_ns), u64::from(timing.sifs_ns));
        Self {
            slot_ns,
            sifs_ns,
            timeout_ns: sifs_ns + slot_ns + if dsss { DSSS_RX_START_NS } else { OFDM_RX_START_NS },
            eifs_extra_ns: u64::from(eifs_ns - timing.difs_ns()),
        }
    }

    /// PIFS.
    pub const fn pifs_ns(&self) -> u64 {
        self.sifs_ns + self.slot_ns
    }
}

/// An exchange with a first soliciting PPDU that got no response.
#[derive(Clone, Copy, Debug)]
pub struct Unanswered {
    /// Who sent it.
    pub function: u32,
    /// The end of that PPDU.
    pub end_ns: u64,
    /// Its signal extension.
    pub silence_ns: u64,
    /// From its end to the end of the answer that might have come: those who could read the PPDU leave the medium alone for
    /// so long.
    pub answer_ns: u64,
    /// The sender follows the DCF, not EDCA.
    pub dcf: bool,
    /// The station that it was for, if that could read nothing of it: it waits for EIFS.
    pub unread_by: Option<usize>,
}

/// One of those that sent at once.
#[derive(Clone, Copy, Debug)]
pub struct Collider {
    /// Who it is.
    pub function: u32,
    /// The end of its PPDU.
    pub end_ns: u64,
    /// It follows the DCF, not EDCA.
    pub dcf: bool,
    /// It expects an answer; otherwise it does not learn that its PPDU is lost.
    pub awaits_answer: bool,
}

/// Channel access of all stations around one medium. Each has the same number of channel access functions; those of
/// station `n` have the numbers from `n` times that.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Access {
    contention: Contention,
    spaces: Spaces,
    functions: usize,
}

impl Access {
    /// A silent medium. `parameters`: of each function of each station, `functions` of them in a row for a station.
    pub fn new(spaces: Spaces, functions: usize, parameters: impl Iterator<Item = Parameters>) -> Self {
        Self {
            contention: Contention::new(spaces.slot_ns, spaces.sifs_ns, parameters),
            spaces,
            functions: functions.max(1),
        }
    }

    /// The times it counts with.
    pub const fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// Those that it counts with from now on: the stations are in another band. Backoffs that were drawn stay, so a turn of a
    /// station that waits moves by the difference of both, to 2.4 GHz by 6 us towards the present.
    pub fn set_spaces(&mut self, spaces: Spaces) {
        if self.spaces != spaces {
            self.contention.set_spaces(spaces.slot_ns, spaces.sifs_ns);
            self.spaces = spaces;
        }
    }

    /// The number of a function of a station.
    #[inline]
    pub const fn function(&self, station: usize, function: usize) -> u32 {
        (station * self.functions + function) as u32
    }

    /// The station, and which of its functions it is.
    #[inline]
    pub const fn owner(&self, function: u32) -> (usize, usize) {
        (function as usize / self.functions, function as usize % self.functions)
    }

    /// When the medium fell silent; `None` while it is busy.
    #[inline]
    pub fn silent_since_ns(&self) -> Option<u64> {
        self.contention.silent_since_ns()
    }

    /// When the next one sends, if the medium stays idle until then; `None`: nothing is waiting, or the medium is busy.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.contention.next_ns()
    }

    /// When this function would send if it had something to send since `ready_ns`, with these parameters; `None` while the
    /// medium is busy.
    pub fn would_send_ns(&self, function: u32, parameters: Parameters, ready_ns: u64) -> Option<u64> {
        self.contention.would_send_ns(function, parameters, ready_ns)
    }

    /// Records whether there is something to send.
    #[inline]
    pub fn set_ready(&mut self, function: u32, now_ns: u64, ready: bool, rng: &mut Rng) {
        self.contention.set_ready(function, now_ns, ready, rng);
    }

    /// From now on this function contends with these parameters. A backoff that was drawn stays.
    pub fn set_parameters(&mut self, function: u32, parameters: Parameters) {
        self.contention.set_parameters(function, parameters);
    }

    /// Those that have the turn, lowest number first.
    pub fn winners(&self, winners: &mut Vec<u32>) {
        self.contention.winners(winners);
    }

    /// The medium is busy from now on: the silence before counts for the backoff of every station.
    pub fn take(&mut self, at_ns: u64) {
        self.contention.take(at_ns);
    }

    /// Another function of the same station went first (10.23.2.4): as after a collision.
    pub fn internal_collision(&mut self, function: u32, rng: &mut Rng) {
        self.contention.end(function, false, rng);
    }

    /// An exchange went well; the medium is silent from `idle_ns` on.
    pub fn succeeded(&mut self, function: u32, idle_ns: u64, rng: &mut Rng) {
        self.contention.end(function, true, rng);
        self.contention.fall_silent(idle_ns, 0);
    }

    /// An exchange went well, and another of the same TXOP follows: no backoff, and failures are no longer in a row
    /// (10.23.2.12).
    pub fn goes_on(&mut self, function: u32) {
        self.contention.go_on(function);
    }

    /// Something that did not contend has ended; the medium is silent from `idle_ns` on.
    pub fn silent(&mut self, idle_ns: u64) {
        self.contention.fall_silent(idle_ns, 0);
    }

    /// An exchange was not answered.
    pub fn unanswered(&mut self, exchange: &Unanswered, rng: &mut Rng) {
        let Unanswered { function, end_ns, silence_ns, answer_ns, dcf, unread_by } = *exchange;
        let wait = self.slots(answer_ns.saturating_sub(silence_ns));
        self.contention.fall_silent(end_ns + silence_ns, wait);
        self.sender_failed(function, end_ns, dcf, rng);
        if let Some(station) = unread_by {
            let eifs = self.slots(self.spaces.eifs_extra_ns);
            self.each_function(station, eifs);
        }
    }

    /// Several sent at once. The medium is silent from `idle_ns` on, and nothing could be received.
    pub fn collided(&mut self, colliders: impl Iterator<Item = Collider>, idle_ns: u64, rng: &mut Rng) {
        let eifs = self.slots(self.spaces.eifs_extra_ns);
        self.contention.fall_silent(idle_ns, eifs);
        for Collider { function, end_ns, dcf, awaits_answer } in colliders {
            if awaits_answer {
                self.sender_failed(function, end_ns, dcf, rng);
            } else {
                self.contention.end(function, true, rng);
            }
        }
        // Backoffs drawn in the silence that has begun: the first turn is another one.
        self.contention.find_first();
    }

    /// Who has sent and got no answer waits for its own timeout, whatever the others wait for.
    fn sender_failed(&mut self, function: u32, end_ns: u64, dcf: bool, rng: &mut Rng) {
        self.contention.end(function, false, rng);
        // EDCA: SIFS and AIFSN slots follow the timeout (10.23.2.4 c). DCF: DIFS may lie before its end (10.3.4.3).
        let before_ns = if dcf { self.spaces.sifs_ns + 2 * self.spaces.slot_ns } else { 0 };
        let wait = self.contention.slots_until((end_ns + self.spaces.timeout_ns).saturating_sub(before_ns));
        self.each_function(self.owner(function).0, wait);
    }

    fn each_function(&mut self, station: usize, wait: u32) {
        for function in 0..self.functions {
            self.contention.wait_instead(self.function(station, function), wait);
        }
    }

    fn slots(&self, ns: u64) -> u32 {
        ns.div_ceil(self.spaces.slot_ns) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_of_both_bands() {
        let g = Spaces::new(Band::Ghz2_4, true, false);
        assert_eq!([g.slot_ns, g.sifs_ns, g.pifs_ns(), g.timeout_ns], [9_000, 10_000, 19_000, 39_000]);
        // ACK at 6 Mbit/s: 44 µs, after SIFS and with the signal extension.
        assert_eq!(g.eifs_extra_ns, 44_000 + 10_000 + 6_000);
        let b = Spaces::new(Band::Ghz2_4, false, true);
        assert_eq!([b.slot_ns, b.timeout_ns, b.eifs_extra_ns], [20_000, 222_000, 314_000]);
    }

    /// Who got no answer waits for its timeout, who could not read for EIFS, the others for the answer that did not come.
    #[test]
    fn after_an_exchange_without_answer_each_waits_for_its_own_reason() {
        let spaces = Spaces::new(Band::Ghz5, true, false);
        let parameters = Parameters { aifsn: 3, cw_min: 0, cw_max: 0, retry_limit: 7 };
        let mut access = Access::new(spaces, 2, [parameters; 6].into_iter());
        let mut rng = Rng::new(1, random::Stream::WlanBackoff, 0);
        access.take(100_000);
        let exchange = Unanswered {
            function: access.function(1, 0),
            end_ns: 1_000_000,
            silence_ns: 0,
            answer_ns: 16_000 + 28_000,
            dcf: false,
            unread_by: Some(0),
        };
        access.unanswered(&exchange, &mut rng);
        let at = |station| {
            access.would_send_ns(access.function(station, 1), parameters, 0).expect("a silent medium") - 1_000_000
        };
        let slots = |ns: u64| ns.div_ceil(9_000) * 9_000;
        let aifs_ns = 16_000 + 3 * 9_000;
        assert_eq!(at(1), aifs_ns + slots(45_000));
        assert_eq!(at(0), aifs_ns + slots(60_000));
        assert_eq!(at(2), aifs_ns + slots(44_000));
    }

    /// A station that waits goes on waiting, by the times of the other band.
    #[test]
    fn stations_can_change_the_band() {
        let parameters = Parameters { aifsn: 3, cw_min: 0, cw_max: 0, retry_limit: 7 };
        let spaces = Spaces::new(Band::Ghz2_4, true, false);
        let mut access = Access::new(spaces, 1, [parameters].into_iter());
        let mut rng = Rng::new(1, random::Stream::WlanBackoff, 0);
        access.set_ready(0, 0, true, &mut rng);
        assert_eq!(access.next_ns(), Some(10_000 + 3 * 9_000));
        access.set_spaces(Spaces::new(Band::Ghz5, true, false));
        assert_eq!((access.next_ns(), access.spaces().sifs_ns), (Some(16_000 + 3 * 9_000), 16_000));
        assert_eq!(access.would_send_ns(0, parameters, 0), access.next_ns());
        access.set_spaces(Spaces::new(Band::Ghz2_4, true, false));
        assert_eq!(access.next_ns(), Some(10_000 + 3 * 9_000), "and back");
    }

    /// Whoever expects no answer draws a backoff all the same, and the next turn is after it: not in an unused slot.
    #[test]
    fn a_collision_of_frames_without_answer_leaves_no_turn_that_is_nobodys() {
        let spaces = Spaces::new(Band::Ghz5, true, false);
        let parameters = Parameters { aifsn: 3, cw_min: 15, cw_max: 1_023, retry_limit: 7 };
        let (mut access, mut rng) =
            (Access::new(spaces, 1, [parameters; 2].into_iter()), Rng::new(1, random::Stream::WlanBackoff, 0));
        let mut winners = Vec::new();
        for _ in 0..20 {
            for function in 0..2 {
                access.set_ready(function, 0, true, &mut rng);
            }
            access.take(100_000);
            let collider = |function| Collider { function, end_ns: 200_000, dcf: false, awaits_answer: false };
            access.collided([0, 1].map(collider).into_iter(), 200_000, &mut rng);
            let turns = [0, 1].map(|function| access.would_send_ns(function, parameters, 0).expect("a silent medium"));
            assert_eq!(access.next_ns(), turns.into_iter().min());
            access.winners(&mut winners);
            assert!(!winners.is_empty());
        }
    }

    /// A failure after a success of the same TXOP is the first of its row: the window doubles once, not twice.
    #[test]
    fn a_success_within_a_txop_ends_a_row_of_failures() {
        let spaces = Spaces::new(Band::Ghz5, true, false);
        let parameters = Parameters { aifsn: 3, cw_min: 15, cw_max: 1_023, retry_limit: 7 };
        let (mut access, mut rng) =
            (Access::new(spaces, 1, [parameters].into_iter()), Rng::new(1, random::Stream::WlanBackoff, 0));
        let longest = |access: &mut Access, rng: &mut Rng, goes_on: bool| {
            let mut longest_ns = 0;
            for start_ns in (0..200u64).map(|turn| turn * 1_000_000_000) {
                access.take(start_ns);
                if goes_on {
                    access.goes_on(0);
                }
                let collider = Collider { function: 0, end_ns: start_ns, dcf: false, awaits_answer: true };
                access.collided(std::iter::once(collider), start_ns, rng);
                access.set_ready(0, start_ns, true, rng);
                longest_ns = longest_ns.max(access.next_ns().expect("it waits") - start_ns);
            }
            longest_ns
        };
        assert!(longest(&mut access, &mut rng, true) <= 16_000 + (3 + 31 + 20) * 9_000);
        assert!(longest(&mut access, &mut rng, false) > 16_000 + 200 * 9_000);
    }
}
