//! The sending end of a bulk transfer.
//!
//! As Linux does, so far as it is modelled: the connection is opened by SYN and SYN-ACK; losses are found by RACK with tail
//! loss probes (RFC 8985) and repaired from the SACK scoreboard, the window coming down by PRR; a timeout (RFC 6298) makes
//! everything lost that is not SACKed; spurious retransmissions are found by timestamps (RFC 3522) and undone (RFC 4015).
//! Not modelled: FIN, window probes, autotuning (the window is a setting), F-RTO.

mod repair;
mod timers;

use super::bbr::Bbr;
use super::congestion::{Ack, CongestionControl, Window};
use super::cubic::Cubic;
use super::pacing::Pacing;
use super::process::Writer;
use super::prr::Prr;
use super::rack::Rack;
use super::rate::{DeliveryRate, RateSample};
use super::reno::Reno;
use super::rtt::RttEstimator;
use super::scoreboard::{Acknowledged, Scoreboard};
use super::settings::{Congestion, TcpSettings};
use crate::engine::Packet;
use crate::traffic::segment::{Body, Ecn, Flags, Modelled, Segment, SACK_BLOCKS};
use random::Rng;

/// Linux' `TCP_CA_*` states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Open,
    /// The window comes down without a loss.
    Reduced,
    Recovery,
    Timeout,
}

/// What a sender has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SenderCounts {
    pub sent: u64,
    pub retransmitted: u64,
    pub recoveries: u64,
    pub timeouts: u64,
    pub probes: u64,
    pub undone: u64,
    pub local_drops: u64,
    pub ecn_reductions: u64,
    pub acks: u64,
}

/// The sender of a flow.
pub(crate) struct Sender {
    settings: TcpSettings,
    template: Modelled,
    segments: u64,
    packet_bytes: u64,
    state: State,
    board: Scoreboard,
    rack: Rack,
    rtt: RttEstimator,
    rate: DeliveryRate,
    control: Box<dyn CongestionControl>,
    window: Window,
    prr: Prr,
    pacing: Pacing,
    /// A reduction ends when this segment is acknowledged.
    high: u64,
    /// The window before the reduction, in case that it was wrong.
    before: Option<Window>,
    /// TSval of the first of the retransmissions that have not been acknowledged.
    repeated_since: Option<u32>,
    /// Bytes below the socket: TCP small queues.
    below_bytes: u64,
    throttled: bool,
    ts_recent: u32,
    send_cwr: bool,
    rto_ns: Option<u64>,
    probe_ns: Option<u64>,
    /// The next segment when the last tail loss probe was sent, and whether that was a retransmission.
    probed: Option<(u64, bool)>,
    /// As Linux' `tcp_cwnd_validate`: whether the window limited the flow in the last window, how much was under way at most,
    /// and the segment that ends that window.
    limited: (bool, u32, u64),
    pub(crate) counts: SenderCounts,
    /// Who writes the data.
    pub(crate) writer: Writer,
    /// The last RTT sample, ns; taken out by who records it.
    pub(crate) last_rtt_ns: Option<u64>,
    pub(crate) below_most_bytes: u64,
}

