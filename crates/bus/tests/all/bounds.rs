//! What a capture shows as a bound only, and what it does not show: cut blocks, lengths that nothing recorded, coarse clocks.

use std::io::Cursor;

use capture::{Bound, InterfaceSettings, PcapSettings, PcapWriter, PcapngWriter, Window};
use txop_bus::report::{Report, Traffic, Verdict};
use txop_bus::{analyze_read, Options};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::usb::ntb::Builder;

fn analyze(file: Vec<u8>, window: Option<Window>) -> Report {
    analyze_read(Cursor::new(file), None, "test".to_owned(), &Options { window }, &mut ()).expect("a report")
}

fn read_lines(lines: &[String]) -> Report {
    analyze((lines.join("\n") + "\n").into_bytes(), None)
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a str> {
    report.summary.limits.iter().find(|limit| limit.code == code).map(|limit| limit.text.as_str())
}

fn verdict<'a>(report: &'a Report, code: &str) -> &'a Verdict {
    report.verdicts.iter().find(|verdict| verdict.code == code).expect("the verdict")
}

/// usbmon's record of an OUT transfer handed over or come back.
fn usbmon(id: u8, event: u8, status: i32, len: usize, data: &[u8]) -> Vec<u8> {
    let mut out = vec![id, 0, 0, 0, 0, 0, 0, 0, event, 3, 2, 5, 1, 0, b'-', if data.is_empty() { b'>' } else { 0 }];
    out.extend([0; 12]);
    out.extend(status.to_le_bytes());
    out.extend((len as u32).to_le_bytes());
    out.extend((data.len() as u32).to_le_bytes());
    out.extend([0; 24]);
    out.extend(data);
    out
}

