//! One figure from several seeds.

use crate::result::{Run, Summary};

/// Every figure of the runs that has a value in one of them, in the order of the first run.
pub(crate) fn summarize(runs: &[Run]) -> Vec<Summary> {
    let mut found: Vec<(String, Option<String>, Vec<f64>)> = Vec::new();
    for run in runs {
        for (figure, of, value) in figures(run) {
            let Some(value) = value else { continue };
            match found.iter_mut().find(|(name, whose, _)| *name == figure && *whose == of) {
                Some((_, _, values)) => values.push(value),
                None => found.push((figure, of, vec![value])),
            }
        }
    }
    found.into_iter().map(|(figure, of, values)| summary(figure, of, &values)).collect()
}

fn figures(run: &Run) -> Vec<(String, Option<String>, Option<f64>)> {
    let mut found = vec![("goodput_mbit_s".to_owned(), None, run.goodput_mbit_s)];
    for flow in &run.flows {
        let mut add = |figure: &str, value| found.push((figure.to_owned(), Some(flow.name.clone()), value));
        add("goodput_mbit_s", flow.goodput_mbit_s);
        let latency = flow.latency.as_ref();
        add("latency_p50_ms", latency.map(|latency| latency.summary.p50_ms));
        add("latency_p95_ms", latency.map(|latency| latency.summary.p95_ms));
        add("latency_p99_ms", latency.map(|latency| latency.summary.p99_ms));
        add("tcp_retransmitted", flow.tcp.map(|tcp| tcp.retransmitted as f64));
        add("tcp_sender_waits", flow.tcp.map(|tcp| tcp.sender_waits as f64));
        add("tcp_receiver_waits", flow.tcp.map(|tcp| tcp.receiver_waits as f64));
        add("tcp_completed_s", flow.tcp.and_then(|tcp| tcp.completed_s));
    }
    if let Some(air) = &run.air {
        found.push(("air_busy_share".to_owned(), None, Some(air.busy_share)));
        found.push(("airtime_jain".to_owned(), None, air.jain));
        for station in &air.stations {
            let mut add = |figure: &str, value| found.push((figure.to_owned(), Some(station.name.clone()), value));
            add("airtime_share", Some(station.airtime_share));
            add("share_of_stations", station.share_of_stations);
            add("retry_percent_up", station.up.retry_percent);
            add("retry_percent_down", station.down.retry_percent);
            add("mean_aggregate_up", station.up.mean_aggregate);
            add("mean_aggregate_down", station.down.mean_aggregate);
        }
    }
    found
}

fn summary(figure: String, of: Option<String>, values: &[f64]) -> Summary {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Summary {
        figure,
        of,
        n,
        mean,
        sd: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_spread() {
        let found = summary("x".to_owned(), None, &[2.0, 4.0, 9.0]);
        assert_eq!((found.n, found.mean, found.min, found.max), (3, 5.0, 2.0, 9.0));
        // Squares 9 + 1 + 16, over 2.
        assert!((found.sd.expect("three values") - 13f64.sqrt()).abs() < 1e-12);
        assert_eq!(summary("x".to_owned(), None, &[7.0]).sd, None);
    }
}
