//! A flow of the simulation: both its ends, and what is measured.

use super::measure::{Measure, CAUSES};
use super::results::{Drops, FlowResult, IntervalResult, TcpResult};
use crate::engine::{DropCause, HostId, Packet};
use crate::traffic::echo::{self, EchoSender};
use crate::traffic::segment::{Body, Ecn, Modelled};
use crate::traffic::tcp::{Receiver, Sender, SenderCounts};
use crate::traffic::udp::UdpSender;
use crate::traffic::{FlowSettings, Traffic};
use random::Rng;

/// What a flow's timers are for. Each flow has four slots.
pub(super) const SLOTS: u32 = 4;
/// Begin and end.
pub(super) const SLOT_CONTROL: u32 = 0;
/// The sender's next packet.
pub(super) const SLOT_SEND: u32 = 1;
/// The TCP sender's other timers.
pub(super) const SLOT_SENDER: u32 = 2;
/// The receiver's delayed ACK.
pub(super) const SLOT_RECEIVER: u32 = 3;

pub(super) struct Flow {
    settings: FlowSettings,
    start_ns: u64,
    stop_ns: Option<u64>,
    started: bool,
    ends: Ends,
    /// From receiver to sender.
    back: Modelled,
    /// Something left the sending host: it may send more.
    pub(super) touched: bool,
    /// The receiver waits for the end of a burst.
    pub(super) burst: bool,
    measure: Measure,
    before: SenderCounts,
    acks_before: u64,
    /// Waits of the sending and of the receiving process.
    waits_before: (u64, u64),
    completed_ns: Option<u64>,
}

enum Ends {
    Tcp(Box<(Sender, Receiver)>),
    Udp(UdpSender),
    Echo(EchoSender),
}

impl Flow {
    pub(super) fn new(number: u32, settings: &FlowSettings, start_ns: u64, rng: Rng, measure: Measure) -> Self {
        let there = Modelled {
            flow: number,
            back: false,
            from: HostId(settings.from),
            to: HostId(settings.to),
            category: settings.category,
            ecn: Ecn::NotCapable,
            sent_ns: 0,
            body: Body::Udp { sequence: 0, payload: 0 },
        };
        let back = Modelled { back: true, from: there.to, to: there.from, ..there };
        let ends = match settings.traffic {
            Traffic::Tcp(tcp) => Ends::Tcp(Box::new((Sender::new(tcp, there, rng), Receiver::new(tcp, back)))),
            Traffic::Udp(udp) => Ends::Udp(UdpSender::new(udp, there)),
            Traffic::Echo(echo) => Ends::Echo(EchoSender::new(echo, there)),
        };
        Self {
            settings: settings.clone(),
            start_ns,
            stop_ns: settings.stop_s.map(|s| (s * 1e9) as u64),
            started: false,
            ends,
            back,
            touched: false,
            burst: false,
            measure,
            before: SenderCounts::default(),
            acks_before: 0,
            waits_before: (0, 0),
            completed_ns: None,
        }
    }

    /// When this slot is due.
    pub(super) fn timer_ns(&self, slot: u32) -> Option<u64> {
        match (slot, &self.ends) {
            (SLOT_CONTROL, _) if !self.started => Some(self.start_ns),
            (SLOT_CONTROL, _) => self.stop_ns,
            (SLOT_SEND, Ends::Tcp(tcp)) => tcp.0.pace_ns(),
            (SLOT_SEND, Ends::Udp(udp)) => udp.timer_ns(),
            (SLOT_SEND, Ends::Echo(echo)) => echo.timer_ns(),
            (SLOT_SENDER, Ends::Tcp(tcp)) => tcp.0.timer_ns(),
            (SLOT_RECEIVER, Ends::Tcp(tcp)) => tcp.1.timer_ns(),
            _ => None,
        }
    }

    /// A slot is due.
    pub(super) fn on_timer(&mut self, slot: u32, now_ns: u64, out: &mut Vec<Modelled>) {
        match (slot, &mut self.ends) {
            (SLOT_CONTROL, _) => self.control(now_ns, out),
            (SLOT_SENDER, Ends::Tcp(tcp)) => tcp.0.on_timer(now_ns, out),
            (SLOT_RECEIVER, Ends::Tcp(tcp)) => tcp.1.on_timer(now_ns, out),
            _ => self.send(now_ns, out),
        }
    }

