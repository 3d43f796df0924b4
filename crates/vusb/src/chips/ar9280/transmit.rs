//! From descriptors to the air: series of rates, A-MPDUs, status.
//!
//! What no driver states: the whole A-MPDU goes again, with the retry bit, while no Block Ack comes; a series counts an RTS without
//! CTS as a try; a station that did not answer gets no more frames until one comes with the bit that clears its filter.

use std::collections::{BTreeMap, BTreeSet};

use wire::ieee80211::{Header, MacAddr, Mpdu, Seq};
use wire::phy::Mode;

use super::descriptors::{Kind, Protection as Before, Series, TxDescriptor, TxStatus, SERIES};
use super::interrupts::Interrupts;
use super::key_cache::KeyCache;
use super::memory::Registers;
use super::queues::Queues;
use super::rates;
use super::registers as reg;
use super::statistics::TxCounters;
use super::timers::Timers;
use crate::air::exchange::FCS_LEN;
use crate::air::{response_to, Outcome, Ppdu, Response};
use crate::pci::FunctionMemory;

/// MPDUs of an A-MPDU, and descriptors of a frame, at most.
const MPDUS_MAX: usize = 64;
const PARTS_MAX: usize = 16;
/// Where the time stamp of a beacon or a probe response is (IEEE 802.11-2020, 9.3.3.2).
const TIMESTAMP: std::ops::Range<usize> = 24..32;
/// Stations with a signal that is remembered.
const SIGNALS_MAX: usize = 256;

/// What the transmitter needs of the chip.
pub(super) struct Surroundings<'a> {
    pub(super) now_ns: u64,
    pub(super) memory: &'a FunctionMemory,
    pub(super) registers: &'a Registers,
    pub(super) keys: &'a mut KeyCache,
    pub(super) interrupts: &'a mut Interrupts,
    pub(super) timers: &'a Timers,
    pub(super) filters_sleepers: bool,
}

/// A frame or an A-MPDU that was read.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Fetched {
    first: TxDescriptor,
    /// The last of its descriptors, which gets the status, and the one behind it.
    last: u32,
    link: u32,
    mpdus: Vec<Vec<u8>>,
    aggregated: bool,
    /// The series that is tried, how often it was, and how often RTS got no answer.
    series: usize,
    tries: u8,
    rts_failures: u8,
}

/// The transmitter.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Transmitter {
    pub(super) queues: Queues,
    /// The queue of what is on the air.
    on_air: Option<(usize, u64)>,
    /// Entries of the key cache of stations that did not answer.
    silent: BTreeSet<usize>,
    /// Signal of each station over the noise floor when it was heard last, dB.
    signals: BTreeMap<MacAddr, u8>,
    counters: TxCounters,
}

impl Transmitter {
    pub(super) const fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// The MAC was reset.
    pub(super) fn reset(&mut self) {
        self.queues = Queues::default();
        self.on_air = None;
        self.silent.clear();
    }

    /// A station was heard.
    pub(super) fn heard(&mut self, station: MacAddr, rssi: u8) {
        if self.signals.len() < SIGNALS_MAX || self.signals.contains_key(&station) {
            self.signals.insert(station, rssi);
        }
    }

    /// Q_TXE was written: queues go on behind the descriptor that they hold, or at the one that they were given.
    pub(super) fn enable(&mut self, around: &mut Surroundings<'_>, queues: u32) {
        for number in (0..reg::QUEUES).filter(|number| queues >> number & 1 == 1) {
            let is_enabled = self.queues.is_enabled(number);
            let Some(queue) = self.queues.all.get_mut(number).filter(|_| !is_enabled) else { continue };
            if queue.next == 0 && queue.held != 0 {
                queue.next = around.memory.word(queue.held);
            }
            if queue.next == 0 {
                around.interrupts.ended(number);
                continue;
            }
            queue.since_ns = around.now_ns;
            self.queues.enabled |= 1 << number;
        }
    }

    /// Q_TXDP was written.
    pub(super) fn point(&mut self, queue: usize, descriptor: u32) {
        if let Some(queue) = self.queues.all.get_mut(queue) {
            (queue.next, queue.held) = (descriptor, 0);
        }
    }

    /// Where a queue is.
    pub(super) fn pointer(&self, queue: usize) -> u32 {
        let Some(queue) = self.queues.all.get(queue) else { return 0 };
        if queue.next == 0 {
            queue.held
        } else {
            queue.next
        }
    }

    /// Frames of a queue that are on their way.
    pub(super) fn pending(&self, queue: usize) -> u32 {
        u32::from(self.queues.all.get(queue).is_some_and(|queue| queue.current.is_some()))
    }

    /// Q_TXD was written: queues lose their frames, also one that is on the air.
    pub(super) fn stop(&mut self, queues: u32) {
        self.queues.stopped = queues;
        for queue in (0..reg::QUEUES).filter(|queue| queues >> queue & 1 == 1) {
            self.queues.stop(queue);
        }
    }

