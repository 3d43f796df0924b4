//! The air: two stations on one channel, a chip and an access point, and what every bit costs.
//!
//! [`Medium`] decides who sends when (EDCA with binary exponential backoff), prices each exchange with [`wire::phy`]
//! ([`exchange`]), and decides what is lost ([`channel`]). The stations keep their queues to themselves.

pub mod channel;
pub mod exchange;
pub mod medium;
pub mod recorder;

use wire::phy::{EdcaParameters, Mode};

pub use channel::{ChannelSettings, Tuned};
pub use medium::{AirCounters, Medium};
pub use recorder::AirRecorder;

/// What goes before a PPDU to protect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    None,
    /// RTS, answered by CTS.
    Rts(Mode),
    /// CTS to oneself.
    CtsToSelf(Mode),
}

/// What must answer a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Nothing: group addresses, No Ack policy, responses themselves.
    None,
    /// An acknowledgement of the one MPDU.
    Ack,
    /// A Block Ack.
    BlockAck,
}

/// A PPDU on its way.
#[derive(Clone, Debug)]
pub struct Ppdu {
    /// How it is modulated.
    pub mode: Mode,
    /// Its MPDUs, without frame check sequence; one, unless it is an A-MPDU.
    pub mpdus: Vec<Vec<u8>>,
    /// It is an A-MPDU (which can be of one MPDU).
    pub aggregated: bool,
    /// What goes before it.
    pub protection: Protection,
    /// What must answer it.
    pub response: Response,
}

/// How a frame was received.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// How it was modulated.
    pub mode: Mode,
    /// Part of an A-MPDU, and whether the first of it.
    pub ampdu: Option<bool>,
    /// Where the sender is tuned to.
    pub tuned: Tuned,
    /// How strong it is.
    pub signal_dbm: i8,
}

/// What became of a PPDU.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// For each MPDU, whether the sender knows that it arrived; `true` where no answer is asked for.
    pub acknowledged: Vec<bool>,
}

/// One of the two stations.
pub trait Station {
    /// Where its radio is; `None`: it is off.
    fn tuned(&self) -> Option<Tuned>;

    /// Since when it has something to send; `None`: nothing.
    fn ready_since(&self) -> Option<u64>;

    /// The contention parameters of what it would send next.
    fn access(&self) -> EdcaParameters;

    /// It may send: takes the next PPDU out of its queues.
    fn begin(&mut self, now_ns: u64) -> Option<Ppdu>;

    /// What became of the PPDU that was begun last.
    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome);

    /// A frame reaches its antenna undamaged. Gives whether it answers for it (acknowledges it).
    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool;

    /// Rates that the network's responses use, where known (basic rates in 500 kbit/s).
    fn basic_rates(&self) -> Option<wire::phy::RateSet> {
        None
    }
}
