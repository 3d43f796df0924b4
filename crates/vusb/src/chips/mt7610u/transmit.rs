//! From bulk OUT and the templates of beacons to the air: queues, aggregation, retries, reports.

use std::collections::VecDeque;

use wire::ieee80211::{Header, Mpdu, Seq};
use wire::phy::{AccessCategory, Bandwidth, EdcaParameters};
use wire::usb::mediatek::{unpadded, Rate, TxInfo, Txwi};

use super::assumptions::{Aggregates, Assumptions};
use super::memory::Memory;
use super::model::{Model, MANAGEMENT, QUEUES};
use super::rates;
use super::registers as reg;
use super::reports::{Report, Reports};
use super::stations::{self, Encryption, Stations};
use super::statistics::TxCounters;
use crate::air::exchange::{duration_ns, psdu_len, FCS_LEN};
use crate::air::{response_to, Outcome, Ppdu, Response};
use crate::chips::block_ack_request::put_back;
use crate::device::OutReply;

/// Endpoints of frames, in the order of these sticks' descriptors; what is for which is the model's.
pub(super) const OUT: [u8; 5] = [4, 5, 6, 7, 9];
/// Queue number 0 of the word of information (mt76.h, enum mt76_qsel).
const QUEUE_MANAGEMENT: u8 = 0;
/// Longest PPDU (aPPDUMaxTime of HT-mixed: 5.484 ms, IEEE 802.11-2020, table 19-25).
const PPDU_NS: u64 = 5_484_000;
/// Block Ack window.
const WINDOW: u16 = 64;
/// Where the time stamp of a beacon or a probe response is (9.3.3.2): the first field of its body.
const TIMESTAMP: std::ops::Range<usize> = 24..32;

/// A frame that waits.
#[derive(serde::Serialize, serde::Deserialize)]
struct Queued {
    txwi: Txwi,
    mpdu: Vec<u8>,
    /// Times that it was sent.
    attempts: u8,
    since_ns: u64,
    /// It came from the host, and has a place in the queue.
    of_host: bool,
}

impl Queued {
    fn frame(&self) -> Mpdu<&[u8]> {
        Mpdu::new(&self.mpdu)
    }

    fn sequence(&self) -> Seq {
        self.frame().sequence().unwrap_or_default()
    }
}

/// The transmitter.
#[derive(Default)]
pub(super) struct Transmitter {
    model: Model,
    queues: [VecDeque<Queued>; QUEUES],
    /// What is on the air: its queue, and the frames in the order of the PPDU's MPDUs.
    on_air: Option<(usize, Vec<Queued>)>,
    pub(super) reports: Reports,
    sequence: u16,
    waiting: [bool; QUEUES],
    counters: TxCounters,
}

impl Transmitter {
    pub(super) fn new(model: Model) -> Self {
        Self { model, ..Self::default() }
    }

    pub(super) const fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// Forgets all frames.
    pub(super) fn clear(&mut self) {
        *self = Self { counters: self.counters, ..Self::new(self.model) };
    }

    /// A bulk OUT transfer.
    pub(super) fn accept(
        &mut self,
        (now_ns, tsf_us): (u64, u64),
        memory: &mut Memory,
        keys: &mut Stations,
        (endpoint, data): (u8, &[u8]),
        assumptions: &Assumptions,
    ) -> OutReply {
        let Some(number) = OUT.iter().position(|&it| it == endpoint) else { return OutReply::Stall };
        let Some((info, rest)) = TxInfo::split(data) else {
            self.counters.malformed += 1;
            return OutReply::Accepted;
        };
        let at = if info.queue() == QUEUE_MANAGEMENT { MANAGEMENT } else { self.model.queue(number) };
        let on_air = self.on_air.as_ref().filter(|(of, _)| *of == at).map_or(0, |(_, taken)| taken.len());
        let (Some(queue), Some(waiting)) = (self.queues.get(at), self.waiting.get_mut(at)) else {
            return OutReply::Stall;
        };
        if queue.iter().filter(|queued| queued.of_host).count() + on_air >= assumptions.tx_queue_frames.into() {
            self.counters.queue_full += u64::from(!*waiting);
            *waiting = true;
            return OutReply::Nak;
        }
        *waiting = false;
        let Some(queued) = self.parse(now_ns, tsf_us, rest) else {
            self.counters.malformed += 1;
            return OutReply::Accepted;
        };
        self.counters.frames += 1;
        self.counters.aggregate += u64::from(queued.txwi.ampdu);
        self.enqueue(memory, keys, at, info, queued);
        OutReply::Accepted
    }

