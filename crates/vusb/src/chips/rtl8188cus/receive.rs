//! From the air to bulk IN: filters, decryption, the receive buffer, aggregation.

use std::collections::VecDeque;

use wire::fcs::fcs32;
use wire::ieee80211::{FrameKind, FrameType, MacAddr, Mpdu};

use super::model::Model;
use super::registers::{self as reg, rcr};
use super::reports::Report;
use super::rx_descriptor::{emit, emit_report, Received};
use super::statistics::RxCounters;
use crate::air::Reception;
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::crypto::Engines;
use crate::chips::realtek::memory::Memory;
use crate::device::InReply;

/// Bytes of descriptor before each frame.
const DESCRIPTOR: usize = wire::usb::realtek::RX_DESCRIPTOR;
/// Where the next frame of an aggregate starts.
const ALIGNMENT: usize = wire::usb::realtek::RX_ALIGNMENT;
/// Bytes of the receive buffer where the driver has not said (rtl8xxxu trxff_boundary 0x27ff).
const BUFFER_DEFAULT: usize = 0x2800;
/// Largest aggregate (rtl8xxxu rx_agg_buf_size 16000), whatever the threshold says.
const AGGREGATE_MAX: usize = 16_000;
/// Most frames of an aggregate: the count is one byte, and the vendor's USB aggregation stops at 8 blocks of 512 bytes
/// or 48 pages (comment in rtl8xxxu_gen1_init_aggregation).
const AGGREGATE_FRAMES: usize = 255;
/// Longest wait for an aggregate to fill: 34 ms / 2^n (the same comment).
const AGGREGATE_WAIT_NS: u64 = 34_000_000;

/// What the buffer has for the host.
#[derive(serde::Serialize, serde::Deserialize)]
enum What {
    Frame(Received),
    /// A transmit report, and its valid stations.
    Report(u64),
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Waiting {
    what: What,
    bytes: Vec<u8>,
    at_ns: u64,
}

impl Waiting {
    /// Bytes in the buffer.
    fn len(&self, memory: &Memory) -> usize {
        match self.what {
            What::Frame(_) => entry_len(memory, self.bytes.len()),
            What::Report(_) => report_len(self.bytes.len()),
        }
    }
}

/// The receiver.
pub struct Receiver {
    model: Model,
    buffer: VecDeque<Waiting>,
    /// Bytes in the buffer, descriptors included.
    used: usize,
    engines: Engines,
    counters: RxCounters,
}

impl Receiver {
    /// An empty one.
    pub fn new(model: Model) -> Self {
        let counters = RxCounters::default();
        Self { model, buffer: VecDeque::new(), used: 0, engines: Engines::default(), counters }
    }

    /// What it has done.
    pub const fn counters(&self) -> &RxCounters {
        &self.counters
    }

    /// Forgets what it has.
    pub fn clear(&mut self) {
        *self = Self { counters: self.counters, ..Self::new(self.model) };
    }

    /// A frame came off the air, when the TSF was at `tsf_us`. Gives whether the MAC acknowledges it.
    pub fn receive(
        &mut self,
        (now_ns, tsf_us): (u64, u64),
        memory: &Memory,
        cam: &Cam,
        frame: &[u8],
        reception: &Reception,
    ) -> bool {
        self.counters.frames += 1;
        let Some(receiver) = Mpdu::new(frame).receiver() else { return false };
        let own = MacAddr(memory.array(reg::MACID));
        let is_own = receiver == own;
        if !passes(memory, frame, receiver, is_own) {
            self.counters.filtered += 1;
            return is_own;
        }
        let filter = memory.u32(reg::RCR);
        let mut bytes = frame.to_vec();
        let mut received = describe(tsf_us, frame, receiver, reception);
        self.decrypt(memory, cam, &mut bytes, &mut received);
        if filter & rcr::APPEND_FCS != 0 {
            bytes.extend(fcs32(frame).to_le_bytes());
        }
        let fits = self.keep(memory, Waiting { what: What::Frame(received), bytes, at_ns: now_ns });
        self.counters.overflows += u64::from(!fits);
        fits && is_own
    }

    /// A transmit report goes into the buffer. Gives whether it had room.
    pub(super) fn report(&mut self, now_ns: u64, memory: &Memory, report: &Report) -> bool {
        let (what, bytes) = (What::Report(report.valid), report.bytes.clone());
        self.keep(memory, Waiting { what, bytes, at_ns: now_ns })
    }

    /// Puts something into the buffer, if it has room.
    fn keep(&mut self, memory: &Memory, waiting: Waiting) -> bool {
        let room = match memory.u16(reg::TRXFF_BNDY + 2) {
            0 => BUFFER_DEFAULT,
            boundary => usize::from(boundary) + 1,
        };
        let size = waiting.len(memory);
        let fits = self.used + size <= room;
        if fits {
            self.used += size;
            self.buffer.push_back(waiting);
        }
        fits
    }

    fn decrypt(&mut self, memory: &Memory, cam: &Cam, frame: &mut [u8], received: &mut Received) {
        let is_group = received.multicast || received.broadcast;
        let decrypted = self.engines.decrypt_received(memory, cam, is_group, frame);
        let Some((cipher, outcome)) = decrypted else { return };
        received.security = cipher;
        match outcome {
            Some(true) => {
                received.decrypted = true;
                self.counters.decrypted += 1;
            }
            Some(false) => {
                received.integrity_error = true;
                self.counters.integrity_errors += 1;
            }
            None => {}
        }
    }

