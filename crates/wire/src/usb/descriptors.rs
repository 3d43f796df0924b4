//! Device, configuration and string descriptors (USB 2.0, 9.6), and the functional ones of communication devices.

use super::{EndpointAddress, TransferType};
use crate::pcap::ByteOrder;

const LE: ByteOrder = ByteOrder::Little;

/// Descriptor types.
pub const DEVICE: u8 = 1;
/// See [`DEVICE`].
pub const CONFIGURATION: u8 = 2;
/// See [`DEVICE`].
pub const STRING: u8 = 3;
const INTERFACE: u8 = 4;
const ENDPOINT: u8 = 5;
const CLASS_INTERFACE: u8 = 0x24;

/// A device descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// USB version, binary coded decimal.
    pub usb: u16,
    /// Class, subclass and protocol; class 0: each interface has its own.
    pub class: (u8, u8, u8),
    /// Largest packet of endpoint 0.
    pub max_packet: u8,
    /// Vendor.
    pub vendor: u16,
    /// Product.
    pub product: u16,
    /// Version of the device, binary coded decimal.
    pub version: u16,
    /// Index of the manufacturer's name.
    pub manufacturer_string: u8,
    /// Index of the product's name.
    pub product_string: u8,
}

impl Device {
    /// Reads a whole device descriptor.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let d = bytes.first_chunk::<18>()?;
        (d[0] >= 18 && d[1] == DEVICE).then(|| Self {
            usb: u16::from_le_bytes([d[2], d[3]]),
            class: (d[4], d[5], d[6]),
            max_packet: d[7],
            vendor: u16::from_le_bytes([d[8], d[9]]),
            product: u16::from_le_bytes([d[10], d[11]]),
            version: u16::from_le_bytes([d[12], d[13]]),
            manufacturer_string: d[14],
            product_string: d[15],
        })
    }
}

/// A part of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An interface, or an alternate setting of one.
    Interface {
        /// Its number.
        number: u8,
        /// The alternate setting.
        alternate: u8,
        /// Class, subclass and protocol.
        class: (u8, u8, u8),
    },
    /// An endpoint of the interface before it.
    Endpoint {
        /// Its address.
        address: EndpointAddress,
        /// How it transfers.
        transfer: TransferType,
        /// Bytes of its largest packet.
        max_packet: u16,
        /// Polling interval as coded.
        interval: u8,
    },
    /// A functional descriptor of the communication class (CDC 1.2, table 13), by its subtype.
    Functional(u8),
    /// Anything else, by its type.
    Other(u8),
}

/// The parts of a configuration descriptor as far as they were captured.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    rest: &'a [u8],
}

/// Iterates over a configuration descriptor; `None` when it is something else.
pub fn configuration(bytes: &[u8]) -> Option<Parts<'_>> {
    let head = bytes.first_chunk::<9>()?;
    let total = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let whole = bytes.get(..total).unwrap_or(bytes);
    (head[1] == CONFIGURATION && head[0] >= 9).then(|| Parts { rest: whole.get(usize::from(head[0])..).unwrap_or(&[]) })
}

/// Whether all of a configuration descriptor is there.
pub fn is_whole_configuration(bytes: &[u8]) -> bool {
    LE.u16_at(bytes, 2).is_some_and(|total| usize::from(total) <= bytes.len() && total > 9)
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let len = usize::from(*self.rest.first()?);
        let kind = *self.rest.get(1)?;
        if len < 2 {
            self.rest = &[];
            return None;
        }
        let Some((d, rest)) = self.rest.split_at_checked(len) else {
            self.rest = &[];
            return None;
        };
        self.rest = rest;
        Some(match (kind, d) {
            (INTERFACE, &[_, _, number, alternate, _, class, subclass, protocol, ..]) => {
                Part::Interface { number, alternate, class: (class, subclass, protocol) }
            }
            (ENDPOINT, &[_, _, address, attributes, low, high, interval, ..]) => Part::Endpoint {
                address: EndpointAddress(address),
                transfer: TransferType::from_attributes(attributes),
                max_packet: u16::from_le_bytes([low, high]) & 0x7ff,
                interval,
            },
            (CLASS_INTERFACE, &[_, _, subtype, ..]) => Part::Functional(subtype),
            _ => Part::Other(kind),
        })
    }
}

