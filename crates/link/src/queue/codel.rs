//! CoDel (RFC 8289): drops at the head of a queue whose delay has stayed above a target for an interval.

use crate::engine::{DropCause, Packet};
use crate::queue::qdisc::Item;
use crate::queue::settings::ControlLaw;

/// A tick of Linux's CoDel clock, as a power of two of nanoseconds (`include/net/codel.h`).
const LINUX_TICK_SHIFT: u32 = 10;

/// What one CoDel goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelParameters {
    /// Delay in the queue that is good enough, ns.
    pub target_ns: u64,
    /// Time over which the delay must go below the target once, ns.
    pub interval_ns: u64,
    /// Nothing is dropped while no more than this stays in the queue, bytes (`MAXPACKET` of the RFC).
    pub spared_bytes: u64,
    /// Packets that can be are marked and not dropped.
    pub ecn: bool,
    /// How time and square roots are reckoned.
    pub law: ControlLaw,
}

impl CodelParameters {
    /// A duration in units of the law's clock.
    const fn ticks(&self, ns: u64) -> u64 {
        match self.law {
            ControlLaw::Rfc8289 => ns,
            ControlLaw::Linux => ns >> LINUX_TICK_SHIFT,
        }
    }
}

/// The queue that a CoDel watches.
pub(crate) trait Source<P> {
    /// Takes the head.
    fn pop(&mut self) -> Option<Item<P>>;

    /// What stays, bytes.
    fn backlog_bytes(&self) -> u64;

    /// Drops a packet that was taken.
    fn drop(&mut self, packet: P, cause: DropCause);
}

/// The state of one CoDel. Times are in units of the law's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Codel {
    dropping: bool,
    /// Drops since the dropping began.
    count: u32,
    /// `count` when the dropping began.
    last_count: u32,
    /// When the delay will have been above the target for an interval; `None`: it is below.
    first_above: Option<u64>,
    drop_next: u64,
    /// Linux: 1/√count as a fraction of 2^16.
    inverse_root: u16,
}

impl Codel {
    /// The queue has dropped that many packets itself: the signal should be stronger.
    pub(crate) fn strengthen(&mut self, packets: u32) {
        self.count = self.count.wrapping_add(packets);
    }

    /// The next packet to send, after what must be dropped before it.
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        now_ns: u64,
        parameters: &CodelParameters,
        source: &mut impl Source<P>,
    ) -> Option<Item<P>> {
        let now = parameters.ticks(now_ns);
        let mut head = source.pop();
        let must_drop = self.must_drop(now, parameters, head.as_ref(), source);
        if self.dropping {
            self.dropping = must_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.wrapping_add(1);
                self.approach_root();
                let mut item = head?;
                if parameters.ecn && item.packet.mark_congestion() {
                    self.drop_next = self.next_after(self.drop_next, parameters);
                    return Some(item);
                }
                source.drop(item.packet, DropCause::Codel);
                head = source.pop();
                if self.must_drop(now, parameters, head.as_ref(), source) {
                    self.drop_next = self.next_after(self.drop_next, parameters);
                } else {
                    self.dropping = false;
                }
            }
        } else if must_drop {
            let mut item = head?;
            if parameters.ecn && item.packet.mark_congestion() {
                head = Some(item);
            } else {
                source.drop(item.packet, DropCause::Codel);
                head = source.pop();
                self.must_drop(now, parameters, head.as_ref(), source);
            }
            self.begin(now, parameters);
        }
        head
    }

    /// Begins to drop, as often as when it stopped if that was not long ago.
    fn begin(&mut self, now: u64, parameters: &CodelParameters) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let recent = now < self.drop_next.saturating_add(16 * parameters.ticks(parameters.interval_ns));
        if delta > 1 && delta <= u32::MAX / 2 && recent {
            self.count = delta;
            self.approach_root();
        } else {
            self.count = 1;
            self.inverse_root = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.next_after(now, parameters);
    }

    /// Whether the delay of the head has been above the target for an interval.
    fn must_drop<P>(
        &mut self,
        now: u64,
        parameters: &CodelParameters,
        head: Option<&Item<P>>,
        source: &impl Source<P>,
    ) -> bool {
        let Some(item) = head else {
            self.first_above = None;
            return false;
        };
        let delay = now.saturating_sub(parameters.ticks(item.enqueued_ns));
        if delay < parameters.ticks(parameters.target_ns) || source.backlog_bytes() <= parameters.spared_bytes {
            self.first_above = None;
            return false;
        }
        match (self.first_above, parameters.law) {
            (None, _) => {
                self.first_above = Some(now + parameters.ticks(parameters.interval_ns));
                false
            }
            (Some(first_above), ControlLaw::Rfc8289) => now >= first_above,
            (Some(first_above), ControlLaw::Linux) => now > first_above,
        }
    }

    /// The control law: `interval / √count` after `from`.
    fn next_after(&self, from: u64, parameters: &CodelParameters) -> u64 {
        let interval = parameters.ticks(parameters.interval_ns);
        from + match parameters.law {
            ControlLaw::Rfc8289 => (interval as f64 / f64::from(self.count.max(1)).sqrt()).round() as u64,
            ControlLaw::Linux => (interval * u64::from(self.inverse_root)) >> 16,
        }
    }

    /// One step of Newton's iteration towards 1/√count, with the precision that Linux has.
    fn approach_root(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        // What a count far from the root would bring below zero wraps, as it does in the kernel.
        let factor = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square)) >> 2;
        self.inverse_root = ((factor.wrapping_mul(root) >> (32 - 2 + 1)) >> 16) as u16;
    }
}
