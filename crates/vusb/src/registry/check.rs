//! What is wrong with options, before a device is made.

use super::words::{any_of, with_article};
use super::{grouped, DEVICES};
use crate::entry::{Efuse, Entry};
use crate::options::{HostKind, Surroundings};

/// Stations of an access point, or access points, at most. The chip's table has room for 128 (Linux mt76x02.h,
/// MT76x02_N_WCIDS); a processor of a guest has not.
pub const STATIONS_MAX: usize = 16;

/// Checks that an assumption is one of any chip; whether it is of the one that was asked for says [`incompatible`].
///
/// # Errors
/// Those that each chip has.
pub fn assumption(text: &str) -> Result<String, String> {
    let mut errors = Vec::new();
    for (_, group) in grouped(|entry| entry.chip().map(|chip| chip.assumptions)) {
        let checks = group.iter().map(|entry| entry.check_assumption(text));
        let mut failed: Vec<String> = Vec::new();
        for check in checks {
            match check {
                Ok(()) => return Ok(text.into()),
                Err(error) => failed.push(error),
            }
        }
        let labels: Vec<String> = group.iter().map(|entry| entry.label.to_owned()).collect();
        let error = failed.into_iter().next().unwrap_or_default();
        errors.push(if errors.is_empty() { error } else { format!("of {}, {error}", with_article(&any_of(&labels))) });
    }
    Err(errors.join("; "))
}

/// The error of options that belong to another device, or that name too many peers.
pub fn incompatible(entry: &Entry, around: &Surroundings) -> Option<String> {
    for (option, peers) in [("--stations", &around.stations), ("--access-points", &around.access_points)] {
        if peers.len() > STATIONS_MAX {
            return Some(format!("{option}: {} of them; {STATIONS_MAX} at most", peers.len()));
        }
    }
    let (chip, is_card) = (entry.chip(), entry.is_card());
    if !around.stations.is_empty() && !chip.is_some_and(|chip| chip.is_access_point) {
        let known = DEVICES.iter().filter(|entry| entry.chip().is_some_and(|chip| chip.is_access_point));
        let (labels, names): (Vec<String>, Vec<&str>) =
            known.map(|entry| (with_article(entry.label), entry.name)).unzip();
        return Some(format!(
            "--stations: only {} is an access point (--device {})",
            any_of(&labels),
            names.join(" or ")
        ));
    }
    if !around.stations_up.is_empty() && around.stations_up.len() != around.stations.len() {
        return Some("--stations-up: as many signals as --stations has".into());
    }
    if !around.access_points.is_empty() && chip.is_none() {
        return Some("--access-points: a network function has no radio".into());
    }
    if around.efuse.is_some() {
        match chip.map(|chip| chip.efuse) {
            Some(Efuse::Given) => {}
            Some(Efuse::Refused(why)) => return Some(format!("--efuse: {why}")),
            None => return Some("--efuse: a network function has none".into()),
        }
    }
    if around.replies.is_some() && (is_card || entry.is_on_pci()) {
        return Some("--replies: they are of a device on USB".into());
    }
    let about_card = around.bus_time || around.card_lines.is_some() || around.card_mhz.is_some();
    if about_card && !is_card {
        return Some("--bus-time, --card-lines and --card-mhz: only an SDIO card has such a bus".into());
    }
    if around.usb.is_some() && entry.is_on_pci() {
        return Some("--usb: it is on PCI; --trace records its registers".into());
    }
    if around.command_log.is_some() && !is_card {
        return Some("--command-log: only an SDIO card gets commands".into());
    }
    if around.host == HostKind::Virtual {
        if !is_card {
            return Some("--host: only an SDIO card has a host controller of its own".into());
        }
        if around.bus_time || around.interrupt_us.is_some() {
            return Some(
                "--host virtual: --bus-time and --interrupt-us are the controller's (parameters of virtual_mmc_host)"
                    .into(),
            );
        }
        if around.usb.is_some() {
            return Some("--host virtual: there is no USB, so --usb has nothing to record".into());
        }
    }
    let times = |entry: &Entry| entry.chip().is_some_and(|chip| chip.times_interrupts);
    if around.interrupt_us.is_some() && !is_card && !times(entry) {
        let known = DEVICES.iter().filter(|entry| times(entry)).map(|entry| with_article(entry.label));
        let known: Vec<String> = known.chain(["an SDIO card".to_owned()]).collect();
        return Some(format!("--interrupt-us: only {} times its interrupt endpoint", any_of(&known)));
    }
    None
}
