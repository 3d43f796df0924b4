//! From bulk OUT to the air: packet buffer, queues, aggregation, retries.

use wire::ieee80211::{Mpdu, Seq};
use wire::phy::EdcaParameters;

use super::aggregation::aggregate;
use super::assumed::Assumed;
use super::assumptions::{Assumptions, RtsRetries};
use super::eu_assumptions::AggregateLimit;
use super::fallback::{data_rate, rts_rate};
use super::model::Model;
use super::rates::RateAdaptation;
use super::reports::{ReportCounters, Reporter};
use super::statistics::TxCounters;
use super::tx_descriptor::{TxDescriptor, QUEUE_BEACON};
use crate::air::rates::{mode, Modulation, MCS0};
use crate::air::{response_to, Outcome, Ppdu, Protection, Response};
use crate::chips::block_ack_request::put_back;
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::crypto::{Encryption, Engines};
use crate::chips::realtek::memory::Memory;
use crate::chips::realtek::queues::{retry_limit, Descriptor, Queued, Queues};
use crate::device::OutReply;

/// Bytes of a page of the transmit packet buffer (rtl8xxxu.h, PBP_PAGE_SIZE_128).
const PAGE: usize = 128;
/// SIFS that drivers add to AIFSN slots, us (16 with the signal extension).
const SIFS_US: u8 = 10;

/// The transmitter.
pub struct Transmitter {
    model: Model,
    /// Most MPDUs of an A-MPDU where descriptors do not say.
    aggregate_limit: AggregateLimit,
    queues: Queues<TxDescriptor>,
    /// Pages in use.
    pages: usize,
    /// What is on the air: its queue and descriptors, in the order of the PPDU's MPDUs.
    on_air: Option<(usize, Vec<Queued<TxDescriptor>>)>,
    rates: RateAdaptation,
    assumptions: Assumptions,
    engines: Engines,
    sequence: u16,
    waiting: bool,
    /// No rate control: the firmware hangs (a fault).
    without_rates: bool,
    counters: TxCounters,
    reporter: Reporter,
}

/// A frame of the MAC's own, at a basic rate: a descriptor without aggregation, protection and encryption.
fn own(mpdu: Vec<u8>, since_ns: u64) -> Queued<TxDescriptor> {
    Queued::own(TxDescriptor::internal(), mpdu, since_ns)
}

impl Descriptor for TxDescriptor {
    fn queue(&self) -> u8 {
        self.queue()
    }
}

impl Transmitter {
    /// An empty one.
    pub(super) fn new(model: Model, assumed: &Assumed) -> Self {
        Self {
            model,
            aggregate_limit: assumed.aggregate_limit,
            queues: Default::default(),
            pages: 0,
            on_air: None,
            rates: RateAdaptation::default(),
            assumptions: assumed.mac,
            engines: Engines::default(),
            sequence: 0,
            waiting: false,
            without_rates: false,
            counters: TxCounters::default(),
            reporter: Reporter::new(assumed.reports),
        }
    }

    /// What it has done.
    pub const fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// Rate adaptation, which the firmware does.
    pub fn rates(&mut self) -> &mut RateAdaptation {
        &mut self.rates
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        self.queues = Default::default();
        (self.pages, self.sequence, self.waiting, self.on_air) = (0, 0, false, None);
        (self.rates, self.engines) = (RateAdaptation::default(), Engines::default());
        self.reporter.clear();
    }

    /// Transmit reports, of a chip that has them.
    pub(super) fn reporter(&mut self) -> &mut Reporter {
        &mut self.reporter
    }

    /// What transmit reports have counted.
    pub(super) const fn report_counters(&self) -> &ReportCounters {
        self.reporter.counters()
    }

    /// When the next transmit report is due.
    pub(super) fn report_due_ns(&self, memory: &Memory) -> Option<u64> {
        self.reporter.due_ns(memory).filter(|_| self.model.has_reports())
    }

    /// Whether frames stay in the buffer for which the firmware would choose the rate.
    pub fn set_without_rates(&mut self, without: bool) {
        self.without_rates = without;
    }

