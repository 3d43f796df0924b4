//! A laboratory that was saved and continues in another one does what it would have done: for every device, at any moment.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use txop_qemu::config::{Config, Run};
use txop_qemu::lab::{Action, Lab};
use vusb::pci::{Register, Width};
use vusb::registry::DEVICES;
use vusb::urbs::{Finished, Request};
use wire::usb::setup::Setup;

const EPOCH_NS: u64 = 1_767_225_600_000_000_000;
const NO_SETUP: Setup = Setup { request_type: 0, request: 0, value: 0, index: 0, length: 0 };
const AP: [u8; 6] = [0x02, 0x74, 0x78, 0x6f, 0x70, 0x00];
const OWN: [u8; 6] = [0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4];
const FILES: [&str; 4] = ["air.pcapng", "usb.pcapng", "trace.jsonl", "sdio.pcapng"];

/// What happens to a device.
#[derive(Clone, Debug)]
enum Happens {
    Time(u64),
    Control(Setup, Vec<u8>),
    Out(u8, Vec<u8>),
    In(u8),
    Cancel(u32),
    Wired(Vec<u8>),
    Command(u8, u32, u16),
    Replug,
    /// Of the first function on PCI: what is written, or a read.
    Register(Register, Option<u32>),
}

/// What came of it.
#[derive(Debug, PartialEq)]
enum Came {
    Of(Action),
    AtOnce(Finished),
    Slot(Vec<u8>),
    Wired(Vec<u8>),
    Read(u32),
    Lines(u32),
    Next(Option<u64>),
}

struct Guest {
    lab: Lab,
    config: Config,
    now_ns: u64,
    id: u32,
    came: Vec<Came>,
}

