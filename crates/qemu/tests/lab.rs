//! The laboratory as a QEMU drives it: lines on the control port, transfers on the bus, commands in the slot.

use std::path::Path;

use serde_json::{json, Value};
use txop_qemu::config::Config;
use txop_qemu::lab::{Action, Lab};
use vusb::pci::{HostMemory, Register, SharedMemory};
use vusb::urbs::{Finished, Request};
use wire::usb::setup::Setup;

/// QEMU's clock when the guest's CLOCK_MONOTONIC is 0, ns.
const BOOT_NS: u64 = 700_000_000;
const EPOCH_NS: u64 = 1_767_225_600_000_000_000;
const GET_DEVICE: Setup = Setup { request_type: 0x80, request: 6, value: 0x0100, index: 0, length: 18 };

struct Guest {
    lab: Lab,
    now_ns: u64,
    actions: Vec<Action>,
}

impl Guest {
    fn new(folder: &Path) -> Self {
        let config = Config {
            folder: folder.into(),
            guest_folder: "/txop/out".into(),
            files: [("/txop/faults.toml".into(), folder.join("given.toml"))].into(),
            exact: true,
            capture_limit: 1 << 24,
            checkpoints: true,
            run: None,
        };
        Self { lab: Lab::new(config), now_ns: 5_000_000_000, actions: Vec::new() }
    }

    /// Asks, and gives the status and text of the answer; what else is to be done is kept.
    fn ask(&mut self, words: &[&str]) -> (u64, String) {
        let monotonic_ns = self.now_ns - BOOT_NS;
        let line = json!({ "realtime_ns": EPOCH_NS + monotonic_ns, "monotonic_ns": monotonic_ns, "words": words });
        self.line(format!("{line}\n").as_bytes())
    }

    fn line(&mut self, bytes: &[u8]) -> (u64, String) {
        // In two pieces, as a port may give it.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        self.lab.control(self.now_ns, first);
        self.lab.control(self.now_ns, second);
        let mut answer = None;
        while let Some(action) = self.lab.action() {
            match action {
                Action::Reply(bytes) => answer = Some(serde_json::from_slice::<Value>(&bytes).unwrap()),
                other => self.actions.push(other),
            }
        }
        let answer = answer.unwrap();
        (answer["status"].as_u64().unwrap(), answer["text"].as_str().unwrap().to_owned())
    }

    /// Lets time pass, an event at a time.
    fn until(&mut self, end_ns: u64) {
        while let Some(at_ns) = self.lab.next_event().filter(|&at_ns| at_ns <= end_ns) {
            self.now_ns = at_ns.max(self.now_ns);
            self.lab.advance(self.now_ns);
            while let Some(action) = self.lab.action() {
                self.actions.push(action);
            }
        }
        self.now_ns = end_ns.max(self.now_ns);
    }

    fn control_in(&mut self, id: u32, setup: Setup) -> Option<Finished> {
        let length = u32::from(setup.length);
        let request = Request { id, endpoint: 0, is_in: true, flags: 0, interval: 0, setup, length };
        self.lab.transfer(self.now_ns, request, &[], true)
    }
}

