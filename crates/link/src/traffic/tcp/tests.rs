//! Both ends against each other, over a network that does what a test wants.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::receiver::Receiver;
use super::sender::Sender;
use super::settings::{Congestion, TcpSettings};
use crate::engine::{AccessCategory, HostId, Packet};
use crate::traffic::segment::{Body, Ecn, Flags, Modelled, Segment, SACK_BLOCKS};
use random::{Rng, Stream};

const MS: u64 = 1_000_000;

/// What the network does with a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Arrives { delay_ns: u64 },
    Twice { delay_ns: u64 },
    Marked { delay_ns: u64 },
    Lost,
}

type Decide<'a> = dyn FnMut(u64, &Modelled) -> Fate + 'a;

struct Network<'a> {
    sender: Sender,
    receiver: Receiver,
    now_ns: u64,
    under_way: BTreeMap<(u64, u64), Modelled>,
    offered: u64,
    /// What happens to a packet, by its count; the packet may say more.
    fate: Box<Decide<'a>>,
    /// How long its host takes for a packet of data, one after the other.
    host_ns: u64,
    host_free_ns: u64,
    most_below: u64,
    freed: BTreeMap<(u64, u64), u64>,
    arrived: BTreeSet<u64>,
    prefix: u64,
    small_queues: bool,
}

fn template(back: bool) -> Modelled {
    let (from, to) = if back { (HostId(1), HostId(0)) } else { (HostId(0), HostId(1)) };
    let body = Body::Udp { sequence: 0, payload: 0 };
    Modelled { flow: 0, back, from, to, category: AccessCategory::BestEffort, ecn: Ecn::NotCapable, sent_ns: 0, body }
}

impl<'a> Network<'a> {
    fn new(settings: TcpSettings, fate: impl FnMut(u64, &Modelled) -> Fate + 'a) -> Self {
        Self {
            sender: Sender::new(settings, template(false), Rng::new(1, Stream::Congestion, 0)),
            receiver: Receiver::new(settings, template(true)),
            now_ns: 0,
            under_way: BTreeMap::new(),
            offered: 0,
            fate: Box::new(fate),
            host_ns: 10_000,
            host_free_ns: 0,
            most_below: 0,
            freed: BTreeMap::new(),
            arrived: BTreeSet::new(),
            prefix: 0,
            small_queues: settings.small_queues,
        }
    }

    fn hand_down(&mut self, out: &mut Vec<Modelled>) {
        if out.iter().any(|packet| packet.payload_bytes() > 0) {
            let (below, limit) = (self.sender.below_bytes(), self.sender.small_queue_bytes());
            let doubled = limit << u8::from(self.sender.counts.retransmitted > 0);
            assert!(!self.small_queues || below <= doubled, "{below} bytes below the socket, {doubled} may be");
            self.most_below = self.most_below.max(below);
        }
        for packet in out.drain(..) {
            self.offered += 1;
            let key = self.offered;
            let mut sent_ns = self.now_ns;
            if !packet.back && packet.payload_bytes() > 0 {
                self.host_free_ns = self.host_free_ns.max(self.now_ns) + self.host_ns;
                sent_ns = self.host_free_ns;
                self.freed.insert((sent_ns, key), packet.size_bytes() as u64);
            }
            let mut arrive = |delay_ns, packet| self.under_way.insert((sent_ns + delay_ns, key), packet);
            match (self.fate)(self.offered, &packet) {
                Fate::Lost => {}
                Fate::Arrives { delay_ns } => {
                    arrive(delay_ns, packet);
                }
                Fate::Twice { delay_ns } => {
                    arrive(delay_ns, packet);
                    arrive(2 * delay_ns, packet);
                }
                Fate::Marked { delay_ns } => {
                    let mut packet = packet;
                    packet.mark_congestion();
                    arrive(delay_ns, packet);
                }
            }
        }
    }

