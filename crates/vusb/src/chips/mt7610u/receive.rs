//! From the air to bulk IN: filters, decryption, the receive buffer.

use std::collections::VecDeque;

use wire::ieee80211::{FrameKind, Header, MacAddr, Mpdu};
use wire::usb::mediatek::{emit_received, Rate, Rxwi};

use super::assumptions::Assumptions;
use super::memory::Memory;
use super::model::Model;
use super::registers as reg;
use super::stations::{self, Stations};
use super::statistics::RxCounters;
use crate::air::Reception;

/// Further networks with an address that the chip answers for (Linux mt76x02_regs.h, MT_MAC_APC_BSSID_BASE).
const NETWORKS: u32 = 8;

/// The receiver.
#[derive(Default)]
pub(super) struct Receiver {
    model: Model,
    buffer: VecDeque<Vec<u8>>,
    counters: RxCounters,
}

impl Receiver {
    pub(super) fn new(model: Model) -> Self {
        Self { model, ..Self::default() }
    }

    pub(super) const fn counters(&self) -> &RxCounters {
        &self.counters
    }

    /// Forgets what it has.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
    }

    /// What goes to the host next: a frame, or what has come meanwhile, up to a limit.
    pub(super) fn take(&mut self, memory: &Memory) -> Option<Vec<u8>> {
        let mut transfer = self.buffer.pop_front()?;
        self.counters.delivered += 1;
        let most = aggregation_bytes(memory);
        while self.buffer.front().is_some_and(|next| transfer.len() + next.len() <= most) {
            transfer.extend(self.buffer.pop_front().unwrap_or_default());
            self.counters.delivered += 1;
        }
        self.counters.bytes += transfer.len() as u64;
        Some(transfer)
    }

    /// A frame came off the air. Gives whether the MAC acknowledges it.
    pub(super) fn receive(
        &mut self,
        memory: &Memory,
        keys: &mut Stations,
        frame: &[u8],
        reception: &Reception,
        assumptions: &Assumptions,
    ) -> bool {
        self.counters.frames += 1;
        let mpdu = Mpdu::new(frame);
        let (Some(receiver), Ok(header)) = (mpdu.receiver(), Header::parse(frame, false)) else { return false };
        let is_own = is_own(memory, receiver);
        if !passes(memory, &mpdu, receiver, is_own) {
            self.counters.filtered += 1;
            return is_own;
        }
        if self.buffer.len() >= assumptions.rx_frames.into() {
            self.counters.overflows += 1;
            return false;
        }
        let wcid = mpdu.transmitter().map_or(stations::NO_STATION, |from| stations::find(memory, from));
        let (tid, is_data) = (mpdu.tid(), mpdu.is_data());
        let sequence = mpdu.sequence().unwrap_or_default().value();
        let mut bytes = frame.to_vec();
        let decryption = match (is_own, receiver.is_group() && wcid != stations::NO_STATION) {
            (true, _) => keys.decrypt(memory, wcid, &mut bytes),
            (false, true) => keys.decrypt_group(memory, &mut bytes),
            (false, false) => None,
        };
        let decrypted = decryption == Some(true);
        self.counters.decrypted += u64::from(decrypted);
        self.counters.integrity_errors += u64::from(decryption == Some(false));
        let rxwi = Rxwi {
            block_ack: tid.is_some_and(|tid| is_own && stations::has_agreed(memory, wcid, tid)),
            data: is_data,
            unicast: !receiver.is_group(),
            multicast: receiver.is_group() && receiver != MacAddr::BROADCAST,
            broadcast: receiver == MacAddr::BROADCAST,
            own_network: is_own,
            padded: header.header_len % 4 != 0,
            ampdu: reception.ampdu.is_some(),
            decrypted,
            wcid,
            frame_len: bytes.len(),
            tid_sequence: sequence << 4 | u16::from(tid.unwrap_or(0)),
            rate: Rate::of(&reception.mode).unwrap_or_default(),
            signal_dbm: reception.signal_dbm,
        };
        let mut transfer = Vec::new();
        emit_received(&self.model.emit_rxwi(&rxwi), &bytes, header.header_len, &mut transfer);
        self.buffer.push_back(transfer);
        is_own
    }
}

/// Bytes of several frames in a transfer; 0: each has its own.
fn aggregation_bytes(memory: &Memory) -> usize {
    let value = memory.word(reg::USB_DMA_CFG);
    if value & reg::RX_AGGREGATION == 0 {
        return 0;
    }
    (value >> 8 & 0xff) as usize * 1_024
}

/// Whether an address is the chip's own, or that of one of its further networks.
fn is_own(memory: &Memory, address: MacAddr) -> bool {
    let at = |register| MacAddr(memory.array(register));
    let mut networks = (0..NETWORKS).map(|number| at(reg::APC_BSSID + 8 * number));
    address == at(reg::MAC_ADDR) || address != MacAddr::default() && networks.any(|network| network == address)
}

