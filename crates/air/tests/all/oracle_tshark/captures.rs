//! The real captures, and what the analyzer makes of each of their frames.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use txop_air::decode::{Batch, Decoder, RawRecord};
use txop_air::frame::{Detail, Frame};
use txop_air::report::Report;

/// Captures small enough for the fast tests, and between them every kind of link header and traffic.
pub const FAST: [&str; 8] = [
    "SIM_ns3_ht_ampdu_full_snap120.pcap",
    "aircrack_test_wpa.cap",
    "bh17_mediatek_mediatek-downgrade.pcapng",
    "fragattacks_example-pcaps_amsdu-inject-fromap.pcapng",
    "krack_krackattack_example-captures_example-ft.pcapng",
    "libpcap_filter_http_PPI.pcap",
    "tcpdump_ieee802.11_htc.pcap",
    "wireshark_wpa-Induction.pcap.gz",
];

/// Simulated captures end their frames with four bytes that are no FCS, although they say so.
pub fn fcs_is_invented(name: &str) -> bool {
    name.starts_with("SIM_ns3_")
}

/// Every capture, by name.
pub fn all() -> Vec<PathBuf> {
    corpus::files("wlan")
}

/// The captures with these names; says which are missing.
pub fn named(names: &[&str]) -> Vec<PathBuf> {
    names.iter().filter_map(|name| corpus::find(&format!("wlan/{name}"))).collect()
}

/// The name of a capture.
pub fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The report of a capture; `None` when it is rejected.
pub fn report(path: &Path) -> Option<Report> {
    txop_air::analyze(path, Default::default(), Default::default(), &mut ()).ok()
}

/// The frames that can be read, by record number.
pub fn frames(path: &Path) -> HashMap<u64, Frame> {
    let mut frames = HashMap::new();
    walk(path, &mut |frame, _| {
        frames.insert(frame.number, *frame);
    });
    frames
}

/// The SSID of each frame that names one, by record number.
pub fn ssids(path: &Path) -> HashMap<u64, Vec<u8>> {
    let mut ssids = HashMap::new();
    walk(path, &mut |frame, detail| {
        if let Some(Detail::Management(management)) = detail {
            if let Some(ssid) = &management.capabilities.ssid {
                ssids.insert(frame.number, ssid.as_bytes().to_vec());
            }
        }
    });
    ssids
}

fn walk(path: &Path, visit: &mut dyn FnMut(&Frame, Option<&Detail>)) {
    let Ok(mut reader) = capture::Reader::open(path, Default::default()) else { return };
    let mut batch = Batch::default();
    while let Ok(Some(record)) = reader.next() {
        let raw = RawRecord {
            number: record.number,
            offset: record.offset,
            time_ns: record.time_ns,
            interface: record.interface,
            link: record.link_type,
            original_len: record.original_len,
            data: record.data,
        };
        // A decoder that knows no earlier beacon hands over what every single one says.
        Decoder::default().decode(&raw, &mut batch);
        for frame in &batch.frames {
            visit(frame, batch.details.get(frame.detail as usize));
        }
        batch.clear();
    }
}
