//! The RTL8822BU as rtw88 uses it, from the first register to reports of transmission.

use proptest::prelude::*;
use vusb::air::{ChannelSettings, Medium, Ppdu, Protection, Response, Tuned};
use vusb::chips::rtl8822bu::registers as reg;
use vusb::chips::rtl8822bu::{Model, Rtl8822bu, Settings};
use vusb::device::{Device, Effect};
use wire::phy::{Bandwidth, Mode, Vht};
use wire::usb::rtw88::{queue, PhyStatus, RxDescriptor, TxDescriptor, RX_DESCRIPTOR, TX_DESCRIPTOR};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

use crate::chip::{run, FarEnd, AP};
use crate::host::Host;

const MS: u64 = 1_000_000;
const OWN: [u8; 6] = Model::Rtl8822bu.address();
/// Endpoints of the high, normal and low place, and of what is received.
const HIGH: u8 = 5;
const NORMAL: u8 = 6;
const LOW: u8 = 8;
const IN: u8 = 4;
/// What the driver says when a firmware may start, and what it waits for (reg.h, FW_READY).
const READY: u32 = 0xc078;

fn write(host: &mut Host<Rtl8822bu>, register: u16, data: &[u8]) {
    let setup = Setup { request_type: 0x40, request: 5, value: register, index: 0, length: data.len() as u16 };
    assert_eq!(host.control(setup, data).0, 0);
}

fn write32(host: &mut Host<Rtl8822bu>, register: u16, value: u32) {
    write(host, register, &value.to_le_bytes());
}

fn read(host: &mut Host<Rtl8822bu>, register: u16) -> u32 {
    let setup = Setup { request_type: 0xc0, request: 5, value: register, index: 0, length: 4 };
    let (status, mut data) = host.control(setup, &[]);
    assert_eq!(status, 0);
    data.resize(4, 0);
    u32::from_le_bytes(data.try_into().unwrap())
}

fn plugged_in(settings: Settings) -> (Host<Rtl8822bu>, FarEnd) {
    let far = FarEnd::default();
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    (Host::new(Rtl8822bu::new(settings, medium, Box::new(far.clone()))), far)
}

/// mac.c, download_firmware_to_mem: 4 KiB through the beacon queue, and DMA to a memory. `left_out`: bytes that do not come.
fn download(host: &mut Host<Rtl8822bu>, to: u32, bytes: usize, left_out: usize) {
    let control = read(host, reg::DDMA_CH0CTRL);
    write32(host, reg::DDMA_CH0CTRL, control | reg::DDMA_RESET_CHECKSUM);
    for start in (0..bytes).step_by(0x1000) {
        let len = (bytes - start).min(0x1000);
        write(host, reg::FIFOPAGE_CTRL_2, &[0, 0x80]);
        assert_eq!(read(host, reg::FIFOPAGE_CTRL_2) & 0x8000, 0);
        let part = TxDescriptor::new((len - left_out) as u16, queue::BEACON).emit();
        host.write(HIGH, &[&part[..], &vec![0x5a; len - left_out]].concat());
        run(host, MS);
        assert_eq!(read(host, reg::FIFOPAGE_CTRL_2) & 0x8000, 0x8000, "the page is there");
        write32(host, reg::DDMA_CH0SA, 0x1878_0000 + TX_DESCRIPTOR as u32);
        write32(host, reg::DDMA_CH0DA, to + start as u32);
        let continued = if start == 0 { 0 } else { reg::DDMA_CONTINUED };
        write32(host, reg::DDMA_CH0CTRL, reg::DDMA_OWN | 1 << 29 | continued | len as u32);
        assert_eq!(read(host, reg::DDMA_CH0CTRL) >> 31, 0, "it is done");
    }
}

