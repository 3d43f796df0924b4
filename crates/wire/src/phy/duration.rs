//! How long a PPDU occupies the air.
//!
//! Times run from the first preamble sample to the end of the PPDU as TXTIME defines it, *without* the 6 us signal
//! extension of OFDM in 2.4 GHz: that is silence (see [`super::Timing::signal_extension_ns`]). Where the capture does
//! not say what decides the length, the result carries bounds.
//!
//! The formulas, their clauses and where other programs differ are in `docs/airtime.md`.

use super::ldpc;
use super::mode::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};
use super::rate::{he_dcm_stbc, he_tones, ofdm_clock_divider, Symbol};
use super::timing::Band;

/// L-STF, L-LTF and L-SIG at 20 MHz.
const LEGACY_PREAMBLE_NS: u32 = 20_000;
/// Long and short PLCP preamble with PLCP header (16.2.2).
const DSSS_LONG_NS: u32 = 192_000;
const DSSS_SHORT_NS: u32 = 96_000;
/// SERVICE field.
const SERVICE_BITS: u64 = 16;
/// Tail of one convolutional encoder.
const TAIL_BITS: u64 = 6;
/// Longest HE packet extension.
const MAX_PACKET_EXTENSION_NS: u64 = 16_000;
/// Longest EHT packet extension (36.3.14).
const MAX_EHT_PACKET_EXTENSION_NS: u64 = 20_000;
/// EHT-SIG symbols of a PPDU to one user by EHT-SIG-MCS 0, 1 or 3, and 15: 52 bits (20 of the common field, 22 of the user
/// field, 4 of CRC and 6 of tail: 36.3.12.8) at 26, 52 or 104, and 13 bits per symbol.
const EHT_SIG_SYMBOLS: [u32; 3] = [2, 1, 4];

/// Time on the air: a best value, and how far below and above it the truth can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AirDuration {
    /// Best value, ns.
    pub ns: u64,
    /// The PPDU can be this much shorter, ns.
    pub minus_ns: u32,
    /// The PPDU can be this much longer, ns.
    pub plus_ns: u32,
}

impl AirDuration {
    /// A duration without doubt.
    pub const fn exact(ns: u64) -> Self {
        Self { ns, minus_ns: 0, plus_ns: 0 }
    }

    /// This one or the other.
    fn or(self, other: Self) -> Self {
        Self::new(self.ns, self.min_ns().min(other.min_ns()), self.max_ns().max(other.max_ns()))
    }

    fn new(ns: u64, min: u64, max: u64) -> Self {
        let width = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX);
        Self { ns, minus_ns: width(ns.saturating_sub(min)), plus_ns: width(max.saturating_sub(ns)) }
    }

    /// True where everything that decides the length was known.
    pub const fn is_exact(self) -> bool {
        self.minus_ns == 0 && self.plus_ns == 0
    }

    /// Shortest possible, ns.
    pub const fn min_ns(self) -> u64 {
        self.ns.saturating_sub(self.minus_ns as u64)
    }

    /// Longest possible, ns.
    pub const fn max_ns(self) -> u64 {
        self.ns.saturating_add(self.plus_ns as u64)
    }
}

/// Best value (the first candidate), minimum and maximum over what is possible.
#[derive(Clone, Copy)]
struct Span {
    best: u64,
    min: u64,
    max: u64,
}

impl Span {
    fn with(span: Option<Self>, ns: u64) -> Self {
        match span {
            None => Self { best: ns, min: ns, max: ns },
            Some(span) => Self { best: span.best, min: span.min.min(ns), max: span.max.max(ns) },
        }
    }

    fn over(candidates: impl Iterator<Item = u64>) -> Option<Self> {
        candidates.fold(None, |span, ns| Some(Self::with(span, ns)))
    }

    fn duration(self) -> AirDuration {
        AirDuration::new(self.best, self.min, self.max)
    }
}

/// What a flag can be, the likelier value first. Unknown flags are taken as off.
const fn choices(flag: Option<bool>) -> &'static [bool] {
    match flag {
        Some(true) => &[true],
        Some(false) => &[false],
        None => &[false, true],
    }
}

/// LTFs for that many space-time streams (HT 19.3.9.4.6, VHT 21.3.8.3.5, HE 27.3.11.10).
const fn ltf_count(space_time_streams: u8) -> Option<u32> {
    Some(match space_time_streams {
        1 => 1,
        2 => 2,
        3 | 4 => 4,
        5 | 6 => 6,
        7 | 8 => 8,
        _ => return None,
    })
}

