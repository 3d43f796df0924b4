//! Network functions as a host drives them.

use crate::host::Host;
use proptest::prelude::*;
use vusb::device::Device;
use vusb::functions::ecm::Ecm;
use vusb::functions::ncm::{Ncm, NcmSettings, Posing};
use vusb::functions::qmi_modem::{Framing, ModemSettings, QmiModem};
use vusb::functions::Aggregation;
use vusb::wired::WiredQueues;
use wire::usb::descriptors::{configuration, is_whole_configuration, Part};
use wire::usb::ntb::{parse, Builder, Header, Width};
use wire::usb::qmap::{self, Checksums, Walk};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

const SET_NTB_FORMAT: Setup = Setup { request_type: 0x21, request: 0x84, value: 1, index: 0, length: 0 };
const GET_NTB_PARAMETERS: Setup = Setup { request_type: 0xa1, request: 0x80, value: 0, index: 0, length: 28 };

fn ncm(settings: NcmSettings) -> (Host<Ncm<WiredQueues>>, WiredQueues) {
    let wired = WiredQueues::default();
    let mut host = Host::new(Ncm::new(settings, wired.clone()).unwrap());
    host.device.reset(0);
    let (status, parameters) = host.control(GET_NTB_PARAMETERS, &[]);
    assert_eq!((status, parameters.len(), parameters[0]), (0, 28, 28));
    assert_eq!(parameters[4..8], settings.in_max.to_le_bytes());
    assert_eq!(parameters[16..20], settings.out_max.to_le_bytes());
    let status = host.control(SET_NTB_FORMAT, &[]).0;
    assert_eq!(status == 0, settings.wide);
    for expected in [0x2a, 0] {
        host.read(1, 64, 0);
        let (_, notification) = host.completions().pop().unwrap();
        assert_eq!(notification[..2], [0xa1, expected]);
    }
    let first = host.read(2, settings.in_max, 0);
    assert_eq!(host.completions(), []);
    host.unlink(first);
    host.completions();
    (host, wired)
}

fn modem(settings: ModemSettings) -> (Host<QmiModem<WiredQueues>>, WiredQueues) {
    let wired = WiredQueues::default();
    (Host::new(QmiModem::new(settings, wired.clone()).unwrap()), wired)
}

/// An IPv4 packet of `len` bytes that differs from others.
fn packet(number: usize, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x45; len];
    bytes[1..].iter_mut().zip(number.to_le_bytes()).for_each(|(byte, n)| *byte = n);
    bytes
}

/// A transfer of QMAP, version 1.
pub fn aggregate(packets: &[Vec<u8>], mux_id: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        let header = qmap::Header::for_datagram(mux_id, packet.len()).unwrap();
        bytes.extend(header.to_bytes());
        bytes.extend(packet);
        bytes.resize(bytes.len() + usize::from(header.padding), 0);
    }
    bytes
}

/// Lets time pass from event to event until nothing happens any more; gives completions with their times.
fn run<D: Device>(host: &mut Host<D>) -> Vec<(u64, Completion, Vec<u8>)> {
    let mut all = Vec::new();
    for _ in 0..100_000 {
        let now_ns = host.now_ns;
        all.extend(host.completions().into_iter().map(|(completion, data)| (now_ns, completion, data)));
        let Some(next_ns) = host.device.next_event() else { return all };
        assert!(next_ns > host.now_ns, "an event of the past would spin");
        host.now_ns = next_ns;
    }
    panic!("time does not end");
}

#[test]
fn descriptors_are_whole() {
    let (ncm, _) = ncm(NcmSettings::default());
    let (modem, _) = modem(ModemSettings::default());
    for (identity, endpoints) in
        [(ncm.device.identity(), [0x81, 0x82, 0x03]), (modem.device.identity(), [0x89, 0x88, 0x05])]
    {
        assert!(is_whole_configuration(&identity.configuration));
        let parts = configuration(&identity.configuration).unwrap();
        let found: Vec<u8> =
            parts.filter_map(|p| if let Part::Endpoint { address, .. } = p { Some(address.0) } else { None }).collect();
        assert_eq!(found, endpoints);
        assert!(identity.strings.iter().all(|string| !string.is_empty()));
    }
}

