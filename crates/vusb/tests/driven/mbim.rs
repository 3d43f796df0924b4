//! The MBIM function: what messages get, and what they make of the data path.

use crate::host::Host;
use proptest::prelude::*;
use vusb::device::Device;
use vusb::functions::mbim::{Connect, Mbim, MbimSettings};
use vusb::wired::WiredQueues;
use wire::usb::descriptors::{configuration, is_whole_configuration, Part};
use wire::usb::mbim::basic_connect::{
    cid, command, Activation, Connection, DeviceCaps, DeviceServices, Fields, IpConfiguration, PacketService,
    PacketStatistics,
};
use wire::usb::mbim::{Message, Operation, ProtocolError, Status, Uuid, WHOLE};
use wire::usb::ntb::{parse, Builder, Content, Header};
use wire::usb::setup::Setup;

type Function = Host<Mbim<WiredQueues>>;

const NOTIFICATIONS: u8 = 1;
const TO_HOST: u8 = 2;
const FROM_HOST: u8 = 3;
const ROOM: u32 = 16_384;

const fn setup(request_type: u8, request: u8, length: u16) -> Setup {
    Setup { request_type, request, value: 0, index: 0, length }
}

fn send(host: &mut Function, bytes: &[u8]) {
    assert_eq!(host.control(setup(0x21, 0, bytes.len() as u16), bytes).0, 0);
}

fn fetch(host: &mut Function) -> Vec<u8> {
    let (status, bytes) = host.control(setup(0xa1, 1, 4_096), &[]);
    assert_eq!(status, 0);
    bytes
}

/// A function whose data interface is set up.
fn function(connect: Connect) -> (Function, WiredQueues) {
    let wired = WiredQueues::default();
    let mut host = Host::new(Mbim::new(MbimSettings { connect, ..MbimSettings::default() }, wired.clone()).unwrap());
    host.device.reset(0);
    let (status, parameters) = host.control(setup(0xa1, 0x80, 28), &[]);
    assert_eq!((status, parameters.len()), (0, 28));
    let first = host.read(TO_HOST, ROOM, 0);
    assert_eq!(host.completions(), []);
    host.unlink(first);
    host.completions();
    (host, wired)
}

fn opened(connect: Connect) -> (Function, WiredQueues) {
    let (mut host, wired) = function(connect);
    send(&mut host, &Message::Open { max_transfer: 4_096 }.emit(1));
    assert_eq!(Message::parse(&fetch(&mut host)), Ok((1, Message::OpenDone(Status::SUCCESS))));
    (host, wired)
}

/// What a command gets: the bytes of its information buffer, or why it is refused.
fn ask(host: &mut Function, number: u32, operation: Operation, buffer: &[u8]) -> Result<Vec<u8>, Status> {
    let asked = Message::Command { fragment: WHOLE, command: command(number), operation, buffer };
    send(host, &asked.emit(7));
    let bytes = fetch(host);
    match Message::parse(&bytes).unwrap() {
        (7, Message::CommandDone { fragment: WHOLE, command: done, status, buffer }) => {
            assert_eq!(done, command(number));
            if status == Status::SUCCESS {
                Ok(buffer.to_vec())
            } else {
                Err(status)
            }
        }
        other => panic!("{other:?}"),
    }
}

fn activation(session: u32, activate: bool) -> Vec<u8> {
    Activation {
        session,
        command: u32::from(activate),
        access_string: "internet".into(),
        user: String::new(),
        password: String::new(),
        compression: 0,
        authentication: 0,
        ip_type: 1,
        context: Uuid::INTERNET,
    }
    .write()
}

fn connect(host: &mut Function, session: u32, activate: bool) -> Result<Connection, Status> {
    let answer = ask(host, cid::CONNECT, Operation::Set, &activation(session, activate))?;
    Ok(Connection::read(&answer).unwrap())
}

fn configuration_of(host: &mut Function, session: u32) -> Result<IpConfiguration, Status> {
    let answer = ask(host, cid::IP_CONFIGURATION, Operation::Query, &session.to_le_bytes())?;
    Ok(IpConfiguration::read(&answer).unwrap())
}

