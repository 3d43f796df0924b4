//! Single blocks of the chip, as drivers use them: key memory and ciphers, bandwidth, mailboxes.

use crate::chip::{chip_on_air, down, ppdu, read, run, transmission, write, AP, OWN};
use crate::host::Host;
use proptest::prelude::*;
use vusb::air::rates::{mode, Modulation};
use vusb::air::{ChannelSettings, Medium, Response, Station};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use vusb::chips::tkip::Tkip;
use vusb::chips::wep::Wep;
use vusb::device::{ControlReply, Device};
use vusb::peers::silent::Silent;
use wire::usb::realtek::RxWalk;
use wire::usb::setup::Setup;

const PROTECTED: u8 = 0x40;
/// Valid; group key.
const VALID: u32 = 1 << 15;
const GROUP: u32 = 1 << 6;

/// Puts a key into the key memory, as rtl8xxxu_cam_write does.
fn set_key(host: &mut Host<Rtl8188cus>, entry: u32, control: u32, address: [u8; 6], key: &[u8]) {
    let mut padded = [0; 16];
    padded[..key.len()].copy_from_slice(key);
    let mut words = vec![
        VALID | control | u32::from(address[0]) << 16 | u32::from(address[1]) << 24,
        u32::from_le_bytes([address[2], address[3], address[4], address[5]]),
    ];
    words.extend(padded.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    for (at, word) in words.into_iter().enumerate().rev() {
        write(host, reg::CAM_WRITE, &word.to_le_bytes());
        write(host, reg::CAM_CMD, &(1 << 31 | 1 << 16 | entry << 3 | at as u32).to_le_bytes());
    }
    write(host, reg::SECURITY_CFG, &[0xcf]);
}

/// A frame from the driver with a cipher's header put behind its MAC header.
fn protected(sequence: u16, header: &[u8], security: u32) -> Vec<u8> {
    let mut transfer = transmission(sequence, 120, &[(1, security << 22), (4, 1 << 8), (5, 11)]);
    transfer[32 + 1] |= PROTECTED;
    transfer[32 + 26..32 + 26 + header.len()].copy_from_slice(header);
    transfer
}

/// What the far end hears is what the standard's cipher makes of the driver's frame, and back.
#[test]
fn tkip_both_ways() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    let key: [u8; 16] = std::array::from_fn(|at| 3 * at as u8);
    set_key(&mut host, 0, 2 << 2, AP, &key);
    set_key(&mut host, 1, GROUP | 2 << 2 | 1, AP, &key);
    host.write(3, &protected(1, &[0, 0x20, 1, 0x20, 0, 0, 0, 0], 1));
    run(&mut host, 10_000_000);
    let (_, mut heard, _) = far.0.borrow().heard[0].clone();
    // Data and their integrity code from the driver, 4 bytes of check value from the chip.
    assert_eq!(heard.len(), 124);
    assert_ne!(heard[34..120], [0x55; 86]);
    assert_eq!(Tkip::new(key).decrypt(&mut heard), Some(true));
    assert_eq!(heard[34..120], [0x55; 86]);

    // Down: unicast, group, and one that was damaged on purpose.
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    for (at, (to, index)) in [(OWN, 0), ([0xff; 6], 1), (OWN, 0)].into_iter().enumerate() {
        let mut frame = down(at as u16, 100, to);
        frame[1] |= PROTECTED;
        frame[26..34].copy_from_slice(&[0, 0x20, at as u8, 0x20 | index << 6, 0, 0, 0, 0]);
        assert!(Tkip::new(key).encrypt(&mut frame));
        frame[50] ^= u8::from(at == 2);
        far.0.borrow_mut().to_send.push((host.now_ns, ppdu(vec![frame], Response::Ack)));
    }
    for _ in 0..3 {
        host.read(1, 4_096, 0);
    }
    let got = run(&mut host, 10_000_000);
    let firsts: Vec<u32> = got.iter().map(|(_, data)| u32::from_le_bytes(data[..4].try_into().unwrap())).collect();
    assert_eq!(firsts.len(), 3);
    for (at, first) in firsts.iter().enumerate() {
        // TKIP, decrypted unless damaged: security 2, software decryption, integrity error.
        assert_eq!((first >> 20 & 7, first >> 27 & 1, first >> 15 & 1), (2, u32::from(at == 2), u32::from(at == 2)));
    }
    assert_eq!(got[0].1[24 + 32 + 34..24 + 32 + 100], [0x66; 66]);
    let statistics = host.statistics();
    assert_eq!((&statistics["rx"]["decrypted"], &statistics["rx"]["integrity_errors"]), (&2.into(), &1.into()));
    assert_eq!((&statistics["tx"]["encrypted"], &statistics["tx"]["no_key"]), (&1.into(), &0.into()));
}

