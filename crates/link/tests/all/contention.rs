//! Many stations that always have something to send, against ns-3 and against Bianchi's model.
//!
//! Reference figures:
//! - ns-3.44 (fixed rates, equal signals, 5 GHz and HT20 or 802.11a, 2.4 GHz for 802.11b, beacons; 10 s after 3 s of
//!   warm-up), Mbit/s of UDP payload (HT: 1472 bytes) or of packets (802.11a and b: 1500 bytes). Several HT stations: means
//!   of five runs of bench/ns3/contention.py, like-the-model; the others are of a program that is not kept, means of three
//!   seeds. Where the spread was recorded, its standard error is granted beside the 2 %.
//! - Bianchi's model (IEEE JSAC 18(3), 2000), computed here: an EIFS after collisions, no beacons.

use crate::closed_form::{AfterSuccess, Contenders, Exchange};
use txop_link::{Counters, HostId, Link, Medium, Offer, Packet, Phy, Scenario, Sink, Station, WlanLink};

#[derive(Clone)]
struct Datagram;

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        1500
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + limit.min(1500), 0);
    }
}

#[derive(Default)]
struct Freed(Vec<u64>);

impl Sink<Datagram> for Freed {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {}

    fn freed(&mut self, _at_ns: u64, from: HostId, _packet: &Datagram) {
        self.0[from.index()] += 1;
    }
}

/// `flows` send as much as they can, each to or from the access point.
fn saturate(scenario: Scenario, flows: &[(u16, u16)], seconds: u64) -> Counters {
    let mut link = WlanLink::new(scenario).expect("a scenario");
    let hosts = <WlanLink<Datagram> as Link<Datagram>>::hosts(&link);
    let mut freed = Freed(vec![0; hosts]);
    let mut offered = vec![0u64; hosts];
    let mut now_ns = 0;
    while now_ns < seconds * 1_000_000_000 {
        for &(from, to) in flows {
            // As many for each flow, whatever the others do: the sender keeps a share of the queue for each.
            let share = flows.iter().filter(|flow| flow.0 == from).count() as u64;
            let mut room = 128u64.saturating_sub(link.queued(HostId(from)) as u64 / share);
            while room > 0 && link.offer(now_ns, HostId(from), HostId(to), Datagram) == Offer::Accepted {
                offered[usize::from(from)] += 1;
                room -= 1;
            }
        }
        now_ns += 2_000_000;
        link.advance(now_ns, &mut freed);
    }
    let counters = link.counters();
    for ((host, &offered), &freed) in (0u16..).zip(&offered).zip(&freed.0) {
        assert!(freed <= offered);
        let inside = (link.queued(HostId(host)) + 64 * hosts) as u64;
        assert!(freed + inside >= offered, "every packet is freed once it is done with");
    }
    counters
}

fn uplink(station: &Station, medium: Medium, n: u16, (seeds, seconds): (u64, u64), payload: f64) -> f64 {
    let flows: Vec<(u16, u16)> = (1..=n).map(|from| (from, 0)).collect();
    let mean: f64 = (0..seeds)
        .map(|seed| {
            let stations = vec![Station { count: n, queue_packets: 10_000, ..station.clone() }];
            let medium = medium.clone();
            let scenario = Scenario { seed, medium, ap: station.clone(), stations, ..Scenario::default() };
            let counters = saturate(scenario, &flows, seconds);
            let delivered: u64 = counters.stations.iter().map(|station| station.up.packets_delivered).sum();
            assert_eq!(delivered, counters.stations.iter().map(|station| station.radio.packets_delivered).sum::<u64>());
            delivered as f64 * payload * 8.0 / seconds as f64 / 1e6
        })
        .sum();
    mean / seeds as f64
}

struct Case {
    name: &'static str,
    station: Station,
    channel: u16,
    payload: f64,
    cw_min: u32,
    exchange: Exchange,
    /// Stations, ns-3's throughput, and the standard error of that where it is known.
    ns3: &'static [(u16, f64, f64)],
    runs: (u64, u64),
}