impl Sender {
    /// `template` is a packet from the sender to the receiver; `rng`: what its congestion control draws from.
    pub(crate) fn new(settings: TcpSettings, template: Modelled, rng: Rng) -> Self {
        let probe = segment(&settings, true, Flags::default());
        let packet_bytes = Modelled { body: Body::Tcp(probe), ..template }.size_bytes() as u64;
        let initial = u32::from(settings.initial_window);
        let control: Box<dyn CongestionControl> = match settings.congestion {
            Congestion::Reno => Box::new(Reno),
            Congestion::Cubic => Box::new(Cubic::new(settings.hystart, settings.early_growth)),
            Congestion::Bbr => Box::new(Bbr::new(packet_bytes as u32, initial, rng)),
        };
        let paced = settings.pacing.unwrap_or(settings.congestion == Congestion::Bbr);
        Self {
            settings,
            template,
            segments: settings.segments(),
            packet_bytes,
            state: State::Closed,
            board: Scoreboard::default(),
            rack: Rack::default(),
            rtt: RttEstimator::default(),
            rate: DeliveryRate::default(),
            control,
            window: Window { cwnd: f64::from(initial), ssthresh: f64::INFINITY },
            prr: Prr::default(),
            pacing: Pacing::new(paced, settings.pacing_shift, packet_bytes as u32),
            high: 0,
            before: None,
            repeated_since: None,
            below_bytes: 0,
            throttled: false,
            ts_recent: 0,
            send_cwr: false,
            rto_ns: None,
            probe_ns: None,
            probed: None,
            limited: (false, 0, 0),
            counts: SenderCounts::default(),
            writer: Writer::default(),
            last_rtt_ns: None,
            below_most_bytes: 0,
        }
    }

    /// Opens the connection.
    pub(crate) fn start(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.state = State::SynSent;
        self.send_syn(now_ns, out);
    }

    /// Nothing new is sent any more.
    pub(crate) fn stop(&mut self) {
        self.segments = self.board.next();
    }

    /// Everything that was to be sent has been acknowledged.
    pub(crate) fn done(&self) -> bool {
        self.board.una() >= self.segments
    }

    /// Bytes below the socket now, and how many may be.
    #[cfg(test)]
    pub(super) fn below_bytes(&self) -> u64 {
        self.below_bytes
    }

    #[cfg(test)]
    pub(super) fn small_queue_bytes(&self) -> u64 {
        self.pacing.small_queue_bytes()
    }

    #[cfg(test)]
    pub(super) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Congestion window, segments.
    pub(crate) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// When [`Self::on_pace`] wants to be called.
    pub(crate) fn pace_ns(&self) -> Option<u64> {
        self.throttled.then(|| self.pacing.next_ns())
    }

    /// A packet left the host.
    pub(crate) fn on_freed(&mut self, bytes: u64) {
        self.below_bytes = self.below_bytes.saturating_sub(bytes);
    }

    /// The host's own queue refused a segment: congestion, and it will not arrive (Linux enters CWR and tries again).
    pub(crate) fn on_local_drop(&mut self, now_ns: u64, packet: &Modelled) {
        let Body::Tcp(segment) = packet.body else { return };
        if segment.flags.syn {
            return;
        }
        self.on_freed(packet.size_bytes() as u64);
        self.counts.local_drops += 1;
        self.board.mark_lost(segment.number);
        self.reduce(now_ns);
    }

    /// An ACK arrives.
    pub(crate) fn on_ack(&mut self, now_ns: u64, packet: &Modelled, out: &mut Vec<Modelled>) {
        let Body::Tcp(segment) = packet.body else { return };
        if self.state == State::Closed {
            return;
        }
        if self.state == State::SynSent {
            if segment.flags.syn {
                self.established(now_ns, &segment, out);
            }
            return;
        }
        self.counts.acks += 1;
        self.ts_recent = segment.ts_value;
        let in_flight_before = self.board.in_flight();
        let blocks = self.without_duplicate(&segment);
        let outcome = self.board.acknowledge(segment.ack, blocks);
        self.measure(now_ns, &outcome, segment.ts_echo);
        let rate = self.rate.on_ack(now_ns, outcome.delivered, outcome.latest.as_ref(), self.rtt.min_ns());
        if outcome.acked > 0 {
            self.rtt.reset_backoff();
            self.check_spurious(segment.ts_echo);
        }
        if !self.board.repeating() {
            self.repeated_since = None;
        }
        self.end_probe(now_ns, blocks.len() < segment.sack().len());
        let lost = self.find_losses(now_ns, outcome.reordered);
        self.change_state(now_ns, lost, segment.flags.ece);
        self.set_window(now_ns, &outcome, lost, in_flight_before, rate);
        if outcome.acked > 0 || outcome.delivered > 0 {
            self.arm_timers(now_ns);
        }
        self.write();
        self.send(now_ns, out);
    }

