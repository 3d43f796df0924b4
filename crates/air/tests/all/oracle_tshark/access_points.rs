//! The list of access points, and what the audit says that they claim, against the elements as tshark dissects them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use txop_air::report::Claim;
use txop_air::report::{AccessPoint, Report};
use wire::ieee80211::display_ssid;

use super::captures;
use super::outcome::Outcome;
use super::tshark;

const FIELDS: [&str; 38] = [
    "wlan.ta",
    "wlan.fc.type_subtype",
    "wlan.fcs.status",
    "radiotap.flags.badfcs",
    "frame.len",
    "frame.cap_len",
    "wlan.ssid",
    "wlan.fixed.capabilities.privacy",
    "wlan.ds.current_channel",
    "wlan.ht.info.primarychannel",
    "wlan.ht.info.secchanoffset",
    "wlan.ht.info.chanwidth",
    "wlan.vht.op.channelwidth",
    "wlan.vht.op.channelcenter1",
    "wlan.ext_tag.he_operation.6ghz.primary_channel",
    "wlan.ext_tag.he_operation.6ghz.control.channel_width",
    "wlan.rsn.akms.type",
    "wlan.rsn.akms.oui",
    "wlan.rsn.pcs.type",
    "wlan.rsn.gcs.type",
    "wlan.rsn.capabilities.mfpr",
    "wlan.rsn.capabilities.mfpc",
    "wlan.wfa.ie.wpa.type",
    "wlan.wfa.ie.wpa.ucs.type",
    "wlan.tag.number",
    "wlan.ext_tag.number",
    "wlan.extcap.b19",
    "wlan.mobility_domain.mdid",
    "wlan.rmcap",
    "wlan.vht.capabilities.subeamformer",
    "wlan.vht.capabilities.subeamformee",
    "wlan.vht.capabilities.mubeamformer",
    "wlan.vht.capabilities.mubeamformee",
    "wlan.ext_tag.he_phy_cap.su_beamformer",
    "wlan.ext_tag.he_phy_cap.su_beamformee",
    "wlan.ext_tag.he_phy_cap.mu_beamformer",
    "wlan.ext_tag.he_mac_cap.twt_rsp_support",
    "_ws.malformed",
];

/// One beacon or probe response: all occurrences of every field.
struct Row(Vec<Vec<String>>);

impl Row {
    fn all(&self, field: &str) -> &[String] {
        let column = FIELDS.iter().position(|name| *name == field).expect("a field that was asked for");
        self.0.get(column).map_or(&[], Vec::as_slice)
    }

    fn first(&self, field: &str) -> &str {
        self.all(field).first().map_or("", String::as_str)
    }

    fn number(&self, field: &str) -> Option<u16> {
        number(self.first(field))
    }

    fn flag(&self, field: &str) -> bool {
        matches!(self.first(field), "1" | "True")
    }

    fn numbers(&self, field: &str) -> BTreeSet<u16> {
        self.all(field).iter().filter_map(|text| number(text)).collect()
    }

    fn has_tag(&self, number: u16) -> bool {
        self.numbers("wlan.tag.number").contains(&number)
    }

    fn has_extension(&self, number: u16) -> bool {
        self.numbers("wlan.ext_tag.number").contains(&number)
    }

    /// The SSID's bytes.
    fn ssid(&self) -> Option<Vec<u8>> {
        let hex = self.has_tag(0).then(|| self.first("wlan.ssid").trim_start_matches("<MISSING>"))?;
        (0..hex.len() / 2).map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()).collect()
    }
}

/// Decimal or hexadecimal.
fn number(text: &str) -> Option<u16> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u16::from_str_radix(hex, 16).ok())
}

fn rows(path: &Path) -> Vec<Row> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "wlan.check_checksum:TRUE", "-T", "fields", "-E", "occurrence=a", "-E", "separator=/t"]);
    command.args(["-E", "aggregator=,", "-Y", "wlan.fc.type_subtype in {5, 8}", "-r"]).arg(path);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |line: &str| {
        let values = |cell: &str| cell.split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect();
        Row(line.split('\t').map(values).collect())
    };
    text.lines().map(row).collect()
}

