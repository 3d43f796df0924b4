//! The way of data between the wire and the air, and the control frames about it.

use medium::{Arrival, Reorder};
use wire::ieee80211::{BlockAckReq, CompressedBlockAckReq, FrameKind, Header, HtCapabilities, MacAddr, Mpdu, Seq};
use wire::phy::{Bandwidth, Mode};

use super::block_ack::{tid_and_sequence, LateBlockAck};
use super::director::Verdict;
use super::ethernet::{from_station, join, msdus, to_station};
use super::script;
use super::{Builtin, Frames, ADDRESS, QUEUE_MAX, SEQUENCES};
use crate::air::{Protection, Reception};
use crate::peers::queue::Queued;

/// Longest MPDU in an A-MPDU (10.12.6), and what of it is not A-MSDU: header and frame check sequence.
const AMPDU_MPDU_MAX: usize = 4_095;
const AMPDU_MPDU_REST: usize = 30;

const fn ofdm(rate_500kbps: u8) -> Mode {
    Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 }
}

impl Builtin {
    /// A frame from the wire.
    pub(super) fn ethernet_received(&mut self, now_ns: u64, ethernet: &[u8]) {
        let Some(destination) = MacAddr::read(ethernet, 0) else { return };
        let group = destination.is_group();
        let Some(client) = self.client.as_ref().filter(|client| group || client.address == destination) else {
            return;
        };
        let ht = client.ht.filter(|_| self.settings.more.ht && !group);
        let tid = ht.is_some().then_some(0);
        if ht.is_some_and(|ht| self.join(&ht, ethernet)) {
            self.counters.from_wire += 1;
            self.counters.from_wire_bytes += ethernet.len() as u64;
            return;
        }
        self.data_sequence = (self.data_sequence + u16::from(tid.is_some())) & 0x0fff;
        let sequence = if tid.is_some() { self.data_sequence } else { self.next_sequence() };
        let Some(mpdu) = to_station(ethernet, ADDRESS, sequence, tid) else { return };
        self.counters.from_wire += 1;
        self.counters.from_wire_bytes += ethernet.len() as u64;
        let modes = match ht {
            Some(ht) => vec![(self.settings.ht_mode(&ht), 7), (ofdm(12), 3)],
            None if group => vec![(ofdm(12), 1)],
            None => vec![(ofdm(108), 7), (ofdm(12), 3)],
        };
        let rts = self.settings.more.rts && !group;
        let protection = if rts { Protection::Rts(ofdm(48)) } else { Protection::None };
        // The number that a Block Ack request must name when the frame is given up.
        let cookie = u64::from(sequence) | u64::from(tid.is_some()) << 16;
        self.push(Queued { mpdu, modes, protection, cookie, since_ns: now_ns, attempts: 0 });
        if tid.is_some() {
            self.ask_block_ack(now_ns);
        }
    }

    /// Puts a frame from the wire into the A-MSDU that waits, if there is one with room.
    fn join(&mut self, station: &HtCapabilities, ethernet: &[u8]) -> bool {
        let frames = usize::from(self.settings.more.amsdu_frames);
        let agreed = self.agreements.down & 1 == 1;
        if frames < 2 || self.sleep.asleep || agreed && !self.agreements.down_amsdu && !self.settings.more.forced {
            return false;
        }
        let longest = usize::from(station.max_amsdu_bytes());
        let limit = if agreed { longest.min(AMPDU_MPDU_MAX - AMPDU_MPDU_REST) } else { longest };
        let Some(last) = self.queue.last_unsent().filter(|last| !last.is_group()) else { return false };
        let before = msdus(&last.mpdu);
        let joined = before < frames && join(&mut last.mpdu, ADDRESS, ethernet, limit);
        self.counters.amsdus_sent += u64::from(joined && before == 1);
        joined
    }

    /// Hands frames of the station to the wire.
    pub(super) fn hand_on(&mut self, mpdus: Vec<Frames>) {
        for ethernet in mpdus.into_iter().flatten() {
            self.counters.to_wire += 1;
            self.counters.to_wire_bytes += ethernet.len() as u64;
            self.counters.refused += u64::from(!self.wired.send(&ethernet));
        }
    }

    /// Whether a frame was here before: the retry bit, and the sequence control of the last of its TID.
    pub(super) fn is_duplicate(&mut self, mpdu: &[u8], slot: usize) -> bool {
        let mpdu = Mpdu::new(mpdu);
        let control = mpdu.sequence_control();
        let Some(last) = self.last.get_mut(slot) else { return false };
        let again = mpdu.retry() && *last == control;
        *last = control;
        self.counters.duplicates += u64::from(again);
        again
    }

    /// A data frame that is for this network. Gives whether it is acknowledged.
    pub(super) fn data_received(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let frame = Mpdu::new(mpdu);
        let Some(from) = frame.transmitter() else { return false };
        if self.client.as_ref().is_none_or(|client| client.address != from) {
            self.turn_away(now_ns, from);
            return true;
        }
        let mut moments = Vec::new();
        if reception.ampdu == Some(true) {
            self.ampdu_verdict = self.director.met(now_ns, script::FrameKind::Ampdu, &mut moments);
            self.counters.block_acks_withheld +=
                u64::from(matches!(self.ampdu_verdict, Verdict::NoBlockAck | Verdict::LateBlockAck(_)));
        }
        let has_body = frame.carries_data();
        let verdict =
            if has_body { self.director.met(now_ns, script::FrameKind::Data, &mut moments) } else { Verdict::Usual };
        if verdict != Verdict::NoAck && verdict != Verdict::Ignore {
            self.data_accepted(now_ns, mpdu, has_body);
        }
        for moment in &moments {
            self.carry_out(now_ns, moment);
        }
        let withheld = reception.ampdu.is_some() && self.withhold(now_ns, mpdu, reception.ampdu == Some(true));
        verdict != Verdict::NoAck && !withheld
    }