fn statistics(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn a_chip_is_plugged_in_asked_and_pulled_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    assert_eq!(guest.ask(&["alive"]), (0, String::new()));
    assert_eq!(guest.ask(&["counters", "none.json"]).0, 1);
    let words = ["attach", "--device", "rtl8188cus", "--ap", "none", "--stats", "/txop/out/chip.json"];
    assert_eq!(guest.ask(&words), (0, String::new()));
    assert_eq!(guest.actions, [Action::Attach(3)]);
    assert!(guest.lab.endpoints().len() >= 3);
    assert_eq!(guest.ask(&words).0, 2, "there is one already");
    let done = guest.control_in(1, GET_DEVICE).unwrap();
    assert_eq!((done.status, done.actual, done.data.len()), (0, 18, 18));
    guest.until(6_000_000_000);
    assert_eq!(guest.ask(&["counters", "/txop/out/at.json"]), (0, String::new()));
    let counted = statistics(folder.path(), "at.json");
    assert_eq!(counted["urbs"]["succeeded"], 1);
    assert_eq!(counted["monotonic_ns"], guest.now_ns - BOOT_NS, "as the guest's clock has it");
    assert_eq!(counted["epoch_ns"], EPOCH_NS);
    let (status, clocks) = guest.ask(&["clock"]);
    let clocks: serde_json::Value = serde_json::from_str(&clocks).unwrap();
    assert_eq!((status, clocks["epoch_ns"].as_u64()), (0, Some(EPOCH_NS)));
    assert_eq!(clocks["virtual_ns"].as_u64().unwrap() - clocks["monotonic_ns"].as_u64().unwrap(), BOOT_NS);
    assert_eq!(guest.ask(&["struck"]), (0, "0".to_owned()));
    assert_eq!(guest.ask(&["detach"]), (0, String::new()));
    assert_eq!(guest.actions.last(), Some(&Action::Detach));
    assert_eq!(guest.ask(&["alive"]), (1, "it was detached".to_owned()));
    assert_eq!(statistics(folder.path(), "chip.json")["urbs"]["succeeded"], 1);
    assert!(guest.control_in(2, GET_DEVICE).is_none());
}

#[test]
fn a_device_that_is_replugged_goes_for_a_second_and_keeps_its_counters() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["attach", "--device", "mt7601u", "--ap", "none"]);
    assert!(guest.control_in(1, GET_DEVICE).is_some());
    let out_ns = guest.now_ns;
    assert_eq!(guest.ask(&["replug"]).0, 0);
    assert_eq!(guest.actions.last(), Some(&Action::Detach));
    guest.until(out_ns + 900_000_000);
    assert_eq!(guest.actions.last(), Some(&Action::Detach));
    guest.until(out_ns + 1_100_000_000);
    assert_eq!(guest.actions.last(), Some(&Action::Attach(3)));
    assert!(guest.control_in(2, GET_DEVICE).is_some());
    guest.ask(&["counters", "at.json"]);
    assert_eq!(statistics(folder.path(), "at.json")["urbs"]["succeeded"], 2);
}

#[test]
fn a_transfer_that_waits_ends_later_or_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["attach", "--device", "ncm"]);
    let &(number, ..) =
        guest.lab.endpoints().iter().find(|(_, is_in, endpoint)| *is_in && endpoint.max_packet == 512).unwrap();
    let wanted = |id| Request {
        id,
        endpoint: number,
        is_in: true,
        flags: 0,
        interval: 0,
        setup: Setup { request_type: 0, request: 0, value: 0, index: 0, length: 0 },
        length: 16_384,
    };
    assert_eq!(guest.lab.transfer(guest.now_ns, wanted(1), &[], true), None);
    assert_eq!(guest.lab.transfer(guest.now_ns, wanted(2), &[], true), None);
    guest.lab.cancel(guest.now_ns, 1);
    guest.ask(&["counters", "at.json"]);
    assert_eq!(statistics(folder.path(), "at.json")["urbs"]["unlinked"], 1);
    // NTB parameters: the host reads from now on.
    let parameters = Setup { request_type: 0xa1, request: 0x80, value: 0, index: 0, length: 28 };
    assert_eq!(guest.control_in(3, parameters).unwrap().actual, 28);
    let select = Setup { request_type: 0x01, request: 11, value: 1, index: 1, length: 0 };
    let request = Request { id: 4, endpoint: 0, is_in: false, setup: select, length: 0, ..wanted(4) };
    assert!(guest.lab.transfer(guest.now_ns, request, &[], true).is_some());
    guest.actions.clear();
    let frame = [&[0xff; 12][..], &[0x08, 0x00], &[7; 46]].concat();
    guest.lab.from_wired(guest.now_ns, &frame);
    guest.until(guest.now_ns + 100_000_000);
    while let Some(action) = guest.lab.action() {
        guest.actions.push(action);
    }
    let Some(Action::Finished(done)) = guest.actions.first() else { panic!("{:?}", guest.actions) };
    assert_eq!((done.id, done.status), (2, 0));
    assert!(done.data.windows(frame.len()).any(|bytes| bytes == frame));
}

