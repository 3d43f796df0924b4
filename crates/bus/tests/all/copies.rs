//! Captures in which usbmon0 repeats the records of a bus's own interface.

use std::io::Cursor;

use txop_bus::report::Report;
use txop_bus::{analyze_read, Options};

fn read(lines: &[String]) -> Report {
    let text = lines.join("\n") + "\n";
    analyze_read(Cursor::new(text.into_bytes()), None, "test".to_owned(), &Options::default(), &mut ())
        .expect("a report")
}

/// A request of an interrupt endpoint, under way from `at` µs for 990 µs.
fn ends(at: u64) -> [(u64, String); 2] {
    [(at, "S Ii:1:005:1 -115:1 8 <".to_owned()), (at + 990, "C Ii:1:005:1 0:1 8 = 01020304 05060708".to_owned())]
}

/// `order`: which of S, its copy s, C and its copy c comes when. Copies are stamped 1 µs later.
fn capture(order: &str) -> Report {
    let mut lines = Vec::new();
    for n in 0..100 {
        let [submission, completion] = ends(1_000 * n + 10);
        for letter in order.chars() {
            let (at, what) = if letter.eq_ignore_ascii_case(&'s') { &submission } else { &completion };
            lines.push(format!("ffff8800 {} {what}", at + u64::from(letter.is_lowercase())));
        }
    }
    read(&lines)
}

#[test]
fn every_event_counts_once_in_whatever_order_its_copy_comes() {
    for order in ["SsCc", "SCsc", "sScC", "scSC"] {
        let report = capture(order);
        let summary = &report.summary;
        assert_eq!((summary.submissions, summary.completions), (100, 100), "{order}");
        assert_eq!((summary.unmatched_completions, summary.lost_completions), (0, 0), "{order}");
        let endpoint = &report.endpoints[0];
        assert_eq!((endpoint.bytes, endpoint.in_flight_max), (Some(800), Some(1)), "{order}");
        let said: Vec<&str> = summary.limits.iter().map(|limit| limit.text.as_str()).collect();
        let copies = "At least 200 of 400 records repeat another that is at most 50 µs away";
        assert!(said.iter().any(|text| text.starts_with(copies)), "{order}: {said:?}");
        assert!(!said.iter().any(|text| text.contains("dropped while capturing")), "{order}: {said:?}");
    }
}

#[test]
fn requests_that_follow_each_other_at_once_are_no_copies() {
    // A root hub answers in 1 µs, and the same identifier asks the same again.
    let lines: Vec<String> = (0..50)
        .flat_map(|n| {
            let at = 100 + 2 * n;
            [
                format!("ffff8800 {at} S Ci:1:001:0 s a3 00 0000 0001 0004 4 <"),
                format!("ffff8800 {} C Ci:1:001:0 0 4 = 00010000", at + 1),
            ]
        })
        .collect();
    let report = read(&lines);
    assert_eq!((report.summary.submissions, report.summary.completions), (50, 50));
    assert!(report.summary.limits.iter().all(|limit| limit.code != "copies"));
}

#[test]
fn completions_that_were_captured_alone_are_no_copies() {
    let lines: Vec<String> =
        (0..50).map(|n| format!("ffff8800 {} C Bi:1:005:1 0 512 = 01020304", 100 + 20 * n)).collect();
    let report = read(&lines);
    assert_eq!((report.summary.submissions, report.summary.completions), (0, 50));
    assert!(report.summary.limits.iter().all(|limit| limit.code != "copies"));
}

#[test]
fn submissions_that_were_captured_alone_are_no_copies() {
    let submissions = |apart: u64| -> Report {
        let lines: Vec<String> =
            (0..50).map(|n| format!("ffff8800 {} S Bo:1:005:1 -115 512 = 01020304", 100 + apart * n)).collect();
        read(&lines)
    };
    for apart in [5, 20] {
        let report = submissions(apart);
        assert_eq!((report.summary.submissions, report.summary.completions), (50, 0), "{apart} µs");
        assert!(report.summary.limits.iter().all(|limit| limit.code != "copies"), "{apart} µs");
    }
}

/// A hub is asked the same 12 µs after its answer; one submission is missing, so that two completions of an identifier follow each other.
#[test]
fn one_record_like_another_is_no_copy_where_no_other_is_repeated() {
    let mut lines: Vec<String> = (0..40)
        .flat_map(|n| {
            let at = 100 + 10_000 * n;
            [0, 12].into_iter().flat_map(move |later| {
                [
                    format!("ffff8800 {} S Ci:1:001:0 s a3 00 0000 0001 0004 4 <", at + later),
                    format!("ffff8800 {} C Ci:1:001:0 0 4 = 00010000", at + later + 1),
                ]
            })
        })
        .collect();
    lines.remove(4 * 20 + 2);
    let summary = read(&lines).summary;
    assert_eq!((summary.submissions, summary.completions, summary.copies), (79, 80, Some(0)));
    assert_eq!((summary.unmatched_completions, summary.lost_submissions), (1, Some(1)));
}

/// Every record twice, stamped 2 µs apart, of requests that follow each other at once; the first of two completions is missing now
/// and then, so that the second stands between a submission and its copy.
#[test]
fn a_submission_is_a_copy_though_the_other_copy_of_the_record_between_is_missing() {
    let mut lines = Vec::new();
    for n in 0..200u64 {
        let at = 100 + 1_000 * n;
        // The request behind one whose first completion is missing is handed over 1 µs after it.
        for (id, apart) in [("S", 0), ("C", if n % 20 == 19 { 999 } else { 500 })] {
            for copy in [0, 2] {
                if (id, copy) == ("C", 0) && n % 20 == 19 {
                    continue;
                }
                let rest = if id == "S" { "-115:1 8 <" } else { "0:1 8 = 01020304 05060708" };
                let time = at + apart + copy;
                lines.push((time, format!("ffff8800 {time} {id} Ii:1:005:1 {rest}")));
            }
        }
    }
    lines.sort();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    assert_eq!(read(&lines).summary.submissions, 200);
}

#[test]
fn submissions_alone_that_usbmon0_repeats_count_once() {
    let lines: Vec<String> = (0..50)
        .flat_map(|n| [1_000 * n, 1_000 * n + 2].map(|at| format!("ffff8800 {at} S Bo:1:005:1 -115 512 = 01020304")))
        .collect();
    assert_eq!(read(&lines).summary.submissions, 50);
}