/// Complains about a figure that is further from its reference than `allowed`.
fn check(name: &str, measured: f64, reference: f64, allowed: f64) -> Option<String> {
    let off = 100.0 * (measured - reference) / reference;
    let line = format!("{name}: {measured:.3}, reference {reference:.3} ({off:+.2} %)");
    println!("{line}");
    ((measured - reference).abs() > allowed).then_some(line)
}

fn compare(case: &Case) {
    let mut wrong = Vec::new();
    for &(n, ns3, error) in case.ns3 {
        let medium = |beacons| Medium { beacons, channel: case.channel, ..Medium::default() };
        let name = |who| format!("{} n={n} against {who}", case.name);
        let measured = uplink(&case.station, medium(true), n, case.runs, case.payload);
        if ns3 > 0.0 {
            wrong.extend(check(&name("ns-3"), measured, ns3, ns3 * 0.02 + error));
        }
        if n > 1 {
            let contenders = Contenders { stations: n.into(), cw_min: case.cw_min, cw_max: 1_023 };
            let model = contenders.throughput_mbit_s(&case.exchange, AfterSuccess::WaitsAsAll);
            let measured = uplink(&case.station, medium(false), n, case.runs, case.payload);
            wrong.extend(check(&name("Bianchi"), measured, model, model * 0.02));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn ht() -> Station {
    Station { mcs: 7, short_gi: false, ..Station::default() }
}

/// HT20 MCS 7, `mpdus` in a PPDU of `ppdu_us`, answer of `answer_us`; AIFS 43 µs, EIFS 60 µs more.
fn ht_case(name: &'static str, mpdus: f64, ppdu_us: f64, answer_us: f64) -> Case {
    Case {
        name,
        station: ht(),
        channel: 36,
        payload: 1_472.0,
        cw_min: 15,
        exchange: Exchange {
            payload_bits: mpdus * 1_472.0 * 8.0,
            success_us: ppdu_us + 16.0 + answer_us + 43.0,
            collision_us: ppdu_us + 60.0 + 43.0,
            slot_us: 9.0,
        },
        ns3: &[],
        runs: (20, 20),
    }
}

/// 802.11a: PPDU and ACK; DIFS 34 µs, EIFS 60 µs more.
fn dcf_case(name: &'static str, rate_mbit_s: f64, ppdu_us: f64, ack_us: f64) -> Case {
    Case {
        station: Station { phy: Phy::Ofdm, rate_mbit_s: Some(rate_mbit_s), ..Station::default() },
        payload: 1_500.0,
        exchange: Exchange {
            payload_bits: 12_000.0,
            success_us: ppdu_us + 16.0 + ack_us + 34.0,
            collision_us: ppdu_us + 60.0 + 34.0,
            slot_us: 9.0,
        },
        ..ht_case(name, 1.0, 0.0, 0.0)
    }
}

#[test]
fn stations_with_aggregation_collide_as_they_should() {
    compare(&Case { ns3: &[(5, 50.96, 0.26)], runs: (3, 4), ..ht_case("HT A-MPDU", 28.0, 5_360.0, 32.0) });
}

#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn stations_with_aggregation_collide_as_they_should_in_long_runs() {
    let ns3 = &[(1, 59.621, 0.0), (5, 50.96, 0.26), (10, 47.03, 0.39), (20, 42.43, 0.18)];
    compare(&Case { ns3, ..ht_case("HT A-MPDU", 28.0, 5_360.0, 32.0) });
}

#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn stations_without_aggregation() {
    let station = Station { tx_ampdu: false, ..ht() };
    let ns3 = &[(1, 30.704, 0.0), (5, 29.73, 0.02), (20, 25.68, 0.04)];
    // 1538 bytes: 36 µs and 48 symbols.
    compare(&Case { ns3, station, ..ht_case("HT single", 1.0, 228.0, 28.0) });
}

#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn stations_with_rts() {
    for (n, ns3) in [(1, 58.685), (5, 58.93), (20, 58.35)] {
        let measured = uplink(&Station { rts: true, ..ht() }, Medium::default(), n, (20, 20), 1_472.0);
        assert_eq!(check(&format!("HT RTS n={n}"), measured, ns3, ns3 * 0.01), None);
    }
}

