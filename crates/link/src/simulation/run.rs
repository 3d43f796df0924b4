//! The loop.

use random::{Rng, Stream};
use wire::usb::urb::Urb;

use super::flow::{Flow, SLOTS, SLOT_CONTROL, SLOT_RECEIVER, SLOT_SEND, SLOT_SENDER};
use super::measure::Measure;
use super::observer::Observer;
use super::results::SimulationResult;
use super::settings::SimulationSettings;
use super::timers::Timers;
use crate::checked::ScenarioError;
use crate::engine::{DropCause, HostId, Link, Offer, Sink};
use crate::path::{Path, PathSettings, PathStep};
use crate::ppdu::Ppdu;
use crate::traffic::{FlowSettings, Modelled};

/// Flows over a link (and, perhaps, a wire between its server's end and the server), in virtual time. The same settings
/// and seeds give the same results, to the last bit.
pub struct Simulation<L> {
    settings: SimulationSettings,
    link: L,
    /// The wire in front of the link.
    path: Option<Path<Modelled>>,
    hosts: Hosts,
    measure_from_ns: u64,
    end_ns: u64,
    measuring: bool,
}

/// Everything but the link and the wire.
struct Hosts {
    flows: Vec<Flow>,
    timers: Timers,
    /// What hosts want to hand down.
    out: Vec<Modelled>,
    /// Flows that may send more.
    touched: Vec<u32>,
    /// Flows that wait for the end of a burst.
    bursts: Vec<u32>,
    packets: u64,
    now_ns: u64,
}

impl<L: Link<Modelled>> Simulation<L> {
    /// A simulation of `flows` over `link`. Without `path`, host 0 is the access point or the modem's network itself.
    ///
    /// # Errors
    /// Names the key of a setting that is out of its range: of `simulation`, `path`, or `flows[i]`.
    pub fn new(
        settings: SimulationSettings,
        path: Option<PathSettings>,
        flows: &[FlowSettings],
        link: L,
    ) -> Result<Self, ScenarioError> {
        settings.check("simulation")?;
        if let Some(path) = &path {
            path.check("path")?;
        }
        let hosts = link.hosts();
        for (i, flow) in flows.iter().enumerate() {
            flow.check(&format!("flows[{i}]"), hosts)?;
        }
        let ns = |s: f64| (s * 1e9).round() as u64;
        let measure_from_ns = ns(settings.warm_up_s);
        let end_ns = measure_from_ns + ns(settings.duration_s);
        let mut timers = Timers::new(flows.len() * SLOTS as usize);
        let flows: Vec<Flow> = (0u32..)
            .zip(flows)
            .map(|(i, flow)| {
                let spread = Rng::new(settings.seed, Stream::FlowStart, i).unit() * settings.start_spread_s;
                let rng = Rng::new(settings.seed, Stream::Congestion, i);
                let measure = Measure::new((measure_from_ns, end_ns), ns(settings.interval_s));
                let flow = Flow::new(i, flow, ns(flow.start_s + spread), rng, measure);
                timers.set(i * SLOTS + SLOT_CONTROL, flow.timer_ns(SLOT_CONTROL));
                flow
            })
            .collect();
        let path = path.map(|path| Path::new(path, settings.seed));
        let hosts =
            Hosts { flows, timers, out: Vec::new(), touched: Vec::new(), bursts: Vec::new(), packets: 0, now_ns: 0 };
        Ok(Self { settings, link, path, hosts, measure_from_ns, end_ns, measuring: false })
    }

    /// The link.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// When measuring begins, ns.
    pub fn measure_from_ns(&self) -> u64 {
        self.measure_from_ns
    }

    /// When measuring, and the run, ends, ns.
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Runs it from beginning to end and gives the results.
    pub fn run(mut self, observer: &mut impl Observer) -> SimulationResult {
        self.run_until(self.measure_from_ns, observer);
        self.run_until(self.end_ns, observer);
        self.finish(observer).0
    }

    /// Lets everything happen that is due before `until_ns` (or the end, if that is before).
    pub fn run_until(&mut self, until_ns: u64, observer: &mut impl Observer) {
        if !self.measuring && until_ns > self.measure_from_ns {
            self.advance(self.measure_from_ns, observer);
            self.measuring = true;
            self.hosts.flows.iter_mut().for_each(Flow::begin_measuring);
        }
        self.advance(until_ns.min(self.end_ns), observer);
    }

