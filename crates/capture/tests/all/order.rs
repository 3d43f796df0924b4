//! Records come in the order of their times as far as memory reaches, whatever the times are, and none is lost.

use std::io::Cursor;

use proptest::prelude::*;
use txop_capture::{Ending, InOrder, InterfaceSettings, Order, PcapngWriter, Reader};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// Interface, time and content.
type Given = (u32, i64, Vec<u8>);

fn file(records: &[Given]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Little).expect("a file header");
    for _ in 0..2 {
        writer.add_interface(&InterfaceSettings::nanos(LinkType(147))).expect("an interface");
    }
    for (interface, time_ns, data) in records {
        writer.write(*interface, *time_ns, data.len() as u32, data).expect("memory");
    }
    writer.into_inner()
}

/// Numbers and times as they come, each with the content that it was given.
fn read(mut records: InOrder, given: &[Given]) -> (Vec<(u64, i64)>, Order) {
    let mut seen = Vec::new();
    loop {
        match records.next() {
            Ok(Some(record)) => {
                let (interface, time_ns, data) = &given[record.number as usize - 1];
                assert_eq!((record.interface, record.time_ns, record.data), (*interface, Some(*time_ns), &data[..]));
                seen.push((record.number, *time_ns));
            }
            Ok(None) => return (seen, records.order()),
            Err(Ending::OutOfOrder) => {
                seen.clear();
                records = records.again().expect("the same file");
            }
            Err(Ending::Damage(damage)) => panic!("{damage}"),
        }
    }
}

fn once(given: &[Given]) -> (Vec<(u64, i64)>, Order) {
    read(InOrder::once(Reader::from_read(Cursor::new(file(given))).expect("a capture")), given)
}

/// The same from a file on disk, which is read as it is until its records turn out not to be in order.
fn twice(given: &[Given]) -> (Vec<(u64, i64)>, Order) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("capture");
    std::fs::write(&path, file(given)).expect("a file");
    read(InOrder::open(&path, Default::default()).expect("a capture"), given)
}

fn small(times: impl IntoIterator<Item = i64>) -> Vec<Given> {
    times.into_iter().enumerate().map(|(i, ns)| (i as u32 % 2, ns, vec![i as u8; i % 5])).collect()
}

fn numbers(seen: &[(u64, i64)]) -> Vec<u64> {
    seen.iter().map(|(number, _)| *number).collect()
}

