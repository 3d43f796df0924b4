//! Captures that lack records, and captures one behind the other: what must be said of them, and what must not.

use std::io::Cursor;

use capture::{Bound, Window};
use txop_bus::report::{Endpoint, Report};
use txop_bus::{analyze_read, Options};

/// Requests of an endpoint.
const REQUESTS: u64 = 400;
/// One is handed over every ms, and comes back 4.5 ms later: five are under way.
const EVERY_US: u64 = 1_000;
const TAKES_US: u64 = 4_500;
const UNDER_WAY: u64 = 5;

/// A record: its time, the request, `S` or `C`, and its line.
type Record = (u64, u64, char, String);

/// Raw IP both ways; `order`: of the requests that come back to the host, in groups of eight.
fn records(order: [u64; 8]) -> Vec<Record> {
    let mut all = Vec::new();
    for n in 0..REQUESTS {
        let at = 100_000 + n * EVERY_US;
        let back = at + TAKES_US;
        let turn = n / 8 * 8 + order[(n % 8) as usize];
        let back_in = 100_000 + turn * EVERY_US + TAKES_US + 8 * EVERY_US * u64::from(order != IN_ORDER);
        all.push((at, n, 'S', format!("a{n} {at} S Bo:1:002:5 -115 84 = 45000054 00000000")));
        all.push((back, n, 'C', format!("a{n} {back} C Bo:1:002:5 0 84 >")));
        all.push((at + 1, n, 'S', format!("b{n} {} S Bi:1:002:1 -115 512 <", at + 1)));
        all.push((back_in + 1, n, 'C', format!("b{n} {} C Bi:1:002:1 0 84 = 45000054 00000000", back_in + 1)));
    }
    all.sort();
    all
}

const IN_ORDER: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

fn read(lines: impl IntoIterator<Item = Record>, window: Option<Window>) -> Report {
    let text: String = lines.into_iter().map(|(.., line)| line + "\n").collect();
    analyze_read(Cursor::new(text.into_bytes()), None, "test".to_owned(), &Options { window }, &mut ())
        .expect("a report")
}

fn kept(keep: impl Fn(&Record) -> bool) -> Report {
    read(records(IN_ORDER).into_iter().filter(keep), None)
}

fn endpoint<'a>(report: &'a Report, address: &str) -> &'a Endpoint {
    report.endpoints.iter().find(|endpoint| endpoint.address == address).expect("the endpoint")
}

fn verdict<'a>(report: &'a Report, code: &str) -> &'a str {
    &report.verdicts.iter().find(|verdict| verdict.code == code).expect("the verdict").text
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a str> {
    report.summary.limits.iter().find(|limit| limit.code == code).map(|limit| limit.text.as_str())
}

#[test]
fn nothing_is_missing_in_a_whole_capture() {
    let report = kept(|_| true);
    assert_eq!(
        verdict(&report, "downlink-one-each"),
        "Downlink is raw IP: one datagram per URB, 1,000 URB/s. The framing has no aggregation."
    );
    for address in ["0x05", "0x81"] {
        let row = endpoint(&report, address);
        assert_eq!(
            (row.lost_completions, row.lost_submissions, row.in_flight_max),
            (Some(0), Some(0), Some(UNDER_WAY))
        );
    }
    assert_eq!((report.summary.unfinished, limit(&report, "unmatched")), (0, None));
}

