//! A device that waits for nothing but its host sleeps: whoever serves it would spin otherwise, and nothing else would run.

use proptest::prelude::*;
use vusb::air::{ChannelSettings, Response};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::device::Device;
use vusb::fault::{Faulty, Script};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

use crate::chip::{chip_on_air, down, ppdu, transmission, write, OWN};
use crate::host::{Echo, Host};

const MS: u64 = 1_000_000;

/// Rounds in which a device may say that it is due at once: something can come of what has just come.
const ROUNDS: usize = 3;

/// Whether time passes before the next event.
fn sleeps<D: Device>(host: &mut Host<D>) -> bool {
    (0..ROUNDS).any(|_| {
        host.completions();
        host.device.next_event().is_none_or(|at_ns| at_ns > host.now_ns)
    })
}

/// How many turns of its loop a server would make until `end_ns`.
fn turns<D: Device>(host: &mut Host<D>, end_ns: u64) -> u32 {
    let mut turns = 0;
    while let Some(at_ns) = host.device.next_event().filter(|&at_ns| at_ns <= end_ns && turns < 100_000) {
        host.now_ns = at_ns.max(host.now_ns);
        host.completions();
        turns += 1;
    }
    turns
}

#[test]
fn the_interrupt_endpoint_answers_every_microframe_at_most() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    let mut answers = 0;
    let end_ns = 10_000_000;
    host.read(4, 56, 0);
    while host.now_ns < end_ns {
        for (completion, data) in host.completions() {
            if let Completion::Submit { status: 0, .. } = completion {
                assert_eq!(data.len(), 56);
                answers += 1;
                host.read(4, 56, 0);
            }
        }
        host.now_ns = host.device.next_event().unwrap_or(0).max(host.now_ns + 1);
    }
    // 8,000 a second.
    assert!((79..=81).contains(&answers), "{answers}");
}

/// A driver that goes down takes its interrupt transfer back while it waits for the next microframe.
#[test]
fn an_interrupt_transfer_that_was_taken_back_is_not_waited_for() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    host.now_ns = 3 * MS;
    host.read(4, 56, 0);
    host.completions();
    let second = host.read(4, 56, 0);
    host.completions();
    assert_eq!(host.device.next_event(), Some(3_125_000));
    host.unlink(second);
    assert!(turns(&mut host, 1_000 * MS) < 10);
    host.read(4, 56, 0);
    assert_eq!(host.completions().len(), 1, "it answers the next one");
}

/// Frames of an aggregate that is not full wait for a host that does not read, also when their time is over.
#[test]
fn frames_that_nobody_fetches_are_not_waited_for() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    write(&mut host, reg::RXDMA_AGG_PG_TH, &[31, 4]);
    write(&mut host, reg::TRXDMA_CTRL, &[4]);
    far.0.borrow_mut().to_send.push((0, ppdu(vec![down(1, 1_000, OWN)], Response::Ack)));
    assert!(turns(&mut host, 1_000 * MS) < 20);
    host.now_ns = 1_000 * MS;
    host.read(1, 16_384, 0);
    assert_eq!(host.completions().len(), 1);
}

#[test]
fn faults_that_nobody_met_are_not_waited_for() {
    let script = "[[fault]]\nendpoint = 0\naction = \"nak\"\nfor_ms = 5\n\
                  [[fault]]\nfrom_ms = 10\nuntil_ms = 20\naction = \"disconnect\"\n";
    let mut host = Host::new(Faulty::new(Echo::default(), Script::parse(script).unwrap()));
    host.device.reset(0);
    let read = Setup { request_type: 0xc0, request: 5, value: 1, index: 0, length: 4 };
    let silent = host.submit_control(read);
    assert!(host.completions().is_empty());
    assert_eq!(host.device.next_event(), Some(5 * MS));
    host.unlink(silent);
    host.completions();
    // Nobody looked at the device while the second one would have struck.
    host.now_ns = 30 * MS;
    assert!(sleeps(&mut host));
    assert_eq!(host.device.next_event(), None);
    assert!(host.device.is_present(host.now_ns));
}

/// What a host may do.
#[derive(Clone, Debug)]
enum Deed {
    /// Writes a register that says what the chip does by itself.
    Register(u16, u32),
    Send(u32),
    Arrive,
    Read(u8),
    TakeBack,
    Wait(u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let register = prop::sample::select(vec![
        reg::CR,
        reg::TRXDMA_CTRL,
        reg::RXDMA_AGG_PG_TH,
        reg::TXPAUSE,
        reg::RXFLTMAP2,
        reg::EDCA_BE_PARAM,
        reg::SLOT,
        reg::RCR,
        reg::FPGA0_XA_LSSI_PARM,
    ]);
    let value = prop_oneof![any::<u32>(), Just(0), Just(0xff), Just(4)];
    let deed = prop_oneof![
        2 => (register, value).prop_map(|(register, value)| Deed::Register(register, value)),
        2 => any::<u32>().prop_map(Deed::Send),
        2 => Just(Deed::Arrive),
        2 => prop::sample::select(vec![1u8, 4]).prop_map(Deed::Read),
        1 => Just(Deed::TakeBack),
        2 => (0u64..20 * MS).prop_map(Deed::Wait),
    ];
    prop::collection::vec(deed, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever its host does and leaves undone, a chip with nothing to do sleeps.
    #[test]
    fn a_chip_sleeps_whatever_its_host_leaves_undone(deeds in deeds(), loss in 0.0f64..0.5) {
        let (mut host, far) = chip_on_air(ChannelSettings { loss, ..ChannelSettings::default() });
        write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
        let mut reads = Vec::new();
        for (at, deed) in (0u16..).zip(deeds) {
            match deed {
                Deed::Register(register, value) => write(&mut host, register, &value.to_le_bytes()),
                Deed::Send(flags) => {
                    host.write(3, &transmission(at, 200, &[(1, flags & 1 << 5), (4, 1 << 8), (5, flags % 20)]));
                }
                Deed::Arrive => {
                    let frame = ppdu(vec![down(at, 500, OWN)], Response::Ack);
                    far.0.borrow_mut().to_send.push((host.now_ns, frame));
                }
                Deed::Read(endpoint) => reads.push(host.read(endpoint, 4_096, 0)),
                Deed::TakeBack => {
                    for read in reads.drain(..) {
                        host.unlink(read);
                    }
                }
                Deed::Wait(ns) => {
                    let end_ns = host.now_ns + ns;
                    prop_assert!(turns(&mut host, end_ns) < 10_000);
                    host.now_ns = end_ns;
                }
            }
            prop_assert!(sleeps(&mut host), "due at {:?}, and it is {}", host.device.next_event(), host.now_ns);
        }
    }
}
