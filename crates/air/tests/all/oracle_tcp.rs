//! TCP segments that were sent again, against tshark's TCP analysis on real captures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use capture::Reader;
use decrypt::Keys;
use txop_air::{analyze_reader, Options};

/// Captures of open networks with TCP, and one of a network whose passphrase is public.
const CAPTURES: [(&str, Option<&str>); 9] = [
    ("arkime_pcap_80211http.pcap", None),
    ("networks744_pcap_active1.pcap", None),
    ("networks744_pcap_active2.pcap", None),
    ("networks744_pcap_active3.pcap", None),
    ("networks744_pcap_idleon1.pcap", None),
    ("networks744_pcap_testing_active4.pcap", None),
    ("networks744_pcap_testing_mix1.pcap", None),
    ("trac_1076_airodump_beacon.cap", None),
    ("wireshark_wpa-Induction.pcap.gz", Some("Coherer Induction")),
];

fn ours(path: &Path, key: Option<&str>) -> BTreeSet<u64> {
    let keys = key.map(|key| Arc::new(Keys::parse(format!("psk {key}").as_bytes()).unwrap()));
    let options = Options { packets: true, keys, ..Options::default() };
    let reader = Reader::open(path, capture::Options::default()).unwrap();
    let traffic = analyze_reader(reader, "real".to_owned(), options, &mut ()).unwrap().traffic.unwrap();
    let again = traffic.flows.iter().filter_map(|flow| flow.tcp_sent_again).sum::<u64>();
    assert_eq!(again, traffic.tcp_sent_again.len() as u64);
    traffic.tcp_sent_again.iter().map(|again| again.record).collect()
}

/// Frames that tshark calls retransmissions of any kind or out of order. Without 802.11 retries, which it takes for TCP's
/// unless told otherwise.
fn theirs(path: &Path, key: Option<&str>) -> BTreeSet<u64> {
    let kinds = ["retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order"];
    let filter: Vec<String> = kinds.iter().map(|kind| format!("tcp.analysis.{kind}")).collect();
    let mut command = Command::new("tshark");
    command.args(["-o", "wlan.retransmitted:FALSE", "-o", "wlan.check_checksum:TRUE"]);
    if let Some((ssid, passphrase)) = key.and_then(|key| key.split_once(' ')) {
        command.args(["-o", "wlan.enable_decryption:TRUE"]);
        command.args(["-o", &format!("uat:80211_keys:\"wpa-pwd\",\"{passphrase}:{ssid}\"")]);
    }
    let output = command
        .args(["-r", path.to_str().unwrap(), "-T", "fields", "-e", "frame.number", "-Y"])
        .arg(filter.join(" || "))
        .output()
        .expect("tshark runs");
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().parse().expect("a number")).collect()
}

/// The capture without damaged frames, which tshark's analysis takes for sent as they are.
fn undamaged(path: &Path) -> PathBuf {
    let name = path.file_stem().unwrap().to_string_lossy();
    let filtered = std::env::temp_dir().join(format!("txop-{}-{name}.pcapng", std::process::id()));
    let done = Command::new("tshark")
        .args(["-o", "wlan.check_checksum:TRUE", "-Y", "!(wlan.fcs.status == 0)", "-r"])
        .args([path, Path::new("-w"), &filtered])
        .output()
        .expect("tshark runs");
    assert!(done.status.success());
    filtered
}

#[test]
#[ignore = "slow: tshark twice over each capture"]
fn tshark_calls_the_same_segments_repeated() {
    let Some(folder) = corpus::find("wlan") else { return };
    for (name, key) in CAPTURES {
        let path = folder.join(name);
        if !path.is_file() {
            eprintln!("SKIPPED: no {}", path.display());
            continue;
        }
        let path = undamaged(&path);
        let (ours, theirs) = (ours(&path, key), theirs(&path, key));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(ours, theirs, "{name}");
    }
}
