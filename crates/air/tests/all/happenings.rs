//! What happened: joins that fail, stations that are thrown out, floods, and what looks like a flood and is none.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::{Happening, Report};

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];

const AUTHENTICATION: u16 = 0x00b0;
const ASSOCIATION_REQUEST: u16 = 0x0000;
const ASSOCIATION_RESPONSE: u16 = 0x0010;
const DEAUTHENTICATION: u16 = 0x00c0;
const RETRY: u16 = 0x0800;

fn beacon(capture: &mut Handmade, bssid: Address) {
    let body = [[0, 0, 0, 9, 0, 0, 0, 0].as_slice(), &[100, 0, 0x11, 0], &element(0, b"lab"), &rsn()].concat();
    capture.frame(0x0080, [BROADCAST, bssid, bssid], &body);
}

/// WPA2 with a password.
fn rsn() -> Vec<u8> {
    element(48, &[1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0, 0])
}

fn authentication(capture: &mut Handmade, from: Address, to: Address, transaction: u8, status: u8) {
    capture.frame(AUTHENTICATION, [to, from, AP], &[0, 0, transaction, 0, status, 0]);
}

fn deauthentication(capture: &mut Handmade, from: Address, to: Address, reason: u8) {
    capture.frame(DEAUTHENTICATION, [to, from, AP], &[reason, 0]);
}

/// Authentication and association request of a station, and the answers.
fn associated(capture: &mut Handmade, station: Address) {
    authentication(capture, station, AP, 1, 0);
    authentication(capture, AP, station, 2, 0);
    capture.frame(ASSOCIATION_REQUEST, [AP, station, AP], &[0x11, 0, 10, 0]);
    capture.frame(ASSOCIATION_RESPONSE, [station, AP, AP], &[0x11, 0, 0, 0, 1, 0xc0]);
}

/// A message of the four-way handshake.
fn message(capture: &mut Handmade, station: Address, number: u8, retry: bool) {
    let (information, data): (u16, u8) =
        [(0x008a, 0), (0x010a, 22), (0x13ca, 56), (0x030a, 0)][usize::from(number - 1)];
    let mut body = vec![0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e, 2, 3, 0, 95 + data, 2];
    body.extend(information.to_be_bytes());
    body.extend(vec![0; 90]);
    body.extend([0, data]);
    body.extend(vec![0; usize::from(data)]);
    let retry = if retry { RETRY } else { 0 };
    match number % 2 {
        1 => capture.frame(0x0208 | retry, [station, AP, AP], &body),
        _ => capture.frame(0x0108 | retry, [AP, station, AP], &body),
    }
}

fn only<'a>(report: &'a Report, code: &str) -> &'a Happening {
    let found: Vec<&Happening> = report.happenings.iter().filter(|happening| happening.code == code).collect();
    assert_eq!(found.len(), 1, "{code}: {:#?}", report.happenings);
    found[0]
}

fn codes(report: &Report) -> Vec<&str> {
    report.happenings.iter().map(|happening| happening.code.as_str()).collect()
}

#[test]
fn a_join_is_told_with_its_end() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    associated(&mut capture, STATION);
    (1..=4).for_each(|number| message(&mut capture, STATION, number, false));
    let report = capture.report();
    let joined = only(&report, "joined");
    assert_eq!((joined.kind, joined.station.as_deref()), ("event", Some("02:00:00:00:00:09")));
    assert_eq!(codes(&report), ["joined"]);
}

/// Of a protected network the handshake may have been missed: that a station joined is not known then.
#[test]
fn an_association_in_a_protected_network_is_no_join() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    associated(&mut capture, STATION);
    assert_eq!(codes(&capture.report()), [""; 0]);
}

#[test]
fn message_one_without_an_answer_is_where_a_join_fails() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for _ in 0..2 {
        associated(&mut capture, STATION);
        for again in 0..4 {
            message(&mut capture, STATION, 1, again > 0);
        }
        deauthentication(&mut capture, AP, STATION, 15);
    }
    let report = capture.report();
    let failed = only(&report, "join-failed");
    assert_eq!((failed.attempts, failed.failures, failed.reason), (Some(2), Some(2), Some(15)));
    assert_eq!((failed.step.as_deref(), failed.cause.as_deref()), (Some("handshake-1"), Some("deauthenticated")));
}

