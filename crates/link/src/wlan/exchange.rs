//! Frame exchanges: who sends what for how long, what arrives, and how it is answered.

use wire::phy::{ampdu_psdu_len, Mode};

use crate::engine::{AccessCategory, DropCause, HostId, Packet, Sink};
use crate::ppdu::{Contents, DataMpdu, Ppdu};
use crate::wlan::link::{Side, WlanLink};
use crate::wlan::originator::psdu_with;
use crate::wlan::recipient::Shown;

/// What is on the air, in the stage that ends next.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    from: Side,
    /// When the PPDU of this stage began.
    start_ns: u64,
    /// When it ends.
    end_ns: u64,
    stage: Stage,
}

impl Exchange {
    pub(crate) fn stage_ends_ns(&self) -> u64 {
        self.end_ns
    }
}

#[derive(Clone, Debug)]
enum Stage {
    Beacon,
    Rts(Data),
    Cts(Data),
    Data(Data),
    /// The answer to a data PPDU.
    Answer(Data, Answer),
    Request {
        start: u16,
    },
    RequestedBlockAck(Shown),
    /// Both send at once; what each sends.
    Collision([Sent; 2]),
}

/// A data PPDU.
#[derive(Clone, Debug)]
struct Data {
    /// Positions of its MPDUs in the window of the originator.
    chosen: Vec<usize>,
    psdu_len: usize,
    duration_ns: u64,
}

impl Data {
    fn is_ampdu(&self) -> bool {
        self.chosen.len() > 1
    }
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Ack,
    BlockAck(Shown),
}

/// The first PPDU of an exchange.
#[derive(Clone, Debug)]
enum Sent {
    Rts(Data),
    Request(u16),
    Data(Data),
}

/// The category of everything that is sent.
const CATEGORY: AccessCategory = AccessCategory::BestEffort;

/// Who a PPDU is for.
fn receiver<P>(from: Side, contents: &Contents<'_, P>) -> Option<HostId> {
    (!matches!(contents, Contents::Beacon)).then_some(from.other().host())
}

/// A PPDU that does not collide.
fn clear<P>(
    (start_ns, end_ns): (u64, u64),
    from: Side,
    mode: Mode,
    reserved_ns: u64,
    contents: Contents<'_, P>,
) -> Ppdu<'_, P> {
    Ppdu {
        start_ns,
        end_ns,
        duration_us: duration_us(reserved_ns),
        mode,
        from: from.host(),
        to: receiver(from, &contents),
        signal_dbm: signal_dbm(from),
        collided: false,
        contents,
    }
}

/// Signal at the receiver, dBm.
const fn signal_dbm(from: Side) -> i8 {
    match from {
        Side::Dut => -45,
        Side::Ap => -40,
    }
}

/// The Duration field: what is reserved after the end of a PPDU, rounded up to µs (9.2.5).
fn duration_us(ns: u64) -> u16 {
    ns.div_ceil(1_000).min(32_767) as u16
}

impl<P: Packet> WlanLink<P> {
    /// Decides what `side` sends, now that it may.
    fn compose(&mut self, side: Side) -> Sent {
        let node = &mut self.nodes[side.index()];
        if let Some(start) = node.originator.request() {
            return Sent::Request(start);
        }
        let (station, phy) = match side {
            Side::Dut => (&self.scenario.dut, &self.phy),
            Side::Ap => (&self.scenario.ap, &self.phy),
        };
        let max_ns = u64::from(station.ampdu_max_us) * 1_000;
        let max_bytes = station.ampdu_max_bytes as usize;
        let fits = |psdu_len: usize| psdu_len <= max_bytes && phy.data_ns(side, psdu_len) <= max_ns;
        let mut chosen = Vec::new();
        node.originator.fill(usize::from(station.ampdu_max_subframes), fits, &mut chosen);
        let lens = chosen.iter().map(|&index| node.originator.mpdu(index).len());
        // A single MPDU goes without a delimiter, and is answered by an ACK.
        let psdu_len = if chosen.len() > 1 { ampdu_psdu_len(lens) } else { lens.sum() };
        let data = Data { chosen, psdu_len, duration_ns: phy.data_ns(side, psdu_len) };
        if station.rts {
            Sent::Rts(data)
        } else {
            Sent::Data(data)
        }
    }

    fn first_ppdu_ns(&self, side: Side, sent: &Sent) -> u64 {
        match sent {
            Sent::Rts(_) => self.phy.rts_ns(side),
            Sent::Request(_) => self.phy.block_ack_request_ns(),
            Sent::Data(data) => data.duration_ns,
        }
    }

