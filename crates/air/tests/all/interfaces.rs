//! Captures of several interfaces, frames that are in a file twice, and what small captures show.

use crate::records::{records, Record};
use capture::{InterfaceSettings, PcapSettings, PcapWriter, PcapngWriter, Reader};
use txop_air::report::{Report, Waterfall};
use wire::linktype::LinkType;

fn analyze(bytes: Vec<u8>) -> Report {
    let reader = Reader::from_read(std::io::Cursor::new(bytes)).expect("a capture");
    txop_air::analyze_reader(reader, "test".to_owned(), Default::default(), &mut ()).expect("a report")
}

/// Every record once on each of these interfaces, one after the other.
fn on_interfaces(records: &[Record], interfaces: &[u32]) -> Report {
    let mut writer = PcapngWriter::new(Vec::new(), wire::pcap::ByteOrder::Little).expect("a file header");
    for _ in 0..=*interfaces.iter().max().expect("an interface") {
        let settings = InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
        writer.add_interface(&settings).expect("an interface");
    }
    for (time_ns, data) in records {
        for interface in interfaces {
            writer.write(*interface, *time_ns, data.len() as u32, data).expect("memory");
        }
    }
    analyze(writer.into_inner())
}

fn has_limit(report: &Report, code: &str) -> bool {
    report.summary.limits.iter().any(|limit| limit.code == code)
}

fn shares(waterfall: &Waterfall) -> Vec<(&str, f64)> {
    waterfall.steps.iter().map(|step| (step.cause.as_str(), step.us)).collect()
}

/// Two sniffers side by side on one channel: nothing about the exchanges may change.
#[test]
fn what_two_interfaces_heard_is_matched_apart() {
    let records = records("lossy", 2.0);
    let (one, two) = (on_interfaces(&records, &[0]), on_interfaces(&records, &[0, 1]));
    assert!(!has_limit(&one, "several-interfaces") && !has_limit(&one, "duplicates"));
    assert!(has_limit(&two, "several-interfaces") && has_limit(&two, "heard-twice") && !has_limit(&two, "duplicates"));
    assert!(two.ack_verdicts.iter().all(|verdict| verdict.answer == "not-determined"), "they count every frame twice");
    assert_eq!(two.frames, 2 * one.frames);
    assert!(!one.exchanges.is_empty() && one.exchanges.len() == two.exchanges.len());
    for (one, two) in one.exchanges.iter().zip(&two.exchanges) {
        assert_eq!((&one.ta, &one.ra), (&two.ta, &two.ra));
        assert_eq!((2 * one.ppdus, 2 * one.acked, 2 * one.block_acked), (two.ppdus, two.acked, two.block_acked));
        assert_eq!(one.gap_us.as_ref().map(|gap| gap.median), two.gap_us.as_ref().map(|gap| gap.median));
    }
    assert_eq!(shares(&one.waterfalls[0]), shares(&two.waterfalls[0]));
    assert_eq!(one.waterfalls[0].payload_bytes, two.waterfalls[0].payload_bytes);
    assert_eq!(one.airtime.busy_us, two.airtime.busy_us);
}

/// Two pairs whose addresses differ in the same bits, each heard by an interface of its own, with the same numbers and lengths.
#[test]
fn frames_of_different_stations_are_no_copies_of_each_other() {
    let mut writer = PcapngWriter::new(Vec::new(), wire::pcap::ByteOrder::Little).expect("a file header");
    for _ in 0..2 {
        let settings = InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
        writer.add_interface(&settings).expect("an interface");
    }
    for number in 0..200u16 {
        for pair in 0..2u8 {
            let mut record = vec![0, 0, 9, 0, 0x04, 0, 0, 0, 12, 0x08, 0x01, 0, 0];
            record.extend([2, 0, 0, 0, 2 * pair, 0, 2, 0, 0, 0, 2 * pair + 1, 0, 2, 0, 0, 0, 2 * pair, 0]);
            record.extend((number << 4).to_le_bytes());
            record.extend([0; 40]);
            let time_ns = i64::from(number) * 10_000_000 + i64::from(pair) * 5_000_000;
            writer.write(u32::from(pair), time_ns, record.len() as u32, &record).expect("memory");
        }
    }
    let report = analyze(writer.into_inner());
    assert!(has_limit(&report, "several-interfaces") && !has_limit(&report, "heard-twice"));
}

/// `mergecap` of a capture with itself.
#[test]
fn frames_that_are_there_twice_are_reported() {
    let records = records("healthy", 1.0);
    let twice: Vec<_> = records.iter().flat_map(|record| [record.clone(), record.clone()]).collect();
    let report = on_interfaces(&twice, &[0]);
    assert!(has_limit(&report, "duplicates") && !has_limit(&on_interfaces(&records, &[0]), "duplicates"));
    // Every figure of time has each frame twice, and every response comes twice.
    assert!(report.airtime.busy_share.is_none() && report.waterfalls.is_empty());
    assert!(report.ack_verdicts.iter().all(|verdict| verdict.answer == "not-determined"));
    assert!(!report.hearing.silence_is_evidence);
}

/// The same from a program that stamped them later: the hardware stamps are the same.
#[test]
fn copies_with_another_capture_time_are_named() {
    let records = records("healthy", 1.0);
    let twice: Vec<_> =
        records.iter().flat_map(|(at, data)| [(*at, data.clone()), (*at + 3_000, data.clone())]).collect();
    assert!(has_limit(&on_interfaces(&twice, &[0]), "duplicates"));
}

