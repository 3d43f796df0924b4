//! Packets joined with the MPDUs that carried them: flows, TCP segments that were sent again, DHCP.
//!
//! Each hop over the air is counted apart: a packet that an access point relays is in two flows. Frames of the interface
//! with the most frames are looked at, and no others.

mod mpdus;
mod report;
mod tcp;

use hashbrown::HashMap;
use wire::dhcp::Dhcp;
use wire::ieee80211::{MacAddr, Seq};
use wire::ip::{Flow, TcpSegment};

use crate::frame::{AckedTid, Frame};
use crate::packet::Packet;
use crate::ppdu::Ppdu;
use mpdus::{AtRate, LaneKey, Lanes, Mpdu, Place, NO_TID};
use tcp::{Direction, Kind};

/// Flows kept; further ones are not counted.
const MAX_FLOWS: usize = 1_024;
/// Losses kept as rows; further ones are counted only.
const MAX_LOSSES: usize = 1_000;
/// DHCP messages kept.
const MAX_DHCP: usize = 256;
/// Rates kept of one loss.
const MAX_LOSS_RATES: usize = 4;

/// Packets with the same ends on the same hop; `flow` is `None` for ARP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FlowKey {
    ta: MacAddr,
    ra: MacAddr,
    flow: Option<Flow>,
}

/// Why a TCP segment was sent again, as far as the air shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The copy before it was captured, and no acknowledgement of its MPDU.
    NotAcknowledged,
    /// The copy before it was acknowledged by the receiver's 802.11.
    Acknowledged,
    /// No copy before it was captured on this hop.
    NotCaptured,
}

/// A TCP segment that was sent again.
#[derive(Clone, Debug)]
struct Loss {
    flow: u32,
    number: u64,
    at_ns: i64,
    segment: TcpSegment,
    cause: Cause,
    /// The MPDU that carried it is an 802.11 retry.
    is_retry: bool,
    /// The peer had acknowledged all of it before, by an ACK in the capture.
    was_received: bool,
    /// When the copy before it was first sent, and what happened to its MPDU.
    copy: Option<(i64, Option<Fate>)>,
}

/// What happened to an MPDU.
#[derive(Clone, Copy, Debug)]
struct Fate {
    sequence: u16,
    attempts: u16,
    begins_with_retry: bool,
    acknowledged: bool,
    last_ns: i64,
    rates: [AtRate; MAX_LOSS_RATES],
}

/// Counters of a flow on a hop.
#[derive(Debug)]
struct FlowRow {
    key: FlowKey,
    packets: u64,
    bytes: u64,
    payload_bytes: u64,
    mpdus: u64,
    attempts: u64,
    acknowledged: u64,
    airtime_ns: i64,
    timed: u64,
    first_ns: i64,
    last_ns: i64,
    segments: u64,
    keep_alives: u64,
    not_acknowledged: u64,
    acknowledged_before: u64,
    not_captured: u64,
    not_captured_retries: u64,
    was_received: u64,
    direction: Option<Box<Direction>>,
}

/// A DHCP message, and its MPDU on the air.
#[derive(Debug)]
struct DhcpRow {
    message: Dhcp,
    number: u64,
    ta: MacAddr,
    ra: MacAddr,
    at_ns: i64,
    attempts: u64,
    acknowledged: bool,
}

/// The packets of a capture.
#[derive(Debug, Default)]
pub struct Traffic {
    lanes: Lanes,
    by_key: HashMap<FlowKey, u32>,
    flows: Vec<FlowRow>,
    packets: u64,
    packets_left_out: u64,
    /// Highest acknowledgment number towards the sender of a flow, by that flow without its hop.
    acknowledged: HashMap<Flow, u32>,
    losses: Vec<Loss>,
    losses_left_out: u64,
    dhcp: Vec<DhcpRow>,
    dhcp_left_out: u64,
}

impl Traffic {
    /// Takes a data frame with the packets in it. `repeats`: its MPDU was captured before.
    pub fn frame(&mut self, frame: &Frame, packets: &[Packet], at_ns: i64, repeats: bool) {
        let header = &frame.header;
        if !frame.usable() || !header.fc.carries_data() || header.fragment != Some(0) {
            return;
        }
        let (Some(ta), ra, Some(sequence)) = (frame.ta(), header.receiver(), header.sequence) else { return };
        let key = lane_key(ta, ra, header.qos.map(|qos| qos.tid()));
        if packets.is_empty() && !self.lanes.knows(&key) {
            return;
        }
        let mode = &frame.radio.mode;
        let tcp = packets.first().and_then(|packet| packet.tcp);
        // Some senders repeat an MPDU without the retry bit: the same bytes under the same number are not new.
        let is_same = |mpdu: &&mut Mpdu| repeats || (tcp.is_some_and(|tcp| tcp.payload_len > 0) && mpdu.tcp == tcp);
        if repeats || tcp.is_some() {
            if let Some(mpdu) = self.lanes.current(&key, sequence, at_ns).filter(is_same) {
                mpdu.attempt(at_ns, mode);
                let (flow, dhcp) = (mpdu.flow, mpdu.dhcp);
                if let Some(flow) = flow.and_then(|row| self.flows.get_mut(row as usize)) {
                    flow.attempts += 1;
                }
                if let Some(dhcp) = dhcp.and_then(|row| self.dhcp.get_mut(usize::from(row))) {
                    dhcp.attempts += 1;
                }
                return;
            }
        }
        if packets.is_empty() {
            self.lanes.forget(&key, sequence);
            return;
        }
        let mut mpdu = Mpdu::new(sequence, at_ns, mode, header.fc.retry());
        mpdu.tcp = tcp;
        let place = self.lanes.add(key, mpdu);
        for packet in packets {
            self.packet(frame, packet, (ta, ra), place, at_ns);
        }
    }

