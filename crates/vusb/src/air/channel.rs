//! Where radios are tuned to, and what gets lost on the way.

use wire::phy::{Bandwidth, Mode};

use crate::rng::Rng;

/// Where a radio is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// Centre frequency of the primary channel, MHz.
    pub frequency_mhz: u16,
    /// Receives and sends 40 MHz.
    pub wide: bool,
}

impl Tuned {
    /// A channel number of the 2.4 GHz band.
    pub const fn channel(number: u8) -> Option<Self> {
        match number {
            1..=13 => Some(Self { frequency_mhz: 2407 + 5 * number as u16, wide: false }),
            14 => Some(Self { frequency_mhz: 2484, wide: false }),
            _ => None,
        }
    }
}

/// How good the channel is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelSettings {
    /// Signal at each receiver.
    pub signal_dbm: i8,
    /// Noise and interference at each receiver, in 20 MHz.
    pub noise_dbm: i8,
    /// Probability that an MPDU is lost on top of what the signal-to-noise ratio does.
    pub loss: f64,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self { signal_dbm: -45, noise_dbm: -95, loss: 0.0 }
    }
}

/// Bytes of the PSDU that receiver sensitivities are stated for (IEEE 802.11-2020, 19.3.19.2: 4096 octets at a PER of
/// 10 %; 17.3.10.2: 1000 octets; 16.3.8.1: 1024 octets at 8 %).
const SENSITIVITY_PER: f64 = 0.1;
/// Noise that those sensitivities are reckoned with: thermal noise of 20 MHz (-101 dBm) and a noise figure of 10 dB
/// (17.3.10.2).
const SENSITIVITY_NOISE_DBM: f64 = -91.0;
/// How many decibels change the error rate tenfold: an assumption, not from the standard.
const DB_PER_DECADE: f64 = 1.0;

/// Least sensitivity in 20 MHz, dBm, and the PSDU length that it is stated for (tables 19-23 and 17-18; 16.3.8.1).
fn sensitivity(mode: &Mode) -> (f64, f64) {
    match mode {
        Mode::Dsss { rate_500kbps, .. } => (if *rate_500kbps > 4 { -76.0 } else { -80.0 }, 1024.0),
        Mode::Ofdm { rate_500kbps, .. } => {
            let dbm = match rate_500kbps {
                12 => -82.0,
                18 => -81.0,
                24 => -79.0,
                36 => -77.0,
                48 => -74.0,
                72 => -70.0,
                96 => -66.0,
                _ => -65.0,
            };
            (dbm, 1000.0)
        }
        Mode::Ht(ht) => {
            let dbm = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0][usize::from(ht.mcs % 8)];
            (if ht.bandwidth == Bandwidth::Mhz40 { dbm + 3.0 } else { dbm }, 4096.0)
        }
        _ => (-82.0, 4096.0),
    }
}

impl ChannelSettings {
    /// Probability that an MPDU of `len` bytes is lost. A receiver that is just as good as the standard asks is taken, and
    /// an error rate that falls tenfold per decibel around its sensitivity.
    pub fn loss_of(&self, mode: &Mode, len: usize) -> f64 {
        let (sensitivity_dbm, stated_len) = sensitivity(mode);
        let margin_db =
            f64::from(self.signal_dbm) - f64::from(self.noise_dbm) - (sensitivity_dbm - SENSITIVITY_NOISE_DBM);
        let stated = (SENSITIVITY_PER * 10f64.powf(-margin_db / DB_PER_DECADE)).min(1.0);
        let by_noise = 1.0 - (1.0 - stated).powf(len as f64 / stated_len);
        1.0 - (1.0 - by_noise) * (1.0 - self.loss)
    }

    /// Whether an MPDU gets lost.
    pub fn loses(&self, rng: &mut Rng, mode: &Mode, len: usize) -> bool {
        let probability = self.loss_of(mode, len);
        // Below one in a hundred million it is not worth a draw.
        probability > 1e-8 && rng.chance(probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::Ht;

    fn ht(mcs: u8) -> Mode {
        let (bandwidth, stbc) = (Bandwidth::Mhz20, Some(0));
        Mode::Ht(Ht { mcs, bandwidth, short_gi: false, greenfield: Some(false), ldpc: Some(false), stbc, ness: 0 })
    }

    #[test]
    fn the_standards_sensitivity_gives_its_error_rate() {
        let channel = ChannelSettings { signal_dbm: -64, noise_dbm: -91, loss: 0.0 };
        assert!((channel.loss_of(&ht(7), 4096) - 0.1).abs() < 1e-9);
        assert!(channel.loss_of(&ht(0), 4096) < 1e-9);
        assert!(ChannelSettings { signal_dbm: -68, ..channel }.loss_of(&ht(7), 4096) > 0.99);
        assert!(
            (ChannelSettings { loss: 0.25, ..ChannelSettings::default() }.loss_of(&ht(7), 100) - 0.25).abs() < 1e-9
        );
    }
}