/// Analyses one interface of a capture file.
fn one_interface(records: &[Record], of: u32, chosen: u32) -> Result<Report, txop_air::Error> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut writer = PcapngWriter::new(Vec::new(), wire::pcap::ByteOrder::Little).expect("a file header");
    for _ in 0..of {
        let settings = InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
        writer.add_interface(&settings).expect("an interface");
    }
    for (index, (time_ns, data)) in records.iter().enumerate() {
        // All of them on interface 0, every second one on interface 1, none on any other.
        writer.write(0, *time_ns, data.len() as u32, data).expect("memory");
        if index % 2 == 0 {
            writer.write(1, *time_ns, data.len() as u32, data).expect("memory");
        }
    }
    std::fs::write(file.path(), writer.into_inner()).expect("written");
    let selection = txop_air::Selection { interface: Some(chosen), ..Default::default() };
    let options = txop_air::Options { selection, ..Default::default() };
    txop_air::analyze(file.path(), capture::Options::default(), options, &mut ())
}

#[test]
fn one_interface_alone_is_as_if_the_others_were_not_there() {
    let records = records("healthy", 1.0);
    let alone = on_interfaces(&records, &[0]);
    let chosen = one_interface(&records, 3, 0).expect("a report");
    assert_eq!(chosen.frames, alone.frames);
    assert!(!has_limit(&chosen, "several-interfaces") && !has_limit(&chosen, "heard-twice"));
    assert_eq!(chosen.airtime.busy_us, alone.airtime.busy_us);
    let selection = chosen.summary.selection.expect("what was chosen");
    assert_eq!(
        (selection.interface, selection.records_on_other_interfaces),
        (Some(0), records.len().div_ceil(2) as u64)
    );
    assert_eq!(one_interface(&records, 3, 1).expect("a report").frames, records.len().div_ceil(2) as u64);
    let none = one_interface(&records, 3, 2).expect_err("nothing there").to_string();
    assert!(none.starts_with("no record was captured by interface 2; the capture has 3"), "{none}");
    let unknown = one_interface(&records, 3, 7).expect_err("not described").to_string();
    assert_eq!(unknown, "no interface 7: the capture has 3, numbers 0 to 2");
}

/// A first transmission that was missed does not take its payload along: the copies' bodies tell which MPDUs are there.
#[test]
fn payload_counts_each_captured_mpdu_once() {
    let mut state = 88_172_645_463_325_252u64;
    let kept: Vec<_> = records("lossy", 3.0)
        .into_iter()
        .filter(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 5 != 0
        })
        .collect();
    let report = on_interfaces(&kept, &[0]);
    let waterfall = &report.waterfalls[0];
    let (mut seen, mut payload, mut without_retry_bit) = (std::collections::HashSet::new(), 0, 0);
    for (_, data) in &kept {
        let mpdu = &data[usize::from(u16::from_le_bytes([data[2], data[3]]))..];
        let Ok(header) = wire::ieee80211::Header::parse(mpdu, false) else { continue };
        let on_link = (header.addr2, header.addr1) == (waterfall.ta.parse().ok(), waterfall.ra.parse().expect("a MAC"));
        if !on_link || !header.fc.carries_data() {
            continue;
        }
        let body = &mpdu[header.header_len..mpdu.len() - 4];
        let Some(parts) = wire::ieee80211::body::DataBody::divide(&header, body, body.len(), None) else { continue };
        without_retry_bit += if header.fc.retry() { 0 } else { parts.payload_len as u64 };
        if seen.insert((header.sequence, body.to_vec())) {
            payload += parts.payload_len as u64;
        }
    }
    assert_eq!(waterfall.payload_bytes, payload);
    assert!(payload > without_retry_bit + without_retry_bit / 50, "{payload}, {without_retry_bit} without retry bit");
}

#[test]
fn sae_is_seen_where_it_happens() {
    const STATION: [u8; 6] = [2, 0, 0, 0, 0, 2];
    const AP: [u8; 6] = [2, 0, 0, 0, 0, 1];
    let settings = PcapSettings::nanos(LinkType::IEEE802_11);
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a file header");
    let frame = |fc: u16, sequence: u8, body: &[u8]| {
        [&fc.to_le_bytes()[..], &[0, 0], &AP, &STATION, &AP, &[sequence << 4, 0], body].concat()
    };
    // Open, SAE commit, SAE confirm, data.
    let frames = [
        frame(0x00b0, 0, &[0, 0, 1, 0, 0, 0]),
        frame(0x00b0, 1, &[3, 0, 1, 0, 0, 0, 19, 0]),
        frame(0x00b0, 2, &[3, 0, 2, 0, 0, 0, 1, 0]),
        frame(0x0108, 3, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 1, 2, 3, 4]),
    ];
    for (time_ns, frame) in (1_700_000_000_000_000_000i64..).step_by(1_000_000).zip(&frames) {
        writer.write(time_ns, frame.len() as u32, frame).expect("memory");
    }
    let report = analyze(writer.into_inner());
    let station = &report.capabilities[0];
    assert_eq!(station.address, "02:00:00:00:00:02");
    let row = station.rows.iter().find(|row| row.capability == "WPA3 Personal (SAE)").expect("the row");
    assert_eq!((row.seen, row.seen_detail.as_deref()), (Some(2), Some("2 of 3 authentication frames it sent")));
}
