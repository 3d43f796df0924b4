//! What must hold on any 802.11 link, whatever its settings and whatever is offered to it.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use txop_link::queue::{QueueKind, Queueing};
use txop_link::{
    AccessCategory, Contents, DropCause, HostId, Link, Medium, Offer, Packet, Phy, Ppdu, RateControl, Scenario, Sink,
    Station, Usb, WlanLink,
};

#[derive(Clone, Copy, Debug)]
struct Numbered {
    number: u64,
    size_bytes: usize,
    category: AccessCategory,
}

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn flow(&self) -> u32 {
        (self.number % 7) as u32
    }

    fn category(&self) -> AccessCategory {
        self.category
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + limit.min(self.size_bytes), 0);
    }
}

/// Who an MPDU is from and to, its category, and whether it has a sequence number of that category.
type Flow = (HostId, Option<HostId>, AccessCategory);

#[derive(Default)]
struct Witness {
    accepted: HashMap<u64, (HostId, HostId)>,
    freed: HashMap<u64, u32>,
    delivered: HashMap<u64, u32>,
    dropped: HashMap<u64, DropCause>,
    /// Number of the last packet of each flow that came out.
    last: BTreeMap<(HostId, HostId, AccessCategory, u32), u64>,
    last_delivery_ns: BTreeMap<HostId, u64>,
    air_ns: u64,
    /// End of the last PPDU that did not collide.
    clear_until_ns: u64,
    sequences: BTreeMap<Flow, u16>,
    /// mac80211's queues lend a flow another queue while its own belongs to another station: then order may be lost.
    flows_may_overtake: bool,
    problems: Vec<String>,
}

impl Witness {
    fn must(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.problems.len() < 5 {
            self.problems.push(what());
        }
    }
}

impl Sink<Numbered> for Witness {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Numbered) {
        let ends = self.accepted.get(&packet.number).copied();
        self.must(ends.is_some_and(|ends| ends.1 == to), || {
            format!("{packet:?} delivered to {to:?}, offered {ends:?}")
        });
        let times = self.delivered.entry(packet.number).or_default();
        *times += 1;
        let once = *times == 1;
        self.must(once, || format!("{packet:?} delivered again"));
        let last_ns = self.last_delivery_ns.insert(to, at_ns).unwrap_or(0);
        self.must(last_ns <= at_ns, || format!("delivered at {at_ns} after {last_ns}"));
        if let Some((from, _)) = ends {
            let key = (from, to, packet.category, packet.flow());
            let before = self.last.insert(key, packet.number);
            self.must(self.flows_may_overtake || before.is_none_or(|before| before < packet.number), || {
                format!("{packet:?} of flow {key:?} came after {before:?}")
            });
        }
    }

    fn freed(&mut self, _at_ns: u64, from: HostId, packet: &Numbered) {
        *self.freed.entry(packet.number).or_default() += 1;
        let ends = self.accepted.get(&packet.number).copied();
        self.must(ends.is_some_and(|ends| ends.0 == from), || format!("{packet:?} freed at {from:?}, was {ends:?}"));
    }

    fn dropped(&mut self, _at_ns: u64, _from: HostId, packet: &Numbered, cause: DropCause) {
        self.dropped.insert(packet.number, cause);
    }

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Numbered>) {
        let (start_ns, end_ns, clear_ns, air_ns) = (ppdu.start_ns, ppdu.end_ns, self.clear_until_ns, self.air_ns);
        self.must(start_ns < end_ns && air_ns <= end_ns, || format!("a PPDU ends at {end_ns}, one before at {air_ns}"));
        self.must(clear_ns <= start_ns, || format!("a PPDU begins at {start_ns}, another ends at {clear_ns}"));
        self.air_ns = end_ns;
        if !ppdu.collided {
            self.must(air_ns <= start_ns, || format!("no collision, but a PPDU ends at {air_ns} after {start_ns}"));
            self.clear_until_ns = end_ns;
        }
        if let Contents::Data { category, mpdus, ampdu, .. } = ppdu.contents {
            self.must(ampdu == (mpdus.len() > 1), || "one MPDU, or several: an A-MPDU".to_owned());
            let flow = (ppdu.from, ppdu.to, category);
            for mpdu in mpdus {
                let known = self.accepted.contains_key(&mpdu.packet.number);
                self.must(known, || format!("{:?} was never accepted", mpdu.packet));
                if !mpdu.retry {
                    let next = self.sequences.get(&flow).map_or(0, |&last| (last + 1) % 4_096);
                    self.must(mpdu.sequence == next, || format!("{flow:?}: {} instead of {next}", mpdu.sequence));
                    self.sequences.insert(flow, mpdu.sequence);
                }
            }
        }
    }
}

