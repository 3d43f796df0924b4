//! The MT7921U as mt7921u uses it, from the first register to HE frames, scans and power save.

use proptest::prelude::*;
use vusb::air::rates::he_streams;
use vusb::air::{ChannelSettings, Medium, Ppdu, Protection, Response, Tuned};
use vusb::chips::ccmp::Ccmp;
use vusb::chips::mt7921u::registers as reg;
use vusb::chips::mt7921u::{
    Mt7921u, Settings, COMMANDS_OUT, FRAMES_IN, FRAMES_OUT, OWN_ADDRESS, POWER_ON, READ_EXT, READ_OTHER, WRITE_EXT,
    WRITE_OTHER,
};
use vusb::device::{Device, Effect};
use wire::ieee80211::{FrameKind, Mpdu};
use wire::phy::{Bandwidth, Mode};
use wire::usb::connac2::{phy, transfer, Command, CommandId, EventHeader, RxDescriptor, TxDescriptor, TxStatus};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

use crate::chip::{run, FarEnd, AP};
use crate::host::Host;

const MS: u64 = 1_000_000;
const BEST_EFFORT: u8 = FRAMES_OUT[0];
/// The access point's entry in the table of stations, and that of groups.
const PEER: u16 = 1;
const GROUPS: u16 = 19;

fn request(host: &mut Host<Mt7921u>, request_type: u8, request: u8, address: u32, data: &[u8], length: u16) -> Vec<u8> {
    let (value, index) = ((address >> 16) as u16, address as u16);
    let (status, answer) = host.control(Setup { request_type, request, value, index, length }, data);
    assert_eq!(status, 0);
    answer
}

fn read(host: &mut Host<Mt7921u>, address: u32) -> u32 {
    u32::from_le_bytes(request(host, 0xdf, READ_EXT, address, &[], 4).try_into().unwrap())
}

fn write(host: &mut Host<Mt7921u>, address: u32, value: u32) {
    request(host, 0x5f, WRITE_EXT, address, &value.to_le_bytes(), 4);
}

/// What the host got of what it had asked for.
fn packets(got: &[(Completion, Vec<u8>)]) -> Vec<Vec<u8>> {
    let len = |data: &[u8]| usize::from(u16::from_le_bytes([data[0], data[1]]));
    got.iter().filter(|(_, data)| data.len() >= 4).map(|(_, data)| data[..len(data)].to_vec()).collect()
}

fn fetched(host: &mut Host<Mt7921u>, transfers: usize, for_ns: u64) -> Vec<Vec<u8>> {
    for _ in 0..transfers {
        host.read(FRAMES_IN, 4_096, 0);
    }
    packets(&run(host, for_ns))
}

/// Sends a command, and gives the events that come.
fn command(host: &mut Host<Mt7921u>, id: CommandId, body: &[u8]) -> Vec<(EventHeader, Vec<u8>)> {
    let command = Command { id, sequence: 5, acknowledge: true, query: false, body };
    host.write(COMMANDS_OUT, &transfer(&command.emit()));
    let got = fetched(host, 2, MS);
    got.iter().filter_map(|packet| EventHeader::parse(packet)).map(|(header, body)| (header, body.to_vec())).collect()
}

fn plain(host: &mut Host<Mt7921u>, number: u8, words: &[u32]) -> u8 {
    let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    command(host, CommandId::Plain(number, 0), &body).first().map_or(0xff, |(header, _)| header.extended)
}

/// A unified command, which is answered with its number and no error.
fn unified(host: &mut Host<Mt7921u>, number: u16, body: &[u8]) {
    let events = command(host, CommandId::Unified(number), body);
    let (header, answer) = &events[0];
    assert_eq!((header.id, header.sequence, header.unsolicited), (1, 5, false));
    assert_eq!(answer[..], [number as u8, 0, 0, 0, 0, 0, 0, 0]);
}

fn tlv(tag: u16, data: &[u8]) -> Vec<u8> {
    let len = (4 + data.len()) as u16;
    [&tag.to_le_bytes()[..], &len.to_le_bytes(), data].concat()
}