    fn parse(&mut self, now_ns: u64, tsf_us: u64, bytes: &[u8]) -> Option<Queued> {
        let (txwi, rest) = self.model.split_txwi(bytes)?;
        let header = Header::parse(rest, false).ok()?.header_len;
        let mut mpdu = unpadded(rest, txwi.frame_len, header)?;
        self.mark(&txwi, tsf_us, &mut mpdu);
        Some(Queued { txwi, mpdu, attempts: 0, since_ns: now_ns, of_host: true })
    }

    /// Puts in what the descriptor asks for: its timer, a sequence number.
    fn mark(&mut self, txwi: &Txwi, tsf_us: u64, mpdu: &mut [u8]) {
        if let (true, Some(field)) = (txwi.timestamp, mpdu.get_mut(TIMESTAMP)) {
            field.copy_from_slice(&tsf_us.to_le_bytes());
        }
        if txwi.number {
            self.sequence = (self.sequence + 1) & 0x0fff;
            Mpdu::new(mpdu).set_sequence(Seq::new(self.sequence));
        }
    }

    fn enqueue(&mut self, memory: &mut Memory, keys: &mut Stations, at: usize, info: TxInfo, mut queued: Queued) {
        let given = info.with_iv().then_some(queued.txwi.iv);
        match keys.encrypt(memory, queued.txwi.wcid, given, &mut queued.mpdu) {
            Encryption::Left => {}
            Encryption::Done => self.counters.encrypted += 1,
            Encryption::Failed => {
                self.counters.not_encrypted += 1;
                return;
            }
        }
        if let Some(queue) = self.queues.get_mut(at) {
            queue.push_back(queued);
        }
    }

    /// Whether all of the beacon's memory that was due before is on its way; counts when not. A medium that is never free, or
    /// a radio that is nowhere, does not make them pile up.
    pub(super) fn may_send_beacon(&mut self) -> bool {
        // Block Ack requests, which are not the host's either, wait in the queue of what was lost.
        let waits = self.queues[MANAGEMENT].iter().any(|queued| !queued.of_host);
        self.counters.beacons_missed += u64::from(waits);
        !waits
    }

    /// A template of the beacon's memory, when its time has come.
    pub(super) fn send_template(&mut self, (now_ns, tsf_us): (u64, u64), template: &[u8]) {
        let Some((txwi, rest)) = self.model.split_txwi(template) else { return };
        let Some(mut mpdu) = rest.get(..txwi.frame_len).filter(|mpdu| mpdu.len() >= 24).map(<[u8]>::to_vec) else {
            return;
        };
        self.mark(&txwi, tsf_us, &mut mpdu);
        self.counters.beacons += 1;
        self.queues[MANAGEMENT].push_back(Queued { txwi, mpdu, attempts: 0, since_ns: now_ns, of_host: false });
    }

    fn next_queue(&self) -> Option<usize> {
        self.queues.iter().position(|queue| !queue.is_empty())
    }

    /// Since when there is something to send.
    pub(super) fn ready_since(&self) -> Option<u64> {
        self.queues.iter().find_map(VecDeque::front).map(|queued| queued.since_ns)
    }

    /// The queue of what comes next: each contends with a backoff of its own.
    pub(super) fn access_function(&self) -> usize {
        self.next_queue().unwrap_or(MANAGEMENT)
    }