fn any_station(band_2_4: bool) -> impl Strategy<Value = Station> {
    let phy = if band_2_4 {
        prop_oneof![4 => Just(Phy::Ht), 1 => Just(Phy::Ofdm), 1 => Just(Phy::Dsss)].boxed()
    } else {
        prop_oneof![4 => Just(Phy::Ht), 1 => Just(Phy::Ofdm)].boxed()
    };
    let radio = (phy, 0u8..32, any::<bool>(), any::<bool>(), 1u8..=64, 500u32..6_000, 0u8..10, 0u8..4);
    let loss = (
        any::<bool>(),
        prop_oneof![Just(0.0), 0.0..0.5f64],
        prop_oneof![Just(None), (5.0..40.0f64).prop_map(Some)],
        prop_oneof![Just(0u32), 0u32..800],
        prop_oneof![Just(0.0), 0.0..0.5f64],
    );
    let host = (
        prop_oneof![Just(0.0), 1.0..300.0f64],
        prop_oneof![
            Just(None),
            (1u32..20, 1u32..20, 1u32..8).prop_map(|(urbs, device, rx)| Some(Usb {
                device_packets: device,
                tx_urb_cost_us: 20.0,
                rx_urbs: urbs,
                rx_packets_per_urb: rx,
                rx_urb_cost_us: 30.0,
                interrupts_per_second: 1_000.0,
                interrupt_cost_us: 50.0,
            }))
        ],
        1u32..300,
        prop_oneof![
            3 => Just(None),
            1 => Just(Some(QueueKind::Fifo)),
            1 => Just(Some(QueueKind::FqCodel)),
            1 => Just(Some(QueueKind::FqMac)),
            1 => Just(Some(QueueKind::Airtime)),
        ],
        any::<(bool, bool, bool, bool)>(),
    );
    (radio, loss, host).prop_map(|(radio, loss, host)| {
        let (phy, mcs, short_gi, tx_ampdu, ampdu_max_subframes, ampdu_max_us, retry_limit, hardware_ppdus) = radio;
        let (rts, mpdu_error_rate, snr_db, late_block_ack_us, missing_ack_rate) = loss;
        let (per_packet_cost_us, usb, queue_packets, kind, (aql, minstrel, count_unanswered, request_unanswered)) =
            host;
        let queueing = kind.map(|kind| {
            let mut queueing = Queueing { kind, ..Queueing::default() };
            queueing.aql.on = aql;
            queueing
        });
        Station {
            phy,
            mcs,
            short_gi,
            tx_ampdu,
            ampdu_max_subframes,
            ampdu_max_us,
            retry_limit,
            hardware_ppdus,
            rts,
            mpdu_error_rate,
            snr_db,
            late_block_ack_us,
            missing_ack_rate,
            per_packet_cost_us,
            usb,
            queue_packets,
            queueing,
            rate_control: if minstrel { RateControl::MinstrelHt } else { RateControl::Fixed },
            count_unanswered,
            request_unanswered,
            ..Station::default()
        }
    })
}