impl Guest {
    fn new(folder: &Path) -> Self {
        let config = Config {
            folder: folder.into(),
            guest_folder: "/txop/out".into(),
            files: [("/txop/faults.toml".into(), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults.toml"))]
                .into(),
            exact: true,
            capture_limit: 1 << 20,
            checkpoints: true,
            run: None,
        };
        Self { lab: Lab::new(config.clone()), config, now_ns: 5_000_000_000, id: 0, came: Vec::new() }
    }

    /// One without a device, with another configuration.
    fn config(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        self.lab = Lab::new(self.config.clone());
    }

    fn ask(&mut self, words: &[&str]) {
        let line = json!({ "realtime_ns": EPOCH_NS + self.now_ns, "monotonic_ns": self.now_ns, "words": words });
        self.lab.control(self.now_ns, format!("{line}\n").as_bytes());
        self.look();
    }

    fn look(&mut self) {
        while let Some(action) = self.lab.action() {
            self.came.push(Came::Of(action));
        }
        self.came.extend(std::iter::from_fn(|| self.lab.to_slot()).map(Came::Slot));
        self.came.extend(std::iter::from_fn(|| self.lab.to_wired()).map(Came::Wired));
        self.came.push(Came::Lines(self.lab.interrupts()));
        self.came.push(Came::Next(self.lab.next_event()));
    }

    fn transfer(&mut self, endpoint: u8, is_in: bool, setup: Setup, data: &[u8]) {
        self.id += 1;
        let length = if endpoint == 0 { u32::from(setup.length) } else { 4_096.max(data.len() as u32) };
        let request = Request { id: self.id, endpoint, is_in, flags: 0, interval: 0, setup, length };
        let done = self.lab.transfer(self.now_ns, request, data, true);
        self.came.extend(done.map(Came::AtOnce));
    }

    fn happens(&mut self, what: &Happens) {
        match what {
            Happens::Time(ns) => {
                let end_ns = self.now_ns + ns;
                while let Some(at_ns) = self.lab.next_event().filter(|&at_ns| at_ns <= end_ns) {
                    self.now_ns = at_ns.max(self.now_ns);
                    self.lab.advance(self.now_ns);
                    self.look();
                }
                self.now_ns = end_ns;
                self.lab.advance(end_ns);
            }
            Happens::Control(setup, data) => self.transfer(0, setup.is_in(), *setup, data),
            Happens::Out(endpoint, data) => self.transfer(*endpoint, false, NO_SETUP, data),
            Happens::In(endpoint) => self.transfer(*endpoint, true, NO_SETUP, &[]),
            Happens::Cancel(back) => self.lab.cancel(self.now_ns, self.id.saturating_sub(*back)),
            Happens::Wired(frame) => self.lab.from_wired(self.now_ns, frame),
            Happens::Command(number, argument, block_bytes) => {
                self.id += 1;
                let len = if *number == 53 && argument >> 31 == 1 { u32::from(*block_bytes) } else { 0 };
                let mut command = vec![0; 24 + len as usize];
                command[..4].copy_from_slice(&self.id.to_le_bytes());
                (command[4], command[5], command[7]) = (*number, 1, 1);
                command[8..12].copy_from_slice(&argument.to_le_bytes());
                command[12..16].copy_from_slice(&400_000u32.to_le_bytes());
                command[16..18].copy_from_slice(&block_bytes.to_le_bytes());
                command[20..24].copy_from_slice(&len.to_le_bytes());
                self.lab.from_slot(self.now_ns, &command);
            }
            Happens::Replug => self.ask(&["replug"]),
            Happens::Register(register, Some(value)) => self.lab.write_register(self.now_ns, *register, *value),
            Happens::Register(register, None) => {
                self.came.push(Came::Read(self.lab.read_register(self.now_ns, *register)))
            }
        }
        self.look();
    }
}

/// A frame behind the descriptor that an RTL8188CUS takes it with.
fn transmission(frame: &[u8]) -> Vec<u8> {
    let mut words = [0u32; 8];
    words[0] = frame.len() as u32 | 32 << 16 | 0x8c << 24;
    words[1] = 1 << 5;
    let sum = words.iter().fold(0u32, |sum, word| sum ^ word & 0xffff ^ word >> 16);
    words[7] |= sum;
    words.iter().flat_map(|word| word.to_le_bytes()).chain(frame.iter().copied()).collect()
}

fn management(subtype: u8, body: &[u8]) -> Vec<u8> {
    [&[subtype << 4, 0, 0, 0][..], &AP, &OWN, &AP, &[0, 0], body].concat()
}

/// What a driver of an RTL8188CUS does until it is associated with the access point.
fn joined() -> Vec<Happens> {
    let write = |register, data: &[u8]| {
        let length = data.len() as u16;
        Happens::Control(Setup { request_type: 0x40, request: 5, value: register, index: 0, length }, data.to_vec())
    };
    let second = Happens::Time(50_000_000);
    vec![
        write(0x0100, &[0xff]),
        write(0x0610, &OWN),
        write(0x060f, &[4]),
        write(0x0608, &0x7000_280eu32.to_le_bytes()),
        write(0x0840, &(0x18u32 << 20 | 0xc06).to_le_bytes()),
        Happens::In(1),
        second.clone(),
        Happens::Out(3, transmission(&management(11, &[0, 0, 1, 0, 0, 0]))),
        second.clone(),
        Happens::In(1),
        Happens::Out(3, transmission(&management(0, &[&[1, 0, 1, 0, 0, 3][..], b"net", &[1, 1, 0x82]].concat()))),
        second,
    ]
}

/// Rings of an RTL8822BE, and a frame in one; its memory is nothing but ones, so the frame is none.
fn ringed() -> Vec<Happens> {
    let write = |offset, bytes, value| {
        Happens::Register(Register { function: 0, offset, width: Width::of(bytes) }, Some(value))
    };
    vec![
        write(0x0005, 1, 1),
        write(0x0100, 1, 0xff),
        write(0x00b0, 4, u32::MAX),
        write(0x0328, 4, 0x1000),
        write(0x0388, 2, 256),
        write(0x0338, 4, 0x8000),
        write(0x0382, 2, 512),
        write(0x03f0, 4, 0x0003_2718),
        write(0x03a8, 2, 3),
        Happens::Register(Register::word(0, 0x03a8), None),
    ]
}

/// What a driver of an RTL8822BS does until beacons of the access point on channel 6 wait for it: registers by CMD52, then what was
/// received by CMD53.
fn in_slot() -> Vec<Happens> {
    let byte = |address: u32, value: u8| Happens::Command(52, 1 << 31 | 1 << 28 | address << 9 | u32::from(value), 0);
    let word = |address: u32, value: u32| (address..).zip(value.to_le_bytes()).map(move |(at, value)| byte(at, value));
    let interrupts_on = Happens::Command(52, 1 << 31 | 4 << 9 | 3, 0);
    let mut does =
        vec![interrupts_on, byte(0x1_0005, 1), byte(0x1_0100, 0xff), byte(0x1_060f, 4), byte(0x1_06a1, 0x01)];
    does.extend(word(0x1_0608, 0x7000_000f));
    does.extend(word(0x1_0c90, 0x18 << 20 | 0x3c06));
    does.extend(word(0x14, 1));
    does.push(Happens::Time(250_000_000));
    does.push(Happens::Command(53, 1 << 28 | 1 << 26 | 0x1c << 9 | 4, 4));
    does.push(Happens::Command(53, 1 << 28 | 0xe000 << 9 | 100, 100));
    does
}

fn happening(controls: Vec<(u8, u8)>) -> impl Strategy<Value = Happens> {
    let bytes = |most| prop::collection::vec(any::<u8>(), 0..most);
    let control = (prop::sample::select(controls), any::<u16>(), any::<u16>(), bytes(40)).prop_map(
        |((request_type, request), value, index, data)| {
            let length = if request_type & 0x80 != 0 { 64 } else { data.len() as u16 };
            let data = if request_type & 0x80 != 0 { Vec::new() } else { data };
            Happens::Control(Setup { request_type, request, value, index, length }, data)
        },
    );
    let data = (any::<u16>(), bytes(300)).prop_map(|(sequence, body)| {
        let header = [&[0x08, 0x01, 0, 0][..], &AP, &OWN, &AP, &(sequence << 4).to_le_bytes()].concat();
        transmission(&[header, vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 0], body].concat())
    });
    let frame = bytes(200).prop_map(|body| [&OWN[..], &[2, 2, 2, 2, 2, 2], &[8, 0], &body[..]].concat());
    prop_oneof![
        4 => (0u64..20_000_000).prop_map(Happens::Time),
        4 => control,
        2 => (1u8..4, bytes(80)).prop_map(|(endpoint, data)| Happens::Out(endpoint, data)),
        4 => (2u8..4, data).prop_map(|(endpoint, data)| Happens::Out(endpoint, data)),
        4 => (1u8..5).prop_map(Happens::In),
        1 => (0u32..4).prop_map(Happens::Cancel),
        3 => frame.prop_map(Happens::Wired),
        3 => (prop::sample::select(vec![3u8, 5, 7, 52, 53]), any::<u32>(), prop::sample::select(vec![0u16, 0, 4, 32]))
            .prop_map(|(number, argument, block)| Happens::Command(number, argument, block)),
        1 => Just(Happens::Replug),
        4 => (0u32..0x9400, 0u32..3, prop::option::of(any::<u32>())).prop_map(|(place, width, value)| {
            let width = Width::of(4 >> width);
            let bytes = width.bytes() as u32;
            Happens::Register(Register { function: 0, offset: place / bytes * bytes, width }, value.map(|value| value & width.mask()))
        }),
    ]
}

fn is_card(name: &str) -> bool {
    DEVICES.iter().any(|device| device.name == name && device.is_card())
}

fn is_on_pci(name: &str) -> bool {
    DEVICES.iter().any(|device| device.name == name && device.is_on_pci())
}

/// What a device is asked for: its surroundings, and everything that it leaves.
fn attach(name: &'static str, faults: bool) -> Vec<&'static str> {
    let mut words = vec!["attach", "--device", name, "--stats", "/txop/out/chip.json", "--trace", "trace.jsonl"];
    if is_card(name) {
        words.extend(["--host", "virtual", "--command-log", "sdio.pcapng"]);
    } else if !is_on_pci(name) {
        words.extend(["--usb", "usb.pcapng"]);
    }
    if !matches!(name, "ncm" | "mbim" | "ecm" | "qmi-modem") {
        words.extend(["--ap", "builtin", "--ssid", "net", "--air", "air.pcapng", "--loss", "0.2", "--neighbour", "2"]);
    }
    if faults {
        words.extend(["--faults", "/txop/faults.toml"]);
    }
    words
}

/// Vendor and class requests of the devices.
fn controls(name: &str) -> Vec<(u8, u8)> {
    match name {
        "rtl8188cus" | "rtl8723au" | "rtl8188eu" => vec![(0x40, 5), (0xc0, 5)],
        "mt7610u" | "mt7601u" => {
            vec![(0x40, 6), (0x40, 1), (0x40, 2), (0xc0, 7), (0xc0, 9), (0x40, 0x42), (0xc0, 0x47)]
        }
        _ => vec![(0x21, 0), (0xa1, 1), (0x21, 0x22), (0xa1, 0x80), (0x21, 0x86), (0x21, 0x43), (0x01, 11), (0x00, 9)],
    }
}

fn check(name: &'static str, before: &[Happens], after: &[Happens], faults: bool) {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut one = Guest::new(folder.path());
    one.ask(&attach(name, faults));
    assert!(
        !matches!(&one.came[..], [Came::Of(Action::Reply(text)), ..] if !text.starts_with(b"{\"status\":0")),
        "{one:?}",
        one = one.came
    );
    before.iter().for_each(|what| one.happens(what));
    let bytes = one.lab.save().unwrap();
    for file in FILES.iter().chain(&["chip.json"]) {
        if folder.path().join(file).is_file() {
            std::fs::copy(folder.path().join(file), other.path().join(file)).unwrap();
        }
    }
    let mut two = Guest { now_ns: one.now_ns, id: one.id, ..Guest::new(other.path()) };
    two.lab.restore(&bytes).unwrap();
    assert_eq!(two.lab.save().unwrap(), bytes, "{name}: what is restored is what was saved");
    one.came.clear();
    for what in after {
        one.happens(what);
        two.happens(what);
        assert_eq!(one.came, two.came, "{name}: {what:?}");
        one.came.clear();
        two.came.clear();
    }
    assert_eq!(one.lab.save().unwrap(), two.lab.save().unwrap(), "{name}: both are the same at the end");
    one.ask(&["detach"]);
    two.ask(&["detach"]);
    assert_eq!(one.came, two.came);
    for file in FILES.iter().chain(&["chip.json"]) {
        let of = |folder: &Path| std::fs::read(folder.join(file)).ok();
        assert!(of(folder.path()) == of(other.path()), "{name}: {file} differs");
    }
}

fn every_device(cases: u32) {
    for device in DEVICES {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
        let some = || prop::collection::vec(happening(controls(device.name)), 0..40);
        let joins = match device.name {
            "rtl8822be" => ringed(),
            "rtl8822bs" => in_slot(),
            name if controls(name)[0] == (0x40, 5) => joined(),
            _ => Vec::new(),
        };
        runner
            .run(&(some(), some(), any::<bool>()), |(before, after, faults)| {
                check(device.name, &[joins.clone(), before].concat(), &after, faults);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", device.name));
    }
}

#[test]
fn every_device_continues_as_it_was() {
    every_device(2);
}

#[test]
#[ignore = "slow: 200 histories of each device"]
fn every_device_continues_as_it_was_whatever_happened() {
    every_device(200);
}

/// The beginning of this test is what the property rests on: a chip that has an access point.
#[test]
fn an_rtl8188cus_is_associated_by_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(
        &attach("rtl8188cus", false).iter().map(|word| if *word == "0.2" { "0" } else { word }).collect::<Vec<_>>(),
    );
    joined().iter().for_each(|what| guest.happens(what));
    guest.ask(&["counters", "at.json"]);
    let counted: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("at.json")).unwrap()).unwrap();
    assert_eq!(counted["device"]["ap"]["associated"], true, "{counted:#}");
}

/// Likewise a card that has interrupted, and of which the host has read a part of what was received.
#[test]
fn an_rtl8822bs_has_received_by_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&attach("rtl8822bs", false));
    in_slot().iter().for_each(|what| guest.happens(what));
    guest.ask(&["counters", "at.json"]);
    let counted: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("at.json")).unwrap()).unwrap();
    let device = &counted["device"];
    assert_eq!(device["bus"]["fetched"], 1, "{counted:#}");
    assert!(device["sdio"]["card"]["interrupts"].as_u64() >= Some(1), "{counted:#}");
    assert!(device["rx"]["delivered"].as_u64() >= Some(1), "{counted:#}");
}

