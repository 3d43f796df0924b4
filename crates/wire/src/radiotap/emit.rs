//! The header that a Linux driver in monitor mode would write.

use crate::phy::{Bandwidth, GuardInterval, He, HeFormat, Ht, Mode, Vht};

/// Present bits.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const DBM_ANTENNA_SIGNAL: u32 = 1 << 5;
const DBM_ANTENNA_NOISE: u32 = 1 << 6;
const MCS: u32 = 1 << 19;
const AMPDU_STATUS: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const HE: u32 = 1 << 23;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// Frame includes the FCS.
const FLAG_FCS: u8 = 0x10;
/// The FCS is wrong.
const FLAG_BAD_FCS: u8 = 0x40;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// MCS field: bandwidth, index, guard interval, format, FEC and STBC are known.
const MCS_KNOWN: u8 = 0x3f;
/// VHT field: STBC, guard interval, extra symbol of LDPC and bandwidth are known.
const VHT_KNOWN: u16 = 0x0055;
const VHT_LEN: usize = 12;
/// HE field: MCS, DCM and coding are known; STBC; bandwidth; guard interval.
const HE_KNOWN: u16 = 0x00e0;
const HE_STBC_KNOWN: u16 = 0x0200;
const HE_BANDWIDTH_KNOWN: u16 = 0x4000;
const HE_GUARD_INTERVAL_KNOWN: u16 = 0x0002;
/// A-MPDU status: it is known which subframe is the last; this is the last.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// Reception of a frame of DSSS, OFDM, HT, VHT or HE (to one station, in the whole channel) that is followed by its FCS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// The receiver's clock at the first bit of the MPDU, µs.
    pub tsft_us: u64,
    /// How it was modulated.
    pub mode: Mode,
    /// Centre of the primary channel.
    pub frequency_mhz: u16,
    /// Signal strength.
    pub signal_dbm: i8,
    /// Noise, where it is known.
    pub noise_dbm: Option<i8>,
    /// The FCS is wrong.
    pub bad_fcs: bool,
    /// Reference number of the A-MPDU, and whether this is its last MPDU.
    pub ampdu: Option<(u32, bool)>,
}

fn mcs_flags(ht: &Ht) -> u8 {
    u8::from(ht.bandwidth == Bandwidth::Mhz40)
        | u8::from(ht.short_gi == Some(true)) << 2
        | u8::from(ht.greenfield == Some(true)) << 3
        | u8::from(ht.ldpc == Some(true)) << 4
        | (ht.stbc.unwrap_or(0) & 3) << 5
}

/// Known u16, flags u8, bandwidth u8, MCS and streams of four users, coding u8, group id u8, partial AID u16. Whether the
/// latter two are right is not said.
fn vht_field(vht: &Vht) -> [u8; VHT_LEN] {
    let [known_low, known_high] = VHT_KNOWN.to_le_bytes();
    let flags = u8::from(vht.stbc == Some(true))
        | u8::from(vht.short_gi == Some(true)) << 2
        | u8::from(vht.ldpc_extra_symbol == Some(true)) << 4;
    let bandwidth = match vht.bandwidth {
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 4,
        Bandwidth::Mhz160 => 11,
        _ => 0,
    };
    let user = vht.mcs << 4 | vht.nss & 0x0f;
    [known_low, known_high, flags, bandwidth, user, 0, 0, 0, u8::from(vht.ldpc == Some(true)), 0, 0, 0]
}

/// Six words of 16 bits (radiotap.org, HE).
fn he_field(he: &He) -> [u16; 6] {
    let format = u16::from(he.format == HeFormat::ErSu);
    let bandwidth = match he.bandwidth {
        Some(Bandwidth::Mhz40) => 1,
        Some(Bandwidth::Mhz80) => 2,
        Some(Bandwidth::Mhz160) => 3,
        _ => 0,
    };
    let guard = match he.gi {
        Some(GuardInterval::Ns3200) => 2,
        Some(GuardInterval::Ns1600) => 1,
        _ => 0,
    };
    let ltf = match he.ltf_ns {
        Some(3_200) => 1,
        Some(6_400) => 2,
        Some(12_800) => 3,
        _ => 0,
    };
    let known = |is_known: bool, bit: u16| if is_known { bit } else { 0 };
    [
        format | HE_KNOWN | known(he.stbc.is_some(), HE_STBC_KNOWN) | known(he.bandwidth.is_some(), HE_BANDWIDTH_KNOWN),
        known(he.gi.is_some(), HE_GUARD_INTERVAL_KNOWN),
        u16::from(he.mcs & 0x0f) << 8
            | u16::from(he.dcm) << 12
            | u16::from(he.ldpc == Some(true)) << 13
            | u16::from(he.stbc == Some(true)) << 15,
        0,
        bandwidth | guard << 4 | ltf << 6,
        u16::from(he.nss & 0x0f) << u16::from(he.stbc == Some(true)),
    ]
}