    /// The process writes what the socket takes.
    fn write(&mut self) {
        let windows = self.settings.send_buffer_windows;
        self.writer.on_ack(self.board.una(), self.window.cwnd, windows, self.segments);
    }

    /// Sends what may be sent now.
    pub(crate) fn send(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.throttled = false;
        if matches!(self.state, State::Closed | State::SynSent) {
            return;
        }
        let before = out.len();
        let mut window_full = false;
        loop {
            let in_flight = self.board.in_flight();
            if f64::from(in_flight) + 1.0 > self.window.cwnd.max(1.0) {
                window_full = true;
                break;
            }
            let again = self.board.next_lost();
            if again.is_none() {
                if self.board.next() >= self.segments {
                    self.rate.set_app_limited(in_flight);
                    break;
                }
                if self.board.outstanding() >= self.settings.window_segments() {
                    break;
                }
            }
            if !self.room_below(again.is_some()) {
                break;
            }
            if !self.pacing.open(now_ns) {
                self.throttled = true;
                break;
            }
            self.transmit(now_ns, again, out);
        }
        self.pacing.end_burst();
        if out.len() > before || window_full {
            let outstanding = self.board.outstanding();
            let (was, most, end) = self.limited;
            if self.board.una() >= end || window_full || (!was && outstanding > most) {
                self.limited = (window_full, outstanding, self.board.next());
            }
        }
    }

    /// TCP small queues: whether one more packet may go below the socket; of retransmissions twice as many may.
    fn room_below(&self, again: bool) -> bool {
        if !self.settings.small_queues || self.below_bytes == 0 {
            return true;
        }
        let limit = self.pacing.small_queue_bytes() << u8::from(again);
        self.below_bytes + self.packet_bytes <= limit
    }

    fn transmit(&mut self, now_ns: u64, again: Option<u64>, out: &mut Vec<Modelled>) {
        let state = self.rate.on_send(now_ns, self.board.in_flight());
        let number = match again {
            Some(number) => {
                self.board.send_again(now_ns, number, state);
                self.counts.retransmitted += 1;
                self.repeated_since.get_or_insert((now_ns / 1_000_000) as u32);
                number
            }
            None => self.board.send_new(now_ns, state),
        };
        self.counts.sent += 1;
        self.prr.on_sent();
        let flags = Flags { cwr: std::mem::take(&mut self.send_cwr), ..Flags::default() };
        let mut body = segment(&self.settings, true, flags);
        body.number = number;
        body.ts_value = (now_ns / 1_000_000) as u32;
        body.ts_echo = self.ts_recent;
        // Retransmissions are not ECN-capable (RFC 3168, 6.1.5).
        let ecn = if self.settings.ecn && again.is_none() { Ecn::Capable } else { Ecn::NotCapable };
        out.push(Modelled { sent_ns: now_ns, ecn, body: Body::Tcp(body), ..self.template });
        self.below_bytes += self.packet_bytes;
        self.below_most_bytes = self.below_most_bytes.max(self.below_bytes);
        self.pacing.on_sent(self.packet_bytes);
        if self.rto_ns.is_none() && self.probe_ns.is_none() {
            self.arm_timers(now_ns);
        }
    }

    fn send_syn(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        let mut body = segment(&self.settings, false, Flags { syn: true, ..Flags::default() });
        body.ts_value = (now_ns / 1_000_000) as u32;
        out.push(Modelled { sent_ns: now_ns, body: Body::Tcp(body), ..self.template });
        self.rto_ns = Some(now_ns + self.rtt.rto_ns());
    }

