//! What is known of one device: its descriptors, and signs of what it is.

use std::collections::BTreeMap;

use wire::usb::descriptors::{self, Part};
use wire::usb::setup::Setup;
use wire::usb::{realtek, EndpointAddress, TransferType};

use crate::qmi::{Place, Qmi};

/// Interfaces (with alternate settings) and endpoints kept of a device.
const PARTS_MAX: usize = 128;
/// String descriptors kept of a device.
const STRINGS_MAX: usize = 32;

/// An interface or an alternate setting.
#[derive(Clone, Debug)]
pub struct Interface {
    pub number: u8,
    pub alternate: u8,
    pub class: (u8, u8, u8),
    pub endpoints: Vec<(EndpointAddress, TransferType, u16)>,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Device {
    pub descriptor: Option<descriptors::Device>,
    pub interfaces: Vec<Interface>,
    configuration_is_whole: bool,
    strings: BTreeMap<u8, String>,
    pub enumerations: u64,
    /// Encapsulated commands and responses that are QMUX, and others.
    pub qmux: u64,
    pub encapsulated: u64,
    /// What the QMUX messages say.
    pub qmi: Qmi,
    /// OUT transfers with Realtek's transmit descriptor.
    pub realtek_frames: u64,
    /// Reads and writes of registers as Realtek chips have them.
    pub register_requests: u64,
    /// Vendor requests that carry firmware as Atheros chips take it.
    pub firmware_writes: u64,
    pub ntb_requests: u64,
    /// Requests about ports, which hubs alone take.
    pub port_requests: u64,
    /// Reports set and asked for.
    pub hid_requests: u64,
}

impl Device {
    /// Looks at a control request; `data` is what of its `len` bytes goes out with it and was captured.
    pub fn requested(&mut self, setup: Setup, place: Place, data: &[u8], len: usize) {
        match (setup.request_type, setup.request) {
            (0x21, 0) => {
                self.encapsulated += 1;
                self.qmux += u64::from(self.qmi.look(place, data, len));
            }
            (0x40 | 0xc0, realtek::REGISTER_REQUEST) if setup.index == 0 => self.register_requests += 1,
            (0x40, 0x30) => self.firmware_writes += 1,
            (0xa1, 0x80..=0x88) => self.ntb_requests += 1,
            (0x23, 1 | 3) | (0xa3, 0) => self.port_requests += 1,
            (0x21, 9) => self.hid_requests += 1,
            (0xa1, 1) if setup.value != 0 => self.hid_requests += 1,
            _ => {}
        }
    }

    /// Looks at the data that a control request brought, `len` bytes on the bus.
    pub fn answered(&mut self, setup: Setup, place: Place, data: &[u8], len: usize) {
        if (setup.request_type, setup.request) == (0xa1, 1) && setup.value == 0 {
            self.qmux += u64::from(self.qmi.look(place, data, len));
            return;
        }
        match setup.descriptor() {
            Some((descriptors::DEVICE, _)) => {
                if let Some(found) = descriptors::Device::parse(data) {
                    if self.descriptor.is_some_and(|old| (old.vendor, old.product) != (found.vendor, found.product)) {
                        self.renew();
                    }
                    self.descriptor = Some(found);
                }
            }
            Some((descriptors::CONFIGURATION, 0)) if !self.configuration_is_whole => self.configuration(data),
            Some((descriptors::STRING, index)) if index != 0 => {
                if let Some(text) = descriptors::string(data).filter(|_| self.strings.len() < STRINGS_MAX) {
                    self.strings.insert(index, text);
                }
            }
            _ => {}
        }
    }

    /// Another device took over the address.
    pub fn renew(&mut self) {
        *self = Self { enumerations: self.enumerations, ..Self::default() };
    }

    fn configuration(&mut self, data: &[u8]) {
        let Some(parts) = descriptors::configuration(data) else { return };
        let mut interfaces: Vec<Interface> = Vec::new();
        for part in parts.take(PARTS_MAX) {
            match part {
                Part::Interface { number, alternate, class } => {
                    interfaces.push(Interface { number, alternate, class, endpoints: Vec::new() });
                }
                Part::Endpoint { address, transfer, max_packet, .. } => {
                    if let Some(interface) = interfaces.last_mut() {
                        interface.endpoints.push((address, transfer, max_packet));
                    }
                }
                Part::Functional(_) | Part::Other(_) => {}
            }
        }
        if interfaces.len() >= self.interfaces.len() {
            self.interfaces = interfaces;
            self.configuration_is_whole = descriptors::is_whole_configuration(data);
        }
    }

    /// Interface and largest packet of an endpoint.
    pub fn endpoint(&self, address: u8) -> (Option<u8>, Option<u16>) {
        if address & 0x0f == 0 {
            return (None, self.descriptor.map(|d| u16::from(d.max_packet)));
        }
        for interface in &self.interfaces {
            if let Some((_, _, max)) = interface.endpoints.iter().find(|(found, ..)| found.0 == address) {
                return (Some(interface.number), Some(*max));
            }
        }
        (None, None)
    }

    /// The text of a string descriptor.
    pub fn string(&self, index: Option<u8>) -> Option<String> {
        self.strings.get(&index.filter(|index| *index != 0)?).cloned()
    }

    /// The signalling rate, as far as packet sizes tell (USB 2.0, 5.8.3; USB 3.2, 8.12.1).
    pub fn speed(&self) -> Option<&'static str> {
        let endpoints = || self.interfaces.iter().flat_map(|interface| &interface.endpoints);
        let bulk = endpoints().filter(|(_, transfer, _)| *transfer == TransferType::Bulk).map(|(_, _, max)| *max).max();
        match (bulk, self.descriptor) {
            (Some(1024), _) => Some("super"),
            (_, Some(d)) if d.usb >= 0x300 && d.max_packet == 9 => Some("super"),
            (Some(512), _) => Some("high"),
            (Some(1..=64), _) => Some("full"),
            _ => None,
        }
    }
}
