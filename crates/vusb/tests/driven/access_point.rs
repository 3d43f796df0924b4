//! The MT7610U as the access point of stations: beacons, frames to the one that they are for, airtime by station.

use std::cell::RefCell;
use std::rc::Rc;

use crate::chip::{run, Air, FarEnd};
use crate::host::Host;
use vusb::air::{ChannelSettings, LinkSignal, Medium, Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};
use vusb::chips::mt7610u::registers as reg;
use vusb::chips::mt7610u::{Model, Mt7610u, Settings};
use vusb::device::{Device, Effect};
use vusb::peers::{PeerStatistics, Peers};
use wire::ieee80211::MacAddr;
use wire::phy::EdcaParameters;
use wire::usb::mediatek::{request, Rate, Rxwi, Txwi, INFO};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

const OWN: [u8; 6] = [0, 0x0c, 0x43, 0x76, 0x10, 1];

fn address(number: usize) -> [u8; 6] {
    [2, 0, 0, 0, number as u8, 0]
}

/// A station that hears what is for it.
struct Sta(FarEnd, MacAddr);

impl Station for Sta {
    fn tuned(&self) -> Option<Tuned> {
        self.0.tuned()
    }
    fn ready_since(&self) -> Option<u64> {
        self.0.ready_since()
    }
    fn access(&self) -> EdcaParameters {
        self.0.access()
    }
    fn begin(&mut self, now_ns: u64, function: usize) -> Option<Ppdu> {
        self.0.begin(now_ns, function)
    }
    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        self.0.ended(now_ns, ppdu, outcome);
    }
    fn wants(&self, receiver: MacAddr) -> bool {
        receiver == self.1 || receiver.is_group()
    }
    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        self.0.receive(now_ns, mpdu, reception)
    }
}

struct Stas(Vec<Sta>);

impl Peers for Stas {
    fn stations(&self) -> Vec<&dyn Station> {
        self.0.iter().map(|sta| sta as &dyn Station).collect()
    }
    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        self.0.iter_mut().map(|sta| sta as &mut dyn Station).collect()
    }
    fn statistics(&self) -> PeerStatistics {
        PeerStatistics::default()
    }
}

/// A vendor request, which takes some time.
fn answered(host: &mut Host<Mt7610u>, setup: Setup, data: &[u8]) -> (i32, Vec<u8>) {
    let sequence = host.ask_with(setup, data);
    let mut completions = host.completions();
    let asked_ns = host.now_ns;
    while completions.is_empty() {
        host.now_ns = host.device.next_event().expect("it takes time, not forever");
        completions = host.completions();
    }
    assert!(host.now_ns >= asked_ns + 100_000, "a request takes its time");
    let of = |(completion, data): (Completion, Vec<u8>)| match completion {
        Completion::Submit { sequence: of, status, .. } if of == sequence => Some((status, data)),
        _ => None,
    };
    completions.into_iter().find_map(of).expect("its answer")
}

fn write(host: &mut Host<Mt7610u>, register: u32, words: &[u32]) {
    let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (at, chunk) in data.chunks(64).enumerate() {
        let address = register + 64 * at as u32;
        let (value, index, length) = ((address >> 16) as u16, address as u16, chunk.len() as u16);
        let setup = Setup { request_type: 0x40, request: request::MULTI_WRITE, value, index, length };
        assert_eq!(answered(host, setup, chunk).0, 0);
    }
}

fn read(host: &mut Host<Mt7610u>, register: u32) -> u32 {
    let (value, index) = ((register >> 16) as u16, register as u16);
    let setup = Setup { request_type: 0xc0, request: request::MULTI_READ, value, index, length: 4 };
    let (status, data) = answered(host, setup, &[]);
    assert_eq!(status, 0);
    u32::from_le_bytes(data.try_into().unwrap())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| u32::from_le_bytes(std::array::from_fn(|at| chunk.get(at).copied().unwrap_or(0)));
    bytes.chunks(4).map(word).collect()
}

