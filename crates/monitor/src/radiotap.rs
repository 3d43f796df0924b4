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

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// Frame includes the FCS.
const FLAG_FCS: u8 = 0x10;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// MCS field: bandwidth, index, guard interval, format, FEC and STBC are known.
const MCS_KNOWN: u8 = 0x3f;
/// A-MPDU status: it is known which subframe is the last; this is the last.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;
/// Where the rate stands, when there is one; otherwise it is padding before the channel.
const RATE_AT: usize = 17;

/// Reception of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception {
    pub(crate) tsft_us: u64,
    pub(crate) mode: Mode,
    pub(crate) frequency_mhz: u16,
    pub(crate) signal_dbm: i8,
    /// Reference number of the A-MPDU, and whether this is its last MPDU.
    pub(crate) ampdu: Option<(u32, bool)>,
}

fn mcs_flags(ht: &Ht) -> u8 {
    let greenfield = ht.greenfield.unwrap_or(false);
    u8::from(ht.bandwidth == Bandwidth::Mhz40) | u8::from(ht.short_gi) << 2 | u8::from(greenfield) << 3
}

impl Reception {
    /// Puts the header in place of what is in `out`. Fields are aligned to their size.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        out.clear();
        let mut present = TSFT | FLAGS | CHANNEL | DBM_ANTENNA_SIGNAL;
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.tsft_us.to_le_bytes());
        let (mut flags, mut modulation) = (FLAG_FCS, CHANNEL_OFDM);
        if let Mode::Dsss { short_preamble, .. } = self.mode {
            modulation = CHANNEL_CCK;
            flags |= if short_preamble == Some(true) { FLAG_SHORT_PREAMBLE } else { 0 };
        }
        out.push(flags);
        out.push(0);
        if let Mode::Ofdm { rate_500kbps, .. } | Mode::Dsss { rate_500kbps, .. } = self.mode {
            present |= RATE;
            out[RATE_AT] = rate_500kbps;
        }
        let band = if self.frequency_mhz < 3_000 { CHANNEL_2_GHZ } else { CHANNEL_5_GHZ };
        out.extend_from_slice(&self.frequency_mhz.to_le_bytes());
        out.extend_from_slice(&(band | modulation).to_le_bytes());
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
