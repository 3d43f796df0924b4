//! How many MPDUs share a PPDU.

use crate::histogram::{Exact, Scaled};
use crate::ppdu::Ppdu;
use crate::report;

/// Largest A-MPDU counted exactly (the window of 802.11ax is 256).
const MAX_MPDUS: usize = 257;

/// Aggregation counters of one (transmitter, receiver, TID).
#[derive(Clone, Debug)]
pub struct Aggregates {
    ppdus: u64,
    /// PPDUs in a format that can carry an A-MPDU, as far as is known.
    aggregatable: u64,
    ampdus: u64,
    mpdus: u64,
    per_ppdu: Exact,
    bytes: Scaled,
    duration_ns: Scaled,
    amsdu_mpdus: u64,
    amsdu_subframes: u64,
    amsdu_encrypted: bool,
}

impl Default for Aggregates {
    fn default() -> Self {
        Self {
            ppdus: 0,
            aggregatable: 0,
            ampdus: 0,
            mpdus: 0,
            per_ppdu: Exact::new(0, MAX_MPDUS),
            bytes: Scaled::default(),
            duration_ns: Scaled::default(),
            amsdu_mpdus: 0,
            amsdu_subframes: 0,
            amsdu_encrypted: false,
        }
    }
}

impl Aggregates {
    /// Counts a PPDU with data.
    pub fn ppdu(&mut self, ppdu: &Ppdu) {
        let n = ppdu.mpdus.len();
        self.ppdus += 1;
        self.aggregatable += u64::from(ppdu.mode.may_aggregate());
        self.ampdus += u64::from(n > 1);
        self.mpdus += n as u64;
        self.per_ppdu.add(n as i32);
        self.bytes.add(u64::from(ppdu.psdu_len));
        if let Some(duration) = ppdu.air_ns() {
            self.duration_ns.add(duration as u64);
        }
        for mpdu in &ppdu.mpdus {
            if mpdu.amsdu_subframes > 0 {
                self.amsdu_mpdus += 1;
                if mpdu.amsdu_subframes == u16::MAX {
                    self.amsdu_encrypted = true;
                } else {
                    self.amsdu_subframes += u64::from(mpdu.amsdu_subframes);
                }
            }
        }
    }

    /// The report's row; `grouped` says whether MPDUs could be grouped to PPDUs at all.
    pub fn report(&self, ta: String, ra: String, tid: Option<u8>, grouped: bool) -> report::Aggregation {
        report::Aggregation {
            ta,
            ra,
            tid,
            // Where nothing can be aggregated, every MPDU is a PPDU, also in a capture where others cannot be grouped.
            ppdus: (grouped || self.aggregatable == 0).then_some(self.ppdus),
            ampdus: grouped.then_some(self.ampdus),
            mpdus: self.mpdus,
            mpdus_per_ppdu: if grouped { self.per_ppdu.spread() } else { None },
            histogram: if grouped { self.per_ppdu.bars() } else { Vec::new() },
            bytes_per_ppdu: if grouped { self.bytes.spread(1.0) } else { None },
            duration_us: if grouped { self.duration_ns.spread(1000.0) } else { None },
            amsdu_mpdus: self.amsdu_mpdus,
            amsdu_subframes: (!self.amsdu_encrypted).then_some(self.amsdu_subframes),
        }
    }

    /// MPDUs in them.
    pub fn mpdus(&self) -> u64 {
        self.mpdus
    }

    /// PPDUs seen.
    pub fn ppdus(&self) -> u64 {
        self.ppdus
    }
}
