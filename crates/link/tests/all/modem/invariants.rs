//! What holds for all settings and all traffic.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use txop_link::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use txop_link::modem::{Framing, ModemLink, ModemSettings, QmapAggregation, Speed, NEAR_HOST};
use wire::usb::qmap::Checksums;
use wire::usb::urb::Urb;
use wire::usb::usbmon::EventKind;
use wire::usb::{ntb, qmap::Walk};

/// An IPv4 packet that carries its number.
#[derive(Clone, Debug, PartialEq)]
struct Numbered {
    number: u32,
    size: usize,
}

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.size
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        let start = out.len();
        out.extend([0x45, 0]);
        out.extend((self.size as u16).to_be_bytes());
        out.extend(self.number.to_be_bytes());
        out.resize(start + self.size, 0x5a);
        out.truncate(start + limit.min(self.size));
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Record {
    at_ns: u64,
    event: EventKind,
    id: u64,
    endpoint: u8,
    status: i32,
    len: u32,
    data: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    delivered: Vec<(u64, HostId, Numbered)>,
    dropped: Vec<(u64, HostId, Numbered, DropCause)>,
    freed: Vec<(u64, HostId, Numbered)>,
    records: Vec<Record>,
}

impl Sink<Numbered> for Seen {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Numbered) {
        self.delivered.push((at_ns, to, packet));
    }

    fn freed(&mut self, at_ns: u64, from: HostId, packet: &Numbered) {
        self.freed.push((at_ns, from, packet.clone()));
    }

    fn dropped(&mut self, at_ns: u64, from: HostId, packet: &Numbered, cause: DropCause) {
        self.dropped.push((at_ns, from, packet.clone(), cause));
    }

    fn wants_bus(&self) -> bool {
        true
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        self.records.push(Record {
            at_ns: urb.at_ns,
            event: urb.event,
            id: urb.id,
            endpoint: urb.endpoint.0,
            status: urb.status,
            len: urb.length,
            data: urb.data.to_vec(),
        });
    }
}

/// Offers of packets: time, way, size.
type Offers = Vec<(u64, bool, usize)>;

fn run(settings: &ModemSettings, offers: &Offers, fine: bool) -> (Seen, Vec<Numbered>, ModemLink<Numbered>) {
    let mut link = ModemLink::new(settings.clone()).expect("settings");
    let (mut seen, mut accepted, mut now_ns) = (Seen::default(), Vec::new(), 0);
    for (number, &(gap_ns, is_up, size)) in offers.iter().enumerate() {
        now_ns += gap_ns;
        while let Some(next_ns) = link.next_event().filter(|&ns| fine && ns <= now_ns) {
            link.advance(next_ns, &mut seen);
            assert!(link.urbs_in_flight() <= settings.usb.tx_urbs());
        }
        link.advance(now_ns, &mut seen);
        let from = if is_up { NEAR_HOST } else { HostId::SERVER };
        let to = if is_up { HostId::SERVER } else { NEAR_HOST };
        let packet = Numbered { number: number as u32, size };
        if link.offer(now_ns, from, to, packet.clone()) == Offer::Accepted {
            accepted.push(packet);
        }
        let queued = link.queued(NEAR_HOST) + link.queued(HostId::SERVER);
        assert_eq!(accepted.len(), seen.delivered.len() + seen.dropped.len() + queued);
    }
    while let Some(next_ns) = link.next_event() {
        link.advance(next_ns, &mut seen);
    }
    (seen, accepted, link)
}

fn numbers<'a>(packets: impl Iterator<Item = &'a Numbered>) -> Vec<u32> {
    packets.map(|packet| packet.number).collect()
}

/// The numbers of the packets in a transfer.
fn decode(settings: &ModemSettings, is_in: bool, data: &[u8]) -> Vec<u32> {
    let number = |packet: &[u8]| {
        assert_eq!(u16::from_be_bytes([packet[2], packet[3]]) as usize, packet.len());
        u32::from_be_bytes([packet[4], packet[5], packet[6], packet[7]])
    };
    match settings.driver.framing {
        Framing::RawIp => vec![number(data)],
        Framing::Qmap => {
            let checksums = match (settings.driver.qmap_version, is_in) {
                (4, true) => Checksums::Behind,
                (4, false) => Checksums::Before,
                _ => Checksums::None,
            };
            let mut walk = Walk::new(data, data.len(), checksums);
            let found = walk.by_ref().map(|item| number(item.expect("a valid chain").payload)).collect();
            assert_eq!(walk.next_offset(), data.len());
            found
        }
        Framing::Ncm16 | Framing::Ncm32 | Framing::Mbim16 => {
            let block = ntb::parse(&ntb::Header::parse(data).expect("an NTB"), data, data.len());
            assert_eq!(block.faults, []);
            let skip = if settings.driver.framing == Framing::Mbim16 { 0 } else { 14 };
            block.datagrams.iter().map(|d| number(&data[d.offset + skip..d.offset + d.len])).collect()
        }
    }
}

