//! Runs with seeds that count up are as different from each other as runs with any seeds.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use link::scenario::{Draft, ScenarioFile};
use txop_simulate::{run, Captures, Run};

/// A run of half a second in which 500 packets go down, 12 Mbit/s, over that link.
fn downlink(link: &str) -> ScenarioFile {
    let text = format!(
        r#"
{link}
[[traffic]]
kind = "udp"
from = "server"
to = "dut"
rate_mbit_s = 12
[run]
warm_up_s = 0
duration_s = 0.5
start_spread_s = 0.0
"#
    );
    Draft::from_text("test.toml", &text).expect("a draft").check().expect("a scenario")
}

fn once(scenario: &ScenarioFile, seed: u64) -> Run {
    run(scenario, seed, &Captures::default(), &AtomicBool::new(false)).expect("a run")
}

/// Packets that did not arrive, of 500.
fn missing(scenario: &ScenarioFile, seed: u64) -> f64 {
    500.0 - once(scenario, seed).goodput_mbit_s.expect("a flow that carries data") / 12.0 * 500.0
}

struct Moments {
    mean: f64,
    variance: f64,
    /// Correlation of each value with the next one.
    correlation: f64,
}

fn moments(values: &[f64]) -> Moments {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let covariance = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / (n - 1.0);
    Moments { mean, variance, correlation: covariance / variance }
}

/// 60 runs with seeds that count up and 60 with seeds far apart: the mean number of losses is 20, and their variance is
/// the binomial's within five standard errors, and runs with neighbouring seeds are not alike.
#[test]
fn losses_spread_as_they_must_whatever_the_seeds() {
    const RUNS: u64 = 60;
    let n = RUNS as f64;
    type Losses = fn(&ScenarioFile, u64) -> f64;
    let lost_mpdus: Losses =
        |scenario, seed| once(scenario, seed).counters["ap"]["mpdus_lost"].as_f64().expect("a counter");
    let cases: [(&str, Losses); 3] = [
        ("[pipe]\nloss = 0.04", missing),
        ("[pipe]\n[path]\nloss = 0.04", missing),
        ("[wlan.ap]\nmpdu_error_rate = 0.04", lost_mpdus),
    ];
    for (link, losses) in cases {
        let scenario = downlink(link);
        for step in [1u64, 0x9e37_79b9_7f4a_7c15] {
            let found: Vec<f64> = (1..=RUNS).map(|k| losses(&scenario, step.wrapping_mul(k))).collect();
            let Moments { mean, variance, correlation } = moments(&found);
            let expected: f64 = 500.0 * 0.04 * 0.96;
            let what = format!("{link}, step {step}: mean {mean}, variance {variance}, correlation {correlation}");
            assert!((mean - 20.0).abs() < 5.0 * (expected / n).sqrt() + 1.0, "{what}");
            assert!((variance / expected - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{what}");
            assert!(correlation.abs() < 5.0 / n.sqrt(), "{what}");
        }
    }
}

/// The link and the wire in front of it lose packets each by itself: with one source for both, what the one lets through
/// the other would let through, too.
#[test]
fn two_that_lose_lose_each_by_itself() {
    const RUNS: u64 = 60;
    let both = downlink("[pipe]\nloss = 0.2\n[path]\nloss = 0.2");
    let found: Vec<f64> = (1..=RUNS).map(|seed| missing(&both, seed)).collect();
    let Moments { mean, .. } = moments(&found);
    let variance: f64 = 500.0 * 0.36 * 0.64;
    assert!((mean - 180.0).abs() < 5.0 * (variance / RUNS as f64).sqrt() + 1.0, "{mean}");
}

/// A card that sleeps: which beacons it misses is another matter in every run.
#[test]
fn sleepers_miss_other_beacons_with_every_seed() {
    let text = r#"
[sdio.radio.power_save]
beacon_us = 102400
missed_beacon_rate = 0.13
awake_us = 1000
[[traffic]]
kind = "ping"
from = "dut"
to = "server"
interval_ms = 250
[run]
warm_up_s = 1
duration_s = 25
start_spread_s = 0.0
"#;
    let scenario = Draft::from_text("test.toml", text).expect("a draft").check().expect("a scenario");
    let missed = |seed| once(&scenario, seed).counters["missed_beacons"].as_u64().expect("a counter") as f64;
    let found: Vec<f64> = (1..=50).map(missed).collect();
    let Moments { mean, variance, correlation } = moments(&found);
    // One or more of a hundred pings: each is a beacon heard after a geometric number of missed ones.
    let expected = (100.0 * 0.13 / 0.87, 100.0 * 0.13 / 0.87f64.powi(2));
    assert!((mean - expected.0).abs() < 5.0 * (expected.1 / 50.0).sqrt(), "{mean}, not {}", expected.0);
    assert!((variance / expected.1 - 1.0).abs() < 5.0 * (2.0f64 / 50.0).sqrt(), "{variance}, not {}", expected.1);
    assert!(correlation.abs() < 5.0 / 50f64.sqrt(), "{correlation}");
    let latencies: HashSet<String> =
        (1..=10).map(|seed| serde_json::to_string(&once(&scenario, seed).flows[0].latency).expect("JSON")).collect();
    assert_eq!(latencies.len(), 10);
}
