//! How often the audit sees amendments used, against the frames that tshark counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::captures;
use super::outcome::Outcome;
use super::tshark;

const FIELDS: [&str; 8] = [
    "wlan.ta",
    "wlan.fc.type_subtype",
    "wlan.fc.protected",
    "wlan.fcs.status",
    "radiotap.flags.badfcs",
    "wlan.fixed.category_code",
    "wlan.fixed.auth.alg",
    "wlan.vht.action",
];
const RADIO_MEASUREMENT: &str = "Radio Measurement (802.11k)";
const FAST_TRANSITION: &str = "Fast BSS Transition (802.11r)";

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    if !tshark::is_installed() {
        return;
    }
    let Some(report) = captures::report(path) else { return };
    let name = captures::name(path);
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "wlan.check_checksum:TRUE", "-T", "fields", "-E", "occurrence=f", "-E", "separator=/t"]);
    let wanted = "wlan.fc.version == 0 && wlan.fc.type_subtype in {0x0b, 0x0d, 0x0e, 0x15}";
    command.args(["-Y", wanted, "-r"]).arg(path);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let mut theirs: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |field: &str| {
            FIELDS.iter().position(|name| *name == field).and_then(|at| cells.get(at)).copied().unwrap_or_default()
        };
        let is_bad = matches!(cell("radiotap.flags.badfcs"), "1" | "True")
            || cell("wlan.fcs.status") == "0" && !captures::fcs_is_invented(&name);
        let is_encrypted = matches!(cell("wlan.fc.protected"), "1" | "True");
        if is_bad || is_encrypted {
            continue;
        }
        let row = match (cell("wlan.fc.type_subtype"), cell("wlan.fixed.category_code"), cell("wlan.fixed.auth.alg")) {
            ("0x0015", ..) => "SU Beamformer",
            ("0x000b", _, "2") | (_, "6", _) => FAST_TRANSITION,
            (_, "5", _) => RADIO_MEASUREMENT,
            (_, "21", _) if cell("wlan.vht.action") == "0" => "SU Beamformee",
            _ => continue,
        };
        *theirs.entry((cell("wlan.ta").to_owned(), row)).or_default() += 1;
    }
    let mut ours: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for audit in &report.capabilities {
        for row in &audit.rows {
            let known = ["SU Beamformer", "SU Beamformee", FAST_TRANSITION, RADIO_MEASUREMENT];
            let seen = row.seen.filter(|seen| *seen > 0);
            if let (Some(name), Some(seen)) = (known.into_iter().find(|name| *name == row.capability), seen) {
                ours.insert((audit.address.clone(), name), seen);
            }
        }
    }
    // Who sends neither data nor says what it can is not audited.
    theirs.retain(|(address, _), count| {
        let is_audited = report.capabilities.iter().any(|audit| audit.address == *address);
        if !is_audited {
            (0..*count).for_each(|_| outcome.explain("frames of addresses that are not audited"));
        }
        is_audited
    });
    outcome.tables("uses", &name, &theirs, &ours);
}