    /// A bulk OUT transfer: one frame behind its descriptor, or several, each at a multiple of 8 bytes.
    pub fn accept(&mut self, now_ns: u64, memory: &Memory, cam: &Cam, data: &[u8]) -> OutReply {
        // In 128-byte pages; a frame that does not fit leaves the endpoint NAKing.
        if self.pages + data.len().div_ceil(PAGE) > self.model.pages() && self.pages > 0 {
            self.counters.buffer_full += u64::from(!self.waiting);
            self.waiting = true;
            return OutReply::Nak;
        }
        self.waiting = false;
        let mut rest = data;
        let mut expected = TxDescriptor::parse(rest, self.model).map_or(1, |d| d.frames_in_transfer().max(1));
        while expected > 0 {
            expected -= 1;
            let Some(descriptor) = TxDescriptor::parse(rest, self.model) else {
                self.counters.malformed += 1;
                break;
            };
            let (offset, len) = (descriptor.frame_offset(), descriptor.frame_len());
            let Some(frame) = rest.get(offset..offset + len).filter(|frame| frame.len() >= 10) else {
                self.counters.malformed += 1;
                break;
            };
            self.enqueue(now_ns, memory, cam, descriptor, frame.to_vec());
            rest = rest.get((offset + len).next_multiple_of(8)..).unwrap_or_default();
        }
        OutReply::Accepted
    }

    fn enqueue(&mut self, now_ns: u64, memory: &Memory, cam: &Cam, descriptor: TxDescriptor, mut mpdu: Vec<u8>) {
        let counters = &mut self.counters;
        counters.frames += 1;
        if !descriptor.checksum_is_right() {
            counters.bad_checksums += 1;
            return;
        }
        counters.aggregate += u64::from(descriptor.aggregate());
        counters.rts += u64::from(descriptor.rts());
        counters.cts_to_self += u64::from(descriptor.cts_to_self());
        counters.hardware_rts += u64::from(descriptor.hardware_rts());
        if descriptor.rts() || descriptor.cts_to_self() {
            if let Some(count) = counters.rts_rates.get_mut(usize::from(descriptor.rts_rate())) {
                *count += 1;
            }
        }
        if descriptor.queue() == QUEUE_BEACON {
            // Templates for the firmware (reserved pages), not for the air.
            counters.reserved += 1;
            return;
        }
        if descriptor.hardware_sequence() {
            self.sequence = (self.sequence + 1) & 0x0fff;
            Mpdu::new(&mut mpdu).set_sequence(Seq::new(self.sequence));
        }
        if !self.encrypt(memory, cam, &descriptor, &mut mpdu) {
            return;
        }
        let pages = (mpdu.len() + wire::usb::realtek::TX_DESCRIPTOR).div_ceil(PAGE);
        self.pages += pages;
        if self.without_rates && !descriptor.use_driver_rate() && !descriptor.is_group() {
            return;
        }
        self.queues.push(Queued::new(descriptor, mpdu, (0, pages), now_ns));
    }

    /// Queues a frame of the firmware's own, before all others.
    pub fn send(&mut self, now_ns: u64, frame: Option<Vec<u8>>) {
        if let Some(mpdu) = frame {
            self.queues.send(own(mpdu, now_ns));
        }
    }

    /// Encrypts as the descriptor says; `false`: it cannot be sent.
    fn encrypt(&mut self, memory: &Memory, cam: &Cam, descriptor: &TxDescriptor, mpdu: &mut Vec<u8>) -> bool {
        let became = self.engines.encrypt_as(descriptor.security(), memory, cam, mpdu);
        self.counters.no_key += u64::from(became == Encryption::NoKey);
        self.counters.encrypted += u64::from(became == Encryption::Done);
        matches!(became, Encryption::Plain | Encryption::Done)
    }

    /// What waits.
    pub(super) const fn queues(&self) -> &Queues<TxDescriptor> {
        &self.queues
    }

    /// Contention parameters of what comes next.
    pub fn access(&self, memory: &Memory) -> EdcaParameters {
        self.queues.access(memory, SIFS_US)
    }

    /// The next PPDU.
    pub fn begin(&mut self, memory: &Memory, wide: bool) -> Option<Ppdu> {
        let at = self.queues.next(memory)?;
        let queue = self.queues.get_mut(at)?;
        let first = queue.pop_front()?;
        let chosen = self.rates.choose(memory, &first.descriptor);
        // The oldest MPDU of an A-MPDU decides for all.
        let rate = data_rate(memory, &first.descriptor, chosen, first.attempts, &self.assumptions);
        let mode = mode(rate, modulation(&first.descriptor, wide));
        let is_group = first.frame().is_group();
        let may_aggregate = first.descriptor.aggregate() && rate >= MCS0 && first.tid().is_some() && !is_group;
        let protection = protection(memory, &first, &self.assumptions);
        let response = response_to(&first.mpdu, may_aggregate);
        let mut taken = vec![first];
        if may_aggregate {
            aggregate(queue, &mut taken, &mode, memory, rate, self.aggregate_limit);
        }
        let mpdus = taken.iter().map(|queued| queued.mpdu.clone()).collect();
        self.on_air = Some((at, taken));
        Some(Ppdu { mode, mpdus, aggregated: may_aggregate, protection, response })
    }