/// HT-LTFs for extension spatial streams (table 19-15).
const fn extension_ltf_count(extension_streams: u8) -> Option<u32> {
    Some(match extension_streams {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        _ => return None,
    })
}

const fn dsss_preamble_ns(rate_500kbps: u8, short_preamble: Option<bool>) -> Option<u32> {
    match (rate_500kbps, short_preamble) {
        (4 | 11 | 22, Some(true)) => Some(DSSS_SHORT_NS),
        (2 | 4 | 11 | 22, _) => Some(DSSS_LONG_NS),
        _ => None,
    }
}

/// `symbols` rounded up to the multiple that STBC needs.
const fn whole(bits: u64, data_bits: u32, stbc: bool) -> u64 {
    let step = if stbc { 2 } else { 1 };
    bits.div_ceil(data_bits as u64 * step) * step
}

/// Data field of an HT or VHT PPDU in symbols.
fn ht_symbols(symbol: &Symbol, psdu_bits: u64, ldpc: bool, stbc: bool) -> u64 {
    if psdu_bits == 0 {
        return 0; // A sounding PPDU has no data field.
    }
    if !ldpc {
        return whole(psdu_bits + SERVICE_BITS + TAIL_BITS * u64::from(symbol.encoders), symbol.data_bits, stbc);
    }
    let payload = psdu_bits + SERVICE_BITS;
    let initial = whole(payload, symbol.data_bits, stbc);
    let extra = ldpc::needs_extra_symbol(payload, initial * u64::from(symbol.coded_bits), symbol.code);
    initial + if extra { 1 + u64::from(stbc) } else { 0 }
}

/// Same for VHT: the MAC pads the PSDU to whole symbols, so LDPC codes all of their bits (21.3.10.5.4).
fn vht_symbols(symbol: &Symbol, psdu_bits: u64, ldpc: bool, stbc: bool, extra: Option<bool>) -> u64 {
    if psdu_bits == 0 || !ldpc {
        return ht_symbols(symbol, psdu_bits, ldpc, stbc);
    }
    let initial = whole(psdu_bits + SERVICE_BITS, symbol.data_bits, stbc);
    let extra = extra.unwrap_or_else(|| {
        let (data, coded) = (u64::from(symbol.data_bits), u64::from(symbol.coded_bits));
        ldpc::needs_extra_symbol(initial * data, initial * coded, symbol.code)
    });
    initial + if extra { 1 + u64::from(stbc) } else { 0 }
}

/// `symbols` in time, ended on a 4 us boundary where the guard interval is short (19.4.3, 21.4.3).
const fn on_4us_grid(symbols: u64, symbol_ns: u32) -> u64 {
    (symbols * symbol_ns as u64).div_ceil(4_000) * 4_000
}

fn ht_preamble_ns(ht: &Ht, nss: u8, stbc: u8, greenfield: bool) -> Option<u32> {
    let streams = nss.checked_add(stbc).filter(|&streams| streams <= 4)?;
    let (data, extension) = (ltf_count(streams)?, extension_ltf_count(ht.ness)?);
    if streams + ht.ness > 4 {
        return None;
    }
    Some(match greenfield {
        // HT-GF-STF, HT-LTF1 (8 us, one of the data LTFs) and HT-SIG.
        true => 24_000 + 4_000 * (data - 1 + extension),
        // Legacy preamble, HT-SIG (8 us) and HT-STF (4 us).
        false => LEGACY_PREAMBLE_NS + 12_000 + 4_000 * (data + extension),
    })
}

/// Space-time streams beyond the spatial streams, the likelier value first; none where the capture says nonsense.
const fn ht_stbc_choices(ht: &Ht) -> &'static [u8] {
    match ht.stbc {
        Some(0) => &[0],
        Some(1) => &[1],
        Some(2) => &[2],
        Some(_) => &[],
        None => &[0, 1],
    }
}

fn ht_duration(ht: &Ht, symbol: &Symbol, psdu_bits: u64) -> Option<AirDuration> {
    let mut all: Option<Span> = None;
    for &stbc in ht_stbc_choices(ht) {
        for &ldpc in choices(ht.ldpc) {
            let symbols = ht_symbols(symbol, psdu_bits, ldpc, stbc > 0);
            for &greenfield in choices(ht.greenfield) {
                // More streams than four: not a choice (and no result, if it was the only one).
                let Some(preamble) = ht_preamble_ns(ht, symbol.nss, stbc, greenfield) else { continue };
                let data = if greenfield { symbols * u64::from(symbol.ns) } else { on_4us_grid(symbols, symbol.ns) };
                all = Some(Span::with(all, u64::from(preamble) + data));
            }
        }
    }
    all.map(Span::duration)
}

