//! The control plane of the QMI modem: what messages get, and what they make of the data path.

use std::net::Ipv4Addr;

use crate::functions::aggregate;
use crate::host::Host;
use proptest::prelude::*;
use vusb::device::{Device, Effect};
use vusb::fault::{Faulty, Script};
use vusb::functions::qmi_modem::{Crash, Framing, Limit, Model, ModemSettings, QmiModem};
use vusb::wired::WiredQueues;
use wire::usb::descriptors::{configuration, is_whole_configuration, Part};
use wire::usb::qmap::{self, ChecksumHeader, ChecksumTrailer, Checksums, UplinkChecksumHeader, Walk};
use wire::usb::qmi::qmux::{Header, Kind, Message};
use wire::usb::qmi::{
    ctl, dms, nas, read_outcome, wda, wds, write_fields, ErrorCode, Fields, Nothing, Outcome, Service,
};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

type Modem = Host<QmiModem<WiredQueues>>;

const MODELS: [(Model, u16, u8, u16); 4] = [
    (Model::QuectelEc25, 4, 9, 0x0125),
    (Model::QuectelEc21, 4, 9, 0x0121),
    (Model::SimcomSim7600, 5, 11, 0x9001),
    (Model::TelitLn940, 1, 3, 0x1900),
];
const INTERFACE: u16 = 4;
const NOTIFICATIONS: u8 = 9;
const TO_HOST: u8 = 8;
const FROM_HOST: u8 = 5;

const fn setup(request_type: u8, request: u8, value: u16, index: u16, length: u16) -> Setup {
    Setup { request_type, request, value, index, length }
}

fn send(host: &mut Modem, bytes: &[u8]) {
    let (status, _) = host.control(setup(0x21, 0, 0, INTERFACE, bytes.len() as u16), bytes);
    assert_eq!(status, 0);
}

fn fetch(host: &mut Modem) -> Vec<u8> {
    let (status, bytes) = host.control(setup(0xa1, 1, 0, INTERFACE, 4_096), &[]);
    assert_eq!(status, 0);
    bytes
}

/// A modem with DTR set.
fn modem(settings: ModemSettings) -> (Modem, WiredQueues) {
    let wired = WiredQueues::default();
    let mut host = Host::new(QmiModem::new(settings, wired.clone()).unwrap());
    host.device.reset(0);
    assert_eq!(host.control(setup(0x21, 0x22, 1, INTERFACE, 0), &[]).0, 0);
    (host, wired)
}

fn negotiated() -> (Modem, WiredQueues) {
    modem(ModemSettings { framing: Framing::Negotiated, transfer_cost_us: 0, ..ModemSettings::default() })
}

/// Asks, and gives the answer; earlier indications are dropped.
fn ask<F: Fields>(host: &mut Modem, to: (Service, u8), message: u16, fields: &impl Fields) -> Outcome<F> {
    let (service, client) = to;
    let header = Header { from_service: false, service, client, kind: Kind::Request, transaction: 9, message };
    send(host, &header.emit(&write_fields(fields)).unwrap());
    loop {
        let bytes = fetch(host);
        let found = Message::parse(&bytes, bytes.len()).unwrap().expect("no answer");
        if found.header.kind == Kind::Response {
            assert_eq!(found.header, header.answer());
            return read_outcome(&found.tlvs).unwrap();
        }
    }
}

fn client(host: &mut Modem, service: Service) -> (Service, u8) {
    let allocated: Outcome<ctl::Client> = ask(host, (Service::CTL, 0), ctl::ALLOCATE_CID, &ctl::Allocate { service });
    (service, allocated.unwrap().client)
}

fn asked(up: wda::Aggregation, down: wda::Aggregation, datagrams: u32, bytes: u32) -> wda::Request {
    let way =
        |aggregation| wda::Direction { aggregation: Some(aggregation), datagrams: Some(datagrams), bytes: Some(bytes) };
    let format = wda::DataFormat {
        qos_header: None,
        link: Some(wda::LinkProtocol::RAW_IP),
        uplink: way(up),
        downlink: way(down),
    };
    wda::Request { format, endpoint: Some((wda::ENDPOINT_USB, u32::from(INTERFACE))) }
}