#[test]
fn a_card_is_in_the_slot_and_answers_its_first_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    assert_eq!(guest.ask(&["attach", "--device", "sd8686", "--ap", "none", "--host", "virtual"]).0, 0);
    assert_eq!(guest.actions, [Action::Insert]);
    // CMD5 (IO_SEND_OP_COND) at 400 kHz over one line, after the first power-up: virtual_mmc_host.c, struct command_head.
    let mut command = vec![0; 24];
    command[..4].copy_from_slice(&9u32.to_le_bytes());
    (command[4], command[5], command[7]) = (5, 1, 1);
    command[12..16].copy_from_slice(&400_000u32.to_le_bytes());
    guest.lab.from_slot(guest.now_ns, &command);
    let answer = guest.lab.to_slot().unwrap();
    assert_eq!((answer.len(), &answer[..4], answer[4] & 1, answer[5]), (16, &9u32.to_le_bytes()[..], 1, 0));
    let response = u32::from_le_bytes(answer[8..12].try_into().unwrap());
    assert_ne!(response >> 28 & 7, 0, "it has functions (SDIO 3.00, 3.3)");
    guest.ask(&["detach"]);
    assert_eq!(guest.actions.last(), Some(&Action::PullOut));
}

#[test]
fn what_the_guest_may_not_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    for options in
        [["--air", "/etc/air"], ["--stats", "/txop/out/../x"], ["--efuse", "/etc/shadow"], ["--signal", "loud"]]
    {
        let words = ["attach", "--device", "rtl8188cus", "--ap", "none", options[0], options[1]];
        assert_eq!(guest.ask(&words).0, 2, "{options:?}");
    }
    assert_eq!(guest.ask(&["attach", "--faults", "/txop/faults.toml"]).0, 2, "the file is not there");
    assert_eq!(guest.ask(&["explode"]).0, 2);
    assert_eq!(guest.line(b"not json\n").0, 2);
    assert_eq!(guest.line(b"{\"words\": 3}\n").0, 2);
    assert!(guest.actions.is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_guest_names_only_so_many_files_of_counters() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["attach", "--device", "ncm"]);
    for number in 0..32 {
        assert_eq!(guest.ask(&["counters", &format!("{number}.json")]).0, 0);
    }
    let (status, text) = guest.ask(&["counters", "more.json"]);
    assert_eq!(status, 2);
    assert!(text.contains("32 files"), "{text}");
    assert_eq!(guest.ask(&["counters", "7.json"]).0, 0, "it is there already");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 32);
}

#[test]
fn a_line_without_an_end_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    for _ in 0..64 {
        guest.lab.control(guest.now_ns, &[b'x'; 4_096]);
    }
    assert_eq!(guest.line(b"\n").0, 2, "the rest of it is no request");
    assert_eq!(guest.ask(&["alive"]).0, 0);
}

#[test]
fn a_capture_that_is_full_is_in_the_answer_to_detach() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    let words = ["attach", "--device", "rtl8188cus", "--ap", "none", "--usb", "u.pcapng", "--capture-limit", "65536"];
    assert_eq!(guest.ask(&words).0, 0);
    for id in 1..1_000 {
        guest.control_in(id, GET_DEVICE);
    }
    let (status, text) = guest.ask(&["detach"]);
    assert_eq!(status, 0);
    assert!(text.starts_with("the capture of the bus is full"), "{text}");
    let capture = std::fs::read(folder.path().join("u.pcapng")).unwrap();
    assert!(capture.windows(11).any(|bytes| bytes == b"guest-exact"), "it says where it comes from");
    assert!(std::fs::metadata(folder.path().join("u.pcapng")).unwrap().len() <= 65_536);
}

