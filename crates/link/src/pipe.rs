//! The simplest link: every host has a transmitter of its own, with a rate, a queue, a delay and random losses.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};
use crate::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use crate::transmitter::{Step, Transmitter, Wire};
use random::{Rng, Stream};

/// A pipe between a server and any number of other hosts. The same both ways, unless `up` says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PipeSettings {
    /// Hosts beside host 0.
    pub stations: u16,
    /// Mbit/s, IP headers counted; left out: sending takes no time.
    pub rate_mbit_s: Option<f64>,
    /// One way, ms.
    pub delay_ms: f64,
    /// Packets that wait in front of each transmitter at most; more are dropped (drop tail).
    pub queue_packets: u32,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Settings of the stations' transmitters, when they differ from host 0's.
    pub up: Option<PipeUp>,
    /// Seed of the random source.
    pub seed: u64,
}

/// What the stations' transmitters do differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PipeUp {
    /// Mbit/s.
    pub rate_mbit_s: Option<f64>,
    /// One way, ms.
    pub delay_ms: Option<f64>,
    /// Packets that wait at most.
    pub queue_packets: Option<u32>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
}

impl Default for PipeSettings {
    fn default() -> Self {
        Self { stations: 1, rate_mbit_s: None, delay_ms: 0.0, queue_packets: 1000, loss: 0.0, up: None, seed: 0 }
    }
}

impl PipeSettings {
    fn down(&self) -> Wire {
        Wire {
            rate_mbit_s: self.rate_mbit_s,
            delay_ms: self.delay_ms,
            queue_packets: self.queue_packets,
            loss: self.loss,
        }
    }

    fn up(&self) -> Wire {
        let up = self.up.unwrap_or_default();
        Wire {
            rate_mbit_s: up.rate_mbit_s.or(self.rate_mbit_s),
            delay_ms: up.delay_ms.unwrap_or(self.delay_ms),
            queue_packets: up.queue_packets.unwrap_or(self.queue_packets),
            loss: up.loss.unwrap_or(self.loss),
        }
    }

    /// Whether sending takes no time: of the server, or of the other hosts.
    pub(crate) fn sends_at_once(&self, from_server: bool) -> bool {
        let wire = if from_server { self.down() } else { self.up() };
        wire.rate_mbit_s.is_none()
    }

    /// Both delays together, ms.
    pub(crate) fn round_trip_ms(&self) -> f64 {
        self.down().delay_ms + self.up().delay_ms
    }

    /// # Errors
    /// Names the key (`key.name`) of a setting that is out of its range.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "stations", self.stations, 1..=4096, "")?;
        self.down().check(key)?;
        self.up().check(&format!("{key}.up"))
    }
}

/// A transparent link: packets come out as they went in, later. Lost packets are reported as [`DropCause::RetryLimit`]: they
/// are sent once.
#[derive(Clone, Debug)]
pub struct Pipe<P> {
    hosts: Vec<Transmitter<P>>,
    next_ns: u64,
}

impl<P: Packet> Pipe<P> {
    /// # Errors
    /// The settings are checked; keys are named under `pipe`.
    pub fn new(settings: PipeSettings) -> Result<Self, ScenarioError> {
        settings.check("pipe")?;
        let hosts = (0..=settings.stations)
            .map(|host| {
                let wire = if host == 0 { settings.down() } else { settings.up() };
                Transmitter::new(wire, Rng::new(settings.seed, Stream::Pipe, u32::from(host)))
            })
            .collect();
        Ok(Self { hosts, next_ns: u64::MAX })
    }
}

impl<P: Packet> Link<P> for Pipe<P> {
    fn hosts(&self) -> usize {
        self.hosts.len()
    }

    fn offer(&mut self, now_ns: u64, from: HostId, to: HostId, packet: P) -> Offer {
        if to.index() >= self.hosts.len() {
            return Offer::Dropped(DropCause::DeviceDown);
        }
        let Some(transmitter) = self.hosts.get_mut(from.index()) else {
            return Offer::Dropped(DropCause::DeviceDown);
        };
        let offer = transmitter.offer(now_ns, to, packet);
        self.next_ns = self.next_ns.min(transmitter.next_event());
        offer
    }

    fn next_event(&self) -> Option<u64> {
        (self.next_ns != u64::MAX).then_some(self.next_ns)
    }

    fn advance(&mut self, now_ns: u64, sink: &mut impl Sink<P>) {
        while self.next_ns <= now_ns {
            let mut next_ns = u64::MAX;
            for (host, transmitter) in self.hosts.iter_mut().enumerate() {
                let from = HostId(host as u16);
                if transmitter.next_event() == self.next_ns {
                    transmitter.step(&mut |step| match step {
                        Step::Sent(at_ns, packet) => sink.freed(at_ns, from, packet),
                        Step::Lost(at_ns, packet) => sink.dropped(at_ns, from, packet, DropCause::RetryLimit),
                        Step::Arrived(at_ns, to, packet) => sink.deliver(at_ns, to, packet),
                    });
                }
                next_ns = next_ns.min(transmitter.next_event());
            }
            self.next_ns = next_ns;
        }
    }

    /// Nothing is shown to the sink that was not sent: there is nothing to do.
    fn settle(&mut self, _sink: &mut impl Sink<P>) {}
}
