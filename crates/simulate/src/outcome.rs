//! From notes to results.

use air::report::Waterfall;
use link::scenario::FlowKind;
use link::simulation::SimulationResult;
use link::traffic::Latency as Times;
use serde_json::Value;
use wire::usb::TransferType;

use crate::record::{Air, Bus, Direction};
use crate::result::{
    AirResult, DirectionResult, Drop, EndpointResult, FlowResult, Latency, Run, SeriesResult, StationResult,
};

const NS: f64 = 1e9;
/// Points of a latency distribution.
const CDF_POINTS: usize = 100;

/// The result of a run. `kinds`: of the flows; `air`: if the link has one.
pub(crate) fn run(
    found: &SimulationResult,
    kinds: &[FlowKind],
    hosts: &[String],
    air: Option<&Air>,
    bus: &Bus,
    counters: Value,
    waterfalls: Option<Vec<Waterfall>>,
) -> Run {
    let flows: Vec<FlowResult> =
        found.flows.iter().zip(kinds).map(|(flow, kind)| flow_result(flow, *kind, hosts)).collect();
    let measured_s = found.duration_s;
    Run {
        seed: found.seed,
        measured_s,
        goodput_mbit_s: flows.iter().filter_map(|flow| flow.goodput_mbit_s).reduce(|a, b| a + b),
        series: series(found, kinds, air),
        flows,
        air: air.map(|air| air_result(air, hosts.get(1..).unwrap_or_default(), measured_s)),
        bus: bus_result(bus, measured_s),
        counters,
        waterfalls,
    }
}

fn flow_result(flow: &link::simulation::FlowResult, kind: FlowKind, hosts: &[String]) -> FlowResult {
    let name = |host: u16| hosts.get(usize::from(host)).cloned().unwrap_or_default();
    FlowResult {
        name: flow.name.clone(),
        kind,
        from: name(flow.from),
        to: name(flow.to),
        packets_sent: flow.packets_sent,
        packets_received: flow.packets_received,
        goodput_mbit_s: (kind != FlowKind::Ping).then_some(flow.goodput_mbit_s),
        latency: latency(if kind == FlowKind::Udp { &flow.one_way } else { &flow.round_trip }),
        one_way: if kind == FlowKind::Tcp { latency(&flow.one_way) } else { None },
        jitter_ms: flow.jitter_ms,
        drops: flow.drops.iter().map(|drop| Drop { cause: drop.cause, packets: drop.packets }).collect(),
        tcp: flow.tcp,
    }
}

fn latency(times: &Times) -> Option<Latency> {
    let shares: Vec<f64> = (1..=CDF_POINTS).map(|point| point as f64 / CDF_POINTS as f64).collect();
    let (summary, quantiles) = times.summary_with(&shares)?;
    let points = quantiles.into_iter().zip(shares);
    let cdf = std::iter::once((summary.min_ms, 0.0)).chain(points).collect();
    Some(Latency { summary, cdf })
}

fn air_result(air: &Air, names: &[String], measured_s: f64) -> AirResult {
    let share = |ns: u64| ns as f64 / NS / measured_s;
    let time = |[down, up]: &[Direction; 2]| down.data_ns + down.control_ns + up.data_ns + up.control_ns;
    let all_ns: u64 = air.stations.iter().map(time).sum();
    let squares: f64 = air.stations.iter().map(|station| (time(station) as f64).powi(2)).sum();
    let count = air.stations.len();
    AirResult {
        busy_share: share(air.busy_ns),
        collided_share: share(air.collided_ns),
        broadcast_share: share(air.broadcast_ns),
        ppdus_collided: air.collided_ppdus,
        jain: (count > 1 && squares > 0.0).then(|| (all_ns as f64).powi(2) / (count as f64 * squares)),
        stations: air
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
        mpdus_collided: found.mpdus_collided,
        retries: found.retries,
        retries_collided: found.retries_collided,
        retry_percent: ratio(found.retries, found.mpdus).map(|share| 100.0 * share),
        data_airtime_share: found.data_ns as f64 / NS / measured_s,
        control_airtime_share: found.control_ns as f64 / NS / measured_s,
        mean_aggregate: ratio(found.mpdus, found.ppdus),
        aggregates: sizes.map(|(size, &ppdus)| (size, ppdus)).collect(),
    }
}

fn bus_result(bus: &Bus, measured_s: f64) -> Vec<EndpointResult> {
    let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
    bus.endpoints
        .iter()
        .map(|(&(device, address), endpoint)| EndpointResult {
            device,
            endpoint: address,
            direction: if address & 0x80 == 0 { "out" } else { "in" },
            transfer: match endpoint.transfer {
                TransferType::Bulk => "bulk",
                TransferType::Interrupt => "interrupt",
                TransferType::Control => "control",
                TransferType::Isochronous => "isochronous",
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

fn series(found: &SimulationResult, kinds: &[FlowKind], air: Option<&Air>) -> SeriesResult {
    let interval_s = found.interval_s;
    let rates = found.flows.iter().zip(kinds).map(|(flow, kind)| {
        let rate = |interval: &link::simulation::IntervalResult| interval.goodput_mbit_s;
        (*kind != FlowKind::Ping).then(|| flow.series.iter().map(rate).collect())
    });
    let latencies = found.flows.iter().map(|flow| flow.series.iter().map(|interval| interval.latency_ms).collect());
    SeriesResult {
        interval_s,
        start_s: -found.warm_up_s,
        goodput_mbit_s: rates.collect(),
        latency_ms: latencies.collect(),
        airtime_share: air.map_or_else(Vec::new, |air| {
            air.series.iter().map(|row| row.iter().map(|&ns| ns as f64 / NS / interval_s).collect()).collect()
        }),
    }
}
