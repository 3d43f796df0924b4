//! Events of captures made by hand: what shares a row, what is left out, and that every frame is counted.

use std::io::Cursor;

use capture::{PcapSettings, PcapWriter, Reader};
use txop_air::report::{Event, Events};
use txop_air::{analyze_reader, Options};
use wire::linktype::LinkType;

const MS: i64 = 1_000_000;
const AP: [u8; 6] = [2, 0, 0, 0, 0, 1];
const OTHER_AP: [u8; 6] = [2, 0, 0, 0, 0, 2];
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 9];

const ASSOCIATION_RESPONSE: u8 = 0x10;
const REASSOCIATION_REQUEST: u8 = 0x20;
const REASSOCIATION_RESPONSE: u8 = 0x30;
const BEACON: u8 = 0x80;
const DEAUTHENTICATION: u8 = 0xc0;

/// A management frame without FCS.
fn management(kind: u8, to: [u8; 6], from: [u8; 6], bssid: [u8; 6], body: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind, 0, 0, 0];
    for address in [to, from, bssid] {
        frame.extend(address);
    }
    frame.extend([0, 0]);
    frame.extend(body);
    frame
}

fn deauthentication(to: [u8; 6], reason: u8) -> Vec<u8> {
    management(DEAUTHENTICATION, to, AP, AP, &[reason, 0])
}

fn events(frames: impl IntoIterator<Item = (i64, Vec<u8>)>) -> Events {
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType::IEEE802_11)).expect("a file header");
    for (at_ns, frame) in frames {
        writer.write(1_700_000_000_000 * MS + at_ns, frame.len() as u32, &frame).expect("memory");
    }
    let reader = Reader::from_read(Cursor::new(writer.into_inner())).expect("a capture");
    let report = analyze_reader(reader, "test".to_owned(), Options::default(), &mut ()).expect("a report");
    report.events
}

fn of_kind<'a>(events: &'a Events, kind: &str) -> Vec<&'a Event> {
    events.rows.iter().filter(|row| row.kind == kind).collect()
}

/// Rows, rows left out, frames in rows, frames counted.
fn sums(events: &Events) -> (usize, u64, u64, u64) {
    let in_rows: u64 = events.rows.iter().map(|row| row.frames).sum();
    let counted = events.frames.iter().map(|row| row.frames).sum();
    assert_eq!(in_rows + events.frames_left_out, counted);
    assert!(events.rows.windows(2).all(|pair| pair[0].start_us <= pair[1].start_us));
    (events.rows.len(), events.rows_left_out, in_rows, counted)
}

#[test]
fn a_station_that_joins_another_network_comes_from_the_one_before() {
    let accepted = [0, 0, 0, 0, 1, 0];
    let asks = [&[0, 0, 1, 0][..], &AP].concat();
    let events = events([
        (0, management(ASSOCIATION_RESPONSE, STATION, AP, AP, &accepted)),
        (50 * MS, management(REASSOCIATION_REQUEST, OTHER_AP, STATION, OTHER_AP, &asks)),
        (60 * MS, management(REASSOCIATION_RESPONSE, STATION, OTHER_AP, OTHER_AP, &accepted)),
        (70 * MS, deauthentication(STATION, 3)),
    ]);
    let from = events.rows.iter().map(|row| row.from_bssid.as_deref()).collect::<Vec<_>>();
    assert_eq!(from, [None, Some("02:00:00:00:00:01"), Some("02:00:00:00:00:01"), None]);
    let last = &events.rows[3];
    assert_eq!((last.code, last.text.as_deref()), (Some(3), Some("station is leaving")));
    assert_eq!((last.start_us, last.end_us, last.frames), (70_000.0, 70_000.0, 1));
}

#[test]
fn announcements_of_one_switch_share_a_row_even_when_they_do_not_count_down() {
    let body = [&[0; 8][..], &[100, 0, 1, 0], &[0, 1, b'x'], &[37, 3, 1, 11, 3]].concat();
    let beacon = || management(BEACON, [0xff; 6], AP, AP, &body);
    let events = events((0..5).map(|n| (n * 100 * MS, beacon())));
    let rows = of_kind(&events, "channel-switch");
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].frames, rows[0].code), (5, Some(11)));
    assert_eq!(rows[0].text.as_deref(), Some("to channel 11, quiet until then"));
}

#[test]
fn a_flood_between_two_stations_is_one_row() {
    let events = events((0..20_000).map(|n| (n * MS, deauthentication(STATION, 7))));
    assert_eq!(sums(&events), (1, 0, 20_000, 20_000));
    assert_eq!((events.rows[0].start_us, events.rows[0].end_us), (0.0, 19_999_000.0));
}

#[test]
fn a_flood_in_many_names_is_a_few_rows_and_one() {
    let to = |n: i64| [2, 9, 9, 0, (n >> 8) as u8, n as u8];
    let events = events((0..20_000).map(|n| (n * MS / 10, deauthentication(to(n), 7))));
    let (rows, left_out, ..) = sums(&events);
    assert_eq!(left_out, 0);
    assert!(rows < 120, "{rows} rows");
    assert!(events.rows.iter().any(|row| row.receiver.is_none() && row.frames > 5_000));
}

#[test]
fn between_the_first_rows_and_the_latest_rows_are_left_out() {
    let to = |n: i64| [2, 9, 9, 0, (n >> 8) as u8, n as u8];
    let events = events((0..5_000).map(|n| (n * 2_000 * MS, deauthentication(to(n), 7))));
    assert_eq!(sums(&events), (2_000, 3_000, 2_000, 5_000));
    assert_eq!(events.rows[999].start_us, 999.0 * 2e6);
    assert_eq!(events.rows[1_000].start_us, 4_000.0 * 2e6);
}

#[test]
fn a_request_to_authenticate_has_no_status() {
    let authentication = |to, from, algorithm: u8, transaction: u8, status: u8| {
        management(0xb0, to, from, AP, &[algorithm, 0, transaction, 0, status, 0])
    };
    // Open: what message 1 has in place of a status is reserved. Of SAE both ends say how it went.
    let events = events([
        (0, authentication(AP, STATION, 0, 1, 2)),
        (2 * MS, authentication(STATION, AP, 0, 2, 0)),
        (4 * MS, authentication(AP, STATION, 3, 1, 126)),
    ]);
    let rows = of_kind(&events, "authentication");
    let said: Vec<_> = rows.iter().map(|row| (row.code, row.text.as_deref().unwrap_or_default())).collect();
    assert_eq!(said[..2], [(None, "open, message 1"), (Some(0), "open, message 2: successful")]);
    assert!(said[2].0 == Some(126) && said[2].1.starts_with("SAE commit: "), "{said:?}");
}