    /// Ends the run, lets the link settle, and gives the results and the link.
    pub fn finish(mut self, observer: &mut impl Observer) -> (SimulationResult, L) {
        self.run_until(self.end_ns, observer);
        let (from_ns, end_ns, settings) = (self.measure_from_ns, self.end_ns, self.settings);
        let interval_ns = (settings.interval_s * 1e9).round() as u64;
        let flows = self.hosts.flows.iter_mut().map(|f| f.result(from_ns, end_ns, interval_ns)).collect();
        let result = SimulationResult {
            seed: settings.seed,
            warm_up_s: settings.warm_up_s,
            duration_s: settings.duration_s,
            interval_s: settings.interval_s,
            flows,
            packets: self.hosts.packets,
        };
        self.link.settle(&mut Ends { path: &mut self.path, hosts: &mut self.hosts, observer });
        (result, self.link)
    }

    fn advance(&mut self, until_ns: u64, observer: &mut impl Observer) {
        let mut link_ns = self.link.next_event().unwrap_or(u64::MAX);
        loop {
            let path_ns = self.path.as_ref().map_or(u64::MAX, Path::next_event);
            let timer_ns = self.hosts.timers.next_ns();
            let now_ns = link_ns.min(path_ns).min(timer_ns);
            if now_ns >= until_ns {
                return;
            }
            self.hosts.now_ns = now_ns;
            let mut link_changed = false;
            if link_ns == now_ns {
                self.link.advance(now_ns, &mut Ends { path: &mut self.path, hosts: &mut self.hosts, observer });
                link_changed = true;
            } else if path_ns == now_ns {
                link_changed = self.step_path(now_ns, observer);
            } else {
                self.hosts.fire(now_ns);
            }
            self.hosts.let_hosts_send(now_ns);
            link_changed |= self.hand_down(now_ns, observer);
            // Nothing else changes what the link does next.
            if link_changed {
                link_ns = self.link.next_event().unwrap_or(u64::MAX);
            }
        }
    }

    /// Lets the next thing happen on the wire; gives whether the link was offered anything.
    fn step_path(&mut self, now_ns: u64, observer: &mut impl Observer) -> bool {
        let (hosts, link) = (&mut self.hosts, &mut self.link);
        let Some(path) = &mut self.path else { return false };
        let mut offered = false;
        path.step(&mut |step| match step {
            PathStep::Freed(packet) => hosts.free(packet),
            PathStep::Lost(at_ns, from, packet) => {
                hosts.lose(at_ns, packet, DropCause::RetryLimit);
                observer.dropped(at_ns, from, packet, DropCause::RetryLimit);
            }
            PathStep::ToLink(to, packet) => {
                offered = true;
                if let Offer::Dropped(cause) = link.offer(now_ns, HostId::SERVER, to, packet) {
                    hosts.lose(now_ns, &packet, cause);
                    observer.dropped(now_ns, HostId::SERVER, &packet, cause);
                }
            }
            PathStep::ToServer(at_ns, packet) => {
                hosts.receive(at_ns, &packet);
                observer.received(at_ns, &packet);
            }
        });
        offered
    }

    /// Hands down what hosts want to send; gives whether the link was offered anything.
    fn hand_down(&mut self, now_ns: u64, observer: &mut impl Observer) -> bool {
        if self.hosts.out.is_empty() {
            return false;
        }
        let mut offered = false;
        let mut out = std::mem::take(&mut self.hosts.out);
        self.hosts.packets += out.len() as u64;
        for packet in out.drain(..) {
            let Some(flow) = self.hosts.flows.get_mut(packet.flow as usize) else { continue };
            flow.on_sent(now_ns, &packet);
            observer.sent(now_ns, &packet);
            let offer = match &mut self.path {
                Some(path) if packet.from == HostId::SERVER => path.offer_down(now_ns, packet.to, packet),
                _ => {
                    offered = true;
                    self.link.offer(now_ns, packet.from, packet.to, packet)
                }
            };
            if let Offer::Dropped(cause) = offer {
                flow.on_local_drop(now_ns, &packet, cause);
                observer.dropped(now_ns, packet.from, &packet, cause);
                self.hosts.sync(packet.flow, SLOT_SEND);
                self.hosts.sync(packet.flow, SLOT_SENDER);
            }
        }
        self.hosts.out = out;
        offered
    }
}

