//! What goes wrong on purpose: inside the chip, on its air, by script.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use crate::chip::{chip_on_air, down, ppdu, read, run, transmission, write, FarEnd, OWN};
use crate::host::{Echo, Host};
use vusb::air::{ChannelSettings, Response};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::Rtl8188cus;
use vusb::device::{ControlReply, Device, Effect, Identity, InReply, OutReply};
use vusb::fault::{Faulty, Script};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

/// Downloads a firmware as drivers do; gives whether it runs.
fn start_firmware(host: &mut Host<Rtl8188cus>) -> bool {
    write(host, reg::SYS_FUNC + 1, &[reg::SYS_FUNC_CPU_ENABLE]);
    write(host, reg::MCU_FW_DL, &[1]);
    write(host, reg::FW_START, &[0xaa; 128]);
    write(host, reg::MCU_FW_DL, &[0]);
    write(host, reg::MCU_FW_DL, &[2]);
    read(host, reg::MCU_FW_DL) & 0x40 != 0
}

/// Gives the mailboxes that are full after a command to the first one.
fn full_mailboxes(host: &mut Host<Rtl8188cus>) -> u32 {
    write(host, reg::HMBOX_0, &[2, 1, 0, 0]);
    read(host, reg::HMTFR) & 0x0f
}

#[test]
fn a_firmware_that_hangs_starts_again_only_after_power_was_cut() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    assert!(start_firmware(&mut host));
    assert_eq!(full_mailboxes(&mut host), 0);
    host.device.inject(0, Effect::FirmwareHang);
    assert_eq!(read(&mut host, reg::MCU_FW_DL) & 0x40, 0, "it no longer says that it runs");
    assert_eq!(full_mailboxes(&mut host), 1, "the mailbox is not read");
    // A data frame whose rate the firmware was to choose stays; one with the driver's rate is sent.
    let sent = |host: &mut Host<Rtl8188cus>, words: &[(usize, u32)]| {
        far.0.borrow_mut().heard.clear();
        host.write(3, &transmission(1, 100, words));
        run(host, 50_000_000);
        far.0.borrow().heard.len()
    };
    assert_eq!((sent(&mut host, &[]), sent(&mut host, &[(4, 1 << 8), (5, 19)])), (0, 1));
    // What a driver does when it is loaded again: off, on, download.
    write(&mut host, reg::CR, &[0]);
    write(&mut host, reg::CR, &[0xff]);
    assert!(!start_firmware(&mut host));
    host.device.reset(0);
    assert!(start_firmware(&mut host));
    assert_eq!(full_mailboxes(&mut host), 0);
}

#[test]
fn what_the_firmware_tells_the_host_can_get_lost() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    assert!(start_firmware(&mut host));
    let interrupts = |host: &mut Host<Rtl8188cus>| {
        let asked = host.read(4, 56, 0);
        let answered = run(host, 1_000_000).len();
        if answered == 0 {
            host.unlink(asked);
            run(host, 1);
        }
        answered
    };
    assert_eq!((full_mailboxes(&mut host), interrupts(&mut host)), (0, 1));
    host.device.inject(0, Effect::LostC2h(true));
    assert_eq!((full_mailboxes(&mut host), interrupts(&mut host)), (1, 0));
    host.device.inject(0, Effect::LostC2h(false));
    assert_eq!((full_mailboxes(&mut host), interrupts(&mut host)), (0, 1));
}

/// How many of 24 frames at MCS 7 arrive at the first attempt.
fn arrivals(host: &mut Host<Rtl8188cus>, far: &FarEnd) -> usize {
    far.0.borrow_mut().heard.clear();
    for sequence in 0..24 {
        // No retry: limit 0 of the descriptor, which counts (dw 5, bits 17 and 23:18).
        host.write(3, &transmission(sequence, 1_000, &[(4, 1 << 8), (5, 19 | 1 << 17)]));
    }
    run(host, 200_000_000);
    far.0.borrow().heard.len()
}

#[test]
fn noise_drowns_the_upper_rates_until_it_ends() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    assert_eq!(arrivals(&mut host, &far), 24);
    host.device.inject(host.now_ns, Effect::Noise(Some(-55)));
    assert_eq!(arrivals(&mut host, &far), 0, "10 dB are not enough for MCS 7");
    host.device.inject(host.now_ns, Effect::Noise(None));
    assert_eq!(arrivals(&mut host, &far), 24);
}

