//! The queues of the transmitter: one for management frames and those to groups, and four with contention parameters of their own.
//! Registers as rtl8xxxu's regs.h and rtw88's reg.h name them.

use std::collections::VecDeque;

use wire::ieee80211::{MacAddr, Mpdu, Seq};
use wire::phy::{AccessCategory, EdcaParameters};
use wire::usb::rtw88::queue as number;

use super::memory::Memory;

/// Retry limits: long in bits 5:0, short in 13:8.
pub const RETRY_LIMIT: u16 = 0x042a;
/// EDCA parameters: AIFS in us, ECWmin, ECWmax, TXOP limit in 32 us. VO, VI, BE, BK.
const EDCA_VO_PARAM: u16 = 0x0500;
/// See [`EDCA_VO_PARAM`].
const EDCA_VI_PARAM: u16 = 0x0504;
/// See [`EDCA_VO_PARAM`].
const EDCA_BE_PARAM: u16 = 0x0508;
/// See [`EDCA_VO_PARAM`].
const EDCA_BK_PARAM: u16 = 0x050c;
/// Slot time in us.
const SLOT: u16 = 0x051b;
/// Which queues are paused, one bit each, from background (0) to management (4), high (5) and beacons (6).
pub const TXPAUSE: u16 = 0x0522;

/// Queues in the order in which they are served: management and high, then voice, video, best effort, background.
const QUEUES: usize = 5;
/// Frames of the firmware's own that wait at most: they take no pages, and the host makes them come.
const OWN_MAX: usize = 8;
/// Retries where the register does not say: 7 (dot11ShortRetryLimit's default).
const RETRIES_DEFAULT: u8 = 7;

/// What a driver asks for one frame, as far as queues look at it.
pub trait Descriptor {
    /// Number of its queue.
    fn queue(&self) -> u8;
}

/// A frame that waits.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Queued<D> {
    /// What the driver asks for it.
    pub descriptor: D,
    /// The frame.
    pub mpdu: Vec<u8>,
    /// Its place in the packet buffer, where it is divided.
    pub place: usize,
    /// Pages there.
    pub pages: usize,
    /// Times that it was sent.
    pub attempts: u8,
    /// Times that an RTS before it was not answered.
    pub rts_attempts: u8,
    /// When it came.
    pub since_ns: u64,
}

impl<D> Queued<D> {
    /// One that was not sent yet.
    pub const fn new(descriptor: D, mpdu: Vec<u8>, (place, pages): (usize, usize), since_ns: u64) -> Self {
        Self { descriptor, mpdu, place, pages, attempts: 0, rts_attempts: 0, since_ns }
    }

    /// One of the firmware's own: it takes no pages.
    pub const fn own(descriptor: D, mpdu: Vec<u8>, since_ns: u64) -> Self {
        Self::new(descriptor, mpdu, (0, 0), since_ns)
    }

    /// The frame.
    pub fn frame(&self) -> Mpdu<&[u8]> {
        Mpdu::new(&self.mpdu)
    }

    /// Whether it is of the firmware's own.
    pub const fn is_own(&self) -> bool {
        self.pages == 0
    }

    /// Sequence number.
    pub fn sequence(&self) -> Seq {
        self.frame().sequence().unwrap_or_default()
    }

    /// QoS data: the TID.
    pub fn tid(&self) -> Option<u8> {
        self.frame().tid()
    }

    /// Address 1.
    pub fn receiver(&self) -> Option<MacAddr> {
        self.frame().receiver()
    }
}

/// All queues.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(bound(serialize = "D: serde::Serialize", deserialize = "D: serde::Deserialize<'de>"))]
pub struct Queues<D>([VecDeque<Queued<D>>; QUEUES]);

impl<D> Default for Queues<D> {
    fn default() -> Self {
        Self(Default::default())
    }
}

fn queue_of(queue: u8) -> usize {
    match queue {
        number::HIGH | number::MANAGEMENT => 0,
        tid => match AccessCategory::of_tid(tid) {
            Some(AccessCategory::Voice) => 1,
            Some(AccessCategory::Video) => 2,
            Some(AccessCategory::Background) => 4,
            _ => 3,
        },
    }
}

/// The bit of TXPAUSE for a queue (rtlwifi rtl8192ce/reg.h, STOPHIGHT, STOPMGT to STOPBK). rtw88 names that of the high queue
/// (reg.h, BIT_HIGH_QUEUE), and uses none of them while it sends.
fn pause_bit(at: usize, descriptor: &impl Descriptor) -> u8 {
    match at {
        0 if descriptor.queue() == number::HIGH => 5,
        0 => 4,
        1 => 3,
        2 => 2,
        3 => 1,
        _ => 0,
    }
}

impl<D: Descriptor> Queues<D> {
    /// Whether nothing waits.
    pub fn are_empty(&self) -> bool {
        self.0.iter().all(VecDeque::is_empty)
    }

