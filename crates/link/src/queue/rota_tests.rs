//! The choice of the next station, and the airtime queue limits, aggregate by aggregate against Linux's own code.
//!
//! `tests/data/queues/airtime-*.linux.txt` say stations, packets, and which station filled which aggregate when
//! (`bench/oracles/linux_rota.c`).

use std::collections::VecDeque;

use crate::engine::AccessCategory::BestEffort;
use crate::queue::scheduler::Scheduler;
use crate::queue::settings::{AirtimeDiscipline, AirtimeSettings, AqlSettings, FqMacSettings, QueueKind, Queueing};
use crate::queue::station_queues::StationQueues;
use crate::queue::test_queue::Numbered;

/// As large as an aggregate gets, and what comes with each, µs: as in the driver.
const AGGREGATE_US: u32 = 4_000;
const OVERHEAD_US: u32 = 150;

/// Time, ns, station and packets of an aggregate.
type Aggregate = (u64, usize, u32);

struct Transmitter {
    queues: StationQueues<Numbered>,
    packet_us: Vec<u32>,
    depth: usize,
    hardware: VecDeque<(usize, u32)>,
    done_ns: u64,
    sent: Vec<Aggregate>,
}

impl Transmitter {
    fn air_us(&self, (station, packets): (usize, u32)) -> u32 {
        packets * self.packet_us[station] + OVERHEAD_US
    }

    fn fill(&mut self, now_ns: u64) {
        while self.hardware.len() < self.depth {
            let Some(station) = self.queues.next(now_ns, BestEffort) else { return };
            let mut packets = 0;
            while (packets + 1) * self.packet_us[station] <= AGGREGATE_US
                && self.queues.dequeue(now_ns, station, BestEffort, 1500, &mut Vec::new()).is_some()
            {
                self.queues.put_on_air_queue(station, BestEffort, self.packet_us[station]);
                packets += 1;
            }
            if self.hardware.is_empty() {
                self.done_ns = now_ns + 1_000 * u64::from(self.air_us((station, packets)));
            }
            self.hardware.push_back((station, packets));
            self.sent.push((now_ns, station, packets));
        }
    }

    /// Lets aggregates end until that time.
    fn advance(&mut self, until_ns: u64) {
        while let Some(&(station, packets)) = self.hardware.front().filter(|_| self.done_ns < until_ns) {
            let now_ns = self.done_ns;
            let air_us = self.air_us((station, packets));
            self.queues.completed(now_ns, station, BestEffort, packets * self.packet_us[station], air_us);
            self.hardware.pop_front();
            if let Some(&next) = self.hardware.front() {
                self.done_ns = now_ns + 1_000 * u64::from(self.air_us(next));
            }
            self.fill(now_ns);
        }
    }
}

fn numbers<const N: usize>(words: &str) -> [u64; N] {
    let all: Vec<u64> = words.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    all.try_into().expect("as many numbers")
}

fn compare(name: &str, text: &str, aggregates: usize) {
    let (head, trace) = text.split_once("\ntrace\n").expect("a trace");
    let lines = |first: &'static str| head.lines().filter_map(move |line| line.strip_prefix(first));
    let stations: Vec<[u64; 3]> = lines("station ").map(numbers).collect();
    let depth = lines("hardware depth=").next().and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a depth");
    let settings = Queueing {
        kind: QueueKind::Airtime,
        // CoDel and the limits are not what is tested.
        fq_mac: FqMacSettings { packets: 1_000_000, memory_bytes: 1 << 31, target_ms: 10_000.0, ..Default::default() },
        airtime: AirtimeSettings {
            discipline: AirtimeDiscipline::Mac80211,
            weights: stations.iter().map(|station| station[1] as u32).collect(),
            ..Default::default()
        },
        aql: AqlSettings { on: head.contains("aql=1"), ..Default::default() },
        ..Default::default()
    };
    let mut transmitter = Transmitter {
        queues: StationQueues::new(&settings, stations.len(), 0),
        packet_us: stations.iter().map(|station| station[2] as u32).collect(),
        depth,
        hardware: VecDeque::new(),
        done_ns: 0,
        sent: Vec::new(),
    };
    for [at_us, station, packets] in lines("packets ").map(numbers) {
        transmitter.advance(at_us * 1_000);
        for number in 0..packets {
            let packet = Numbered { flow: station as u32, ..Numbered::new(number) };
            transmitter.queues.enqueue(at_us * 1_000, station as usize, BestEffort, packet, &mut Vec::new());
        }
        transmitter.fill(at_us * 1_000);
    }
    transmitter.advance(u64::MAX);
    let theirs: Vec<Aggregate> =
        trace.lines().map(numbers).map(|[at_ns, station, packets]| (at_ns, station as usize, packets as u32)).collect();
    for (index, (ours, theirs)) in transmitter.sent.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "{name}: aggregate {index}");
    }
    assert_eq!((transmitter.sent.len(), theirs.len()), (aggregates, aggregates), "{name}");
}

#[test]
fn turns_by_airtime_are_those_of_linux() {
    compare("busy", include_str!("../../tests/data/queues/airtime-busy.linux.txt"), 1714);
    compare("pauses", include_str!("../../tests/data/queues/airtime-pauses.linux.txt"), 613);
}

#[test]
fn turns_under_airtime_queue_limits_are_those_of_linux() {
    compare("aql", include_str!("../../tests/data/queues/airtime-aql.linux.txt"), 1430);
}