proptest! {
    /// Gaps above the jitter, delays below what is held: the times come out in order.
    #[test]
    fn what_is_delayed_within_reach_comes_in_order(
        steps in prop::collection::vec((0i64..60, 0i64..1_900), 1..200),
    ) {
        let mut at = SECOND;
        let mut delayed: Vec<(i64, i64)> = steps
            .iter()
            .map(|(step, delay)| {
                at += step * 1_100_000;
                (at + delay * MS, at)
            })
            .collect();
        delayed.sort_by_key(|(release, _)| *release);
        let given = small(delayed.iter().map(|(_, at)| *at));
        let mut expected: Vec<(i64, u64)> = given.iter().zip(1..).map(|((_, at, _), number)| (*at, number)).collect();
        expected.sort_unstable();
        let (seen, order) = once(&given);
        prop_assert_eq!(numbers(&seen), expected.iter().map(|(_, number)| *number).collect::<Vec<_>>());
        let mut latest = i64::MIN;
        let late = given.iter().filter(|(_, at, _)| { latest = latest.max(*at); *at < latest }).count();
        prop_assert_eq!(order.moved, late as u64);
    }

    /// Whatever the times: every record comes once, as often as it is there; and the same from a pipe and from a file.
    #[test]
    fn no_times_lose_a_record(
        times in prop::collection::vec(
            prop_oneof![
                Just(i64::MAX), Just(0), 0..=i64::MAX, 0..3 * SECOND, 0..3 * MS, Just(SECOND),
            ],
            0..200,
        ),
    ) {
        let given = small(times);
        let (seen, order) = once(&given);
        let mut sorted = numbers(&seen);
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (1..=given.len() as u64).collect::<Vec<_>>());
        let (again, order_again) = twice(&given);
        prop_assert_eq!(&again, &seen);
        prop_assert!(order_again == order || (order.moved, order_again) == (0, Order::default()));
    }

    /// Less than a millisecond is jitter, and the order of the records the truth.
    #[test]
    fn jitter_stays_where_it_is(steps in prop::collection::vec((0i64..5 * MS, 0i64..MS), 1..200)) {
        let mut at = SECOND;
        let given = small(steps.iter().map(|(step, early)| { at += step; at - early }));
        let (seen, order) = once(&given);
        prop_assert_eq!(numbers(&seen), (1..=given.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!((order.moved, order.farthest_ns), (0, 0));
        prop_assert_eq!(twice(&given), (seen, Order::default()));
    }
}

#[test]
fn one_wrong_time_moves_no_other_record() {
    for wrong in [0, SECOND, 9_000 * SECOND, i64::MAX] {
        let given = small((0..2_000).map(|i| if i == 700 { wrong } else { 1_000 * SECOND + i * 2 * MS }));
        assert_eq!(numbers(&once(&given).0), (1..=2_000).collect::<Vec<_>>(), "{wrong}");
        // And records near it are still sorted.
        let mut given = given;
        given.swap(710, 720);
        let (seen, order) = once(&given);
        assert!(seen[705..].windows(2).all(|pair| pair[0].1 < pair[1].1), "{wrong}");
        assert_eq!((order.moved, order.farthest_ns), (10, 20 * MS), "{wrong}");
    }
}

#[test]
fn two_captures_one_behind_the_other_are_sorted_each_by_itself() {
    let one: Vec<i64> = (0..100).map(|i| 500 * SECOND + i * 5 * MS).collect();
    let mut times = [one.clone(), one].concat();
    times.swap(10, 20);
    times.swap(110, 120);
    // Half a second is within reach: the two are merged.
    let (seen, order) = once(&small(times.clone()));
    assert!(seen.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert_eq!(order.moved, 10 + 99);
    let far: Vec<i64> = times.iter().enumerate().map(|(i, ns)| if i < 100 { ns + 60 * SECOND } else { *ns }).collect();
    let (seen, order) = once(&small(far));
    assert!(seen[..100].windows(2).all(|pair| pair[0].1 < pair[1].1));
    assert!(seen[100..].windows(2).all(|pair| pair[0].1 < pair[1].1));
    assert_eq!(order.moved, 20);
}

#[test]
fn a_reversed_capture_is_known_as_such() {
    let (seen, order) = once(&small((0..900).rev().map(|i| SECOND + i * 2 * MS)));
    assert!(order.is_reversed() && seen.windows(2).all(|pair| pair[0].1 < pair[1].1));
    assert_eq!((order.moved, order.farthest_ns), (899, 899 * 2 * MS));
    assert!(once(&small((0..9_000).rev().map(|i| SECOND + i * 2 * MS))).1.is_reversed());
    assert!(!once(&small((0..900).map(|i| SECOND + i * 2 * MS))).1.is_reversed());
}

#[test]
fn damage_comes_after_the_records_before_it() {
    let given = small([30, 10, 20].map(|i| SECOND + i * 10 * MS));
    let mut bytes = file(&given);
    bytes.extend([6, 0, 0, 0, 200, 0, 0, 0, 1]);
    let mut records = InOrder::once(Reader::from_read(Cursor::new(bytes)).expect("a capture"));
    let mut times = Vec::new();
    let damage = loop {
        match records.next() {
            Ok(Some(record)) => times.push(record.time_ns.expect("a time")),
            Ok(None) => panic!("the damage is lost"),
            Err(Ending::Damage(damage)) => break damage,
            Err(Ending::OutOfOrder) => panic!("it is sorted already"),
        }
    };
    assert_eq!(times, [10, 20, 30].map(|i| SECOND + i * 10 * MS));
    assert_eq!(damage.records, 3);
    assert!(records.next().expect("said once").is_none());
}
