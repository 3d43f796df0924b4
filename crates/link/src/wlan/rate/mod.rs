//! Which rate a PPDU is sent with.

mod chain;
mod minstrel;

pub(crate) use chain::Chain;
pub(crate) use minstrel::Minstrel;

use crate::wlan::phy::RateId;
use random::Rng;

/// The rate control of one direction.
#[derive(Clone, Debug)]
pub(crate) enum RateControl {
    /// Always the same.
    Fixed(RateId),
    /// See [`Minstrel`].
    Minstrel(Box<Minstrel>),
}

impl RateControl {
    /// The rates for a PPDU that is made now. `may_probe`: it may try out a rate.
    pub(crate) fn chain(&mut self, now_ns: u64, may_probe: bool, rng: &mut Rng) -> Chain {
        match self {
            Self::Fixed(rate) => Chain::one(*rate),
            Self::Minstrel(minstrel) => minstrel.chain(now_ns, may_probe, rng),
        }
    }

    /// The outcome of an attempt: MPDUs sent, and of these acknowledged.
    pub(crate) fn report(&mut self, rate: RateId, mpdus: u32, acknowledged: u32) {
        if let Self::Minstrel(minstrel) = self {
            minstrel.report(rate, mpdus, acknowledged);
        }
    }

    /// MPDUs count as lost at a rate, in a PPDU of another.
    pub(crate) fn lost(&mut self, rate: RateId, mpdus: u32) {
        if let Self::Minstrel(minstrel) = self {
            minstrel.lost(rate, mpdus);
        }
    }
}