#[test]
fn completions_that_later_ones_overtook_are_missing() {
    // Two of three are gone, also the last ones.
    let report = kept(|(_, n, event, _)| *event == 'S' || n % 3 == 0);
    let back = REQUESTS.div_ceil(3);
    for address in ["0x05", "0x81"] {
        let row = endpoint(&report, address);
        assert_eq!((row.completions, row.lost_completions), (back, Some(REQUESTS - back)), "{address}");
        // A request whose completion is missing seems to be under way until a later one comes back: no bound in either direction.
        assert_eq!((row.in_flight_max, row.in_flight_mean), (None, None), "{address}");
    }
    assert_eq!((report.summary.lost_completions, report.summary.unfinished), (2 * (REQUESTS - back), 0));
    assert_eq!(
        verdict(&report, "downlink-one-each"),
        "Downlink is raw IP: one datagram per URB, at least 333 URB/s. The framing has no aggregation."
    );
    assert_eq!(
        verdict(&report, "uplink-one-each"),
        "Uplink is raw IP: one datagram per URB, 1,000 URB/s handed over. The framing has no aggregation."
    );
    let text = limit(&report, "unmatched").expect("a limit");
    assert!(
        text.starts_with(
            "By the order of the others and identifiers that are used again, at least 532 completions are missing"
        ),
        "{text}"
    );
    assert!(text.contains("dropped while capturing, or taken out of the file"), "{text}");
    assert!(
        text.ends_with("Turnarounds are of fewer requests; requests under way and gaps are not available where completions are missing."),
        "{text}"
    );
}

/// Two of 400 completions: the rate is still no more than a lower bound.
#[test]
fn a_rate_is_a_bound_as_soon_as_one_completion_is_missing() {
    let report = kept(|(_, n, event, _)| *event == 'S' || !matches!(n, 100 | 200));
    assert_eq!(
        verdict(&report, "downlink-one-each"),
        "Downlink is raw IP: one datagram per URB, at least 995 URB/s. The framing has no aggregation."
    );
    assert_eq!(
        verdict(&report, "uplink-one-each"),
        "Uplink is raw IP: one datagram per URB, at least 995 URB/s. The framing has no aggregation."
    );
    let found = report.verdicts.iter().find(|verdict| verdict.code == "downlink-one-each").expect("the verdict");
    let why = "400 submissions and 398 completions of this endpoint are in the capture, and at least 2 completions are missing: \
               the rate is a lower bound";
    assert!(found.evidence.iter().any(|line| line == why), "{:?}", found.evidence);
    let row = endpoint(&report, "0x81");
    assert_eq!((row.in_flight_max, row.are_gaps_known, row.gaps.len()), (None, Some(false), 0));
}

#[test]
fn submissions_alone_show_that_no_completion_is_there() {
    let report = kept(|(_, _, event, _)| *event == 'S');
    assert_eq!(
        limit(&report, "unmatched"),
        Some(
            "No completion is in the capture, so what became of its 800 requests, how long they took and what came back is not \
             known."
        )
    );
    assert!(report.endpoints.iter().all(|row| row.in_flight_max.is_none() && row.in_flight_mean.is_none()));
    assert!(verdict(&report, "uplink-one-each").contains("1,000 URB/s handed over"));
}

#[test]
fn requests_from_before_the_capture_are_not_lost() {
    let report = kept(|(at, ..)| *at >= 150_000);
    let summary = &report.summary;
    assert_eq!((summary.unmatched_completions, summary.lost_submissions, summary.lost_completions), (8, Some(0), 0));
    let text = limit(&report, "unmatched").expect("a limit");
    assert!(text.starts_with(
        "8 completions have no submission in the capture: requests submitted before the capture began, judging by their order."
    ));
    assert!(!verdict(&report, "uplink-one-each").contains("at least"));
}

#[test]
fn submissions_behind_which_requests_came_back_are_lost() {
    let report = kept(|(_, n, event, _)| *event == 'C' || n % 4 != 3);
    let summary = &report.summary;
    assert_eq!((summary.unmatched_completions, summary.lost_submissions), (200, Some(200)));
    let text = limit(&report, "unmatched").expect("a limit");
    assert!(
        text.starts_with("200 completions have no submission in the capture. By the order")
            && text.contains("at least 200 submissions are missing"),
        "{text}"
    );
    // The rate is that of completions, none of which is missing.
    assert!(verdict(&report, "uplink-one-each").contains(", 1,000 URB/s."));
}

