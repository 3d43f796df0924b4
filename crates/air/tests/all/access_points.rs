//! The list of access points and the audit's rows of amendments, in captures made frame by frame.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::{AccessPoint, Report};
use txop_air::report::{CapabilityRow, Claim};

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];
const ESS: u16 = 0x0001;
const PRIVACY: u16 = 0x0011;
const MLD: Address = [2, 0, 0, 0, 0, 0x42];

/// An RSN element: CCMP for all, these key management suites and RSN Capabilities.
fn rsn(suites: &[u8], capabilities: u8) -> Vec<u8> {
    let mut data = vec![1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, suites.len() as u8, 0];
    suites.iter().for_each(|suite| data.extend([0, 0x0f, 0xac, *suite]));
    data.extend([capabilities, 0]);
    element(48, &data)
}

/// The WPA vendor element with TKIP and PSK.
fn wpa() -> Vec<u8> {
    element(221, &[0, 0x50, 0xf2, 1, 1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2])
}

fn one(capture: &Handmade) -> AccessPoint {
    let report = capture.report();
    assert_eq!(report.access_points.len(), 1, "{:?}", report.access_points);
    report.access_points[0].clone()
}

#[test]
fn security_in_the_words_of_the_wi_fi_alliance() {
    let said = |info: u16, elements: &[Vec<u8>]| {
        let mut capture = Handmade::on(2_437);
        capture.beacon(AP, info, &[element(0, b"x"), element(1, &[0x82]), elements.concat()].concat());
        let row = one(&capture);
        (row.security.unwrap_or_default(), row.key_managements.join(" "), row.pmf)
    };
    let expected = |security: &str, keys: &str, pmf: Option<&'static str>| (security.to_owned(), keys.to_owned(), pmf);
    assert_eq!(said(ESS, &[]), expected("open", "", None));
    assert_eq!(said(PRIVACY, &[]), expected("WEP", "", None));
    assert_eq!(said(PRIVACY, &[wpa()]), expected("WPA Personal", "WPA PSK", None));
    assert_eq!(said(PRIVACY, &[rsn(&[2], 0)]), expected("WPA2 Personal", "PSK", Some("no")));
    assert_eq!(said(PRIVACY, &[rsn(&[19, 20], 0)]).0, "WPA2 Personal");
    assert_eq!(said(PRIVACY, &[wpa(), rsn(&[2], 0)]).0, "WPA/WPA2 Personal");
    assert_eq!(said(PRIVACY, &[rsn(&[2, 8], 0x80)]), expected("WPA2/WPA3 Personal", "PSK SAE", Some("capable")));
    assert_eq!(said(PRIVACY, &[rsn(&[8, 24], 0xc0)]), expected("WPA3 Personal", "SAE SAE-EXT", Some("required")));
    assert_eq!(said(PRIVACY, &[rsn(&[1, 3], 0)]).0, "WPA2 Enterprise");
    assert_eq!(said(PRIVACY, &[rsn(&[5], 0x80)]).0, "WPA2 Enterprise");
    assert_eq!(said(PRIVACY, &[rsn(&[5], 0xc0)]).0, "WPA3 Enterprise");
    assert_eq!(said(PRIVACY, &[rsn(&[12], 0xc0)]).0, "WPA3 Enterprise 192-bit");
    assert_eq!(said(PRIVACY, &[rsn(&[18], 0xc0)]).0, "Enhanced Open (OWE)");
    assert_eq!(said(ESS, &[element(221, &[0x50, 0x6f, 0x9a, 0x1c, 0])]).0, "open (with an OWE twin)");
    assert_eq!(said(PRIVACY, &[rsn(&[2], 0)[..12].to_vec()]), expected("", "", None), "the element is cut");
    let strange = said(PRIVACY, &[rsn(&[31], 0)]);
    assert_eq!(strange.0, "encrypted, with a key management that is not known here");
    assert_eq!(strange.1, "suite 31");
}

#[test]
fn names_hidden_and_hostile() {
    let mut capture = Handmade::on(2_412);
    capture.beacon(AP, ESS, &[element(0, &[0; 4]), element(3, &[1])].concat());
    assert_eq!((one(&capture).hidden, one(&capture).ssids), (Some(true), vec![]));
    let mut body = vec![0; 12];
    body.extend(element(0, b"<b>\x1b[31m\xff"));
    capture.frame(0x0050, [STATION, AP, AP], &body);
    body.truncate(12);
    body.extend(element(0, b"second"));
    capture.frame(0x0050, [STATION, AP, AP], &body);
    let row = one(&capture);
    assert_eq!((row.hidden, row.ssids), (Some(true), vec!["<b>\\x1b[31m\\xff".to_owned(), "second".to_owned()]));
    assert_eq!((row.beacons, row.first_seen_us, row.last_seen_us), (1, Some(0.0), Some(20_000.0)));
}