/// mac.c, rtw_mac_power_on and __rtw_download_firmware. Gives what the driver waits for at the end.
fn start(host: &mut Host<Rtl8822bu>, left_out: usize) -> u32 {
    assert_eq!(read(host, reg::CR) & 0xff, 0xea);
    assert_eq!(read(host, reg::SYS_PW_CTRL) >> 17 & 1, 1, "power is there");
    write(host, reg::SYS_PW_CTRL + 1, &[1]);
    assert_eq!(read(host, reg::SYS_PW_CTRL) >> 8 & 1, 0, "the MAC is on");
    // main.c, rtw_chip_efuse_enable: what the hardware can do.
    write(host, reg::C2HEVT, &[0xfd]);
    write(host, reg::SYS_FUNC_EN + 1, &[0xd8]);
    write(host, reg::CR, &[0x05]);
    write(host, reg::MCUFW_CTRL, &[1, 0]);
    download(host, 0x0020_0000, 0x2008, 0);
    download(host, 0x0003_0000, 0x1808, left_out);
    let wrong = read(host, reg::DDMA_CH0CTRL) & reg::DDMA_CHECKSUM_WRONG != 0;
    // mac.c, check_fw_checksum and download_firmware_end_flow.
    write(host, reg::MCUFW_CTRL, &[if wrong { 0x69 } else { 0x79 }, 0]);
    if !wrong {
        write(host, reg::MCUFW_CTRL, &[0x78, 0x40]);
    }
    write(host, reg::SYS_FUNC_EN + 1, &[0xdc]);
    read(host, reg::MCUFW_CTRL) & 0xffff
}

/// A station that a driver has set up, on channel 36 in 80 MHz, with the far end there.
fn station(settings: Settings) -> (Host<Rtl8822bu>, FarEnd) {
    let (mut host, far) = plugged_in(settings);
    far.0.borrow_mut().tuned = Some(Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz80 });
    assert_eq!(start(&mut host, 0), READY);
    // mac.c, txdma_queue_mapping and __priority_queue_cfg, for three bulk OUT endpoints.
    let map: u16 = 2 << 4 | 2 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | 3 << 14;
    write(&mut host, reg::TXDMA_PQ_MAP, &map.to_le_bytes());
    write(&mut host, reg::CR, &[0xff]);
    for (at, pages) in [64u16, 64, 64, 0, 1_700].into_iter().enumerate() {
        write(&mut host, reg::FIFOPAGE_INFO_1 + 4 * at as u16, &pages.to_le_bytes());
    }
    write(&mut host, reg::RQPN_CTRL_2 + 3, &[0x80]);
    write(&mut host, reg::FIFOPAGE_CTRL_2, &2_000u16.to_le_bytes());
    write(&mut host, reg::AUTO_LLT_V1, &[1]);
    assert_eq!(read(&mut host, reg::AUTO_LLT_V1) & 1, 0);
    // rtw8822b_table.c: fallback of the fourth to the eighth retry, MPDUs of an A-MPDU and its time.
    write(&mut host, reg::DARFRC, &[0, 0, 0, 1, 4, 5, 7, 8]);
    write(&mut host, reg::MAX_AGGR_NUM, &[0x20]);
    write(&mut host, reg::AMPDU_MAX_TIME_V1, &[0x70]);
    write(&mut host, reg::RX_DRVINFO_SZ, &[4]);
    write32(&mut host, reg::RXFLTMAP0, 0x0fff_ffff);
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    write32(&mut host, reg::RCR, 0xf410_400e);
    write(&mut host, reg::MACID, &OWN);
    write(&mut host, reg::BSSID, &AP);
    // rtw8822b.c, rtw8822b_set_channel_rf: centre 42, 80 MHz; mac.c: the lowest of its channels is the primary one.
    write(&mut host, reg::DATA_SC, &[0xa4]);
    write32(&mut host, reg::RF_WRITE[0], 0x18 << 20 | 0x1_352a);
    (host, far)
}

/// fw.c, rtw_fw_send_h2c_command.
fn command(host: &mut Host<Rtl8822bu>, message: u32, extension: u32) {
    write32(host, reg::HMEBOX0_EX, extension);
    write32(host, reg::HMEBOX0, message);
    assert_eq!(read(host, reg::HMETFR) & 1, 0, "it was read");
}

/// Two streams of VHT in 80 MHz with the short guard interval, for station 0.
fn rates(host: &mut Host<Rtl8822bu>) {
    command(host, 0x40 | 0x80 << 16 | 0x16 << 24, 0xffff_f010);
}

