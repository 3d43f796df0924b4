//! The MT7601U as mt7601u uses it: what differs from the MT7610U, from the first request to reports of transmission.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use vusb::air::{ChannelSettings, Medium, Ppdu, Protection, Response};
use vusb::chips::mt7610u::registers as reg;
use vusb::chips::mt7610u::{Model, Mt7610u, Settings};
use vusb::device::Device;
use wire::usb::mediatek::{request, unpadded, Rate, Txwi, INFO, RX_TRAILER};
use wire::usb::mt7601::{emit_txwi, split_rxwi, RXWI};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

use crate::chip::{run, Air, FarEnd};
use crate::host::Host;

const OWN: [u8; 6] = [0, 0x0c, 0x43, 0x76, 0x01, 1];
const AP: [u8; 6] = [2, 0, 0, 0, 0, 0];
/// Its entry among the stations: mt7601u keeps 0 for itself (init.c, mt7601u_register_device).
const AP_WCID: u8 = 1;
const MS: u64 = 1_000_000;
/// Endpoints of best effort, of commands, of frames and of answers.
const BEST_EFFORT: u8 = 5;
const COMMANDS: u8 = 8;
const FRAMES: u8 = 4;
const ANSWERS: u8 = 5;

type Got = Vec<(Completion, Vec<u8>)>;

fn data_of(completions: &Got, sequence: u32) -> Option<(i32, Vec<u8>)> {
    completions.iter().find_map(|(completion, data)| match completion {
        Completion::Submit { sequence: of, status, .. } if *of == sequence => Some((*status, data.clone())),
        _ => None,
    })
}

fn answered(host: &mut Host<Mt7610u>, setup: Setup, data: &[u8]) -> Vec<u8> {
    let sequence = host.ask_with(setup, data);
    let (status, data) = data_of(&run(host, MS), sequence).expect("its answer");
    assert_eq!(status, 0);
    data
}

/// usb.c, mt7601u_wr: two halves.
fn write(host: &mut Host<Mt7610u>, register: u32, value: u32) {
    for (index, half) in [(register, value as u16), (register + 2, (value >> 16) as u16)] {
        let setup = Setup { request_type: 0x40, request: request::WRITE, value: half, index: index as u16, length: 0 };
        answered(host, setup, &[]);
    }
}

fn read(host: &mut Host<Mt7610u>, register: u32) -> u32 {
    let setup = Setup { request_type: 0xc0, request: request::MULTI_READ, value: 0, index: register as u16, length: 4 };
    u32::from_le_bytes(answered(host, setup, &[]).try_into().unwrap())
}

/// mcu.c, mt7601u_mcu_msg_send: a command, and the answer to it.
fn command(host: &mut Host<Mt7610u>, command: u32, words: &[u32]) {
    let info = 1 << 30 | command << 20 | 3 << 16 | (4 * words.len() as u32);
    let bytes: Vec<u8> = [&[info], words, &[0]].concat().iter().flat_map(|word| word.to_le_bytes()).collect();
    let asked = host.read(ANSWERS, 1_024, 0);
    host.write(COMMANDS, &bytes);
    let (status, answer) = data_of(&run(host, MS), asked).expect("its answer");
    assert_eq!((status, answer[2] & 0x0f, answer[2] >> 4), (0, 3, 0), "number 3, done");
}

fn bbp(host: &mut Host<Mt7610u>, register: u32) -> u32 {
    write(host, reg::BBP_CSR_CFG, 1 << 19 | 1 << 17 | 1 << 16 | register << 8);
    let value = read(host, reg::BBP_CSR_CFG);
    assert_eq!((value >> 17 & 1, value >> 8 & 0xff), (0, register));
    value & 0xff
}

