//! How fast a mode carries bits: modulation, coding, subcarriers, and from them the PHY data rate.
//!
//! Sources: IEEE 802.11-2020 table 17-4 (OFDM), 19.5 (HT-MCS), 21.5 (VHT-MCS); IEEE 802.11ax-2021 27.5 (HE-MCS);
//! IEEE 802.11be-2024 36.5 (EHT-MCS).

use super::mode::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};

/// A convolutional or LDPC code rate, `num / den`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeRate {
    /// Data bits.
    pub num: u8,
    /// Coded bits.
    pub den: u8,
}

const R1_2: CodeRate = CodeRate { num: 1, den: 2 };
const R2_3: CodeRate = CodeRate { num: 2, den: 3 };
const R3_4: CodeRate = CodeRate { num: 3, den: 4 };
const R5_6: CodeRate = CodeRate { num: 5, den: 6 };

/// What one data symbol of an OFDM-family PPDU carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Coded bits per symbol over all streams (N_CBPS), at least 1.
    pub coded_bits: u32,
    /// Data bits per symbol (N_DBPS), at least 1; rounded down where the product is not an integer (HE, EHT).
    pub data_bits: u32,
    /// Code rate.
    pub code: CodeRate,
    /// Symbol time with guard interval.
    pub ns: u32,
    /// BCC encoders (N_ES); each adds six tail bits.
    pub encoders: u8,
    /// Spatial streams (N_SS).
    pub nss: u8,
}

impl Symbol {
    fn new(coded_bits: u32, code: CodeRate, ns: u32, nss: u8) -> Option<Self> {
        let data_bits = coded_bits * u32::from(code.num) / u32::from(code.den);
        (data_bits > 0).then_some(Self { coded_bits, data_bits, code, ns, encoders: 1, nss })
    }

    /// True where N_CBPS times the code rate is an integer.
    fn has_whole_data_bits(&self) -> bool {
        (self.coded_bits * u32::from(self.code.num)) % u32::from(self.code.den) == 0
    }

    /// Data rate in kbit/s to the nearest integer, from the unrounded N_CBPS times code rate.
    fn rate_kbps(&self) -> u32 {
        let bits_e6 = u64::from(self.coded_bits) * u64::from(self.code.num) * 1_000_000;
        let divisor = u64::from(self.code.den) * u64::from(self.ns);
        u32::try_from((bits_e6 + divisor / 2) / divisor).unwrap_or(u32::MAX)
    }
}

/// Bits per subcarrier and code rate of an MCS with equal modulation: HT modulo 8, VHT, HE and EHT (0 to 13).
pub(super) const fn modulation(mcs: u8) -> Option<(u8, CodeRate)> {
    Some(match mcs {
        0 => (1, R1_2),
        1 => (2, R1_2),
        2 => (2, R3_4),
        3 => (4, R1_2),
        4 => (4, R3_4),
        5 => (6, R2_3),
        6 => (6, R3_4),
        7 => (6, R5_6),
        8 => (8, R3_4),
        9 => (8, R5_6),
        10 => (10, R3_4),
        11 => (10, R5_6),
        12 => (12, R3_4),
        13 => (12, R5_6),
        _ => return None,
    })
}

/// HT MCS 33 to 76 (unequal modulation, tables 19-38 to 19-43): bits per subcarrier of each stream, strongest first.
/// The second half of each stream count's range repeats the first at rate 3/4 instead of 1/2.
const fn unequal_modulation(mcs: u8) -> Option<(&'static [u8], CodeRate)> {
    const TWO: &[&[u8]] = &[&[4, 2], &[6, 2], &[6, 4]];
    const THREE: &[&[u8]] = &[&[4, 2, 2], &[4, 4, 2], &[6, 2, 2], &[6, 4, 2], &[6, 4, 4], &[6, 6, 2], &[6, 6, 4]];
    const FOUR: &[&[u8]] = &[
        &[4, 2, 2, 2],
        &[4, 4, 2, 2],
        &[4, 4, 4, 2],
        &[6, 2, 2, 2],
        &[6, 4, 2, 2],
        &[6, 4, 4, 2],
        &[6, 4, 4, 4],
        &[6, 6, 2, 2],
        &[6, 6, 4, 2],
        &[6, 6, 4, 4],
        &[6, 6, 6, 2],
        &[6, 6, 6, 4],
    ];
    let (table, row, code) = match mcs {
        33..=35 => (TWO, mcs - 33, R1_2),
        36..=38 => (TWO, mcs - 36, R3_4),
        39..=45 => (THREE, mcs - 39, R1_2),
        46..=52 => (THREE, mcs - 46, R3_4),
        53..=64 => (FOUR, mcs - 53, R1_2),
        65..=76 => (FOUR, mcs - 65, R3_4),
        _ => return None,
    };
    match table.split_at_checked(row as usize) {
        Some((_, [streams, ..])) => Some((*streams, code)),
        _ => None,
    }
}

