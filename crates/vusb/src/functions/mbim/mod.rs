//! An MBIM function (USB CDC MBIM 1.0): IP packets of up to eight sessions in transfer blocks, and control messages.

mod basic_connect;
mod control;
mod descriptors;
pub mod entry;
mod settings;
mod statistics;

use std::collections::BTreeMap;
use std::os::fd::RawFd;

use wire::usb::ntb::Content;
use wire::usb::setup::Setup;

use super::blocks::{Blocks, GET_NTB_PARAMETERS};
use super::downlink::Downlink;
use super::{BlockCounters, SettingsError};
use crate::descriptors::{FROM_HOST, NOTIFICATIONS, TO_HOST};
use crate::device::{ControlReply, Device, DeviceCounters, Effect, Identity, InReply, OutReply, Source};
use crate::state::{Reader, State as _, StateError, Writer};
use crate::wired::{Wired, READS};
use control::Control;
use descriptors::{identity, CONTROL_MAX};
pub use settings::{Connect, MbimSettings};
pub use statistics::{MbimControlCounters, MbimStatistics, MbimUncarried};

/// Packets of a session that wait for the host at most; the wired end is not read while this many of any do.
const QUEUE: usize = 1_000;

/// The function.
pub struct Mbim<W> {
    settings: MbimSettings,
    identity: Identity,
    wired: W,
    control: Control,
    /// The host has begun to read.
    reading: bool,
    blocks: Blocks,
    /// By session: what waits for the host.
    downlinks: BTreeMap<u8, Downlink>,
    /// The session of the last block to the host: the next ones come first.
    last: u8,
    now_ns: u64,
    uncarried: MbimUncarried,
}

impl<W: Wired> Mbim<W> {
    /// With a wired end.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(settings: MbimSettings, wired: W) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            identity: identity(),
            control: Control::new(settings.connect),
            blocks: Blocks::new(settings.blocks()),
            settings,
            wired,
            reading: false,
            downlinks: BTreeMap::new(),
            last: 0,
            now_ns: 0,
            uncarried: MbimUncarried::default(),
        })
    }

    /// What it has counted of transfers.
    pub const fn counters(&self) -> &BlockCounters {
        &self.blocks.counters
    }

    /// What it has counted of messages.
    pub const fn control_counters(&self) -> &MbimControlCounters {
        self.control.counters()
    }

    /// What no session carried.
    pub const fn uncarried(&self) -> &MbimUncarried {
        &self.uncarried
    }

    fn is_full(&self) -> bool {
        self.downlinks.values().any(Downlink::is_full)
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.is_full() {
                return;
            }
            let Some(packet) = self.wired.receive() else { return };
            if !packet.first().is_some_and(|first| matches!(first >> 4, 4 | 6)) {
                self.uncarried.not_ip += 1;
                continue;
            }
            let Some(session) = self.control.channels.for_host(&packet) else {
                self.uncarried.unconnected += 1;
                continue;
            };
            if self.reading && self.blocks.fits(self.settings.to_host.datagrams, packet.len()) {
                self.downlinks.entry(session).or_insert_with(|| Downlink::new(QUEUE)).push(now_ns, packet);
            } else {
                self.blocks.counters.dropped += 1;
            }
        }
    }

    fn take_block(&mut self, data: &[u8]) {
        let is_wanted = |content| matches!(content, Content::Ip(_) | Content::Stream(_));
        for (content, packet) in self.blocks.read(data, is_wanted) {
            let Content::Ip(session) = content else {
                self.uncarried.streams += 1;
                continue;
            };
            if !self.control.channels.learn(Some(session), packet) {
                self.uncarried.other_sessions += 1;
            } else if !self.wired.send(packet) {
                self.blocks.counters.not_taken += 1;
            }
        }
    }

    /// A block of one session: that after the last one's comes first.
    fn give_block(&mut self, now_ns: u64, transfer: &mut Vec<u8>) -> InReply {
        let after = self.last.wrapping_add(1);
        let sessions: Vec<u8> =
            self.downlinks.range(after..).chain(self.downlinks.range(..after)).map(|(&session, _)| session).collect();
        for session in sessions {
            let Some(downlink) = self.downlinks.get_mut(&session) else { continue };
            let packets = self.blocks.take(now_ns, downlink, self.settings.to_host);
            if packets.is_empty() {
                continue;
            }
            self.last = session;
            self.blocks.write([b'I', b'P', b'S', session], &packets, transfer);
            if !transfer.is_empty() {
                return InReply::Transfer;
            }
        }
        InReply::Nak
    }

    /// What waits for the host in sessions that have ended is lost.
    fn forget_ended(&mut self) {
        let sessions = &self.control.sessions;
        self.downlinks.retain(|session, _| sessions.contains_key(session));
    }

    fn power_off(&mut self) {
        self.control.restart();
        self.reading = false;
        self.blocks.reset();
        self.downlinks.clear();
    }
}

impl<W: Wired> Device for Mbim<W> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            (0x21, 0x00) if data.len() > usize::from(CONTROL_MAX) => ControlReply::Stall,
            (0x21, 0x00) => {
                self.control.command(data, &self.blocks.counters);
                self.forget_ended();
                ControlReply::Accepted
            }
            (0xa1, 0x01) => ControlReply::Data(self.control.response()),
            // RESET_FUNCTION (MBIM 1.0, 8).
            (0x21, 0x05) => {
                self.control.restart();
                self.forget_ended();
                ControlReply::Accepted
            }
            request => {
                if request == GET_NTB_PARAMETERS {
                    self.reading = false;
                }
                self.blocks.control(setup, data).unwrap_or(ControlReply::Stall)
            }
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
            NOTIFICATIONS => InReply::with(self.control.notification(), transfer),
            TO_HOST => {
                self.reading = true;
                self.give_block(now_ns, transfer)
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
        self.downlinks.values().filter_map(|downlink| downlink.next_event(self.now_ns, self.settings.to_host)).min()
    }

    fn reset(&mut self, _now_ns: u64) {
        self.power_off();
    }

    fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
        let unplugged = matches!(effect, Effect::Unplug(_));
        if unplugged {
            self.power_off();
        }
        unplugged
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.wired.source(!self.is_full()));
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read_wired(now_ns);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(Box::new(MbimStatistics {
            mbim: self.blocks.counters.clone(),
            uncarried: self.uncarried,
            messages: *self.control.counters(),
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

crate::state!({W: Wired} Mbim<W> { control, reading, blocks, downlinks, last, now_ns, uncarried }
    made { settings, identity, wired });