    fn data_accepted(&mut self, now_ns: u64, mpdu: &[u8], has_body: bool) {
        let frame = Mpdu::new(mpdu);
        self.power_management(&frame);
        let in_order = tid_and_sequence(mpdu).filter(|(tid, _)| self.agreements.up >> tid & 1 == 1);
        let frames = from_station(mpdu);
        let several = frames.len() > 1;
        let mut out = Vec::new();
        let reorder = in_order.and_then(|(tid, sequence)| {
            let reorder = self.reorders.get_mut(usize::from(tid))?;
            Some((reorder.get_or_insert_with(|| Reorder::new(Seq::default())), sequence))
        });
        let fresh = if let Some((reorder, sequence)) = reorder {
            // Null data have numbers of their own, or none that count (10.3.2.14).
            !has_body || reorder.receive(now_ns, sequence, frames, &mut out) == Arrival::New
        } else {
            let slot = frame.tid().map_or(SEQUENCES - 1, usize::from);
            let again = self.is_duplicate(mpdu, slot);
            if !again {
                out.push(frames);
            }
            true
        };
        self.counters.duplicates += u64::from(!fresh);
        self.counters.amsdus_received += u64::from(fresh && several);
        self.hand_on(out);
    }

    /// What a frame of the station says of its sleep, which begins or ends with it: a data frame or a management frame to
    /// the access point (11.2.3.2; Linux net/mac80211/rx.c, ieee80211_rx_h_sta_process).
    pub(super) fn power_management(&mut self, frame: &Mpdu<&[u8]>) {
        let sleeps = frame.power_management();
        if sleeps == self.sleep.asleep {
            return;
        }
        if sleeps {
            self.sleep.asleep = true;
            self.counters.sleeps += 1;
            for frame in self.queue.take_data() {
                self.counters.kept += 1;
                self.sleep.keep(frame);
            }
        } else {
            for frame in self.sleep.wake() {
                self.queue.push(frame);
            }
        }
    }

    /// Whether the Block Ack of the A-MPDU that this MPDU is in is kept back.
    fn withhold(&mut self, now_ns: u64, mpdu: &[u8], first: bool) -> bool {
        let by_ns = match self.ampdu_verdict {
            Verdict::NoBlockAck => return true,
            Verdict::LateBlockAck(by_ns) => by_ns,
            _ => return false,
        };
        let due_ns = now_ns.saturating_add(by_ns);
        match &mut self.late {
            Some(late) if !first => late.add(mpdu, due_ns),
            _ => {
                self.send_late(now_ns);
                self.late = LateBlockAck::new(mpdu, due_ns);
            }
        }
        true
    }

    pub(super) fn send_late(&mut self, now_ns: u64) {
        let (Some(late), Some(client)) = (self.late.take(), &self.client) else { return };
        let mpdu = late.frame(client.address, ADDRESS);
        self.control(now_ns, mpdu, ofdm(48));
    }

    fn control(&mut self, now_ns: u64, mpdu: Vec<u8>, mode: Mode) {
        let (modes, protection) = (vec![(mode, 7)], Protection::None);
        if self.queue.len() >= 2 * QUEUE_MAX {
            self.counters.dropped += 1;
            return;
        }
        self.queue.push(Queued { mpdu, modes, protection, cookie: 0, since_ns: now_ns, attempts: 0 });
    }

    pub(super) fn control_received(&mut self, now_ns: u64, mpdu: &Mpdu<&[u8]>) -> bool {
        let from_client = self.client.as_ref().is_some_and(|client| mpdu.transmitter() == Some(client.address));
        match mpdu.kind() {
            Some(FrameKind::PsPoll) if from_client => {
                self.counters.ps_polls += 1;
                if let Some(frame) = self.sleep.poll() {
                    self.queue.push(frame);
                }
            }
            Some(FrameKind::BlockAckReq) if from_client => {
                let request = BlockAckReq::parse(mpdu.control_body());
                let Some((tid, start)) = request.and_then(|request| Some((request.tid?, request.start?))) else {
                    return true;
                };
                let mut out = Vec::new();
                if let Some(Some(reorder)) = self.reorders.get_mut(usize::from(tid)) {
                    reorder.release_to(now_ns, start, &mut out);
                }
                self.hand_on(out);
            }
            _ => {}
        }
        true
    }

    /// The station must not wait for a frame that was given up (10.25.6.6): the next that it gets is the one behind it.
    pub(super) fn given_up(&mut self, now_ns: u64, cookie: u64) {
        let Some(client) = self.client.as_ref().filter(|_| cookie >> 16 == 1 && self.agreements.down & 1 == 1) else {
            return;
        };
        let start = Seq::new(cookie as u16).add(1);
        let mut mpdu = Vec::new();
        Header::control(FrameKind::BlockAckReq, client.address, Some(ADDRESS)).emit(&mut mpdu);
        CompressedBlockAckReq { tid: 0, start }.emit(&mut mpdu);
        self.control(now_ns, mpdu, ofdm(12));
    }
}