fn any_scenario() -> impl Strategy<Value = Scenario> {
    let stations = |band_2_4| (any_station(band_2_4), proptest::collection::vec(any_station(band_2_4), 1..4));
    (any::<u64>(), any::<bool>(), any::<bool>()).prop_flat_map(move |(seed, wide, band_2_4)| {
        stations(band_2_4).prop_map(move |(ap, stations)| {
            let width_mhz = if wide { 40 } else { 20 };
            let medium = Medium { channel: if band_2_4 { 6 } else { 36 }, width_mhz, ..Medium::default() };
            Scenario { seed, medium, ap: Station { phy: Phy::Ht, ..ap }, stations, ..Scenario::default() }
        })
    })
}

/// Packets in bursts: when (µs after the one before), from, to, bytes, category.
fn any_offers() -> impl Strategy<Value = Vec<(u32, u16, u16, usize, usize)>> {
    let size = prop_oneof![Just(1_500usize), 20usize..2_000, Just(3_000usize)];
    proptest::collection::vec(
        (prop_oneof![6 => Just(0u32), 1 => 0u32..3_000], 0u16..4, 0u16..4, size, 0usize..4),
        1..600,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_is_lost_doubled_or_out_of_order(scenario in any_scenario(), offers in any_offers()) {
        let hosts = scenario.stations.len() as u16 + 1;
        let mut link = WlanLink::new(scenario.clone()).expect("a scenario");
        let pooled = |radio: &Station| {
            radio.queueing.as_ref().is_some_and(|it| matches!(it.kind, QueueKind::FqMac | QueueKind::Airtime))
        };
        let flows_may_overtake = scenario.stations.iter().chain([&scenario.ap]).any(pooled);
        let mut witness = Witness { flows_may_overtake, ..Witness::default() };
        let mut now_ns = 0;
        for (number, &(after_us, from, to, size_bytes, category)) in (0u64..).zip(&offers) {
            now_ns += u64::from(after_us) * 1_000;
            link.advance(now_ns, &mut witness);
            let (from, to) = (HostId(from % hosts), HostId(to % hosts));
            if from == to {
                continue;
            }
            let packet = Numbered { number, size_bytes, category: AccessCategory::BY_PRIORITY[category] };
            let oversize = size_bytes > 2_296;
            match link.offer(now_ns, from, to, packet) {
                Offer::Accepted => {
                    prop_assert!(!oversize);
                    witness.accepted.insert(number, (from, to));
                }
                Offer::Dropped(cause) => prop_assert!(oversize == (cause == DropCause::Oversize)),
            }
        }
        // Stations out of reach use up their retries; CoDel has time.
        link.advance(now_ns + 100_000_000_000, &mut witness);
        link.settle(&mut witness);
        prop_assert!(witness.problems.is_empty(), "{:#?}", witness.problems);
        for (number, ends) in &witness.accepted {
            prop_assert_eq!(witness.freed.get(number), Some(&1), "packet {} of {:?} freed", number, ends);
            let came = witness.delivered.contains_key(number);
            prop_assert!(came || witness.dropped.contains_key(number), "packet {number} of {ends:?} is nowhere");
        }
        let counters = link.counters();
        for host in 0..hosts {
            prop_assert_eq!(link.queued(HostId(host)), 0);
            let side = if host == 0 { &counters.ap } else { &counters.stations[usize::from(host) - 1].radio };
            let delivered = witness.delivered.keys().filter(|number| witness.accepted[number].0 .0 == host).count();
            prop_assert_eq!(side.packets_delivered, delivered as u64);
            prop_assert!(side.retries <= side.mpdus && side.ampdus <= side.ppdus);
        }
        let ways: u64 = counters.stations.iter().map(|station| station.up.mpdus + station.down.mpdus).sum();
        let radios = counters.ap.mpdus + counters.stations.iter().map(|station| station.radio.mpdus).sum::<u64>();
        prop_assert_eq!(ways, radios);
    }
}