#[test]
fn frames_of_a_block_reach_the_wired_end() {
    let (mut host, wired) = ncm(NcmSettings::default());
    let mut block = Builder::new(*b"NCM0");
    let frames = [vec![1; 60], vec![2; 1_514], vec![3; 61]];
    frames.iter().for_each(|frame| block.push(frame));
    let bytes = block.finish(0).unwrap();
    let sequence = host.write(3, &bytes);
    let done = Completion::Submit { sequence, status: 0, actual: bytes.len() as u32 };
    assert_eq!(host.completions(), [(done, vec![])]);
    assert_eq!(*wired.from_host.borrow(), frames);
    let up = &host.device.counters().uplink;
    assert_eq!((up.blocks, up.datagrams, up.datagram_bytes), (1, 3, 60 + 1_514 + 61));
    assert_eq!((up.block_bytes, &up.histogram[..]), (bytes.len() as u64, &[0, 0, 0, 1][..]));
    // The same number again: one block was lost or repeated.
    host.write(3, &bytes);
    host.completions();
    assert_eq!(host.device.counters().out_of_sequence, 1);
}

#[test]
fn before_the_host_reads_frames_are_dropped() {
    let wired = WiredQueues::default();
    let mut host = Host::new(Ncm::new(NcmSettings::default(), wired.clone()).unwrap());
    wired.to_host.borrow_mut().push_back(vec![0; 60]);
    host.read(2, 16_384, 0);
    assert_eq!(host.completions(), []);
    assert_eq!(host.device.counters().dropped, 1);
}

#[test]
fn input_size_is_what_the_host_sets() {
    let (mut host, wired) = ncm(NcmSettings::default());
    let set = Setup { request_type: 0x21, request: 0x86, value: 0, index: 0, length: 4 };
    assert_ne!(host.control(set, &100_000u32.to_le_bytes()).0, 0);
    assert_eq!(host.control(set, &4_096u32.to_le_bytes()).0, 0);
    let get = Setup { request_type: 0xa1, request: 0x85, ..set };
    assert_eq!(host.control(get, &[]), (0, vec![0, 16, 0, 0]));
    (0..10).for_each(|_| wired.to_host.borrow_mut().push_back(vec![7; 1_000]));
    (0..10).for_each(|_| _ = host.read(2, 4_096, 0));
    let lengths: Vec<usize> = host.completions().iter().map(|(_, data)| data.len()).collect();
    assert_eq!(lengths.len(), 3);
    assert!(lengths.iter().all(|&len| len < 4_096));
}

#[test]
fn ecm_carries_one_frame_in_each_transfer() {
    let wired = WiredQueues::default();
    let mut host = Host::new(Ecm::new(wired.clone()));
    host.device.reset(0);
    assert!(is_whole_configuration(&host.device.identity().configuration));
    wired.to_host.borrow_mut().push_back(vec![1; 60]);
    let first = host.read(2, 1_514, 0);
    assert_eq!((host.completions(), host.device.counters().dropped), (vec![], 1), "it came before the host read");
    host.unlink(first);
    host.completions();
    let frames = [vec![1; 60], vec![2; 1_514], vec![3; 512]];
    wired.to_host.borrow_mut().extend(frames.iter().cloned());
    wired.to_host.borrow_mut().push_back(vec![0; 1_515]);
    (0..4).for_each(|_| _ = host.read(2, 2_048, 0));
    let read: Vec<_> = host.completions().into_iter().map(|(_, data)| data).collect();
    assert_eq!(read, frames);
    for frame in &frames {
        host.write(3, frame);
    }
    host.write(3, &[]);
    host.write(3, &[0; 1_516]);
    assert_eq!(host.completions().len(), 5);
    assert_eq!(*wired.from_host.borrow(), frames);
    let counted = host.device.counters();
    assert_eq!((counted.uplink.frames, counted.uplink.bytes), (3, 60 + 1_514 + 512));
    assert_eq!((counted.downlink, counted.too_long, counted.dropped), (counted.uplink, 1, 2));
    let filter = Setup { request_type: 0x21, request: 0x43, value: 0xc, index: 0, length: 0 };
    assert_eq!(host.control(filter, &[]).0, 0);
    assert_ne!(host.control(Setup { request: 0x84, ..filter }, &[]).0, 0);
}

