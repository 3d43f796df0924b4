//! Joins: what counts as their end, and who has to have been heard.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];
const OTHER: Address = [2, 0, 0, 0, 0, 10];

fn codes(report: &Report) -> Vec<&str> {
    report.happenings.iter().map(|happening| happening.code.as_str()).collect()
}

fn associated(capture: &mut Handmade) {
    capture.frame(0x00b0, [AP, STATION, AP], &[0, 0, 1, 0, 0, 0]);
    capture.frame(0x00b0, [STATION, AP, AP], &[0, 0, 2, 0, 0, 0]);
    capture.frame(0x0000, [AP, STATION, AP], &[0x11, 0, 10, 0]);
    capture.frame(0x0010, [STATION, AP, AP], &[0x11, 0, 0, 0, 1, 0xc0]);
}

fn eapol(capture: &mut Handmade, by_ap: bool, packet: &[u8]) {
    let body = [&[0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e][..], packet].concat();
    match by_ap {
        true => capture.frame(0x0208, [STATION, AP, AP], &body),
        false => capture.frame(0x0108, [AP, STATION, AP], &body),
    }
}

/// A message of the four-way handshake.
fn message(capture: &mut Handmade, number: u8) {
    let (information, data): (u16, u8) =
        [(0x008a, 0), (0x010a, 22), (0x13ca, 56), (0x030a, 0)][usize::from(number - 1)];
    let mut packet = vec![2, 3, 0, 95 + data, 2];
    packet.extend(information.to_be_bytes());
    packet.extend(vec![0; 90]);
    packet.extend([0, data]);
    packet.extend(vec![0; usize::from(data)]);
    eapol(capture, number % 2 == 1, &packet);
}

/// An EAP packet of Wi-Fi Simple Configuration with this operation code.
fn wps(capture: &mut Handmade, by_ap: bool, operation: u8) {
    let code = if by_ap { 1 } else { 2 };
    eapol(capture, by_ap, &[1, 0, 0, 14, code, 7, 0, 14, 254, 0, 0x37, 0x2a, 0, 0, 0, 1, operation, 0]);
}

#[test]
fn wps_ends_with_eap_failure_and_has_not_failed() {
    for (operation, expected) in [(5, &[][..]), (3, &["join-failed"][..])] {
        let mut capture = Handmade::on(2_412);
        associated(&mut capture);
        wps(&mut capture, true, 4);
        wps(&mut capture, false, operation);
        eapol(&mut capture, true, &[1, 0, 0, 4, 4, 7, 0, 4]);
        assert_eq!(codes(&capture.report()), expected, "operation {operation}: 5 is done, 3 refuses");
    }
}

/// Message 4 was not captured; the station uses the key all the same. Then another station sends a deauthentication.
#[test]
fn encrypted_data_behind_message_three_shows_that_a_station_joined() {
    for (protected, expected) in [(0x4108, "joined"), (0x0108, "join-failed")] {
        let mut capture = Handmade::on(2_412);
        associated(&mut capture);
        (1..=3).for_each(|number| message(&mut capture, number));
        capture.frame(protected, [AP, STATION, AP], &[7; 60]);
        capture.frame(0x00c0, [STATION, AP, AP], &[7, 0]);
        assert_eq!(codes(&capture.report()), [expected]);
    }
}

/// Whoever was not heard at all may well have answered.
#[test]
fn silence_is_evidence_only_of_who_was_heard() {
    for heard in [false, true] {
        let mut capture = Handmade::on(2_412);
        (0..5).for_each(|_| message(&mut capture, 3));
        if heard {
            capture.frame(0x0108, [AP, STATION, AP], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        }
        assert_eq!(codes(&capture.report()), if heard { vec!["join-failed"] } else { vec![] });
        let mut capture = Handmade::on(2_412);
        (0..5).for_each(|_| capture.frame(0x0000, [AP, STATION, AP], &[0x11, 0, 10, 0]));
        if heard {
            capture.beacon(AP, 0x11, &element(0, b"lab"));
        }
        assert_eq!(codes(&capture.report()), if heard { vec!["join-failed"] } else { vec![] });
    }
}

/// An ARP request of 28 bytes, encrypted with WEP, as its station or its access point sends it to all.
#[test]
fn arp_replays_are_found_at_the_station_and_behind_its_access_point() {
    let body = [&[1, 2, 3, 0][..], &[9; 40]].concat();
    for (fc, addresses, len, expected) in [
        (0x4108, [AP, STATION, BROADCAST], 0, 1),
        (0x4208, [BROADCAST, AP, STATION], 0, 1),
        (0x4208, [BROADCAST, AP, STATION], 1, 0),
        (0x4108, [AP, STATION, OTHER], 0, 0),
    ] {
        let mut capture = Handmade::on(2_412);
        for _ in 0..50 {
            capture.frame(fc, addresses, &[&body[..], &vec![0; len]].concat());
        }
        let report = capture.report();
        let found: Vec<_> = report.happenings.iter().filter(|happening| happening.code == "arp-replay").collect();
        assert_eq!(found.len(), expected, "{fc:#x} {len}");
        assert!(found.iter().all(|found| found.station.as_deref() == Some("02:00:00:00:00:09") && found.frames == 50));
    }
}
