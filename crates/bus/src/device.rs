//! What is known of one device: its descriptors, and signs of what it is.

use std::collections::{BTreeMap, BTreeSet};

use wire::usb::descriptors::{self, Part};
use wire::usb::setup::Setup;
use wire::usb::{realtek, EndpointAddress, TransferType};

use crate::qmi::{Place, Qmi};

/// Interfaces (with alternate settings) and endpoints kept of a device.
const PARTS_MAX: usize = 128;
/// Earlier devices kept of an address.
const EARLIER_MAX: usize = 8;
/// Realtek's vendor number, which its Ethernet adapters have, too.
const REALTEK: u16 = 0x0bda;
/// Registers of Realtek's Wi-Fi chips lie below (Linux' rtl8xxxu); those of its Ethernet adapters with the same request and index lie
/// above (r8152.c, `MCU_TYPE_USB`).
const REGISTERS_END: u16 = 0x1000;
/// Requests, and different registers, from which a device is taken for one that has such registers.
const ENOUGH_REGISTERS: u64 = 16;
const DIFFERENT_REGISTERS: usize = 4;
/// Frames with a transmit descriptor, from which on a chip is Realtek's.
const ENOUGH_FRAMES: u64 = 4;
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
    /// Reads and writes of registers where Realtek's Wi-Fi chips have theirs, and some of the registers.
    pub register_reads: u64,
    pub register_writes: u64,
    registers: BTreeSet<u16>,
    /// Vendor and product of devices that had the address before.
    earlier: Vec<(u16, u16)>,
    /// Vendor requests that carry firmware as Atheros chips take it.
    pub firmware_writes: u64,
    pub ntb_requests: u64,
    /// Requests about ports, which only hubs accept.
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
            (way @ (0x40 | 0xc0), realtek::REGISTER_REQUEST) if setup.index == 0 && setup.value < REGISTERS_END => {
                let count = if way == 0x40 { &mut self.register_writes } else { &mut self.register_reads };
                *count += 1;
                if self.registers.len() < DIFFERENT_REGISTERS {
                    self.registers.insert(setup.value);
                }
            }
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
                    self.describe(found);
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

    /// Takes its device descriptor, which may be that of another device than before.
    pub fn describe(&mut self, found: descriptors::Device) {
        let ids = |device: descriptors::Device| (device.vendor, device.product);
        if self.descriptor.is_some_and(|old| ids(old) != ids(found)) {
            self.renew();
        }
        self.descriptor = Some(found);
    }

    /// Another device, or the same one again, took over the address.
    pub fn renew(&mut self) {
        let mut earlier = std::mem::take(&mut self.earlier);
        if let Some(old) = self.descriptor.map(|old| (old.vendor, old.product)) {
            if earlier.last() != Some(&old) && earlier.len() < EARLIER_MAX {
                earlier.push(old);
            }
        }
        *self = Self { enumerations: self.enumerations, earlier, ..Self::default() };
    }

    /// Other devices that had the address before.
    pub fn earlier(&self) -> &[(u16, u16)] {
        match self.earlier.split_last() {
            Some((last, before)) if self.descriptor.is_some_and(|own| (own.vendor, own.product) == *last) => before,
            _ => &self.earlier,
        }
    }

    /// It reads and writes registers as Realtek's Wi-Fi chips do.
    pub fn has_realtek_registers(&self) -> bool {
        let requests = self.register_reads + self.register_writes;
        self.register_writes > 0 && requests >= ENOUGH_REGISTERS && self.registers.len() >= DIFFERENT_REGISTERS
    }

    /// Its vendor is Realtek.
    pub fn is_by_realtek(&self) -> bool {
        self.descriptor.is_some_and(|descriptor| descriptor.vendor == REALTEK)
    }

    /// It is one of Realtek's Wi-Fi chips: it takes frames behind their transmit descriptor, or is Realtek's and has their registers.
    pub fn is_realtek(&self) -> bool {
        self.realtek_frames >= ENOUGH_FRAMES || (self.is_by_realtek() && self.has_realtek_registers())
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

    /// The signalling rate, as far as packet sizes show (USB 2.0, 5.8.3; USB 3.2, 8.12.1).
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