    /// A queue by its place.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut VecDeque<Queued<D>>> {
        self.0.get_mut(at)
    }

    /// Puts a frame behind those of its queue.
    pub fn push(&mut self, queued: Queued<D>) {
        if let Some(queue) = self.0.get_mut(queue_of(queued.descriptor.queue())) {
            queue.push_back(queued);
        }
    }

    /// Queues a frame of the firmware's own, before all others.
    pub fn send(&mut self, queued: Queued<D>) {
        let Some(queue) = self.0.first_mut() else { return };
        if queue.iter().filter(|other| other.is_own()).count() >= OWN_MAX {
            // The newest of a kind says what holds now.
            let same = |other: &Queued<D>| other.is_own() && other.frame().kind() == queued.frame().kind();
            let at = queue.iter().position(same).or_else(|| queue.iter().position(Queued::is_own));
            at.and_then(|at| queue.remove(at));
        }
        queue.push_back(queued);
    }

    /// The queue that is served next; `None`: all are empty or stopped.
    pub fn next(&self, memory: &Memory) -> Option<usize> {
        let paused = memory.u8(TXPAUSE);
        let sends = |(at, queue): (usize, &VecDeque<Queued<D>>)| {
            queue.front().is_some_and(|first| paused >> pause_bit(at, &first.descriptor) & 1 == 0)
        };
        self.0.iter().enumerate().position(sends)
    }

    /// Since when there is something to send.
    pub fn ready_since(&self, memory: &Memory) -> Option<u64> {
        self.0.get(self.next(memory)?)?.front().map(|queued| queued.since_ns)
    }

    /// The queue of what comes next: each contends with a backoff of its own.
    pub fn access_function(&self, memory: &Memory) -> usize {
        self.next(memory).unwrap_or(0)
    }

    /// Contention parameters of what comes next: its EDCA register has AIFS in us, exponents of CWmin and CWmax, and the TXOP limit;
    /// zero: not set. The management and high queues have no register; which parameters the chip gives them is not known, and those
    /// of AC_VO are taken. (It matters: rtl8192cu writes the low four bits of CWmin itself, 15, where its own initialisation and
    /// rtl8xxxu write exponents.) `sifs_us`: what drivers add to AIFSN slots.
    pub fn access(&self, memory: &Memory, sifs_us: u8) -> EdcaParameters {
        let (address, category) = match self.next(memory).unwrap_or(3) {
            0 => return EdcaParameters::default_for(AccessCategory::Voice),
            1 => (EDCA_VO_PARAM, AccessCategory::Voice),
            2 => (EDCA_VI_PARAM, AccessCategory::Video),
            3 => (EDCA_BE_PARAM, AccessCategory::BestEffort),
            _ => (EDCA_BK_PARAM, AccessCategory::Background),
        };
        let value = memory.u32(address);
        if value == 0 {
            return EdcaParameters::default_for(category);
        }
        let slot_us = match memory.u8(SLOT) {
            0 => 9,
            slot => slot,
        };
        let aifsn = ((value & 0xff) as u8).saturating_sub(sifs_us) / slot_us;
        EdcaParameters {
            aifsn: aifsn.clamp(1, 15),
            ecw_min: (value >> 8 & 0x0f) as u8,
            ecw_max: (value >> 12 & 0x0f) as u8,
            txop_limit_32us: (value >> 16) as u16,
        }
    }
}

/// Retries of frames that are sent without RTS, and failures after which the contention window starts again
/// (dot11ShortRetryLimit).
pub fn short_retry_limit(memory: &Memory) -> u8 {
    limit(memory.u8(RETRY_LIMIT + 1))
}

/// Retries of a frame: the long limit behind RTS, else the short one (IEEE 802.11-2020, 10.23.2.12).
pub fn retry_limit(memory: &Memory, behind_rts: bool) -> u8 {
    if behind_rts {
        limit(memory.u8(RETRY_LIMIT))
    } else {
        short_retry_limit(memory)
    }
}

fn limit(register: u8) -> u8 {
    match register & 0x3f {
        0 => RETRIES_DEFAULT,
        limit => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Of(u8);

    impl Descriptor for Of {
        fn queue(&self) -> u8 {
            self.0
        }
    }

    fn holding(queue: u8) -> Queues<Of> {
        let mut queues = Queues::default();
        queues.push(Queued::new(Of(queue), vec![0x88, 0x01], (0, 1), 5));
        queues
    }

    #[test]
    fn contention_parameters_are_those_of_the_queue() {
        let mut memory = Memory::default();
        // AIFS 28 us, CWmin 2^3 - 1, CWmax 2^5 - 1, TXOP 94 * 32 us
        memory.set_u32(EDCA_VI_PARAM, 28 | 3 << 8 | 5 << 12 | 94 << 16);
        let video = holding(5);
        for (sifs_us, slot_us, aifsn) in [(10, 0, 2), (10, 9, 2), (16, 9, 1), (10, 20, 1), (10, 1, 15)] {
            memory.set_u8(SLOT, slot_us);
            let expected = EdcaParameters { aifsn, ecw_min: 3, ecw_max: 5, txop_limit_32us: 94 };
            assert_eq!(video.access(&memory, sifs_us), expected, "SIFS {sifs_us}, slot {slot_us}");
        }
        let unset = [
            (0, AccessCategory::BestEffort),
            (1, AccessCategory::Background),
            (6, AccessCategory::Voice),
            (number::MANAGEMENT, AccessCategory::Voice),
        ];
        for (queue, category) in unset {
            assert_eq!(holding(queue).access(&memory, 10), EdcaParameters::default_for(category), "queue {queue}");
        }
    }

    #[test]
    fn each_queue_has_a_bit_that_stops_it() {
        let mut memory = Memory::default();
        let bits = [(1, 0), (0, 1), (5, 2), (6, 3), (number::MANAGEMENT, 4), (number::HIGH, 5)];
        for (queue, bit) in bits {
            memory.set_u8(TXPAUSE, 1 << bit);
            assert_eq!(holding(queue).ready_since(&memory), None, "queue {queue}");
            memory.set_u8(TXPAUSE, !(1 << bit));
            assert_eq!(holding(queue).ready_since(&memory), Some(5), "queue {queue}");
        }
    }
}
