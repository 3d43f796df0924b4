//! A modem with Qualcomm's QMI interface: IP packets, alone or in QMAP, over a modelled radio link.
//!
//! What transfers carry is fixed by a setting, so that no QMI client is needed, or agreed on in QMI messages as with a real
//! modem; then a transfer larger than agreed crashes it, and only power off and on brings it back. Towards the host it
//! aggregates; from the host, one engine takes transfers one after the other, each at a fixed cost however many datagrams it
//! carries.

mod checksum;
mod control;
pub mod entry;
mod format;
mod identities;
mod path;
mod settings;
mod statistics;
mod uplink;

use std::os::fd::RawFd;

use random::{Rng, Stream, Walk};
use wire::usb::qmap::Header;
use wire::usb::setup::Setup;

use super::downlink::Downlink;
use super::{Aggregation, SettingsError};
use crate::device::{ControlReply, Device, DeviceCounters, Effect, Identity, InReply, OutReply, Source};
use crate::state::{Reader, State as _, StateError, Writer};
use crate::wired::{Wired, READS};
use control::Control;
pub use format::{DataFormat, Framing, Limit, Packing};
use identities::Posing;
use settings::nanoseconds;
pub use settings::{Model, ModemSettings};
pub use statistics::{ControlCounters, ControlStatistics, ModemCounters, ModemDirection, QmiModemStatistics};
use uplink::Uplink;

/// A transfer that crashed the modem, beside what was agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Crash {
    /// Its datagrams.
    pub datagrams: usize,
    /// Its bytes.
    pub bytes: usize,
    /// What it might have been at most.
    pub limit: Limit,
}

/// The modem.
pub struct QmiModem<W> {
    settings: ModemSettings,
    posing: Posing,
    wired: W,
    control: Control,
    /// It hangs, and is gone from the bus until it loses power.
    crashed: Option<Crash>,
    uplink: Uplink,
    downlink: Downlink,
    /// When the downlink radio is free.
    radio_free_ns: u64,
    /// Its rate, where it wanders, Mbit/s.
    radio_rate: Option<Walk>,
    now_ns: u64,
    counters: ModemCounters,
}

impl<W: Wired> QmiModem<W> {
    /// With a wired end.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(settings: ModemSettings, wired: W) -> Result<Self, SettingsError> {
        settings.check()?;
        let posing = settings.model.posing();
        Ok(Self {
            control: Control::new(&settings, &posing),
            crashed: None,
            uplink: Uplink::new(&settings),
            downlink: Downlink::new(settings.downlink_queue),
            radio_rate: settings.downlink_walk(),
            posing,
            settings,
            wired,
            radio_free_ns: 0,
            now_ns: 0,
            counters: ModemCounters::default(),
        })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &ModemCounters {
        &self.counters
    }

    /// What it has counted of messages.
    pub const fn control_counters(&self) -> &ControlCounters {
        self.control.counters()
    }

    /// The transfer that crashed it, until power comes back.
    pub const fn crash(&self) -> Option<Crash> {
        self.crashed
    }

    fn aggregation(&self) -> Aggregation {
        let format = &self.control.format;
        match format.to_host {
            Packing::RawIp => Aggregation::NONE,
            _ => Aggregation {
                datagrams: format.limit_to_host.datagrams as usize,
                bytes: format.limit_to_host.bytes as usize,
                hold_ns: self.settings.to_host.hold_ns,
            },
        }
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.downlink.is_full() {
                return;
            }
            let Some(packet) = self.wired.receive() else { return };
            let is_ip = packet.first().is_some_and(|first| matches!(first >> 4, 4 | 6));
            if !is_ip || Header::for_datagram(0, packet.len()).is_none() {
                self.counters.not_ip += 1;
                continue;
            }
            if self.control.channels.is_empty() {
                self.counters.unconnected += 1;
                continue;
            }
            let begins_ns = self.radio_free_ns.max(now_ns);
            let mbit_s = self.radio_rate.as_mut().map_or(self.settings.downlink_mbit_s, |rate| rate.at(begins_ns));
            self.radio_free_ns = begins_ns + nanoseconds(packet.len(), mbit_s);
            self.downlink.push(self.radio_free_ns + self.settings.delay_us * 1_000, packet);
        }
    }

    /// The engine is done with a transfer: its datagrams go to the radio.
    fn taken(&mut self, now_ns: u64, data: &[u8]) {
        let taken = path::take(&self.control.format, &mut self.control.channels, data);
        if let Some(limit) = self.control.format.limit_from_host.filter(|limit| !limit.allows(taken.all, data.len())) {
            if self.control.format.from_host != Packing::RawIp {
                self.crash_of(Crash { datagrams: taken.all, bytes: data.len(), limit });
                return;
            }
        }
        let mut bytes = 0;
        for packet in &taken.datagrams {
            bytes += packet.len();
            if !self.uplink.push(now_ns, packet) {
                self.counters.uplink.dropped += 1;
            }
        }
        self.counters.commands += taken.commands;
        self.counters.other_connections += taken.other_connections;
        self.counters.faults += taken.faults;
        self.counters.checksums_filled += taken.checksums;
        self.counters.uplink.count(data.len(), taken.datagrams.len(), bytes);
    }

    fn crash_of(&mut self, crash: Crash) {
        let Crash { datagrams, bytes, limit } = crash;
        self.counters.crashes += 1;
        self.crashed = Some(crash);
        eprintln!(
            "txop-vusb: the modem has crashed: a transfer of {datagrams} datagrams and {bytes} bytes, where {} and {} at most \
             were agreed on. It is gone until it is unplugged and plugged in again.",
            limit.datagrams, limit.bytes
        );
    }

    fn power_off(&mut self) {
        self.crashed = None;
        self.control.restart();
        self.uplink = Uplink::new(&self.settings);
        self.downlink.clear();
    }
}

