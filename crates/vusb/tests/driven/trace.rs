//! Traces of what a host and a device say to each other.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::chip::{transmission, FarEnd, OWN};
use crate::host::{Echo, Host};
use serde_json::Value;
use vusb::air::{ChannelSettings, Medium};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::{Model, RegisterNames, Rtl8188cus, Settings};
use vusb::device::Device;
use vusb::fault::{Faulty, Script};
use vusb::state::{self, Continued, StateError};
use vusb::trace::{Plain, Traced};
use wire::usb::setup::Setup;

/// What was written.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Continued for Paper {
    fn save_place(&self, to: &mut state::Writer) -> Result<(), StateError> {
        to.put(&*self.0.lock().unwrap())
    }
    fn restore_place(&mut self, from: &mut state::Reader<'_>) -> Result<(), StateError> {
        *self.0.lock().unwrap() = from.take()?;
        Ok(())
    }
}

impl Paper {
    fn lines(&self) -> Vec<Value> {
        let bytes = self.0.lock().unwrap();
        std::str::from_utf8(&bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn register(request_type: u8, value: u16, length: u16) -> Setup {
    Setup { request_type, request: 5, value, index: 0, length }
}

#[test]
fn a_chip_s_conversation() {
    let paper = Paper::default();
    let far = FarEnd::default();
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(far));
    let mut host =
        Host::new(Traced::new(chip, Box::new(RegisterNames::new(Model::Rtl8188cus)), paper.clone(), 1 << 20));
    host.now_ns = 1_500_000_000;
    host.control(register(0x40, reg::CR, 2), &[0xff, 0x06]);
    host.control(register(0xc0, reg::MACID, 4), &[]);
    host.control(register(0x40, reg::MACID, 6), &OWN);
    host.write(3, &transmission(7, 300, &[(1, 1 << 5), (4, 1 << 8 | 1 << 12 | 8), (5, 19)]));
    host.completions();
    host.device.finish().unwrap();
    let lines = paper.lines();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        serde_json::json!({ "t_s": 1.5, "event": "write", "bytes": 2, "register": "0x0100", "name": "CR", "value": "0x06ff" })
    );
    assert_eq!((&lines[1]["event"], &lines[1]["name"]), (&"read".into(), &"MACID".into()));
    let frame = &lines[3]["frames"][0];
    assert_eq!(
        (&lines[3]["event"], &lines[3]["endpoint"], &frame["frame"]),
        (&"out".into(), &3.into(), &"QoS Data".into())
    );
    assert_eq!((&frame["sequence"], &frame["rate"]), (&7.into(), &"HT20 MCS7".into()));
    let flags: Vec<&str> = frame["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect();
    assert_eq!(flags, ["queue 0x00", "AGG_ENABLE", "RTS_CTS_ENABLE", "RTS at 24 Mb/s"]);
}

/// A trace ends at its limit, and says so; the device goes on.
#[test]
fn a_trace_has_an_end() {
    let paper = Paper::default();
    let mut host = Host::new(Traced::new(Echo::default(), Box::new(Plain), paper.clone(), 1_000));
    for _ in 0..100 {
        host.write(2, &[1, 2, 3]);
    }
    assert_eq!(host.completions().len(), 100);
    let lines = paper.lines();
    assert!(lines.len() < 30, "{}", lines.len());
    assert_eq!((&lines[0]["value"], &lines[0]["bytes"]), (&"010203".into(), &3.into()));
    assert_eq!(lines.last().unwrap()["event"], "the trace is full");
}

/// What the device does not answer is not written.
#[test]
fn what_waits_is_not_written() {
    let paper = Paper::default();
    let mut host = Host::new(Traced::new(Echo::default(), Box::new(Plain), paper.clone(), 1 << 20));
    host.read(1, 512, 0);
    for _ in 0..5 {
        host.completions();
    }
    assert_eq!(paper.lines().len(), 0);
    host.device.inject(7, vusb::device::Effect::FirmwareHang);
    assert_eq!(
        (paper.lines()[0]["event"].as_str(), paper.lines()[0]["means"].as_str()),
        (Some("fault"), Some("FirmwareHang"))
    );
}

/// Every fault of a script is there, those that no transfer shows too, with its name and before what it happened to.
#[test]
fn every_fault_of_a_script_is_written() {
    let script = Script::parse(
        r#"
        [[fault]]
        name = "deaf"
        from_ms = 2
        for_ms = 3
        action = "noise"
        noise_dbm = -40

        [[fault]]
        name = "refused"
        endpoint = 0
        register = 0x0100
        nth = 2
        times = 1
        action = "stall"

        [[fault]]
        name = "silent"
        endpoint = 0
        register = 0x0004
        times = 1
        for_ms = 1
        action = "nak"

        [[fault]]
        from_ms = 9
        action = "disconnect"
        "#,
    )
    .unwrap();
    let paper = Paper::default();
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(FarEnd::default()));
    let faulty = Faulty::new(chip, script);
    let mut device = Traced::new(faulty, Box::new(RegisterNames::new(Model::Rtl8188cus)), paper.clone(), 1 << 20);
    device.reset(0);
    for at_ms in 0..10u64 {
        device.advance(at_ms * 1_000_000);
        if at_ms < 2 {
            device.control(at_ms * 1_000_000, register(0x40, reg::CR, 1), &[0]);
        }
        if at_ms > 5 {
            device.control(at_ms * 1_000_000, register(0xc0, 0x0004, 1), &[]);
        }
    }
    let reported: Vec<(f64, String)> = paper
        .lines()
        .iter()
        .map(|line| {
            let word = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
            (line["t_s"].as_f64().unwrap(), format!("{} {} {}", word("event"), word("name"), word("means")))
        })
        .collect();
    let expected = [
        (0.0, "plugged in - -"),
        (0.0, "write CR -"),
        (0.001, "fault refused Stall"),
        (0.001, "write CR -"),
        (0.002, "fault deaf Noise(Some(-40))"),
        (0.005, "fault deaf Noise(None)"),
        (0.006, "fault silent Nak"),
        (0.007, "read APS_FSMCO -"),
        (0.008, "read APS_FSMCO -"),
        (0.009, "fault - Disconnect"),
        (0.009, "unplugged - -"),
        (0.009, "read APS_FSMCO -"),
    ];
    assert_eq!(reported, expected.map(|(t_s, words)| (t_s, words.to_owned())));
}