    /// When an aggregate that is not full is sent all the same. In the past while the host asks for none.
    pub fn next_answer(&self, memory: &Memory) -> Option<u64> {
        if memory.u8(reg::TRXDMA_CTRL) & reg::RX_AGGREGATION == 0 {
            return None;
        }
        self.buffer.front().map(|waiting| waiting.at_ns + wait_ns(memory))
    }

    /// The host asks for data.
    pub fn transfer(&mut self, now_ns: u64, memory: &Memory, out: &mut Vec<u8>) -> InReply {
        let packets = match self.ready_packets(now_ns, memory) {
            0 => return InReply::Nak,
            packets => packets,
        };
        let status = memory.u32(reg::RCR) & rcr::APPEND_PHYSTAT != 0;
        let units = memory.u8(reg::RX_DRVINFO_SZ);
        self.counters.transfers += 1;
        for at in 0..packets {
            let Some(waiting) = self.buffer.pop_front() else { break };
            self.used = self.used.saturating_sub(waiting.len(memory));
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            let count = if at == 0 { packets as u8 } else { 0 };
            match &waiting.what {
                What::Frame(received) => {
                    emit(self.model, received, &waiting.bytes, count, units, status, out);
                    self.counters.delivered += 1;
                    self.counters.bytes += waiting.bytes.len() as u64;
                }
                What::Report(valid) => emit_report(*valid, &waiting.bytes, count, out),
            }
        }
        InReply::Transfer
    }

    /// How many frames go into the next transfer; 0: none yet.
    fn ready_packets(&self, now_ns: u64, memory: &Memory) -> usize {
        let Some(first) = self.buffer.front() else { return 0 };
        if memory.u8(reg::TRXDMA_CTRL) & reg::RX_AGGREGATION == 0 {
            return 1;
        }
        let threshold = match usize::from(memory.u8(reg::RXDMA_AGG_PG_TH)) * ALIGNMENT {
            0 => AGGREGATE_MAX,
            threshold => threshold.min(AGGREGATE_MAX),
        };
        let (mut packets, mut len) = (0, 0);
        for waiting in &self.buffer {
            let longer = len + waiting.len(memory).next_multiple_of(ALIGNMENT);
            if packets > 0 && longer > AGGREGATE_MAX || packets >= AGGREGATE_FRAMES {
                return packets;
            }
            (packets, len) = (packets + 1, longer);
            if len >= threshold {
                return packets;
            }
        }
        if now_ns >= first.at_ns + wait_ns(memory) {
            packets
        } else {
            0
        }
    }
}

fn wait_ns(memory: &Memory) -> u64 {
    AGGREGATE_WAIT_NS >> (memory.u8(reg::RXDMA_AGG_PG_TH + 1) & 0x0f)
}

fn entry_len(memory: &Memory, frame: usize) -> usize {
    (DESCRIPTOR + 8 * usize::from(memory.u8(reg::RX_DRVINFO_SZ) & 0x0f) + frame).next_multiple_of(8)
}

/// A report has no driver information (8188e.c, rtl8188e_handle_ra_tx_report2, reads it right behind the descriptor).
fn report_len(report: usize) -> usize {
    (DESCRIPTOR + report).next_multiple_of(8)
}

fn describe(tsf_us: u64, frame: &[u8], receiver: MacAddr, reception: &Reception) -> Received {
    let mpdu = Mpdu::new(frame);
    Received {
        mode: reception.mode,
        signal_dbm: reception.signal_dbm,
        security: 0,
        decrypted: false,
        integrity_error: false,
        ampdu: reception.ampdu,
        tsf_us: tsf_us as u32,
        tid: mpdu.tid(),
        sequence_control: mpdu.sequence_control().unwrap_or(0),
        multicast: receiver.is_group(),
        broadcast: receiver == MacAddr::BROADCAST,
    }
}

/// The receive filter: RCR by address and network, RXFLTMAP by type and subtype (rtl8xxxu regs.h).
fn passes(memory: &Memory, frame: &[u8], receiver: MacAddr, is_own: bool) -> bool {
    let filter = memory.u32(reg::RCR);
    let has = |bit: u32| filter & bit != 0;
    let mpdu = Mpdu::new(frame);
    let Some(fc) = mpdu.frame_control() else { return false };
    let by_address = if receiver == MacAddr::BROADCAST {
        has(rcr::ACCEPT_BROADCAST)
    } else if receiver.is_group() {
        has(rcr::ACCEPT_MULTICAST)
    } else {
        is_own && has(rcr::ACCEPT_MATCH)
    };
    if !by_address && !has(rcr::ACCEPT_ALL) {
        return false;
    }
    let (map, all) = match fc.frame_type() {
        FrameType::Management => (reg::RXFLTMAP0, rcr::ACCEPT_MANAGEMENT),
        FrameType::Control => (reg::RXFLTMAP1, rcr::ACCEPT_CONTROL),
        FrameType::Data | FrameType::Extension => (reg::RXFLTMAP2, rcr::ACCEPT_DATA),
    };
    if !has(all) && memory.u16(map) >> fc.subtype() & 1 == 0 {
        return false;
    }
    let network = MacAddr(memory.array(reg::BSSID));
    match fc.kind() {
        FrameKind::Beacon | FrameKind::ProbeResponse if has(rcr::CHECK_BSSID_BEACON) => {
            mpdu.address_3() == Some(network)
        }
        // From the access point: address 2 is the network's.
        FrameKind::Data { .. } if has(rcr::CHECK_BSSID_DATA) => mpdu.transmitter() == Some(network),
        _ => true,
    }
}

crate::state!(Receiver { buffer, used, engines, counters } made { model });
