//! Wireshark's WLAN Traffic window, counted a second time from tshark's fields, as simply as possible: lists that are
//! walked from the front, the way the window looks for the row of a frame.

use std::collections::BTreeMap;
use std::path::Path;

use super::captures;
use super::outcome::Outcome;
use super::tshark::{self, Row};

const PROBE_REQUEST: i64 = 4;
const PROBE_RESPONSE: i64 = 5;
const BEACON: i64 = 8;
const BROADCAST: &str = "ff:ff:ff:ff:ff:ff";

/// A station row: packets, retries, data sent, data received.
type Counts = [u64; 4];

#[derive(Default)]
struct Network {
    bssid: String,
    ssid: Vec<u8>,
    /// packets, retries, beacons, data, probes
    counts: [u64; 5],
    stations: Vec<(String, Counts)>,
}

/// One frame of the tap.
struct Tapped {
    bssid: String,
    ssid: Vec<u8>,
    kind: i64,
    retry: bool,
    source: String,
    destination: String,
}

impl Tapped {
    fn new(row: &Row) -> Option<Self> {
        let kind = row.kind().filter(|_| !row.is_foreign())?;
        let counted = match kind >> 4 {
            0 | 3 => true,
            2 => kind & 4 == 0,
            _ => false,
        };
        let address = |field| row.get(field).to_owned();
        counted.then(|| Self {
            bssid: if row.get("wlan.bssid").is_empty() {
                "00:00:00:00:00:00".to_owned()
            } else {
                address("wlan.bssid")
            },
            ssid: Some(bytes(row.get("wlan.ssid"))).filter(|ssid| ssid.len() <= 32).unwrap_or_default(),
            kind,
            retry: row.flag("wlan.fc.retry"),
            source: address("wlan.sa"),
            destination: address("wlan.da"),
        })
    }

    fn names_ssid(&self) -> bool {
        self.ssid.first().is_some_and(|byte| *byte != 0)
    }
}

/// tshark prints the SSID in hexadecimal; an element longer than an SSID can be is not an SSID.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

impl Network {
    /// Takes the frame? A row that knows less than the frame learns from it.
    fn takes(&mut self, frame: &Tapped) -> bool {
        let here = self.bssid == frame.bssid;
        let named_alike = frame.names_ssid() && self.ssid == frame.ssid;
        let learns_bssid = named_alike && self.bssid == BROADCAST && frame.bssid != BROADCAST;
        if here && named_alike {
            return true;
        }
        if learns_bssid {
            self.bssid = frame.bssid.clone();
            return true;
        }
        if frame.kind == PROBE_REQUEST {
            if named_alike {
                return false;
            }
            if frame.ssid == [0] {
                let directed = here && self.bssid != BROADCAST;
                if directed {
                    self.ssid = frame.ssid.clone();
                }
                return directed;
            }
            return frame.ssid.is_empty() && self.ssid.is_empty() && here && self.bssid == BROADCAST;
        }
        if !here {
            return false;
        }
        if self.ssid.first().is_none_or(|byte| *byte == 0) && frame.names_ssid() {
            self.ssid = frame.ssid.clone();
            return true;
        }
        frame.ssid.is_empty()
    }

    fn count(&mut self, frame: &Tapped) {
        let data = frame.kind >> 4 == 2;
        let beacon = frame.kind == BEACON;
        let probe = matches!(frame.kind, PROBE_REQUEST | PROBE_RESPONSE);
        for (count, one) in self.counts.iter_mut().zip([true, frame.retry, beacon, data, probe]) {
            *count += u64::from(one);
        }
        // Both rows are found (or made) before either counts.
        let (sender, receiver) = (self.station(&frame.source), self.station(&frame.destination));
        for row in [sender, receiver].into_iter().flatten() {
            let (address, counts) = &mut self.stations[row];
            let sends = *address == frame.source;
            for (count, one) in counts.iter_mut().zip([!beacon, frame.retry, data && sends, data && !sends]) {
                *count += u64::from(one);
            }
        }
    }

    fn station(&mut self, address: &str) -> Option<usize> {
        if address.is_empty() {
            return None;
        }
        let found = self.stations.iter().position(|(other, _)| other == address);
        Some(found.unwrap_or_else(|| {
            self.stations.push((address.to_owned(), [0; 4]));
            self.stations.len() - 1
        }))
    }
}