    fn packet(
        &mut self,
        frame: &Frame,
        packet: &Packet,
        (ta, ra): (MacAddr, MacAddr),
        place: Option<Place>,
        at_ns: i64,
    ) {
        self.packets += 1;
        let Some(row) = self.row(FlowKey { ta, ra, flow: packet.flow }, at_ns) else {
            self.packets_left_out += 1;
            return;
        };
        let is_first = self.occupy(place, row);
        let Some(flow) = self.flows.get_mut(row as usize) else { return };
        flow.packets += 1;
        flow.bytes += u64::from(packet.len);
        flow.last_ns = at_ns;
        if is_first {
            flow.mpdus += 1;
            flow.attempts += 1;
        }
        if let Some(message) = packet.dhcp {
            self.dhcp(frame, message, (ta, ra), place, at_ns);
        }
        if let (Some(segment), Some(flow)) = (packet.tcp, packet.flow) {
            self.segment(frame, &segment, &flow, row, place, at_ns);
        }
    }

    /// The row of a flow; `None` when there is no room for it.
    fn row(&mut self, key: FlowKey, at_ns: i64) -> Option<u32> {
        if let Some(row) = self.by_key.get(&key) {
            return Some(*row);
        }
        if self.flows.len() >= MAX_FLOWS {
            return None;
        }
        let row = self.flows.len() as u32;
        self.flows.push(FlowRow::new(key, at_ns));
        self.by_key.insert(key, row);
        Some(row)
    }

    /// Adds an MPDU to a flow, unless it belongs to another one.
    fn occupy(&mut self, place: Option<Place>, row: u32) -> bool {
        match place.and_then(|place| self.lanes.get_mut(place)) {
            Some(mpdu) if mpdu.flow.is_none() => {
                mpdu.flow = Some(row);
                true
            }
            _ => false,
        }
    }

    fn dhcp(&mut self, frame: &Frame, message: Dhcp, (ta, ra): (MacAddr, MacAddr), place: Option<Place>, at_ns: i64) {
        if self.dhcp.len() >= MAX_DHCP {
            self.dhcp_left_out += 1;
            return;
        }
        if let Some(mpdu) = place.and_then(|place| self.lanes.get_mut(place)) {
            mpdu.dhcp = Some(self.dhcp.len() as u16);
        }
        self.dhcp.push(DhcpRow { message, number: frame.number, ta, ra, at_ns, attempts: 1, acknowledged: false });
    }

    fn segment(&mut self, frame: &Frame, segment: &TcpSegment, of: &Flow, row: u32, place: Option<Place>, at_ns: i64) {
        self.acknowledgment(segment, of);
        let Some(flow) = self.flows.get_mut(row as usize) else { return };
        flow.payload_bytes += u64::from(segment.payload_len);
        let kind = flow.direction.get_or_insert_with(Box::default).segment(segment, place, at_ns);
        let copy = match kind {
            Kind::Bare => return,
            Kind::KeepAlive => {
                flow.keep_alives += 1;
                return;
            }
            Kind::New => {
                flow.segments += 1;
                return;
            }
            Kind::Unseen => None,
            Kind::Again(sent) => {
                let mpdu = sent.place.and_then(|place| self.lanes.get(place));
                Some((sent.at_ns, mpdu.map(Fate::of)))
            }
        };
        flow.segments += 1;
        let is_retry = frame.header.fc.retry();
        let fate = copy.as_ref().and_then(|(_, fate)| *fate);
        let cause = match fate {
            Some(fate) if fate.acknowledged => Cause::Acknowledged,
            Some(_) => Cause::NotAcknowledged,
            None => Cause::NotCaptured,
        };
        match cause {
            Cause::NotAcknowledged => flow.not_acknowledged += 1,
            Cause::Acknowledged => flow.acknowledged_before += 1,
            Cause::NotCaptured => {
                flow.not_captured += 1;
                flow.not_captured_retries += u64::from(is_retry);
            }
        }
        let end = segment.sequence.wrapping_add(segment.sequence_len());
        let was_received = self.acknowledged.get(of).is_some_and(|ack| (ack.wrapping_sub(end) as i32) >= 0);
        flow.was_received += u64::from(was_received);
        if self.losses.len() >= MAX_LOSSES {
            self.losses_left_out += 1;
            return;
        }
        let number = frame.number;
        self.losses.push(Loss { flow: row, number, at_ns, segment: *segment, cause, is_retry, was_received, copy });
    }

