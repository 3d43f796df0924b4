//! What a capture shows of its own hearing, and what it does not.

use crate::handmade::{Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 0x0a];
const STATION: Address = [2, 0, 0, 0, 0, 1];
const OTHER: Address = [2, 0, 0, 0, 0, 2];
const ESS: u16 = 0x0001;
const IBSS: u16 = 0x0002;
const RETRY: u16 = 0x0800;
const TO_DS: u16 = 0x0108;

fn ack(capture: &mut Handmade, receiver: Address) {
    let mut record = vec![0, 0, 9, 0, 0x04, 0, 0, 0, 12, 0xd4, 0, 0, 0];
    record.extend(receiver);
    capture.same_instant();
    capture.raw(record);
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a str> {
    report.summary.limits.iter().find(|limit| limit.code == code).map(|limit| limit.sentence.text())
}

fn doubts(report: &Report) -> String {
    report.hearing.doubts.iter().map(|doubt| doubt.text()).collect::<Vec<_>>().join("; ")
}

#[test]
fn an_access_point_whose_beacons_are_there_was_heard() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..30 {
        capture.beacon(AP, ESS, &[]);
        capture.frame(TO_DS, [AP, STATION, AP], &[0; 40]);
        capture.pause(72);
    }
    let report = capture.report();
    let said = limit(&report, "one-direction").expect("nothing comes back");
    assert!(said.contains("of the 30 frames of 02:00:00:00:00:0a none goes to 02:00:00:00:00:01"), "{said}");
    assert!(!said.contains("only the first was captured"), "{said}");
}

#[test]
fn who_was_not_heard_at_all_is_said_so() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..30 {
        capture.frame(TO_DS, [AP, STATION, AP], &[0; 40]);
    }
    let report = capture.report();
    assert!(limit(&report, "one-direction").is_some_and(|said| said.contains("only the first was captured")));
}

#[test]
fn stations_of_an_ibss_take_turns_with_their_beacons() {
    let mut capture = Handmade::on(2_412);
    for at in 0..40 {
        let body = [[0; 8].as_slice(), &[100, 0], &IBSS.to_le_bytes(), &[0, 1, b'a']].concat();
        let sender = if at % 2 == 0 { STATION } else { OTHER };
        capture.frame(0x0080, [BROADCAST, sender, [2, 9, 9, 9, 9, 9]], &body);
        capture.frame(0x0008, [OTHER, STATION, [2, 9, 9, 9, 9, 9]], &[0; 40]);
        ack(&mut capture, STATION);
        capture.pause(72);
    }
    let report = capture.report();
    assert!(report.hearing.beacons.is_empty(), "{:?}", report.hearing.beacons);
    assert!(!doubts(&report).contains("due"), "{}", doubts(&report));
    assert!(!report.hearing.silence_is_evidence);
}

#[test]
fn attempts_that_were_sent_again_are_no_missing_responses() {
    let attempts = |sent_again: bool| {
        let mut capture = Handmade::on(2_412);
        for _ in 0..40 {
            capture.beacon(AP, ESS, &[]);
            let sequence = capture.next_sequence();
            for attempt in 0..3 {
                let retry = if attempt > 0 && sent_again { RETRY } else { 0 };
                let number = if sent_again { sequence } else { sequence + attempt };
                capture.numbered(TO_DS | retry, [AP, STATION, AP], number, &[0; 40]);
            }
            ack(&mut capture, STATION);
            capture.pause(40);
        }
        capture.report()
    };
    let (retries, missing) = (attempts(true), attempts(false));
    let data = retries.exchanges[0].data;
    assert_eq!((data.ppdus, data.answered, data.missing_resent), (120, 40, 80), "{data:?}");
    assert!(!doubts(&retries).contains("without a retransmission"), "{}", doubts(&retries));
    assert!(
        doubts(&missing).contains("without a retransmission have a captured response (33 %)"),
        "{}",
        doubts(&missing)
    );
}

/// Two sniffers of one channel, without hardware stamps and with clocks 10 ms apart.
#[test]
fn frames_that_come_again_without_the_retry_bit_are_copies() {
    let mut capture = Handmade::on(2_412);
    for number in 0..60 {
        capture.numbered(TO_DS, [AP, STATION, AP], number, &[0; 40]);
        capture.numbered(TO_DS, [AP, STATION, AP], number, &[0; 40]);
    }
    let report = capture.report();
    let limit = report.summary.limits.iter().find(|limit| limit.code == "duplicates").expect("a limit");
    assert!(
        limit.sentence.text().starts_with("60 of 120 frames with data are there again"),
        "{}",
        limit.sentence.text()
    );
    assert!(report.airtime.busy_share.is_none());
}

/// A machine that injects frames in the name of a station on the air is not that station.
#[test]
fn a_station_whose_frames_are_received_is_not_the_capturing_machine() {
    let own = [0, 0, 10, 0, 0, 0x80, 0, 0, 0, 0];
    let verdict = |received: bool| {
        let mut capture = Handmade::on(2_412);
        for _ in 0..40 {
            capture.uplink(STATION, AP, &[0; 40]);
            capture.behind(own.to_vec(), 0x00c0, [STATION, AP, AP], &[7, 0]);
            if received {
                capture.beacon(AP, ESS, &[]);
            }
        }
        let report = capture.report();
        let of_uplink = report.ack_verdicts.iter().find(|verdict| verdict.recipient == "02:00:00:00:00:0a");
        of_uplink.expect("a verdict").sentence.text().to_owned()
    };
    let (only_ours, on_the_air) = (verdict(false), verdict(true));
    assert!(only_ours.contains("their receiver is the capturing machine"), "{only_ours}");
    assert!(on_the_air.contains("no undamaged control frame") && !on_the_air.contains("machine"), "{on_the_air}");
}

#[test]
fn null_frames_are_part_of_what_was_judged() {
    let mut capture = Handmade::on(2_412);
    for at in 0..40 {
        capture.frame(0x0148, [AP, STATION, AP], &[]);
        if at % 2 == 0 {
            // Damaged, and in time to have been the response: the Null frame counts neither way.
            let mut record = vec![0, 0, 10, 0, 0x06, 0, 0, 0, 0x40, 12, 0xd4, 0, 0, 0];
            record.extend([1, 2, 3, 4, 5, 6]);
            capture.same_instant();
            capture.raw(record);
        } else {
            ack(&mut capture, STATION);
        }
    }
    let data = capture.report().exchanges[0].data;
    assert_eq!((data.ppdus, data.nulls), (20, Some(20)), "{data:?}");
}
