//! EDCA: who may send, and when (IEEE 802.11-2020 10.23.2).
//!
//! All radios hear each other, so all count the same silence. Time since the medium fell silent is counted in slots after
//! SIFS; a channel access function sends AIFSN slots, what it must wait longer (EIFS, a timeout), and its backoff later.
//! Those that have the same slot collide. Only functions that have something to send, or a backoff to count down,
//! are looked at, so idle stations cost nothing.

use random::Rng;

/// Never.
const NEVER: u64 = u64::MAX;

/// Contention parameters of one channel access function, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Parameters {
    /// Slots after SIFS before the backoff.
    pub aifsn: u32,
    /// Smallest contention window: the backoff is 0 to that many slots.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// After this many failures in a row the window is the smallest again.
    pub retry_limit: u32,
}

/// A channel access function: one category of one radio.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Function {
    parameters: Parameters,
    /// Contention window.
    window: u32,
    /// Slots still to count down. Counting goes on while there is nothing to send.
    backoff: u32,
    /// Failures in a row.
    failures: u32,
    /// Since when there has been something to send, or [`NEVER`].
    ready_ns: u64,
    /// Slots to wait before counting in the silence number `own_silence`, instead of those of all stations.
    own_wait: u32,
    own_silence: u64,
    /// Among [`Contention::listed`].
    listed: bool,
}

/// All channel access functions around one medium.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Contention {
    functions: Vec<Function>,
    /// Those with something to send or to count down.
    listed: Vec<u32>,
    slot_ns: u64,
    sifs_ns: u64,
    /// When the medium fell silent; meaningless while it is busy.
    idle_ns: u64,
    busy: bool,
    /// Number of the present silence.
    silence: u64,
    /// Slots that all stations wait before counting in this silence.
    wait: u32,
    /// The earliest turn, while the medium is silent.
    first: Option<u64>,
}

impl Contention {
    pub(super) fn new(slot_ns: u64, sifs_ns: u64, functions: impl Iterator<Item = Parameters>) -> Self {
        let functions = functions.map(|parameters| Function {
            parameters,
            window: parameters.cw_min,
            backoff: 0,
            failures: 0,
            ready_ns: NEVER,
            own_wait: 0,
            own_silence: 0,
            listed: false,
        });
        Self {
            functions: functions.collect(),
            listed: Vec::new(),
            slot_ns,
            sifs_ns,
            idle_ns: 0,
            busy: false,
            silence: 1,
            wait: 0,
            first: None,
        }
    }

    /// See [`super::Access::set_spaces`].
    pub(super) fn set_spaces(&mut self, slot_ns: u64, sifs_ns: u64) {
        (self.slot_ns, self.sifs_ns) = (slot_ns, sifs_ns);
        self.find_first();
    }

    /// When the medium fell silent; `None` while it is busy.
    #[inline]
    pub(super) fn silent_since_ns(&self) -> Option<u64> {
        (!self.busy).then_some(self.idle_ns)
    }

    fn wait_of(&self, function: &Function) -> u32 {
        if function.own_silence == self.silence {
            function.own_wait
        } else {
            self.wait
        }
    }

    /// The slot, counted from SIFS after the medium fell silent, in which it sends; `None` with nothing to send.
    fn turn(&self, index: u32) -> Option<u64> {
        let function = &self.functions[index as usize];
        (function.ready_ns != NEVER).then(|| self.turn_with(function, function.parameters.aifsn, function.ready_ns))
    }

    fn turn_with(&self, function: &Function, aifsn: u32, ready_ns: u64) -> u64 {
        let counted = u64::from(aifsn + self.wait_of(function) + function.backoff);
        let begins_ns = self.idle_ns + self.sifs_ns;
        // Most were ready before the silence began: there is nothing to divide.
        if ready_ns <= begins_ns {
            return counted;
        }
        (ready_ns - begins_ns).div_ceil(self.slot_ns).max(counted)
    }

    /// See [`super::Access::would_send_ns`].
    pub(super) fn would_send_ns(&self, index: u32, parameters: Parameters, ready_ns: u64) -> Option<u64> {
        let function = &self.functions[index as usize];
        let turn = || self.turn_with(function, parameters.aifsn, ready_ns);
        (!self.busy).then(|| self.idle_ns + self.sifs_ns + turn() * self.slot_ns)
    }

