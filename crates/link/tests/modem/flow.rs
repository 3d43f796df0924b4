//! Bulk flows made for these tests: CUBIC's window (RFC 9438), selective acknowledgements, one pure ACK for so many segments, and a limit on what the driver holds (TCP small queues).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use txop_link::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use txop_link::modem::{ModemCounters, ModemLink, ModemSettings, NEAR_HOST};

/// IP packet of a full segment, and its payload; a pure ACK.
const SEGMENT: usize = 1_500;
const PAYLOAD: f64 = 1_448.0;
const ACK: usize = 52;
/// What the socket is charged for a segment, bytes.
const TRUESIZE: f64 = 2_304.0;
const RTO_NS: f64 = 400e6;

#[derive(Clone, Debug)]
pub enum Kind {
    Data { sequence: u64, order: u64 },
    Ack { next: u64, order: u64, missing: Rc<[u64]>, highest: u64 },
}

#[derive(Clone, Debug)]
pub struct Segment {
    pub flow: usize,
    pub kind: Kind,
}

impl Packet for Segment {
    fn size_bytes(&self) -> usize {
        match self.kind {
            Kind::Data { .. } => SEGMENT,
            Kind::Ack { .. } => ACK,
        }
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

/// A bulk transfer.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    pub from: HostId,
    /// Segments for one ACK.
    pub ack_every: u64,
    /// TCP small queues: the flow's rate, shifted right by this, is what the driver may hold.
    pub pacing_shift: u32,
    /// Segments in flight at most, whatever the congestion window.
    pub window_max: f64,
}

#[derive(Clone, Debug)]
struct Flow {
    bulk: Bulk,
    window: f64,
    threshold: f64,
    next: u64,
    order: u64,
    flying: BTreeMap<u64, u64>,
    lost: BTreeSet<u64>,
    recover: u64,
    held: f64,
    /// CUBIC: the window before the last loss, and when that was.
    largest: f64,
    epoch_ns: u64,
    srtt_ns: f64,
    sent_ns: BTreeMap<u64, u64>,
    last_ack_ns: u64,
    // The receiver.
    expected: u64,
    out_of_order: BTreeSet<u64>,
    unacked: u64,
    delivered: u64,
}

impl Flow {
    fn new(bulk: Bulk) -> Self {
        Self {
            bulk,
            window: 10.0_f64.max(2.0 * bulk.ack_every as f64),
            threshold: f64::MAX,
            next: 0,
            order: 0,
            flying: BTreeMap::new(),
            lost: BTreeSet::new(),
            recover: 0,
            held: 0.0,
            largest: 0.0,
            epoch_ns: 0,
            srtt_ns: 10e6,
            sent_ns: BTreeMap::new(),
            last_ack_ns: 0,
            expected: 0,
            out_of_order: BTreeSet::new(),
            unacked: 0,
            delivered: 0,
        }
    }

    /// What TCP small queues let the driver hold, bytes (tcp_small_queue_check, tcp_update_pacing_rate).
    fn small_queue(&self) -> f64 {
        let factor = if self.window < self.threshold / 2.0 { 2.0 } else { 1.2 };
        let bytes_s = factor * self.window * PAYLOAD / (self.srtt_ns / 1e9);
        (bytes_s / f64::from(1u32 << self.bulk.pacing_shift)).clamp(2.0 * TRUESIZE, 1_048_576.0)
    }

    fn may_send(&self) -> bool {
        (self.flying.len() as f64) < self.window.min(self.bulk.window_max) && self.held < self.small_queue()
    }

    fn segment(&mut self, now_ns: u64) -> (u64, Kind) {
        let sequence = self.lost.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.order += 1;
        self.flying.insert(sequence, self.order);
        self.sent_ns.insert(self.order, now_ns);
        (sequence, Kind::Data { sequence, order: self.order })
    }

    fn shrink(&mut self, now_ns: u64) {
        if self.expected_at_sender() >= self.recover {
            (self.largest, self.epoch_ns) = (self.window, now_ns);
            self.threshold = (self.window * 0.7).max(2.0);
            self.window = self.threshold;
            self.recover = self.next;
        }
    }

    fn expected_at_sender(&self) -> u64 {
        let lowest = self.flying.keys().next().into_iter().chain(self.lost.first()).min();
        lowest.copied().unwrap_or(self.next)
    }

    fn on_ack(&mut self, now_ns: u64, next: u64, order: u64, missing: &[u64], highest: u64) {
        self.last_ack_ns = now_ns;
        if let Some(sent) = self.sent_ns.get(&order) {
            self.srtt_ns += ((now_ns - sent) as f64 - self.srtt_ns) / 8.0;
        }
        self.sent_ns = self.sent_ns.split_off(&order);
        let before = self.flying.len();
        self.flying = self.flying.split_off(&next);
        if highest > next {
            let kept = self.flying.split_off(&highest);
            self.flying.retain(|sequence, _| missing.binary_search(sequence).is_ok());
            self.flying.extend(kept);
        }
        let acked = (before - self.flying.len()) as f64;
        let lost: Vec<u64> =
            missing.iter().filter(|s| self.flying.get(s).is_some_and(|o| o + 3 < order)).copied().collect();
        if !lost.is_empty() {
            self.shrink(now_ns);
        }
        for sequence in lost {
            self.flying.remove(&sequence);
            self.lost.insert(sequence);
        }
        self.lost.retain(|sequence| *sequence >= next);
        // A window that was not used does not grow (RFC 9438, 5.8).
        if before as f64 * 2.0 < self.window {
            return;
        }
        if self.window < self.threshold {
            self.window += acked;
        } else {
            let k = (self.largest * 0.3 / 0.4).cbrt();
            let at = self.srtt_ns / 1e9 + (now_ns - self.epoch_ns) as f64 / 1e9;
            let target = (0.4 * (at - k).powi(3) + self.largest).clamp(self.window, 1.5 * self.window);
            self.window += acked * ((target - self.window) / self.window).max(0.53 / self.window);
        }
    }

