//! Real captures whose passphrases are public, against tshark: the same MPDUs are decrypted, to the same bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use capture::Reader;
use txop_decrypt::{Keys, Sessions};
use wire::ieee80211::eapol::ETHERTYPE;
use wire::ieee80211::{FrameControl, FrameKind, FrameType, Header, Management};

/// Capture, SSID, passphrase (in the samples' own documentation, or named by the file).
const PASSPHRASES: [(&str, &str, &str); 21] = [
    ("wireshark_wpa-Induction.pcap.gz", "Coherer", "Induction"),
    ("wireshark_wpa-test-decode.pcap.gz", "test", "test0815"),
    ("wireshark_wpa_ptk_extended_key_id.pcap.gz", "test-wpa2-psk", "test0815"),
    ("wireshark_wpa-ccmp-256.pcapng.gz", "Wireshark-ccmp-256", "12345678"),
    ("wireshark_wpa-gcmp-256.pcapng.gz", "Wireshark-gcmp-256", "12345678"),
    ("wireshark_wpa-gcmp.pcapng.gz", "Wireshark-gcmp", "12345678"),
    ("wireshark_wpa2-psk-mfp.pcapng.gz", "Wireshark-pmf", "12345678"),
    ("wireshark_wpa2-psk-ccmp-tkip.pcapng.gz", "testap-wpa2-tkip", "12345678"),
    ("aircrack_test_wpa2-psk-linksys.cap", "linksys", "dictionary"),
    ("wireshark_wpa1-gtk-rekey.pcapng.gz", "wireshark-wpa1", "12345678"),
    ("libpcap_filter_wpa2linkuppassphraseiswireshark.pcap", "ikeriri-5g", "wireshark"),
    ("fragattacks_example-pcaps_amsdu-inject-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_eapol-inject-fromclient.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_linux-plain-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_D_BP___bcast_ra-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_D_E-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_E_E___inc_pn_2-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_E_P-fromclient.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_E_R_E__full-recon-fromclient.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_F_BE_AE-fromap.pcapng", "testnetwork", "abcdefgh"),
    ("fragattacks_example-pcaps_ping_I_P-fromclient.pcapng", "testnetwork", "abcdefgh"),
];

/// The one with 802.1X, and the PMK of its session.
const ENTERPRISE: (&str, &str) =
    ("wireshark_wpa-eap-tls.pcap.gz", "a5001e18e0b3f792278825bc3abff72d7021d7c157b600470ef730e2490835d4");

/// Captures with the temporal and the group key of a session, which Wireshark's own tests name: of OWE and of FT with 802.1X.
const SESSIONS: [(&str, [&str; 2]); 2] = [
    ("wireshark_owe.pcapng.gz", ["10f3deccc00d5c8f629fba7a0fff34aa", "016b04ae9e6050bcc1f940dda9ffff2b"]),
    ("wireshark_wpa2-ft-eap.pcapng.gz", ["65471b64605bf2a04af296284cb4ae2a", "1783a5c28e046df6fb58cf4406c4b22c"]),
];

/// The one with WEP, and its key: the answer that the test of aircrack-ng's own attack expects.
const WEP: (&str, &str) = ("aircrack_test_wep_64_ptw_01.cap", "1f1f1f1f1f");

/// Networks with TKIP for groups and CCMP for pairs, and the group-addressed frames of them that Michael's code proves to be decrypted.
/// tshark 4.0 leaves them as they are.
const TKIP_FOR_GROUPS: [(&str, usize); 2] =
    [("wireshark_wpa-Induction.pcap.gz", 73), ("wireshark_wpa2-psk-ccmp-tkip.pcapng.gz", 4)];

/// Decrypted data by frame number.
type Decrypted = BTreeMap<u64, Vec<u8>>;

fn ours(path: &Path, keys: &str) -> Decrypted {
    let mut sessions = Sessions::new(Arc::new(Keys::parse(keys.as_bytes()).unwrap()));
    let mut reader = Reader::open(path, capture::Options::default()).unwrap();
    let mut decrypted = Decrypted::new();
    let checker = wire::fcs::Checker::default();
    while let Ok(Some(record)) = reader.next() {
        let Ok(radio) = wire::radio::decode(record.link_type, record.data) else { continue };
        let mpdu = &record.data[radio.header_len..];
        let Ok(header) = Header::parse(mpdu, radio.data_pad) else { continue };
        let has_fcs = radio.fcs_included.unwrap_or_else(|| checker.check(mpdu) == Some(true));
        let end = if has_fcs { mpdu.len().saturating_sub(4) } else { mpdu.len() };
        let Some(body) = mpdu.get(header.header_len..end) else { continue };
        if header.fc.frame_type() == FrameType::Management {
            learn_name(header.fc, &header, body, &mut sessions);
        }
        if !header.fc.carries_data() {
            continue;
        }
        if header.fc.protected() {
            let clear = match sessions.decrypt(&header, Some(body)) {
                Ok(clear) => clear.to_vec(),
                Err(_) => continue,
            };
            if let Some(packet) = eapol(&clear) {
                sessions.eapol(&header, packet);
            }
            decrypted.insert(record.number, clear);
        } else if let Some(packet) = eapol(body) {
            sessions.eapol(&header, packet);
        }
    }
    decrypted
}

fn eapol(msdu: &[u8]) -> Option<&[u8]> {
    let (llc, packet) = msdu.split_first_chunk::<8>()?;
    (u16::from_be_bytes([llc[6], llc[7]]) == ETHERTYPE).then_some(packet)
}

