//! The time line: who gets the medium, what is sent, what comes back.
//!
//! Contention follows EDCA for best effort (IEEE 802.11-2020 10.23.2): AIFS, a random backoff that freezes while the
//! medium is busy, doubling after a failure. Two nodes never send at once: of equal backoffs one wins.

mod transfer;

use std::io::{self, Write};

use wire::phy::Mode;

use crate::airtime::Air;
use crate::exchange::{Answer, Exchanges, Response};
use crate::frame::{Builder, Content, Mpdu};
use crate::join::Join;
use crate::ledger::Answered;
use crate::medium::Medium;
use crate::originator::Sender;
use crate::scene::{Joining, Receiver as Behaviour, Scene};
use crate::sniffer::{Heard, OnAir, Receiver};
use random::{Rng, Stream};

/// What the access point's TSF counter shows at the start of the scene, µs.
const AP_TSF_US: u64 = 86_400_123_456;
/// AIFSN, CWmin and CWmax of best effort.
const AIFSN: u64 = 3;
const CW_MIN: u32 = 15;
const CW_MAX: u32 = 1023;
/// A sender without response tries again no sooner than this after its PPDU.
const ACK_TIMEOUT_NS: u64 = 60_000;
/// Management frames are sent at most this often.
const MANAGEMENT_TRIES: u32 = 8;
/// Flows end this long before the scene does.
const SETTLE_NS: u64 = 20_000_000;

/// A node's access to the medium.
struct Node {
    cw: u32,
    backoff: u64,
    not_before_ns: u64,
    /// Sequence numbers of management and non-QoS frames.
    seq: u16,
    next_flow: usize,
    /// Asleep, and when that changes.
    dozing: bool,
    doze_ns: u64,
    doze_tries: u32,
}

/// What a node would do next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Job {
    /// The current step of this station's join.
    Step(usize),
    /// A Null frame that changes the power state.
    Doze,
    Bar(usize),
    Data(usize),
    /// End of this flow's Block Ack session.
    Delba(usize),
}

/// A scene in progress.
pub(crate) struct Engine<'a, W> {
    scene: &'a Scene,
    air: Air,
    builder: Builder<'a>,
    pub(crate) receiver: Receiver<'a, W>,
    pub(crate) medium: Medium,
    pub(crate) exchanges: Exchanges,
    pub(crate) senders: Vec<Sender<'a>>,
    joins: Vec<Join>,
    nodes: Vec<Node>,
    rng: Rng,
    free_ns: u64,
    end_ns: u64,
    next_beacon_ns: u64,
    beacons: u64,
    ppdus: u32,
    chosen: Vec<usize>,
    answered: Vec<Answered>,
    on_air: Vec<(Mpdu, usize)>,
}

impl<'a, W: Write> Engine<'a, W> {
    pub(crate) fn new(
        scene: &'a Scene,
        air: Air,
        senders: Vec<Sender<'a>>,
        joins: Vec<Join>,
        out: W,
    ) -> io::Result<Self> {
        let builder = Builder::new(scene, air.channel);
        let receiver = Receiver::new(scene, builder.addresses(), out)?;
        let count = scene.stations.len() + 1;
        let mut rng = Rng::new(scene.seed, Stream::SpecimenAir, 0);
        let nodes = (0..count)
            .map(|index| Node {
                cw: CW_MIN,
                backoff: u64::from(rng.below(CW_MIN + 1)),
                not_before_ns: 0,
                seq: rng.below(4096) as u16,
                next_flow: 0,
                dozing: false,
                doze_ns: match index.checked_sub(1).and_then(|i| scene.stations[i].power_save) {
                    Some(save) => u64::from(save.every_ms.max(1)) * 1_000_000,
                    None => u64::MAX,
                },
                doze_tries: 0,
            })
            .collect();
        let end_ns = (scene.seconds * 1e9) as u64;
        let mut engine = Self {
            scene,
            air,
            builder,
            receiver,
            medium: Medium::new(count),
            exchanges: Exchanges::new(count),
            senders,
            joins,
            nodes,
            rng,
            free_ns: 0,
            end_ns,
            next_beacon_ns: 0,
            beacons: 0,
            ppdus: 0,
            chosen: Vec::new(),
            answered: Vec::new(),
            on_air: Vec::new(),
        };
        for sender in &mut engine.senders {
            sender.stop_ns = end_ns.saturating_sub(SETTLE_NS);
        }
        Ok(engine)
    }

