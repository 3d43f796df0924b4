//! Messages and information buffers, written and read.

use super::basic_connect::{
    cid, command, Activation, Connection, DeviceCaps, DeviceServices, Fields, HomeProvider, IpConfiguration,
    PacketService, PacketStatistics, PinState, RadioState, RegisterState, SignalState, SubscriberReady,
};
use super::*;
use proptest::prelude::*;

#[test]
fn an_open_message_by_hand() {
    // Type 1, 16 bytes, transaction 1, MaxControlTransfer 4096, as mbimcli sends it.
    let bytes = [1, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 16, 0, 0];
    assert_eq!(Message::parse(&bytes), Ok((1, Message::Open { max_transfer: 4_096 })));
    assert_eq!(Message::Open { max_transfer: 4_096 }.emit(1), bytes);
}

#[test]
fn strings_are_utf16_behind_the_fixed_part() {
    let activation = Activation {
        session: 0,
        command: 1,
        access_string: "net".into(),
        user: String::new(),
        password: String::new(),
        compression: 0,
        authentication: 0,
        ip_type: 1,
        context: Uuid::INTERNET,
    };
    let bytes = activation.write();
    // 60 bytes of fixed part, three code units, and up to a multiple of four.
    assert_eq!((bytes.len(), &bytes[8..16]), (68, &[60, 0, 0, 0, 6, 0, 0, 0][..]));
    assert_eq!(&bytes[60..], b"n\0e\0t\0\0\0");
    assert_eq!(&bytes[16..32], &[0; 16]);
}

#[test]
fn what_lies_outside_is_named() {
    let mut bytes = Message::Close.emit(3);
    bytes.push(0);
    assert_eq!(Message::parse(&bytes).unwrap_err().offset, 4);
    let text = "the information buffer goes past the end of the message";
    let whole = Message::Command { fragment: WHOLE, command: command(1), operation: Operation::Query, buffer: &[1; 8] };
    let mut bytes = whole.emit(1);
    let at = bytes.len() - 12;
    bytes[at] = 9;
    assert_eq!(Message::parse(&bytes).unwrap_err().what, text);
    let mut buffer = DeviceServices { services: vec![(Uuid::BASIC_CONNECT, vec![1, 2])] }.write();
    buffer[8] = 0xff;
    assert_eq!(DeviceServices::read(&buffer).unwrap_err().what, "a service lies outside the information buffer");
}

fn again<F: Fields + PartialEq + std::fmt::Debug>(fields: &F) {
    assert_eq!(F::read(&fields.write()).as_ref(), Ok(fields));
}

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<[u8; 16]>().prop_map(Uuid)
}

fn message(kind: u8, (total, current): (u32, u32), command: Command, number: u32, buffer: &[u8]) -> Message<'_> {
    let fragment = (total, current);
    let operation = if number % 2 == 0 { Operation::Query } else { Operation::Set };
    match kind % 9 {
        0 => Message::Open { max_transfer: number },
        1 => Message::Close,
        2 => Message::Command { fragment, command, operation, buffer },
        3 => Message::HostError(ProtocolError(number)),
        4 => Message::OpenDone(Status(number)),
        5 => Message::CloseDone(Status(number)),
        6 => Message::CommandDone { fragment, command, status: Status(number), buffer },
        7 => Message::FunctionError(ProtocolError(number)),
        _ => Message::Indicate { fragment, command, buffer },
    }
}

proptest! {
    #[test]
    fn messages_are_read_as_written(
        kind: u8, fragment: (u32, u32), service in uuid(), cid: u32, number: u32, transaction: u32,
        buffer in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let written = message(kind, fragment, Command { service, number: cid }, number, &buffer);
        let bytes = written.emit(transaction);
        prop_assert_eq!(Message::parse(&bytes), Ok((transaction, written)));
        if let Message::CommandDone { buffer, .. } = written {
            prop_assert_eq!(bytes.len(), Message::DONE_HEAD + buffer.len());
        }
        for end in 0..bytes.len() {
            prop_assert!(Message::parse(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn buffers_are_read_as_written(
        numbers: [u32; 8], texts in prop::array::uniform4(".{0,20}"), rates: (u64, u64), context in uuid(),
        addresses in prop::collection::vec(any::<(u32, [u8; 4])>(), 0..4), gateway: Option<[u8; 4]>, mtu: Option<u32>,
        name_servers in prop::collection::vec(any::<[u8; 4]>(), 0..4),
        services in prop::collection::vec((uuid(), prop::collection::vec(any::<u32>(), 0..8)), 0..4),
    ) {
        let [n0, n1, n2, n3, n4, n5, n6, n7] = numbers;
        let [t0, t1, t2, t3] = texts;
        again(&DeviceCaps {
            device_type: n0, cellular_class: n1, voice_class: n2, sim_class: n3, data_class: n4, sms_caps: n5,
            control_caps: n6, max_sessions: n7, custom_data_class: t0.clone(), device_id: t1.clone(),
            firmware: t2.clone(), hardware: t3,
        });
        again(&SubscriberReady { state: n0, subscriber: t0.clone(), sim: t1.clone(), info: n1 });
        again(&RegisterState {
            state: n0, mode: n1, data_classes: n2, provider_id: t0.clone(), provider_name: t1.clone(),
        });
        again(&RadioState { hardware: n0, software: n1 });
        again(&PinState { kind: n0, state: n1, attempts: n2 });
        again(&HomeProvider { id: t0.clone(), state: n0, name: t1.clone() });
        again(&SignalState { rssi: n0, error_rate: n1, interval_s: n2, rssi_threshold: n3, error_rate_threshold: n4 });
        again(&PacketStatistics {
            in_discards: u64::from(n0), in_octets: rates.0, in_packets: rates.1, out_octets: rates.0,
            out_packets: rates.1, out_errors: u64::from(n1), out_discards: u64::from(n2),
        });
        again(&PacketService { state: n0, data_class: n1, uplink_bit_s: rates.0, downlink_bit_s: rates.1 });
        again(&Connection { session: n0, state: n1, ip_type: n2, context });
        again(&Activation {
            session: n0, command: n1, access_string: t0, user: t1, password: t2, compression: n2,
            authentication: n3, ip_type: n4, context,
        });
        again(&IpConfiguration { session: n0, addresses, gateway, name_servers, mtu });
        again(&DeviceServices { services });
    }

    #[test]
    fn any_bytes_end(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 1u8..8, device: bool) {
        let len = bytes.len() as u32;
        if bytes.len() >= 8 {
            bytes[..4].copy_from_slice(&[kind, 0, 0, if device { 0x80 } else { 0 }]);
            bytes[4..8].copy_from_slice(&len.to_le_bytes());
        }
        if let Ok((transaction, message)) = Message::parse(&bytes) {
            // What follows the fields is not part of the message as it is written.
            let again = message.emit(transaction);
            prop_assert_eq!(Message::parse(&again), Ok((transaction, message)));
        }
        let _ = (Activation::read(&bytes), DeviceCaps::read(&bytes), IpConfiguration::read(&bytes));
        let _ = (DeviceServices::read(&bytes), Connection::read(&bytes), SubscriberReady::read(&bytes));
        let _ = (RegisterState::read(&bytes), PacketService::read(&bytes), cid::CONNECT);
    }
}