#[test]
fn a_command_while_the_card_is_away_is_not_kept_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.ask(&["attach", "--device", "sd8686", "--ap", "none", "--host", "virtual"]);
    guest.ask(&["replug"]);
    assert_eq!(guest.actions.last(), Some(&Action::PullOut));
    guest.lab.from_slot(guest.now_ns, &[0; 24]);
    guest.until(guest.now_ns + 1_100_000_000);
    assert_eq!(guest.actions.last(), Some(&Action::Insert));
    assert_eq!(guest.lab.to_slot().filter(|message| message[4] & 1 == 1), None);
}

/// Memory of a guest that is nothing but ones.
#[derive(Clone, Copy)]
struct Ones;

impl HostMemory for Ones {
    fn read(&self, _function: usize, _address: u64, bytes: &mut [u8]) {
        bytes.fill(0xff);
    }
    fn write(&self, _function: usize, _address: u64, _bytes: &[u8]) {}
}

#[test]
fn a_device_on_pci_has_registers_and_is_away_while_it_is_pulled_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.lab.set_memory(SharedMemory::new(Ones));
    assert_eq!(guest.lab.read_register(guest.now_ns, Register::word(0, 0x4020)), u32::MAX);
    let stations = ["attach", "--device", "ar9280", "--stations=-50,-60", "--station-chips", "--stats", "chip.json"];
    assert_eq!(guest.ask(&stations), (0, String::new()));
    let appeared = |actions: &[Action]| match actions {
        [Action::Appear(functions)] => functions.iter().map(|it| (it.vendor, it.device)).collect(),
        _ => Vec::new(),
    };
    assert_eq!(appeared(&guest.actions), [(0x168c, 0x002a); 3]);
    // The silicon's revision; a function that the device has not.
    let revision =
        |guest: &mut Guest, function| guest.lab.read_register(guest.now_ns, Register::word(function, 0x4020));
    assert_eq!([0, 2, 3].map(|function| revision(&mut guest, function)), [0x0008_01ff, 0x0008_01ff, u32::MAX]);
    guest.lab.write_register(guest.now_ns, Register::word(1, 0x8000), 0x1234_5678);
    assert_eq!(guest.lab.read_register(guest.now_ns, Register::word(1, 0x8000)), 0x1234_5678);
    assert_eq!(guest.lab.interrupts(), 0);

    guest.actions.clear();
    assert_eq!(guest.ask(&["replug"]).0, 0);
    assert_eq!(guest.actions, [Action::Vanish]);
    assert_eq!(guest.lab.read_register(guest.now_ns, Register::word(1, 0x8000)), u32::MAX);
    guest.actions.clear();
    guest.until(guest.now_ns + 1_100_000_000);
    assert_eq!(appeared(&guest.actions), [(0x168c, 0x002a); 3]);
    assert_eq!(guest.lab.read_register(guest.now_ns, Register::word(1, 0x8000)), 0, "it had no power");
    assert_eq!(guest.ask(&["detach"]).0, 0);
    let counted = statistics(folder.path(), "chip.json");
    assert_eq!(counted["device"]["station_chips"].as_array().map(Vec::len), Some(2));
}

/// What a guest may write, and where the descriptors are that it points to, is anything.
#[test]
fn a_chip_on_pci_takes_any_descriptor() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(folder.path());
    guest.lab.set_memory(SharedMemory::new(Ones));
    assert_eq!(guest.ask(&["attach", "--device", "ar9280", "--ap", "none"]).0, 0);
    let writes =
        [(0x7040, 1), (0x704c, 3), (0x9874, 0x2a27_9999), (0x804, 0x1000), (0xc, 0x2000), (0x8, 4), (0x840, 2)];
    for (offset, value) in writes {
        guest.lab.write_register(guest.now_ns, Register::word(0, offset), value);
    }
    guest.until(guest.now_ns + 1_000_000_000);
    assert_eq!(guest.ask(&["alive"]), (0, String::new()));
}
