//! One run of tshark per capture, every field these tests need.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// Fields in the order of the columns; the SSID is last because it may hold anything.
pub const FIELDS: [&str; 48] = [
    "frame.number",
    "frame.protocols",
    "wlan.ta",
    "wlan.ra",
    "wlan.fc.retry",
    "wlan.fc.protected",
    "wlan.fc.type_subtype",
    "wlan.fcs.status",
    "radiotap.flags.badfcs",
    "wlan.bssid",
    "wlan.sa",
    "wlan.da",
    "wlan.seq",
    "wlan.qos.tid",
    "wlan.qos.amsdupresent",
    "wlan.ba.control.ba_type",
    "wlan.ba.basic.tidinfo",
    "wlan.fixed.ssc.sequence",
    "wlan.ba.bm",
    "wlan.fixed.category_code",
    "wlan.fixed.action_code",
    "wlan.fixed.baparams.tid",
    "wlan.fixed.status_code",
    "wlan_radio.signal_dbm",
    "radiotap.ampdu.reference",
    "radiotap.mactime",
    "radiotap.mcs.index",
    "radiotap.mcs.bw",
    "radiotap.mcs.gi",
    "radiotap.mcs.format",
    "radiotap.mcs.fec",
    "radiotap.mcs.stbc",
    "wlan_radio.phy",
    "wlan_radio.data_rate",
    "wlan_radio.preamble",
    "wlan_radio.duration",
    "wlan_radio.11ac.mcs",
    "wlan_radio.11ac.nss",
    "wlan_radio.11ac.bandwidth",
    "wlan_radio.11ac.short_gi",
    "wlan_radio.aggregate",
    "wlan.frag",
    "wlan.fc.subtype",
    "frame.encap_type",
    "wlan.fc.version",
    "radiotap.dbm_antsignal",
    "_ws.malformed",
    "wlan.ssid",
];

/// One frame as tshark sees it: a value per field of [`FIELDS`], empty when the frame does not have it.
#[derive(Clone, Debug)]
pub struct Row {
    values: Vec<String>,
    /// The payload is in the clear behind the header of a cipher (see [`decrypted_in_place`]).
    is_decrypted_in_place: bool,
}

impl Row {
    /// The value of a field.
    pub fn get(&self, field: &str) -> &str {
        let column = FIELDS.iter().position(|name| *name == field).expect("a field that was asked for");
        self.values.get(column).map_or("", String::as_str)
    }

    /// A number, decimal or hexadecimal.
    pub fn number(&self, field: &str) -> Option<i64> {
        let text = self.get(field);
        match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// A flag: some versions print digits, some print words.
    pub fn flag(&self, field: &str) -> bool {
        matches!(self.get(field), "1" | "True")
    }

    /// 802.11 type and subtype in one number (`wlan.fc.type_subtype`).
    pub fn kind(&self) -> Option<i64> {
        self.number("wlan.fc.type_subtype")
    }

    /// Protocol version other than 0.
    pub fn is_foreign(&self) -> bool {
        !matches!(self.number("wlan.fc.version"), None | Some(0)) || self.get("wlan.fc.type_subtype").is_empty()
    }

    /// Flagged bad by the receiver or computed bad, where the FCS can be computed.
    pub fn bad(&self) -> bool {
        self.flag("radiotap.flags.badfcs") || (self.is_computed_bad() && !self.is_decrypted_in_place)
    }

    /// Computed bad by tshark, of a frame whose FCS is of the ciphertext.
    pub fn has_fcs_of_ciphertext(&self) -> bool {
        self.is_computed_bad() && self.is_decrypted_in_place
    }

    fn is_computed_bad(&self) -> bool {
        self.get("wlan.fcs.status") == "0"
    }

    /// May be decrypted in place: encrypted by its header, received well by its flag, and computed bad.
    fn may_be_decrypted_in_place(&self) -> bool {
        let is_received = !self.get("radiotap.flags.badfcs").is_empty() && !self.flag("radiotap.flags.badfcs");
        self.flag("wlan.fc.protected") && is_received && self.is_computed_bad()
    }

    /// Transmitter; the group bit that bandwidth signalling sets in control frames is cleared.
    pub fn ta(&self) -> Option<String> {
        let ta = self.get("wlan.ta");
        if ta.is_empty() {
            return None;
        }
        let control = self.kind().is_some_and(|kind| kind >> 4 == 1);
        match u8::from_str_radix(ta.get(..2)?, 16) {
            Ok(first) if control && first & 1 == 1 => Some(format!("{:02x}{}", first & !1, &ta[2..])),
            _ => Some(ta.to_owned()),
        }
    }
}

/// Whether tshark can be run; says so when not.
pub fn is_installed() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: tshark is not installed");
    }
    there
}

/// All frames of a capture.
pub fn rows(path: &Path) -> Vec<Row> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "wlan.check_checksum:TRUE", "-o", "wlan_radio.tsf_at_end:FALSE", "-T", "fields"]);
    command.args(["-E", "occurrence=f", "-E", "separator=/t", "-r"]).arg(path);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let mut rows: Vec<Row> = lines(&mut command)
        .iter()
        .map(|line| Row {
            values: line.splitn(FIELDS.len(), '\t').map(str::to_owned).collect(),
            is_decrypted_in_place: false,
        })
        .collect();
    if rows.iter().any(Row::may_be_decrypted_in_place) {
        let decrypted = decrypted_in_place(path);
        for row in rows.iter_mut().filter(|row| row.may_be_decrypted_in_place()) {
            row.is_decrypted_in_place = decrypted.contains(row.get("frame.number"));
        }
    }
    rows
}

/// Numbers of the frames in which tshark finds LLC and SNAP behind the header of a cipher without a key: the receiver
/// decrypted them, and left the FCS of the ciphertext.
fn decrypted_in_place(path: &Path) -> HashSet<String> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "wlan.check_checksum:FALSE", "-o", "wlan.enable_decryption:FALSE"]);
    command.args(["-o", "wlan.ignore_wep:Yes - with IV", "-T", "fields", "-e", "frame.number"]);
    command.args(["-Y", "wlan.fc.protected == 1 && llc.dsap == 0xaa && llc.ssap == 0xaa", "-r"]).arg(path);
    lines(&mut command).into_iter().collect()
}

/// What a command prints, line by line.
fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().expect("tshark runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