    fn on_data(&mut self, sequence: u64, order: u64) -> Option<Kind> {
        if sequence < self.expected || !self.out_of_order.insert(sequence) {
            return None;
        }
        self.delivered += 1;
        let in_order = sequence == self.expected && self.out_of_order.len() == 1;
        while self.out_of_order.remove(&self.expected) {
            self.expected += 1;
        }
        self.unacked += 1;
        if in_order && self.unacked < self.bulk.ack_every {
            return None;
        }
        self.unacked = 0;
        let highest = self.out_of_order.last().map_or(self.expected, |last| last + 1);
        let missing = (self.expected..highest).filter(|s| !self.out_of_order.contains(s)).take(4_096).collect();
        Some(Kind::Ack { next: self.expected, order, missing, highest })
    }

    fn on_timeout(&mut self, now_ns: u64) {
        self.last_ack_ns = now_ns;
        self.lost.extend(std::mem::take(&mut self.flying).into_keys());
        (self.threshold, self.window) = ((self.window / 2.0).max(2.0), 2.0);
        self.recover = self.next;
        self.held = 0.0;
    }
}

#[derive(Default)]
struct Out {
    delivered: Vec<(HostId, Segment)>,
    freed: Vec<Segment>,
}

impl Sink<Segment> for Out {
    fn deliver(&mut self, _at_ns: u64, to: HostId, packet: Segment) {
        self.delivered.push((to, packet));
    }

    fn freed(&mut self, _at_ns: u64, _from: HostId, packet: &Segment) {
        self.freed.push(packet.clone());
    }

    fn dropped(&mut self, _at_ns: u64, _from: HostId, _packet: &Segment, cause: DropCause) {
        assert_ne!(cause, DropCause::Oversize);
    }
}

/// Goodput of each flow in Mbit/s, and what the link counted, over `seconds` after a second of warm-up.
pub fn run(settings: ModemSettings, bulks: &[Bulk], seconds: u64) -> (Vec<f64>, ModemCounters) {
    let mut link = ModemLink::new(settings).expect("settings");
    let mut flows: Vec<Flow> = bulks.iter().copied().map(Flow::new).collect();
    let (mut now_ns, warm_ns) = (0, 1_000_000_000);
    let end_ns = warm_ns + seconds * 1_000_000_000;
    let mut at_warm: Option<Vec<u64>> = None;
    while now_ns < end_ns {
        for (number, flow) in flows.iter_mut().enumerate() {
            if !flow.flying.is_empty() && now_ns > flow.last_ack_ns + (RTO_NS + 4.0 * flow.srtt_ns) as u64 {
                flow.on_timeout(now_ns);
            }
            while flow.may_send() {
                let (_, kind) = flow.segment(now_ns);
                let to = other(flow.bulk.from);
                if link.offer(now_ns, flow.bulk.from, to, Segment { flow: number, kind }) != Offer::Accepted {
                    break;
                }
                flow.held += TRUESIZE;
            }
        }
        let next_ns = link.next_event().unwrap_or(u64::MAX).min(now_ns + 10_000_000);
        now_ns = next_ns.max(now_ns);
        let mut out = Out::default();
        link.advance(now_ns, &mut out);
        for packet in out.freed {
            if matches!(packet.kind, Kind::Data { .. }) {
                let flow = &mut flows[packet.flow];
                flow.held = (flow.held - TRUESIZE).max(0.0);
            }
        }
        for (to, packet) in out.delivered {
            let flow = &mut flows[packet.flow];
            match packet.kind {
                Kind::Data { sequence, order } => {
                    if let Some(kind) = flow.on_data(sequence, order) {
                        link.offer(now_ns, to, other(to), Segment { flow: packet.flow, kind });
                    }
                }
                Kind::Ack { next, order, missing, highest } => flow.on_ack(now_ns, next, order, &missing, highest),
            }
        }
        if now_ns >= warm_ns && at_warm.is_none() {
            at_warm = Some(flows.iter().map(|flow| flow.delivered).collect());
        }
    }
    let warm = at_warm.expect("longer than the warm-up");
    let mbit_s = |(flow, before): (&Flow, u64)| (flow.delivered - before) as f64 * PAYLOAD * 8.0 / 1e6 / seconds as f64;
    (flows.iter().zip(warm).map(mbit_s).collect(), link.counters().clone())
}

fn other(host: HostId) -> HostId {
    if host == HostId::SERVER {
        NEAR_HOST
    } else {
        HostId::SERVER
    }
}
