//! The receiving end: reassembly, SACK (RFC 2018, RFC 2883), delayed ACKs (RFC 5681, 4.2; RFC 1122, 4.2.3.2).

use super::settings::TcpSettings;
use crate::traffic::segment::{Body, Ecn, Flags, Modelled, Segment, SACK_BLOCKS};

/// Segments that arrived out of order.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u64,
    end: u64,
    /// The later, the more recently it grew.
    touched: u64,
}

/// What a receiver has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiverCounts {
    pub acks: u64,
    pub duplicates: u64,
    pub out_of_order: u64,
    /// Times that the receiving process waited: it is woken when data come, and reads all that come at that time.
    pub waits: u64,
}

/// The receiver of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    settings: TcpSettings,
    ack_delay_ns: u64,
    template: Modelled,
    next: u64,
    ranges: Vec<Range>,
    touches: u64,
    /// In-order segments not yet acknowledged.
    unacked: u32,
    /// In-order segments of a burst that is not over.
    burst: u32,
    quick: u32,
    ack_due_ns: Option<u64>,
    ts_recent: u32,
    /// First segment that has not been acknowledged: which TSval is echoed (RFC 7323, 4.3).
    last_acked: u64,
    ece: bool,
    duplicate: Option<(u64, u64)>,
    /// When the receiving process was woken last.
    woken_ns: Option<u64>,
    pub(crate) counts: ReceiverCounts,
}

impl Receiver {
    /// `template` is a packet from the receiver to the sender.
    pub(crate) fn new(settings: TcpSettings, template: Modelled) -> Self {
        Self {
            settings,
            ack_delay_ns: (settings.ack_delay_ms * 1e6) as u64,
            template,
            next: 0,
            ranges: Vec::new(),
            touches: 0,
            unacked: 0,
            burst: 0,
            quick: u32::from(settings.quick_acks),
            ack_due_ns: None,
            ts_recent: 0,
            last_acked: 0,
            ece: false,
            duplicate: None,
            woken_ns: None,
            counts: ReceiverCounts::default(),
        }
    }

    /// Segments delivered to the application, in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.next
    }

    /// When [`Self::on_timer`] wants to be called.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.ack_due_ns
    }

    /// A segment arrives. `true`: [`Self::end_burst`] is to be called when nothing else arrives at this time.
    pub(crate) fn on_segment(&mut self, now_ns: u64, packet: &Modelled, out: &mut Vec<Modelled>) -> bool {
        let Body::Tcp(segment) = packet.body else { return false };
        if segment.flags.syn {
            self.ts_recent = segment.ts_value;
            self.acknowledge(now_ns, Flags { syn: true, ..Flags::default() }, out);
            return false;
        }
        if !segment.data {
            return false;
        }
        if segment.flags.cwr {
            self.ece = false;
        }
        if packet.ecn == Ecn::Congested {
            // With the first mark of a round an ACK goes out at once, as Linux does.
            if !self.ece {
                self.quick = self.quick.max(1);
            }
            self.ece = true;
        }
        // Not from one that was overtaken: its TSval is of the past.
        let newer = segment.ts_value.wrapping_sub(self.ts_recent) as i32 >= 0;
        if newer && segment.number <= self.last_acked {
            self.ts_recent = segment.ts_value;
        }
        let number = segment.number;
        if number == self.next {
            self.counts.waits += u64::from(self.woken_ns.replace(now_ns) != Some(now_ns));
            self.next += 1;
            self.unacked += 1;
            let gap = !self.ranges.is_empty();
            if self.ranges.first().is_some_and(|r| r.first == self.next) {
                self.next = self.ranges.remove(0).end;
            }
            if gap {
                self.acknowledge(now_ns, Flags::default(), out);
                return false;
            }
            if self.settings.receive_offload > 1 && self.quick == 0 {
                self.burst += 1;
                if self.burst >= u32::from(self.settings.receive_offload) {
                    self.end_burst(now_ns, out);
                }
                return self.burst > 0;
            }
            self.consider(now_ns, out);
            return false;
        }
        if number < self.next || self.ranges.iter().any(|r| r.first <= number && number < r.end) {
            self.counts.duplicates += 1;
            self.duplicate = Some((number, number + 1));
        } else {
            self.counts.out_of_order += 1;
            self.insert(number);
        }
        self.acknowledge(now_ns, Flags::default(), out);
        false
    }

    /// All segments that arrive at this time have.
    pub(crate) fn end_burst(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        let burst = std::mem::take(&mut self.burst);
        if burst > 1 {
            self.acknowledge(now_ns, Flags::default(), out);
        } else if burst == 1 {
            self.consider(now_ns, out);
        }
    }

    /// The delay of an ACK may be over.
    pub(crate) fn on_timer(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if self.ack_due_ns.is_some_and(|due| due <= now_ns) {
            self.acknowledge(now_ns, Flags::default(), out);
        }
    }

    /// An ACK now, or later.
    fn consider(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if self.quick > 0 || self.unacked >= u32::from(self.settings.ack_every) {
            self.acknowledge(now_ns, Flags::default(), out);
        } else if self.ack_due_ns.is_none() {
            self.ack_due_ns = Some(now_ns + self.ack_delay_ns);
        }
    }

    fn insert(&mut self, number: u64) {
        self.touches += 1;
        let touched = self.touches;
        // Where the first range is that ends at `number` or later: mostly the last.
        let mut at = self.ranges.len();
        while at > 0 && self.ranges[at - 1].end >= number {
            at -= 1;
        }
        match self.ranges.get_mut(at) {
            Some(range) if range.end == number => {
                range.end += 1;
                range.touched = touched;
                let end = range.end;
                if self.ranges.get(at + 1).is_some_and(|next| next.first == end) {
                    self.ranges[at].end = self.ranges.remove(at + 1).end;
                }
            }
            Some(range) if range.first == number + 1 => {
                range.first = number;
                range.touched = touched;
            }
            _ => self.ranges.insert(at, Range { first: number, end: number + 1, touched }),
        }
    }

    fn acknowledge(&mut self, now_ns: u64, flags: Flags, out: &mut Vec<Modelled>) {
        let mut sack = [(0, 0); SACK_BLOCKS];
        let mut blocks = 0;
        if let Some(duplicate) = self.duplicate.take() {
            sack[0] = duplicate;
            blocks = 1;
        }
        // The most recent first (RFC 2018, 4).
        let mut before = u64::MAX;
        while blocks < SACK_BLOCKS {
            let Some(range) = self.ranges.iter().filter(|r| r.touched < before).max_by_key(|r| r.touched) else {
                break;
            };
            before = range.touched;
            sack[blocks] = (range.first, range.end);
            blocks += 1;
        }
        let mut packet = self.template;
        packet.sent_ns = now_ns;
        packet.body = Body::Tcp(Segment {
            number: 0,
            ack: self.next,
            mss: self.settings.mss,
            data: false,
            flags: Flags { ece: self.ece, ..flags },
            ts_value: (now_ns / 1_000_000) as u32,
            ts_echo: self.ts_recent,
            window_bytes: self.settings.window_bytes,
            sack_blocks: blocks as u8,
            sack,
        });
        out.push(packet);
        self.unacked = 0;
        self.burst = 0;
        self.quick = self.quick.saturating_sub(u32::from(!flags.syn));
        self.ack_due_ns = None;
        self.last_acked = self.next;
        self.counts.acks += 1;
    }
}
