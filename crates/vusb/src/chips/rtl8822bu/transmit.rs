//! From bulk OUT to the air: packet buffer, queues, aggregation, retries.

use std::collections::VecDeque;

use wire::ieee80211::{Mpdu, Seq};
use wire::phy::{Band, Bandwidth, EdcaParameters};
use wire::usb::rtw88::{queue, TxDescriptor};

use super::aggregation::aggregate;
use super::assumptions::Assumptions;
use super::pages::{of_frame, place, Pages, PLACES};
use super::rates::{bandwidth, mode, Choice, RateControl, Shape, OFDM_6};
use super::registers as reg;
use super::statistics::TxCounters;
use super::transfer::Part;
use crate::air::{response_to, Outcome, Ppdu, Protection, Response};
use crate::chips::block_ack_request::put_back;
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::crypto::{Encryption, Engines};
use crate::chips::realtek::memory::Memory;
use crate::chips::realtek::queues::{retry_limit, Descriptor, Queued, Queues};

/// Bytes of DARFRC, and the bits of each that count.
const COUNTS: usize = 8;
const COUNT: u8 = 0x1f;

/// The bits of a TXOP limit in the EDCA registers (rtw88 reg.h, BIT_MASK_TXOP_LMT).
const TXOP_LIMIT: u16 = 0x07ff;

/// What happened to a frame that is to be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fate {
    /// The driver's number of it.
    pub mark: u16,
    /// It was acknowledged, or needed no acknowledgement.
    pub arrived: bool,
}

/// The transmitter.
#[derive(Default)]
pub struct Transmitter {
    queues: Queues<TxDescriptor>,
    pages: Pages,
    /// What is on the air: its queue and frames, in the order of the PPDU's MPDUs.
    on_air: Option<(usize, Vec<Queued<TxDescriptor>>)>,
    rates: RateControl,
    engines: Engines,
    sequence: u16,
    /// Whether a frame waits for room in each place.
    waiting: [bool; PLACES],
    /// No rate control: the firmware hangs (a fault).
    without_rates: bool,
    /// What is to be reported.
    fates: VecDeque<Fate>,
    counters: TxCounters,
}

/// A frame of the firmware's own, at 6 Mbit/s.
fn own(mpdu: Vec<u8>, since_ns: u64) -> Queued<TxDescriptor> {
    let len = u16::try_from(mpdu.len()).unwrap_or(u16::MAX);
    let descriptor = TxDescriptor::new(len, queue::MANAGEMENT).with(3, 8, 1).with(3, 10, 1).with(4, 0, OFDM_6.into());
    Queued::own(descriptor, mpdu, since_ns)
}

impl Descriptor for TxDescriptor {
    fn queue(&self) -> u8 {
        self.queue()
    }
}

impl Transmitter {
    /// What it has done.
    pub const fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// Rate control, which the firmware does.
    pub fn rates(&mut self) -> &mut RateControl {
        &mut self.rates
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        *self = Self { counters: self.counters, without_rates: self.without_rates, ..Self::default() };
    }

    /// Whether frames stay in the buffer for which the firmware would choose the rate.
    pub fn set_without_rates(&mut self, without: bool) {
        self.without_rates = without;
    }

    /// Writes where the driver looks how many pages are free.
    pub fn show_pages(&self, memory: &mut Memory) {
        self.pages.show(memory);
    }

    /// How many of each place's own pages are free, and how many of those of all.
    pub fn free_pages(&self, memory: &Memory) -> [u16; PLACES + 1] {
        self.pages.free(memory)
    }

    /// What happened to the next frame that is to be reported.
    pub fn fate(&mut self) -> Option<Fate> {
        self.fates.pop_front()
    }