    /// Contention parameters of what comes next. The management queue has no register; those of voice are taken, as the
    /// standard has it for management frames.
    pub(super) fn access(&self, memory: &Memory) -> EdcaParameters {
        let Some((register, category)) = self.model.contention(self.access_function()) else {
            return EdcaParameters::default_for(AccessCategory::Voice);
        };
        match memory.word(register) {
            0 => EdcaParameters::default_for(category),
            value => EdcaParameters {
                aifsn: (value >> 8 & 0x0f).max(1) as u8,
                ecw_min: (value >> 12 & 0x0f) as u8,
                ecw_max: (value >> 16 & 0x0f) as u8,
                txop_limit_32us: (value & 0xff) as u16,
            },
        }
    }

    /// The next PPDU.
    pub(super) fn begin(&mut self, memory: &Memory, width: Bandwidth, assumptions: &Assumptions) -> Option<Ppdu> {
        let at = self.next_queue()?;
        let first = loop {
            let next = self.queues.get_mut(at)?.pop_front()?;
            if next.txwi.wcid == stations::NO_STATION || !stations::is_dropped(memory, next.txwi.wcid) {
                break next;
            }
            self.counters.asleep += 1;
            self.report(&next, false, false, assumptions);
        };
        let rate = rate_of(self.model, memory, &first, width);
        let mode = rate.mode()?;
        let is_group = first.frame().is_group();
        // Frames that try a rate wait in the management queue, with a window of one. Their reports must say that they were
        // aggregated: minstrel_ht leaves a report out that does not, of a frame that mac80211 gave out for an A-MPDU.
        let aggregated = first.txwi.ampdu && mode.can_aggregate() && !is_group && first.frame().tid().is_some();
        let response = if first.txwi.ack { response_to(&first.mpdu, aggregated) } else { Response::None };
        let mut taken = vec![first];
        if aggregated {
            let bytes = rates::ampdu_bytes(self.model, memory, &mode);
            let fits = |len| len <= bytes && duration_ns(&mode, len) <= PPDU_NS;
            aggregate(self.queues.get_mut(at)?, &mut taken, fits, assumptions.aggregates);
        }
        let mpdus = taken.iter().map(|queued| queued.mpdu.clone()).collect();
        let mut ppdu = Ppdu { mode, mpdus, aggregated, protection: medium::Protection::None, response };
        if !is_group {
            ppdu.protection = rates::protection(self.model, memory, rate, psdu_len(&ppdu, taken.len()));
        }
        self.on_air = Some((at, taken));
        Some(ppdu)
    }

    /// What happened to it: frames that were not acknowledged are sent again, in their order, until their limit.
    pub(super) fn ended(
        &mut self,
        memory: &Memory,
        width: Bandwidth,
        ppdu: &Ppdu,
        outcome: &Outcome,
        assumptions: &Assumptions,
    ) {
        let Some((at, taken)) = self.on_air.take() else { return };
        let mut again = Vec::new();
        let mut gap = None;
        let used = taken.first().map(|first| rate_of(self.model, memory, first, width)).unwrap_or_default();
        for (mut queued, &acknowledged) in taken.into_iter().zip(&outcome.acknowledged) {
            if acknowledged {
                self.report_at(&queued, true, ppdu.aggregated, used, assumptions);
                continue;
            }
            queued.attempts = queued.attempts.saturating_add(1);
            if queued.attempts > retry_limit(memory, queued.mpdu.len()) {
                self.counters.given_up += 1;
                queued.attempts -= 1;
                self.report_at(&queued, false, ppdu.aggregated, used, assumptions);
                gap = if ppdu.aggregated { Some(queued) } else { gap };
                continue;
            }
            if outcome.sent {
                Mpdu::new(&mut queued.mpdu).set_retry(true);
            }
            again.push(queued);
        }
        let Some(queue) = self.queues.get_mut(at) else { return };
        let request = |mpdu: Vec<u8>, lost: Queued| {
            let rate = rates::LOWEST_OFDM;
            let txwi = Txwi { rate, ack: true, wcid: lost.txwi.wcid, frame_len: mpdu.len(), ..Txwi::default() };
            Queued { txwi, mpdu, attempts: 0, since_ns: lost.since_ns, of_host: false }
        };
        put_back(queue, again, gap, |queued| &queued.mpdu, request);
    }