    /// What happened to it: frames that were not acknowledged are sent again, in their order, until their limit.
    pub fn ended(&mut self, now_ns: u64, memory: &mut Memory, ppdu: &Ppdu, outcome: &Outcome) {
        let Some((at, taken)) = self.on_air.take() else { return };
        let register = retry_limit(memory, matches!(ppdu.protection, Protection::Rts(_)));
        let mut again = Vec::new();
        let mut gap = None;
        // The PPDU was not sent: its RTS was not answered.
        let only_rts = !outcome.sent && self.assumptions.rts_retries == RtsRetries::Apart;
        for (mut queued, &acknowledged) in taken.into_iter().zip(&outcome.acknowledged) {
            if ppdu.response != Response::None && !only_rts {
                self.rates.report(now_ns, memory, &queued.descriptor, acknowledged, &self.assumptions);
            }
            if acknowledged {
                self.count(ppdu, &queued, true);
                self.pages = self.pages.saturating_sub(queued.pages);
                continue;
            }
            queued.rts_attempts = if outcome.sent { 0 } else { queued.rts_attempts.saturating_add(1) };
            queued.attempts = queued.attempts.saturating_add(u8::from(!only_rts));
            let limit = queued.descriptor.retry_limit().unwrap_or(register);
            if queued.attempts.max(queued.rts_attempts) > limit {
                self.count(ppdu, &queued, false);
                self.pages = self.pages.saturating_sub(queued.pages);
                self.counters.given_up += 1;
                if ppdu.aggregated {
                    gap = Some(queued);
                }
                continue;
            }
            if !only_rts {
                Mpdu::new(&mut queued.mpdu).set_retry(true);
            }
            again.push(queued);
        }
        let Some(queue) = self.queues.get_mut(at) else { return };
        put_back(queue, again, gap, |queued| &queued.mpdu, |request, lost| own(request, lost.since_ns));
    }

    /// Counts a frame of the driver that had to be acknowledged, for reports. Before its last attempt it was sent
    /// `attempts` times.
    fn count(&mut self, ppdu: &Ppdu, queued: &Queued<TxDescriptor>, arrived: bool) {
        if ppdu.response != Response::None && !queued.is_own() {
            let is_data = queued.frame().is_data();
            self.reporter.ended(queued.descriptor.macid(), is_data, queued.attempts, arrived);
        }
    }
}

fn modulation(descriptor: &TxDescriptor, wide: bool) -> Modulation {
    Modulation {
        wide: wide && descriptor.wide(),
        short_gi: descriptor.short_gi(),
        short_preamble: descriptor.short_preamble(),
        greenfield: descriptor.greenfield(),
        stbc: descriptor.stbc(),
    }
}

/// RTS or CTS only if the MAC is to send it itself (HW_RTS_ENABLE).
fn protection(memory: &Memory, first: &Queued<TxDescriptor>, assumptions: &Assumptions) -> Protection {
    let descriptor = &first.descriptor;
    let short_preamble = descriptor.rts_short_preamble();
    let rate = rts_rate(memory, descriptor, first.rts_attempts, assumptions);
    let mode = mode(rate, Modulation { short_preamble, ..Modulation::default() });
    match (descriptor.hardware_rts(), descriptor.rts(), descriptor.cts_to_self()) {
        (true, true, _) => Protection::Rts(mode),
        (true, false, true) => Protection::CtsToSelf(mode),
        _ => Protection::None,
    }
}

