//! One direction of a wire: packets wait, are sent at a rate, and arrive after a delay.

use std::collections::VecDeque;

use crate::checked::{in_range, ScenarioError};
use crate::engine::{DropCause, HostId, Offer, Packet};
use random::Rng;

/// One direction of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wire {
    /// Mbit/s, IP headers counted; `None`: sending takes no time.
    pub rate_mbit_s: Option<f64>,
    /// From the last bit sent to its arrival, ms.
    pub delay_ms: f64,
    /// Packets that wait at most, beside the one that is being sent.
    pub queue_packets: u32,
    /// Probability that a packet is lost after it has been sent.
    pub loss: f64,
}

impl Wire {
    pub(crate) fn check(&self, key: &str) -> Result<(), ScenarioError> {
        if let Some(rate) = self.rate_mbit_s {
            in_range(key, "rate_mbit_s", rate, 0.001..=400_000.0, " Mbit/s")?;
        }
        in_range(key, "delay_ms", self.delay_ms, 0.0..=60_000.0, " ms")?;
        in_range(key, "queue_packets", self.queue_packets, 1..=1_000_000, "")?;
        in_range(key, "loss", self.loss, 0.0..=1.0, "")
    }
}

/// What a transmitter tells.
pub(crate) enum Step<'a, P> {
    /// The last bit has left.
    Sent(u64, &'a P),
    /// It will not arrive.
    Lost(u64, &'a P),
    /// It is there.
    Arrived(u64, HostId, P),
}

/// The state of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter<P> {
    /// Picoseconds that a byte takes: a nanosecond is too coarse to add up over many packets.
    byte_ps: f64,
    delay_ns: u64,
    limit: usize,
    loss: f64,
    waiting: VecDeque<(u64, HostId, P)>,
    flying: VecDeque<(u64, HostId, P)>,
    free_at_ps: u64,
    rng: Rng,
}

impl<P: Packet> Transmitter<P> {
    /// `rng`: what it loses packets by.
    pub(crate) fn new(wire: Wire, rng: Rng) -> Self {
        Self {
            byte_ps: wire.rate_mbit_s.map_or(0.0, |rate| 8e6 / rate),
            delay_ns: (wire.delay_ms * 1e6) as u64,
            limit: wire.queue_packets as usize,
            loss: wire.loss,
            waiting: VecDeque::new(),
            flying: VecDeque::new(),
            free_at_ps: 0,
            rng,
        }
    }

    pub(crate) fn offer(&mut self, now_ns: u64, to: HostId, packet: P) -> Offer {
        if self.waiting.len() > self.limit {
            return Offer::Dropped(DropCause::QueueFull);
        }
        let begin = self.free_at_ps.max(now_ns.saturating_mul(1000));
        self.free_at_ps = begin.saturating_add((packet.size_bytes() as f64 * self.byte_ps) as u64);
        self.waiting.push_back((self.free_at_ps.div_ceil(1000), to, packet));
        Offer::Accepted
    }

    /// `u64::MAX`: nothing is under way.
    pub(crate) fn next_event(&self) -> u64 {
        let sent = self.waiting.front().map_or(u64::MAX, |w| w.0);
        let arrived = self.flying.front().map_or(u64::MAX, |f| f.0);
        sent.min(arrived)
    }

    /// Lets the next thing happen.
    pub(crate) fn step(&mut self, tell: &mut impl FnMut(Step<'_, P>)) {
        let sent = self.waiting.front().map_or(u64::MAX, |w| w.0);
        let arrived = self.flying.front().map_or(u64::MAX, |f| f.0);
        if arrived <= sent {
            if let Some((at_ns, to, packet)) = self.flying.pop_front() {
                tell(Step::Arrived(at_ns, to, packet));
            }
        } else if let Some((at_ns, to, packet)) = self.waiting.pop_front() {
            tell(Step::Sent(at_ns, &packet));
            if self.rng.chance(self.loss) {
                tell(Step::Lost(at_ns, &packet));
            } else {
                self.flying.push_back((at_ns + self.delay_ns, to, packet));
            }
        }
    }
}