    /// Counts the first PPDU of an exchange.
    fn count_sent(&mut self, side: Side, sent: &Sent, collided: bool) {
        let airtime_ns = self.first_ppdu_ns(side, sent);
        let count = &mut self.counts[side.index()];
        match sent {
            Sent::Rts(_) => count.rts += 1,
            Sent::Request(_) => count.block_ack_requests += 1,
            Sent::Data(data) => return self.count_data(side, data, collided),
        }
        count.airtime_ns += airtime_ns;
    }

    fn count_data(&mut self, side: Side, data: &Data, collided: bool) {
        let originator = &mut self.nodes[side.index()].originator;
        let retries = data.chosen.iter().filter(|&&index| originator.mpdu(index).sent > 0).count() as u64;
        let mpdus = data.chosen.len() as u64;
        originator.sent(&data.chosen);
        let count = &mut self.counts[side.index()];
        count.airtime_ns += data.duration_ns;
        count.ppdus += 1;
        count.ampdus += u64::from(data.is_ampdu());
        count.mpdus += mpdus;
        count.retries += retries;
        if collided {
            count.ppdus_collided += 1;
            count.mpdus_collided += mpdus;
            count.retries_collided += retries;
        }
    }

    pub(crate) fn begin_beacon(&mut self, at_ns: u64) {
        let airtime_ns = self.phy.beacon_ns();
        let count = &mut self.counts[Side::Ap.index()];
        count.beacons += 1;
        count.airtime_ns += airtime_ns;
        self.enter(Side::Ap, at_ns, airtime_ns, Stage::Beacon);
    }

    pub(crate) fn begin(&mut self, at_ns: u64, side: Side) {
        let sent = self.compose(side);
        self.count_sent(side, &sent, false);
        let ns = self.first_ppdu_ns(side, &sent);
        let stage = match sent {
            Sent::Rts(data) => Stage::Rts(data),
            Sent::Request(start) => Stage::Request { start },
            Sent::Data(data) => Stage::Data(data),
        };
        self.enter(side, at_ns, ns, stage);
    }

    pub(crate) fn begin_collision(&mut self, at_ns: u64) {
        self.collisions += 1;
        let sent = Side::BOTH.map(|side| {
            let sent = self.compose(side);
            self.count_sent(side, &sent, true);
            sent
        });
        let ns = Side::BOTH.map(|side| self.first_ppdu_ns(side, &sent[side.index()])).into_iter().max().unwrap_or(0);
        self.enter(Side::Dut, at_ns, ns, Stage::Collision(sent));
    }

    fn enter(&mut self, from: Side, start_ns: u64, duration_ns: u64, stage: Stage) {
        self.exchange = Some(Exchange { from, start_ns, end_ns: start_ns + duration_ns, stage });
    }

    /// The medium is silent from here on.
    fn finish(&mut self, end_ns: u64) {
        self.exchange = None;
        self.idle_ns = end_ns + self.phy.silence_ns;
        for side in Side::BOTH {
            self.refresh(side, end_ns);
        }
    }

