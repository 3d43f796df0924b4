//! A mode's name and its compact form, for histograms.
//!
//! Both distinguish what sets the data rate (and, for DSSS, the preamble); they leave out LDPC, STBC, greenfield,
//! extension streams and LTF size.

use super::mode::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};
use super::rate::he_dcm_stbc;

// Bit offsets in the key. Stored nowhere on disk: free to change.
const MCS_OR_RATE: u32 = 4;
const NSS: u32 = 12;
const BANDWIDTH: u32 = 20;
const GI: u32 = 24;
const VARIANT: u32 = 28;
const DCM: u32 = 31;
const RU_TONES: u32 = 32;
const HAS_RU: u32 = 48;
const HAS_MCS: u32 = 49;
const HAS_NSS: u32 = 50;
const USED_BITS: u64 = (1 << 51) - 1;

const fn bandwidth_code(bandwidth: Option<Bandwidth>) -> u64 {
    match bandwidth {
        None => 0,
        Some(Bandwidth::Mhz5) => 1,
        Some(Bandwidth::Mhz10) => 2,
        Some(Bandwidth::Mhz20) => 3,
        Some(Bandwidth::Mhz40) => 4,
        Some(Bandwidth::Mhz80) => 5,
        Some(Bandwidth::Mhz160) => 6,
        Some(Bandwidth::Mhz320) => 7,
    }
}

const fn gi_code(gi: Option<GuardInterval>) -> u64 {
    match gi {
        None => 0,
        Some(GuardInterval::Ns400) => 1,
        Some(GuardInterval::Ns800) => 2,
        Some(GuardInterval::Ns1600) => 3,
        Some(GuardInterval::Ns3200) => 4,
    }
}

const fn he_format_code(format: HeFormat) -> u64 {
    match format {
        HeFormat::Su => 0,
        HeFormat::ErSu => 1,
        HeFormat::Mu => 2,
        HeFormat::TriggerBased => 3,
    }
}

const fn eht_format_code(format: Option<EhtFormat>) -> u64 {
    match format {
        None => 0,
        Some(EhtFormat::SingleUser) => 1,
        Some(EhtFormat::Ofdma) => 2,
        Some(EhtFormat::MuMimo) => 3,
        Some(EhtFormat::TriggerBased) => 4,
    }
}

fn eht_format_from(code: u64) -> Option<Option<EhtFormat>> {
    Some(match code {
        0 => None,
        1 => Some(EhtFormat::SingleUser),
        2 => Some(EhtFormat::Ofdma),
        3 => Some(EhtFormat::MuMimo),
        4 => Some(EhtFormat::TriggerBased),
        _ => return None,
    })
}

fn bandwidth_from(code: u64) -> Option<Option<Bandwidth>> {
    Some(match code {
        0 => None,
        1 => Some(Bandwidth::Mhz5),
        2 => Some(Bandwidth::Mhz10),
        3 => Some(Bandwidth::Mhz20),
        4 => Some(Bandwidth::Mhz40),
        5 => Some(Bandwidth::Mhz80),
        6 => Some(Bandwidth::Mhz160),
        7 => Some(Bandwidth::Mhz320),
        _ => return None,
    })
}

fn gi_from(code: u64) -> Option<Option<GuardInterval>> {
    Some(match code {
        0 => None,
        1 => Some(GuardInterval::Ns400),
        2 => Some(GuardInterval::Ns800),
        3 => Some(GuardInterval::Ns1600),
        4 => Some(GuardInterval::Ns3200),
        _ => return None,
    })
}

const fn ht_vht_gi(short: Option<bool>) -> Option<GuardInterval> {
    match short {
        Some(true) => Some(GuardInterval::Ns400),
        Some(false) => Some(GuardInterval::Ns800),
        None => None,
    }
}

impl Mode {
    /// The mode without what the key leaves out: unknown (`None`), or off where there is no "unknown".
    ///
    /// The short preamble does not exist at 1 Mbit/s, so 1 Mbit/s always becomes "long".
    fn histogram_class(self) -> Self {
        match self {
            Self::Dsss { rate_500kbps: 2, .. } => Self::Dsss { rate_500kbps: 2, short_preamble: Some(false) },
            Self::Ht(ht) => Self::Ht(Ht { greenfield: None, ldpc: None, stbc: None, ness: 0, ..ht }),
            Self::Vht(vht) => Self::Vht(Vht { stbc: None, ldpc: None, ldpc_extra_symbol: None, ..vht }),
            Self::He(he) => Self::He(He { dcm: he_dcm_stbc(&he).0, ltf_ns: None, stbc: None, ldpc: None, ..he }),
            Self::Eht(eht) => Self::Eht(Eht { sig_symbols: None, ..eht }),
            same => same,
        }
    }