    /// Records what a segment acknowledges of the other direction.
    fn acknowledgment(&mut self, segment: &TcpSegment, of: &Flow) {
        let back = Flow { source: of.destination, destination: of.source, ports: (of.ports.1, of.ports.0), ..*of };
        if segment.syn() {
            // A new connection: what was acknowledged in this direction before was of another.
            self.acknowledged.remove(of);
        }
        if !segment.ack() {
            return;
        }
        let has_room = self.acknowledged.len() < 2 * MAX_FLOWS;
        match self.acknowledged.get_mut(&back) {
            Some(highest) if (segment.acknowledgment.wrapping_sub(*highest) as i32) > 0 => {
                *highest = segment.acknowledgment;
            }
            Some(_) => {}
            None if has_room => {
                self.acknowledged.insert(back, segment.acknowledgment);
            }
            None => {}
        }
    }

    /// An acknowledgement of one MPDU was captured.
    pub fn acknowledged(&mut self, ta: MacAddr, ra: MacAddr, tid: Option<u8>, sequence: u16, at_ns: i64) {
        self.acknowledge(&lane_key(ta, ra, tid), sequence, at_ns);
    }

    /// A Block Ack of MPDUs from `ta` was captured.
    pub fn block_ack(&mut self, ta: MacAddr, ra: MacAddr, acked: &AckedTid, at_ns: i64) {
        let key = lane_key(ta, ra, Some(acked.tid));
        if !self.lanes.knows(&key) {
            return;
        }
        for index in (0..1_024).filter(|index| acked.bitmap.get(*index)) {
            self.acknowledge(&key, Seq::new(acked.start).add(index).value(), at_ns);
        }
    }

    fn acknowledge(&mut self, key: &LaneKey, sequence: u16, at_ns: i64) {
        let Some(mpdu) = self.lanes.current(key, sequence, at_ns) else { return };
        if std::mem::replace(&mut mpdu.acknowledged, true) {
            return;
        }
        let (flow, dhcp) = (mpdu.flow, mpdu.dhcp);
        if let Some(flow) = flow.and_then(|row| self.flows.get_mut(row as usize)) {
            flow.acknowledged += 1;
        }
        if let Some(dhcp) = dhcp.and_then(|row| self.dhcp.get_mut(usize::from(row))) {
            dhcp.acknowledged = true;
        }
    }

    /// Shares the airtime of a PPDU among the flows of its MPDUs.
    pub fn ppdu(&mut self, ppdu: &Ppdu) {
        let (Some(ta), Some(duration_ns)) = (ppdu.ta, ppdu.duration_ns) else { return };
        for (index, mpdu) in ppdu.mpdus.iter().enumerate().filter(|(_, mpdu)| mpdu.fc.carries_data()) {
            let Some(sequence) = mpdu.sequence.filter(|_| mpdu.fcs != crate::frame::Fcs::Bad) else { continue };
            let key = lane_key(ta, ppdu.ra, mpdu.tid);
            let Some(flow) = self.lanes.current(&key, sequence, ppdu.start_ns).and_then(|mpdu| mpdu.flow) else {
                continue;
            };
            if let Some(flow) = self.flows.get_mut(flow as usize) {
                let share = f64::from(ppdu.psdu_share(index)) / f64::from(ppdu.psdu_len.max(1));
                flow.airtime_ns += (duration_ns as f64 * share.min(1.0)) as i64;
                flow.timed += 1;
            }
        }
    }
}

fn lane_key(ta: MacAddr, ra: MacAddr, tid: Option<u8>) -> LaneKey {
    (ta.as_u64(), ra.as_u64(), tid.unwrap_or(NO_TID))
}

impl Fate {
    fn of(mpdu: &Mpdu) -> Self {
        let mut rates = [AtRate::default(); MAX_LOSS_RATES];
        rates.iter_mut().zip(mpdu.rates()).for_each(|(place, rate)| *place = rate);
        Self {
            sequence: mpdu.sequence,
            attempts: mpdu.attempts,
            begins_with_retry: mpdu.begins_with_retry,
            acknowledged: mpdu.acknowledged,
            last_ns: mpdu.last_ns,
            rates,
        }
    }
}

impl FlowRow {
    fn new(key: FlowKey, at_ns: i64) -> Self {
        Self {
            key,
            packets: 0,
            bytes: 0,
            payload_bytes: 0,
            mpdus: 0,
            attempts: 0,
            acknowledged: 0,
            airtime_ns: 0,
            timed: 0,
            first_ns: at_ns,
            last_ns: at_ns,
            segments: 0,
            keep_alives: 0,
            not_acknowledged: 0,
            acknowledged_before: 0,
            not_captured: 0,
            not_captured_retries: 0,
            was_received: 0,
            direction: None,
        }
    }

    fn sent_again(&self) -> u64 {
        self.not_acknowledged + self.acknowledged_before + self.not_captured
    }
}