/// QoS data as tx.c, rtw_tx_data_pkt_info_update, asks for it, with bits over the descriptor's words.
fn data(sequence: u16, len: usize, bits: &[(usize, u32, u32)]) -> Vec<u8> {
    let mut frame = vec![0x88, 0x01, 0, 0];
    frame.extend([AP, OWN, AP].concat());
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.resize(len, 0x55);
    let descriptor = TxDescriptor::new(len as u16, 0).with(4, 0, 0x3f).with(5, 5, 2);
    let descriptor = bits.iter().fold(descriptor, |it, &(word, shift, value)| it.with(word, shift, value));
    [&descriptor.emit()[..], &frame].concat()
}

/// AGG_EN and as many as the driver allows.
const AGGREGATE: [(usize, u32, u32); 2] = [(2, 12, 1), (3, 17, 31)];

/// What the host got of what it had asked for: descriptors and what is behind them.
fn received(got: &[(Completion, Vec<u8>)]) -> Vec<(RxDescriptor, Vec<u8>)> {
    let mut found = Vec::new();
    for (_, data) in got.iter().filter(|(_, data)| data.len() >= RX_DESCRIPTOR) {
        let mut at = 0;
        while let Some(descriptor) = data.get(at..).and_then(RxDescriptor::parse) {
            let start = at + descriptor.frame_offset();
            let end = start + usize::from(descriptor.frame_len);
            found.push((descriptor, data[start..end].to_vec()));
            at = end.next_multiple_of(8);
        }
    }
    found
}

fn fetched(host: &mut Host<Rtl8822bu>, transfers: usize, for_ns: u64) -> Vec<(RxDescriptor, Vec<u8>)> {
    for _ in 0..transfers {
        host.read(IN, 32_768, 0);
    }
    received(&run(host, for_ns))
}

#[test]
fn it_is_what_the_driver_asks_for() {
    let (mut host, _) = plugged_in(Settings::new(Model::Rtl8822bu));
    let identity = host.device.identity();
    assert_eq!(identity.device[8..12], [0xda, 0x0b, 0x12, 0xb8]);
    // usb.c, rtw_usb_parse: one IN, and the OUT endpoints in this order.
    let out: Vec<u8> = identity.configuration[18..].chunks(7).map(|it| it[2]).filter(|it| it & 0x80 == 0).collect();
    assert_eq!(out, [HIGH, NORMAL, LOW]);
    assert_eq!(read(&mut host, reg::SYS_CFG1), 1 << 27 | 3 << 12);
    assert_eq!(start(&mut host, 0), READY);
    // main.c, rtw_dump_hw_feature: 80 MHz, two streams, two antennas, VHT.
    assert_eq!(read(&mut host, reg::C2HEVT) & 0xff, 0x19);
    let can = read(&mut host, reg::C2HEVT + 6);
    assert_eq!((can >> 16 & 7, can >> 19 & 3, can >> 21 & 7, can >> 26 & 3), (7, 2, 2, 3));
    assert_eq!(host.statistics()["chip"]["firmware_bytes"], 0x2008 + 0x1808);
    // Off and on again: nothing is loaded.
    write(&mut host, reg::SYS_PW_CTRL + 1, &[2]);
    assert_eq!((read(&mut host, reg::CR) & 0xff, read(&mut host, reg::MCUFW_CTRL) & 0xffff), (0xea, 0));
    assert_eq!(start(&mut host, 0), READY);
}

#[test]
fn a_firmware_with_a_part_missing_does_not_start() {
    let (mut host, _) = plugged_in(Settings::new(Model::Rtl8822bu));
    assert_eq!(start(&mut host, 1) & 0x8000, 0);
    write32(&mut host, reg::HMEBOX0, 0x01);
    assert_eq!(read(&mut host, reg::HMETFR) & 1, 1, "nobody reads the mailbox");
}

