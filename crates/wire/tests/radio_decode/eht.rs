//! The U-SIG and EHT items beside tshark's view of them. It reads them from 4.4 on.
//!
//! Whether a field of the U-SIG is known decides its name there, and not by the mask; so both names are looked at.

use std::process::Command;

use proptest::prelude::*;
use txop_wire::linktype::LinkType;
use txop_wire::phy::{Bandwidth, Eht, EhtFormat, GuardInterval, Mode};
use txop_wire::radio::decode;

use crate::captures;
use crate::encoder::{header, le32s, Word};
use crate::random::{samples, ACK};
use crate::tshark;

const SIZES: [u16; 16] = [26, 52, 106, 242, 484, 996, 1992, 3984, 78, 132, 726, 1480, 1722, 2476, 2988, 3472];

/// What tshark calls a field, and its code by our reading; `None` where we claim nothing.
type Field = (&'static str, fn(&Eht) -> Option<u32>);

const FIELDS: [Field; 7] = [
    ("radiotap.u_sig.common.bw", |eht| {
        Some(match eht.bandwidth? {
            Bandwidth::Mhz20 => 0,
            Bandwidth::Mhz40 => 1,
            Bandwidth::Mhz80 => 2,
            Bandwidth::Mhz160 => 3,
            _ => 4,
        })
    }),
    ("radiotap.u_sig.common.ul_dl", |eht| match eht.format? {
        EhtFormat::Ofdma | EhtFormat::MuMimo => Some(0),
        EhtFormat::TriggerBased => Some(1),
        EhtFormat::SingleUser => None,
    }),
    ("radiotap.u_sig.value.ppdu_type_and_compression_mode", |eht| {
        eht.format.map(|format| match format {
            EhtFormat::Ofdma | EhtFormat::TriggerBased => 0,
            EhtFormat::SingleUser => 1,
            EhtFormat::MuMimo => 2,
        })
    }),
    ("radiotap.u_sig.value.mu_ppdu.number_of_eht_sig_symbols", |eht| eht.sig_symbols.map(|count| u32::from(count) - 1)),
    ("radiotap.eht.data_0.gi", |eht| {
        eht.gi.map(|gi| match gi {
            GuardInterval::Ns800 => 0,
            GuardInterval::Ns1600 => 1,
            _ => 2,
        })
    }),
    ("radiotap.eht.user_info.mcs", |eht| eht.mcs.map(u32::from)),
    ("radiotap.eht.user_info.nss", |eht| eht.nss.map(|nss| u32::from(nss) - 1)),
];
const SIZE: &str = "radiotap.eht.data_1.ru_mru_size";
const PUNCTURED: &str = "radiotap.u_sig.value.mu_ppdu.punctured_channel_information";

/// U-SIG (version 0) and an EHT item with one user.
fn any_items() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let mask = prop_oneof![3 => Just(u32::MAX), 1 => Just(0u32)];
    (any::<[u32; 2]>(), mask, any::<[u32; 11]>(), 0..16u32).prop_map(|([common, value], mask, mut words, size)| {
        let common = common & !(0x07 << 12) | 0x01;
        words[2] = words[2] & !0x1f | size;
        (le32s(&[common, value, mask]), le32s(&words))
    })
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
    let packets: Vec<Vec<u8>> = samples(any_items(), 2_000)
        .into_iter()
        .map(|(u_sig, eht)| [header(&[Word::WithTlvs(vec![], vec![(34, eht), (33, u_sig)])]).as_slice(), &ACK].concat())
        .collect();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("eht.pcap");
    std::fs::write(&path, captures::pcap_file(127, &packets)).expect("the build folder is writable");
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=|"]);
    let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).chain([SIZE, PUNCTURED]).collect();
    let unknown = |name: &&str| name.contains("mu_ppdu.").then(|| format!("{name}_not_known"));
    for name in names.iter().map(|name| (*name).to_owned()).chain(names.iter().filter_map(unknown)) {
        command.args(["-e", &name]);
    }
    let output = command.output().expect("tshark runs");
    if String::from_utf8_lossy(&output.stderr).contains("radiotap.u_sig") {
        eprintln!("SKIPPED: this tshark does not read U-SIG");
        return;
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split('|').collect();
            for (at, other) in names.iter().enumerate().filter(|(_, name)| unknown(name).is_some()).zip(names.len()..) {
                if cells[at.0].is_empty() {
                    cells[at.0] = cells[other];
                }
            }
            cells
        })
        .collect();
    assert_eq!(rows.len(), packets.len());
    let mut compared = [0; FIELDS.len() + 1];
    for (index, (packet, row)) in packets.iter().zip(&rows).enumerate() {
        let info = decode(LinkType(127), packet).expect("a header");
        let Mode::Eht(eht) = info.mode else { panic!("frame {}: {:?}", index + 1, info.mode) };
        for (at, ((name, ours), cell)) in FIELDS.iter().zip(row).enumerate() {
            if let Some(ours) = ours(&eht) {
                let theirs = number(cell).map(|code| if at == 0 && code == 5 { 4 } else { code });
                assert_eq!(theirs, Some(ours), "frame {}: {name} is {cell:?}", index + 1);
                compared[at] += 1;
            }
        }
        let [size, punctured] = [row[FIELDS.len()], row[FIELDS.len() + 1]].map(number);
        let left = punctured.zip(eht.bandwidth).filter(|_| eht.sig_symbols.is_some()).and_then(|(code, width)| {
            let is_whole = matches!(eht.format, Some(EhtFormat::SingleUser | EhtFormat::MuMimo));
            is_whole.then(|| left_mhz(code, width)).flatten()
        });
        let expected = size.map(|code| SIZES[code as usize]).or(left);
        assert_eq!(eht.ru_tones, expected, "frame {}: size {size:?}, punctured {punctured:?}", index + 1);
        compared[FIELDS.len()] += usize::from(expected.is_some());
    }
    println!("{compared:?} values compared");
    assert!(compared.iter().all(|count| *count > 100), "only {compared:?} values compared");
}

/// Tones of what is left of the width.
fn left_mhz(code: u32, width: Bandwidth) -> Option<u16> {
    let away = match (width, code) {
        (Bandwidth::Mhz80, 1..=4) | (Bandwidth::Mhz160, 1..=8) => 20,
        (Bandwidth::Mhz160, 9..=12) | (Bandwidth::Mhz320, 1..=8) => 40,
        (Bandwidth::Mhz320, 9..=12) => 80,
        (Bandwidth::Mhz320, 13..=24) => 120,
        _ => return None,
    };
    Some(match width.mhz() - away {
        60 => 726,
        120 => 1480,
        140 => 1722,
        200 => 2476,
        240 => 2988,
        _ => 3472,
    })
}
