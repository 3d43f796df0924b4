//! A CDC NCM function (USB CDC NCM 1.0): Ethernet frames in transfer blocks of 16 or 32 bit, both ways.

mod descriptors;
mod settings;
mod statistics;

use std::collections::VecDeque;
use std::os::fd::RawFd;

use wire::usb::ntb::{parse, Content, Header, Width};
use wire::usb::ntb_layout::Layout;
use wire::usb::setup::Setup;

use super::downlink::Downlink;
use super::wired::Wired;
use super::SettingsError;
use crate::device::{ControlReply, Device, Identity, InReply, OutReply, Source};
use crate::statistics::DeviceStatistics;
use descriptors::{identity, link_notifications, ntb_parameters, ALIGN, FROM_HOST, NOTIFICATIONS, TO_HOST};
pub use settings::{NcmSettings, Posing};
pub use statistics::{BlockFormat, NcmCounters, NcmDirection, NcmStatistics};

/// Frames that wait for the host at most; the wired end is not read while this many do.
const QUEUE: usize = 1_000;
/// Reported speed, both ways.
const SPEED_BIT_S: u32 = 480_000_000;
/// Frames read from the wired end before the bus is looked at again.
const READS: usize = 64;
/// GET_NTB_INPUT_SIZE at least (NCM 1.0, 6.2.1: dwNtbInMaxSize is at least 2048).
const INPUT_MIN: u32 = 2_048;

/// The function.
pub struct Ncm<W> {
    settings: NcmSettings,
    identity: Identity,
    parameters: Vec<u8>,
    wired: W,
    notifications: VecDeque<Vec<u8>>,
    /// The host has begun to read. That it was told of the link is no sign: Linux' huawei_cdc_ncm leaves notifications to
    /// whoever opens its control device.
    reading: bool,
    width: Width,
    input_size: u32,
    sequence: u16,
    expected: Option<u16>,
    downlink: Downlink,
    now_ns: u64,
    counters: NcmCounters,
}

impl<W: Wired> Ncm<W> {
    /// With a wired end.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(settings: NcmSettings, wired: W) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            identity: identity(&settings),
            parameters: ntb_parameters(&settings),
            input_size: settings.in_max,
            settings,
            wired,
            notifications: VecDeque::new(),
            reading: false,
            width: Width::Bits16,
            sequence: 0,
            expected: None,
            downlink: Downlink::new(QUEUE),
            now_ns: 0,
            counters: NcmCounters::default(),
        })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &NcmCounters {
        &self.counters
    }

    const fn layout(&self, room: usize) -> Layout {
        Layout { width: self.width, room, align: ALIGN as usize, remainder: 0 }
    }

    /// Bytes that a block has at most: below what the host has room for, so that every block ends with a short packet.
    fn limit(&self) -> usize {
        let most = if self.width == Width::Bits16 { self.input_size.min(65_535) } else { self.input_size };
        most as usize - 1
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.downlink.is_full() {
                return;
            }
            let Some(frame) = self.wired.receive() else { return };
            let layout = self.layout(self.settings.to_host.datagrams);
            if self.reading && layout.next_offset(layout.head_len()) + frame.len() <= self.limit() {
                self.downlink.push(now_ns, frame);
            } else {
                self.counters.dropped += 1;
            }
        }
    }

    /// A block of the frames; its table has room for exactly them.
    fn block(&mut self, frames: &[Vec<u8>], block: &mut Vec<u8>) {
        let layout = self.layout(frames.len());
        let mut end = layout.head_len();
        let places: Vec<_> = frames
            .iter()
            .map(|frame| {
                let start = layout.next_offset(end);
                end = start + frame.len();
                (start, frame.len())
            })
            .collect();
        if layout.write_head(*b"NCM0", self.sequence, end, &places, block).is_none() {
            self.counters.dropped += frames.len() as u64;
            return;
        }
        for (frame, &(start, _)) in frames.iter().zip(&places) {
            block.resize(start, 0);
            block.extend_from_slice(frame);
        }
        if block.len() % usize::from(super::descriptors::BULK_PACKET) == 0 {
            // A byte behind the block: it ends with a short packet then, and no empty one follows.
            block.push(0);
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.counters.downlink.count(block.len(), frames.iter().map(Vec::len));
    }

    fn take_block(&mut self, data: &[u8]) {
        let Some(header) = Header::parse(data).filter(|header| header.width == self.width) else {
            self.counters.not_blocks += 1;
            return;
        };
        if self.expected.is_some_and(|expected| expected != header.sequence) {
            self.counters.out_of_sequence += 1;
        }
        self.expected = Some(header.sequence.wrapping_add(1));
        let block = parse(&header, data, data.len());
        self.counters.faults += block.faults.len() as u64;
        let frames: Vec<_> = block
            .datagrams
            .iter()
            .filter(|datagram| datagram.content == Content::Ethernet)
            .filter_map(|datagram| data.get(datagram.offset..datagram.offset + datagram.len))
            .collect();
        self.counters.uplink.count(data.len(), frames.iter().map(|frame| frame.len()));
        for frame in frames {
            if !self.wired.send(frame) {
                self.counters.not_taken += 1;
            }
        }
    }

    fn input_size_of(data: &[u8]) -> Option<u32> {
        data.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }
}

