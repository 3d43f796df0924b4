//! Damaged frames have airtime and nothing else: they ask for nothing, and answer nothing unless they may be the answer.

use crate::handmade::{Address, Handmade};
use txop_air::report::Report;

const STATION: Address = [2, 0, 0, 0, 0, 1];
const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 2];
/// MPDUs with their ACKs, 10 ms from one to the next; every tenth has a damaged frame in place of it.
const MPDUS: u64 = 200;
const ONE_IN: u64 = 10;

/// TSFT at the first bit, 24 Mb/s, 5,180 MHz; flags: the FCS is in the record.
fn radiotap(at_us: u64, bad_fcs: bool) -> Vec<u8> {
    let mut header = vec![0, 0, 22, 0];
    header.extend(0x0fu32.to_le_bytes());
    header.extend(at_us.to_le_bytes());
    header.extend([0x10 | if bad_fcs { 0x40 } else { 0 }, 48]);
    header.extend(5_180u16.to_le_bytes());
    header.extend([0x40, 0x01]);
    header
}

/// Time on the air of so many bytes.
fn air_us(bytes: u64) -> u64 {
    20 + (16 + 6 + 8 * bytes).div_ceil(96) * 4
}

fn with_fcs(mut record: Vec<u8>) -> Vec<u8> {
    let check = wire::fcs::fcs32(&record[22..]);
    record.extend(check.to_le_bytes());
    record
}

/// `damaged`: bytes of the damaged frames, FCS included, that begin so much later than an ACK would.
fn report(damaged: &[u8], later_us: u64) -> Report {
    let mut capture = Handmade::on(5_180);
    for n in 0..MPDUS {
        let begin_us = 1_000 + n * 10_000;
        let mut data = radiotap(begin_us, false);
        data.extend([0x08, 0x01, 0, 0]);
        [ACCESS_POINT, STATION, ACCESS_POINT].iter().for_each(|address| data.extend(address));
        data.extend((((n as u16) & 0xfff) << 4).to_le_bytes());
        data.extend([0; 1_000]);
        capture.raw(with_fcs(data));
        let answer_us = begin_us + air_us(1_028) + 16;
        capture.same_instant();
        if n % ONE_IN == ONE_IN - 1 {
            let mut record = radiotap(answer_us + later_us, true);
            record.extend(damaged);
            capture.raw(record);
        } else {
            let mut ack = radiotap(answer_us, false);
            ack.extend([0xd4, 0, 0, 0]);
            ack.extend(STATION);
            capture.raw(with_fcs(ack));
        }
    }
    capture.report()
}

/// An RTS that the station seems to have sent.
fn rts() -> Vec<u8> {
    [&[0xb4, 0, 0xff, 0x7f][..], &ACCESS_POINT, &STATION, &[1, 2, 3, 4]].concat()
}

#[test]
fn a_damaged_frame_that_may_be_the_response_leaves_the_question_open() {
    let report = report(&rts(), 0);
    let exchange = &report.exchanges[0];
    assert_eq!((report.bad_fcs, exchange.ppdus, exchange.acked), (MPDUS / ONE_IN, MPDUS - MPDUS / ONE_IN, 180));
    assert_eq!((exchange.missing_resent, exchange.rts), (0, 0), "what it says is not believed");
}

#[test]
fn one_that_begins_later_or_is_too_long_was_no_response() {
    let later = report(&rts(), 40);
    let long = report(&[&rts()[..], &[0; 300]].concat(), 0);
    for report in [later, long] {
        let exchange = &report.exchanges[0];
        assert_eq!((exchange.ppdus, exchange.acked, exchange.rts), (MPDUS, 180, 0));
        assert_eq!(exchange.missing_not_resent, MPDUS / ONE_IN);
    }
}

#[test]
fn damaged_frames_count_on_the_air_whatever_their_headers_say() {
    // QoS data with four addresses, of 14 bytes: its header does not fit.
    let garbled = [&[0x88, 0x03, 1, 2][..], &[0x5a; 10]].concat();
    let (garbled, legible) = (report(&garbled, 40), report(&[&[0xd4, 0, 0, 0][..], &STATION, &[9; 4]].concat(), 40));
    assert_eq!((garbled.bad_fcs, garbled.summary.unreadable), (MPDUS / ONE_IN, 0));
    assert_eq!(garbled.airtime.busy_us, legible.airtime.busy_us);
    let damaged_us = |report: &Report| report.waterfall.iter().find(|step| step.cause == "damaged").map(|step| step.us);
    assert!(
        damaged_us(&garbled).is_some_and(|us| us >= (MPDUS / ONE_IN * air_us(14)) as f64),
        "{:?}",
        damaged_us(&garbled)
    );
    assert_eq!(damaged_us(&garbled), damaged_us(&legible));
    assert_eq!(garbled.stations.len(), legible.stations.len(), "no station comes from them");
    assert_eq!(garbled.exchanges[0].ppdus, MPDUS);
}