#[test]
fn one_engine_takes_transfers_at_its_cost() {
    for (datagrams, cost) in [(1, 190), (16, 190), (1, 0)] {
        let settings =
            ModemSettings { transfer_cost_us: cost, uplink_buffer_us: 1_000_000, ..ModemSettings::default() };
        let (mut host, wired) = modem(settings);
        let packets: Vec<_> = (0..datagrams).map(|number| packet(number, 100)).collect();
        (0..20).for_each(|_| _ = host.write(5, &aggregate(&packets, 1)));
        let done = run(&mut host);
        let expected: Vec<u64> = (1..=20).map(|number| number * cost * 1_000).collect();
        assert_eq!(done.iter().map(|(at_ns, ..)| *at_ns).collect::<Vec<_>>(), expected);
        assert_eq!(wired.from_host.borrow().len(), 20 * datagrams);
        let counters = host.device.counters();
        assert_eq!((counters.uplink.transfers, counters.engine_busy_ns), (20, 20 * cost * 1_000));
    }
}

#[test]
fn a_full_radio_holds_transfers_back_at_its_rate() {
    // 1,000 packets of 1,250 bytes at 50 Mbit/s are 200 ms; 10 ms of them may wait in the modem.
    let (mut host, wired) = modem(ModemSettings { transfer_cost_us: 0, ..ModemSettings::default() });
    (0..1_000).for_each(|number| _ = host.write(5, &aggregate(&[packet(number, 1_250)], 1)));
    let done = run(&mut host);
    assert_eq!((done.len(), wired.from_host.borrow().len()), (1_000, 1_000));
    let last_ns = done.last().unwrap().0;
    assert!((189_000_000..=190_000_000).contains(&last_ns), "{last_ns}");
    // The last packet leaves 200 ms after the first began, and is under way for 5 ms.
    assert_eq!(host.now_ns, 205_000_000);
    assert_eq!(host.device.counters().uplink.dropped, 0);
}

/// 1,000 packets of 1,250 bytes are 10 Mbit: 67 ms at 150 Mbit/s, 200 ms at 50.
#[test]
fn a_downlink_that_wanders_stays_between_its_bounds() {
    let duration_ms = |least, seed| {
        let (downlink_queue, downlink_wander_percent) = (2_000, 50.0);
        let default = ModemSettings::default();
        let settings =
            ModemSettings { downlink_least_mbit_s: least, downlink_wander_percent, seed, downlink_queue, ..default };
        let (mut host, wired) = modem(settings);
        wired.to_host.borrow_mut().extend((0..1_000).map(|number| packet(number, 1_250)));
        (0..1_000).for_each(|_| _ = host.read(8, 16_384, 0));
        run(&mut host);
        assert_eq!(host.device.counters().downlink.datagrams, 1_000);
        // The way through the radio, and what the last transfer waits for more.
        (host.now_ns - 6_000_000) / 1_000_000
    };
    let steady = duration_ms(None, 1);
    assert!((66..=67).contains(&steady) && duration_ms(None, 2) == steady, "{steady}");
    let wandering: Vec<u64> = (1..=20).map(|seed| duration_ms(Some(50.0), seed)).collect();
    assert!(wandering.iter().all(|duration| (66..=201).contains(duration)), "{wandering:?}");
    assert!(wandering.iter().min() < Some(&100) && wandering.iter().max() > Some(&105), "{wandering:?}");
    assert_eq!(wandering[0], duration_ms(Some(50.0), 1), "a seed stands for the same rates");
}

#[test]
fn commands_other_connections_and_faults_are_counted_only() {
    let (mut host, wired) = modem(ModemSettings::default());
    let mut bytes =
        qmap::Header { is_command: true, has_next: false, padding: 0, mux_id: 1, length: 4 }.to_bytes().to_vec();
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(aggregate(&[packet(1, 40)], 2));
    bytes.extend(aggregate(&[packet(2, 40)], 1));
    bytes.extend([0, 1, 0xff, 0xff]);
    host.write(5, &bytes);
    run(&mut host);
    assert_eq!(*wired.from_host.borrow(), [packet(2, 40)]);
    let counters = host.device.counters();
    assert_eq!((counters.commands, counters.other_connections, counters.faults), (1, 1, 1));
    assert_eq!(counters.uplink.datagrams, 1);
}

