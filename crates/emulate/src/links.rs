//! The links there are, and what the emulator needs to know of each.

use std::os::fd::BorrowedFd;

use link::modem::ModemLink;
use link::scenario::{LinkSettings, ScenarioFile};
use link::{wlan, Link, Pipe, PipeSettings, ScenarioError, WlanLink};
use monitor::Network;
use serde_json::Value;

use crate::datagram::Datagram;
use crate::device::HostSettings;
use crate::files::{FileSettings, Files};
use crate::run::run;
use crate::status::Status;
use crate::EmulateError;

/// What to emulate, between what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The link.
    pub scenario: ScenarioFile,
    /// The hosts, by number.
    pub hosts: Vec<HostSettings>,
    /// A capture of the air.
    pub air: Option<FileSettings>,
    /// A capture of the bus.
    pub usb: Option<FileSettings>,
}

/// What there is to capture at a link.
struct Monitors {
    air: Option<Network>,
    bus: bool,
}

/// The counters as JSON. (That every counter can be written is their own tests' business.)
fn json(counters: impl serde::Serialize) -> Value {
    serde_json::to_value(counters).unwrap_or(Value::Null)
}

/// Emulates until one of `stop` can be read or is hung up. `ready` is called when all devices are there, down and without
/// addresses; when it says no, that is the end.
///
/// # Errors
/// A scenario that cannot be, as many hosts as it does not have, devices or capture files that cannot be made, a device that
/// fails while in use.
pub fn emulate(
    settings: Settings,
    stop: &[BorrowedFd<'_>],
    ready: impl FnOnce() -> bool,
) -> Result<Status, EmulateError> {
    settings.scenario.check()?;
    let seed = settings.scenario.head.run.seed;
    match settings.scenario.link()? {
        LinkSettings::Wlan(wlan) => {
            let link = WlanLink::<Datagram>::new(wlan::Scenario { seed, ..wlan.clone() })?;
            let monitors = Monitors { air: Some(wlan.into()), bus: false };
            emulate_link("wlan", link, monitors, settings, stop, ready, |link| json(link.counters()))
        }
        LinkSettings::Modem(modem) => {
            let link = ModemLink::<Datagram>::new(modem.clone())?;
            let monitors = Monitors { air: None, bus: true };
            emulate_link("modem", link, monitors, settings, stop, ready, |link| json(link.counters()))
        }
        LinkSettings::Pipe(pipe) => {
            let link = Pipe::<Datagram>::new(PipeSettings { seed, ..*pipe })?;
            let monitors = Monitors { air: None, bus: false };
            emulate_link("pipe", link, monitors, settings, stop, ready, |_| Value::Null)
        }
    }
}

fn emulate_link<L: Link<Datagram>>(
    name: &'static str,
    mut link: L,
    monitors: Monitors,
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
    let air = match (air, monitors.air) {
        (Some(_), None) => return Err(EmulateError::NothingToCapture { link: name, what: "air" }),
        (air, network) => air.zip(network),
    };
    if usb.is_some() && !monitors.bus {
        return Err(EmulateError::NothingToCapture { link: name, what: "USB bus" });
    }
    let mut files = Files::create(air, usb)?;
    let ran = run(&mut link, &hosts, &mut files, stop, ready);
    let (air, usb) = files.finish();
    let ran = ran?;
    Ok(Status {
        format: "txop-emulate",
        version: 2,
        origin: "emulated",
        link: name,
        scenario: scenario.to_json(),
        seconds: ran.seconds,
        cpu_seconds: ran.cpu_seconds,
        timing: ran.timing,
        hosts: ran.hosts,
        pairs: ran.pairs,
        counters: counters(&link),
        air,
        usb,
    })
}
