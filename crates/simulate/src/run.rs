//! One scenario, one seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use hdrhistogram::Histogram;
use link::scenario::{FlowKind, FlowSettings, LinkSettings, Problem, ScenarioFile};
use link::urb::Transfer;
use link::{HostId, Link, Offer, WlanLink};
use serde_json::Value;

use crate::packet::Datagram;
use crate::record::{Direction, Record, CAUSES};
use crate::result::{
    AirResult, DirectionResult, Drop, EndpointResult, FlowResult, Latency, Run, SeriesResult, StationResult,
};

const NS: f64 = 1e9;
/// Points of a latency distribution.
const CDF_POINTS: usize = 100;
/// IP and UDP (or ICMP echo) headers.
const HEADERS: u32 = 28;
/// Events between two looks at whether to stop.
const LOOK: u32 = 4_096;

/// A flow while it runs.
struct Source {
    from: HostId,
    to: HostId,
    packet: Datagram,
    every_ns: f64,
    count: u64,
    start_ns: u64,
    stop_ns: u64,
}

/// Runs a scenario once; `None`: it was stopped.
///
/// # Errors
/// A scenario that cannot be.
pub fn run(scenario: &ScenarioFile, seed: u64, stop: &AtomicBool) -> Result<Option<Run>, Problem> {
    scenario.check_simulated()?;
    match scenario.link()? {
        LinkSettings::Wlan(wlan) => {
            let mut settings = wlan.clone();
            settings.seed = seed;
            let link = WlanLink::new(settings)?;
            Ok(drive(scenario, seed, link, stop, |link| serde_json::to_value(link.counters()).unwrap_or(Value::Null)))
        }
    }
}

fn drive<L: Link<Datagram>>(
    scenario: &ScenarioFile,
    seed: u64,
    mut link: L,
    stop: &AtomicBool,
    counters: impl Fn(&L) -> Value,
) -> Option<Run> {
    let ns = |s: f64| (s * NS).round() as u64;
    let begin_ns = ns(scenario.run.warm_up_s);
    let end_ns = begin_ns + ns(scenario.run.duration_s);
    let hosts = scenario.hosts();
    let mut sources: Vec<Source> =
        scenario.traffic.iter().enumerate().map(|(number, flow)| source(number, flow, &hosts, end_ns)).collect();
    let mut record = Record::new(hosts.len(), sources.len(), begin_ns, end_ns, ns(scenario.run.sample_s));
    let mut due: BinaryHeap<Reverse<(u64, usize)>> =
        sources.iter().enumerate().map(|(number, source)| Reverse((source.start_ns, number))).collect();
    let mut looks = 0u32;
    loop {
        let next_link = link.next_event().unwrap_or(u64::MAX);
        let next_source = due.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        let now = next_link.min(next_source);
        if now >= end_ns {
            break;
        }
        looks += 1;
        if looks % LOOK == 0 && stop.load(Ordering::Relaxed) {
            return None;
        }
        if next_link <= next_source {
            link.advance(now, &mut record);
            for (at_ns, packet) in record.arrived() {
                let source = &sources[packet.flow as usize];
                let delay_ns = at_ns - packet.sent_ns;
                if packet.asks {
                    let answer = Datagram { asks: false, ..packet };
                    offer(&mut link, &mut record, at_ns, source.to, source.from, answer);
                } else {
                    record.reached(at_ns, &packet, delay_ns);
                }
            }
            continue;
        }
        due.pop().map(|Reverse((_, number))| {
            let source = &mut sources[number];
            let packet = Datagram { sent_ns: now, ..source.packet };
            let (from, to) = (source.from, source.to);
            source.count += 1;
            let next_ns = source.start_ns + (source.count as f64 * source.every_ns) as u64;
            if next_ns < source.stop_ns {
                due.push(Reverse((next_ns, number)));
            }
            offer(&mut link, &mut record, now, from, to, packet);
        });
    }
    link.settle(&mut record);
    Some(result(scenario, seed, &hosts, &record, counters(&link)))
}

fn offer(link: &mut impl Link<Datagram>, record: &mut Record, now_ns: u64, from: HostId, to: HostId, packet: Datagram) {
    let dropped = match link.offer(now_ns, from, to, packet) {
        Offer::Accepted => None,
        Offer::Dropped(cause) => Some(cause),
    };
    record.offered(now_ns, &packet, dropped);
}

fn source(number: usize, flow: &FlowSettings, hosts: &[String], end_ns: u64) -> Source {
    let host = |name: &String| HostId(hosts.iter().position(|host| host == name).unwrap_or(0) as u16);
    let is_ping = flow.kind == FlowKind::Ping;
    let size_bytes = flow.packet_bytes.unwrap_or(if is_ping { 84 } else { 1_500 });
    let every_ns = match (flow.rate_mbit_s, flow.interval_ms) {
        (Some(rate), _) => f64::from(size_bytes) * 8.0 * 1e3 / rate,
        (None, ms) => ms.unwrap_or(10.0) * 1e6,
    };
    Source {
        from: host(&flow.from),
        to: host(&flow.to),
        packet: Datagram {
            flow: number as u32,
            size_bytes,
            payload_bytes: size_bytes - HEADERS,
            category: flow.category.into(),
            sent_ns: 0,
            asks: is_ping,
        },
        every_ns,
        count: 0,
        start_ns: (flow.start_s * NS) as u64,
        stop_ns: flow.stop_s.map_or(end_ns, |s| (s * NS) as u64),
    }
}

