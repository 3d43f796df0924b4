//! From the air to descriptors: filters, decryption, interrupts that wait (Linux ath9k/mac.c, ath9k_hw_rxprocdesc; recv.c).

use wire::ieee80211::{FrameKind, FrameType, Header, Mpdu};

use super::descriptors::{RxDescriptor, RxStatus};
use super::interrupts::Interrupts;
use super::key_cache::{Decryption, KeyCache};
use super::memory::Registers;
use super::rates;
use super::registers as reg;
use super::statistics::RxCounters;
use crate::air::exchange::FCS_LEN;
use crate::air::Reception;
use crate::pci::FunctionMemory;

/// The noise that signals are over: the driver takes it for -95 dBm (ATH_DEFAULT_NOISE_FLOOR in 2.4 GHz, ath9k/calib.c).
const NOISE_DBM: i16 = -95;

/// Descriptors that a frame may need: an A-MSDU of 7,935 bytes in the driver's buffers of 2 KB.
const PARTS_MAX: usize = 8;

/// The receiver.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Receiver {
    enabled: bool,
    /// The descriptor that comes next; 0: none.
    next: u32,
    /// The last one, if nothing was behind it.
    held: Option<u32>,
    /// When the host is told of frames: after the first, and after the last.
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    counters: RxCounters,
}

/// What the receiver needs of the chip.
pub(super) struct Surroundings<'a> {
    pub(super) now_ns: u64,
    pub(super) tsf_us: u64,
    pub(super) memory: &'a FunctionMemory,
    pub(super) registers: &'a Registers,
    pub(super) keys: &'a mut KeyCache,
    pub(super) interrupts: &'a mut Interrupts,
}

/// Signal over the noise floor, dB, as the chip gives it.
pub(super) fn rssi(signal_dbm: i8) -> u8 {
    u8::try_from((i16::from(signal_dbm) - NOISE_DBM).clamp(0, 90)).unwrap_or(0)
}

impl Receiver {
    pub(super) const fn counters(&self) -> &RxCounters {
        &self.counters
    }

    /// The MAC was reset.
    pub(super) fn reset(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
    }

    pub(super) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// CR was written.
    pub(super) fn command(&mut self, memory: &FunctionMemory, bits: u32) {
        if bits & reg::CR_RXD != 0 {
            self.enabled = false;
        }
        if bits & reg::CR_RXE != 0 {
            self.enabled = true;
            self.look_behind(memory);
        }
    }

    pub(super) const fn pointer(&self) -> u32 {
        self.next
    }

    /// RXDP was written.
    pub(super) fn point(&mut self, descriptor: u32) {
        (self.next, self.held) = (descriptor, None);
    }

    /// The driver may have added descriptors to the last one.
    fn look_behind(&mut self, memory: &FunctionMemory) {
        if let Some(link) = self.held.map(|held| memory.word(held)).filter(|&link| link != 0) {
            (self.next, self.held) = (link, None);
        }
    }

    /// When the host is told of frames next.
    pub(super) fn next_event(&self) -> Option<u64> {
        [self.first_ns, self.last_ns].into_iter().flatten().min()
    }

    /// Tells the host what is due.
    pub(super) fn advance(&mut self, now_ns: u64, interrupts: &mut Interrupts) {
        if self.next_event().is_none_or(|at_ns| at_ns > now_ns) {
            return;
        }
        let by_first = self.first_ns.is_some_and(|at_ns| at_ns <= now_ns);
        interrupts.raise(if by_first { reg::ISR_RXMINTR } else { reg::ISR_RXINTM });
        (self.first_ns, self.last_ns) = (None, None);
    }

