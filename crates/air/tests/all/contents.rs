//! What a capture contains: frames by type, and those of special protocols by name.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];
/// A cluster of Neighbor Awareness Networking.
const CLUSTER: Address = [0x50, 0x6f, 0x9a, 0x01, 0x00, 0x07];

fn named(report: &Report, name: &str) -> u64 {
    let contents = report.contents.as_ref().expect("contents");
    contents.named.iter().find(|row| row.name == name).map_or(0, |row| row.frames)
}

fn kind(report: &Report, name: &str) -> (u64, Option<f64>) {
    let contents = report.contents.as_ref().expect("contents");
    contents.kinds.iter().find(|row| row.name == name).map_or((0, None), |row| (row.frames, row.airtime_us))
}

/// 21 of 42 beacons of a capture were those of a NAN cluster, and counted as the access point's.
#[test]
fn beacons_of_a_cluster_are_no_access_points() {
    let mut capture = Handmade::on(2_437);
    for _ in 0..10 {
        capture.beacon(AP, 0x11, &element(0, b"lab"));
        let body =
            [[0; 8].as_slice(), &[0, 2, 0x20, 0x04], &element(221, &[0x50, 0x6f, 0x9a, 0x13, 0, 0, 0, 0])].concat();
        capture.frame(0x0080, [BROADCAST, STATION, CLUSTER], &body);
    }
    let report = capture.report();
    assert_eq!(report.access_points.iter().map(|row| row.beacons).collect::<Vec<_>>(), [10]);
    assert_eq!((named(&report, "NAN beacon"), kind(&report, "Beacon").0), (10, 20));
    let row = report.stations.iter().find(|row| row.address == "02:00:00:00:00:09").expect("the device");
    assert_eq!(row.kind, "station");
}

#[test]
fn special_frames_have_names() {
    let mut capture = Handmade::on(2_437);
    // Remote identification: again and again the same, and once another message.
    for message in [1, 1, 1, 2] {
        capture.beacon(STATION, 0x01, &element(221, &[0xfa, 0x0b, 0xbc, 0x0d, 0, message, 0, 0]));
    }
    let bodies: [(&[u8], &str); 5] = [
        (&[4, 32, 1], "FTM (fine timing measurement)"),
        (&[4, 14, 1, 0, 0], "TDLS discovery response"),
        (&[21, 0, 0, 0], "beamforming feedback"),
        (&[4, 9, 0x50, 0x6f, 0x9a, 0x13, 0], "NAN service discovery"),
        (&[13, 1, 0], "mesh action"),
    ];
    for (body, _) in bodies {
        capture.action(STATION, AP, AP, body);
    }
    let report = capture.report();
    assert_eq!(named(&report, "remote identification of an unmanned aircraft"), 4);
    for (_, name) in bodies {
        assert_eq!(named(&report, name), 1, "{name}");
    }
}

#[test]
fn frames_are_counted_by_type_with_their_airtime() {
    let mut capture = Handmade::on(5_180);
    for _ in 0..5 {
        capture.uplink(STATION, AP, &[0; 100]);
    }
    let report = capture.report();
    let (frames, airtime_us) = kind(&report, "Data");
    // 6 Mb/s: 20 us, then 16 + 6 + 8 * 128 bits in symbols of 24.
    assert_eq!((frames, airtime_us), (5, Some(5.0 * (20.0 + 44.0 * 4.0))));
}

/// The key management of a station is its own, whatever its access point offers.
#[test]
fn a_station_has_the_suites_that_it_asked_for() {
    let mut capture = Handmade::on(5_180);
    let rsn = element(48, &[1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 8, 0x80, 0]);
    capture.frame(0x0000, [AP, STATION, AP], &[&[0x11, 0, 10, 0], rsn.as_slice()].concat());
    let report = capture.report();
    let row = report.stations.iter().find(|row| row.address == "02:00:00:00:00:09").expect("the station");
    assert_eq!(
        (row.key_managements.as_slice(), row.pairwise_ciphers.as_slice()),
        (["SAE".to_owned()].as_slice(), ["CCMP-128".to_owned()].as_slice())
    );
}

#[test]
fn real_identifications_of_aircraft_are_named() {
    for (name, beacons) in
        [("opendroneid_odid_wifi_sample.pcap", Some(21)), ("opendroneid_odid_wifi_bcn_sample.pcap", None)]
    {
        let Some(path) = corpus::find(&format!("../cases/air/{name}")) else { continue };
        let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ()).expect("a report");
        assert!(
            named(&report, "remote identification of an unmanned aircraft") + named(&report, "NAN service discovery")
                > 0,
            "{name}"
        );
        if let Some(beacons) = beacons {
            assert_eq!(report.access_points.iter().map(|row| row.beacons).sum::<u64>(), beacons, "{name}");
        }
    }
}
