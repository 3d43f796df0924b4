//! What every link is to those who drive it: packets in, time forward, packets out.
//!
//! A link joins *hosts*. Host 0 is the one at the far end of the wire: the server behind the access point, or the network
//! behind the modem. Hosts 1 and up are those at the near ends: the stations, or the machine that the modem or the SDIO
//! card is in.

pub use crate::packet::{AccessCategory, HostId, Packet};

use wire::usb::urb::Urb;

use crate::ppdu::Ppdu;

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DropCause {
    /// A queue was full.
    QueueFull,
    /// CoDel dropped it, to make its flow slow down (RFC 8289).
    Codel,
    /// A flow queue dropped it because all flows together had too much (RFC 8290, 4.1.3).
    Overlimit,
    /// It was sent as often as the retry limit allows.
    RetryLimit,
    /// The host at the receiving end did not keep up.
    ReceiverFull,
    /// It is larger than what the link can carry.
    Oversize,
    /// The device at one end had crashed or was being reset.
    DeviceDown,
}

/// What happened to an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The link has it.
    Accepted,
    /// It was dropped on the spot.
    Dropped(DropCause),
}

/// Where packets come out, and where what happens on the way is reported.
pub trait Sink<P> {
    /// A packet reaches the host at `to`. Packets to one host come in the order of their times.
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: P);

    /// The host that sent a packet need not keep it any longer: its buffer is freed by the driver's transmit completion (or
    /// it was dropped). TCP small queues wait for this. Once for every packet that was [accepted](Offer::Accepted).
    fn freed(&mut self, _at_ns: u64, _from: HostId, _packet: &P) {}

    /// A packet that had been accepted was dropped.
    fn dropped(&mut self, _at_ns: u64, _from: HostId, _packet: &P, _cause: DropCause) {}

    /// Whether [`Self::air`] is wanted.
    fn wants_air(&self) -> bool {
        false
    }

    /// A PPDU has ended. In the order of their ends.
    fn air(&mut self, _ppdu: &Ppdu<'_, P>) {}

    /// Whether [`Self::bus`] is wanted.
    fn wants_bus(&self) -> bool {
        false
    }

    /// A URB was submitted or has completed. In the order of their times.
    fn bus(&mut self, _urb: &Urb<'_>) {}
}

/// A link, driven from outside: it does no input or output and has no clock. All times are nanoseconds since an origin that
/// the driver chooses. The same settings, seed, and packets offered at the same times give the same events.
pub trait Link<P: Packet> {
    /// How many hosts it joins.
    fn hosts(&self) -> usize;

    /// Hands `packet` to the driver (or queueing discipline) of the host `from`, for the host `to`. Everything that is due by
    /// `now_ns` should have been [advanced](Self::advance) over; a time before that counts as the time reached.
    fn offer(&mut self, now_ns: u64, from: HostId, to: HostId, packet: P) -> Offer;

    /// When something happens next; `None`: never, unless packets come.
    fn next_event(&self) -> Option<u64>;

    /// Lets everything happen that is due by `now_ns`.
    fn advance(&mut self, now_ns: u64, sink: &mut impl Sink<P>);

    /// Lets what is under way finish and begins nothing new: what was counted as sent has then been shown to the
    /// sink.
    fn settle(&mut self, sink: &mut impl Sink<P>);
}
