//! What a station is, and what an access point claims: by frames that only such a station sends, and not by a single beacon that
//! may be damaged.

use crate::handmade::{Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];

fn kind(report: &Report, address: Address) -> String {
    let text = address.map(|byte| format!("{byte:02x}")).join(":");
    report.stations.iter().find(|row| row.address == text).map_or("absent".to_owned(), |row| row.kind.clone())
}

#[test]
fn an_rts_tells_no_role() {
    let mut capture = Handmade::on(2_412);
    let mut record = vec![0, 0, 8, 0, 0, 0, 0, 0, 0xb4, 0, 0, 0];
    record.extend([AP, STATION].concat());
    capture.raw(record);
    assert_eq!(kind(&capture.report(), STATION), "unknown");
    capture.uplink(STATION, AP, &[0; 100]);
    assert_eq!(kind(&capture.report(), STATION), "station");
}

#[test]
fn an_association_request_names_the_access_point() {
    let mut capture = Handmade::on(2_412);
    capture.frame(0x0000, [AP, STATION, AP], &[1, 0, 1, 0, 0, 1, b'a']);
    let report = capture.report();
    assert_eq!((kind(&report, AP).as_str(), kind(&report, STATION).as_str()), ("ap", "station"));
    assert_eq!(report.links[0].direction, "uplink");
}

#[test]
fn group_data_with_a_mesh_control_field_is_of_no_access_point() {
    let from_ds = |qos: [u8; 2]| {
        let mut capture = Handmade::on(2_412);
        let body = [&qos[..], &[0, 31, 1, 0, 0, 0], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &[0; 60]].concat();
        capture.frame(0x0288, [BROADCAST, STATION, STATION], &body);
        kind(&capture.report(), STATION)
    };
    assert_eq!(from_ds([0, 1]), "station");
    assert_eq!(from_ds([0, 0]), "ap");
}

/// A beacon of a capture whose headers do not say whether a frame is damaged.
fn unchecked(capture: &mut Handmade, info: u8, elements: &[u8]) {
    let body = [&[0; 8][..], &[100, 0, info, 0], elements].concat();
    capture.behind(vec![0, 0, 8, 0, 0, 0, 0, 0], 0x0080, [BROADCAST, AP, AP], &body);
}

#[test]
fn a_beacon_that_no_other_agrees_with_changes_nothing_without_an_fcs() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..5 {
        unchecked(&mut capture, 1, &[0, 1, b'a', 1, 4, 0x82, 0x84, 0x8b, 0x96, 3, 1, 1]);
    }
    unchecked(&mut capture, 0, &[0, 1, b'b', 1, 1, 0x8c]);
    let described = |report: &Report| {
        let row = &report.access_points[0];
        (row.kind, row.ssids.clone(), row.channel)
    };
    assert_eq!(described(&capture.report()), (Some("ap"), vec!["a".to_owned()], Some(1)));
    // Another that agrees: the network was changed.
    unchecked(&mut capture, 0, &[0, 1, b'b', 1, 1, 0x8c, 5, 4, 0, 1, 0, 0]);
    let (kind, ssids, _) = described(&capture.report());
    assert_eq!((kind, ssids), (Some("mesh"), vec!["a".to_owned(), "b".to_owned()]));
}