/// URBs complete once, after their submission; each carries packets that follow those of the one before.
fn check_records(settings: &ModemSettings, seen: &Seen) -> Result<(), TestCaseError> {
    let mut open: BTreeMap<u64, bool> = BTreeMap::new();
    let mut carried = [Vec::new(), Vec::new()];
    let mut last_ns = 0;
    for record in &seen.records {
        prop_assert!(record.at_ns >= last_ns);
        last_ns = record.at_ns;
        let is_in = record.endpoint & 0x80 != 0;
        match record.event {
            EventKind::Submission => prop_assert!(open.insert(record.id, is_in).is_none()),
            EventKind::Completion => prop_assert_eq!(open.remove(&record.id), Some(is_in)),
            EventKind::SubmissionError => prop_assert!(false, "no modem refuses a URB"),
        }
        let out = open.values().filter(|is_in| !**is_in).count();
        prop_assert!(out <= settings.usb.tx_urbs() && open.len() - out <= settings.usb.rx_urbs());
        if !record.data.is_empty() {
            prop_assert_eq!(record.data.len(), record.len as usize);
            carried[usize::from(is_in)].extend(decode(settings, is_in, &record.data));
        }
    }
    prop_assert!(carried.iter().all(|way| way.windows(2).all(|pair| pair[0] < pair[1])));
    let delivered = |to| numbers(seen.delivered.iter().filter(|d| d.1 == to).map(|d| &d.2));
    prop_assert!(delivered(HostId::SERVER).iter().all(|number| carried[0].binary_search(number).is_ok()));
    prop_assert_eq!(delivered(NEAR_HOST), &carried[1][..]);
    Ok(())
}

fn any_settings() -> impl Strategy<Value = ModemSettings> {
    let framing = prop_oneof![
        Just((Framing::RawIp, QmapAggregation::None)),
        Just((Framing::Qmap, QmapAggregation::None)),
        Just((Framing::Qmap, QmapAggregation::Rmnet)),
        Just((Framing::Qmap, QmapAggregation::QmiWwan)),
        Just((Framing::Ncm16, QmapAggregation::None)),
        Just((Framing::Ncm32, QmapAggregation::None)),
        Just((Framing::Mbim16, QmapAggregation::None)),
    ];
    let driver = (framing, prop::sample::select(vec![1u8, 4, 5]), 1u32..40, 2_048u32..20_000, 1u32..2_000, 1u32..50);
    let usb = (prop::sample::select(vec![Speed::Full, Speed::High, Speed::Super]), 1u32..8, 1u32..4, 0u32..200);
    let limits = (prop::option::weighted(0.3, 1u32..20), prop::option::weighted(0.2, 2_048u32..20_000));
    let device = (0u32..400, 1u32..4, limits, 1u32..40, 0u32..2_000, 5u32..100);
    let wander = (prop::option::weighted(0.3, 1u32..=100), 0u32..1_000, any::<u64>());
    let subframe = prop::sample::select(vec![0u32, 1_000]);
    let radio = (1u32..200, 1u32..200, 0u32..20_000, 1u32..60, 0u32..10_000, subframe, wander);
    (driver, usb, device, radio).prop_map(|(driver, usb, device, radio)| {
        let mut settings = ModemSettings::default();
        ((settings.driver.framing, settings.driver.aggregation), settings.driver.qmap_version) = (driver.0, driver.1);
        (settings.driver.max_datagrams, settings.driver.max_bytes) = (driver.2, driver.3);
        (settings.driver.timer_us, settings.driver.queue_packets) = (driver.4, driver.5);
        (settings.usb.speed, settings.usb.tx_urbs, settings.usb.rx_urbs) = (usb.0, Some(usb.1), Some(usb.2));
        settings.usb.host_us_per_urb = f64::from(usb.3);
        (settings.device.us_per_urb, settings.device.buffers) = (f64::from(device.0), device.1);
        (settings.device.uplink_max_datagrams, settings.device.uplink_max_bytes) = device.2;
        (settings.device.downlink_max_datagrams, settings.device.downlink_hold_us) = (device.3, device.4);
        (settings.device.downlink_buffer_packets, settings.device.reset_ms) = (device.5, 20);
        (settings.radio.uplink_mbit_s, settings.radio.downlink_mbit_s) = (f64::from(radio.0), f64::from(radio.1));
        (settings.radio.uplink_buffer_us, settings.radio.downlink_queue_packets) = (radio.2, radio.3);
        (settings.radio.scheduling_request_us, settings.radio.subframe_us) = (radio.4, radio.5);
        let (least_percent, wander_percent, seed) = radio.6;
        settings.radio.downlink_least_mbit_s =
            least_percent.map(|percent| settings.radio.downlink_mbit_s * f64::from(percent) / 100.0);
        (settings.radio.downlink_wander_percent, settings.seed) = (f64::from(wander_percent), seed);
        settings
    })
}