/// The window of a capture.
fn window(frames: impl Iterator<Item = Tapped>) -> Vec<Network> {
    let mut networks: Vec<Network> = Vec::new();
    for frame in frames {
        let found = networks.iter_mut().position(|network| network.takes(&frame));
        let row = found.unwrap_or_else(|| {
            let (bssid, ssid) = (frame.bssid.clone(), frame.ssid.clone());
            networks.push(Network { bssid, ssid, ..Network::default() });
            networks.len() - 1
        });
        networks[row].count(&frame);
    }
    networks
}

type NetworkRows = BTreeMap<(String, Option<String>, usize), ([u64; 5], BTreeMap<String, Counts>)>;

/// Rows with the same BSSID and SSID are distinguished by their order.
fn numbered(rows: impl Iterator<Item = (String, Option<String>, [u64; 5], BTreeMap<String, Counts>)>) -> NetworkRows {
    let mut sorted: Vec<_> = rows.collect();
    sorted.sort();
    let mut numbered = NetworkRows::new();
    for (bssid, ssid, counts, members) in sorted {
        let mut nth = 0;
        while numbered.contains_key(&(bssid.clone(), ssid.clone(), nth)) {
            nth += 1;
        }
        numbered.insert((bssid, ssid, nth), (counts, members));
    }
    numbered
}

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let Some(report) = captures::report(path) else { return };
    let readable = captures::frames(path);
    let rows: Vec<Row> = tshark::rows(path)
        .into_iter()
        .filter(|row| row.number("frame.number").is_some_and(|n| readable.contains_key(&(n as u64))))
        .collect();
    let ssids = captures::ssids(path);
    let mut tapped = Vec::new();
    for row in &rows {
        let number = row.number("frame.number").unwrap_or_default() as u64;
        let (Some(mut frame), Some(ours)) = (Tapped::new(row), readable.get(&number)) else { continue };
        let text = |address: Option<wire::ieee80211::MacAddr>| address.map_or(String::new(), |a| a.to_string());
        let (source, destination) = (text(ours.header.source()), text(ours.header.destination()));
        let has_own_rule = row.flag("wlan.qos.amsdupresent") || frame.kind >> 4 == 3;
        if has_own_rule && (&frame.source, &frame.destination) != (&source, &destination) {
            outcome.explain("A-MSDU or extension frame: addresses that the MAC header does not have");
            (frame.source, frame.destination) = (source, destination);
        }
        // Undamaged frames have one SSID element of a length that an SSID can have: there nothing is excused.
        let ssid = ssids.get(&number).cloned().unwrap_or_default();
        if row.get("wlan.fcs.status") != "1" && frame.ssid != ssid {
            outcome.explain("damaged or unchecked frame: another of its SSID elements counts");
            frame.ssid = ssid;
        }
        if frame.kind != PROBE_REQUEST && !frame.ssid.is_empty() && frame.ssid.iter().all(|byte| *byte == 0) {
            outcome.explain("hidden network: an SSID of zeros is not a name, the window makes rows of it");
            frame.ssid.clear();
        }
        tapped.push(frame);
    }
    let theirs = numbered(window(tapped.into_iter()).into_iter().map(|network| {
        let ssid = (!network.ssid.is_empty()).then(|| wire::ieee80211::display_ssid(&network.ssid));
        (network.bssid, ssid, network.counts, network.stations.into_iter().collect())
    }));
    let ours = numbered(report.bss.iter().map(|bss| {
        let members = bss.members.iter().map(|member| {
            let c = member.counts;
            (member.address.clone(), [c.packets, c.retries, c.sent, c.received])
        });
        let counts = [bss.packets, bss.retries, bss.beacons, bss.data_packets, bss.probes];
        (bss.bssid.clone(), bss.ssid.clone(), counts, members.collect())
    }));
    outcome.same("network rows", &name, theirs.len(), ours.len());
    for (key, (counts, members)) in &theirs {
        let at = format!("{name} {key:?}");
        match ours.get(key) {
            Some((our_counts, our_members)) => {
                outcome.same("network row", &at, counts, our_counts);
                outcome.tables("station row", &at, members, our_members);
            }
            None => outcome.differ(format!("{at}: no such row here, tshark {counts:?}")),
        }
    }
    for key in ours.keys().filter(|key| !theirs.contains_key(key)) {
        outcome.differ(format!("{name} {key:?}: only here: {:?}", ours[key].0));
    }
}