    /// See [`super::Access::set_parameters`].
    pub(super) fn set_parameters(&mut self, index: u32, parameters: Parameters) {
        let function = &mut self.functions[index as usize];
        if function.parameters == parameters {
            return;
        }
        function.parameters = parameters;
        let doubled = |window: u32| (2 * window + 1).min(parameters.cw_max.max(parameters.cw_min));
        function.window = (0..function.failures.min(16)).fold(parameters.cw_min, |window, _| doubled(window));
        self.find_first();
    }

    /// When the next one sends, if the medium stays idle until then; `None`: nothing is waiting, or the medium is busy.
    #[inline]
    pub(super) fn next_ns(&self) -> Option<u64> {
        Some(self.idle_ns + self.sifs_ns + self.first? * self.slot_ns)
    }

    /// Finds the earliest turn, after anything that it depends on has changed.
    pub(super) fn find_first(&mut self) {
        self.first = if self.busy { None } else { self.listed.iter().filter_map(|&index| self.turn(index)).min() };
    }

    fn list(&mut self, index: u32) {
        let function = &mut self.functions[index as usize];
        if !function.listed {
            function.listed = true;
            self.listed.push(index);
        }
    }

    /// Records whether there is something to send.
    #[inline]
    pub(super) fn set_ready(&mut self, index: u32, now_ns: u64, ready: bool, rng: &mut Rng) {
        if ready != (self.functions[index as usize].ready_ns != NEVER) {
            self.change_ready(index, now_ns, ready, rng);
        }
    }

    fn change_ready(&mut self, index: u32, now_ns: u64, ready: bool, rng: &mut Rng) {
        let function = &mut self.functions[index as usize];
        if ready {
            function.ready_ns = now_ns;
            if self.busy && function.backoff == 0 {
                function.backoff = rng.up_to(function.window);
            }
            self.list(index);
            if !self.busy {
                self.first = self.turn(index).into_iter().chain(self.first).min();
            }
        } else {
            function.ready_ns = NEVER;
            self.find_first();
        }
    }

    /// Those that have the turn, lowest number first.
    pub(super) fn winners(&self, winners: &mut Vec<u32>) {
        winners.clear();
        if self.first.is_some() {
            winners.extend(self.listed.iter().filter(|&&index| self.turn(index) == self.first));
            winners.sort_unstable();
        }
    }

    /// The medium is busy from now on: the silence before counts for the backoff of every station.
    pub(super) fn take(&mut self, at_ns: u64) {
        let silent = at_ns.saturating_sub(self.idle_ns + self.sifs_ns) / self.slot_ns;
        let (wait, silence) = (self.wait, self.silence);
        let functions = &mut self.functions;
        self.listed.retain(|&index| {
            let function = &mut functions[index as usize];
            let own = function.own_silence == silence;
            let before = function.parameters.aifsn + if own { function.own_wait } else { wait };
            let counted = silent.saturating_sub(u64::from(before)).min(u64::from(function.backoff));
            function.backoff -= counted as u32;
            function.listed = function.ready_ns != NEVER || function.backoff > 0;
            function.listed
        });
        self.busy = true;
        self.first = None;
    }

    /// An exchange of this function went well, and the TXOP continues without a backoff: failures and window start again.
    pub(super) fn go_on(&mut self, index: u32) {
        let function = &mut self.functions[index as usize];
        (function.failures, function.window) = (0, function.parameters.cw_min);
    }

    /// Its exchange (or its attempt to begin one, when a higher category of the same radio went first) is over; a backoff
    /// follows in any case.
    pub(super) fn end(&mut self, index: u32, success: bool, rng: &mut Rng) {
        let function = &mut self.functions[index as usize];
        let Parameters { cw_min, cw_max, retry_limit, .. } = function.parameters;
        if success || function.failures >= retry_limit {
            function.failures = 0;
            function.window = cw_min;
        } else {
            function.failures += 1;
            function.window = (2 * function.window + 1).min(cw_max);
        }
        function.backoff = rng.up_to(function.window);
        self.list(index);
    }

    /// The medium falls silent at `idle_ns`; all stations wait that many slots more before counting.
    pub(super) fn fall_silent(&mut self, idle_ns: u64, wait: u32) {
        self.busy = false;
        self.idle_ns = idle_ns;
        self.silence += 1;
        self.wait = wait;
        self.find_first();
    }

    /// How many slots of the present silence are begun before `ns`.
    pub(super) fn slots_until(&self, ns: u64) -> u32 {
        ns.saturating_sub(self.idle_ns).div_ceil(self.slot_ns) as u32
    }

