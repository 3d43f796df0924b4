//! How a PPDU was modulated, as far as the capture shows.

/// Channel width that a PPDU occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Bandwidth {
    /// 5 MHz (quarter-clocked OFDM).
    Mhz5,
    /// 10 MHz (half-clocked OFDM).
    Mhz10,
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz, contiguous or 80+80.
    Mhz160,
    /// 320 MHz.
    Mhz320,
}

impl Bandwidth {
    /// Width in MHz.
    pub const fn mhz(self) -> u16 {
        match self {
            Self::Mhz5 => 5,
            Self::Mhz10 => 10,
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
        }
    }

    /// Tones of the resource unit that is all of an HE or EHT channel of this width.
    pub const fn tones(self) -> Option<u16> {
        Some(match self {
            Self::Mhz5 | Self::Mhz10 => return None,
            Self::Mhz20 => 242,
            Self::Mhz40 => 484,
            Self::Mhz80 => 996,
            Self::Mhz160 => 1992,
            Self::Mhz320 => 3984,
        })
    }
}

/// Guard interval between OFDM symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum GuardInterval {
    /// 0.4 µs (HT and VHT "short").
    Ns400,
    /// 0.8 µs (HT and VHT "long"; HE and EHT shortest).
    Ns800,
    /// 1.6 µs (HE, EHT).
    Ns1600,
    /// 3.2 µs (HE, EHT).
    Ns3200,
}

impl GuardInterval {
    /// Length in nanoseconds.
    pub const fn ns(self) -> u32 {
        match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1600,
            Self::Ns3200 => 3200,
        }
    }
}

/// High throughput (802.11n, IEEE 802.11-2020 clause 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Ht {
    /// MCS index, 0 to 76 (0 to 31 with equal modulation; 32 is the 40 MHz duplicate).
    pub mcs: u8,
    /// 20 or 40 MHz.
    pub bandwidth: Bandwidth,
    /// Short (0.4 µs) guard interval; `None` where the capture does not say.
    pub short_gi: Option<bool>,
    /// Greenfield preamble; `None` where the capture does not say.
    pub greenfield: Option<bool>,
    /// LDPC instead of BCC; `None` where the capture does not say.
    pub ldpc: Option<bool>,
    /// Number of space-time streams minus spatial streams (0 to 2); `None` where the capture does not say.
    pub stbc: Option<u8>,
    /// Number of extension spatial streams, 0 to 3 (0 where the capture does not say).
    pub ness: u8,
}

/// Very high throughput (802.11ac, IEEE 802.11-2020 clause 21), single user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Vht {
    /// MCS index, 0 to 9 (10 and 11 as some vendors use them).
    pub mcs: u8,
    /// Spatial streams, 1 to 8.
    pub nss: u8,
    /// 20 to 160 MHz.
    pub bandwidth: Bandwidth,
    /// Short (0.4 µs) guard interval; `None` where the capture does not say.
    pub short_gi: Option<bool>,
    /// Space-time block coding (doubles the space-time streams); `None` where the capture does not say.
    pub stbc: Option<bool>,
    /// LDPC instead of BCC; `None` where the capture does not say.
    pub ldpc: Option<bool>,
    /// LDPC needed one more symbol; `None` where the capture does not say.
    pub ldpc_extra_symbol: Option<bool>,
}

/// The four HE PPDU formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum HeFormat {
    /// Single user.
    Su,
    /// Extended range, single user.
    ErSu,
    /// Multi-user downlink: only the L-SIG length gives its duration.
    Mu,
    /// Trigger-based uplink: only the L-SIG length gives its duration.
    TriggerBased,
}

