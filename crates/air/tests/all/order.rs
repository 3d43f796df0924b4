//! Records out of order: what can be sorted gives the figures of the capture in order, what cannot is said.

use std::io::Cursor;
use std::path::PathBuf;

use crate::records::{pcap, records, Record};
use capture::{Bound, Follow, InterfaceSettings, PcapngWriter, Reader, Window};
use proptest::prelude::*;
use serde_json::Value;
use txop_air::report::{Limit, Report};
use txop_air::{analyze, analyze_reader, Error, Options};
use wire::linktype::LinkType;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// Through a pipe, which cannot be read again.
fn piped(bytes: Vec<u8>, options: Options) -> Report {
    let reader = Reader::from_read(Cursor::new(bytes)).expect("a capture");
    analyze_reader(reader, "test".to_owned(), options, &mut ()).expect("a report")
}

struct OnDisk {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl OnDisk {
    fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("capture");
        std::fs::write(&path, bytes).expect("a file");
        Self { _folder: folder, path }
    }

    fn report(&self, settings: capture::Options, options: Options) -> Report {
        let report = analyze(&self.path, settings, options, &mut ()).expect("a report");
        Report { path: "test".to_owned(), ..report }
    }
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a Limit> {
    report.summary.limits.iter().find(|limit| limit.code == code)
}

/// All of a report, but that it was sorted, and the numbers that records have in their file.
fn figures(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).expect("JSON");
    value["summary"]["limits"].as_array_mut().expect("a list").retain(|limit| limit["code"] != "sorted");
    for flow in value["block_acks"].as_array_mut().expect("a list") {
        for example in flow["examples"].as_array_mut().expect("a list") {
            example["frame"].take();
        }
    }
    value
}