fn set_format(host: &mut Modem, request: &wda::Request) -> wda::DataFormat {
    let to = client(host, Service::WDA);
    let answer: Outcome<wda::Answer> = ask(host, to, wda::SET_DATA_FORMAT, request);
    answer.unwrap().format
}

/// Starts a connection over a multiplexed channel.
fn connect(host: &mut Modem, mux_id: Option<u8>) -> ((Service, u8), u32) {
    let to = client(host, Service::WDS);
    if mux_id.is_some() {
        let bind = wds::BindMux { endpoint: Some((2, u32::from(INTERFACE))), mux_id, client_type: None };
        ask::<Nothing>(host, to, wds::BIND_MUX_DATA_PORT, &bind).unwrap();
    }
    let started: Outcome<wds::PacketDataHandle> = ask(host, to, wds::START_NETWORK, &wds::StartNetwork::default());
    (to, started.unwrap().handle)
}

/// UDP over IPv4 with a wrong checksum.
fn datagram(from: u8, to: u8, len: usize) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 80, 210, from, 10, 80, 210, to, 1, 2, 3, 4];
    let total = (len.max(28)) as u16;
    packet.extend((total - 20).to_be_bytes());
    packet.extend([0xde, 0xad]);
    packet.resize(usize::from(total), 0x55);
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet
}

/// Lets a second go by, from event to event.
fn run(host: &mut Modem) -> Vec<Vec<u8>> {
    let mut read = Vec::new();
    let end_ns = host.now_ns + 1_000_000_000;
    loop {
        read.extend(host.completions().into_iter().map(|(_, data)| data).filter(|data| !data.is_empty()));
        match host.device.next_event().filter(|&at_ns| at_ns <= end_ns) {
            Some(at_ns) => host.now_ns = at_ns,
            None => break,
        }
    }
    read
}

#[test]
fn every_model_has_its_interfaces() {
    for (model, interface, notifications, product) in MODELS {
        let settings = ModemSettings { model, ..ModemSettings::default() };
        let modem = QmiModem::new(settings, WiredQueues::default()).unwrap();
        let identity = modem.identity();
        assert_eq!(u16::from_le_bytes([identity.device[10], identity.device[11]]), product);
        assert!(is_whole_configuration(&identity.configuration));
        let (mut current, mut found) = (0, Vec::new());
        for part in configuration(&identity.configuration).unwrap() {
            match part {
                Part::Interface { number, .. } => current = u16::from(number),
                Part::Endpoint { address, .. } if current == interface => found.push(address.0),
                _ => {}
            }
        }
        let number = notifications;
        assert_eq!(found, [0x80 | number, 0x80 | (number - 1), interface as u8 + 1]);
        assert_eq!(identity.configuration[4] as usize, [1, 5, 6, 5][MODELS.iter().position(|m| m.0 == model).unwrap()]);
    }
    // wTotalLength as lsusb -v of the real ones has it.
    let total = |model| {
        let settings = ModemSettings { model, ..ModemSettings::default() };
        QmiModem::new(settings, WiredQueues::default()).unwrap().identity().configuration.len()
    };
    assert_eq!((total(Model::QuectelEc21), total(Model::SimcomSim7600)), (209, 258));
}

#[test]
fn who_it_is_and_where() {
    let (mut host, _) = negotiated();
    let versions: ctl::VersionInfo = ask(&mut host, (Service::CTL, 0), ctl::GET_VERSION_INFO, &Nothing).unwrap();
    let services: Vec<Service> = versions.services.iter().map(|version| version.service).collect();
    assert_eq!(services, [Service::CTL, Service::WDS, Service::DMS, Service::NAS, Service::WDA]);
    let to = client(&mut host, Service::DMS);
    let text = |host: &mut Modem, message| ask::<dms::Text>(host, to, message, &Nothing).unwrap().text;
    assert_eq!(text(&mut host, dms::GET_MANUFACTURER), "txop");
    assert_eq!(text(&mut host, dms::GET_MODEL), "virtual QMI modem (EC25)");
    let can: dms::Capabilities = ask(&mut host, to, dms::GET_CAPABILITIES, &Nothing).unwrap();
    assert_eq!((can.uplink_rate, can.downlink_rate), (50_000_000, 150_000_000));
    let ids: dms::Ids = ask(&mut host, to, dms::GET_IDS, &Nothing).unwrap();
    assert_eq!(ids.imei.unwrap().len(), 15);
    let to = client(&mut host, Service::NAS);
    let serving: nas::ServingSystem = ask(&mut host, to, nas::GET_SERVING_SYSTEM, &Nothing).unwrap();
    assert_eq!((serving.registration, serving.radios), (1, vec![nas::RADIO_LTE]));
    let signal: nas::SignalInfo = ask(&mut host, to, nas::GET_SIGNAL_INFO, &Nothing).unwrap();
    assert!(signal.lte.is_some());
}