    /// A stage of the exchange has ended.
    pub(crate) fn step(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let Some(exchange) = self.exchange.take() else { return };
        let Exchange { from, start_ns, end_ns, stage } = exchange;
        let gap_ns = self.phy.gap_ns;
        match stage {
            Stage::Beacon => {
                sink.air(&clear((start_ns, end_ns), from, self.phy.basic_mode(), 0, Contents::Beacon));
                self.finish(at_ns);
            }
            Stage::Rts(data) => {
                let cts_ns = self.phy.cts_ns(from);
                let reserved = gap_ns + cts_ns + gap_ns + self.data_exchange_ns(from, &data);
                sink.air(&clear((start_ns, end_ns), from, self.phy.response_mode(from), reserved, Contents::Rts));
                self.counts[from.other().index()].airtime_ns += cts_ns;
                self.enter(from, at_ns + gap_ns, cts_ns, Stage::Cts(data));
            }
            Stage::Cts(data) => {
                let reserved = gap_ns + self.data_exchange_ns(from, &data);
                sink.air(&clear(
                    (start_ns, end_ns),
                    from.other(),
                    self.phy.response_mode(from),
                    reserved,
                    Contents::Cts,
                ));
                self.count_data(from, &data, false);
                let ns = data.duration_ns;
                self.enter(from, at_ns + gap_ns, ns, Stage::Data(data));
            }
            Stage::Data(data) => {
                self.show_data(from, (start_ns, end_ns), &data, false, sink);
                self.arrive(from, start_ns, at_ns, data, sink);
            }
            Stage::Answer(data, answer) => {
                let contents = match answer {
                    Answer::Ack => Contents::Ack,
                    Answer::BlockAck(shown) => {
                        Contents::BlockAck { category: CATEGORY, start_sequence: shown.start, bitmap: shown.bitmap }
                    }
                };
                sink.air(&clear((start_ns, end_ns), from.other(), self.phy.response_mode(from), 0, contents));
                self.conclude(at_ns, from, &data.chosen, Some(answer), sink);
                self.finish(at_ns);
            }
            Stage::Request { start } => {
                let answer_ns = self.phy.requested_block_ack_ns();
                let contents = Contents::BlockAckRequest { category: CATEGORY, start_sequence: start };
                sink.air(&clear((start_ns, end_ns), from, self.phy.basic_mode(), gap_ns + answer_ns, contents));
                let to = from.other();
                let recipient = &mut self.nodes[to.index()].recipient;
                recipient.release_to(start, &mut self.up);
                let late_ns = self.late_ns(to);
                let shown = self.nodes[to.index()].recipient.block_ack(at_ns + gap_ns, start, start, late_ns);
                self.hand_up(to, at_ns, sink);
                let count = &mut self.counts[to.index()];
                count.block_acks += 1;
                count.airtime_ns += answer_ns;
                self.enter(from, at_ns + gap_ns, answer_ns, Stage::RequestedBlockAck(shown));
            }
            Stage::RequestedBlockAck(shown) => {
                let contents =
                    Contents::BlockAck { category: CATEGORY, start_sequence: shown.start, bitmap: shown.bitmap };
                sink.air(&clear((start_ns, end_ns), from.other(), self.phy.basic_response_mode(), 0, contents));
                self.nodes[from.index()].originator.request_done();
                self.conclude(at_ns, from, &[], Some(Answer::BlockAck(shown)), sink);
                self.finish(at_ns);
            }
            Stage::Collision(sent) => {
                for (side, sent) in Side::BOTH.into_iter().zip(&sent) {
                    self.show_collided(side, start_ns, sent, sink);
                    let chosen = match sent {
                        Sent::Data(data) => data.chosen.as_slice(),
                        // Not on the air, so it does not count against the retry limit.
                        Sent::Rts(_) | Sent::Request(_) => &[],
                    };
                    self.conclude(at_ns, side, chosen, None, sink);
                }
                self.finish(at_ns);
            }
        }
    }

    /// From the start of a data PPDU to the end of its answer.
    fn data_exchange_ns(&self, from: Side, data: &Data) -> u64 {
        data.duration_ns + self.phy.gap_ns + self.phy.response_ns(from, data.is_ampdu())
    }

    fn late_ns(&self, recipient: Side) -> u64 {
        let station = self.station(recipient);
        u64::from(station.late_block_ack_us) * 1_000
    }

    fn station(&self, side: Side) -> &crate::wlan::scenario::Station {
        match side {
            Side::Dut => &self.scenario.dut,
            Side::Ap => &self.scenario.ap,
        }
    }

    /// A data PPDU has reached the other station.
    fn arrive(&mut self, from: Side, start_ns: u64, end_ns: u64, data: Data, sink: &mut impl Sink<P>) {
        let to = from.other();
        let (error_rate, missing_rate) = (self.station(from).mpdu_error_rate, self.station(to).missing_ack_rate);
        let late_ns = self.late_ns(to);
        let answer_start_ns = end_ns + self.phy.gap_ns;
        let data_start_ns = start_ns + self.phy.preamble_ns(from);
        let first_missing = self.nodes[to.index()].recipient.next();
        let mut lowest = None;
        let mut received = Vec::new();
        let mut bytes = 0;
        for &index in &data.chosen {
            let mpdu = self.nodes[from.index()].originator.mpdu(index);
            let (sequence, packet) = (mpdu.sequence, mpdu.packet.clone());
            bytes = if data.is_ampdu() { psdu_with(bytes, mpdu.len()) } else { mpdu.len() };
            lowest.get_or_insert(sequence);
            if self.rng.chance(error_rate) {
                self.counts[from.index()].mpdus_lost += 1;
                continue;
            }
            // Its last bit: as far into the data as its last byte is into the PSDU.
            let mpdu_end_ns = data_start_ns
                + (end_ns - data_start_ns) * (bytes as u64).min(data.psdu_len as u64) / (data.psdu_len as u64).max(1);
            received.push(sequence);
            let new = self.nodes[to.index()].recipient.receive(sequence, mpdu_end_ns, packet, &mut self.up);
            self.counts[to.index()].duplicates += u64::from(!new);
        }
        self.hand_up(to, end_ns, sink);
        if received.is_empty() {
            self.nodes[to.index()].contender.defer_longer(self.phy.eifs_slots);
        } else if self.rng.chance(missing_rate) {
            self.counts[to.index()].answers_missing += 1;
        } else {
            let answer = if data.is_ampdu() {
                let recipient = &self.nodes[to.index()].recipient;
                let shown = recipient.block_ack(answer_start_ns, first_missing, lowest.unwrap_or(0), late_ns);
                let count = &mut self.counts[to.index()];
                count.left_out_late += received.iter().filter(|&&sequence| !shown.has(sequence)).count() as u64;
                count.block_acks += 1;
                Answer::BlockAck(shown)
            } else {
                self.counts[to.index()].acks += 1;
                Answer::Ack
            };
            let answer_ns = self.phy.response_ns(from, data.is_ampdu());
            self.counts[to.index()].airtime_ns += answer_ns;
            return self.enter(from, answer_start_ns, answer_ns, Stage::Answer(data, answer));
        }
        self.conclude(end_ns, from, &data.chosen, None, sink);
        self.finish(end_ns);
    }