/// Forty transfers to the device a millisecond apart, each record cut behind `kept` bytes of data.
fn sent(data: &[u8], kept: usize) -> Report {
    let settings = PcapSettings { snap_len: 64 + kept as u32, ..PcapSettings::micros(LinkType::USB_LINUX_MMAPPED) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a header");
    for (at, id) in (1_000_000_000i64..).step_by(1_000_000).zip(1..=40) {
        let handed_over = usbmon(id, b'S', -115, data.len(), data);
        let cut = handed_over.get(..64 + kept).unwrap_or(&handed_over);
        writer.write(at, handed_over.len() as u32, cut).expect("a record");
        writer.write(at + 300_000, 64, &usbmon(id, b'C', 0, data.len(), &[])).expect("a record");
    }
    analyze(writer.into_inner(), None)
}

fn row(report: &Report) -> &Traffic {
    report.traffic.first().expect("traffic")
}

fn block(datagrams: &[usize]) -> Vec<u8> {
    let mut builder = Builder::new(*b"NCM0");
    datagrams.iter().for_each(|len| builder.push(&vec![7; *len]));
    builder.finish(1).expect("a block")
}

/// A block of 2 KiB with one datagram: what is behind the datagram is padding.
#[test]
fn padding_behind_a_cut_is_no_datagram() {
    let mut padded = block(&[1_514]);
    padded.resize(2_048, 0);
    let whole = sent(&padded, 2_048);
    assert_eq!(
        (row(&whole).datagrams, row(&whole).datagrams_at_least, row(&whole).datagrams_at_most),
        (40, 40, Some(40))
    );
    assert!(verdict(&whole, "uplink-not-aggregated")
        .text
        .starts_with("Uplink is not aggregated: 1.0 datagram per URB"));
    // Nothing but the header of the block.
    let cut = sent(&padded, 12);
    assert_eq!((row(&cut).datagrams, row(&cut).datagrams_at_least, row(&cut).cut_transfers), (0, 40, Some(40)));
    assert!(row(&cut).datagrams_at_most.is_some_and(|most| most >= 40));
    assert_eq!(
        verdict(&cut, "uplink-aggregation-unknown").text,
        "Whether the uplink is aggregated can't be determined, because 40 of 40 transfers are cut in the capture: at least 1.0 datagrams \
         per URB (NTB-16), 1,000 URB/s."
    );
    assert_eq!(cut.verdicts.len(), 1, "{:?}", cut.verdicts);
}

#[test]
fn a_cut_table_counts_by_its_length_unless_tables_have_room() {
    let full = block(&[60; 8]);
    // The block's header, the table's, and two of nine pointers.
    let report = sent(&full, 12 + 8 + 8);
    let table = row(&report);
    assert_eq!((table.datagrams, table.cut_transfers, table.counted_by_table), (320, Some(0), Some(40)));
    assert_eq!((table.datagrams_per_transfer, table.whole_transfers, table.padding_share), (Some(8.0), 0, None));
    let found = verdict(&report, "uplink-aggregated");
    assert!(found.text.starts_with("Uplink is aggregated: 8.0 datagrams per URB (NTB-16)"), "{}", found.text);
    let why = "datagrams of 40 transfers are counted by the length of a pointer table that the capture cut";
    assert!(found.evidence.iter().any(|line| line == why), "{:?}", found.evidence);
    // A table of nine pointers of which the third ends it.
    let mut roomy = full.clone();
    roomy[12 + 8 + 8..12 + 8 + 12].fill(0);
    let report = sent(&roomy, 12 + 8 + 12);
    assert_eq!((row(&report).datagrams_per_transfer, row(&report).counted_by_table), (Some(2.0), None));
}

/// Some tables end early, so the others, of which one pointer is there, give by their length at most how many there are.
#[test]
fn tables_with_room_make_the_length_of_others_a_bound() {
    let mut roomy = block(&[60; 2]);
    roomy[12 + 8 + 4..12 + 8 + 8].fill(0);
    let long = block(&[60; 8]);
    let settings = PcapSettings { snap_len: 64 + 28, ..PcapSettings::micros(LinkType::USB_LINUX_MMAPPED) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a header");
    for (at, id) in (1_000_000_000i64..).step_by(1_000_000).zip(1..=40) {
        let data = if id % 2 == 0 { &roomy } else { &long };
        let record = usbmon(id, b'S', -115, data.len(), data);
        writer.write(at, record.len() as u32, record.get(..64 + 28).unwrap_or(&record)).expect("a record");
        writer.write(at + 300_000, 64, &usbmon(id, b'C', 0, data.len(), &[])).expect("a record");
    }
    let report = analyze(writer.into_inner(), None);
    let found = row(&report);
    assert_eq!((found.cut_transfers, found.datagrams, found.datagrams_at_least), (Some(20), 20 + 40, 20 + 40));
    assert_eq!((found.datagrams_at_most, found.datagrams_per_transfer), (Some(20 + 160), None));
}

/// USBPcap's record of an IRP on endpoint 2 OUT.
fn usbpcap(id: u8, status: u32, is_up: bool, data: &[u8]) -> Vec<u8> {
    let mut out = vec![27, 0, id, 0, 0, 0, 0, 0, 0, 0];
    out.extend(status.to_le_bytes());
    out.extend([9, 0, u8::from(is_up), 1, 0, 5, 0, 2, 3]);
    out.extend((data.len() as u32).to_le_bytes());
    out.extend(data);
    out
}

#[test]
fn what_a_failed_transfer_moved_is_not_known_to_usbpcap() {
    const STALL: u32 = 0xc000_0004;
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::micros(LinkType::USBPCAP)).expect("a header");
    for (at, (id, status)) in (1_000_000_000i64..).step_by(1_000_000).zip([(1, 0), (2, STALL), (3, 0), (4, STALL)]) {
        for (at, record) in [(at, usbpcap(id, 0, false, &[5; 500])), (at + 200_000, usbpcap(id, status, true, &[]))] {
            writer.write(at, record.len() as u32, &record).expect("a record");
        }
    }
    let report = analyze(writer.into_inner(), None);
    let endpoint = report.endpoints.first().expect("the endpoint");
    assert_eq!((endpoint.completions, endpoint.bytes, endpoint.bytes_unknown), (4, Some(1_000), Some(2)));
    let device = report.devices.first().expect("the device");
    assert_eq!((device.bytes_out, device.bytes_out_unknown), (Some(1_000), Some(2)));
    assert_eq!(
        limit(&report, "failed-bytes"),
        Some("2 transfers to the device did not succeed, and USBPcap does not record how much of them was moved: their bytes are not counted.")
    );
    assert_eq!(limit(&report, "unmatched"), None, "all are paired");
}

#[test]
fn a_log_of_32_bytes_a_line_gives_lower_bounds() {
    let bytes = |count: usize| vec!["01"; count].join(" ");
    let report = read_lines(&[
        format!("000001:  OUT: 000001 ms 000001 ms 80 06 00 01 00 00 12 00 <<< {} ", bytes(18)),
        format!("000003:  OUT: 000001 ms 000003 ms 80 06 00 02 00 00 ff 00 <<< {} ", bytes(32)),
        format!("000005:  OUT: 000001 ms 000005 ms 81 06 00 22 00 00 20 00 <<< {} ", bytes(32)),
    ]);
    let endpoint = report.endpoints.first().expect("the endpoint");
    assert_eq!((endpoint.bytes, endpoint.bytes_unknown), (Some(82), Some(1)));
    assert_eq!((report.devices[0].bytes_in, report.devices[0].bytes_in_unknown), (82, Some(1)));
    let request =
        |code: &str| report.requests.iter().find(|row| row.code == code).map(|row| (row.bytes, row.bytes_unknown));
    assert_eq!((request("80 06"), request("81 06")), (Some((50, Some(1))), Some((32, Some(0)))));
    assert_eq!(
        limit(&report, "text-32-bytes"),
        Some(
            "1 of 3 transfers with data is not whole in the capture: a line shows at most 32 bytes, and the device was asked for \
             more, so its bytes are a lower bound."
        )
    );
}

#[test]
fn what_does_not_succeed_and_is_no_error_is_named_by_its_status() {
    let lines: Vec<String> = (0..)
        .zip([0, -71, -121, -108, -108, -2])
        .flat_map(|(n, status)| {
            let at = 1_000 + n * 1_000;
            [
                format!("a{n} {at} S Bi:1:002:1 -115 512 <"),
                format!("a{n} {} C Bi:1:002:1 {status} 4 = 01020304", at + 300),
            ]
        })
        .collect();
    let report = read_lines(&lines);
    let found = verdict(&report, "errors");
    assert_eq!(found.text, "1 of 6 completed requests of device 1.2 (unknown: no descriptors and nothing known in its transfers) ended with an \
         error.");
    let others: Vec<&String> = found.evidence.iter().filter(|line| line.contains("more")).collect();
    assert_eq!(others.len(), 2, "{:?}", found.evidence);
    assert!(others
        .iter()
        .any(|line| line.starts_with("1 more did not succeed, which is not counted as an error: EREMOTEIO (-121)")));
    assert!(others
        .iter()
        .any(|line| line.starts_with("2 more did not succeed, which are not counted as errors: ESHUTDOWN (-108)")));
}

/// The clock belongs to the capture: a window with few records has it, too.
#[test]
fn a_window_has_the_clock_of_its_capture() {
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::micros(LinkType::USBPCAP)).expect("a header");
    for n in 0..400u32 {
        let at = 1_000_000_000 + i64::from(n / 2) * 1_000_000;
        let record = usbpcap((n / 2 % 250 + 1) as u8, 0, n % 2 == 1, if n % 2 == 0 { &[5; 100] } else { &[] });
        writer.write(at, record.len() as u32, &record).expect("a record");
    }
    let window = Window { from: Some(Bound::SinceFirst(50_000_000)), to: Some(Bound::SinceFirst(80_000_000)) };
    let report = analyze(writer.into_inner(), Some(window));
    assert_eq!((report.records, report.summary.clock_step_us), (60, Some(1_000)));
    assert!(limit(&report, "coarse-clock").is_some());
}