    fn report(&mut self, queued: &Queued, acknowledged: bool, aggregated: bool, assumptions: &Assumptions) {
        self.report_at(queued, acknowledged, aggregated, queued.txwi.rate, assumptions);
    }

    /// Frames without a mark are not reported (mt76x02_mac.c, MT_PACKET_ID_NO_ACK).
    fn report_at(
        &mut self,
        queued: &Queued,
        acknowledged: bool,
        aggregated: bool,
        rate: Rate,
        assumptions: &Assumptions,
    ) {
        let Txwi { ack, wcid, packet_id, .. } = queued.txwi;
        if packet_id == 0 {
            return;
        }
        let report = Report { acknowledged, aggregated, ack, wcid, rate, retries: queued.attempts, packet_id };
        self.counters.reports += 1;
        if !self.reports.push(report, assumptions.tx_reports.into()) {
            self.counters.reports_lost += 1;
        }
    }
}

fn rate_of(model: Model, memory: &Memory, queued: &Queued, width: Bandwidth) -> Rate {
    // A width is not there where the radio is set to less; a rate that it does not have at all goes at the lowest.
    let rate = rates::of_attempt(memory, queued.txwi.rate, queued.attempts).within(width);
    if rates::exists(model, memory, rate) {
        rate
    } else {
        rates::lowest(model, memory)
    }
}

/// Retries of a frame of this many bytes.
fn retry_limit(memory: &Memory, len: usize) -> u8 {
    let value = memory.word(reg::TX_RETRY_CFG);
    if len > (value >> 16 & 0x0fff) as usize {
        (value >> 8) as u8
    } else {
        value as u8
    }
}

/// Retries of frames that are sent without RTS; after this many failures the contention window starts again.
pub(super) fn short_retry_limit(memory: &Memory) -> u8 {
    memory.word(reg::TX_RETRY_CFG) as u8
}

/// Takes what may go into one A-MPDU with the first frame: the same station and TID, within its window.
fn aggregate(queue: &mut VecDeque<Queued>, taken: &mut Vec<Queued>, fits: impl Fn(usize) -> bool, which: Aggregates) {
    let Some(first) = taken.first() else { return };
    let (tid, start, receiver) = (first.frame().tid(), first.sequence(), first.frame().receiver());
    let most = usize::from(first.txwi.window) + 1;
    let entry = |queued: &Queued| (queued.mpdu.len() + FCS_LEN + 4).next_multiple_of(4);
    let mut len = entry(first);
    let mut at = 0;
    while taken.len() < most {
        let Some(next) = queue.get(at) else { return };
        let ahead = next.sequence().distance_from(start);
        let frame = next.frame();
        if frame.tid() != tid || frame.receiver() != receiver || !next.txwi.ampdu {
            if which == Aggregates::Neighbours {
                return;
            }
            at += 1;
            continue;
        }
        if ahead >= WINDOW || !fits(len + entry(next)) {
            return;
        }
        len += entry(next);
        taken.extend(queue.remove(at));
    }
}

