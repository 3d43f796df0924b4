//! What is said of silence, of damage that names two addresses, and of frames that no standard defines: captures made frame by
//! frame, each after a real one that was described wrongly.

mod handmade;

use handmade::{Address, Handmade};
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
        hop.starts_with("1 of 91 frames was heard on another channel than the others: 69 % of the time lies between"),
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
    assert!(away.starts_with("not even beacons were heard for 100 % of the time, where 20 were heard"), "{away}");
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
    assert_eq!((fall.mpdus, fall.mpdus_timed), (23, Some(3)), "the PHY rate is that of three");
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
        capture.frame(0x0080, [handmade::BROADCAST, AP, AP], &body(1_000));
        capture.pause(1_014);
    }
    data(&mut capture);
    let report = capture.report();
    assert_eq!(step_s(&report, "unobserved"), 0.0);
    assert!(limits(&report).iter().all(|(code, _)| *code != "away"));
}