/// High efficiency (802.11ax, IEEE 802.11ax-2021 clause 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct He {
    /// PPDU format.
    pub format: HeFormat,
    /// MCS index, 0 to 11.
    pub mcs: u8,
    /// Spatial streams, 1 to 8; 0 where the capture does not say (then there is no rate either).
    pub nss: u8,
    /// 20 to 160 MHz, of the PPDU. When the frame used a resource unit (see `ru_tones`), `None` unless the capture says both.
    pub bandwidth: Option<Bandwidth>,
    /// Size of the resource unit in tones (26, 52, 106, 242, 484, 996, 1992), where reported.
    pub ru_tones: Option<u16>,
    /// Guard interval; `None` where the capture does not say.
    pub gi: Option<GuardInterval>,
    /// HE-LTF symbol without guard interval, in ns (3200, 6400, 12800); `None` where the capture does not say.
    pub ltf_ns: Option<u16>,
    /// Dual carrier modulation.
    pub dcm: bool,
    /// Space-time block coding; `None` where the capture does not say.
    pub stbc: Option<bool>,
    /// LDPC instead of BCC; `None` where the capture does not say.
    pub ldpc: Option<bool>,
}

/// To whom an EHT PPDU goes (U-SIG of IEEE 802.11be-2024 36.3.12.7: UL/DL and PPDU Type And Compression Mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum EhtFormat {
    /// MU PPDU to one user in the whole band, or for sounding.
    SingleUser,
    /// MU PPDU to several users, each in its own resource unit.
    Ofdma,
    /// MU PPDU to several users in the whole band.
    MuMimo,
    /// Trigger-based uplink.
    TriggerBased,
}

/// Extremely high throughput (802.11be, IEEE 802.11be-2024 clause 36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Eht {
    /// To whom it goes; `None` where the capture does not say.
    pub format: Option<EhtFormat>,
    /// MCS index, 0 to 15; `None` where the capture does not say.
    pub mcs: Option<u8>,
    /// Spatial streams.
    pub nss: Option<u8>,
    /// 20 to 320 MHz: of the PPDU, whatever part of it this user has.
    pub bandwidth: Option<Bandwidth>,
    /// Tones of this user's resource unit, or of all units together that it has (26 to 3984), where reported.
    pub ru_tones: Option<u16>,
    /// Guard interval; `None` where the capture does not say.
    pub gi: Option<GuardInterval>,
    /// EHT-SIG symbols; `None` where the capture does not say.
    pub sig_symbols: Option<u8>,
}

impl Eht {
    /// Nothing known but that it is EHT.
    pub const UNKNOWN: Self =
        Self { format: None, mcs: None, nss: None, bandwidth: None, ru_tones: None, gi: None, sig_symbols: None };
}

/// The modulation of one PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Mode {
    /// The capture does not say.
    #[default]
    Unknown,
    /// DSSS and CCK (802.11b): 1, 2, 5.5 and 11 Mbit/s.
    Dsss {
        /// In units of 500 kbit/s: 2, 4, 11, 22.
        rate_500kbps: u8,
        /// Short PLCP preamble; `None` where the capture does not say.
        short_preamble: Option<bool>,
    },
    /// OFDM and ERP-OFDM (802.11a/g), also at half and quarter clock.
    Ofdm {
        /// In units of 500 kbit/s as the header states it (12 to 108 at 20 MHz).
        rate_500kbps: u8,
        /// 5, 10 or 20 MHz.
        bandwidth: Bandwidth,
    },
    /// 802.11n.
    Ht(Ht),
    /// 802.11ac.
    Vht(Vht),
    /// 802.11ax.
    He(He),
    /// 802.11be.
    Eht(Eht),
}