    /// A histogram key: equal for modes that differ only in LDPC, STBC, greenfield, extension streams or LTF size.
    ///
    /// [`Mode::from_key`] gives the class back. The bits mean nothing outside one run of the program.
    #[inline]
    pub fn key(&self) -> u64 {
        match *self {
            Self::Unknown => 0,
            Self::Dsss { rate_500kbps, short_preamble } => {
                let preamble = match short_preamble {
                    // 1 Mbit/s has no short one.
                    _ if rate_500kbps == 2 => 1,
                    None => 0,
                    Some(false) => 1,
                    Some(true) => 2,
                };
                1 | u64::from(rate_500kbps) << MCS_OR_RATE | preamble << VARIANT
            }
            Self::Ofdm { rate_500kbps, bandwidth } => {
                2 | u64::from(rate_500kbps) << MCS_OR_RATE | bandwidth_code(Some(bandwidth)) << BANDWIDTH
            }
            Self::Ht(_) | Self::Vht(_) | Self::He(_) | Self::Eht(_) => self.key_of_high_throughput(),
        }
    }

    fn key_of_high_throughput(&self) -> u64 {
        let fields = |tag: u64, mcs: u8, nss: u8, bandwidth: Option<Bandwidth>, gi: Option<GuardInterval>| {
            tag | u64::from(mcs) << MCS_OR_RATE
                | u64::from(nss) << NSS
                | bandwidth_code(bandwidth) << BANDWIDTH
                | gi_code(gi) << GI
        };
        match self.histogram_class() {
            Self::Unknown | Self::Dsss { .. } | Self::Ofdm { .. } => 0,
            Self::Ht(ht) => fields(3, ht.mcs, 0, Some(ht.bandwidth), ht_vht_gi(ht.short_gi)),
            Self::Vht(vht) => fields(4, vht.mcs, vht.nss, Some(vht.bandwidth), ht_vht_gi(vht.short_gi)),
            Self::He(he) => {
                let ru = he.ru_tones.map_or(0, |tones| 1 << HAS_RU | u64::from(tones) << RU_TONES);
                fields(5, he.mcs, he.nss, he.bandwidth, he.gi)
                    | he_format_code(he.format) << VARIANT
                    | u64::from(he.dcm) << DCM
                    | ru
            }
            Self::Eht(eht) => {
                fields(6, eht.mcs.unwrap_or(0), eht.nss.unwrap_or(0), eht.bandwidth, eht.gi)
                    | u64::from(eht.mcs.is_some()) << HAS_MCS
                    | u64::from(eht.nss.is_some()) << HAS_NSS
                    | eht_format_code(eht.format) << VARIANT
                    | eht.ru_tones.map_or(0, |tones| 1 << HAS_RU | u64::from(tones) << RU_TONES)
            }
        }
    }

    /// The class of modes behind a [`Mode::key`]; what the key leaves out is unknown or off. `None` for a number that
    /// no mode has as its key.
    pub fn from_key(key: u64) -> Option<Self> {
        let bits = |offset: u32, width: u32| key >> offset & ((1 << width) - 1);
        let byte = |offset: u32| bits(offset, 8) as u8;
        let (mcs, nss) = (byte(MCS_OR_RATE), byte(NSS));
        let bandwidth = bandwidth_from(bits(BANDWIDTH, 4))?;
        let gi = gi_from(bits(GI, 4))?;
        let short_gi = gi.map(|gi| gi == GuardInterval::Ns400);
        let mode = match bits(0, 4) {
            0 => Self::Unknown,
            1 => Self::Dsss {
                rate_500kbps: mcs,
                short_preamble: match bits(VARIANT, 3) {
                    0 => None,
                    1 => Some(false),
                    _ => Some(true),
                },
            },
            2 => Self::Ofdm { rate_500kbps: mcs, bandwidth: bandwidth? },
            3 => {
                Self::Ht(Ht { mcs, bandwidth: bandwidth?, short_gi, greenfield: None, ldpc: None, stbc: None, ness: 0 })
            }
            4 => Self::Vht(Vht {
                mcs,
                nss,
                bandwidth: bandwidth?,
                short_gi,
                stbc: None,
                ldpc: None,
                ldpc_extra_symbol: None,
            }),
            5 => Self::He(He {
                format: match bits(VARIANT, 3) {
                    0 => HeFormat::Su,
                    1 => HeFormat::ErSu,
                    2 => HeFormat::Mu,
                    _ => HeFormat::TriggerBased,
                },
                mcs,
                nss,
                bandwidth,
                ru_tones: (bits(HAS_RU, 1) == 1).then_some(bits(RU_TONES, 16) as u16),
                gi,
                ltf_ns: None,
                dcm: bits(DCM, 1) == 1,
                stbc: None,
                ldpc: None,
            }),
            6 => Self::Eht(Eht {
                format: eht_format_from(bits(VARIANT, 3))?,
                ru_tones: (bits(HAS_RU, 1) == 1).then_some(bits(RU_TONES, 16) as u16),
                sig_symbols: None,
                mcs: (bits(HAS_MCS, 1) == 1).then_some(mcs),
                nss: (bits(HAS_NSS, 1) == 1).then_some(nss),
                bandwidth,
                gi,
            }),
            _ => return None,
        };
        // A key has one spelling: whatever does not come back unchanged was not made by `key`.
        (key <= USED_BITS && mode.key() == key).then_some(mode)
    }

