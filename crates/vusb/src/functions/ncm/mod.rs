//! A CDC NCM function (USB CDC NCM 1.0): Ethernet frames in transfer blocks of 16 or 32 bit, both ways.

mod descriptors;
pub mod entry;
mod settings;
mod statistics;

use std::collections::VecDeque;
use std::os::fd::RawFd;

use wire::usb::ntb::Content;
use wire::usb::setup::Setup;

use super::blocks::{Blocks, GET_NTB_PARAMETERS};
use super::downlink::Downlink;
use super::{BlockCounters, SettingsError};
use crate::descriptors::{link_notifications, CONTROL_INTERFACE, FROM_HOST, NOTIFICATIONS, TO_HOST};
use crate::device::{ControlReply, Device, DeviceCounters, Identity, InReply, OutReply, Source};
use crate::state::{Reader, State as _, StateError, Writer};
use crate::wired::{Wired, READS};
use descriptors::identity;
pub use settings::{NcmSettings, Posing};
pub use statistics::NcmStatistics;

/// Frames that wait for the host at most; the wired end is not read while this many do.
const QUEUE: usize = 1_000;
/// Reported speed, both ways.
const SPEED_BIT_S: u32 = 480_000_000;

/// The function.
pub struct Ncm<W> {
    settings: NcmSettings,
    identity: Identity,
    wired: W,
    notifications: VecDeque<Vec<u8>>,
    /// The host has begun to read. A notification of the link proves nothing: Linux' huawei_cdc_ncm leaves notifications to
    /// whoever opens its control device.
    reading: bool,
    blocks: Blocks,
    downlink: Downlink,
    now_ns: u64,
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
            blocks: Blocks::new(settings.blocks()),
            settings,
            wired,
            notifications: VecDeque::new(),
            reading: false,
            downlink: Downlink::new(QUEUE),
            now_ns: 0,
        })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &BlockCounters {
        &self.blocks.counters
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.downlink.is_full() {
                return;
            }
            let Some(frame) = self.wired.receive() else { return };
            if self.reading && self.blocks.fits(self.settings.to_host.datagrams, frame.len()) {
                self.downlink.push(now_ns, frame);
            } else {
                self.blocks.counters.dropped += 1;
            }
        }
    }
}

impl<W: Wired> Device for Ncm<W> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        if (setup.request_type, setup.request) == GET_NTB_PARAMETERS {
            self.reading = false;
            self.notifications = link_notifications(CONTROL_INTERFACE, SPEED_BIT_S).into();
        }
        match self.blocks.control(setup, data) {
            Some(reply) => reply,
            // SET_ETHERNET_PACKET_FILTER: the wired end sends nothing that is not for the host. Encapsulated commands of
            // a vendor: taken, never answered.
            None if setup.request_type == 0x21 && matches!(setup.request, 0x00 | 0x43) => ControlReply::Accepted,
            None => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, _now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if endpoint != FROM_HOST {
            return OutReply::Stall;
        }
        // An empty transfer only ends the one before it.
        if !data.is_empty() {
            for (_, frame) in self.blocks.read(data, |content| content == Content::Ethernet) {
                if !self.wired.send(frame) {
                    self.blocks.counters.not_taken += 1;
                }
            }
        }
        OutReply::Accepted
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            NOTIFICATIONS => InReply::with(self.notifications.pop_front(), transfer),
            TO_HOST => {
                self.reading = true;
                let frames = self.blocks.take(now_ns, &mut self.downlink, self.settings.to_host);
                if frames.is_empty() {
                    return InReply::Nak;
                }
                self.blocks.write(*b"NCM0", &frames, transfer);
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
        self.blocks.reset();
        self.downlink.clear();
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.wired.source(!self.downlink.is_full()));
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read_wired(now_ns);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(Box::new(NcmStatistics {
            ncm: self.blocks.counters.clone(),
            settings: self.settings,
            input_size: self.blocks.input_size(),
            format: self.blocks.format(),
        }))
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({W: Wired} Ncm<W> { notifications, reading, blocks, downlink, now_ns } made { settings, identity, wired });
