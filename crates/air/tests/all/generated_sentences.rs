//! What is said of frames that no real capture at hand has: PPDUs to several users, links of multi-link devices. Of each made
//! capture: what some sentence must say, and what none must.

use crate::handmade::{element, shared_out, signalled, Address, Handmade, BROADCAST};
use serde_json::Value;

const AP: Address = [2, 0, 0, 0, 0, 1];

/// Every sentence of the report.
fn sentences(capture: &Handmade) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("text").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| walk(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&serde_json::to_value(capture.report()).expect("JSON"), &mut found);
    found
}

fn check(capture: &Handmade, says: &[&str], never: &[&str]) {
    let found = sentences(capture);
    for expected in says {
        assert!(found.iter().any(|text| text.contains(expected)), "{expected}: {found:#?}");
    }
    for forbidden in never {
        assert!(!found.iter().any(|text| text.contains(forbidden)), "{forbidden}: {found:#?}");
    }
}

fn beacons(capture: &mut Handmade, bssid: Address, elements: &[u8]) {
    let body = [[0; 8].as_slice(), &[100, 0, 1, 0], elements].concat();
    capture.frame(0x0080, [BROADCAST, bssid, bssid], &body);
}

/// 60 PPDUs of 484, 242 and 242 of the tones of 80 MHz, of which one user was captured.
#[test]
fn users_that_were_not_captured_are_not_called_unanswered() {
    let mut capture = Handmade::on(6_135);
    for ppdu in 0..60 {
        capture.behind(
            signalled(2, 1_000 + 10_000 * ppdu, 7, 298, &shared_out()),
            0x0288,
            [[2, 0, 0, 0, 0, 12], AP, AP],
            &[0; 42],
        );
    }
    check(
        &capture,
        &["60 PPDUs carry data to or from several users: who of these answered, and when, is unknown"],
        &["got no response", "PPDUs were answered", "a response", "no transmission was captured", "multi-link"],
    );
    let report = capture.report();
    let row = &report.multi_user_ppdus[0];
    assert_eq!((row.users, row.users_captured, row.users_not_captured), (Some(180), Some(60), Some(120)));
}

/// A Basic Multi-Link element of a device, with the profile of one link.
fn multi_link(mld: Address, profile: Option<Address>) -> Vec<u8> {
    let mut data = vec![107, 0, 0, 7];
    data.extend(mld);
    if let Some(address) = profile {
        // Subelement 0: STA Control (link 1, complete, address present), STA Info of 7 bytes.
        data.extend([0, 9, 0x31, 0x00, 7]);
        data.extend(address);
    }
    element(255, &data)
}

const LINKS: [Address; 2] = [[2, 0, 0, 0, 0, 0xb1], [2, 0, 0, 0, 0, 0xb2]];

/// 40 frames of one link of a station and 40 of the other, on two channels, after its association named both.
fn on_two_links() -> Handmade {
    let mut capture = Handmade::on(2_437);
    let request = [&[1, 0, 10, 0], multi_link([2, 0, 0, 0, 0, 0xb0], Some(LINKS[1])).as_slice()].concat();
    capture.frame(0x0000, [AP, LINKS[0], AP], &request);
    for (link, mhz) in LINKS.into_iter().zip([2_437, 5_180]) {
        capture.tune(mhz);
        for _ in 0..40 {
            beacons(&mut capture, AP, &element(0, b"mlo"));
            capture.uplink(link, AP, &[0; 100]);
        }
    }
    capture
}

#[test]
fn links_of_one_device_on_two_channels_are_summed_and_time_away_is_named() {
    let capture = on_two_links();
    check(
        &capture,
        &["frames were captured on 2 channels: gaps across a change of the channel are not observed, and time on one channel counts for all"],
        &["multi-link devices", "is a link of", "several users", "no transmission was captured"],
    );
    let report = capture.report();
    let device = &report.multi_link_devices[0];
    assert_eq!((device.mld.as_str(), device.links_captured, device.frames_sent), ("02:00:00:00:00:b0", 2, 81));
}

#[test]
fn a_link_that_two_devices_claim_is_in_no_sum() {
    let mut capture = on_two_links();
    let other = [&[1, 0, 10, 0], multi_link([2, 0, 0, 0, 0, 0xee], Some(LINKS[1])).as_slice()].concat();
    capture.frame(0x0000, [AP, [2, 0, 0, 0, 0, 0xe1], AP], &other);
    check(
        &capture,
        &["2 frames claim 02:00:00:00:00:b2 for 2 multi-link devices, 1 of them for one and 1 for others: which one it is a link \
           of can't be determined"],
        &["claim 02:00:00:00:00:b1", "several users"],
    );
    let report = capture.report();
    let device = report.multi_link_devices.iter().find(|device| device.mld == "02:00:00:00:00:b0").expect("the device");
    assert_eq!(device.frames_sent, 41, "the contested link is left out");
}
