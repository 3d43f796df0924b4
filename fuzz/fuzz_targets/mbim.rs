//! A host that sends anything to a virtual MBIM function, over its control and its data endpoints: it is answered or not,
//! what waits for the host is bounded, and what it sends can be read. Also the messages by themselves.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vusb::device::{ControlReply, Device, InReply};
use vusb::functions::mbim::{Connect, Mbim, MbimSettings};
use vusb::wired::WiredQueues;
use wire::usb::mbim::basic_connect::{Activation, DeviceCaps, DeviceServices, Fields, IpConfiguration};
use wire::usb::mbim::{Message, Operation};
use wire::usb::ntb::{parse, Header};
use wire::usb::setup::Setup;

const OUT: Setup = Setup { request_type: 0x21, request: 0, value: 0, index: 0, length: 0 };
const IN: Setup = Setup { request_type: 0xa1, request: 1, value: 0, index: 0, length: 4_096 };
/// Messages that wait at most.
const WAITING_MAX: usize = 64;

fuzz_target!(|data: &[u8]| {
    let wired = WiredQueues::default();
    let settings = MbimSettings { connect: Connect::Negotiated, wide: true, ..MbimSettings::default() };
    let Ok(mut function) = Mbim::new(settings, wired.clone()) else { return };
    function.reset(0);
    function.control(0, OUT, &Message::Open { max_transfer: 4_096 }.emit(1));
    let (mut now_ns, mut transfer) = (0, Vec::new());
    // The first two bytes of each piece say what happens to it and how long it is.
    let mut rest = data;
    while let [kind, len, after @ ..] = rest {
        let (piece, later) = after.split_at(usize::from(*len).min(after.len()));
        now_ns += 1_000_000;
        match kind & 7 {
            0 | 1 => {
                alone(piece);
                function.control(now_ns, OUT, piece);
            }
            2 | 3 => {
                // A command of Basic Connect, with any information buffer.
                let command = wire::usb::mbim::basic_connect::command(u32::from(kind >> 3));
                let operation = if kind & 1 == 0 { Operation::Query } else { Operation::Set };
                let whole = Message::Command { fragment: (1, 0), command, operation, buffer: piece };
                function.control(now_ns, OUT, &whole.emit(2));
            }
            4 => {
                let ControlReply::Data(answer) = function.control(now_ns, IN, &[]) else {
                    panic!("no answer to a fetch")
                };
                assert!(answer.is_empty() || Message::parse(&answer).is_ok());
            }
            5 => {
                function.transfer_out(now_ns, 3, piece);
                let [request, value, ..] = piece else { break };
                let setup = Setup { request: *request, value: u16::from(*value & 1), ..OUT };
                function.control(now_ns, setup, piece);
            }
            6 => wired.to_host.borrow_mut().push_back(piece.to_vec()),
            _ => {
                function.advance(now_ns);
                transfer.clear();
                if function.transfer_in(now_ns, 2, &mut transfer) == InReply::Transfer {
                    let header = Header::parse(&transfer).unwrap();
                    assert_eq!(parse(&header, &transfer, transfer.len()).faults, []);
                }
            }
        }
        wired.from_host.borrow_mut().clear();
        rest = later;
    }
    let waiting = (0..=WAITING_MAX).take_while(|_| function.control(now_ns, IN, &[]) != ControlReply::Data(Vec::new()));
    assert!(waiting.count() <= WAITING_MAX);
});

/// The message by itself, as any reader may see it.
fn alone(bytes: &[u8]) {
    let Ok((transaction, message)) = Message::parse(bytes) else { return };
    assert_eq!(Message::parse(&message.emit(transaction)), Ok((transaction, message)));
    if let Message::Command { buffer, .. } | Message::CommandDone { buffer, .. } = message {
        if let Ok(fields) = Activation::read(buffer) {
            assert_eq!(Activation::read(&fields.write()), Ok(fields));
        }
        let _ = (DeviceCaps::read(buffer), IpConfiguration::read(buffer), DeviceServices::read(buffer));
    }
}