#[test]
fn a_window_by_date_of_a_text_says_that_it_has_no_date() {
    let lines = ["a1 100 S Bo:1:002:2 -115 8 = 01020304 05060708", "a1 200 C Bo:1:002:2 0 8 >"];
    let read =
        |from: Bound| analyze((lines.join("\n") + "\n").into_bytes(), Some(Window { from: Some(from), to: None }));
    let text = "The text of usbmon has the time of day modulo 4,096 s and no date: the window was placed by the time of day alone.";
    assert_eq!(limit(&read(Bound::Unix(1_714_564_800_000_000_000)), "no-date"), Some(text));
    assert_eq!(limit(&read(Bound::SinceFirst(0)), "no-date"), None);
}

/// A capture whose recorder counted no drop.
fn with_no_drop(records: impl IntoIterator<Item = Vec<u8>>) -> Report {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Little).expect("a header");
    let settings = InterfaceSettings::nanos(LinkType::USB_LINUX_MMAPPED);
    let interface = writer.add_interface(&settings).expect("an interface");
    for (at, record) in (1_000_000_000i64..).step_by(500_000).zip(records) {
        writer.write(interface, at, record.len() as u32, &record).expect("a record");
    }
    writer.write_statistics(interface, 9_000_000_000, None, Some(0)).expect("statistics");
    analyze(writer.into_inner(), None)
}

