//! What a device is, by its descriptors and by what its transfers carry, with the evidence for it.

use sentence::{counted, grouped};
use wire::usb::descriptors;

use crate::device::Device;
use crate::payload::Framing;

/// A conclusion about one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub kind: &'static str,
    pub name: &'static str,
    pub by: &'static str,
    pub evidence: Vec<String>,
}

/// Vendors of USB modems with Qualcomm chips, as in Linux' qmi_wwan.c.
const QUALCOMM_MODEM_VENDORS: [u16; 14] =
    [0x2c7c, 0x1199, 0x1bc7, 0x05c6, 0x1e2d, 0x413c, 0x12d1, 0x19d2, 0x1e0e, 0x2020, 0x0f3d, 0x03f0, 0x0489, 0x16d8];

/// Vendor and product of ath9k_htc and carl9170 devices, as in Linux' hif_usb.c and usb.c.
const ATHEROS: [(u16, u16); 24] = [
    (0x0cf3, 0x9271),
    (0x0cf3, 0x1006),
    (0x0cf3, 0x7010),
    (0x0cf3, 0x7015),
    (0x0cf3, 0x9170),
    (0x0cf3, 0xb003),
    (0x0cf3, 0x20ff),
    (0x0cf3, 0x1001),
    (0x0cf3, 0x1002),
    (0x0cf3, 0x1010),
    (0x0846, 0x9030),
    (0x0846, 0x9018),
    (0x0846, 0x9001),
    (0x0846, 0x9010),
    (0x07d1, 0x3a10),
    (0x07d1, 0x3c10),
    (0x13d3, 0x3327),
    (0x13d3, 0x3328),
    (0x13d3, 0x3346),
    (0x13d3, 0x3348),
    (0x13d3, 0x3349),
    (0x04ca, 0x4605),
    (0x057c, 0x8401),
    (0x0411, 0x017f),
];

/// Fewer transfers than this are not evidence by themselves.
const ENOUGH: u64 = 4;
const ENOUGH_REGISTERS: u64 = 16;

