//! The link: packets in, time forward, packets out.

use std::collections::VecDeque;

use crate::checked::ScenarioError;
use crate::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use crate::modem::aggregate::{Aggregator, Frame};
use crate::modem::counters::ModemCounters;
use crate::modem::downlink::Downlink;
use crate::modem::encoding::Encoding;
use crate::modem::radio::{Grant, Radio};
use crate::modem::records::Records;
use crate::modem::settings::{ModemSettings, Speed};

/// The machine that the modem is in.
pub const NEAR_HOST: HostId = HostId(1);

/// A machine with an LTE USB modem, and a server behind the cell. See the module.
#[derive(Clone, Debug)]
pub struct ModemLink<P> {
    pub(super) settings: ModemSettings,
    pub(super) now_ns: u64,
    pub(super) counters: ModemCounters,
    pub(super) tx_urbs: usize,
    pub(super) records: Records,
    pub(super) encoding: Encoding,
    /// Offered at the near host and not seen by its driver yet.
    pub(super) ingress: VecDeque<P>,
    pub(super) aggregator: Aggregator<P>,
    /// What waits for an OUT URB.
    pub(super) ready: VecDeque<Frame<P>>,
    /// OUT URBs in flight.
    pub(super) flights: VecDeque<Flight<P>>,
    pub(super) host_free_ns: u64,
    /// What the bus carries: OUT (and IN, up to high speed), IN (super speed).
    pub(super) lanes: [Option<Transfer<P>>; 2],
    pub(super) last_was_in: bool,
    /// Uplink transfers in the modem, the first of them in the hands of its processor.
    pub(super) held: VecDeque<Frame<P>>,
    pub(super) processor_ns: Option<u64>,
    pub(super) uplink: Radio<P>,
    /// Offered at the server and not seen by the cell yet.
    pub(super) arrivals: VecDeque<P>,
    pub(super) downlink: Radio<P>,
    pub(super) waiting: Downlink<P>,
    /// IN URBs that are submitted.
    pub(super) in_urbs: VecDeque<u64>,
    /// Completed IN URBs that the host works on.
    pub(super) returned: VecDeque<(u64, Vec<P>)>,
    /// When the modem is back after a crash.
    pub(super) down_until_ns: Option<u64>,
    pub(super) is_started: bool,
}

/// An OUT URB in flight.
#[derive(Clone, Debug)]
pub(super) struct Flight<P> {
    pub(super) id: u64,
    /// When the host controller has it.
    pub(super) ready_ns: u64,
    pub(super) frame: Frame<P>,
}

/// What the bus carries.
#[derive(Clone, Debug)]
pub(super) struct Transfer<P> {
    pub(super) end_ns: u64,
    /// URB, packets and length of an IN transfer. `None`: the first of the flights.
    pub(super) inbound: Option<(u64, Vec<P>, usize)>,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    Arrivals,
    Ingress,
    Timer,
    Lane(usize),
    Processor,
    UplinkOut,
    DownlinkIn,
    Returned,
    Wake,
    Reset,
}

