//! Packet by packet against independent implementations.
//!
//! `tests/data/queues/*.txt` say an arrival pattern and what another implementation made of it (`bench/oracles` has the
//! drivers). Here the same pattern goes through our queues, which must give the same packets in the same order, drop and
//! mark the same ones, at the same nanosecond.

use std::collections::HashMap;

use crate::engine::DropCause;
use crate::queue::codel::CodelParameters;
use crate::queue::fq_codel::FqCodel;
use crate::queue::fq_mac::FqMac;
use crate::queue::qdisc::{Item, Qdisc};
use crate::queue::settings::{FqCodelSettings, FqMacSettings};
use crate::queue::test_queue::{Numbered, OneCodel};
use crate::queue::ControlLaw;

/// With it the flows of the files have queues of their own (but where there is only one).
const PERTURBATION: u64 = 7;

struct Arrival {
    at_ns: u64,
    flow: u32,
    bytes: u32,
    ecn: bool,
}

/// What a file says.
struct Scenario {
    queue: HashMap<String, String>,
    rate_kbit_s: u64,
    arrivals: Vec<Arrival>,
    /// A token for each packet, in order.
    trace: Vec<String>,
}

impl Scenario {
    fn number(&self, key: &str) -> u64 {
        self.queue[key].parse().expect(key)
    }

    fn read(text: &str) -> Self {
        let (head, trace) = text.split_once("\ntrace\n").expect("a trace");
        let mut scenario = Self {
            queue: HashMap::new(),
            rate_kbit_s: 0,
            arrivals: Vec::new(),
            trace: trace.split_whitespace().map(str::to_owned).collect(),
        };
        for line in head.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("queue") => {
                    scenario.queue.insert("kind".to_owned(), words.next().expect("a kind").to_owned());
                    let pairs = words.filter_map(|word| word.split_once('='));
                    scenario.queue.extend(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
                }
                Some("rate_kbit_s") => scenario.rate_kbit_s = words.next().expect("a rate").parse().expect("a rate"),
                Some("flow") => {
                    let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
                    scenario.add_flow(numbers.try_into().expect("ten numbers"));
                }
                _ => assert!(line.starts_with("tool "), "{line}"),
            }
        }
        scenario.arrivals.sort_by_key(|arrival| (arrival.at_ns, arrival.flow));
        scenario
    }

    /// The numbers are in `bench/oracles/replay.hpp`.
    fn add_flow(&mut self, numbers: [u64; 10]) {
        let [flow, start, stop, gap, gap_span, on, off, bytes, bytes_span, ecn] = numbers;
        let mut state = flow;
        let mut below = |span: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).checked_rem(span).unwrap_or(0)
        };
        let mut at = start;
        while at < stop {
            if off == 0 || (at - start) % (on + off) < on {
                let bytes = (bytes + below(bytes_span)) as u32;
                self.arrivals.push(Arrival { at_ns: at * 1_000, flow: flow as u32, bytes, ecn: ecn != 0 });
            }
            at += gap + below(gap_span);
        }
    }

    /// Replays the arrivals and gives our trace.
    fn replay(&self, queue: &mut impl Qdisc<Numbered>) -> Vec<String> {
        let mut trace = Vec::new();
        let mut arrivals = self.arrivals.iter().enumerate().peekable();
        let mut idle_ns = None;
        let mut dropped = Vec::new();
        loop {
            let arrival = arrivals.next_if(|(_, arrival)| idle_ns.is_none_or(|idle_ns| arrival.at_ns <= idle_ns));
            let now_ns = if let Some((number, arrival)) = arrival {
                let packet = Numbered {
                    number: number as u64,
                    flow: arrival.flow,
                    bytes: arrival.bytes as usize,
                    ecn_capable: arrival.ecn,
                    marked: false,
                };
                queue.enqueue(Item::new(arrival.at_ns, 0, 0, packet), &mut dropped);
                arrival.at_ns
            } else if let Some(idle_ns) = idle_ns {
                idle_ns
            } else {
                return trace;
            };
            let departed = if arrival.is_some() && idle_ns.is_some() {
                None
            } else {
                let item = queue.dequeue(now_ns, &mut dropped);
                idle_ns = item.as_ref().map(|item| now_ns + u64::from(item.bytes) * 8_000_000 / self.rate_kbit_s);
                item.map(|item| item.packet)
            };
            trace.extend(dropped.drain(..).map(|(packet, _)| format!("-{}@{now_ns}", packet.number)));
            trace.extend(departed.map(|packet| match packet.marked {
                true => format!("{}m@{now_ns}", packet.number),
                false => packet.number.to_string(),
            }));
        }
    }
}

/// mac80211's queues of some stations, which take turns a packet each.
struct Stations {
    fq: FqMac<Numbered>,
    parameters: CodelParameters,
    stations: usize,
    turn: usize,
}