fn learn_name(fc: FrameControl, header: &Header, body: &[u8], sessions: &mut Sessions) {
    if matches!(fc.kind(), FrameKind::Beacon | FrameKind::ProbeResponse | FrameKind::AssociationRequest) {
        let management = Management::parse(fc, body);
        let ssid = management.as_ref().and_then(|management| management.capabilities.ssid.as_ref());
        if let (Some(bssid), Some(ssid)) = (header.addr3, ssid) {
            sessions.network(bssid, ssid.as_bytes());
        }
    }
}

/// What tshark decrypts, from its hex dumps; management frames left out.
fn theirs(path: &Path, keys: &[&str]) -> Decrypted {
    let output = Command::new("tshark")
        .args(["-o", "wlan.enable_decryption:TRUE"])
        .args(keys.iter().flat_map(|key| ["-o".to_owned(), format!("uat:80211_keys:{key}")]))
        .arg("-r")
        .arg(path)
        .args(["-Y", "(wlan.analysis.tk || wlan.analysis.gtk || wlan.wep.key) && wlan.fc.type == 2"])
        // A line with the frame's number, then its bytes and those decrypted.
        .args(["-P", "-x", "-o", "gui.column.format:\"No.\",\"%m\""])
        .output()
        .expect("tshark runs");
    let mut decrypted = Decrypted::new();
    let (mut number, mut reads) = (0, false);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Ok(next) = line.trim().parse() {
            (number, reads) = (next, false);
        } else if line.ends_with("bytes):") {
            reads = ["CCMP", "GCMP", "TKIP", "WEP"].iter().any(|it| line.starts_with(&format!("Decrypted {it} data")));
            if reads {
                decrypted.insert(number, Vec::new());
            }
        } else if let (true, Some(dump)) = (reads, line.get(6..53)) {
            let bytes = dump.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal"));
            decrypted.get_mut(&number).expect("announced").extend(bytes);
        } else if let (true, Some(dump)) = (reads, line.get(6..)) {
            let bytes = dump.split_whitespace().map_while(|byte| (byte.len() == 2).then_some(byte));
            decrypted.get_mut(&number).expect("announced").extend(bytes.filter_map(|b| u8::from_str_radix(b, 16).ok()));
        }
    }
    decrypted
}

fn folder() -> Option<PathBuf> {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no tshark");
        return None;
    }
    corpus::find("wlan")
}

/// How many MPDUs of a capture are equal.
fn compare(path: &Path, keys: &str, key: &[&str]) -> usize {
    let (ours, theirs) = (ours(path, keys), theirs(path, key));
    let name = path.file_name().unwrap().to_string_lossy();
    for (number, bytes) in &theirs {
        assert_eq!(ours.get(number), Some(bytes), "{name}: frame {number}");
    }
    let only_ours: Vec<u64> = ours.keys().filter(|number| !theirs.contains_key(number)).copied().collect();
    match TKIP_FOR_GROUPS.iter().find(|(other, _)| *other == name) {
        Some((_, expected)) => assert_eq!(only_ours.len(), *expected, "{name}: {only_ours:?}"),
        None => assert!(only_ours.is_empty(), "{name}: {only_ours:?}"),
    }
    assert!(!theirs.is_empty(), "{name}");
    theirs.len()
}

/// The captures that are there, with the line of a key file and tshark's form of the key.
fn captures(folder: &Path) -> impl Iterator<Item = (PathBuf, String, String)> + '_ {
    let passphrases = PASSPHRASES.into_iter().map(|(name, ssid, passphrase)| {
        (name, format!("psk {ssid} {passphrase}"), format!("\"wpa-pwd\",\"{passphrase}:{ssid}\""))
    });
    let enterprise = (ENTERPRISE.0, format!("pmk {}", ENTERPRISE.1), format!("\"wpa-psk\",\"{}\"", ENTERPRISE.1));
    let wep = (WEP.0, format!("wep {}", WEP.1), format!("\"wep\",\"{}\"", WEP.1));
    [wep, enterprise].into_iter().chain(passphrases).filter_map(|(name, line, key)| {
        let path = folder.join(name);
        let is_there = path.is_file();
        if !is_there {
            eprintln!("SKIPPED: no {}", path.display());
        }
        is_there.then_some((path, line, key))
    })
}

#[test]
fn the_same_mpdus_become_the_same_bytes() {
    let Some(folder) = folder() else { return };
    // WEP; CCMP-128 with 802.1X and with PSK, CCMP-256, GCMP-128 and -256, PSK with SHA-256.
    for (path, line, key) in captures(&folder).take(9) {
        compare(&path, &line, &[&key]);
    }
}

#[test]
fn keys_of_a_session_open_the_same_mpdus() {
    let Some(folder) = folder() else { return };
    for (name, keys) in SESSIONS {
        let path = folder.join(name);
        if !path.is_file() {
            eprintln!("SKIPPED: no {}", path.display());
            continue;
        }
        let lines = keys.map(|key| format!("tk {key}")).join("\n");
        let theirs = keys.map(|key| format!("\"tk\",\"{key}\""));
        let equal = compare(&path, &lines, &[&theirs[0], &theirs[1]]);
        assert!(equal >= 4, "{name}: {equal}");
        println!("{name}: {equal} MPDUs are equal");
    }
}

#[test]
#[ignore = "slow: tshark over twenty captures"]
fn the_same_mpdus_become_the_same_bytes_everywhere() {
    let Some(folder) = folder() else { return };
    let equal: usize = captures(&folder).map(|(path, line, key)| compare(&path, &line, &[&key])).sum();
    println!("{equal} MPDUs are equal");
}

#[test]
fn a_wrong_key_decrypts_nothing() {
    let Some(folder) = folder() else { return };
    for (path, _, _) in captures(&folder) {
        let digits = "0f".repeat(32);
        assert_eq!(ours(&path, &format!("pmk {digits}")), Decrypted::new(), "{}", path.display());
    }
}