#[test]
fn a_wrong_descriptor_is_dropped_and_counted() {
    let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
    rates(&mut host);
    let right = data(1, 300, &[]);
    let mut wrong = data(2, 300, &[]);
    wrong[17] ^= 0x02;
    for frame in [&right, &wrong] {
        host.write(LOW, frame);
    }
    run(&mut host, 20 * MS);
    assert_eq!(far.0.borrow().heard.len(), 1);
    let tx = host.statistics()["tx"].clone();
    assert_eq!((&tx["bad_checksums"], &tx["frames"]), (&1.into(), &1.into()));
}

#[test]
fn rates_are_those_of_the_firmware_and_the_driver_is_told() {
    let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
    // Before the driver has said any: 6 Mbit/s.
    host.write(LOW, &data(0, 300, &[]));
    run(&mut host, 20 * MS);
    assert_eq!(far.0.borrow().heard[0].2.mode.label(), "6 Mb/s");
    rates(&mut host);
    let got = fetched(&mut host, 4, 20 * MS);
    // fw.h, struct rtw_c2h_ra_rpt: rate and guard interval, station, bandwidth.
    let reports: Vec<_> =
        got.iter().map(|(it, bytes)| (it.is_report, bytes[0], bytes[2], bytes[3], bytes[8])).collect();
    assert_eq!(reports, [(true, 0x0c, 0x3f | 0x80, 0, 2)]);
    for sequence in 1..41 {
        host.write(LOW, &data(sequence, 1_500, &AGGREGATE));
    }
    run(&mut host, 100 * MS);
    let mode = far.0.borrow().heard[10].2.mode;
    let expected = Vht {
        mcs: 9,
        nss: 2,
        bandwidth: Bandwidth::Mhz80,
        short_gi: Some(true),
        stbc: Some(false),
        ldpc: Some(false),
        ldpc_extra_symbol: Some(false),
    };
    assert_eq!(mode, Mode::Vht(expected));
    let sent = host.statistics()["air"]["chip"].clone();
    assert_eq!((&sent["mpdus"], &sent["ampdus"]), (&41.into(), &2.into()), "32 and 8");
    // The driver's own rate: OFDM at 24 Mbit/s.
    host.write(HIGH, &data(50, 300, &[(1, 8, 18), (3, 8, 1), (4, 0, 0)]));
    let frame =
        [&TxDescriptor::new(300, queue::MANAGEMENT).with(3, 8, 1).with(4, 0, 8).emit()[..], &data(51, 300, &[])[48..]];
    host.write(HIGH, &frame.concat());
    run(&mut host, 20 * MS);
    assert_eq!(far.0.borrow().heard.last().unwrap().2.mode.label(), "24 Mb/s");
}

