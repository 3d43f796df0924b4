//! What additive white Gaussian noise does to an MPDU.
//!
//! OFDM: the bit error rate of each constellation, and the union bound of the convolutional code (K = 7, generators 133 and
//! 171) under hard decisions with the distance spectra of Haccoun and Bégin (IEEE Trans. Commun. 37(11), 1989): the model of
//! Pei and Henderson, "Validation of OFDM error rate model in ns-3" (2010), known there as the NIST model. DSSS: differential
//! PSK with the processing gain of 22 MHz over the bit rate (Pursley and Royster, IEEE Trans. Commun. 57(1), 2009), CCK as
//! biorthogonal signalling (Proakis, Digital Communications).

use std::f64::consts::PI;

use wire::phy::Mode;

/// Weights of the error events of a code, from the free distance on, and what they are divided by (twice the data bits of
/// the puncturing period).
struct Spectrum {
    free_distance: i32,
    step: i32,
    divisor: f64,
    weights: &'static [f64],
}

const RATE_1_2: Spectrum = Spectrum {
    free_distance: 10,
    step: 2,
    divisor: 2.0,
    weights: &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0],
};
const RATE_2_3: Spectrum = Spectrum {
    free_distance: 6,
    step: 1,
    divisor: 4.0,
    weights: &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
};
const RATE_3_4: Spectrum = Spectrum {
    free_distance: 5,
    step: 1,
    divisor: 6.0,
    weights: &[
        42.0,
        201.0,
        1492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};
const RATE_5_6: Spectrum = Spectrum {
    free_distance: 4,
    step: 1,
    divisor: 10.0,
    weights: &[
        92.0,
        528.0,
        8694.0,
        79_453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
};

/// Bits per subcarrier and code of the modulations of OFDM: eight, two more of VHT, and two more of HE.
fn modulation(mode: &Mode) -> Option<(u8, &'static Spectrum)> {
    Some(match mode {
        Mode::Ofdm { rate_500kbps, .. } => match rate_500kbps {
            12 => (1, &RATE_1_2),
            18 => (1, &RATE_3_4),
            24 => (2, &RATE_1_2),
            36 => (2, &RATE_3_4),
            48 => (4, &RATE_1_2),
            72 => (4, &RATE_3_4),
            96 => (6, &RATE_2_3),
            _ => (6, &RATE_3_4),
        },
        Mode::Ht(ht) => of_mcs(ht.mcs % 8),
        Mode::Vht(vht) => of_mcs(vht.mcs),
        // LDPC is taken as the convolutional code of the same rate.
        Mode::He(he) => of_mcs(he.mcs),
        _ => return None,
    })
}

/// IEEE 802.11-2020 tables 19-27 and 21-30, IEEE 802.11ax-2021 table 27-56 (MCS 8 and 9 are VHT's, 10 and 11 HE's).
const fn of_mcs(mcs: u8) -> (u8, &'static Spectrum) {
    match mcs {
        0 => (1, &RATE_1_2),
        1 => (2, &RATE_1_2),
        2 => (2, &RATE_3_4),
        3 => (4, &RATE_1_2),
        4 => (4, &RATE_3_4),
        5 => (6, &RATE_2_3),
        6 => (6, &RATE_3_4),
        7 => (6, &RATE_5_6),
        8 => (8, &RATE_3_4),
        9 => (8, &RATE_5_6),
        10 => (10, &RATE_3_4),
        _ => (10, &RATE_5_6),
    }
}

/// The complementary error function, to within 1.2e-7 of its value (Numerical Recipes, 6.2: a Chebyshev fit).
fn erfc(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let z = x.abs();
    let t = 1.0 / (1.0 + 0.5 * z);
    let sum = FIT.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    let value = t * (-z * z + sum).exp();
    if x >= 0.0 {
        value
    } else {
        2.0 - value
    }
}

/// Bit errors before decoding at a signal-to-noise ratio per subcarrier: Gray-coded BPSK, QPSK, 16-, 64-, 256- and
/// 1024-QAM.
fn constellation(bits: u8, snr: f64) -> f64 {
    match bits {
        1 => 0.5 * erfc(snr.sqrt()),
        2 => 0.5 * erfc((snr / 2.0).sqrt()),
        4 => 0.375 * erfc((snr / 10.0).sqrt()),
        6 => 7.0 / 24.0 * erfc((snr / 42.0).sqrt()),
        8 => 15.0 / 64.0 * erfc((snr / 170.0).sqrt()),
        _ => 31.0 / 160.0 * erfc((snr / 682.0).sqrt()),
    }
}

fn decoded(spectrum: &Spectrum, coded: f64) -> f64 {
    let d = (4.0 * coded * (1.0 - coded)).sqrt();
    let distances = (0..).map(|index| spectrum.free_distance + index * spectrum.step);
    let sum: f64 = spectrum.weights.iter().zip(distances).map(|(weight, distance)| weight * d.powi(distance)).sum();
    (sum / spectrum.divisor).min(1.0)
}

/// Symbol errors of biorthogonal signalling with eight signals at an energy of `snr` per symbol.
fn biorthogonal(snr: f64) -> f64 {
    const STEPS: i32 = 400;
    let beta = (2.0 * snr).sqrt();
    let below = |x: f64| 0.5 * erfc(-x / 2f64.sqrt());
    let density = |x: f64| (2.0 * below(x + beta) - 1.0).powi(3) * (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    // Simpson's rule between where one of the factors is 0: eight standard deviations are far enough, and more would leave
    // too few steps for the middle when the signal is strong.
    let from = -beta.min(8.0);
    let step = (8.0 - from) / f64::from(STEPS);
    let weighted = (0..=STEPS).map(|index| {
        let weight = match index {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * density(from + f64::from(index) * step)
    });
    (1.0 - weighted.sum::<f64>() * step / 3.0).clamp(0.0, 1.0)
}

/// Probability that a bit of a PPDU is wrong after decoding, at a signal-to-noise ratio (per stream) in dB.
fn bit_error_rate(mode: &Mode, snr_db: f64) -> f64 {
    let snr = 10f64.powf(snr_db / 10.0);
    if let Some((bits, spectrum)) = modulation(mode) {
        return decoded(spectrum, constellation(bits, snr));
    }
    let Mode::Dsss { rate_500kbps, .. } = mode else { return 0.0 };
    match rate_500kbps {
        2 => 0.5 * (-snr * 22.0).exp(),
        4 => {
            let per_bit = snr * 11.0;
            let root = 2f64.sqrt();
            let factor = (root + 1.0) / (8.0 * PI * root).sqrt() / per_bit.sqrt();
            (factor * (-(2.0 - root) * per_bit).exp()).min(0.5)
        }
        11 => 8.0 / 15.0 * biorthogonal(snr * 22.0 / 1.375 / 2.0),
        _ => 128.0 / 255.0 * biorthogonal(snr * 22.0 / 1.375 / 4.0),
    }
}

/// The errors of one direction, by rate.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ErrorRates {
    snr_db: Option<f64>,
    /// ln(1 - bit error rate) of the rates that were asked for; NaN: not yet.
    known: Vec<f64>,
}

impl ErrorRates {
    /// Without a signal-to-noise ratio nothing is lost.
    pub const fn new(snr_db: Option<f64>) -> Self {
        Self { snr_db, known: Vec::new() }
    }

    /// Probability that that many bytes arrive wrong; `number` is that of the mode.
    pub fn of(&mut self, number: usize, mode: &Mode, bytes: usize) -> f64 {
        let Some(snr_db) = self.snr_db else { return 0.0 };
        if number >= self.known.len() {
            self.known.resize(number + 1, f64::NAN);
        }
        if self.known[number].is_nan() {
            self.known[number] = (-bit_error_rate(mode, snr_db)).ln_1p();
        }
        -(self.known[number] * 8.0 * bytes as f64).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::{Bandwidth, Ht, Vht};

    fn legacy_mode(rate_500kbps: u8) -> Mode {
        Mode::from_legacy_rate(rate_500kbps, Some(false)).expect("a rate")
    }

    fn ht_mode(mcs: u8) -> Mode {
        let (bandwidth, short_gi) = (Bandwidth::Mhz20, Some(true));
        Mode::Ht(Ht { mcs, bandwidth, short_gi, greenfield: Some(false), ldpc: Some(false), stbc: Some(0), ness: 0 })
    }

    fn vht_mode(mcs: u8) -> Mode {
        let (bandwidth, short_gi, stbc) = (Bandwidth::Mhz80, Some(true), Some(false));
        Mode::Vht(Vht { mcs, nss: 1, bandwidth, short_gi, stbc, ldpc: Some(false), ldpc_extra_symbol: Some(false) })
    }

    fn success(mode: Mode, snr_db: f64, bits: f64) -> f64 {
        (bits * (-bit_error_rate(&mode, snr_db)).ln_1p()).exp()
    }

    /// Rate (500 kbit/s), dB, success of 2000 bytes and its tolerance: what ns-3 tests its model with
    /// (`src/wifi/test/wifi-error-rate-models-test.cc`).
    #[test]
    fn ofdm_is_as_in_ns3() {
        for (rate, snr_db, expected, tolerance) in [
            (12, 3.0, 0.020, 0.001),
            (12, 4.0, 0.885, 0.001),
            (12, 5.0, 0.997, 0.001),
            (18, 6.0, 0.097, 0.001),
            (18, 7.0, 0.918, 0.001),
            (24, 6.0, 0.0174, 0.001),
            (24, 7.0, 0.881, 0.001),
            (36, 9.5, 0.623, 0.001),
            (36, 10.5, 0.985, 0.001),
            (48, 13.0, 0.495, 0.001),
            (48, 14.0, 0.974, 0.001),
            (72, 15.5, 0.012, 0.001),
            (72, 16.5, 0.818, 0.001),
            (96, 21.0, 0.649, 0.001),
            (96, 22.0, 0.983, 0.001),
            (108, 22.0, 0.410, 0.001),
            (108, 23.0, 0.958, 0.001),
        ] {
            let found = success(legacy_mode(rate), snr_db, 16_000.0);
            assert!((found - expected).abs() < tolerance, "{rate} at {snr_db} dB: {found}, expected {expected}");
        }
    }

    /// The same for DSSS with 1078 bytes; RSS over a noise of -93.55 dBm. CCK here is a little more robust: 0.1 dB.
    #[test]
    fn dsss_is_nearly_as_in_ns3() {
        for (rate, rss_dbm, expected, tolerance) in [
            (2, -98.0, 0.202, 0.005),
            (2, -97.0, 0.813, 0.005),
            (4, -93.0, 0.519, 0.005),
            (4, -92.0, 0.915, 0.005),
            (11, -91.0, 0.132, 0.03),
            (11, -90.0, 0.744, 0.03),
            (22, -88.0, 0.128, 0.03),
            (22, -87.0, 0.739, 0.03),
        ] {
            let found = success(legacy_mode(rate), rss_dbm + 93.552_278_6, 8_624.0);
            assert!((found - expected).abs() < tolerance, "{rate} at {rss_dbm} dBm: {found}, expected {expected}");
        }
    }

    /// However strong the signal: no rate gets worse, and none loses frames forever.
    #[test]
    fn a_stronger_signal_is_never_worse() {
        let legacy = [2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108].map(legacy_mode);
        for mode in legacy.into_iter().chain((0..8).map(ht_mode)).chain((0..10).map(vht_mode)) {
            let success: Vec<f64> = (-20..=90).map(|snr_db| success(mode, f64::from(snr_db), 12_000.0)).collect();
            let worse = success.windows(2).position(|two| two[1] < two[0] - 1e-6);
            assert_eq!(worse, None, "{mode:?}: {success:?}");
            assert!(success.last().is_some_and(|&it| it > 1.0 - 1e-6), "{mode:?}");
        }
    }

    #[test]
    fn erfc_is_close() {
        for (x, value) in
            [(0.0, 1.0), (0.5, 0.479_500_122), (1.0, 0.157_299_207), (3.0, 2.209_049_7e-5), (-1.0, 1.842_700_793)]
        {
            assert!((erfc(x) / value - 1.0).abs() < 2e-7, "{x}");
        }
    }

    #[test]
    fn faster_modes_and_longer_mpdus_suffer_more() {
        let mut rates = ErrorRates::new(Some(25.0));
        let mcs = [5, 6, 7].map(|mcs| rates.of(usize::from(mcs), &ht_mode(mcs), 1_538));
        assert!(mcs[0] < mcs[1] && mcs[1] < mcs[2], "{mcs:?}");
        assert!(rates.of(7, &ht_mode(7), 100) < mcs[2]);
        assert_eq!(ErrorRates::new(None).of(7, &ht_mode(7), 1_538), 0.0);
    }
}