/// A driver's ring of five requests each way whose identifiers come again, as real ones do, with records missing in bursts and
/// singly: what is missing is found nearly to the last, and what was under way is not reported.
#[test]
fn missing_records_are_found_where_identifiers_come_again() {
    let (mut missing, mut lines) = ([0u64; 2], Vec::new());
    for (index, (at, n, event, line)) in records(IN_ORDER).into_iter().enumerate() {
        if (80..86).contains(&(index % 160)) || index % 97 == 50 {
            missing[usize::from(event == 'C')] += 1;
            continue;
        }
        let id = format!("{}{n} ", &line[..1]);
        lines.push((at, n, event, line.replacen(&id, &format!("{}{} ", &line[..1], n % UNDER_WAY), 1)));
    }
    let report = read(lines, None);
    let summary = &report.summary;
    let found = [summary.lost_submissions.expect("a count"), summary.lost_completions];
    for (found, missing) in found.into_iter().zip(missing) {
        assert!(found <= missing && found * 10 >= missing * 7, "{found} of {missing}");
    }
    for address in ["0x05", "0x81"] {
        assert_eq!(endpoint(&report, address).in_flight_max, None, "{address}");
        let turnaround = endpoint(&report, address).turnaround_us.expect("turnarounds");
        assert!(turnaround.p95 < 1.1 * TAKES_US as f64, "{address}: {turnaround:?}");
    }
}

#[test]
fn where_requests_overtake_each_other_none_is_lost_for_it() {
    let report = read(records([3, 1, 7, 0, 5, 2, 6, 4]), None);
    let row = endpoint(&report, "0x81");
    assert_eq!((row.completions, row.lost_completions), (REQUESTS, Some(0)));
    assert_eq!((report.summary.lost_completions, limit(&report, "unmatched")), (0, None));
    assert!(
        verdict(&report, "downlink-one-each").contains(", 1,002 URB/s")
            || verdict(&report, "downlink-one-each").contains(", 1,000 URB/s")
    );
}

#[test]
fn a_capture_behind_another_has_no_rates() {
    let twice = || records(IN_ORDER).into_iter().filter(|(at, ..)| *at >= 150_000).chain(records(IN_ORDER));
    let report = read(twice(), None);
    let summary = &report.summary;
    assert_eq!((summary.steps_back, summary.span_us, summary.lost_completions), (Some(1), None, 0));
    assert_eq!(summary.step_back_most_us, Some(403_501));
    for row in &report.endpoints {
        assert_eq!((row.per_s, row.peak_per_s, row.mbit_s, row.in_flight_max), (None, None, None, None));
        assert_eq!(row.turnaround_us.map(|turnaround| turnaround.max), Some(TAKES_US as f64));
        assert!(row.series.is_empty() && row.gaps.is_empty());
    }
    assert_eq!(
        verdict(&report, "uplink-one-each"),
        "Uplink is raw IP: one datagram per URB. The framing has no aggregation."
    );
    let text = limit(&report, "steps-back").expect("a limit");
    assert!(text.starts_with("Time steps back by more than 10 ms once, by 403.5 ms"), "{text}");
    assert!(!limit(&report, "unmatched").expect("a limit").contains("dropped"));
    // What was under way when the first ended is not paired with the second: the identifiers are the same.
    let cut = read(twice().filter(|(_, n, event, _)| *event == 'S' || *n != 399), None);
    assert_eq!(cut.summary.unfinished, 4);
}

#[test]
fn a_short_step_back_in_a_long_capture_leaves_its_rates() {
    let mut long = records(IN_ORDER);
    let again: Vec<Record> = long.iter().filter(|(at, ..)| *at >= 480_000).cloned().collect();
    let last = (60_000_000, 400, 'S', "a400 60000000 S Bo:1:002:5 -115 84 = 45000054 00000000".to_owned());
    long.extend(again);
    long.push(last);
    let report = read(long, None);
    assert_eq!((report.summary.steps_back, report.summary.span_us), (Some(1), Some(59_900_000)));
    assert!(endpoint(&report, "0x05").per_s.is_some());
    let text = limit(&report, "steps-back").expect("a limit");
    assert!(text.contains("by 23.5 ms") && text.contains("rates are of the time between these steps"), "{text}");
}

