//! A window of a USB capture: figures of its records, knowledge of all of them.

use std::io::Cursor;

use capture::{Bound, Window};
use txop_bus::report::Report;
use txop_bus::{analyze_read, Error, Options};

const MS: i64 = 1_000_000;

fn read(text: &str, from_ms: i64, to_ms: i64) -> Result<Report, Error> {
    let window = Window { from: Some(Bound::SinceFirst(from_ms * MS)), to: Some(Bound::SinceFirst(to_ms * MS)) };
    let options = Options { window: Some(window) };
    analyze_read(Cursor::new(text.to_owned().into_bytes()), None, "test".to_owned(), &options, &mut ())
}

/// A device descriptor (of 0bda:8176) at 0 s; OUT transfers of 98 bytes of raw IP, one every 10 ms from 10 ms on, each
/// back after 4 ms; and one that is handed over at 45 ms and comes back at 95 ms only.
fn capture() -> String {
    let mut lines = vec![
        (0, "f0 0 S Ci:1:002:0 s 80 06 0100 0000 0012 18 <".to_owned()),
        (100, "f0 100 C Ci:1:002:0 0 18 = 12010002 00000040 da0b7681 00020102 0301".to_owned()),
    ];
    for n in 1..10 {
        let at = n * 10_000;
        lines.push((at, format!("a{n} {at} S Bo:1:002:5 -115 98 = 45000054 00000000")));
        lines.push((at + 4_000, format!("a{n} {} C Bo:1:002:5 0 98 >", at + 4_000)));
    }
    lines.push((45_000, "b0 45000 S Bi:1:002:1 -115 512 <".to_owned()));
    lines.push((95_000, "b0 95000 C Bi:1:002:1 0 100 = 45000064".to_owned()));
    lines.sort();
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

#[test]
fn figures_are_of_the_window_and_descriptors_of_the_capture() {
    let report = read(&capture(), 32, 62).expect("a report");
    let out = report.endpoints.iter().find(|endpoint| endpoint.address == "0x05").expect("the endpoint");
    // Handed over at 30 ms, back at 34 ms: its turnaround is known, although it began before the window.
    assert_eq!((out.submissions, out.completions), (3, 3));
    assert_eq!(out.turnaround_us.map(|t| (t.n, t.max)), Some((3, 4_000.0)));
    assert_eq!(out.in_flight_max, Some(1));
    assert_eq!(report.summary.unmatched_completions, 0);
    assert_eq!(report.devices[0].vendor_id.as_deref(), Some("0bda"));
    assert_eq!(report.requests.len(), 0, "the descriptor was asked for before");
    // b0 and the transfer handed over at 60 ms are under way when the window ends.
    assert_eq!(report.summary.unfinished, 2);
    let window = report.summary.window.expect("a window");
    assert_eq!((window.records_before, window.records_inside, window.records_after), (7, 7, 8));
    assert_eq!((window.from_unix_s, window.from_us), (None, Some(32_000.0)));
}

#[test]
fn what_was_under_way_when_the_window_began_counts_as_under_way() {
    let report = read(&capture(), 50, 120).expect("a report");
    let into = report.endpoints.iter().find(|endpoint| endpoint.address == "0x81").expect("the endpoint");
    assert_eq!((into.submissions, into.completions, into.in_flight_max), (0, 1, Some(1)));
    assert_eq!(into.turnaround_us.map(|t| t.max), Some(50_000.0));
}

/// usbmon's text counts the time of day modulo 4096 s.
#[test]
fn a_window_in_the_time_of_day_is_found_in_a_text() {
    let (wrap, s) = (4_096_000_000_000i64, 1_000_000_000i64);
    let days = 400_000 * wrap;
    let read = |from: i64, to: i64, text: &str| {
        let options = Options { window: Some(Window { from: Some(Bound::Unix(from)), to: Some(Bound::Unix(to)) }) };
        analyze_read(Cursor::new(text.to_owned().into_bytes()), None, "test".to_owned(), &options, &mut ())
            .expect("a report")
            .summary
            .window
            .expect("a window")
    };
    let window = read(days + 32 * MS, days + 62 * MS, &capture());
    assert_eq!((window.records_before, window.records_inside, window.records_after), (7, 7, 8));
    // From 1 s before the first record on, which is stamped 0: the clock began again in between.
    assert_eq!(read(days - s, days + 32 * MS, &capture()).records_inside, 7);
    // Across the wrap: the last second before it and the first after it.
    let text = "a1 4095500000 S Bo:1:002:5 -115 4 = 45000054\na1 500000 C Bo:1:002:5 0 4 >\n";
    assert_eq!(read(days + wrap - s, days + wrap + s, text).records_inside, 2);
    assert_eq!(read(days + wrap, days + wrap + s, text).records_inside, 1);
}

#[test]
fn a_window_without_records_is_not_said_to_be_anything_else() {
    let report = read(&capture(), 60_000, 61_000).expect("a report");
    let summary = &report.summary;
    assert_eq!((report.records, summary.layer.as_str(), summary.has_clock), (0, "urb", Some(true)));
    let said: Vec<&str> = report.verdicts.iter().map(|verdict| verdict.text.as_str()).collect();
    assert_eq!(said, ["Nothing was recorded in the window, so there is no verdict on it."]);
    assert_eq!(report.verdicts[0].figures()[0].n, 22);
    assert!(report.devices.iter().all(|device| device.evidence.iter().all(|line| !line.starts_with("0 "))));
    // One with requests, but without bulk data.
    let report = read(&capture(), 0, 5).expect("a report");
    assert_eq!(
        report.verdicts[0].text,
        "No bulk transfer with data is in this window, so there is nothing to say about aggregation."
    );
}