#[test]
fn what_it_has_not_is_refused() {
    let (mut host, _) = negotiated();
    let refused = |host: &mut Modem, to, message| ask::<Nothing>(host, to, message, &Nothing);
    assert_eq!(refused(&mut host, (Service::DMS, 1), dms::GET_MODEL), Err(ErrorCode::INVALID_CLIENT_ID));
    let dms = client(&mut host, Service::DMS);
    assert_eq!(refused(&mut host, dms, 0x5556), Err(ErrorCode::INVALID_QMI_COMMAND));
    assert_eq!(refused(&mut host, (Service::CTL, 0), ctl::ALLOCATE_CID), Err(ErrorCode::MALFORMED_MESSAGE));
    let voice = ctl::Allocate { service: Service(9) };
    let no_service: Outcome<ctl::Client> = ask(&mut host, (Service::CTL, 0), ctl::ALLOCATE_CID, &voice);
    assert_eq!(no_service, Err(ErrorCode::INVALID_SERVICE_TYPE));
    let released = ctl::Client { service: dms.0, client: dms.1 };
    let gone: Outcome<ctl::Client> = ask(&mut host, (Service::CTL, 0), ctl::RELEASE_CID, &released);
    assert_eq!(gone, Ok(released));
    assert_eq!(refused(&mut host, dms, dms::GET_MODEL), Err(ErrorCode::INVALID_CLIENT_ID));
    let wds = client(&mut host, Service::WDS);
    assert_eq!(refused(&mut host, wds, wds::GET_CURRENT_SETTINGS), Err(ErrorCode::OUT_OF_CALL));
    assert_eq!(refused(&mut host, wds, wds::BIND_MUX_DATA_PORT), Err(ErrorCode::MISSING_ARGUMENT));
    let counters = *host.device.control_counters();
    assert_eq!((counters.requests, counters.answers, counters.refused), (10, 10, 7));
}

#[test]
fn without_dtr_nobody_is_there() {
    let (mut host, _) = negotiated();
    host.control(setup(0x21, 0x22, 0, INTERFACE, 0), &[]);
    send(&mut host, &[1, 0x0b, 0, 0, 0, 0, 0, 1, 0x21, 0, 0, 0]);
    assert_eq!((fetch(&mut host), host.device.control_counters().not_taken), (vec![], 1));
}

#[test]
fn every_answer_is_told_of_once_in_eight_bytes() {
    let (mut host, _) = negotiated();
    for _ in 0..2 {
        send(&mut host, &[1, 0x0b, 0, 0, 0, 0, 0, 1, 0x21, 0, 0, 0]);
    }
    (0..3).for_each(|_| _ = host.read(NOTIFICATIONS, 8, 0));
    let indications = host.completions();
    assert_eq!(indications.len(), 2, "no empty transfer follows a notification that fills its packet");
    for (completion, data) in indications {
        assert!(matches!(completion, Completion::Submit { status: 0, actual: 8, .. }));
        assert_eq!(data, [0xa1, 1, 0, 0, 4, 0, 0, 0]);
    }
    assert!(!fetch(&mut host).is_empty() && !fetch(&mut host).is_empty() && fetch(&mut host).is_empty());
}