    /// The next PPDU.
    pub(super) fn begin(&mut self, around: &mut Surroundings<'_>) -> Option<Ppdu> {
        loop {
            let number = self.queues.head(around.registers, around.now_ns)?;
            let queue = self.queues.all.get_mut(number)?;
            if queue.current.is_none() {
                queue.current = fetch(around, queue.next, &mut self.counters);
            }
            let Some(current) = &mut queue.current else {
                // What cannot be read is no frame.
                self.queues.ended(number);
                around.interrupts.ended(number);
                continue;
            };
            if self.silent.is_empty() || !is_kept_back(&mut self.silent, &current.first) {
                if let Some(ppdu) = current.ppdu(around) {
                    self.on_air = Some((number, around.now_ns));
                    return Some(ppdu);
                }
                // A rate that the chip does not have, or no tries: it was not acknowledged.
                self.counters.no_rate += 1;
                self.complete(around, number, TxStatus::default());
            } else {
                self.counters.filtered += 1;
                self.complete(around, number, TxStatus { filtered: true, ..TxStatus::default() });
            }
        }
    }

    /// What happened to it.
    pub(super) fn ended(&mut self, around: &mut Surroundings<'_>, ppdu: &Ppdu, outcome: &Outcome) {
        let Some((number, began_ns)) = self.on_air.take() else { return };
        // None: its queue was stopped meanwhile.
        let Some(current) = self.queues.all.get_mut(number).and_then(|queue| queue.current.as_mut()) else { return };
        let well = outcome.acknowledged.iter().any(|&it| it);
        self.counters.ppdus += u64::from(outcome.sent);
        current.tries = current.tries.saturating_add(1);
        current.rts_failures = current.rts_failures.saturating_add(u8::from(!outcome.sent));
        if !well {
            self.counters.failed += 1;
            if outcome.sent {
                current.mpdus.iter_mut().for_each(|mpdu| Mpdu::new(mpdu).set_retry(true));
            }
            if current.has_tries_left() {
                if let Some(queue) = self.queues.all.get_mut(number) {
                    queue.since_ns = around.now_ns;
                }
                return;
            }
            if let Some(key) = current.first.key().filter(|_| around.filters_sleepers) {
                self.silent.insert(key);
            }
        }
        let receiver = ppdu.mpdus.first().and_then(|mpdu| Mpdu::new(mpdu).receiver());
        let block_ack = (current.aggregated && well).then(|| block_ack(&current.mpdus, &outcome.acknowledged));
        let status = TxStatus {
            done_well: well,
            filtered: false,
            block_ack,
            tid: current.mpdus.first().and_then(|mpdu| Mpdu::new(mpdu).tid()).unwrap_or(0),
            series: current.series,
            data_failures: current.tries.saturating_sub(1),
            rts_failures: current.rts_failures,
            rssi: receiver.and_then(|receiver| self.signals.get(&receiver)).copied().unwrap_or(0),
            tsf: around.timers.tsf_us(began_ns) as u32,
        };
        self.counters.mpdus += current.mpdus.len() as u64;
        self.complete(around, number, status);
    }

    /// The frame at the head of a queue is done.
    fn complete(&mut self, around: &mut Surroundings<'_>, number: usize, status: TxStatus) {
        let Some(queue) = self.queues.all.get_mut(number) else { return };
        let Some(current) = queue.current.take() else { return };
        status.write(around.memory, current.last);
        around.interrupts.sent(number, status.done_well, current.first.wants_interrupt());
        self.counters.frames += 1;
        // The driver may have added to it meanwhile.
        queue.held = current.last;
        queue.next = around.memory.word(current.last);
        queue.since_ns = around.now_ns;
        if queue.next == 0 {
            self.queues.ended(number);
            around.interrupts.ended(number);
        }
    }
}

/// Whether a frame is for a station that did not answer; one that clears that is not kept back.
fn is_kept_back(silent: &mut BTreeSet<usize>, first: &TxDescriptor) -> bool {
    match first.key() {
        Some(key) if first.clears_filter() => {
            silent.remove(&key);
            false
        }
        Some(key) => silent.contains(&key),
        None => false,
    }
}

/// The Block Ack of a receiver that keeps all: from the lowest number on. An A-MPDU need not begin with it (xmit.c,
/// ath_tx_form_aggr).
fn block_ack(mpdus: &[Vec<u8>], acknowledged: &[bool]) -> (u16, u64) {
    let numbers = || mpdus.iter().map(|mpdu| Mpdu::new(mpdu).sequence().unwrap_or_default());
    let start = numbers().reduce(|low, number| if number.is_before(low) { number } else { low }).unwrap_or_default();
    let bit = |(number, &is): (Seq, &bool)| {
        let ahead = number.distance_from(start);
        if is && ahead < 64 {
            1u64 << ahead
        } else {
            0
        }
    };
    (start.value(), numbers().zip(acknowledged).map(bit).fold(0, |bitmap, bit| bitmap | bit))
}