/// What tshark saw of one access point.
#[derive(Default)]
struct Seen {
    beacons: u64,
    ssids: Vec<String>,
    hidden: Option<bool>,
    /// The last frame that was captured whole.
    latest: Option<Row>,
    /// Some of its frames were cut or could not be dissected.
    is_odd: bool,
}

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    if !tshark::is_installed() {
        return;
    }
    let Some(report) = captures::report(path) else { return };
    let name = captures::name(path);
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for row in rows(path) {
        let is_bad = row.flag("radiotap.flags.badfcs")
            || row.first("wlan.fcs.status") == "0" && !captures::fcs_is_invented(&name);
        let bssid = row.first("wlan.ta").to_owned();
        if is_bad || bssid.is_empty() {
            continue;
        }
        let ap = seen.entry(bssid).or_default();
        let is_beacon = row.number("wlan.fc.type_subtype") == Some(8);
        ap.beacons += u64::from(is_beacon);
        if row.first("frame.len") != row.first("frame.cap_len") || !row.all("_ws.malformed").is_empty() {
            ap.is_odd = true;
            continue;
        }
        if let Some(ssid) = row.ssid() {
            let is_hidden = ssid.iter().all(|byte| *byte == 0);
            if is_beacon {
                ap.hidden = Some(is_hidden);
            }
            let ssid = display_ssid(&ssid);
            if !is_hidden && !ap.ssids.contains(&ssid) && ap.ssids.len() < 8 {
                ap.ssids.push(ssid);
            }
        }
        ap.latest = Some(row);
    }
    for (bssid, seen) in seen {
        let at = format!("{name} {bssid}");
        let Some(ours) = report.access_points.iter().find(|row| row.bssid == bssid) else {
            let is_group = u8::from_str_radix(&bssid[..2], 16).is_ok_and(|first| first & 1 == 1);
            match is_group || report.ghosts.iter().any(|ghost| ghost.address == bssid) || seen.latest.is_none() {
                true => outcome.explain("ghost, group address, or no frame captured whole"),
                false => outcome.differ(format!("{at}: not in the list")),
            }
            continue;
        };
        outcome.same("beacons", &at, seen.beacons, ours.beacons);
        if seen.is_odd || ours.security.is_none() {
            outcome.explain("cut or malformed frames, or elements that do not end with the frame: not compared");
            continue;
        }
        outcome.same("names", &at, seen.ssids, ours.ssids.clone());
        outcome.same("hidden", &at, seen.hidden, ours.hidden);
        if let Some(latest) = &seen.latest {
            elements(latest, ours, &at, outcome);
            claims(latest, &report, &bssid, &at, outcome);
        }
    }
}

fn elements(row: &Row, ours: &AccessPoint, at: &str, outcome: &mut Outcome) {
    let named =
        ["wlan.ds.current_channel", "wlan.ht.info.primarychannel", "wlan.ext_tag.he_operation.6ghz.primary_channel"];
    if let Some(channel) = named.iter().find_map(|field| row.number(field)) {
        outcome.same("channel", at, Some(channel), ours.channel);
    }
    let ht = match row.number("wlan.ht.info.secchanoffset") {
        Some(1 | 3) if row.flag("wlan.ht.info.chanwidth") => 40,
        _ => 20,
    };
    let vht = match (row.number("wlan.vht.op.channelwidth"), row.number("wlan.vht.op.channelcenter1")) {
        (Some(1), Some(0)) => 80,
        (Some(1..=3), _) => 160,
        _ => ht,
    };
    if !row.has_extension(106) {
        let width = row.number("wlan.ext_tag.he_operation.6ghz.control.channel_width").map_or(vht, |code| 20 << code);
        outcome.same("width", at, Some(width), ours.width_mhz);
    }
    for (standard, is_there) in [
        ("n", row.has_tag(45)),
        ("ac", row.has_tag(191)),
        ("ax", row.has_extension(35)),
        ("be", row.has_extension(108)),
    ] {
        outcome.same("standards", &format!("{at} {standard}"), is_there, ours.standards.contains(&standard));
    }
    let has_rsn = row.has_tag(48);
    let has_wpa = !row.all("wlan.wfa.ie.wpa.type").is_empty();
    let privacy = row.flag("wlan.fixed.capabilities.privacy");
    if !has_rsn && !has_wpa {
        let open = ours.security.as_deref().map(|security| security.starts_with("open"));
        outcome.same("open or WEP", at, Some(!privacy), open);
        return;
    }
    if row.all("wlan.rsn.akms.oui").iter().all(|oui| matches!(oui.as_str(), "4012" | "0x000fac" | "00:0f:ac")) {
        outcome.same("key management", at, keys(row), ours.key_managements.iter().cloned().collect());
        let count = row.numbers("wlan.rsn.pcs.type").union(&row.numbers("wlan.wfa.ie.wpa.ucs.type")).count();
        outcome.same("pairwise ciphers", at, count, ours.pairwise_ciphers.len());
    }
    let pmf = has_rsn.then(|| match (row.flag("wlan.rsn.capabilities.mfpr"), row.flag("wlan.rsn.capabilities.mfpc")) {
        (true, _) => "required",
        (_, true) => "capable",
        _ => "no",
    });
    outcome.same("PMF", at, pmf, ours.pmf);
    let families = [(&[2, 4, 6, 19, 20][..], "WPA2", "Personal"), (&[8, 9, 24, 25], "WPA3", "Personal")];
    for (kinds, generation, what) in families {
        let theirs = kinds.iter().any(|kind| row.numbers("wlan.rsn.akms.type").contains(kind));
        let said = ours.security.as_deref().unwrap_or_default();
        outcome.same("families", at, theirs, said.contains(generation) && said.contains(what));
    }
}

