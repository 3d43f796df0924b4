//! The link: packets in, time forward, packets out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::checked::ScenarioError;
use crate::engine::{AccessCategory, DropCause, HostId, Link, Offer, Packet, Sink};
use crate::wlan::bus::{in_len, out_len, Bus};
use crate::wlan::carried::{Carried, MAX_PACKET_BYTES};
use crate::wlan::counters::{Counters, SideCounters, StationCounters};
use crate::wlan::host::{Done, Way};
use crate::wlan::on_air::Exchange;
use crate::wlan::phy::Phy;
use crate::wlan::radio::{host, Radio};
use crate::wlan::settings::Scenario;
use medium::Access;
use random::{Rng, Stream};

/// Time between beacons: 100 TU.
const BEACON_INTERVAL_NS: u64 = 102_400_000;
/// Channel access functions of a radio.
const CATEGORIES: usize = AccessCategory::BY_PRIORITY.len();
/// What a radio (the first number) receives from one of its peers in a category.
pub(crate) type Flow = (usize, usize, AccessCategory);

/// An access point and its stations on one channel. See the crate's documentation.
pub struct WlanLink<P> {
    pub(crate) scenario: Scenario,
    pub(crate) phy: Phy,
    pub(crate) draws: Draws,
    /// The access point, and the stations in the order of their hosts.
    pub(crate) radios: Vec<Radio<P>>,
    pub(crate) counts: Vec<SideCounters>,
    pub(crate) names: Vec<String>,
    /// Signal-to-noise ratio of what the access point sends, at each station.
    pub(crate) snr_down_db: Vec<Option<f64>>,
    pub(crate) collisions: u64,
    pub(crate) access: Access,
    /// What is on the air.
    pub(crate) exchange: Option<Exchange>,
    pub(crate) beacon_due_ns: u64,
    /// Nothing new is begun.
    pub(crate) settling: bool,
    pub(crate) now_ns: u64,
    /// Where a radio is reached over USB.
    pub(crate) bus: Option<Bus<P>>,
    /// When the host of a radio is done with a packet.
    hosts: BinaryHeap<Reverse<(u64, usize)>>,
    /// When a gap in what a radio has received from a peer is given up.
    pub(crate) gaps: BinaryHeap<Reverse<(u64, Flow)>>,
    /// What queues have dropped and no sink has received yet, by radio.
    pub(crate) gone: Vec<(usize, Carried<P>, DropCause)>,
    /// What a queue has just dropped.
    pub(crate) gone_packets: Vec<(Carried<P>, DropCause)>,
    pub(crate) up: Vec<Carried<P>>,
    /// Lists to be used again.
    pub(crate) spare: Vec<Vec<u16>>,
    winners: Vec<u32>,
    begin: Vec<(usize, AccessCategory)>,
}

/// What is left to chance, each with a source of its own.
pub(crate) struct Draws {
    pub(crate) backoff: Rng,
    pub(crate) loss: Rng,
    pub(crate) answer: Rng,
    pub(crate) rate: Rng,
}