    /// Runs until everything is acknowledged; panics when that takes longer than `limit_ns`.
    fn run(&mut self, limit_ns: u64) {
        let mut out = Vec::new();
        self.sender.start(0, &mut out);
        self.hand_down(&mut out);
        while !self.sender.done() {
            let packet = self.under_way.keys().next().map(|k| k.0);
            let freed = self.freed.keys().next().map(|k| k.0);
            let timers = [self.sender.pace_ns(), self.sender.timer_ns(), self.receiver.timer_ns(), packet, freed];
            self.now_ns = timers.into_iter().flatten().min().expect("something goes on").max(self.now_ns);
            assert!(self.now_ns < limit_ns, "not done after {} ms: {:?}", self.now_ns / MS, self.sender.counts);
            let now_ns = self.now_ns;
            let due = |at: Option<u64>| at.is_some_and(|at| at <= now_ns);
            if due(freed) {
                let (_, bytes) = self.freed.pop_first().unwrap();
                self.sender.on_freed(bytes);
                self.sender.send(now_ns, &mut out);
            } else if due(packet) {
                let (_, packet) = self.under_way.pop_first().unwrap();
                if packet.back {
                    self.sender.on_ack(now_ns, &packet, &mut out);
                } else {
                    self.receive(&packet, &mut out);
                }
            } else if due(self.sender.pace_ns()) {
                self.sender.send(now_ns, &mut out);
            } else if due(self.sender.timer_ns()) {
                self.sender.on_timer(now_ns, &mut out);
            } else {
                self.receiver.on_timer(now_ns, &mut out);
            }
            self.hand_down(&mut out);
        }
    }

    fn receive(&mut self, packet: &Modelled, out: &mut Vec<Modelled>) {
        let Body::Tcp(segment) = packet.body else { return };
        if segment.data {
            self.arrived.insert(segment.number);
        }
        self.receiver.on_segment(self.now_ns, packet, out);
        // The application gets what has arrived without a gap, and nothing else.
        while self.arrived.contains(&self.prefix) {
            self.prefix += 1;
        }
        assert_eq!(self.receiver.delivered(), self.prefix);
    }
}

fn transfer(segments: u64) -> TcpSettings {
    TcpSettings { bytes: Some(segments * 1448), ..TcpSettings::default() }
}

fn number(packet: &Modelled) -> Option<u64> {
    match packet.body {
        Body::Tcp(segment) if segment.data => Some(segment.number),
        _ => None,
    }
}

#[test]
fn nothing_lost_nothing_sent_twice() {
    let mut network = Network::new(transfer(1000), |_, _| Fate::Arrives { delay_ns: 10 * MS });
    network.run(5_000 * MS);
    let counts = network.sender.counts;
    assert_eq!((counts.sent, counts.retransmitted, counts.recoveries, counts.timeouts), (1000, 0, 0, 0));
    assert_eq!(counts.undone, 0);
}

/// 30 of a window of 100 segments are lost: SACK shows which, and one recovery of about a round trip repairs them.
#[test]
fn many_losses_of_a_window_are_one_recovery() {
    let settings = TcpSettings { window_bytes: 100 * 1448, ..transfer(1000) };
    let mut clean = Network::new(settings, |_, _| Fate::Arrives { delay_ns: 10 * MS });
    clean.run(5_000 * MS);
    let mut lost = BTreeSet::new();
    let mut network = Network::new(settings, |_, packet| match number(packet) {
        Some(n) if (500..590).contains(&n) && n % 3 == 0 && lost.insert(n) => Fate::Lost,
        _ => Fate::Arrives { delay_ns: 10 * MS },
    });
    network.run(5_000 * MS);
    let counts = network.sender.counts;
    assert_eq!((counts.retransmitted, counts.recoveries, counts.timeouts), (30, 1, 0));
    // A timeout alone takes more than 200 ms; the halved window costs a few round trips of 20 ms.
    let more_ms = (network.now_ns - clean.now_ns) / MS;
    assert!((20..200).contains(&more_ms), "{more_ms} ms");
}

/// A lost tail is found by a probe; only when the probe is lost as well the timer must expire.
#[test]
fn timeouts_are_for_tails_whose_probe_is_lost_too() {
    for (losses, timeouts) in [(1, 0), (2, 1)] {
        let mut left = losses;
        let mut network = Network::new(transfer(300), move |_, packet| {
            if number(packet) == Some(299) && left > 0 {
                left -= 1;
                return Fate::Lost;
            }
            Fate::Arrives { delay_ns: 10 * MS }
        });
        network.run(5_000 * MS);
        let counts = network.sender.counts;
        assert_eq!((counts.probes, counts.timeouts), (1, timeouts), "{losses} lost");
    }
}

/// Everything under way is lost for 2 s: the timer backs off, and the transfer goes on.
#[test]
fn a_path_that_is_gone_for_a_while() {
    let mut begin = None;
    let mut network = Network::new(transfer(2000), move |_, packet| {
        let at = packet.sent_ns;
        if at > 100 * MS && at < *begin.get_or_insert(at) + 2_000 * MS {
            return Fate::Lost;
        }
        Fate::Arrives { delay_ns: 10 * MS }
    });
    network.run(20_000 * MS);
    let counts = network.sender.counts;
    // 0.2, 0.4, 0.8, 1.6 s: with doubling about 3 or 4 timeouts fit into 2 s.
    assert!((3..=5).contains(&counts.timeouts), "{counts:?}");
}