#[test]
fn the_format_that_was_asked_for_is_that_of_transfers() {
    let (mut host, wired) = negotiated();
    // As it begins: raw IP, and no connection.
    host.write(FROM_HOST, &datagram(2, 1, 100));
    assert_eq!((run(&mut host).len(), host.device.counters().other_connections), (0, 1));
    let format = set_format(&mut host, &asked(wda::Aggregation::QMAP, wda::Aggregation::QMAP, 32, 32_768));
    let way = |datagrams, bytes| wda::Direction {
        aggregation: Some(wda::Aggregation::QMAP),
        datagrams: Some(datagrams),
        bytes: Some(bytes),
    };
    assert_eq!((format.link, format.qos_header), (Some(wda::LinkProtocol::RAW_IP), Some(0)));
    assert_eq!((format.uplink, format.downlink), (way(16, 8_192), way(32, 15_872)));
    let (_, handle) = connect(&mut host, Some(1));
    let packets: Vec<_> = (0..5).map(|number| datagram(2, 1, 100 + number)).collect();
    host.write(FROM_HOST, &aggregate(&packets, 1));
    host.write(FROM_HOST, &aggregate(&packets, 7));
    run(&mut host);
    assert_eq!(*wired.from_host.borrow(), packets);
    assert_eq!(host.device.counters().other_connections, 1 + 5);
    wired.to_host.borrow_mut().extend((0..40).map(|_| datagram(1, 2, 1_000)));
    (0..10).for_each(|_| _ = host.read(TO_HOST, 16_384, 0));
    let read = run(&mut host);
    let counts: Vec<usize> = read.iter().map(|data| Walk::new(data, data.len(), Checksums::None).count()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 40);
    assert!(counts.contains(&15) && read.iter().all(|data| data.len() <= 15_872));
    let stop = wds::PacketDataHandle { handle };
    let other = client(&mut host, Service::WDS);
    assert_eq!(ask::<Nothing>(&mut host, other, wds::STOP_NETWORK, &stop), Err(ErrorCode::INVALID_HANDLE));
}

#[test]
fn a_host_that_asks_for_less_gets_less() {
    let (mut host, wired) = negotiated();
    let format = set_format(&mut host, &asked(wda::Aggregation::DISABLED, wda::Aggregation::QMAP, 4, 4_000));
    assert_eq!(format.uplink.aggregation, Some(wda::Aggregation::DISABLED));
    assert_eq!((format.downlink.datagrams, format.downlink.bytes), (Some(4), Some(4_000)));
    let to = client(&mut host, Service::WDA);
    let again: Outcome<wda::Answer> = ask(&mut host, to, wda::GET_DATA_FORMAT, &Nothing);
    assert_eq!(again.unwrap().format, format);
    connect(&mut host, None);
    wired.to_host.borrow_mut().extend((0..12).map(|_| datagram(1, 2, 60)));
    (0..12).for_each(|_| _ = host.read(TO_HOST, 16_384, 0));
    let read = run(&mut host);
    assert!(read.iter().all(|data| Walk::new(data, data.len(), Checksums::None).count() <= 4));
    let protocols = asked(wda::Aggregation(3), wda::Aggregation(1), 4, 4_000);
    let format = set_format(&mut host, &protocols);
    assert_eq!((format.uplink.aggregation, format.downlink.datagrams), (Some(wda::Aggregation::DISABLED), Some(0)));
    let elsewhere = wda::Request { endpoint: Some((2, 8)), ..protocols };
    assert_eq!(ask::<Nothing>(&mut host, to, wda::SET_DATA_FORMAT, &elsewhere), Err(ErrorCode::INVALID_ARGUMENT));
}

#[test]
fn a_fixed_format_stays_and_has_no_limits() {
    let (mut host, wired) = modem(ModemSettings::default());
    let format = set_format(&mut host, &asked(wda::Aggregation::QMAP_V5, wda::Aggregation::DISABLED, 4, 4_000));
    assert_eq!(format.uplink.aggregation, Some(wda::Aggregation::QMAP));
    assert_eq!(format.downlink.aggregation, Some(wda::Aggregation::QMAP));
    let packets: Vec<_> = (0..40).map(|_| datagram(2, 1, 1_400)).collect();
    host.write(FROM_HOST, &aggregate(&packets, 1));
    run(&mut host);
    assert_eq!((wired.from_host.borrow().len(), host.device.crash()), (40, None));
}

