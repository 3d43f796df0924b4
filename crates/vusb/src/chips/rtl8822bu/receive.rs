//! From the air to bulk IN: filters, decryption, the receive buffer, aggregation; reports of the firmware go the same way.

use std::collections::VecDeque;

use wire::fcs::fcs32;
use wire::ieee80211::{FrameKind, FrameType, MacAddr, Mpdu};
use wire::phy::Mode;
use wire::usb::rtw88::{emit_report, PhyStatus, RxDescriptor, ALIGNMENT, PHY_STATUS};

use super::assumptions::Assumptions;
use super::model::Model;
use super::radio;
use super::rates::{bandwidth_number, number};
use super::registers::{self as reg, rcr};
use super::statistics::RxCounters;
use crate::air::{width, Reception};
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::crypto::Engines;
use crate::chips::realtek::memory::Memory;
use crate::device::InReply;

/// Largest aggregate, whatever the threshold says: rtw88's buffers have 32 KiB, and refuse what fills them (usb.c,
/// rtw_usb_read_port_complete).
const AGGREGATE_MAX: usize = 30_000;
/// A signal-to-noise ratio of 30 dB: what a frame has that is reported at all (no effect on what the driver does).
const SNR_HALF_DB: u8 = 60;

/// The receiver.
pub struct Receiver {
    model: Model,
    /// What waits, behind its descriptor, and since when.
    buffer: VecDeque<(u64, Vec<u8>)>,
    /// Bytes in the buffer, descriptors included.
    used: usize,
    engines: Engines,
    counters: RxCounters,
}

impl Receiver {
    /// An empty one.
    pub fn new(model: Model) -> Self {
        let (buffer, engines, counters) = Default::default();
        Self { model, buffer, used: 0, engines, counters }
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
        let mpdu = Mpdu::new(frame);
        let (Some(receiver), Some((rate, bandwidth))) = (mpdu.receiver(), number(&reception.mode)) else {
            return false;
        };
        let is_own = receiver == MacAddr(memory.array(reg::MACID));
        if !passes(memory, &mpdu, receiver, is_own) {
            self.counters.filtered += 1;
            return is_own;
        }
        let filter = memory.u32(reg::RCR);
        let info_units = memory.u8(reg::RX_DRVINFO_SZ) & 0x0f;
        let mut descriptor = RxDescriptor {
            rate,
            bandwidth,
            tsf_us: tsf_us as u32,
            sequence_control: mpdu.sequence_control().unwrap_or(0),
            info_units,
            has_status: filter & rcr::APPEND_PHYSTAT != 0 && 8 * usize::from(info_units) >= PHY_STATUS,
            not_decrypted: true,
            ..RxDescriptor::default()
        };
        let mut bytes = frame.to_vec();
        self.decrypt(memory, cam, receiver.is_group(), &mut bytes, &mut descriptor);
        if filter & rcr::APPEND_FCS != 0 {
            bytes.extend(fcs32(frame).to_le_bytes());
        }
        descriptor.frame_len = bytes.len() as u16;
        let mut packet = Vec::with_capacity(descriptor.frame_offset() + bytes.len());
        descriptor.emit(&mut packet);
        let start = packet.len();
        packet.resize(descriptor.frame_offset(), 0);
        if let Some(status) = packet.get_mut(start..start + PHY_STATUS).filter(|_| descriptor.has_status) {
            status.copy_from_slice(&phy_status(self.model, memory, reception).emit());
        }
        packet.extend(bytes);
        let fits = self.keep(now_ns, memory, packet);
        self.counters.overflows += u64::from(!fits);
        fits && is_own
    }

    /// A report of the firmware goes into the buffer. Gives whether it had room.
    pub fn report(&mut self, now_ns: u64, memory: &Memory, id: u8, number: u8, payload: &[u8]) -> bool {
        let mut packet = Vec::new();
        emit_report(id, number, payload, &mut packet);
        self.keep(now_ns, memory, packet)
    }

    /// Puts something into the buffer, if it has room.
    fn keep(&mut self, now_ns: u64, memory: &Memory, packet: Vec<u8>) -> bool {
        let room = match memory.u32(reg::RXFF_BNDY) as usize {
            0 => self.model.receive_buffer(),
            boundary => boundary.saturating_add(1).min(self.model.receive_buffer()),
        };
        let size = packet.len().next_multiple_of(ALIGNMENT);
        let fits = self.used + size <= room;
        if fits {
            self.used += size;
            self.buffer.push_back((now_ns, packet));
        }
        fits
    }

    fn decrypt(&mut self, memory: &Memory, cam: &Cam, is_group: bool, frame: &mut [u8], descriptor: &mut RxDescriptor) {
        let decrypted = self.engines.decrypt_received(memory, cam, is_group, frame);
        let Some((cipher, outcome)) = decrypted else { return };
        descriptor.security = cipher;
        match outcome {
            Some(true) => {
                descriptor.not_decrypted = false;
                self.counters.decrypted += 1;
            }
            Some(false) => {
                descriptor.integrity_error = true;
                self.counters.integrity_errors += 1;
            }
            None => {}
        }
    }

