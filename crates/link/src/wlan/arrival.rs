//! What arrives, and what its sender makes of the answer.

use std::cmp::Reverse;

use wire::phy::{ACK_LEN, BLOCK_ACK_64_LEN};

use crate::engine::{AccessCategory, DropCause, Packet, Sink};
use crate::wlan::carried::overhead;
use crate::wlan::link::{Flow, WlanLink};
use crate::wlan::make::psdu_len;
use crate::wlan::on_air::Answer;
use crate::wlan::originator::{psdu_with, Outcome};
use crate::wlan::radio::host;
use crate::wlan::radio::Made;
use crate::wlan::recipient::Reception;
use crate::wlan::settings::RetryRates;
use medium::mpdu_end_ns;

/// How a data PPDU arrived.
pub(crate) struct Arrival {
    /// The receiver got something of it.
    pub(crate) readable: bool,
    /// What it answers.
    pub(crate) answer: Option<Answer>,
    /// The answer is lost on the way.
    pub(crate) answer_lost: bool,
}

impl<P: Packet + 'static> WlanLink<P> {
    pub(crate) fn late_ns(&self, recipient: usize) -> u64 {
        u64::from(self.radios[recipient].settings.late_block_ack_us) * 1_000
    }

    /// The data PPDU that is first in the lane has reached its receiver.
    pub(crate) fn arrive(
        &mut self,
        from: usize,
        category: AccessCategory,
        (start_ns, end_ns): (u64, u64),
        sink: &mut impl Sink<P>,
    ) -> Arrival {
        let mut arrival = Arrival { readable: false, answer: None, answer_lost: false };
        let Some(made) = self.radios[from].lanes[category.priority()].made.pop_front() else { return arrival };
        let rate_id = made.chain.rate(made.attempts);
        let rate = self.phy.rate(rate_id).clone();
        let peer = &self.radios[from].peers[made.peer];
        let (to, mirror, overhead, error_rate) = (peer.radio, peer.mirror, overhead(peer.qos), peer.mpdu_error_rate);
        let answer_start_ns = end_ns + rate.gap_ns;
        let first_missing = self.radios[to].peers[mirror].recipient(category).next();
        let mut received = self.spare.pop().unwrap_or_default();
        let mut bytes = 0;
        for &sequence in &made.sequences {
            let peer = &mut self.radios[from].peers[made.peer];
            let Some(originator) = &peer.originators[category.priority()] else { break };
            let packet = &originator.mpdu(sequence).packet;
            let len = packet.size_bytes() + overhead;
            bytes = if made.ampdu { psdu_with(bytes, len) } else { len };
            let noise = peer.errors.of(usize::from(rate_id), &rate.mode, len);
            if self.draws.loss.chance(error_rate) || self.draws.loss.chance(noise) {
                continue;
            }
            let mpdu_end_ns = mpdu_end_ns((start_ns, end_ns), rate.preamble_ns, bytes, made.psdu_len);
            received.push(sequence);
            let packet = packet.clone();
            let recipient = self.radios[to].peers[mirror].recipient(category);
            match recipient.receive(sequence, mpdu_end_ns, packet, &mut self.up) {
                Reception::New => {}
                Reception::Duplicate => self.counts[to].duplicates += 1,
                // Its sender tried longer than the receiver waited.
                Reception::Late(packet) => {
                    self.counts[to].arrived_late += 1;
                    sink.dropped(end_ns, packet.from, &packet.packet, DropCause::RetryLimit);
                }
            }
        }
        let lost = (made.sequences.len() - received.len()) as u64;
        self.counts[from].mpdus_lost += lost;
        self.radios[from].peers[made.peer].counts.mpdus_lost += lost;
        self.watch_gap((to, mirror, category));
        arrival.readable = !received.is_empty();
        if arrival.readable {
            let airtime_us = ((end_ns - start_ns) / 1_000) as u32;
            self.radios[to].queue.received(end_ns, mirror, category, airtime_us);
            self.hand_up(to, end_ns, sink);
            let settings = &self.radios[to].settings;
            let concerned = settings.missing_ack_mcs.is_empty()
                || matches!(rate.mode, wire::phy::Mode::Ht(ht) if settings.missing_ack_mcs.contains(&ht.mcs));
            let missing_rate = if concerned { settings.missing_ack_rate } else { 0.0 };
            if self.draws.answer.chance(missing_rate) {
                self.counts[to].answers_missing += 1;
            } else if made.ampdu {
                let lowest = made.sequences.first().copied().unwrap_or(0);
                let late_ns = self.late_ns(to);
                let recipient = self.radios[to].peers[mirror].recipient(category);
                let shown = recipient.block_ack(answer_start_ns, first_missing, lowest, late_ns);
                let count = &mut self.counts[to];
                count.left_out_late += received.iter().filter(|&&sequence| !shown.has(sequence)).count() as u64;
                count.block_acks += 1;
                arrival.answer = Some(Answer::BlockAck(shown));
            } else {
                self.counts[to].acks += 1;
                arrival.answer = Some(Answer::Ack);
            }
        }
        if arrival.answer.is_some() {
            let len = if made.ampdu { BLOCK_ACK_64_LEN } else { ACK_LEN };
            let errors = &mut self.radios[to].peers[mirror].errors;
            let lost = self
                .phy
                .rates
                .known(&rate.response)
                .map_or(0.0, |number| errors.of(usize::from(number), &rate.response, len));
            arrival.answer_lost = self.draws.answer.chance(lost);
        }
        received.clear();
        self.spare.push(received);
        self.radios[from].lanes[category.priority()].made.push_front(made);
        arrival
    }

    /// Sees to it that a gap in what was received is given up in time.
    fn watch_gap(&mut self, (to, mirror, category): Flow) {
        let recipient = self.radios[to].peers[mirror].recipient(category);
        if !recipient.watched {
            if let Some(ns) = recipient.gap_ends_ns() {
                recipient.watched = true;
                self.gaps.push(Reverse((ns, (to, mirror, category))));
            }
        }
    }

    /// A gap may have lasted long enough.
    pub(crate) fn look_after_gap(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let Some(Reverse((_, (to, mirror, category)))) = self.gaps.pop() else { return };
        let recipient = self.radios[to].peers[mirror].recipient(category);
        recipient.watched = false;
        if recipient.gap_ends_ns().is_some_and(|ns| ns <= at_ns) {
            recipient.skip_gap(at_ns, &mut self.up);
            self.hand_up(to, at_ns, sink);
        }
        self.watch_gap((to, mirror, category));
    }

    /// The sender knows how the PPDU that is first in the lane fared; `None`: no answer.
    pub(crate) fn conclude(
        &mut self,
        at_ns: u64,
        radio: usize,
        category: AccessCategory,
        answer: Option<Answer>,
        sink: &mut impl Sink<P>,
    ) {
        let own = &mut self.radios[radio];
        let Some(mut made) = own.lanes[category.priority()].made.pop_front() else { return };
        let airtime_ns = if made.request.is_some() {
            self.phy.block_ack_request_ns()
        } else {
            self.phy.rates.data_ns(made.chain.rate(made.attempts), made.psdu_len)
        };
        let (rate, made_given) = (made.chain.rate(made.attempts), made.given);
        made.attempts += 1;
        let settings = &own.settings;
        let peer = &mut own.peers[made.peer];
        let qos = peer.qos;
        let session = peer.session(category);
        // The hardware goes on with what is not under a session, and with A-MPDUs while it has rates to try.
        let goes_on = if made.request.is_some() {
            made.attempts <= u32::from(settings.retry_limit)
        } else {
            !session || made.attempts < made.chain.attempts()
        };
        let outcome = Outcome { answered: answer.is_some(), stays: answer.is_none() && goes_on };
        let originator = peer.originator(category, settings);
        let acked = made.sequences.first().copied();
        let acknowledged = |sequence: u16| match answer {
            None => false,
            Some(Answer::BlockAck(shown)) => shown.has(sequence),
            Some(Answer::Ack) => Some(sequence) == acked,
        };
        if made.request.is_some() && !outcome.stays {
            originator.request_done();
        }
        let mpdus = made.sequences.len() as u32;
        let (mut released, mut acknowledged_mpdus) = (0, 0);
        let freed = |packet: &crate::wlan::carried::Carried<P>, cause: Option<DropCause>| {
            released += 1;
            acknowledged_mpdus += u32::from(cause.is_none());
            if let Some(cause) = cause {
                sink.dropped(at_ns, packet.from, &packet.packet, cause);
            }
            if packet.from == host(radio) {
                sink.freed(at_ns, packet.from, &packet.packet);
            }
        };
        let given_up = originator.concluded(at_ns, &mut made.sequences, outcome, acknowledged, freed);
        self.counts[radio].drops.retry_limit += given_up;
        let done = made.request.map_or(made.sequences.is_empty(), |_| !outcome.stays);
        let (to, estimated_us) = (made.peer, if done { made.estimated_us } else { 0 });
        let lane = &mut own.lanes[category.priority()];
        if done {
            self.spare.push(made.sequences);
        } else {
            if made.request.is_none() {
                made.ampdu = made.sequences.len() > 1;
                let len = |sequence| originator.mpdu(sequence).packet.size_bytes() + overhead(qos);
                made.psdu_len = psdu_len(&made.sequences, len);
            }
            lane.made.push_front(made);
        }
        let held = |made: &Made, sequence| made.peer == to && made.sequences.contains(&sequence);
        originator.advance(|sequence| lane.made.iter().any(|made| held(made, sequence)));
        lane.starved = false;
        peer.counts.given_up += given_up;
        let acknowledged_mpdus = acknowledged_mpdus.min(mpdus);
        // With stepwise rates a driver learns of an MPDU when it is done with, and takes it for lost at the rates above.
        let (reported, above) = match own.settings.retry_rates {
            RetryRates::Chain => (mpdus, None),
            RetryRates::Stepwise => (acknowledged_mpdus + given_up as u32, Some(made_given)),
        };
        let mut above = above.filter(|_| reported > 0);
        while let Some(lost) = above.filter(|&lost| lost != rate) {
            peer.rates.lost(lost, reported);
            above = self.phy.below(lost);
        }
        if reported > 0 {
            peer.rates.report(rate, reported, acknowledged_mpdus);
        }
        own.queue.completed(at_ns, to, category, estimated_us, (airtime_ns / 1_000) as u32);
        own.hardware_us -= u64::from(estimated_us);
        own.tell_again(at_ns, to, category);
        if released > 0 {
            own.queue.released(at_ns, to, category, released, &mut self.gone_packets);
            self.note_gone(radio, category);
        }
        self.fill_hardware(at_ns, radio, category);
    }
}