#[test]
fn wep_with_a_default_key() {
    for (cipher, len) in [(1, 5), (5, 13)] {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        let key: Vec<u8> = (1..=len).collect();
        // As rtlwifi does: key 2 under the address 00:00:00:00:00:02.
        set_key(&mut host, 2, cipher << 2 | 2, [0, 0, 0, 0, 0, 2], &key);
        host.write(3, &protected(1, &[9, 8, 7, 2 << 6], 1));
        run(&mut host, 10_000_000);
        let (_, mut heard, _) = far.0.borrow().heard[0].clone();
        let mut bytes = [0; 16];
        bytes[..key.len()].copy_from_slice(&key);
        assert_eq!(Wep::new(bytes, len == 13).decrypt(&mut heard), Some(true));
        assert_eq!(heard[30..120], [0x55; 90]);
    }
}

/// A frame for a cipher that the key memory has no key of is not sent in clear.
#[test]
fn a_wrong_cipher_sends_nothing() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    set_key(&mut host, 0, 4 << 2, AP, &[7; 16]);
    host.write(3, &protected(1, &[0, 0x20, 1, 0x20, 0, 0, 0, 0], 1));
    run(&mut host, 10_000_000);
    assert_eq!(far.0.borrow().heard.len(), 0);
    assert_eq!(host.statistics()["tx"]["no_key"], 1);
}

/// Templates for the firmware come through the beacon queue; they are not sent.
#[test]
fn frames_for_the_beacon_queue_stay_in_the_chip() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    host.write(3, &transmission(1, 100, &[(1, 0x10 << 8), (4, 1 << 8)]));
    host.write(3, &transmission(2, 100, &[(1, 0x12 << 8), (4, 1 << 8)]));
    run(&mut host, 10_000_000);
    assert_eq!(far.0.borrow().heard.len(), 1);
    assert_eq!(host.statistics()["tx"]["reserved"], 1);
}

/// The writes of rtl8xxxu_gen1_config_channel for 40 MHz with the secondary channel above (or below) channel 6.
pub fn tune_wide(host: &mut Host<Rtl8188cus>, above: bool) {
    write(host, reg::BW_OPMODE, &[0]);
    write(host, reg::FPGA0_RF_MODE, &[1]);
    write(host, reg::OFDM1_LSTF, &(if above { 1u32 << 10 } else { 1 << 11 }).to_le_bytes());
    let centre = if above { 8 } else { 4 };
    write(host, reg::FPGA0_XA_LSSI_PARM, &(0x18u32 << 20 | centre).to_le_bytes());
}

#[test]
fn in_40_mhz_the_primary_channel_is_found() {
    for above in [true, false] {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        tune_wide(&mut host, above);
        // 40 MHz as the descriptor says; then without.
        for (sequence, words) in [(1, 1 << 8 | 1 << 25), (2, 1 << 8)] {
            host.write(3, &transmission(sequence, 1_000, &[(4, words), (5, 19 | 1 << 6)]));
        }
        run(&mut host, 20_000_000);
        let rates: Vec<_> = far.0.borrow().heard.iter().map(|(_, _, how)| how.mode.rate_kbps()).collect();
        assert_eq!(rates, [Some(150_000), Some(72_222)]);
        assert_eq!(far.0.borrow().heard[0].2.tuned.frequency_mhz, far.tuned().unwrap().frequency_mhz);
    }
}

/// A PPDU of 40 MHz is received in 40 MHz only.
#[test]
fn wide_frames_need_a_wide_receiver() {
    for wide in [false, true] {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
        if wide {
            tune_wide(&mut host, true);
        }
        let mut sent = ppdu(vec![down(1, 100, OWN)], Response::Ack);
        sent.mode = mode(19, Modulation { wide: true, ..Modulation::default() });
        far.0.borrow_mut().to_send.push((0, sent));
        host.read(1, 4_096, 0);
        let got = run(&mut host, 10_000_000);
        assert_eq!((got.len(), &far.0.borrow().outcomes[..]), (usize::from(wide), &[vec![wide]][..]));
        for (_, data) in &got {
            assert_eq!(RxWalk::new(data, data.len()).count(), 1);
            // The descriptor says 40 MHz.
            assert_eq!(u32::from_le_bytes(data[12..16].try_into().unwrap()) >> 9 & 1, 1);
        }
    }
}

fn start_firmware(host: &mut Host<Rtl8188cus>) {
    write(host, reg::MCU_FW_DL, &[1]);
    write(host, reg::FW_START, &[0xaa; 128]);
    write(host, reg::MCU_FW_DL, &[0]);
    write(host, reg::MCU_FW_DL, &[2]);
}