#[test]
fn what_was_not_dropped_may_have_been_taken_out_of_the_file() {
    let numbered = |sequence: u16| {
        let mut builder = Builder::new(*b"NCM0");
        builder.push(&[7; 60]);
        builder.finish(sequence).expect("a block")
    };
    let transfers = (0..60u16).filter(|n| n % 20 != 10).flat_map(|n| {
        let data = numbered(n);
        [usbmon(n as u8 + 1, b'S', -115, data.len(), &data), usbmon(n as u8 + 1, b'C', 0, data.len(), &[])]
    });
    let found = with_no_drop(transfers);
    assert_eq!(
        verdict(&found, "missing-blocks").text,
        "3 blocks are missing by sequence number, although no record was dropped while capturing: their sender skipped the \
         numbers, they were lost on the way, or both ends of their requests were taken out of the file."
    );
    // A completion without submission behind one that has its own.
    let data = numbered(0);
    let report = with_no_drop([
        usbmon(1, b'S', -115, data.len(), &data),
        usbmon(1, b'C', 0, data.len(), &[]),
        usbmon(2, b'C', 0, data.len(), &[]),
    ]);
    let text = limit(&report, "unmatched").expect("a limit");
    assert!(text.contains("at least 1 submission is missing: taken out of the file."), "{text}");
}

/// What is known of some transfers only is reported as theirs.
#[test]
fn shares_name_the_transfers_that_they_are_of() {
    let mut padded = block(&[1_000]);
    padded.resize(2_048, 0);
    let settings = PcapSettings { snap_len: 65_535, ..PcapSettings::micros(LinkType::USB_LINUX_MMAPPED) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a header");
    for (at, id) in (1_000_000_000i64..).step_by(1_000_000).zip(1..=40) {
        let record = usbmon(id, b'S', -115, padded.len(), &padded);
        let kept = if id % 2 == 0 { record.len() } else { 64 + 12 };
        writer.write(at, record.len() as u32, record.get(..kept).unwrap_or(&record)).expect("a record");
        writer.write(at + 300_000, 64, &usbmon(id, b'C', 0, padded.len(), &[])).expect("a record");
    }
    let report = analyze(writer.into_inner(), None);
    let found = verdict(&report, "uplink-aggregation-unknown");
    assert!(
        found.evidence.iter().any(|line| line == "50 % of the bytes of whole transfers are padding"),
        "{:?}",
        found.evidence
    );
    assert!(
        found
            .evidence
            .iter()
            .any(|line| line.starts_with("0 % of the uplink transfers with known payloads carry nothing")),
        "{:?}",
        found.evidence
    );
    let padding = found.figures().iter().find(|figure| figure.name == "padding").expect("the share");
    assert_eq!(padding.n, 20 * 2_048);
}