/// An access point on channel 6 as a driver sets it up, and stations with these signals, both ways.
fn access_point(signals_dbm: &[i8]) -> (Host<Mt7610u>, Vec<Rc<RefCell<Air>>>) {
    let links: Vec<LinkSignal> = signals_dbm.iter().map(|&dbm| LinkSignal::both(dbm)).collect();
    access_point_of(&links)
}

fn access_point_of(links: &[LinkSignal]) -> (Host<Mt7610u>, Vec<Rc<RefCell<Air>>>) {
    let far: Vec<FarEnd> = links.iter().map(|_| FarEnd::default()).collect();
    let airs = far.iter().map(|far| Rc::clone(&far.0)).collect();
    let stations = far.into_iter().enumerate().map(|(n, far)| Sta(far, MacAddr(address(n)))).collect();
    let medium = Medium::with_stations(ChannelSettings::default(), links, 1, None);
    let mut host = Host::new(Mt7610u::new(Settings::new(Model::Mt7610u), medium, Box::new(Stas(stations))));
    // Bank 0 of the RF registers: channel 6 (mt76x0/initvals_phy.h).
    for (register, value) in [(32u32, 0x47u32), (31, 0x47), (29, 0xa2), (30, 0x02), (24, 1)] {
        write(&mut host, reg::RF_CSR_CFG, &[1 << 31 | 1 << 30 | register << 8 | value]);
    }
    write(&mut host, reg::MAC_ADDR, &words(&OWN));
    write(&mut host, reg::TX_RETRY_CFG, &[0x47d0_1f0f]);
    write(&mut host, reg::AMPDU_MAX_LEN_20, &[0xaaa9_9887]);
    write(&mut host, reg::RX_FILTER, &[0x0001_7f97]);
    for number in 0..links.len() {
        write(&mut host, reg::WCID_ADDR + 8 * number as u32, &words(&address(number)));
    }
    write(&mut host, reg::MAC_SYS_CTRL, &[0x0c]);
    (host, airs)
}

/// QoS data of 1000 bytes from the access point, in an A-MPDU at this MCS.
fn data(to: [u8; 6], wcid: u8, sequence: u16, mcs: u16) -> Vec<u8> {
    let mut frame = vec![0x88, 0x02, 0, 0];
    frame.extend(to);
    frame.extend([OWN, OWN].concat());
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0; 4]); // QoS Control, and padding
    frame.resize(1_002, 0x55);
    let rate = Rate(0x4000 | mcs);
    let txwi =
        Txwi { ampdu: true, rate, ack: true, window: 31, wcid, frame_len: 1_000, packet_id: 0x80, ..Txwi::default() };
    let mut bytes = [&txwi.emit()[..], &frame].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let info = bytes.len() as u32 | 2 << 25;
    [&info.to_le_bytes()[..], &bytes, &[0; 4]].concat()
}

#[test]
fn frames_reach_the_station_that_they_are_for_and_cost_its_airtime() {
    let (mut host, airs) = access_point(&[-45, -45]);
    for sequence in 0..8 {
        for (number, mcs) in [(0u8, 7), (1, 0)] {
            host.write(4, &data(address(number.into()), number, sequence, mcs));
        }
    }
    run(&mut host, 100_000_000);
    for (number, air) in airs.iter().enumerate() {
        let heard = &air.borrow().heard;
        assert_eq!(heard.len(), 8);
        assert!(heard.iter().all(|(_, mpdu, _)| mpdu[4..10] == address(number)));
    }
    let counters = host.device.air().clone();
    let [fast, slow] = &counters.stations[..] else { panic!("{counters:?}") };
    assert_eq!((fast.down.acknowledged, slow.down.acknowledged, counters.chip.acknowledged), (8, 8, 16));
    assert_eq!(fast.down.airtime_ns + slow.down.airtime_ns, counters.chip.airtime_ns);
    // 8 kB take 10 times as long at 6.5 Mbit/s as at 65, without preambles and answers.
    assert!((7..10).contains(&(slow.down.airtime_ns / fast.down.airtime_ns)), "{fast:?} {slow:?}");
    assert_eq!((fast.up.block_acks, slow.up.block_acks), (fast.down.sent.ppdus, slow.down.sent.ppdus));
    assert_eq!(counters.ap, None);
    // A report for each: read in pairs, with the station's number.
    let mut of_stations = [0; 2];
    loop {
        let mark = read(&mut host, reg::TX_STAT_FIFO_EXT);
        let report = read(&mut host, reg::TX_STAT_FIFO);
        if report & 1 == 0 {
            break;
        }
        assert_eq!((mark, report >> 5 & 7), (0x8000, 7), "at the first try, in an A-MPDU");
        of_stations[(report >> 8 & 0xff) as usize] += 1;
    }
    assert_eq!(of_stations, [8, 8]);
}

