//! What is audited, and how a row of it is made.

use wire::ieee80211::Capabilities;
use wire::phy::Band;

use super::peers::{Peers, MIN_CONTRADICTION, MIN_OCCASION};
use crate::report::{Basis, CapabilityRow, Claim};
use crate::usage::Usage;
use sentence::{grouped, sentence, Figure};

/// What an audit is about. Usage counts frames that are not known to be damaged.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// It is an access point.
    pub is_ap: bool,
    /// What it claims; `None` when no frame with claims was captured.
    pub claimed: Option<&'a Capabilities>,
    /// The claims come from a frame that shows the security elements: not from a probe request.
    pub shows_security: bool,
    /// The Privacy bit of what it announces.
    pub privacy: Option<bool>,
    /// The peers it exchanged data with.
    pub peers: &'a Peers<'a>,
    /// What it was seen using.
    pub usage: &'a Usage,
    /// Frames it sent.
    pub frames: u64,
    /// Frames it sent with the Power Management bit.
    pub pm_frames: u64,
    /// Changes of the Power Management bit from frame to frame.
    pub pm_changes: u64,
}

pub(super) const NO_CLAIM: &str = "no whole beacon, probe or association frame of it captured";
pub(super) const NO_RATES: &str = "the capture does not record how frames were modulated";

/// What was seen of a capability.
pub(super) enum Seen {
    /// Frames that used it, of how many, called what.
    Frames(u64, u64, String),
    /// Cannot be determined, because.
    Unknown(&'static str),
}

impl Subject<'_> {
    /// A claim that `test` finds in the elements.
    pub(super) fn claim(&self, test: impl FnOnce(&Capabilities) -> (bool, Option<String>)) -> (Claim, Option<String>) {
        match self.claimed {
            None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
            Some(capabilities) => {
                let (claimed, detail) = test(capabilities);
                (claimed.into(), detail)
            }
        }
    }

    /// The band most of its frames were in.
    pub(super) fn band(&self) -> Option<Band> {
        let [low, middle, high] = self.usage.bands;
        match low.max(middle).max(high) {
            0 => None,
            most if most == low => Some(Band::Ghz2_4),
            most if most == middle => Some(Band::Ghz5),
            _ => Some(Band::Ghz6),
        }
    }

    pub(super) fn band_name(&self) -> &'static str {
        self.band().map_or("band unknown", band_name)
    }

    /// HT and later frames it sent.
    pub(super) fn high_sent(&self) -> u64 {
        self.usage.ht + self.usage.vht + self.usage.he + self.usage.eht
    }

    /// HT and later frames from and to it.
    pub(super) fn high(&self) -> u64 {
        self.high_sent() + self.usage.received_high
    }

    /// Frames with a recorded modulation: it sent them, or they are HT or later and sent to it.
    pub(super) fn rated(&self) -> u64 {
        self.usage.dsss + self.usage.ofdm + self.high()
    }

    /// Use of a feature that every radio header reports.
    pub(super) fn seen(&self, used: u64, of: u64, what: &str) -> Seen {
        match self.rated() {
            0 => Seen::Unknown(NO_RATES),
            _ => Seen::Frames(used, of, what.to_owned()),
        }
    }

    /// Use of a feature that some radio headers report: `known` of `frames` frames could have shown it.
    pub(super) fn reported(&self, used: u64, known: u64, frames: u64, silent: &'static str, what: &str) -> Seen {
        match (known, frames) {
            (0, 1..) => Seen::Unknown(silent),
            _ if known < frames => self.seen(used, known, &format!("{what} for which this is known")),
            _ => self.seen(used, known, what),
        }
    }
}

pub(super) const fn band_name(band: Band) -> &'static str {
    match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
        Band::Ghz6 => "6 GHz",
        Band::Ghz60 => "60 GHz",
    }
}

/// A row. `occasion`: frames in which the claim could have been used, because the peer claims it, too; `None` when its
/// absence says nothing.
pub(super) fn row(
    basis: Basis,
    capability: impl Into<String>,
    (claimed, claimed_detail): (Claim, Option<String>),
    seen: Seen,
    occasion: Option<u64>,
) -> CapabilityRow {
    let (seen, seen_detail, note) = match seen {
        Seen::Unknown(reason) => (None, Some(reason.to_owned()), None),
        Seen::Frames(_, 0, what) => (None, Some(format!("no {what}")), None),
        Seen::Frames(used, of, what) => {
            let note = match (claimed, used, occasion.map(|occasion| occasion.min(of))) {
                (Claim::Yes, 0, Some(occasion @ MIN_OCCASION..)) => Some(sentence!(
                    "claimed, never used in {of} {what}, with an occasion in {occasion}",
                    of = Figure::total(of),
                    occasion = Figure::count(occasion, of);
                    what = what
                )),
                (Claim::No, MIN_CONTRADICTION.., _) => Some(sentence!(
                    "not claimed, but used in {used} of {of} {what}",
                    used = Figure::count(used, of),
                    of = Figure::total(of);
                    what = what
                )),
                _ => None,
            };
            (Some(used), Some(format!("{} of {} {what}", grouped(used), grouped(of))), note)
        }
    };
    CapabilityRow { capability: capability.into(), claimed, claimed_detail, seen, seen_detail, note, basis }
}