fn vht_preamble_ns(vht: &Vht) -> Option<u32> {
    let streams = if vht.stbc == Some(true) { vht.nss.checked_mul(2)? } else { vht.nss };
    // VHT-SIG-A (8 us), VHT-STF (4 us), LTFs, VHT-SIG-B (4 us).
    Some(LEGACY_PREAMBLE_NS + 16_000 + 4_000 * ltf_count(streams)?)
}

fn vht_duration(vht: &Vht, symbol: &Symbol, psdu_bits: u64) -> Option<AirDuration> {
    let preamble = u64::from(vht_preamble_ns(vht)?);
    // Only LDPC has an extra symbol: one that was reported shows the coding.
    let ldpc = if vht.ldpc_extra_symbol == Some(true) { Some(true) } else { vht.ldpc };
    let span = Span::over(choices(ldpc).iter().map(|&ldpc| {
        let symbols = vht_symbols(symbol, psdu_bits, ldpc, vht.stbc == Some(true), vht.ldpc_extra_symbol);
        preamble + on_4us_grid(symbols, symbol.ns)
    }));
    span.map(Span::duration)
}

/// HE-LTF symbols without guard interval that can go with `he.gi`, the likeliest first (table 27-18): 0.8 us goes with
/// 2x (mandatory), 1x and 4x (both optional), 1.6 us with 2x only, 3.2 us with 4x only.
fn he_ltf_choices(he: &He) -> &'static [u32] {
    match (he.ltf_ns, he.gi) {
        (Some(3_200), _) => &[3_200],
        (Some(6_400), _) => &[6_400],
        (Some(12_800), _) => &[12_800],
        (_, Some(GuardInterval::Ns1600)) => &[6_400],
        (_, Some(GuardInterval::Ns3200)) => &[12_800],
        _ => &[6_400, 3_200, 12_800],
    }
}

fn he_preamble_ns(he: &He, ltf_ns: u32) -> Option<u32> {
    let sig_a_ns = match he.format {
        HeFormat::Su => 8_000,
        HeFormat::ErSu => 16_000,
        HeFormat::Mu | HeFormat::TriggerBased => return None,
    };
    let streams = if he_dcm_stbc(he).1 { he.nss.checked_mul(2)? } else { he.nss };
    // RL-SIG (4 us), HE-SIG-A, HE-STF (4 us), LTFs.
    Some(LEGACY_PREAMBLE_NS + 8_000 + sig_a_ns + ltf_count(streams)? * (ltf_ns + he.gi?.ns()))
}

fn he_duration(he: &He, symbol: &Symbol, psdu_bits: u64) -> Option<AirDuration> {
    let stbc = he_dcm_stbc(he).1;
    let preambles = Span::over(he_ltf_choices(he).iter().filter_map(|&ltf| he_preamble_ns(he, ltf).map(u64::from)))?;
    let symbols =
        |tail: u64| if psdu_bits == 0 { 0 } else { whole(psdu_bits + SERVICE_BITS + tail, symbol.data_bits, stbc) };
    // BCC only exists up to 242 tones, four streams and MCS 9 (27.3.12.5).
    let bcc_possible = he_tones(he).is_some_and(|tones| tones <= 242) && symbol.nss <= 4 && he.mcs <= 9;
    let extra = if psdu_bits == 0 { 0 } else { 1 + u64::from(stbc) };
    let (best, max) = match he.ldpc {
        Some(false) if bcc_possible => (symbols(TAIL_BITS), symbols(TAIL_BITS)),
        _ => (symbols(0), symbols(0) + extra),
    };
    let time = |symbols: u64| symbols * u64::from(symbol.ns);
    Some(AirDuration::new(
        preambles.best + time(best),
        preambles.min + time(best),
        preambles.max + time(max) + MAX_PACKET_EXTENSION_NS,
    ))
}

/// EHT-LTF symbols without guard interval that can go with a guard interval (GI+LTF Size of EHT-SIG, table 36-36): 0.8 us
/// goes with 2x or 4x, 1.6 us with 2x, 3.2 us with 4x.
const fn eht_ltf_choices(gi: GuardInterval) -> &'static [u32] {
    match gi {
        GuardInterval::Ns400 => &[],
        GuardInterval::Ns800 => &[6_400, 12_800],
        GuardInterval::Ns1600 => &[6_400],
        GuardInterval::Ns3200 => &[12_800],
    }
}

