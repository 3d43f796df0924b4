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

/// Vendors of USB modems with Qualcomm chips, as in Linux' qmi_wwan.c: those that make little else, and others.
const MODEM_VENDORS: [u16; 9] = [0x2c7c, 0x1199, 0x1bc7, 0x05c6, 0x1e2d, 0x1e0e, 0x2020, 0x0f3d, 0x16d8];
const OTHER_MODEM_VENDORS: [u16; 5] = [0x413c, 0x12d1, 0x19d2, 0x03f0, 0x0489];

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
        evidence.push(format!("{} {way} the host {carry} {}", counted(*n, "transfer"), carried_by(*framing, *is_in)));
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
    if device.has_realtek_registers() {
        add(
            device.register_reads + device.register_writes,
            "vendor request 05 that reads or writes a register below 0x1000",
            "vendor requests 05 that read or write registers below 0x1000",
        );
    }
    add(device.firmware_writes, "vendor request 30 that writes firmware", "vendor requests 30 that write firmware");
    add(device.ntb_requests, "request for NTB parameters", "requests for NTB parameters");
    // Where descriptors name the class, its requests add nothing.
    if device.interfaces.is_empty() {
        add(
            device.port_requests,
            "request about a port, which only hubs accept",
            "requests about ports, which only hubs accept",
        );
        add(
            device.hid_requests,
            "request that sets or asks for a HID report",
            "requests that set or ask for a HID report",
        );
    }

    let makes_modems = ids.is_some_and(|(vendor, _)| MODEM_VENDORS.contains(&vendor));
    let qmi_vendor = makes_modems || ids.is_some_and(|(vendor, _)| OTHER_MODEM_VENDORS.contains(&vendor));
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
    let is_qmi = device.qmux > 0 || (vendor_interface && qmi_vendor && ip >= ENOUGH);
    if is_qmi {
        let ip_ways = |way| carried.iter().any(|c| matches!(c.0, Framing::Qmap | Framing::RawIp) && c.1 == way);
        let name = if device.qmux > 0 || makes_modems || (ip_ways(true) && ip_ways(false)) {
            "QMI modem (raw IP or QMAP)"
        } else {
            "perhaps a QMI modem (IP packets one way only)"
        };
        return class("qmi", name, if vendor_interface && makes_modems { "both" } else { "content" });
    }
    if may_be_network && count(Framing::Qmap) >= ENOUGH {
        let name =
            if both_ways(Framing::Qmap) { "QMI modem (QMAP)" } else { "perhaps a QMI modem (QMAP one way only)" };
        return class("qmi", name, "content");
    }
    if is_atheros {
        return class("atheros-wifi", "Atheros Wi-Fi", if device.firmware_writes > 0 { "both" } else { "descriptor" });
    }
    if device.is_realtek() && may_be_network {
        return class("realtek-wifi", "Realtek Wi-Fi", if device.is_by_realtek() { "both" } else { "content" });
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
    if may_be_network && count(Framing::Ethernet) >= ENOUGH {
        return class("ecm", "network device with one Ethernet frame per transfer", "content");
    }
    if may_be_network && count(Framing::RawIp) >= ENOUGH {
        return class("raw-ip", "network device with one IP packet per transfer", "content");
    }
    let is_hub = device.descriptor.is_some_and(|d| d.class.0 == 9);
    if device.interfaces.is_empty() && (is_hub || device.port_requests > 0) {
        let by = match (is_hub, device.port_requests > 0) {
            (true, true) => "both",
            (true, false) => "descriptor",
            (false, _) => "content",
        };
        return class("hub", "hub", by);
    }
    if device.interfaces.is_empty() && device.hid_requests >= ENOUGH {
        return class("hid", "human interface device", "content");
    }
    if !device.interfaces.is_empty() || ids.is_some() {
        let name = if vendor_interface {
            "of the vendor's own class: its descriptors do not define it"
        } else if device.interfaces.is_empty() {
            "unknown: its interfaces are not in the capture"
        } else if may_be_network {
            "unknown: network devices and others have interfaces of its classes"
        } else {
            "no network device, by its interfaces"
        };
        return if is_hub { class("hub", "hub", "descriptor") } else { class("other", name, "descriptor") };
    }
    let has_requests = device.hid_requests + device.ntb_requests + device.firmware_writes > 0;
    let name = match (carried.iter().all(|(framing, ..)| *framing == Framing::Other), has_requests) {
        (true, false) => "unknown: no descriptors and nothing known in its transfers",
        (true, true) => "unknown: no descriptors, and too few requests that look like something known",
        (false, _) => "unknown: no descriptors, and too few transfers that look like something known",
    };
    class("unknown", name, "none")
}

