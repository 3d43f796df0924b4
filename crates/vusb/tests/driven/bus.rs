//! What a host sees of a device: packets, queues, stalls, babble, faults.

use crate::host::{Echo, Host};
use proptest::prelude::*;
use vusb::fault::{Faulty, Script};
use wire::usb::setup::Setup;
use wire::usb::usbip::{Completion, SHORT_NOT_OK};

const EPIPE: i32 = -32;
const EOVERFLOW: i32 = -75;
const ECONNRESET: i32 = -104;
const EREMOTEIO: i32 = -121;

fn submitted(sequence: u32, status: i32, actual: u32) -> Completion {
    Completion::Submit { sequence, status, actual }
}

#[test]
fn descriptors_are_cut_to_what_is_asked_for() {
    let mut host = Host::new(Echo::default());
    let get = |value, length| Setup { request_type: 0x80, request: 6, value, index: 0, length };
    let (status, data) = host.control(get(0x0100, 64), &[]);
    assert_eq!((status, data.len()), (0, 18));
    let (status, data) = host.control(get(0x0100, 8), &[]);
    assert_eq!((status, data), (0, host.device.identity.device[..8].to_vec()));
    // The string "vusb", and one that there is not.
    let (status, data) = host.control(get(0x0301, 255), &[]);
    assert_eq!((status, &data[..]), (0, &b"\x0a\x03v\0u\0s\0b\0"[..]));
    assert_eq!(host.control(get(0x0309, 255), &[]).0, EPIPE);
}

#[test]
fn configuration_and_halt() {
    let mut host = Host::new(Echo::default());
    let set = |request_type, request, value, index| Setup { request_type, request, value, index, length: 0 };
    let get = |request_type, request, index, length| Setup { request_type, request, value: 0, index, length };
    assert_eq!(host.control(set(0, 9, 1, 0), &[]).0, 0);
    assert_eq!(host.control(get(0x80, 8, 0, 1), &[]), (0, vec![1]));
    assert_eq!(host.control(set(0, 9, 7, 0), &[]).0, EPIPE);
    // A stalled endpoint stays halted, and its status says so, until the host clears it.
    host.device.stall_in = true;
    let first = host.read(1, 64, 0);
    assert_eq!(host.completions(), vec![(submitted(first, EPIPE, 0), vec![])]);
    host.device.stall_in = false;
    host.device.to_host.push_back(vec![1, 2, 3]);
    let second = host.read(1, 64, 0);
    assert_eq!(host.completions(), vec![(submitted(second, EPIPE, 0), vec![])]);
    assert_eq!(host.control(get(0x82, 0, 0x81, 2), &[]), (0, vec![1, 0]));
    assert_eq!(host.control(set(0x02, 1, 0, 0x81), &[]).0, 0);
    let third = host.read(1, 64, 0);
    assert_eq!(host.completions(), vec![(submitted(third, 0, 3), vec![1, 2, 3])]);
}

#[test]
fn reads_wait_and_complete_out_of_order() {
    let mut host = Host::new(Echo::default());
    let bulk = host.read(1, 512, 0);
    let interrupt = host.read(3, 16, 0);
    assert_eq!(host.completions(), vec![]);
    host.device.interrupts.push_back(vec![9]);
    assert_eq!(host.completions(), vec![(submitted(interrupt, 0, 1), vec![9])]);
    host.device.to_host.push_back(vec![7; 5]);
    assert_eq!(host.completions(), vec![(submitted(bulk, 0, 5), vec![7; 5])]);
}

#[test]
fn short_full_empty_and_babble() {
    let mut host = Host::new(Echo::default());
    // 512 bytes are a full packet: an empty one ends the transfer, for the next URB if the first is full.
    host.device.to_host.push_back(vec![1; 512]);
    let full = host.read(1, 512, 0);
    let empty = host.read(1, 512, 0);
    assert_eq!(host.completions(), vec![(submitted(full, 0, 512), vec![1; 512]), (submitted(empty, 0, 0), vec![])]);
    // With room it ends in the same URB.
    host.device.to_host.push_back(vec![2; 512]);
    let roomy = host.read(1, 600, 0);
    assert_eq!(host.completions(), vec![(submitted(roomy, 0, 512), vec![2; 512])]);
    // A packet that does not fit is babble; a transfer that ends early is an error only if the driver says so.
    host.device.to_host.push_back(vec![3; 700]);
    let babble = host.read(1, 600, 0);
    assert_eq!(host.completions(), vec![(submitted(babble, EOVERFLOW, 600), vec![3; 600])]);
    host.device.to_host.push_back(vec![4; 10]);
    let short = host.read(1, 20, SHORT_NOT_OK);
    assert_eq!(host.completions(), vec![(submitted(short, EREMOTEIO, 10), vec![4; 10])]);
    // A transfer longer than a buffer of whole packets goes on in the next.
    host.device.to_host.push_back(vec![5; 1_100]);
    let (first, second) = (host.read(1, 1_024, 0), host.read(1, 1_024, 0));
    assert_eq!(
        host.completions(),
        vec![(submitted(first, 0, 1_024), vec![5; 1_024]), (submitted(second, 0, 76), vec![5; 76])]
    );
}

