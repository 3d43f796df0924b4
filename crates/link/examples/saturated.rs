//! How fast the 802.11 link runs: saturated UDP in virtual time, on one core.
//!
//! ```text
//! cargo run --release -p txop-link --example saturated [SECONDS]
//! ```
//!
//! For each case: simulated seconds per second of one core (by the wall clock: on a busy machine it shows less), goodput, and PPDUs. The cases are those that ns-3 was measured with
//! (1472 bytes of UDP payload in HT, 1500-byte packets in 802.11a, 5 GHz).

use std::time::Instant;

use txop_link::{HostId, Link, Offer, Packet, Phy, Scenario, Sink, Station, WlanLink};

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

/// Keeps the number of packets in the queues of each flow where it was.
struct Sources {
    delivered: u64,
    freed: Vec<(HostId, u64)>,
}

impl Sink<Datagram> for Sources {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {
        self.delivered += 1;
    }
}

fn run(name: &str, scenario: Scenario, flows: &[(HostId, HostId)], payload: usize, seconds: u64) {
    let mut link = WlanLink::new(scenario).expect("a scenario");
    let mut sources = Sources { delivered: 0, freed: Vec::new() };
    let offer = |link: &mut WlanLink<Datagram>, now_ns| {
        for &(from, to) in flows {
            while link.queued(from) < 100 * flows.iter().filter(|flow| flow.0 == from).count() {
                if link.offer(now_ns, from, to, Datagram) != Offer::Accepted {
                    break;
                }
                if flows.len() > 1 && from == HostId::SERVER {
                    break;
                }
            }
        }
    };
    let began = Instant::now();
    let mut now_ns = 0;
    // A tick as long as the shortest time in which a queue of 100 packets could run dry.
    while now_ns < seconds * 1_000_000_000 {
        offer(&mut link, now_ns);
        now_ns += 1_000_000;
        link.advance(now_ns, &mut sources);
    }
    let cpu = began.elapsed().as_secs_f64();
    let counters = link.counters();
    let ppdus = counters.ap.ppdus + counters.stations.iter().map(|station| station.radio.ppdus).sum::<u64>();
    println!(
        "{name:<28} {:>8.0} simulated s per s   {:>7.3} Mbit/s   {:>6} PPDUs/s   {:>6} collisions/s",
        seconds as f64 / cpu,
        (sources.delivered * payload as u64 * 8) as f64 / seconds as f64 / 1e6,
        ppdus / seconds,
        counters.collisions / seconds,
    );
    sources.freed.clear();
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(60, |text| text.parse().expect("a number of seconds"));
    let ht = |mcs, short_gi| Station { mcs, short_gi, queue_packets: 2_000, ..Station::default() };
    let stations = |stations: Vec<Station>, ap: Station| Scenario { stations, ap, seed: 1, ..Scenario::default() };
    let down = |n: u16| -> Vec<_> { (1..=n).map(|to| (HostId::SERVER, HostId(to))).collect() };
    let up = |n: u16| -> Vec<_> { (1..=n).map(|from| (HostId(from), HostId::SERVER)).collect() };
    let lgi = ht(7, false);
    run("HT MCS7, 1 station, down", stations(vec![lgi.clone()], lgi.clone()), &down(1), 1_472, seconds);
    for n in [1, 5, 20, 100] {
        let many = stations(vec![Station { count: n, ..lgi.clone() }], lgi.clone());
        run(&format!("HT MCS7, {n} stations, up"), many, &up(n), 1_472, seconds);
    }
    let idle = stations(vec![Station { count: 500, ..lgi.clone() }], lgi.clone());
    run("HT MCS7, 1 of 500 sends, up", idle, &up(1), 1_472, seconds);
    let many = stations(vec![Station { count: 20, ..lgi.clone() }], lgi.clone());
    run("HT MCS7, 20 stations, down", many, &down(20), 1_472, seconds);
    let a = Station { phy: Phy::Ofdm, ..lgi.clone() };
    let many = stations(vec![Station { count: 20, ..a.clone() }], a);
    run("802.11a 54M, 20 stations, up", many, &up(20), 1_500, seconds);
    let (fast, slow) = (ht(15, true), ht(0, true));
    let groups = vec![Station { ap_mcs: Some(15), count: 2, ..fast }, Station { ap_mcs: Some(0), ..slow }];
    run("2 x MCS15, 1 x MCS0, down", stations(groups, ht(15, true)), &down(3), 1_472, seconds);
}