#[test]
fn channel_width_and_standards() {
    let described = |mhz: u16, elements: &[Vec<u8>]| {
        let mut capture = Handmade::on(mhz);
        capture.beacon(AP, ESS, &elements.concat());
        let row = one(&capture);
        (row.channel, row.frequency_mhz, row.width_mhz, row.standards.join("/"))
    };
    let expected = |channel, mhz, width, standards: &str| (Some(channel), Some(mhz), Some(width), standards.to_owned());
    let dsss = element(1, &[0x82, 0x84, 0x8b, 0x96]);
    let ofdm = element(1, &[0x8c, 0x12, 0x98, 0x24]);
    assert_eq!(described(2_462, &[dsss.clone(), element(3, &[9])]), expected(9, 2_452, 20, "b"));
    let ht =
        [element(45, &[0; 26]), element(61, &[36, 0x05, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])];
    assert_eq!(described(5_180, &[ofdm.clone(), ht.concat()]), expected(36, 5_180, 40, "a/n"));
    let vht = [element(191, &[0; 12]), element(192, &[1, 42, 50, 0, 0])];
    assert_eq!(described(5_200, &[ofdm.clone(), ht.concat(), vht.concat()]), expected(36, 5_180, 160, "a/n/ac"));
    let mut he = vec![35];
    he.extend([0; 21]);
    let mut eht = vec![108];
    eht.extend([0; 11]);
    let eht_operation = [106, 1, 0, 0, 0, 0, 4, 31, 63];
    let new = [
        element(255, &he),
        element(255, &[36, 0, 0, 2, 0, 0, 0, 37, 3, 39, 47, 6]),
        element(255, &eht),
        element(255, &eht_operation),
    ];
    assert_eq!(described(6_135, &[ofdm.clone(), new[..2].concat()]), expected(37, 6_135, 160, "a/ax"));
    assert_eq!(described(6_135, &[ofdm, new.concat()]), expected(37, 6_135, 320, "a/ax/be"));
}

#[test]
fn stations_are_those_with_data() {
    let mut capture = Handmade::on(2_412);
    capture.beacon(AP, ESS, &[element(0, b"x"), element(1, &[0x82])].concat());
    for station in [[2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 8], [2, 0, 0, 0, 0, 9]] {
        capture.uplink(station, AP, &[0; 40]);
    }
    capture.frame(0x0048, [AP, [2, 0, 0, 0, 0, 7], AP], &[]); // Null
    capture.frame(0x0208, [BROADCAST, AP, [2, 0, 0, 0, 0, 5]], &[0; 40]); // to a group
    assert_eq!(one(&capture).stations, 2);
}

fn row<'a>(report: &'a Report, role: &str, name: &str) -> Option<&'a CapabilityRow> {
    let audit = report.capabilities.iter().find(|audit| audit.role == role).unwrap_or_else(|| panic!("no {role}"));
    audit.rows.iter().find(|row| row.capability == name)
}

#[test]
fn amendments_claimed_and_used() {
    let mut he = vec![35, 0x06, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x80, 0x03];
    he.resize(22, 0);
    let mut link = vec![107, 0xb0, 0x01, 13];
    link.extend(MLD);
    link.extend([2, 7, 0, 0, 0x01, 0x00]);
    let elements = [
        element(0, b"x"),
        element(1, &[0x8c]),
        rsn(&[2, 4], 0),
        element(54, &[0x34, 0x12, 1]),
        element(70, &[0x12, 0, 0, 0, 0]),
        element(127, &[0, 0, 8, 0, 0, 0, 0, 0, 0, 0]),
        element(255, &he),
        element(255, &link),
    ]
    .concat();
    let mut capture = Handmade::on(5_180);
    capture.beacon(AP, PRIVACY, &elements);
    capture.action(AP, STATION, AP, &[5, 0, 1]);
    capture.action(AP, STATION, AP, &[10, 7, 1, 0, 0, 0, 0]);
    capture.action(AP, STATION, AP, &[22, 6, 1, 216, 3, 0, 0x08, 0]); // TWT accepted
    capture.frame(0x0054, [STATION, AP, AP], &[]); // an NDP announcement
    capture.frame(0x00e0, [AP, STATION, AP], &[21, 0, 0, 0, 0]); // a compressed beamforming report
    capture.frame(0x00b0, [AP, STATION, AP], &[2, 0, 1, 0, 0, 0]); // FT authentication
    capture.uplink(STATION, AP, &[0; 40]);
    let report = capture.report();
    let ap = |name: &str| {
        let row = row(&report, "ap", name).unwrap_or_else(|| panic!("no {name}"));
        (row.claimed, row.claimed_detail.clone().unwrap_or_default(), row.seen, row.note.is_some())
    };
    let yes = |detail: &str, seen| (Claim::Yes, detail.to_owned(), seen, false);
    assert_eq!(ap("Radio Measurement (802.11k)"), yes("neighbor report, beacon passive", Some(1)));
    assert_eq!(ap("BSS Transition (802.11v)"), yes("", Some(1)));
    let domain = "mobility domain 1234, over the air and the distribution system";
    assert_eq!(ap("Fast BSS Transition (802.11r)"), yes(domain, None));
    assert_eq!(ap("TWT Responder"), yes("broadcast TWT", Some(1)));
    assert_eq!(ap("SU Beamformer"), yes("HE", Some(1)));
    assert_eq!(ap("SU Beamformee"), yes("HE", Some(0)));
    assert_eq!(ap("MU Beamformer"), yes("HE", None));
    assert_eq!(ap("Multi-Link Operation").1, "of the multi-link device 02:00:00:00:00:42, link 2, at most 2 at once");
    assert!(row(&report, "ap", "MU Beamformee").is_none());
    assert_eq!(report.access_points[0].mld.as_deref(), Some("02:00:00:00:00:42"));
    let station = |name: &str| row(&report, "station", name).map(|row| (row.claimed, row.seen));
    assert_eq!(station("Fast BSS Transition (802.11r)"), Some((Claim::NotAvailable, Some(1))));
    assert_eq!(station("SU Beamformee"), Some((Claim::NotAvailable, Some(1))));
    let twt = row(&report, "ap", "TWT Responder").and_then(|row| row.seen_detail.clone());
    assert_eq!(twt.as_deref(), Some("1 of 3 action frames it sent, as TWT setups; part of 1 agreements"));
}