/// What the transfers of a framing carry to the host (`is_in`) or from it, in words.
fn carried_by(framing: Framing, is_in: bool) -> &'static str {
    match framing {
        Framing::Qmap => "QMAP",
        Framing::RawIp => "bare IP packets",
        Framing::Ntb16 => "16-bit NTBs",
        Framing::Ntb32 => "32-bit NTBs",
        Framing::Rndis => "RNDIS messages",
        Framing::Ethernet => "Ethernet frames",
        Framing::Realtek => "Realtek descriptors",
        Framing::MassStorage if is_in => "status blocks of mass storage",
        Framing::MassStorage => "command blocks of mass storage",
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
        assert_eq!(own.name, "of the vendor's own class: its descriptors do not define it");
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
        assert_eq!(hub.evidence, ["5 requests about ports, which only hubs accept"]);
        assert_eq!((with(0, 4).kind, with(0, 4).by), ("hid", "content"));
        assert_eq!((with(1, 0).kind, with(1, 0).evidence.len()), ("hub", 1), "hubs alone take it");
        assert_eq!(with(0, 3).kind, "unknown");
        assert_eq!(with(0, 3).name, "unknown: no descriptors, and too few requests that look like something known");
    }

    /// A device of `vendor` with an interface of the vendor's own class, that has seen register requests of these kinds.
    fn of_vendor(vendor: u16, requests: impl Iterator<Item = (u8, u16)>) -> Device {
        let mut device = Device::default();
        let mut descriptor = [0; 18];
        descriptor[..2].copy_from_slice(&[18, 1]);
        descriptor[8..10].copy_from_slice(&vendor.to_le_bytes());
        device.describe(wire::usb::descriptors::Device::parse(&descriptor).unwrap());
        let own = crate::device::Interface { number: 0, alternate: 0, class: (0xff, 0, 0), endpoints: Vec::new() };
        device.interfaces.push(own);
        let place = crate::qmi::Place { record: 1, time_us: None, is_after: false };
        for (request_type, register) in requests {
            let [low, high] = register.to_le_bytes();
            let setup = wire::usb::setup::Setup::from_bytes([request_type, 5, low, high, 0, 0, 1, 0]);
            device.requested(setup, place, &[], 1);
        }
        device
    }

    #[test]
    fn requests_05_alone_are_no_wifi_chip() {
        let ethernet = of_vendor(0x0bda, (0..40).map(|n| (0xc0 - 0x80 * (n % 2), 0xb400 + u16::from(n))));
        let serial = of_vendor(0x0403, (0..40).map(|_| (0xc0, 0)));
        let another = of_vendor(0x1234, (0..40).map(|n| (0xc0 - 0x80 * (n % 2), u16::from(n))));
        for device in [ethernet, serial, another] {
            assert!(!device.is_realtek());
            let class = classify(&device, &[]);
            assert_eq!((class.kind, class.by), ("other", "descriptor"));
        }
        let chip = of_vendor(0x0bda, (0..40).map(|n| (0xc0 - 0x80 * (n % 2), u16::from(n))));
        assert_eq!((classify(&chip, &[]).kind, classify(&chip, &[]).by), ("realtek-wifi", "both"));
        let mut frames = of_vendor(0x1234, std::iter::empty());
        frames.realtek_frames = 4;
        let class = classify(&frames, &[(Framing::Realtek, false, 4)]);
        assert_eq!((class.kind, class.by), ("realtek-wifi", "content"));
    }

    #[test]
    fn a_vendor_of_more_than_modems_is_no_proof_of_one() {
        let class = |vendor, carried: &[(Framing, bool, u64)]| {
            let class = classify(&of_vendor(vendor, std::iter::empty()), carried);
            (class.kind, class.name, class.by)
        };
        assert_eq!(class(0x03f0, &[(Framing::RawIp, false, 1)]).0, "other", "one IP packet");
        let perhaps = ("qmi", "perhaps a QMI modem (IP packets one way only)", "content");
        assert_eq!(class(0x03f0, &[(Framing::RawIp, false, 4)]), perhaps);
        assert_eq!(class(0x2c7c, &[(Framing::RawIp, false, 4)]), ("qmi", "QMI modem (raw IP or QMAP)", "both"));
    }

    #[test]
    fn status_blocks_go_to_the_host() {
        let storage = [(Framing::MassStorage, true, 2), (Framing::MassStorage, false, 1)];
        let said = [
            "2 transfers to the host carry status blocks of mass storage",
            "1 transfer from the host carries command blocks of mass storage",
        ];
        assert_eq!(classify(&Device::default(), &storage).evidence, said);
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
