//! A-MPDUs: the radiotap reference groups MPDUs, and tshark reads the references.

use std::collections::BTreeMap;
use std::path::Path;

use super::captures;
use super::outcome::Outcome;
use super::tshark;

/// Simulated captures with complete A-MPDUs.
pub const CAPTURES: [&str; 6] = [
    "SIM_ns3_ht_ampdu.pcap",
    "SIM_ns3_ht_ampdu_full_snap120.pcap",
    "SIM_ns3_vht_ampdu.pcap",
    "SIM_ns3_vht_ampdu_full_snap120.pcap",
    "SIM_ns3_he_ampdu.pcap",
    "SIM_ns3_he_ampdu_full_snap120.pcap",
];

/// Compares one capture: PPDUs, MPDUs and the distribution of MPDUs per PPDU by (TA, RA, TID).
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let rows = tshark::rows(path);
    type Key = (String, String, Option<i64>);
    let mut groups: BTreeMap<Key, BTreeMap<String, u64>> = BTreeMap::new();
    for row in &rows {
        let Some(kind) = row.kind() else { continue };
        let ra = row.get("wlan.ra");
        let is_group = u8::from_str_radix(&ra[..2], 16).is_ok_and(|first| first & 1 == 1);
        if kind >> 4 != 2 || kind & 4 != 0 || is_group {
            continue;
        }
        let reference = row.get("radiotap.ampdu.reference");
        let group =
            if reference.is_empty() { format!("frame {}", row.get("frame.number")) } else { reference.to_owned() };
        let key = (row.ta().unwrap_or_default(), ra.to_owned(), row.number("wlan.qos.tid"));
        *groups.entry(key).or_default().entry(group).or_default() += 1;
    }
    let theirs: BTreeMap<Key, BTreeMap<u64, u64>> =
        groups.into_iter().map(|(key, g)| (key, histogram(g.into_values()))).collect();
    let report = captures::report(path).expect("a report");
    let ours: BTreeMap<Key, BTreeMap<u64, u64>> = report
        .aggregation
        .iter()
        .filter(|row| row.mpdus > 0 && row.ra != "ff:ff:ff:ff:ff:ff")
        .map(|row| {
            let bars = row.histogram.iter().filter(|bar| bar.count > 0);
            (
                (row.ta.clone(), row.ra.clone(), row.tid.map(i64::from)),
                bars.map(|bar| (bar.low as u64, bar.count)).collect(),
            )
        })
        .collect();
    outcome.tables("MPDUs per PPDU", &name, &theirs, &ours);
    let largest = theirs.values().filter_map(|h| h.keys().next_back()).max().copied();
    let reported = report.aggregation.iter().filter_map(|row| Some(row.mpdus_per_ppdu?.max as u64)).max();
    outcome.same("largest A-MPDU", &name, largest, reported);
    println!("{name}: largest A-MPDU {largest:?}");
    assert_eq!(report.timing.grouping, "ampdu-reference", "{name}");
}

fn histogram(sizes: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut histogram = BTreeMap::new();
    for size in sizes {
        *histogram.entry(size).or_default() += 1;
    }
    histogram
}