/// The modulation of the first spatial stream of an HT MCS: bits per subcarrier and code rate.
pub(super) const fn ht_first_stream(mcs: u8) -> Option<(u8, CodeRate)> {
    match mcs {
        0..=31 => modulation(mcs % 8),
        32 => Some((1, R1_2)),
        _ => match unequal_modulation(mcs) {
            Some(([strongest, ..], code)) => Some((*strongest, code)),
            _ => None,
        },
    }
}

/// Clock divider of an OFDM channel: 1 at 20 MHz, 2 at 10 MHz, 4 at 5 MHz.
pub(super) const fn ofdm_clock_divider(bandwidth: Bandwidth) -> Option<u8> {
    match bandwidth {
        Bandwidth::Mhz20 => Some(1),
        Bandwidth::Mhz10 => Some(2),
        Bandwidth::Mhz5 => Some(4),
        _ => None,
    }
}

/// The rate (500 kbit/s units) that the same modulation has at 20 MHz; `None` unless it is one of the eight.
///
/// 2.25 Mbit/s at 5 MHz is not a multiple of 500 kbit/s; headers round it to 2 or 2.5, and both are accepted.
pub(super) const fn ofdm_full_clock_rate(rate_500kbps: u8, bandwidth: Bandwidth) -> Option<u8> {
    let divider = match ofdm_clock_divider(bandwidth) {
        Some(d) => d,
        None => return None,
    };
    let full = match (divider, rate_500kbps) {
        (4, 4 | 5) => 18,
        _ => rate_500kbps as u16 * divider as u16,
    };
    match full {
        12 | 18 | 24 | 36 | 48 | 72 | 96 | 108 => Some(full as u8),
        _ => None,
    }
}

/// Bits per subcarrier and code rate of an OFDM rate given as at 20 MHz.
const fn ofdm_modulation(full_rate_500kbps: u8) -> Option<(u8, CodeRate)> {
    Some(match full_rate_500kbps {
        12 => (1, R1_2),
        18 => (1, R3_4),
        24 => (2, R1_2),
        36 => (2, R3_4),
        48 => (4, R1_2),
        72 => (4, R3_4),
        96 => (6, R2_3),
        108 => (6, R3_4),
        _ => return None,
    })
}

fn ofdm_symbol(rate_500kbps: u8, bandwidth: Bandwidth) -> Option<Symbol> {
    let divider = ofdm_clock_divider(bandwidth)?;
    let (bits, code) = ofdm_modulation(ofdm_full_clock_rate(rate_500kbps, bandwidth)?)?;
    Symbol::new(48 * u32::from(bits), code, 4_000 * u32::from(divider), 1)
}

fn ht_symbol(ht: &Ht) -> Option<Symbol> {
    let subcarriers: u32 = match ht.bandwidth {
        Bandwidth::Mhz20 => 52,
        Bandwidth::Mhz40 => 108,
        _ => return None,
    };
    let ns = if ht.short_gi? { 3_600 } else { 4_000 };
    let mut symbol = match ht.mcs {
        0..=31 => {
            let nss = ht.mcs / 8 + 1;
            let (bits, code) = modulation(ht.mcs % 8)?;
            Symbol::new(subcarriers * u32::from(bits) * u32::from(nss), code, ns, nss)?
        }
        // BPSK 1/2, the same 48 subcarriers in both halves of a 40 MHz channel.
        32 if ht.bandwidth == Bandwidth::Mhz40 => Symbol::new(48, R1_2, ns, 1)?,
        _ => {
            let (streams, code) = unequal_modulation(ht.mcs)?;
            let bits: u32 = streams.iter().map(|&b| u32::from(b)).sum();
            Symbol::new(subcarriers * bits, code, ns, streams.len() as u8)?
        }
    };
    // 19.3.11.4: a second encoder above 300 Mbit/s; the tables decide at the long guard interval (1200 bits in 4 us).
    symbol.encoders = if symbol.data_bits > 1_200 { 2 } else { 1 };
    Some(symbol)
}

