//! A window of a capture against the same records in a file of their own.

use std::io::Cursor;

use crate::records::{pcap, records, Record};
use capture::{Bound, Reader, Window};
use serde_json::Value;
use txop_air::report::Report;
use txop_air::{analyze_reader, Options};

const SECOND: i64 = 1_000_000_000;

fn report<'a>(records: impl IntoIterator<Item = &'a Record>, window: Option<Window>) -> Report {
    let reader = Reader::from_read(Cursor::new(pcap(records))).expect("a capture");
    analyze_reader(reader, "test".to_owned(), Options { window, ..Options::default() }, &mut ()).expect("a report")
}

/// The figures of a report: without what comes from the whole capture, and without record numbers.
fn figures(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).expect("JSON");
    for key in ["timing", "capabilities"] {
        value.as_object_mut().expect("an object").remove(key);
    }
    value["summary"].as_object_mut().expect("an object").remove("window");
    // What stamps mean is found out on the whole capture.
    for limit in value["summary"]["limits"].as_array_mut().expect("a list") {
        if ["stamps-not-calibrated", "odd-gap", "control-rates"].contains(&limit["code"].as_str().expect("a text")) {
            *limit = limit["code"].take();
        }
    }
    for station in value["stations"].as_array_mut().expect("a list") {
        for key in ["key_managements", "pairwise_ciphers"] {
            station.as_object_mut().expect("an object").remove(key);
        }
    }
    for flow in value["block_acks"].as_array_mut().expect("a list") {
        for key in ["window", "amsdu_permitted", "examples"] {
            flow.as_object_mut().expect("an object").remove(key);
        }
    }
    value
}

#[test]
fn the_figures_of_a_window_are_those_of_its_records_alone() {
    for scene in ["late-block-ack", "lossy", "ghosts"] {
        let all = records(scene, 1.5);
        let start = all[0].0;
        let inside = |at: i64| (start + SECOND / 2..start + SECOND).contains(&at);
        let window = Window { from: Some(Bound::SinceFirst(SECOND / 2)), to: Some(Bound::Unix(start + SECOND)) };
        let (part, whole) = (report(&all, Some(window)), report(&all, None));
        let alone = report(all.iter().filter(|(at, _)| inside(*at)), None);
        assert!(alone.frames > 500 && !alone.waterfalls.is_empty(), "{scene}: too little to compare");
        assert_eq!(figures(&part), figures(&alone), "{scene}");
        assert_ne!(figures(&part), figures(&whole), "{scene}");
        assert_eq!(part.summary.window.as_ref().expect("a window").records_inside, alone.frames);
        assert_eq!(
            serde_json::to_value(&part.capabilities).expect("JSON"),
            serde_json::to_value(&whole.capabilities).expect("JSON"),
            "{scene}: the audit is of the whole capture"
        );
    }
}

#[test]
fn an_association_before_the_window_is_audited_and_its_agreement_known() {
    let all = records("healthy", 1.5);
    let window = Window { from: Some(Bound::SinceFirst(SECOND)), to: None };
    let part = report(&all, Some(window));
    let claims: Vec<_> = part.capabilities.iter().filter_map(|audit| audit.claimed_in).collect();
    assert!(claims.contains(&"association request"), "{claims:?}");
    let busiest = &part.block_acks[0];
    assert_eq!((busiest.addba_requests, busiest.addba_accepted), (0, 0), "counted in the window only");
    assert!(busiest.window.is_some(), "but known from before");
}

#[test]
fn records_out_of_order_at_the_ends_are_placed_one_by_one() {
    let mut all = records("healthy", 0.6);
    let start = all[0].0;
    // By less than what would be sorted.
    let mut swapped = 0;
    for pair in all.chunks_exact_mut(2).filter(|pair| pair[1].0 - pair[0].0 < 1_000_000) {
        pair.swap(0, 1);
        swapped += 1;
    }
    assert!(swapped > 100, "{swapped} pairs");
    // What "since the first record" means changes with the order, so the window is absolute.
    let (from, to) = (start + SECOND / 5, start + SECOND / 2);
    let window = Window { from: Some(Bound::Unix(from)), to: Some(Bound::Unix(to)) };
    let part = report(&all, Some(window));
    let alone = report(all.iter().filter(|(at, _)| (from..to).contains(at)), None);
    assert_eq!(figures(&part), figures(&alone));
}

#[test]
fn a_window_beside_the_capture_is_empty_and_says_where_the_capture_is() {
    let all = records("healthy", 0.2);
    let part = report(&all, Some(Window { from: Some(Bound::SinceFirst(60 * SECOND)), to: None }));
    let window = part.summary.window.expect("a window");
    assert_eq!((part.frames, window.records_inside, window.records_before), (0, 0, all.len() as u64));
    assert_eq!(window.from_us, Some(60e6));
    assert!(window.capture_last_unix_s > window.capture_first_unix_s);
    assert!(!part.capabilities.is_empty());
}
