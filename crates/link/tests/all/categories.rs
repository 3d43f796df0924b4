//! Access categories, airtime and rate control of the 802.11 link.

use txop_link::queue::{QueueKind, Queueing};
use txop_link::{
    AccessCategory, Counters, HostId, Link, Medium, Packet, RateControl, Scenario, Sink, Station, WlanLink,
};

#[derive(Clone)]
struct Datagram {
    category: AccessCategory,
    to: u16,
}

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        1500
    }

    fn flow(&self) -> u32 {
        u32::from(self.to) * 4 + self.category.priority() as u32
    }

    fn category(&self) -> AccessCategory {
        self.category
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + limit.min(1500), 0);
    }
}

struct Discard;

impl Sink<Datagram> for Discard {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {}
}

/// Offers a packet of each flow (from, to, category) every `every_us`.
fn play(scenario: Scenario, flows: &[(u16, u16, AccessCategory)], every_us: u64, seconds: u64) -> Counters {
    let mut link = WlanLink::new(scenario).expect("a scenario");
    for tick in 0..seconds * 1_000_000 / every_us {
        let now_ns = tick * every_us * 1_000;
        link.advance(now_ns, &mut Discard);
        for &(from, to, category) in flows {
            let _ = link.offer(now_ns, HostId(from), HostId(to), Datagram { category, to });
        }
    }
    link.counters()
}

fn mbit_s(packets: u64, seconds: u64) -> f64 {
    packets as f64 * 1_472.0 * 8.0 / seconds as f64 / 1e6
}

/// The model of "Ending the Anomaly" (Høiland-Jørgensen et al., USENIX ATC 2017, table 1) with ath9k's limits: each of three
/// stations gets a third of the airtime; 42.2, 42.3 and 2.2 Mbit/s. The model has no beacons, and its aggregates are those
/// measured there; so 5 %.
#[test]
fn airtime_is_shared_fairly() {
    let queueing = Queueing { kind: QueueKind::Airtime, ..Queueing::default() };
    let ath9k = Station {
        queueing: Some(queueing),
        hardware_ppdus: 2,
        ampdu_max_subframes: 32,
        ampdu_max_us: 4_000,
        queue_packets: 10_000,
        ..Station::default()
    };
    let station = |name: &str, mcs| Station { name: name.to_owned(), mcs, ap_mcs: Some(mcs), ..Station::default() };
    let stations = vec![Station { count: 2, ..station("fast", 15) }, station("slow", 0)];
    let scenario = Scenario { seed: 1, ap: ath9k, stations, ..Scenario::default() };
    let flows = [1, 2, 3].map(|to| (0, to, AccessCategory::BestEffort));
    let counters = play(scenario, &flows, 120, 10);
    let airtime: Vec<f64> = counters.stations.iter().map(|station| station.down.airtime_ns as f64).collect();
    let total: f64 = airtime.iter().sum();
    let jain = total * total / (3.0 * airtime.iter().map(|ns| ns * ns).sum::<f64>());
    assert!(jain > 0.99, "{jain}: {airtime:?}");
    for (station, model) in counters.stations.iter().zip([42.2, 42.3, 2.2]) {
        let measured = mbit_s(station.down.packets_delivered, 10);
        println!("{}: {measured:.2}, model {model}", station.name);
        assert!((measured / model - 1.0).abs() < 0.05, "{}: {measured:.2}, model {model}", station.name);
    }
    assert!(counters.ap.drops.codel > 0 && counters.ap.hardware_max_us > 0);
}

/// A saturated voice category leaves best effort of the same access point little, and video more.
#[test]
fn higher_categories_go_first() {
    // A queue for each category: none can fill that of another.
    let queueing = Some(Queueing { kind: QueueKind::Fifo, ..Queueing::default() });
    let ap = Station { tx_ampdu: false, queueing, ..Station::default() };
    let scenario = Scenario { ap: ap.clone(), seed: 2, ..Scenario::default() };
    use AccessCategory::{Background, BestEffort, Video, Voice};
    let alone = play(scenario.clone(), &[(0, 1, Voice)], 100, 2);
    let delivered = |counters: &Counters, category: AccessCategory| {
        let row = counters.stations[0].down.categories.of(category);
        row.mpdus - row.retries
    };
    let all = play(scenario, &[(0, 1, Background), (0, 1, BestEffort), (0, 1, Video), (0, 1, Voice)], 400, 2);
    let share: Vec<u64> = AccessCategory::BY_PRIORITY.iter().map(|&category| delivered(&all, category)).collect();
    assert!(share[3] > share[2] && share[2] > share[1] && share[1] >= share[0], "{share:?}");
    assert!(all.ap.internal_collisions > 0);
    // TXOPs of 1.504 ms: several exchanges, SIFS apart, for each contention. (228 + 16 + 28 + 16 µs each.)
    let rate = delivered(&alone, Voice) as f64 / 2.0;
    assert!(rate > 3_200.0, "{rate} packets per second");
}

/// Two stations, one with voice, one with best effort, both saturated: AIFSN 2 and a window of 3 slots against 3 and 15.
#[test]
fn voice_wins_against_another_stations_best_effort() {
    let station = Station { count: 2, tx_ampdu: false, ..Station::default() };
    let scenario = Scenario { stations: vec![station], seed: 3, ..Scenario::default() };
    let flows = [(1, 0, AccessCategory::Voice), (2, 0, AccessCategory::BestEffort)];
    let counters = play(scenario, &flows, 200, 5);
    let [voice, best_effort] = [0, 1].map(|station| counters.stations[station].up.packets_delivered);
    assert!(voice > 4 * best_effort && best_effort > 0, "{voice} {best_effort}");
    assert!(counters.collisions > 0);
}

/// Rate control finds what the noise allows: the goodput at each signal-to-noise ratio is that of the best fixed rate, less
/// what trying others costs.
#[test]
fn rate_control_is_nearly_as_good_as_the_best_fixed_rate() {
    let run = |rate_control, mcs, snr_db| {
        let dut = Station { rate_control, mcs, short_gi: false, snr_db: Some(snr_db), ..Station::default() };
        let ap = Station { snr_db: Some(35.0), ..Station::default() };
        let medium = Medium { beacons: false, ..Medium::default() };
        let counters = play(
            Scenario { seed: 4, dut, ap, medium, ..Scenario::default() },
            &[(1, 0, AccessCategory::BestEffort)],
            150,
            3,
        );
        mbit_s(counters.dut.packets_delivered, 3)
    };
    for snr_db in [6.0, 13.0, 19.5, 24.0, 35.0] {
        let best = (0..8).map(|mcs| run(RateControl::Fixed, mcs, snr_db)).fold(0.0, f64::max);
        let controlled = run(RateControl::MinstrelHt, 7, snr_db);
        println!("{snr_db} dB: {controlled:.1}, best fixed {best:.1}");
        assert!(controlled > 0.85 * best && controlled < 1.05 * best, "{snr_db} dB: {controlled:.1}, fixed {best:.1}");
    }
}

/// A station's packets for another go through the access point.
#[test]
fn stations_reach_each_other() {
    let scenario = Scenario { stations: vec![Station { count: 2, ..Station::default() }], ..Scenario::default() };
    let counters = play(scenario, &[(1, 2, AccessCategory::BestEffort)], 2_000, 1);
    let [one, two] = [0, 1].map(|station| &counters.stations[station]);
    assert!(one.radio.packets_delivered >= 498, "{}", one.radio.packets_delivered);
    assert!(one.up.mpdus - one.up.retries >= one.radio.packets_delivered);
    assert_eq!(two.down.packets_delivered, one.radio.packets_delivered);
}