/// An IPv4 packet between two hosts of the network 10.80.210.0/24.
fn packet(from: u8, to: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x45; len.max(20)];
    bytes[12..20].copy_from_slice(&[10, 80, 210, from, 10, 80, 210, to]);
    bytes
}

fn block(session: u8, packets: &[Vec<u8>], sequence: u16) -> Vec<u8> {
    let mut block = Builder::new([b'I', b'P', b'S', session]);
    packets.iter().for_each(|packet| block.push(packet));
    block.finish(sequence).unwrap()
}

/// What the host reads: session and packet.
fn read(host: &mut Function) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    // those of transfers to the device
    host.completions();
    loop {
        let sequence = host.read(TO_HOST, ROOM, 0);
        let Some((_, data)) = host.completions().pop() else {
            host.unlink(sequence);
            host.completions();
            return found;
        };
        assert!(data.len() < ROOM as usize && data.len() % 512 != 0);
        let parsed = parse(&Header::parse(&data).unwrap(), &data, data.len());
        assert_eq!(parsed.faults, []);
        for datagram in parsed.datagrams {
            let Content::Ip(session) = datagram.content else { panic!("{datagram:?}") };
            found.push((session, data[datagram.offset..datagram.offset + datagram.len].to_vec()));
        }
    }
}

#[test]
fn descriptors_are_whole() {
    let (host, _) = function(Connect::Fixed);
    let bytes = &host.device.identity().configuration;
    assert!(is_whole_configuration(bytes));
    let parts = configuration(bytes).unwrap();
    let endpoints: Vec<u8> =
        parts.filter_map(|p| if let Part::Endpoint { address, .. } = p { Some(address.0) } else { None }).collect();
    assert_eq!(endpoints, [0x81, 0x82, 0x03]);
}

