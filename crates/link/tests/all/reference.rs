//! Saturated UDP in virtual time against the closed form and against ns-3.
//!
//! Reference figures: one station and its access point at 5 GHz, HT20, no losses, UDP payload of 1472 bytes.
//! - ns-3.44 (development version after 3.43; fixed rates, one wired server, 10 s after 3 s of warm-up), Mbit/s.
//! - Closed form: 8 x 1472 x k / (T_ppdu + SIFS + T_answer + AIFS + CWmin/2 slots), k MPDUs in a PPDU.

use std::collections::VecDeque;

use txop_link::{Counters, DropCause, HostId, Link, Medium, Offer, Packet, Scenario, Sink, Station, WlanLink};

const DUT: HostId = HostId(1);
const AP: HostId = HostId::SERVER;
const BOTH: [HostId; 2] = [DUT, AP];

fn other(host: HostId) -> HostId {
    HostId(1 - host.0)
}

const PAYLOAD_BITS: f64 = 1472.0 * 8.0;
const SECOND: u64 = 1_000_000_000;

/// A packet of 1500 bytes with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbered(u64);

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        1500
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + limit.min(1500), 0);
    }
}

#[derive(Default)]
struct Ends {
    received: [VecDeque<u64>; 2],
    last_ns: [u64; 2],
}

impl Sink<Numbered> for Ends {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Numbered) {
        assert!(at_ns >= self.last_ns[to.index()], "packets come in the order of their times");
        self.last_ns[to.index()] = at_ns;
        self.received[to.index()].push_back(packet.0);
    }
}

/// Lets `sources` send as much as they can for some seconds.
fn saturate(scenario: Scenario, sources: &[HostId], seconds: u64) -> (Counters, Ends) {
    let mut link = WlanLink::new(scenario).expect("a scenario");
    let mut ends = Ends::default();
    let mut next = [0u64; 2];
    let mut now = 0;
    while now < seconds * SECOND {
        for &side in sources {
            while link.queued(side) < 200 {
                assert_eq!(link.offer(now, side, other(side), Numbered(next[side.index()])), Offer::Accepted);
                next[side.index()] += 1;
            }
        }
        now = link.next_event().expect("a saturated link has something to do");
        link.advance(now, &mut ends);
    }
    (link.counters(), ends)
}

/// Goodput of a saturated `from`, Mbit/s.
fn goodput(mut scenario: Scenario, from: HostId) -> f64 {
    scenario.seed = 11;
    let (counters, ends) = saturate(scenario, &[from], 20);
    let delivered = match from {
        AP => counters.ap.packets_delivered,
        _ => counters.dut.packets_delivered,
    };
    let received = &ends.received[other(from).index()];
    assert_eq!(received.len() as u64, delivered);
    assert!(received.iter().copied().eq(0..delivered), "everything arrives once, in order");
    delivered as f64 * PAYLOAD_BITS / 20e6
}

fn both(station: Station) -> Scenario {
    Scenario { dut: station.clone(), ap: station, ..Scenario::default() }
}

fn station(mcs: u8, short_gi: bool) -> Station {
    Station { mcs, short_gi, ..Station::default() }
}

fn check(name: &str, measured: f64, reference: f64, tolerance: f64) {
    let off = 100.0 * (measured - reference) / reference;
    println!("{name}: {measured:.3}, reference {reference:.3} ({off:+.2} %)");
    assert!(off.abs() < tolerance, "{name}: {measured:.3}, reference {reference:.3} ({off:+.2} %)");
}

#[test]
fn goodput_is_that_of_ns3() {
    for (name, station, from, mbit_s) in [
        ("MCS7 LGI down", station(7, false), AP, 59.610),
        ("MCS7 LGI up", station(7, false), DUT, 59.621),
        ("MCS7 SGI down", station(7, true), AP, 66.252),
        ("MCS15 SGI down", station(15, true), AP, 130.159),
        ("MCS15 LGI down", station(15, false), AP, 117.762),
        ("MCS3 LGI down", station(3, false), AP, 23.832),
        ("MCS0 SGI down", station(0, true), AP, 6.571),
        ("MCS0 LGI down", station(0, false), AP, 5.824),
        ("MCS7 LGI no aggregation", Station { tx_ampdu: false, ..station(7, false) }, AP, 30.704),
        ("MCS7 LGI up with RTS", Station { rts: true, ..station(7, false) }, DUT, 58.685),
    ] {
        check(name, goodput(both(station), from), mbit_s, 0.5);
    }
}

#[test]
fn goodput_without_beacons_is_the_closed_form() {
    for (mcs, short_gi, k, ppdu_us, answer_us) in [
        // T_ppdu: 36 µs (40 with two streams) and whole symbols; Block Ack at 24 Mbit/s, at 6 Mbit/s for MCS 0.
        (7, false, 28.0, 5360.0, 32.0),
        (0, false, 2.0, 36.0 + 4.0 * 951.0, 68.0),
        (15, false, 42.0, 40.0 + 4.0 * 998.0, 32.0),
    ] {
        let medium = Medium { beacons: false, ..Medium::default() };
        let closed = PAYLOAD_BITS * k / (ppdu_us + 16.0 + answer_us + 43.0 + 67.5);
        let measured = goodput(Scenario { medium, ..both(station(mcs, short_gi)) }, DUT);
        check(&format!("MCS{mcs}"), measured, closed, 0.3);
    }
}

