//! The sniffer's per-frame headers: radiotap, Prism, PPI.

use wire::phy::{Bandwidth, GuardInterval, He, Ht, Mode, Vht};

use crate::scene::Link;

/// What the sniffer records about a frame; `None` where it does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception {
    pub(crate) tsft_us: Option<u64>,
    pub(crate) fcs_included: bool,
    pub(crate) flagged_bad: bool,
    pub(crate) mode: Option<Mode>,
    pub(crate) frequency_mhz: u16,
    pub(crate) signal_dbm: i8,
    pub(crate) noise_dbm: i8,
    /// Reference number and whether it is the last MPDU.
    pub(crate) ampdu: Option<(u32, bool)>,
    /// MPDU bytes that follow (FCS included where present), before the snap length.
    pub(crate) mpdu_len: usize,
}

impl Link {
    /// LINKTYPE number.
    pub const fn number(self) -> u32 {
        match self {
            Self::Radiotap => 127,
            Self::Bare => 105,
            Self::Prism => 119,
            Self::Ppi => 192,
        }
    }

    /// Appends the header.
    pub(crate) fn emit(self, reception: &Reception, out: &mut Vec<u8>) {
        match self {
            Self::Radiotap => radiotap(reception, out),
            Self::Bare => {}
            Self::Prism => prism(reception, out),
            Self::Ppi => ppi(reception, out),
        }
    }
}

const fn legacy_rate(mode: Option<Mode>) -> Option<u8> {
    match mode {
        Some(Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. }) => Some(rate_500kbps),
        _ => None,
    }
}

const fn short_preamble(mode: Option<Mode>) -> bool {
    matches!(mode, Some(Mode::Dsss { short_preamble: Some(true), .. }))
}

/// Channel flags: band, and CCK, OFDM or (2.4 GHz, mode not given) dynamic.
const fn channel_flags(frequency_mhz: u16, mode: Option<Mode>) -> u16 {
    let band = if frequency_mhz < 3000 { 0x0080 } else { 0x0100 };
    band | match mode {
        Some(Mode::Dsss { .. }) => 0x0020,
        None if frequency_mhz < 3000 => 0x0400,
        _ => 0x0040,
    }
}

fn bandwidth_code(bandwidth: Bandwidth, codes: [u8; 4]) -> u8 {
    match bandwidth {
        Bandwidth::Mhz40 => codes[1],
        Bandwidth::Mhz80 => codes[2],
        Bandwidth::Mhz160 => codes[3],
        _ => codes[0],
    }
}

fn radiotap(r: &Reception, out: &mut Vec<u8>) {
    let start = out.len();
    let mut present = 1u32 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 11;
    out.extend_from_slice(&[0; 8]);
    let align = |out: &mut Vec<u8>, to: usize| {
        while (out.len() - start) % to != 0 {
            out.push(0);
        }
    };
    if let Some(tsft) = r.tsft_us {
        present |= 1;
        out.extend_from_slice(&tsft.to_le_bytes());
    }
    out.push(u8::from(short_preamble(r.mode)) << 1 | u8::from(r.fcs_included) << 4 | u8::from(r.flagged_bad) << 6);
    if let Some(rate) = legacy_rate(r.mode) {
        present |= 1 << 2;
        out.push(rate);
    }
    align(out, 2);
    out.extend_from_slice(&r.frequency_mhz.to_le_bytes());
    out.extend_from_slice(&channel_flags(r.frequency_mhz, r.mode).to_le_bytes());
    out.extend_from_slice(&[r.signal_dbm as u8, r.noise_dbm as u8, 0]);
    if let Some(Mode::Ht(ht)) = r.mode {
        present |= 1 << 19;
        out.extend_from_slice(&radiotap_mcs(&ht));
    }
    if let Some((reference, last)) = r.ampdu {
        present |= 1 << 20;
        align(out, 4);
        out.extend_from_slice(&reference.to_le_bytes());
        out.extend_from_slice(&(0x0004u16 | u16::from(last) << 3).to_le_bytes());
        out.extend_from_slice(&[0, 0]);
    }
    match r.mode {
        Some(Mode::Vht(vht)) => {
            present |= 1 << 21;
            align(out, 2);
            out.extend_from_slice(&radiotap_vht(&vht));
        }
        Some(Mode::He(he)) => {
            present |= 1 << 23;
            align(out, 2);
            out.extend_from_slice(&radiotap_he(&he));
        }
        _ => {}
    }
    let len = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&present.to_le_bytes());
}

fn radiotap_mcs(ht: &Ht) -> [u8; 3] {
    // NESS is known too; its two bits are bit 7 of `flags` (low) and of `known` (high).
    let mut known = 0x03 | u8::from(ht.short_gi.is_some()) << 2 | 0x40 | (ht.ness & 2) << 6;
    let mut flags =
        u8::from(ht.bandwidth == Bandwidth::Mhz40) | u8::from(ht.short_gi == Some(true)) << 2 | (ht.ness & 1) << 7;
    if let Some(greenfield) = ht.greenfield {
        known |= 0x08;
        flags |= u8::from(greenfield) << 3;
    }
    if let Some(ldpc) = ht.ldpc {
        known |= 0x10;
        flags |= u8::from(ldpc) << 4;
    }
    if let Some(stbc) = ht.stbc {
        known |= 0x20;
        flags |= (stbc & 3) << 5;
    }
    [known, flags, ht.mcs]
}