impl Mode {
    /// The mode that a bare rate in 500 kbit/s units means: the four DSSS/CCK rates, else OFDM at 20 MHz.
    /// `None` for a rate that is neither.
    pub const fn from_legacy_rate(rate_500kbps: u8, short_preamble: Option<bool>) -> Option<Self> {
        match rate_500kbps {
            2 | 4 | 11 | 22 => Some(Self::Dsss { rate_500kbps, short_preamble }),
            12 | 18 | 24 | 36 | 48 | 72 | 96 | 108 => Some(Self::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 }),
            _ => None,
        }
    }

    /// Its guard interval is one of several, and the capture does not say which.
    pub const fn lacks_guard_interval(&self) -> bool {
        match self {
            Self::Ht(ht) => ht.short_gi.is_none(),
            Self::Vht(vht) => vht.short_gi.is_none(),
            Self::He(he) => he.gi.is_none(),
            Self::Eht(eht) => eht.gi.is_none(),
            Self::Unknown | Self::Dsss { .. } | Self::Ofdm { .. } => false,
        }
    }

    /// The mode with each guard interval that it may have had, the shorter mandatory one first; the mode alone where that is known.
    pub(super) fn with_guard_intervals(self) -> impl Iterator<Item = Self> {
        use GuardInterval::{Ns1600, Ns3200, Ns400, Ns800};
        let choices: &[GuardInterval] = match self {
            mode if !mode.lacks_guard_interval() => &[],
            Self::He(_) | Self::Eht(_) => &[Ns800, Ns1600, Ns3200],
            _ => &[Ns800, Ns400],
        };
        let known = choices.is_empty().then_some(self);
        let with = move |gi| match self {
            Self::Ht(ht) => Self::Ht(Ht { short_gi: Some(gi == Ns400), ..ht }),
            Self::Vht(vht) => Self::Vht(Vht { short_gi: Some(gi == Ns400), ..vht }),
            Self::He(he) => Self::He(He { gi: Some(gi), ..he }),
            Self::Eht(eht) => Self::Eht(Eht { gi: Some(gi), ..eht }),
            mode => mode,
        };
        known.into_iter().chain(choices.iter().map(move |gi| with(*gi)))
    }

    /// The format is one in which several users may have a part: HE MU, EHT OFDMA and MU-MIMO, trigger-based.
    pub const fn is_to_several(&self) -> bool {
        match self {
            Self::He(he) => matches!(he.format, HeFormat::Mu | HeFormat::TriggerBased),
            Self::Eht(eht) => {
                matches!(eht.format, Some(EhtFormat::Ofdma | EhtFormat::MuMimo | EhtFormat::TriggerBased))
            }
            _ => false,
        }
    }

    /// A trigger-based uplink: several transmitters, one receiver.
    pub const fn is_trigger_based(&self) -> bool {
        match self {
            Self::He(he) => matches!(he.format, HeFormat::TriggerBased),
            Self::Eht(eht) => matches!(eht.format, Some(EhtFormat::TriggerBased)),
            _ => false,
        }
    }

    /// Tones of this user's resource unit in HE and EHT, where the capture gives them: of the whole band where it names no unit in a
    /// format that has only that (EHT MU-MIMO), or a width instead of one (HE).
    pub const fn unit_tones(&self) -> Option<u16> {
        match self {
            Self::He(He { ru_tones: Some(tones), .. }) | Self::Eht(Eht { ru_tones: Some(tones), .. }) => Some(*tones),
            Self::He(He { bandwidth: Some(width), .. })
            | Self::Eht(Eht {
                bandwidth: Some(width), format: Some(EhtFormat::SingleUser | EhtFormat::MuMimo), ..
            }) => width.tones(),
            _ => None,
        }
    }

    /// The part of the PPDU's width that this user's resource unit takes, where the capture gives both.
    pub fn unit_share(&self) -> Option<f64> {
        let width = match self {
            Self::He(he) => he.bandwidth,
            Self::Eht(eht) => eht.bandwidth,
            _ => None,
        };
        let (unit, all) = self.unit_tones().zip(width.and_then(Bandwidth::tones))?;
        Some((f64::from(unit) / f64::from(all)).min(1.0))
    }

    /// HT, VHT, HE or EHT: the formats that can carry an A-MPDU.
    pub const fn can_aggregate(self) -> bool {
        matches!(self, Self::Ht(_) | Self::Vht(_) | Self::He(_) | Self::Eht(_))
    }

    /// It can carry an A-MPDU, as far as the capture says.
    #[inline]
    pub const fn may_aggregate(self) -> bool {
        self.can_aggregate() || matches!(self, Self::Unknown)
    }
}