/// H2C_SET_RATE_MASK as either driver writes it: at once, or byte by byte.
#[test]
fn a_rate_mask_holds_when_its_mailbox_is_complete() {
    for bytewise in [false, true] {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        start_firmware(&mut host);
        // MCS 0 to 2: bits 12 to 14. Extension has the lower half.
        let (mask, command) = (0x7000u16, [0x86, 0, 0, 0x80]);
        write(&mut host, reg::HMBOX_EXT_0, &mask.to_le_bytes());
        if bytewise {
            for (at, byte) in command.iter().enumerate() {
                assert_eq!(host.statistics()["chip"]["commands"], 0);
                write(&mut host, reg::HMBOX_0 + at as u16, &[*byte]);
            }
        } else {
            write(&mut host, reg::HMBOX_0, &command);
        }
        assert_eq!(host.statistics()["chip"]["commands"], 1);
        assert_eq!(read(&mut host, reg::HMTFR) & 0x0f, 0);
        // No driver's rate: the firmware chooses, and begins with the highest of the mask.
        host.write(3, &transmission(1, 1_000, &[(5, 19)]));
        run(&mut host, 20_000_000);
        assert_eq!(far.0.borrow().heard[0].2.mode.rate_kbps(), Some(19_500));
    }
}

/// Mailboxes of a firmware that does not run stay full, until it starts.
#[test]
fn a_mailbox_that_nobody_reads_stays_full() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    for number in [0, 2] {
        write(&mut host, reg::HMBOX_0 + 4 * number, &[2, 1, 0, 0]);
    }
    assert_eq!(read(&mut host, reg::HMTFR) & 0x0f, 0b101);
    start_firmware(&mut host);
    assert_eq!(read(&mut host, reg::HMTFR) & 0x0f, 0);
    assert_eq!(host.statistics()["chip"]["commands"], 0);
}

/// A beacon with a TIM of one byte: bit n is station n.
fn beacon(stations: u8) -> Vec<u8> {
    let mut frame = vec![0x80, 0, 0, 0];
    frame.extend([0xff; 6]);
    frame.extend(AP);
    frame.extend(AP);
    frame.resize(36, 0);
    frame.extend([5, 4, 0, 1, 0, stations]);
    frame
}

/// H2C_SET_POWER_MODE, as rtl92c_set_fw_pwrmode_cmd sends it: the chip says so, sleeps, polls, and wakes.
#[test]
fn power_save_by_the_firmware() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    start_firmware(&mut host);
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    write(&mut host, reg::BSSID, &AP);
    write(&mut host, reg::BCN_PSR_RPT, &(0xc000u16 | 1).to_le_bytes());
    write(&mut host, reg::HMBOX_0, &[1, 1, 1, 5]);
    run(&mut host, 5_000_000);
    let to_send = [(beacon(0), Response::None), (down(1, 100, OWN), Response::Ack), (beacon(2), Response::None)];
    for (at, (frame, response)) in to_send.into_iter().enumerate() {
        far.0.borrow_mut().to_send.push((host.now_ns + at as u64 * 1_000_000, ppdu(vec![frame], response)));
    }
    run(&mut host, 5_000_000);
    // Asleep: beacons need no answer, the frame got none.
    assert_eq!(far.0.borrow().outcomes, [vec![true], vec![false], vec![true]]);
    far.0.borrow_mut().to_send.push((host.now_ns, ppdu(vec![down(2, 100, OWN)], Response::Ack)));
    run(&mut host, 5_000_000);
    assert_eq!(far.0.borrow().outcomes.last(), Some(&vec![true]));
    host.write(3, &transmission(9, 100, &[(4, 1 << 8), (5, 11)]));
    run(&mut host, 5_000_000);
    write(&mut host, reg::HMBOX_0 + 4, &[1, 0, 1, 5]);
    run(&mut host, 5_000_000);
    let heard: Vec<[u8; 2]> = far.0.borrow().heard.iter().map(|(_, frame, _)| [frame[0], frame[1] & 0x10]).collect();
    // Null with the bit, PS-Poll, the host's data with the bit, Null without.
    assert_eq!(heard, [[0x48, 0x10], [0xa4, 0], [0x88, 0x10], [0x48, 0]]);
    let power = &host.statistics()["power"];
    assert_eq!((&power["announced"], &power["polls"], &power["missed"]), (&1.into(), &1.into(), &1.into()));
    assert!((10_000_000..21_000_000).contains(&power["asleep_ns"].as_u64().unwrap()));
}

