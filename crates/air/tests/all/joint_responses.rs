//! What several users are sent, or send, at once is answered by all of them: in captures made frame by frame.

use crate::handmade::{Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 1];
const ONE: Address = [2, 0, 0, 0, 0, 11];
const TWO: Address = [2, 0, 0, 0, 0, 12];

/// TSFT, channel, HE and L-SIG: format 0 SU, 2 MU, 3 trigger-based.
fn he(format: u16, tsft_us: u64) -> Vec<u8> {
    let mut bytes = tsft_us.to_le_bytes().to_vec();
    bytes.extend(6_135u16.to_le_bytes());
    bytes.extend([0x40, 0x01]);
    [0x4020 | format, 0x0002, 0, 0, if format == 0 { 2 } else { 7 }, 1]
        .iter()
        .for_each(|word: &u16| bytes.extend(word.to_le_bytes()));
    [2u16, 298 << 4].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    let present: u32 = 1 | 1 << 3 | 1 << 23 | 1 << 27;
    let mut header = vec![0, 0];
    header.extend((8 + bytes.len() as u16).to_le_bytes());
    header.extend(present.to_le_bytes());
    header.extend(bytes);
    header
}

/// A compressed Block Ack of 64 bits for TID 0.
fn block_ack(to: Address, from: Address, start: u16) -> Vec<u8> {
    let mut frame = vec![0x94, 0, 0, 0];
    frame.extend(to);
    frame.extend(from);
    frame.extend(0x0004u16.to_le_bytes());
    frame.extend((start << 4).to_le_bytes());
    frame.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    frame
}

/// A Multi-STA Block Ack: AID, TID 0, starting sequence number, one bit set in each.
fn multi_sta(from: Address, records: &[(u16, u16)]) -> Vec<u8> {
    let mut frame = vec![0x94, 0, 0, 0];
    frame.extend(BROADCAST);
    frame.extend(from);
    frame.extend((11u16 << 1).to_le_bytes());
    for (aid, start) in records {
        frame.extend(aid.to_le_bytes());
        frame.extend((start << 4).to_le_bytes());
        frame.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    }
    frame
}

fn qos(from: Address, to: Address, down: bool, sequence: u16) -> Vec<u8> {
    let mut frame = (if down { 0x0288u16 } else { 0x0188 }).to_le_bytes().to_vec();
    frame.extend([0, 0]);
    [to, from, AP].iter().for_each(|address| frame.extend(address));
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.extend([0; 60]);
    frame
}

fn association(capture: &mut Handmade, station: Address, aid: u16) {
    let body = [&[0x01, 0x00, 0, 0], (aid | 0xc000).to_le_bytes().as_slice()].concat();
    capture.frame(0x0010, [station, AP, AP], &body);
}

/// This many uplink PPDUs of these stations, each answered by one Block Ack to all.
fn uplink(stations: &[(Address, u16)], ppdus: u16) -> Report {
    let mut capture = Handmade::on(6_135);
    stations.iter().for_each(|(station, aid)| association(&mut capture, *station, *aid));
    for sequence in 0..ppdus {
        let at_us = 100_000 + 30_000 * u64::from(sequence);
        for (station, _) in stations {
            capture.same_instant();
            capture.raw([he(3, at_us), qos(*station, AP, false, sequence)].concat());
        }
        capture.same_instant();
        // Both users' records, also where only one of them was captured.
        capture.raw([he(0, at_us + 440), multi_sta(AP, &[(1, sequence), (2, sequence)])].concat());
        capture.pause(20);
    }
    capture.report()
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a str> {
    report.summary.limits.iter().find(|limit| limit.code == code).map(|limit| limit.sentence.text())
}

fn originators(report: &Report) -> Vec<(&str, u64)> {
    report.block_acks.iter().map(|flow| (flow.originator.as_str(), flow.block_acks)).collect()
}

#[test]
fn a_block_ack_to_several_stations_counts_for_each_by_its_aid() {
    let report = uplink(&[(ONE, 1), (TWO, 2)], 50);
    assert!(report.exchanges.iter().all(|row| row.data.ppdus == 0), "{:?}", report.exchanges);
    let mut flows = originators(&report);
    flows.sort_unstable();
    assert_eq!(flows, [("02:00:00:00:00:0b", 50), ("02:00:00:00:00:0c", 50)]);
    assert_eq!(
        limit(&report, "joint-responses"),
        Some("50 PPDUs carry data to or from several users: who of these answered, and when, is unknown")
    );
    assert_eq!(limit(&report, "unattributed-block-acks"), None);
    assert_eq!((report.hearing.responses, report.hearing.responses_without_frame), (50, 0));
}

#[test]
fn one_captured_user_of_several_is_not_called_unanswered() {
    let report = uplink(&[(ONE, 1)], 50);
    assert!(report.exchanges.iter().all(|row| row.data.ppdus == 0), "{:?}", report.exchanges);
    assert_eq!(originators(&report), [("02:00:00:00:00:0b", 50)]);
    assert_eq!(
        limit(&report, "unattributed-block-acks"),
        Some(
            "50 parts of Block Acks to several stations are for AIDs that no captured association response gives to a station: \
             they are in no Block Ack account"
        )
    );
    assert!(report.ack_verdicts.iter().all(|verdict| verdict.question != "ack"), "{:?}", report.ack_verdicts);
}

#[test]
fn users_of_a_downlink_answer_without_being_orphans() {
    let mut capture = Handmade::on(6_135);
    for sequence in 0..50u16 {
        let at_us = 100_000 + 30_000 * u64::from(sequence);
        for user in [ONE, TWO] {
            capture.same_instant();
            capture.raw([he(2, at_us), qos(AP, user, true, sequence)].concat());
        }
        for user in [ONE, TWO] {
            capture.same_instant();
            capture.raw([he(3, at_us + 440), block_ack(AP, user, sequence)].concat());
        }
        capture.pause(20);
    }
    let report = capture.report();
    assert!(report.exchanges.is_empty(), "{:?}", report.exchanges);
    assert_eq!(report.hearing.responses_without_frame, 0);
    let flows: Vec<_> = report.block_acks.iter().map(|flow| (flow.recipient.as_str(), flow.block_acks)).collect();
    assert_eq!(flows.len(), 2);
    assert!(flows.iter().all(|(_, acks)| *acks == 50), "{flows:?}");
}

/// To one user, as before.
#[test]
fn a_ppdu_to_one_user_is_judged() {
    let mut capture = Handmade::on(6_135);
    for sequence in 0..50u16 {
        let at_us = 100_000 + 30_000 * u64::from(sequence);
        capture.raw([he(0, at_us), qos(AP, ONE, true, sequence)].concat());
        capture.same_instant();
        capture.raw([he(0, at_us + 440), block_ack(AP, ONE, sequence)].concat());
        capture.pause(20);
    }
    let report = capture.report();
    assert_eq!(report.exchanges.iter().map(|row| (row.ppdus, row.block_acked)).collect::<Vec<_>>(), [(50, 50)]);
    assert_eq!(limit(&report, "joint-responses"), None);
}