/// Length of the preamble of a PPDU to one user, with as many EHT-LTFs as its streams need.
fn eht_preamble_ns(eht: &Eht, sig_symbols: u32, ltf_ns: u32) -> Option<u32> {
    // RL-SIG (4 us), U-SIG (8 us), EHT-SIG, EHT-STF (4 us), LTFs.
    Some(LEGACY_PREAMBLE_NS + 16_000 + 4_000 * sig_symbols + ltf_count(eht.nss?)? * (ltf_ns + eht.gi?.ns()))
}

/// The likeliest preamble, then all others.
fn eht_preambles(eht: &Eht) -> impl Iterator<Item = u64> + '_ {
    let known = eht.sig_symbols.map(u32::from);
    let sig = EHT_SIG_SYMBOLS.into_iter().filter(move |_| known.is_none()).chain(known);
    let ltfs = eht.gi.map_or(&[][..], eht_ltf_choices);
    sig.flat_map(move |sig| ltfs.iter().filter_map(move |ltf| eht_preamble_ns(eht, sig, *ltf).map(u64::from)))
}

/// A PPDU to one user in the whole band: of all others only the L-SIG shows how long the longest user's data is.
fn eht_duration(eht: &Eht, symbol: &Symbol, psdu_bits: u64) -> Option<AirDuration> {
    if eht.format != Some(EhtFormat::SingleUser) {
        return None;
    }
    let preambles = Span::over(eht_preambles(eht))?;
    let symbols =
        |bits: u64| if psdu_bits == 0 { 0 } else { whole(psdu_bits + SERVICE_BITS + bits, symbol.data_bits, false) };
    // Which coding it is nothing shows here: LDPC without its extra symbol is the shortest. That symbol is never less than
    // what BCC's tail needs, and BCC only exists in 20 MHz, up to four streams and MCS 9.
    let extra = u64::from(psdu_bits > 0);
    let bcc_possible =
        eht.bandwidth == Some(Bandwidth::Mhz20) && symbol.nss <= 4 && eht.mcs.is_some_and(|mcs| mcs <= 9);
    let longest = symbols(0) + extra;
    let most = if bcc_possible { longest.max(symbols(TAIL_BITS)) } else { longest };
    let time = |symbols: u64| symbols * u64::from(symbol.ns);
    Some(AirDuration::new(
        preambles.best + time(symbols(0)),
        preambles.min + time(symbols(0)),
        preambles.max + time(most) + MAX_EHT_PACKET_EXTENSION_NS,
    ))
}

impl Mode {
    /// Time on the air of a PPDU that carries a PSDU of `psdu_len` bytes (MPDU with FCS, or a whole A-MPDU: see
    /// [`ampdu_psdu_len`]), without signal extension.
    ///
    /// `None` where the mode alone does not give it (unknown, HE and EHT to several users or trigger-based: see
    /// [`l_sig_duration_ns`]), where the combination does not exist, for DSSS outside 2.4 GHz, and for more than
    /// `u32::MAX` bytes. Where only the guard interval is unknown, the bounds hold all that it may have been.
    pub fn duration(&self, psdu_len: usize, band: Option<Band>) -> Option<AirDuration> {
        if self.lacks_guard_interval() {
            return self
                .with_guard_intervals()
                .filter_map(|mode| mode.duration(psdu_len, band))
                .reduce(AirDuration::or);
        }
        let psdu_bits = u64::from(u32::try_from(psdu_len).ok()?) * 8;
        match self {
            Self::Dsss { rate_500kbps, short_preamble } => {
                if band.is_some_and(|band| band != Band::Ghz2_4) {
                    return None;
                }
                let preamble = dsss_preamble_ns(*rate_500kbps, *short_preamble)?;
                // Whole microseconds (16.2.3.5 LENGTH); a rate of r half Mbit/s carries r bits in 2 us.
                let ns = u64::from(preamble) + (2 * psdu_bits).div_ceil(u64::from(*rate_500kbps)) * 1_000;
                let may_be_short = short_preamble.is_none() && *rate_500kbps != 2;
                let minus_ns = if may_be_short { DSSS_LONG_NS - DSSS_SHORT_NS } else { 0 };
                Some(AirDuration { ns, minus_ns, plus_ns: 0 })
            }
            Self::Ofdm { .. } => {
                let symbol = self.symbol()?;
                let symbols = whole(psdu_bits + SERVICE_BITS + TAIL_BITS, symbol.data_bits, false);
                Some(AirDuration::exact(u64::from(self.preamble_ns()?) + symbols * u64::from(symbol.ns)))
            }
            Self::Ht(ht) => ht_duration(ht, &self.symbol()?, psdu_bits),
            Self::Vht(vht) => vht_duration(vht, &self.symbol()?, psdu_bits),
            Self::He(he) => match he.format {
                HeFormat::Su | HeFormat::ErSu => he_duration(he, &self.symbol()?, psdu_bits),
                HeFormat::Mu | HeFormat::TriggerBased => None,
            },
            Self::Eht(eht) => eht_duration(eht, &self.symbol()?, psdu_bits),
            Self::Unknown => None,
        }
    }