#[test]
fn retries_fall_as_the_register_says_and_the_end_is_reported() {
    for (form, id, mark_at, status_at) in [("extended", 0xff, 10, 11), ("plain", 0x03, 8, 2)] {
        let mut settings = Settings::new(Model::Rtl8822bu);
        settings.assumptions.set(&format!("report-form={form}")).unwrap();
        let (mut host, far) = station(settings);
        rates(&mut host);
        fetched(&mut host, 1, MS);
        // SPE_RPT, and the driver's number of the frame in bits 7:2.
        host.write(LOW, &data(1, 300, &[(2, 19, 1), (6, 0, 0x2c)]));
        let got = fetched(&mut host, 4, 20 * MS);
        let report = |got: &[(RxDescriptor, Vec<u8>)]| {
            let (descriptor, bytes) = got.iter().find(|(_, bytes)| bytes[0] == id).expect("its report");
            (descriptor.is_report, bytes[mark_at] & 0xfc, bytes[status_at] & 0xc0)
        };
        assert_eq!(report(&got), (true, 0x2c, 0), "{form}");
        far.0.borrow_mut().deaf = true;
        host.write(LOW, &data(2, 300, &[(2, 19, 1), (6, 0, 0x30)]));
        let got = fetched(&mut host, 4, 200 * MS);
        let (is_report, mark, status) = report(&got);
        assert!(is_report && mark == 0x30 && status != 0, "{form}: it was given up");
        let mcs: Vec<u8> = far.0.borrow().heard[1..]
            .iter()
            .map(|(_, _, reception)| match reception.mode {
                Mode::Vht(vht) => vht.mcs,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(mcs, [9, 9, 9, 9, 8, 5, 4, 2], "seven retries");
        let counted = host.statistics();
        assert_eq!((&counted["tx"]["given_up"], &counted["chip"]["reports_lost"]), (&1.into(), &0.into()));
    }
}

#[test]
fn reports_get_lost_where_a_fault_says_so() {
    let (mut host, _far) = station(Settings::new(Model::Rtl8822bu));
    host.device.inject(0, Effect::LostC2h(true));
    write32(&mut host, reg::HMEBOX0_EX, 0xffff_f010);
    write32(&mut host, reg::HMEBOX0, 0x40 | 0x80 << 16 | 0x16 << 24);
    assert_eq!(read(&mut host, reg::HMETFR) & 1, 1);
    host.write(LOW, &data(1, 300, &[(2, 19, 1), (6, 0, 4)]));
    assert!(fetched(&mut host, 4, 20 * MS).is_empty());
    assert_eq!(host.statistics()["chip"]["reports_lost"], 2);
    host.device.inject(0, Effect::FirmwareHang);
    host.write(LOW, &data(2, 300, &[]));
    run(&mut host, 20 * MS);
    assert_eq!(host.statistics()["air"]["chip"]["mpdus"], 1, "nobody chooses its rate");
}

#[test]
fn several_frames_in_a_transfer_and_full_pages() {
    let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
    rates(&mut host);
    let mut transfer = data(0, 301, &[(7, 24, 3)]);
    for sequence in 1..3 {
        transfer.resize(transfer.len().next_multiple_of(8), 0);
        transfer.extend(data(sequence, 301, &[]));
    }
    host.write(LOW, &transfer);
    run(&mut host, 20 * MS);
    assert_eq!(far.0.borrow().heard.len(), 3);
    let tx = host.statistics()["tx"].clone();
    assert_eq!((&tx["aggregated_transfers"], &tx["malformed"]), (&1.into(), &0.into()));
    // 1,764 pages of 128 bytes; a frame of 1,500 takes 13. The queue is paused.
    write(&mut host, reg::TXPAUSE, &[0xff]);
    for sequence in 3..140 {
        host.write(LOW, &data(sequence, 1_500, &[]));
    }
    run(&mut host, MS);
    let tx = host.statistics()["tx"].clone();
    assert_eq!((&tx["frames"], &tx["buffer_full"]), (&(3 + 135).into(), &1.into()));
    // mac.c, __rtw_mac_flush_prio_queue: the low place has none of its own left.
    assert_eq!(read(&mut host, reg::FIFOPAGE_INFO_1 + 4), 64);
    write(&mut host, reg::TXPAUSE, &[0]);
    run(&mut host, 500 * MS);
    assert_eq!(read(&mut host, reg::FIFOPAGE_INFO_1 + 4), 64 << 16 | 64, "it is empty");
    assert_eq!(far.0.borrow().heard.len(), 3 + 137);
}

/// From the access point, with a body of its sequence number.
fn down(sequence: u16, len: usize) -> Vec<u8> {
    let mut frame = vec![0x88, 0x02, 0, 0];
    frame.extend([OWN, AP, AP].concat());
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.resize(len, sequence as u8);
    frame
}

fn vht(mcs: u8, bandwidth: Bandwidth) -> Mode {
    vusb::air::rates::vht(mcs, bandwidth, true)
}

#[test]
fn received_frames_say_their_rate_and_signal() {
    let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
    for (mode, rate, bandwidth) in [
        (vht(9, Bandwidth::Mhz80), 0x35, 2),
        (vht(7, Bandwidth::Mhz40), 0x33, 1),
        (vht(0, Bandwidth::Mhz20), 0x2c, 0),
        (Mode::from_legacy_rate(48, None).unwrap(), 8, 0),
    ] {
        let ppdu = Ppdu {
            mode,
            mpdus: vec![down(1, 500)],
            aggregated: false,
            protection: Protection::None,
            response: Response::Ack,
        };
        let now_ns = host.now_ns;
        far.0.borrow_mut().to_send.push((now_ns, ppdu));
        let got = fetched(&mut host, 1, 20 * MS);
        let [(descriptor, bytes)] = &got[..] else { panic!("{got:?}") };
        assert_eq!((descriptor.rate, descriptor.bandwidth, descriptor.info_units), (rate, bandwidth, 4));
        // The frame and its FCS (RCR has APP_FCS).
        assert_eq!((bytes.len(), &bytes[26..500]), (504, &[1; 474][..]));
        assert!(descriptor.has_status && descriptor.not_decrypted && !descriptor.is_report);
        assert_eq!(far.0.borrow().outcomes.last().unwrap(), &[true]);
    }
    // The state of the receiver, as rtw8822b.c, query_phy_status_page1, reads it.
    let now_ns = host.now_ns;
    let mpdus = vec![down(2, 300)];
    let mode = vht(7, Bandwidth::Mhz40);
    let (protection, response) = (Protection::None, Response::Ack);
    far.0.borrow_mut().to_send.push((now_ns, Ppdu { mode, mpdus, aggregated: false, protection, response }));
    host.read(IN, 32_768, 0);
    let got = run(&mut host, 20 * MS);
    let transfer = &got.iter().find(|(_, data)| !data.is_empty()).expect("a transfer").1;
    let status = PhyStatus::parse(&transfer[RX_DESCRIPTOR..]).unwrap();
    assert_eq!((status.dsss, status.signal_dbm, status.receiver_bandwidth, status.part), (false, [-45; 2], 2, 9));
}

#[test]
fn received_frames_share_transfers_only_where_the_driver_says_so() {
    for (setting, threshold, expected) in [(0x00u8, 5u8, vec![1, 1, 1]), (0x04, 5, vec![3]), (0x04, 0, vec![1, 1, 1])] {
        let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
        let map = read(&mut host, reg::TXDMA_PQ_MAP) as u8;
        write(&mut host, reg::TXDMA_PQ_MAP, &[map | setting]);
        write(&mut host, reg::RXDMA_AGG_PG_TH, &[threshold, 0x20]);
        let mpdus = (0..3).map(|sequence| down(sequence, 500)).collect();
        let (mode, protection, response) = (vht(9, Bandwidth::Mhz80), Protection::None, Response::BlockAck);
        far.0.borrow_mut().to_send.push((host.now_ns, Ppdu { mode, mpdus, aggregated: true, protection, response }));
        for _ in 0..4 {
            host.read(IN, 32_768, 0);
        }
        let got = run(&mut host, 20 * MS);
        let counts: Vec<_> =
            got.iter().map(|one| received(std::slice::from_ref(one)).len()).filter(|&count| count > 0).collect();
        assert_eq!(counts, expected, "{setting} {threshold}");
    }
}

#[test]
fn calibration_is_done_when_the_queue_of_commands_asks() {
    let (mut host, _far) = station(Settings::new(Model::Rtl8822bu));
    // fw.c, rtw_fw_do_iqk: no offset in its descriptor.
    let descriptor = TxDescriptor::default().with(0, 0, 32).with(1, 8, queue::COMMAND.into());
    let mut packet = vec![0x01, 0xff, 0x0e, 0x00, 9, 0, 0, 0];
    packet.resize(32, 0);
    host.write(HIGH, &[&descriptor.emit()[..], &packet].concat());
    run(&mut host, MS);
    assert_eq!(read(&mut host, 0x2800 + 4 * 8), 0xabcde);
    write32(&mut host, reg::RF_WRITE[0], 8 << 20);
    assert_eq!(read(&mut host, 0x2800 + 4 * 8), 0);
    assert_eq!(host.statistics()["chip"]["calibrations"], 1);
}

#[test]
fn power_save_is_announced_and_the_driver_sees_its_end() {
    let (mut host, far) = station(Settings::new(Model::Rtl8822bu));
    // fw.c, rtw_fw_set_pwr_mode: LPS, one beacon, and then awake.
    command(&mut host, 0x20 | 1 << 8 | 1 << 16 | 2 << 20 | 1 << 24, 0x0400);
    run(&mut host, 20 * MS);
    let null = |far: &FarEnd| far.0.borrow().heard.last().map(|(_, mpdu, _)| (mpdu[0], mpdu[1] & 0x10)).unwrap();
    assert_eq!((null(&far), read(&mut host, reg::TCR) & 0x80), ((0x48, 0x10), 0x80));
    // Frames of the host say so, too; others are not heard.
    rates(&mut host);
    host.write(LOW, &data(1, 300, &[]));
    run(&mut host, 20 * MS);
    assert_eq!(null(&far), (0x88, 0x10));
    command(&mut host, 0x20, 0x0c00);
    run(&mut host, 20 * MS);
    assert_eq!((null(&far), read(&mut host, reg::TCR) & 0x80), ((0x48, 0), 0));
    assert_eq!(host.statistics()["power"]["announced"], 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Registers of all kinds with any values, any transfers: the chip goes on.
    #[test]
    fn any_requests_and_transfers_are_taken(
        requests in prop::collection::vec((any::<u16>(), any::<u32>(), any::<bool>()), 0..40),
        transfers in prop::collection::vec(
            (prop::sample::select(vec![4u8, 5, 6, 7, 8]), 0u32..32, prop::collection::vec(any::<u8>(), 0..80)),
            0..20,
        ),
    ) {
        let (mut host, _far) = station(Settings::new(Model::Rtl8822bu));
        for (register, value, reads) in requests {
            if reads {
                read(&mut host, register);
            } else {
                write32(&mut host, register, value);
            }
        }
        for (endpoint, number, bytes) in transfers {
            let descriptor = TxDescriptor::new(bytes.len() as u16, number as u8);
            host.write(endpoint, &[&descriptor.emit()[..], &bytes].concat());
            host.write(endpoint, &bytes);
            run(&mut host, 10 * MS);
        }
        write32(&mut host, reg::SYS_CFG1, 1 << 27 | 3 << 12);
        prop_assert_eq!(read(&mut host, reg::SYS_CFG1) >> 27 & 1, 1);
    }
}

#[test]
fn an_rtl8821cu_has_one_antenna() {
    let (mut host, far) = plugged_in(Settings::new(Model::Rtl8821cu));
    assert_eq!(host.device.identity().device[8..12], [0xda, 0x0b, 0x11, 0xc8]);
    assert_eq!(read(&mut host, reg::SYS_CFG1), 3 << 12);
    assert_eq!(start(&mut host, 0), READY);
    let can = read(&mut host, reg::C2HEVT + 6);
    assert_eq!((can >> 16 & 7, can >> 19 & 3, can >> 21 & 7, can >> 26 & 3), (7, 1, 1, 3));
    // A beacon at 1 Mbit/s on channel 6: its strength is in the gains.
    write(&mut host, reg::CR, &[0xff]);
    write(&mut host, reg::RX_DRVINFO_SZ, &[4]);
    write32(&mut host, reg::RXFLTMAP0, 0x0fff_ffff);
    write32(&mut host, reg::RCR, 0xf410_400e);
    write32(&mut host, reg::RF_WRITE[0], 0x18 << 20 | 0x0_3c06);
    let mut beacon = vec![0x80, 0, 0, 0];
    beacon.extend([&[0xff; 6][..], &AP, &AP].concat());
    beacon.resize(80, 0);
    let mode = Mode::from_legacy_rate(2, Some(false)).unwrap();
    let (protection, response) = (Protection::None, Response::None);
    far.0.borrow_mut().to_send.push((0, Ppdu { mode, mpdus: vec![beacon], aggregated: false, protection, response }));
    host.read(IN, 32_768, 0);
    let got = run(&mut host, 20 * MS);
    let transfer = &got.iter().find(|(_, data)| !data.is_empty()).expect("a transfer").1;
    let status = PhyStatus::parse(&transfer[RX_DESCRIPTOR..]).unwrap();
    // rtw8821c.c, lna_gain_table_0: 8 dB less 26 steps of 2 dB.
    assert_eq!((status.dsss, status.gain), (true, (1, 26)));
}
