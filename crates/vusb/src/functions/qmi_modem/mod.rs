//! The data path of a modem with Qualcomm's QMI interface: IP packets, alone or in QMAP, over a modelled radio link.
//!
//! The device's framing is fixed by its settings: what a host would agree on in QMI messages (WDA_SET_DATA_FORMAT) is not
//! asked for, so that no QMI client is needed. Towards the host it aggregates; from the host, one engine takes transfers one
//! after the other, each at a fixed cost however many datagrams it carries.

mod settings;
mod uplink;

use std::os::fd::RawFd;

use serde::Serialize;
use wire::usb::qmap::{Checksums, Header, Walk};
use wire::usb::setup::Setup;

use super::descriptors::{configuration, device, endpoint, interface, BULK, BULK_PACKET, INTERRUPT};
use super::downlink::Downlink;
use super::wired::Wired;
use super::{histogram, Aggregation, SettingsError};
use crate::device::{ControlReply, Device, Identity, InReply, OutReply, Source, Speed};
pub use settings::{Framing, ModemSettings};
use uplink::Uplink;

const NOTIFICATIONS: u8 = 9;
const TO_HOST: u8 = 8;
const FROM_HOST: u8 = 5;
/// The interface of the EC25 that Linux' qmi_wwan binds to.
const INTERFACE: u8 = 4;
/// Packets read from the wired end before the bus is looked at again.
const READS: usize = 64;

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModemDirection {
    /// Transfers.
    pub transfers: u64,
    /// Bytes of them.
    pub transfer_bytes: u64,
    /// Datagrams in them.
    pub datagrams: u64,
    /// Bytes of the datagrams.
    pub datagram_bytes: u64,
    /// Transfers by their number of datagrams; index 0 is those without.
    pub histogram: Vec<u64>,
    /// Datagrams that were lost for want of room, or that the wired end did not take.
    pub dropped: u64,
}

impl ModemDirection {
    fn count(&mut self, transfer: usize, datagrams: usize, bytes: usize) {
        self.transfers += 1;
        self.transfer_bytes += transfer as u64;
        self.datagrams += datagrams as u64;
        self.datagram_bytes += bytes as u64;
        histogram::count(&mut self.histogram, datagrams);
    }
}

/// What it has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModemCounters {
    /// From the host.
    pub uplink: ModemDirection,
    /// To the host.
    pub downlink: ModemDirection,
    /// Time that the engine has worked on transfers from the host, ns.
    pub engine_busy_ns: u64,
    /// QMAP commands of the host; they are not answered.
    pub commands: u64,
    /// QMAP datagrams of other multiplexed connections: not forwarded.
    pub other_connections: u64,
    /// Transfers with faults in them.
    pub faults: u64,
    /// Packets for the host that are no IP.
    pub not_ip: u64,
}

/// The modem.
pub struct QmiModem<W> {
    settings: ModemSettings,
    identity: Identity,
    wired: W,
    uplink: Uplink,
    downlink: Downlink,
    /// When the downlink radio is free.
    radio_free_ns: u64,
    now_ns: u64,
    counters: ModemCounters,
}

fn identity() -> Identity {
    // Quectel EC25: an entry of qmi_wwan's table that needs nothing but this interface.
    let vendor = (0xff, 0xff, 0xff);
    let parts = [
        interface(INTERFACE, 0, 3, vendor),
        endpoint(0x80 | NOTIFICATIONS, INTERRUPT, 8, 9),
        endpoint(0x80 | TO_HOST, BULK, BULK_PACKET, 0),
        endpoint(FROM_HOST, BULK, BULK_PACKET, 0),
    ];
    Identity {
        device: device((0, 0, 0), 0x2c7c, 0x0125, 0x0318),
        configuration: configuration(1, &parts),
        strings: vec!["txop".into(), "virtual QMI modem".into(), "0001".into()],
        speed: Speed::High,
    }
}

impl<W: Wired> QmiModem<W> {
    /// With a wired end.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(settings: ModemSettings, wired: W) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            uplink: Uplink::new(&settings),
            downlink: Downlink::new(settings.downlink_queue),
            identity: identity(),
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

    const fn aggregation(&self) -> Aggregation {
        match self.settings.framing {
            Framing::RawIp => Aggregation::NONE,
            Framing::Qmap => self.settings.to_host,
        }
    }

    fn read_wired(&mut self, now_ns: u64) {
        for _ in 0..READS {
            if self.downlink.is_full() {
                return;
            }
            let Some(packet) = self.wired.receive() else { return };
            let is_ip = packet.first().is_some_and(|first| matches!(first >> 4, 4 | 6));
            if !is_ip || Header::for_datagram(self.settings.mux_id, packet.len()).is_none() {
                self.counters.not_ip += 1;
                continue;
            }
            self.radio_free_ns = self.radio_free_ns.max(now_ns) + self.settings.downlink_ns(packet.len());
            self.downlink.push(self.radio_free_ns + self.settings.delay_us * 1_000, packet);
        }
    }

    /// The engine is done with a transfer: its datagrams go to the radio.
    fn taken(&mut self, now_ns: u64, data: &[u8]) {
        let (mut datagrams, mut bytes) = (0, 0);
        let mut send = |packet: &[u8]| {
            datagrams += 1;
            bytes += packet.len();
            if !self.uplink.push(now_ns, packet) {
                self.counters.uplink.dropped += 1;
            }
        };
        match self.settings.framing {
            Framing::RawIp => send(data),
            Framing::Qmap => {
                for item in Walk::new(data, data.len(), Checksums::None) {
                    match item {
                        Ok(item) if item.header.is_command => self.counters.commands += 1,
                        Ok(item) if item.header.mux_id == self.settings.mux_id => send(item.payload),
                        Ok(_) => self.counters.other_connections += 1,
                        Err(_) => self.counters.faults += 1,
                    }
                }
            }
        }
        self.counters.uplink.count(data.len(), datagrams, bytes);
    }
}

impl<W: Wired> Device for QmiModem<W> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, _data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            // QMI messages are taken and not answered; SET_CONTROL_LINE_STATE is how the driver wakes the modem.
            (0x21, 0x00 | 0x22) => ControlReply::Accepted,
            (0xa1, 0x01) => ControlReply::Data(Vec::new()),
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if endpoint != FROM_HOST {
            return OutReply::Stall;
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
        match endpoint {
            NOTIFICATIONS => return InReply::Nak,
            TO_HOST => {}
            _ => return InReply::Stall,
        }
        let limit = self.aggregation();
        let grow = |end: usize, len: usize| end + 4 + len.next_multiple_of(4);
        let packets = self.downlink.take(now_ns, limit, 0, grow);
        if packets.is_empty() {
            return InReply::Nak;
        }
        for packet in &packets {
            match (self.settings.framing, Header::for_datagram(self.settings.mux_id, packet.len())) {
                (Framing::Qmap, Some(header)) => {
                    transfer.extend(header.to_bytes());
                    transfer.extend_from_slice(packet);
                    transfer.resize(transfer.len() + usize::from(header.padding), 0);
                }
                _ => transfer.extend_from_slice(packet),
            }
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
        self.uplink = Uplink::new(&self.settings);
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

    fn statistics(&self) -> serde_json::Value {
        serde_json::json!({ "qmi_modem": self.counters, "settings": self.settings })
    }
}
