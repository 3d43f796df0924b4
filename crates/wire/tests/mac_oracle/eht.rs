//! Basic Multi-Link and EHT Operation elements made at random, beside tshark's view of them. It reads all of them from 4.4 on.

use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use txop_wire::ieee80211::{EhtOperation, MultiLink};

use crate::captures;
use crate::tshark;

const FIELDS: [&str; 7] = [
    "wlan.eht.multi_link.common_info.mld_mac_address",
    "wlan.eht.multi_link.common_info.link_id_subfield.link_id",
    "wlan.eht.multi_link.common_info.mld_capabilities.max_simultaneous_links",
    "wlan.eht.multi_link.sta_profile.sta_control.link_id",
    "wlan.eht.multi_link.sta_profile.sta_info.sta_mac_addr",
    "wlan.eht.eht_operation_information.control.channel_width",
    "wlan.eht.eht_operation_information.disabled_subchannel_bitmap",
];

/// The data of a Basic Multi-Link element, with profiles of these link IDs.
fn any_multi_link() -> impl Strategy<Value = Vec<u8>> {
    let profile = (0..15u8, any::<bool>(), any::<[u8; 6]>());
    (0..32u16, any::<[u8; 15]>(), proptest::collection::vec(profile, 0..4)).prop_map(|(present, bytes, profiles)| {
        let mut common = vec![2];
        common.extend(&bytes[1..6]);
        for (bit, len) in [1, 1, 2, 2, 2].into_iter().enumerate() {
            if present >> bit & 1 != 0 {
                common.extend(&bytes[6..6 + len]);
            }
        }
        let mut data = (present << 4).to_le_bytes().to_vec();
        data.push(common.len() as u8 + 1);
        data.extend(common);
        for (at, (id, has_address, address)) in profiles.into_iter().enumerate() {
            let id = u16::from(id) % 5 + at as u16 * 5;
            let mut body = (id | 0x10 | u16::from(has_address) << 5).to_le_bytes().to_vec();
            body.push(1 + if has_address { 6 } else { 0 });
            body.extend(
                has_address.then_some([2].into_iter().chain(address.into_iter().skip(1))).into_iter().flatten(),
            );
            body.extend([0x01, 0x00]); // the profile's capability information
            data.extend([0, body.len() as u8]);
            data.extend(body);
        }
        data
    })
}

fn any_operation() -> impl Strategy<Value = Vec<u8>> {
    (any::<bool>(), any::<[u8; 9]>()).prop_map(|(has_disabled, bytes)| {
        let mut data = vec![1 | u8::from(has_disabled) << 1];
        data.extend(&bytes[..4]);
        data.extend([bytes[4] % 5, bytes[5], bytes[6]]);
        data.extend(has_disabled.then_some(&bytes[7..9]).into_iter().flatten());
        data
    })
}

fn element(extension: u8, data: &[u8]) -> Vec<u8> {
    [&[255, data.len() as u8 + 1, extension], data].concat()
}

fn expected(multi_link: &[u8], operation: &[u8]) -> Vec<String> {
    let link = MultiLink::read(multi_link).expect("a Basic Multi-Link element");
    let operation = EhtOperation::read(operation).expect("an EHT Operation element");
    let number = |value: Option<u8>| value.map_or_else(String::new, |value| value.to_string());
    let list = |values: Vec<String>| values.join(",");
    vec![
        link.mld.to_string(),
        number(link.link_id),
        number(link.max_simultaneous_links.map(|links| links - 1)),
        list(link.profiles.iter().map(|id| id.to_string()).collect()),
        list(link.addresses.iter().map(|(_, address)| address.to_string()).collect()),
        operation.width_mhz().map_or_else(String::new, |mhz| (mhz / 20).ilog2().to_string()),
        operation.disabled.map_or_else(String::new, |bits| bits.to_string()),
    ]
}

/// As sets: we keep links by their IDs, tshark shows them in the order sent; each once.
fn normal(field: usize, cell: &str) -> String {
    let parts = cell.split(',').filter(|part| !part.is_empty());
    let is_text = matches!(field, 0 | 4);
    let mut parts: Vec<String> = parts
        .map(|part| match part.strip_prefix("0x").filter(|_| !is_text) {
            Some(hex) => u32::from_str_radix(hex, 16).expect("hexadecimal").to_string(),
            None => part.to_owned(),
        })
        .collect();
    parts.sort();
    parts.dedup();
    parts.join(",")
}

#[test]
fn multi_link_elements_are_what_tshark_reads() {
    if !tshark::is_installed() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut sample = || {
        let links = any_multi_link().new_tree(&mut runner).expect("a value").current();
        (links, any_operation().new_tree(&mut runner).expect("a value").current())
    };
    let made: Vec<(Vec<u8>, Vec<u8>)> = (0..1_000).map(|_| sample()).collect();
    let header = [0x80, 0, 0, 0, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0];
    let packets: Vec<Vec<u8>> = made
        .iter()
        .map(|(links, operation)| {
            let fixed = [[0; 8].as_slice(), &[100, 0, 1, 0], &[0, 3, b'm', b'l', b'o']].concat();
            [header.as_slice(), &fixed, &element(106, operation), &element(107, links)].concat()
        })
        .collect();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("multi_link.pcap");
    std::fs::write(&path, captures::pcap_file(105, &packets)).expect("the build folder is writable");
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]);
    command.args(["-o", "wlan.check_fcs:FALSE"]);
    for name in FIELDS {
        command.args(["-e", name]);
    }
    let output = command.output().expect("tshark runs");
    if String::from_utf8_lossy(&output.stderr).contains("wlan.eht") {
        eprintln!("SKIPPED: this tshark does not read all of these elements");
        return;
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), packets.len());
    let mut compared = [0; FIELDS.len()];
    for (index, ((links, operation), row)) in made.iter().zip(rows).enumerate() {
        for (field, (ours, cell)) in expected(links, operation).iter().zip(row.split('|')).enumerate() {
            assert_eq!(normal(field, ours), normal(field, cell), "frame {}: {}", index + 1, FIELDS[field]);
            compared[field] += usize::from(!ours.is_empty());
        }
    }
    println!("{compared:?} values compared");
    assert!(compared.iter().all(|count| *count > 300), "only {compared:?} values compared");
}
