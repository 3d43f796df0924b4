//! The link: packets in, time forward, packets out.

use crate::checked::ScenarioError;
use crate::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use crate::rng::Rng;
use crate::wlan::contention::Contender;
use crate::wlan::counters::{Counters, SideCounters};
use crate::wlan::exchange::Exchange;
use crate::wlan::host::{Host, Way};
use crate::wlan::originator::Originator;
use crate::wlan::phy::Phy;
use crate::wlan::recipient::Recipient;
use crate::wlan::scenario::Scenario;

/// Time between beacons: 100 TU.
const BEACON_INTERVAL_NS: u64 = 102_400_000;

/// One end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The station.
    Dut,
    /// The access point.
    Ap,
}

impl Side {
    /// Both ends.
    pub const BOTH: [Self; 2] = [Self::Dut, Self::Ap];

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Dut => Self::Ap,
            Self::Ap => Self::Dut,
        }
    }

    /// The host at this end.
    pub const fn host(self) -> HostId {
        match self {
            Self::Dut => HostId(1),
            Self::Ap => HostId::SERVER,
        }
    }

    /// The end that a host is at.
    pub const fn of(host: HostId) -> Self {
        match host {
            HostId::SERVER => Self::Ap,
            _ => Self::Dut,
        }
    }

    /// 0 and 1.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One station.
#[derive(Clone, Debug)]
pub(crate) struct Node<P> {
    pub(crate) originator: Originator<P>,
    pub(crate) recipient: Recipient<P>,
    pub(crate) contender: Contender,
    host: Host<P>,
    queue_packets: usize,
}

/// A link between two stations. See the crate's documentation.
#[derive(Clone, Debug)]
pub struct WlanLink<P> {
    pub(crate) scenario: Scenario,
    pub(crate) phy: Phy,
    pub(crate) rng: Rng,
    pub(crate) nodes: [Node<P>; 2],
    pub(crate) counts: [SideCounters; 2],
    pub(crate) collisions: u64,
    /// What is on the air.
    pub(crate) exchange: Option<Exchange>,
    /// When the medium fell silent (signal extension included).
    pub(crate) idle_ns: u64,
    pub(crate) beacon_due_ns: u64,
    now_ns: u64,
    pub(crate) up: Vec<P>,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Host(Side),
    Exchange,
    Beacon,
    Contention,
}