fn radiotap_vht(vht: &Vht) -> [u8; 12] {
    let mut out = [0; 12];
    let known = 0x0001
        | u32::from(vht.short_gi.is_some()) << 2
        | 0x0040
        | if vht.ldpc_extra_symbol.is_some() { 0x0010 } else { 0 };
    out[0..2].copy_from_slice(&(known as u16).to_le_bytes());
    out[2] = u8::from(vht.stbc == Some(true))
        | u8::from(vht.short_gi == Some(true)) << 2
        | u8::from(vht.ldpc_extra_symbol == Some(true)) << 4;
    out[3] = bandwidth_code(vht.bandwidth, [0, 1, 4, 11]);
    out[4] = vht.mcs << 4 | vht.nss & 0x0f;
    out[8] = u8::from(vht.ldpc == Some(true));
    out
}

/// HE SU: data1 to data6.
fn radiotap_he(he: &He) -> [u8; 12] {
    let data1: u16 = 0x0020 | 0x0040 | 0x0080 | 0x0200 | 0x4000;
    let data2 = u16::from(he.gi.is_some()) << 1;
    let data3 = u16::from(he.mcs & 15) << 8
        | u16::from(he.dcm) << 12
        | u16::from(he.ldpc == Some(true)) << 13
        | u16::from(he.stbc == Some(true)) << 15;
    let gi = match he.gi {
        Some(GuardInterval::Ns3200) => 2,
        Some(GuardInterval::Ns1600) => 1,
        _ => 0,
    };
    let ltf = match he.ltf_ns {
        Some(3200) => 1,
        Some(6400) => 2,
        Some(12800) => 3,
        _ => 0u16,
    };
    let bandwidth = u16::from(bandwidth_code(he.bandwidth.unwrap_or(Bandwidth::Mhz20), [0, 1, 2, 3]));
    let data5 = bandwidth | gi << 4 | ltf << 6;
    let mut out = [0; 12];
    for (index, word) in [data1, data2, data3, 0, data5, u16::from(he.nss & 15)].into_iter().enumerate() {
        out[index * 2..index * 2 + 2].copy_from_slice(&word.to_le_bytes());
    }
    out
}

/// The Prism header of the wlan-ng drivers: 144 bytes, ten items.
fn prism(r: &Reception, out: &mut Vec<u8>) {
    out.extend_from_slice(&0x44u32.to_le_bytes());
    out.extend_from_slice(&144u32.to_le_bytes());
    out.extend_from_slice(b"wlan0\0\0\0\0\0\0\0\0\0\0\0");
    let channel = u32::from(wire::phy::Band::channel_number(r.frequency_mhz).unwrap_or(0));
    let items: [Option<u32>; 10] = [
        None,
        r.tsft_us.map(|us| us as u32),
        Some(channel),
        None,
        None,
        Some(i32::from(r.signal_dbm) as u32),
        Some(i32::from(r.noise_dbm) as u32),
        legacy_rate(r.mode).map(u32::from),
        Some(0),
        Some(r.mpdu_len as u32),
    ];
    for (index, item) in items.into_iter().enumerate() {
        out.extend_from_slice(&((index as u32 + 1) << 16 | 0x44).to_le_bytes());
        // Status 0: the value is there.
        out.extend_from_slice(&u16::from(item.is_none()).to_le_bytes());
        out.extend_from_slice(&4u16.to_le_bytes());
        out.extend_from_slice(&item.unwrap_or(0).to_le_bytes());
    }
}

/// PPI with the 802.11-Common field, and for HT the 802.11n MAC+PHY extensions.
fn ppi(r: &Reception, out: &mut Vec<u8>) {
    let ht = match r.mode {
        Some(Mode::Ht(ht)) => Some(ht),
        _ => None,
    };
    let len: u16 = 8 + 24 + if ht.is_some() { 4 + 48 } else { 0 };
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&105u32.to_le_bytes());
    out.extend_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(&20u16.to_le_bytes());
    out.extend_from_slice(&r.tsft_us.unwrap_or(0).to_le_bytes());
    out.extend_from_slice(&(u16::from(r.fcs_included) | u16::from(r.flagged_bad) << 2).to_le_bytes());
    out.extend_from_slice(&u16::from(legacy_rate(r.mode).unwrap_or(0)).to_le_bytes());
    out.extend_from_slice(&r.frequency_mhz.to_le_bytes());
    out.extend_from_slice(&channel_flags(r.frequency_mhz, r.mode).to_le_bytes());
    out.extend_from_slice(&[0, 0, r.signal_dbm as u8, r.noise_dbm as u8]);
    if let Some(ht) = ht {
        let (reference, last) = r.ampdu.unwrap_or((0, true));
        let flags = u32::from(ht.bandwidth == Bandwidth::Mhz40) << 1
            | u32::from(ht.short_gi == Some(true)) << 2
            | u32::from(r.ampdu.is_some()) << 4
            | u32::from(r.ampdu.is_some() && !last) << 5;
        let start = out.len();
        out.extend_from_slice(&4u16.to_le_bytes());
        out.extend_from_slice(&48u16.to_le_bytes());
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&reference.to_le_bytes());
        out.extend_from_slice(&[0, ht.mcs, 1, 255]);
        // RSSI per antenna: 255 means not known.
        out.extend_from_slice(&[255; 8]);
        out.extend_from_slice(&r.frequency_mhz.to_le_bytes());
        out.extend_from_slice(&channel_flags(r.frequency_mhz, r.mode).to_le_bytes());
        out.extend_from_slice(&[r.signal_dbm as u8, r.noise_dbm as u8, 0, 0, 0, 0, 0, 0]);
        out.resize(start + 4 + 48, 0);
    }
}
