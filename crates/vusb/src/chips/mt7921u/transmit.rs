//! From bulk OUT to the air: headers, sequence numbers, ciphers, queues, aggregation, retries, statuses.

use std::collections::VecDeque;

use wire::ieee80211::{FrameKind, MacAddr, Mpdu, Seq};
use wire::phy::{AccessCategory, Bandwidth, EdcaParameters, Mode};
use wire::usb::connac2::{self, HeaderFormat, TxDescriptor, TxStatus, TX_DESCRIPTOR};

use super::assumptions::Assumptions;
use super::ethernet::{encapsulate, Link};
use super::rates::{bandwidth_number, fixed, numbers, LOWEST_OFDM};
use super::registers::Registers;
use super::stations::Stations;
use super::statistics::TxCounters;
use crate::air::exchange::{duration_ns, psdu_len, FCS_LEN};
use crate::air::{response_to, width, Contender, Outcome, Ppdu, Protection, Response};
use crate::chips::block_ack_request::put_back;

/// Queues, by the channel access function that each has: BK, BE, VI, VO, and management.
pub const QUEUES: usize = 5;
const MANAGEMENT: usize = 4;
/// Queues of access categories below this number, four in each set (MT_LMAC_ALTX0).
const OTHERS: u8 = 16;
/// Shortest frame: a control frame with one address.
const FRAME_MIN: usize = 10;
/// Frames of the firmware's own that wait at most.
const OWN_MAX: usize = 16;
/// Attempts of a frame that says nothing of them.
const ATTEMPTS: u8 = 15;
/// Statuses that wait at most.
const STATUSES_MAX: usize = 1_024;
/// Longest A-MPDU in bytes, and in time (aPPDUMaxTime of HT-mixed, VHT and HE: 5.484 ms).
const AGGREGATE_BYTES: usize = 65_535;
const PPDU_NS: u64 = 5_484_000;

/// A frame that waits.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Queued {
    mpdu: Vec<u8>,
    /// Its receiver in the table of stations.
    station: u16,
    /// The driver's rate.
    mode: Option<Mode>,
    /// It may not be part of an A-MPDU.
    alone: bool,
    packet_id: Option<u8>,
    /// Bytes that it takes in the buffer; those of the firmware's own take none.
    size: usize,
    is_own: bool,
    attempts_max: u8,
    attempts: u8,
    rts_attempts: u8,
    since_ns: u64,
}

impl Queued {
    fn frame(&self) -> Mpdu<&[u8]> {
        Mpdu::new(&self.mpdu)
    }

    fn sequence(&self) -> Seq {
        self.frame().sequence().unwrap_or_default()
    }

    fn own(mpdu: Vec<u8>, mode: Mode, attempts_max: u8, since_ns: u64) -> Self {
        Self {
            mpdu,
            station: 0,
            mode: Some(mode),
            alone: true,
            packet_id: None,
            size: 0,
            is_own: true,
            attempts_max,
            attempts: 0,
            rts_attempts: 0,
            since_ns,
        }
    }
}

/// A frame of the firmware's own that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnDone {
    /// What it was.
    pub kind: FrameKind,
    /// Its power management bit.
    pub sleeps: bool,
    /// It was acknowledged.
    pub acknowledged: bool,
}

/// What the transmitter has to know besides its frames.
pub struct Around<'a> {
    /// Whom the chip knows.
    pub stations: &'a mut Stations,
    /// Counters that the driver reads.
    pub registers: &'a mut Registers,
    /// What is assumed.
    pub assumed: &'a Assumptions,
    /// Width of the channel.
    pub width: Bandwidth,
    /// The clock of the network, us.
    pub tsf_us: u64,
}

/// The transmitter.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Transmitter {
    queues: [VecDeque<Queued>; QUEUES],
    /// Bytes in the queues.
    used: usize,
    /// What is on the air: its queue and frames, in the order of the PPDU's MPDUs.
    on_air: Option<(usize, Vec<Queued>)>,
    edca: Option<[EdcaParameters; 4]>,
    rts_threshold: Option<u32>,
    waiting: bool,
    statuses: VecDeque<TxStatus>,
    counters: TxCounters,
}