    /// Everything before the data field: from the start of the PPDU to the first bit of the PSDU in DSSS, to the first
    /// data symbol (where the SERVICE field precedes the PSDU) in all others. The best value where [`Mode::duration`] has
    /// bounds; `None` where that is `None`.
    pub fn preamble_ns(&self) -> Option<u32> {
        if self.lacks_guard_interval() {
            return self.with_guard_intervals().find_map(|mode| mode.preamble_ns());
        }
        match self {
            Self::Dsss { rate_500kbps, short_preamble } => dsss_preamble_ns(*rate_500kbps, *short_preamble),
            Self::Ofdm { bandwidth, .. } => {
                self.symbol()?;
                Some(LEGACY_PREAMBLE_NS * u32::from(ofdm_clock_divider(*bandwidth)?))
            }
            Self::Ht(ht) => {
                let stbc = *ht_stbc_choices(ht).first()?;
                ht_preamble_ns(ht, self.symbol()?.nss, stbc, ht.greenfield.unwrap_or(false))
            }
            Self::Vht(vht) => {
                self.symbol()?;
                vht_preamble_ns(vht)
            }
            Self::He(he) => {
                self.symbol()?;
                he_preamble_ns(he, *he_ltf_choices(he).first()?)
            }
            Self::Eht(eht) if eht.format == Some(EhtFormat::SingleUser) => {
                self.symbol()?;
                u32::try_from(eht_preambles(eht).next()?).ok()
            }
            Self::Eht(_) | Self::Unknown => None,
        }
    }

    /// The rest of the PPDU: best value of [`Mode::duration`] minus [`Mode::preamble_ns`].
    pub fn data_ns(&self, psdu_len: usize) -> Option<u64> {
        self.duration(psdu_len, None)?.ns.checked_sub(u64::from(self.preamble_ns()?))
    }
}

/// Time on the air from the L-SIG LENGTH (bytes, 12 bits), without signal extension.
///
/// In OFDM PPDUs LENGTH is the PSDU's length. In HT-mixed, VHT, HE and EHT PPDUs it is set so that a receiver of
/// clause 17 defers for the whole PPDU: 20 us + 4 us x ceil((LENGTH + 3) / 3). That is exact for HT-mixed and VHT;
/// an HE or EHT PPDU can end up to 4 us earlier. (HE subtracts 1 or 2 from LENGTH to distinguish formats; the rounding
/// absorbs both.) `None` for LENGTH 0 or above 4095, DSSS, HT-greenfield (no L-SIG) and unknown modes.
pub fn l_sig_duration_ns(length: u16, mode: &Mode) -> Option<u32> {
    if !(1..=4095).contains(&length) {
        return None;
    }
    match mode {
        Mode::Unknown | Mode::Dsss { .. } | Mode::Ht(Ht { greenfield: Some(true), .. }) => None,
        Mode::Ofdm { .. } => u32::try_from(mode.duration(usize::from(length), None)?.ns).ok(),
        Mode::Ht(_) | Mode::Vht(_) | Mode::He(_) | Mode::Eht(_) => {
            Some(LEGACY_PREAMBLE_NS + 4_000 * (u32::from(length) + 3).div_ceil(3))
        }
    }
}