/// Another endpoint 100 s before; then a second of traffic, and another behind a step back by 900 ms.
#[test]
fn a_short_step_back_makes_no_rate_higher() {
    let other = [(0, 'S', "-115:1 8 <"), (900, 'C', "0:1 8 = 00000000 00000000")];
    let mut lines: Vec<Record> =
        other.map(|(at, event, rest)| (at, 0, event, format!("b0 {at} {event} Ii:1:002:1 {rest}"))).into();
    for (start, from) in [(100_000_000, 1), (100_200_000, 1_101)] {
        for n in from..from + 1_100 {
            let at = start + (n - from) * EVERY_US;
            lines.push((at, n, 'S', format!("a{n} {at} S Bo:1:002:5 -115 84 = 45000054 00000000")));
            lines.push((at + 100, n, 'C', format!("a{n} {} C Bo:1:002:5 0 84 >", at + 100)));
        }
    }
    let report = read(lines, None);
    assert_eq!((report.summary.steps_back, report.summary.steps_back_us), (Some(1), Some(899_100)));
    let row = endpoint(&report, "0x05");
    assert_eq!(
        (row.per_s, row.peak_per_s, row.mbit_s),
        (Some(1_000.0), Some(1_000.0), Some(2_200.0 * 84.0 * 8.0 / 2.198 / 1e6))
    );
    assert!(verdict(&report, "uplink-one-each").contains(", 1,000 URB/s (busiest second 1,000)."));
}

/// Two requests every 200 ms, each of which comes back after 1 ms; and one that takes 150 ms.
#[test]
fn a_gap_is_time_in_which_a_request_was_under_way() {
    let mut lines = Vec::new();
    for n in 0..100u64 {
        let at = 100_000 + n * 200_000;
        let back = at + if n == 50 { 150_000 } else { 1_000 };
        for (id, from, to) in [('a', at, at + 500), ('b', at + 600, back)] {
            lines.push((from, n, 'S', format!("{id}{n} {from} S Bo:1:002:5 -115 84 = 45000054 00000000")));
            lines.push((to, n, 'C', format!("{id}{n} {to} C Bo:1:002:5 0 84 >")));
        }
    }
    lines.sort();
    let report = read(lines.clone(), None);
    assert!(endpoint(&report, "0x05").gaps.is_empty(), "no gap is ten times the usual interval");
    // A hundred others in each pause, so that the usual interval is short.
    let mut busy = lines;
    for n in 0..4_000u64 {
        let at = 20_200_000 + n * 100;
        busy.push((at, n, 'S', format!("c{n} {at} S Bo:1:002:5 -115 84 = 45000054 00000000")));
        busy.push((at + 50, n, 'C', format!("c{n} {} C Bo:1:002:5 0 84 >", at + 50)));
    }
    let report = read(busy, None);
    let gaps: Vec<_> =
        endpoint(&report, "0x05").gaps.iter().map(|gap| (gap.start_us, gap.length_us, gap.in_flight)).collect();
    assert_eq!(gaps, [(10_000_600, 149_400, 1)]);
}

#[test]
fn turnarounds_are_of_requests_that_succeeded() {
    // The last one is taken back after 20 s.
    let report = read(
        records(IN_ORDER).into_iter().map(|(at, n, event, line)| match event {
            'C' if n == REQUESTS - 1 && line.contains("Bi:") => {
                (at + 20_000_000, n, event, format!("b{n} {} C Bi:1:002:1 -2 0", at + 20_000_000))
            }
            _ => (at, n, event, line),
        }),
        None,
    );
    let turnaround = endpoint(&report, "0x81").turnaround_us.expect("turnarounds");
    assert_eq!((turnaround.n, turnaround.max), (REQUESTS - 1, TAKES_US as f64));
}