impl Stations {
    fn new(scenario: &Scenario) -> Self {
        let settings = FqMacSettings {
            packets: scenario.number("packets") as u32,
            flows: scenario.number("flows") as u32,
            quantum_bytes: scenario.number("quantum_bytes") as u32,
            memory_bytes: scenario.number("memory_bytes"),
            target_ms: scenario.number("target_us") as f64 / 1e3,
            interval_ms: scenario.number("interval_us") as f64 / 1e3,
            ecn: scenario.number("ecn") != 0,
            law: ControlLaw::Linux,
            ..FqMacSettings::default()
        };
        let [parameters, _] = settings.codel();
        let stations = scenario.number("stations") as usize;
        Self { fq: FqMac::new(&settings, stations, PERTURBATION), parameters, stations, turn: 0 }
    }
}

impl Qdisc<Numbered> for Stations {
    fn enqueue(&mut self, item: Item<Numbered>, dropped: &mut Vec<(Numbered, DropCause)>) {
        let station = item.packet.flow as usize % self.stations;
        self.fq.enqueue(station, item, dropped);
    }

    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<(Numbered, DropCause)>) -> Option<Item<Numbered>> {
        (0..self.stations).find_map(|_| {
            let station = self.turn % self.stations;
            self.turn += 1;
            self.fq.dequeue(now_ns, station, &self.parameters, dropped)
        })
    }

    fn packets(&self) -> usize {
        self.fq.packets()
    }
}

fn fq_codel(scenario: &Scenario) -> FqCodelSettings {
    FqCodelSettings {
        packets: scenario.number("packets") as u32,
        flows: scenario.number("flows") as u32,
        quantum_bytes: scenario.number("quantum_bytes") as u32,
        target_ms: scenario.number("target_us") as f64 / 1e3,
        interval_ms: scenario.number("interval_us") as f64 / 1e3,
        drop_batch: scenario.number("drop_batch") as u32,
        spared_bytes: scenario.number("spared_bytes") as u32,
        memory_bytes: scenario.queue.get("memory_bytes").map_or(32 << 20, |bytes| bytes.parse().expect("bytes")),
        ecn: scenario.number("ecn") != 0,
        law: ControlLaw::Linux,
    }
}

/// Replays a file and compares, token by token.
fn compare(name: &str, text: &str) -> Scenario {
    let scenario = Scenario::read(text);
    let ours = match scenario.queue["kind"].as_str() {
        "codel" => scenario.replay(&mut OneCodel::new(CodelParameters {
            target_ns: scenario.number("target_us") * 1_000,
            interval_ns: scenario.number("interval_us") * 1_000,
            spared_bytes: scenario.number("spared_bytes"),
            ecn: scenario.number("ecn") != 0,
            law: ControlLaw::Linux,
        })),
        "fq_codel" => scenario.replay(&mut FqCodel::new(&fq_codel(&scenario), PERTURBATION)),
        "fq_mac" => scenario.replay(&mut Stations::new(&scenario)),
        kind => panic!("{name}: {kind}"),
    };
    let same = ours.iter().zip(&scenario.trace).take_while(|(ours, theirs)| ours == theirs).count();
    let (mine, theirs) = (ours.get(same..).unwrap_or_default(), scenario.trace.get(same..).unwrap_or_default());
    assert!(
        mine.is_empty() && theirs.is_empty(),
        "{name}: after {same} of {} packets ours goes on {:?}, theirs {:?}",
        scenario.trace.len(),
        &mine[..mine.len().min(5)],
        &theirs[..theirs.len().min(5)],
    );
    assert_eq!(ours.len(), scenario.arrivals.len());
    scenario
}

fn drops(scenario: &Scenario) -> usize {
    scenario.trace.iter().filter(|token| token.starts_with('-')).count()
}

#[test]
fn codel_is_that_of_ns3() {
    let overload = compare("overload", include_str!("../../tests/data/queues/codel-overload.ns3.txt"));
    assert_eq!((overload.arrivals.len(), drops(&overload)), (2941, 193));
    let bursts = compare("bursts", include_str!("../../tests/data/queues/codel-bursts.ns3.txt"));
    assert_eq!((bursts.arrivals.len(), drops(&bursts)), (4695, 134));
}

#[test]
fn fq_codel_is_that_of_ns3() {
    compare("mixed", include_str!("../../tests/data/queues/fq_codel-mixed.ns3.txt"));
    compare("overlimit", include_str!("../../tests/data/queues/fq_codel-overlimit.ns3.txt"));
}

#[test]
fn codel_is_that_of_linux() {
    compare("ecn", include_str!("../../tests/data/queues/codel-ecn.linux.txt"));
}

#[test]
fn fq_codel_is_that_of_linux() {
    compare("overload", include_str!("../../tests/data/queues/fq_codel-overload.linux.txt"));
}

#[test]
fn the_flow_queues_of_stations_are_those_of_linux() {
    compare("stations", include_str!("../../tests/data/queues/fq_mac-stations.linux.txt"));
    compare("overlimit", include_str!("../../tests/data/queues/fq_mac-overlimit.linux.txt"));
}