#[test]
fn more_than_was_agreed_on_crashes_it_until_power_goes() {
    for (count, len, goes) in [(16, 60, true), (17, 60, false), (5, 1_500, true), (6, 1_400, false)] {
        let (mut host, wired) = negotiated();
        set_format(&mut host, &asked(wda::Aggregation::QMAP, wda::Aggregation::QMAP, 0, 0));
        connect(&mut host, Some(1));
        let packets: Vec<_> = (0..count).map(|_| datagram(2, 1, len)).collect();
        let bytes = aggregate(&packets, 1);
        host.write(FROM_HOST, &bytes);
        run(&mut host);
        let limit = Limit { datagrams: 16, bytes: 8_192 };
        let crash = Crash { datagrams: count, bytes: bytes.len(), limit };
        assert_eq!(host.device.crash(), Some(crash).filter(|_| !goes));
        assert_eq!(wired.from_host.borrow().len(), if goes { count } else { 0 });
        assert_eq!(host.device.is_present(host.now_ns), goes);
        // A reset of the port does not help, power does; it has forgotten everything then.
        host.device.reset(host.now_ns);
        assert_eq!(host.device.is_present(host.now_ns), goes);
        assert!(host.device.inject(host.now_ns, Effect::Unplug(1)));
        assert!(host.device.is_present(host.now_ns));
        host.control(setup(0x21, 0x22, 1, INTERFACE, 0), &[]);
        let to = client(&mut host, Service::WDA);
        let format: Outcome<wda::Answer> = ask(&mut host, to, wda::GET_DATA_FORMAT, &Nothing);
        assert_eq!(format.unwrap().format.uplink.aggregation, Some(wda::Aggregation::DISABLED));
    }
}

#[test]
fn unplugging_brings_a_crashed_modem_back() {
    let settings = ModemSettings { framing: Framing::Negotiated, transfer_cost_us: 0, ..ModemSettings::default() };
    let modem = QmiModem::new(settings, WiredQueues::default()).unwrap();
    let mut faulty = Faulty::new(modem, Script::default());
    faulty.reset(0);
    faulty.control(0, setup(0x21, 0x22, 1, INTERFACE, 0), &[]);
    let send = |faulty: &mut Faulty<_>, service, client, message, fields: &dyn Fn() -> Vec<u8>| {
        let mut bytes = vec![1, 0, 0, 0, service, client, 0, 1];
        if service != 0 {
            bytes.push(0);
        }
        bytes.extend([message, 0, fields().len() as u8, 0]);
        bytes.extend(fields());
        bytes[1] = bytes.len() as u8 - 1;
        faulty.control(0, setup(0x21, 0, 0, INTERFACE, 0), &bytes);
    };
    send(&mut faulty, 0, 0, 0x22, &|| vec![1, 1, 0, 0x1a]);
    send(&mut faulty, 0x1a, 1, 0x20, &|| vec![0x12, 4, 0, 5, 0, 0, 0, 0x13, 4, 0, 5, 0, 0, 0]);
    let packets: Vec<_> = (0..17).map(|_| datagram(2, 1, 60)).collect();
    faulty.transfer_out(0, FROM_HOST, &aggregate(&packets, 1));
    assert!(!faulty.is_present(1_000_000_000));
    assert!(faulty.inject(1_000_000_000, Effect::Unplug(500)));
    assert!(!faulty.is_present(1_400_000_000) && faulty.is_present(1_500_000_000));
}

#[test]
fn each_connection_gets_what_is_for_its_address() {
    let (mut host, wired) = negotiated();
    set_format(&mut host, &asked(wda::Aggregation::QMAP, wda::Aggregation::QMAP, 0, 0));
    let mut addresses = Vec::new();
    for mux_id in [1, 2, 129] {
        let (to, _) = connect(&mut host, Some(mux_id));
        let settings: wds::CurrentSettings =
            ask(&mut host, to, wds::GET_CURRENT_SETTINGS, &wds::RequestedSettings { mask: Some(wds::WANTS_ADDRESS) })
                .unwrap();
        assert_eq!((settings.mtu, settings.dns), (None, [None; 2]));
        addresses.push((mux_id, settings.address.unwrap()));
    }
    let expected: Vec<Ipv4Addr> = (2..5).map(|last| Ipv4Addr::new(10, 80, 210, last)).collect();
    assert_eq!(addresses.iter().map(|found| found.1).collect::<Vec<_>>(), expected);
    for (mux_id, address) in &addresses {
        host.write(FROM_HOST, &aggregate(&[datagram(address.octets()[3], 1, 80)], *mux_id));
    }
    run(&mut host);
    assert_eq!(wired.from_host.borrow().len(), 3);
    for to in [4, 2, 3, 99] {
        wired.to_host.borrow_mut().push_back(datagram(1, to, 80));
    }
    host.read(TO_HOST, 16_384, 0);
    let read = run(&mut host);
    let mux_ids: Vec<u8> =
        Walk::new(&read[0], read[0].len(), Checksums::None).map(|item| item.unwrap().header.mux_id).collect();
    assert_eq!(mux_ids, [129, 1, 2, 1]);
    // A client that goes takes its connection with it, and those that subscribed are notified.
    let gone = ctl::Client { service: Service::WDS, client: 2 };
    ask::<ctl::Client>(&mut host, (Service::CTL, 0), ctl::RELEASE_CID, &gone).unwrap();
    host.write(FROM_HOST, &aggregate(&[datagram(3, 1, 80)], 2));
    run(&mut host);
    assert_eq!((wired.from_host.borrow().len(), host.device.counters().other_connections), (3, 1));
}