/// VHT combinations that 21.5 leaves out, although their bits per symbol are whole.
const fn vht_is_excluded(bandwidth: Bandwidth, nss: u8, mcs: u8) -> bool {
    matches!((bandwidth, nss, mcs), (Bandwidth::Mhz80, 3 | 7, 6) | (Bandwidth::Mhz80, 6, 9) | (Bandwidth::Mhz160, 3, 9))
}

/// BCC encoders of a VHT PPDU: one for each 540 Mbit/s begun (2160 data bits per 4 us), raised to the next number that
/// splits both the data and the coded bits evenly (21.3.10.5.3 and the tables of 21.5).
fn vht_encoders(symbol: &Symbol) -> u8 {
    let first = symbol.data_bits.div_ceil(2_160).max(1);
    (first..=first + 8)
        .find(|n| symbol.data_bits % n == 0 && symbol.coded_bits % (n * u32::from(symbol.code.den)) == 0)
        .unwrap_or(first) as u8
}

fn vht_symbol(vht: &Vht) -> Option<Symbol> {
    let subcarriers: u32 = match vht.bandwidth {
        Bandwidth::Mhz20 => 52,
        Bandwidth::Mhz40 => 108,
        Bandwidth::Mhz80 => 234,
        Bandwidth::Mhz160 => 468,
        _ => return None,
    };
    if !(1..=8).contains(&vht.nss) || vht.mcs > 11 || vht_is_excluded(vht.bandwidth, vht.nss, vht.mcs) {
        return None;
    }
    let (bits, code) = modulation(vht.mcs)?;
    let ns = if vht.short_gi? { 3_600 } else { 4_000 };
    let mut symbol = Symbol::new(subcarriers * u32::from(bits) * u32::from(vht.nss), code, ns, vht.nss)?;
    if !symbol.has_whole_data_bits() {
        return None;
    }
    symbol.encoders = vht_encoders(&symbol);
    Some(symbol)
}

/// Data subcarriers of an HE resource unit of that many tones, or of several EHT units that one user has together
/// (IEEE 802.11be-2024 36.3.2.2: the sum of its units').
const fn ru_subcarriers(tones: u16) -> Option<u32> {
    Some(match tones {
        26 => 24,
        52 => 48,
        106 => 102,
        78 => 24 + 48,
        132 => 24 + 102,
        242 => 234,
        484 => 468,
        726 => 234 + 468,
        996 => 980,
        1480 => 468 + 980,
        1722 => 234 + 468 + 980,
        1992 => 1960,
        2476 => 468 + 1960,
        2988 => 2940,
        3472 => 468 + 2940,
        3984 => 3920,
        _ => return None,
    })
}

/// DCM and STBC as they were applied. In HE-SIG-A of an HE SU or HE ER SU PPDU both bits together mean neither of them
/// but a 4x HE-LTF with 0.8 us guard interval (IEEE 802.11ax-2021 table 27-18).
pub(super) const fn he_dcm_stbc(he: &He) -> (bool, bool) {
    if matches!(he.format, HeFormat::Su | HeFormat::ErSu) && he.dcm && matches!(he.stbc, Some(true)) {
        (false, false)
    } else {
        (he.dcm, matches!(he.stbc, Some(true)))
    }
}

/// Tones of the resource unit in use: the one reported, else the whole channel's.
pub(super) fn he_tones(he: &He) -> Option<u16> {
    match he.ru_tones {
        Some(tones) => Some(tones),
        None => he.bandwidth?.tones(),
    }
}

