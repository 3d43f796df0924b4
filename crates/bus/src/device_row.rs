//! What a device is and what it moved, as data.

use std::collections::BTreeMap;

use sentence::{counted, grouped};
use wire::usb::TransferType;

use crate::class::{classify, Class};
use crate::device::{Device, Interface};
use crate::endpoint::{Endpoint, Key};
use crate::payload::Framing;
use crate::report::{self, DEFAULT_ADDRESS};

/// The row of the device at `place`.
pub(crate) fn row(place: (u16, u16), device: &Device, endpoints: &[(Key, Endpoint)]) -> report::Device {
    let mut carried: BTreeMap<(Framing, bool), u64> = BTreeMap::new();
    let mut doubtful = Vec::new();
    let (mut completions, mut bytes_in, mut unknown_in) = (0, 0, 0);
    let (mut bytes_out, mut known_out, mut unknown_out) = (0, 0, 0);
    for (key, endpoint) in endpoints.iter().filter(|(key, _)| (key.bus, key.device) == place) {
        completions += endpoint.completions;
        if key.address & 0x80 != 0 {
            bytes_in += endpoint.bytes;
            unknown_in += endpoint.unknown_lengths;
        } else {
            bytes_out += endpoint.bytes;
            known_out += endpoint.completions - endpoint.unknown_lengths;
            unknown_out += endpoint.unknown_lengths;
        }
        // What a device is does not depend on the window.
        for framing in Framing::ALL.into_iter().filter(|framing| endpoint.transfers(*framing) > 0) {
            let (is_in, n) = (key.address & 0x80 != 0, endpoint.transfers(framing));
            if framing.has_signature() || endpoint.is_steady(framing) {
                *carried.entry((framing, is_in)).or_default() += n;
            } else {
                let why =
                    if endpoint.carries_datagrams() { "too many of them break its rules" } else { "too few to decide" };
                let (name, of) = (framing.name(), endpoint.inspected());
                let address = key.address;
                doubtful.push(format!(
                    "{} of {} transfers on endpoint 0x{address:02x} look like {name}: {why}",
                    grouped(n),
                    grouped(of)
                ));
            }
        }
    }
    let carried: Vec<_> = carried.into_iter().map(|((framing, is_in), n)| (framing, is_in, n)).collect();
    let Class { kind, name, by, mut evidence } = classify(device, &carried);
    evidence.append(&mut doubtful);
    if device.enumerations > 1 {
        evidence.push(format!("given its address {} times", grouped(device.enumerations)));
    }
    let bcd = |value: u16| format!("{:x}.{:02x}", value >> 8, value & 0xff);
    let d = device.descriptor;
    report::Device {
        name: format!("{}.{}", place.0, place.1),
        bus: u32::from(place.0),
        address: u32::from(place.1),
        vendor_id: d.map(|d| format!("{:04x}", d.vendor)),
        product_id: d.map(|d| format!("{:04x}", d.product)),
        manufacturer: device.string(d.map(|d| d.manufacturer_string)),
        product: device.string(d.map(|d| d.product_string)),
        usb_version: d.map(|d| bcd(d.usb)),
        device_version: d.map(|d| bcd(d.version)),
        speed: device.speed().map(str::to_owned),
        kind: kind.to_owned(),
        kind_name: name.to_owned(),
        kind_by: by.to_owned(),
        evidence,
        interfaces: device.interfaces.iter().map(interface_report).collect(),
        completions,
        bytes_out: (known_out > 0 || unknown_out == 0 || bytes_out > 0).then_some(bytes_out),
        bytes_out_unknown: Some(unknown_out),
        bytes_in,
        bytes_in_unknown: Some(unknown_in),
        enumerations: device.enumerations,
        earlier_ids: device.earlier().iter().map(|(vendor, product)| format!("{vendor:04x}:{product:04x}")).collect(),
    }
}

/// Requests to address 0 are of devices that have no address yet (USB 2.0, 9.1.1.4), which are other rows.
pub(crate) fn default_address(row: report::Device) -> report::Device {
    let requests = Some(row.completions).filter(|count| *count > 0);
    let evidence = requests.map(|count| {
        format!("{} to address 0, which devices have until they get an address of their own", counted(count, "request"))
    });
    let evidence = evidence.into_iter().collect();
    report::Device {
        kind: DEFAULT_ADDRESS.to_owned(),
        kind_name: "no device: the default address, while devices are enumerated".to_owned(),
        kind_by: "content".to_owned(),
        evidence,
        vendor_id: None,
        product_id: None,
        manufacturer: None,
        product: None,
        usb_version: None,
        device_version: None,
        speed: None,
        interfaces: Vec::new(),
        earlier_ids: Vec::new(),
        ..row
    }
}

fn interface_report(interface: &Interface) -> report::Interface {
    let (class, subclass, protocol) = interface.class;
    let endpoint = |(address, transfer, max): &(wire::usb::EndpointAddress, TransferType, u16)| {
        format!("0x{:02x} {} {max} B", address.0, transfer.name())
    };
    report::Interface {
        number: u32::from(interface.number),
        alternate: u32::from(interface.alternate),
        class_codes: format!("{class:02x}/{subclass:02x}/{protocol:02x}"),
        class_name: wire::usb::descriptors::class_name(interface.class).to_owned(),
        endpoints: interface.endpoints.iter().map(endpoint).collect(),
    }
}
