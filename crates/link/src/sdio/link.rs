//! The link: packets in, time forward, packets out.

use std::collections::VecDeque;

use crate::checked::ScenarioError;
use crate::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use crate::sdio::bus::Cost;
use crate::sdio::counters::SdioCounters;
use crate::sdio::poll::Poll;
use crate::sdio::radio::{Radio, Way};
use crate::sdio::settings::{Hif, Interrupts, ProcessRuns, SdioSettings, REFERENCE_MHZ};

/// The machine that the card is in.
pub const NEAR_HOST: HostId = HostId(1);

/// A machine with an SDIO WLAN card, and a server behind its access point. See the module.
#[derive(Clone, Debug)]
pub struct SdioLink<P> {
    settings: SdioSettings,
    now_ns: u64,
    counters: SdioCounters,
    /// Packets that wait for the card, from when on they can be written.
    outgoing: VecDeque<(u64, P)>,
    /// Frames that the card can still take.
    credits: usize,
    /// What is on the bus.
    doing: Option<(u64, Doing<P>)>,
    /// The interrupt that is being served.
    service: Option<Service>,
    last_was_write: bool,
    poll: Poll,
    /// From when on the interrupt thread can run; without polling.
    thread_ns: Option<u64>,
    /// In the card, for the host.
    received: VecDeque<Message<P>>,
    /// Credits that are in no message yet.
    owed: usize,
    /// In the host, for a process that does not run before the service is over.
    held: Vec<P>,
    /// In the host, until its CPU is done with it.
    incoming: VecDeque<(u64, P)>,
    cpu_free_ns: u64,
    radio: Radio<P>,
    /// From the server to the access point.
    arriving: VecDeque<(u64, P)>,
    /// From the access point to the server.
    leaving: VecDeque<(u64, P)>,
    /// Offered at the server, and not seen to be gone yet.
    offered: VecDeque<P>,
}

/// An interrupt that is being served.
#[derive(Clone, Copy, Debug)]
struct Service {
    /// Messages that may still be read.
    left: u32,
    /// Several were read at once.
    bundled: bool,
}

/// What the card has for the host: a frame, or credits, or both.
#[derive(Clone, Debug)]
struct Message<P> {
    frame: Option<P>,
    credits: usize,
}

/// What is on the bus.
#[derive(Clone, Debug)]
enum Doing<P> {
    /// CMD52: is there an interrupt, and from which function?
    Ask,
    /// CMD53: the card's status.
    Status,
    /// CMD53: messages.
    Read(Vec<Message<P>>),
    /// CMD53: frames to be sent.
    Write(Vec<P>),
    /// The driver works on what it read, and holds the bus.
    Work,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Offered,
    Bus,
    Begin,
    Radio,
    Arriving,
    Leaving,
    Incoming,
}

