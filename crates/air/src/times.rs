//! Durations of PPDUs, computed once for those that come again and again.

use wire::phy::{Band, Mode};

/// Answers remembered; PPDUs that share a place replace each other.
const SLOTS: usize = 1024;

/// What mode and length make of a PPDU, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PpduTimes {
    /// Before the first PSDU bit; 0 where the mode does not show it.
    pub preamble_ns: i64,
    /// All of it; `None` where the mode does not show it.
    pub duration_ns: Option<i64>,
    /// Half-width of the duration's uncertainty.
    pub uncertainty_ns: i64,
}

impl PpduTimes {
    fn new(mode: Mode, psdu_len: u32, frequency_mhz: Option<u16>) -> Self {
        let air = mode.duration(psdu_len as usize, frequency_mhz.and_then(Band::from_frequency_mhz));
        Self {
            preamble_ns: mode.preamble_ns().map_or(0, i64::from),
            duration_ns: air.map(|air| air.ns as i64),
            uncertainty_ns: air.map_or(0, |air| i64::from(air.minus_ns.max(air.plus_ns))),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    mode: Mode,
    psdu_len: u32,
    frequency_mhz: Option<u16>,
    times: PpduTimes,
}

/// Remembers what it computed: most PPDUs of a capture are beacons and ACKs of a few lengths and rates.
#[derive(Debug, Default)]
pub struct Times {
    answers: Vec<Option<Answer>>,
}

impl Times {
    /// Times of a PPDU with a PSDU of `psdu_len` bytes, on a channel at `frequency_mhz`.
    #[inline]
    pub fn of(&mut self, mode: Mode, psdu_len: u32, frequency_mhz: Option<u16>) -> PpduTimes {
        match self.answers.get(slot_of(mode, psdu_len)) {
            Some(Some(known))
                if known.psdu_len == psdu_len
                    && known.frequency_mhz == frequency_mhz
                    && is_same(&known.mode, &mode) =>
            {
                known.times
            }
            _ => self.compute(mode, psdu_len, frequency_mhz),
        }
    }

    #[cold]
    fn compute(&mut self, mode: Mode, psdu_len: u32, frequency_mhz: Option<u16>) -> PpduTimes {
        if self.answers.is_empty() {
            self.answers = vec![None; SLOTS];
        }
        let times = PpduTimes::new(mode, psdu_len, frequency_mhz);
        if let Some(slot) = self.answers.get_mut(slot_of(mode, psdu_len)) {
            *slot = Some(Answer { mode, psdu_len, frequency_mhz, times });
        }
        times
    }
}

/// Equality, at once for the modes of most small frames.
#[inline]
fn is_same(a: &Mode, b: &Mode) -> bool {
    match (a, b) {
        (
            Mode::Dsss { rate_500kbps: a, short_preamble: a_short },
            Mode::Dsss { rate_500kbps: b, short_preamble: b_short },
        ) => a == b && a_short == b_short,
        (Mode::Ofdm { rate_500kbps: a, bandwidth: a_wide }, Mode::Ofdm { rate_500kbps: b, bandwidth: b_wide }) => {
            a == b && a_wide == b_wide
        }
        _ => a == b,
    }
}

/// ACKs of every rate have one length, beacons of one network one rate.
#[inline]
fn slot_of(mode: Mode, psdu_len: u32) -> usize {
    let rate = match mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => u32::from(rate_500kbps),
        Mode::Ht(ht) => 128 + u32::from(ht.mcs),
        Mode::Vht(vht) => 192 + u32::from(vht.mcs),
        _ => 0,
    };
    (psdu_len.wrapping_add(rate.wrapping_mul(37)) as usize) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever was asked before: the answer is the one that computing afresh gives.
        #[test]
        fn what_is_remembered_is_what_would_be_computed(
            asked in proptest::collection::vec((0usize..4, 0u32..3, prop_oneof![Just(None), Just(Some(2412u16)), Just(Some(5180))]), 1..50),
        ) {
            let mut times = Times::default();
            for (rate, lap, frequency_mhz) in asked {
                let mode = Mode::from_legacy_rate([2, 12, 22, 108][rate], None).unwrap();
                let psdu_len = 100 + lap * SLOTS as u32;
                prop_assert_eq!(times.of(mode, psdu_len, frequency_mhz), PpduTimes::new(mode, psdu_len, frequency_mhz));
            }
        }
    }
}