#[test]
fn encrypted_action_frames_tell_nothing() {
    let elements = [element(0, b"x"), element(1, &[0x8c]), element(70, &[0x12, 0, 0, 0, 0])].concat();
    let mut capture = Handmade::on(5_180);
    capture.beacon(AP, ESS, &elements);
    capture.frame(0x40d0, [STATION, AP, AP], &[0x55; 24]);
    let report = capture.report();
    let row = row(&report, "ap", "Radio Measurement (802.11k)").expect("a row");
    assert_eq!((row.claimed, row.seen), (Claim::Yes, None));
    assert_eq!(row.seen_detail.as_deref(), Some("its action frames are encrypted"));
}

/// A sounding is not noted as missing where nothing shows that it could have been captured.
#[test]
fn a_beamformer_that_never_sounds_is_noted_only_with_an_occasion() {
    let mut he = vec![35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01];
    he.resize(22, 0);
    let elements = [element(0, b"x"), element(1, &[0x8c]), element(255, &he)].concat();
    let sounded = |control: bool, frames: u8| {
        let mut capture = Handmade::on(5_180);
        capture.beacon(AP, ESS, &elements);
        let request = [&[1, 0, 10, 0][..], &elements].concat();
        capture.frame(0x0000, [AP, STATION, AP], &request);
        for _ in 0..frames {
            capture.frame(0x0208, [STATION, AP, [2, 0, 0, 0, 0, 5]], &[0; 40]);
        }
        if control {
            capture.frame(0x00b4, [STATION, AP, [0; 6]], &[]);
        }
        let report = capture.report();
        row(&report, "ap", "SU Beamformer").expect("a row").note.as_ref().map(|note| note.text().to_owned())
    };
    let note = sounded(true, 60).expect("a note");
    assert!(note.starts_with("claimed, never used in ") && note.ends_with("with an occasion in 60"), "{note}");
    assert_eq!(sounded(false, 60), None, "no control frames");
    assert_eq!(sounded(true, 40), None, "too few");
}

#[test]
fn a_channel_of_another_band_gives_no_frequency() {
    let mut capture = Handmade::on(5_180);
    capture.beacon(AP, ESS, &[element(0, b"x"), element(1, &[0x8c]), element(3, &[11])].concat());
    let row = one(&capture);
    assert_eq!((row.channel, row.frequency_mhz), (Some(11), Some(5_180)));
}

#[test]
fn what_a_cut_beacon_lacks_is_not_called_absent() {
    let elements = [element(0, b"x"), element(1, &[0x8c]), rsn(&[2], 0)].concat();
    let row = |elements: &[u8]| {
        let mut capture = Handmade::on(5_180);
        capture.beacon(AP, PRIVACY, elements);
        let row = one(&capture);
        (row.width_mhz, row.standards)
    };
    assert_eq!(row(&elements), (Some(20), vec!["a"]));
    assert_eq!(row(&elements[..elements.len() - 4]), (None, vec![]));
}

#[test]
fn access_points_of_overlapping_channels_are_named() {
    let limit = |mhz: u16, channel: u8, beacons: usize| {
        let mut capture = Handmade::on(mhz);
        for _ in 0..beacons {
            capture.beacon(AP, ESS, &[element(0, b"x"), element(1, &[0x82]), element(3, &[channel])].concat());
        }
        let limits = capture.report().summary.limits;
        limits
            .into_iter()
            .find(|limit| limit.code == "overlapping-channels")
            .map(|limit| limit.sentence.text().to_owned())
    };
    let said = "1 access point uses channel 8, overlapping channel 6: most of what they send is noise here that no frame shows";
    assert_eq!(limit(2_437, 8, 2).as_deref(), Some(said));
    assert_eq!((limit(2_437, 6, 2), limit(2_437, 11, 2), limit(2_437, 8, 1)), (None, None, None));
    assert_eq!(limit(5_180, 38, 2), None, "channels of 5 GHz do not overlap");
}
