//! Multi-link devices whose membership is known, in captures made frame by frame: no real capture with several links of one
//! device is known.

use crate::handmade::{element, Address, Handmade, BROADCAST};
use txop_air::report::{MultiLinkDevice, Report};

/// An access point with two links, and a station with two.
const AP: Address = [2, 0, 0, 0, 0, 0xa0];
const AP_LINKS: [Address; 2] = [[2, 0, 0, 0, 0, 0xa1], [2, 0, 0, 0, 0, 0xa2]];
const STATION: Address = [2, 0, 0, 0, 0, 0xb0];
const STATION_LINKS: [Address; 2] = [[2, 0, 0, 0, 0, 0xb1], [2, 0, 0, 0, 0, 0xb2]];

fn name(address: Address) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}

/// A Basic Multi-Link element of this device, with a profile of each link named.
fn multi_link(mld: Address, own_id: Option<u8>, profiles: &[(u8, Address)]) -> Vec<u8> {
    let control: u16 = own_id.map_or(0, |_| 0x0010);
    let mut data = vec![107];
    data.extend(control.to_le_bytes());
    data.push(7 + own_id.map_or(0, |_| 1));
    data.extend(mld);
    data.extend(own_id);
    for (id, address) in profiles {
        // STA Control: link ID, complete profile, STA MAC Address Present; STA Info: its length and the address.
        let mut profile = (u16::from(*id) | 0x0030).to_le_bytes().to_vec();
        profile.push(7);
        profile.extend(address);
        data.extend([0, profile.len() as u8]);
        data.extend(profile);
    }
    element(255, &data)
}

fn beacon(capture: &mut Handmade, bssid: Address, link: &[u8]) {
    capture.beacon(bssid, 0x0001, &[element(0, b"mlo"), element(3, &[6]), link.to_vec()].concat());
}

/// An association request from a link to an access point's link.
fn association(capture: &mut Handmade, from: Address, to: Address, link: &[u8]) {
    let body = [&[0x01, 0x00, 10, 0], element(0, b"mlo").as_slice(), link].concat();
    capture.frame(0x0000, [to, from, to], &body);
}

/// QoS data up, every fourth a retry.
fn traffic(capture: &mut Handmade, from: Address, to: Address, frames: usize) {
    for at in 0..frames {
        let retry = if at % 4 == 3 { 0x0800 } else { 0 };
        capture.frame(0x0188 | retry, [to, from, to], &[[0, 0].as_slice(), &[0; 60]].concat());
    }
}

fn both() -> Handmade {
    let mut capture = Handmade::on(2_437);
    for _ in 0..5 {
        for (id, bssid) in (0u8..).zip(AP_LINKS) {
            beacon(&mut capture, bssid, &multi_link(AP, Some(id), &[]));
        }
    }
    association(&mut capture, STATION_LINKS[0], AP_LINKS[0], &multi_link(STATION, None, &[(1, STATION_LINKS[1])]));
    traffic(&mut capture, STATION_LINKS[0], AP_LINKS[0], 40);
    traffic(&mut capture, STATION_LINKS[1], AP_LINKS[1], 20);
    capture
}

fn of(report: &Report, mld: Address) -> &MultiLinkDevice {
    let found = report.multi_link_devices.iter().find(|device| device.mld == name(mld));
    found.unwrap_or_else(|| panic!("{:?}", report.multi_link_devices))
}

fn addresses(device: &MultiLinkDevice) -> Vec<&str> {
    device.links.iter().map(|link| link.address.as_str()).collect()
}

#[test]
fn links_of_one_device_are_summed() {
    let report = both().report();
    assert!(report.unclear_links.is_empty(), "{:?}", report.unclear_links);
    let station = of(&report, STATION);
    assert_eq!((station.kind, station.links_captured), ("station", 2));
    assert_eq!(addresses(station), STATION_LINKS.map(name));
    // One association request and 40 frames on the first link, 20 on the second; every fourth is a retry.
    assert_eq!((station.frames_sent, station.data_frames_sent), (61, 60));
    assert_eq!((station.mpdu_retry.frames, station.mpdu_retry.retries), (60, 15));
    let links: Vec<_> = station
        .links
        .iter()
        .map(|link| (link.frames_sent, link.mpdu_retry.retries, link.own_claims, link.named_by_others))
        .collect();
    assert_eq!(links, [(41, 10, 1, 0), (20, 5, 0, 1)]);
    let airtime: f64 = station.links.iter().map(|link| link.airtime_us.expect("an airtime")).sum();
    assert_eq!(station.airtime_us, Some(airtime));
    for link in &station.links {
        let row = report.stations.iter().find(|row| row.address == link.address).expect("a station");
        assert_eq!((row.frames_sent, row.airtime_us), (link.frames_sent, link.airtime_us), "its own figures stay");
    }
    let ap = of(&report, AP);
    assert_eq!(
        (ap.kind, ap.frames_sent, addresses(ap)),
        ("ap", 10, AP_LINKS.map(name).to_vec().iter().map(String::as_str).collect())
    );
    assert_eq!(ap.links.iter().map(|link| link.link_id).collect::<Vec<_>>(), [Some(0), Some(1)]);
}