/// Drivers pause queues one by one, and all of them to calibrate (rtl8xxxu_mac_calibration writes 0x3f).
#[test]
fn queues_are_paused_one_by_one() {
    // Descriptor queue and its bit: background, best effort, video, voice, management, high.
    for (queue, bit) in [(1u32, 0), (0, 1), (5, 2), (6, 3), (0x12, 4), (0x11, 5)] {
        for (paused, heard) in [(1u8 << bit, 0), (!(1u8 << bit), 1), (0x3f, 0)] {
            let (mut host, far) = chip_on_air(ChannelSettings::default());
            write(&mut host, reg::TXPAUSE, &[paused]);
            host.write(3, &transmission(1, 100, &[(1, queue << 8), (4, 1 << 8), (5, 11)]));
            run(&mut host, 20_000_000);
            assert_eq!(far.0.borrow().heard.len(), heard, "queue {queue:#x}, paused {paused:#x}");
            write(&mut host, reg::TXPAUSE, &[0]);
            run(&mut host, 20_000_000);
            assert_eq!(far.0.borrow().heard.len(), 1, "queue {queue:#x}");
        }
    }
}

/// Whatever the host asks the firmware for while nothing may be sent, no more waits than the firmware has room for.
#[test]
fn frames_of_the_firmware_do_not_pile_up() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    start_firmware(&mut host);
    write(&mut host, reg::BSSID, &AP);
    write(&mut host, reg::TXPAUSE, &[0xff]);
    for round in 0..1_001u32 {
        write(&mut host, reg::HMBOX_0, &[1, 1 - (round % 2) as u8, 1, 5]);
    }
    write(&mut host, reg::TXPAUSE, &[0]);
    run(&mut host, 50_000_000);
    let heard: Vec<[u8; 2]> = far.0.borrow().heard.iter().map(|(_, frame, _)| [frame[0], frame[1] & 0x10]).collect();
    // The last eight announcements, in their order: it sleeps.
    assert_eq!(heard, [[[0x48, 0], [0x48, 0x10]]; 4].concat());
}

/// What happens to a chip and its host.
#[derive(Clone, Debug)]
enum Step {
    Ask(u8),
    TakeBack,
    Aggregate(bool),
    Arrive(u16),
    Send,
    Pause(bool),
    Wait(u64),
    Leave,
}

/// A register write past the bus: other transfers may be under way.
fn poke(host: &mut Host<Rtl8188cus>, register: u16, value: u8) {
    let setup = Setup { request_type: 0x40, request: 5, value: register, index: 0, length: 1 };
    assert_eq!(host.device.control(host.now_ns, setup, &[value]), ControlReply::Accepted);
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        prop_oneof![Just(1), Just(4)].prop_map(Step::Ask),
        Just(Step::TakeBack),
        any::<bool>().prop_map(Step::Aggregate),
        (1u16..4).prop_map(Step::Arrive),
        Just(Step::Send),
        any::<bool>().prop_map(Step::Pause),
        (0u64..50_000_000).prop_map(Step::Wait),
        Just(Step::Leave),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    /// Where the next event stays in the past, the loop that waits for it turns forever. Here the host asks and takes
    /// back, goes and comes, and leaves frames where they are.
    #[test]
    fn no_event_stays_in_the_past(steps in steps()) {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
        let (mut asked, mut connected) = (Vec::new(), true);
        for step in steps {
            match step {
                Step::Ask(endpoint) => asked.push(host.read(endpoint, 2_048, 0)),
                Step::TakeBack => asked.pop().into_iter().for_each(|victim| { host.unlink(victim); }),
                Step::Aggregate(on) => poke(&mut host, reg::TRXDMA_CTRL, if on { reg::RX_AGGREGATION } else { 0 }),
                Step::Arrive(count) => {
                    let frames = (0..count).map(|sequence| down(sequence, 300, OWN)).collect();
                    far.0.borrow_mut().to_send.push((host.now_ns, ppdu(frames, Response::BlockAck)));
                }
                Step::Send => { host.write(3, &transmission(1, 300, &[(4, 1 << 8), (5, 11)])); }
                Step::Pause(on) => poke(&mut host, reg::TXPAUSE, if on { 0xff } else { 0 }),
                Step::Wait(for_ns) => host.now_ns += for_ns,
                Step::Leave => connected = !connected,
            }
            let mut turns = 0;
            loop {
                if connected {
                    host.completions();
                } else {
                    host.device.advance(host.now_ns);
                }
                let next = host.device.next_event();
                if next.is_none_or(|at_ns| at_ns > host.now_ns) {
                    break;
                }
                turns += 1;
                prop_assert!(turns < 20, "{next:?} at {}", host.now_ns);
            }
        }
    }
}

/// What drivers distinguish the two models by, besides the numbers of the USB device.
#[test]
fn models_have_their_marks() {
    for (model, mark) in [(Model::Rtl8188cus, 0), (Model::Rtl8723au, 1 << 16)] {
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let mut host = Host::new(Rtl8188cus::new(Settings::new(model), medium, Box::new(Silent)));
        host.device.reset(0);
        assert_eq!(read(&mut host, reg::SYS_CFG) & (1 << 16), mark);
        assert_eq!(read(&mut host, reg::MULTI_FUNC_CTRL) >> 2 & 1, mark >> 16);
    }
}