impl<W: Wired> Device for QmiModem<W> {
    fn identity(&self) -> &Identity {
        &self.posing.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            (0x21, 0x00) => {
                self.control.command(data);
                ControlReply::Accepted
            }
            (0x21, 0x22) => {
                if setup.index == u16::from(self.posing.interface) {
                    self.control.line_state(setup.value);
                }
                ControlReply::Accepted
            }
            (0xa1, 0x01) => ControlReply::Data(self.control.response()),
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if self.crashed.is_some() {
            return OutReply::Nak;
        }
        if endpoint != self.posing.from_host {
            // Serial functions take what comes, as a modem does with output that is not read.
            return if self.settings.model == Model::default() { OutReply::Stall } else { OutReply::Accepted };
        }
        if data.is_empty() {
            return OutReply::Accepted;
        }
        if !self.uplink.engine(now_ns) {
            return OutReply::Nak;
        }
        self.counters.engine_busy_ns += self.settings.transfer_cost_us * 1_000;
        self.taken(now_ns, data);
        OutReply::Accepted
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        if self.crashed.is_some() {
            return InReply::Nak;
        }
        if endpoint == self.posing.notifications {
            let Some(notification) = self.control.notification() else { return InReply::Nak };
            transfer.extend(notification);
            return InReply::Unterminated;
        }
        if endpoint != self.posing.to_host {
            return if self.settings.model == Model::default() { InReply::Stall } else { InReply::Nak };
        }
        let (limit, packing) = (self.aggregation(), self.control.format.to_host);
        let packets = self.downlink.take(now_ns, limit, 0, |end, len| path::grow(packing, end, len));
        if packets.is_empty() {
            return InReply::Nak;
        }
        for packet in &packets {
            let mux_id = self.control.channels.for_host(packet).unwrap_or(self.settings.mux_id);
            path::put(packing, mux_id, packet, transfer);
        }
        let bytes = packets.iter().map(Vec::len).sum();
        self.counters.downlink.count(transfer.len(), packets.len(), bytes);
        InReply::Transfer
    }

    fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if self.wired.fd().is_none() {
            self.read_wired(now_ns);
        }
        while let Some(packet) = self.uplink.arrived(now_ns) {
            if !self.wired.send(&packet) {
                self.counters.uplink.dropped += 1;
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        let uplink = self.uplink.next_event(self.now_ns);
        uplink.into_iter().chain(self.downlink.next_event(self.now_ns, self.aggregation())).min()
    }

    fn reset(&mut self, _now_ns: u64) {
        // A crash outlasts it.
        let crashed = self.crashed;
        self.power_off();
        self.crashed = crashed;
    }

    fn is_present(&self, _now_ns: u64) -> bool {
        self.crashed.is_none()
    }

    fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
        if let (Effect::Reseed(seed, _), Some(rate)) = (effect, &mut self.radio_rate) {
            rate.reseed(Rng::new(seed, Stream::CellGrant, 0));
            return true;
        }
        let unplugged = matches!(effect, Effect::Unplug(_));
        if unplugged {
            self.power_off();
        }
        unplugged
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.wired.source(!self.downlink.is_full()));
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read_wired(now_ns);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        let messages = *self.control.counters();
        let control = (messages != ControlCounters::default())
            .then_some(ControlStatistics { messages, format: self.control.format });
        Some(Box::new(QmiModemStatistics {
            qmi_modem: self.counters.clone(),
            settings: self.settings.clone(),
            control,
        }))
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({W: Wired} QmiModem<W> {
    control, crashed, uplink, downlink, radio_free_ns, radio_rate, now_ns, counters,
} made { settings, posing, wired });