#[test]
fn an_address_that_another_device_is_given_is_named() {
    let given = |at: u64, ids: &str| {
        [
            format!("a1 {at} S Ci:1:000:0 s 80 06 0100 0000 0012 18 <"),
            format!("a1 {} C Ci:1:000:0 0 18 = 12010002 00000040 {ids} 00020102 0301", at + 100),
            format!("a1 {} S Co:1:000:0 s 00 05 0004 0000 0000 0", at + 200),
            format!("a1 {} C Co:1:000:0 0 0", at + 300),
        ]
    };
    let of = |second: &str| {
        let lines = given(1_000, "81078155").into_iter().chain(given(9_000_000, second)).enumerate();
        read(lines.map(|(n, line)| (0, n as u64, ' ', line)), None)
    };
    let report = of("7c2c2501");
    let device = report.devices.iter().find(|device| device.name == "1.4").expect("the device");
    assert_eq!((device.earlier_ids.as_slice(), device.enumerations), (&["0781:5581".to_owned()][..], 2));
    let text = limit(&report, "address-reused").expect("a limit");
    assert!(
        text.starts_with("Address 1.4 was given to 2 devices one after the other (0781:5581, then 2c7c:0125)"),
        "{text}"
    );
    let again = of("81078155");
    assert_eq!(limit(&again, "address-reused"), None);
    let device = again.devices.iter().find(|device| device.name == "1.4").expect("the device");
    assert!(device.evidence.contains(&"given its address 2 times".to_owned()), "{:?}", device.evidence);
}

#[test]
fn what_was_handed_over_before_the_window_is_not_missing() {
    // 60 requests are under way all the time, and none is handed over any more in the middle of the window.
    let mut lines = Vec::new();
    for n in 0..200u64 {
        let (at, back) = (100_000 + n * 200, 112_000 + n * 200);
        lines.push((at, n, 'S', format!("a{n} {at} S Bo:1:002:5 -115 84 = 45000054 00000000")));
        lines.push((back, n, 'C', format!("a{n} {back} C Bo:1:002:5 0 84 >")));
    }
    lines.sort();
    let ms = |ms: i64| Some(Bound::SinceFirst(ms * 1_000_000));
    let report = read(lines.clone(), Some(Window { from: ms(34), to: ms(60) }));
    let row = endpoint(&report, "0x05");
    assert_eq!(
        (row.submissions, row.completions, row.unmatched_completions, row.lost_submissions),
        (30, 90, Some(0), Some(0))
    );
    let found = report.verdicts.iter().find(|verdict| verdict.code == "uplink-one-each").expect("the verdict");
    assert_eq!(found.evidence, ["30 transfers on endpoint 0x05 (2,520 bytes), 30 datagrams"]);
    // As a capture that begins there: those from before are named, and the rate is whole all the same.
    let report = read(lines.into_iter().filter(|(at, ..)| *at >= 134_000), None);
    let found = report.verdicts.iter().find(|verdict| verdict.code == "uplink-one-each").expect("the verdict");
    assert!(found.text.contains(", 5,000 URB/s."), "{}", found.text);
    let said =
        "90 transfers completed on this endpoint, 60 of them without a submission that belongs to them, which has the \
                data: datagrams are those of 30 submissions in the capture";
    assert!(found.evidence.iter().any(|line| line == said), "{:?}", found.evidence);
}

#[test]
fn the_rate_of_a_verdict_is_that_of_the_endpoint() {
    let ms = |ms: i64| Some(Bound::SinceFirst(ms * 1_000_000));
    // Completions of the last 30 ms are late by 9 ms in all, so submissions have another rate.
    let mut stretched = records(IN_ORDER);
    for (at, n, event, line) in &mut stretched {
        if *event == 'C' && *n > 100 {
            let late = *at + (*n - 100) * 300;
            *line = line.replacen(&at.to_string(), &late.to_string(), 1);
            *at = late;
        }
    }
    stretched.sort();
    let report = read(stretched, Some(Window { from: ms(101), to: ms(131) }));
    let row = endpoint(&report, "0x05");
    let per_s = row.per_s.expect("a rate");
    assert!(per_s < 900.0, "{per_s}");
    assert_eq!(
        report.traffic.iter().find(|traffic| traffic.direction == "out").and_then(|traffic| traffic.per_s),
        Some(per_s)
    );
    assert!(verdict(&report, "uplink-one-each").contains(&format!(", {per_s:.0} URB/s.")), "{per_s}");
}