/// A deauthentication in the name of the access point came before its response. The access point did not send it and goes on; the
/// station does not, and answers message 1 with a deauthentication of its own.
#[test]
fn a_deauthentication_before_the_response_is_what_stops_a_station_that_does_not_go_on() {
    for goes_on in [false, true] {
        let mut capture = Handmade::on(2_412);
        beacon(&mut capture, AP);
        authentication(&mut capture, STATION, AP, 1, 0);
        authentication(&mut capture, AP, STATION, 2, 0);
        capture.frame(ASSOCIATION_REQUEST, [AP, STATION, AP], &[0x11, 0, 10, 0]);
        deauthentication(&mut capture, AP, STATION, 6);
        capture.frame(ASSOCIATION_RESPONSE, [STATION, AP, AP], &[0x11, 0, 0, 0, 1, 0xc0]);
        message(&mut capture, STATION, 1, false);
        if goes_on {
            (2..=4).for_each(|number| message(&mut capture, STATION, number, false));
        } else {
            deauthentication(&mut capture, STATION, AP, 7);
            (0..4).for_each(|again| message(&mut capture, STATION, 1, again > 0));
            deauthentication(&mut capture, AP, STATION, 2);
        }
        let report = capture.report();
        if goes_on {
            assert_eq!(codes(&report), ["joined"]);
            continue;
        }
        let failed = only(&report, "join-failed");
        assert_eq!((failed.step.as_deref(), failed.reason), (Some("association"), Some(6)));
        assert!(
            failed.sentence.text().contains("sent 2 times and retransmitted 3 times"),
            "{}",
            failed.sentence.text()
        );
        assert!(failed.sentence.text().contains("reason 7"), "{}", failed.sentence.text());
    }
}

#[test]
fn a_wrong_password_and_a_refusal_have_their_own_causes() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    associated(&mut capture, STATION);
    for _ in 0..3 {
        message(&mut capture, STATION, 1, false);
        message(&mut capture, STATION, 2, false);
    }
    let other = [2, 0, 0, 0, 0, 10];
    authentication(&mut capture, other, AP, 1, 0);
    authentication(&mut capture, AP, other, 2, 17);
    let report = capture.report();
    let of = |station: &str| {
        let found = report.happenings.iter().find(|happening| happening.station.as_deref() == Some(station));
        found.map(|found| (found.step.clone(), found.cause.clone(), found.status)).expect("a failure")
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(of("02:00:00:00:00:09"), (some("handshake-2"), some("not-accepted"), None));
    assert_eq!(of("02:00:00:00:00:0a"), (some("authentication"), some("refused"), Some(17)));
}

/// The time that a sentence gives begins with the frame that it names: not with a message 1 that came again behind it.
#[test]
fn a_delay_is_from_the_frame_that_is_named_and_of_all_failures() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for (wait_ms, first_again) in [(1_000, true), (3, false)] {
        associated(&mut capture, STATION);
        message(&mut capture, STATION, 1, false);
        message(&mut capture, STATION, 2, false);
        capture.pause(wait_ms);
        if first_again {
            message(&mut capture, STATION, 1, false);
        }
        deauthentication(&mut capture, AP, STATION, 15);
    }
    let report = capture.report();
    let said = only(&report, "join-failed").sentence.text();
    let (low, high) = said
        .split_once(" ms after message 2")
        .and_then(|(before, _)| before.rsplit_once(" to "))
        .map(|(before, high)| (before.rsplit(' ').next().unwrap_or_default().to_owned(), high.to_owned()))
        .expect(said);
    let (low, high): (f64, f64) = (low.parse().expect(said), high.parse().expect(said));
    // A frame and the gap before it take some milliseconds.
    assert!((3.0..50.0).contains(&low) && (1_000.0..1_050.0).contains(&high), "{said}");
    assert!(said.contains("as after a wrong password"), "{said}");
}

/// What 114 failures of 133 attempts were told of 110.
#[test]
fn every_kind_of_failure_and_what_was_not_seen_is_told() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for status in [17, 17, 17, 0, 0] {
        authentication(&mut capture, STATION, AP, 1, 0);
        authentication(&mut capture, AP, STATION, 2, status);
        capture.pause(100);
    }
    associated(&mut capture, STATION);
    deauthentication(&mut capture, AP, STATION, 6);
    capture.frame(ASSOCIATION_REQUEST, [AP, STATION, AP], &[0x11, 0, 10, 0]);
    capture.frame(ASSOCIATION_RESPONSE, [STATION, AP, AP], &[0x11, 0, 12, 0, 1, 0xc0]);
    let report = capture.report();
    let failed = only(&report, "join-failed");
    assert_eq!((failed.attempts, failed.failures), (Some(7), Some(5)));
    let said = failed.sentence.text();
    for part in ["3 of these refused", "status 17", "1 of these refused", "status 12", "reason 6", "2 attempts was not"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// An answer of SAE that asks for another message is no end: what follows belongs to the same attempt.
#[test]
fn a_token_that_is_asked_for_begins_no_attempt() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for (from, to, status) in [(STATION, AP, 0), (AP, STATION, 76), (STATION, AP, 0), (AP, STATION, 1)] {
        capture.frame(AUTHENTICATION, [to, from, AP], &[3, 0, 1, 0, status, 0, 19, 0, 0, 0, 0, 0]);
    }
    let report = capture.report();
    let failed = only(&report, "join-failed");
    assert_eq!((failed.attempts, failed.failures, failed.status), (Some(1), Some(1), Some(1)));
}