    /// The PHY's name in lower case: `dsss`, `ofdm`, `ht`, `vht`, `he`, `eht` or `unknown`.
    pub const fn family(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Dsss { .. } => "dsss",
            Self::Ofdm { .. } => "ofdm",
            Self::Ht(_) => "ht",
            Self::Vht(_) => "vht",
            Self::He(_) => "he",
            Self::Eht(_) => "eht",
        }
    }

    /// A short name for people: `11 Mb/s long`, `54 Mb/s`, `HT20 MCS7 SGI`, `VHT80 MCS9 2ss SGI`,
    /// `HE40 MCS11 2ss GI0.8`, `HE-TB RU106 MCS3 1ss GI3.2 DCM`. Unknown parts are left out.
    pub fn label(&self) -> String {
        let sgi = |short: Option<bool>| match short {
            Some(true) => " SGI",
            Some(false) => "",
            None => " GI?",
        };
        match self.histogram_class() {
            Self::Unknown => "unknown".to_owned(),
            Self::Dsss { rate_500kbps, short_preamble } => {
                let preamble = match short_preamble {
                    None => "",
                    Some(false) => " long",
                    Some(true) => " short",
                };
                format!("{} Mb/s{preamble}", f32::from(rate_500kbps) / 2.0)
            }
            Self::Ofdm { rate_500kbps, bandwidth } => {
                // 2.25 Mbit/s is stated as 2 or 2.5 (see `rate`): the exact rate where there is one.
                let mbit_s = self.rate_kbps().map_or(f32::from(rate_500kbps) / 2.0, |kbps| kbps as f32 / 1000.0);
                match bandwidth {
                    Bandwidth::Mhz20 => format!("{mbit_s} Mb/s"),
                    other => format!("{mbit_s} Mb/s {} MHz", other.mhz()),
                }
            }
            Self::Ht(ht) => format!("HT{} MCS{}{}", ht.bandwidth.mhz(), ht.mcs, sgi(ht.short_gi)),
            Self::Vht(vht) => {
                format!("VHT{} MCS{} {}ss{}", vht.bandwidth.mhz(), vht.mcs, vht.nss, sgi(vht.short_gi))
            }
            Self::He(he) => {
                let format = match he.format {
                    HeFormat::Su => "HE",
                    HeFormat::ErSu => "HE-ER",
                    HeFormat::Mu => "HE-MU",
                    HeFormat::TriggerBased => "HE-TB",
                };
                let width = he.bandwidth.map_or(String::new(), |b| b.mhz().to_string());
                let ru = he.ru_tones.map_or(String::new(), |tones| format!(" RU{tones}"));
                let dcm = if he.dcm { " DCM" } else { "" };
                let streams = if he.nss > 0 { format!(" {}ss", he.nss) } else { String::new() };
                format!("{format}{width}{ru} MCS{}{streams} GI{}{dcm}", he.mcs, he.gi.map_or("?", gi_us))
            }
            Self::Eht(eht) => {
                let mut label = match eht.format {
                    None | Some(EhtFormat::SingleUser) => "EHT",
                    Some(EhtFormat::Ofdma) => "EHT-OFDMA",
                    Some(EhtFormat::MuMimo) => "EHT-MIMO",
                    Some(EhtFormat::TriggerBased) => "EHT-TB",
                }
                .to_owned();
                label += &eht.bandwidth.map_or(String::new(), |b| b.mhz().to_string());
                label += &eht.ru_tones.map_or(String::new(), |tones| format!(" RU{tones}"));
                if let Some(mcs) = eht.mcs {
                    label += &format!(" MCS{mcs}");
                }
                if let Some(nss) = eht.nss {
                    label += &format!(" {nss}ss");
                }
                if let Some(gi) = eht.gi {
                    label += &format!(" GI{}", gi_us(gi));
                }
                label
            }
        }
    }
}

