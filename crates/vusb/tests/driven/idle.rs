//! A device that waits for nothing but its host sleeps: the server loop would spin otherwise, and nothing else would run.

use vusb::air::{ChannelSettings, Response};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::device::Device;
use wire::usb::usbip::Completion;

use crate::chip::{chip_on_air, down, ppdu, write, OWN};
use crate::host::Host;

const MS: u64 = 1_000_000;

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
