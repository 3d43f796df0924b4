//! Modelled TCP over the 802.11 link, against ns-3.
//!
//! Reference: ns-3.44, one station and its access point at 5 GHz, HT20, fixed rates, no losses; TCP with an MSS of 1448
//! bytes and an initial window of 10; a server behind a wire of 1 Gbit/s and 1 ms; a MAC queue of 500 packets below
//! fq_codel; 10 s after 3 s of warm-up. Goodput in Mbit/s.

use txop_link::queue::{MacQueueSettings, QueueKind, Queueing};
use txop_link::traffic::{Congestion, EchoSettings, FlowSettings, TcpSettings, Traffic};
use txop_link::{PathSettings, Scenario, Simulation, SimulationSettings, Station, WlanLink};

struct Case {
    mcs: u8,
    short_gi: bool,
    up: bool,
    congestion: Congestion,
    mac_packets: u32,
    duration_s: f64,
}

const DOWN: Case =
    Case { mcs: 7, short_gi: false, up: false, congestion: Congestion::Cubic, mac_packets: 500, duration_s: 10.0 };

/// Mean goodput, and the median and 95th percentile of an echo beside it, ms.
fn run(case: &Case, seeds: u64) -> (f64, f64, f64) {
    let mut goodput = 0.0;
    let mut echo = txop_link::traffic::Latency::new();
    for seed in 1..=seeds {
        let queueing = Queueing {
            kind: QueueKind::FqCodel,
            mac_queue: MacQueueSettings { packets: case.mac_packets, ..MacQueueSettings::default() },
            ..Queueing::default()
        };
        let station =
            Station { mcs: case.mcs, short_gi: case.short_gi, queueing: Some(queueing), ..Station::default() };
        let scenario = Scenario { seed, dut: station.clone(), ap: station, ..Scenario::default() };
        // ns-3 has no small queues.
        let tcp = TcpSettings { congestion: case.congestion, small_queues: false, ..TcpSettings::default() };
        let (from, to) = if case.up { (1, 0) } else { (0, 1) };
        let flows = [
            FlowSettings::new(from, to, Traffic::Tcp(tcp)),
            FlowSettings::new(0, 1, Traffic::Echo(EchoSettings { interval_ms: 10.0, payload_bytes: 56 })),
        ];
        let settings = SimulationSettings { seed, duration_s: case.duration_s, ..SimulationSettings::default() };
        let link = WlanLink::new(scenario).unwrap();
        let result = Simulation::new(settings, Some(PathSettings::default()), &flows, link).unwrap().run(&mut ());
        goodput += result.flows[0].goodput_mbit_s / seeds as f64;
        echo.merge(&result.flows[1].round_trip);
    }
    (goodput, echo.quantile_ms(0.5).unwrap(), echo.quantile_ms(0.95).unwrap())
}

fn check(name: &str, case: Case, seeds: u64, reference: f64) {
    let (got, median_ms, p95_ms) = run(&case, seeds);
    let off = got / reference - 1.0;
    println!("{name}: {got:.2}, ns-3 {reference}: {:+.1} %; echo {median_ms:.1} {p95_ms:.1} ms", 100.0 * off);
    assert!(off.abs() < 0.05, "{name}: {got:.2} Mbit/s, ns-3 {reference}");
}

#[test]
fn mcs_7_down() {
    check("CUBIC", DOWN, 2, 52.69);
    check("Reno", Case { congestion: Congestion::Reno, ..DOWN }, 1, 52.888);
}

#[test]
fn mcs_7_up() {
    check("up", Case { up: true, ..DOWN }, 2, 50.636);
}

#[test]
fn mcs_15_short_gi() {
    check("MCS 15", Case { mcs: 15, short_gi: true, ..DOWN }, 1, 114.16);
}

/// The queue is a second long: what comes behind a loss waits for two. So longer is measured.
#[test]
fn mcs_0_short_gi() {
    check("MCS 0", Case { mcs: 0, short_gi: true, duration_s: 60.0, ..DOWN }, 1, 5.743);
}

/// With 10 packets in the MAC queue CoDel sees what waits: a tenth of the goodput for a sixteenth of the latency (ns-3:
/// median 6.4 ms, 95th percentile 12.1 ms).
#[test]
fn a_short_mac_queue() {
    let case = Case { mac_packets: 10, ..DOWN };
    let (_, median_ms, p95_ms) = run(&case, 1);
    assert!((median_ms / 6.4 - 1.0).abs() < 0.2 && (p95_ms / 12.1 - 1.0).abs() < 0.25, "{median_ms} {p95_ms}");
    check("10 packets", case, 1, 47.07);
}
