//! The links there are, and what the emulator needs to know of each.

use std::os::fd::BorrowedFd;

use link::wlan::{self, beacon_len};
use link::{Link, ScenarioError, WlanLink};
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
    pub scenario: wlan::Scenario,
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
    let scenario = &settings.scenario;
    let link = WlanLink::<Datagram>::new(scenario.clone())?;
    let network = Network {
        channel: scenario.medium.channel,
        width_mhz: scenario.medium.width_mhz,
        streams: Some(scenario.dut.mcs.max(scenario.ap.mcs) / 8 + 1),
        beacon_bytes: beacon_len(scenario.medium.channel),
        ..Network::default()
    };
    let monitors = Monitors { air: Some(network), bus: false };
    let name = "wlan";
    let value = json(scenario);
    emulate_link(link, (name, value), monitors, settings, stop, ready, |link| json(link.counters()))
}

fn emulate_link<L: Link<Datagram>>(
    mut link: L,
    (name, scenario): (&'static str, Value),
    monitors: Monitors,
    settings: Settings,
    stop: &[BorrowedFd<'_>],
    ready: impl FnOnce() -> bool,
    counters: impl FnOnce(&L) -> Value,
) -> Result<Status, EmulateError> {
    let Settings { hosts, air, usb, .. } = settings;
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
        scenario,
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