/// Handshakes alone may be new keys of a station that had joined before.
#[test]
fn a_handshake_without_a_request_may_be_new_keys() {
    for asks in [false, true] {
        let mut capture = Handmade::on(2_412);
        beacon(&mut capture, AP);
        if asks {
            associated(&mut capture, STATION);
        }
        (1..=4).for_each(|number| message(&mut capture, STATION, number, false));
        let report = capture.report();
        assert_eq!(only(&report, "joined").sentence.text().contains("renewed its keys"), !asks);
    }
}

/// In a network with WEP an association is all there is.
#[test]
fn a_station_joins_a_network_with_wep_by_its_association() {
    let mut capture = Handmade::on(2_412);
    capture.beacon(AP, 0x11, &element(0, b"lab"));
    associated(&mut capture, STATION);
    assert_eq!(codes(&capture.report()), ["joined"]);
}

/// 626 deauthentications of a real access point to one station that keeps sending Null frames were called an attack.
#[test]
fn an_access_point_that_answers_a_stranger_is_no_attacker() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for _ in 0..100 {
        capture.frame(0x0148, [AP, STATION, AP], &[]);
        deauthentication(&mut capture, AP, STATION, 7);
    }
    let report = capture.report();
    let told = only(&report, "not-associated");
    assert_eq!((told.kind, told.frames, told.reason), ("fault", 100, Some(7)));
    assert_eq!(codes(&report), ["not-associated"]);
    assert!(report.floods.is_empty());
}

/// Ten deauthentications in a minute are as many as no station needs, however slowly they come.
#[test]
fn a_slow_deauthentication_flood_is_found() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..12 {
        beacon(&mut capture, AP);
        deauthentication(&mut capture, AP, BROADCAST, 3);
        capture.pause(3_000);
    }
    let report = capture.report();
    let flood = only(&report, "deauthentication-flood");
    assert_eq!((flood.kind, flood.frames, flood.reason), ("attack", 12, Some(3)));
}

#[test]
fn stations_that_leave_are_no_flood() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for station in 0..60 {
        deauthentication(&mut capture, [2, 0, 0, 0, 1, station], AP, 3);
    }
    // One that is gone: the frame is repeated.
    for again in 0..30 {
        let retry = if again == 0 { 0 } else { RETRY };
        capture.frame(DEAUTHENTICATION | retry, [STATION, AP, AP], &[4, 0]);
    }
    assert_eq!(codes(&capture.report()), [""; 0]);
}

/// A station that joins with the wrong password is thrown out each time, for as long as it tries.
#[test]
fn failed_attempts_are_no_flood() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..25 {
        beacon(&mut capture, AP);
        associated(&mut capture, STATION);
        message(&mut capture, STATION, 1, false);
        message(&mut capture, STATION, 2, false);
        message(&mut capture, STATION, 1, false);
        deauthentication(&mut capture, AP, STATION, 15);
        capture.pause(1_000);
    }
    let report = capture.report();
    assert_eq!(codes(&report), ["join-failed"]);
    assert_eq!(report.happenings[0].attempts, Some(25));
}

#[test]
fn senders_that_only_authenticate_are_a_flood_and_the_answers_are_not() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for number in 0..60 {
        let sender = [2, 1, 0, 0, 0, number];
        authentication(&mut capture, sender, AP, 1, 0);
        authentication(&mut capture, AP, sender, 2, 0);
    }
    let report = capture.report();
    let flood = only(&report, "authentication-flood");
    assert_eq!((flood.frames, flood.marks.contains(&"many-senders")), (60, true));
}

#[test]
fn stations_that_join_one_after_the_other_are_no_flood() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for number in 0..60 {
        let station = [2, 1, 0, 0, 0, number];
        associated(&mut capture, station);
        (1..=4).for_each(|message_number| message(&mut capture, station, message_number, false));
    }
    let report = capture.report();
    assert_eq!((codes(&report).len(), codes(&report)[0]), (60, "joined"));
}