/// Classifies a device; `carried`: transfers by framing and direction (`true`: to the host).
pub fn classify(device: &Device, carried: &[(Framing, bool, u64)]) -> Class {
    let count = |framing| carried.iter().filter(|(f, ..)| *f == framing).map(|(.., n)| n).sum::<u64>();
    let mut evidence = Vec::new();
    let ids = device.descriptor.map(|d| (d.vendor, d.product));
    if let Some((vendor, product)) = ids {
        evidence.push(format!("vendor and product {vendor:04x}:{product:04x}"));
    }
    let mut by_interface = None;
    for interface in &device.interfaces {
        let found = match interface.class {
            (2, 0x0d, _) => ("ncm", "CDC NCM network device"),
            (2, 0x0e, _) => ("mbim", "MBIM modem"),
            (2, 6, _) => ("ecm", "CDC ECM network device"),
            (2, 2, 0xff) | (0xe0, 1, 3) | (0xef, 4, 1) => ("rndis", "RNDIS network device"),
            (8, ..) => ("mass-storage", "mass storage"),
            (9, ..) => ("hub", "hub"),
            (0xe0, 1, 1) => ("bluetooth", "Bluetooth controller"),
            (3, ..) => ("hid", "human interface device"),
            (2, 2, _) => ("serial", "CDC ACM serial device"),
            _ => continue,
        };
        let network = |kind: &str| matches!(kind, "ncm" | "mbim" | "ecm" | "rndis");
        if by_interface.is_none_or(|(kind, _, _)| !network(kind) && network(found.0)) {
            by_interface = Some((found.0, found.1, interface));
        }
    }
    if let Some((_, _, interface)) = by_interface {
        let (class, subclass, protocol) = interface.class;
        let name = descriptors::class_name(interface.class);
        evidence
            .push(format!("interface {}: class {class:02x}/{subclass:02x}/{protocol:02x} ({name})", interface.number));
    }
    for (framing, is_in, n) in carried.iter().filter(|(framing, ..)| *framing != Framing::Other) {
        let way = if *is_in { "to" } else { "from" };
        let carry = if *n == 1 { "carries" } else { "carry" };
        evidence.push(format!("{} {way} the host {carry} {}", counted(*n, "transfer"), carried_by(*framing)));
    }
    let vendor_interface = device.interfaces.iter().any(|interface| interface.class.0 == 0xff);
    let mut add = |n: u64, one: &str, many: &str| {
        if n > 0 {
            evidence.push(format!("{} {}", grouped(n), if n == 1 { one } else { many }));
        }
    };
    add(
        device.qmux,
        "QMUX message in encapsulated commands and responses",
        "QMUX messages in encapsulated commands and responses",
    );
    add(
        device.register_requests,
        "vendor request 05 that reads or writes registers",
        "vendor requests 05 that read or write registers",
    );
    add(device.firmware_writes, "vendor request 30 that writes firmware", "vendor requests 30 that write firmware");
    add(device.ntb_requests, "request for NTB parameters", "requests for NTB parameters");
    // Where descriptors name the class, its requests add nothing.
    if device.interfaces.is_empty() {
        add(
            device.port_requests,
            "request about a port, which hubs alone take",
            "requests about ports, which hubs alone take",
        );
        add(
            device.hid_requests,
            "request that sets or asks for a HID report",
            "requests that set or ask for a HID report",
        );
    }

    let qmi_vendor = ids.is_some_and(|(vendor, _)| QUALCOMM_MODEM_VENDORS.contains(&vendor));
    let mut class = |kind, name, by| Class { kind, name, by, evidence: std::mem::take(&mut evidence) };
    let ntbs = count(Framing::Ntb16) + count(Framing::Ntb32);
    let ip = count(Framing::Qmap) + count(Framing::RawIp);
    let both_ways = |framing| [true, false].into_iter().all(|way| carried.iter().any(|c| c.0 == framing && c.1 == way));
    // Where the descriptors name other classes only, what transfers look like is an accident.
    let may_be_network = device.interfaces.is_empty()
        || device.interfaces.iter().any(|interface| matches!(interface.class.0, 0x02 | 0x0a | 0xe0 | 0xef | 0xff));
    let is_atheros = ids.is_some_and(|ids| ATHEROS.contains(&ids));
    if let Some((kind @ ("ncm" | "mbim" | "ecm" | "rndis"), name, _)) = by_interface {
        let seen = match kind {
            "ncm" | "mbim" => ntbs,
            "ecm" => count(Framing::Ethernet),
            _ => count(Framing::Rndis),
        };
        return class(kind, name, if seen > 0 { "both" } else { "descriptor" });
    }
    let is_qmi = device.qmux > 0 || (vendor_interface && qmi_vendor && ip > 0);
    if is_qmi {
        return class("qmi", "QMI modem (raw IP or QMAP)", if vendor_interface { "both" } else { "content" });
    }
    if may_be_network && count(Framing::Qmap) >= ENOUGH {
        let name =
            if both_ways(Framing::Qmap) { "QMI modem (QMAP)" } else { "perhaps a QMI modem (QMAP one way only)" };
        return class("qmi", name, "content");
    }
    if is_atheros {
        return class("atheros-wifi", "Atheros Wi-Fi", if device.firmware_writes > 0 { "both" } else { "descriptor" });
    }
    if device.register_requests >= ENOUGH_REGISTERS && (count(Framing::Realtek) >= ENOUGH || vendor_interface) {
        return class("realtek-wifi", "Realtek Wi-Fi", if vendor_interface { "both" } else { "content" });
    }
    if let Some((kind, name, _)) = by_interface {
        return class(kind, name, "descriptor");
    }
    if may_be_network && ntbs > 0 {
        return class("ncm", "NCM or MBIM network device", "content");
    }
    if may_be_network && count(Framing::Rndis) > 0 {
        return class("rndis", "RNDIS network device", "content");
    }
    if count(Framing::MassStorage) > 0 {
        return class("mass-storage", "mass storage", "content");
    }
    if may_be_network && count(Framing::Realtek) >= ENOUGH {
        return class("realtek-wifi", "Realtek Wi-Fi", "content");
    }
    if may_be_network && count(Framing::Ethernet) >= ENOUGH {
        return class("ecm", "network device with one Ethernet frame per transfer", "content");
    }
    if may_be_network && count(Framing::RawIp) >= ENOUGH {
        return class("raw-ip", "network device with one IP packet per transfer", "content");
    }
    if device.interfaces.is_empty() && device.port_requests >= ENOUGH {
        return class("hub", "hub", "content");
    }
    if device.interfaces.is_empty() && device.hid_requests >= ENOUGH {
        return class("hid", "human interface device", "content");
    }
    if !device.interfaces.is_empty() || ids.is_some() {
        let hub = device.descriptor.is_some_and(|d| d.class.0 == 9);
        let name = if vendor_interface {
            "of the vendor's own class: its descriptors do not say what it is"
        } else if device.interfaces.is_empty() {
            "unknown: its interfaces are not in the capture"
        } else if may_be_network {
            "unknown: network devices and others have interfaces of its classes"
        } else {
            "no network device, by its interfaces"
        };
        return if hub { class("hub", "hub", "descriptor") } else { class("other", name, "descriptor") };
    }
    let name = if carried.iter().all(|(framing, ..)| *framing == Framing::Other) {
        "unknown: no descriptors and nothing known in its transfers"
    } else {
        "unknown: no descriptors, and too few transfers that look like something known"
    };
    class("unknown", name, "none")
}