impl Transmitter {
    /// What it has done.
    pub const fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
    }

    /// Channel access of BE, BK, VI, VO.
    pub fn set_edca(&mut self, edca: [EdcaParameters; 4]) {
        self.edca = Some(edca);
    }

    /// RTS before PSDUs that are longer.
    pub fn set_rts_threshold(&mut self, bytes: u32) {
        self.rts_threshold = Some(bytes);
    }

    /// Frames that wait, or are on the air.
    pub fn is_empty(&self) -> bool {
        self.on_air.is_none() && self.queues.iter().all(VecDeque::is_empty)
    }

    /// Takes the statuses that are to be reported.
    pub fn statuses(&mut self) -> Vec<TxStatus> {
        std::mem::take(&mut self.statuses).into()
    }

    /// Whether a transfer finds room; without it the endpoint is NAKed.
    pub fn has_room(&mut self, len: usize, assumed: &Assumptions) -> bool {
        let room = self.used == 0 || self.used + len <= assumed.tx_buffer_kib as usize * 1_024;
        self.counters.buffer_full += u64::from(!room && !self.waiting);
        self.waiting = !room;
        room
    }

    /// A transfer of the driver's with a frame. `own`: the chip's addresses by their numbers.
    pub fn accept(&mut self, now_ns: u64, transfer: &[u8], own: impl Fn(u8) -> MacAddr, stations: &mut Stations) {
        let packet = connac2::packet(transfer);
        let Some((descriptor, frame)) =
            packet.and_then(|packet| Some((TxDescriptor::parse(packet)?, packet.get(TX_DESCRIPTOR..)?)))
        else {
            self.counters.malformed += 1;
            return;
        };
        self.counters.frames += 1;
        self.counters.reported += u64::from(descriptor.packet_id().is_some());
        self.counters.driver_rate += u64::from(descriptor.fixed_rate().is_some());
        let Some(mpdu) = self.mpdu(&descriptor, frame, own, stations) else {
            self.counters.dropped += 1;
            self.tell(&descriptor_status(&descriptor), descriptor.packet_id());
            return;
        };
        let at = match descriptor.queue() {
            queue @ ..OTHERS => usize::from(queue & 3),
            _ => MANAGEMENT,
        };
        self.used += mpdu.len();
        let queued = Queued {
            station: descriptor.station(),
            mode: descriptor.fixed_rate().map(|rate| fixed(rate).unwrap_or(LOWEST_OFDM)),
            alone: descriptor.alone(),
            packet_id: descriptor.packet_id(),
            size: mpdu.len(),
            is_own: false,
            attempts_max: match descriptor.attempts() {
                0 => ATTEMPTS,
                attempts => attempts,
            },
            attempts: 0,
            rts_attempts: 0,
            since_ns: now_ns,
            mpdu,
        };
        if let Some(queue) = self.queues.get_mut(at) {
            queue.push_back(queued);
        }
    }

    /// The frame as it goes on the air; `None`: it cannot.
    fn mpdu(
        &mut self,
        descriptor: &TxDescriptor,
        frame: &[u8],
        own: impl Fn(u8) -> MacAddr,
        stations: &mut Stations,
    ) -> Option<Vec<u8>> {
        let is_ethernet = descriptor.format() == HeaderFormat::Ethernet;
        let mut mpdu = if is_ethernet {
            self.counters.ethernet += 1;
            let station = stations.get(descriptor.station()).filter(|station| station.present)?;
            let link = Link { receiver: station.address, own: own(descriptor.own_address()) };
            let tid = descriptor.is_qos().then(|| descriptor.tid());
            encapsulate(frame, link, tid, descriptor.has_ethertype())?
        } else {
            frame.to_vec()
        };
        if mpdu.len() < FRAME_MIN {
            return None;
        }
        let frame = Mpdu::new(&mpdu[..]);
        let (tid, is_numbered) = (frame.tid(), frame.sequence().is_some());
        let is_group = frame.is_group();
        let entry = stations.get_mut(descriptor.station());
        if is_numbered {
            let sequence = match (descriptor.sequence(), entry) {
                (Some(sequence), _) => Seq::new(sequence),
                // A later fragment has the number of the first.
                (None, Some(entry)) => entry.next_sequence(tid.filter(|_| !is_group)),
                (None, None) => Seq::default(),
            };
            Mpdu::new(&mut mpdu).set_sequence(sequence);
        }
        if descriptor.starts_block_ack() {
            let start = stations.get(descriptor.station()).map(|entry| entry.sequence_of(descriptor.tid()));
            set_start(&mut mpdu, start.unwrap_or_default());
        }
        if !descriptor.protect() {
            return Some(mpdu);
        }
        let sealed = stations.get_mut(descriptor.station())?.seal(&mpdu)?;
        self.counters.encrypted += 1;
        Some(sealed)
    }

    fn tell(&mut self, status: &TxStatus, packet_id: Option<u8>) {
        if let Some(packet_id) = packet_id.filter(|_| self.statuses.len() < STATUSES_MAX) {
            self.statuses.push_back(TxStatus { packet_id, ..*status });
        }
    }

    /// Queues a frame of the firmware's own, which is sent this often at most.
    pub fn send(&mut self, now_ns: u64, mpdu: Vec<u8>, mode: Mode, attempts: u8) {
        let Some(queue) = self.queues.get_mut(MANAGEMENT) else { return };
        if queue.iter().filter(|queued| queued.is_own).count() < OWN_MAX {
            queue.push_back(Queued::own(mpdu, mode, attempts, now_ns));
        }
    }

    /// Drops frames of the firmware's own that were not sent.
    pub fn drop_own(&mut self) {
        if let Some(queue) = self.queues.get_mut(MANAGEMENT) {
            queue.retain(|queued| !queued.is_own);
        }
    }

    /// What has something to send; off the channel of the network only the firmware has.
    pub fn contenders(&self, off_channel: bool, visit: &mut dyn FnMut(Contender)) {
        for (function, queue) in self.queues.iter().enumerate() {
            let Some(first) = queue.front().filter(|first| !off_channel || first.is_own) else { continue };
            let (access, retry_limit) = (self.access(function), u32::from(first.attempts_max.max(1)));
            visit(Contender { function, since_ns: first.since_ns, access, retry_limit });
        }
    }

    /// Contention parameters of a queue: management has those of voice.
    pub fn access(&self, function: usize) -> EdcaParameters {
        let category = match function {
            0 => AccessCategory::Background,
            1 => AccessCategory::BestEffort,
            2 => AccessCategory::Video,
            _ => AccessCategory::Voice,
        };
        let default = EdcaParameters::default_for(category);
        let said = self.edca.filter(|_| function != MANAGEMENT).and_then(|edca| match function {
            0 => edca.get(1).copied(),
            1 => edca.first().copied(),
            other => edca.get(other).copied(),
        });
        said.unwrap_or(default)
    }

    /// The next PPDU of a queue.
    pub fn begin(&mut self, function: usize, around: &mut Around<'_>) -> Option<Ppdu> {
        let queue = self.queues.get_mut(function)?;
        let first = queue.pop_front()?;
        let mode = mode_of(&first, around);
        let window = match first.frame().tid() {
            Some(tid) if !first.alone && mode.can_aggregate() && !first.frame().is_group() => {
                around.stations.get(first.station).map_or(0, |entry| entry.window(tid))
            }
            _ => 0,
        };
        let may_aggregate = window > 0;
        let mut taken = vec![first];
        if may_aggregate {
            aggregate(queue, &mut taken, &mode, window, around.assumed);
        }
        let mpdus: Vec<_> = taken.iter().map(|queued| queued.mpdu.clone()).collect();
        let response = mpdus.first().map_or(Response::None, |first| response_to(first, may_aggregate));
        self.on_air = Some((function, taken));
        let mut ppdu = Ppdu { mode, mpdus, aggregated: may_aggregate, protection: Protection::None, response };
        let is_long =
            self.rts_threshold.is_some_and(|threshold| psdu_len(&ppdu, ppdu.mpdus.len()) > threshold as usize);
        if is_long && response != Response::None {
            ppdu.protection = Protection::Rts(rts_mode(&mode));
            self.counters.rts += 1;
        }
        Some(ppdu)
    }

    /// What happened to it: frames that were not acknowledged are sent again, in their order, until their limit. Gives the
    /// frames of the firmware's own that have ended.
    pub fn ended(&mut self, now_ns: u64, ppdu: &Ppdu, outcome: &Outcome, around: &mut Around<'_>) -> Vec<OwnDone> {
        let Some((at, taken)) = self.on_air.take() else { return Vec::new() };
        let airtime_us = if outcome.sent {
            (duration_ns(&ppdu.mode, psdu_len(ppdu, ppdu.mpdus.len())) / 1_000).min(u64::from(u32::MAX)) as u32
        } else {
            0
        };
        count(ppdu, outcome, airtime_us, around);
        if let Some(entry) = taken.first().and_then(|first| around.stations.get_mut(first.station)) {
            if let Some([sent, _]) = entry.airtime_us.get_mut(at.min(3)) {
                *sent = sent.wrapping_add(airtime_us);
            }
        }
        let (mut again, mut done, mut gap) = (Vec::new(), Vec::new(), None);
        for (mut queued, &acknowledged) in taken.into_iter().zip(&outcome.acknowledged) {
            if ppdu.response != Response::None && outcome.sent && queued.mode.is_none() {
                if let Some(entry) = around.stations.get_mut(queued.station) {
                    entry.report(now_ns, acknowledged, around.assumed);
                }
            }
            queued.rts_attempts = if outcome.sent { 0 } else { queued.rts_attempts.saturating_add(1) };
            queued.attempts = queued.attempts.saturating_add(u8::from(outcome.sent));
            let is_last = queued.attempts.max(queued.rts_attempts) >= queued.attempts_max;
            if !acknowledged && !is_last {
                if outcome.sent {
                    Mpdu::new(&mut queued.mpdu).set_retry(true);
                    self.counters.retries += 1;
                }
                again.push(queued);
                continue;
            }
            self.used = self.used.saturating_sub(queued.size);
            if queued.is_own {
                let frame = queued.frame();
                if let Some(kind) = frame.kind() {
                    done.push(OwnDone { kind, sleeps: frame.power_management(), acknowledged });
                }
                continue;
            }
            let status = status_of(&queued, ppdu, acknowledged, around.tsf_us);
            self.tell(&status, queued.packet_id);
            if !acknowledged {
                self.counters.given_up += 1;
                if ppdu.aggregated {
                    gap = Some(queued);
                }
            }
        }
        if let Some(queue) = self.queues.get_mut(at) {
            let own = |request, lost: Queued| Queued::own(request, LOWEST_OFDM, ATTEMPTS, lost.since_ns);
            put_back(queue, again, gap, |queued| &queued.mpdu, own);
        }
        done
    }
}

