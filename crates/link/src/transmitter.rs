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

/// What a transmitter reports.
pub(crate) enum Step<'a, P> {
    /// The last bit has left.
    Sent(u64, &'a P),
    /// It will not arrive.
    Lost(u64, &'a P),
    /// It is there.
    Arrived(u64, HostId, P),
}

/// A packet that waits, or is on its way.
#[derive(Clone, Debug)]
struct Carried<P> {
    /// When its last bit leaves.
    sent_ns: u64,
    to: HostId,
    lost: bool,
    packet: P,
}

/// The state of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter<P> {
    /// Picoseconds that a byte takes: a nanosecond is too coarse to add up over many packets.
    byte_ps: f64,
    delay_ns: u64,
    limit: usize,
    loss: f64,
    /// What has been sent, then what waits. A packet that was lost on the way keeps its place while there are others before
    /// it.
    packets: VecDeque<Carried<P>>,
    /// How many of them have been sent.
    sent: usize,
    /// When the next is sent and when the next arrives; `u64::MAX`: never.
    sent_ns: u64,
    arrives_ns: u64,
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
            packets: VecDeque::new(),
            sent: 0,
            sent_ns: u64::MAX,
            arrives_ns: u64::MAX,
            free_at_ps: 0,
            rng,
        }
    }

    pub(crate) fn offer(&mut self, now_ns: u64, to: HostId, packet: P) -> Offer {
        if self.packets.len() - self.sent > self.limit {
            return Offer::Dropped(DropCause::QueueFull);
        }
        let begin = self.free_at_ps.max(now_ns.saturating_mul(1000));
        self.free_at_ps = begin.saturating_add((packet.size_bytes() as f64 * self.byte_ps) as u64);
        let sent_ns = self.free_at_ps.div_ceil(1000);
        if self.packets.len() == self.sent {
            self.sent_ns = sent_ns;
        }
        self.packets.push_back(Carried { sent_ns, to, lost: false, packet });
        Offer::Accepted
    }

    /// `u64::MAX`: nothing is under way.
    pub(crate) fn next_event(&self) -> u64 {
        self.sent_ns.min(self.arrives_ns)
    }

    /// Lets the next thing happen.
    pub(crate) fn step(&mut self, tell: &mut impl FnMut(Step<'_, P>)) {
        if self.arrives_ns <= self.sent_ns {
            let Some(arrived) = self.packets.pop_front() else { return };
            self.sent -= 1;
            let at_ns = self.arrives_ns;
            self.look_ahead();
            tell(Step::Arrived(at_ns, arrived.to, arrived.packet));
        } else if let Some(carried) = self.packets.get_mut(self.sent) {
            tell(Step::Sent(carried.sent_ns, &carried.packet));
            if self.rng.chance(self.loss) {
                carried.lost = true;
                tell(Step::Lost(carried.sent_ns, &carried.packet));
            }
            self.sent += 1;
            self.sent_ns = self.packets.get(self.sent).map_or(u64::MAX, |waiting| waiting.sent_ns);
            if self.arrives_ns == u64::MAX {
                self.look_ahead();
            }
        }
    }

    /// Finds what arrives next.
    fn look_ahead(&mut self) {
        self.arrives_ns = u64::MAX;
        while self.sent > 0 {
            match self.packets.front() {
                Some(first) if !first.lost => {
                    self.arrives_ns = first.sent_ns + self.delay_ns;
                    return;
                }
                _ => {
                    self.packets.pop_front();
                    self.sent -= 1;
                }
            }
        }
    }
}