fn plugged_in(settings: Settings) -> (Host<Mt7921u>, FarEnd) {
    let far = FarEnd::default();
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    (Host::new(Mt7921u::new(settings, medium, Box::new(far.clone()))), far)
}

/// mt76_connac_mcu.c, mt76_connac2_load_patch and mt76_connac2_load_ram. Gives what the driver waits for.
fn start(host: &mut Host<Mt7921u>, left_out: usize) -> u32 {
    request(host, 0x5f, POWER_ON, 0x0000_0001, &[], 0);
    assert_eq!(read(host, reg::CONN_ON_MISC), reg::POWERED);
    write(host, reg::WFDMA_HOST_CONFIG, reg::EVENTS_WITH_FRAMES);
    write(host, reg::UDMA_TX_QSEL, reg::FW_DL_EN);
    assert_eq!(plain(host, 0x10, &[1]), 2, "the semaphore is taken, nothing is loaded");
    assert_eq!(plain(host, 0x05, &[0x90_0000, 5_000, 1 << 31]), 0);
    for len in [4_096, 904] {
        host.write(BEST_EFFORT, &transfer(&vec![0x5a; len]));
    }
    assert_eq!(plain(host, 0x07, &[0]), 0);
    assert_eq!(plain(host, 0x10, &[0]), 3);
    assert_eq!(plain(host, 0x01, &[0x91_5000, 1_000, 1 << 31]), 0);
    host.write(BEST_EFFORT, &transfer(&vec![0; 1_000 - left_out]));
    plain(host, 0x02, &[1, 0x91_5000]);
    write(host, reg::UDMA_TX_QSEL, 0);
    read(host, reg::CONN_ON_MISC)
}