/// The names of the suites that tshark lists.
fn keys(row: &Row) -> BTreeSet<String> {
    let name = |kind: u16| match kind {
        1 => "802.1X".to_owned(),
        2 => "PSK".to_owned(),
        3 => "FT-802.1X".to_owned(),
        4 => "FT-PSK".to_owned(),
        5 => "802.1X-SHA256".to_owned(),
        6 => "PSK-SHA256".to_owned(),
        8 => "SAE".to_owned(),
        9 => "FT-SAE".to_owned(),
        11 => "802.1X-SuiteB".to_owned(),
        12 => "802.1X-SuiteB-192".to_owned(),
        18 => "OWE".to_owned(),
        24 => "SAE-EXT".to_owned(),
        kind => format!("suite {kind}"),
    };
    let rsn = row.numbers("wlan.rsn.akms.type").into_iter().map(name);
    rsn.chain(row.numbers("wlan.wfa.ie.wpa.type").into_iter().map(|kind| format!("WPA {}", name(kind)))).collect()
}

/// What the audit says is claimed.
fn claims(row: &Row, report: &Report, bssid: &str, at: &str, outcome: &mut Outcome) {
    let Some(audit) = report.capabilities.iter().find(|audit| audit.address == bssid) else { return };
    let claimed =
        |name: &str| audit.rows.iter().find(|row| row.capability == name).is_some_and(|row| row.claimed == Claim::Yes);
    let any = |fields: &[&str]| fields.iter().any(|field| row.flag(field));
    let su_beamformer = any(&["wlan.vht.capabilities.subeamformer", "wlan.ext_tag.he_phy_cap.su_beamformer"]);
    let su_beamformee = any(&["wlan.vht.capabilities.subeamformee", "wlan.ext_tag.he_phy_cap.su_beamformee"]);
    let mu_beamformer = any(&["wlan.vht.capabilities.mubeamformer", "wlan.ext_tag.he_phy_cap.mu_beamformer"]);
    let twt = row.flag("wlan.ext_tag.he_mac_cap.twt_rsp_support");
    for (name, theirs) in [
        ("Radio Measurement (802.11k)", row.has_tag(70)),
        ("BSS Transition (802.11v)", row.flag("wlan.extcap.b19")),
        ("Fast BSS Transition (802.11r)", !row.first("wlan.mobility_domain.mdid").is_empty()),
        ("MU Beamformee", row.flag("wlan.vht.capabilities.mubeamformee")),
        ("Multi-Link Operation", row.has_extension(107)),
    ] {
        outcome.same(name, at, theirs, claimed(name));
    }
    // tshark 4.0 does not dissect EHT.
    if !row.has_extension(108) {
        outcome.same("SU Beamformer", at, su_beamformer, claimed("SU Beamformer"));
        outcome.same("SU Beamformee", at, su_beamformee, claimed("SU Beamformee"));
        outcome.same("MU Beamformer", at, mu_beamformer, claimed("MU Beamformer"));
    }
    // Extended Capabilities may say so, too: then it is claimed without HE.
    if twt {
        outcome.same("TWT Responder", at, twt, claimed("TWT Responder"));
    }
}
