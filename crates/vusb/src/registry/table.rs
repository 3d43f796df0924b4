//! The table of devices as a document: what other programs go by.

use clap::Command;
use serde::Serialize;
use wire::usb::descriptors::{configuration, Part};
use wire::usb::TransferType;

use super::{DEVICES, STATIONS_MAX};
use crate::entry::{Band, Efuse, Entry, Kind, Plug, Security};
use crate::pci::{PciIdentity, NETWORK_CONTROLLER};

/// Name of the document.
pub const FORMAT: &str = "txop-vusb-devices";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 1;
/// The interface that drivers make of a wireless chip.
const CHIP_INTERFACE: &str = "wlan0";

/// The virtual devices, and what is known of each.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// Always `"txop-vusb-devices"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 1. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// Stations of a chip that is an access point, or access points of a chip, at most.
    pub stations_max: usize,
    /// The securities that an access point can have.
    pub securities: Vec<&'static str>,
    /// One after the other, in the order of help.
    pub devices: Vec<DeviceRow>,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DeviceKind {
    /// A wireless chip.
    Chip,
    /// A network function without a radio that a driver could see.
    Function,
}

/// What a device is plugged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Transport {
    /// USB.
    Usb,
    /// The slot of an SD host controller.
    Sdio,
    /// PCI.
    Pci,
}

/// A device.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceRow {
    /// Its name on command lines and in plans.
    pub name: &'static str,
    /// What it is called in sentences.
    pub label: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// What it is plugged into.
    pub bus: Transport,
    /// Vendor and product or device, in hexadecimal, as it comes.
    pub ids: String,
    /// What a wireless chip is called to drivers (Linux scripts/mod/file2alias.c: do_usb_entry, do_sdio_entry, do_pci_entry); `None` for a
    /// network function, with interfaces that depend on its options.
    pub modalias: Option<String>,
    /// The drivers that know it.
    pub drivers: Vec<KnownDriver>,
    /// The interface that its driver makes.
    pub interface: &'static str,
    /// Bands that it is in, GHz.
    pub bands_ghz: Vec<&'static str>,
    /// Spatial streams of a wireless chip.
    pub streams: Option<u8>,
    /// A wireless chip with 802.11ax: its access point in a guest has it, too.
    pub has_he: bool,
    /// The securities of an access point that it is modelled for.
    pub securities: Vec<&'static str>,
    /// It can be the access point of stations.
    pub is_access_point: bool,
    /// Options of `txop-vusb` that it takes and not every device does, without their dashes.
    pub options: Vec<String>,
    /// What is assumed of it, by name.
    pub assumptions: Vec<Assumption>,
    /// Its control endpoint and its bulk endpoints; none for an SDIO card or a device on PCI, and for a network function, with endpoints that depend
    /// on its options.
    pub endpoints: Vec<Endpoint>,
    /// What its counters are called in the schema of `txop-vusb-statistics`.
    pub statistics: &'static str,
}

/// A driver that knows a device.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownDriver {
    /// Its module.
    pub name: &'static str,
    /// The first Linux with a driver that knows the device; `None`: that of every kernel that guests have.
    pub from_kernel: Option<&'static str>,
    /// Where it knows the device only when it is built for that: how the alias of the device then begins.
    pub built_alias: Option<&'static str>,
}

/// An assumption.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assumption {
    /// Its name.
    pub name: &'static str,
    /// What it can be.
    pub values: &'static str,
}

/// An endpoint with a direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Endpoint {
    /// `in` or `out`.
    pub direction: &'static str,
    /// Its number.
    pub number: u8,
}

impl Table {
    /// Of all devices.
    pub fn of_all() -> Self {
        Self {
            format: FORMAT,
            version: FORMAT_VERSION,
            stations_max: STATIONS_MAX,
            securities: Security::ALL.iter().map(|security| security.name()).collect(),
            devices: DEVICES.iter().copied().map(DeviceRow::of).collect(),
        }
    }
}

