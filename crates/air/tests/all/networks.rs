//! Networks, their channels, and what their stations do, in captures made frame by frame.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::Report;

const AP: Address = [2, 0, 0, 0, 0, 1];
const OTHER_AP: Address = [2, 0, 0, 0, 0, 2];
const STATION: Address = [2, 0, 0, 0, 0, 9];
const ESS: u16 = 0x0001;

fn channel(report: &Report, bssid: &str) -> Option<u16> {
    report.bss.iter().find(|network| network.bssid == bssid).unwrap_or_else(|| panic!("no {bssid}")).channel
}

#[test]
fn a_channel_is_the_one_named_else_the_one_heard() {
    let mut capture = Handmade::on(6_135);
    // HE Operation with 6 GHz Operation Information: primary channel 37, 80 MHz.
    let he_operation = [36, 0, 0, 2, 0, 0, 0, 37, 2, 39, 0, 6];
    capture.beacon(AP, ESS, &[element(0, b"six"), element(255, &he_operation)].concat());
    // Names none: the receiver was on 5,200 MHz.
    capture.tune(5_200);
    capture.beacon(OTHER_AP, ESS, &element(0, b"five"));
    // Names 6, and was heard beside it.
    capture.tune(2_442);
    capture.beacon([2, 0, 0, 0, 0, 3], ESS, &[element(0, b"two"), element(3, &[6])].concat());
    // Sends no beacon that was captured.
    capture.uplink(STATION, [2, 0, 0, 0, 0, 4], &[0; 20]);
    // Who probes for any network is on no channel of one.
    capture.frame(0x0040, [BROADCAST, STATION, BROADCAST], &element(0, b""));
    let report = capture.report();
    let channels = ["01", "02", "03", "04"].map(|last| channel(&report, &format!("02:00:00:00:00:{last}")));
    assert_eq!(channels, [Some(37), Some(40), Some(6), Some(7)]);
    assert_eq!(channel(&report, "ff:ff:ff:ff:ff:ff"), None);
}

#[test]
fn only_action_frames_of_robust_categories_count_as_robust() {
    let rsn = [1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0xc0, 0];
    let elements = [element(0, b"x"), element(1, &[0x82]), element(48, &rsn)].concat();
    let mut capture = Handmade::on(2_437);
    capture.beacon(AP, ESS | 0x10, &elements);
    let public = [4, 0, 1];
    for action in [&[3, 2, 0, 0x58, 39, 0][..], &[10, 7, 1, 0, 0, 0, 0], &public, &[7, 0, 0], &[21, 2, 0x12], &[127, 1]]
    {
        capture.action(AP, STATION, AP, action);
        capture.action(AP, BROADCAST, AP, action);
    }
    capture.frame(0x40d0, [STATION, AP, AP], &[0x55; 24]); // encrypted
    capture.frame(0x00c0, [STATION, AP, AP], &[7, 0]); // deauthentication
    let report = capture.report();
    let audit = report.capabilities.iter().find(|audit| audit.role == "ap").expect("an access point");
    let row = audit.rows.iter().find(|row| row.capability == "Protected Management Frames").expect("a row");
    assert_eq!(row.seen_detail.as_deref(), Some("1 of 4 unicast robust management frames it sent"));
}

/// One TKIP header in 256 is one of CCMP, too; its MIC and ICV are 4 bytes longer all the same.
#[test]
fn the_payload_of_tkip_frames_does_not_depend_on_their_number() {
    let mut capture = Handmade::on(2_437);
    let frames = 1_000u16;
    for number in 1..=frames {
        let [tsc0, tsc1] = number.to_le_bytes();
        let mut body = vec![tsc1, (tsc1 | 0x20) & 0x7f, tsc0, 0x20, 0, 0, 0, 0];
        body.extend([0xee; 8 + 100 + 12]);
        capture.frame(0x4108, [AP, STATION, AP], &body);
    }
    let report = capture.report();
    let payload = report.waterfalls.first().map(|waterfall| waterfall.payload_bytes);
    assert_eq!(payload, Some(100 * u64::from(frames)), "without FCS in the capture");
}
