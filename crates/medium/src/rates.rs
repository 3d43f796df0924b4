//! What each rate means on a medium: durations, answers, gaps; all from [`wire::phy`].

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
    /// Of the ACK, Block Ack or CTS that answers it, and of the RTS before it.
    pub response: Mode,
    /// What comes before the data.
    pub preamble_ns: u64,
    /// Of the answer: an ACK.
    pub ack_ns: u64,
    /// Of the answer: a compressed Block Ack.
    pub block_ack_ns: u64,
    /// RTS: at the highest basic rate that the data rate allows, which is that of the answers.
    pub rts_ns: u64,
    /// Of the answer: a CTS.
    pub cts_ns: u64,
    /// From the end of a PPDU at this rate (or of its RTS and CTS) to what follows it in the exchange.
    pub gap_ns: u64,
    /// Signal extension: from the end of such a PPDU to where SIFS begins.
    pub silence_ns: u64,
}

/// All rates that are in use on a medium.
#[derive(Clone, Debug)]
pub struct Rates {
    band: Band,
    basic: Option<RateSet>,
    rates: Vec<Rate>,
}

impl Rates {
    /// No rates yet. `basic`: the rates that answers are chosen of; `None`: not known, those that the standard makes
    /// mandatory are taken.
    pub const fn new(band: Band, basic: Option<RateSet>) -> Self {
        Self { band, basic, rates: Vec::new() }
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
        let number = RateId::try_from(self.rates.len() - 1).ok();
        // What is lost of an answer depends on its rate.
        self.rate_id(response)?;
        number
    }

    /// Time on the air; 0 for a mode that is not in the table and that nobody can price.
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
        self.duration_ns(&self.rate(id).mode, psdu_len)
    }

    /// The longest PSDU, up to `max_bytes`, that takes `max_ns` at most.
    pub fn psdu_within(&self, id: RateId, max_bytes: usize, max_ns: u64) -> usize {
        if self.data_ns(id, max_bytes) <= max_ns {
            return max_bytes;
        }
        let (mut fits, mut too_long) = (0, max_bytes);
        while too_long - fits > 1 {
            let middle = fits + (too_long - fits) / 2;
            if self.data_ns(id, middle) <= max_ns {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        fits
    }
}
