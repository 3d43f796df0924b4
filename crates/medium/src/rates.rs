//! What each rate means on a medium: durations, answers, gaps; all from [`wire::phy`].

use std::cell::Cell;

use wire::phy::{
    control_response_rate, response_gap_ns, Band, Mode, RateSet, Timing, ACK_LEN, BLOCK_ACK_64_LEN, CTS_LEN, RTS_LEN,
};

/// A rate in [`Rates`].
pub type RateId = u16;

/// What a rate of data means.
#[derive(Clone, Debug)]
pub struct Rate {
    /// How it is modulated.
    pub mode: Mode,
    /// PHY rate.
    pub kbit_s: u32,
    /// Spatial streams.
    pub streams: u32,
    /// Mode of the ACK, Block Ack or CTS that answers it, and of the RTS before it.
    pub response: Mode,
    /// What comes before the data.
    pub preamble_ns: u64,
    /// Time of an answering ACK.
    pub ack_ns: u64,
    /// Time of an answering compressed Block Ack.
    pub block_ack_ns: u64,
    /// RTS: at the highest basic rate that the data rate allows, which is that of the answers.
    pub rts_ns: u64,
    /// Time of an answering CTS.
    pub cts_ns: u64,
    /// From the end of a PPDU at this rate (or of its RTS and CTS) to what follows it in the exchange.
    pub gap_ns: u64,
    /// Signal extension: from the end of such a PPDU to where SIFS begins.
    pub silence_ns: u64,
}

/// Lengths of PSDUs that are remembered with their durations, for each rate.
const REMEMBERED: usize = 16;

/// What was found out of a rate, not to be computed again: senders ask for the same few PPDUs all the time.
#[derive(Clone, Debug)]
struct Remembered {
    /// Length of a PSDU and its duration, by the length; a duration of 0: nothing yet.
    durations: [Cell<(usize, u64)>; REMEMBERED],
    /// The bounds and the answer of the last question for the longest PSDU.
    within: Cell<Option<(usize, u64, usize)>>,
}

impl Remembered {
    fn nothing() -> Self {
        Self { durations: std::array::from_fn(|_| Cell::new((0, 0))), within: Cell::new(None) }
    }

    /// Where a length is remembered: lengths of A-MPDUs differ in multiples of four bytes.
    fn duration(&self, psdu_len: usize) -> &Cell<(usize, u64)> {
        &self.durations[(psdu_len ^ psdu_len >> 4) / 4 % REMEMBERED]
    }
}

/// All rates that are in use on a medium.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Rates {
    band: Band,
    basic: Option<RateSet>,
    rates: Vec<Rate>,
    /// What was found out of each of them.
    known: Vec<Remembered>,
}

/// What is saved of them: the modes in the order of their numbers; the rest follows.
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    band: Band,
    basic: Option<RateSet>,
    modes: Vec<Mode>,
}

impl From<Rates> for Saved {
    fn from(rates: Rates) -> Self {
        Self { band: rates.band, basic: rates.basic, modes: rates.rates.iter().map(|rate| rate.mode).collect() }
    }
}

impl From<Saved> for Rates {
    fn from(saved: Saved) -> Self {
        let mut rates = Self::new(saved.band, saved.basic);
        for mode in saved.modes {
            rates.rate_id(mode);
        }
        rates
    }
}

impl Rates {
    /// No rates yet. `basic`: the rates that answers are chosen of; `None`: not known, those that the standard makes
    /// mandatory are taken.
    pub const fn new(band: Band, basic: Option<RateSet>) -> Self {
        Self { band, basic, rates: Vec::new(), known: Vec::new() }
    }

    /// The band that they are of.
    #[inline]
    pub const fn band(&self) -> Band {
        self.band
    }

    /// The rates that answers are chosen of.
    pub const fn basic(&self) -> Option<RateSet> {
        self.basic
    }

