//! What is said of silence, of damage that names two addresses, and of frames that no standard defines: captures made frame by
//! frame, each after a real one that was described wrongly.

use crate::handmade::{Address, Handmade};
use txop_air::report::Report;
use txop_air::Options;

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];

/// Three data frames of 100 bytes.
fn data(capture: &mut Handmade) {
    for _ in 0..3 {
        capture.uplink(STATION, AP, &[0; 100]);
    }
}

fn limits(report: &Report) -> Vec<(&str, &str)> {
    report.summary.limits.iter().map(|limit| (limit.code.as_str(), limit.sentence.text())).collect()
}

fn step_s(report: &Report, cause: &str) -> f64 {
    report.waterfall.iter().find(|step| step.cause == cause).expect("a waterfall").us / 1e6
}

#[test]
fn a_frame_of_another_channel_is_no_silence_of_beacons() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..30 {
        data(&mut capture);
    }
    capture.tune(2_437);
    capture.pause(2_000);
    capture.uplink(STATION, AP, &[0; 100]);
    let report = capture.report();
    let said = limits(&report);
    let hop = said.iter().find(|(code, _)| *code == "hopping").expect("a word on it").1;
    assert!(
        hop.starts_with(
            "1 of 91 frames was captured on another channel than the others: 69 % of the time lies between"
        ),
        "{hop}"
    );
    assert!(said.iter().all(|(_, text)| !text.contains("beacons were heard for")), "{said:?}");
    assert!((step_s(&report, "unobserved") - 2.01).abs() < 0.001);
    let advice = report.waterfalls[0].advice[0].text();
    assert!(advice.contains("2.01 s of it lie between two frames that name different channels"), "{advice}");
}

#[test]
fn a_silence_before_the_tenth_beacon_is_one_too() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..20 {
        capture.beacon(AP, 1, &[0, 1, b'a']);
        capture.pause(990);
    }
    data(&mut capture);
    let report = capture.report();
    let unobserved = step_s(&report, "unobserved");
    assert!((unobserved - 20.0).abs() < 0.1, "20 pauses of 1 s: {unobserved} s");
    let away = limits(&report).into_iter().find(|(code, _)| *code == "away").expect("a word on it").1.to_owned();
    assert!(
        away.starts_with("not even beacons were captured for 99.9 % of the time, where 20 were captured"),
        "{away}"
    );
}

#[test]
fn a_frame_whose_duration_is_unknown_breaks_a_silence() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..20 {
        capture.beacon(AP, 1, &[0, 1, b'a']);
        capture.pause(190);
        // No rate: no duration.
        capture.behind(vec![0, 0, 8, 0, 0, 0, 0, 0], 0x0108, [AP, STATION, AP], &[0; 40]);
        capture.pause(190);
    }
    data(&mut capture);
    let report = capture.report();
    assert_eq!(step_s(&report, "unobserved"), 0.0);
    let fall = &report.waterfalls[0];
    assert_eq!((fall.mpdus, fall.mpdus_timed), (23, Some(3)), "the effective PHY rate is that of three");
}

#[test]
fn a_frame_between_two_ghosts_is_one_frame() {
    let mut capture = Handmade::on(2_412);
    // FCS at the end, and wrong.
    let damaged = |fc: u16, to: Address, from: Address| {
        let mut record = vec![0, 0, 14, 0, 0x0e, 0, 0, 0, 0x50, 12];
        record.extend(2_412u16.to_le_bytes());
        record.extend([0xc0, 0x00]);
        record.extend(fc.to_le_bytes());
        record.extend([0, 0]);
        [to, from, to].iter().for_each(|address| record.extend(address));
        record.extend([0; 40]);
        record
    };
    data(&mut capture);
    capture.raw(damaged(0x0108, [2, 0, 0, 0, 0, 0x11], [2, 0, 0, 0, 0, 0x19]));
    capture.raw(damaged(0x0108, [2, 0, 0, 0, 0, 0x21], [2, 0, 0, 0, 0, 0x21]));
    capture.raw(damaged(0x0108, [0xff; 6], [2, 0, 0, 0, 0, 0x31]));
    let effect = capture.report().ghost_effect;
    assert_eq!((effect.ghosts, effect.ghost_frames), (4, 3), "{effect:?}");
}