impl<W: Wired> Device for Ncm<W> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            // GET_NTB_PARAMETERS begins every set-up of the function.
            (0xa1, 0x80) => {
                self.reading = false;
                self.expected = None;
                self.sequence = 0;
                self.notifications = link_notifications(SPEED_BIT_S).into();
                ControlReply::Data(self.parameters.clone())
            }
            (0xa1, 0x83) => ControlReply::Data(vec![u8::from(self.width == Width::Bits32), 0]),
            (0x21, 0x84) if setup.value == 0 => {
                self.width = Width::Bits16;
                ControlReply::Accepted
            }
            (0x21, 0x84) if setup.value == 1 && self.settings.wide => {
                self.width = Width::Bits32;
                ControlReply::Accepted
            }
            (0xa1, 0x85) => ControlReply::Data(self.input_size.to_le_bytes().to_vec()),
            (0x21, 0x86) => match Self::input_size_of(data) {
                Some(size) if (INPUT_MIN..=self.settings.in_max).contains(&size) => {
                    self.input_size = size;
                    ControlReply::Accepted
                }
                _ => ControlReply::Stall,
            },
            // SET_ETHERNET_PACKET_FILTER: the wired end sends nothing that is not for the host. Encapsulated commands of
            // a vendor: taken, never answered.
            (0x21, 0x00 | 0x43) => ControlReply::Accepted,
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, _now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if endpoint != FROM_HOST {
            return OutReply::Stall;
        }
        // An empty transfer only ends the one before it.
        if !data.is_empty() {
            self.take_block(data);
        }
        OutReply::Accepted
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            NOTIFICATIONS => {
                let Some(notification) = self.notifications.pop_front() else { return InReply::Nak };
                transfer.extend(notification);
                InReply::Transfer
            }
            TO_HOST => {
                self.reading = true;
                // A table has room for all datagrams of a block, so it grows with each.
                let head = self.layout(0).head_len();
                let pointer = self.layout(1).head_len() - head;
                let mut limit = self.settings.to_host;
                limit.bytes = limit.bytes.min(self.limit());
                let grow = |end: usize, len: usize| (end + pointer).next_multiple_of(usize::from(ALIGN)) + len;
                let frames = self.downlink.take(now_ns, limit, head, grow);
                if frames.is_empty() {
                    return InReply::Nak;
                }
                self.block(&frames, transfer);
                if transfer.is_empty() {
                    return InReply::Nak;
                }
                InReply::Transfer
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
        self.downlink.next_event(self.now_ns, self.settings.to_host)
    }

    fn reset(&mut self, _now_ns: u64) {
        self.notifications.clear();
        self.reading = false;
        self.width = Width::Bits16;
        self.input_size = self.settings.in_max;
        self.downlink.clear();
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        if let Some(fd) = self.wired.fd() {
            sources.push(Source { fd, wanted: !self.downlink.is_full() });
        }
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read_wired(now_ns);
    }

    fn statistics(&self) -> Option<DeviceStatistics> {
        Some(DeviceStatistics::Ncm(Box::new(NcmStatistics {
            ncm: self.counters.clone(),
            settings: self.settings,
            input_size: self.input_size,
            format: if self.width == Width::Bits32 { BlockFormat::Ntb32 } else { BlockFormat::Ntb16 },
            faults: None,
        })))
    }
}