fn result(scenario: &ScenarioFile, seed: u64, hosts: &[String], record: &Record, counters: Value) -> Run {
    let measured_s = scenario.run.duration_s;
    let flows: Vec<FlowResult> = scenario
        .traffic
        .iter()
        .zip(&record.flows)
        .enumerate()
        .map(|(number, (settings, flow))| FlowResult {
            name: settings.name.clone().unwrap_or_else(|| format!("{number}")),
            kind: match settings.kind {
                FlowKind::Tcp => "tcp",
                FlowKind::Udp => "udp",
                FlowKind::Ping => "ping",
            },
            from: settings.from.clone(),
            to: settings.to.clone(),
            packets_offered: flow.offered_packets,
            packets_delivered: flow.delivered_packets,
            goodput_mbit_s: (settings.kind != FlowKind::Ping)
                .then(|| flow.payload_bytes as f64 * 8.0 / 1e6 / measured_s),
            latency: latency(&flow.delay_ns),
            drops: CAUSES
                .into_iter()
                .zip(flow.drops)
                .filter(|&(_, packets)| packets > 0)
                .map(|(cause, packets)| Drop { cause, packets })
                .collect(),
        })
        .collect();
    Run {
        seed,
        measured_s,
        goodput_mbit_s: flows.iter().filter_map(|flow| flow.goodput_mbit_s).sum(),
        flows,
        air: Some(air(record, &hosts[1..], measured_s)),
        bus: bus(record, measured_s),
        counters,
        series: series(record, scenario.run.sample_s),
    }
}

fn latency(times: &Histogram<u64>) -> Option<Latency> {
    let ms = |ns: u64| ns as f64 / 1e6;
    let at = |share: f64| ms(times.value_at_quantile(share));
    (!times.is_empty()).then(|| Latency {
        n: times.len(),
        min_ms: ms(times.min()),
        mean_ms: times.mean() / 1e6,
        p5_ms: at(0.05),
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        p99_ms: at(0.99),
        max_ms: ms(times.max()),
        cdf: (0..=CDF_POINTS)
            .map(|point| point as f64 / CDF_POINTS as f64)
            .map(|share| (if share == 0.0 { ms(times.min()) } else { at(share) }, share))
            .collect(),
    })
}

fn air(record: &Record, names: &[String], measured_s: f64) -> AirResult {
    let share = |ns: u64| ns as f64 / NS / measured_s;
    let time = |[down, up]: &[Direction; 2]| down.data_ns + down.control_ns + up.data_ns + up.control_ns;
    let all_ns: u64 = record.air.stations.iter().map(time).sum();
    let squares: f64 = record.air.stations.iter().map(|station| (time(station) as f64).powi(2)).sum();
    let count = record.air.stations.len();
    AirResult {
        busy_share: share(record.air.busy_ns),
        broadcast_share: share(record.air.broadcast_ns),
        ppdus_collided: record.air.collided_ppdus,
        jain: (count > 1 && squares > 0.0).then(|| (all_ns as f64).powi(2) / (count as f64 * squares)),
        stations: record
            .air
            .stations
            .iter()
            .zip(names)
            .map(|(station, name)| StationResult {
                name: name.clone(),
                airtime_share: share(time(station)),
                share_of_stations: (all_ns > 0).then(|| time(station) as f64 / all_ns as f64),
                down: direction(&station[0], measured_s),
                up: direction(&station[1], measured_s),
            })
            .collect(),
    }
}

fn direction(found: &Direction, measured_s: f64) -> DirectionResult {
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let sizes = found.sizes.iter().enumerate().filter(|&(_, &ppdus)| ppdus > 0);
    DirectionResult {
        ppdus: found.ppdus,
        ppdus_collided: found.ppdus_collided,
        mpdus: found.mpdus,
        retries: found.retries,
        retry_percent: ratio(found.retries, found.mpdus).map(|share| 100.0 * share),
        data_airtime_share: found.data_ns as f64 / NS / measured_s,
        control_airtime_share: found.control_ns as f64 / NS / measured_s,
        mean_aggregate: ratio(found.mpdus, found.ppdus),
        aggregates: sizes.map(|(size, &ppdus)| (size, ppdus)).collect(),
    }
}

fn bus(record: &Record, measured_s: f64) -> Vec<EndpointResult> {
    let endpoints = record.bus.endpoints.iter();
    let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
    endpoints
        .map(|(&(device, address), endpoint)| EndpointResult {
            device,
            endpoint: address,
            direction: if address & 0x80 == 0 { "out" } else { "in" },
            transfer: match endpoint.transfer {
                Transfer::Bulk => "bulk",
                Transfer::Interrupt => "interrupt",
            },
            urbs_per_s: endpoint.urbs as f64 / measured_s,
            errors_per_s: endpoint.errors as f64 / measured_s,
            mbit_s: endpoint.bytes as f64 * 8.0 / 1e6 / measured_s,
            mean_bytes: mean(endpoint.bytes as f64, endpoint.urbs),
            mean_ms: mean(endpoint.taken_ns as f64 / 1e6, endpoint.urbs),
            most_in_flight: endpoint.most_in_flight,
        })
        .collect()
}

fn series(record: &Record, sample_s: f64) -> SeriesResult {
    let flows = &record.series.flows;
    SeriesResult {
        sample_s,
        goodput_mbit_s: flows
            .iter()
            .map(|samples| samples.iter().map(|sample| sample.bytes as f64 * 8.0 / 1e6 / sample_s).collect())
            .collect(),
        latency_ms: flows
            .iter()
            .map(|samples| {
                let mean = samples.iter().map(|s| (s.packets > 0).then(|| s.delay_ns as f64 / 1e6 / s.packets as f64));
                mean.collect()
            })
            .collect(),
        airtime_share: record
            .series
            .stations
            .iter()
            .map(|row| row.iter().map(|&ns| ns as f64 / NS / sample_s).collect())
            .collect(),
    }
}
