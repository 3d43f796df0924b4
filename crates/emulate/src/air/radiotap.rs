//! Radiotap headers (radiotap.org), as a Linux driver in monitor mode writes them.

use wire::phy::{Bandwidth, Ht, Mode};

/// Present bits.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const DBM_ANTENNA_SIGNAL: u32 = 1 << 5;
const MCS: u32 = 1 << 19;
const AMPDU_STATUS: u32 = 1 << 20;

/// Frame includes the FCS.
const FLAG_FCS: u8 = 0x10;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// MCS field: bandwidth, index, guard interval, format, FEC and STBC are known.
const MCS_KNOWN: u8 = 0x3f;
/// A-MPDU status: it is known which subframe is the last; this is the last.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// Reception of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) tsft_us: u64,
    pub(super) mode: Mode,
    pub(super) frequency_mhz: u16,
    pub(super) signal_dbm: i8,
    /// Reference number of the A-MPDU, and whether this is its last MPDU.
    pub(super) ampdu: Option<(u32, bool)>,
}

fn mcs_flags(ht: &Ht) -> u8 {
    u8::from(ht.bandwidth == Bandwidth::Mhz40) | u8::from(ht.short_gi) << 2
}

impl Reception {
    /// Appends the header. Fields are aligned to their size, counted from its start, which must be that of `out`.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let mut present = TSFT | FLAGS | CHANNEL | DBM_ANTENNA_SIGNAL;
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.tsft_us.to_le_bytes());
        out.push(FLAG_FCS);
        // Rate, or padding before the channel.
        out.push(0);
        if let Mode::Ofdm { rate_500kbps, .. } = self.mode {
            present |= RATE;
            out[17] = rate_500kbps;
        }
        let band = if self.frequency_mhz < 3_000 { CHANNEL_2_GHZ } else { CHANNEL_5_GHZ };
        out.extend_from_slice(&self.frequency_mhz.to_le_bytes());
        out.extend_from_slice(&(band | CHANNEL_OFDM).to_le_bytes());
        out.push(self.signal_dbm as u8);
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
        let len = out.len() as u16;
        out[2..4].copy_from_slice(&len.to_le_bytes());
        out[4..8].copy_from_slice(&present.to_le_bytes());
    }
}