impl<P: Packet> SdioLink<P> {
    /// A silent link at time 0.
    ///
    /// # Errors
    /// Invalid settings; keys begin with `sdio`.
    pub fn new(settings: SdioSettings) -> Result<Self, ScenarioError> {
        settings.check("sdio")?;
        Ok(Self {
            now_ns: 0,
            counters: SdioCounters::default(),
            outgoing: VecDeque::new(),
            credits: settings.card.send_frames as usize,
            doing: None,
            service: None,
            last_was_write: false,
            poll: Poll::new(settings.host.hz, settings.host.late_ticks),
            thread_ns: None,
            received: VecDeque::new(),
            owed: 0,
            held: Vec::new(),
            incoming: VecDeque::new(),
            cpu_free_ns: 0,
            radio: Radio::new(&settings.radio, settings.seed),
            arriving: VecDeque::new(),
            leaving: VecDeque::new(),
            offered: VecDeque::new(),
            settings,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &SdioSettings {
        &self.settings
    }

    /// What was counted so far.
    pub fn counters(&self) -> SdioCounters {
        SdioCounters {
            air_busy_ns: self.radio.busy_ns,
            missed_beacons: self.radio.missed_beacons,
            ..self.counters.clone()
        }
    }

    /// Packets offered at `from` that are neither delivered nor dropped.
    pub fn queued(&self, from: HostId) -> usize {
        let (reads, writes) = match &self.doing {
            Some((_, Doing::Read(messages))) => (frames_in(messages), 0),
            Some((_, Doing::Write(frames))) => (0, frames.len()),
            _ => (0, 0),
        };
        if from == HostId::SERVER {
            let in_card = frames_in(&self.received) + reads;
            self.arriving.len() + self.radio.packets(Way::Down) + in_card + self.held.len() + self.incoming.len()
        } else {
            self.outgoing.len() + writes + self.radio.packets(Way::Up) + self.leaving.len()
        }
    }

    fn is_polling(&self) -> bool {
        self.settings.host.interrupts == Interrupts::Polling
    }

    /// Frames that the card can take from the air.
    fn room(&self) -> usize {
        (self.settings.card.receive_frames as usize).saturating_sub(self.received.len())
    }

    /// The card has a message for the host.
    fn put(&mut self, at_ns: u64, frame: Option<P>) {
        let credits = std::mem::take(&mut self.owed);
        self.received.push_back(Message { frame, credits });
        self.interrupt(at_ns);
    }

    fn next(&self) -> Option<(u64, Step)> {
        let begin_ns = || self.write_ns().into_iter().chain(self.serve_ns()).min();
        let bus = match &self.doing {
            Some((end_ns, _)) => Some((*end_ns, Step::Bus)),
            None => begin_ns().map(|ns| (ns, Step::Begin)),
        };
        [
            (!self.offered.is_empty()).then_some((self.now_ns, Step::Offered)),
            bus,
            self.radio.next_ns(self.now_ns, self.room()).map(|ns| (ns, Step::Radio)),
            self.arriving.front().map(|&(ns, _)| (ns, Step::Arriving)),
            self.leaving.front().map(|&(ns, _)| (ns, Step::Leaving)),
            self.incoming.front().map(|&(ns, _)| (ns, Step::Incoming)),
        ]
        .into_iter()
        .flatten()
        .map(|(ns, step)| (ns.max(self.now_ns), step))
        .min_by_key(|&(ns, _)| ns)
    }

    /// From when on a frame can be written.
    fn write_ns(&self) -> Option<u64> {
        self.outgoing.front().filter(|_| self.credits > 0).map(|&(ns, _)| ns)
    }

    /// From when on the interrupt thread can run.
    fn serve_ns(&self) -> Option<u64> {
        if self.is_polling() {
            Some(self.poll.due_ns())
        } else {
            self.thread_ns
        }
    }

    fn step(&mut self, at_ns: u64, step: Step, sink: &mut impl Sink<P>) {
        match step {
            Step::Offered => {
                for packet in self.offered.drain(..) {
                    sink.freed(at_ns, HostId::SERVER, &packet);
                }
            }
            Step::Bus => self.end(at_ns, sink),
            Step::Begin => self.begin(at_ns),
            Step::Radio => self.air(at_ns),
            Step::Arriving => {
                self.radio.down.extend(self.arriving.pop_front().map(|(_, packet)| packet));
            }
            Step::Leaving => {
                if let Some((_, packet)) = self.leaving.pop_front() {
                    self.counters.uplink.packets_delivered += 1;
                    self.counters.uplink.bytes_delivered += packet.size_bytes() as u64;
                    sink.deliver(at_ns, HostId::SERVER, packet);
                }
            }
            Step::Incoming => {
                if let Some((_, packet)) = self.incoming.pop_front() {
                    self.counters.downlink.packets_delivered += 1;
                    self.counters.downlink.bytes_delivered += packet.size_bytes() as u64;
                    sink.deliver(at_ns, NEAR_HOST, packet);
                }
            }
        }
    }

    fn air(&mut self, at_ns: u64) {
        let room = self.room();
        match self.radio.step(at_ns, room) {
            Some((Way::Up, frames)) => {
                let at_server_ns = at_ns + u64::from(self.settings.radio.wire_us) * 1_000;
                if self.settings.card.reports_credits {
                    self.owed += frames.len();
                    let is_half = 2 * self.owed >= self.settings.card.send_frames as usize;
                    if is_half || self.radio.packets(Way::Up) == 0 {
                        self.put(at_ns, None);
                    }
                } else {
                    self.credits += frames.len();
                }
                // The access point passes frames of one turn on one after the other, at 1 Gbit/s.
                let mut bytes = 0;
                for packet in frames {
                    bytes += packet.size_bytes() as u64;
                    self.leaving.push_back((at_server_ns + bytes * 8, packet));
                }
            }
            Some((Way::Down, frames)) => {
                frames.into_iter().for_each(|frame| self.put(at_ns, Some(frame)));
            }
            None => {}
        }
    }

    /// The card asserts its interrupt: the thread will run.
    fn interrupt(&mut self, at_ns: u64) {
        if self.thread_ns.is_none() && self.service.is_none() {
            self.thread_ns = Some(at_ns + micros(self.settings.host.wake_us));
        }
    }

    /// The bus is free, and something is due.
    fn begin(&mut self, at_ns: u64) {
        let is_due = |ns: Option<u64>| ns.is_some_and(|ns| ns <= at_ns);
        let (write, serve) = (is_due(self.write_ns()), is_due(self.serve_ns()));
        if write && !(serve && self.last_was_write) {
            self.last_was_write = true;
            let most = self.credits.min(self.settings.card.write_bundle as usize);
            let ready = self.outgoing.iter().take(most).take_while(|(ready_ns, _)| *ready_ns <= at_ns).count();
            let frames: Vec<P> = self.outgoing.drain(..ready).map(|(_, packet)| packet).collect();
            self.credits -= frames.len();
            let cost = self.cost(frames.iter().map(Some), true);
            self.occupy(at_ns, cost, true, Doing::Write(frames));
        } else if serve {
            self.last_was_write = false;
            self.thread_ns = None;
            self.counters.context_switches += 2;
            self.work(at_ns, 2.0 * self.settings.host.switch_us);
            self.service = Some(Service { left: self.settings.card.frames_per_interrupt, bundled: false });
            match self.settings.host.interrupts {
                Interrupts::Single => {
                    self.counters.services += 1;
                    self.occupy_status(at_ns);
                }
                Interrupts::Polling | Interrupts::Sdio => self.occupy(at_ns, Cost::BYTE, false, Doing::Ask),
            }
        }
    }

    fn occupy_status(&mut self, at_ns: u64) {
        let cost = Cost::transfer(&self.settings.bus, self.settings.card.status_bytes, false);
        self.occupy(at_ns, cost, false, Doing::Status);
    }

    /// Messages of one command: where there are several, each is padded.
    fn cost<'a>(&self, mut frames: impl ExactSizeIterator<Item = Option<&'a P>>, is_write: bool) -> Cost
    where
        P: 'a,
    {
        let bytes = match (frames.len(), frames.next()) {
            (1, Some(frame)) => self.message_bytes(frame),
            (_, first) => first.into_iter().chain(frames).map(|frame| self.padded_bytes(frame)).sum(),
        };
        Cost::transfer(&self.settings.bus, bytes, is_write)
    }

    fn message_bytes(&self, frame: Option<&P>) -> u32 {
        frame.map_or(0, |frame| frame.size_bytes() as u32) + self.settings.card.header_bytes
    }

    fn padded_bytes(&self, frame: Option<&P>) -> u32 {
        let (bus, bytes) = (&self.settings.bus, self.message_bytes(frame));
        if bus.pads_to_blocks {
            bytes.next_multiple_of(bus.block_bytes)
        } else {
            bytes
        }
    }

    /// CPU time of `us` microseconds at the reference clock, from `at_ns` or when the CPU is free. When it is done.
    fn work(&mut self, at_ns: u64, us: f64) -> u64 {
        let cpu_ns = micros(us * REFERENCE_MHZ / self.settings.host.cpu_mhz);
        self.counters.cpu_busy_ns += cpu_ns;
        self.cpu_free_ns = self.cpu_free_ns.max(at_ns) + cpu_ns;
        self.cpu_free_ns
    }

    /// A command goes to the bus. `is_frame`: a frame is moved, and the driver sleeps meanwhile if its interface is synchronous;
    /// the short ones are waited for in any case.
    fn occupy(&mut self, at_ns: u64, cost: Cost, is_frame: bool, doing: Doing<P>) {
        let (bus, host) = (&self.settings.bus, &self.settings.host);
        let sleeps = !is_frame || host.hif == Hif::Synchronous;
        let switches = if sleeps { 2 * cost.commands } else { 0 };
        let mut cpu_us = cost.commands as f64 * host.command_us + switches as f64 * host.switch_us;
        let mut copy_us = 0.0;
        if host.pio {
            copy_us = cost.bytes as f64 * host.pio_ns_per_byte / 1_000.0;
        } else if cost.bytes > 0 {
            cpu_us += cost.commands as f64 * host.dma_setup_us;
        }
        let wait_ns = if is_frame && sleeps { micros(host.hif_wait_us) } else { 0 };
        let (bus_ns, gap_ns) = (cost.bus_ns(bus), cost.gap_ns(bus));
        let begun_ns = self.work(at_ns, cpu_us);
        // PIO keeps up with the bus, or the bus waits for it.
        let copied_ns = self.work(begun_ns, copy_us);
        self.counters.commands += cost.commands;
        self.counters.blocks += cost.blocks;
        self.counters.bus_bytes += cost.bytes;
        self.counters.bus_busy_ns += bus_ns;
        self.counters.context_switches += switches;
        self.doing = Some((copied_ns.max(begun_ns + bus_ns + gap_ns) + wait_ns, doing));
    }

    /// What was on the bus is done.
    fn end(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        match self.doing.take().map(|(_, doing)| doing) {
            Some(Doing::Ask) => {
                let found = !self.received.is_empty();
                if self.is_polling() {
                    self.counters.polls += 1;
                    self.counters.polls_found += u64::from(found);
                }
                if found {
                    self.counters.services += 1;
                    self.occupy_status(at_ns);
                } else {
                    self.end_service(at_ns, false);
                }
            }
            Some(Doing::Status) => self.read(at_ns),
            Some(Doing::Work) => self.read_on(at_ns),
            Some(Doing::Read(messages)) => {
                self.credits += messages.iter().map(|message| message.credits).sum::<usize>();
                let frames: Vec<P> = messages.into_iter().filter_map(|message| message.frame).collect();
                let done_ns = self.work(at_ns, frames.len() as f64 * self.settings.host.receive_us);
                match self.settings.host.process_runs {
                    ProcessRuns::AfterService => self.held.extend(frames),
                    ProcessRuns::AfterCommand => self.incoming.extend(frames.into_iter().map(|frame| (done_ns, frame))),
                }
                if self.settings.host.hif == Hif::Synchronous {
                    self.doing = Some((done_ns, Doing::Work));
                } else {
                    self.read_on(at_ns);
                }
            }
            Some(Doing::Write(frames)) => {
                for packet in frames {
                    sink.freed(at_ns, NEAR_HOST, &packet);
                    self.radio.up.push_back(packet);
                }
            }
            None => {}
        }
    }

    /// A transfer from the card is done.
    fn read_on(&mut self, at_ns: u64) {
        match self.service {
            Some(Service { bundled: true, .. }) if self.settings.host.rereads_status => self.occupy_status(at_ns),
            Some(_) if self.settings.host.rereads_status => self.end_service(at_ns, true),
            _ => self.read(at_ns),
        }
    }

    /// The next messages for the interrupt that is being served, if there are any: one, or several of one kind
    /// and length.
    fn read(&mut self, at_ns: u64) {
        let left = self.service.map_or(0, |service| service.left);
        let most = left.min(self.settings.card.read_bundle) as usize;
        let kind = |message: &Message<P>| (message.frame.is_some(), self.padded_bytes(message.frame.as_ref()));
        let first = self.received.front().map(kind);
        let alike = self.received.iter().take(most).take_while(|message| Some(kind(message)) == first).count();
        if alike == 0 {
            return self.end_service(at_ns, true);
        }
        let messages: Vec<Message<P>> = self.received.drain(..alike).collect();
        if let Some(service) = &mut self.service {
            service.left -= alike as u32;
            service.bundled |= alike > 1;
        }
        let cost = self.cost(messages.iter().map(|message| message.frame.as_ref()), false);
        self.occupy(at_ns, cost, true, Doing::Read(messages));
    }

    fn end_service(&mut self, at_ns: u64, found: bool) {
        self.service = None;
        if self.is_polling() {
            self.poll.asked(at_ns, found);
        } else if !self.received.is_empty() {
            self.interrupt(at_ns);
        }
        // The thread sleeps: the process gets what has been read.
        if self.serve_ns().is_none_or(|ns| ns > at_ns) {
            let at_ns = self.cpu_free_ns.max(at_ns);
            self.incoming.extend(self.held.drain(..).map(|frame| (at_ns, frame)));
        }
    }
}

fn frames_in<'a, P: 'a>(messages: impl IntoIterator<Item = &'a Message<P>>) -> usize {
    messages.into_iter().filter(|message| message.frame.is_some()).count()
}

fn micros(us: f64) -> u64 {
    (us * 1_000.0) as u64
}

impl<P: Packet> Link<P> for SdioLink<P> {
    fn hosts(&self) -> usize {
        2
    }

    /// A packet for anybody but the other end is for the other end.
    fn offer(&mut self, now_ns: u64, from: HostId, _to: HostId, packet: P) -> Offer {
        self.now_ns = self.now_ns.max(now_ns);
        let full = Offer::Dropped(DropCause::QueueFull);
        if from == HostId::SERVER {
            self.counters.downlink.packets_offered += 1;
            if self.arriving.len() + self.radio.down.len() >= self.settings.radio.queue_packets as usize {
                self.counters.downlink.queue_full += 1;
                return full;
            }
            self.offered.push_back(packet.clone());
            self.arriving.push_back((self.now_ns + u64::from(self.settings.radio.wire_us) * 1_000, packet));
        } else {
            self.counters.uplink.packets_offered += 1;
            if self.outgoing.len() >= self.settings.host.queue_packets as usize {
                self.counters.uplink.queue_full += 1;
                return full;
            }
            let ready_ns = self.work(self.now_ns, self.settings.host.send_us);
            self.outgoing.push_back((ready_ns, packet));
        }
        Offer::Accepted
    }

    fn next_event(&self) -> Option<u64> {
        self.next().map(|(ns, _)| ns)
    }

    fn advance(&mut self, now_ns: u64, sink: &mut impl Sink<P>) {
        while let Some((at_ns, step)) = self.next().filter(|&(at_ns, _)| at_ns <= now_ns) {
            self.now_ns = at_ns;
            self.step(at_ns, step, sink);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// There is nothing that is shown to the sink before it ends.
    fn settle(&mut self, _sink: &mut impl Sink<P>) {}
}
