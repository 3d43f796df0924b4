//! A network or a channel of a capture against what is known of it.

use std::io::Cursor;

use crate::records::{pcap, records_of, Record};
use capture::Reader;
use serde_json::Value;
use specimen::Scene;
use txop_air::report::Report;
use txop_air::{analyze_reader, Error, Options, Selection};
use wire::ieee80211::MacAddr;

const SECOND: i64 = 1_000_000_000;
const FIRST: MacAddr = MacAddr([2, 0, 0, 0, 0xaa, 1]);
const SECOND_BSS: MacAddr = MacAddr([2, 0, 0, 0, 0xbb, 1]);

type Records = Vec<Record>;

/// The records of a network with this BSSID, on this channel.
fn network(bssid: MacAddr, frequency_mhz: u16) -> Records {
    let mut scene = Scene::preset("healthy").expect("a preset");
    scene.seconds = 1.0;
    scene.frequency_mhz = frequency_mhz;
    scene.seed = u64::from(bssid.0[4]);
    scene.bss.address = bssid;
    scene.bss.ssid = format!("net {}", bssid.0[4]).into_bytes();
    for (station, number) in scene.stations.iter_mut().zip(16..) {
        station.address = MacAddr([2, 0, 0, 0, bssid.0[4], number]);
    }
    records_of(&scene)
}

/// Quarters of a second of the first network and of the second one, in turn.
fn in_turn(first: &Records, second: &Records) -> Records {
    let start = first[0].0;
    let quarter = |at: i64| ((at - start) / (SECOND / 4)) % 2;
    let of_first = first.iter().filter(|(at, _)| quarter(*at) == 0);
    let of_second = second.iter().filter(|(at, _)| quarter(*at) == 1);
    let mut all: Records = of_first.chain(of_second).cloned().collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn analyze(records: &Records, selection: Selection) -> Result<Report, Error> {
    let reader = Reader::from_read(Cursor::new(pcap(records))).expect("a capture");
    analyze_reader(reader, "test".to_owned(), Options { selection, ..Options::default() }, &mut ())
}

fn of_bss(bssid: MacAddr) -> Selection {
    Selection { bssid: Some(bssid), ..Selection::default() }
}

fn of_channel(channel: u16) -> Selection {
    Selection { channel: Some(channel.into()), ..Selection::default() }
}

/// Without record numbers.
fn json(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).expect("JSON");
    for flow in value["block_acks"].as_array_mut().expect("a table") {
        flow.as_object_mut().expect("an object").remove("examples");
    }
    value
}

/// The rows of a table that have the address of a network's own, or of one of its stations, in `key`; without probe requests,
/// which belong to no network.
fn rows_of(report: &Value, table: &str, key: &str, bssid: MacAddr) -> Vec<Value> {
    let marks = format!("02:00:00:00:{:02x}:", bssid.0[4]);
    let rows = report[table].as_array().expect("a table").iter();
    rows.filter(|row| row[key].as_str().expect("an address").starts_with(&marks))
        .filter(|row| row["bssid"].as_str() != Some("ff:ff:ff:ff:ff:ff"))
        .cloned()
        .collect()
}

#[test]
fn a_network_keeps_its_rows_and_the_channel_stays_busy_with_all() {
    let all = in_turn(&network(FIRST, 2_437), &network(SECOND_BSS, 2_437));
    let whole = analyze(&all, Selection::default()).expect("a report");
    let of_whole = json(&whole);
    let mut networks_us = 0.0;
    for (bssid, other) in [(FIRST, SECOND_BSS), (SECOND_BSS, FIRST)] {
        let report = analyze(&all, of_bss(bssid)).expect("a report");
        let part = json(&report);
        for (table, key) in [
            ("links", "ta"),
            ("exchanges", "ta"),
            ("aggregation", "ta"),
            ("block_acks", "originator"),
            ("bss", "bssid"),
            ("capabilities", "address"),
        ] {
            let rows = part[table].as_array().expect("a table");
            assert!(!rows.is_empty(), "{table}");
            assert_eq!(*rows, rows_of(&of_whole, table, key, bssid), "{table}");
        }
        assert!(rows_of(&part, "stations", "address", other).is_empty());
        assert_eq!(rows_of(&part, "stations", "address", bssid), rows_of(&of_whole, "stations", "address", bssid));

        let air = &report.airtime;
        assert_eq!((air.busy_us, air.observed_us), (whole.airtime.busy_us, whole.airtime.observed_us));
        let (bss_us, busy_us) = (air.bss_us.expect("a part"), air.busy_us.expect("a time"));
        assert!(bss_us > 0.3 * busy_us && bss_us < 0.7 * busy_us, "{bss_us} of {busy_us}");
        let in_bins: f64 = air.series.iter().map(|bin| bin.bss_share.expect("a share") * air.bin_us).sum();
        assert!((in_bins - bss_us).abs() < 1.0, "{in_bins} in bins, {bss_us} in all");
        networks_us += bss_us;

        let fall = &report.waterfalls[0];
        assert_eq!(fall.ta.parse::<MacAddr>().expect("an address").0[4], bssid.0[4]);
        let others = fall.steps.iter().find(|step| step.cause == "other_stations").expect("a step");
        assert!(others.us > 0.2 * busy_us, "the other network does not vanish: {} of {busy_us}", others.us);
        assert_eq!(report.steadiness[0].ta, fall.ta);

        let chosen = report.summary.selection.expect("a selection");
        assert_eq!((chosen.bssid, chosen.ssid), (Some(bssid.to_string()), Some(format!("net {}", bssid.0[4]))));
        assert_eq!((chosen.frames, report.frames), (all.len() as u64, all.len() as u64));
    }
    let busy_us = whole.airtime.busy_us.expect("a time");
    // What is left are probe requests.
    assert!(networks_us < busy_us && networks_us > 0.995 * busy_us, "{networks_us} and {busy_us}");
    assert!(whole.airtime.bss_us.is_none() && whole.summary.selection.is_none());
}

