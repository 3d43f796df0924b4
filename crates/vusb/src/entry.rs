//! What is listed of a device, once, beside its model: the one place that the command line, the table of devices and the
//! schema of the counters go by. [`crate::registry`] is the list.
//!
//! A device without a radio, of which nothing is modelled, as an example of all that one takes:
//!
//! ```
//! use vusb::device::{ControlReply, Device, DeviceCounters, Identity, InReply, OutReply, Speed};
//! use vusb::entry::{CountersOf, Driver, Entry, Function, Kind, Plug};
//! use vusb::state::{Reader, State, StateError, Writer};
//! use vusb::trace::Plain;
//! use wire::usb::setup::Setup;
//!
//! /// What it has counted: the document of statistics has it.
//! #[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
//! # #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
//! pub struct Statistics {
//!     /// Transfers from the host.
//!     pub transfers: u64,
//! }
//!
//! fn identity() -> Identity {
//!     let device = [18, 1, 0, 2, 0xff, 0, 0, 64, 0x6b, 0x1d, 0x04, 0x01, 0, 1, 0, 0, 0, 1];
//!     let configuration = vec![9, 2, 18, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 0, 0xff, 0, 0, 0];
//!     Identity { device, configuration, strings: Vec::new(), speed: Speed::High }
//! }
//!
//! struct Sink { identity: Identity, counters: Statistics }
//!
//! impl Device for Sink {
//!     fn identity(&self) -> &Identity { &self.identity }
//!     fn control(&mut self, _now_ns: u64, _setup: Setup, _data: &[u8]) -> ControlReply { ControlReply::Stall }
//!     fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, _data: &[u8]) -> OutReply {
//!         self.counters.transfers += 1;
//!         OutReply::Accepted
//!     }
//!     fn transfer_in(&mut self, _now_ns: u64, _endpoint: u8, _transfer: &mut Vec<u8>) -> InReply { InReply::Nak }
//!     fn advance(&mut self, _now_ns: u64) {}
//!     fn next_event(&self) -> Option<u64> { None }
//!     fn statistics(&self) -> Option<Box<dyn DeviceCounters>> { Some(Box::new(self.counters)) }
//!     fn save_state(&self, to: &mut Writer) -> Result<(), StateError> { self.save(to) }
//!     fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> { self.restore(from) }
//! }
//!
//! // What changes, and what it is made with: every field.
//! vusb::state!(Sink { counters } made { identity });
//!
//! /// In `crates/vusb/src/functions/sink/entry.rs`; its line in `registry.rs` is `&functions::sink::entry::SINK`.
//! pub static SINK: Entry = Entry {
//!     name: "sink",
//!     label: "sink",
//!     about: "Takes everything, and answers nothing",
//!     plug: Plug::Usb(identity),
//!     kind: Kind::Function(Function { interface: "usb0" }),
//!     drivers: &[Driver::stock("usbnet")],
//!     options: &[],
//!     make: |_making| Ok(Box::new(Sink { identity: identity(), counters: Statistics::default() })),
//!     vocabulary: || Box::new(Plain),
//!     counters: CountersOf::device::<Statistics>("SinkStatistics"),
//! };
//! # assert_eq!(SINK.ids(), (0x1d6b, 0x0104));
//! ```

use clap::Command;
use sdio::CardIdentity;

use crate::device::{Device, Identity};
use crate::making::{MakeError, Making};
use crate::pci::PciIdentity;
use crate::trace::Vocabulary;

/// A device, as everything outside of its model knows it.
pub struct Entry {
    /// Its name on the command line and in plans.
    pub name: &'static str,
    /// What it is called in sentences.
    pub label: &'static str,
    /// What it is, in a line of help.
    pub about: &'static str,
    /// Where it is plugged in, and who it says it is.
    pub plug: Plug,
    /// What kind of device it is.
    pub kind: Kind,
    /// The drivers that know it.
    pub drivers: &'static [Driver],
    /// Options of the command line that it has beside those of its surroundings, each group once however many devices have it.
    pub options: &'static [Options],
    /// Makes it.
    pub make: fn(&Making<'_>) -> Result<Box<dyn Device>, MakeError>,
    /// What its transfers mean, for traces.
    pub vocabulary: fn() -> Box<dyn Vocabulary>,
    /// What it counts.
    pub counters: CountersOf,
}

/// Where a device is plugged in, and who it says it is, as it comes.
#[derive(Clone, Copy)]
pub enum Plug {
    /// USB.
    Usb(fn() -> Identity),
    /// A card in the slot of an SD host controller.
    Sdio(fn() -> CardIdentity),
    /// PCI.
    Pci(fn() -> PciIdentity),
}

/// What kind of device it is.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A wireless chip: it has air, and peers on it.
    Chip(Chip),
    /// A network function without a radio that a driver could see.
    Function(Function),
}

/// What only wireless chips have.
#[derive(Clone, Copy)]
pub struct Chip {
    /// Bands that it is in.
    pub bands: &'static [Band],
    /// Spatial streams.
    pub streams: u8,
    /// 802.11ax: its access point announces it, too.
    pub has_he: bool,
    /// The securities of its access point that it is modelled for.
    pub securities: &'static [Security],
    /// It can be the access point of stations (`--stations`).
    pub is_access_point: bool,
    /// `--efuse`.
    pub efuse: Efuse,
    /// `--interrupt-us` is about it; with every SDIO card it is about the host controller.
    pub times_interrupts: bool,
    /// Checks an assumption, `NAME=VALUE`. The error has those that there are.
    pub check_assumption: fn(&str) -> Result<(), String>,
    /// The assumptions that there are: `NAME=VALUES, ...`.
    pub assumptions: &'static str,
}