fn bss(own: u8, connected: bool) -> Vec<u8> {
    let mut basic = vec![1, own, 0, 0];
    basic.extend([1, 0, 1, 0, u8::from(!connected), 0]);
    basic.extend(AP);
    basic.extend(GROUPS.to_le_bytes());
    basic.extend([100, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    tlv(0, &basic)
}

/// Channel 36 in 80 MHz.
fn channel() -> Vec<u8> {
    tlv(2, &[36, 42, 0, 2, 2, 3, 1, 4, 1, 1, 0, 0])
}

/// A station record: of the access point with HE, VHT and HT, or of groups.
fn record(number: u16, own: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let head = [0, number as u8, parts.len() as u8, 0, 1, own, 0, 0];
    [&head[..], &parts.concat()].concat()
}

fn of_access_point(translates: bool) -> Vec<Vec<u8>> {
    let mut basic = vec![2, 0, 1, 0, 2, 1, 3, 0];
    basic.extend(AP);
    basic.extend([1, 0]);
    let rates = [&0x3fc0u16.to_le_bytes()[..], &[0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    let vht = [&(1u32 << 5).to_le_bytes()[..], &0xfffau16.to_le_bytes(), &0xfffau16.to_le_bytes(), &[0; 4]].concat();
    let mut he = vec![0; 6];
    he.extend([4, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    he.extend([0xfa, 0xff, 0, 0, 0, 0]);
    let generic = tlv(0, &[&AP[..], &[0; 10]].concat());
    let translation = tlv(6, &[1, 0, u8::from(!translates), 0]);
    let entry = [&[PEER as u8, 1, 2, 0, 0, 0, 0, 0][..], &generic, &translation].concat();
    vec![
        tlv(0, &basic),
        tlv(9, &[0x62, 0, 0, 0]),
        tlv(10, &vht),
        tlv(0x19, &he),
        tlv(1, &rates),
        tlv(7, &[0, 0, 0, 0, 2, 2, 0, 0]),
        tlv(13, &entry),
    ]
}

/// A station that a driver has set up, in a network on channel 36 in 80 MHz, with the far end there.
fn station(settings: Settings, translates: bool) -> (Host<Mt7921u>, FarEnd) {
    let (mut host, far) = plugged_in(settings);
    far.0.borrow_mut().tuned = Some(Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz80 });
    assert_eq!(start(&mut host, 0), reg::RUNNING);
    let answer = command(&mut host, CommandId::Plain(CommandId::EXTENDED, 0x46), &[1, 0, 0, 0]);
    assert_eq!((answer[0].0.id, answer[0].0.extended), (0xed, 0x46));
    unified(&mut host, 1, &[&[0, 0, 0, 0][..], &tlv(0, &[&[1, 0][..], &OWN_ADDRESS].concat())].concat());
    unified(&mut host, 3, &record(PEER, 0, &of_access_point(translates)));
    let groups = [&[GROUPS as u8, 1, 1, 0, 0, 0, 0, 0][..], &tlv(0, &[&AP[..], &[0; 10]].concat())].concat();
    unified(&mut host, 3, &record(GROUPS, 0x0e, &[tlv(13, &groups)]));
    unified(&mut host, 2, &[&[0, 0, 0, 0][..], &bss(0, true), &channel()].concat());
    (host, far)
}

/// STA_REC_BA of TID 0: the chip sends, a window of 64.
fn agreement(host: &mut Host<Mt7921u>) {
    unified(host, 3, &record(PEER, 0, &[tlv(6, &[0, 1, 0, 1, 0, 0, 64, 0])]));
}

/// CCMP of the access point, and of groups with key 1.
fn keys(host: &mut Host<Mt7921u>) {
    let key = |id: u8, byte: u8| {
        let mut key = vec![0, 1, 0, 0, 5, 36, id, 16];
        key.extend([byte; 16]);
        key.resize(8 + 36, 0);
        tlv(17, &key)
    };
    unified(host, 3, &record(PEER, 0, &[key(0, 7)]));
    unified(host, 3, &record(GROUPS, 0x0e, &[key(1, 9)]));
}

/// An Ethernet frame for the access point, as mac80211's encapsulation offload hands it over.
fn ethernet(len: usize, bits: &[(usize, u32, u32)]) -> Vec<u8> {
    let frame = [&AP[..], &OWN_ADDRESS, &[0x08, 0x00], &vec![0x55; len]].concat();
    let mut descriptor = TxDescriptor::new(frame.len() as u16, 1, PEER).with(2, 0, 8).with(1, 15, 1);
    // An Ethernet frame has format 0, where the descriptor of tests has 802.11.
    for &(word, shift, value) in bits {
        descriptor = descriptor.with(word, shift, value);
    }
    let mut bytes = descriptor.emit();
    bytes[6] &= !3;
    transfer(&[&bytes[..], &frame].concat())
}

/// From the access point: QoS data with an IP packet.
fn down(sequence: u16, len: usize) -> Vec<u8> {
    let mut frame = vec![0x88, 0x02, 0, 0];
    frame.extend([OWN_ADDRESS, AP, AP].concat());
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00]);
    frame.resize(len, sequence as u8);
    frame
}

fn beacon() -> Vec<u8> {
    let mut beacon = vec![0x80, 0, 0, 0];
    beacon.extend([&[0xff; 6][..], &AP, &AP].concat());
    beacon.resize(24 + 12, 0);
    beacon.extend([0, 1, b'x', 5, 4, 0, 1, 0, 0]);
    beacon
}

fn send(far: &FarEnd, at_ns: u64, mode: Mode, mpdus: Vec<Vec<u8>>, response: Response) {
    let aggregated = response == Response::BlockAck;
    let ppdu = Ppdu { mode, mpdus, aggregated, protection: Protection::None, response };
    far.0.borrow_mut().to_send.push((at_ns, ppdu));
}

const SLOW: Mode = Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 };

#[test]
fn it_is_what_the_driver_asks_for() {
    let (mut host, _) = plugged_in(Settings::default());
    let identity = host.device.identity();
    assert_eq!(identity.device[8..12], [0x8d, 0x0e, 0x61, 0x79]);
    // usb.c, mt76u_set_endpoints: two bulk IN and six bulk OUT; the first OUT is that of commands.
    let endpoints: Vec<u8> = identity.configuration[18..].chunks(7).map(|it| it[2]).collect();
    let (inward, outward): (Vec<u8>, Vec<u8>) = endpoints.iter().partition(|it| **it & 0x80 != 0);
    assert_eq!((inward.len(), outward.len(), outward[0]), (2, 6, COMMANDS_OUT));
    assert_eq!((read(&mut host, reg::HW_CHIPID), read(&mut host, reg::CONN_ON_MISC)), (0x7961, 0));
    assert_eq!(start(&mut host, 0), reg::RUNNING);
    assert_eq!(host.statistics()["chip"]["firmware_bytes"], 6_000);
    // mt7921/mcu.c, mt7921_mcu_get_nic_capability.
    let events = command(&mut host, CommandId::Plain(0x8a, 0), &[]);
    let body = &events[0].1;
    assert_eq!((body[0], body[4], body[8], &body[12..18]), (4, 7, 6, &OWN_ADDRESS[..]));
    // mt792x_usb.c, mt792xu_wfsys_reset: then nothing is loaded.
    request(&mut host, 0x5e, WRITE_OTHER, reg::WF_SUBSYS_RST, &1u32.to_le_bytes(), 4);
    request(&mut host, 0x5e, WRITE_OTHER, reg::WF_SUBSYS_RST, &0u32.to_le_bytes(), 4);
    let done = request(&mut host, 0xde, READ_OTHER, reg::UDMA_CONN_INFRA_STATUS, &[], 4);
    assert_eq!(u32::from_le_bytes(done.try_into().unwrap()), reg::INITIALISED);
    assert_eq!(read(&mut host, reg::CONN_ON_MISC), 0);
    assert_eq!(start(&mut host, 0), reg::RUNNING);
}

#[test]
fn a_firmware_with_a_part_missing_does_not_start() {
    let (mut host, _) = plugged_in(Settings::default());
    assert_eq!(start(&mut host, 1), reg::POWERED);
}

#[test]
fn ethernet_frames_go_out_as_he_and_are_reported() {
    let (mut host, far) = station(Settings::default(), true);
    agreement(&mut host);
    for number in 0..40u32 {
        // MT_TXD5_TX_STATUS_HOST with a number of the last.
        let bits: &[_] = if number == 39 { &[(5, 10, 1), (5, 0, 9)] } else { &[] };
        host.write(BEST_EFFORT, &ethernet(1_400, bits));
    }
    let got = fetched(&mut host, 4, 100 * MS);
    let far = far.0.borrow();
    assert_eq!(far.heard.len(), 40);
    let sequences: Vec<u16> =
        far.heard.iter().map(|(_, mpdu, _)| Mpdu::new(&mpdu[..]).sequence().unwrap().value()).collect();
    assert_eq!(sequences, (0..40).collect::<Vec<u16>>(), "the chip numbers them");
    let (_, mpdu, reception) = &far.heard[20];
    assert_eq!(reception.mode, he_streams(11, 2, Bandwidth::Mhz80));
    assert_eq!(
        (mpdu[0], mpdu[1], &mpdu[4..10], &mpdu[10..16], &mpdu[16..22]),
        (0x88, 1, &AP[..], &OWN_ADDRESS[..], &AP[..])
    );
    assert_eq!(&mpdu[26..34], [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    let statuses: Vec<TxStatus> = got.iter().flat_map(|packet| TxStatus::parse(packet)).collect();
    let [status] = statuses[..] else { panic!("{statuses:?}") };
    assert_eq!((status.packet_id, status.station, status.arrived, status.ampdu), (9, PEER, true, true));
    assert_eq!((status.rate.phy, status.rate.index, status.rate.streams, status.bandwidth), (phy::HE_SU, 11, 2, 2));
    // Counters that the driver adds up start again with each read (mt792x_mac.c).
    let ampdus = read(&mut host, 0x820e_d558);
    assert!(ampdus > 0 && read(&mut host, 0x820e_d558) == 0);
    assert_eq!(read(&mut host, 0x820e_d568), 40);
    let airtime_us = read(&mut host, reg::WTBL + 256 * u32::from(PEER) + 4 * 22);
    let priced: u64 = host.statistics()["air"]["chip"]["data_ns"].as_u64().unwrap_or(0) / 1_000;
    assert!(airtime_us > 0 && (priced == 0 || priced.abs_diff(airtime_us.into()) < 20), "{airtime_us} {priced}");
}

#[test]
fn without_an_agreement_each_goes_alone_and_losses_lower_the_rate() {
    let (mut host, far) = station(Settings::default(), true);
    far.0.borrow_mut().deaf = true;
    host.write(BEST_EFFORT, &ethernet(400, &[(5, 10, 1), (5, 0, 3)]));
    let got = fetched(&mut host, 2, 200 * MS);
    let mcs: Vec<u8> = far
        .0
        .borrow()
        .heard
        .iter()
        .map(|(_, _, reception)| match reception.mode {
            Mode::He(he) => he.mcs,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(mcs, [11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4], "fifteen attempts, two at each rate");
    let statuses: Vec<TxStatus> = got.iter().flat_map(|packet| TxStatus::parse(packet)).collect();
    assert_eq!(statuses.iter().map(|it| (it.packet_id, it.arrived)).collect::<Vec<_>>(), [(3, false)]);
    assert_eq!(host.statistics()["tx"]["given_up"], 1);
}

#[test]
fn keys_are_the_chips() {
    let (mut host, far) = station(Settings::default(), true);
    keys(&mut host);
    // MT_TXD3_PROTECT_FRAME.
    host.write(BEST_EFFORT, &ethernet(100, &[(3, 1, 1)]));
    run(&mut host, 20 * MS);
    let mut heard = far.0.borrow().heard[0].1.clone();
    assert_eq!((heard[1] & 0x40, heard[26], heard[29]), (0x40, 1, 0x20), "packet number 1");
    assert_eq!(Ccmp::new([7; 16]).decrypt(&mut heard), Some(true));
    assert_eq!(&heard[34..42], [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    // From the access point: to the station, and to all with the group's key.
    let sealed = |sequence: u16, to: [u8; 6], id: u8, key: u8| {
        let plain = down(sequence, 90);
        let mut frame = plain[..26].to_vec();
        frame[4..10].copy_from_slice(&to);
        frame[1] |= 0x40;
        frame.extend([2, 1, 0, 0x20 | id << 6, 0, 0, 0, 0]);
        frame.extend(&plain[26..]);
        assert!(Ccmp::new([key; 16]).encrypt(&mut frame));
        frame
    };
    send(&far, host.now_ns, SLOW, vec![sealed(1, OWN_ADDRESS, 0, 7)], Response::Ack);
    send(&far, host.now_ns + MS, SLOW, vec![sealed(2, [0xff; 6], 1, 9)], Response::None);
    let mut damaged = sealed(3, OWN_ADDRESS, 0, 7);
    *damaged.last_mut().unwrap() ^= 1;
    send(&far, host.now_ns + 2 * MS, SLOW, vec![damaged], Response::Ack);
    let got = fetched(&mut host, 4, 20 * MS);
    let frames: Vec<_> = got.iter().filter_map(|packet| RxDescriptor::parse(packet)).collect();
    let [(own, first), (all, second), (wrong, _)] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!((own.station, own.cipher, own.packet_number), (PEER, 4, Some([2, 1, 0, 0, 0, 0])));
    // Ethernet again: destination, source, type.
    assert_eq!(first[..14], [&OWN_ADDRESS[..], &AP, &[8, 0]].concat());
    assert_eq!(own.translated, Some((0x4288, AP, 1 << 4, 0)));
    assert_eq!((all.cipher, all.key_id, &second[..6]), (4, 1, &[0xff; 6][..]));
    assert!(wrong.integrity_error && wrong.translated.is_none());
    let rx = host.statistics()["rx"].clone();
    assert_eq!((&rx["decrypted"], &rx["integrity_errors"]), (&2.into(), &1.into()));
}

#[test]
fn received_frames_say_their_rate() {
    let (mut host, far) = station(Settings::default(), false);
    for (mode, phy, index, streams, bandwidth) in [
        (he_streams(11, 2, Bandwidth::Mhz80), phy::HE_SU, 11, 2, 2),
        (he_streams(0, 1, Bandwidth::Mhz20), phy::HE_SU, 0, 1, 0),
        (vusb::air::rates::vht(9, Bandwidth::Mhz40, true), phy::VHT, 9, 1, 1),
        (Mode::from_legacy_rate(48, None).unwrap(), phy::OFDM, 9, 1, 0),
    ] {
        send(&far, host.now_ns, mode, vec![down(1, 500)], Response::Ack);
        let got = fetched(&mut host, 1, 20 * MS);
        let (descriptor, frame) = RxDescriptor::parse(&got[0]).unwrap();
        let rate = descriptor.rate;
        assert_eq!((rate.phy, rate.index, rate.streams, descriptor.bandwidth), (phy, index, streams, bandwidth));
        assert_eq!(
            (frame.len(), descriptor.channel, descriptor.header_len, descriptor.signal_dbm),
            (500, 36, 26, [-45; 2])
        );
        assert_eq!(descriptor.translated, None, "the driver has not asked for Ethernet frames");
        assert_eq!(far.0.borrow().outcomes.last().unwrap(), &[true]);
    }
    // Other networks' frames and those to other stations are filtered; a network in 80 MHz is beyond a radio in 20.
    let mut foreign = down(2, 100);
    foreign[4] = 0x0a;
    send(&far, host.now_ns, SLOW, vec![foreign], Response::None);
    assert!(fetched(&mut host, 1, 20 * MS).is_empty());
    assert_eq!(host.statistics()["rx"]["filtered"], 1);
}

#[test]
fn a_request_for_an_agreement_gets_the_number_that_comes_next() {
    let (mut host, far) = station(Settings::default(), true);
    for _ in 0..3 {
        host.write(BEST_EFFORT, &ethernet(100, &[]));
    }
    let mut request = vec![0xd0, 0, 0, 0];
    request.extend([AP, OWN_ADDRESS, AP].concat());
    request.extend([0, 0, 3, 0, 1, 0x02, 0x10, 0, 0, 0, 0]);
    let descriptor =
        TxDescriptor::new(request.len() as u16, 16, PEER).with(5, 14, 1).with(2, 31, 1).with(6, 16, 1 << 6 | 11);
    host.write(FRAMES_OUT[4], &transfer(&[&descriptor.emit()[..], &request].concat()));
    run(&mut host, 20 * MS);
    let far = far.0.borrow();
    let (_, mpdu, reception) = far.heard.iter().find(|(_, mpdu, _)| mpdu[0] == 0xd0).expect("the request");
    assert_eq!((&mpdu[24..31], &mpdu[31..33]), (&request[24..31], &(3u16 << 4).to_le_bytes()[..]));
    assert_eq!(reception.mode, SLOW);
}

#[test]
fn a_scan_asks_listens_and_ends() {
    let (mut host, far) = plugged_in(Settings::default());
    assert_eq!(start(&mut host, 0), reg::RUNNING);
    command(&mut host, CommandId::Plain(CommandId::EXTENDED, 0x46), &[1, 0, 0, 0]);
    unified(&mut host, 1, &[&[0, 0, 0, 0][..], &tlv(0, &[&[1, 0][..], &OWN_ADDRESS].concat())].concat());
    // struct mt76_connac_hw_scan_req: active, channels 1 and 6 of 2.4 GHz.
    let mut body = vec![0; 1_186];
    (body[0], body[2], body[3], body[158], body[159]) = (0x11, 1, 1, 4, 2);
    body[160..164].copy_from_slice(&[1, 1, 1, 6]);
    body[224] = 3;
    body[226..229].copy_from_slice(&[1, 1, 2]);
    send(&far, 60 * MS, SLOW, vec![beacon()], Response::None);
    assert!(command(&mut host, CommandId::Plain(0x03, 0), &body).is_empty(), "no answer");
    let got = fetched(&mut host, 4, 200 * MS);
    let beacons: Vec<_> = got.iter().filter_map(|packet| RxDescriptor::parse(packet)).collect();
    assert_eq!(
        beacons.iter().map(|(descriptor, frame)| (descriptor.channel, frame[0])).collect::<Vec<_>>(),
        [(6, 0x80)]
    );
    let events: Vec<_> = got.iter().filter_map(|packet| EventHeader::parse(packet)).collect();
    assert_eq!(events.iter().map(|(header, body)| (header.id, body[0])).collect::<Vec<_>>(), [(0x0d, 0x11)]);
    let probes: Vec<Vec<u8>> = far.0.borrow().heard.iter().map(|(_, mpdu, _)| mpdu.clone()).collect();
    assert_eq!(probes.len(), 1, "the far end is on channel 6");
    assert_eq!((probes[0][0], &probes[0][10..16], &probes[0][24..]), (0x40, &OWN_ADDRESS[..], &[0, 0, 1, 1, 2][..]));
}

#[test]
fn it_stays_on_a_channel_where_the_driver_joins() {
    let (mut host, far) = plugged_in(Settings::default());
    far.0.borrow_mut().tuned = Some(Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz20 });
    assert_eq!(start(&mut host, 0), reg::RUNNING);
    command(&mut host, CommandId::Plain(CommandId::EXTENDED, 0x46), &[1, 0, 0, 0]);
    unified(&mut host, 1, &[&[0, 0, 0, 0][..], &tlv(0, &[&[1, 0][..], &OWN_ADDRESS].concat())].concat());
    let acquire = tlv(0, &[0, 7, 36, 0, 2, 0, 36, 0, 0, 36, 0, 0, 0xe8, 3, 0, 0, 0xff, 0, 0, 0]);
    let events = command(&mut host, CommandId::Unified(0x27), &[&[0, 0, 0, 0][..], &acquire].concat());
    let [(answer, _), (granted, body)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((answer.id, granted.id, granted.unsolicited), (1, 0x27, true));
    // struct mt7921_roc_grant_tlv behind four bytes: token, channel, duration.
    assert_eq!(
        (body[4..8].to_vec(), body[9], body[11], &body[20..24]),
        (vec![0, 0, 20, 0], 7, 36, &[0xe8, 3, 0, 0][..])
    );
    send(&far, host.now_ns, SLOW, vec![beacon()], Response::None);
    assert_eq!(fetched(&mut host, 1, 20 * MS).len(), 1);
    unified(&mut host, 0x27, &[&[0, 0, 0, 0][..], &tlv(1, &[0, 7, 0xff, 0, 0, 0, 0, 0])].concat());
    send(&far, host.now_ns, SLOW, vec![beacon()], Response::None);
    assert!(fetched(&mut host, 1, 20 * MS).is_empty(), "nowhere");
}

#[test]
fn the_firmware_notices_that_beacons_do_not_come() {
    let mut settings = Settings::default();
    settings.assumptions.set("beacon-loss=5").unwrap();
    let (mut host, far) = station(settings, true);
    unified(&mut host, 2, &[&[0, 0, 0, 0][..], &tlv(22, &[100, 0, 2, 0])].concat());
    for _ in 0..3 {
        run(&mut host, 102 * MS);
        send(&far, host.now_ns, SLOW, vec![beacon()], Response::None);
    }
    let events = |got: &[Vec<u8>]| -> Vec<(u8, u8)> {
        got.iter().filter_map(|packet| EventHeader::parse(packet)).map(|(header, body)| (header.id, body[0])).collect()
    };
    let got = fetched(&mut host, 6, 400 * MS);
    assert_eq!(events(&got), [], "five have not gone missing yet");
    let got = fetched(&mut host, 2, 200 * MS);
    assert_eq!(events(&got), [(0x13, 0)]);
    // MCU_CE_CMD_SET_BSS_ABORT: no longer.
    command(&mut host, CommandId::Plain(0x17, 0), &[0, 0, 0, 0]);
    assert!(fetched(&mut host, 1, 2_000 * MS).is_empty());
    assert_eq!(host.statistics()["chip"]["beacon_losses"], 1);
}

#[test]
fn it_sleeps_where_the_driver_lets_it() {
    let (mut host, far) = station(Settings::default(), true);
    unified(&mut host, 2, &[&[0, 0, 0, 0][..], &tlv(21, &[2, 0, 0, 0])].concat());
    run(&mut host, 200 * MS);
    let last = |far: &FarEnd| far.0.borrow().heard.last().map(|(_, mpdu, _)| (mpdu[0], mpdu[1] & 0x10));
    assert_eq!(last(&far), Some((0x48, 0x10)), "a Null frame says so");
    send(&far, host.now_ns, SLOW, vec![down(1, 100)], Response::Ack);
    assert!(fetched(&mut host, 1, 20 * MS).is_empty(), "its receiver is off");
    host.write(BEST_EFFORT, &ethernet(100, &[]));
    run(&mut host, 20 * MS);
    assert_eq!(last(&far), Some((0x88, 0)));
    let counted = host.statistics();
    assert_eq!((&counted["power"]["announced"], &counted["power"]["woken_by_host"]), (&1.into(), &1.into()));
}

#[test]
fn a_full_buffer_holds_the_host_back_and_events_can_get_lost() {
    let (mut host, far) = station(Settings::default(), true);
    far.0.borrow_mut().tuned = Tuned::channel(11);
    for _ in 0..200 {
        host.write(BEST_EFFORT, &ethernet(1_400, &[]));
    }
    run(&mut host, MS);
    let tx = host.statistics()["tx"].clone();
    assert_eq!(&tx["buffer_full"], &1);
    host.device.inject(0, Effect::LostC2h(true));
    assert!(command(&mut host, CommandId::Unified(2), &[0; 4]).is_empty());
    host.device.inject(0, Effect::LostC2h(false));
    host.device.inject(0, Effect::FirmwareHang);
    assert!(command(&mut host, CommandId::Unified(2), &[0; 4]).is_empty());
    assert_eq!(read(&mut host, reg::CONN_ON_MISC), reg::POWERED);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Registers and commands of all kinds, any transfers: the chip goes on.
    #[test]
    fn any_requests_and_transfers_are_taken(
        requests in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..30),
        commands in prop::collection::vec(
            (any::<bool>(), any::<u8>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..90)), 0..20,
        ),
        transfers in prop::collection::vec(
            (prop::sample::select(vec![4u8, 5, 8, 9]), any::<[u32; 4]>(), prop::collection::vec(any::<u8>(), 0..80)), 0..20,
        ),
    ) {
        let (mut host, far) = station(Settings::default(), true);
        keys(&mut host);
        for (address, value, reads) in requests {
            if reads {
                read(&mut host, address);
            } else {
                write(&mut host, address, value);
            }
        }
        for (is_unified, number, extended, body) in commands {
            let id = if is_unified { CommandId::Unified(u16::from(number & 0x3f)) } else { CommandId::Plain(number, extended) };
            let command = Command { id, sequence: 1, acknowledge: true, query: extended & 1 == 1, body: &body };
            host.write(COMMANDS_OUT, &transfer(&command.emit()));
            host.write(COMMANDS_OUT, &body);
        }
        for (endpoint, words, bytes) in transfers {
            let descriptor = words.iter().enumerate().fold(TxDescriptor::new(bytes.len() as u16, 1, PEER), |it, (at, &word)| it.with(at, 0, word));
            host.write(endpoint, &transfer(&[&descriptor.emit()[..], &bytes].concat()));
            host.write(endpoint, &bytes);
            send(&far, host.now_ns, SLOW, vec![bytes], Response::Ack);
            fetched(&mut host, 2, 10 * MS);
        }
        run(&mut host, 10 * MS);
        prop_assert_eq!(read(&mut host, reg::HW_CHIPID), 0x7961);
    }
}

#[test]
fn probe_requests_of_others_are_no_affair_of_the_driver() {
    let (mut host, far) = station(Settings::default(), true);
    let mut probe = beacon();
    probe[0] = 0x40;
    assert_eq!(Mpdu::new(&probe[..]).kind(), Some(FrameKind::ProbeRequest));
    send(&far, host.now_ns, SLOW, vec![probe], Response::None);
    assert!(fetched(&mut host, 1, 20 * MS).is_empty());
}
