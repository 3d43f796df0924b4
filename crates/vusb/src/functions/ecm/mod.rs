//! A CDC ECM function (USB CDC ECM 1.2): Ethernet frames, one in each transfer.

pub mod entry;
mod statistics;

use std::collections::VecDeque;
use std::os::fd::RawFd;

use wire::usb::setup::Setup;

use super::downlink::{Aggregation, Downlink};
use crate::descriptors::{
    device, function, link_notifications, CONTROL_INTERFACE, DATA_INTERFACE, FROM_HOST, NOTIFICATIONS, TO_HOST,
};
use crate::device::{ControlReply, Device, DeviceCounters, Identity, InReply, OutReply, Source, Speed};
use crate::state::{Reader, State as _, StateError, Writer};
use crate::wired::{Wired, READS};
pub use statistics::{EcmCounters, EcmDirection, EcmStatistics};

/// wMaxSegmentSize: bytes of the largest Ethernet frame, without FCS.
const SEGMENT_MAX: u16 = 1_514;
/// A frame may have a byte more: a host that sends no empty packets ends a transfer of full ones with it.
const TRANSFER_MAX: usize = SEGMENT_MAX as usize + 1;
/// Frames that wait for the host at most; the wired end is not read while this many do.
const QUEUE: usize = 1_000;
/// Reported speed, both ways.
const SPEED_BIT_S: u32 = 480_000_000;
/// SET_ETHERNET_MULTICAST_FILTERS and SET_ETHERNET_PACKET_FILTER (ECM 1.2, 6.2).
const FILTERS: [u8; 2] = [0x40, 0x43];
/// The host's Ethernet address.
const ADDRESS: [u8; 6] = [0x02, 0x74, 0x78, 0x6f, 0x70, 0x03];

/// The function.
pub struct Ecm<W> {
    identity: Identity,
    wired: W,
    notifications: VecDeque<Vec<u8>>,
    /// The host has begun to read.
    reading: bool,
    downlink: Downlink,
    now_ns: u64,
    counters: EcmCounters,
}

/// What it says of itself (CDC 1.2, 5; ECM 1.2, 5.4).
fn identity() -> Identity {
    let (control, data) = ((2, 6, 0), (0x0a, 0, 0));
    let [low, high] = SEGMENT_MAX.to_le_bytes();
    let functional = [
        vec![5, 0x24, 0, 0x20, 1],
        vec![5, 0x24, 6, CONTROL_INTERFACE, DATA_INTERFACE],
        // The string of the address; no statistics, no filters.
        vec![13, 0x24, 0x0f, 4, 0, 0, 0, 0, low, high, 0, 0, 0],
    ];
    let address = ADDRESS.iter().map(|byte| format!("{byte:02X}")).collect();
    Identity {
        device: device((2, 0, 0), 0x1d6b, 0x0104, 0x0100),
        configuration: function(control, &functional, data),
        strings: vec!["txop".into(), "virtual ECM function".into(), "0001".into(), address],
        speed: Speed::High,
    }
}

impl<W: Wired> Ecm<W> {
    /// With a wired end.
    pub fn new(wired: W) -> Self {
        Self {
            identity: identity(),
            wired,
            notifications: link_notifications(CONTROL_INTERFACE, SPEED_BIT_S).into(),
            reading: false,
            downlink: Downlink::new(QUEUE),
            now_ns: 0,
            counters: EcmCounters::default(),
        }
    }

    /// What it has counted.
    pub const fn counters(&self) -> &EcmCounters {
        &self.counters
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.downlink.is_full() {
                return;
            }
            let Some(frame) = self.wired.receive() else { return };
            if self.reading && frame.len() <= usize::from(SEGMENT_MAX) {
                self.downlink.push(now_ns, frame);
            } else {
                self.counters.dropped += 1;
            }
        }
    }
}

impl<W: Wired> Device for Ecm<W> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, _data: &[u8]) -> ControlReply {
        // The wired end sends nothing that is not for the host.
        match (setup.request_type, setup.request) {
            (0x21, request) if FILTERS.contains(&request) => ControlReply::Accepted,
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, _now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if endpoint != FROM_HOST {
            return OutReply::Stall;
        }
        if data.len() > TRANSFER_MAX {
            self.counters.too_long += 1;
        } else if !data.is_empty() {
            self.counters.uplink.count(data);
            if !self.wired.send(data) {
                self.counters.not_taken += 1;
            }
        }
        OutReply::Accepted
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            NOTIFICATIONS => InReply::with(self.notifications.pop_front(), transfer),
            TO_HOST => {
                self.reading = true;
                let frame = self.downlink.take(now_ns, Aggregation::NONE, 0, |end, len| end + len).pop();
                frame.iter().for_each(|frame| self.counters.downlink.count(frame));
                InReply::with(frame, transfer)
            }
            _ => InReply::Stall,
        }
    }

    fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if self.wired.fd().is_none() {
            self.read_wired(now_ns);
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.downlink.next_event(self.now_ns, Aggregation::NONE)
    }

    fn reset(&mut self, _now_ns: u64) {
        self.notifications = link_notifications(CONTROL_INTERFACE, SPEED_BIT_S).into();
        self.reading = false;
        self.downlink.clear();
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.wired.source(!self.downlink.is_full()));
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read_wired(now_ns);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(Box::new(EcmStatistics { ecm: self.counters }))
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({W: Wired} Ecm<W> { notifications, reading, downlink, now_ns, counters } made { identity, wired });
