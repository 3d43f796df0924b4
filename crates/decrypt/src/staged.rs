//! Handshakes on a stage: what a capture may miss, repeat, or get wrong.

use std::sync::Arc;

use proptest::prelude::*;
use wire::ieee80211::{Cipher, Header, MacAddr};

use crate::derive::{key_len, Akm, Ends, Ptk};
use crate::protect::sealing::seal;
use crate::{Counts, Keys, Pair, Sessions, State, Undecrypted};

const AP: MacAddr = MacAddr([2, 0, 0, 0, 0, 0xa]);
const STATION: MacAddr = MacAddr([2, 0, 0, 0, 0, 0xb]);
const GTK: [u8; 32] = [0x77; 32];

/// A network with its keys.
struct Stage {
    akm: Akm,
    suite: u8,
    version: u8,
    cipher: Cipher,
    cipher_suite: u8,
    pmk: Vec<u8>,
    anonce: [u8; 32],
    snonce: [u8; 32],
    /// Data of the FTE behind its MIC and nonces, of a mobility domain.
    key_holders: &'static [u8],
}

fn psk_stage(passphrase: &str) -> Stage {
    let pmk = crate::derive::psk(passphrase.as_bytes(), b"stage").to_vec();
    Stage {
        akm: Akm::Psk,
        suite: 2,
        version: 2,
        cipher: Cipher::Ccmp128,
        cipher_suite: 4,
        pmk,
        anonce: [0xa1; 32],
        snonce: [0x51; 32],
        key_holders: &[],
    }
}

/// A mobility domain with key holders that are hostapd's: its NAS identifier and its BSSID.
fn ft_stage(akm: Akm, suite: u8, version: u8) -> Stage {
    let key_holders = &[1, 6, 2, 0, 0, 0, 0, 0xa, 3, 7, b'a', b'p', b'.', b't', b'e', b's', b't'];
    Stage { akm, suite, version, key_holders, ..psk_stage("good passphrase") }
}

impl Stage {
    fn ptk(&self) -> Ptk {
        let scheme = self.akm.scheme(self.pmk.len(), self.version).unwrap();
        let ends = Ends { authenticator: AP, supplicant: STATION, anonce: self.anonce, snonce: self.snonce };
        let key_len = key_len(self.cipher).unwrap();
        if self.key_holders.is_empty() {
            return Ptk::derive(scheme, &self.pmk, &ends, key_len);
        }
        let elements = self.fast_transition();
        let domain = wire::ieee80211::eapol::mobility_domain(&elements, 16).unwrap();
        Ptk::derive_fast(scheme, &crate::derive::pmk_r1(&self.pmk, b"stage", &domain, STATION), &ends, key_len)
    }

    fn rsn(&self) -> Vec<u8> {
        let c = self.cipher_suite;
        vec![48, 20, 1, 0, 0, 15, 172, c, 1, 0, 0, 15, 172, c, 1, 0, 0, 15, 172, self.suite, 0, 0]
    }

    /// Mobility Domain and Fast BSS Transition element; none without key holders.
    fn fast_transition(&self) -> Vec<u8> {
        if self.key_holders.is_empty() {
            return Vec::new();
        }
        let mut elements = vec![54, 3, 0x34, 0x12, 0, 55, 82 + self.key_holders.len() as u8];
        elements.resize(elements.len() + 82, 0);
        elements.extend(self.key_holders);
        elements
    }

