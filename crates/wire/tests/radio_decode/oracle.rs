//! Every frame of every real capture, field by field, against tshark.

use std::collections::BTreeMap;
use std::path::Path;

use txop_wire::linktype::LinkType;
use txop_wire::radio::{decode, RadioError};

use crate::{captures, tshark};

/// Headers that we reject and tshark reads on through, with the reason.
const REJECTED: [(&str, &str); 4] = [
    // Seventeen bytes that start with neither message code nor magic.
    ("aircrack_test_wpaclean_crash.pcap", "neither a Prism nor an AVS header"),
    // Fuzzed: the first byte, the version, is 0x30. The layout of any version but 0 is undefined.
    ("tcpdump_ieee802.11_meshhdr-oobr.pcap", "radiotap version is not 0"),
    ("tcpdump_ieee802.11_rates_oobr.pcap", "radiotap version is not 0"),
    ("tcpdump_radiotap-heapoverflow.pcap", "radiotap version is not 0"),
];

/// What came out of comparing some captures.
#[derive(Default)]
struct Outcome {
    /// Frames by link type.
    frames: BTreeMap<u32, usize>,
    /// Values that both sides stated.
    compared: usize,
    /// How often each kind of difference occurred.
    differences: BTreeMap<String, usize>,
}

impl Outcome {
    fn differ(&mut self, what: String) {
        *self.differences.entry(what).or_default() += 1;
    }

    fn compare(&mut self, path: &Path) {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let has_header = |link: u32| matches!(link, 119 | 127 | 163 | 192);
        let Some(records) = captures::records(path) else { return };
        if !records.iter().any(|&(link, _)| has_header(link)) {
            return;
        }
        let table = tshark::table(path);
        if table.len() != records.len() {
            self.differ(format!("{name}: {} frames, tshark {}", records.len(), table.len()));
        }
        for (index, (link, record)) in records.iter().enumerate().take(table.len()) {
            if !has_header(*link) {
                continue;
            }
            *self.frames.entry(*link).or_default() += 1;
            match decode(LinkType(*link), record) {
                Ok(info) => {
                    assert!(info.header_len <= record.len(), "{name} frame {}", index + 1);
                    for d in table.differences(index, *link, &info, &mut self.compared) {
                        self.differ(format!("{name}: {} tshark {} ours {}", d.field, d.tshark, d.ours));
                    }
                }
                Err(RadioError::Malformed(why)) if REJECTED.contains(&(name.as_str(), why)) => {}
                Err(error) => self.differ(format!("{name} frame {}: rejected: {error}", index + 1)),
            }
        }
    }

    fn add(mut self, other: Self) -> Self {
        for (link, count) in other.frames {
            *self.frames.entry(link).or_default() += count;
        }
        for (what, count) in other.differences {
            *self.differences.entry(what).or_default() += count;
        }
        Self { compared: self.compared + other.compared, ..self }
    }
}

#[test]
fn every_link_header_of_the_real_captures_agrees_with_tshark() {
    let files = corpus::some(corpus::files("wlan"));
    if files.is_empty() || !tshark::is_installed() {
        return;
    }
    let outcome = captures::compare_all(files, Outcome::compare, Outcome::add);
    println!("frames by link type {:?}, {} values compared", outcome.frames, outcome.compared);
    for (what, count) in &outcome.differences {
        println!("{count:6} x {what}");
    }
    assert!(outcome.differences.is_empty(), "{} kinds of difference", outcome.differences.len());
    assert!(outcome.compared > 0, "no capture with a link header was found");
}
