//! From a PPDU to its frames on the air.

use medium::{Plan, Rates, Timeline};
use wire::phy::{ampdu_psdu_len, Mode};

use super::Ppdu;

/// Bytes of a frame check sequence.
pub const FCS_LEN: usize = 4;

/// Bytes of the PSDU that the first `count` MPDUs make. That of a VHT or HE PPDU is always an A-MPDU (IEEE 802.11-2020,
/// 10.12.8; IEEE 802.11ax-2021, 26.6.1).
pub fn psdu_len(ppdu: &Ppdu, count: usize) -> usize {
    let lens = ppdu.mpdus.iter().take(count).map(|mpdu| mpdu.len() + FCS_LEN);
    if ppdu.aggregated || matches!(ppdu.mode, Mode::Vht(_) | Mode::He(_)) {
        ampdu_psdu_len(lens)
    } else {
        lens.sum()
    }
}

/// Time on the air. A mode that [`wire::phy`] cannot price does not come out of a chip; it would last a second.
pub fn duration_ns(mode: &Mode, len: usize) -> u64 {
    mode.duration(len, None).map_or(1_000_000_000, |duration| duration.ns)
}

/// Places the frames of an exchange; `None` for a mode without a known duration.
pub fn timeline(rates: &mut Rates, ppdu: &Ppdu) -> Option<Timeline> {
    let psdu_len = psdu_len(ppdu, ppdu.mpdus.len());
    let plan = Plan { protection: ppdu.protection, mode: ppdu.mode, psdu_len, response: ppdu.response };
    Timeline::new(rates, &plan)
}