fn he_symbol(he: &He) -> Option<Symbol> {
    let gi = he.gi?;
    if !(1..=8).contains(&he.nss) || he.mcs > 11 || gi == GuardInterval::Ns400 {
        return None;
    }
    // ER SU: one stream, MCS 0 to 2, in 242 tones or (MCS 0 only) 106 (27.3.4, 27.5).
    let tones = he_tones(he)?;
    if he.format == HeFormat::ErSu && !matches!((he.nss, he.mcs, tones), (1, 0..=2, 242) | (1, 0, 106)) {
        return None;
    }
    if !matches!(tones, 26 | 52 | 106 | 242 | 484 | 996 | 1992) {
        return None; // EHT's
    }
    let mut subcarriers = ru_subcarriers(tones)?;
    if he_dcm_stbc(he).0 {
        // 27.3.12.9: DCM exists for MCS 0, 1, 3 and 4 with one or two streams.
        if !matches!(he.mcs, 0 | 1 | 3 | 4) || he.nss > 2 {
            return None;
        }
        subcarriers /= 2;
    }
    let (bits, code) = modulation(he.mcs)?;
    Symbol::new(subcarriers * u32::from(bits) * u32::from(he.nss), code, 12_800 + gi.ns(), he.nss)
}

fn eht_symbol(eht: &Eht) -> Option<Symbol> {
    let (mcs, nss, gi) = (eht.mcs?, eht.nss?, eht.gi?);
    if !(1..=8).contains(&nss) || gi == GuardInterval::Ns400 {
        return None;
    }
    // Whoever shares the band has a resource unit of its own; without its size there is no rate.
    let subcarriers = match (eht.ru_tones, eht.format) {
        (Some(tones), _) => ru_subcarriers(tones)?,
        (None, Some(EhtFormat::Ofdma | EhtFormat::TriggerBased)) => return None,
        (None, _) => ru_subcarriers(eht.bandwidth?.tones()?)?,
    };
    // MCS 15 is MCS 0 with DCM and one stream; MCS 14 (duplicated in 6 GHz) is left out.
    let (subcarriers, (bits, code)) = match mcs {
        15 if nss == 1 => (subcarriers / 2, (1, R1_2)),
        _ => (subcarriers, modulation(mcs)?),
    };
    Symbol::new(subcarriers * u32::from(bits) * u32::from(nss), code, 12_800 + gi.ns(), nss)
}

impl Mode {
    /// What a data symbol carries; `None` for DSSS, unknown modes and combinations that no standard defines.
    pub(super) fn symbol(&self) -> Option<Symbol> {
        match self {
            Self::Unknown | Self::Dsss { .. } => None,
            Self::Ofdm { rate_500kbps, bandwidth } => ofdm_symbol(*rate_500kbps, *bandwidth),
            Self::Ht(ht) => ht_symbol(ht),
            Self::Vht(vht) => vht_symbol(vht),
            Self::He(he) => he_symbol(he),
            Self::Eht(eht) => eht_symbol(eht),
        }
    }

    /// PHY data rate in kbit/s, rounded to the nearest integer (HT MCS 7 with short guard interval: 72222).
    ///
    /// `None` where the capture does not say enough, or the combination does not exist (VHT MCS 9 at 20 MHz with one
    /// stream, an HT MCS of 77, no streams). Where only the guard interval is unknown, [`Mode::rate_range_kbps`] has bounds.
    pub fn rate_kbps(&self) -> Option<u32> {
        match self {
            Self::Dsss { rate_500kbps, .. } if matches!(rate_500kbps, 2 | 4 | 11 | 22) => {
                Some(u32::from(*rate_500kbps) * 500)
            }
            _ => Some(self.symbol()?.rate_kbps()),
        }
    }

    /// Lowest and highest PHY data rate in kbit/s that the mode may have: the same one twice, unless its guard interval is unknown.
    pub fn rate_range_kbps(&self) -> Option<(u32, u32)> {
        let rates = self.with_guard_intervals().filter_map(|mode| mode.rate_kbps());
        rates.fold(None, |range, rate| match range {
            None => Some((rate, rate)),
            Some((low, high)) => Some((rate.min(low), rate.max(high))),
        })
    }