#[test]
fn a_neighbour_report_names_links_that_were_not_captured() {
    let mut capture = Handmade::on(2_437);
    // One entry of 16 bytes: BSSID, short SSID, BSS parameters, PSD, then MLD ID 0 and link 1.
    let mut report = vec![0x00, 16, 131, 37, 0xff];
    report.extend(AP_LINKS[1]);
    report.extend([1, 2, 3, 4, 0, 0xfe, 0, 1, 0]);
    let elements = [multi_link(AP, Some(0), &[]), element(201, &report)].concat();
    (0..3).for_each(|_| beacon(&mut capture, AP_LINKS[0], &elements));
    let report = capture.report();
    let device = of(&report, AP);
    assert_eq!((device.links.len(), device.links_captured, device.frames_sent), (2, 1, 3));
    let other = device.links.iter().find(|link| link.address == name(AP_LINKS[1])).expect("the other link");
    assert_eq!((other.link_id, other.frames_sent, other.airtime_us), (Some(1), 0, None));
    assert!(other.named_by_others > 0 && other.own_claims == 0);
}

#[test]
fn a_link_that_two_devices_claim_is_in_neither() {
    let mut capture = both();
    let thief = [2, 0, 0, 0, 0, 0xee];
    association(&mut capture, [2, 0, 0, 0, 0, 0xe1], AP_LINKS[0], &multi_link(thief, None, &[(1, STATION_LINKS[1])]));
    let report = capture.report();
    let [unclear] = report.unclear_links.as_slice() else { panic!("{:?}", report.unclear_links) };
    assert_eq!(unclear.address, name(STATION_LINKS[1]));
    assert_eq!(unclear.mlds, [name(STATION), name(thief)]);
    assert_eq!(
        unclear.text.text(),
        "2 frames claim 02:00:00:00:00:b2 for 2 multi-link devices, 1 of them for one and 1 for others: which one it is a \
         link of can't be determined"
    );
    let station = of(&report, STATION);
    assert_eq!((addresses(station), station.frames_sent), (vec![name(STATION_LINKS[0]).as_str()], 41));
}

#[test]
fn devices_beyond_those_kept_make_the_count_a_lower_bound() {
    let mut capture = both();
    for thief in 0..6 {
        let element = multi_link([2, 0, 0, 0, 1, thief], None, &[(1, STATION_LINKS[1])]);
        association(&mut capture, [2, 0, 0, 0, 2, thief], AP_LINKS[0], &element);
    }
    let report = capture.report();
    let [unclear] = report.unclear_links.as_slice() else { panic!("{:?}", report.unclear_links) };
    assert_eq!(unclear.mlds.len(), 4);
    assert_eq!(
        unclear.text.text(),
        "7 frames claim 02:00:00:00:00:b2 for at least 5 multi-link devices, 1 of them for one and 6 for others: which one it \
         is a link of can't be determined"
    );
}

#[test]
fn stations_without_the_element_are_no_device() {
    let mut capture = Handmade::on(2_437);
    capture.beacon(AP_LINKS[0], 0x0001, &element(0, b"plain"));
    // A probe request says what a station could do, before it is a link of anything.
    let body = [element(0, b""), multi_link(STATION, None, &[])].concat();
    capture.frame(0x0040, [BROADCAST, STATION_LINKS[0], BROADCAST], &body);
    let report = capture.report();
    assert!(report.multi_link_devices.is_empty() && report.unclear_links.is_empty());
}

#[test]
fn of_a_chosen_network_only_its_links_count() {
    let selection = txop_air::Selection { bssid: Some(wire::ieee80211::MacAddr(AP_LINKS[1])), ..Default::default() };
    let report = both().report_with(txop_air::Options { selection, ..txop_air::Options::default() });
    let station = of(&report, STATION);
    assert_eq!((addresses(station), station.frames_sent), (vec![name(STATION_LINKS[1]).as_str()], 20));
}
