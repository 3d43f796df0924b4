//! From descriptors to the air: series of rates, A-MPDUs, status.
//!
//! What no driver states: the whole A-MPDU goes again, with the retry bit, while no Block Ack comes; a series counts an RTS without
//! CTS as a try; a station that did not answer gets no more frames until one comes with the bit that clears its filter.

use std::collections::{BTreeMap, BTreeSet};

use wire::ieee80211::{MacAddr, Mpdu, Seq};

use super::descriptors::{TxDescriptor, TxStatus};
use super::frame::{fetch, Surroundings};
use super::queues::Queues;
use super::registers as reg;
use super::statistics::TxCounters;
use crate::air::{Outcome, Ppdu};

/// Frames in a row that are given back unsent; the next turn goes on behind them.
const UNSENT_MAX: usize = 64;
/// Stations with a signal that is remembered.
const SIGNALS_MAX: usize = 256;

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

    /// The next PPDU of a channel access function, if it `fits` into the time that there is.
    pub(super) fn begin(
        &mut self,
        around: &mut Surroundings<'_>,
        function: usize,
        fits: &mut dyn FnMut(&Ppdu) -> bool,
    ) -> Option<Ppdu> {
        // Descriptors may follow each other in a circle, each with a frame that is not sent.
        for _ in 0..UNSENT_MAX {
            let number = self.queues.head(around.registers, around.now_ns, function)?;
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
                    if !fits(&ppdu) {
                        return None;
                    }
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
        None
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
            // The last try went well, or is the one that the status itself is about.
            data_failures: current.tries.saturating_sub(current.rts_failures).saturating_sub(1),
            rts_failures: current.rts_failures,
            rssi: receiver.and_then(|receiver| self.signals.get(&receiver)).copied().unwrap_or(0),
            tsf: around.timers.tsf_us(began_ns) as u32,
        };
        self.complete(around, number, status);
    }

    /// The frame at the head of a queue is done.
    fn complete(&mut self, around: &mut Surroundings<'_>, number: usize, status: TxStatus) {
        let Some(queue) = self.queues.all.get_mut(number) else { return };
        let Some(current) = queue.current.take() else { return };
        status.write(around.memory, current.last);
        around.interrupts.sent(number, status.done_well, current.first.wants_interrupt());
        self.counters.frames += 1;
        self.counters.mpdus += current.mpdus.len() as u64;
        self.counters.bytes += current.bytes;
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
