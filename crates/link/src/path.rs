//! The wire between the server (host 0) and the access point or modem network.

use serde::{Deserialize, Serialize};

use crate::checked::ScenarioError;
use crate::engine::{HostId, Offer, Packet};
use crate::transmitter::{Step, Transmitter, Wire};
use random::{Rng, Stream};

/// A full-duplex wire. Without one, host 0 is the access point itself ("access point as server").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PathSettings {
    /// Mbit/s, IP headers counted.
    pub rate_mbit_s: f64,
    /// One way, ms.
    pub delay_ms: f64,
    /// Packets that wait in front of the wire at most, each way.
    pub queue_packets: u32,
    /// Probability that a packet is lost, each way.
    pub loss: f64,
}

impl Default for PathSettings {
    /// Gigabit Ethernet, 1 ms, and the 1000 packets of Linux' default `txqueuelen`.
    fn default() -> Self {
        Self { rate_mbit_s: 1000.0, delay_ms: 1.0, queue_packets: 1000, loss: 0.0 }
    }
}

impl PathSettings {
    fn wire(&self) -> Wire {
        Wire {
            rate_mbit_s: Some(self.rate_mbit_s),
            delay_ms: self.delay_ms,
            queue_packets: self.queue_packets,
            loss: self.loss,
        }
    }

    /// # Errors
    /// Names the key (`key.name`) of a setting that is out of its range.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        self.wire().check(key)
    }
}

/// What happens on a path.
pub enum PathStep<'a, P> {
    /// The server's interface has sent a packet and frees its buffer.
    Freed(&'a P),
    /// A packet is lost; it came from this host.
    Lost(u64, HostId, &'a P),
    /// A packet reaches the link, for this host.
    ToLink(HostId, P),
    /// A packet reaches the server.
    ToServer(u64, P),
}

/// The wire, both ways.
#[derive(Clone, Debug)]
pub struct Path<P> {
    down: Transmitter<P>,
    /// The host of each packet is the one it came from.
    up: Transmitter<P>,
}

impl<P: Packet> Path<P> {
    /// A silent wire. (The settings are not [checked](PathSettings::check) here.)
    pub fn new(settings: PathSettings, seed: u64) -> Self {
        Self {
            down: Transmitter::new(settings.wire(), Rng::new(seed, Stream::PathDown, 0)),
            up: Transmitter::new(settings.wire(), Rng::new(seed, Stream::PathUp, 0)),
        }
    }

    /// The server hands over a packet for the host `to`.
    pub fn offer_down(&mut self, now_ns: u64, to: HostId, packet: P) -> Offer {
        self.down.offer(now_ns, to, packet)
    }

    /// The link's end hands over a packet of the host `from` for the server.
    pub fn offer_up(&mut self, now_ns: u64, from: HostId, packet: P) -> Offer {
        self.up.offer(now_ns, from, packet)
    }

    /// `u64::MAX`: nothing is under way.
    pub fn next_event(&self) -> u64 {
        self.down.next_event().min(self.up.next_event())
    }

    /// Lets the next thing happen.
    pub fn step(&mut self, tell: &mut impl FnMut(PathStep<'_, P>)) {
        if self.down.next_event() <= self.up.next_event() {
            self.down.step(&mut |step| match step {
                Step::Sent(_, packet) => tell(PathStep::Freed(packet)),
                Step::Lost(at_ns, packet) => tell(PathStep::Lost(at_ns, HostId::SERVER, packet)),
                Step::Arrived(_, to, packet) => tell(PathStep::ToLink(to, packet)),
            });
        } else {
            self.up.step(&mut |step| match step {
                Step::Sent(..) => {}
                Step::Lost(at_ns, packet) => tell(PathStep::Lost(at_ns, HostId::SERVER, packet)),
                Step::Arrived(at_ns, _, packet) => tell(PathStep::ToServer(at_ns, packet)),
            });
        }
    }
}
