//! Every line of the list is whole, and says what its model says.

use crate::machine::Machine;
use crate::pci::SharedMemory;
use crate::peers::Mailbox;
use crate::wired::WiredQueues;
use std::collections::BTreeSet;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::*;
use crate::entry::Plug;
use crate::making::Making;
use crate::options::{AccessPointOptions, Surroundings};

#[derive(Parser)]
struct Line {
    #[arg(long, default_value = default_device(), value_parser = named())]
    device: &'static Entry,
    #[command(flatten)]
    surroundings: Surroundings,
    #[arg(long)]
    assume: Vec<String>,
    #[command(flatten)]
    access_point: AccessPointOptions,
    #[command(flatten)]
    own: OwnOptions,
}

fn line(words: &[&str]) -> Line {
    Line::try_parse_from(["txop-vusb"].iter().chain(words)).unwrap()
}

#[test]
fn names_are_unique_and_can_be_typed() {
    let names: BTreeSet<&str> = DEVICES.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), DEVICES.len());
    for &entry in DEVICES {
        assert!(entry.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        assert!(std::ptr::eq(line(&["--device", entry.name]).device, entry), "{}", entry.name);
        assert!(!entry.drivers.is_empty() && !entry.about.ends_with('.'), "{}", entry.name);
    }
    assert!(std::ptr::eq(line(&[]).device, DEVICES[0]));
    assert!(Line::try_parse_from(["txop-vusb", "--device", "rtl8188"]).is_err());
}

#[test]
fn a_chip_is_made_and_is_who_its_line_says() {
    let outside = Machine::Outside {
        origin: monitor::Origin::GuestExact,
        radios: Mailbox::default(),
        wired: WiredQueues::default(),
        memory: SharedMemory::default(),
    };
    for entry in DEVICES.iter().filter(|entry| entry.chip().is_some()) {
        let Line { surroundings, assume, access_point, own, .. } = line(&["--ap", "none", "--device", entry.name]);
        let (assumptions, access_point) = (&assume[..], &access_point);
        let making = Making {
            surroundings: &surroundings,
            assumptions,
            access_point,
            own: &own.0,
            script: None,
            machine: if entry.is_on_pci() { &outside } else { &Machine::Kernel },
            epoch_ns: 0,
        };
        let device = (entry.make)(&making).unwrap();
        if let Plug::Pci(identity) = entry.plug {
            assert_eq!(device.functions(), [identity()], "{}", entry.name);
            assert!((entry.make)(&Making { machine: &Machine::Kernel, ..making }).is_err(), "{}", entry.name);
        }
        if let Plug::Usb(identity) = entry.plug {
            assert_eq!(*device.identity(), identity(), "{}", entry.name);
        }
        assert!(serde_json::to_value(device.statistics()).unwrap().is_object(), "{}", entry.name);
        let (vendor, product) = entry.ids();
        assert!(
            entry.about.contains(&format!("{vendor:04x}:{product:04x}")),
            "{}: help names {vendor:04x}:{product:04x}",
            entry.name
        );
    }
}

/// Words that give an option.
fn given(option: &str) -> Vec<String> {
    let value = match option {
        "stations" | "access-points" => "=-40,-50",
        "stations-up" => "=-40,-50",
        "host" => "=virtual",
        "card-lines" => "=1",
        "card-mhz" => "=25",
        "interrupt-us" => "=500",
        "bus-time" => "",
        _ => "=file",
    };
    let with = (option == "stations-up").then(|| "--stations=-40,-50".to_owned());
    with.into_iter().chain([format!("--{option}{value}")]).collect()
}

#[test]
fn the_options_in_the_table_are_those_that_are_not_refused() {
    let options = [
        "stations",
        "stations-up",
        "access-points",
        "efuse",
        "interrupt-us",
        "bus-time",
        "card-lines",
        "card-mhz",
        "command-log",
        "host",
        "replies",
    ];
    for row in Table::of_all().devices {
        for option in options {
            let words = given(option);
            let words: Vec<&str> = ["--device", row.name].into_iter().chain(words.iter().map(String::as_str)).collect();
            let line = line(&words);
            let refused = incompatible(line.device, &line.surroundings);
            assert_eq!(refused.is_none(), row.options.iter().any(|taken| taken == option), "{words:?}: {refused:?}");
        }
        let mut own: Vec<String> = row.options.clone();
        own.retain(|option| !options.contains(&option.as_str()) && option != "assume");
        let known = Line::command();
        for option in own {
            assert!(known.get_arguments().any(|argument| argument.get_long() == Some(&option)), "{option}");
        }
    }
}

#[test]
fn the_assumptions_in_the_table_are_those_that_are_checked() {
    for (entry, row) in DEVICES.iter().zip(Table::of_all().devices) {
        assert_eq!(entry.chip().is_some(), !row.assumptions.is_empty(), "{}", entry.name);
        for Assumption { name, values } in row.assumptions {
            let error = entry.check_assumption(&format!("{name}=no such value")).unwrap_err();
            assert!(error.contains(&format!("{name}={values}")), "{error}");
        }
    }
    assert_eq!(assumption("tx-reports=16"), Ok("tx-reports=16".into()));
    assert_eq!(assumption("revision=1.0"), Ok("revision=1.0".into()), "an AR6004 has it, an AR6003 has not");
    let error = assumption("x=1").unwrap_err();
    for group in
        ["; of an RTL8188EU, ", "; of an MT7610U or MT7601U, ", "; of an AR6003 or AR6004, ", "; of an SD8686, "]
    {
        assert!(error.contains(group), "{error}");
    }
}

#[test]
fn too_many_peers_are_refused() {
    let many = format!("--access-points={}", ["-40"; STATIONS_MAX + 1].join(","));
    let line = line(&[&many]);
    let error = incompatible(line.device, &line.surroundings).unwrap();
    assert_eq!(error, "--access-points: 17 of them; 16 at most");
}

#[test]
fn a_device_reads_the_options_of_its_own() {
    #[derive(Args)]
    struct Some {
        #[arg(long)]
        ntb32: bool,
        #[arg(long)]
        ntb_in_max: u32,
    }
    let line = line(&["--device", "ncm", "--ntb32", "--ntb-in-max=4096"]);
    let own = Some::from_arg_matches(&line.own.0).unwrap();
    assert_eq!((own.ntb32, own.ntb_in_max), (true, 4_096));
}
