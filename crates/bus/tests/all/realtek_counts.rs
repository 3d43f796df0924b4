//! Aggregates of a Realtek chip that the capture cut: counted by their first descriptor where that can be believed, bounds otherwise.

use std::io::Cursor;

use capture::{PcapSettings, PcapWriter};
use proptest::prelude::*;
use txop_bus::analyze_read;
use txop_bus::report::Traffic;
use wire::linktype::LinkType;
use wire::usb::realtek::{rx_descriptor, tx_descriptor, RX_ALIGNMENT};

/// usbmon's record of a bulk transfer: `S` or `C`.
fn record(id: u64, event: u8, endpoint: u8, len: usize, data: &[u8]) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.extend([event, 3, endpoint, 5, 1, 0, b'-', if data.is_empty() { b'<' } else { 0 }]);
    out.extend([0; 12]);
    out.extend(if event == b'S' { -115i32 } else { 0 }.to_le_bytes());
    out.extend((len as u32).to_le_bytes());
    out.extend((data.len() as u32).to_le_bytes());
    out.extend([0; 24]);
    out.extend(data);
    out
}

/// Transfers to the host of frames of these lengths, `count` in the first descriptor of each, cut behind `kept` bytes.
fn read(transfers: &[Vec<u16>], count: impl Fn(usize) -> u8, kept: usize) -> Traffic {
    let settings = PcapSettings { snap_len: 64 + kept as u32, ..PcapSettings::micros(LinkType::USB_LINUX_MMAPPED) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a header");
    let mut at = 1_000_000_000i64;
    let mut write = |bytes: Vec<u8>| {
        at += 100_000;
        writer.write(at, bytes.len() as u32, bytes.get(..64 + kept).unwrap_or(&bytes)).expect("a record");
    };
    // By these the chip is known.
    let mut sent = tx_descriptor(100).to_vec();
    sent.resize(132, 1);
    for id in 1..=8 {
        write(record(id, b'S', 2, sent.len(), &sent));
        write(record(id, b'C', 2, sent.len(), &[]));
    }
    for (id, frames) in (9u64..).zip(transfers) {
        let mut data = Vec::new();
        for (index, len) in frames.iter().enumerate() {
            data.resize(data.len().next_multiple_of(RX_ALIGNMENT), 0);
            data.extend(rx_descriptor(*len, if index == 0 { count(frames.len()) } else { 0 }));
            data.resize(data.len() + usize::from(*len), 1);
        }
        write(record(id, b'S', 0x81, 16_384, &[]));
        write(record(id, b'C', 0x81, data.len(), &data));
    }
    let report = analyze_read(Cursor::new(writer.into_inner()), None, "test".to_owned(), &Default::default(), &mut ())
        .expect("a report");
    report.traffic.into_iter().find(|row| row.direction == "in").expect("traffic")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_truth_lies_between_the_bounds_and_a_true_number_is_exact(
        transfers in prop::collection::vec(prop::collection::vec(60u16..1_600, 1..8), 20..40),
        kept in 32usize..3_000,
        lie in prop::sample::select(vec![0u8, 1, 2, 3]),
    ) {
        let truth: u64 = transfers.iter().map(|frames| frames.len() as u64).sum();
        // Nothing is said; the truth; always one; one too few, where that can be.
        let row = read(&transfers, |packets| match lie {
            0 => 0,
            1 => packets as u8,
            2 => 1,
            _ => (packets as u8 - 1).max(1),
        }, kept);
        prop_assert_eq!(row.framing.as_str(), "realtek");
        if lie < 3 {
            prop_assert!(row.datagrams_at_least <= truth && row.datagrams_at_most >= Some(truth), "{truth}: {row:?}");
            prop_assert!(row.cut_transfers != Some(0) || row.datagrams == truth, "{truth}: {row:?}");
        }
        if lie == 1 {
            prop_assert_eq!((row.cut_transfers, row.datagrams, row.datagrams_at_least), (Some(0), truth, truth));
            prop_assert_eq!(row.datagrams_per_transfer, Some(truth as f64 / transfers.len() as f64));
        }
        if lie == 0 {
            prop_assert_eq!(row.datagrams_per_transfer.is_some(), row.cut_transfers == Some(0));
        }
    }
}

/// Where one transfer shows that the number is another, it is believed of none.
#[test]
fn a_number_that_is_wrong_once_counts_nothing() {
    let mut transfers = vec![vec![1_500, 1_500, 1_500]; 30];
    transfers.push(vec![60, 60]);
    let row = read(&transfers, |packets| if packets == 2 { 7 } else { 3 }, 300);
    assert_eq!((row.counted_by_table, row.datagrams_per_transfer, row.cut_transfers), (None, None, Some(30)));
    assert!(row.datagrams_at_least <= 92 && row.datagrams_at_most >= Some(92), "{row:?}");
    let row = read(&transfers, |packets| packets as u8, 300);
    assert_eq!((row.counted_by_table, row.datagrams, row.cut_transfers), (Some(30), 92, Some(0)));
}