#[test]
fn unlinks() {
    let mut host = Host::new(Echo::default());
    let (first, second) = (host.read(1, 64, 0), host.read(1, 64, 0));
    let unlink = host.unlink(first);
    assert_eq!(host.completions(), vec![(Completion::Unlink { sequence: unlink, status: ECONNRESET }, vec![])]);
    // Twice, and what never was.
    let again = host.unlink(first);
    let unknown = host.unlink(4_711);
    let gone = |sequence| (Completion::Unlink { sequence, status: 0 }, vec![]);
    assert_eq!(host.completions(), vec![gone(again), gone(unknown)]);
    host.device.to_host.push_back(vec![1]);
    assert_eq!(host.completions(), vec![(submitted(second, 0, 1), vec![1])]);
}

#[test]
fn writes_wait_for_room() {
    let mut host = Host::new(Echo::default());
    host.device.room = 1;
    let (first, second) = (host.write(2, &[1; 1_500]), host.write(2, &[2]));
    assert_eq!(host.completions(), vec![(submitted(first, 0, 1_500), vec![])]);
    host.device.room = 1;
    assert_eq!(host.completions(), vec![(submitted(second, 0, 1), vec![])]);
    assert_eq!(host.device.from_host, vec![vec![1; 1_500], vec![2]]);
    // No such endpoint.
    let missing = host.write(9, &[1]);
    assert_eq!(host.completions(), vec![(submitted(missing, -2, 0), vec![])]);
}

#[test]
fn a_malicious_host_is_let_go_of() {
    let mut host = Host::new(Echo::default());
    assert!(host.receive(&[0xff; 48]).is_err());
    let mut host = Host::new(Echo::default());
    let huge = host.submit_header(2, false, u32::MAX);
    assert!(host.receive(&huge).is_err());
    let mut host = Host::new(Echo::default());
    let error = (0..100_000).find_map(|_| {
        let read = host.submit_header(1, true, 64);
        host.receive(&read).err()
    });
    assert!(error.is_some(), "URBs without bound");
}

fn faulty(script: &str) -> Host<Faulty<Echo>> {
    Host::new(Faulty::new(Echo::default(), Script::parse(script).unwrap()))
}

#[test]
fn faults_strike_when_the_script_says() {
    let mut host = faulty(
        "[[fault]]\nendpoint = 0\nregister = 0x1c00\ndirection = \"out\"\nnth = 2\ntimes = 2\naction = \"stall\"\n\
         [[fault]]\nendpoint = 0\nregister = 0x0eac\ndirection = \"in\"\naction = \"corrupt\"\nor = 0x08000000\n\
         [[fault]]\nendpoint = 2\nnth = 2\ntimes = 1\naction = \"nak\"\nfor_ms = 5\n",
    );
    let write = Setup { request_type: 0x40, request: 5, value: 0x1c00, index: 0, length: 2 };
    let statuses: Vec<_> = (0..4).map(|_| host.control(write, &[1, 2]).0).collect();
    assert_eq!(statuses, [0, EPIPE, EPIPE, 0]);
    let other = Setup { value: 0x1c04, ..write };
    assert_eq!(host.control(other, &[1, 2]).0, 0);
    let read = Setup { request_type: 0xc0, request: 5, value: 0x0eac, index: 0, length: 4 };
    assert_eq!(host.control(read, &[]), (0, vec![0, 0, 0, 0x08]));
    let (first, second) = (host.write(2, &[1]), host.write(2, &[2]));
    assert_eq!(host.completions(), vec![(submitted(first, 0, 1), vec![])]);
    host.now_ns += 6_000_000;
    assert_eq!(host.completions(), vec![(submitted(second, 0, 1), vec![])]);
}

#[test]
fn faults_of_the_whole_device_come_by_time() {
    use vusb::device::Device;
    let mut host = faulty("[[fault]]\nfrom_ms = 10\nfor_ms = 20\naction = \"disconnect\"\n");
    // The clock does not begin with the device.
    let plugged_ns = 3_600_000_000_000;
    assert_eq!(host.device.next_event(), None);
    host.device.reset(plugged_ns);
    assert_eq!(host.device.next_event(), Some(plugged_ns + 10_000_000));
    let mut present = Vec::new();
    for ms in [0, 9, 10, 29, 30, 31] {
        host.now_ns = plugged_ns + ms * 1_000_000;
        host.completions();
        present.push(host.device.is_present(host.now_ns));
    }
    assert_eq!(present, [true, true, false, false, true, true]);
}