#[test]
fn a_late_block_ack_lacks_frames_that_the_chip_has() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    let acknowledged = |host: &mut Host<Rtl8188cus>, response, frames: std::ops::Range<u16>| {
        let burst = frames.map(|sequence| down(sequence, 200, OWN)).collect();
        far.0.borrow_mut().to_send.push((host.now_ns, ppdu(burst, response)));
        run(host, 10_000_000);
        let outcome = far.0.borrow().outcomes.last().cloned().unwrap();
        outcome.iter().filter(|&&it| it).count()
    };
    assert_eq!(acknowledged(&mut host, Response::BlockAck, 0..8), 8);
    host.device.inject(0, Effect::LateBlockAck(1.0));
    assert_eq!(acknowledged(&mut host, Response::BlockAck, 8..16), 0);
    assert_eq!(acknowledged(&mut host, Response::Ack, 16..17), 1, "an ACK is not late");
    host.device.inject(0, Effect::LateBlockAck(0.0));
    assert_eq!(acknowledged(&mut host, Response::BlockAck, 17..25), 8);
    // All 25 frames reached the host, acknowledged or not.
    for _ in 0..30 {
        host.read(1, 2_048, 0);
    }
    let arrived = run(&mut host, 1_000_000);
    let whole = arrived.iter().filter(|(completion, _)| matches!(completion, Completion::Submit { status: 0, .. }));
    assert_eq!(whole.count(), 25);
}

/// What was reported, and when.
type Log = Rc<RefCell<Vec<(u64, Effect)>>>;

/// A device that only writes down what goes wrong inside it.
struct Spy(Log, Identity);

impl Spy {
    fn with(script: &str) -> (Faulty<Self>, Log) {
        let log = Rc::new(RefCell::new(Vec::new()));
        let device = Faulty::new(Self(log.clone(), Echo::default().identity), Script::parse(script).unwrap());
        (device, log)
    }
}

impl Device for Spy {
    fn identity(&self) -> &Identity {
        &self.1
    }
    fn control(&mut self, _now_ns: u64, _setup: Setup, _data: &[u8]) -> ControlReply {
        ControlReply::Accepted
    }
    fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, _data: &[u8]) -> OutReply {
        OutReply::Accepted
    }
    fn transfer_in(&mut self, _now_ns: u64, _endpoint: u8, _transfer: &mut Vec<u8>) -> InReply {
        InReply::Nak
    }
    fn advance(&mut self, _now_ns: u64) {}
    fn next_event(&self) -> Option<u64> {
        None
    }
    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        self.0.borrow_mut().push((now_ns, effect));
        true
    }
}

/// Lets the device's own events happen, up to a second.
fn live(device: &mut impl Device) {
    while let Some(at_ns) = device.next_event().filter(|&at_ns| at_ns <= 1_000_000_000) {
        device.advance(at_ns);
    }
}

#[test]
fn effects_begin_and_end_when_the_script_says() {
    let (mut device, log) = Spy::with(
        "[[fault]]\nfrom_ms = 10\nfor_ms = 30\naction = \"noise\"\nnoise_dbm = -60\n\
         [[fault]]\nfrom_ms = 20\nfor_ms = 5\naction = \"loss\"\nprobability = 0.25\n\
         [[fault]]\nfrom_ms = 30\naction = \"late_block_ack\"\nprobability = 0.5\n\
         [[fault]]\nfrom_ms = 35\naction = \"lost_c2h\"\nfor_ms = 1\n\
         [[fault]]\nfrom_ms = 50\naction = \"firmware_hang\"\n",
    );
    device.reset(0);
    live(&mut device);
    let ms = |ms: u64| ms * 1_000_000;
    let expected = [
        (ms(10), Effect::Noise(Some(-60))),
        (ms(20), Effect::Loss(0.25)),
        (ms(25), Effect::Loss(0.0)),
        (ms(30), Effect::LateBlockAck(0.5)),
        (ms(35), Effect::LostC2h(true)),
        (ms(36), Effect::LostC2h(false)),
        (ms(40), Effect::Noise(None)),
        (ms(50), Effect::FirmwareHang),
    ];
    assert_eq!(*log.borrow(), expected);
}

#[test]
fn a_transfer_can_set_an_effect_off() {
    let (mut device, log) =
        Spy::with("[[fault]]\nendpoint = 2\nnth = 3\ntimes = 1\nfor_ms = 7\naction = \"loss\"\nprobability = 1.0\n");
    device.reset(0);
    for at_ns in 1..=5 {
        assert_eq!(device.transfer_out(at_ns, 2, &[0]), OutReply::Accepted);
    }
    live(&mut device);
    assert_eq!(*log.borrow(), [(3, Effect::Loss(1.0)), (7_000_003, Effect::Loss(0.0))]);
}