/// A frame that could not be sent.
fn descriptor_status(descriptor: &TxDescriptor) -> TxStatus {
    TxStatus { station: descriptor.station(), tid: descriptor.tid(), ..TxStatus::default() }
}

fn status_of(queued: &Queued, ppdu: &Ppdu, arrived: bool, tsf_us: u64) -> TxStatus {
    TxStatus {
        station: queued.station,
        packet_id: 0,
        arrived,
        rate: numbers(&ppdu.mode).map(|numbers| numbers.rate).unwrap_or_default(),
        bandwidth: bandwidth_number(width(&ppdu.mode)),
        ampdu: ppdu.aggregated,
        tid: queued.frame().tid().unwrap_or(0),
        sequence: queued.sequence().value(),
        tsf_us: tsf_us as u32,
    }
}

/// Counters that the driver reads.
fn count(ppdu: &Ppdu, outcome: &Outcome, airtime_us: u32, around: &mut Around<'_>) {
    let counted = &mut around.registers.counted;
    let mut add = |slot: fn(&mut super::statistics::Counted) -> &mut u32, value: u32| {
        let slot = slot(counted);
        *slot = slot.wrapping_add(value);
    };
    let acknowledged = outcome.acknowledged.iter().filter(|&&it| it).count() as u32;
    let is_rts = matches!(ppdu.protection, Protection::Rts(_));
    add(|it| &mut it.rts, u32::from(is_rts));
    add(|it| &mut it.rts_failed, u32::from(is_rts && !outcome.sent));
    if !outcome.sent {
        return;
    }
    add(|it| &mut it.tx_us, airtime_us);
    add(|it| &mut it.busy_us, airtime_us);
    add(|it| &mut it.tx_mpdus, ppdu.mpdus.len() as u32);
    add(|it| &mut it.tx_acknowledged, acknowledged);
    let missed = u32::from(ppdu.response != Response::None && acknowledged == 0);
    add(|it| &mut it.acks_missed, missed);
    if ppdu.aggregated {
        add(|it| &mut it.block_acks_missed, missed);
        counted.ampdu(ppdu.mpdus.len());
    }
}