#[test]
fn a_message_is_announced_and_fetched_once() {
    let (mut host, _) = function(Connect::Negotiated);
    send(&mut host, &Message::Open { max_transfer: 4_096 }.emit(5));
    host.read(NOTIFICATIONS, 64, 0);
    let (_, notification) = host.completions().pop().unwrap();
    assert_eq!(notification, [0xa1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Message::parse(&fetch(&mut host)), Ok((5, Message::OpenDone(Status::SUCCESS))));
    assert!(fetch(&mut host).is_empty());
}

#[test]
fn what_is_out_of_order_is_a_function_error() {
    let (mut host, _) = function(Connect::Negotiated);
    let query = Message::Command {
        fragment: WHOLE,
        command: command(cid::DEVICE_CAPS),
        operation: Operation::Query,
        buffer: &[],
    };
    let fragment = Message::Command {
        fragment: (2, 0),
        command: command(cid::DEVICE_CAPS),
        operation: Operation::Query,
        buffer: &[],
    };
    let mut longer = query.emit(3);
    longer.push(0);
    let error = |host: &mut Function, bytes: &[u8], expected: ProtocolError| {
        send(host, bytes);
        assert_eq!(Message::parse(&fetch(host)), Ok((3, Message::FunctionError(expected))));
    };
    error(&mut host, &query.emit(3), ProtocolError::NOT_OPENED);
    error(&mut host, &Message::Close.emit(3), ProtocolError::NOT_OPENED);
    send(&mut host, &Message::Open { max_transfer: 4_096 }.emit(1));
    fetch(&mut host);
    error(&mut host, &longer, ProtocolError::LENGTH_MISMATCH);
    error(&mut host, &fragment.emit(3), ProtocolError::FRAGMENT_OUT_OF_SEQUENCE);
    error(&mut host, &Message::OpenDone(Status::SUCCESS).emit(3), ProtocolError::UNKNOWN);
    assert_eq!(host.device.control_counters().errors, 5);
    // An error of the host gets no answer.
    send(&mut host, &Message::HostError(ProtocolError::UNKNOWN).emit(9));
    assert!(fetch(&mut host).is_empty());
}

#[test]
fn commands_that_are_not_there_are_refused() {
    let (mut host, _) = opened(Connect::Negotiated);
    assert_eq!(ask(&mut host, 99, Operation::Query, &[]), Err(Status::NO_DEVICE_SUPPORT));
    assert_eq!(ask(&mut host, cid::DEVICE_CAPS, Operation::Set, &[]), Err(Status::NO_DEVICE_SUPPORT));
    assert_eq!(ask(&mut host, cid::CONNECT, Operation::Set, &[0; 8]), Err(Status::INVALID_PARAMETERS));
    assert_eq!(ask(&mut host, cid::RADIO_STATE, Operation::Set, &[2, 0, 0, 0]), Err(Status::INVALID_PARAMETERS));
    let services = ask(&mut host, cid::DEVICE_SERVICES, Operation::Query, &[]).unwrap();
    let services = DeviceServices::read(&services).unwrap().services;
    assert_eq!(services.len(), 1);
    // Each of them answers a query.
    for &number in &services[0].1 {
        let answer = ask(&mut host, number, Operation::Query, &0u32.to_le_bytes());
        assert_eq!(answer.is_ok(), number != cid::IP_CONFIGURATION, "{number}: {answer:?}");
    }
    assert_eq!(host.device.control_counters().refused, 5);
}

#[test]
fn sessions_are_connected_and_carry_their_packets() {
    let (mut host, wired) = opened(Connect::Negotiated);
    let caps = DeviceCaps::read(&ask(&mut host, cid::DEVICE_CAPS, Operation::Query, &[]).unwrap()).unwrap();
    assert_eq!((caps.max_sessions, caps.device_id.len()), (8, 15));
    // Nothing is carried before.
    host.write(FROM_HOST, &block(0, &[packet(2, 1, 40)], 0));
    wired.to_host.borrow_mut().push_back(packet(1, 2, 40));
    assert_eq!((read(&mut host), host.device.uncarried().other_sessions), (vec![], 1));
    assert_eq!(host.device.uncarried().unconnected, 1);
    assert_eq!(configuration_of(&mut host, 0), Err(Status::CONTEXT_NOT_ACTIVATED));

    assert_eq!(connect(&mut host, 0, true).unwrap().state, Connection::ACTIVATED);
    assert_eq!(connect(&mut host, 3, true).unwrap().state, Connection::ACTIVATED);
    assert_eq!(connect(&mut host, 8, true), Err(Status::MAX_ACTIVATED_CONTEXTS));
    let (first, second) = (configuration_of(&mut host, 0).unwrap(), configuration_of(&mut host, 3).unwrap());
    assert_eq!(first.addresses, [(24, [10, 80, 210, 2])]);
    assert_eq!(second.addresses, [(24, [10, 80, 210, 3])]);
    assert_eq!((first.gateway, first.mtu), (Some([10, 80, 210, 1]), Some(1_500)));
    // The network learns who has which address, and each session gets its own packets.
    host.write(FROM_HOST, &block(0, &[packet(2, 1, 40)], 1));
    host.write(FROM_HOST, &block(3, &[packet(3, 1, 41), packet(3, 1, 600)], 2));
    host.completions();
    assert_eq!(*wired.from_host.borrow(), [packet(2, 1, 40), packet(3, 1, 41), packet(3, 1, 600)]);
    wired.to_host.borrow_mut().extend([packet(1, 3, 50), packet(1, 2, 51), packet(1, 3, 52), vec![0; 30]]);
    let mut got = read(&mut host);
    got.sort_by_key(|(_, packet)| packet.len());
    assert_eq!(got, [(3, packet(1, 3, 50)), (0, packet(1, 2, 51)), (3, packet(1, 3, 52))]);
    assert_eq!(host.device.uncarried().not_ip, 1);
    let carried = ask(&mut host, cid::PACKET_STATISTICS, Operation::Query, &[]).unwrap();
    let carried = PacketStatistics::read(&carried).unwrap();
    assert_eq!((carried.out_packets, carried.in_packets), (4, 3));

    assert_eq!(connect(&mut host, 3, false).unwrap().state, Connection::DEACTIVATED);
    assert_eq!(connect(&mut host, 3, false), Err(Status::CONTEXT_NOT_ACTIVATED));
    // Detaching ends the other one.
    let detached = ask(&mut host, cid::PACKET_SERVICE, Operation::Set, &1u32.to_le_bytes()).unwrap();
    assert_eq!(PacketService::read(&detached).unwrap().state, PacketService::DETACHED);
    assert_eq!(connect(&mut host, 0, true), Err(Status::PACKET_SERVICE_DETACHED));
}

#[test]
fn a_closed_function_has_no_sessions() {
    let (mut host, wired) = opened(Connect::Negotiated);
    connect(&mut host, 0, true).unwrap();
    wired.to_host.borrow_mut().push_back(packet(1, 2, 40));
    host.device.advance(1);
    send(&mut host, &Message::Close.emit(2));
    assert_eq!(Message::parse(&fetch(&mut host)), Ok((2, Message::CloseDone(Status::SUCCESS))));
    assert!(read(&mut host).is_empty(), "what waited went with its session");
    wired.to_host.borrow_mut().push_back(packet(1, 2, 40));
    assert!(read(&mut host).is_empty());
    assert_eq!(host.device.uncarried().unconnected, 1);
}

#[test]
fn a_fixed_session_takes_no_messages_and_streams_are_counted() {
    let (mut host, wired) = function(Connect::Fixed);
    host.write(FROM_HOST, &block(0, &[packet(2, 1, 100)], 0));
    let mut stream = Builder::new(*b"DSS\x01");
    stream.push(&[1; 10]);
    host.write(FROM_HOST, &stream.finish(1).unwrap());
    host.completions();
    assert_eq!(*wired.from_host.borrow(), [packet(2, 1, 100)]);
    assert_eq!(host.device.uncarried().streams, 1);
    wired.to_host.borrow_mut().push_back(packet(1, 2, 99));
    assert_eq!(read(&mut host), [(0, packet(1, 2, 99))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_message_is_answered_or_counted(
        messages in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..120), 0u32..30, any::<bool>(), 0u8..4), 1..90
        ),
    ) {
        let (mut host, _) = opened(Connect::Negotiated);
        let mut fetched = 0;
        for (bytes, number, is_set, how) in &messages {
            let operation = if *is_set { Operation::Set } else { Operation::Query };
            let asked = Message::Command { fragment: WHOLE, command: command(*number), operation, buffer: bytes };
            let mut whole = asked.emit(9);
            match how {
                0 => send(&mut host, bytes),
                1 => {
                    whole.truncate(bytes.len());
                    send(&mut host, &whole);
                }
                _ => send(&mut host, &whole),
            }
            if *how == 3 {
                let answer = fetch(&mut host);
                prop_assert!(answer.is_empty() || Message::parse(&answer).is_ok());
                fetched += u64::from(!answer.is_empty());
            }
        }
        loop {
            let answer = fetch(&mut host);
            if answer.is_empty() {
                break;
            }
            prop_assert!(Message::parse(&answer).is_ok() && answer.len() <= 4_096);
            fetched += 1;
        }
        let counted = host.device.control_counters();
        // The first answer was that to the opening.
        prop_assert_eq!(counted.answers + counted.errors, fetched + 1);
        prop_assert!(counted.messages + counted.not_taken == messages.len() as u64 + 1);
    }

    #[test]
    fn any_transfer_is_taken_or_counted(bytes in prop::collection::vec(any::<u8>(), 0..3_000), signed: bool) {
        let mut bytes = bytes;
        if signed && bytes.len() > 12 {
            bytes[..6].copy_from_slice(b"NCMH\x0c\0");
        }
        let (mut host, _) = function(Connect::Fixed);
        host.write(FROM_HOST, &bytes);
        prop_assert_eq!(host.completions().len(), 1);
    }
}