#[test]
fn a_client_is_told_that_its_connection_came_and_went() {
    let (mut host, _) = negotiated();
    let (to, handle) = connect(&mut host, Some(1));
    let state = |host: &mut Modem| {
        let bytes = fetch(host);
        let message = Message::parse(&bytes, bytes.len()).unwrap().unwrap();
        assert_eq!((message.header.kind, message.header.client), (Kind::Indication, to.1));
        wds::PacketServiceChange::read(&message.tlvs).unwrap().status
    };
    assert_eq!(state(&mut host), wds::CONNECTED);
    let status: wds::PacketService = ask(&mut host, to, wds::GET_PACKET_SERVICE_STATUS, &Nothing).unwrap();
    assert_eq!(status.status, wds::CONNECTED);
    ask::<Nothing>(&mut host, to, wds::STOP_NETWORK, &wds::PacketDataHandle { handle }).unwrap();
    assert_eq!(state(&mut host), wds::DISCONNECTED);
}

#[test]
fn checksums_of_both_versions_go_both_ways() {
    for version in [wda::Aggregation::QMAP_V4, wda::Aggregation::QMAP_V5] {
        let (mut host, wired) = negotiated();
        set_format(&mut host, &asked(version, version, 0, 0));
        connect(&mut host, Some(1));
        let (broken, kept) = (datagram(2, 1, 101), datagram(2, 1, 102));
        let mut bytes = Vec::new();
        for (packet, wanted) in [(&broken, true), (&kept, false)] {
            let mut header = qmap::Header::for_datagram(1, packet.len()).unwrap();
            header.has_next = version == wda::Aggregation::QMAP_V5;
            bytes.extend(header.to_bytes());
            bytes.extend(if header.has_next {
                ChecksumHeader { is_set: wanted }.to_bytes()
            } else {
                UplinkChecksumHeader { start: 20, is_wanted: wanted, is_udp: true, insert: 6 }.to_bytes()
            });
            bytes.extend(packet);
            bytes.resize(bytes.len() + usize::from(header.padding), 0);
        }
        host.write(FROM_HOST, &bytes);
        run(&mut host);
        let sent = wired.from_host.borrow().clone();
        assert_eq!((sent.len(), &sent[1], host.device.counters().checksums_filled), (2, &kept, 1));
        assert_eq!((&sent[0][..26], &sent[0][28..]), (&broken[..26], &broken[28..]));
        let good = sent[0].clone();
        assert_ne!(good, broken);

        wired.to_host.borrow_mut().extend([good.clone(), broken.clone()]);
        host.read(TO_HOST, 16_384, 0);
        let read = run(&mut host).pop().unwrap();
        let is_v4 = version == wda::Aggregation::QMAP_V4;
        let walk = Walk::new(&read, read.len(), if is_v4 { Checksums::Behind } else { Checksums::None });
        let items: Vec<_> = walk.map(Result::unwrap).collect();
        assert_eq!(items.iter().map(|item| item.payload.to_vec()).collect::<Vec<_>>(), [good.clone(), broken.clone()]);
        for (item, packet, is_right) in [(items[0], &good, true), (items[1], &broken, false)] {
            if is_v4 {
                let at = item.offset + 4 + usize::from(item.header.length);
                let trailer = ChecksumTrailer::from_bytes(*read[at..].first_chunk().unwrap());
                assert_eq!((trailer.is_valid, trailer.start, usize::from(trailer.len)), (true, 0, packet.len()));
                // As Linux' rmnet: what the trailer has, less the header's part, is the sum of the pseudo header.
                let sum = |bytes: &[u8]| {
                    bytes.chunks(2).map(|p| u64::from(p[0]) << 8 | u64::from(*p.get(1).unwrap_or(&0))).sum::<u64>()
                };
                let pseudo = sum(&packet[12..20]) + 17 + (packet.len() as u64 - 20);
                let expected = (u64::from(trailer.checksum) + sum(&packet[..20])) % 65_535;
                assert_eq!(expected == pseudo % 65_535, is_right);
            } else {
                let header = ChecksumHeader::from_bytes(*read[item.offset + 4..].first_chunk().unwrap());
                assert_eq!(header.is_set, is_right);
            }
        }
    }
}