impl<P: Packet> ModemLink<P> {
    /// A silent link at time 0.
    ///
    /// # Errors
    /// Invalid settings; keys begin with `modem`.
    pub fn new(settings: ModemSettings) -> Result<Self, ScenarioError> {
        settings.check("modem")?;
        let radio = &settings.radio;
        let grant = Grant::Steady(radio.uplink_mbit_s);
        let uplink = Radio::new(grant, radio.uplink_delay_us, radio.subframe_us, radio.scheduling_request_us);
        let grant = radio.downlink_grant(settings.seed);
        let downlink = Radio::new(grant, radio.downlink_delay_us, radio.subframe_us, 0);
        Ok(Self {
            now_ns: 0,
            counters: ModemCounters::default(),
            tx_urbs: settings.usb.tx_urbs(),
            records: Records::default(),
            encoding: Encoding::uplink(&settings),
            ingress: VecDeque::new(),
            aggregator: Aggregator::new(&settings),
            ready: VecDeque::new(),
            flights: VecDeque::new(),
            host_free_ns: 0,
            lanes: [None, None],
            last_was_in: false,
            held: VecDeque::new(),
            processor_ns: None,
            uplink,
            arrivals: VecDeque::new(),
            downlink,
            waiting: Downlink::new(&settings),
            in_urbs: VecDeque::new(),
            returned: VecDeque::new(),
            down_until_ns: None,
            is_started: false,
            settings,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &ModemSettings {
        &self.settings
    }

    /// What was counted so far.
    pub fn counters(&self) -> &ModemCounters {
        &self.counters
    }

    /// Packets offered at `from` that are neither delivered nor dropped.
    pub fn queued(&self, from: HostId) -> usize {
        let frames = |frames: &VecDeque<Frame<P>>| frames.iter().map(|frame| frame.slots.len()).sum::<usize>();
        if from == HostId::SERVER {
            let carried = self.lanes.iter().flatten().filter_map(|lane| lane.inbound.as_ref());
            return self.arrivals.len()
                + self.downlink.packets()
                + self.waiting.packets()
                + carried.map(|(_, packets, _)| packets.len()).sum::<usize>()
                + self.returned.iter().map(|(_, packets)| packets.len()).sum::<usize>();
        }
        let flights = self.flights.iter().map(|flight| flight.frame.slots.len()).sum::<usize>();
        self.ingress.len()
            + self.aggregator.slots().len()
            + frames(&self.ready)
            + flights
            + frames(&self.held)
            + self.uplink.packets()
    }

    /// OUT URBs in flight.
    pub fn urbs_in_flight(&self) -> usize {
        self.flights.len()
    }

    fn next(&self) -> Option<(u64, Step)> {
        if !self.is_started {
            return Some((self.down_until_ns.unwrap_or(self.now_ns), Step::Start));
        }
        let now = |is: bool, step| is.then_some((self.now_ns, step));
        let may_fill = !self.aggregator.is_below_queue() || self.has_urb();
        let timer_ns = self.aggregator.timer_ns().filter(|_| may_fill);
        let lane = |lane: usize| self.lanes[lane].as_ref().map(|transfer| (transfer.end_ns, Step::Lane(lane)));
        [
            now(!self.arrivals.is_empty(), Step::Arrivals),
            now(!self.ingress.is_empty() && may_fill, Step::Ingress),
            timer_ns.map(|ns| (ns, Step::Timer)),
            lane(0),
            lane(1),
            self.processor_ns.map(|ns| (ns, Step::Processor)),
            self.uplink.next_ns().map(|ns| (ns, Step::UplinkOut)),
            self.downlink.next_ns().map(|ns| (ns, Step::DownlinkIn)),
            self.returned.front().map(|&(ns, _)| (ns, Step::Returned)),
            self.wake_ns().map(|ns| (ns, Step::Wake)),
            self.down_until_ns.map(|ns| (ns, Step::Reset)),
        ]
        .into_iter()
        .flatten()
        .map(|(ns, step)| (ns.max(self.now_ns), step))
        .min_by_key(|&(ns, _)| ns)
    }

    /// Whether an OUT URB is free for one more transfer.
    fn has_urb(&self) -> bool {
        self.ready.len() + self.flights.len() < self.tx_urbs
    }

    /// The lane of IN transfers.
    pub(super) fn in_lane(&self) -> usize {
        usize::from(self.settings.usb.speed == Speed::Super)
    }

    /// From when on an OUT transfer can begin.
    fn out_ns(&self) -> Option<u64> {
        let can = self.lanes[0].is_none() && self.held.len() < self.settings.device.buffers as usize;
        self.flights.front().filter(|_| can).map(|flight| flight.ready_ns)
    }

    /// From when on an IN transfer can begin.
    fn in_ns(&self) -> Option<u64> {
        let can = self.lanes[self.in_lane()].is_none() && !self.in_urbs.is_empty();
        self.waiting.ready_ns().filter(|_| can)
    }

    /// When a transfer can begin that cannot yet.
    fn wake_ns(&self) -> Option<u64> {
        self.out_ns().into_iter().chain(self.in_ns()).min()
    }

    fn step(&mut self, at_ns: u64, step: Step, sink: &mut impl Sink<P>) {
        match step {
            Step::Start => self.start(at_ns, sink),
            Step::Arrivals => {
                while let Some(packet) = self.arrivals.pop_front() {
                    sink.freed(at_ns, HostId::SERVER, &packet);
                    self.downlink.send(at_ns, packet);
                }
            }
            Step::Ingress => self.take_in(at_ns, sink),
            Step::Timer => self.aggregator.expire(at_ns, &mut self.ready),
            Step::Lane(lane) => self.end_transfer(at_ns, lane, sink),
            Step::Processor => self.process(at_ns),
            Step::UplinkOut => {
                if let Some(packet) = self.uplink.arrive() {
                    self.counters.uplink.packets_delivered += 1;
                    self.counters.uplink.bytes_delivered += packet.size_bytes() as u64;
                    sink.deliver(at_ns, HostId::SERVER, packet);
                }
            }
            Step::DownlinkIn => {
                if let Some(packet) = self.downlink.arrive() {
                    if let Err(packet) = self.waiting.push(at_ns, packet) {
                        self.lose(at_ns, HostId::SERVER, packet, DropCause::ReceiverFull, sink);
                    }
                }
            }
            Step::Returned => self.hand_up(at_ns, sink),
            Step::Wake => {}
            Step::Reset => {
                self.down_until_ns = None;
                self.is_started = false;
            }
        }
        self.pump(at_ns, sink);
    }

    /// Begins what can begin.
    fn pump(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        if self.down_until_ns.is_some() || !self.is_started {
            return;
        }
        self.limit_queue(at_ns, sink);
        while self.flights.len() < self.tx_urbs {
            let Some(frame) = self.ready.pop_front() else { break };
            self.submit(at_ns, frame, sink);
        }
        if self.processor_ns.is_none() {
            if let Some(frame) = self.held.front() {
                let device = &self.settings.device;
                let cost_ns = (device.us_per_urb * 1_000.0 + device.ns_per_byte * frame.len as f64) as u64;
                self.counters.device_busy_ns += cost_ns;
                self.processor_ns = Some(at_ns + cost_ns);
            }
        }
        let is_due = |ns: Option<u64>| ns.is_some_and(|ns| ns <= at_ns);
        let (out, inbound) = (is_due(self.out_ns()), is_due(self.in_ns()));
        // On one lane they take turns.
        let in_first = inbound && !(out && self.last_was_in);
        if in_first {
            self.begin_in(at_ns);
        }
        if out && (!in_first || self.in_lane() == 1) {
            self.begin_out(at_ns);
        }
    }

    /// The modem's processor is done with an uplink transfer: its packets go to the radio, if that has room.
    fn process(&mut self, at_ns: u64) {
        let most_ns = u64::from(self.settings.radio.uplink_buffer_us) * 1_000;
        let backlog_ns = self.uplink.backlog_ns(at_ns);
        if backlog_ns > most_ns {
            self.counters.device_blocked_ns += backlog_ns - most_ns;
            self.processor_ns = Some(at_ns + backlog_ns - most_ns);
            return;
        }
        self.processor_ns = None;
        for slot in self.held.pop_front().into_iter().flat_map(|frame| frame.slots) {
            self.uplink.send(at_ns, slot.packet);
        }
    }

    /// Packets that had been accepted are lost.
    pub(super) fn lose(&mut self, at_ns: u64, from: HostId, packet: P, cause: DropCause, sink: &mut impl Sink<P>) {
        let way = if from == HostId::SERVER { &mut self.counters.downlink } else { &mut self.counters.uplink };
        way.drops.count(cause);
        sink.dropped(at_ns, from, &packet, cause);
    }

    /// As [`Self::lose`], for what has not become a URB, or not to the end.
    pub(super) fn lose_frame(&mut self, at_ns: u64, frame: Frame<P>, cause: DropCause, sink: &mut impl Sink<P>) {
        for slot in frame.slots {
            if !slot.is_copied {
                sink.freed(at_ns, NEAR_HOST, &slot.packet);
            }
            self.lose(at_ns, NEAR_HOST, slot.packet, cause, sink);
        }
    }
}

impl<P: Packet> Link<P> for ModemLink<P> {
    fn hosts(&self) -> usize {
        2
    }

    /// A packet for anybody but the other end is for the other end.
    fn offer(&mut self, now_ns: u64, from: HostId, _to: HostId, packet: P) -> Offer {
        self.now_ns = self.now_ns.max(now_ns);
        let size = packet.size_bytes();
        let is_up = from != HostId::SERVER;
        let way = if is_up { &mut self.counters.uplink } else { &mut self.counters.downlink };
        way.packets_offered += 1;
        let queue_room = self.settings.driver.queue_packets as usize;
        let cause = if self.down_until_ns.is_some() {
            Some(DropCause::DeviceDown)
        } else if is_up {
            (self.ingress.len() + self.ready.len() >= queue_room).then_some(DropCause::QueueFull)
        } else if !self.waiting.can_carry(size) {
            Some(DropCause::Oversize)
        } else {
            let waiting = self.arrivals.len() + self.downlink.waiting(self.now_ns);
            (waiting >= self.settings.radio.downlink_queue_packets as usize).then_some(DropCause::QueueFull)
        };
        if let Some(cause) = cause {
            way.drops.count(cause);
            return Offer::Dropped(cause);
        }
        if is_up {
            self.ingress.push_back(packet);
        } else {
            self.arrivals.push_back(packet);
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

    fn settle(&mut self, sink: &mut impl Sink<P>) {
        while let Some((at_ns, lane)) =
            (0..2).filter_map(|lane| self.lanes[lane].as_ref().map(|transfer| (transfer.end_ns, lane))).min()
        {
            self.now_ns = self.now_ns.max(at_ns);
            self.end_transfer(at_ns, lane, sink);
        }
    }
}