crate::state!(Transmitter {
    queues, pages, on_air, rates, engines, sequence, waiting, without_rates, counters, reporter,
} made { model, aggregate_limit, assumptions });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::realtek::queues::short_retry_limit;
    use crate::chips::rtl8188cus::registers as reg;

    const RETRY: u8 = 0x08;
    use wire::phy::Mode;

    /// A QoS data frame behind a descriptor as rtl8xxxu fills it: RTS at 24 Mbit/s, aggregation.
    fn transfer(sequence: u16) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        let mut mpdu = vec![0x88, 0x01, 0, 0];
        mpdu.resize(22, 2);
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.resize(100, 0);
        let words = [mpdu.len() as u32 | 32 << 16, 1 << 5, 0, 0, 8 | 1 << 12 | 1 << 13, 0x0001_ff40, 0, 0];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
            chunk.copy_from_slice(&u32::to_le_bytes(word));
        }
        let sum = bytes.chunks_exact(2).fold(0u16, |sum, half| sum ^ u16::from_le_bytes([half[0], half[1]]));
        bytes[28..30].copy_from_slice(&sum.to_le_bytes());
        bytes.extend(mpdu);
        bytes
    }

    fn begun(mask: u32, assumptions: Assumptions) -> (Transmitter, Memory) {
        let (mut transmitter, mut memory) =
            (Transmitter::new(Model::Rtl8188cus, &assumptions.into()), Memory::default());
        memory.write(reg::DARFRC, &[0, 0, 0, 0, 4, 4, 8, 16, 1, 2, 3, 4, 5, 6, 7, 8]);
        memory.write(reg::RETRY_LIMIT, &[0x30, 0x30]);
        memory.set_u32(reg::RESPONSE_RATE_SET, 0x15f);
        transmitter.rates().set_mask(&mut memory, 0, mask, true);
        for sequence in 0..3 {
            assert_eq!(transmitter.accept(0, &memory, &Cam::default(), &transfer(sequence)), OutReply::Accepted);
        }
        (transmitter, memory)
    }

    /// Sends what comes next, which is not answered.
    fn unanswered(transmitter: &mut Transmitter, memory: &mut Memory, sent: bool) -> Ppdu {
        let ppdu = transmitter.begin(memory, false).expect("something to send");
        let acknowledged = vec![false; ppdu.mpdus.len()];
        transmitter.ended(0, memory, &ppdu, &Outcome { acknowledged, sent });
        ppdu
    }

    fn label(mode: Mode) -> String {
        mode.label()
    }

    #[test]
    fn retries_keep_the_rate_and_fall_as_the_registers_say() {
        for (mask, then) in
            [(0x000f_ffff, ["HT20 MCS3 SGI", "6 Mb/s", "1 Mb/s long"]), (0x000f_0000, ["HT20 MCS4 SGI"; 3])]
        {
            let (mut transmitter, mut memory) = begun(mask, Assumptions::default());
            let ppdus: Vec<Ppdu> = (0..9).map(|_| unanswered(&mut transmitter, &mut memory, true)).collect();
            let labels: Vec<String> = ppdus.iter().map(|ppdu| label(ppdu.mode)).collect();
            assert_eq!(labels[..5], ["HT20 MCS7 SGI"; 5], "{mask:#x}");
            assert_eq!(
                [&labels[5], &labels[6], &labels[7], &labels[8]],
                [then[0], then[0], then[1], then[2]],
                "{mask:#x}"
            );
            let retry = |ppdu: &Ppdu| ppdu.mpdus.iter().all(|mpdu| mpdu[1] & RETRY != 0);
            assert_eq!(ppdus.iter().map(retry).collect::<Vec<_>>(), [&[false][..], &[true; 8]].concat());
            assert_eq!((ppdus[5].mpdus.len(), ppdus[5].aggregated), (3, true));
        }
    }

    #[test]
    fn an_rts_that_nobody_answers_is_no_retry_of_what_was_not_sent() {
        let (mut transmitter, mut memory) = begun(0x000f_ffff, Assumptions::default());
        let ppdus: Vec<Ppdu> = (0..6).map(|_| unanswered(&mut transmitter, &mut memory, false)).collect();
        let rts = ppdus.iter().map(|ppdu| match ppdu.protection {
            Protection::Rts(mode) => label(mode),
            _ => String::new(),
        });
        assert_eq!(
            rts.collect::<Vec<_>>(),
            ["24 Mb/s", "12 Mb/s", "6 Mb/s", "5.5 Mb/s long", "2 Mb/s long", "1 Mb/s long"]
        );
        assert!(ppdus.iter().all(|ppdu| label(ppdu.mode) == "HT20 MCS7 SGI" && ppdu.mpdus[0][1] & RETRY == 0));
        // The other way it is one.
        let mut assumptions = Assumptions::default();
        assumptions.set("rts-retries=with-data").unwrap();
        let (mut transmitter, mut memory) = begun(0x000f_ffff, assumptions);
        unanswered(&mut transmitter, &mut memory, false);
        assert_eq!(unanswered(&mut transmitter, &mut memory, false).mpdus[0][1] & RETRY, RETRY);
    }

    #[test]
    fn the_retry_limits_are_those_of_the_register() {
        for (sent, limits, tries) in [(true, [3, 5], 4), (false, [5, 3], 6)] {
            let (mut transmitter, mut memory) = begun(0x000f_ffff, Assumptions::default());
            memory.write(reg::RETRY_LIMIT, &limits);
            for _ in 0..tries {
                unanswered(&mut transmitter, &mut memory, sent);
            }
            assert_eq!(transmitter.counters().given_up, 3, "long {} short {}", limits[0], limits[1]);
            assert_eq!(u32::from(short_retry_limit(&memory)), u32::from(limits[1]));
        }
    }
}