#[test]
fn a_block_ack_of_a_reserved_kind_has_a_row() {
    let mut capture = Handmade::on(2_412);
    data(&mut capture);
    let mut record = vec![0, 0, 8, 0, 0, 0, 0, 0, 0x94, 0, 0, 0];
    record.extend([AP, STATION].concat());
    record.extend([0xfe, 0x5d]); // Kind 15.
    record.extend([0; 10]);
    capture.raw(record);
    let log = capture.report_with(Options { lists_block_acks: true, ..Options::default() }).block_ack_log.unwrap();
    assert_eq!((log.frames, log.rows.len()), (1, 1));
    assert_eq!((log.rows[0].number, log.rows[0].tid, log.rows[0].acknowledged), (4, None, None));
}

#[test]
fn qos_frames_in_a_format_without_ampdus_are_ppdus_of_their_own() {
    let mut capture = Handmade::on(2_412);
    for _ in 0..40 {
        capture.frame(0x0188, [AP, STATION, AP], &[0; 60]);
    }
    let exchanges = capture.report().exchanges;
    let data = &exchanges[0].data;
    assert_eq!(
        (data.ppdus, data.answered, data.missing_not_resent),
        (39, 0, 39),
        "the last may be answered behind the end"
    );
}

#[test]
fn beacons_that_come_seldom_leave_no_silence_between_them() {
    let mut capture = Handmade::on(2_412);
    let body = |tu: u16| [&[0; 8][..], &tu.to_le_bytes(), &[1, 0, 0, 1, b'a']].concat();
    for _ in 0..20 {
        capture.frame(0x0080, [crate::handmade::BROADCAST, AP, AP], &body(1_000));
        capture.pause(1_014);
    }
    data(&mut capture);
    let report = capture.report();
    assert_eq!(step_s(&report, "unobserved"), 0.0);
    assert!(limits(&report).iter().all(|(code, _)| *code != "away"));
}

/// No rate: no duration.
fn untimed(capture: &mut Handmade) {
    capture.behind(vec![0, 0, 8, 0, 0, 0, 0, 0], 0x0108, [AP, STATION, AP], &[0; 40]);
}

#[test]
fn what_was_observed_begins_and_ends_with_frames_of_whatever_duration() {
    let mut capture = Handmade::on(2_412);
    untimed(&mut capture);
    capture.pause(2_000);
    capture.frame(0x0108, [AP, STATION, AP], &[0; 100]);
    capture.pause(3_000);
    untimed(&mut capture);
    let airtime = capture.report().airtime;
    let observed_s = airtime.observed_us.expect("times") / 1e6;
    assert!((observed_s - 5.02).abs() < 0.001, "{observed_s} s");
    assert!(airtime.busy_share.expect("a share") < 0.001);
    assert_eq!(airtime.frames_without_duration, 2);
}

#[test]
fn one_frame_is_no_share_of_its_own_duration() {
    let mut capture = Handmade::on(2_412);
    capture.frame(0x0108, [AP, STATION, AP], &[0; 100]);
    let airtime = capture.report().airtime;
    assert_eq!(airtime.busy_us, airtime.observed_us);
    assert!(airtime.busy_us.expect("a duration") > 0.0);
    assert_eq!((airtime.busy_share, airtime.busy_share_low, airtime.busy_share_high), (None, None, None));
    capture.frame(0x0108, [AP, STATION, AP], &[0; 100]);
    assert!(capture.report().airtime.busy_share.expect("a share") < 0.1);
}

/// Radiotap with TX flags, of a frame on its way out: with a rate once it was sent.
fn own(rate: Option<u8>) -> Vec<u8> {
    match rate {
        None => vec![0, 0, 10, 0, 0x00, 0x80, 0, 0, 0x30, 0],
        Some(rate) => vec![0, 0, 12, 0, 0x04, 0x80, 0, 0, rate, 0, 0, 0],
    }
}

#[test]
fn frames_handed_over_and_sent_ask_for_one_response() {
    let mut capture = Handmade::on(2_412);
    for number in 0..30u16 {
        for rate in [None, Some(12)] {
            let mut record = own(rate);
            record.extend([0x08, 0x01, 0, 0]);
            [AP, STATION, AP].iter().for_each(|address| record.extend(address));
            record.extend((number << 4).to_le_bytes());
            record.extend([0; 40]);
            capture.raw(record);
        }
        let mut ack = vec![0, 0, 9, 0, 0x04, 0, 0, 0, 12, 0xd4, 0, 0, 0];
        ack.extend(STATION);
        capture.same_instant();
        capture.raw(ack);
    }
    let report = capture.report();
    assert_eq!(report.frames, 90);
    let data = report.exchanges[0].data;
    assert_eq!((data.ppdus, data.answered), (30, 30), "{data:?}");
    assert_eq!((report.waterfalls[0].mpdus, report.waterfalls[0].mpdus_timed), (30, Some(30)));
    let text = limits(&report).into_iter().find(|(code, _)| *code == "handed-over").expect("a word on it").1.to_owned();
    assert!(text.starts_with("30 of 60 frames of the capturing machine are in the file as they were handed"), "{text}");
}

