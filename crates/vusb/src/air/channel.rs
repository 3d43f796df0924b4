//! Where radios are tuned to, and what gets lost on the way.

use medium::{ErrorRates, RateId, Rates};
use random::Rng;
use wire::phy::{Band, Bandwidth, He, Mode};

/// Where a radio is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tuned {
    /// Centre frequency of the primary channel, MHz.
    pub frequency_mhz: u16,
    /// The widest that it sends and receives.
    pub width: Bandwidth,
}

impl Tuned {
    /// A channel number of the 2.4 GHz band.
    pub const fn channel(number: u8) -> Option<Self> {
        match number {
            1..=13 => Some(Self { frequency_mhz: 2407 + 5 * number as u16, width: Bandwidth::Mhz20 }),
            14 => Some(Self { frequency_mhz: 2484, width: Bandwidth::Mhz20 }),
            _ => None,
        }
    }

    /// The band that it is in.
    pub const fn band(&self) -> Band {
        match Band::from_frequency_mhz(self.frequency_mhz) {
            Some(band) => band,
            None => Band::Ghz2_4,
        }
    }
}

/// Signal on a link, dBm. The two directions differ where one end sends with more power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinkSignal {
    /// The chip's frames, at the peer.
    pub down_dbm: i8,
    /// The peer's frames, at the chip.
    pub up_dbm: i8,
}

impl LinkSignal {
    /// The same in both directions.
    pub const fn both(dbm: i8) -> Self {
        Self { down_dbm: dbm, up_dbm: dbm }
    }
}

/// How good the channel is.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChannelSettings {
    /// Signal at each receiver.
    pub signal_dbm: i8,
    /// Noise and interference at each receiver, in 20 MHz.
    pub noise_dbm: i8,
    /// Probability that an MPDU or its answer is lost on top of what the signal-to-noise ratio does.
    pub loss: f64,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self { signal_dbm: -45, noise_dbm: -95, loss: 0.0 }
    }
}

/// Twice the width has twice the noise.
const TWICE_DB: f64 = 3.0;

/// The width that a PPDU takes.
pub(crate) const fn width(mode: &Mode) -> Bandwidth {
    match mode {
        Mode::Ht(ht) => ht.bandwidth,
        Mode::Vht(vht) => vht.bandwidth,
        Mode::He(He { bandwidth: Some(bandwidth), .. }) => *bandwidth,
        _ => Bandwidth::Mhz20,
    }
}

/// What is lost of frames with rates that are numbered by one table.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Losses {
    loss: f64,
    /// In 20, 40 and 80 MHz.
    of_widths: [ErrorRates; 3],
}

impl Losses {
    /// Those of a channel.
    pub fn new(settings: &ChannelSettings) -> Self {
        let snr_db = f64::from(settings.signal_dbm) - f64::from(settings.noise_dbm);
        Self {
            loss: settings.loss,
            of_widths: [0.0, 1.0, 2.0].map(|doubled| ErrorRates::new(Some(snr_db - doubled * TWICE_DB))),
        }
    }

    /// Probability that noise destroys a frame of `len` bytes, FCS included.
    pub fn by_noise(&mut self, id: RateId, mode: &Mode, len: usize) -> f64 {
        let [narrow, twice, four_times] = &mut self.of_widths;
        let errors = match width(mode) {
            Bandwidth::Mhz40 => twice,
            Bandwidth::Mhz80 => four_times,
            _ => narrow,
        };
        errors.of(usize::from(id), mode, len)
    }

    /// Whether a frame of `len` bytes, FCS included, gets lost. A mode that is not in the table gets lost.
    pub fn loses(&mut self, rng: &mut Rng, rates: &Rates, mode: &Mode, len: usize) -> bool {
        let Some(id) = rates.known(mode) else { return true };
        let noise = self.by_noise(id, mode, len);
        rng.chance(self.loss) || rng.chance(noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::rates::vht;
    use wire::phy::Ht;

    fn ht(mcs: u8, bandwidth: Bandwidth) -> Mode {
        let stbc = Some(0);
        Mode::Ht(Ht {
            mcs,
            bandwidth,
            short_gi: Some(false),
            greenfield: Some(false),
            ldpc: Some(false),
            stbc,
            ness: 0,
        })
    }

    fn lost(snr_db: i8, mode: Mode) -> f64 {
        let settings = ChannelSettings { signal_dbm: snr_db - 95, noise_dbm: -95, loss: 0.0 };
        let mut rates = Rates::new(Band::Ghz2_4, None);
        let id = rates.rate_id(mode).expect("a rate");
        Losses::new(&settings).by_noise(id, &mode, 1_538)
    }

    /// The error rates themselves are checked where they are made; here, that they get the right ratio.
    #[test]
    fn noise_destroys_fast_and_wide_frames_first() {
        let (narrow, wide) = (Bandwidth::Mhz20, Bandwidth::Mhz40);
        assert!(lost(22, ht(7, narrow)) > 0.5 && lost(22, ht(4, narrow)) < 0.01);
        assert!(lost(28, ht(7, narrow)) < 0.01);
        assert_eq!(lost(24, ht(7, narrow)), lost(27, ht(7, wide)));
        let quarter = Bandwidth::Mhz80;
        assert_eq!(lost(24, ht(7, narrow)), lost(30, vht(7, quarter, false)));
        // What 256-QAM needs more than MCS 7, and 80 MHz more than 20.
        let at_30_db = |mcs, bandwidth| lost(30, vht(mcs, bandwidth, false));
        assert!(at_30_db(8, narrow) < 0.01 && at_30_db(9, wide) > 0.5 && at_30_db(9, quarter) > 0.99);
        assert!(lost(40, vht(9, quarter, false)) < 0.01);
    }

    #[test]
    fn loss_comes_on_top() {
        let settings = ChannelSettings { loss: 0.25, ..ChannelSettings::default() };
        let (mut losses, mut rates, mut rng) =
            (Losses::new(&settings), Rates::new(Band::Ghz2_4, None), Rng::new(1, random::Stream::AirLoss, 0));
        let mode = ht(7, Bandwidth::Mhz20);
        assert!(losses.loses(&mut rng, &rates, &mode, 100), "an unknown rate");
        rates.rate_id(mode);
        let lost = (0..10_000).filter(|_| losses.loses(&mut rng, &rates, &mode, 100)).count();
        assert!((2_300..2_700).contains(&lost), "{lost}");
    }
}