#[test]
fn raw_ip_is_one_packet_each() {
    let (mut host, wired) = modem(ModemSettings { framing: Framing::RawIp, ..ModemSettings::default() });
    let packets: Vec<_> = (0..5).map(|number| packet(number, 200 + number)).collect();
    wired.to_host.borrow_mut().extend(packets.iter().cloned());
    wired.to_host.borrow_mut().push_back(vec![0; 20]);
    (0..10).for_each(|_| _ = host.read(8, 1_514, 0));
    let read: Vec<_> = run(&mut host).into_iter().map(|(.., data)| data).collect();
    assert_eq!(read, packets);
    assert_eq!(host.device.counters().not_ip, 1);
    host.write(5, &packets[0]);
    run(&mut host);
    assert_eq!(*wired.from_host.borrow(), packets[..1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_frame_for_the_host_is_in_one_block(
        lengths in prop::collection::vec(14usize..1_515, 1..120), wide: bool, datagrams in 1usize..50,
        in_max in prop::sample::select(vec![2_048u32, 4_096, 16_384, 65_536]),
    ) {
        let posing = if wide { Posing::Huawei } else { Posing::Standard };
        let to_host = Aggregation { datagrams, bytes: 1 << 20, hold_ns: 0 };
        let (mut host, wired) = ncm(NcmSettings { posing, wide, in_max, to_host, ..NcmSettings::default() });
        let frames: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(at, &len)| packet(at, len)).collect();
        wired.to_host.borrow_mut().extend(frames.iter().cloned());
        let mut found = Vec::new();
        let mut blocks = 0;
        (0..lengths.len()).for_each(|_| _ = host.read(2, in_max, 0));
        // The wired end is read in portions.
        for _ in 0..4 {
            for (completion, data) in host.completions() {
                let ended = matches!(completion, Completion::Submit { status: 0, .. });
                prop_assert!(ended);
                prop_assert!(data.len() < in_max as usize && data.len() % 512 != 0);
                let header = Header::parse(&data).unwrap();
                prop_assert_eq!(usize::from(header.sequence), blocks);
                prop_assert_eq!(header.width, if wide { Width::Bits32 } else { Width::Bits16 });
                blocks += 1;
                let block = parse(&header, &data, data.len());
                prop_assert_eq!(&block.faults, &[]);
                prop_assert!(block.datagrams.len() <= datagrams);
                found.extend(block.datagrams.iter().map(|d| data[d.offset..d.offset + d.len].to_vec()));
            }
        }
        let counters = host.device.counters();
        prop_assert_eq!(found.len() as u64 + counters.dropped, frames.len() as u64);
        prop_assert_eq!(counters.downlink.datagrams, found.len() as u64);
        if counters.dropped == 0 {
            prop_assert_eq!(found, frames);
        }
    }

    #[test]
    fn every_packet_for_the_host_is_in_one_transfer(
        // As many as are read at once: later ones would find the radio idle for a while.
        lengths in prop::collection::vec(20usize..1_501, 1..64), datagrams in 1usize..40, bytes in 1usize..16_384,
        hold_us in 0u64..3_000,
    ) {
        let to_host = Aggregation { datagrams, bytes, hold_ns: hold_us * 1_000 };
        let (mut host, wired) = modem(ModemSettings { to_host, ..ModemSettings::default() });
        let packets: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(at, &len)| packet(at, len)).collect();
        wired.to_host.borrow_mut().extend(packets.iter().cloned());
        (0..lengths.len()).for_each(|_| _ = host.read(8, 16_384, 0));
        let mut found = Vec::new();
        for (_, completion, data) in run(&mut host) {
            let ended = matches!(completion, Completion::Submit { status: 0, .. });
                prop_assert!(ended);
            let items: Result<Vec<_>, _> = Walk::new(&data, data.len(), Checksums::None).collect();
            let items = items.unwrap();
            prop_assert!(items.len() <= datagrams && (items.len() == 1 || data.len() <= bytes));
            found.extend(items.iter().map(|item| item.payload.to_vec()));
        }
        prop_assert_eq!(found, packets);
        // No packet is faster than the radio, nor later than it and the time of holding.
        let radio_ns: f64 = lengths.iter().map(|&len| len as f64 * 8_000.0 / 150.0).sum();
        let least = radio_ns as u64 + 5_000_000 - lengths.len() as u64;
        prop_assert!(host.now_ns >= least && host.now_ns <= least + hold_us * 1_000 + lengths.len() as u64);
    }

    #[test]
    fn any_transfer_is_taken_or_counted(bytes in prop::collection::vec(any::<u8>(), 0..3_000), signed: bool) {
        let mut bytes = bytes;
        if signed && bytes.len() > 12 {
            bytes[..6].copy_from_slice(b"NCMH\x0c\0");
        }
        let (mut host, _) = ncm(NcmSettings::default());
        host.write(3, &bytes);
        prop_assert_eq!(host.completions().len(), 1);
        let (mut host, _) = modem(ModemSettings::default());
        host.write(5, &bytes);
        prop_assert_eq!(run(&mut host).len(), 1);
    }
}