/// A station on channel 6, as the driver sets it up, with the access point among its stations.
fn station() -> (Host<Mt7610u>, Rc<RefCell<Air>>) {
    let far = FarEnd::default();
    let air = Rc::clone(&far.0);
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    let mut host = Host::new(Mt7610u::new(Settings::new(Model::Mt7601u), medium, Box::new(far)));
    host.write(COMMANDS, &[&(0x1000u32 | 2 << 27).to_le_bytes()[..], &[0; 0x1004]].concat());
    run(&mut host, MS);
    assert_eq!((read(&mut host, reg::COM_REG0), read(&mut host, reg::COM_REG1) >> 31), (0, 1));
    let start = Setup { request_type: 0x40, request: request::DEVICE_MODE, value: 0x12, index: 0, length: 64 };
    answered(&mut host, start, &[0; 64]);
    assert_eq!(read(&mut host, reg::COM_REG0), 1);
    // phy.c, __mt7601u_phy_set_channel: channel 6.
    let plan: Vec<u32> =
        (17..).map(|it: u32| 1 << 31 | it).zip([0xec, 0xee, 0x08, 0x51]).flat_map(|(r, v)| [r, v]).collect();
    command(&mut host, 12, &plan);
    write(&mut host, reg::MAC_ADDR, u32::from_le_bytes([OWN[0], OWN[1], OWN[2], OWN[3]]));
    write(&mut host, reg::MAC_ADDR + 4, 0x00ff_0000 | u32::from(u16::from_le_bytes([OWN[4], OWN[5]])));
    for (register, value) in [
        (reg::TX_RETRY_CFG, 0x47d0_1f0f),
        (reg::MAX_LEN_CFG, 0x000a_0fff | 3 << 12),
        (reg::RX_FILTER, 0x0001_7f97),
        (reg::WCID_ADDR + 8 * u32::from(AP_WCID), 2),
        (reg::WCID_ADDR + 8 * u32::from(AP_WCID) + 4, 0),
        (reg::MAC_SYS_CTRL, 0x0c),
    ] {
        write(&mut host, register, value);
    }
    (host, air)
}

/// QoS data of 1000 bytes; `mark` as tx.c, mt7601u_tx_pktid_enc, makes it.
fn transmission(sequence: u16, mcs: u16, ampdu: bool, mark: u8) -> Vec<u8> {
    let mut frame = vec![0x88, 0x01, 0, 0];
    frame.extend([AP, OWN, AP].concat());
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0; 4]); // QoS Control, and padding
    frame.resize(1_002, 0x55);
    let txwi = Txwi {
        ampdu,
        rate: Rate(0x4000 | mcs),
        ack: true,
        window: if ampdu { 63 } else { 0 },
        wcid: AP_WCID,
        frame_len: 1_000,
        packet_id: mark,
        ..Txwi::default()
    };
    let mut bytes = [&emit_txwi(&txwi)[..], &frame].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    [&(bytes.len() as u32 | 2 << 25 | 1 << 19).to_le_bytes()[..], &bytes, &[0; 4]].concat()
}

fn reports(host: &mut Host<Mt7610u>) -> Vec<u32> {
    std::iter::from_fn(|| Some(read(host, reg::TX_STAT_FIFO)).filter(|report| report & 1 == 1)).collect()
}

#[test]
fn it_is_what_the_driver_asks_for() {
    let (mut host, _air) = station();
    assert_eq!(host.device.identity().device[8..12], [0x8f, 0x14, 0x01, 0x76]);
    assert_eq!(read(&mut host, reg::ASIC_VERSION) >> 16, 0x7601);
    assert!(![0, 0xff].contains(&bbp(&mut host, 0)));
    // init.c, mt7601u_init_bbp, and phy.c, mt7601u_bbp_wr.
    command(&mut host, 12, &[0x4000_0000 | 66, 0x14, 0x4000_0000 | 4, 0x40]);
    assert_eq!((bbp(&mut host, 66), bbp(&mut host, 4)), (0x14, 0x40));
    write(&mut host, reg::BBP_CSR_CFG, 1 << 19 | 1 << 17 | 66 << 8 | 0x38);
    assert_eq!(bbp(&mut host, 66), 0x38);
    // phy.c, mt7601u_rf_wr and mt7601u_rf_rr: bank 4, register 39.
    let place = 4 << 14 | 39 << 8;
    write(&mut host, reg::RF_CSR_CFG, 1 << 31 | 1 << 30 | place | 0xb3);
    write(&mut host, reg::RF_CSR_CFG, 1 << 31 | place);
    assert_eq!(read(&mut host, reg::RF_CSR_CFG), place | 0xb3);
    // init.c, mt7601u_init_wcid_mem: a burst.
    command(&mut host, 8, &[0x0041_0000 + reg::WCID_ADDR + 80, 0xffff_ffff, 0x00ff_ffff]);
    assert_eq!([10, 11].map(|at| read(&mut host, reg::WCID_ADDR + 8 * 10 + 4 * (at - 10))), [0xffff_ffff, 0x00ff_ffff]);
    assert_eq!(host.statistics()["mcu"]["firmware_bytes"], 0x1000);
}