/// Networks with random addresses, from one transmitter: its sequence numbers go on from one to the next.
fn invented(capture: &mut Handmade, networks: u16, group: bool) {
    for number in 0..networks {
        let [high, low] = number.to_be_bytes();
        let first = if group && number % 2 == 0 { 3 } else { 2 };
        beacon(capture, [first, 7, 7, 7, high, low]);
    }
}

#[test]
fn a_beacon_flood_is_found_by_what_it_is_made_of() {
    for group in [false, true] {
        let mut capture = Handmade::on(2_412);
        invented(&mut capture, 80, group);
        let report = capture.report();
        let flood = report.happenings.iter().find(|happening| happening.code == "beacon-flood").expect("the flood");
        assert_eq!((flood.kind, flood.marks.contains(&"group-sources")), ("attack", group));
        assert!(flood.marks.contains(&"one-sequence-counter"));
    }
}

/// A sniffer that passes by hears many access points a few times each.
#[test]
fn many_access_points_are_no_beacon_flood() {
    let mut capture = Handmade::on(2_412);
    for number in 0..120u8 {
        let bssid = [2, 7, 7, number, 0, 1];
        let body = [[0, 0, 0, 9, 0, 0, 0, 0].as_slice(), &[100, 0, 0x11, 0], &element(0, b"cafe")].concat();
        capture.numbered(0x0080, [BROADCAST, bssid, bssid], u16::from(number).wrapping_mul(1_031) & 0xfff, &body);
    }
    assert_eq!(codes(&capture.report()), [""; 0]);
}

#[test]
fn frames_with_impossible_transmitters_are_named() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    for number in 0..20u8 {
        capture.frame(0x0108, [AP, [3, 0, 0, 0, 0, number], AP], &[0; 40]);
        capture.frame(0x0148, [AP, AP, AP], &[]);
    }
    let report = capture.report();
    assert_eq!((only(&report, "group-sources").frames, only(&report, "own-addressee").frames), (20, 20));
}

#[test]
fn a_roam_names_both_access_points() {
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    associated(&mut capture, STATION);
    let other = [2, 0, 0, 0, 0, 2];
    let request = [&[0x11, 0, 10, 0], AP.as_slice()].concat();
    capture.frame(0x0020, [other, STATION, other], &request);
    capture.frame(0x0030, [STATION, other, other], &[0x11, 0, 0, 0, 1, 0xc0]);
    let report = capture.report();
    let roamed = only(&report, "roamed");
    assert_eq!(roamed.from_bssid.as_deref(), Some("02:00:00:00:00:01"));
    assert_eq!(roamed.bssid.as_deref(), Some("02:00:00:00:00:02"));
}

#[test]
fn an_announced_switch_is_told_once_with_its_channel() {
    let mut capture = Handmade::on(5_260);
    for count in (0..10).rev() {
        let body = [[0, 0, 0, 9, 0, 0, 0, 0].as_slice(), &[100, 0, 0x11, 0], &element(37, &[1, 36, count])].concat();
        capture.frame(0x0080, [BROADCAST, AP, AP], &body);
    }
    let report = capture.report();
    let switch = only(&report, "channel-switch");
    assert_eq!((switch.channel, switch.frames), (Some(36), 10));
}

/// Frames that the capturing machine sent itself have a header with fields of transmission.
#[test]
fn a_flood_of_the_capturing_machine_is_its_own() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..40 {
        // TX flags (bit 15) and nothing of a reception.
        let radiotap = vec![0, 0, 10, 0, 0, 0x80, 0, 0, 0, 0];
        capture.behind(radiotap, DEAUTHENTICATION, [BROADCAST, AP, AP], &[7, 0]);
    }
    let report = capture.report();
    assert!(only(&report, "deauthentication-flood").marks.contains(&"sent-by-this-machine"));
}

/// Real captures of attacks, of failed joins, and of none.
#[test]
fn real_attacks_are_found() {
    let expected: [(&str, &[&str]); 5] = [
        ("hsngccu_1._BF_00079_20240416233928.pcap", &["beacon-flood", "group-sources"]),
        ("hsngccu_2._Deauth_00056_20240417001459.pcap", &["deauthentication-flood", "own-addressee", "not-associated"]),
        ("neildalal_beacon.pcapng", &["beacon-flood", "group-sources"]),
        ("neildalal_deauth.pcapng", &["join-failed"]),
        ("tpwns_deauth.pcap", &["deauthentication-flood", "join-failed"]),
    ];
    for (name, first) in expected {
        let Some(path) = corpus::find(&format!("../cases/air/{name}")) else { continue };
        let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ()).expect("a report");
        let found: Vec<&str> = codes(&report).into_iter().take(first.len()).collect();
        assert_eq!(found, first, "{name}: {:#?}", report.happenings);
    }
}