impl Draws {
    fn new(seed: u64) -> Self {
        let of = |stream| Rng::new(seed, stream, 0);
        Self {
            backoff: of(Stream::WlanBackoff),
            loss: of(Stream::WlanLoss),
            answer: of(Stream::WlanAnswer),
            rate: of(Stream::WlanRate),
        }
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Gone,
    Host(usize),
    Gap,
    Exchange,
    Beacon,
    Contention,
}

impl<P: Packet + 'static> WlanLink<P> {
    /// A silent link at time 0.
    ///
    /// # Errors
    /// An invalid scenario.
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        scenario.check("")?;
        let mut phy = Phy::new(&scenario)?;
        let radios = crate::wlan::assemble::radios(&scenario, &mut phy)?;
        let parameters = crate::wlan::assemble::parameters(&scenario);
        let stations = scenario.each_station();
        let snr_down_db =
            stations.map(|(_, station)| crate::wlan::phy::speech_down(&scenario, station).snr_db).collect();
        Ok(Self {
            draws: Draws::new(scenario.seed),
            access: Access::new(phy.spaces, CATEGORIES, parameters.into_iter()),
            counts: radios.iter().map(|radio| SideCounters::new(&radio.settings)).collect(),
            bus: radios.iter().any(|radio| radio.settings.usb.is_some()).then(|| Bus::new(&radios)),
            names: scenario.each_station().map(|(name, _)| name).collect(),
            snr_down_db,
            beacon_due_ns: if scenario.medium.beacons { BEACON_INTERVAL_NS } else { u64::MAX },
            scenario,
            phy,
            radios,
            collisions: 0,
            exchange: None,
            settling: false,
            now_ns: 0,
            hosts: BinaryHeap::new(),
            gaps: BinaryHeap::new(),
            gone: Vec::new(),
            gone_packets: Vec::new(),
            up: Vec::new(),
            spare: Vec::new(),
            winners: Vec::new(),
            begin: Vec::new(),
        })
    }

    /// The settings.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let stations: Vec<StationCounters> = (1..self.radios.len())
            .map(|radio| StationCounters {
                name: self.names[radio - 1].clone(),
                radio: self.counts[radio].clone(),
                down: self.radios[0].peers[radio - 1].counts.clone(),
                up: self.radios[radio].peers[0].counts.clone(),
            })
            .collect();
        Counters { dut: stations[0].radio.clone(), ap: self.counts[0].clone(), collisions: self.collisions, stations }
    }

    /// Packets in the queues of a host's radio (those on the way to it through the host included).
    pub fn queued(&self, host: HostId) -> usize {
        self.radios.get(host.index()).map_or(0, |radio| radio.backlog() + radio.host.waiting_down())
    }

    /// A radio takes no more packets: its queue is full, or (where it has better queues) what waits for its host.
    fn is_full(&self, radio: usize) -> bool {
        let own = &self.radios[radio];
        let queued = if own.settings.queueing.is_some() { 0 } else { own.backlog() };
        queued + own.host.waiting_down() >= own.settings.queue_packets as usize
    }

    /// The number of a channel access function.
    pub(crate) const fn function(&self, radio: usize, category: AccessCategory) -> u32 {
        self.access.function(radio, category.priority())
    }

    fn next(&self) -> Option<(u64, Next)> {
        if !self.gone.is_empty() {
            return Some((self.now_ns, Next::Gone));
        }
        let mut next = (u64::MAX, Next::Gone);
        let mut before = |ns: u64, what: Next| {
            if ns < next.0 {
                next = (ns, what);
            }
        };
        // The first of those that are due at once.
        if let Some(&Reverse((ns, radio))) = self.hosts.peek() {
            before(ns, Next::Host(radio));
        }
        if let Some(&Reverse((ns, _))) = self.gaps.peek() {
            before(ns, Next::Gap);
        }
        match (&self.exchange, self.access.silent_since_ns()) {
            (Some(exchange), _) => before(exchange.end_ns, Next::Exchange),
            (None, idle_ns) => {
                if self.beacon_due_ns != u64::MAX {
                    let beacon_ns = self.beacon_due_ns.max(idle_ns.unwrap_or(0) + self.phy.spaces.pifs_ns());
                    before(beacon_ns, Next::Beacon);
                }
                if let Some(ns) = self.access.next_ns() {
                    before(ns, Next::Contention);
                }
            }
        }
        (next.0 != u64::MAX).then_some(next)
    }

    /// Those that have the turn begin to send.
    fn contend(&mut self, at_ns: u64) {
        let mut functions = std::mem::take(&mut self.winners);
        self.access.winners(&mut functions);
        let mut winners = std::mem::take(&mut self.begin);
        let mut losers = Vec::new();
        // The highest category of a radio first.
        for &function in functions.iter().rev() {
            let (radio, category) = self.access.owner(function);
            let category = AccessCategory::BY_PRIORITY[category];
            let own = &self.radios[radio];
            let txop_ns = own.txop_ns[category.priority()];
            let limit_ns = if txop_ns == 0 { u64::MAX } else { txop_ns };
            if own.lanes[category.priority()].made.is_empty() && !self.make(at_ns, radio, category, limit_ns, true) {
                self.refresh(radio, category, at_ns);
            } else if winners.last().is_some_and(|&(winner, _)| winner == radio) {
                losers.push(function);
                self.counts[radio].internal_collisions += 1;
            } else {
                winners.push((radio, category));
            }
        }
        self.winners = functions;
        if !winners.is_empty() {
            winners.reverse();
            self.access.take(at_ns);
            for function in losers {
                self.access.internal_collision(function, &mut self.draws.backoff);
            }
            self.begin(at_ns, &winners);
            winners.clear();
        }
        self.begin = winners;
    }

    fn host_done(&mut self, radio: usize, at_ns: u64, sink: &mut impl Sink<P>) {
        let own = &mut self.radios[radio];
        match own.host.finish() {
            Some(Done { way: Way::Down, packet, urb, .. }) => {
                if let Some(count) = &mut self.counts[radio].usb {
                    let len = out_len(own.qos, packet.size_bytes());
                    count.out_urbs += 1;
                    count.out_bytes += len as u64;
                    self.bus.iter_mut().for_each(|bus| bus.complete_out(at_ns, radio, urb, len));
                }
                self.enqueue_accepted(at_ns, radio, packet);
            }
            Some(Done { way: Way::Up, packet, urb, ends_urb }) => {
                if ends_urb {
                    self.bus.iter_mut().for_each(|bus| bus.submit_in(at_ns, radio, urb));
                }
                self.deliver(radio, at_ns, packet, sink);
            }
            None => {}
        }
        self.start_host(radio, at_ns);
    }

    /// Lets the host of a radio take its next packet in hand.
    pub(crate) fn start_host(&mut self, radio: usize, now_ns: u64) {
        let own = &mut self.radios[radio];
        let in_device = own.backlog();
        self.hosts.extend(own.host.start(now_ns, in_device).map(|ns| Reverse((ns, radio))));
        if let (Some((urb, packet)), Some(bus)) = (own.host.submitted(), &mut self.bus) {
            bus.submit_out(now_ns, radio, urb, packet);
        }
    }

    /// Puts a packet into the queues of a radio. Gives it back when they have no room for it.
    fn enqueue(&mut self, now_ns: u64, radio: usize, packet: Carried<P>) -> Option<Carried<P>> {
        let own = &mut self.radios[radio];
        let peer = if radio == 0 { packet.to.index().wrapping_sub(1) } else { 0 };
        let category = own.lane(peer, packet.category());
        own.queue.enqueue(now_ns, peer, category, packet, &mut self.gone_packets);
        let lane = &mut own.lanes[category.priority()];
        lane.backlog += 1;
        lane.starved = false;
        let mut refused = None;
        if !self.gone_packets.is_empty() {
            // Only what comes is ever refused for want of room.
            let index = self.gone_packets.iter().position(|(_, cause)| *cause == DropCause::QueueFull);
            refused = index.map(|index| self.gone_packets.swap_remove(index).0);
            lane.backlog -= usize::from(refused.is_some());
            self.note_gone(radio, category);
        }
        let backlog = self.radios[radio].backlog() as u64;
        let count = &mut self.counts[radio];
        count.queue_max_packets = count.queue_max_packets.max(backlog);
        self.fill_hardware(now_ns, radio, category);
        self.refresh(radio, category, now_ns);
        refused
    }

    /// [`Self::enqueue`] for a packet that the link has accepted before.
    fn enqueue_accepted(&mut self, now_ns: u64, radio: usize, packet: Carried<P>) {
        if let Some(refused) = self.enqueue(now_ns, radio, packet) {
            self.gone.push((radio, refused, DropCause::QueueFull));
        }
    }

    /// Records what the queue of a radio has just dropped.
    pub(crate) fn note_gone(&mut self, radio: usize, category: AccessCategory) {
        self.radios[radio].lanes[category.priority()].backlog -= self.gone_packets.len();
        self.gone.extend(self.gone_packets.drain(..).map(|(packet, cause)| (radio, packet, cause)));
    }

    fn tell_gone(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        for (radio, packet, cause) in self.gone.drain(..) {
            self.counts[radio].drops.count(cause);
            sink.dropped(at_ns, packet.from, &packet.packet, cause);
            if packet.from == host(radio) {
                sink.freed(at_ns, packet.from, &packet.packet);
            }
        }
    }

    fn deliver(&mut self, radio: usize, at_ns: u64, packet: Carried<P>, sink: &mut impl Sink<P>) {
        let bytes = packet.size_bytes() as u64;
        let count = &mut self.counts[packet.from.index()];
        count.packets_delivered += 1;
        count.bytes_delivered += bytes;
        let (sender, peer) = if radio == 0 { (packet.from.index(), 0) } else { (0, radio - 1) };
        let count = &mut self.radios[sender].peers[peer].counts;
        count.packets_delivered += 1;
        count.bytes_delivered += bytes;
        sink.deliver(at_ns, packet.to, packet.packet);
    }

    /// Hands what a radio has received in order to its host, or on to the station that it is for.
    pub(crate) fn hand_up(&mut self, radio: usize, at_ns: u64, sink: &mut impl Sink<P>) {
        let mut up = std::mem::take(&mut self.up);
        let mut handed_up = 0;
        // The IN URB that is being filled, and its bytes.
        let (mut urb, mut urb_len) = (0, 0);
        for packet in up.drain(..) {
            let own = &mut self.radios[radio];
            if packet.to != host(radio) {
                self.enqueue_accepted(at_ns, radio, packet);
            } else if own.host.is_free() {
                self.deliver(radio, at_ns, packet, sink);
            } else if !own.host.is_full_up(handed_up) {
                let (qos, bytes) = (own.qos, packet.size_bytes());
                let received = self.bus.as_ref().is_some_and(Bus::is_wanted).then(|| packet.clone());
                let into = own.host.push(Way::Up, packet, handed_up);
                handed_up += 1;
                if let Some(count) = &mut self.counts[radio].usb {
                    let before = if into == urb { urb_len } else { 0 };
                    count.in_urbs += u64::from(into != urb);
                    (urb, urb_len) = (into, in_len(before, qos, bytes));
                    count.in_packets += 1;
                    count.in_bytes += (urb_len - before) as u64;
                }
                if let (Some(bus), Some(packet)) = (&mut self.bus, received) {
                    bus.receive(at_ns, radio, into, packet);
                }
            } else {
                self.counts[packet.from.index()].drops.receiver_full += 1;
                sink.dropped(at_ns, packet.from, &packet.packet, DropCause::ReceiverFull);
            }
        }
        self.up = up;
        if handed_up > 0 {
            self.start_host(radio, at_ns);
        }
    }

    /// Shows what has happened on the bus so far.
    fn show_bus(&mut self, sink: &mut impl Sink<P>) {
        if let Some(bus) = &mut self.bus {
            bus.show(self.now_ns, sink);
        }
    }

    /// Records whether a radio has something to send in a category.
    pub(crate) fn refresh(&mut self, radio: usize, category: AccessCategory, at_ns: u64) {
        let ready = self.radios[radio].is_ready(category);
        let function = self.function(radio, category);
        self.access.set_ready(function, at_ns, ready, &mut self.draws.backoff);
    }
}