impl Table {
    /// The document, with its keys in the order of the structs.
    ///
    /// # Errors
    /// None that is known: all of it is text, numbers and lists.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl DeviceRow {
    fn of(entry: &'static Entry) -> Self {
        let (vendor, product) = entry.ids();
        let chip = entry.chip();
        let (kind, interface) = match &entry.kind {
            Kind::Chip(_) => (DeviceKind::Chip, CHIP_INTERFACE),
            Kind::Function(function) => (DeviceKind::Function, function.interface),
        };
        Self {
            name: entry.name,
            label: entry.label,
            about: entry.about,
            kind,
            bus: match entry.plug {
                Plug::Usb(_) => Transport::Usb,
                Plug::Sdio(_) => Transport::Sdio,
                Plug::Pci(_) => Transport::Pci,
            },
            ids: format!("{vendor:04x}:{product:04x}"),
            modalias: chip.map(|_| modalias(entry)),
            drivers: entry
                .drivers
                .iter()
                .map(|driver| KnownDriver {
                    name: driver.name,
                    from_kernel: driver.from_kernel,
                    built_alias: driver.built_alias,
                })
                .collect(),
            interface,
            bands_ghz: chip.map(|chip| chip.bands.iter().copied().map(Band::name).collect()).unwrap_or_default(),
            streams: chip.map(|chip| chip.streams),
            has_he: chip.is_some_and(|chip| chip.has_he),
            securities: chip
                .map(|chip| chip.securities.iter().copied().map(Security::name).collect())
                .unwrap_or_default(),
            is_access_point: chip.is_some_and(|chip| chip.is_access_point),
            options: options(entry),
            assumptions: chip.map(|chip| assumptions(chip.assumptions)).unwrap_or_default(),
            endpoints: if chip.is_some() { endpoints(entry) } else { Vec::new() },
            statistics: entry.counters.name,
        }
    }
}

/// The options that not every device takes.
fn options(entry: &Entry) -> Vec<String> {
    let mut taken: Vec<&str> = Vec::new();
    let is_card = entry.is_card();
    if let Some(chip) = entry.chip() {
        taken.extend(["access-points", "assume"]);
        taken.extend(chip.is_access_point.then_some(["stations", "stations-up"]).into_iter().flatten());
        taken.extend((chip.efuse == Efuse::Given).then_some("efuse"));
        taken.extend((chip.times_interrupts || is_card).then_some("interrupt-us"));
    }
    if is_card {
        taken.extend(["bus-time", "card-lines", "card-mhz", "command-log", "host"]);
    }
    taken.extend(matches!(entry.plug, Plug::Usb(_)).then_some("replies"));
    let own = entry.options.iter().fold(Command::new(""), |command, group| (group.add)(command));
    let own: Vec<String> = own.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect();
    taken.into_iter().map(str::to_owned).chain(own).collect()
}

fn assumptions(names: &'static str) -> Vec<Assumption> {
    let one = |text: &'static str| text.split_once('=').map(|(name, values)| Assumption { name, values });
    names.split(", ").filter_map(one).collect()
}

fn modalias(entry: &Entry) -> String {
    let (vendor, product) = entry.ids();
    match entry.plug {
        Plug::Sdio(_) => format!("sdio:c00v{vendor:04X}d{product:04X}"),
        Plug::Pci(identity) => {
            let PciIdentity { subsystem_vendor, subsystem, .. } = identity();
            let (class, subclass) = NETWORK_CONTROLLER;
            format!(
                "pci:v{vendor:08X}d{product:08X}sv{subsystem_vendor:08X}sd{subsystem:08X}bc{class:02X}sc{subclass:02X}i00"
            )
        }
        Plug::Usb(identity) => {
            let identity = identity();
            let [_, _, _, _, class, subclass, protocol, _, _, _, _, _, r0, r1, ..] = identity.device;
            let release = u16::from_le_bytes([r0, r1]);
            let interface = configuration(&identity.configuration).into_iter().flatten().find_map(|part| match part {
                Part::Interface { number, alternate: 0, class: (class, subclass, protocol), .. } => {
                    Some(format!("ic{class:02X}isc{subclass:02X}ip{protocol:02X}in{number:02X}"))
                }
                _ => None,
            });
            format!(
                "usb:v{vendor:04X}p{product:04X}d{release:04X}dc{class:02X}dsc{subclass:02X}dp{protocol:02X}{}",
                interface.unwrap_or_default()
            )
        }
    }
}

fn endpoints(entry: &Entry) -> Vec<Endpoint> {
    let Plug::Usb(identity) = entry.plug else { return Vec::new() };
    let mut bulk: Vec<Endpoint> = configuration(&identity().configuration)
        .into_iter()
        .flatten()
        .filter_map(|part| match part {
            Part::Endpoint { address, transfer: TransferType::Bulk, .. } => {
                Some(Endpoint { direction: if address.is_in() { "in" } else { "out" }, number: address.number() })
            }
            _ => None,
        })
        .collect();
    bulk.sort();
    let control = ["in", "out"].map(|direction| Endpoint { direction, number: 0 });
    control.into_iter().chain(bulk).collect()
}