/// Bianchi's model (IEEE JSAC 18(3), 2000) with two saturated stations (W = 16, m = 6) gives a conditional collision
/// probability of 0.1046. It takes the stations as independent, which for two of them is only roughly so.
#[test]
fn two_stations_collide_as_bianchi_says() {
    let scenario = both(Station { tx_ampdu: false, retry_limit: 255, ..station(7, false) });
    let (counters, _) = saturate(Scenario { seed: 5, ..scenario }, &BOTH, 30);
    let attempts = (counters.dut.ppdus + counters.ap.ppdus) as f64;
    let collided = (counters.dut.ppdus_collided + counters.ap.ppdus_collided) as f64;
    check("collision probability", collided / attempts, 0.1046, 8.0);
    let share = counters.dut.ppdus as f64 / attempts;
    assert!((0.48..0.52).contains(&share), "both get the same share: {share}");
}

#[test]
fn losses_and_missing_answers_cost_what_they_must() {
    let lossy = Station { mpdu_error_rate: 0.1, ..station(7, true) };
    let (counters, ends) = saturate(both(lossy), &[DUT], 10);
    let dut = counters.dut;
    check("share lost", dut.mpdus_lost as f64 / dut.mpdus as f64, 0.1, 3.0);
    check("share sent again", dut.retries as f64 / dut.mpdus as f64, 0.1, 3.0);
    assert_eq!(dut.drops.retry_limit, 0);
    assert!(ends.received[0].iter().copied().eq(0..dut.packets_delivered));

    // One retry only: 1 % of the packets are given up, the rest comes in order, at once after the Block Ack request.
    let strict = Station { retry_limit: 1, mpdu_error_rate: 0.1, ..station(7, true) };
    let (counters, ends) = saturate(both(strict), &[DUT], 10);
    let dut = counters.dut;
    let done = (dut.drops.retry_limit + dut.packets_delivered) as f64;
    check("share given up", dut.drops.retry_limit as f64 / done, 0.01, 15.0);
    assert!(dut.block_ack_requests > 0);
    let received = &ends.received[0];
    assert!(received.iter().zip(received.iter().skip(1)).all(|(a, b)| a < b), "in order, gaps apart");

    let silent = Station { missing_ack_rate: 0.2, ..station(7, true) };
    let (counters, _) = saturate(both(silent), &[DUT], 10);
    let share = counters.ap.answers_missing as f64 / counters.dut.ppdus as f64;
    check("share not answered", share, 0.2, 12.0);
    assert!(counters.ap.duplicates > 0);
}

#[test]
fn a_late_block_ack_makes_the_sender_send_again_what_arrived() {
    let scenario = Scenario { ap: Station { late_block_ack_us: 300, ..station(7, true) }, ..Scenario::default() };
    let (counters, ends) = saturate(scenario, &[DUT], 5);
    let (dut, ap) = (counters.dut, counters.ap);
    // 16 µs of SIFS and 171 µs for each MPDU of 1544 bytes: the last two end less than 300 µs before.
    check("left out in each A-MPDU", ap.left_out_late as f64 / dut.ampdus as f64, 2.0, 2.0);
    assert_eq!(ap.duplicates, dut.retries);
    assert!(ends.received[0].iter().copied().eq(0..dut.packets_delivered));
    assert_eq!((dut.mpdus_lost, dut.drops.retry_limit), (0, 0));
}

#[test]
fn a_host_moves_as_many_packets_as_its_cost_allows() {
    let slow = Station { per_packet_cost_us: 400.0, ..station(7, true) };
    let (sending, _) = saturate(Scenario { dut: slow.clone(), ..Scenario::default() }, &[DUT], 5);
    check("sent per second", sending.dut.packets_delivered as f64 / 5.0, 2_500.0, 1.0);
    let (receiving, _) = saturate(Scenario { dut: slow.clone(), ..Scenario::default() }, &[AP], 5);
    check("received per second", receiving.ap.packets_delivered as f64 / 5.0, 2_500.0, 1.0);
    assert!(receiving.ap.drops.receiver_full > 0);
    let (both_ways, _) = saturate(Scenario { dut: slow, ..Scenario::default() }, &BOTH, 5);
    let all = both_ways.dut.packets_delivered + both_ways.ap.packets_delivered;
    assert!(all as f64 / 5.0 < 2_510.0, "both ways share the host: {all}");
}

#[test]
fn the_queue_drops_what_does_not_fit() {
    let station = Station { queue_packets: 3, ..station(7, true) };
    let mut link = WlanLink::new(both(station)).expect("a scenario");
    let offers: Vec<Offer> = (0..5).map(|n| link.offer(0, HostId::SERVER, HostId(1), Numbered(n))).collect();
    assert_eq!(
        offers[2..],
        [Offer::Accepted, Offer::Dropped(DropCause::QueueFull), Offer::Dropped(DropCause::QueueFull)]
    );
    let mut ends = Ends::default();
    link.advance(SECOND, &mut ends);
    assert_eq!(ends.received[1], [0, 1, 2]);
    let counters = link.counters();
    assert_eq!((counters.ap.packets_offered, counters.ap.drops.queue_full), (5, 2));
    assert_eq!((counters.ap.beacons, counters.ap.ppdus), (9, 1));
}

#[test]
fn the_same_seed_gives_the_same_link() {
    let scenario = |seed| Scenario { seed, ..both(Station { mpdu_error_rate: 0.05, ..station(7, true) }) };
    let run = |seed| saturate(scenario(seed), &BOTH, 2).0;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
