//! What is listed of the ECM function.

use super::{identity, Ecm, EcmStatistics};
use crate::entry::{CountersOf, Driver, Entry, Function, Kind, Plug};
use crate::functions::options::{WiredOptions, WIRED};
use crate::trace::Plain;
use crate::wired::Carries;

/// ECM function.
pub static ECM: Entry = Entry {
    name: "ecm",
    label: "ECM function",
    about: "CDC ECM network function (cdc_ether)",
    plug: Plug::Usb(identity),
    kind: Kind::Function(Function { interface: "usb0" }),
    drivers: &[Driver::stock("cdc_ether")],
    options: &[WIRED],
    make: |making| Ok(Box::new(Ecm::new(making.own::<WiredOptions>()?.create(making.machine, Carries::Ethernet)?))),
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<EcmStatistics>("EcmStatistics"),
};