/// Length of the PSDU that carries these MPDUs (bytes with FCS) as one A-MPDU: each has a 4-byte delimiter and, except
/// the last, padding to a multiple of four (9.7.1). 0 for no MPDUs. End-of-frame padding is not included.
pub fn ampdu_psdu_len(mpdu_lens: impl Iterator<Item = usize>) -> usize {
    mpdu_lens.fold(0usize, |psdu, len| {
        let start = psdu.checked_next_multiple_of(4).unwrap_or(usize::MAX);
        start.saturating_add(4).saturating_add(len)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mode::Bandwidth;
    use super::super::testing::{any_mode, dsss, eht, he, ofdm, vht};
    use super::*;

    fn exact_us(mode: Mode, psdu_len: usize) -> Option<u64> {
        let duration = mode.duration(psdu_len, None)?;
        assert!(duration.is_exact(), "{mode:?}");
        Some(duration.ns / 1_000)
    }

    /// ACK at 24 and 6 Mbit/s and at 1 Mbit/s, Block Ack at 24 and 6 Mbit/s: the values that the EIFS of every station uses.
    #[test]
    fn control_frames() {
        for (rate, len, us) in [(48, 14, 28), (12, 14, 44), (48, 32, 32), (12, 32, 68)] {
            assert_eq!(exact_us(ofdm(rate, Bandwidth::Mhz20), len), Some(us));
        }
        assert_eq!(exact_us(dsss(2, None), 14), Some(304));
        assert_eq!(exact_us(ofdm(6, Bandwidth::Mhz10), 14), Some(88));
        assert_eq!(exact_us(ofdm(3, Bandwidth::Mhz5), 14), Some(176));
    }

    #[test]
    fn dsss_preamble_bounds() {
        let unknown = dsss(22, None).duration(1024, Some(Band::Ghz2_4));
        assert_eq!(unknown, Some(AirDuration { ns: 937_000, minus_ns: 96_000, plus_ns: 0 }));
        assert_eq!(dsss(22, None).duration(1024, Some(Band::Ghz5)), None);
        assert_eq!(dsss(23, None).duration(1024, None), None);
        assert_eq!(dsss(22, Some(true)).data_ns(1024), Some(745_000));
    }

    /// 20 MHz MCS 7, 1536 bytes: 48 symbols.
    #[test]
    fn ht_formats() {
        let base = Ht {
            mcs: 7,
            bandwidth: Bandwidth::Mhz20,
            short_gi: Some(false),
            greenfield: Some(false),
            ldpc: Some(false),
            stbc: Some(0),
            ness: 0,
        };
        assert_eq!(exact_us(Mode::Ht(base), 1536), Some(228));
        assert_eq!(exact_us(Mode::Ht(Ht { greenfield: Some(true), ..base }), 1536), Some(216));
        // Two space-time streams: one LTF more; the 48 symbols are even already.
        assert_eq!(exact_us(Mode::Ht(Ht { stbc: Some(1), ..base }), 1536), Some(232));
        assert_eq!(exact_us(Mode::Ht(Ht { ness: 3, ..base }), 1536), Some(228 + 16));
        assert_eq!(Mode::Ht(Ht { ness: 3, stbc: Some(1), ..base }).duration(1536, None), None);
        assert_eq!(Mode::Ht(Ht { ness: 4, ..base }).duration(1536, None), None);
        assert_eq!(Mode::Ht(Ht { stbc: Some(3), ..base }).duration(1536, None), None);
        // 48 x 3.6 = 172.8, ended at 176 in the mixed format only.
        let short = Ht { short_gi: Some(true), ..base };
        assert_eq!(Mode::Ht(short).duration(1536, None), Some(AirDuration::exact(36_000 + 176_000)));
        let greenfield = Ht { greenfield: Some(true), ..short };
        assert_eq!(Mode::Ht(greenfield).duration(1536, None), Some(AirDuration::exact(24_000 + 172_800)));
        // Sounding PPDU: preamble only.
        assert_eq!(exact_us(Mode::Ht(base), 0), Some(36));
    }

    #[test]
    fn unknown_ht_fields_give_bounds() {
        let known = |greenfield, ldpc, stbc| {
            let ht = Ht { mcs: 7, bandwidth: Bandwidth::Mhz20, short_gi: Some(false), greenfield, ldpc, stbc, ness: 0 };
            Mode::Ht(ht).duration(1000, None)
        };
        let unknown = known(None, None, None).unwrap_or(AirDuration::exact(0));
        assert_eq!(Some(unknown.ns), known(Some(false), Some(false), Some(0)).map(|d| d.ns));
        let mut all = Vec::new();
        for greenfield in [false, true] {
            for ldpc in [false, true] {
                for stbc in 0..2 {
                    all.extend(known(Some(greenfield), Some(ldpc), Some(stbc)).map(|d| d.ns));
                }
            }
        }
        assert_eq!(all.len(), 8);
        assert_eq!(all.iter().min(), Some(&unknown.min_ns()));
        assert_eq!(all.iter().max(), Some(&unknown.max_ns()));
    }

    /// 80 MHz MCS 9 one stream, 1536 bytes: 8 symbols, 40 us of preamble with VHT-SIG-B.
    #[test]
    fn vht_formats() {
        assert_eq!(exact_us(vht(9, 1, Bandwidth::Mhz80, false), 1536), Some(72));
        // 8 x 3.6 = 28.8, ended at 32.
        assert_eq!(exact_us(vht(9, 1, Bandwidth::Mhz80, true), 1536), Some(72));
        let Mode::Vht(base) = vht(9, 1, Bandwidth::Mhz80, false) else { panic!() };
        let ldpc = |extra| Vht { ldpc: Some(true), ldpc_extra_symbol: Some(extra), ..base };
        assert_eq!(exact_us(Mode::Vht(ldpc(false)), 1536), Some(72));
        assert_eq!(exact_us(Mode::Vht(ldpc(true)), 1536), Some(76));
        assert_eq!(exact_us(Mode::Vht(Vht { stbc: Some(true), ..ldpc(true) }), 1536), Some(84));
        assert_eq!(Mode::Vht(Vht { nss: 5, stbc: Some(true), ..base }).duration(1536, None), None);
        assert_eq!(exact_us(vht(9, 1, Bandwidth::Mhz80, false), 0), Some(40));
    }

    #[test]
    fn he_bounds() {
        // 36 us + 2x LTF (7.2 us) + 2 symbols of 13.6 us; 1x and 4x LTF, one LDPC symbol, packet extension.
        let unknown = he(11, 1, Bandwidth::Mhz80, GuardInterval::Ns800);
        let duration = Mode::He(unknown).duration(1536, None);
        let plus_ns = 6_400 + 13_600 + 16_000;
        assert_eq!(duration, Some(AirDuration { ns: 70_400, minus_ns: 3_200, plus_ns }));
        let er =
            He { format: HeFormat::ErSu, ltf_ns: Some(12_800), ..he(0, 1, Bandwidth::Mhz20, GuardInterval::Ns3200) };
        assert_eq!(Mode::He(er).preamble_ns(), Some(20_000 + 4_000 + 16_000 + 4_000 + 16_000));
        for format in [HeFormat::Mu, HeFormat::TriggerBased] {
            assert_eq!(Mode::He(He { format, ..unknown }).duration(1536, None), None);
        }
        assert_eq!(Mode::Unknown.duration(1536, None), None);
    }

    #[test]
    fn eht_bounds() {
        // 20 legacy, 4 RL-SIG, 8 U-SIG, 8 EHT-SIG, 4 EHT-STF, 7.2 us of 2x LTF, 106 symbols of 13.6 us for 12,304 bits at 117.
        // An EHT-SIG of 1 to 4 symbols, a 4x LTF of 13.6 us, one LDPC symbol, packet extension.
        let single = eht(0, 1, Bandwidth::Mhz20, GuardInterval::Ns800);
        let plus_ns = 8_000 + 6_400 + 13_600 + 20_000;
        let ns = 51_200 + 106 * 13_600;
        assert_eq!(single.duration(1536, None), Some(AirDuration { ns, minus_ns: 4_000, plus_ns }));
        assert_eq!(single.preamble_ns(), Some(51_200));
        let Mode::Eht(known) = single else { panic!("{single:?}") };
        let known = Eht { sig_symbols: Some(1), gi: Some(GuardInterval::Ns1600), ..known };
        // 44 us and a 2x LTF of 8 us; only the LDPC symbol and the packet extension are left.
        let duration = AirDuration { ns: 48_000 + 106 * 14_400, minus_ns: 0, plus_ns: 14_400 + 20_000 };
        assert_eq!(Mode::Eht(known).duration(1536, None), Some(duration));
        // 320 MHz, 8 streams, MCS 13: 313,600 bits in a symbol; eight LTFs of 8 us.
        let wide = Eht { mcs: Some(13), nss: Some(8), bandwidth: Some(Bandwidth::Mhz320), ..known };
        assert_eq!(Mode::Eht(wide).duration(40_000, None).map(|wide| wide.ns), Some(40_000 + 8 * 8_000 + 2 * 14_400));
        assert_eq!(Mode::Eht(Eht { gi: Some(GuardInterval::Ns400), ..known }).duration(1536, None), None);
        for format in [None, Some(EhtFormat::Ofdma), Some(EhtFormat::MuMimo), Some(EhtFormat::TriggerBased)] {
            let other = Mode::Eht(Eht { format, ru_tones: Some(106), ..known });
            assert_eq!((other.duration(1536, None), other.preamble_ns()), (None, None), "{format:?}");
        }
    }

    #[test]
    fn l_sig() {
        let he = Mode::He(he(0, 1, Bandwidth::Mhz20, GuardInterval::Ns800));
        // 1516 us after the legacy preamble: 379 units of 4 us; LENGTH = 3 x 379 - 3 - m.
        for length in [1134, 1133, 1132] {
            assert_eq!(l_sig_duration_ns(length, &he), Some(1_536_000));
        }
        assert_eq!(l_sig_duration_ns(1131, &he), Some(1_532_000));
        assert_eq!(l_sig_duration_ns(0, &he), None);
        assert_eq!(l_sig_duration_ns(4096, &he), None);
        assert_eq!(l_sig_duration_ns(14, &ofdm(48, Bandwidth::Mhz20)), Some(28_000));
        assert_eq!(l_sig_duration_ns(14, &dsss(2, None)), None);
        assert_eq!(l_sig_duration_ns(14, &Mode::Unknown), None);
    }

    #[test]
    fn ampdu_lengths() {
        assert_eq!(ampdu_psdu_len([].into_iter()), 0);
        assert_eq!(ampdu_psdu_len([14].into_iter()), 18);
        assert_eq!(ampdu_psdu_len([14, 1536, 15].into_iter()), 20 + 1540 + 19);
        assert_eq!(ampdu_psdu_len([usize::MAX, usize::MAX].into_iter()), usize::MAX);
    }

    /// LENGTH as a transmitter sets it (17.2.2.2, 19.3.9.3.5, 21.3.8.2.4).
    fn l_sig_length(txtime_ns: u64) -> u64 {
        3 * (txtime_ns - 20_000).div_ceil(4_000) - 3
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn never_panics_and_parts_add_up(mode in any_mode(), len in any::<u32>(), band in any::<u16>()) {
            let band = Band::from_frequency_mhz(band);
            let _ = mode.duration(usize::MAX, band);
            let _ = mode.rate_kbps();
            let _ = l_sig_duration_ns(len as u16, &mode);
            for len in [len as usize, (len % 5_000) as usize] {
                if let Some(duration) = mode.duration(len, None) {
                    let preamble = mode.preamble_ns().map(u64::from);
                    prop_assert!(preamble.is_some_and(|ns| ns > 0));
                    prop_assert_eq!(mode.data_ns(len).zip(preamble).map(|(data, preamble)| data + preamble), Some(duration.ns));
                    prop_assert!(mode.rate_range_kbps().is_some());
                    prop_assert!(mode.nss().is_some());
                    // The payload cannot be faster than the PHY rate.
                    let at_rate = 8_000_000 * len as u64 / u64::from(mode.with_guard_intervals().find_map(|mode| mode.rate_kbps()).unwrap_or(1) + 1);
                    prop_assert!(mode.data_ns(len).is_some_and(|data| data >= at_rate));
                }
            }
        }

        #[test]
        fn longer_psdu_is_never_shorter(mode in any_mode(), a in any::<u32>(), b in 0u32..20_000, step in 0u32..2_000) {
            for (short, long) in [(a.min(b), a.max(b)), (b, b + step)] {
                if let Some((short, long)) = mode.duration(short as usize, None).zip(mode.duration(long as usize, None)) {
                    prop_assert!(short.ns <= long.ns);
                    prop_assert!(short.min_ns() <= long.min_ns());
                    prop_assert!(short.max_ns() <= long.max_ns());
                }
            }
        }

        #[test]
        fn l_sig_inverts_txtime(mode in any_mode(), len in 1usize..65_536) {
            if let (true, Some(duration)) = (mode.can_aggregate(), mode.duration(len, None)) {
                let length = l_sig_length(duration.ns);
                if length <= 4095 {
                    if let Some(back) = l_sig_duration_ns(length as u16, &mode) {
                        prop_assert!((duration.ns..duration.ns + 4_000).contains(&u64::from(back)));
                        // L-SIG counts in 4 us; symbols of HE and EHT are not a multiple of that.
                        prop_assert_eq!(u64::from(back), 20_000 + (duration.ns - 20_000).div_ceil(4_000) * 4_000);
                        prop_assert!(["he", "eht"].contains(&mode.family()) || u64::from(back) == duration.ns);
                    }
                }
            }
        }
    }
}