impl<P: Packet> WlanLink<P> {
    /// A silent link at time 0.
    ///
    /// # Errors
    /// A scenario that cannot be.
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let phy = Phy::new(&scenario)?;
        let (dut, ap) = (&scenario.dut, &scenario.ap);
        let nodes = [(dut, ap), (ap, dut)].map(|(own, peer)| Node {
            originator: Originator::new(own),
            recipient: Recipient::new(peer.tx_ampdu),
            contender: Contender::new(&phy),
            host: Host::new(own.per_packet_cost_us),
            queue_packets: own.queue_packets as usize,
        });
        Ok(Self {
            rng: Rng::new(scenario.seed),
            beacon_due_ns: if scenario.medium.beacons { BEACON_INTERVAL_NS } else { u64::MAX },
            scenario,
            phy,
            nodes,
            counts: Default::default(),
            collisions: 0,
            exchange: None,
            idle_ns: 0,
            now_ns: 0,
            up: Vec::new(),
        })
    }

    /// The settings.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let [dut, ap] = self.counts.clone();
        Counters { dut, ap, collisions: self.collisions }
    }

    /// Packets in the driver queue of `side` (those on the way to it through the host included).
    pub fn queued(&self, side: Side) -> usize {
        let node = &self.nodes[side.index()];
        node.originator.queued() + node.host.waiting(Way::Down)
    }

    fn next(&self) -> Option<(u64, Next)> {
        let hosts = Side::BOTH
            .into_iter()
            .filter_map(|side| Some((self.nodes[side.index()].host.next_ns()?, Next::Host(side))));
        let medium = match &self.exchange {
            Some(exchange) => Some((exchange.stage_ends_ns(), Next::Exchange)),
            None => {
                let beacon_ns = self.beacon_due_ns.max(self.idle_ns + self.phy.pifs_ns);
                let slot = Side::BOTH.into_iter().filter_map(|side| self.slot(side)).min();
                let contention = slot.map(|slot| (self.slot_ns(slot), Next::Contention));
                let beacon = (beacon_ns, Next::Beacon);
                match contention {
                    Some(contention) if contention.0 < beacon_ns => Some(contention),
                    _ if self.beacon_due_ns == u64::MAX => contention,
                    _ => Some(beacon),
                }
            }
        };
        hosts.chain(medium).min_by_key(|&(ns, _)| ns)
    }

    fn slot(&self, side: Side) -> Option<u64> {
        self.nodes[side.index()].contender.slot(&self.phy, self.idle_ns)
    }

    fn slot_ns(&self, slot: u64) -> u64 {
        self.idle_ns + self.phy.aifs_ns + slot * self.phy.slot_ns
    }

    /// Those whose turn it is begin to send.
    fn contend(&mut self, at_ns: u64) {
        let slots = Side::BOTH.map(|side| self.slot(side));
        let Some(slot) = slots.into_iter().flatten().min() else { return };
        let winners: Vec<Side> = Side::BOTH.into_iter().filter(|side| slots[side.index()] == Some(slot)).collect();
        self.take_medium(at_ns);
        for side in &winners {
            self.nodes[side.index()].contender.begin();
        }
        match winners[..] {
            [side] => self.begin(at_ns, side),
            _ => self.begin_collision(at_ns),
        }
    }

    /// Somebody sends from now on: the silence before counts for everybody's backoff.
    fn take_medium(&mut self, at_ns: u64) {
        let silent = at_ns.saturating_sub(self.idle_ns + self.phy.aifs_ns) / self.phy.slot_ns;
        for node in &mut self.nodes {
            node.contender.count_down(silent);
        }
    }

    fn host_done(&mut self, side: Side, at_ns: u64, sink: &mut impl Sink<P>) {
        match self.nodes[side.index()].host.pop() {
            Some((Way::Down, packet)) => {
                self.nodes[side.index()].originator.push(packet);
                self.refresh(side, at_ns);
            }
            Some((Way::Up, packet)) => self.deliver(side, at_ns, packet, sink),
            None => {}
        }
    }

    fn deliver(&mut self, to: Side, at_ns: u64, packet: P, sink: &mut impl Sink<P>) {
        let count = &mut self.counts[to.other().index()];
        count.packets_delivered += 1;
        count.bytes_delivered += packet.size_bytes() as u64;
        sink.deliver(at_ns, to.host(), packet);
    }

    /// Hands what the radio at `to` has received in order to its host.
    pub(crate) fn hand_up(&mut self, to: Side, at_ns: u64, sink: &mut impl Sink<P>) {
        let mut up = std::mem::take(&mut self.up);
        for packet in up.drain(..) {
            let node = &mut self.nodes[to.index()];
            if node.host.is_free() {
                self.deliver(to, at_ns, packet, sink);
            } else if node.host.waiting(Way::Up) < node.queue_packets {
                node.host.push(at_ns, Way::Up, packet);
            } else {
                self.counts[to.other().index()].drops.receiver_full += 1;
                sink.dropped(at_ns, to.other().host(), &packet, DropCause::ReceiverFull);
            }
        }
        self.up = up;
    }

    /// Takes note of whether `side` has something to send.
    pub(crate) fn refresh(&mut self, side: Side, at_ns: u64) {
        let node = &mut self.nodes[side.index()];
        node.contender.set_ready(at_ns, node.originator.has_work(), self.exchange.is_some(), &mut self.rng);
    }
}

impl<P: Packet> Link<P> for WlanLink<P> {
    fn hosts(&self) -> usize {
        2
    }

    fn offer(&mut self, now_ns: u64, from: HostId, to: HostId, packet: P) -> Offer {
        debug_assert!(from != to && from.index() < 2 && to.index() < 2, "{from:?} to {to:?}");
        let side = Side::of(from);
        self.now_ns = self.now_ns.max(now_ns);
        let count = &mut self.counts[side.index()];
        count.packets_offered += 1;
        if self.queued(side) >= self.nodes[side.index()].queue_packets {
            self.counts[side.index()].drops.queue_full += 1;
            return Offer::Dropped(DropCause::QueueFull);
        }
        let node = &mut self.nodes[side.index()];
        if node.host.is_free() {
            node.originator.push(packet);
            self.refresh(side, self.now_ns);
        } else {
            node.host.push(self.now_ns, Way::Down, packet);
        }
        Offer::Accepted
    }

    fn next_event(&self) -> Option<u64> {
        self.next().map(|(ns, _)| ns)
    }

    fn advance(&mut self, now_ns: u64, sink: &mut impl Sink<P>) {
        while let Some((at_ns, next)) = self.next().filter(|&(at_ns, _)| at_ns <= now_ns) {
            self.now_ns = self.now_ns.max(at_ns);
            match next {
                Next::Host(side) => self.host_done(side, at_ns, sink),
                Next::Exchange => self.step(at_ns, sink),
                Next::Beacon => {
                    self.beacon_due_ns += BEACON_INTERVAL_NS;
                    self.take_medium(at_ns);
                    self.begin_beacon(at_ns);
                }
                Next::Contention => self.contend(at_ns),
            }
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    fn settle(&mut self, sink: &mut impl Sink<P>) {
        while let Some(exchange) = &self.exchange {
            let at_ns = exchange.stage_ends_ns();
            self.now_ns = self.now_ns.max(at_ns);
            self.step(at_ns, sink);
        }
    }
}