#[test]
fn a_fault_that_the_device_does_not_have_did_not_strike() {
    use vusb::device::Device;
    let mut host = faulty(
        "[[fault]]\nfrom_ms = 1\nfor_ms = 5\naction = \"lost_c2h\"\n\
         [[fault]]\nendpoint = 0\nregister = 0x1c00\ndirection = \"out\"\naction = \"firmware_hang\"\n\
         [[fault]]\nname = \"refused\"\nendpoint = 0\nregister = 0x1c00\ndirection = \"out\"\ntimes = 1\naction = \"stall\"\n\
         [[fault]]\nname = \"away\"\nfrom_ms = 2\naction = \"disconnect\"\n",
    );
    host.device.reset(0);
    let write = Setup { request_type: 0x40, request: 5, value: 0x1c00, index: 0, length: 2 };
    assert_eq!(host.control(write, &[1, 2]).0, EPIPE, "what it lacks hides nothing");
    assert_eq!(host.control(write, &[1, 2]).0, 0, "it is answered as always");
    for ms in 1..20 {
        host.device.advance(ms * 1_000_000);
    }
    let mut events = Vec::new();
    host.device.fault_events(&mut events);
    let names: Vec<_> = events.iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(names, ["refused", "away"]);
}

proptest! {
    /// Whatever the device sends arrives, in order, whole: split into URBs of any size of whole packets.
    #[test]
    fn transfers_arrive_whole(
        transfers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_000), 1..8),
        packets in 1u32..4,
    ) {
        let mut host = Host::new(Echo::default());
        let sent: Vec<u8> = transfers.concat();
        host.device.to_host.extend(transfers);
        let mut arrived = Vec::new();
        for _ in 0..64 {
            host.read(1, packets * 512, 0);
            for (completion, data) in host.completions() {
                if let Completion::Submit { status, actual, .. } = completion {
                    prop_assert_eq!((status, actual as usize), (0, data.len()));
                }
                arrived.extend(data);
            }
        }
        prop_assert_eq!(arrived, sent);
    }

    /// However the bytes of the host are cut, the answers are the same.
    #[test]
    fn messages_may_come_in_pieces(cuts in prop::collection::vec(1usize..200, 1..40)) {
        let run = |cuts: &[usize]| {
            let mut host = Host::new(Echo::default());
            host.device.to_host.extend([vec![1; 700], vec![2; 3]]);
            let mut bytes = Vec::new();
            for message in [
                host.submit_header(1, true, 1_024).to_vec(),
                [host.submit_header(2, false, 300).to_vec(), vec![7; 300]].concat(),
                host.submit_header(1, true, 512).to_vec(),
                host.submit_header(3, true, 8).to_vec(),
            ] {
                bytes.extend(message);
            }
            let mut rest = &bytes[..];
            let mut cuts = cuts.iter().cycle();
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                host.receive(now).unwrap();
                rest = later;
            }
            let completions = host.completions();
            (completions, host.device.from_host.clone())
        };
        prop_assert_eq!(run(&cuts), run(&[10_000]));
    }

    /// Garbage ends the session, or does nothing; it never breaks anything.
    #[test]
    fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), command in 0u8..4) {
        let mut host = Host::new(Echo::default());
        let mut bytes = bytes;
        if let Some(header) = bytes.first_chunk_mut::<20>() {
            header[..4].copy_from_slice(&[0, 0, 0, command]);
            header[12..19].fill(0);
            header[15] = command & 1;
            header[19] &= 15;
        }
        let _ = host.receive(&bytes);
        host.completions();
    }
}

/// What a host asks for and does not take is not kept without bound, and comes when it takes some.
#[test]
fn a_host_that_does_not_read_is_given_no_more() {
    const LEN: usize = (1 << 20) - 1;
    let mut host = Host::new(Echo::default());
    host.device.to_host.extend((0..20u8).map(|number| vec![number; LEN]));
    for _ in 0..20 {
        host.read(1, LEN as u32, 0);
    }
    let first = host.completions();
    assert_eq!((first.len(), host.device.asked), (8, 8));
    let all = [first, host.completions(), host.completions()].concat();
    assert!(all.iter().enumerate().all(|(at, (_, data))| data.len() == LEN && usize::from(data[0]) == at));
    assert_eq!(all.len(), 20);
    // The same for control transfers.
    let setup = Setup { request_type: 0xc0, request: 5, value: 0, index: 0, length: u16::MAX };
    for _ in 0..300 {
        host.ask(setup);
    }
    let counts: Vec<usize> = (0..4).map(|_| host.completions().len()).collect();
    assert_eq!(counts, [128, 128, 44, 0]);
}

#[test]
fn nothing_is_asked_of_endpoints_that_nobody_reads() {
    let mut host = Host::new(Echo::default());
    host.device.to_host.push_back(vec![1]);
    host.completions();
    assert_eq!(host.device.asked, 0);
}
