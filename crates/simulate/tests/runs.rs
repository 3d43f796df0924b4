//! Runs, batches and what is captured of them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use link::scenario::Draft;
use txop_simulate::{batch, run, Axis, Batch, BatchError, Captures, Run, RunError};

const TWO: &str = r#"
[wlan.dut]
mcs = 4
mpdu_error_rate = 0.02
[path]
[[traffic]]
name = "down"
kind = "tcp"
from = "server"
to = "dut"
[[traffic]]
name = "up"
kind = "udp"
from = "dut"
to = "server"
rate_mbit_s = 5
[[traffic]]
name = "echo"
kind = "ping"
from = "dut"
to = "server"
interval_ms = 10
[run]
warm_up_s = 0.3
duration_s = 1
"#;

fn draft(text: &str) -> Draft {
    Draft::from_text("test.toml", text).expect("a draft")
}

fn once(text: &str, captures: &Captures) -> Run {
    let scenario = draft(text).check().expect("a scenario");
    run(&scenario, 7, captures, &AtomicBool::new(false)).expect("a run")
}

fn wanted(text: &str, axes: &[&str], seeds: u32, threads: usize) -> Batch {
    let axes = axes.iter().map(|text| Axis::parse(text).expect(text)).collect();
    Batch { draft: draft(text), name: "test".into(), axes, seeds, threads, captures: Captures::default() }
}

fn total(run: &Run) -> f64 {
    run.goodput_mbit_s.expect("flows that carry data")
}

fn json(wanted: &Batch) -> String {
    let document = batch(wanted, &AtomicBool::new(false), &|_, _| {}).expect("a document");
    serde_json::to_string(&document).expect("JSON")
}

#[test]
fn a_run_is_the_same_on_any_number_of_threads() {
    let one = json(&wanted(TWO, &["wlan.dut.mcs=1,4"], 3, 1));
    assert_eq!(one, json(&wanted(TWO, &["wlan.dut.mcs=1,4"], 3, 2)));
    let other_seed = TWO.replace("[run]", "[run]\nseed = 9");
    assert_ne!(one, json(&wanted(&other_seed, &["wlan.dut.mcs=1,4"], 3, 2)));
}

#[test]
fn no_more_threads_are_started_than_there_are_runs() {
    // A million threads would take minutes, or fail.
    let many = json(&wanted(TWO, &[], 2, 1_000_000));
    assert_eq!(many, json(&wanted(TWO, &[], 2, 1)));
}

#[test]
fn monitors_change_nothing() {
    let watched = once(TWO, &Captures { waterfall: true, ..Captures::default() });
    let bare = once(TWO, &Captures::default());
    assert!(watched.waterfalls.as_ref().is_some_and(|falls| !falls.is_empty()));
    let bare_too = Run { waterfalls: None, ..watched };
    assert_eq!(serde_json::to_string(&bare).expect("JSON"), serde_json::to_string(&bare_too).expect("JSON"));
}

#[test]
fn points_are_every_combination_and_seeds_count_up() {
    let wanted = wanted(TWO, &["wlan.dut.mcs=1,4", "wlan.dut.tx_ampdu=true,false"], 2, 0);
    let calls = AtomicUsize::new(0);
    let document = batch(&wanted, &AtomicBool::new(false), &|done, all| {
        assert!(done <= all && all == 8);
        calls.fetch_add(1, Ordering::Relaxed);
    });
    let document = document.expect("a document");
    assert_eq!(calls.into_inner(), 8);
    let values: Vec<String> = document.points.iter().map(|point| point.values.join(" ")).collect();
    assert_eq!(values, ["1 true", "1 false", "4 true", "4 false"]);
    for point in &document.points {
        assert_eq!(point.runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [1, 2]);
        let goodput = point.summary.iter().find(|entry| entry.figure == "goodput_mbit_s" && entry.of.is_none());
        let mean = (total(&point.runs[0]) + total(&point.runs[1])) / 2.0;
        assert!(goodput.is_some_and(|entry| (entry.mean - mean).abs() < 1e-9 && entry.n == 2));
    }
    // What was swept was run: aggregates of one MPDU only where they were switched off.
    let largest = |point: usize| {
        let station = &document.points[point].runs[0].air.as_ref().expect("air").stations[0];
        station.up.aggregates.iter().map(|(size, _)| *size).max()
    };
    assert!(largest(0) > Some(1));
    assert_eq!(largest(1), Some(1));
}