    /// Whether the frames of a transfer find room; without it the bus has to offer them again.
    pub fn has_room(&mut self, memory: &Memory, parts: &[Part<'_>]) -> bool {
        let wanted: Vec<_> =
            parts.iter().map(|part| (place(memory, part.descriptor.queue()), of_frame(part.frame))).collect();
        let empty = self.queues.are_empty() && self.on_air.is_none();
        let room = empty || self.pages.have_room(memory, &wanted);
        // They all are of one endpoint or ring, and so of one place.
        if let Some(waiting) = wanted.first().and_then(|&(place, _)| self.waiting.get_mut(place)) {
            self.counters.buffer_full += u64::from(!room && !*waiting);
            *waiting = !room;
        }
        room
    }

    /// A transfer in which something could not be found, or several frames.
    pub fn transferred(&mut self, frames: usize, malformed: bool) {
        self.counters.malformed += u64::from(malformed);
        self.counters.aggregated_transfers += u64::from(frames > 1);
    }

    /// Whether a descriptor can be taken for what it says.
    pub fn is_sound(&mut self, descriptor: &TxDescriptor) -> bool {
        let sound = descriptor.checksum_is_right();
        self.counters.bad_checksums += u64::from(!sound);
        sound
    }

    /// A frame of the driver's.
    pub fn accept(&mut self, now_ns: u64, memory: &Memory, cam: &Cam, part: &Part<'_>) {
        let descriptor = part.descriptor;
        let mut mpdu = part.frame.to_vec();
        let counters = &mut self.counters;
        counters.frames += 1;
        counters.aggregate += u64::from(descriptor.aggregate());
        counters.rts += u64::from(descriptor.rts());
        counters.reported += u64::from(descriptor.report());
        counters.driver_rate += u64::from(descriptor.use_rate());
        if descriptor.hardware_sequence() {
            self.sequence = (self.sequence + 1) & 0x0fff;
            Mpdu::new(&mut mpdu).set_sequence(Seq::new(self.sequence));
        }
        if !self.encrypt(memory, cam, &descriptor, &mut mpdu) {
            self.tell(&descriptor, false);
            return;
        }
        let (place, pages) = (place(memory, descriptor.queue()), of_frame(&mpdu));
        self.pages.take(place, pages);
        if self.without_rates && !descriptor.use_rate() && !descriptor.is_group() {
            return;
        }
        self.queues.push(Queued::new(descriptor, mpdu, (place, pages), now_ns));
    }

    fn tell(&mut self, descriptor: &TxDescriptor, arrived: bool) {
        if descriptor.report() {
            self.fates.push_back(Fate { mark: descriptor.mark(), arrived });
        }
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
    pub fn access(&self, memory: &Memory, band: Band) -> EdcaParameters {
        // mac80211.c, rtw_aifsn_to_aifs: SIFS and AIFSN slots.
        let sifs_us = if band == Band::Ghz2_4 { 10 } else { 16 };
        let access = self.queues.access(memory, sifs_us);
        EdcaParameters { txop_limit_32us: access.txop_limit_32us & TXOP_LIMIT, ..access }
    }

    /// The next PPDU.
    pub fn begin(&mut self, memory: &Memory, width: Bandwidth, assumed: &Assumptions) -> Option<Ppdu> {
        let at = self.queues.next(memory)?;
        let queue = self.queues.get_mut(at)?;
        let first = queue.pop_front()?;
        // The oldest MPDU of an A-MPDU decides for all.
        let choice = rates_of(&self.rates, &first, width);
        let mode = mode_of(memory, &first, &choice);
        let is_group = first.frame().is_group();
        let may_aggregate = first.descriptor.aggregate() && mode.can_aggregate() && first.tid().is_some() && !is_group;
        let protection = protection(&first);
        let response = response_to(&first.mpdu, may_aggregate);
        let mut taken = vec![first];
        if may_aggregate {
            aggregate(queue, &mut taken, &mode, memory, assumed);
        }
        let mpdus = taken.iter().map(|queued| queued.mpdu.clone()).collect();
        self.on_air = Some((at, taken));
        Some(Ppdu { mode, mpdus, aggregated: may_aggregate, protection, response })
    }

    /// What happened to it: frames that were not acknowledged are sent again, in their order, until their limit.
    pub fn ended(&mut self, now_ns: u64, memory: &Memory, ppdu: &Ppdu, outcome: &Outcome, assumed: &Assumptions) {
        let Some((at, taken)) = self.on_air.take() else { return };
        let limit = retry_limit(memory, matches!(ppdu.protection, Protection::Rts(_)));
        let mut again = Vec::new();
        let mut gap = None;
        for (mut queued, &acknowledged) in taken.into_iter().zip(&outcome.acknowledged) {
            if ppdu.response != Response::None && outcome.sent && is_chosen(&queued) {
                self.rates.report(now_ns, queued.descriptor.station(), acknowledged, assumed);
            }
            if acknowledged {
                self.tell(&queued.descriptor, true);
                self.pages.give_back(queued.place, queued.pages);
                continue;
            }
            queued.rts_attempts = if outcome.sent { 0 } else { queued.rts_attempts.saturating_add(1) };
            queued.attempts = queued.attempts.saturating_add(u8::from(outcome.sent));
            if queued.attempts.max(queued.rts_attempts) > limit {
                self.tell(&queued.descriptor, false);
                self.pages.give_back(queued.place, queued.pages);
                self.counters.given_up += 1;
                if ppdu.aggregated {
                    gap = Some(queued);
                }
                continue;
            }
            if outcome.sent {
                Mpdu::new(&mut queued.mpdu).set_retry(true);
            }
            again.push(queued);
        }
        let Some(queue) = self.queues.get_mut(at) else { return };
        put_back(queue, again, gap, |queued| &queued.mpdu, |request, lost| own(request, lost.since_ns));
    }
}

/// Whether the firmware chooses the rate.
fn is_chosen(queued: &Queued<TxDescriptor>) -> bool {
    !queued.descriptor.use_rate() && !queued.frame().is_group()
}

/// The rates of a frame: the descriptor's, or those of rate control; without any, 6 Mbit/s.
fn rates_of(control: &RateControl, queued: &Queued<TxDescriptor>, width: Bandwidth) -> Choice {
    let descriptor = &queued.descriptor;
    let given = Choice {
        rates: vec![descriptor.rate()],
        shape: Shape {
            bandwidth: bandwidth(descriptor.bandwidth()).min(width),
            short_gi: descriptor.short(),
            short_preamble: descriptor.short(),
        },
    };
    if !is_chosen(queued) {
        return given;
    }
    let lowest = Choice { rates: vec![OFDM_6], shape: Shape::default() };
    control.choose(descriptor.station(), width).unwrap_or(lowest)
}

/// The mode of this attempt: the n-th retry is as many rates lower as DARFRC says (as in the first generation), unless the
/// descriptor forbids it.
fn mode_of(memory: &Memory, queued: &Queued<TxDescriptor>, choice: &Choice) -> wire::phy::Mode {
    let counts: [u8; COUNTS] = memory.array(reg::DARFRC);
    let steps = match queued.attempts.checked_sub(1) {
        Some(retry) if !queued.descriptor.no_fallback() => {
            let count = counts.get(usize::from(retry)).or(counts.last());
            usize::from(count.copied().unwrap_or(0) & COUNT)
        }
        _ => 0,
    };
    let rate = choice.rates.get(steps).or(choice.rates.last()).copied().unwrap_or(OFDM_6);
    mode(rate, choice.shape).or_else(|| mode(OFDM_6, Shape::default())).unwrap_or_default()
}

/// RTS where the descriptor asks for it. When the MAC sends one by itself (PROT_MODE_CTRL) is in no source.
fn protection(first: &Queued<TxDescriptor>) -> Protection {
    let rate = mode(first.descriptor.rts_rate(), Shape::default()).filter(|_| first.descriptor.rts());
    rate.map_or(Protection::None, Protection::Rts)
}

crate::state!(Transmitter { queues, pages, on_air, rates, engines, sequence, waiting, without_rates, fates, counters });