    /// Spatial streams: 1 for DSSS and OFDM; `None` where unknown or outside 1 to 8.
    pub fn nss(&self) -> Option<u8> {
        let nss = match self {
            Self::Unknown => return None,
            Self::Dsss { .. } | Self::Ofdm { .. } => 1,
            Self::Ht(Ht { mcs: mcs @ 0..=31, .. }) => mcs / 8 + 1,
            Self::Ht(Ht { mcs: 32, .. }) => 1,
            Self::Ht(ht) => unequal_modulation(ht.mcs)?.0.len() as u8,
            Self::Vht(vht) => vht.nss,
            Self::He(he) => he.nss,
            Self::Eht(eht) => eht.nss?,
        };
        (1..=8).contains(&nss).then_some(nss)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{eht, he, ht, ofdm, vht};
    use super::*;

    #[test]
    fn an_unknown_guard_interval_gives_a_range() {
        let unknown = |mode: Mode| match mode {
            Mode::Ht(ht) => Mode::Ht(Ht { short_gi: None, ..ht }),
            Mode::Vht(vht) => Mode::Vht(Vht { short_gi: None, ..vht }),
            Mode::He(he) => Mode::He(He { gi: None, ..he }),
            Mode::Eht(eht) => Mode::Eht(Eht { gi: None, ..eht }),
            mode => mode,
        };
        for (mode, low, high) in [
            (ht(7, Bandwidth::Mhz20, false), 65_000, 72_222),
            (vht(9, 1, Bandwidth::Mhz80, true), 390_000, 433_333),
            (Mode::He(he(9, 1, Bandwidth::Mhz80, GuardInterval::Ns1600)), 408_333, 480_392),
            (eht(13, 1, Bandwidth::Mhz320, GuardInterval::Ns800), 2_450_000, 2_882_353),
        ] {
            assert_eq!(unknown(mode).rate_kbps(), None, "{mode:?}");
            assert_eq!(unknown(mode).rate_range_kbps(), Some((low, high)), "{mode:?}");
            assert_eq!(mode.rate_range_kbps(), mode.rate_kbps().map(|rate| (rate, rate)));
        }
        assert_eq!(unknown(ht(77, Bandwidth::Mhz20, false)).rate_range_kbps(), None);
    }

    #[test]
    fn legacy_rates() {
        for (rate, kbps) in [(2, 1_000), (4, 2_000), (11, 5_500), (22, 11_000), (12, 6_000), (108, 54_000)] {
            assert_eq!(Mode::from_legacy_rate(rate, None).and_then(|m| m.rate_kbps()), Some(kbps));
        }
        assert_eq!(Mode::Dsss { rate_500kbps: 3, short_preamble: None }.rate_kbps(), None);
        assert_eq!(ofdm(6, Bandwidth::Mhz10).rate_kbps(), Some(3_000));
        assert_eq!(ofdm(4, Bandwidth::Mhz5).rate_kbps(), Some(2_250));
        assert_eq!(ofdm(108, Bandwidth::Mhz10).rate_kbps(), None);
        assert_eq!(ofdm(12, Bandwidth::Mhz40).rate_kbps(), None);
    }

    /// Rates in the tables of 802.11-2020 clause 19.5, Mbit/s x 10.
    #[test]
    fn ht_rates() {
        for (mcs, bw, sgi, kbps) in [
            (0, Bandwidth::Mhz20, false, 6_500),
            (7, Bandwidth::Mhz20, true, 72_222),
            (15, Bandwidth::Mhz40, true, 300_000),
            (31, Bandwidth::Mhz40, true, 600_000),
            (32, Bandwidth::Mhz40, false, 6_000),
            (33, Bandwidth::Mhz20, false, 39_000),
            (38, Bandwidth::Mhz20, false, 97_500),
            (43, Bandwidth::Mhz20, false, 91_000),
            (52, Bandwidth::Mhz20, false, 156_000),
            (53, Bandwidth::Mhz20, false, 65_000),
            (64, Bandwidth::Mhz20, false, 143_000),
            (76, Bandwidth::Mhz20, false, 214_500),
            (76, Bandwidth::Mhz40, true, 495_000),
        ] {
            assert_eq!(ht(mcs, bw, sgi).rate_kbps(), Some(kbps), "MCS {mcs}");
        }
        assert_eq!(ht(32, Bandwidth::Mhz20, false).rate_kbps(), None);
        assert_eq!(ht(77, Bandwidth::Mhz20, false).rate_kbps(), None);
        assert_eq!(ht(0, Bandwidth::Mhz80, false).rate_kbps(), None);
    }

    #[test]
    fn vht_rates() {
        assert_eq!(vht(9, 1, Bandwidth::Mhz80, true).rate_kbps(), Some(433_333));
        assert_eq!(vht(9, 8, Bandwidth::Mhz160, true).rate_kbps(), Some(6_933_333));
        assert_eq!(vht(9, 3, Bandwidth::Mhz20, false).rate_kbps(), Some(260_000));
        // Every combination that 802.11-2020 21.5 leaves out of its tables.
        let mut missing = Vec::new();
        for bw in [Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160] {
            for nss in 1..=8 {
                for mcs in 0..=9 {
                    if vht(mcs, nss, bw, false).rate_kbps().is_none() {
                        missing.push((bw.mhz(), nss, mcs));
                    }
                }
            }
        }
        let expected = [
            (20, 1, 9),
            (20, 2, 9),
            (20, 4, 9),
            (20, 5, 9),
            (20, 7, 9),
            (20, 8, 9),
            (80, 3, 6),
            (80, 6, 9),
            (80, 7, 6),
            (160, 3, 9),
        ];
        assert_eq!(missing, expected);
        assert_eq!(vht(0, 0, Bandwidth::Mhz20, false).rate_kbps(), None);
        assert_eq!(vht(12, 1, Bandwidth::Mhz20, false).rate_kbps(), None);
    }

    #[test]
    fn vht_encoder_counts() {
        let encoders = |mcs, nss, bw| vht(mcs, nss, bw, false).symbol().map(|s| s.encoders);
        assert_eq!(encoders(9, 1, Bandwidth::Mhz80), Some(1));
        assert_eq!(encoders(9, 4, Bandwidth::Mhz80), Some(3));
        // The tables' exceptions to one encoder per 540 Mbit/s.
        assert_eq!(encoders(2, 7, Bandwidth::Mhz80), Some(3));
        assert_eq!(encoders(7, 7, Bandwidth::Mhz80), Some(6));
        assert_eq!(encoders(8, 5, Bandwidth::Mhz160), Some(8));
        assert_eq!(encoders(7, 7, Bandwidth::Mhz160), Some(9));
    }

    #[test]
    fn he_and_eht_rates() {
        use GuardInterval::{Ns1600, Ns3200, Ns400, Ns800};
        let rate = |m, n, b, g| Mode::He(he(m, n, b, g)).rate_kbps();
        assert_eq!(rate(0, 1, Bandwidth::Mhz20, Ns800), Some(8_603));
        assert_eq!(rate(11, 2, Bandwidth::Mhz40, Ns800), Some(573_529));
        assert_eq!(rate(11, 8, Bandwidth::Mhz160, Ns800), Some(9_607_843));
        assert_eq!(rate(9, 1, Bandwidth::Mhz80, Ns1600), Some(453_704));
        assert_eq!(rate(7, 1, Bandwidth::Mhz20, Ns3200), Some(73_125));
        assert_eq!(rate(0, 1, Bandwidth::Mhz20, Ns400), None);
        assert_eq!(rate(12, 1, Bandwidth::Mhz20, Ns800), None);
        let dcm = He { dcm: true, ..he(0, 1, Bandwidth::Mhz20, Ns800) };
        assert_eq!(Mode::He(dcm).rate_kbps(), Some(4_301));
        assert_eq!(Mode::He(He { mcs: 2, ..dcm }).rate_kbps(), None);
        // Both bits signal a 4x LTF at 0.8 us: the rate is that of neither.
        assert_eq!(Mode::He(He { stbc: Some(true), ..dcm }).rate_kbps(), Some(8_603));
        let ru = He {
            format: HeFormat::TriggerBased,
            bandwidth: None,
            ru_tones: Some(26),
            ..he(0, 1, Bandwidth::Mhz20, Ns3200)
        };
        assert_eq!(Mode::He(ru).rate_kbps(), Some(750));
        assert_eq!(Mode::He(He { ru_tones: Some(27), ..ru }).rate_kbps(), None);
        assert_eq!(eht(13, 1, Bandwidth::Mhz320, Ns800).rate_kbps(), Some(2_882_353));
    }
}