#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn legacy_54_mbit_s() {
    let ns3 = &[(1, 30.47, 0.0), (5, 28.99, 0.0), (10, 27.28, 0.0), (20, 25.37, 0.0)];
    compare(&Case { ns3, ..dcf_case("802.11a 54M", 54.0, 248.0, 28.0) });
}

/// At 6 Mbit/s ns-3 decodes some of two equally strong PPDUs (the capture effect), so with several stations only the model
/// counts.
#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn legacy_6_mbit_s() {
    let ns3 = &[(1, 5.366, 0.0), (5, 0.0, 0.0), (10, 0.0, 0.0), (20, 0.0, 0.0)];
    compare(&Case { ns3, ..dcf_case("802.11a 6M", 6.0, 2_072.0, 44.0) });
}

#[test]
#[ignore = "slow: 20 seeds of 20 s"]
fn legacy_11_mbit_s() {
    let case = Case {
        station: Station { phy: Phy::Dsss, rate_mbit_s: Some(11.0), ..Station::default() },
        channel: 1,
        cw_min: 31,
        // ACK at 2 Mbit/s; DIFS 50 µs, EIFS 314 µs more.
        exchange: Exchange {
            payload_bits: 12_000.0,
            success_us: 1_310.0 + 10.0 + 248.0 + 50.0,
            collision_us: 1_310.0 + 314.0 + 50.0,
            slot_us: 20.0,
        },
        ns3: &[(1, 6.184, 0.0), (5, 6.316, 0.0), (10, 5.956, 0.0), (20, 5.558, 0.0)],
        ..dcf_case("802.11b 11M", 11.0, 0.0, 0.0)
    };
    compare(&case);
}

/// The performance anomaly of FIFO queues (Heusse et al., INFOCOM 2003): every station gets what the slowest gets.
#[test]
fn a_slow_station_takes_the_airtime_of_a_fifo() {
    let station = |name: &str, mcs| Station { name: name.to_owned(), mcs, ap_mcs: Some(mcs), ..Station::default() };
    let ap = Station { queue_packets: 1_500, ..Station::default() };
    let stations = vec![Station { count: 2, ..station("fast", 15) }, station("slow", 0)];
    let scenario = Scenario { seed: 3, ap, stations, ..Scenario::default() };
    let mut link = WlanLink::new(scenario).expect("a scenario");
    let mut freed = Freed(vec![0; 4]);
    // 100 Mbit/s for each, in turns that begin with another one each time.
    for tick in 0..20 * 8_333u64 {
        link.advance(tick * 120_000, &mut freed);
        for turn in 0..3 {
            let _ = link.offer(tick * 120_000, HostId(0), HostId(((tick + turn) % 3 + 1) as u16), Datagram);
        }
    }
    let counters = link.counters();
    let airtime: Vec<f64> = counters.stations.iter().map(|station| station.down.airtime_ns as f64).collect();
    let total: f64 = airtime.iter().sum();
    let jain = total * total / (3.0 * airtime.iter().map(|ns| ns * ns).sum::<f64>());
    let mut wrong = Vec::new();
    for (station, ns3) in counters.stations.iter().zip([5.98, 5.95, 5.97]) {
        let mbit_s = station.down.packets_delivered as f64 * 1472.0 * 8.0 / 20e6;
        wrong.extend(check(&station.name, mbit_s, ns3, ns3 * 0.02));
    }
    wrong.extend(check("slow airtime", airtime[2] / total, 0.909, 0.005));
    wrong.extend(check("Jain's index", jain, 0.402, 0.005));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
