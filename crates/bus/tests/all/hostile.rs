//! Captures and texts made of anything: always a report or a refusal, in little time, with sums that agree.

use std::io::Cursor;

use capture::{PcapSettings, PcapWriter};
use proptest::prelude::*;
use txop_bus::analyze_read;
use txop_bus::report::Report;
use wire::linktype::LinkType;

fn analyze(file: Vec<u8>) -> Option<Report> {
    analyze_read(Cursor::new(file), None, "hostile".to_owned(), &Default::default(), &mut ()).ok()
}

fn check(report: &Report) {
    let summary = &report.summary;
    assert_eq!(report.records, summary.submissions + summary.completions + summary.submission_errors);
    let followed: u64 = report.endpoints.iter().map(|row| row.completions).sum();
    assert!(followed + summary.not_followed >= summary.completions);
    for row in &report.endpoints {
        assert_eq!(row.statuses.iter().map(|status| status.count).sum::<u64>(), row.completions);
        let in_series = row.series.iter().map(|bin| bin.bytes).sum::<u64>();
        let is_one_timeline = summary.steps_back == Some(0) || summary.span_us.is_some();
        assert_eq!(in_series, if is_one_timeline { row.bytes.unwrap_or(0) } else { 0 });
        assert!(row.unmatched_completions <= Some(row.completions) && row.lost_submissions <= Some(row.completions));
        assert!(row.lost_completions <= Some(row.submissions));
    }
    for row in &report.traffic {
        let kept = row.whole_transfers + row.faulty_transfers;
        assert_eq!(kept + row.cut_transfers.unwrap_or(row.transfers - kept), row.transfers, "{row:?}");
        assert!(row.datagrams_at_least >= row.datagrams && row.ack_only_transfers <= row.judged_transfers);
    }
    serde_json::to_vec(report).expect("numbers that JSON can hold");
}

/// Headers whose fields are mostly of a kind that is read on, with data that looks like one of the framings.
fn record() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        Just(b"NCMH\x0c\0\x01\0\x40\0\x0c\0NCM0\x10\0\x0c\0\x1c\0\x10\0\0\0\0\0".to_vec()),
        Just(b"\0\x01\0\x1cE\0\0\x1c".to_vec()),
        Just(b"\x01\0\0\0\x3c\0\0\0\x24\0\0\0\x10\0\0\0".to_vec()),
        Just(Vec::new()),
    ];
    let header = (prop::sample::select(vec![b'S', b'C', b'E']), 0u8..4, any::<u8>(), 0u8..3, 0u8..3, any::<i32>());
    let sizes = (prop_oneof![0u32..300, any::<u32>()], prop_oneof![0u32..300, any::<u32>()], any::<[u8; 24]>());
    (header, sizes, start, prop::collection::vec(any::<u8>(), 0..80)).prop_map(|(header, sizes, start, tail)| {
        let (event, transfer, endpoint, device, id, status) = header;
        let mut out = vec![id, 0, 0, 0, 0, 0, 0, 0, event, transfer, endpoint, device, 1, 0, 0, 0];
        out.extend([0; 12]);
        out.extend(status.to_le_bytes());
        out.extend(sizes.0.to_le_bytes());
        out.extend(sizes.1.to_le_bytes());
        out.extend(sizes.2);
        out.extend(start);
        out.extend(tail);
        out
    })
}

proptest! {
    #[test]
    fn usbmon_records_of_any_kind(records in prop::collection::vec((record(), any::<u32>()), 1..60)) {
        let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType::USB_LINUX_MMAPPED)).unwrap();
        for (record, time) in &records {
            writer.write(i64::from(*time) * 1_000_000, record.len() as u32, record).unwrap();
        }
        let report = analyze(writer.into_inner()).unwrap();
        prop_assert_eq!(report.records, records.len() as u64);
        check(&report);
    }

    #[test]
    fn records_of_any_bytes(link in prop::sample::select(vec![189u32, 220, 249]),
                            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..40)) {
        let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType(link))).unwrap();
        for record in &records {
            writer.write(1, record.len() as u32, record).unwrap();
        }
        let report = analyze(writer.into_inner()).unwrap();
        check(&report);
    }

    #[test]
    fn lines_of_any_kind(lines in prop::collection::vec("[0-9a-f]{8} [0-9]{1,20} [SCE] [BCIZ][io]:[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2} .{0,40}", 1..40)) {
        if let Some(report) = analyze(lines.join("\n").into_bytes()) {
            check(&report);
        }
    }
}

#[test]
fn more_requests_than_can_be_under_way_are_bounded() {
    let lines: String = (0..200_000u64).map(|n| format!("{:08x} {n} S Bo:1:002:5 -115 60 = 00\n", n + 1)).collect();
    let report = analyze(lines.into_bytes()).expect("a report");
    assert_eq!((report.summary.submissions, report.summary.unfinished), (200_000, 200_000));
    check(&report);
}

#[test]
fn more_endpoints_than_a_bus_can_have_are_bounded() {
    let lines: String = (0..20_000u64)
        .map(|n| format!("{:08x} {n} C Bi:{}:{}:{} 0 60 = 00\n", n + 1, n / 1000, n % 1000, n % 15))
        .collect();
    let report = analyze(lines.into_bytes()).expect("a report");
    assert!(report.endpoints.len() <= 1024 && report.summary.not_followed > 0);
    assert!(report.summary.limits.iter().any(|limit| limit.code == "too-many"));
}