    /// The number of a mode, entered in the table if need be; `None` for one that the medium does not have.
    pub fn rate_id(&mut self, mode: Mode) -> Option<RateId> {
        if let Some(known) = self.known(&mode) {
            return Some(known);
        }
        mode.duration(1, Some(self.band))?;
        let response = control_response_rate(&mode, self.basic.as_ref(), self.band)?;
        let timing = Timing::new(self.band, wire::phy::Bandwidth::Mhz20, true);
        let extended = !matches!(mode, Mode::Dsss { .. });
        let control = |len| self.duration_ns(&response, len);
        let rate = Rate {
            mode,
            kbit_s: mode.rate_kbps()?.max(1),
            streams: mode.nss().map_or(1, u32::from),
            response,
            preamble_ns: u64::from(mode.preamble_ns()?),
            ack_ns: control(ACK_LEN),
            block_ack_ns: control(BLOCK_ACK_64_LEN),
            rts_ns: control(RTS_LEN),
            cts_ns: control(CTS_LEN),
            gap_ns: response_gap_ns(self.band, &mode).map_or(u64::from(timing.sifs_ns), u64::from),
            silence_ns: if extended { u64::from(timing.signal_extension_ns) } else { 0 },
        };
        self.rates.push(rate);
        self.known.push(Remembered::nothing());
        let number = RateId::try_from(self.rates.len() - 1).ok();
        // What is lost of an answer depends on its rate.
        self.rate_id(response)?;
        number
    }

    /// Time on the air; 0 for a mode that is not in the table and has no known duration.
    pub fn duration_ns(&self, mode: &Mode, psdu_len: usize) -> u64 {
        // `rate_id` has made sure that every mode in use has durations.
        mode.duration(psdu_len, Some(self.band)).map_or(0, |duration| duration.ns)
    }

    /// The number of a mode that is in the table.
    pub fn known(&self, mode: &Mode) -> Option<RateId> {
        self.rates.iter().position(|rate| rate.mode == *mode).and_then(|number| RateId::try_from(number).ok())
    }

    /// A rate of the table.
    ///
    /// # Panics
    /// With a number that [`Self::rate_id`] has not given.
    pub fn rate(&self, id: RateId) -> &Rate {
        &self.rates[usize::from(id)]
    }

    /// A data PPDU with a PSDU of that many bytes.
    pub fn data_ns(&self, id: RateId, psdu_len: usize) -> u64 {
        let known = self.known[usize::from(id)].duration(psdu_len);
        let (len, ns) = known.get();
        if len == psdu_len && ns > 0 {
            return ns;
        }
        let ns = self.duration_ns(&self.rate(id).mode, psdu_len);
        known.set((psdu_len, ns));
        ns
    }

    /// The longest PSDU, up to `max_bytes`, that takes `max_ns` at most.
    pub fn psdu_within(&self, id: RateId, max_bytes: usize, max_ns: u64) -> usize {
        let known = &self.known[usize::from(id)].within;
        if let Some((_, _, found)) = known.get().filter(|&(bytes, ns, _)| (bytes, ns) == (max_bytes, max_ns)) {
            return found;
        }
        let mode = &self.rate(id).mode;
        let goes = |psdu_len| self.duration_ns(mode, psdu_len) <= max_ns;
        let (mut fits, mut too_long) = (if goes(max_bytes) { max_bytes } else { 0 }, max_bytes);
        while too_long - fits > 1 {
            let middle = fits + (too_long - fits) / 2;
            if goes(middle) {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        known.set(Some((max_bytes, max_ns, fits)));
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::{Bandwidth, Ht};

    /// Asked in any order and again, for lengths that share a place: what the mode itself says.
    #[test]
    fn what_is_remembered_is_what_was_computed() {
        let mut rates = Rates::new(Band::Ghz5, None);
        let ht = |mcs| Ht {
            mcs,
            bandwidth: Bandwidth::Mhz20,
            short_gi: Some(true),
            greenfield: Some(false),
            ldpc: Some(false),
            stbc: Some(0),
            ness: 0,
        };
        let ids = [0, 7].map(|mcs| (Mode::Ht(ht(mcs)), rates.rate_id(Mode::Ht(ht(mcs))).expect("a rate")));
        for len in (0..9_000).chain((0..9_000).rev()).chain([1_538; 3]).chain((1..60).map(|n| n * 1_544)) {
            for (mode, id) in ids {
                let expected = mode.duration(len, Some(Band::Ghz5)).map(|duration| duration.ns);
                assert_eq!(Some(rates.data_ns(id, len)), expected, "{len} bytes, {mode:?}");
            }
        }
        for max_ns in [1, 300_000, 300_000, 4_000_000, 100_000_000, 300_000] {
            for max_bytes in [100, 65_535, 65_535, 8_191] {
                for (mode, id) in ids {
                    let goes = |len: usize| mode.duration(len, None).is_some_and(|duration| duration.ns <= max_ns);
                    let expected = (1..=max_bytes).rev().find(|&len| goes(len)).unwrap_or(0);
                    assert_eq!(rates.psdu_within(id, max_bytes, max_ns), expected, "{max_bytes} bytes, {max_ns} ns");
                }
            }
        }
    }
}
