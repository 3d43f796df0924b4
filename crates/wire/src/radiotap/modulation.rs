//! From radiotap's rate, channel, MCS, VHT, HE, U-SIG and EHT fields to one [`Mode`].
//!
//! A header can carry several of these; the newest PHY that is described wins. A description that lacks what the
//! mode needs (its "known" bits are clear) gives [`Mode::Unknown`] and never a guess, and it still hides an older
//! PHY's description: a frame with an HE field was not sent at the legacy rate that may stand beside it.

use super::bytes::{byte, le16, le32};
use super::he_mu::{he_width, HeMu};
use crate::phy::{Allocation, Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, SigB, Vht};

/// Channel flags (fields 3 and 18, same low half) that change what a bare rate means.
const CHANNEL_S1G: u16 = 0x0007;
const CHANNEL_TURBO: u16 = 0x0010;
const CHANNEL_FREQUENCY_HOPPING: u16 = 0x0800;
const CHANNEL_STATIC_TURBO: u16 = 0x2000;
const CHANNEL_HALF_RATE: u16 = 0x4000;
const CHANNEL_QUARTER_RATE: u16 = 0x8000;

/// Which field described the modulation, oldest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    #[default]
    None,
    Mcs,
    Vht,
    He,
    Eht,
}

/// What has been read about the modulation so far.
#[derive(Default)]
pub(super) struct Modulation {
    rate_500kbps: Option<u8>,
    channel_flags: u16,
    source: Source,
    mode: Mode,
    he_mu: Option<Allocation>,
    sig_b: SigB,
    /// Users of an EHT PPDU without OFDMA.
    eht_users: Option<u8>,
    /// Tones that puncturing leaves of an EHT PPDU without OFDMA.
    eht_left: Option<u16>,
    /// What the RU Allocation subfields of EHT-SIG say, and the width that follows from their number.
    eht_units: Option<(Bandwidth, Allocation)>,
}

impl Modulation {
    pub(super) fn rate(&mut self, rate_500kbps: u8) {
        self.rate_500kbps.get_or_insert(rate_500kbps);
    }

    pub(super) fn channel_flags(&mut self, flags: u16) {
        self.channel_flags |= flags;
    }

    /// Keeps `mode` unless a newer PHY, or the same one earlier, has been described.
    fn describe(&mut self, source: Source, mode: Mode) {
        if source > self.source {
            self.source = source;
            self.mode = mode;
        }
    }