impl Reception {
    /// Puts the header in place of what is in `out`. Fields are aligned to their size.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.clear();
        let mut present = TSFT | FLAGS | CHANNEL | DBM_ANTENNA_SIGNAL;
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.tsft_us.to_le_bytes());
        let (mut flags, mut modulation) = (FLAG_FCS, CHANNEL_OFDM);
        if let Mode::Dsss { short_preamble, .. } = self.mode {
            modulation = CHANNEL_CCK;
            flags |= if short_preamble == Some(true) { FLAG_SHORT_PREAMBLE } else { 0 };
        }
        flags |= if self.bad_fcs { FLAG_BAD_FCS } else { 0 };
        out.push(flags);
        // The rate, or padding before the channel.
        if let Mode::Ofdm { rate_500kbps, .. } | Mode::Dsss { rate_500kbps, .. } = self.mode {
            present |= RATE;
            out.push(rate_500kbps);
        } else {
            out.push(0);
        }
        let band = if self.frequency_mhz < 3_000 { CHANNEL_2_GHZ } else { CHANNEL_5_GHZ };
        out.extend_from_slice(&self.frequency_mhz.to_le_bytes());
        out.extend_from_slice(&(band | modulation).to_le_bytes());
        out.push(self.signal_dbm as u8);
        if let Some(noise_dbm) = self.noise_dbm {
            present |= DBM_ANTENNA_NOISE;
            out.push(noise_dbm as u8);
        }
        if let Mode::Ht(ht) = &self.mode {
            present |= MCS;
            out.extend_from_slice(&[MCS_KNOWN, mcs_flags(ht), ht.mcs]);
        }
        if let Some((reference, last)) = self.ampdu {
            present |= AMPDU_STATUS;
            out.resize(out.len().next_multiple_of(4), 0);
            out.extend_from_slice(&reference.to_le_bytes());
            out.extend_from_slice(&(LAST_KNOWN | if last { IS_LAST } else { 0 }).to_le_bytes());
            out.extend_from_slice(&[0, 0]);
        }
        if let Mode::Vht(vht) = &self.mode {
            present |= VHT;
            out.resize(out.len().next_multiple_of(2), 0);
            out.extend_from_slice(&vht_field(vht));
        }
        if let Mode::He(he) = &self.mode {
            present |= HE;
            out.resize(out.len().next_multiple_of(2), 0);
            out.extend(he_field(he).into_iter().flat_map(u16::to_le_bytes));
        }
        let len = out.len() as u16;
        if let Some([_, _, len_low, len_high, flags @ ..]) = out.first_chunk_mut::<8>() {
            [*len_low, *len_high] = len.to_le_bytes();
            *flags = present.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_mode() -> impl Strategy<Value = Mode> {
        let dsss = (prop::sample::select(vec![2u8, 4, 11, 22]), any::<bool>())
            .prop_map(|(rate_500kbps, short)| Mode::Dsss { rate_500kbps, short_preamble: Some(short) });
        let ofdm = prop::sample::select(vec![12u8, 18, 24, 36, 48, 72, 96, 108])
            .prop_map(|rate_500kbps| Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 });
        let ht = (0u8..32, any::<[bool; 4]>(), 0u8..4).prop_map(|(mcs, [wide, short_gi, greenfield, ldpc], stbc)| {
            Mode::Ht(Ht {
                mcs,
                bandwidth: if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
                short_gi: Some(short_gi),
                greenfield: Some(greenfield),
                ldpc: Some(ldpc),
                stbc: Some(stbc),
                ness: 0,
            })
        });
        let widths = vec![Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160];
        let vht = (0u8..12, 1u8..9, prop::sample::select(widths), any::<[bool; 4]>()).prop_map(
            |(mcs, nss, bandwidth, [short_gi, stbc, ldpc, extra])| {
                let [short_gi, stbc, ldpc, ldpc_extra_symbol] = [short_gi, stbc, ldpc, extra].map(Some);
                Mode::Vht(Vht { mcs, nss, bandwidth, short_gi, stbc, ldpc, ldpc_extra_symbol })
            },
        );
        let widths = vec![Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160];
        let guards =
            vec![(GuardInterval::Ns800, 6_400u16), (GuardInterval::Ns1600, 6_400), (GuardInterval::Ns3200, 12_800)];
        let he = (0u8..12, 1u8..9, prop::sample::select(widths), prop::sample::select(guards), any::<[bool; 2]>())
            .prop_map(|(mcs, nss, bandwidth, (gi, ltf_ns), [dcm, ldpc])| {
                Mode::He(He {
                    format: HeFormat::Su,
                    mcs,
                    nss,
                    bandwidth: Some(bandwidth),
                    ru_tones: None,
                    gi: Some(gi),
                    ltf_ns: Some(ltf_ns),
                    dcm,
                    stbc: Some(false),
                    ldpc: Some(ldpc),
                })
            });
        prop_oneof![dsss, ofdm, ht, vht, he]
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_again(
            mode in any_mode(),
            (tsft_us, signal_dbm, noise_dbm, bad_fcs) in any::<(u64, i8, Option<i8>, bool)>(),
            ampdu in any::<Option<(u32, bool)>>(),
            frequency_mhz in prop::sample::select(vec![2_412u16, 2_484, 5_180]),
        ) {
            let reception = Reception { tsft_us, mode, frequency_mhz, signal_dbm, noise_dbm, bad_fcs, ampdu };
            let mut bytes = vec![7; 3];
            reception.emit(&mut bytes);
            let info = super::super::decode(&bytes).unwrap();
            prop_assert_eq!(info.header_len, bytes.len());
            prop_assert_eq!(info.mode, mode);
            prop_assert_eq!((info.tsft_us, info.frequency_mhz), (Some(tsft_us), Some(frequency_mhz)));
            prop_assert_eq!((info.signal_dbm, info.noise_dbm), (Some(signal_dbm), noise_dbm));
            prop_assert_eq!((info.fcs_included, info.bad_fcs), (Some(true), Some(bad_fcs)));
            prop_assert_eq!(info.ampdu.map(|it| (it.reference, it.is_last)), ampdu.map(|it| (it.0, Some(it.1))));
        }
    }
}