    fn control(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if !self.started {
            self.started = true;
            match &mut self.ends {
                Ends::Tcp(tcp) => tcp.0.start(now_ns, out),
                Ends::Udp(udp) => udp.start(now_ns, out),
                Ends::Echo(echo) => echo.start(now_ns, out),
            }
        } else if self.stop_ns.is_some_and(|at| at <= now_ns) {
            self.stop_ns = None;
            match &mut self.ends {
                Ends::Tcp(tcp) => tcp.0.stop(),
                Ends::Udp(udp) => udp.stop(),
                Ends::Echo(echo) => echo.stop(),
            }
        }
    }

    /// Sends what may be sent now.
    pub(super) fn send(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        match &mut self.ends {
            Ends::Tcp(tcp) => tcp.0.send(now_ns, out),
            Ends::Udp(udp) => udp.send(now_ns, out),
            Ends::Echo(echo) => echo.send(now_ns, out),
        }
    }

    /// A packet is handed down by its host.
    pub(super) fn on_sent(&mut self, now_ns: u64, packet: &Modelled) {
        let counts = !packet.back && (packet.payload_bytes() > 0 || !matches!(packet.body, Body::Tcp(_)));
        if counts {
            self.measure.on_sent(now_ns);
        }
    }

    /// A packet has left its host, or was dropped there. Gives whether [`Self::send`] is to be called for that.
    pub(super) fn on_freed(&mut self, now_ns: u64, packet: &Modelled) -> bool {
        if packet.back {
            return false;
        }
        match &mut self.ends {
            Ends::Tcp(tcp) if packet.payload_bytes() > 0 => tcp.0.on_freed(packet.size_bytes() as u64),
            Ends::Udp(udp) => {
                let waits = udp.waits_for_clock(now_ns);
                udp.on_freed();
                if waits {
                    return false;
                }
            }
            _ => return false,
        }
        !std::mem::replace(&mut self.touched, true)
    }

    /// Its own host's queue refused a packet.
    pub(super) fn on_local_drop(&mut self, now_ns: u64, packet: &Modelled, cause: DropCause) {
        self.measure.on_drop(now_ns, cause);
        if packet.back {
            return;
        }
        match &mut self.ends {
            Ends::Tcp(tcp) if packet.payload_bytes() > 0 => tcp.0.on_local_drop(now_ns, packet),
            Ends::Udp(udp) => udp.on_local_drop(now_ns),
            _ => {}
        }
    }

    /// A packet was dropped on the way.
    pub(super) fn on_drop(&mut self, at_ns: u64, cause: DropCause) {
        self.measure.on_drop(at_ns, cause);
    }

    /// A packet reaches the host that it is for. Gives whether [`Self::end_burst`] is to be called, and the slots with timers that may have changed.
    pub(super) fn on_packet(&mut self, at_ns: u64, packet: &Modelled, out: &mut Vec<Modelled>) -> bool {
        let measure = &mut self.measure;
        let one_way_ns = at_ns.saturating_sub(packet.sent_ns);
        match &mut self.ends {
            Ends::Tcp(tcp) if packet.back => {
                let sender = &mut tcp.0;
                sender.on_ack(at_ns, packet, out);
                if let Some(rtt_ns) = sender.last_rtt_ns.take() {
                    measure.on_round_trip(at_ns, rtt_ns);
                }
                measure.note_cwnd(at_ns, sender.cwnd());
                if self.completed_ns.is_none() && sender.done() {
                    self.completed_ns = Some(at_ns);
                }
                false
            }
            Ends::Tcp(tcp) => {
                let receiver = &mut tcp.1;
                let before = receiver.delivered();
                let burst = receiver.on_segment(at_ns, packet, out);
                let payload = packet.payload_bytes() as u64;
                if payload > 0 {
                    measure.on_received(at_ns, one_way_ns);
                    measure.on_payload(at_ns, (receiver.delivered() - before) * payload);
                }
                burst && !std::mem::replace(&mut self.burst, true)
            }
            Ends::Udp(_) => {
                measure.on_received(at_ns, one_way_ns);
                measure.note_latency(at_ns, one_way_ns);
                measure.on_payload(at_ns, packet.payload_bytes() as u64);
                false
            }
            Ends::Echo(_) => {
                if let Some(reply) = echo::answer(at_ns, packet, &self.back) {
                    measure.on_one_way(at_ns, one_way_ns);
                    out.push(reply);
                } else if let Body::Echo { asked_ns, .. } = packet.body {
                    measure.on_round_trip(at_ns, at_ns.saturating_sub(asked_ns));
                    measure.on_payload(at_ns, packet.payload_bytes() as u64);
                    measure.on_received(at_ns, one_way_ns);
                }
                false
            }
        }
    }