    /// The originator knows how its PPDU fared; `None`: no answer.
    fn conclude(&mut self, at_ns: u64, from: Side, chosen: &[usize], answer: Option<Answer>, sink: &mut impl Sink<P>) {
        let freed = |packet: &P, cause: Option<DropCause>| {
            if let Some(cause) = cause {
                sink.dropped(at_ns, from.host(), packet, cause);
            }
            sink.freed(at_ns, from.host(), packet);
        };
        let node = &mut self.nodes[from.index()];
        let given_up = match answer {
            None => node.originator.answered(chosen, |_| false, freed),
            Some(Answer::BlockAck(shown)) => node.originator.answered(chosen, |sequence| shown.has(sequence), freed),
            Some(Answer::Ack) => {
                let acked = chosen.first().map(|&index| node.originator.mpdu(index).sequence);
                node.originator.answered(chosen, |sequence| Some(sequence) == acked, freed)
            }
        };
        self.counts[from.index()].drops.retry_limit += given_up;
        node.contender.end(&self.phy, answer.is_some(), &mut self.rng);
        if given_up > 0 {
            node.contender.forget_failures(&self.phy);
        }
    }

    fn show_data(
        &self,
        from: Side,
        (start_ns, end_ns): (u64, u64),
        data: &Data,
        collided: bool,
        sink: &mut impl Sink<P>,
    ) {
        if !sink.wants_air() {
            return;
        }
        let originator = &self.nodes[from.index()].originator;
        let mpdu = |&index: &usize| {
            let mpdu = originator.mpdu(index);
            // This transmission is counted already.
            DataMpdu { sequence: mpdu.sequence, retry: mpdu.sent > 1, packet: &mpdu.packet }
        };
        let mpdus: Vec<DataMpdu<'_, P>> = data.chosen.iter().map(mpdu).collect();
        let reserved_ns = self.phy.gap_ns + self.phy.response_ns(from, data.is_ampdu());
        sink.air(&Ppdu {
            start_ns,
            end_ns,
            duration_us: duration_us(reserved_ns),
            mode: self.phy.data_mode(from),
            from: from.host(),
            to: Some(from.other().host()),
            signal_dbm: signal_dbm(from),
            collided,
            contents: Contents::Data { category: CATEGORY, ampdu: data.is_ampdu(), qos: true, mpdus: &mpdus },
        });
    }

    fn show_collided(&self, from: Side, start_ns: u64, sent: &Sent, sink: &mut impl Sink<P>) {
        let end_ns = start_ns + self.first_ppdu_ns(from, sent);
        let control = |mode: Mode, contents| Ppdu {
            start_ns,
            end_ns,
            duration_us: 0,
            mode,
            from: from.host(),
            to: Some(from.other().host()),
            signal_dbm: signal_dbm(from),
            collided: true,
            contents,
        };
        match sent {
            Sent::Data(data) => self.show_data(from, (start_ns, end_ns), data, true, sink),
            Sent::Rts(_) => sink.air(&control(self.phy.response_mode(from), Contents::Rts)),
            Sent::Request(start) => {
                let contents = Contents::BlockAckRequest { category: CATEGORY, start_sequence: *start };
                sink.air(&control(self.phy.basic_mode(), contents));
            }
        }
    }
}