    fn packet(&self, information: u16, nonce: [u8; 32], data: &[u8]) -> Vec<u8> {
        let ptk = self.ptk();
        let information = information | u16::from(self.version);
        let mut bytes = vec![2, 3, 0, 0, 2];
        bytes.extend(information.to_be_bytes());
        bytes.extend([0, 16, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend(nonce);
        bytes.resize(81 + ptk.mic_len(), 0);
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
        let len = (bytes.len() - 4) as u16;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        if information & 0x100 != 0 {
            let mic = ptk.mic(&wire::ieee80211::eapol::EapolKey::parse(&bytes).unwrap());
            bytes[81..81 + mic.len()].copy_from_slice(&mic);
        }
        bytes
    }

    /// Message 1 to 4, or 5: the group key handshake.
    fn message(&self, number: u8) -> (Header, Vec<u8>) {
        let (to_station, to_ap) = (header(0x02, STATION, AP), header(0x01, AP, STATION));
        let mut gtk = vec![221, 6 + key_len(self.cipher).unwrap() as u8, 0, 15, 172, 1, 1, 0];
        gtk.extend(&GTK[..key_len(self.cipher).unwrap()]);
        let data = [self.rsn(), gtk.clone()].concat();
        let padded = |mut data: Vec<u8>| {
            data.push(0xdd);
            data.resize(data.len().next_multiple_of(8), 0);
            self.ptk().wrap(&data)
        };
        match number {
            1 => (to_station, self.packet(0x0088, self.anonce, &[])),
            2 => (to_ap, self.packet(0x0108, self.snonce, &[self.rsn(), self.fast_transition()].concat())),
            3 => (to_station, self.packet(0x13c8, self.anonce, &padded(data))),
            4 => (to_ap, self.packet(0x0308, [0; 32], &[])),
            _ => (to_station, self.packet(0x1380, [0; 32], &padded(gtk))),
        }
    }

    /// What follows from these messages, in this order, with these keys.
    fn seen(&self, messages: &[u8], keys: &str) -> Sessions {
        let mut sessions = Sessions::new(Arc::new(Keys::parse(keys.as_bytes()).unwrap()));
        sessions.network(AP, b"stage");
        for number in messages {
            let (header, packet) = self.message(*number);
            sessions.eapol(&header, &packet);
        }
        sessions
    }

    fn data(&self, sessions: &mut Sessions) -> Result<Vec<u8>, Undecrypted> {
        let header = header(0x41, AP, STATION);
        let body = seal(self.cipher, self.ptk().temporal_key(), &header, 7, b"packet");
        sessions.decrypt(&header, Some(&body)).map(<[u8]>::to_vec)
    }

    fn group_data(&self, sessions: &mut Sessions) -> Result<Vec<u8>, Undecrypted> {
        let header = header(0x42, MacAddr::BROADCAST, AP);
        let body = seal(self.cipher, &GTK, &header, 7, b"to all");
        sessions.decrypt(&header, Some(&body)).map(<[u8]>::to_vec)
    }
}

fn header(fc1: u8, receiver: MacAddr, sender: MacAddr) -> Header {
    let mut bytes = vec![0x08, fc1, 0, 0];
    for address in [receiver, sender, AP] {
        bytes.extend(address.0);
    }
    bytes.extend([0, 0]);
    Header::parse(&bytes, false).unwrap()
}

fn only(sessions: &Sessions) -> &Pair {
    sessions.pairs().next().unwrap()
}

const KEYS: &str = "psk stage \"good passphrase\"";

#[test]
fn two_nonces_and_a_mic_are_enough() {
    let stage = psk_stage("good passphrase");
    for messages in [&[1u8, 2, 3, 4][..], &[1, 2], &[2, 3], &[1, 1, 2, 2, 3, 3, 4], &[4, 1, 2]] {
        let mut sessions = stage.seen(messages, KEYS);
        assert_eq!(only(&sessions).state(), State::Keys, "{messages:?}");
        assert_eq!(stage.data(&mut sessions).unwrap(), b"packet", "{messages:?}");
        assert_eq!(only(&sessions).handshakes(), 1);
        let knows_group = messages.contains(&3);
        assert_eq!(stage.group_data(&mut sessions).is_ok(), knows_group, "{messages:?}");
    }
    let mut sessions = stage.seen(&[1, 2, 5], KEYS);
    assert_eq!(stage.group_data(&mut sessions).unwrap(), b"to all", "a group key handshake");
}

#[test]
fn what_is_missing_is_told_apart() {
    let stage = psk_stage("good passphrase");
    for messages in [&[1u8, 3, 4][..], &[2], &[2, 4], &[1], &[3]] {
        let mut sessions = stage.seen(messages, KEYS);
        assert_eq!(only(&sessions).state(), State::Incomplete, "{messages:?}");
        assert_eq!(stage.data(&mut sessions), Err(Undecrypted::NoKey));
    }
    let mut sessions = stage.seen(&[], KEYS);
    assert_eq!(stage.data(&mut sessions), Err(Undecrypted::NoKey));
    assert_eq!(only(&sessions).state(), State::NoHandshake);
    assert_eq!(stage.group_data(&mut sessions), Err(Undecrypted::NoGroupKey));

    let sessions = stage.seen(&[1, 2, 2, 3, 4], "psk stage \"wrong passphrase\"");
    assert_eq!((only(&sessions).state(), only(&sessions).mismatches()), (State::WrongKey, 1));
    let sessions = stage.seen(&[1, 2, 3, 4], "psk other \"good passphrase\"");
    assert_eq!(only(&sessions).state(), State::NoKeyForNetwork);

    let wep = Stage { cipher_suite: 1, ..psk_stage("good passphrase") };
    assert_eq!(only(&wep.seen(&[1, 2], KEYS)).state(), State::UnsupportedCipher);
    let fils = Stage { suite: 14, ..psk_stage("good passphrase") };
    assert_eq!(only(&fils.seen(&[1, 2], KEYS)).state(), State::UnsupportedAkm);
    let no_key_holders = Stage { akm: Akm::FtPsk, suite: 4, version: 3, ..psk_stage("good passphrase") };
    assert_eq!(only(&no_key_holders.seen(&[1, 2], KEYS)).state(), State::UnsupportedAkm);
}

#[test]
fn a_key_file_with_keys_of_other_networks_does_no_harm() {
    let stage = psk_stage("good passphrase");
    let digits = "ab".repeat(32);
    let keys = format!("psk other \"other passphrase\"\npmk {digits}\npsk stage \"old passphrase\"\n{KEYS}");
    assert_eq!(only(&stage.seen(&[1, 2], &keys)).state(), State::Keys);
}

#[test]
fn after_a_new_handshake_both_sessions_decrypt() {
    let (first, second) = (psk_stage("good passphrase"), Stage { anonce: [3; 32], ..psk_stage("good passphrase") });
    let mut sessions = first.seen(&[1, 2, 3, 4], KEYS);
    for number in [1, 2, 3, 4] {
        let (header, packet) = second.message(number);
        sessions.eapol(&header, &packet);
    }
    assert_eq!(only(&sessions).handshakes(), 2);
    assert!(first.data(&mut sessions).is_ok() && second.data(&mut sessions).is_ok());
    let stranger = Stage { anonce: [4; 32], ..psk_stage("good passphrase") };
    assert_eq!(stranger.data(&mut sessions), Err(Undecrypted::OtherKey));
    let counts = Counts { protected: 3, decrypted: 2, other_key: 1, ..Counts::default() };
    assert_eq!(*only(&sessions).counts(), counts);
}

#[test]
fn a_passphrase_is_not_enough_for_sae() {
    let stage = sae();
    let sessions = stage.seen(&[1, 2, 3, 4], KEYS);
    assert_eq!(only(&sessions).state(), State::PmkNeeded);
}

fn sae() -> Stage {
    Stage { akm: Akm::Sae, suite: 8, version: 0, pmk: vec![0x5a; 32], ..psk_stage("good passphrase") }
}

/// Every key management on its own PMK: that derivation and use agree with themselves. Against others: tests/oracle_tshark.rs.
#[test]
fn every_key_management_with_its_pmk() {
    let wide = |cipher, cipher_suite, stage: Stage| Stage { cipher, cipher_suite, ..stage };
    let stages = [
        sae(),
        Stage { akm: Akm::Dot1x, suite: 1, version: 2, ..sae() },
        Stage { akm: Akm::Dot1x, suite: 1, version: 1, ..wide(Cipher::Tkip, 2, sae()) },
        Stage { akm: Akm::Dot1x, suite: 1, version: 2, ..wide(Cipher::Tkip, 2, sae()) },
        Stage { akm: Akm::Dot1xSha256, suite: 5, version: 3, ..sae() },
        Stage { akm: Akm::PskSha256, suite: 6, version: 3, ..sae() },
        Stage { akm: Akm::SuiteB, suite: 11, ..wide(Cipher::Gcmp128, 8, sae()) },
        Stage { akm: Akm::SuiteB192, suite: 12, pmk: vec![0x5a; 48], ..wide(Cipher::Gcmp256, 9, sae()) },
        Stage { akm: Akm::SuiteB192, suite: 12, pmk: vec![0x5a; 48], ..wide(Cipher::Ccmp256, 10, sae()) },
        Stage { akm: Akm::Owe, suite: 18, ..sae() },
        Stage { akm: Akm::Owe, suite: 18, pmk: vec![0x5a; 64], ..sae() },
        Stage { pmk: vec![0x5a; 32], ..ft_stage(Akm::FtPsk, 4, 3) },
        Stage { pmk: vec![0x5a; 32], ..ft_stage(Akm::FtSae, 9, 0) },
        Stage { akm: Akm::SaeExt, suite: 24, pmk: vec![0x5a; 48], ..wide(Cipher::Gcmp256, 9, sae()) },
    ];
    for stage in stages {
        let digits = "5a".repeat(stage.pmk.len());
        let mut sessions = stage.seen(&[1, 2, 3, 4], &format!("pmk {digits}"));
        assert_eq!(only(&sessions).akm(), Some(stage.akm));
        assert_eq!(stage.data(&mut sessions).unwrap(), b"packet", "{:?}", stage.akm);
        assert_eq!(stage.group_data(&mut sessions).unwrap(), b"to all", "{:?}", stage.akm);
    }
}

#[test]
fn wep_keys_are_tried_on_their_networks() {
    let header = header(0x41, AP, STATION);
    let key = [1, 2, 3, 4, 5];
    let body = [&[7, 8, 9, 0][..], &crate::stream::seal(&[&[7, 8, 9], &key[..]].concat(), b"packet")].concat();
    let after = |keys: &str| {
        let mut sessions = Sessions::new(Arc::new(Keys::parse(keys.as_bytes()).unwrap()));
        sessions.network(AP, b"stage");
        let clear = sessions.decrypt(&header, Some(&body)).map(<[u8]>::to_vec);
        (clear, only(&sessions).state())
    };
    for keys in
        ["wep 0102030405", "wep 0102030405 stage", "wep 0102030406\nwep 000102030405060708090a0b0c\nwep 0102030405"]
    {
        assert_eq!(after(keys), (Ok(b"packet".to_vec()), State::Keys), "{keys}");
    }
    assert_eq!(after("wep 0102030406"), (Err(Undecrypted::OtherKey), State::WrongKey));
    assert_eq!(after("wep 0102030405 other"), (Err(Undecrypted::NoKey), State::NoWepKey));
    assert_eq!(after(KEYS), (Err(Undecrypted::NoKey), State::NoWepKey));
}

#[test]
fn a_flood_of_strangers_does_not_push_keys_out_or_grow() {
    let stage = psk_stage("good passphrase");
    let mut sessions = stage.seen(&[1, 2, 3, 4], KEYS);
    for number in 0..20_000u64 {
        let stranger = MacAddr::from_u64(0x0400_0000_0000 + number);
        let _ =
            sessions.decrypt(&header(0x41, AP, stranger), Some(&[0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        let _ = sessions.decrypt(&header(0x42, MacAddr::BROADCAST, stranger), None);
        sessions.network(stranger, b"many");
        let (_, packet) = stage.message(1);
        sessions.eapol(&header(0x02, stranger, AP), &packet);
        assert!(sessions.pairs().count() <= 2_048 && sessions.groups().count() <= 1_024);
    }
    assert!(stage.data(&mut sessions).is_ok());
    assert_eq!(sessions.total().protected, 40_001);
}

#[test]
fn debug_tells_no_key() {
    let sessions = psk_stage("good passphrase").seen(&[1, 2, 3], KEYS);
    assert_eq!(format!("{sessions:?}"), "Sessions(1 pairs)");
    assert_eq!(format!("{:?}", only(&sessions)), format!("Pair({AP} {STATION} Keys)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_messages_neither_panic_nor_prove_anything(number in 1u8..6, at: prop::sample::Index, bit in 0u8..8, cut in 0usize..20) {
        let stage = Stage { pmk: vec![0x5a; 32], ..psk_stage("good passphrase") };
        let digits = "5a".repeat(32);
        let mut sessions = Sessions::new(Arc::new(Keys::parse(format!("pmk {digits}").as_bytes()).unwrap()));
        let (header, mut packet) = stage.message(number);
        let at = at.index(packet.len());
        packet[at] ^= 1 << bit;
        packet.truncate(packet.len() - cut);
        for other in 1..6 {
            let (other_header, other_packet) = stage.message(other);
            if other == number {
                sessions.eapol(&header, &packet);
            } else if other != 2 && other != 3 {
                sessions.eapol(&other_header, &other_packet);
            }
        }
        // Without messages 2 and 3, or with the one of them that is damaged, there is no proof.
        prop_assert!(!sessions.pairs().any(|pair| pair.state() == State::Keys), "byte {at}");
    }
}

/// Behind LLC, in the MPDU between the two, and in the one to all.
const TO_ONE: &[u8] = b"payload between two, of 35 bytes ...";
const TO_ALL: &[u8] = b"payload to all";
const LLC: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0xb5];

/// Frames as a pcap of bare 802.11.
fn file(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4u32, 4 << 16 | 2, 0, 0, 65_535, 105].map(u32::to_le_bytes).concat();
    for (number, frame) in (1u32..).zip(frames) {
        let len = frame.len() as u32;
        file.extend([number, 0, len, len].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

fn emitted(header: &Header, body: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    header.emit(&mut bytes);
    body.iter().for_each(|part| bytes.extend(*part));
    bytes
}

/// The two MPDUs: header and body.
fn mpdus(stage: &Stage) -> [(Header, Vec<u8>); 2] {
    let (one, all) = (header(0x41, AP, STATION), header(0x42, MacAddr::BROADCAST, AP));
    let gtk = &GTK[..key_len(stage.cipher).unwrap()];
    let one_body = seal(stage.cipher, stage.ptk().temporal_key(), &one, 7, &[&LLC, TO_ONE].concat());
    let all_body = seal(stage.cipher, gtk, &all, 7, &[&LLC, TO_ALL].concat());
    [(one, one_body), (all, all_body)]
}

/// A four-way handshake, unless only keys of the session are given, and two MPDUs.
fn pcap(stage: &Stage, with_handshake: bool) -> Vec<u8> {
    let mut frames = vec![[
        &[0x80, 0, 0, 0][..],
        &[0xff; 6],
        &AP.0,
        &AP.0,
        &[0; 2],
        &[0; 8],
        &[100, 0, 0x11, 0, 0, 5],
        b"stage",
        &stage.rsn(),
    ]
    .concat()];
    for number in 1..=if with_handshake { 4 } else { 0 } {
        let (header, packet) = stage.message(number);
        frames.push(emitted(&header, &[&[0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e], &packet]));
    }
    frames.extend(mpdus(stage).iter().map(|(header, body)| emitted(header, &[body])));
    file(&frames)
}

/// The payloads that tshark sees in a capture.
fn payloads(capture: &[u8], keys: &[String]) -> Vec<String> {
    let path = std::env::temp_dir().join(format!("txop-{}-{:?}.pcap", std::process::id(), std::thread::current().id()));
    std::fs::write(&path, capture).unwrap();
    let mut command = std::process::Command::new("tshark");
    command.args(["-o", "wlan.enable_decryption:TRUE"]);
    keys.iter().for_each(|key| {
        command.args(["-o", &format!("uat:80211_keys:{key}")]);
    });
    command.arg("-r").arg(&path).args(["-Y", "llc.type == 0x88b5", "-T", "fields", "-e", "data.data"]);
    let found = command.output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let shown = String::from_utf8_lossy(&found.stdout);
    shown.split_whitespace().map(str::to_owned).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn has_tshark() -> bool {
    let is_there = std::process::Command::new("tshark").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("SKIPPED: no tshark");
    }
    is_there
}

/// What is opened here of a stage, with these lines of a key file.
fn opened(stage: &Stage, with_handshake: bool, lines: &str) -> Vec<String> {
    let mut sessions = stage.seen(if with_handshake { &[1, 2, 3, 4] } else { &[] }, lines);
    let opened = mpdus(stage).map(|(header, body)| {
        let clear = sessions.decrypt(&header, Some(&body)).expect("a key that fits");
        assert_eq!(clear[..8], LLC);
        hex(&clear[8..])
    });
    opened.to_vec()
}

/// tshark is an independent implementation: from the same messages and keys it derives the same keys, and both see the same payload.
fn both_open(stage: &Stage, with_handshake: bool, lines: &str, keys: &[String]) {
    let expected = vec![hex(TO_ONE), hex(TO_ALL)];
    let what = (stage.akm, stage.cipher, lines.split_whitespace().next());
    assert_eq!(opened(stage, with_handshake, lines), expected, "{what:?}");
    // tshark leaves frames to all of TKIP and of Suite B with 192 bits as they are.
    let seen = if stage.cipher == Cipher::Tkip || stage.akm == Akm::SuiteB192 { 1 } else { 2 };
    assert_eq!(payloads(&pcap(stage, with_handshake), keys), expected[..seen], "tshark {what:?}");
}

const MSK: [u8; 64] = {
    let mut msk = [0x5a; 64];
    let mut at = 32;
    while at < 64 {
        msk[at] = 0xa5;
        at += 1;
    }
    msk
};

#[test]
fn tshark_derives_the_same_keys_of_a_mobility_domain() {
    if !has_tshark() {
        return;
    }
    let passphrase = ["\"wpa-pwd\",\"good passphrase:stage\"".to_owned()];
    both_open(&psk_stage("good passphrase"), true, KEYS, &passphrase);
    both_open(&ft_stage(Akm::FtPsk, 4, 3), true, KEYS, &passphrase);
    let fast = Stage { pmk: vec![0xa5; 32], ..ft_stage(Akm::FtDot1x, 3, 3) };
    both_open(&fast, true, &format!("msk {}", hex(&MSK)), &[format!("\"msk\",\"{}\"", hex(&MSK))]);
}

#[test]
#[ignore = "slow: tshark twenty times"]
fn tshark_opens_what_every_key_management_seals() {
    if !has_tshark() {
        return;
    }
    let with = |cipher, cipher_suite, stage: Stage| Stage { cipher, cipher_suite, ..stage };
    let dot1x = || Stage { akm: Akm::Dot1x, suite: 1, version: 2, ..sae() };
    let wide = |stage| Stage { pmk: vec![0x5a; 48], ..stage };
    for stage in [
        sae(),
        with(Cipher::Gcmp128, 8, sae()),
        dot1x(),
        with(Cipher::Tkip, 2, Stage { version: 1, ..dot1x() }),
        Stage { akm: Akm::Dot1xSha256, suite: 5, version: 3, ..sae() },
        Stage { akm: Akm::PskSha256, suite: 6, version: 3, ..sae() },
        Stage { akm: Akm::Owe, suite: 18, ..sae() },
        with(Cipher::Gcmp128, 8, Stage { akm: Akm::SuiteB, suite: 11, ..sae() }),
        wide(with(Cipher::Gcmp256, 9, Stage { akm: Akm::SuiteB192, suite: 12, ..sae() })),
        wide(with(Cipher::Ccmp256, 10, Stage { akm: Akm::SuiteB192, suite: 12, ..sae() })),
        Stage { pmk: vec![0x5a; 32], ..ft_stage(Akm::FtPsk, 4, 3) },
        Stage { pmk: vec![0x5a; 32], ..ft_stage(Akm::FtSae, 9, 0) },
    ] {
        let pmk = hex(&stage.pmk);
        println!("{:?} {:?}", stage.akm, stage.cipher);
        both_open(&stage, true, &format!("pmk {pmk}"), &[format!("\"wpa-psk\",\"{pmk}\"")]);
    }
    for stage in [dot1x(), wide(with(Cipher::Gcmp256, 9, Stage { akm: Akm::SuiteB192, suite: 12, ..sae() }))] {
        both_open(&stage, true, &format!("msk {}", hex(&MSK_OF_ONE)), &[format!("\"msk\",\"{}\"", hex(&MSK_OF_ONE))]);
    }
}

/// The beginning of it is the PMK of the stages.
const MSK_OF_ONE: [u8; 64] = [0x5a; 64];

/// Keys of the session open what no handshake in the capture does, as of FILS or after a fast transition.
#[test]
fn tshark_opens_the_same_with_the_keys_of_a_session() {
    let stages = [
        psk_stage("good passphrase"),
        Stage { suite: 14, ..psk_stage("good passphrase") },
        Stage { cipher: Cipher::Ccmp256, cipher_suite: 10, ..psk_stage("good passphrase") },
        Stage { cipher: Cipher::Gcmp128, cipher_suite: 8, ..psk_stage("good passphrase") },
        Stage { cipher: Cipher::Gcmp256, cipher_suite: 9, ..psk_stage("good passphrase") },
        Stage { cipher: Cipher::Tkip, cipher_suite: 2, ..psk_stage("good passphrase") },
    ];
    for stage in stages {
        let (one, all) = (hex(stage.ptk().temporal_key()), hex(&GTK[..key_len(stage.cipher).unwrap()]));
        let lines = format!("tk {all}\ntk {one}");
        let expected = vec![hex(TO_ONE), hex(TO_ALL)];
        assert_eq!(opened(&stage, false, &lines), expected, "{:?}", stage.cipher);
        if has_tshark() {
            // Of TKIP tshark wants the key of the MPDUs alone, without those of Michael.
            let len = if stage.cipher == Cipher::Tkip { 32 } else { one.len() };
            let keys = [one, all].map(|key| format!("\"tk\",\"{}\"", &key[..len]));
            assert_eq!(payloads(&pcap(&stage, false), &keys), expected, "tshark {:?}", stage.cipher);
        }
    }
}

#[test]
fn keys_of_a_session_are_its_alone() {
    let stage = psk_stage("good passphrase");
    let mut sessions = stage.seen(&[], &format!("tk {}\ntk {}", "ab".repeat(16), hex(stage.ptk().temporal_key())));
    assert_eq!(stage.group_data(&mut sessions), Err(Undecrypted::NoGroupKey));
    assert_eq!(only_state(&sessions), None, "no frame between two yet");
    assert!(stage.data(&mut sessions).is_ok());
    assert_eq!((only(&sessions).state(), only(&sessions).handshakes()), (State::Keys, 0));
    let header = header(0x41, AP, STATION);
    let again = seal(stage.cipher, stage.ptk().temporal_key(), &header, 7, b"packet");
    assert_eq!(sessions.decrypt(&header, Some(&again)).map(<[u8]>::to_vec), Ok(b"packet".to_vec()));
    assert_eq!((only(&sessions).counts().decrypted, only(&sessions).counts().behind), (2, 1), "a packet number again");
    assert_eq!(
        stage.seen(&[1, 2, 3, 4], "tk 000102030405060708090a0b0c0d0e0f").pairs().next().unwrap().state(),
        State::NoKeyForNetwork
    );
}

fn only_state(sessions: &Sessions) -> Option<State> {
    sessions.pairs().next().map(Pair::state)
}

/// WEP with 104 bits, of which there is no public capture with its key.
#[test]
fn tshark_opens_wep_with_104_bits() {
    let key = "000102030405060708090a0b0c";
    let bytes: Vec<u8> = (0..13).collect();
    let header = header(0x41, AP, STATION);
    let sealed = crate::stream::seal(&[&[7, 8, 9][..], &bytes].concat(), &[&LLC, TO_ONE].concat());
    let body = [&[7, 8, 9, 0][..], &sealed].concat();
    let mut sessions = Sessions::new(Arc::new(Keys::parse(format!("wep {key}").as_bytes()).unwrap()));
    assert_eq!(sessions.decrypt(&header, Some(&body)).map(|clear| hex(&clear[8..])), Ok(hex(TO_ONE)));
    if has_tshark() {
        let capture = file(&[emitted(&header, &[&body])]);
        assert_eq!(payloads(&capture, &[format!("\"wep\",\"{key}\"")]), [hex(TO_ONE)]);
    }
}