/// What is saved of one that was restored and asked for its run, and what it was told.
fn restored_for(name: &'static str, bytes: &[u8], run: Option<Run>) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.config(|config| config.run = run);
    guest.lab.restore(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    guest.ask(&["run"]);
    let Some(Came::Of(Action::Reply(line))) = guest.came.first() else { panic!("{name}: {:?}", guest.came) };
    (guest.lab.save().unwrap(), String::from_utf8(line.clone()).unwrap())
}

#[test]
fn one_that_is_restored_for_a_run_draws_by_the_seed_of_that_run() {
    for device in DEVICES {
        let name = device.name;
        let folder = tempfile::tempdir().unwrap();
        let mut guest = Guest::new(folder.path());
        let mut words = vec!["attach", "--device", name, "--stats", "/txop/out/chip.json"];
        let has_air = !matches!(name, "ncm" | "mbim" | "ecm" | "qmi-modem");
        words.extend(if has_air { &["--ap", "builtin", "--ssid", "net"][..] } else { &[] });
        words.extend(if name == "qmi-modem" { &["--downlink-least-mbit-s", "5"][..] } else { &[] });
        guest.ask(&words);
        let bytes = guest.lab.save().unwrap();
        let run = |seed, loss| Some(Run { seed, loss, faults: None, script: "echo \"one\"\n".to_owned() });
        let of = |seed, loss| restored_for(name, &bytes, run(seed, loss));
        assert_eq!(of(7, None), of(7, None), "{name}: the same seed is the same run");
        assert!(of(7, None).1.contains(r#""status":0,"text":"echo \"one\"\n""#), "{}", of(7, None).1);
        let draws = has_air || name == "qmi-modem";
        assert_eq!(of(7, None) != of(8, None), draws, "{name}: another seed, where it draws");
        assert_eq!(of(7, None) != of(7, Some(0.01)), has_air, "{name}: another loss, where there is an air");
        let (_, refused) = restored_for(name, &bytes, None);
        assert!(refused.contains(r#""status":3"#), "{refused}");
    }
}

#[test]
fn faults_of_a_run_begin_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["attach", "--device", "rtl8188cus", "--ap", "builtin", "--ssid", "net"]);
    guest.happens(&Happens::Time(5_000_000_000));
    let (bytes, now_ns) = (guest.lab.save().unwrap(), guest.now_ns);
    let restored = |faults: &str| {
        let other = tempfile::tempdir().unwrap();
        let mut guest = Guest { now_ns, ..Guest::new(other.path()) };
        let run = Run { seed: 1, loss: None, faults: Some(faults.to_owned()), script: String::new() };
        guest.config(|config| config.run = Some(run));
        guest.lab.restore(&bytes).unwrap();
        guest.ask(&["run"]);
        guest.came.clear();
        guest.ask(&["struck"]);
        guest.happens(&Happens::Time(900_000_000));
        guest.ask(&["struck"]);
        guest.happens(&Happens::Time(200_000_000));
        guest.ask(&["struck"]);
        let text = |came: &Came| match came {
            Came::Of(Action::Reply(line)) => Some(String::from_utf8(line.clone()).unwrap()),
            _ => None,
        };
        guest.came.iter().filter_map(text).collect::<Vec<_>>()
    };
    let struck = |count: u64| format!("{{\"status\":0,\"text\":\"{count}\"}}\n");
    let text = "[[fault]]\naction = \"loss\"\nprobability = 0.5\nfrom_ms = 1000\n";
    assert_eq!(restored(text), [struck(0), struck(0), struck(1)], "its time counts from the run on");
    assert_eq!(restored(""), [struck(0), struck(0), struck(0)]);
}

#[test]
fn faults_of_a_run_that_are_no_script_end_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    let run = Run { seed: 1, loss: None, faults: Some("[[fault]]\n".to_owned()), script: "echo".to_owned() };
    guest.config(|config| config.run = Some(run));
    guest.ask(&["run"]);
    let Some(Came::Of(Action::Reply(line))) = guest.came.first() else { panic!("{:?}", guest.came) };
    assert!(String::from_utf8_lossy(line).contains(r#""status":2"#), "{}", String::from_utf8_lossy(line));
    for (faults, status) in [("[network]\nchannel = 1\n", 2), ("[[fault]]\naction = \"disconnect\"\n", 1)] {
        let run = Run { seed: 1, loss: None, faults: Some(faults.to_owned()), script: "echo".to_owned() };
        guest.config(|config| config.run = Some(run));
        guest.came.clear();
        guest.ask(&["run"]);
        let Some(Came::Of(Action::Reply(line))) = guest.came.first() else { panic!("{:?}", guest.came) };
        let line = String::from_utf8_lossy(line);
        assert!(line.contains(&format!("\"status\":{status}")), "{faults}: {line}");
    }
}

#[test]
fn a_state_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&attach("rtl8188cus", false));
    let bytes = guest.lab.save().unwrap();
    for wrong in [&bytes[..bytes.len() - 1], &bytes[..20], b"", b"\x05other\x01", &[&bytes[..], b"x"].concat()] {
        assert!(Guest::new(folder.path()).lab.restore(wrong).is_err());
    }
    let mut newer = bytes.clone();
    newer[16] = 99;
    let error = Guest::new(folder.path()).lab.restore(&newer).unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");
}

#[test]
fn a_guest_stops_for_a_checkpoint_where_somebody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["checkpoint"]);
    assert!(matches!(&guest.came[..], [Came::Of(Action::Reply(_)), Came::Of(Action::Stop), ..]), "{:?}", guest.came);
}