const fn gi_us(gi: GuardInterval) -> &'static str {
    match gi {
        GuardInterval::Ns400 => "0.4",
        GuardInterval::Ns800 => "0.8",
        GuardInterval::Ns1600 => "1.6",
        GuardInterval::Ns3200 => "3.2",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{any_mode, dsss, eht, he, ht, ofdm, vht};
    use super::*;

    #[test]
    fn labels() {
        use GuardInterval::{Ns3200, Ns800};
        let er = He {
            format: HeFormat::ErSu,
            bandwidth: None,
            ru_tones: Some(106),
            dcm: true,
            ..he(0, 1, Bandwidth::Mhz20, Ns3200)
        };
        let trigger_based = Eht {
            format: Some(EhtFormat::TriggerBased),
            bandwidth: Some(Bandwidth::Mhz160),
            ru_tones: Some(106),
            mcs: Some(3),
            ..Eht::UNKNOWN
        };
        for (mode, label) in [
            (dsss(22, Some(false)), "11 Mb/s long"),
            (dsss(11, Some(true)), "5.5 Mb/s short"),
            (dsss(4, None), "2 Mb/s"),
            (dsss(2, Some(true)), "1 Mb/s long"),
            (ofdm(108, Bandwidth::Mhz20), "54 Mb/s"),
            (ofdm(9, Bandwidth::Mhz10), "4.5 Mb/s 10 MHz"),
            (ofdm(5, Bandwidth::Mhz5), "2.25 Mb/s 5 MHz"),
            (ht(7, Bandwidth::Mhz20, true), "HT20 MCS7 SGI"),
            (ht(15, Bandwidth::Mhz40, false), "HT40 MCS15"),
            (vht(9, 2, Bandwidth::Mhz80, true), "VHT80 MCS9 2ss SGI"),
            (Mode::He(he(11, 2, Bandwidth::Mhz40, Ns800)), "HE40 MCS11 2ss GI0.8"),
            (Mode::He(er), "HE-ER RU106 MCS0 1ss GI3.2 DCM"),
            (eht(13, 2, Bandwidth::Mhz320, Ns800), "EHT320 MCS13 2ss GI0.8"),
            (Mode::Eht(Eht::UNKNOWN), "EHT"),
            (Mode::Eht(trigger_based), "EHT-TB160 RU106 MCS3"),
            (Mode::Unknown, "unknown"),
        ] {
            assert_eq!(mode.label(), label);
        }
    }

    #[test]
    fn key_ignores_coding() {
        let mode = |ldpc, stbc| {
            let ht = Ht {
                mcs: 3,
                bandwidth: Bandwidth::Mhz20,
                short_gi: Some(false),
                greenfield: None,
                ldpc,
                stbc,
                ness: 0,
            };
            Mode::Ht(ht).key()
        };
        assert_eq!(mode(None, None), mode(Some(true), Some(1)));
        assert_ne!(ht(3, Bandwidth::Mhz20, false).key(), ht(3, Bandwidth::Mhz40, false).key());
        assert_ne!(dsss(22, None).key(), dsss(22, Some(true)).key());
        assert_eq!(dsss(2, None).key(), dsss(2, Some(true)).key());
    }

    proptest! {
        #[test]
        fn key_round_trips(mode in any_mode()) {
            let back = Mode::from_key(mode.key());
            prop_assert_eq!(back, Some(mode.histogram_class()));
            let back = back.unwrap_or_default();
            prop_assert_eq!(back.key(), mode.key());
            prop_assert_eq!(back.label(), mode.label());
            prop_assert_eq!(back.rate_kbps(), mode.rate_kbps());
            prop_assert_eq!(back.nss(), mode.nss());
        }

        #[test]
        fn any_number_is_a_key_or_none(key in any::<u64>(), low in 0u64..1 << 32) {
            for key in [key, low] {
                if let Some(mode) = Mode::from_key(key) {
                    prop_assert_eq!(mode.key(), key);
                }
            }
        }
    }
}