impl<P: Packet + 'static> Link<P> for WlanLink<P> {
    fn hosts(&self) -> usize {
        self.radios.len()
    }

    fn offer(&mut self, now_ns: u64, from: HostId, to: HostId, packet: P) -> Offer {
        let radio = from.index();
        debug_assert!(from != to && radio < self.radios.len() && to.index() < self.radios.len(), "{from:?} to {to:?}");
        self.now_ns = self.now_ns.max(now_ns);
        self.counts[radio].packets_offered += 1;
        let cause = if packet.size_bytes() > MAX_PACKET_BYTES {
            Some(DropCause::Oversize)
        } else if self.is_full(radio) {
            Some(DropCause::QueueFull)
        } else {
            None
        };
        if let Some(cause) = cause {
            self.counts[radio].drops.count(cause);
            return Offer::Dropped(cause);
        }
        let packet = Carried { packet, from, to };
        let own = &mut self.radios[radio];
        if own.host.is_free() {
            if self.enqueue(self.now_ns, radio, packet).is_some() {
                self.counts[radio].drops.count(DropCause::QueueFull);
                return Offer::Dropped(DropCause::QueueFull);
            }
        } else {
            own.host.push(Way::Down, packet, 0);
            self.start_host(radio, self.now_ns);
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
                Next::Gone => self.tell_gone(at_ns, sink),
                Next::Host(radio) => {
                    self.hosts.pop();
                    self.host_done(radio, at_ns, sink);
                }
                Next::Gap => self.look_after_gap(at_ns, sink),
                Next::Exchange => self.step(sink),
                Next::Beacon => {
                    self.beacon_due_ns += BEACON_INTERVAL_NS;
                    self.access.take(at_ns);
                    self.begin_beacon(at_ns);
                }
                Next::Contention => self.contend(at_ns),
            }
            self.show_bus(sink);
        }
        self.now_ns = self.now_ns.max(now_ns);
        self.show_bus(sink);
    }

    fn settle(&mut self, sink: &mut impl Sink<P>) {
        self.settling = true;
        while let Some(exchange) = &self.exchange {
            self.now_ns = self.now_ns.max(exchange.end_ns);
            self.step(sink);
        }
        self.tell_gone(self.now_ns, sink);
        self.show_bus(sink);
        self.settling = false;
    }
}
