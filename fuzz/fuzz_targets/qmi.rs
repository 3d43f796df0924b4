//! A host that sends anything to a virtual QMI modem, over its control and its data endpoints: it is answered or not, what
//! waits for the host is bounded, and power off and on brings a crashed modem back. Also the messages by themselves.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vusb::device::{ControlReply, Device, Effect, InReply};
use vusb::functions::qmi_modem::{Framing, ModemSettings, QmiModem};
use vusb::wired::WiredQueues;
use wire::usb::qmi::qmux::Message;
use wire::usb::qmi::{ctl, dms, nas, read_outcome, wda, wds, Fields};
use wire::usb::setup::Setup;

const OUT: Setup = Setup { request_type: 0x21, request: 0, value: 0, index: 4, length: 0 };
const DTR: Setup = Setup { request: 0x22, value: 1, ..OUT };
const IN: Setup = Setup { request_type: 0xa1, request: 1, value: 0, index: 4, length: 4_096 };
/// Messages that wait at most.
const WAITING_MAX: usize = 64;

fuzz_target!(|data: &[u8]| {
    let wired = WiredQueues::default();
    let settings = ModemSettings { framing: Framing::Negotiated, transfer_cost_us: 0, ..ModemSettings::default() };
    let Ok(mut modem) = QmiModem::new(settings, wired.clone()) else { return };
    modem.reset(0);
    modem.control(0, DTR, &[]);
    let (mut now_ns, mut transfer) = (0, Vec::new());
    // The first two bytes of each piece say what happens to it and how long it is.
    let mut rest = data;
    while let [kind, len, after @ ..] = rest {
        let (piece, later) = after.split_at(usize::from(*len).min(after.len()));
        now_ns += 1_000_000;
        match kind & 7 {
            0..=3 => {
                alone(piece);
                modem.control(now_ns, OUT, piece);
            }
            4 => {
                let ControlReply::Data(answer) = modem.control(now_ns, IN, &[]) else { panic!("no answer to a fetch") };
                if !answer.is_empty() {
                    let message = Message::parse(&answer, answer.len()).unwrap().unwrap();
                    assert!(message.tlvs.check().is_ok());
                }
            }
            5 => {
                // Long aggregates come from short pieces.
                let whole = piece.repeat(1 + usize::from(*kind >> 3));
                modem.transfer_out(now_ns, 5, &whole);
                modem.advance(now_ns);
            }
            6 => wired.to_host.borrow_mut().push_back(piece.to_vec()),
            _ => {
                modem.advance(now_ns);
                transfer.clear();
                if modem.transfer_in(now_ns + 20_000_000, 8, &mut transfer) == InReply::Transfer {
                    assert!(!transfer.is_empty() && transfer.len() <= 65_536 + 16);
                }
            }
        }
        if modem.crash().is_some() {
            assert!(!modem.is_present(now_ns));
            modem.inject(now_ns, Effect::Unplug(1));
            modem.control(now_ns, DTR, &[]);
        }
        wired.from_host.borrow_mut().clear();
        rest = later;
    }
    let waiting = (0..=WAITING_MAX).take_while(|_| modem.control(now_ns, IN, &[]) != ControlReply::Data(Vec::new()));
    assert!(waiting.count() <= WAITING_MAX);
});

/// The message by itself, as any reader may see it.
fn alone(bytes: &[u8]) {
    let Ok(Some(message)) = Message::parse(bytes, bytes.len()) else { return };
    let tlvs = message.tlvs;
    if let Ok(request) = wda::Request::read(&tlvs) {
        let mut again = wire::usb::qmi::tlv::Writer::default();
        request.write(&mut again);
        let again = wire::usb::qmi::tlv::Tlvs::new(again.bytes(), again.bytes().len(), 0);
        assert_eq!(wda::Request::read(&again), Ok(request));
    }
    let _ = (read_outcome::<wda::Answer>(&tlvs), read_outcome::<ctl::VersionInfo>(&tlvs));
    let _ = (read_outcome::<dms::Capabilities>(&tlvs), read_outcome::<nas::ServingSystem>(&tlvs));
    let _ = (read_outcome::<wds::CurrentSettings>(&tlvs), wds::StartNetwork::read(&tlvs), wds::BindMux::read(&tlvs));
}