#[test]
fn a_far_station_loses_what_is_too_fast_for_it() {
    // 6 dB over the noise: MCS 0 gets through, MCS 4 does not.
    let (mut host, airs) = access_point(&[-45, -88]);
    for sequence in 0..4 {
        host.write(4, &data(address(0), 0, sequence, 4));
        host.write(4, &data(address(1), 1, sequence, 4));
    }
    run(&mut host, 200_000_000);
    let stations = host.device.air().stations.clone();
    assert_eq!((stations[0].down.lost, airs[0].borrow().heard.len()), (0, 4));
    assert!(stations[1].down.lost >= 4 && stations[1].down.acknowledged == 4, "{:?}", stations[1]);
    let rates: Vec<_> = airs[1].borrow().heard.iter().map(|(_, _, it)| it.mode.rate_kbps()).collect();
    assert!(rates.iter().all(|&rate| rate < Some(39_000)), "it was tried at lower rates: {rates:?}");
}

/// 7 dB over the noise one way and 50 the other.
#[test]
fn the_two_directions_of_a_link_may_differ() {
    for (down_dbm, up_dbm) in [(-45, -88), (-88, -45)] {
        let (mut host, airs) = access_point_of(&[LinkSignal { down_dbm, up_dbm }]);
        for sequence in 0..4 {
            host.write(4, &data(address(0), 0, sequence, 7));
        }
        let mut mpdu = vec![0x88, 0x01, 0, 0];
        mpdu.extend([OWN, address(0), OWN].concat());
        mpdu.extend([0x30, 0, 0, 0]);
        mpdu.resize(1_000, 0x55);
        let (mode, protection, response) = (Rate(0x4007).mode().unwrap(), Protection::None, Response::Ack);
        let ppdu = Ppdu { mode, mpdus: vec![mpdu], aggregated: false, protection, response };
        airs[0].borrow_mut().to_send.push((0, ppdu));
        run(&mut host, 200_000_000);
        let station = host.device.air().stations[0];
        assert_eq!((station.signal_dbm, station.signal_up_dbm), (down_dbm, Some(up_dbm)));
        assert_eq!((station.down.lost > 0, station.up.lost > 0), (down_dbm < up_dbm, up_dbm < down_dbm), "{station:?}");
        let heard = airs[0].borrow();
        assert!(heard.heard.iter().all(|(_, _, reception)| reception.signal_dbm == down_dbm));
    }
}

#[test]
fn a_station_that_moved_loses_what_is_too_fast_for_where_it_is() {
    let (mut host, _airs) = access_point(&[-45, -45]);
    let lost_of_four = |host: &mut Host<Mt7610u>, first: u16| {
        let before = host.device.air().stations[1].down.lost;
        for sequence in first..first + 4 {
            host.write(4, &data(address(1), 1, sequence, 7));
        }
        run(host, 200_000_000);
        host.device.air().stations[1].down.lost - before
    };
    assert_eq!(lost_of_four(&mut host, 0), 0);
    assert!(host.device.inject(host.now_ns, Effect::Signal(1, -88)));
    assert!(lost_of_four(&mut host, 4) >= 4);
    assert!(host.device.inject(host.now_ns, Effect::Signal(1, -45)));
    assert_eq!(lost_of_four(&mut host, 8), 0);
    assert_eq!(host.device.air().stations[0].signal_dbm, -45);
    assert!(!host.device.inject(host.now_ns, Effect::Signal(2, -45)), "there are two");
}