#[test]
fn beacons_of_the_capturing_machine_show_nothing_of_what_it_hears() {
    let beacons = |radiotap: Vec<u8>| {
        let mut capture = Handmade::on(2_412);
        for _ in 0..30 {
            let body = [[0; 8].as_slice(), &[100, 0, 1, 0, 0, 1, b'a']].concat();
            capture.behind(radiotap.clone(), 0x0080, [[0xff; 6], AP, AP], &body);
            capture.pause(92);
        }
        capture.report()
    };
    let (sent, received) = (beacons(own(Some(2))), beacons(vec![0, 0, 9, 0, 0x04, 0, 0, 0, 2]));
    assert_eq!((sent.hearing.beacons.len(), sent.hearing.silence_is_evidence), (0, false));
    assert_eq!((received.hearing.beacons.len(), received.hearing.proof.is_some()), (1, true));
    assert!(!received.hearing.silence_is_evidence, "nothing but beacons");
    assert_eq!(sent.access_points[0].beacons, 30, "sent all the same");
}

#[test]
fn own_beacons_without_a_rate_are_not_taken_for_frames_on_their_way_out() {
    let mut capture = Handmade::on(2_412);
    let beacon = [[0; 8].as_slice(), &[100, 0, 1, 0, 0, 1, b'a']].concat();
    for _ in 0..30 {
        capture.behind(own(None), 0x0080, [[0xff; 6], AP, AP], &beacon);
        capture.pause(92);
    }
    for rate in [None, Some(12), None, Some(12)] {
        capture.behind(own(rate), 0x0108, [STATION, AP, AP], &[0; 40]);
    }
    let report = capture.report();
    assert!(!limits(&report).iter().any(|(code, _)| *code == "handed-over"), "{:?}", limits(&report));
    assert_eq!(report.airtime.frames_without_duration, 32, "they count as sent");
}

#[test]
fn beacons_of_two_intervals_are_in_no_raster() {
    let beacons = |intervals: [u8; 2]| {
        let mut capture = Handmade::on(2_412);
        for interval in intervals {
            for _ in 0..30 {
                let body = [[0; 8].as_slice(), &[interval, 0, 1, 0, 0, 1, b'a']].concat();
                capture.behind(vec![0, 0, 9, 0, 0x04, 0, 0, 0, 2], 0x0080, [[0xff; 6], AP, AP], &body);
                capture.pause(92);
            }
        }
        capture.report()
    };
    assert!(beacons([100, 100]).hearing.proof.is_some());
    let two = beacons([100, 20]).hearing;
    assert_eq!((two.beacons.len(), two.silence_is_evidence), (0, false));
    let text = two.doubts[0].text();
    assert!(text.ends_with("name more than one interval, so how many were due is unknown"), "{text}");
    assert!(text.starts_with("the 60 beacons of "), "{text}");
}

#[test]
fn frames_without_a_duration_are_named_beside_the_gaps() {
    let labels = |acks: bool| {
        let mut capture = Handmade::on(2_412);
        for _ in 0..30 {
            data(&mut capture);
            if acks {
                // An ACK without a rate: it was captured, and nothing says how long it was.
                let mut record = vec![0, 0, 8, 0, 0, 0, 0, 0, 0xd4, 0, 0, 0];
                record.extend(AP);
                capture.raw(record);
            }
        }
        let steps = capture.report().waterfalls.swap_remove(0).steps;
        steps.into_iter().find(|step| step.cause == "idle").expect("a row").label
    };
    assert!(labels(true).ends_with(", and frames without a known duration"), "{}", labels(true));
    assert!(!labels(false).contains("duration"), "{}", labels(false));
}

#[test]
fn the_address_of_zeros_is_nobodys() {
    let mut capture = Handmade::on(2_412);
    data(&mut capture);
    capture.frame(0x0108, [AP, [0; 6], AP], &[0; 100]);
    let report = capture.report();
    let kinds: Vec<_> = report.stations.iter().map(|row| (row.address.as_str(), row.kind.as_str())).collect();
    assert!(kinds.contains(&("00:00:00:00:00:00", "unknown")), "{kinds:?}");
    let text = limits(&report).into_iter().find(|(code, _)| *code == "no-address").expect("a word on it").1.to_owned();
    assert!(text.starts_with("1 of 4 frames has the transmitter address 00:00:00:00:00:00"), "{text}");
}