#[test]
fn a_sweep_of_what_cannot_be_is_refused_before_anything_runs() {
    let calls = AtomicUsize::new(0);
    let progress = |_: usize, _: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let stop = AtomicBool::new(false);
    for (axis, what) in [
        ("wlan.dut.mcs=0..40", "wlan.dut.mcs=32: 32 is not in the range from 0 to 31"),
        ("wlan.dut.mcz=1,2", "did you mean mcs?"),
        ("nothing=1,2", "no key of the link is called nothing"),
    ] {
        let error = batch(&wanted(TWO, &[axis], 1, 0), &stop, &progress).expect_err(axis);
        assert!(error.to_string().contains(what), "{error}");
    }
    let error = batch(&wanted(TWO, &["run.seed=1..1000", "wlan.dut.mcs=0..7"], 100, 0), &stop, &progress);
    assert!(matches!(error, Err(BatchError::TooMuch(_))));
    assert_eq!(calls.into_inner(), 0);
}

#[test]
fn a_batch_and_a_run_can_be_stopped() {
    let stop = AtomicBool::new(false);
    let ends = batch(&wanted(TWO, &[], 50, 1), &stop, &|_, _| stop.store(true, Ordering::Relaxed));
    assert!(matches!(ends, Err(BatchError::Stopped)));
    let scenario = draft(TWO).check().expect("a scenario");
    assert!(matches!(run(&scenario, 1, &Captures::default(), &stop), Err(RunError::Stopped)));
}

