//! The links there are, and what the emulator needs to know of each.

use std::os::fd::BorrowedFd;

use link::modem::{ModemLink, ModemSettings};
use link::scenario::{Head, LinkSettings};
use link::sdio::{SdioLink, SdioSettings};
use link::{wlan, Link, Pipe, PipeSettings, ScenarioError, WlanLink};
use monitor::Network;
use serde_json::{Map, Value};

use crate::datagram::Datagram;
use crate::device::HostSettings;
use crate::files::{FileSettings, Files};
use crate::run::run;
use crate::status::{self, Status};
use crate::wired::Wired;
use crate::EmulateError;

/// What to emulate, between what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The link, and the wire in front of it.
    pub scenario: Head,
    /// The hosts, by number.
    pub hosts: Vec<HostSettings>,
    /// A capture of the air.
    pub air: Option<FileSettings>,
    /// A capture of the bus.
    pub usb: Option<FileSettings>,
}

/// The counters as JSON. (That every counter can be written is their own tests' business.)
fn json(counters: impl serde::Serialize) -> Value {
    serde_json::to_value(counters).unwrap_or(Value::Null)
}

/// Emulates until one of `stop` can be read or is hung up. `ready` is called when all devices are there, down and without
/// addresses; when it says no, that is the end.
///
/// # Errors
/// An invalid scenario, as many hosts as it does not have, devices or capture files that cannot be made, a device that
/// fails while in use.
pub fn emulate(
    settings: Settings,
    stop: &[BorrowedFd<'_>],
    ready: impl FnOnce() -> bool,
) -> Result<Status, EmulateError> {
    settings.scenario.check()?;
    let seed = settings.scenario.run.seed;
    match settings.scenario.link()? {
        LinkSettings::Wlan(wlan) => {
            let network = Network::from(wlan);
            let bus = wlan.has_usb();
            let link = WlanLink::new(wlan::Scenario { seed, ..wlan.clone() })?;
            emulate_link("wlan", link, Some(network), bus, settings, stop, ready, |link| json(link.counters()))
        }
        LinkSettings::Modem(modem) => {
            let link = ModemLink::new(ModemSettings { seed, ..modem.clone() })?;
            emulate_link("modem", link, None, true, settings, stop, ready, |link| json(link.counters()))
        }
        LinkSettings::Sdio(sdio) => {
            let link = SdioLink::new(SdioSettings { seed, ..sdio.clone() })?;
            emulate_link("sdio", link, None, false, settings, stop, ready, |link| json(link.counters()))
        }
        LinkSettings::Pipe(pipe) => {
            let link = Pipe::new(PipeSettings { seed, ..*pipe })?;
            emulate_link("pipe", link, None, false, settings, stop, ready, |_| Value::Object(Map::new()))
        }
    }
}

/// `network`: of the air, if there is one; `bus`: whether there is one.
#[allow(clippy::too_many_arguments)] // what differs between the links, and what `emulate` was given
fn emulate_link<L: Link<Datagram>>(
    name: &'static str,
    link: L,
    network: Option<Network>,
    bus: bool,
    settings: Settings,
    stop: &[BorrowedFd<'_>],
    ready: impl FnOnce() -> bool,
    counters: impl FnOnce(&L) -> Value,
) -> Result<Status, EmulateError> {
    let Settings { scenario, hosts, air, usb } = settings;
    if hosts.len() != link.hosts() {
        let what = format!("the link joins {} hosts, and {} are there", link.hosts(), hosts.len());
        return Err(ScenarioError::new("scenario", what).into());
    }
    let air = match (air, network) {
        (Some(_), None) => return Err(EmulateError::NothingToCapture { link: name, what: "air" }),
        (air, network) => air.zip(network),
    };
    if usb.is_some() && !bus {
        return Err(EmulateError::NothingToCapture { link: name, what: "USB bus" });
    }
    let mut files = Files::create(air, usb)?;
    let mut wired = Wired::new(link, scenario.path, scenario.run.seed);
    let ran = run(&mut wired, &hosts, &mut files, stop, ready);
    let (air, usb) = files.finish();
    let ran = ran?;
    Ok(Status {
        format: status::FORMAT,
        version: status::VERSION,
        origin: "emulated",
        link: name,
        scenario: scenario.to_json(),
        seconds: ran.seconds,
        cpu_seconds: ran.cpu_seconds,
        timing: ran.timing,
        hosts: ran.hosts,
        pairs: ran.pairs,
        counters: counters(&wired.link),
        air,
        usb,
    })
}
