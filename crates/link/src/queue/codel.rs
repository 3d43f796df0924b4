//! CoDel (RFC 8289): drops at the head of a queue with a delay that has stayed above a target for an interval.

use serde::{Deserialize, Serialize};

use crate::engine::{DropCause, Packet};
use crate::queue::qdisc::Item;

/// A tick of Linux's CoDel clock, as a power of two of nanoseconds (`include/net/codel.h`).
const LINUX_TICK_SHIFT: u32 = 10;

/// How a CoDel computes times and square roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ControlLaw {
    /// Nanoseconds and exact square roots: the pseudocode of RFC 8289.
    #[default]
    Rfc8289,
    /// Ticks of 1024 ns and a square root in 16 bits that takes one step towards the true one at each drop, as in Linux
    /// (`include/net/codel_impl.h`). The first drops of a burst then come a little later than by the RFC.
    Linux,
}

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
    /// How times and square roots are computed.
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
    /// The head.
    fn head(&mut self) -> Option<&mut Item<P>>;

    /// What stays when the head is taken, bytes.
    fn bytes_behind_head(&self) -> u64;

    /// Takes the head.
    fn take_head(&mut self) -> Option<Item<P>>;

    /// Drops the head.
    fn drop_head(&mut self, cause: DropCause);
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
        let must_drop = self.must_drop(now, parameters, source);
        if self.dropping {
            self.dropping = must_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.wrapping_add(1);
                self.approach_root();
                if parameters.ecn && source.head()?.packet.mark_congestion() {
                    self.drop_next = self.next_after(self.drop_next, parameters);
                    return source.take_head();
                }
                source.drop_head(DropCause::Codel);
                if self.must_drop(now, parameters, source) {
                    self.drop_next = self.next_after(self.drop_next, parameters);
                } else {
                    self.dropping = false;
                }
            }
        } else if must_drop {
            if !(parameters.ecn && source.head()?.packet.mark_congestion()) {
                source.drop_head(DropCause::Codel);
                self.must_drop(now, parameters, source);
            }
            self.begin(now, parameters);
        }
        source.take_head()
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
    fn must_drop<P>(&mut self, now: u64, parameters: &CodelParameters, source: &mut impl Source<P>) -> bool {
        let Some(item) = source.head() else {
            self.first_above = None;
            return false;
        };
        let delay = now.saturating_sub(parameters.ticks(item.enqueued_ns));
        if delay < parameters.ticks(parameters.target_ns) || source.bytes_behind_head() <= parameters.spared_bytes {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::qdisc::Qdisc;
    use crate::queue::test_queue::{Numbered, OneCodel};

    const MS: u64 = 1_000_000;

    fn parameters(law: ControlLaw, ecn: bool) -> CodelParameters {
        CodelParameters { target_ns: 5 * MS, interval_ns: 100 * MS, spared_bytes: 1514, ecn, law }
    }

    /// A queue into which as many packets come as leave it, one in 100 µs, so that each has waited for `standing` of them,
    /// for as long as that is not empty. Gives the times of drops (or marks), µs.
    fn standing_queue(parameters: CodelParameters, packets: &[(u64, u64)], ecn_capable: bool) -> Vec<u64> {
        let mut queue = OneCodel::new(parameters);
        let mut dropped = Vec::new();
        let mut times = Vec::new();
        let mut now_ns = 0;
        for &(standing, until_us) in packets {
            while now_ns < until_us * 1_000 {
                while (queue.packets() as u64) < standing {
                    let packet = Numbered { ecn_capable, ..Numbered::new(0) };
                    // As old as if it had come when it would have to wait so long.
                    let enqueued_ns = now_ns.saturating_sub(100_000 * (standing - queue.packets() as u64));
                    queue.enqueue(Item::new(enqueued_ns, 0, 14, packet), &mut Vec::new());
                }
                let item = queue.dequeue(now_ns, &mut dropped);
                times.extend(item.filter(|item| item.packet.marked).map(|_| now_ns / 1_000));
                times.extend(dropped.drain(..).map(|_| now_ns / 1_000));
                now_ns += 100_000;
            }
        }
        times
    }

    /// RFC 8289, 4.4: after an interval above the target the first drop, then one after each interval/√n.
    #[test]
    fn drops_come_at_the_interval_by_the_root_of_their_count() {
        for (ecn_capable, ecn) in [(false, true), (true, true), (true, false)] {
            let times = standing_queue(parameters(ControlLaw::Rfc8289, ecn), &[(200, 2_000_000)], ecn_capable);
            assert!(times.len() > 50, "{times:?}");
            let mut due_us = times[0] as f64;
            assert!((100_000.0..=120_000.0).contains(&due_us), "{due_us}");
            for (index, &at_us) in times.iter().enumerate().skip(1) {
                due_us += 100_000.0 / f64::from(index as u32).sqrt();
                assert!((at_us as f64 - due_us) < 101.0 && at_us as f64 >= due_us - 1.0, "{index}: {at_us}, {due_us}");
            }
        }
    }

    #[test]
    fn the_law_of_linux_is_that_of_the_rfc_to_a_few_per_cent() {
        let drops = |law| standing_queue(parameters(law, false), &[(200, 10_000_000)], false);
        let (exact, linux) = (drops(ControlLaw::Rfc8289), drops(ControlLaw::Linux));
        let share = linux.len() as f64 / exact.len() as f64;
        assert!((0.97..1.03).contains(&share) && linux != exact, "{} and {}", linux.len(), exact.len());
    }

    #[test]
    fn short_queues_and_single_packets_are_left_alone() {
        // 49 packets are 4.9 ms.
        assert!(standing_queue(parameters(ControlLaw::Rfc8289, false), &[(49, 3_000_000)], false).is_empty());
        let spared = CodelParameters { spared_bytes: 1514 * 200, ..parameters(ControlLaw::Rfc8289, false) };
        assert!(standing_queue(spared, &[(200, 3_000_000)], false).is_empty());
        // A dip below the target within every interval is enough.
        let dips: Vec<(u64, u64)> = (1..40).map(|n| (if n % 10 < 3 { 20 } else { 200 }, n * 10_000)).collect();
        assert!(standing_queue(parameters(ControlLaw::Rfc8289, false), &dips, false).is_empty());
    }

    /// RFC 8289, 4.4: who comes back within 16 intervals goes on about where it was; later it starts over.
    #[test]
    fn dropping_resumes_where_it_was_not_long_ago() {
        for (pause_us, resumes) in [(300_000, true), (3_000_000, false)] {
            let quiet_us = 2_000_000 + pause_us;
            let steps = [(200, 2_000_000), (10, quiet_us), (200, quiet_us + 1_000_000)];
            let times = standing_queue(parameters(ControlLaw::Rfc8289, false), &steps, false);
            let first = times.iter().position(|&at_us| at_us > quiet_us).expect("a drop");
            let before = 100_000.0 / ((times[first - 1] - times[first - 2]) as f64);
            let after = 100_000.0 / ((times[first + 1] - times[first]) as f64);
            if resumes {
                assert!(after > 0.8 * before && after > 5.0, "{before} and {after}");
            } else {
                assert!((after - 1.0).abs() < 0.01, "{after}");
            }
        }
    }

    /// A window that grows by one packet in a round trip and halves at a drop, over a link of 1000 packets/s and 100 ms.
    fn responsive_source(mut queue: impl Qdisc<Numbered>) -> (f64, f64) {
        let (mut window, mut in_flight, mut next) = (10.0f64, 0u64, 0u64);
        let mut returning: std::collections::VecDeque<(u64, bool)> = std::collections::VecDeque::new();
        let mut deaf_until_ns = 0;
        let (mut delays_ms, mut sent) = (Vec::new(), 0);
        for now_ns in (0..60_000 * MS).step_by(MS as usize) {
            while let Some((_, lost)) = returning.front().copied().filter(|&(at_ns, _)| at_ns <= now_ns) {
                returning.pop_front();
                in_flight -= 1;
                if lost && now_ns >= deaf_until_ns {
                    window = (window / 2.0).max(2.0);
                    deaf_until_ns = now_ns + 100 * MS;
                } else if !lost {
                    window += 1.0 / window;
                }
            }
            let mut dropped = Vec::new();
            while in_flight < window as u64 {
                queue.enqueue(Item::new(now_ns, 0, 14, Numbered::new(next)), &mut dropped);
                next += 1;
                in_flight += 1;
            }
            if let Some(item) = queue.dequeue(now_ns, &mut dropped) {
                returning.push_back((now_ns + 100 * MS, false));
                if now_ns > 20_000 * MS {
                    delays_ms.push((now_ns - item.enqueued_ns) as f64 / MS as f64);
                    sent += 1;
                }
            }
            returning.extend(dropped.iter().map(|_| (now_ns + 100 * MS, true)));
        }
        (delays_ms.iter().sum::<f64>() / delays_ms.len() as f64, f64::from(sent) / 40_000.0)
    }

    #[test]
    fn a_standing_queue_shrinks_when_its_source_listens() {
        let (delay_ms, used) = responsive_source(OneCodel::new(parameters(ControlLaw::Rfc8289, false)));
        assert!(delay_ms < 5.0 && used > 0.75, "{delay_ms} ms, {used}");
        let (delay_ms, used) = responsive_source(crate::queue::Fifo::new(1000));
        assert!(delay_ms > 100.0 && used > 0.99, "drop-tail: {delay_ms} ms, {used}");
    }
}