/// What only network functions have.
#[derive(Clone, Copy)]
pub struct Function {
    /// The interface that the driver makes of it.
    pub interface: &'static str,
}

/// A band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    TwoPointFour,
    /// 5 GHz, with 80 MHz.
    Five,
}

impl Band {
    /// In GHz.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoPointFour => "2.4",
            Self::Five => "5",
        }
    }
}

/// The security of an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// None.
    Open,
    /// WEP.
    Wep,
    /// WPA with TKIP.
    Wpa,
    /// WPA2 with TKIP.
    Wpa2Tkip,
    /// WPA and WPA2 on one network.
    Mixed,
    /// WPA2 with CCMP.
    Wpa2,
    /// WPA3.
    Wpa3,
    /// Opportunistic wireless encryption.
    Owe,
}

impl Security {
    /// All.
    pub const ALL: &'static [Self] =
        &[Self::Open, Self::Wep, Self::Wpa, Self::Wpa2Tkip, Self::Mixed, Self::Wpa2, Self::Wpa3, Self::Owe];

    /// As plans call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Wep => "wep",
            Self::Wpa => "wpa",
            Self::Wpa2Tkip => "wpa2-tkip",
            Self::Mixed => "mixed",
            Self::Wpa2 => "wpa2",
            Self::Wpa3 => "wpa3",
            Self::Owe => "owe",
        }
    }
}

/// Whether a chip takes an efuse map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Efuse {
    /// It does.
    Given,
    /// It does not; why.
    Refused(&'static str),
}

/// A driver that knows a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Its module.
    pub name: &'static str,
    /// The first Linux of those that guests have with a driver that knows it; `None`: all of them do.
    pub from_kernel: Option<&'static str>,
    /// It knows the device only when it is built for that: how the alias of the device then begins.
    pub built_alias: Option<&'static str>,
}

impl Driver {
    /// One that knows the device in every stock kernel of guests.
    pub const fn stock(name: &'static str) -> Self {
        Self { name, from_kernel: None, built_alias: None }
    }

    /// It does from this Linux on.
    #[must_use]
    pub const fn from(self, kernel: &'static str) -> Self {
        Self { from_kernel: Some(kernel), ..self }
    }

    /// It does when it is built for that.
    #[must_use]
    pub const fn built(self, alias: &'static str) -> Self {
        Self { built_alias: Some(alias), ..self }
    }
}

/// A group of options of the command line.
#[derive(Clone, Copy)]
pub struct Options {
    /// Its name, by which it is known to be the same group as that of another device.
    pub name: &'static str,
    /// Adds them to a command.
    pub add: fn(Command) -> Command,
}

impl Options {
    /// The options of a struct.
    pub const fn of<T: clap::Args>(name: &'static str) -> Self {
        Self { name, add: T::augment_args }
    }
}

/// What a struct needs so that a schema can be made of it, where schemas are made.
#[cfg(feature = "schema")]
pub trait Described: schemars::JsonSchema {}
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> Described for T {}
/// What a struct needs so that a schema can be made of it, where schemas are made.
#[cfg(not(feature = "schema"))]
pub trait Described {}
#[cfg(not(feature = "schema"))]
impl<T> Described for T {}

/// The struct of a device's counters.
#[derive(Clone, Copy)]
pub struct CountersOf {
    /// What its schema is called.
    pub name: &'static str,
    /// Makes its schema.
    #[cfg(feature = "schema")]
    pub schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

impl CountersOf {
    /// Of a device: those of the faults of its script are added.
    pub const fn device<T: Described>(name: &'static str) -> Self {
        Self {
            name,
            #[cfg(feature = "schema")]
            schema: |generator| generator.subschema_for::<crate::with_faults::WithFaults<T>>(),
        }
    }
}

impl Entry {
    /// Vendor and product or device.
    pub fn ids(&self) -> (u16, u16) {
        match self.plug {
            Plug::Usb(identity) => {
                let [_, _, _, _, _, _, _, _, v0, v1, p0, p1, ..] = identity().device;
                (u16::from_le_bytes([v0, v1]), u16::from_le_bytes([p0, p1]))
            }
            Plug::Sdio(identity) => {
                let identity = identity();
                (identity.vendor, identity.device)
            }
            Plug::Pci(identity) => {
                let identity = identity();
                (identity.vendor, identity.device)
            }
        }
    }

    /// What only wireless chips have; `None`: it is none.
    pub const fn chip(&self) -> Option<&Chip> {
        match &self.kind {
            Kind::Chip(chip) => Some(chip),
            Kind::Function(_) => None,
        }
    }

    /// Checks an assumption about it, `NAME=VALUE`.
    ///
    /// # Errors
    /// Those that there are.
    pub fn check_assumption(&self, assumption: &str) -> Result<(), String> {
        match self.chip() {
            Some(chip) => (chip.check_assumption)(assumption),
            None => Err(format!("{assumption:?}: nothing is assumed of a network function")),
        }
    }

    /// Whether it is an SDIO card.
    pub const fn is_card(&self) -> bool {
        matches!(self.plug, Plug::Sdio(_))
    }

    /// Whether it is on PCI.
    pub const fn is_on_pci(&self) -> bool {
        matches!(self.plug, Plug::Pci(_))
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}