/// The receive filter: each bit keeps a kind of frame back.
fn passes(memory: &Memory, mpdu: &Mpdu<&[u8]>, receiver: MacAddr, is_own: bool) -> bool {
    let filter = memory.word(reg::RX_FILTER);
    let kept_back = match mpdu.kind() {
        Some(FrameKind::PsPoll) => reg::DROP_PS_POLL,
        Some(FrameKind::BlockAckReq) => reg::DROP_BLOCK_ACK_REQUEST,
        _ if receiver == MacAddr::BROADCAST => reg::DROP_BROADCAST,
        _ if receiver.is_group() => reg::DROP_MULTICAST,
        _ if is_own => 0,
        _ => reg::DROP_OTHERS,
    };
    let of_others = !is_own && !receiver.is_group() && filter & reg::DROP_OTHERS != 0;
    filter & kept_back == 0 && !of_others
}

crate::state!(Receiver { buffer, counters } made { model });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::Tuned;
    use wire::phy::Mode;
    use wire::usb::mediatek::{unpadded, INFO};

    const OWN: [u8; 6] = [2, 0, 0, 0x76, 0x10, 1];

    fn received(filter: u32, kind: u8, to: [u8; 6]) -> (bool, Option<Vec<u8>>) {
        let mut memory = Memory::new(0x1_0000);
        memory.set(reg::MAC_ADDR, u32::from_le_bytes([2, 0, 0, 0x76]));
        memory.set(reg::MAC_ADDR + 4, 0x00ff_0110);
        memory.set(reg::RX_FILTER, filter);
        memory.set(reg::WCID_ADDR + 8, u32::from_le_bytes([4; 4]));
        memory.set(reg::WCID_ADDR + 12, 1 << 16 | 0x0404);
        let mut frame = vec![kind, 1, 0, 0];
        frame.extend(to);
        frame.extend([4; 12]);
        frame.extend([0x50, 0x01, 0, 0, 1, 2, 3]);
        let mode = Rate(0x4005).mode().unwrap();
        let reception =
            Reception { mode, ampdu: Some(true), last: true, tuned: Tuned::channel(6).unwrap(), signal_dbm: -61 };
        let mut receiver = Receiver::default();
        let answers = receiver.receive(&memory, &mut Stations::default(), &frame, &reception, &Assumptions::default());
        (answers, receiver.take(&memory))
    }

    #[test]
    fn a_frame_of_a_station_comes_with_what_the_driver_asks_about() {
        let (answers, transfer) = received(0x0001_7f97, 0x88, OWN);
        let transfer = transfer.unwrap();
        let (rxwi, rest) = Rxwi::split(&transfer[INFO..]).unwrap();
        assert_eq!((answers, rxwi.wcid, rxwi.frame_len, rxwi.tid_sequence), (true, 1, 29, 0x0150));
        assert!(rxwi.block_ack && rxwi.unicast && rxwi.padded && rxwi.data && rxwi.ampdu && !rxwi.decrypted);
        assert_eq!((rxwi.signal_dbm, rxwi.rate.mode().and_then(|mode: Mode| mode.rate_kbps())), (-61, Some(52_000)));
        assert_eq!(unpadded(rest, 29, 26).unwrap()[26..], [1, 2, 3]);
    }

    #[test]
    fn what_waits_goes_together_where_the_driver_says_so() {
        let mut memory = Memory::new(0x1_0000);
        let mut frame = vec![0x80, 0, 0, 0];
        frame.extend([0xff; 6]);
        frame.resize(1_000, 4);
        let mode = Rate(0x2000).mode().unwrap();
        let reception = Reception { mode, ampdu: None, last: true, tuned: Tuned::channel(6).unwrap(), signal_dbm: -45 };
        for (setting, expected) in [(0x00c0_0100, vec![1, 1, 1]), (0x00e0_0300, vec![2, 1]), (0x00e0_1c80, vec![3])] {
            memory.set(reg::USB_DMA_CFG, setting);
            let mut receiver = Receiver::new(Model::Mt7601u);
            for _ in 0..3 {
                receiver.receive(&memory, &mut Stations::default(), &frame, &reception, &Assumptions::default());
            }
            // Length, descriptor, frame, four bytes.
            let transfers = std::iter::from_fn(|| receiver.take(&memory)).map(|it| it.len() / (4 + 28 + 1_000 + 4));
            assert_eq!(transfers.collect::<Vec<_>>(), expected, "{setting:#x}");
            assert_eq!(receiver.counters().delivered, 3);
        }
    }

    #[test]
    fn filters_keep_back_what_their_bits_say() {
        for (filter, kind, to, expected) in [
            (0x0001_7f97, 0x88, [8; 6], (false, false)),
            (0, 0x88, [8; 6], (false, true)),
            (0x0001_7f97, 0xa4, OWN, (true, false)),
            (0x0001_5f97, 0xa4, OWN, (true, true)),
            (0x0001_7f97, 0x84, OWN, (true, true)),
            (0x0001_7f97, 0x40, [0xff; 6], (false, true)),
            (0x0001_7fff, 0x40, [0xff; 6], (false, false)),
        ] {
            let (answers, transfer) = received(filter, kind, to);
            assert_eq!((answers, transfer.is_some()), expected, "{filter:#x} {kind:#x}");
        }
    }
}
