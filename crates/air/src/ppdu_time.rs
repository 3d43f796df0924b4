//! What the time of one PPDU went into.

use wire::phy::Band;

use crate::exchange::Role;
use crate::frame::Fcs;
use crate::link::{Hidden, SpentNs};
use crate::ppdu::Ppdu;
use crate::station::{AirtimeKind, PpduAirtimeNs};

/// Data MPDUs that carry the retry bit and of which no earlier copy was captured: it collided, was damaged, or was missed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen {
    /// Such MPDUs.
    pub mpdus: u64,
    /// All data MPDUs of PPDUs with a known duration.
    pub of_mpdus: u64,
    /// PPDUs that they came in.
    pub ppdus: u64,
    /// How long `mpdus` took when they came again, without preambles, ns.
    pub ns: i64,
    /// The part of `ns` that fits into damaged frames which came while the attempts were due, ns. Senders that collide may all
    /// have been hidden by the same damaged frame.
    pub hidden_ns: i64,
}

impl Unseen {
    /// `hidden`: of the PPDU's link. `damaged_ns`: time of damaged frames so far.
    #[inline]
    pub fn add(&mut self, ppdu: &Ppdu, duration: i64, hidden: &mut Hidden, damaged_ns: i64) {
        hidden.left_ns += damaged_ns - std::mem::replace(&mut hidden.damaged_ns, damaged_ns);
        let (mut mpdus, mut has_others) = (0, false);
        for (index, mpdu) in ppdu.mpdus.iter().enumerate() {
            if !mpdu.fc.retry() || mpdu.repeats {
                has_others = true;
                continue;
            }
            mpdus += 1;
            let psdu_ns = (duration - ppdu.preamble_ns).max(0) as f64;
            let ns = (psdu_ns * f64::from(ppdu.psdu_share(index)) / f64::from(ppdu.psdu_len.max(1))) as i64;
            let hidden_ns = ns.min(hidden.left_ns);
            hidden.left_ns -= hidden_ns;
            self.ns += ns;
            self.hidden_ns += hidden_ns;
        }
        self.of_mpdus += ppdu.mpdus.len() as u64;
        self.mpdus += mpdus;
        self.ppdus += u64::from(mpdus > 0);
        // MPDUs are sent in their order: what was hidden before others has come again by now.
        if has_others {
            hidden.left_ns = 0;
        }
    }
}

/// The longest that a PPDU of unknown duration can have taken: the lowest rate of its band, and for formats with a limit of
/// their own no more than that (aPPDUMaxTime, 5.484 ms).
pub fn longest_ns(ppdu: &Ppdu) -> i64 {
    const LONGEST_NS: i64 = 5_484_000;
    if ppdu.mode.can_aggregate() {
        return LONGEST_NS;
    }
    let bits = i64::from(ppdu.psdu_len) * 8;
    match ppdu.band() {
        // DSSS at 1 Mb/s with its long preamble (15.2.2).
        Some(Band::Ghz2_4) | None => 192_000 + bits * 1_000,
        // OFDM at 6 Mb/s (17.3).
        Some(_) => 26_000 + bits * 1_000 / 6,
    }
}

/// Airtime of a PPDU by kind.
pub fn split_kinds(ppdu: &Ppdu, role: Role, duration: i64) -> PpduAirtimeNs {
    let whole = |kind| PpduAirtimeNs { kind, first: duration, retry: 0 };
    match role {
        Role::Data => {
            let retry_bytes: u64 = ppdu
                .mpdus
                .iter()
                .enumerate()
                .filter(|(_, m)| m.fc.retry())
                .map(|(index, _)| u64::from(ppdu.psdu_share(index)))
                .sum();
            let all: u64 = (0..ppdu.mpdus.len()).map(|index| u64::from(ppdu.psdu_share(index))).sum();
            let retry = if all > 0 { (duration as f64 * retry_bytes as f64 / all as f64) as i64 } else { 0 };
            PpduAirtimeNs { kind: AirtimeKind::Data, first: duration - retry, retry }
        }
        Role::Beacon => whole(AirtimeKind::Beacon),
        Role::Management => whole(AirtimeKind::Management),
        Role::Damaged => whole(AirtimeKind::Unknown),
        _ => whole(AirtimeKind::Control),
    }
}

/// Payload bytes of a PPDU's MPDUs that were not captured before.
pub fn payload_bytes(ppdu: &Ppdu) -> u64 {
    let firsts = ppdu.mpdus.iter().filter(|mpdu| !mpdu.repeats && mpdu.fcs != Fcs::Bad);
    firsts.map(|mpdu| u64::from(mpdu.payload_len)).sum()
}

/// Splits the duration of a data PPDU into preamble, payload, headers and repeated MPDUs, and its damaged MPDUs, which are nobody's
/// payload: to the nanosecond.
pub fn split_data(ppdu: &Ppdu, duration: i64) -> (SpentNs, i64) {
    let psdu_ns = (duration - ppdu.preamble_ns).max(0) as f64;
    let psdu_len = f64::from(ppdu.psdu_len.max(1));
    let (mut payload, mut retries, mut damaged, mut firsts) = (0.0, 0.0, 0.0, 0usize);
    for (index, mpdu) in ppdu.mpdus.iter().enumerate() {
        let share = || psdu_ns * f64::from(ppdu.psdu_share(index)) / psdu_len;
        if mpdu.fcs == Fcs::Bad {
            damaged += share();
        } else if mpdu.repeats {
            retries += share();
        } else {
            firsts += 1;
            payload += psdu_ns * f64::from(mpdu.payload_len) / psdu_len;
        }
    }
    let damaged = (damaged as i64).clamp(0, duration);
    let duration = duration - damaged;
    let mut spent = SpentNs::default();
    if firsts == 0 {
        spent.retries = duration;
        return (spent, damaged);
    }
    spent.payload = (payload as i64).clamp(0, duration);
    spent.retries = (retries as i64).clamp(0, duration - spent.payload);
    spent.preamble = ppdu.preamble_ns.clamp(0, duration - spent.payload - spent.retries);
    spent.headers = duration - spent.payload - spent.retries - spent.preamble;
    (spent, damaged)
}
