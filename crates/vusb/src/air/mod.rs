//! The air: a chip, its peers (an access point, or stations) and perhaps a neighbour on one channel, and what every bit
//! costs.
//!
//! Who sends when, what a frame costs and what noise destroys come from the crate `medium`, which the modelled links use too.
//! [`Medium`] is what is particular here: stations with queues, windows and frames that are those of real drivers, and that may
//! change their rates, contention parameters and channel at any time. The stations keep their queues to themselves.

#[cfg(test)]
mod band_tests;
pub mod channel;
pub mod counters;
pub mod exchange;
#[cfg(test)]
mod function_tests;
pub mod medium;
mod monitor;
pub mod neighbour;
pub mod rates;
mod sides;
mod transmission;

use wire::ieee80211::{AckPolicy, FrameKind, MacAddr, Mpdu};
use wire::phy::{EdcaParameters, Mode};

pub use self::medium::Medium;
pub use ::medium::{Protection, Response};
pub(crate) use channel::width;
pub use channel::{ChannelSettings, LinkSignal, Tuned};
pub use counters::{AirCounters, Frames, SideCounters, StationCounters};
pub use neighbour::Neighbour;

/// What must answer a PPDU with this first MPDU (IEEE 802.11-2020 10.3.2.11, 10.25.5): nothing what is for a group, has the
/// No Ack policy or is an answer itself; a Block Ack an A-MPDU and a Block Ack request.
pub fn response_to(mpdu: &[u8], aggregated: bool) -> Response {
    let mpdu = Mpdu::new(mpdu);
    let no_ack = !aggregated && mpdu.qos().is_some_and(|qos| qos.ack_policy() == AckPolicy::NoAck);
    if mpdu.is_group() || no_ack {
        return Response::None;
    }
    match mpdu.kind() {
        _ if aggregated => Response::BlockAck,
        Some(FrameKind::BlockAckReq) => Response::BlockAck,
        Some(FrameKind::BlockAck | FrameKind::Cts | FrameKind::Ack) => Response::None,
        _ => Response::Ack,
    }
}

/// A PPDU on its way.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
    /// No other MPDU of its PPDU follows.
    pub last: bool,
    /// Where the sender is tuned to.
    pub tuned: Tuned,
    /// How strong it is.
    pub signal_dbm: i8,
}

/// What happened to a PPDU.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// For each MPDU, whether the sender knows that it arrived; `true` where no answer is asked for.
    pub acknowledged: Vec<bool>,
    /// The PPDU was sent; `false`: only the RTS before it, which was not answered.
    pub sent: bool,
}

/// A channel access function that has something to send.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// Which it is, 0 to 4: each has a backoff of its own. Of two of a station that have the turn at once the one with the
    /// higher number sends (IEEE 802.11-2020 10.23.2.4).
    pub function: usize,
    /// Since when it has something to send.
    pub since_ns: u64,
    /// Its contention parameters.
    pub access: EdcaParameters,
    /// After this many failures in a row its contention window starts again.
    pub retry_limit: u32,
}

/// A station on the medium.
pub trait Station {
    /// Where its radio is; `None`: it is off.
    fn tuned(&self) -> Option<Tuned>;

    /// Since when it has something to send; `None`: nothing.
    fn ready_since(&self) -> Option<u64>;

    /// The contention parameters of what it would send next.
    fn access(&self) -> EdcaParameters;

    /// Which of its channel access functions that is, 0 to 4: each has a backoff of its own.
    fn access_function(&self) -> usize {
        0
    }

    /// After this many failures in a row the contention window starts again: dot11ShortRetryLimit.
    fn retry_limit(&self) -> u32 {
        7
    }

    /// Its functions that have something to send: the one that the methods above describe, unless its queues contend beside
    /// each other.
    fn contenders(&self, visit: &mut dyn FnMut(Contender)) {
        if let Some(since_ns) = self.ready_since() {
            let (function, access, retry_limit) = (self.access_function(), self.access(), self.retry_limit());
            visit(Contender { function, since_ns, access, retry_limit });
        }
    }

    /// A function may send: takes the next PPDU out of its queues.
    fn begin(&mut self, now_ns: u64, function: usize) -> Option<Ppdu>;

    /// How long a function may go on sending once it has the turn (its TXOP limit); `None`: one exchange.
    fn txop_limit_ns(&self, _function: usize) -> Option<u64> {
        None
    }

    /// An exchange of a function went well, and its TXOP is not over: takes the next PPDU, if it has one that `fits`.
    fn go_on(&mut self, _now_ns: u64, _function: usize, _fits: &mut dyn FnMut(&Ppdu) -> bool) -> Option<Ppdu> {
        None
    }

    /// What happened to the PPDU that was begun last.
    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome);

    /// Whether frames to `receiver` are for it. It does not receive others: they only keep the medium busy.
    fn wants(&self, _receiver: MacAddr) -> bool {
        true
    }

    /// A frame reaches its antenna undamaged. Gives whether it answers for it (acknowledges it).
    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool;

    /// Rates that the network's responses use, where known (basic rates in 500 kbit/s).
    fn basic_rates(&self) -> Option<wire::phy::RateSet> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let frame = |kind: u8, to: u8, qos: u8| {
            let mut bytes = vec![0; 26];
            (bytes[0], bytes[4], bytes[24]) = (kind, to, qos);
            bytes
        };
        for (kind, to, qos, aggregated, response) in [
            (0x88, 2, 0, false, Response::Ack),
            (0x88, 2, 0, true, Response::BlockAck),
            (0x88, 2, 0x20, false, Response::None),
            (0x88, 1, 0, false, Response::None),
            (0x84, 2, 0, false, Response::BlockAck),
            (0x94, 2, 0, false, Response::None),
            (0xb0, 2, 0, false, Response::Ack),
            (0x80, 1, 0, false, Response::None),
        ] {
            assert_eq!(response_to(&frame(kind, to, qos), aggregated), response, "{kind:#x}");
        }
    }
}
