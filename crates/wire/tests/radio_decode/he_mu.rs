//! The HE-MU field beside tshark's view of it, field by field.

use std::process::Command;

use proptest::prelude::*;
use txop_wire::phy::Bandwidth;
use txop_wire::radiotap::HeMu;

use crate::captures;
use crate::encoder::{header, le16s, Word};
use crate::random::{samples, ACK};
use crate::tshark;

/// What tshark calls a field, and what it must be where it is known.
type Field = (&'static str, fn(&HeMu) -> Option<u32>);

const FIELDS: [Field; 8] = [
    ("radiotap.he_mu.sig_b_mcs", |field| field.sig_b_mcs.map(u32::from)),
    ("radiotap.he_mu.sig_b_dcm", |field| field.sig_b_dcm.map(u32::from)),
    ("radiotap.he_mu.sig_b_compression", |field| field.sig_b_compression.map(u32::from)),
    ("radiotap.he_mu.bw_from_sig_a", |field| field.width.map(width_code)),
    ("radiotap.he_mu.preamble_puncturing", |field| field.puncturing.map(u32::from)),
    ("radiotap.he_mu.chan1_center_26_tone_ru_value", |field| field.center[0].map(u32::from)),
    ("radiotap.he_mu.chan2_center_26_tone_ru_value", |field| field.center[1].map(u32::from)),
    ("radiotap.he_mu.sig_b_syms_or_mu_mimo_users", |field| field.symbols_or_users.map(|count| u32::from(count) - 1)),
];

fn width_code(width: Bandwidth) -> u32 {
    match width {
        Bandwidth::Mhz20 => 0,
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 2,
        _ => 3,
    }
}

fn any_field() -> impl Strategy<Value = HeMu> {
    any::<[u8; 12]>().prop_map(|bytes| HeMu::parse(&bytes))
}

fn number(cell: &str) -> Option<u32> {
    match cell.trim() {
        "" => None,
        "True" => Some(1),
        "False" => Some(0),
        hex if hex.starts_with("0x") => u32::from_str_radix(&hex[2..], 16).ok(),
        decimal => decimal.parse().ok(),
    }
}

#[test]
fn every_field_is_what_tshark_reads() {
    if !tshark::is_installed() {
        return;
    }
    let fields = samples(any_field(), 500);
    let he = le16s(&[0x4022, 0x0002, 0, 0, 6, 1]);
    let packets: Vec<Vec<u8>> = fields
        .iter()
        .map(|field| {
            [header(&[Word::Radiotap(vec![(23, he.clone()), (24, field.emit().to_vec())])]).as_slice(), &ACK].concat()
        })
        .collect();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("he_mu.pcap");
    std::fs::write(&path, captures::pcap_file(127, &packets)).expect("the build folder is writable");
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=|"]);
    let units: Vec<String> = (1..=2)
        .flat_map(|channel| (0..4).map(move |at| format!("radiotap.he_mu.chan{channel}_rus_{at}_index")))
        .collect();
    for name in FIELDS.iter().map(|(name, _)| *name).chain(units.iter().map(String::as_str)) {
        command.args(["-e", name]);
    }
    let output = command.output().expect("tshark runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('|').collect()).collect();
    assert_eq!(rows.len(), fields.len());
    let mut compared = 0;
    for (index, (field, row)) in fields.iter().zip(&rows).enumerate() {
        for ((name, ours), cell) in FIELDS.iter().zip(row) {
            if let Some(ours) = ours(field) {
                assert_eq!(number(cell), Some(ours), "frame {}: {name} is {cell:?}", index + 1);
                compared += 1;
            }
        }
        for (at, cell) in row[FIELDS.len()..].iter().enumerate() {
            if let Some(ours) = field.channels[at / 4] {
                assert_eq!(number(cell), Some(u32::from(ours[at % 4])), "frame {}: {}", index + 1, units[at]);
                compared += 1;
            }
        }
    }
    println!("{compared} values compared");
    assert!(compared > 4_000, "only {compared} values compared");
}