impl Hosts {
    /// Lets the timers act that are due.
    fn fire(&mut self, now_ns: u64) {
        while let Some(slot) = self.timers.pop(now_ns) {
            let (number, slot) = (slot / SLOTS, slot % SLOTS);
            let Some(flow) = self.flows.get_mut(number as usize) else { continue };
            if flow.timer_ns(slot).is_some_and(|at| at <= now_ns) {
                flow.on_timer(slot, now_ns, &mut self.out);
                for slot in 0..SLOTS {
                    self.timers.set(number * SLOTS + slot, flow.timer_ns(slot));
                }
            } else {
                self.timers.set(number * SLOTS + slot, flow.timer_ns(slot));
            }
        }
    }

    fn let_hosts_send(&mut self, now_ns: u64) {
        while let Some(number) = self.bursts.pop() {
            self.flows[number as usize].end_burst(now_ns, &mut self.out);
            self.sync(number, SLOT_RECEIVER);
        }
        while let Some(number) = self.touched.pop() {
            let flow = &mut self.flows[number as usize];
            flow.touched = false;
            flow.send(now_ns, &mut self.out);
            for slot in [SLOT_SEND, SLOT_SENDER] {
                self.timers.set(number * SLOTS + slot, flow.timer_ns(slot));
            }
        }
    }

    fn sync(&mut self, number: u32, slot: u32) {
        if let Some(flow) = self.flows.get(number as usize) {
            self.timers.set(number * SLOTS + slot, flow.timer_ns(slot));
        }
    }

    fn receive(&mut self, at_ns: u64, packet: &Modelled) {
        let Some(flow) = self.flows.get_mut(packet.flow as usize) else { return };
        if flow.on_packet(at_ns, packet, &mut self.out) {
            self.bursts.push(packet.flow);
        }
        if packet.back {
            self.sync(packet.flow, SLOT_SEND);
            self.sync(packet.flow, SLOT_SENDER);
        } else {
            self.sync(packet.flow, SLOT_RECEIVER);
        }
    }

    fn free(&mut self, packet: &Modelled) {
        let Some(flow) = self.flows.get_mut(packet.flow as usize) else { return };
        if flow.on_freed(self.now_ns, packet) {
            self.touched.push(packet.flow);
        }
    }

    fn lose(&mut self, at_ns: u64, packet: &Modelled, cause: DropCause) {
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            flow.on_drop(at_ns, cause);
        }
    }
}

/// The link's sink.
struct Ends<'a, O> {
    path: &'a mut Option<Path<Modelled>>,
    hosts: &'a mut Hosts,
    observer: &'a mut O,
}

impl<O: Observer> Sink<Modelled> for Ends<'_, O> {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Modelled) {
        let path = self.path.as_mut().filter(|_| to == HostId::SERVER);
        let Some(path) = path else {
            self.observer.received(at_ns, &packet);
            return self.hosts.receive(at_ns, &packet);
        };
        if let Offer::Dropped(cause) = path.offer_up(at_ns, packet.from, packet) {
            self.hosts.lose(at_ns, &packet, cause);
            self.observer.dropped(at_ns, packet.from, &packet, cause);
        }
    }

    fn freed(&mut self, _at_ns: u64, from: HostId, packet: &Modelled) {
        // With a wire the server's buffers were freed when the wire had sent them.
        if from != HostId::SERVER || self.path.is_none() {
            self.hosts.free(packet);
        }
    }

    fn dropped(&mut self, at_ns: u64, from: HostId, packet: &Modelled, cause: DropCause) {
        self.hosts.lose(at_ns, packet, cause);
        self.observer.dropped(at_ns, from, packet, cause);
    }

    fn wants_air(&self) -> bool {
        self.observer.wants_air()
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Modelled>) {
        self.observer.air(ppdu);
    }

    fn wants_bus(&self) -> bool {
        self.observer.wants_bus()
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        self.observer.bus(urb);
    }
}