crate::state!(Transmitter { queues, on_air, reports, sequence, waiting, counters } made { model });

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: u8 = 2;
    const SLOW: u8 = 4;

    fn memory() -> Memory {
        let mut memory = Memory::new(0x1_0000);
        memory.set(reg::TX_RETRY_CFG, 0x47d0_1f0f);
        memory.set(reg::HT_FBK_CFG0, 0x6543_2100);
        memory.set(reg::AMPDU_MAX_LEN_20, 0xaaa9_9887);
        memory
    }

    fn transfer(to: u8, sequence: u16, mcs: u16, packet_id: u8) -> Vec<u8> {
        let mut frame = vec![0x88, 0x02, 0, 0];
        frame.extend([to; 6]);
        frame.extend([4; 12]);
        frame.extend((sequence << 4).to_le_bytes());
        frame.extend([0, 0, 0, 0]);
        frame.resize(28 + 1_500, 0x55);
        let frame_len = frame.len() - 2;
        let txwi = Txwi {
            ampdu: true,
            rate: Rate(0x4000 | mcs),
            ack: true,
            window: 31,
            wcid: to,
            frame_len,
            packet_id,
            ..Txwi::default()
        };
        let body = [&txwi.emit()[..], &frame].concat();
        let info = body.len().next_multiple_of(4) as u32 | 2 << 25 | 1 << 19;
        let mut bytes = [&info.to_le_bytes()[..], &body].concat();
        bytes.resize(4 + body.len().next_multiple_of(4) + 4, 0);
        bytes
    }

    fn accept(transmitter: &mut Transmitter, memory: &mut Memory, data: &[u8], assumptions: &Assumptions) -> OutReply {
        transmitter.accept((0, 0), memory, &mut Stations::default(), (4, data), assumptions)
    }

    fn filled(assumptions: &Assumptions) -> (Transmitter, Memory) {
        let (mut transmitter, mut memory) = (Transmitter::default(), memory());
        for sequence in 0..8 {
            let (to, mcs) = if sequence % 2 == 0 { (FAST, 7) } else { (SLOW, 0) };
            let data = transfer(to, sequence / 2, mcs, 0x80 | mcs as u8);
            assert_eq!(accept(&mut transmitter, &mut memory, &data, assumptions), OutReply::Accepted);
        }
        (transmitter, memory)
    }

    fn end(
        transmitter: &mut Transmitter,
        memory: &Memory,
        ppdu: &Ppdu,
        acknowledged: &[bool],
        assumptions: &Assumptions,
    ) {
        let outcome = Outcome { acknowledged: acknowledged.to_vec(), sent: true };
        transmitter.ended(memory, Bandwidth::Mhz20, ppdu, &outcome, assumptions);
    }

    #[test]
    fn ampdus_are_of_one_station_and_short_enough() {
        let assumptions = Assumptions::default();
        let (mut transmitter, memory) = filled(&assumptions);
        let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        assert_eq!((ppdu.mpdus.len(), ppdu.aggregated, ppdu.response), (4, true, Response::BlockAck));
        assert!(ppdu.mpdus.iter().all(|mpdu| mpdu[4] == FAST && mpdu.len() == 1_526));
        end(&mut transmitter, &memory, &ppdu, &[true; 4], &assumptions);
        // At MCS 0, 4096 bytes.
        let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        assert_eq!((ppdu.mpdus.len(), ppdu.mpdus[0][4]), (2, SLOW));

        let assumptions = Assumptions { aggregates: Aggregates::Neighbours, ..assumptions };
        let (mut transmitter, memory) = filled(&assumptions);
        assert_eq!(transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap().mpdus.len(), 1);
    }

    #[test]
    fn what_was_lost_goes_again_one_rate_down_and_is_reported_with_its_retries() {
        let assumptions = Assumptions::default();
        let (mut transmitter, memory) = filled(&assumptions);
        let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        end(&mut transmitter, &memory, &ppdu, &[true, false, true, true], &assumptions);
        for _ in 0..3 {
            assert_eq!(transmitter.reports.extension(), 0x8700);
            assert_eq!(transmitter.reports.take(Model::Mt7610u) >> 16, 0x4007);
        }
        let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        assert_eq!((ppdu.mpdus.len(), ppdu.mode.rate_kbps(), ppdu.mpdus[0][1] & 8), (1, Some(58_500), 8));
        end(&mut transmitter, &memory, &ppdu, &[true], &assumptions);
        assert_eq!((transmitter.reports.extension(), transmitter.reports.take(Model::Mt7610u) >> 16), (0x8701, 0x4006));
    }

    /// What rate control learns a rate from: it would leave out a report that says nothing about an A-MPDU.
    #[test]
    fn a_frame_that_tries_a_rate_goes_first_alone_and_is_reported_as_aggregated() {
        let assumptions = Assumptions::default();
        let (mut transmitter, mut memory) = filled(&assumptions);
        let mut probe = transfer(FAST, 5, 3, 5);
        probe[3] &= !(3 << 1); // the management queue
        probe[4 + 4 + 1] &= 3; // a window of one
        assert_eq!(accept(&mut transmitter, &mut memory, &probe, &assumptions), OutReply::Accepted);
        let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        assert_eq!((ppdu.mpdus.len(), ppdu.aggregated, ppdu.response), (1, true, Response::BlockAck));
        end(&mut transmitter, &memory, &ppdu, &[true], &assumptions);
        assert_eq!(transmitter.reports.extension(), 0x0500);
        assert_eq!(transmitter.reports.take(Model::Mt7610u), 0x4003_02e1);
    }

    #[test]
    fn a_frame_that_nobody_takes_is_given_up_and_asked_about() {
        let assumptions = Assumptions::default();
        let (mut transmitter, mut memory) = (Transmitter::default(), memory());
        assert_eq!(accept(&mut transmitter, &mut memory, &transfer(FAST, 9, 7, 5), &assumptions), OutReply::Accepted);
        let mut kbps = Vec::new();
        for _ in 0..16 {
            let ppdu = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
            kbps.push(ppdu.mode.rate_kbps().unwrap());
            end(&mut transmitter, &memory, &ppdu, &[false], &assumptions);
        }
        assert_eq!(kbps[..3], [65_000, 58_500, 52_000]);
        assert_eq!((kbps[7], kbps[15]), (6_500, 6_500));
        assert_eq!((transmitter.reports.extension(), transmitter.counters().given_up), (0x050f, 1));
        assert_eq!(transmitter.reports.take(Model::Mt7610u) >> 5 & 1, 0);
        let request = transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).unwrap();
        assert_eq!((request.mpdus[0][0], request.response), (0x84, Response::BlockAck));
        // Starts behind number 9.
        assert_eq!(request.mpdus[0][18..20], (10u16 << 4).to_le_bytes());
    }

    #[test]
    fn a_full_queue_waits_and_sleepers_get_nothing() {
        let assumptions = Assumptions { tx_queue_frames: 1, ..Assumptions::default() };
        let (mut transmitter, mut memory) = (Transmitter::default(), memory());
        let data = transfer(FAST, 0, 7, 0x87);
        let replies = [0; 3].map(|_| accept(&mut transmitter, &mut memory, &data, &assumptions));
        assert_eq!(replies, [OutReply::Accepted, OutReply::Nak, OutReply::Nak]);
        assert_eq!(transmitter.counters().queue_full, 1);
        memory.set(reg::WCID_DROP, 1 << FAST);
        assert!(transmitter.begin(&memory, Bandwidth::Mhz20, &assumptions).is_none());
        assert_eq!((transmitter.counters().asleep, transmitter.reports.extension()), (1, 0x8700));
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_taken_or_counted(bytes: Vec<u8>, endpoint in 0u8..16) {
            let (mut transmitter, mut memory) = (Transmitter::default(), memory());
            let assumptions = Assumptions::default();
            let _ = transmitter.accept((0, 0), &mut memory, &mut Stations::default(), (endpoint, &bytes), &assumptions);
            transmitter.send_template((0, 0), &bytes);
            while let Some(ppdu) = transmitter.begin(&memory, Bandwidth::Mhz80, &assumptions) {
                let acknowledged = vec![true; ppdu.mpdus.len()];
                transmitter.ended(&memory, Bandwidth::Mhz80, &ppdu, &Outcome { acknowledged, sent: true }, &assumptions);
            }
        }
    }
}
