//! The report of real captures against tshark 4.0, an independent implementation.

mod access_points;
mod amendments;
mod block_ack;
mod block_ack_rows;
mod captures;
mod counts;
mod durations;
mod events;
mod groups;
mod outcome;
mod tshark;
mod wlan_traffic;

use outcome::over;

#[test]
fn counts_agree_with_tshark() {
    over(captures::named(&captures::FAST), counts::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn counts_agree_with_tshark_on_every_capture() {
    over(captures::all(), counts::compare);
}

#[test]
fn network_rows_agree_with_the_wlan_traffic_window() {
    over(captures::named(&captures::FAST), wlan_traffic::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn network_rows_agree_with_the_wlan_traffic_window_on_every_capture() {
    over(captures::all(), wlan_traffic::compare);
}

#[test]
fn access_points_agree_with_the_elements_that_tshark_dissects() {
    over(captures::named(&captures::FAST), access_points::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn access_points_agree_with_the_elements_that_tshark_dissects_on_every_capture() {
    over(captures::all(), access_points::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn uses_of_amendments_agree_with_tshark_on_every_capture() {
    over(captures::all(), amendments::compare);
}

/// Figures read off Wireshark's own window.
#[test]
fn retry_percentages_of_two_well_known_captures() {
    let known = [
        ("wireshark_wpa-Induction.pcap.gz", "00:0c:41:82:b2:55", 713, 35, "4.91"),
        ("trac_1076_tcpdump_dump_all.cap", "20:cf:30:88:5c:35", 2097, 568, "27.09"),
    ];
    for (capture, bssid, packets, retries, percent) in known {
        for path in captures::named(&[capture]) {
            let report = captures::report(&path).expect("a report");
            let row = report.bss.iter().find(|bss| bss.bssid == bssid).expect("the network");
            assert_eq!((row.packets, row.retries), (packets, retries), "{capture}");
            assert_eq!(format!("{:.2}", row.retry_percent.expect("packets")), percent, "{capture}");
        }
    }
}

#[test]
fn events_agree_with_tshark() {
    over(captures::named(&events::CAPTURES), events::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn events_agree_with_tshark_on_every_capture() {
    over(captures::all(), events::compare);
}

#[test]
fn durations_agree_with_tshark() {
    over(captures::named(&captures::FAST), durations::compare);
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn durations_agree_with_tshark_on_every_capture() {
    over(captures::all(), durations::compare);
}

#[test]
fn a_mpdus_are_the_groups_of_the_radiotap_reference() {
    over(captures::named(&groups::CAPTURES), groups::compare);
}

#[test]
fn every_block_ack_is_the_row_that_tshark_reads() {
    over(captures::named(&block_ack::CAPTURES), block_ack_rows::compare);
}

#[test]
fn block_ack_accounting_agrees_with_a_second_one() {
    over(captures::named(&block_ack::CAPTURES), block_ack::compare);
}