/// A script's count begins with its time: drivers access registers by the thousand before.
#[test]
fn transfers_before_its_time_do_not_count() {
    let (mut device, _) = Spy::with("[[fault]]\nendpoint = 2\nfrom_ms = 10\nnth = 2\ntimes = 2\naction = \"stall\"\n");
    device.reset(0);
    let replies: Vec<_> = (5..20).map(|ms| device.transfer_out(ms * 1_000_000, 2, &[0])).collect();
    let stalled =
        |from| replies.iter().enumerate().skip(from).find(|(_, it)| **it == OutReply::Stall).map(|(at, _)| at);
    assert_eq!((stalled(0), stalled(7), stalled(8)), (Some(6), Some(7), None));
}

#[test]
fn a_device_can_be_pulled_out_by_hand() {
    let (mut device, log) = Spy::with("");
    device.reset(0);
    assert!(device.inject(5_000_000, Effect::Unplug(20)));
    let present: Vec<bool> = [0, 5, 24, 25].map(|ms: u64| device.is_present(ms * 1_000_000)).to_vec();
    assert_eq!(present, [false, false, false, true]);
    assert_eq!(device.next_event(), Some(25_000_000));
    device.advance(25_000_000);
    assert_eq!(device.next_event(), None, "even if it is not plugged in again");
    // Inside, that is where power goes.
    assert_eq!(*log.borrow(), [(5_000_000, Effect::Unplug(20))]);
}

/// Where an event stays in the past, a loop that waits for it never ends.
#[test]
fn a_silence_that_nobody_waits_for_any_more_is_no_event() {
    let ms = |ms: u64| ms * 1_000_000;
    let script = "[[fault]]\nendpoint = 1\ntimes = 1\nfor_ms = 100\naction = \"nak\"\n";
    let echo = Echo { to_host: [vec![1], vec![2]].into(), ..Echo::default() };
    let mut host = Host::new(Faulty::new(echo, Script::parse(script).unwrap()));
    let asked = host.read(1, 64, 0);
    assert_eq!(host.completions(), []);
    assert_eq!(host.device.next_event(), Some(ms(100)));
    host.now_ns = ms(50);
    host.unlink(asked);
    host.now_ns = ms(200);
    assert_eq!(host.completions().len(), 1, "the answer to the unlink");
    assert_eq!(host.device.next_event(), None);
    // The endpoint answers again, and it happened once.
    for data in [vec![1], vec![2]] {
        host.read(1, 64, 0);
        let completions = host.completions();
        assert_eq!(completions.first().map(|(_, data)| data), Some(&data));
    }
}

#[test]
fn what_missed_its_time_does_not_happen() {
    let (mut device, log) =
        Spy::with("[[fault]]\nfrom_ms = 1000\nuntil_ms = 2000\naction = \"loss\"\nprobability = 1.0\n");
    device.reset(0);
    device.advance(1);
    assert_eq!(device.next_event(), Some(1_000_000_000));
    device.reset(5_000_000_000);
    device.advance(5_000_000_000);
    assert_eq!((device.next_event(), log.borrow().len()), (None, 0));
}

#[test]
fn time_counts_from_plugging_in_first() {
    let (mut device, log) = Spy::with("[[fault]]\nfrom_ms = 10\naction = \"firmware_hang\"\n");
    device.advance(7_000_000);
    assert_eq!(device.next_event(), None);
    device.reset(20_000_000);
    device.reset(25_000_000);
    live(&mut device);
    assert_eq!(*log.borrow(), [(30_000_000, Effect::FirmwareHang)]);
}

#[test]
fn registers_of_one_byte_can_be_corrupted_too() {
    let script = "[[fault]]\nendpoint = 0\ndirection = \"in\"\naction = \"corrupt\"\nor = 0xffffffff\nand = 0xf0\n";
    let mut host = Host::new(Faulty::new(Echo::default(), Script::parse(script).unwrap()));
    let setup = |length| Setup { request_type: 0xc0, request: 5, value: 0x100, index: 0, length };
    for length in [1, 2, 4] {
        assert_eq!(host.control(setup(length), &[]), (0, vec![0xff; usize::from(length)]));
    }
}

/// The scripts that txop ships can be carried out, and there is one for everything that can go wrong.
#[test]
fn there_is_a_script_for_every_action() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/faults");
    let mut actions = BTreeSet::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let script = Script::open(&path).unwrap();
            assert!(!script.fault.is_empty(), "{}", path.display());
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("# "), "{} does not say what it does", path.display());
            actions.extend(script.fault.iter().map(|fault| format!("{:?}", fault.action)));
        }
    }
    let all =
        ["Corrupt", "Disconnect", "FirmwareHang", "LateBlockAck", "Loss", "LostC2h", "Nak", "Noise", "Short", "Stall"];
    assert_eq!(actions.iter().map(String::as_str).collect::<Vec<_>>(), all);
}