/// The path stands still for 450 ms: the timer expires, timestamps show that nothing was lost.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut network = Network::new(transfer(3000), |_, packet| {
        let late = packet.sent_ns > 150 * MS && !packet.back;
        let until = if late { (600 * MS).saturating_sub(packet.sent_ns) } else { 0 };
        Fate::Arrives { delay_ns: until.max(10 * MS) }
    });
    network.run(20_000 * MS);
    let counts = network.sender.counts;
    assert!(counts.timeouts >= 1 && counts.undone >= 1, "{counts:?}");
    assert!(counts.retransmitted < 20, "{counts:?}");
}

#[test]
fn an_ack_for_so_many_segments_and_no_later_than_it_may() {
    for (every, quick) in [(1u16, 0u16), (2, 0), (2, 16), (4, 0)] {
        let settings = TcpSettings { ack_every: every, quick_acks: quick, ..TcpSettings::default() };
        let mut receiver = Receiver::new(settings, template(true));
        let mut out = Vec::new();
        for n in 0..400u64 {
            receiver.on_segment(n * 1000, &data(n), &mut out);
        }
        let quick = u64::from(quick);
        assert_eq!(receiver.counts.acks, quick + (400 - quick) / u64::from(every));
        if every > 1 {
            receiver.on_segment(MS, &data(400), &mut out);
            assert_eq!(receiver.timer_ns(), Some(41 * MS));
            let before = receiver.counts.acks;
            receiver.on_timer(40 * MS, &mut out);
            assert_eq!(receiver.counts.acks, before);
            receiver.on_timer(41 * MS, &mut out);
            assert_eq!(receiver.counts.acks, before + 1);
        }
    }
}

/// Segments that come together are one to the receiver (GRO).
#[test]
fn an_ack_for_a_burst() {
    let settings = TcpSettings { receive_offload: 44, quick_acks: 0, ..TcpSettings::default() };
    let mut receiver = Receiver::new(settings, template(true));
    let mut out = Vec::new();
    for n in 0..30 {
        assert!(receiver.on_segment(0, &data(n), &mut out));
    }
    assert!(out.is_empty());
    receiver.end_burst(0, &mut out);
    assert_eq!(out.len(), 1);
    for n in 30..130 {
        receiver.on_segment(MS, &data(n), &mut out);
    }
    receiver.end_burst(MS, &mut out);
    // 44, 44, and the rest.
    assert_eq!(out.len(), 4);
    receiver.on_segment(2 * MS, &data(130), &mut out);
    receiver.end_burst(2 * MS, &mut out);
    assert_eq!(out.len(), 4, "a lone segment waits");
}

/// RFC 2018, 4: the block of the segment that came last is the first; RFC 2883: a duplicate goes before.
#[test]
fn sack_blocks() {
    let mut receiver = Receiver::new(TcpSettings::default(), template(true));
    let mut out = Vec::new();
    let mut blocks = |n: u64| {
        out.clear();
        receiver.on_segment(0, &data(n), &mut out);
        match out.last().map(|p| p.body) {
            Some(Body::Tcp(segment)) => (segment.ack, segment.sack().to_vec()),
            _ => panic!("an ACK at once"),
        }
    };
    assert_eq!(blocks(0), (1, vec![]));
    assert_eq!(blocks(2), (1, vec![(2, 3)]));
    assert_eq!(blocks(4), (1, vec![(4, 5), (2, 3)]));
    assert_eq!(blocks(8), (1, vec![(8, 9), (4, 5), (2, 3)]));
    assert_eq!(blocks(6), (1, vec![(6, 7), (8, 9), (4, 5)]));
    assert_eq!(blocks(3), (1, vec![(2, 5), (6, 7), (8, 9)]));
    assert_eq!(blocks(3), (1, vec![(3, 4), (2, 5), (6, 7)]));
    assert_eq!(blocks(1), (5, vec![(6, 7), (8, 9)]));
    assert_eq!(blocks(0), (5, vec![(0, 1), (6, 7), (8, 9)]));
}