#[test]
fn the_analyzer_finds_in_the_capture_what_the_run_has_counted() {
    let folder = std::env::temp_dir().join(format!("txop-simulate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("air.pcapng");
    let found = once(TWO, &Captures { air: Some(path.clone()), waterfall: true, ..Captures::default() });
    let report = air::analyze(&path, capture::Options::default(), air::Options::default(), &mut ()).expect("a report");
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(report.origin, "simulated");
    let station = &found.air.as_ref().expect("air").stations[0];
    for (direction, name) in [(&station.up, "uplink"), (&station.down, "downlink")] {
        let fall = report.waterfalls.iter().find(|fall| fall.direction == name).expect(name);
        let own =
            found.waterfalls.as_ref().expect("waterfalls").iter().find(|fall| fall.direction == name).expect(name);
        // The same analyzer in memory, on frames cut short: the same waterfall, whose gaps the run can name.
        let figures = |steps: &[air::report::WaterfallStep]| -> Vec<(String, f64, f64)> {
            steps.iter().map(|step| (step.cause.clone(), step.us, step.mbit_s)).collect()
        };
        assert_eq!(figures(&fall.steps), figures(&own.steps));
        let share = |cause: &str| own.steps.iter().find(|step| step.cause == cause).map_or(f64::NAN, |step| step.share);
        // The run's own count of the time in which frames collided; in the waterfall the spaces before them are with them. The capture is
        // of whole frames, so that one at each end may differ.
        let air = found.air.as_ref().expect("air");
        let spaces = share("damaged") - air.collided_share;
        assert!(air.collided_share > 0.0 && (-0.002..0.03).contains(&spaces), "{name}: {spaces}");
        // What is neither sent nor a space is idle: the run knows how long frames were in the air. Spaces of the other direction and
        // of beacons are in rows of their own.
        let unsent = 1.0 - air.busy_share;
        let idle = share("idle") + share("idle_queued") + share("ifs_backoff");
        assert!(idle < unsent && unsent - idle < 0.1, "{name}: {idle} and {unsent}");
        let doubts = &report.hearing.doubts;
        assert!(doubts.is_empty(), "{doubts:?}");
        assert!(report.summary.limits.iter().all(|limit| limit.code != "frames-missing"));
        // Collided frames cannot be read in a capture; two of the run's frames may reach over its end.
        let seen = direction.mpdus - direction.mpdus_collided;
        assert!(fall.mpdus.abs_diff(seen) <= 128, "{name}: {} and {seen}", fall.mpdus);
        let link = report.links.iter().find(|link| link.direction == name && link.ta == fall.ta).expect(name);
        let again = direction.retries - direction.retries_collided;
        assert!(again > 0 && link.mpdu_retry.retries.abs_diff(again) <= 128, "{name}: {again}");
        assert!((fall.steps.iter().map(|step| step.share).sum::<f64>() - 1.0).abs() < 1e-6);
    }
    assert_eq!(found.waterfalls.as_ref().map(|falls| falls[0].ta.clone()), Some("server".to_owned()));
}

#[test]
fn a_capture_that_cannot_be_written_is_an_error() {
    let scenario = draft(TWO).check().expect("a scenario");
    let path = PathBuf::from("/nonexistent/air.pcapng");
    let captures = Captures { air: Some(path), ..Captures::default() };
    let error = run(&scenario, 1, &captures, &AtomicBool::new(false)).expect_err("no folder");
    assert!(error.to_string().starts_with("/nonexistent/air.pcapng: "), "{error}");
}

#[test]
fn a_transparent_pipe_gives_its_rate_and_its_delay() {
    let text = r#"
    [pipe]
    rate_mbit_s = 20
    delay_ms = 4
    queue_packets = 100
    [[traffic]]
    kind = "udp"
    from = "server"
    to = "dut"
    rate_mbit_s = 10
    [[traffic]]
    kind = "ping"
    from = "dut"
    to = "server"
    [run]
    warm_up_s = 0.1
    duration_s = 2
    "#;
    let found = once(text, &Captures { waterfall: true, ..Captures::default() });
    assert!(found.air.is_none() && found.waterfalls.is_none() && found.bus.is_empty());
    assert!((total(&found) - 10.0).abs() < 0.05, "{}", total(&found));
    // 1500 bytes at 20 Mbit/s are 0.6 ms, and 4 ms of delay.
    let one_way = found.flows[0].latency.as_ref().expect("latency").summary;
    assert!((one_way.p50_ms - 4.6).abs() < 0.02, "{}", one_way.p50_ms);
    let round_trip = found.flows[1].latency.as_ref().expect("latency").summary;
    assert!((8.0..9.3).contains(&round_trip.p50_ms), "{}", round_trip.p50_ms);
}

/// Saturated UDP, MCS 7, long guard interval: ns-3.44 gives 59.610 Mbit/s (5 GHz, HT20, payload of 1472 bytes).
#[test]
fn a_saturated_link_is_as_fast_as_in_ns3() {
    let text = r#"
    [wlan.dut]
    short_gi = false
    [wlan.ap]
    short_gi = false
    [[traffic]]
    kind = "udp"
    from = "server"
    to = "dut"
    rate_mbit_s = 100
    [run]
    warm_up_s = 0.2
    duration_s = 3
    "#;
    let found = once(text, &Captures::default());
    assert!((total(&found) / 59.610 - 1.0).abs() < 0.005, "{}", total(&found));
    let station = &found.air.as_ref().expect("air").stations[0];
    assert!((station.down.mean_aggregate.expect("sent") - 28.0).abs() < 0.2);
    assert_eq!((station.down.retries, station.share_of_stations), (0, Some(1.0)));
}