fn any_offers() -> impl Strategy<Value = Offers> {
    let gap = prop_oneof![4 => 0u64..300_000, 2 => Just(0u64), 1 => 0u64..15_000_000];
    prop::collection::vec((gap, any::<bool>(), prop_oneof![Just(52usize), Just(1_500), 20usize..1_960]), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_order_is_kept(settings in any_settings(), offers in any_offers()) {
        let (seen, accepted, link) = run(&settings, &offers, true);
        prop_assert_eq!(link.queued(NEAR_HOST) + link.queued(HostId::SERVER), 0);
        prop_assert_eq!(accepted.len(), seen.delivered.len() + seen.dropped.len());
        let all: BTreeSet<u32> =
            numbers(seen.delivered.iter().map(|d| &d.2).chain(seen.dropped.iter().map(|d| &d.2))).into_iter().collect();
        prop_assert_eq!(all.into_iter().collect::<Vec<_>>(), numbers(accepted.iter()));
        for host in [HostId::SERVER, NEAR_HOST] {
            let to: Vec<_> = seen.delivered.iter().filter(|d| d.1 == host).collect();
            prop_assert!(to.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].2.number < pair[1].2.number));
        }
        let mut freed = numbers(seen.freed.iter().map(|f| &f.2));
        freed.sort_unstable();
        prop_assert_eq!(freed, numbers(accepted.iter()));
        let counters = link.counters();
        prop_assert_eq!(counters.uplink.packets_delivered + counters.downlink.packets_delivered, seen.delivered.len() as u64);
        let offered = counters.uplink.packets_offered + counters.downlink.packets_offered;
        let lost = counters.uplink.drops.total() + counters.downlink.drops.total();
        prop_assert_eq!(offered, seen.delivered.len() as u64 + lost);
        prop_assert!(counters.uplink.urbs_in_flight_max as usize <= settings.usb.tx_urbs());
        check_records(&settings, &seen)?;
    }

    /// Whoever drives it, in small steps or large ones.
    #[test]
    fn the_same_offers_give_the_same_events(settings in any_settings(), offers in any_offers()) {
        let (fine, _, fine_link) = run(&settings, &offers, true);
        let (coarse, _, coarse_link) = run(&settings, &offers, false);
        prop_assert_eq!(fine, coarse);
        prop_assert_eq!(fine_link.counters(), coarse_link.counters());
    }
}

/// A modem that was given more than it answered to WDA SET_DATA_FORMAT goes away and comes back.
#[test]
fn a_modem_fed_beyond_its_limits_crashes() {
    let mut settings = ModemSettings::default();
    settings.driver.aggregation = QmapAggregation::Rmnet;
    settings.device.uplink_max_datagrams = Some(8);
    settings.device.reset_ms = 50;
    // Sixteen at once, into URBs of up to sixteen; then, while it is away, and after it came back, one.
    let mut offers: Offers = vec![(1_000_000, true, 1_000); 20];
    offers.iter_mut().skip(1).for_each(|offer| offer.0 = 0);
    offers.push((20_000_000, true, 1_000));
    offers.push((60_000_000, true, 1_000));
    let (seen, accepted, link) = run(&settings, &offers, true);
    assert_eq!(link.counters().crashes, 1);
    assert_eq!(link.counters().uplink.drops.device_down, accepted.len() as u64 - seen.delivered.len() as u64 + 1);
    assert_eq!(seen.delivered.last().map(|d| d.2.number), Some(21));
    assert!(seen.dropped.iter().all(|d| d.3 == DropCause::DeviceDown));
    assert!(seen.records.iter().any(|record| record.status == -108));
    // The driver keeps to the limit: nothing of that happens.
    settings.driver.max_datagrams = 8;
    let (seen, accepted, link) = run(&settings, &offers, true);
    assert_eq!((link.counters().crashes, seen.delivered.len()), (0, accepted.len()));
}