/// Rate control has nothing but this: the mark that it chose, and the rate at which the frame arrived.
#[test]
fn every_frame_is_reported_with_its_mark_and_the_rate_of_its_last_try() {
    let (mut host, air) = station();
    for sequence in 0..8 {
        host.write(BEST_EFFORT, &transmission(sequence, 7, true, 8));
    }
    // A frame that tries a rate is sent by itself, and its mark is 8 more.
    host.write(BEST_EFFORT, &transmission(8, 4, false, 13));
    run(&mut host, 100 * MS);
    let heard = air.borrow().heard.len();
    let all = reports(&mut host);
    assert_eq!((heard, all.len()), (9, 9));
    // Valid, mark, arrived, aggregated, needs an acknowledgement, station 1; HT MCS 7.
    assert!(all[..8].iter().all(|&it| it == 0x8007_0000 | 1 << 8 | 0x80 | 0x40 | 0x20 | 8 << 1 | 1), "{all:x?}");
    assert_eq!(all[8], 0x8004_0000 | 1 << 8 | 0x80 | 0x20 | 13 << 1 | 1);
    assert_eq!((host.device.air().chip.sent.ampdus, host.statistics()["tx"]["reports"].as_u64()), (1, Some(9)));

    // What is not acknowledged falls by one rate a try, 15 times.
    air.borrow_mut().deaf = true;
    host.write(BEST_EFFORT, &transmission(9, 7, false, 8));
    run(&mut host, 500 * MS);
    assert_eq!(reports(&mut host), [0x8000_0000 | 1 << 8 | 0x80 | 8 << 1 | 1]);
    assert_eq!(air.borrow().heard.len(), 9 + 16);
}

#[test]
fn received_frames_share_transfers_and_say_their_signal() {
    let (mut host, air) = station();
    write(&mut host, 0x0238, 0x00e0_1c80); // init.c, mt7601u_init_usb_dma
    let mut mpdus = Vec::new();
    for sequence in 0u16..3 {
        let mut mpdu = vec![0x88, 0x02, 0, 0];
        mpdu.extend([OWN, AP, AP].concat());
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend([5, 0]);
        mpdu.resize(500, sequence as u8);
        mpdus.push(mpdu);
    }
    let mode = Rate(0x4207).mode().unwrap();
    let ppdu = Ppdu {
        mode,
        mpdus: mpdus.clone(),
        aggregated: true,
        protection: Protection::None,
        response: Response::BlockAck,
    };
    let now_ns = host.now_ns;
    air.borrow_mut().to_send.push((now_ns, ppdu));
    run(&mut host, 20 * MS);
    let asked = host.read(FRAMES, 32_768, 0);
    let (status, transfer) = data_of(&run(&mut host, MS), asked).expect("a transfer");
    // dma.c, mt7601u_rx_process_entry: length, descriptor, frame, four bytes, three times.
    let segment = INFO + (RXWI + 502usize).next_multiple_of(4) + RX_TRAILER;
    assert_eq!((status, transfer.len()), (0, 3 * segment));
    for (part, mpdu) in transfer.chunks(segment).zip(&mpdus) {
        assert_eq!(usize::from(u16::from_le_bytes([part[0], part[1]])) + INFO + RX_TRAILER, segment);
        let (rxwi, rest) = split_rxwi(&part[INFO..], 8).unwrap();
        assert_eq!((rxwi.wcid, rxwi.signal_dbm, rxwi.frame_len, rxwi.tid_sequence & 0x0f), (AP_WCID, -45, 500, 5));
        assert!(rxwi.unicast && rxwi.padded && rxwi.ampdu && !rxwi.decrypted);
        assert_eq!(rxwi.rate.mode().unwrap().rate_kbps(), Some(72_222));
        // But for the duration, which the air fills in.
        assert_eq!(unpadded(rest, 500, 26).unwrap()[4..], mpdu[4..]);
    }
    assert_eq!(host.statistics()["rx"]["delivered"], 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Registers of all kinds with any values, any commands, any frames: the chip goes on.
    #[test]
    fn any_requests_and_transfers_are_taken(
        requests in prop::collection::vec((0u16..0x2000, any::<u16>(), prop::sample::select(vec![1u8, 2, 6, 7, 0x42])), 0..40),
        transfers in prop::collection::vec((4u8..10, prop::collection::vec(any::<u8>(), 0..80)), 0..20),
    ) {
        let (mut host, _air) = station();
        for (index, value, request) in requests {
            let (request_type, length) = if request == request::MULTI_READ { (0xc0, 4) } else { (0x40, 0) };
            let value = if request_type == 0xc0 { 0 } else { value };
            host.ask_with(Setup { request_type, request, value, index, length }, &[]);
            run(&mut host, MS);
        }
        for (endpoint, data) in transfers {
            host.write(endpoint, &data);
            run(&mut host, 10 * MS);
        }
        let asic = read(&mut host, reg::ASIC_VERSION);
        prop_assert_eq!(asic >> 16, 0x7601);
    }
}
