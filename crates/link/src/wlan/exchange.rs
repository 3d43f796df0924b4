//! Frame exchanges: who sends what for how long, and what follows it.

use wire::phy::Mode;

use crate::engine::{AccessCategory, Packet, Sink};
use crate::ppdu::Contents;
use crate::wlan::link::WlanLink;
use crate::wlan::monitor::Plain;
use crate::wlan::on_air::{Answer, Exchange, First, Party, Stage};
use crate::wlan::phy::{Rate, RateId};
use crate::wlan::recipient::Shown;
use medium::{Collider, Unanswered};

impl<P: Packet + 'static> WlanLink<P> {
    /// Rate, of the present attempt, of the PPDU that is first in the lane.
    fn first_rate(&self, radio: usize, category: AccessCategory) -> RateId {
        let made = self.radios[radio].lanes[category.priority()].made.front();
        made.map_or(self.phy.basic, |made| made.chain.rate(made.attempts))
    }

    fn rate_of(&self, exchange: &Exchange) -> &Rate {
        self.phy.rate(self.first_rate(exchange.radio, exchange.category))
    }

    /// The radio that the PPDU which is first in the lane is for.
    pub(crate) fn receiver(&self, radio: usize, category: AccessCategory) -> usize {
        let own = &self.radios[radio];
        own.lanes[category.priority()].made.front().map_or(0, |made| own.peers[made.peer].radio)
    }

    fn first_kind(&self, radio: usize, category: AccessCategory) -> First {
        let own = &self.radios[radio];
        match own.lanes[category.priority()].made.front() {
            Some(made) if made.request.is_some() => First::Request,
            _ if own.settings.rts => First::Rts,
            _ => First::Data,
        }
    }

    /// Time on the air of the data PPDU that is first in the lane.
    fn data_ns(&self, radio: usize, category: AccessCategory) -> u64 {
        let made = self.radios[radio].lanes[category.priority()].made.front();
        made.map_or(0, |made| self.phy.rates.data_ns(made.chain.rate(made.attempts), made.psdu_len))
    }

    pub(crate) fn answer_ns(&self, radio: usize, category: AccessCategory) -> u64 {
        let rate = self.phy.rate(self.first_rate(radio, category));
        let ampdu = self.radios[radio].lanes[category.priority()].made.front().is_some_and(|made| made.ampdu);
        if ampdu {
            rate.block_ack_ns
        } else {
            rate.ack_ns
        }
    }

    /// Counts the first PPDU of an exchange; gives its time on the air.
    fn count_first(&mut self, radio: usize, category: AccessCategory, first: First, collided: bool) -> u64 {
        let ns = match first {
            First::Data => return self.count_data(radio, category, collided),
            First::Rts => self.phy.rate(self.first_rate(radio, category)).rts_ns,
            First::Request => self.phy.block_ack_request_ns(),
        };
        let count = &mut self.counts[radio];
        count.rts += u64::from(first == First::Rts);
        count.block_ack_requests += u64::from(first == First::Request);
        count.airtime_ns += ns;
        ns
    }

    /// Counts a data PPDU; gives its time on the air.
    fn count_data(&mut self, radio: usize, category: AccessCategory, collided: bool) -> u64 {
        let airtime_ns = self.data_ns(radio, category);
        let own = &mut self.radios[radio];
        let Some(made) = own.lanes[category.priority()].made.front() else { return 0 };
        let peer = &mut own.peers[made.peer];
        let retries = peer.originator(category, &own.settings).sent(&made.sequences);
        let mpdus = made.sequences.len() as u64;
        peer.counts.ppdus += 1;
        peer.counts.mpdus += mpdus;
        peer.counts.retries += retries;
        peer.counts.airtime_ns += airtime_ns;
        let row = peer.counts.categories.of_mut(category);
        row.ppdus += 1;
        row.mpdus += mpdus;
        row.retries += retries;
        row.airtime_ns += airtime_ns;
        let count = &mut self.counts[radio];
        count.airtime_ns += airtime_ns;
        count.ppdus += 1;
        count.ampdus += u64::from(made.ampdu);
        count.mpdus += mpdus;
        count.retries += retries;
        count.ppdu_sizes.count(made.sequences.len());
        if collided {
            count.ppdus_collided += 1;
            count.mpdus_collided += mpdus;
            count.retries_collided += retries;
        }
        airtime_ns
    }

    pub(crate) fn begin_beacon(&mut self, at_ns: u64) {
        let airtime_ns = self.phy.beacon_ns;
        self.counts[0].beacons += 1;
        self.counts[0].airtime_ns += airtime_ns;
        self.exchange = Some(Exchange {
            radio: 0,
            category: AccessCategory::BestEffort,
            start_ns: at_ns,
            end_ns: at_ns + airtime_ns,
            txop_end_ns: 0,
            stage: Stage::Beacon,
        });
    }

    /// Those that have the turn begin to send.
    pub(crate) fn begin(&mut self, at_ns: u64, winners: &[(usize, AccessCategory)]) {
        if let [(radio, category)] = *winners {
            let first = self.first_kind(radio, category);
            let ns = self.count_first(radio, category, first, false);
            let txop_ns = self.radios[radio].txop_ns[category.priority()];
            self.exchange = Some(Exchange {
                radio,
                category,
                start_ns: at_ns,
                end_ns: at_ns + ns,
                txop_end_ns: if txop_ns == 0 { 0 } else { at_ns + txop_ns },
                stage: match first {
                    First::Rts => Stage::Rts,
                    First::Request => Stage::Request,
                    First::Data => Stage::Data,
                },
            });
            return;
        }
        self.collisions += 1;
        let mut parties = Vec::with_capacity(winners.len());
        for &(radio, category) in winners {
            let first = self.first_kind(radio, category);
            let end_ns = at_ns + self.count_first(radio, category, first, true);
            parties.push(Party { radio, category, first, end_ns });
        }
        parties.sort_by_key(|party| party.end_ns);
        let end_ns = parties.last().map_or(at_ns, |party| party.end_ns);
        self.exchange = Some(Exchange {
            radio: 0,
            category: AccessCategory::BestEffort,
            start_ns: at_ns,
            end_ns,
            txop_end_ns: 0,
            stage: Stage::Collision(parties),
        });
    }

    fn enter(&mut self, exchange: Exchange, start_ns: u64, duration_ns: u64, stage: Stage) {
        self.exchange = Some(Exchange { start_ns, end_ns: start_ns + duration_ns, stage, ..exchange });
    }

    /// A stage of the exchange has ended.
    pub(crate) fn step(&mut self, sink: &mut impl Sink<P>) {
        let Some(mut exchange) = self.exchange.take() else { return };
        let stage = std::mem::replace(&mut exchange.stage, Stage::Beacon);
        let Exchange { radio, category, start_ns, end_ns, .. } = exchange;
        let from = radio;
        let plain = |from: usize, to, mode, reserved_ns| Plain {
            span_ns: (start_ns, end_ns),
            from,
            to,
            mode,
            reserved_ns,
            collided: false,
        };
        match stage {
            Stage::Beacon => {
                let basic = self.phy.rate(self.phy.basic);
                let (mode, silence_ns) = (basic.mode, basic.silence_ns);
                self.show(&plain(0, None, mode, 0), Contents::Beacon, sink);
                self.exchange = None;
                self.access.silent(end_ns + silence_ns);
            }
            Stage::Rts => {
                let to = self.receiver(from, category);
                let rate = self.rate_of(&exchange);
                let (mode, gap_ns, cts_ns) = (rate.response, rate.gap_ns, rate.cts_ns);
                let reserved = gap_ns + cts_ns + gap_ns + self.data_exchange_ns(&exchange);
                self.show(&plain(from, Some(to), mode, reserved), Contents::Rts, sink);
                self.counts[to].airtime_ns += cts_ns;
                self.enter(exchange, end_ns + gap_ns, cts_ns, Stage::Cts);
            }
            Stage::Cts => {
                let to = self.receiver(from, category);
                let rate = self.rate_of(&exchange);
                let (mode, gap_ns) = (rate.response, rate.gap_ns);
                let reserved = gap_ns + self.data_exchange_ns(&exchange);
                self.show(&plain(to, Some(from), mode, reserved), Contents::Cts, sink);
                let ns = self.count_data(from, category, false);
                self.enter(exchange, end_ns + gap_ns, ns, Stage::Data);
            }
            Stage::Data => {
                self.show_data(from, category, (start_ns, end_ns), false, sink);
                self.data_ended(exchange, sink);
            }
            Stage::Answer(answer) => {
                let to = self.receiver(from, category);
                let rate = self.rate_of(&exchange);
                let (mode, silence_ns) = (rate.response, rate.silence_ns);
                let contents = match answer {
                    Answer::Ack => Contents::Ack,
                    Answer::BlockAck(Shown { start, bitmap }) => {
                        Contents::BlockAck { category, start_sequence: start, bitmap }
                    }
                };
                self.show(&plain(to, Some(from), mode, 0), contents, sink);
                self.conclude(end_ns, from, category, Some(answer), sink);
                self.after_success(exchange, silence_ns);
            }
            Stage::Request => self.request_ended(exchange, sink),
            Stage::RequestedBlockAck(shown) => {
                let to = self.receiver(from, category);
                let basic = self.phy.rate(self.phy.basic);
                let (mode, silence_ns) = (basic.response, basic.silence_ns);
                let contents = Contents::BlockAck { category, start_sequence: shown.start, bitmap: shown.bitmap };
                self.show(&plain(to, Some(from), mode, 0), contents, sink);
                self.conclude(end_ns, from, category, Some(Answer::BlockAck(shown)), sink);
                self.after_success(exchange, silence_ns);
            }
            Stage::Collision(parties) => self.collision_ended(start_ns, &parties, sink),
        }
    }

    /// A data PPDU has reached its receiver.
    fn data_ended(&mut self, exchange: Exchange, sink: &mut impl Sink<P>) {
        let Exchange { radio: from, category, start_ns, end_ns, .. } = exchange;
        let to = self.receiver(from, category);
        let answer_ns = self.answer_ns(from, category);
        let (gap_ns, silence_ns) = (self.rate_of(&exchange).gap_ns, self.rate_of(&exchange).silence_ns);
        let arrival = self.arrive(from, category, (start_ns, end_ns), sink);
        if let Some(answer) = arrival.answer {
            self.counts[to].airtime_ns += answer_ns;
            if !arrival.answer_lost {
                return self.enter(exchange, end_ns + gap_ns, answer_ns, Stage::Answer(answer));
            }
            // Only the time that it takes distinguishes it from silence.
            self.counts[to].answers_lost += 1;
        }
        self.conclude(end_ns, from, category, None, sink);
        self.exchange = None;
        let unanswered = Unanswered {
            function: self.function(from, category),
            end_ns,
            silence_ns,
            answer_ns: gap_ns + answer_ns,
            dcf: !self.radios[from].qos,
            unread_by: (!arrival.readable).then_some(to),
        };
        self.access.unanswered(&unanswered, &mut self.draws.backoff);
        self.refresh(from, category, end_ns);
    }

    fn request_ended(&mut self, exchange: Exchange, sink: &mut impl Sink<P>) {
        let Exchange { radio: from, category, start_ns, end_ns, .. } = exchange;
        let to = self.receiver(from, category);
        let basic = self.phy.rate(self.phy.basic);
        let (mode, gap_ns, answer_ns) = (basic.mode, basic.gap_ns, basic.block_ack_ns);
        let own = &self.radios[from];
        let Some(made) = own.lanes[category.priority()].made.front() else { return };
        let (start, mirror) = (made.request.unwrap_or(0), own.peers[made.peer].mirror);
        let plain = Plain {
            span_ns: (start_ns, end_ns),
            from,
            to: Some(to),
            mode,
            reserved_ns: gap_ns + answer_ns,
            collided: false,
        };
        self.show(&plain, Contents::BlockAckRequest { category, start_sequence: start }, sink);
        let late_ns = self.late_ns(to);
        let recipient = self.radios[to].peers[mirror].recipient(category);
        recipient.release_to(end_ns, start, &mut self.up);
        let shown = recipient.block_ack(end_ns + gap_ns, start, start, late_ns);
        self.hand_up(to, end_ns, sink);
        let count = &mut self.counts[to];
        count.block_acks += 1;
        count.airtime_ns += answer_ns;
        self.enter(exchange, end_ns + gap_ns, answer_ns, Stage::RequestedBlockAck(shown));
    }

    fn collision_ended(&mut self, start_ns: u64, parties: &[Party], sink: &mut impl Sink<P>) {
        let mut idle_ns = 0;
        for &Party { radio, category, first, end_ns } in parties {
            let rate = self.phy.rate(self.first_rate(radio, category));
            let mode = match first {
                First::Data => rate.mode,
                First::Rts => rate.response,
                First::Request => self.phy.rate(self.phy.basic).mode,
            };
            let silence_ns = if matches!(mode, Mode::Dsss { .. }) { 0 } else { rate.silence_ns };
            idle_ns = idle_ns.max(end_ns + silence_ns);
            if sink.wants_air() {
                let to = Some(self.receiver(radio, category));
                let span_ns = (start_ns, end_ns);
                let plain = Plain { span_ns, from: radio, to, mode, reserved_ns: 0, collided: true };
                let made = self.radios[radio].lanes[category.priority()].made.front();
                let start_sequence = made.and_then(|made| made.request).unwrap_or(0);
                match first {
                    First::Data => self.show_data(radio, category, span_ns, true, sink),
                    First::Rts => self.show(&plain, Contents::Rts, sink),
                    First::Request => {
                        self.show(&plain, Contents::BlockAckRequest { category, start_sequence }, sink);
                    }
                }
            }
            // An RTS does not count against the retry limit of what it was for.
            if first != First::Rts {
                self.conclude(end_ns, radio, category, None, sink);
            }
        }
        self.exchange = None;
        let (access, radios) = (&mut self.access, &self.radios);
        let colliders: Vec<Collider> = parties
            .iter()
            .map(|party| {
                let function = access.function(party.radio, party.category.priority());
                Collider { function, end_ns: party.end_ns, dcf: !radios[party.radio].qos, awaits_answer: true }
            })
            .collect();
        access.collided(colliders.into_iter(), idle_ns, &mut self.draws.backoff);
        for party in parties {
            self.refresh(party.radio, party.category, party.end_ns);
        }
    }

    /// The exchange went well: another one in the same TXOP, or the backoff.
    fn after_success(&mut self, exchange: Exchange, silence_ns: u64) {
        let Exchange { radio, category, end_ns, txop_end_ns, .. } = exchange;
        let gap_ns = self.phy.spaces.sifs_ns + silence_ns;
        let begins_ns = end_ns + gap_ns;
        if txop_end_ns > begins_ns && !self.settling {
            let left_ns = txop_end_ns - begins_ns;
            if self.radios[radio].lanes[category.priority()].made.is_empty() {
                // Room for the answer: a Block Ack at the lowest rate.
                let answer_ns = gap_ns + self.phy.rate(self.phy.basic).block_ack_ns;
                self.make(end_ns, radio, category, left_ns.saturating_sub(answer_ns), false);
            }
            let lane = &self.radios[radio].lanes[category.priority()];
            let is_data = lane.made.front().is_some_and(|made| made.request.is_none());
            if is_data && self.data_exchange_ns(&exchange) <= left_ns {
                let ns = self.count_data(radio, category, false);
                return self.enter(exchange, begins_ns, ns, Stage::Data);
            }
        }
        let function = self.function(radio, category);
        self.exchange = None;
        self.access.succeeded(function, end_ns + silence_ns, &mut self.draws.backoff);
        self.refresh(radio, category, end_ns);
    }

    /// From the start of the data PPDU that is first in the lane to the end of its answer.
    fn data_exchange_ns(&self, exchange: &Exchange) -> u64 {
        let Exchange { radio, category, .. } = *exchange;
        self.data_ns(radio, category) + self.rate_of(exchange).gap_ns + self.answer_ns(radio, category)
    }
}
