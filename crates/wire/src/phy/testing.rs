//! Modes for this folder's tests.

use proptest::prelude::*;

use super::mode::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};

pub(super) fn ofdm(rate_500kbps: u8, bandwidth: Bandwidth) -> Mode {
    Mode::Ofdm { rate_500kbps, bandwidth }
}

pub(super) fn dsss(rate_500kbps: u8, short_preamble: Option<bool>) -> Mode {
    Mode::Dsss { rate_500kbps, short_preamble }
}

/// HT-mixed, BCC, no STBC.
pub(super) fn ht(mcs: u8, bandwidth: Bandwidth, short_gi: bool) -> Mode {
    Mode::Ht(Ht {
        mcs,
        bandwidth,
        short_gi: Some(short_gi),
        greenfield: Some(false),
        ldpc: Some(false),
        stbc: Some(0),
        ness: 0,
    })
}

/// BCC, no STBC.
pub(super) fn vht(mcs: u8, nss: u8, bandwidth: Bandwidth, short_gi: bool) -> Mode {
    Mode::Vht(Vht {
        mcs,
        nss,
        bandwidth,
        short_gi: Some(short_gi),
        stbc: Some(false),
        ldpc: Some(false),
        ldpc_extra_symbol: None,
    })
}

/// HE SU, LTF and coding unknown.
pub(super) fn he(mcs: u8, nss: u8, bandwidth: Bandwidth, gi: GuardInterval) -> He {
    He {
        format: HeFormat::Su,
        mcs,
        nss,
        bandwidth: Some(bandwidth),
        ru_tones: None,
        gi: Some(gi),
        ltf_ns: None,
        dcm: false,
        stbc: Some(false),
        ldpc: None,
    }
}

/// EHT to one user.
pub(super) fn eht(mcs: u8, nss: u8, bandwidth: Bandwidth, gi: GuardInterval) -> Mode {
    Mode::Eht(Eht {
        format: Some(EhtFormat::SingleUser),
        mcs: Some(mcs),
        nss: Some(nss),
        bandwidth: Some(bandwidth),
        gi: Some(gi),
        ..Eht::UNKNOWN
    })
}

fn any_bandwidth() -> impl Strategy<Value = Bandwidth> {
    use Bandwidth::{Mhz10, Mhz160, Mhz20, Mhz320, Mhz40, Mhz5, Mhz80};
    proptest::sample::select(vec![Mhz5, Mhz10, Mhz20, Mhz40, Mhz80, Mhz160, Mhz320])
}

fn any_gi() -> impl Strategy<Value = GuardInterval> {
    use GuardInterval::{Ns1600, Ns3200, Ns400, Ns800};
    proptest::sample::select(vec![Ns400, Ns800, Ns1600, Ns3200])
}

/// A number that is usually below `limit`, and sometimes anything.
fn mostly_below(limit: u8) -> impl Strategy<Value = u8> {
    prop_oneof![9 => 0..limit, 1 => any::<u8>()]
}

/// Every value that a [`Mode`] can hold, with possible ones frequent.
pub(super) fn any_mode() -> impl Strategy<Value = Mode> {
    use HeFormat::{ErSu, Mu, Su, TriggerBased};
    let rate =
        || prop_oneof![proptest::sample::select(vec![2u8, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108]), any::<u8>()];
    let ht = (
        mostly_below(77),
        any_bandwidth(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
        proptest::option::of(mostly_below(3)),
        mostly_below(4),
    )
        .prop_map(|(mcs, bandwidth, short_gi, greenfield, ldpc, stbc, ness)| {
            Mode::Ht(Ht { mcs, bandwidth, short_gi, greenfield, ldpc, stbc, ness })
        });
    let vht = (
        mostly_below(12),
        mostly_below(9),
        any_bandwidth(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
    )
        .prop_map(|(mcs, nss, bandwidth, short_gi, stbc, ldpc, ldpc_extra_symbol)| {
            Mode::Vht(Vht { mcs, nss, bandwidth, short_gi, stbc, ldpc, ldpc_extra_symbol })
        });
    let tones = || prop_oneof![proptest::sample::select(vec![26u16, 52, 106, 242, 484, 996, 1992]), any::<u16>()];
    let ltf = prop_oneof![proptest::sample::select(vec![3200u16, 6400, 12800]), any::<u16>()];
    let he = (
        proptest::sample::select(vec![Su, ErSu, Mu, TriggerBased]),
        mostly_below(12),
        mostly_below(9),
        proptest::option::of(any_bandwidth()),
        proptest::option::of(tones()),
        proptest::option::of(any_gi()),
        proptest::option::of(ltf),
        any::<bool>(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
    )
        .prop_map(|(format, mcs, nss, bandwidth, ru_tones, gi, ltf_ns, dcm, stbc, ldpc)| {
            Mode::He(He { format, mcs, nss, bandwidth, ru_tones, gi, ltf_ns, dcm, stbc, ldpc })
        });
    let eht_format = proptest::sample::select(vec![
        EhtFormat::SingleUser,
        EhtFormat::Ofdma,
        EhtFormat::MuMimo,
        EhtFormat::TriggerBased,
    ]);
    let eht = (
        proptest::option::of(eht_format),
        proptest::option::of(mostly_below(16)),
        proptest::option::of(mostly_below(9)),
        proptest::option::of(any_bandwidth()),
        proptest::option::of(any_gi()),
        proptest::option::of(tones()),
        proptest::option::of(mostly_below(33)),
    )
        .prop_map(|(format, mcs, nss, bandwidth, gi, ru_tones, sig_symbols)| {
            Mode::Eht(Eht { format, mcs, nss, bandwidth, ru_tones, gi, sig_symbols })
        });
    prop_oneof![
        1 => Just(Mode::Unknown),
        3 => (rate(), any::<Option<bool>>()).prop_map(|(r, s)| dsss(r, s)),
        3 => (rate(), any_bandwidth()).prop_map(|(r, b)| ofdm(r, b)),
        6 => ht,
        6 => vht,
        6 => he,
        3 => eht,
    ]
}