    /// In the silence that has just begun this one waits that many slots instead of those of all stations.
    pub(super) fn wait_instead(&mut self, index: u32, wait: u32) {
        let silence = self.silence;
        let function = &mut self.functions[index as usize];
        if function.own_silence == silence {
            function.own_wait = function.own_wait.max(wait);
        } else {
            function.own_silence = silence;
            function.own_wait = wait;
        }
        // Who has nothing to send is not the first, however long it waits.
        if function.ready_ns != NEVER {
            self.find_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BE: Parameters = Parameters { aifsn: 3, cw_min: 15, cw_max: 1023, retry_limit: 7 };

    fn two() -> Contention {
        Contention::new(9_000, 16_000, [BE, Parameters { aifsn: 7, ..BE }].into_iter())
    }

    #[test]
    fn slots_are_counted_only_in_silence() {
        let (mut contention, mut rng) = (two(), Rng::new(3, random::Stream::WlanBackoff, 0));
        assert_eq!(contention.next_ns(), None);
        // Ready while the medium is silent and no backoff is left: at the next slot, at the earliest after AIFS.
        contention.set_ready(0, 1_000, true, &mut rng);
        assert_eq!(contention.next_ns(), Some(43_000));
        contention.set_ready(0, 1_000, false, &mut rng);
        assert_eq!(contention.next_ns(), None);
        contention.set_ready(0, 100_000, true, &mut rng);
        assert_eq!(contention.next_ns(), Some(16_000 + 10 * 9_000));
        contention.take(106_000);
        assert_eq!((contention.next_ns(), contention.silent_since_ns()), (None, None));
        contention.functions[0].backoff = 10;
        contention.functions[0].ready_ns = 0;
        contention.fall_silent(200_000, 0);
        contention.wait_instead(0, 2);
        assert_eq!(contention.next_ns(), Some(216_000 + (3 + 2 + 10) * 9_000));
        contention.take(216_000 + 8 * 9_000);
        assert_eq!(contention.functions[0].backoff, 7);
    }

    #[test]
    fn a_longer_aifs_comes_later_and_the_same_slot_collides() {
        let (mut contention, mut rng) = (two(), Rng::new(3, random::Stream::WlanBackoff, 0));
        contention.set_ready(0, 0, true, &mut rng);
        contention.set_ready(1, 0, true, &mut rng);
        let mut winners = Vec::new();
        contention.winners(&mut winners);
        assert_eq!((contention.next_ns(), winners.as_slice()), (Some(43_000), &[0][..]));
        contention.functions[0].backoff = 4;
        contention.find_first();
        contention.winners(&mut winners);
        assert_eq!((contention.next_ns(), winners.as_slice()), (Some(79_000), &[0, 1][..]));
    }

    #[test]
    fn the_window_doubles_and_begins_anew() {
        let (mut contention, mut rng) = (two(), Rng::new(3, random::Stream::WlanBackoff, 0));
        let mut windows = Vec::new();
        for _ in 0..9 {
            contention.end(0, false, &mut rng);
            windows.push(contention.functions[0].window);
        }
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023, 15, 31]);
        contention.end(0, true, &mut rng);
        assert_eq!((contention.functions[0].window, contention.functions[0].failures), (15, 0));
    }

    /// A window goes on where it was: after two failures four times as many slots as at the beginning.
    #[test]
    fn parameters_can_change() {
        let (mut contention, mut rng) = (two(), Rng::new(3, random::Stream::WlanBackoff, 0));
        for _ in 0..2 {
            contention.end(0, false, &mut rng);
        }
        contention.set_parameters(0, Parameters { cw_min: 7, ..BE });
        assert_eq!(contention.functions[0].window, 31);
        contention.set_parameters(0, Parameters { cw_min: 3, cw_max: 7, ..BE });
        assert_eq!(contention.functions[0].window, 7);
        contention.functions[0].backoff = 5;
        contention.fall_silent(0, 0);
        contention.set_ready(0, 0, true, &mut rng);
        let faster = Parameters { aifsn: 2, ..BE };
        assert_eq!(contention.would_send_ns(0, faster, 0), Some(16_000 + 7 * 9_000));
        assert_eq!(contention.next_ns(), Some(16_000 + 8 * 9_000));
        contention.set_parameters(0, faster);
        assert_eq!(contention.next_ns(), Some(16_000 + 7 * 9_000));
    }

    #[test]
    fn who_has_nothing_left_to_count_is_not_looked_at() {
        let (mut contention, mut rng) = (two(), Rng::new(3, random::Stream::WlanBackoff, 0));
        contention.take(0);
        contention.end(0, true, &mut rng);
        contention.fall_silent(0, 0);
        assert_eq!(contention.listed, [0]);
        contention.take(1_000_000);
        assert!(contention.listed.is_empty());
    }
}