    /// Runs to the end.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let aifs_ns = self.air.sifs_ns() + AIFSN * self.air.slot_ns();
        loop {
            // Beacons go first, after PIFS.
            let beacon_ns = (self.free_ns + self.air.sifs_ns() + self.air.slot_ns()).max(self.next_beacon_ns);
            let mut best: Option<(u64, usize, Job)> = None;
            for index in 0..self.nodes.len() {
                let Some((ready_ns, job)) = self.next_job(index) else { continue };
                let node = &self.nodes[index];
                let contention_ns = self.free_ns + aifs_ns + node.backoff * self.air.slot_ns();
                let start_ns = contention_ns.max(ready_ns).max(node.not_before_ns);
                if best.is_none_or(|(other_ns, ..)| start_ns < other_ns) {
                    best = Some((start_ns, index, job));
                }
            }
            let beacon_first = best.is_none_or(|(start_ns, ..)| beacon_ns <= start_ns);
            let start_ns = if beacon_first { beacon_ns } else { best.map_or(beacon_ns, |(ns, ..)| ns) };
            if start_ns >= self.end_ns {
                return Ok(());
            }
            let slots = start_ns.saturating_sub(self.free_ns + aifs_ns) / self.air.slot_ns();
            let winner = best.filter(|_| !beacon_first).map(|(_, index, _)| index);
            for (index, node) in self.nodes.iter_mut().enumerate() {
                if Some(index) != winner {
                    node.backoff = node.backoff.saturating_sub(slots);
                }
            }
            match best.filter(|_| !beacon_first) {
                None => self.beacon(start_ns)?,
                Some((_, index, job)) => {
                    let success = match job {
                        Job::Step(station) => self.join_step(station, start_ns)?,
                        Job::Doze => self.doze(index, start_ns)?,
                        Job::Bar(flow) => self.bar(flow, start_ns)?,
                        Job::Data(flow) => self.data(flow, start_ns)?,
                        Job::Delba(flow) => self.delba(flow, start_ns)?,
                    };
                    let node = &mut self.nodes[index];
                    node.cw = if success { CW_MIN } else { (node.cw * 2 + 1).min(CW_MAX) };
                    node.backoff = u64::from(self.rng.below(node.cw + 1));
                }
            }
        }
    }

    /// What node `index` does next, and when it is ready to (any time up to now counts as now).
    fn next_job(&self, index: usize) -> Option<(u64, Job)> {
        let now_ns = self.free_ns;
        let node = &self.nodes[index];
        let mut best: Option<(u64, Job)> = None;
        let mut offer = |ready_ns: u64, job: Job| {
            let ready_ns = ready_ns.max(now_ns);
            if ready_ns < u64::MAX && best.is_none_or(|(other_ns, _)| ready_ns < other_ns) {
                best = Some((ready_ns, job));
            }
        };
        for (station, join) in self.joins.iter().enumerate() {
            if join.step().is_some_and(|step| step.from == index) {
                offer(join.ready_ns, Job::Step(station));
            }
        }
        let joined = index == 0 || self.joins.get(index - 1).is_some_and(Join::is_done);
        if joined && node.doze_ns < self.end_ns.saturating_sub(SETTLE_NS) {
            offer(node.doze_ns, Job::Doze);
        }
        // Flows take turns.
        let count = self.senders.len();
        for turn in 0..count {
            let flow = (node.next_flow + turn) % count;
            let sender = &self.senders[flow];
            if sender.from != index || self.nodes[sender.from].dozing || self.nodes[sender.to].dozing {
                continue;
            }
            if sender.session && sender.started_ns.is_some() {
                offer(sender.stop_ns, Job::Delba(flow));
            }
            let job = if sender.bar.is_some() { Job::Bar(flow) } else { Job::Data(flow) };
            offer(sender.ready_at(now_ns), job);
        }
        best
    }

    fn behaviour(&self, node: usize) -> &'a Behaviour {
        let scene = self.scene;
        match node.checked_sub(1) {
            None => &scene.bss.receiver,
            Some(station) => &scene.stations[station].receiver,
        }
    }

    fn tsf_us(&self, start_ns: u64, mode: Mode) -> u64 {
        // The time stamp is that of its own first bit; the MAC header before it is left out here.
        AP_TSF_US + (start_ns + self.air.preamble_ns(mode)) / 1000
    }

    /// Duration field of a frame that solicits a response of `len` bytes.
    fn nav_us(&self, mode: Mode, len: usize) -> u16 {
        let response =
            self.air.response_mode(mode).map_or(0, |m| self.air.duration_ns(m, len) + self.air.extension_ns(m));
        (self.air.sifs_ns() + response).div_ceil(1000) as u16
    }

    /// Puts a PPDU with one MPDU on the air. Gives what the sniffer got and the end of the PPDU.
    fn send(&mut self, mpdu: Mpdu, mode: Mode, start_ns: u64) -> io::Result<(Heard, u64)> {
        let len = self.builder.len(&mpdu);
        let preamble_ns = self.air.preamble_ns(mode);
        let end_ns = start_ns + self.air.duration_ns(mode, len);
        self.ppdus = self.ppdus.wrapping_add(1);
        self.medium.ppdu(mpdu.from, mode, (start_ns, end_ns), std::iter::once((mpdu, len)));
        let frame = OnAir {
            mpdu,
            mode,
            len,
            ppdu: self.ppdus,
            ppdu_start_ns: start_ns,
            preamble_ns,
            ppdu_end_ns: end_ns,
            mpdu_start_ns: start_ns + preamble_ns,
            mpdu_end_ns: end_ns,
            ampdu: None,
        };
        let heard = self.receiver.hear(&self.builder, &frame)?;
        self.free_ns = end_ns + self.air.extension_ns(mode);
        Ok((heard, end_ns))
    }

    /// The response to a PPDU of `mode` that has just ended.
    fn respond(&mut self, content: Content, from: usize, to: usize, mode: Mode) -> io::Result<Response> {
        let behaviour = self.behaviour(from);
        let extra_ns = match behaviour.late_response {
            Some(late) if self.rng.chance(late.probability) => (late.extra_us.max(0.0) * 1000.0) as u64,
            _ => 0,
        };
        let reached = !self.rng.chance(behaviour.response_loss);
        let response_mode = self.air.response_mode(mode).unwrap_or(self.air.lowest);
        let start_ns = self.free_ns + self.air.sifs_ns() + extra_ns;
        let answer = match content {
            Content::BlockAck { .. } => Answer::BlockAck,
            Content::Cts => Answer::Cts,
            _ => Answer::Ack,
        };
        let duration_us = 0;
        let mpdu = Mpdu { content, from, to: Some(to), seq: 0, retry: false, power_management: false, duration_us };
        let (heard, _) = self.send(mpdu, response_mode, start_ns)?;
        Ok(Response { answer, heard, reached, late: extra_ns > self.air.slot_ns() })
    }

    fn no_answer(&mut self, node: usize, end_ns: u64) {
        self.nodes[node].not_before_ns = end_ns + ACK_TIMEOUT_NS;
    }

    /// A unicast frame outside of A-MPDUs, and its ACK. True if the sender got it.
    fn send_acked(
        &mut self,
        mpdu: Mpdu,
        to: usize,
        mode: Mode,
        start_ns: u64,
        received: bool,
    ) -> io::Result<(Heard, bool)> {
        let mpdu = Mpdu { duration_us: self.nav_us(mode, 14), ..mpdu };
        let (heard, end_ns) = self.send(mpdu, mode, start_ns)?;
        let answers = received
            && match (&self.behaviour(to).ack_only_mcs, mode) {
                (Some(list), Mode::Ht(ht)) => list.contains(&ht.mcs),
                _ => true,
            };
        let response = if answers { Some(self.respond(Content::Ack, to, mpdu.from, mode)?) } else { None };
        if heard == Heard::Good {
            self.exchanges.count((mpdu.from, to), mode, response.as_ref());
        }
        let acked = response.is_some_and(|r| r.reached);
        if !acked {
            self.no_answer(mpdu.from, end_ns);
        }
        Ok((heard, acked))
    }

    fn beacon(&mut self, start_ns: u64) -> io::Result<()> {
        let interval_ns = u64::from(self.scene.bss.beacon_interval_tu.max(1)) * 1_024_000;
        let buffered = self.nodes.iter().any(|node| node.dozing);
        let mode = self.air.lowest;
        let content =
            Content::Beacon { tsf_us: self.tsf_us(start_ns, mode), dtim_count: (2 - self.beacons % 3) as u8, buffered };
        let seq = self.management_seq(0);
        let mpdu = Mpdu { content, from: 0, to: None, seq, retry: false, power_management: false, duration_us: 0 };
        self.send(mpdu, mode, start_ns)?;
        self.beacons += 1;
        self.next_beacon_ns += interval_ns;
        Ok(())
    }

    fn management_seq(&mut self, node: usize) -> u16 {
        let seq = self.nodes[node].seq;
        self.nodes[node].seq = (seq + 1) & 0x0fff;
        seq
    }

    /// The handshake of a station that joins has the first numbers of TID 0; one that is repeated has others.
    fn counts_eapol(&self, station: usize) -> bool {
        let station = &self.scene.stations[station];
        station.qos && station.joining == Joining::Joins
    }

    fn join_step(&mut self, station: usize, start_ns: u64) -> io::Result<bool> {
        let Some(step) = self.joins[station].step().copied() else { return Ok(true) };
        let mode = self.air.lowest;
        let content = match step.content {
            Content::ProbeResponse { .. } => Content::ProbeResponse { tsf_us: self.tsf_us(start_ns, mode) },
            other => other,
        };
        if self.joins[station].sent == 0 {
            self.joins[station].seq = match content {
                // EAPOL frames are the first ones of TID 0 in either direction.
                Content::Eapol { message } if self.counts_eapol(station) => u16::from(message - 1) / 2,
                _ => self.management_seq(step.from),
            };
        }
        let join = &self.joins[station];
        let mpdu = Mpdu {
            content,
            from: step.from,
            to: step.to,
            seq: join.seq,
            retry: join.sent > 0,
            power_management: false,
            duration_us: 0,
        };
        let (heard, acked) = match step.to {
            Some(to) => self.send_acked(mpdu, to, mode, start_ns, true)?,
            None => (self.send(mpdu, mode, start_ns)?.0, true),
        };
        if let (Some(flow), Heard::Good) = (step.flow, heard) {
            let truth = &mut self.senders[flow].ledger.truth;
            match step.content {
                Content::AddbaRequest { .. } => truth.addba_requests += 1,
                _ => truth.addba_accepted += 1,
            }
        }
        let join = &mut self.joins[station];
        join.sent += 1;
        if acked || join.sent >= MANAGEMENT_TRIES {
            if let (Some(flow), Content::AddbaResponse { .. }) = (step.flow, step.content) {
                self.senders[flow].session = true;
            }
            join.at += 1;
            join.sent = 0;
            join.ready_ns = self.free_ns + join.step().map_or(0, |next| next.delay_ns);
            if join.is_done() {
                self.start_flows(station);
            }
        }
        Ok(acked)
    }

    fn start_flows(&mut self, station: usize) {
        let start_ns = self.free_ns + 2_000_000;
        for sender in self.senders.iter_mut().filter(|s| s.from == station + 1 || s.to == station + 1) {
            sender.started_ns = Some(start_ns);
        }
    }

    fn doze(&mut self, node: usize, start_ns: u64) -> io::Result<bool> {
        let goes = !self.nodes[node].dozing;
        if self.nodes[node].doze_tries == 0 {
            self.nodes[node].seq = (self.nodes[node].seq + 1) & 0x0fff;
        }
        let mpdu = Mpdu {
            content: Content::Null,
            from: node,
            to: Some(0),
            seq: self.nodes[node].seq.wrapping_sub(1) & 0x0fff,
            retry: self.nodes[node].doze_tries > 0,
            power_management: goes,
            duration_us: 0,
        };
        let (_, acked) = self.send_acked(mpdu, 0, self.air.lowest, start_ns, true)?;
        let save = node.checked_sub(1).and_then(|i| self.scene.stations[i].power_save);
        let now_ns = self.free_ns;
        let state = &mut self.nodes[node];
        state.doze_tries += 1;
        if let Some(save) = save.filter(|_| acked || state.doze_tries >= MANAGEMENT_TRIES) {
            state.dozing = goes;
            state.doze_tries = 0;
            let ms = if goes { save.nap_ms } else { save.every_ms };
            state.doze_ns = now_ns + u64::from(ms.max(1)) * 1_000_000;
        }
        Ok(acked)
    }

    fn delba(&mut self, flow: usize, start_ns: u64) -> io::Result<bool> {
        let sender = &self.senders[flow];
        let (from, to, tid) = (sender.from, sender.to, sender.tid.unwrap_or(0));
        let seq = self.management_seq(from);
        let content = Content::Delba { tid };
        let mpdu = Mpdu { content, from, to: Some(to), seq, retry: false, power_management: false, duration_us: 0 };
        let (heard, acked) = self.send_acked(mpdu, to, self.air.lowest, start_ns, true)?;
        let sender = &mut self.senders[flow];
        sender.ledger.truth.delba += u64::from(heard == Heard::Good);
        sender.session = false;
        Ok(acked)
    }
}
