//! Authentication, association, key exchange, deauthentication and channel switches, by kind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::captures;
use super::outcome::Outcome;

/// Captures with every kind of event but channel switches, which no capture here has.
pub const CAPTURES: [&str; 8] = [
    "aircrack_test_wpa.cap",
    "aircrack_test_zn2i.pcap",
    "bh17_openbsd_example-mitm-attack.pcapng",
    "fragattacks_example-pcaps_eapol-amsdu_BP-onclient.pcapng",
    "krack_krackattack_example-captures_example-ft.pcapng",
    "trac_1635_crash.pcap",
    "wifite_files_handshake_has_1234.cap",
    "wireshark_wpa-Induction.pcap.gz",
];

/// Bytes of the longest MPDU, with room for the headers of a receiver.
const LONGEST: u64 = 20_000;

const FIELDS: [&str; 16] = [
    "wlan.fc.type_subtype",
    "wlan.fc.version",
    "wlan.fcs.status",
    "radiotap.flags.badfcs",
    "_ws.malformed",
    "wlan.tag.number",
    "wlan.fixed.category_code",
    "wlan.fixed.action_code",
    "eapol.type",
    "eap.code",
    "wlan_rsna_eapol.keydes.msgnr",
    "wlan_rsna_eapol.keydes.key_info.key_type",
    "wlan_rsna_eapol.keydes.key_info.key_ack",
    "wlan_rsna_eapol.keydes.key_info.request",
    "frame.cap_len",
    "frame.len",
];

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let Some(report) = captures::report(path) else { return };
    if captures::fcs_is_invented(&name) {
        outcome.explain("invented FCS: tshark takes every frame for damaged");
        return;
    }
    let mut theirs: BTreeMap<String, Frames> = BTreeMap::new();
    for (kind, is_malformed) in tshark_kinds(path, outcome) {
        let frames = theirs.entry(kind).or_default();
        frames.whole += u64::from(!is_malformed);
        frames.malformed += u64::from(is_malformed);
    }
    let mut ours: BTreeMap<String, u64> =
        report.events.frames.iter().map(|row| (row.kind.clone(), row.frames)).collect();
    for (kind, frames) in &theirs {
        let counted = ours.get(kind).copied().unwrap_or_default();
        let malformed = counted.saturating_sub(frames.whole).min(frames.malformed);
        if let Some(counted) = ours.get_mut(kind) {
            *counted -= malformed;
        }
        for _ in 0..malformed {
            outcome.explain("malformed for tshark behind what makes it the event: counted here");
        }
        for _ in malformed..frames.malformed {
            outcome.explain("malformed for tshark: shorter than its header or fields here");
        }
    }
    ours.retain(|_, frames| *frames > 0);
    let theirs =
        theirs.into_iter().map(|(kind, frames)| (kind, frames.whole)).filter(|(_, whole)| *whole > 0).collect();
    outcome.tables("events", &name, &theirs, &ours);
}

/// Frames of one kind: a malformed one is an event where its fixed fields and its key information can be read, which are all
/// that it takes.
#[derive(Default)]
struct Frames {
    whole: u64,
    malformed: u64,
}

/// The kind of event of every undamaged frame that is one, and whether tshark calls the frame malformed.
fn tshark_kinds(path: &Path, outcome: &mut Outcome) -> Vec<(String, bool)> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "wlan.check_checksum:TRUE", "-o", "wlan.enable_decryption:FALSE", "-T", "fields"]);
    command.args(["-E", "occurrence=a", "-E", "separator=/t", "-r"]).arg(path);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let mut kinds = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let values: Vec<&str> = line.split('\t').collect();
        let all = |field: &str| {
            let column = FIELDS.iter().position(|name| *name == field).expect("a field that was asked for");
            values.get(column).copied().unwrap_or_default()
        };
        let first = |field: &str| all(field).split(',').next().unwrap_or_default();
        let flag = |field: &str| matches!(first(field), "1" | "True");
        if first("wlan.fcs.status") == "0"
            || flag("radiotap.flags.badfcs")
            || !matches!(first("wlan.fc.version"), "" | "0")
        {
            continue;
        }
        let Some(kind) = kind(&all, &first, &flag) else { continue };
        if first("frame.len").parse().is_ok_and(|bytes: u64| bytes > LONGEST) {
            outcome.explain("longer than any frame of any format: unreadable here");
            continue;
        }
        kinds.push((kind, !all("_ws.malformed").is_empty()));
    }
    kinds
}

fn kind<'a>(
    all: &dyn Fn(&str) -> &'a str,
    first: &dyn Fn(&str) -> &'a str,
    flag: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let subtype = i64::from_str_radix(first("wlan.fc.type_subtype").strip_prefix("0x")?, 16).ok()?;
    let name = match subtype {
        0 => "association-request",
        1 => "association-response",
        2 => "reassociation-request",
        3 => "reassociation-response",
        10 => "disassociation",
        11 => "authentication",
        12 => "deauthentication",
        5 | 8 => all("wlan.tag.number").split(',').find(|tag| matches!(*tag, "37" | "60")).map(|_| "channel-switch")?,
        13 | 14 => match (first("wlan.fixed.category_code"), first("wlan.fixed.action_code")) {
            ("0" | "4", "4") => "channel-switch",
            _ => return None,
        },
        _ => match (first("eapol.type"), first("eap.code"), first("wlan_rsna_eapol.keydes.msgnr")) {
            ("", ..) => return None,
            ("0", "3", _) => "eap-success",
            ("0", "4", _) => "eap-failure",
            ("0", ..) => "eap",
            ("1", ..) => "eap-start",
            ("2", ..) => "eap-logoff",
            ("3", ..) if flag("wlan_rsna_eapol.keydes.key_info.request") => "key-request",
            ("3", ..) if matches!(first("wlan_rsna_eapol.keydes.key_info.key_type"), "0" | "False") => {
                match flag("wlan_rsna_eapol.keydes.key_info.key_ack") {
                    true => "group-key-1",
                    false => "group-key-2",
                }
            }
            ("3", _, message @ ("1" | "2" | "3" | "4")) => return Some(format!("handshake-{message}")),
            _ => "other-eapol",
        },
    };
    Some(name.to_owned())
}