/// Each round of marks is one reduction, and nothing is sent twice.
#[test]
fn ecn_slows_without_a_loss() {
    let settings = TcpSettings { ecn: true, ..transfer(3000) };
    let mut network = Network::new(settings, |count, _| {
        if (1000..1010).contains(&count) {
            Fate::Marked { delay_ns: 10 * MS }
        } else {
            Fate::Arrives { delay_ns: 10 * MS }
        }
    });
    network.run(20_000 * MS);
    let counts = network.sender.counts;
    assert_eq!((counts.ecn_reductions, counts.retransmitted, counts.timeouts), (1, 0, 0));
}

/// Nothing above the limit is ever below the socket: two packets, or 2^-shift seconds of the pacing rate.
#[test]
fn small_queues_hold() {
    for (shift, at_least) in [(10, 2 * 1500), (8, 5_000), (7, 10_000)] {
        let settings = TcpSettings { pacing_shift: shift, ..transfer(3000) };
        let mut network = Network::new(settings, |_, _| Fate::Arrives { delay_ns: 10 * MS });
        assert_eq!(network.sender.small_queue_bytes(), 3000, "no rate is known yet");
        // A host of 10 Mbit/s.
        network.host_ns = 1_200_000;
        network.run(20_000 * MS);
        assert_eq!(network.sender.counts.retransmitted, 0);
        assert!(network.most_below >= at_least, "shift {shift}: {} bytes at most", network.most_below);
    }
}

fn data(number: u64) -> Modelled {
    let segment = Segment {
        number,
        ack: 0,
        mss: 1448,
        data: true,
        flags: Flags::default(),
        ts_value: 0,
        ts_echo: 0,
        window_bytes: 0,
        sack_blocks: 0,
        sack: [(0, 0); SACK_BLOCKS],
    };
    Modelled { body: Body::Tcp(segment), ..template(false) }
}

/// RFC 7323, 4.3: what is echoed never goes back.
#[test]
fn an_overtaken_timestamp_is_not_echoed() {
    let mut receiver = Receiver::new(transfer(10), template(true));
    let mut out = Vec::new();
    let mut arrives = |number, ts_value| {
        let mut packet = data(number);
        let Body::Tcp(segment) = &mut packet.body else { panic!("no TCP") };
        segment.ts_value = ts_value;
        receiver.on_segment(0, &packet, &mut out);
        let Some(Body::Tcp(answer)) = out.last().map(|packet| packet.body) else { panic!("no ACK") };
        answer.ts_echo
    };
    assert_eq!([arrives(0, 7), arrives(1, 9), arrives(1, 8), arrives(2, 9)], [7, 9, 9, 9]);
}

fn congestion() -> impl Strategy<Value = Congestion> {
    prop_oneof![Just(Congestion::Reno), Just(Congestion::Cubic), Just(Congestion::Bbr)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is lost, duplicated or overtaken, both ways: the whole stream arrives, in order and once. No more timers
    /// expire than packets are lost, and that is all the time it takes.
    #[test]
    fn the_whole_stream_arrives(
        congestion in congestion(),
        segments in 1u64..400,
        seed in any::<u64>(),
        loss in 0.0f64..0.3,
        twice in 0.0f64..0.1,
        jitter_ms in 0u32..30,
        ack_every in 1u16..5,
        window in 2u32..200,
        small_queues in any::<bool>(),
        ecn in any::<bool>(),
    ) {
        let settings = TcpSettings {
            congestion, ack_every, small_queues, ecn, window_bytes: window * 1448, ..transfer(segments)
        };
        let mut rng = Rng::new(seed, Stream::PathDown, 0);
        let lost = Cell::new(0);
        let mut network = Network::new(settings, |_, _| {
            let delay_ns = 5 * MS + u64::from(rng.up_to(jitter_ms * 1000)) * 1000;
            match () {
                () if rng.chance(loss) => {
                    lost.set(lost.get() + 1);
                    Fate::Lost
                }
                () if rng.chance(twice) => Fate::Twice { delay_ns },
                () if rng.chance(0.01) => Fate::Marked { delay_ns },
                () => Fate::Arrives { delay_ns },
            }
        });
        // 1200 packets at most, and no timer waits longer than two minutes (`TCP_RTO_MAX`).
        network.run(1200 * 120_000 * MS);
        prop_assert!(network.now_ns <= (lost.get() + 1) * 120_000 * MS, "{} ms for {} lost", network.now_ns / MS, lost.get());
        prop_assert!(network.sender.counts.timeouts <= lost.get(), "{:?} for {} lost", network.sender.counts, lost.get());
        prop_assert_eq!(network.receiver.delivered(), segments);
        prop_assert_eq!(network.sender.in_flight(), 0);
    }
}