/// Messages that may be well formed: of services that it has, with fields of any kind.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let services = prop::sample::select(vec![0u8, 0, 0, 1, 2, 3, 0x1a, 0x40]);
    let messages =
        prop::sample::select(vec![0u8, 0x20, 0x21, 0x22, 0x22, 0x23, 0x24, 0x26, 0x27, 0x2d, 0x4d, 0x4f, 0xa2]);
    let fields = prop::collection::vec((0u8..0x20, prop::collection::vec(any::<u8>(), 0..12)), 0..6);
    let built = (services, 0u8..4, messages, fields).prop_map(|(service, client, message, fields)| {
        let client = if service == 0 { 0 } else { client };
        let mut tlvs = wire::usb::qmi::tlv::Writer::default();
        fields.iter().for_each(|(kind, value)| tlvs.put(*kind, value));
        let (service, kind) = (Service(service), Kind::Request);
        Header { from_service: false, service, client, kind, transaction: 1, message: message.into() }
            .emit(&tlvs)
            .unwrap()
    });
    // A client of any service is what most others need.
    let allocate = prop::sample::select(vec![1u8, 2, 3, 0x1a]).prop_map(|service| {
        let header = Header {
            from_service: false,
            service: Service::CTL,
            client: 0,
            kind: Kind::Request,
            transaction: 1,
            message: ctl::ALLOCATE_CID,
        };
        header.emit(&write_fields(&ctl::Allocate { service: Service(service) })).unwrap()
    });
    prop_oneof![4 => built, 2 => allocate, 1 => prop::collection::vec(any::<u8>(), 0..60)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_messages_are_answered_or_counted(messages in prop::collection::vec((message(), any::<bool>()), 1..200)) {
        let (mut host, _) = negotiated();
        let (mut waiting, mut fetched) = (0u64, 0u64);
        for (bytes, fetches) in &messages {
            send(&mut host, bytes);
            if *fetches {
                let answer = fetch(&mut host);
                fetched += u64::from(!answer.is_empty());
                if !answer.is_empty() {
                    let message = Message::parse(&answer, answer.len()).unwrap().unwrap();
                    prop_assert!(message.header.from_service && message.tlvs.check().is_ok());
                    prop_assert!(answer.len() < 512);
                }
            }
        }
        while !fetch(&mut host).is_empty() {
            waiting += 1;
        }
        let counted = *host.device.control_counters();
        // What waits is bounded, whatever the host does.
        prop_assert!(waiting <= 64);
        prop_assert_eq!(counted.requests, counted.answers);
        prop_assert_eq!(counted.requests + counted.malformed + counted.not_taken, messages.len() as u64);
        prop_assert!(fetched + waiting <= counted.answers + counted.indications);
        prop_assert!(host.device.is_present(host.now_ns));
    }

    #[test]
    fn any_transfer_is_taken_counted_or_crashes_it(
        bytes in prop::collection::vec(any::<u8>(), 1..9_000), version in prop::sample::select(vec![0u32, 5, 8, 9]),
    ) {
        let (mut host, wired) = negotiated();
        set_format(&mut host, &asked(wda::Aggregation(version), wda::Aggregation(version), 0, 0));
        connect(&mut host, Some(1));
        host.write(FROM_HOST, &bytes);
        run(&mut host);
        let crashed = host.device.crash();
        prop_assert_eq!(crashed.is_some(), version != 0 && (bytes.len() > 8_192 || crashed.is_some_and(|c| c.datagrams > 16)));
        prop_assert!(wired.from_host.borrow().iter().map(Vec::len).sum::<usize>() <= bytes.len());
    }
}