    /// When an aggregate that is not full is sent all the same. In the past while the host asks for none.
    pub fn next_answer(&self, memory: &Memory, assumed: &Assumptions) -> Option<u64> {
        if !aggregates(memory) {
            return None;
        }
        self.buffer.front().map(|(at_ns, _)| at_ns + wait_ns(memory, assumed))
    }

    /// The host asks for data.
    pub fn transfer(&mut self, now_ns: u64, memory: &Memory, assumed: &Assumptions, out: &mut Vec<u8>) -> InReply {
        let packets = match self.ready_packets(now_ns, memory, assumed) {
            0 => return InReply::Nak,
            packets => packets,
        };
        self.take_packets(packets, out);
        InReply::Transfer
    }

    /// What the host can have in one transfer now: packets, and their bytes.
    pub fn ready(&self, now_ns: u64, memory: &Memory, assumed: &Assumptions) -> (usize, usize) {
        let packets = self.ready_packets(now_ns, memory, assumed);
        let ready = self.buffer.iter().take(packets);
        (packets, ready.fold(0, |len: usize, (_, packet)| len.next_multiple_of(ALIGNMENT) + packet.len()))
    }

    /// So many packets are moved in one transfer.
    pub fn take_packets(&mut self, packets: usize, out: &mut Vec<u8>) {
        self.counters.transfers += 1;
        for _ in 0..packets {
            let Some(packet) = self.take() else { break };
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            out.extend(packet);
        }
    }

    /// Whether something waits.
    pub fn has_packets(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// What the host gets into its next buffer, where each is of one frame or report.
    pub fn packet(&mut self) -> Option<Vec<u8>> {
        let packet = self.take()?;
        self.counters.transfers += 1;
        Some(packet)
    }

    /// What waits longest, behind its descriptor.
    fn take(&mut self) -> Option<Vec<u8>> {
        let (_, packet) = self.buffer.pop_front()?;
        self.used = self.used.saturating_sub(packet.len().next_multiple_of(ALIGNMENT));
        if let Some(descriptor) = RxDescriptor::parse(&packet).filter(|descriptor| !descriptor.is_report) {
            self.counters.delivered += 1;
            self.counters.bytes += u64::from(descriptor.frame_len);
        }
        Some(packet)
    }

    /// How many go into the next transfer; 0: none yet.
    fn ready_packets(&self, now_ns: u64, memory: &Memory, assumed: &Assumptions) -> usize {
        let Some((at_ns, _)) = self.buffer.front() else { return 0 };
        let threshold = usize::from(memory.u8(reg::RXDMA_AGG_PG_TH)) * assumed.rx_threshold_bytes as usize;
        if !aggregates(memory) || threshold == 0 {
            return 1;
        }
        let (mut packets, mut len) = (0, 0);
        for (_, packet) in &self.buffer {
            let longer = len + packet.len().next_multiple_of(ALIGNMENT);
            if packets > 0 && longer > AGGREGATE_MAX {
                return packets;
            }
            (packets, len) = (packets + 1, longer);
            if len >= threshold {
                return packets;
            }
        }
        if now_ns >= at_ns + wait_ns(memory, assumed) {
            packets
        } else {
            0
        }
    }
}

fn aggregates(memory: &Memory) -> bool {
    memory.u8(reg::TXDMA_PQ_MAP) & reg::RX_AGGREGATION != 0
}

fn wait_ns(memory: &Memory, assumed: &Assumptions) -> u64 {
    u64::from(memory.u8(reg::RXDMA_AGG_PG_TH + 1)) * u64::from(assumed.rx_timeout_us) * 1_000
}

/// Both antennas receive the same strength.
fn phy_status(model: Model, memory: &Memory, reception: &Reception) -> PhyStatus {
    let (receiver, frame) = (radio::width(memory), width(&reception.mode));
    // Parts of a channel: 1 is the first of 20 MHz, 9 the first of 40 MHz; which one it is does not matter to the driver.
    let part = match bandwidth_number(frame) {
        _ if frame == receiver => 0,
        0 => 1,
        _ => 9,
    };
    PhyStatus {
        dsss: matches!(reception.mode, Mode::Dsss { .. }),
        signal_dbm: [reception.signal_dbm; 2],
        receiver_bandwidth: bandwidth_number(receiver),
        part,
        snr_half_db: SNR_HALF_DB,
        gain: model.gain(reception.signal_dbm),
    }
}

/// The receive filter: RCR by address and network, RXFLTMAP by type and subtype (rtw88 reg.h).
fn passes(memory: &Memory, mpdu: &Mpdu<&[u8]>, receiver: MacAddr, is_own: bool) -> bool {
    let filter = memory.u32(reg::RCR);
    let has = |bit: u32| filter & bit != 0;
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
    let map = match fc.frame_type() {
        FrameType::Management => reg::RXFLTMAP0,
        FrameType::Control => reg::RXFLTMAP1,
        FrameType::Data | FrameType::Extension => reg::RXFLTMAP2,
    };
    if memory.u16(map) >> fc.subtype() & 1 == 0 {
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