    /// A frame came off the air. Gives whether the MAC acknowledges it.
    pub(super) fn receive(&mut self, around: &mut Surroundings<'_>, frame: &[u8], reception: &Reception) -> bool {
        let (Ok(header), Some(receiver)) = (Header::parse(frame, false), Mpdu::new(frame).receiver()) else {
            return false;
        };
        let is_own = around.registers.is_own(receiver.0);
        self.counters.frames += 1;
        if !passes(around.registers, &Mpdu::new(frame), is_own) {
            self.counters.filtered += 1;
            return is_own;
        }
        self.look_behind(around.memory);
        if self.next == 0 || self.held.is_some() {
            self.counters.overruns += 1;
            around.interrupts.raise(reg::ISR_RXEOL | reg::ISR_RXORN);
            return false;
        }
        let mut bytes = frame.to_vec();
        let decryption = around.keys.decrypt(&mut bytes);
        self.counters.decrypted += u64::from(matches!(decryption, Decryption::Done(_)));
        self.counters.integrity_errors +=
            u64::from(matches!(decryption, Decryption::Failed | Decryption::MichaelFailed));
        // The body begins at a multiple of four bytes (common.c, ath9k_cmn_rx_skb_postprocess).
        if header.header_len % 4 != 0 && bytes.len() > header.header_len {
            bytes.splice(header.header_len..header.header_len, [0, 0]);
        }
        bytes.resize(bytes.len() + FCS_LEN, 0);
        let Some(parts) = parts(around.memory, self.next, bytes.len()) else {
            self.counters.too_long += 1;
            around.interrupts.raise(reg::ISR_RXEOL | reg::ISR_RXORN);
            return false;
        };
        let (code, wide, short_gi) = rates::code(&reception.mode).unwrap_or_default();
        let status = RxStatus {
            len: 0,
            more: false,
            code,
            wide,
            short_gi,
            rssi: rssi(reception.signal_dbm),
            tsf: around.tsf_us as u32,
            ampdu: reception.ampdu.map(|first| (first, reception.last)),
            key: if let Decryption::Done(key) = decryption { Some(key) } else { None },
            decryption_failed: decryption == Decryption::Failed,
            michael_failed: decryption == Decryption::MichaelFailed,
        };
        let mut rest = bytes.as_slice();
        for (at, descriptor) in parts {
            let (part, behind) = rest.split_at(rest.len().min(descriptor.len));
            around.memory.write(descriptor.buffer, part);
            RxStatus { len: part.len(), more: !behind.is_empty(), ..status }.write(around.memory, at);
            rest = behind;
            if descriptor.link == 0 {
                self.held = Some(at);
                around.interrupts.raise(reg::ISR_RXEOL);
            } else {
                self.next = descriptor.link;
            }
        }
        self.counters.delivered += 1;
        self.counters.bytes += frame.len() as u64;
        around.interrupts.raise(reg::ISR_RXOK);
        self.wait(around.now_ns, around.registers.word(reg::RIMT));
        is_own
    }

    /// The host is told so long after the first frame, and after the last (RIMT, µs).
    fn wait(&mut self, now_ns: u64, times: u32) {
        let after = |us: u32| now_ns + u64::from(us & 0xffff) * 1_000;
        self.first_ns.get_or_insert(after(times >> 16));
        self.last_ns = Some(after(times));
    }
}

/// The descriptors that a frame needs, with where they are; `None`: there are not enough behind each other.
fn parts(memory: &FunctionMemory, first: u32, len: usize) -> Option<Vec<(u32, RxDescriptor)>> {
    let (mut at, mut rest, mut found) = (first, len, Vec::new());
    while rest > 0 {
        if at == 0 || found.len() >= PARTS_MAX {
            return None;
        }
        let descriptor = RxDescriptor::read(memory, at);
        rest = rest.saturating_sub(descriptor.len);
        found.push((at, descriptor));
        at = descriptor.link;
    }
    Some(found)
}

/// The receive filter: each bit lets a kind of frame through.
fn passes(registers: &Registers, mpdu: &Mpdu<&[u8]>, is_own: bool) -> bool {
    let filter = registers.word(reg::RX_FILTER);
    let lets = |bits: u32| filter & bits != 0;
    match (mpdu.frame_type(), mpdu.kind()) {
        (_, Some(FrameKind::Beacon)) => {
            let bssid =
                mpdu.transmitter().map(|address| registers.address(reg::BSS_ID0).to_le_bytes()[..6] == address.0);
            lets(reg::FILTER_BEACON | reg::FILTER_PROMISCUOUS) || lets(reg::FILTER_MY_BEACON) && bssid == Some(true)
        }
        (_, Some(FrameKind::ProbeRequest)) => lets(reg::FILTER_PROBE_REQUEST | reg::FILTER_PROMISCUOUS),
        (_, Some(FrameKind::PsPoll)) => is_own && lets(reg::FILTER_PS_POLL | reg::FILTER_CONTROL),
        (_, Some(FrameKind::BlockAckReq)) => is_own && lets(reg::FILTER_BLOCK_ACK_REQUEST | reg::FILTER_CONTROL),
        (Some(FrameType::Control), _) => lets(reg::FILTER_CONTROL),
        _ if mpdu.is_group() => lets(reg::FILTER_GROUP | reg::FILTER_PROMISCUOUS),
        _ => is_own && lets(reg::FILTER_UNICAST) || lets(reg::FILTER_PROMISCUOUS),
    }
}