/// Writes a beacon's template, and has it sent each this many sixteenths of a TU.
fn begin_beacons(host: &mut Host<Mt7610u>, interval: u32) {
    let mut beacon = vec![0x80, 0, 0, 0];
    beacon.extend([0xff; 6]);
    beacon.extend([OWN, OWN].concat());
    beacon.resize(60, 0);
    let rate = Rate(0x2000);
    let txwi = Txwi { timestamp: true, number: true, rate, wcid: 0xff, frame_len: 60, ..Txwi::default() };
    write(host, reg::BEACON, &words(&[&txwi.emit()[..], &beacon].concat()));
    write(host, reg::BCN_BYPASS_MASK, &[0xfffe]);
    write(host, reg::BEACON_TIME_CFG, &[interval | 1 << 16 | 1 << 19 | 1 << 20]);
}

#[test]
fn beacons_come_at_their_times_with_the_chips_timer() {
    let (mut host, airs) = access_point(&[-45, -45]);
    begin_beacons(&mut host, 1_600);
    run(&mut host, 1_000_000_000);
    for air in &airs {
        let heard = &air.borrow().heard;
        assert_eq!(heard.len(), 9, "in 1 s, each 102.4 ms");
        let stamps = heard.iter().map(|(_, mpdu, _)| u64::from_le_bytes(mpdu[24..32].try_into().unwrap()));
        let stamps: Vec<u64> = stamps.collect();
        assert!(stamps.windows(2).all(|pair| pair[1] - pair[0] == 102_401), "{stamps:?}");
        assert!(heard.windows(2).all(|pair| pair[0].1[22] != pair[1].1[22]), "they are numbered");
    }
    assert!(read(&mut host, reg::TBTT_TIMER) < 3_201);
}

/// A driver that sets an interval shorter than a beacon, or a radio that is nowhere, fills no queue.
#[test]
fn beacons_that_cannot_be_sent_do_not_pile_up() {
    let (mut host, airs) = access_point(&[-45]);
    begin_beacons(&mut host, 1);
    run(&mut host, 100_000_000);
    let tx = |host: &Host<Mt7610u>| host.statistics()["tx"].clone();
    let (beacons, missed) = (tx(&host)["beacons"].as_u64().unwrap(), tx(&host)["beacons_missed"].as_u64().unwrap());
    // One may be on the air, and one wait behind it.
    assert!(beacons - airs[0].borrow().heard.len() as u64 <= 2 && missed > beacons / 2, "{}", tx(&host));
    write(&mut host, reg::TX_BAND_CFG, &[2]);
    run(&mut host, 100_000_000);
    // Those that were sent while the request was under way, and one that waits.
    assert!(tx(&host)["beacons"].as_u64().unwrap() <= beacons + 4, "{}", tx(&host));
    write(&mut host, reg::MAC_SYS_CTRL, &[0]);
    let before = tx(&host);
    run(&mut host, 100_000_000);
    assert_eq!(tx(&host), before, "the transmitter is off");
}

#[test]
fn what_a_station_sends_comes_with_its_number() {
    let (mut host, airs) = access_point(&[-45, -61]);
    let mut mpdu = vec![0x88, 0x01, 0, 0];
    mpdu.extend([OWN, address(1), OWN].concat());
    mpdu.extend([0x30, 0, 0, 0, 7, 7, 7]);
    let (mode, protection, response) = (Rate(0x4003).mode().unwrap(), Protection::None, Response::Ack);
    airs[1].borrow_mut().to_send.push((0, Ppdu { mode, mpdus: vec![mpdu], aggregated: false, protection, response }));
    host.read(4, 2_048, 0);
    let completions = run(&mut host, 10_000_000);
    let [(Completion::Submit { .. }, transfer)] = &completions[..] else { panic!("{completions:?}") };
    let (rxwi, _) = Rxwi::split(&transfer[INFO..]).unwrap();
    assert_eq!((rxwi.wcid, rxwi.signal_dbm, rxwi.frame_len, rxwi.tid_sequence), (1, -61, 29, 0x30));
    assert_eq!(airs[1].borrow().outcomes, [vec![true]]);
    let stations = &host.device.air().stations;
    assert_eq!((stations[1].up.acknowledged, stations[1].down.acks, stations[0].up.sent.mpdus), (1, 1, 0));
}