/// The mode of the next attempt: the driver's, or that of rate control, each rate of which is tried a few times.
fn mode_of(queued: &Queued, around: &mut Around<'_>) -> Mode {
    if let Some(mode) = queued.mode {
        return mode;
    }
    let Some(entry) = around.stations.get_mut(queued.station) else { return LOWEST_OFDM };
    let rates = entry.rates(around.width);
    let step = u32::from(queued.attempts) / around.assumed.attempts_per_rate.max(1);
    rates.get(step as usize).or(rates.last()).copied().unwrap_or(LOWEST_OFDM)
}

/// An RTS has a rate that every station of the network receives: 24 Mbit/s, or before DSSS 1 Mbit/s.
const fn rts_mode(mode: &Mode) -> Mode {
    match mode {
        Mode::Dsss { .. } => Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) },
        _ => super::rates::ofdm(48),
    }
}

/// Takes what may go into one A-MPDU with the first frame.
fn aggregate(queue: &mut VecDeque<Queued>, taken: &mut Vec<Queued>, mode: &Mode, window: u16, assumed: &Assumptions) {
    let Some(first) = taken.first() else { return };
    let (tid, station, start) = (first.frame().tid(), first.station, first.sequence());
    let limit = (assumed.ampdu_max as usize).min(window.into());
    let entry = |queued: &Queued| (queued.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
    let mut len = entry(first);
    while taken.len() < limit {
        let Some(next) = queue.front() else { return };
        let ahead = next.sequence().distance_from(start);
        let same = next.frame().tid() == tid && next.station == station && !next.alone && next.mode.is_none();
        let longer = len + entry(next);
        let fits = longer <= AGGREGATE_BYTES && duration_ns(mode, longer) <= PPDU_NS;
        if !same || !fits || usize::from(ahead) >= limit || next.frame().is_group() {
            return;
        }
        len = longer;
        taken.extend(queue.pop_front());
    }
}

/// Puts the first number of an agreement into the request for it (IEEE 802.11-2020, 9.6.4.2): behind category, action, token,
/// parameters and timeout.
fn set_start(mpdu: &mut [u8], start: Seq) {
    const HEADER: usize = 24;
    if let Some(slot) = mpdu.get_mut(HEADER + 7..HEADER + 9) {
        slot.copy_from_slice(&(start.value() << 4).to_le_bytes());
    }
}
