//! Data PPDUs of a flow and everything around them: RTS and CTS, A-MPDU and Block Ack, single MPDU and ACK, BAR.

use std::io::{self, Write};

use wire::phy::Mode;

use super::Engine;
use crate::frame::{Content, Mpdu};
use crate::ledger::Answered;
use crate::recipient::Shown;
use crate::scene::BitmapStyle;
use crate::sniffer::{Heard, OnAir};

impl<W: Write> Engine<'_, W> {
    /// RTS and CTS. Gives the start of the PPDU they protect, `None` if the CTS did not come.
    fn reserve(&mut self, from: usize, to: usize, mode: Mode, data_ns: u64, start_ns: u64) -> io::Result<Option<u64>> {
        let control = self.air.response_mode(mode).unwrap_or(self.air.lowest);
        let cts_ns = self.air.duration_ns(control, 14) + self.air.extension_ns(control);
        let reserved_ns = 2 * self.air.sifs_ns() + cts_ns + data_ns;
        let duration_us = reserved_ns.div_ceil(1000).min(32_767) as u16;
        let content = Content::Rts;
        let mpdu = Mpdu { content, from, to: Some(to), seq: 0, retry: false, power_management: false, duration_us };
        let (heard, end_ns) = self.send(mpdu, control, start_ns)?;
        let response = self.respond(Content::Cts, to, from, control)?;
        if heard == Heard::Good {
            self.exchanges.count((from, to), control, Some(&response));
        }
        if !response.reached {
            self.no_answer(from, end_ns);
            return Ok(None);
        }
        Ok(Some(self.free_ns + self.air.sifs_ns()))
    }

    /// One PPDU of a flow, with everything around it.
    pub(super) fn data(&mut self, flow: usize, start_ns: u64) -> io::Result<bool> {
        self.nodes[self.senders[flow].from].next_flow = (flow + 1) % self.senders.len();
        let mut chosen = std::mem::take(&mut self.chosen);
        let steps =
            if self.senders[flow].session { 0 } else { self.senders[flow].pending.front().map_or(0, |m| m.sent) };
        let mode = self.senders[flow].choose_mode(&mut self.rng, steps);
        let air = self.air;
        let sender = &mut self.senders[flow];
        let probe = Content::Data { serial: 0, payload: 0, tid: sender.tid };
        let overhead = self.builder.len(&Mpdu {
            content: probe,
            from: sender.from,
            to: Some(sender.to),
            seq: 0,
            retry: false,
            power_management: false,
            duration_us: 0,
        });
        let session = sender.session;
        let limits = sender.plan.aggregation.unwrap_or_default();
        let max_psdu = if matches!(mode, Mode::Ht(_)) { 65_535 } else { 1_048_575 };
        let max_ns = u64::from(limits.max_us).min(5_484) * 1000;
        let fits = |psdu: usize, count: usize| {
            session
                && count <= usize::from(limits.max_mpdus)
                && psdu <= max_psdu
                && air.duration_ns(mode, psdu) <= max_ns
        };
        sender.fill(start_ns, &mut self.nodes[sender.from].seq, overhead, fits, &mut chosen);
        let result = match (chosen.first().copied(), session) {
            (None, _) => {
                // Nothing is due after all (a constant-rate source rounds): the medium stays free a slot longer.
                self.free_ns = start_ns + self.air.slot_ns();
                Ok(true)
            }
            (Some(index), false) => self.single(flow, index, mode, start_ns),
            (Some(_), true) => self.aggregate(flow, &chosen, mode, start_ns),
        };
        self.chosen = chosen;
        result
    }

    fn mpdu(&self, flow: usize, index: usize) -> Mpdu {
        let sender = &self.senders[flow];
        let pending = &sender.pending[index];
        Mpdu {
            content: Content::Data { serial: pending.serial, payload: pending.payload, tid: sender.tid },
            from: sender.from,
            to: Some(sender.to),
            seq: pending.seq,
            retry: pending.sent > 0,
            power_management: false,
            duration_us: 0,
        }
    }

    /// Books a transmission of an MPDU.
    fn transmitted(&mut self, flow: usize, index: usize, heard: Heard, received: bool) {
        let sender = &mut self.senders[flow];
        let pending = &mut sender.pending[index];
        let retry = pending.sent > 0;
        pending.sent += 1;
        let (seq, serial, payload, had) = (pending.seq, pending.serial, pending.payload, pending.received);
        let first = sender.ledger.transmission(seq, serial, retry, heard);
        sender.truth.payload_bytes += if first { u64::from(payload) } else { 0 };
        sender.ledger.truth.needless_retransmissions += u64::from(had);
        sender.ledger.truth.lost_on_air += u64::from(!received);
    }

    /// New data has arrived: flows that answer it get something to send.
    fn feed(&mut self, flow: usize, new: u64) {
        let before = self.senders[flow].truth.mpdus_delivered - new;
        let after = self.senders[flow].truth.mpdus_delivered;
        let now_ns = self.free_ns;
        for sender in &mut self.senders {
            if sender.plan.offered == crate::scene::Offered::TcpAcksOf(flow) {
                for _ in before / 2..after / 2 {
                    sender.acknowledge(now_ns);
                }
            }
        }
    }

    fn single(&mut self, flow: usize, index: usize, mode: Mode, start_ns: u64) -> io::Result<bool> {
        let mpdu = self.mpdu(flow, index);
        let (from, to) = (self.senders[flow].from, self.senders[flow].to);
        let len = self.builder.len(&mpdu);
        let mut start_ns = start_ns;
        if self.senders[flow].plan.rts_threshold.is_some_and(|limit| len > limit as usize) {
            let data_ns = self.air.duration_ns(mode, len) + u64::from(self.nav_us(mode, 14)) * 1000;
            match self.reserve(from, to, mode, data_ns, start_ns)? {
                Some(ns) => start_ns = ns,
                None => return Ok(false),
            }
        }
        let loss = self.senders[flow].loss(start_ns);
        let received = !self.rng.chance(loss);
        let (heard, acked) = self.send_acked(mpdu, to, mode, start_ns, received)?;
        let duration_ns = self.air.duration_ns(mode, len);
        self.senders[flow].count_ppdu(1, len, duration_ns);
        self.transmitted(flow, index, heard, received);
        if received && self.senders[flow].delivered(index) {
            self.feed(flow, 1);
        }
        let sender = &mut self.senders[flow];
        sender.ppdus += 1;
        sender.single_answered(index, acked);
        Ok(acked)
    }

    fn aggregate(&mut self, flow: usize, chosen: &[usize], mode: Mode, start_ns: u64) -> io::Result<bool> {
        let (from, to) = (self.senders[flow].from, self.senders[flow].to);
        let tid = self.senders[flow].tid.unwrap_or(0);
        let behaviour = self.behaviour(to);
        let block_ack_len = 24 + usize::from(behaviour.bitmap_bits.bits() / 8);
        let duration_us = self.nav_us(mode, block_ack_len);
        let mut on_air = std::mem::take(&mut self.on_air);
        on_air.clear();
        let mut psdu = 0usize;
        for &index in chosen {
            let mpdu = Mpdu { duration_us, ..self.mpdu(flow, index) };
            let len = self.builder.len(&mpdu);
            psdu = psdu.next_multiple_of(4) + 4 + len;
            on_air.push((mpdu, len));
        }
        let duration_ns = self.air.duration_ns(mode, psdu);
        let mut start_ns = start_ns;
        if self.senders[flow].plan.rts_threshold.is_some_and(|limit| psdu > limit as usize) {
            let protected_ns = duration_ns + u64::from(duration_us) * 1000;
            match self.reserve(from, to, mode, protected_ns, start_ns)? {
                Some(ns) => start_ns = ns,
                None => {
                    self.on_air = on_air;
                    return Ok(false);
                }
            }
        }
        let end_ns = start_ns + duration_ns;
        let preamble_ns = self.air.preamble_ns(mode);
        self.ppdus = self.ppdus.wrapping_add(1);
        self.medium.ppdu(from, mode, (start_ns, end_ns), on_air.iter().copied());
        self.senders[flow].count_ppdu(on_air.len(), psdu, duration_ns);

        let loss = self.senders[flow].loss(start_ns);
        let late_ns = (behaviour.late_block_ack_us.max(0.0) * 1000.0) as u64;
        let expected = self.senders[flow].board.next();
        let mut answered = std::mem::take(&mut self.answered);
        answered.clear();
        // Numbers that arrived for the first time, but too late to be shown.
        let mut late: Vec<u16> = Vec::new();
        let mut lowest: Option<u16> = None;
        let (mut offset, mut new) = (0usize, 0);
        let mut mpdu_end_ns = start_ns + preamble_ns;
        for (position, (&index, &(mpdu, len))) in chosen.iter().zip(on_air.iter()).enumerate() {
            offset = offset.next_multiple_of(4) + 4 + len;
            let mpdu_start_ns = mpdu_end_ns;
            mpdu_end_ns = start_ns + duration_ns.min(self.air.duration_ns(mode, offset));
            let frame = OnAir {
                mpdu,
                mode,
                len,
                ppdu: self.ppdus,
                ppdu_start_ns: start_ns,
                preamble_ns,
                ppdu_end_ns: end_ns,
                mpdu_start_ns,
                mpdu_end_ns,
                ampdu: Some((position as u32, on_air.len() as u32)),
            };
            let heard = self.receiver.hear(&self.builder, &frame)?;
            let received = !self.rng.chance(loss);
            answered.push(Answered { seq: mpdu.seq, heard, received });
            self.transmitted(flow, index, heard, received);
            if received {
                let sender = &mut self.senders[flow];
                lowest = lowest.or(Some(mpdu.seq));
                new += u64::from(sender.delivered(index));
                if sender.board.receive(mpdu.seq) && end_ns - frame.mpdu_end_ns < late_ns {
                    late.push(mpdu.seq);
                }
            }
        }
        self.free_ns = end_ns + self.air.extension_ns(mode);
        let mut got: Option<Shown> = None;
        let response = match lowest {
            None => None,
            Some(lowest) => {
                let in_ppdu = |seq: u16| answered.iter().any(|m| m.seq == seq && m.received);
                let style = behaviour.bitmap;
                let shown = self.senders[flow].board.show(style, behaviour.bitmap_bits, expected, lowest, |seq| {
                    !late.contains(&seq) && (style != BitmapStyle::LastPpdu || in_ppdu(seq))
                });
                let Shown { ssn, bitmap, bits } = shown;
                let response = self.respond(Content::BlockAck { tid, ssn, bitmap, bits }, to, from, mode)?;
                let ledger = &mut self.senders[flow].ledger;
                ledger.block_ack(|seq| shown.has(seq), ssn, bits, &answered, response.heard);
                got = response.reached.then_some(shown);
                Some(response)
            }
        };
        if answered.iter().any(|m| m.heard == Heard::Good) {
            self.exchanges.count((from, to), mode, response.as_ref());
        }
        if got.is_none() {
            self.no_answer(from, end_ns);
        }
        let sender = &mut self.senders[flow];
        sender.ppdus += 1;
        sender.answered(chosen, got.as_ref());
        if new > 0 {
            self.feed(flow, new);
        }
        self.answered = answered;
        self.on_air = on_air;
        Ok(got.is_some())
    }

    pub(super) fn bar(&mut self, flow: usize, start_ns: u64) -> io::Result<bool> {
        let sender = &self.senders[flow];
        let (from, to, tid, ssn) = (sender.from, sender.to, sender.tid.unwrap_or(0), sender.window_start());
        // At the rate of the response, as most drivers send it.
        let fastest = sender.plan.rates.modes.first().map_or(self.air.lowest, |&(mode, _)| mode);
        let mode = self.air.response_mode(fastest).unwrap_or(self.air.lowest);
        let behaviour = self.behaviour(to);
        let duration_us = self.nav_us(mode, 24 + usize::from(behaviour.bitmap_bits.bits() / 8));
        let content = Content::BlockAckRequest { tid, ssn };
        let mpdu = Mpdu { content, from, to: Some(to), seq: 0, retry: false, power_management: false, duration_us };
        let (heard, end_ns) = self.send(mpdu, mode, start_ns)?;
        let sender = &mut self.senders[flow];
        sender.ledger.truth.requests += u64::from(heard == Heard::Good);
        sender.board.flush_to(ssn);
        let shown = sender.board.show(BitmapStyle::Window, behaviour.bitmap_bits, ssn, ssn, |_| true);
        let Shown { ssn, bitmap, bits } = shown;
        let response = self.respond(Content::BlockAck { tid, ssn, bitmap, bits }, to, from, mode)?;
        if heard == Heard::Good {
            self.exchanges.count((from, to), mode, Some(&response));
        }
        let sender = &mut self.senders[flow];
        sender.ledger.block_ack(|seq| shown.has(seq), ssn, bits, &[], response.heard);
        sender.bar_answered(response.reached.then_some(&shown));
        if !response.reached {
            self.no_answer(from, end_ns);
        }
        Ok(response.reached)
    }
}