    /// Field 19. With the index unknown the field says nothing and the rate counts.
    pub(super) fn mcs(&mut self, known: u8, flags: u8, mcs: u8) {
        const BANDWIDTH: u8 = 0x01;
        const INDEX: u8 = 0x02;
        const GUARD_INTERVAL: u8 = 0x04;
        const FORMAT: u8 = 0x08;
        const FEC: u8 = 0x10;
        const STBC: u8 = 0x20;
        const NESS: u8 = 0x40;
        const HIGHEST_MCS: u8 = 76;

        if known & INDEX == 0 {
            return;
        }
        let mode = if known & BANDWIDTH != 0 && mcs <= HIGHEST_MCS {
            Mode::Ht(Ht {
                mcs,
                // 2 and 3 are 20 MHz in the lower and upper half of a 40 MHz channel.
                bandwidth: if flags & 0x03 == 1 { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
                short_gi: (known & GUARD_INTERVAL != 0).then_some(flags & 0x04 != 0),
                greenfield: (known & FORMAT != 0).then_some(flags & 0x08 != 0),
                ldpc: (known & FEC != 0).then_some(flags & 0x10 != 0),
                stbc: (known & STBC != 0).then_some(flags >> 5 & 0x03),
                // The high bit of the number hides in the known flags.
                ness: if known & NESS != 0 { known >> 7 << 1 | flags >> 7 } else { 0 },
            })
        } else {
            Mode::Unknown
        };
        self.describe(Source::Mcs, mode);
    }

    /// Field 21: known u16, flags u8, bandwidth u8, mcs_nss [u8; 4], coding u8, group id u8, partial AID u16.
    /// With no user present the field says nothing.
    pub(super) fn vht(&mut self, data: &[u8]) {
        const STBC: u16 = 0x0001;
        const GUARD_INTERVAL: u16 = 0x0004;
        const LDPC_EXTRA_SYMBOL: u16 = 0x0010;
        const BANDWIDTH: u16 = 0x0040;
        const MCS_UNKNOWN: u8 = 15;
        const HIGHEST_MCS: u8 = 11;

        let known = le16(data, 0);
        let flags = byte(data, 2);
        let mut present = 0;
        let mut described = 0;
        let mut user = (0, 0, 0);
        for index in 0..4 {
            let mcs_nss = byte(data, 4 + index);
            let (mcs, nss) = (mcs_nss >> 4, mcs_nss & 0x0f);
            if nss != 0 {
                present += 1;
                if mcs != MCS_UNKNOWN {
                    described += 1;
                    user = (index, mcs, nss);
                }
            }
        }
        if present == 0 {
            return;
        }
        // With several users described (MU), the header does not say which of them this frame is for.
        let is_complete = described == 1 && known & BANDWIDTH != 0;
        let (index, mcs, nss) = user;
        let mode = match vht_bandwidth(byte(data, 3)) {
            Some(bandwidth) if is_complete && mcs <= HIGHEST_MCS && nss <= 8 => Mode::Vht(Vht {
                mcs,
                nss,
                bandwidth,
                short_gi: (known & GUARD_INTERVAL != 0).then_some(flags & 0x04 != 0),
                stbc: (known & STBC != 0).then_some(flags & 0x01 != 0),
                ldpc: Some(byte(data, 8) >> index & 1 != 0),
                ldpc_extra_symbol: (known & LDPC_EXTRA_SYMBOL != 0).then_some(flags & 0x10 != 0),
            }),
            _ => Mode::Unknown,
        };
        self.describe(Source::Vht, mode);
    }

    /// Field 23: data1 to data6, u16 each.
    pub(super) fn he(&mut self, data: &[u8]) {
        self.describe(Source::He, he(data).map_or(Mode::Unknown, Mode::He));
    }

    /// Field 24: the width of an HE MU PPDU and its allocation, whatever part of it this user has.
    #[cold]
    pub(super) fn he_mu(&mut self, data: &[u8]) {
        let Mode::He(he @ He { format: HeFormat::Mu, .. }) = &mut self.mode else { return };
        let field = HeMu::parse(data);
        if he.bandwidth.is_none() && he.ru_tones.is_some() {
            he.bandwidth = field.width;
        }
        self.he_mu = self.he_mu.or(field.allocation());
        if self.sig_b == SigB::default() {
            self.sig_b = field.sig_b();
        }
    }

    /// TLV 33 (common u32, value u32, mask u32): a version-0 U-SIG, which is EHT's.
    pub(super) fn u_sig(&mut self, data: &[u8]) {
        const VERSION_KNOWN: u32 = 0x01;
        const BANDWIDTH_KNOWN: u32 = 0x02;
        const LINK_DIRECTION_KNOWN: u32 = 0x04;
        const UPLINK: u32 = 0x0004_0000;
        // Behind the last six bits of U-SIG-1.
        const PPDU_TYPE: u32 = 0x0000_00c0;
        const PUNCTURED: u32 = 0x0000_3e00;
        const SIG_SYMBOLS: u32 = 0x003e_0000;

        let (common, value, mask) = (le32(data, 0), le32(data, 4), le32(data, 8));

        if common & VERSION_KNOWN != 0 && common >> 12 & 0x07 != 0 {
            // A PHY after EHT.
            self.describe(Source::Eht, Mode::Unknown);
        } else if let Some(eht) = self.eht_in_progress() {
            if common & BANDWIDTH_KNOWN != 0 {
                eht.bandwidth = match common >> 15 & 0x07 {
                    0 => Some(Bandwidth::Mhz20),
                    1 => Some(Bandwidth::Mhz40),
                    2 => Some(Bandwidth::Mhz80),
                    3 => Some(Bandwidth::Mhz160),
                    4 | 5 => Some(Bandwidth::Mhz320),
                    _ => None,
                };
            }
            if common & LINK_DIRECTION_KNOWN != 0 && mask & PPDU_TYPE == PPDU_TYPE {
                eht.format = match (common & UPLINK != 0, (value & PPDU_TYPE) >> 6) {
                    (_, 1) => Some(EhtFormat::SingleUser),
                    (true, 0) => Some(EhtFormat::TriggerBased),
                    (false, 0) => Some(EhtFormat::Ofdma),
                    (false, 2) => Some(EhtFormat::MuMimo),
                    _ => None,
                };
            }
            // These bits are something else in a trigger-based PPDU, which has no EHT-SIG.
            let has_sig = !matches!(eht.format, None | Some(EhtFormat::TriggerBased));
            if has_sig && mask & SIG_SYMBOLS == SIG_SYMBOLS {
                eht.sig_symbols = Some(((value & SIG_SYMBOLS) >> 17) as u8 + 1);
            }
            // With OFDMA these bits are of one 80 MHz, and the units say the same.
            let is_whole = matches!(eht.format, Some(EhtFormat::SingleUser | EhtFormat::MuMimo));
            if let (true, PUNCTURED, Some(width)) = (is_whole, mask & PUNCTURED, eht.bandwidth) {
                self.eht_left = unpunctured_tones(width, (value & PUNCTURED) >> 9);
            }
        }
    }

    /// TLV 34: known u32, data [u32; 9], then one u32 for each user.
    pub(super) fn eht(&mut self, data: &[u8]) {
        const GUARD_INTERVAL_KNOWN: u32 = 0x04;
        const USER_COUNT_KNOWN: u32 = 0x0008_0000;
        const RU_SIZE_KNOWN: u32 = 0x0040_0000;
        const USERS_AT: usize = 40;
        const USER_MCS_KNOWN: u32 = 0x02;
        const USER_NSS_KNOWN: u32 = 0x10;
        const USER_OF_THIS_FRAME: u32 = 0x80;

        // Users minus one, of a PPDU without OFDMA.
        if le32(data, 0) & USER_COUNT_KNOWN != 0 {
            self.eht_users.get_or_insert((le32(data, 32) >> 17 & 0x07) as u8 + 1);
        }
        if self.eht_units.is_none() {
            self.eht_units = eht_units(data);
        }
        let Some(eht) = self.eht_in_progress() else { return };
        if le32(data, 0) & GUARD_INTERVAL_KNOWN != 0 {
            eht.gi = guard_interval(le32(data, 4) >> 7);
        }
        if le32(data, 0) & RU_SIZE_KNOWN != 0 {
            eht.ru_tones = eht_ru_tones(le32(data, 8) & 0x1f);
        }
        let users = data.get(USERS_AT..).unwrap_or_default().chunks_exact(4).map(|user| le32(user, 0));
        let only = if users.len() == 1 { users.clone().next() } else { None };
        if let Some(user) = users.clone().find(|user| user & USER_OF_THIS_FRAME != 0).or(only) {
            if user & USER_MCS_KNOWN != 0 {
                eht.mcs = Some((user >> 20 & 0x0f) as u8);
            }
            // As in the user field on the air: streams minus one.
            if user & USER_NSS_KNOWN != 0 {
                eht.nss = Some((user >> 24 & 0x0f) as u8 + 1);
            }
        }
    }

    /// The EHT description that U-SIG and EHT items fill together; `None` once it is known not to be EHT.
    fn eht_in_progress(&mut self) -> Option<&mut Eht> {
        self.describe(Source::Eht, Mode::Eht(Eht::UNKNOWN));
        match &mut self.mode {
            Mode::Eht(eht) => Some(eht),
            _ => None,
        }
    }

    /// Units and users of the whole PPDU, when all fields have been read.
    pub(super) fn allocation(&self) -> Option<Allocation> {
        match self.mode {
            Mode::He(He { format: HeFormat::Mu, .. }) => self.he_mu,
            Mode::Eht(Eht { format: Some(EhtFormat::MuMimo), bandwidth: Some(width), ru_tones, .. }) => {
                // A smaller unit is what puncturing left of the band.
                let tones = ru_tones.or(self.eht_left);
                let is_whole = tones.is_none() || tones == width.tones();
                self.eht_users.filter(|_| is_whole).and_then(|users| Allocation::whole_band(width, users))
            }
            Mode::Eht(Eht { format: Some(EhtFormat::Ofdma), bandwidth, .. }) => {
                self.eht_units.filter(|(width, _)| bandwidth == Some(*width)).map(|(_, units)| units)
            }
            _ => None,
        }
    }

    /// HE-SIG-B, when all fields have been read.
    pub(super) fn sig_b(&self) -> SigB {
        self.sig_b
    }

    /// The mode, when all fields have been read.
    pub(super) fn mode(&self, short_preamble: Option<bool>) -> Mode {
        match self.mode {
            Mode::Eht(eht) => return Mode::Eht(Eht { ru_tones: eht.ru_tones.or(self.eht_left), ..eht }),
            mode if self.source > Source::None => return mode,
            _ => {}
        }
        match self.rate_500kbps {
            Some(rate) => legacy(rate, self.channel_flags, short_preamble).unwrap_or(Mode::Unknown),
            None => Mode::Unknown,
        }
    }
}

/// A bare rate on a channel with these flags. `None` for a rate that does not exist there, among them rates with the
/// high bit set, by which some drivers mean an HT MCS index.
///
/// On half- and quarter-clocked channels the rate is the real one (Linux `net/mac80211/rx.c` divides the 20 MHz rate
/// by 2 or 4 and rounds up to 500 kbit/s: 5 stands for 2.25 Mbit/s), so 54 at 10 MHz is what is 108 at 20 MHz.
pub(crate) fn legacy(rate_500kbps: u8, channel_flags: u16, short_preamble: Option<bool>) -> Option<Mode> {
    const NOT_802_11AG: u16 = CHANNEL_S1G | CHANNEL_TURBO | CHANNEL_STATIC_TURBO | CHANNEL_FREQUENCY_HOPPING;
    if channel_flags & NOT_802_11AG != 0 {
        return None;
    }
    let (bandwidth, rates): (_, [u8; 8]) = match channel_flags & (CHANNEL_HALF_RATE | CHANNEL_QUARTER_RATE) {
        0 => return Mode::from_legacy_rate(rate_500kbps, short_preamble),
        CHANNEL_HALF_RATE => (Bandwidth::Mhz10, [6, 9, 12, 18, 24, 36, 48, 54]),
        CHANNEL_QUARTER_RATE => (Bandwidth::Mhz5, [3, 5, 6, 9, 12, 18, 24, 27]),
        _ => return None,
    };
    rates.contains(&rate_500kbps).then_some(Mode::Ofdm { rate_500kbps, bandwidth })
}

/// Codes of the VHT field's bandwidth: a whole channel, or the part of a wider one that the PPDU used.
const fn vht_bandwidth(code: u8) -> Option<Bandwidth> {
    match code & 0x1f {
        0 | 2 | 3 | 7..=10 | 18..=25 => Some(Bandwidth::Mhz20),
        1 | 5 | 6 | 14..=17 => Some(Bandwidth::Mhz40),
        4 | 12 | 13 => Some(Bandwidth::Mhz80),
        11 => Some(Bandwidth::Mhz160),
        _ => None,
    }
}

/// Tones that the Punctured Channel Information of a PPDU without OFDMA leaves of this width; `None` where it punctures nothing, and for
/// codes that have no meaning (IEEE Std 802.11be-2024, table 36-30).
const fn unpunctured_tones(width: Bandwidth, code: u32) -> Option<u16> {
    Some(match (width, code) {
        (Bandwidth::Mhz80, 1..=4) => 484 + 242,
        (Bandwidth::Mhz160, 1..=8) => 996 + 484 + 242,
        (Bandwidth::Mhz160, 9..=12) => 996 + 484,
        (Bandwidth::Mhz320, 1..=8) => 2988 + 484,
        (Bandwidth::Mhz320, 9..=12) => 2988,
        (Bandwidth::Mhz320, 13..=24) => 1992 + 484,
        _ => return None,
    })
}

/// Codes of the EHT item's RU or MRU size: the tones of one unit, or of all units that one user has together.
const fn eht_ru_tones(code: u32) -> Option<u16> {
    Some(match code {
        0 => 26,
        1 => 52,
        2 => 106,
        3 => 242,
        4 => 484,
        5 => 996,
        6 => 1992,
        7 => 3984,
        8 => 52 + 26,
        9 => 106 + 26,
        10 => 484 + 242,
        11 => 996 + 484,
        12 => 996 + 484 + 242,
        13 => 1992 + 484,
        14 => 2988,
        15 => 2988 + 484,
        _ => return None,
    })
}

/// The RU Allocation subfields of both EHT-SIG content channels, which the EHT item has in the order of the 20 MHz that they are
/// of: the first in the second word of data, three in each word from the third on. `None` where their number is that of no
/// width, or they do not say all units and users.
fn eht_units(data: &[u8]) -> Option<(Bandwidth, Allocation)> {
    const SUBFIELD: u32 = 0x01ff;
    const KNOWN: u32 = 0x0200;

    let word = |at: usize| le32(data, 4 + 4 * at);
    let others = (2..=6).flat_map(|at| [0, 10, 20].map(|shift| word(at) >> shift));
    let mut subfields = [0; 16];
    let mut count = 0;
    for (place, bits) in subfields.iter_mut().zip(std::iter::once(word(1) >> 13).chain(others)) {
        if bits & KNOWN == 0 {
            break;
        }
        *place = (bits & SUBFIELD) as u16;
        count += 1;
    }
    let width = match count {
        1 => Bandwidth::Mhz20,
        2 => Bandwidth::Mhz40,
        4 => Bandwidth::Mhz80,
        8 => Bandwidth::Mhz160,
        16 => Bandwidth::Mhz320,
        _ => return None,
    };
    Some((width, Allocation::of_eht(subfields.get(..count)?)?))
}

/// GI codes of HE and EHT, in the low two bits.
const fn guard_interval(code: u32) -> Option<GuardInterval> {
    match code & 0x03 {
        0 => Some(GuardInterval::Ns800),
        1 => Some(GuardInterval::Ns1600),
        2 => Some(GuardInterval::Ns3200),
        _ => None,
    }
}

/// `None` unless the MCS is known.
fn he(data: &[u8]) -> Option<He> {
    const MCS: u16 = 0x0020;
    const DCM: u16 = 0x0040;
    const CODING: u16 = 0x0080;
    const STBC: u16 = 0x0200;
    const BANDWIDTH_OR_RU: u16 = 0x4000;
    const GUARD_INTERVAL: u16 = 0x0002;
    const TRIGGER_BASED_WIDTH_KNOWN: u16 = 0x0020;
    const HIGHEST_MCS: u8 = 11;

    let (data1, data2, data3) = (le16(data, 0), le16(data, 2), le16(data, 4));
    let (data5, data6) = (le16(data, 8), le16(data, 10));
    if data1 & MCS == 0 {
        return None;
    }
    let mcs = (data3 >> 8 & 0x0f) as u8;
    let stbc = (data1 & STBC != 0).then_some(data3 & 0x8000 != 0);
    // HE allows STBC with one spatial stream only (and drivers differ on whether this counts one stream or two).
    // 0: the receiver does not say; the frame is HE all the same, only its rate is not known.
    let nss = match (data6 & 0x0f) as u8 {
        0 => 0,
        _ if stbc == Some(true) => 1,
        nsts => nsts,
    };
    if mcs > HIGHEST_MCS || nss > 8 {
        return None;
    }
    let (bandwidth, ru_tones) = match data5 & 0x0f {
        _ if data1 & BANDWIDTH_OR_RU == 0 => (None, None),
        0 => (Some(Bandwidth::Mhz20), None),
        1 => (Some(Bandwidth::Mhz40), None),
        2 => (Some(Bandwidth::Mhz80), None),
        3 => (Some(Bandwidth::Mhz160), None),
        4 => (None, Some(26)),
        5 => (None, Some(52)),
        6 => (None, Some(106)),
        7 => (None, Some(242)),
        8 => (None, Some(484)),
        9 => (None, Some(996)),
        10 => (None, Some(1992)),
        _ => (None, None),
    };
    let format = match data1 & 0x0003 {
        0 => HeFormat::Su,
        1 => HeFormat::ErSu,
        2 => HeFormat::Mu,
        _ => HeFormat::TriggerBased,
    };
    // A trigger-based PPDU's own width stands beside the unit.
    let is_told = format == HeFormat::TriggerBased && ru_tones.is_some() && data6 & TRIGGER_BASED_WIDTH_KNOWN != 0;
    let bandwidth = bandwidth.or(is_told.then(|| he_width(data6 >> 6)));
    Some(He {
        format,
        mcs,
        nss,
        bandwidth,
        ru_tones,
        gi: if data2 & GUARD_INTERVAL != 0 { guard_interval(u32::from(data5 >> 4)) } else { None },
        ltf_ns: match data5 >> 6 & 0x03 {
            1 => Some(3200),
            2 => Some(6400),
            3 => Some(12800),
            _ => None,
        },
        dcm: data1 & DCM != 0 && data3 & 0x1000 != 0,
        stbc,
        ldpc: (data1 & CODING != 0).then_some(data3 & 0x2000 != 0),
    })
}