/// A capture with radiotap headers that is declared to have none was read as thousands of association requests.
#[test]
fn relabelled_radiotap_is_read_as_radiotap() {
    let Some(path) = corpus::find("../cases/air/m04_as_80211.pcap") else { return };
    let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ()).expect("a report");
    assert!(report.summary.limits.iter().any(|limit| limit.code == "radiotap-as-802.11"));
    assert!(report.bss.len() < 100 && report.happenings.iter().all(|happening| happening.kind != "attack"));
}

/// A TDLS frame from one station to another: to the access point, and from there.
fn tdls(capture: &mut Handmade, from: Address, to: Address, action: &[u8]) {
    let body = [&[0xaa, 0xaa, 3, 0, 0, 0, 0x89, 0x0d, 2, 12], action].concat();
    capture.frame(0x0108, [AP, from, to], &body);
    capture.frame(0x0208, [to, AP, from], &body);
}

#[test]
fn a_direct_link_is_told_from_request_to_teardown() {
    let peer = [2, 0, 0, 0, 0, 8];
    let mut capture = Handmade::on(2_412);
    beacon(&mut capture, AP);
    tdls(&mut capture, STATION, peer, &[0, 7, 0, 0]);
    tdls(&mut capture, peer, STATION, &[1, 0, 0, 7]);
    tdls(&mut capture, STATION, peer, &[2, 0, 0, 7]);
    tdls(&mut capture, peer, STATION, &[3, 26, 0]);
    let report = capture.report();
    let found = only(&report, "direct-link-set-up");
    assert_eq!((found.kind, found.frames, found.station.as_deref()), ("event", 8, Some("02:00:00:00:00:09")));
    let said =
        "02:00:00:00:00:09 asked 02:00:00:00:00:08 for a direct link (TDLS) 1 time: set up, and ended with reason 26 \
                (TDLS link torn down)";
    assert_eq!(found.sentence.text(), said);
}

#[test]
fn a_direct_link_that_is_refused_is_a_fault() {
    let peer = [2, 0, 0, 0, 0, 8];
    let mut capture = Handmade::on(2_412);
    tdls(&mut capture, STATION, peer, &[0, 7, 0, 0]);
    tdls(&mut capture, peer, STATION, &[1, 37, 0, 7]);
    let report = capture.report();
    let found = only(&report, "direct-link-set-up");
    assert_eq!(found.kind, "fault");
    assert!(found.sentence.text().contains("1 time: refused, status 37 ("), "{}", found.sentence.text());
}

#[test]
fn radar_that_a_station_reports_is_told() {
    let mut capture = Handmade::on(5_260);
    beacon(&mut capture, AP);
    let report = |map: u8| [&[0, 1, 9, 39, 15, 9, 0, 0, 52], [0; 10].as_slice(), &[map]].concat();
    capture.action(STATION, AP, AP, &report(0x02));
    capture.action(STATION, AP, AP, &report(0x08));
    let report = capture.report();
    let found = only(&report, "radar-reported");
    assert_eq!((found.frames, found.channel, found.bssid.as_deref()), (1, Some(52), Some("02:00:00:00:00:01")));
}

#[test]
fn beacons_that_come_oftener_than_they_announce_have_one_cause() {
    let doubt = |step_ms: i64, name: &dyn Fn(usize) -> Vec<u8>, again: bool| {
        let mut capture = Handmade::on(2_412);
        for at in 0..40 {
            let body = [[0; 8].as_slice(), &[100, 0, 1, 0], &element(0, &name(at))].concat();
            let number = capture.next_sequence();
            for _ in 0..if again { 2 } else { 1 } {
                capture.numbered(0x0080, [BROADCAST, AP, AP], number, &body);
            }
            capture.pause(step_ms);
        }
        capture.report().hearing.no_proof.map(|doubt| doubt.text().to_owned()).unwrap_or_default()
    };
    let one = |_: usize| b"lab".to_vec();
    assert!(doubt(20, &one, false).ends_with("it sends them more often than their interval says"));
    assert!(doubt(20, &|at| vec![b'a' + (at % 2) as u8], false).ends_with("it announces several networks"));
    assert!(doubt(102, &one, true).ends_with("frames are in the capture more than once"));
}