#[test]
fn a_channel_is_analysed_as_if_the_sniffer_had_been_away_from_it() {
    let first = network(FIRST, 2_437);
    let hopped = in_turn(&first, &network(SECOND_BSS, 2_462));
    let start = first[0].0;
    let here: Records = first.iter().filter(|(at, _)| ((at - start) / (SECOND / 4)) % 2 == 0).cloned().collect();
    let alone = analyze(&here, Selection::default()).expect("a report");
    for channel in [6, 2_437] {
        let report = analyze(&hopped, of_channel(channel)).expect("a report");
        let (part, alone) = (json(&report), json(&alone));
        for table in ["stations", "links", "bss", "exchanges", "block_acks", "aggregation"] {
            assert_eq!(part[table], alone[table], "{table}");
        }
        assert_eq!((report.frames, &part["summary"]["channels"]), (here.len() as u64, &alone["summary"]["channels"]));
        let away = report.waterfalls[0].steps.iter().find(|step| step.cause == "unobserved").expect("a step");
        assert!((away.us / 250_000.0 - 1.0).abs() < 0.1, "{} us away, of a quarter of a second", away.us);
        assert_eq!(part["airtime"]["busy_us"], alone["airtime"]["busy_us"]);
        assert!(report.summary.limits.iter().any(|limit| limit.code == "hopping"));
        let chosen = report.summary.selection.expect("a selection");
        assert_eq!((chosen.channel, chosen.frequency_mhz), (Some(6), Some(2_437)));
        assert_eq!(chosen.frames_elsewhere, (hopped.len() - here.len()) as u64);
    }
}

#[test]
fn what_is_not_there_is_an_error_that_names_what_is() {
    let hopped = in_turn(&network(FIRST, 2_437), &network(SECOND_BSS, 2_462));
    let said = |selection| match analyze(&hopped, selection) {
        Err(error @ Error::NotThere(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let channel = said(of_channel(36));
    assert!(channel.contains("channel 6, 2437 MHz (") && channel.contains("channel 11, 2462 MHz ("), "{channel}");
    let bssid = said(of_bss(MacAddr([2, 0, 0, 0, 0xcc, 1])));
    assert!(bssid.contains("02:00:00:00:aa:01 \"net 170\" (") && bssid.contains("02:00:00:00:bb:01"), "{bssid}");
    let both = said(Selection { channel: Some(11.into()), ..of_bss(FIRST) });
    assert!(!both.contains("02:00:00:00:aa:01 ") && both.contains("02:00:00:00:bb:01"), "{both}");
}

/// The same with a hardware clock for each: their stamps say so, and no radio was away from either channel.
#[test]
fn channels_with_clocks_of_their_own_are_captures_of_several() {
    let (first, mut second) = (network(FIRST, 2_437), network(SECOND_BSS, 2_462));
    for (_, record) in &mut second {
        // The TSFT is the first field of these headers.
        let tsft = u64::from_le_bytes(record[8..16].try_into().expect("eight bytes")) + 7_654_000_000;
        record[8..16].copy_from_slice(&tsft.to_le_bytes());
    }
    let mut merged: Records = first.iter().chain(&second).cloned().collect();
    merged.sort_by_key(|(at, _)| *at);
    let said = |report: &Report| {
        let limit = report.summary.limits.iter().find(|limit| limit.code == "merged-channels");
        limit.map(|limit| limit.sentence.text().to_owned())
    };
    let report = analyze(&merged, Selection::default()).expect("a report");
    let text = said(&report).expect("it is said");
    assert!(text.contains("of 7,654.0 s in the median, return to where they were before"), "{text}");
    let (one, alone) = (analyze(&merged, of_channel(6)), analyze(&first, Selection::default()));
    let (one, alone) = (one.expect("a report"), alone.expect("a report"));
    assert_eq!((said(&one), one.airtime.busy_share), (None::<String>, alone.airtime.busy_share));
    let answered = |report: &Report| {
        report.exchanges.iter().map(|e| (e.ppdus, e.acked, e.block_acked, e.late_responses)).collect::<Vec<_>>()
    };
    assert_eq!(answered(&one), answered(&alone));
}

/// Two radios, each on a channel of its own, in one interface of a file.
#[test]
fn channels_that_change_faster_than_a_radio_are_captures_of_several() {
    let code = |report: &Report, code: &str| report.summary.limits.iter().any(|limit| limit.code == code);
    let (first, second) = (network(FIRST, 2_437), network(SECOND_BSS, 2_462));
    let mut merged: Records = first.iter().chain(&second).cloned().collect();
    merged.sort_by_key(|(at, _)| *at);
    let report = analyze(&merged, Selection::default()).expect("a report");
    let codes: Vec<_> = report.summary.limits.iter().map(|limit| limit.sentence.text()).collect();
    assert!(code(&report, "merged-channels") && !code(&report, "hopping"), "{codes:?}");
    assert!(report.airtime.busy_share.is_none() && report.waterfalls.is_empty());
    // One alone has its times.
    let one = analyze(&merged, of_channel(6)).expect("a report");
    assert!(!code(&one, "merged-channels") && one.airtime.busy_share.is_some());
    // One radio that goes from channel to channel has changes, too, but slow ones.
    let hopped = analyze(&in_turn(&first, &second), Selection::default()).expect("a report");
    assert!(code(&hopped, "hopping") && !code(&hopped, "merged-channels"));
}