    /// All packets that arrive at this time have.
    pub(super) fn end_burst(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.burst = false;
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.1.end_burst(now_ns, out);
        }
    }

    /// Measuring begins.
    pub(super) fn begin_measuring(&mut self) {
        if let Ends::Tcp(tcp) = &self.ends {
            self.before = tcp.0.counts;
            self.acks_before = tcp.1.counts.acks;
            self.waits_before = (tcp.0.writer.waits, tcp.1.counts.waits);
        }
    }

    /// What happened to it.
    pub(super) fn result(&mut self, warm_up_ns: u64, end_ns: u64, interval_ns: u64) -> FlowResult {
        self.measure.end(end_ns);
        let measure = &self.measure;
        let tcp = match &self.ends {
            Ends::Tcp(tcp) => Some(self.tcp_result(&tcp.0, &tcp.1)),
            _ => None,
        };
        let interval_s = interval_ns as f64 / 1e9;
        let series = measure.intervals.iter().enumerate().map(|(i, sums)| {
            let some = sums.latencies > 0;
            IntervalResult {
                at_s: i as f64 * interval_s - warm_up_ns as f64 / 1e9,
                goodput_mbit_s: sums.bytes as f64 * 8e-6 / interval_s,
                latency_ms: some.then(|| sums.latency_sum_ns as f64 / f64::from(sums.latencies) / 1e6),
                latency_max_ms: some.then(|| sums.latency_max_ns as f64 / 1e6),
                cwnd: sums.cwnd,
            }
        });
        let kind = match self.ends {
            Ends::Tcp(_) => "tcp",
            Ends::Udp(_) => "udp",
            Ends::Echo(_) => "echo",
        };
        FlowResult {
            name: self.settings.label(),
            kind,
            from: self.settings.from,
            to: self.settings.to,
            goodput_mbit_s: measure.bytes as f64 * 8e3 / (end_ns - warm_up_ns) as f64,
            payload_bytes: measure.bytes,
            packets_sent: measure.sent,
            packets_received: measure.received,
            drops: CAUSES
                .iter()
                .zip(measure.drops)
                .filter(|d| d.1 > 0)
                .map(|(&cause, packets)| Drops { cause, packets })
                .collect(),
            round_trip: measure.round_trip.clone(),
            one_way: measure.one_way.clone(),
            jitter_ms: measure.jitter_ms(),
            tcp,
            series: series.collect(),
        }
    }

    fn tcp_result(&self, sender: &Sender, receiver: &Receiver) -> TcpResult {
        let (now, before) = (sender.counts, self.before);
        TcpResult {
            retransmitted: now.retransmitted - before.retransmitted,
            recoveries: now.recoveries - before.recoveries,
            timeouts: now.timeouts - before.timeouts,
            probes: now.probes - before.probes,
            undone: now.undone - before.undone,
            local_drops: now.local_drops - before.local_drops,
            ecn_reductions: now.ecn_reductions - before.ecn_reductions,
            acks: receiver.counts.acks - self.acks_before,
            sender_waits: sender.writer.waits - self.waits_before.0,
            receiver_waits: receiver.counts.waits - self.waits_before.1,
            below_socket_most_bytes: sender.below_most_bytes,
            completed_s: self.completed_ns.map(|at| (at - self.start_ns) as f64 / 1e9),
        }
    }
}
