//! VHT symbol counts against what real hardware reported of the frames it received.
//!
//! VHT-SIG-A says two things about the number of data symbols, and the receivers of these captures passed both on in
//! radiotap: whether LDPC needed its extra symbol, and (short guard interval) whether the number ends in 9. tshark
//! reads the fields; txop computes both from the length alone.

use std::collections::BTreeMap;
use std::process::Command;

use txop_wire::phy::{ampdu_psdu_len, Bandwidth, Mode, Vht};

const CAPTURES: [&str; 5] = ["weather1", "weather3", "phoneidle1", "phoneidle2", "phoneidle3"];
const FIELDS: [&str; 10] = [
    "radiotap.mactime",
    "frame.len",
    "radiotap.length",
    "radiotap.vht.mcs.0",
    "radiotap.vht.nss.0",
    "radiotap.vht.bw",
    "radiotap.vht.gi",
    "radiotap.vht.stbc",
    "radiotap.vht.ldpc_extra",
    "radiotap.vht.sgi_nsym_da",
];

/// One frame as tshark printed it, in the order of [`FIELDS`].
struct Frame {
    tsft_us: u64,
    mpdu_len: usize,
    vht: Vht,
    extra_symbol: bool,
    count_ends_in_9: bool,
}

fn parse(line: &str) -> Option<Frame> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [tsft, len, header, mcs, nss, bw, gi, stbc, extra, nsym] = columns[..] else { return None };
    let flag = |text: &str| text == "1" || text == "True";
    let bandwidth = match bw {
        "0" => Bandwidth::Mhz20,
        "1" => Bandwidth::Mhz40,
        "4" => Bandwidth::Mhz80,
        "11" => Bandwidth::Mhz160,
        _ => return None,
    };
    let vht = Vht {
        mcs: mcs.parse().ok()?,
        nss: nss.parse().ok()?,
        bandwidth,
        short_gi: Some(flag(gi)),
        stbc: Some(flag(stbc)),
        // All frames of these captures are LDPC-coded.
        ldpc: Some(true),
        ldpc_extra_symbol: None,
    };
    Some(Frame {
        tsft_us: tsft.parse().ok()?,
        mpdu_len: len.parse::<usize>().ok()?.checked_sub(header.parse().ok()?)?,
        vht,
        extra_symbol: flag(extra),
        count_ends_in_9: flag(nsym),
    })
}

/// Data symbols: their time at the long guard interval, where each has 4 us.
fn symbols(vht: Vht, psdu_len: usize) -> Option<u64> {
    Some(Mode::Vht(Vht { short_gi: Some(false), ..vht }).data_ns(psdu_len)? / 4_000)
}

#[test]
fn extra_symbol_and_symbol_count_as_hardware_reported_them() {
    let (mut agree, mut disagree, mut counted) = (0, 0, 0);
    for name in CAPTURES {
        let Some(path) = corpus::find(&format!("wlan/networks744_pcap_{name}.pcap")) else { return };
        let mut tshark = Command::new("tshark");
        tshark.arg("-n").arg("-r").arg(&path).args(["-Y", "radiotap.vht.mcs.0 && radiotap.vht.coding.0 == 1"]);
        // The last occurrence: "known" and "value" share names.
        tshark.args(["-T", "fields", "-E", "occurrence=l"]).args(FIELDS.iter().flat_map(|field| ["-e", field]));
        let Ok(output) = tshark.output() else {
            eprintln!("SKIPPED: no tshark");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // PPDUs: the frames of an A-MPDU share one time stamp here.
        let mut ppdus: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
        for frame in String::from_utf8_lossy(&output.stdout).lines().filter_map(parse) {
            ppdus.entry(frame.tsft_us).or_default().push(frame);
        }
        for frames in ppdus.values() {
            let first = &frames[0];
            let psdu_len = ampdu_psdu_len(frames.iter().map(|frame| frame.mpdu_len));
            let reported = Vht { ldpc_extra_symbol: Some(first.extra_symbol), ..first.vht };
            let (Some(computed), Some(reported)) = (symbols(first.vht, psdu_len), symbols(reported, psdu_len)) else {
                panic!("no duration for {:?}", first.vht);
            };
            if computed == reported {
                agree += 1;
            } else {
                disagree += 1;
            }
            if first.vht.short_gi == Some(true) {
                counted += 1;
                assert_eq!(reported % 10 == 9, first.count_ends_in_9, "{name} {}", first.tsft_us);
            }
        }
    }
    println!("LDPC extra symbol: {agree} PPDUs as reported, {disagree} not; symbol count: {counted} of {counted}");
    assert!(agree > 900 && counted > 500, "captures changed");
    // A PPDU of which the receiver lost a subframe was longer than we think.
    assert!(disagree * 100 < agree, "{disagree} of {}", agree + disagree);
}