/// The same records, blocks of them late by `delay_ns`; `None` where that is less than a millisecond for one of them.
fn late(all: &[Record], blocks: &[(usize, usize)], delay_ns: i64) -> Option<Vec<Record>> {
    let is_late = |i: usize| blocks.iter().any(|(start, len)| (*start..start + len).contains(&(i % 1_000)));
    let mut order: Vec<(i64, usize)> =
        all.iter().enumerate().map(|(i, (at, _))| (at + if is_late(i) { delay_ns } else { 0 }, i)).collect();
    order.sort();
    let (mut latest, mut before) = (i64::MIN, i64::MIN);
    for (_, i) in &order {
        let at = all[*i].0;
        let is_jitter = |other: i64| at < other && other.saturating_sub(at) <= MS;
        if is_jitter(latest) || is_jitter(before) {
            return None;
        }
        (latest, before) = (latest.max(at), at);
    }
    Some(order.into_iter().map(|(_, i)| all[i].clone()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// From a pipe and from a file, whole and in a window.
    #[test]
    fn a_shuffled_capture_gives_the_report_of_the_ordered_one(
        preset in prop_oneof![Just("late-block-ack"), Just("lossy"), Just("healthy")],
        blocks in prop::collection::vec((0usize..1_000, 1usize..40), 1..6),
        delay_ms in 20i64..1_900,
        is_cut in any::<bool>(),
    ) {
        let all = records(preset, 2.5);
        let Some(shuffled) = late(&all, &blocks, delay_ms * MS) else {
            return Err(TestCaseError::reject("jitter"));
        };
        let (from, to) = (Bound::SinceFirst(SECOND / 2), Bound::SinceFirst(2 * SECOND));
        let window = is_cut.then_some(Window { from: Some(from), to: Some(to) });
        let options = || Options { window, ..Options::default() };
        let ordered = piped(pcap(&all), options());
        prop_assert!(limit(&ordered, "sorted").is_none());
        let report = piped(pcap(&shuffled), options());
        prop_assert_eq!(figures(&report), figures(&ordered));
        let again = OnDisk::new(&pcap(&shuffled)).report(Default::default(), options());
        prop_assert_eq!(serde_json::to_value(&again).expect("JSON"), serde_json::to_value(&report).expect("JSON"));

        let mut latest = i64::MIN;
        let moved = shuffled.iter().filter(|(at, _)| { latest = latest.max(*at); *at < latest }).count();
        if moved > 0 {
            let said = limit(&report, "sorted").expect("it is said");
            prop_assert_eq!(said.sentence.figures()[0].value, moved as f64);
            prop_assert_eq!(said.sentence.figures()[0].n, all.len() as u64);
            prop_assert!(said.sentence.figures()[2].value <= delay_ms as f64 / 1e3);
        }
    }
}

fn shuffled(all: &[Record]) -> Vec<Record> {
    let mut shuffled = all.to_vec();
    let block: Vec<_> = shuffled.drain(100..130).collect();
    let later = shuffled.iter().position(|(at, _)| *at > block[29].0 + 200 * MS).expect("later records");
    shuffled.splice(later..later, block);
    shuffled
}

#[test]
fn a_file_that_is_followed_is_sorted_like_one_that_is_not() {
    let disk = OnDisk::new(&pcap(&shuffled(&records("lossy", 1.0))));
    let plain = disk.report(Default::default(), Options::default());
    assert!(limit(&plain, "sorted").is_some());
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let settings = capture::Options { follow: Some(Follow::until(stop)), ..Default::default() };
    let followed = disk.report(settings, Options::default());
    assert_eq!(serde_json::to_value(followed).expect("JSON"), serde_json::to_value(plain).expect("JSON"));
}

#[test]
fn jitter_is_not_sorted() {
    let mut all = records("lossy", 1.0);
    // The response has the time of 40 µs before the frame that it answers.
    for i in (100..900).step_by(50) {
        all[i].0 = all[i - 1].0 - 40_000;
    }
    let (pipe, disk) = (piped(pcap(&all), Options::default()), OnDisk::new(&pcap(&all)));
    assert!(limit(&pipe, "sorted").is_none() && limit(&pipe, "some-disorder").is_none());
    let from_file = disk.report(Default::default(), Options::default());
    assert_eq!(serde_json::to_value(from_file).expect("JSON"), serde_json::to_value(pipe).expect("JSON"));
}

#[test]
fn what_interfaces_heard_is_sorted_together() {
    let all = records("lossy", 1.0);
    // The second one stops before the first, so that every record of it is late by more than jitter.
    let end = all[all.len() - 1].0 - 150 * MS;
    let second = all.iter().filter(|(at, _)| *at < end).count();
    let write = |late_ns: i64| {
        let one = (0..all.len()).map(|i| (all[i].0, 0, i));
        let mut order: Vec<(i64, u32, usize)> = one.chain((0..second).map(|i| (all[i].0 + late_ns, 1, i))).collect();
        order.sort();
        let mut writer = PcapngWriter::new(Vec::new(), wire::pcap::ByteOrder::Little).expect("a file header");
        for _ in 0..2 {
            writer.add_interface(&InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP)).expect("an interface");
        }
        for (_, interface, i) in order {
            // Captured 2 µs later, so that it is clear which comes first.
            let time_ns = all[i].0 + 2_000 * i64::from(interface);
            writer.write(interface, time_ns, all[i].1.len() as u32, &all[i].1).expect("memory");
        }
        piped(writer.into_inner(), Options::default())
    };
    let (ordered, apart) = (write(2_000), write(100 * MS));
    assert!(limit(&ordered, "sorted").is_none());
    assert_eq!(limit(&apart, "sorted").expect("it is said").sentence.figures()[0].value, second as f64);
    assert_eq!(figures(&apart), figures(&ordered));
}

#[test]
fn a_reversed_capture_is_said_to_be_one() {
    let mut all = records("healthy", 1.5);
    let ordered = piped(pcap(&all), Options::default());
    all.reverse();
    let short = piped(pcap(&all), Options::default());
    let said = limit(&short, "disorder").expect("it is said").sentence.text();
    assert!(said.starts_with("the records stand in reverse order: "), "{said}");
    assert_eq!(short.summary.span_us, ordered.summary.span_us);

    let mut all = records("healthy", 6.0);
    all.reverse();
    let long = piped(pcap(&all), Options::default());
    let said = limit(&long, "disorder").expect("it is said").sentence.text();
    assert!(said.starts_with("the records stand in reverse order: ") && said.contains("cannot be used"), "{said}");
    assert!(limit(&long, "sorted").is_none() && long.waterfalls.is_empty() && long.airtime.busy_us.is_none());
}

#[test]
fn captures_one_behind_the_other_have_no_times_that_can_be_used() {
    let all = records("healthy", 4.0);
    let later = all.iter().skip(500).cloned().collect();
    let report = piped(pcap(&[all, later].concat()), Options::default());
    let said = limit(&report, "disorder").expect("it is said").sentence.text();
    assert!(said.contains("captures that were put one behind the other"), "{said}");
    assert!(limit(&report, "sorted").is_none());
}

#[test]
fn a_capture_behind_itself_is_there_twice() {
    let all = records("healthy", 4.0);
    let report = piped(pcap(&[all.clone(), all].concat()), Options::default());
    let said = limit(&report, "duplicates").expect("it is said").sentence.text();
    assert!(said.ends_with("with the same length and time: the capture was appended to itself"), "{said}");
    assert!(limit(&report, "disorder").is_none() && report.waterfalls.is_empty());
}

#[test]
fn a_capture_without_a_readable_record_is_an_error() {
    let zeros = [pcap(&[]), vec![0; 64 << 10]].concat();
    let reader = Reader::from_read(Cursor::new(zeros)).expect("a capture");
    match analyze_reader(reader, "zeros".to_owned(), Options::default(), &mut ()) {
        Err(error @ Error::Unreadable { records: 4_096, .. }) => {
            let said = error.to_string();
            assert!(said.starts_with("none of its 4096 802.11 records can be read: record 1 at byte 24: "), "{said}");
        }
        other => panic!("{other:?}"),
    }
    // One that can be read is enough for a report.
    let one = records("healthy", 0.2).remove(0);
    let report = piped(pcap(&[(0, Vec::new()), one, (0, Vec::new())]), Options::default());
    assert_eq!((report.frames, report.summary.unreadable), (3, 2));
}