    fn established(&mut self, now_ns: u64, answer: &Segment, out: &mut Vec<Modelled>) {
        self.state = State::Open;
        self.ts_recent = answer.ts_value;
        self.rto_ns = None;
        // The timestamp shows when the SYN was sent that this answers.
        let rtt_ns = now_ns.saturating_sub(u64::from(answer.ts_echo) * 1_000_000);
        self.rtt.reset_backoff();
        self.rtt.sample(rtt_ns.max(1));
        self.update_pacing();
        // The third packet of the handshake.
        let mut body = segment(&self.settings, false, Flags::default());
        body.ts_value = (now_ns / 1_000_000) as u32;
        body.ts_echo = self.ts_recent;
        out.push(Modelled { sent_ns: now_ns, body: Body::Tcp(body), ..self.template });
        self.write();
        self.send(now_ns, out);
    }

    /// The SACK blocks without a first one that reports a duplicate (RFC 2883, 4).
    fn without_duplicate<'a>(&mut self, segment: &'a Segment) -> &'a [(u64, u64)] {
        let blocks = segment.sack();
        let duplicate = match blocks {
            [first, second, ..] if first.0 >= second.0 && first.1 <= second.1 => true,
            [first, ..] => first.1 <= segment.ack,
            [] => false,
        };
        if duplicate {
            self.rack.on_duplicate(self.board.una(), self.board.next());
            &blocks[1..]
        } else {
            blocks
        }
    }

    fn measure(&mut self, now_ns: u64, outcome: &Acknowledged, ts_echo: u32) {
        if let Some(sent_ns) = outcome.oldest_sent_ns {
            self.rtt.sample((now_ns - sent_ns).max(1));
        }
        self.last_rtt_ns = None;
        if let Some(latest) = outcome.latest {
            let rtt_ns = (now_ns - latest.sent_ns).max(1);
            if !latest.ever_again {
                self.rtt.sample_min(now_ns, rtt_ns);
                self.last_rtt_ns = Some(rtt_ns);
            }
            self.rack.on_delivered(&latest, rtt_ns, self.rtt.min_ns(), (outcome.acked > 0).then_some(ts_echo));
        }
    }

    fn set_window(
        &mut self,
        now_ns: u64,
        outcome: &Acknowledged,
        lost: u32,
        in_flight_before: u32,
        rate: Option<RateSample>,
    ) {
        let recovering = matches!(self.state, State::Recovery | State::Reduced);
        let in_flight = self.board.in_flight();
        if recovering && !self.control.owns_window() {
            let waits = self.board.next_lost().is_some();
            let progress = outcome.acked > 0 && lost == 0;
            self.window.cwnd = self.prr.on_ack(outcome.delivered, in_flight, self.window.ssthresh, progress, waits);
        } else {
            let slow_start = self.window.slow_start();
            let ack = Ack {
                now_ns,
                acked: outcome.acked,
                delivered: outcome.delivered,
                lost,
                in_flight_before,
                in_flight,
                rtt_ns: self.last_rtt_ns,
                smoothed_ns: self.rtt.smoothed_ns(),
                min_rtt_ns: self.rtt.min_ns(),
                una: self.board.una(),
                next: self.board.next(),
                cwnd_limited: self.limited.0 || (slow_start && self.window.cwnd < 2.0 * f64::from(self.limited.1)),
                recovering: matches!(self.state, State::Recovery | State::Timeout),
                rate,
                pacing_rate: self.pacing.rate(),
            };
            self.control.on_ack(&ack, &mut self.window);
        }
        self.update_pacing();
    }

    fn update_pacing(&mut self) {
        match self.control.pacing_rate() {
            Some(rate) => self.pacing.set_rate(rate),
            None => self.pacing.set_from_window(self.window.cwnd, self.window.ssthresh, self.rtt.smoothed_ns()),
        }
    }
}

fn segment(settings: &TcpSettings, data: bool, flags: Flags) -> Segment {
    Segment {
        number: 0,
        ack: 0,
        mss: settings.mss,
        data,
        flags,
        ts_value: 0,
        ts_echo: 0,
        window_bytes: settings.window_bytes,
        sack_blocks: 0,
        sack: [(0, 0); SACK_BLOCKS],
    }
}