/// The text of a string descriptor (UTF-16), at most 126 characters.
pub fn string(bytes: &[u8]) -> Option<String> {
    let (&len, &kind) = (bytes.first()?, bytes.get(1)?);
    if kind != STRING || len < 4 {
        return None;
    }
    let text = bytes.get(2..usize::from(len)).or_else(|| bytes.get(2..))?;
    let units = text.chunks_exact(2).filter_map(|pair| LE.u16_at(pair, 0));
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// What a class, subclass and protocol stand for (USB-IF class codes, and the vendors' habits where the code is theirs).
pub const fn class_name(class: (u8, u8, u8)) -> &'static str {
    match class {
        (0, ..) => "per interface",
        (1, ..) => "audio",
        (2, 2, 0xff) => "RNDIS (control)",
        (2, 2, _) => "CDC ACM (modem)",
        (2, 6, _) => "CDC ECM",
        (2, 9, _) => "CDC device management",
        (2, 0x0c, _) => "CDC EEM",
        (2, 0x0d, _) => "CDC NCM",
        (2, 0x0e, _) => "MBIM",
        (2, ..) => "communication",
        (3, ..) => "HID",
        (6, ..) => "still image",
        (7, ..) => "printer",
        (8, ..) => "mass storage",
        (9, ..) => "hub",
        (0x0a, 0, 1) => "CDC data (NTB)",
        (0x0a, 0, 2) => "CDC data (MBIM)",
        (0x0a, ..) => "CDC data",
        (0x0b, ..) => "smart card",
        (0x0e, ..) => "video",
        (0xe0, 1, 1) => "Bluetooth",
        (0xe0, 1, 3) => "RNDIS (control)",
        (0xe0, ..) => "wireless controller",
        (0xef, 4, 1) => "RNDIS (control)",
        (0xef, ..) => "miscellaneous",
        (0xfe, ..) => "application specific",
        (0xff, ..) => "vendor specific",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAN: [u8; 34] = [
        9, 2, 34, 0, 1, 1, 0, 0xa0, 0x32, 9, 4, 0, 0, 1, 3, 1, 2, 0, 9, 0x21, 0x10, 1, 0, 1, 0x22, 0x41, 0, 7, 5, 0x81,
        3, 8, 0, 10,
    ];

    #[test]
    fn the_configuration_of_a_fan() {
        let parts: Vec<_> = configuration(&FAN).unwrap().collect();
        assert_eq!(parts[0], Part::Interface { number: 0, alternate: 0, class: (3, 1, 2) });
        assert_eq!(parts[1], Part::Other(0x21));
        let interrupt = TransferType::Interrupt;
        let expected =
            Part::Endpoint { address: EndpointAddress(0x81), transfer: interrupt, max_packet: 8, interval: 10 };
        assert_eq!(parts[2], expected);
        assert!(is_whole_configuration(&FAN) && !is_whole_configuration(&FAN[..32]));
    }

    #[test]
    fn strings_are_utf_16() {
        assert_eq!(string(&[8, 3, b'H', 0, b'I', 0, b'D', 0]).as_deref(), Some("HID"));
        assert_eq!(string(&[2, 3]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>, len in 9u8..12, total: u16) {
            let mut descriptor = vec![len, CONFIGURATION];
            descriptor.extend(total.to_le_bytes());
            descriptor.extend(&bytes);
            if let Some(parts) = configuration(&descriptor) {
                assert!(parts.count() <= descriptor.len() / 2);
            }
            let _ = (string(&bytes), Device::parse(&bytes));
        }
    }
}
