//! A frame or an A-MPDU as descriptors have it, and what is tried with it.

use wire::ieee80211::Header;

use super::descriptors::{Kind, Protection as Before, Series, TxDescriptor, SERIES};
use super::interrupts::Interrupts;
use super::key_cache::KeyCache;
use super::memory::Registers;
use super::rates;
use super::registers as reg;
use super::statistics::TxCounters;
use super::timers::Timers;
use crate::air::exchange::FCS_LEN;
use crate::air::{response_to, Ppdu, Response};
use crate::pci::FunctionMemory;

/// MPDUs of an A-MPDU, and descriptors of a frame, at most.
const MPDUS_MAX: usize = 64;
const PARTS_MAX: usize = 16;
/// Where the time stamp of a beacon or a probe response is (IEEE 802.11-2020, 9.3.3.2).
pub(super) const TIMESTAMP: std::ops::Range<usize> = 24..32;

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
    pub(super) first: TxDescriptor,
    /// The last of its descriptors, which gets the status, and the one behind it.
    pub(super) last: u32,
    pub(super) link: u32,
    pub(super) mpdus: Vec<Vec<u8>>,
    /// Bytes that were read of them.
    pub(super) bytes: u64,
    pub(super) aggregated: bool,
    /// The series that is tried, how often it was, and how often RTS got no answer.
    pub(super) series: usize,
    pub(super) tries: u8,
    pub(super) rts_failures: u8,
}

/// Reads a frame, or an A-MPDU; `None`: there is none that could be sent.
pub(super) fn fetch(around: &mut Surroundings<'_>, descriptor: u32, counters: &mut TxCounters) -> Option<Fetched> {
    let first = TxDescriptor::read(around.memory, descriptor);
    let mut fetched = Fetched {
        first,
        last: descriptor,
        link: descriptor,
        mpdus: Vec::new(),
        bytes: 0,
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
        self.bytes += bytes.len() as u64;
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
    pub(super) fn has_tries_left(&mut self) -> bool {
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
    pub(super) fn ppdu(&mut self, around: &Surroundings<'_>) -> Option<Ppdu> {
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
        Some(Ppdu { mode, mpdus, aggregated: self.aggregated && mode.can_aggregate(), protection, response })
    }
}

fn set_timestamp(mpdu: &mut [u8], tsf_us: u64, adds: bool) {
    if let Some(field) = mpdu.get_mut(TIMESTAMP).and_then(|field| field.first_chunk_mut::<8>()) {
        let kept = if adds { u64::from_le_bytes(*field) } else { 0 };
        *field = tsf_us.wrapping_add(kept).to_le_bytes();
    }
}