/// What the transfers of a framing carry, in words.
fn carried_by(framing: Framing) -> &'static str {
    match framing {
        Framing::Qmap => "QMAP",
        Framing::RawIp => "bare IP packets",
        Framing::Ntb16 => "16-bit NTBs",
        Framing::Ntb32 => "32-bit NTBs",
        Framing::Rndis => "RNDIS messages",
        Framing::Ethernet => "Ethernet frames",
        Framing::Realtek => "Realtek descriptors",
        Framing::MassStorage => "mass storage commands",
        Framing::Other => "other data",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_gives_way_to_descriptors() {
        let interface = |class| crate::device::Interface { number: 0, alternate: 0, class, endpoints: Vec::new() };
        let with = |class| {
            let mut device = Device::default();
            device.interfaces.push(interface(class));
            device
        };
        let both = [(Framing::Qmap, true, 300), (Framing::Qmap, false, 400)];
        assert_eq!(classify(&with((3, 0, 0)), &both).kind, "hid");
        assert_eq!(classify(&with((7, 1, 2)), &both).name, "no network device, by its interfaces");
        assert_eq!(classify(&with((0xff, 0, 0)), &both).kind, "qmi");
        let own = classify(&with((0xff, 0, 0)), &[]);
        assert_eq!(own.name, "of the vendor's own class: its descriptors do not say what it is");
        let eem = classify(&with((2, 0x0c, 7)), &[]);
        assert_eq!(eem.name, "unknown: network devices and others have interfaces of its classes");
    }

    #[test]
    fn requests_alone_name_a_hub_and_a_hid() {
        let with = |port_requests, hid_requests| {
            let mut device = Device::default();
            (device.port_requests, device.hid_requests) = (port_requests, hid_requests);
            classify(&device, &[])
        };
        let hub = with(5, 0);
        assert_eq!((hub.kind, hub.by), ("hub", "content"));
        assert_eq!(hub.evidence, ["5 requests about ports, which hubs alone take"]);
        assert_eq!((with(0, 4).kind, with(0, 4).by), ("hid", "content"));
        assert_eq!(with(0, 3).kind, "unknown");
    }

    #[test]
    fn content_alone_names_a_modem() {
        let both = [(Framing::Qmap, true, 30), (Framing::Qmap, false, 40)];
        let class = classify(&Device::default(), &both);
        assert_eq!((class.kind, class.name, class.by), ("qmi", "QMI modem (QMAP)", "content"));
        assert_eq!(class.evidence, ["30 transfers to the host carry QMAP", "40 transfers from the host carry QMAP"]);
        let one_way = classify(&Device::default(), &both[..1]);
        assert_eq!(one_way.name, "perhaps a QMI modem (QMAP one way only)");
        assert_eq!(classify(&Device::default(), &[(Framing::Qmap, true, 3)]).kind, "unknown");
        assert_eq!(classify(&Device::default(), &[]).kind, "unknown");
    }
}