/// Reads a frame, or an A-MPDU; `None`: there is none that could be sent.
fn fetch(around: &mut Surroundings<'_>, descriptor: u32, counters: &mut TxCounters) -> Option<Fetched> {
    let first = TxDescriptor::read(around.memory, descriptor);
    let mut fetched = Fetched {
        first,
        last: descriptor,
        link: descriptor,
        mpdus: Vec::new(),
        aggregated: first.aggregate().0,
        series: 0,
        tries: 0,
        rts_failures: 0,
    };
    loop {
        let head = TxDescriptor::read(around.memory, fetched.link);
        let mut mpdu = fetched.read_mpdu(around.memory, head)?;
        if head.kind() == Kind::Other && head.is_encrypted() {
            let key = head.key().unwrap_or(usize::MAX);
            let done = around.keys.encrypt(key, &mut mpdu);
            counters.encrypted += u64::from(done);
            counters.not_encrypted += u64::from(!done);
        }
        fetched.mpdus.push(mpdu);
        let (is_part, has_more) = head.aggregate();
        if !is_part || !has_more || fetched.link == 0 || fetched.mpdus.len() >= MPDUS_MAX {
            return Some(fetched);
        }
    }
}

impl Fetched {
    /// Reads the MPDU that begins with a descriptor, and goes on to the next.
    fn read_mpdu(&mut self, memory: &FunctionMemory, head: TxDescriptor) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut part = head;
        for _ in 0..PARTS_MAX {
            let start = bytes.len();
            bytes.resize(start + part.buffer_len(), 0);
            memory.read(part.buffer(), bytes.get_mut(start..)?);
            (self.last, self.link) = (self.link, part.link());
            if !part.has_more() || self.link == 0 {
                break;
            }
            part = TxDescriptor::read(memory, self.link);
        }
        // The body begins at a multiple of four bytes (xmit.c, ath_tx_prepare).
        let header = Header::parse(&bytes, false).ok()?.header_len;
        if header % 4 != 0 && bytes.len() >= header + 2 {
            bytes.drain(header..header + 2);
        }
        // A beacon's buffer may be longer than it.
        bytes.truncate(head.frame_len().saturating_sub(FCS_LEN));
        (bytes.len() >= 10).then_some(bytes)
    }

    fn series(&self) -> Series {
        self.first.series().get(self.series).copied().unwrap_or_default()
    }

    /// Goes to the next series when this one is used up; `false`: there is none.
    fn has_tries_left(&mut self) -> bool {
        while self.tries >= self.series().tries {
            let has_next =
                self.series + 1 < SERIES && self.first.series().get(self.series + 1).is_some_and(|next| next.tries > 0);
            if !has_next {
                return false;
            }
            (self.series, self.tries, self.rts_failures) = (self.series + 1, 0, 0);
        }
        true
    }

    /// What is sent now.
    fn ppdu(&mut self, around: &Surroundings<'_>) -> Option<Ppdu> {
        if !self.has_tries_left() {
            return None;
        }
        let Series { code, wide, short_gi, protected, .. } = self.series();
        let mode = rates::mode(code, wide, short_gi)?;
        let mut mpdus = self.mpdus.clone();
        if self.first.kind() == Kind::Timestamped {
            let adds = around.registers.word(reg::PCU_MISC) & reg::MISC_ADD_TSF != 0;
            mpdus.iter_mut().for_each(|mpdu| set_timestamp(mpdu, around.timers.tsf_us(around.now_ns), adds));
        }
        let first = mpdus.first()?;
        let no_ack = self.first.has_no_ack();
        let response = if no_ack { Response::None } else { response_to(first, self.aggregated) };
        let before = rates::mode(self.first.protection_code(), false, false).filter(|_| protected);
        let protection = match (self.first.protection(), before) {
            (Before::Rts, Some(mode)) => medium::Protection::Rts(mode),
            (Before::CtsToSelf, Some(mode)) => medium::Protection::CtsToSelf(mode),
            _ => medium::Protection::None,
        };
        Some(Ppdu { mode, mpdus, aggregated: self.aggregated && can_aggregate(&mode), protection, response })
    }
}

fn can_aggregate(mode: &Mode) -> bool {
    mode.can_aggregate()
}

fn set_timestamp(mpdu: &mut [u8], tsf_us: u64, adds: bool) {
    if let Some(field) = mpdu.get_mut(TIMESTAMP).and_then(|field| field.first_chunk_mut::<8>()) {
        let kept = if adds { u64::from_le_bytes(*field) } else { 0 };
        *field = tsf_us.wrapping_add(kept).to_le_bytes();
    }
}
