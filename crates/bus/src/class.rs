//! What a device is, by its descriptors and by what its transfers carry, with the evidence for it.

use sentence::{counted, grouped};
use wire::usb::descriptors;

use crate::device::{Device, Interface};
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
    let seen = Seen { device, carried, by_interface: by_interface(device) };
    let (kind, name, by) = seen
        .network_interface()
        .or_else(|| seen.modem())
        .or_else(|| seen.wifi())
        .or_else(|| seen.by_interface.map(|(kind, name, _)| (kind, name, "descriptor")))
        .or_else(|| seen.by_content())
        .or_else(|| seen.by_requests())
        .unwrap_or_else(|| seen.unnamed());
    Class { kind, name, by, evidence: seen.evidence() }
}

/// Kind, name, and what shows it.
type Answer = (&'static str, &'static str, &'static str);

/// The interface that tells most about a device, with kind and name; one of a network device goes before others.
fn by_interface(device: &Device) -> Option<(&'static str, &'static str, &Interface)> {
    let network = |kind: &str| matches!(kind, "ncm" | "mbim" | "ecm" | "rndis");
    let mut best: Option<(&'static str, &'static str, &Interface)> = None;
    for interface in &device.interfaces {
        let (kind, name) = match interface.class {
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
        if best.is_none_or(|(known, ..)| !network(known) && network(kind)) {
            best = Some((kind, name, interface));
        }
    }
    best
}

/// What a capture has of a device.
struct Seen<'a> {
    device: &'a Device,
    carried: &'a [(Framing, bool, u64)],
    by_interface: Option<(&'static str, &'static str, &'a Interface)>,
}

impl Seen<'_> {
    fn ids(&self) -> Option<(u16, u16)> {
        self.device.descriptor.map(|descriptor| (descriptor.vendor, descriptor.product))
    }

    /// Transfers of a framing, both ways.
    fn count(&self, framing: Framing) -> u64 {
        self.carried.iter().filter(|(other, ..)| *other == framing).map(|(.., n)| n).sum()
    }

    /// Whether transfers of any of `framings` went to the host and from it.
    fn both_ways(&self, framings: &[Framing]) -> bool {
        [true, false].into_iter().all(|way| self.carried.iter().any(|c| framings.contains(&c.0) && c.1 == way))
    }

    fn has_vendor_interface(&self) -> bool {
        self.device.interfaces.iter().any(|interface| interface.class.0 == 0xff)
    }

    /// Where the descriptors name other classes only, what transfers look like is an accident.
    fn may_be_network(&self) -> bool {
        let classes = || self.device.interfaces.iter().map(|interface| interface.class.0);
        classes().next().is_none() || classes().any(|class| matches!(class, 0x02 | 0x0a | 0xe0 | 0xef | 0xff))
    }

    /// A network device, by its descriptors.
    fn network_interface(&self) -> Option<Answer> {
        let (kind, name, _) = self.by_interface?;
        let seen = match kind {
            "ncm" | "mbim" => self.count(Framing::Ntb16) + self.count(Framing::Ntb32),
            "ecm" => self.count(Framing::Ethernet),
            "rndis" => self.count(Framing::Rndis),
            _ => return None,
        };
        Some((kind, name, if seen > 0 { "both" } else { "descriptor" }))
    }

    /// A modem that speaks QMI, by messages, by its vendor and IP packets, or by QMAP.
    fn modem(&self) -> Option<Answer> {
        let ids = self.ids();
        let makes_modems = ids.is_some_and(|(vendor, _)| MODEM_VENDORS.contains(&vendor));
        let qmi_vendor = makes_modems || ids.is_some_and(|(vendor, _)| OTHER_MODEM_VENDORS.contains(&vendor));
        let vendor_interface = self.has_vendor_interface();
        let ip = self.count(Framing::Qmap) + self.count(Framing::RawIp);
        if self.device.qmux > 0 || (vendor_interface && qmi_vendor && ip >= ENOUGH) {
            let is_sure = self.device.qmux > 0 || makes_modems || self.both_ways(&[Framing::Qmap, Framing::RawIp]);
            let name =
                if is_sure { "QMI modem (raw IP or QMAP)" } else { "perhaps a QMI modem (IP packets one way only)" };
            return Some(("qmi", name, if vendor_interface && makes_modems { "both" } else { "content" }));
        }
        if !self.may_be_network() || self.count(Framing::Qmap) < ENOUGH {
            return None;
        }
        let name = if self.both_ways(&[Framing::Qmap]) {
            "QMI modem (QMAP)"
        } else {
            "perhaps a QMI modem (QMAP one way only)"
        };
        Some(("qmi", name, "content"))
    }

    /// A Wi-Fi chip, by its identifiers or by its vendor's requests.
    fn wifi(&self) -> Option<Answer> {
        let device = self.device;
        if self.ids().is_some_and(|ids| ATHEROS.contains(&ids)) {
            return Some((
                "atheros-wifi",
                "Atheros Wi-Fi",
                if device.firmware_writes > 0 { "both" } else { "descriptor" },
            ));
        }
        let by = if device.is_by_realtek() { "both" } else { "content" };
        (device.is_realtek() && self.may_be_network()).then_some(("realtek-wifi", "Realtek Wi-Fi", by))
    }

    /// By what its transfers look like.
    fn by_content(&self) -> Option<Answer> {
        let is_network = self.may_be_network();
        let answer = if is_network && self.count(Framing::Ntb16) + self.count(Framing::Ntb32) > 0 {
            ("ncm", "NCM or MBIM network device")
        } else if is_network && self.count(Framing::Rndis) > 0 {
            ("rndis", "RNDIS network device")
        } else if self.count(Framing::MassStorage) > 0 {
            ("mass-storage", "mass storage")
        } else if is_network && self.count(Framing::Ethernet) >= ENOUGH {
            ("ecm", "network device with one Ethernet frame per transfer")
        } else if is_network && self.count(Framing::RawIp) >= ENOUGH {
            ("raw-ip", "network device with one IP packet per transfer")
        } else {
            return None;
        };
        Some((answer.0, answer.1, "content"))
    }

    fn is_hub(&self) -> bool {
        self.device.descriptor.is_some_and(|descriptor| descriptor.class.0 == 9)
    }

    /// By the requests of its class, where no descriptors of interfaces name one.
    fn by_requests(&self) -> Option<Answer> {
        if !self.device.interfaces.is_empty() {
            return None;
        }
        match (self.is_hub(), self.device.port_requests > 0) {
            (true, true) => Some(("hub", "hub", "both")),
            (true, false) => Some(("hub", "hub", "descriptor")),
            (false, true) => Some(("hub", "hub", "content")),
            (false, false) => {
                (self.device.hid_requests >= ENOUGH).then_some(("hid", "human interface device", "content"))
            }
        }
    }

    /// Nothing that is known here: what is missing for a name.
    fn unnamed(&self) -> Answer {
        let device = self.device;
        if !device.interfaces.is_empty() || self.ids().is_some() {
            let name = if self.has_vendor_interface() {
                "of the vendor's own class: its descriptors do not define it"
            } else if device.interfaces.is_empty() {
                "unknown: its interfaces are not in the capture"
            } else if self.may_be_network() {
                "unknown: network devices and others have interfaces of its classes"
            } else {
                "no network device, by its interfaces"
            };
            return if self.is_hub() { ("hub", "hub", "descriptor") } else { ("other", name, "descriptor") };
        }
        let has_requests = device.hid_requests + device.ntb_requests + device.firmware_writes > 0;
        let name = match (self.carried.iter().all(|(framing, ..)| *framing == Framing::Other), has_requests) {
            (true, false) => "unknown: no descriptors and nothing known in its transfers",
            (true, true) => "unknown: no descriptors, and too few requests that look like something known",
            (false, _) => "unknown: no descriptors, and too few transfers that look like something known",
        };
        ("unknown", name, "none")
    }

    /// Everything that tells what the device is, in words.
    fn evidence(&self) -> Vec<String> {
        let mut evidence = Vec::new();
        if let Some((vendor, product)) = self.ids() {
            evidence.push(format!("vendor and product {vendor:04x}:{product:04x}"));
        }
        if let Some((_, _, interface)) = self.by_interface {
            let (class, subclass, protocol) = interface.class;
            let name = descriptors::class_name(interface.class);
            evidence.push(format!(
                "interface {}: class {class:02x}/{subclass:02x}/{protocol:02x} ({name})",
                interface.number
            ));
        }
        for (framing, is_in, n) in self.carried.iter().filter(|(framing, ..)| *framing != Framing::Other) {
            let way = if *is_in { "to" } else { "from" };
            let carry = if *n == 1 { "carries" } else { "carry" };
            evidence.push(format!(
                "{} {way} the host {carry} {}",
                counted(*n, "transfer"),
                carried_by(*framing, *is_in)
            ));
        }
        let requests = requests(self.device);
        let made = requests.into_iter().filter(|(n, ..)| *n > 0);
        evidence.extend(made.map(|(n, one, many)| format!("{} {}", grouped(n), if n == 1 { one } else { many })));
        evidence
    }
}

/// How many requests of each kind that tells something a device had, in words of one and of several.
fn requests(device: &Device) -> Vec<(u64, &'static str, &'static str)> {
    let mut found = vec![(
        device.qmux,
        "QMUX message in encapsulated commands and responses",
        "QMUX messages in encapsulated commands and responses",
    )];
    if device.has_realtek_registers() {
        found.push((
            device.register_reads + device.register_writes,
            "vendor request 05 that reads or writes a register below 0x1000",
            "vendor requests 05 that read or write registers below 0x1000",
        ));
    }
    found.push((
        device.firmware_writes,
        "vendor request 30 that writes firmware",
        "vendor requests 30 that write firmware",
    ));
    found.push((device.ntb_requests, "request for NTB parameters", "requests for NTB parameters"));
    // Where descriptors name the class, its requests add nothing.
    if device.interfaces.is_empty() {
        found.push((
            device.port_requests,
            "request about a port, which only hubs accept",
            "requests about ports, which only hubs accept",
        ));
        found.push((
            device.hid_requests,
            "request that sets or asks for a HID report",
            "requests that set or ask for a HID report",
        ));
    }
    found
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
