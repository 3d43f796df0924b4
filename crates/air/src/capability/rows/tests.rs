use super::super::peers::Peer;
use super::*;
use crate::capability::peers::Peers;
use crate::usage::{Usage, Widths};
use wire::ieee80211::Elements;

/// A one-stream 2.4 GHz HT station: rates 1 to 54 Mb/s, 40 MHz, SGI 20 and 40, RX STBC 1, coexistence, WMM, WPA2
/// with optional frame protection.
fn dongle() -> Capabilities {
    let mut bytes = vec![1, 8, 0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36, 45, 26, 0x6e, 0x01, 0x17, 0xff];
    bytes.resize(bytes.len() + 22, 0);
    bytes.extend([127, 1, 1, 221, 7, 0x00, 0x50, 0xf2, 2, 0, 1, 0]);
    bytes.extend([48, 20, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0x80, 0]);
    Capabilities::read(Elements::new(&bytes))
}

fn subject<'a>(claimed: Option<&'a Capabilities>, usage: &'a Usage, peers: &'a Peers<'a>) -> Subject<'a> {
    let (is_ap, shows_security, privacy) = (false, true, None);
    Subject { is_ap, claimed, shows_security, privacy, peers, usage, frames: 20_000, pm_frames: 0, pm_changes: 0 }
}

/// One peer with these claims: `sent` MPDUs to it, all of them HT, and `received` from it.
fn with_peer(claimed: &Capabilities, sent: u64, received: u64) -> Peers<'_> {
    let sent_by_generation = [0, 0, sent, 0, 0, 0];
    Peers(vec![Peer { claimed: Some(claimed), sent, sent_by_generation, received }])
}

fn note(row: &CapabilityRow) -> Option<&str> {
    row.note.as_ref().map(Sentence::text)
}

fn find<'a>(rows: &'a [CapabilityRow], name: &str) -> &'a CapabilityRow {
    rows.iter().find(|row| row.capability == name).unwrap_or_else(|| panic!("no row {name:?} in {rows:#?}"))
}

#[test]
fn claimed_but_never_used_is_noted_with_its_denominator() {
    let claimed = dongle();
    let mut usage = Usage { ht: 12_345, bands: [12_345, 0, 0], max_nss: 1, ..Usage::default() };
    usage.streams[0] = 12_345;
    (usage.short_gi_known, usage.widths) = (12_345, Widths([12_345, 0, 0, 0, 0]));
    (usage.received_high, usage.received_short_gi_known) = (400, 400);
    usage.received_widths = Widths([400, 0, 0, 0, 0]);
    let peers = with_peer(&claimed, 12_345, 400);
    let rows = rows(&subject(Some(&claimed), &usage, &peers));
    let sgi = find(&rows, "Short Guard Interval");
    assert_eq!((sgi.claimed, sgi.seen), (Claim::Yes, Some(0)));
    let said = "claimed, never used in 400 HT or VHT frames to it, with an occasion in 400";
    assert_eq!(note(sgi), Some(said));
    let streams = find(&rows, "1 Spatial Stream 2.4 GHz");
    assert_eq!((streams.claimed, streams.seen, note(streams)), (Claim::Yes, Some(12_345), None));
    assert_eq!(note(find(&rows, "b/g/n")), None, "n is used; b and g are for bad links");
    let wide = find(&rows, "40 MHz operation in 2.4 GHz with coexistence mechanisms");
    assert_eq!((wide.claimed, wide.seen), (Claim::Yes, Some(0)));
    assert_eq!(find(&rows, "WPA2/WPA Personal").claimed, Claim::Yes);
    assert_eq!(find(&rows, "WPA3 Personal (SAE)").claimed, Claim::No);
    assert_eq!(find(&rows, "Protected Management Frames").claimed_detail.as_deref(), Some("capable"));
}

#[test]
fn what_the_receiver_does_not_report_is_not_zero() {
    let claimed = dongle();
    let usage = Usage { ht: 50, received_high: 50, bands: [50, 0, 0], ..Usage::default() };
    let peers = with_peer(&claimed, 50, 50);
    let rows = rows(&subject(Some(&claimed), &usage, &peers));
    for name in ["STBC Receive", "LDPC", "Greenfield Preamble", "TX A-MPDU"] {
        let row = find(&rows, name);
        assert_eq!((row.seen, note(row)), (None, None), "{name}");
        assert!(row.seen_detail.is_some(), "{name} says why");
    }
    let stbc = Usage { received_stbc: 3, received_stbc_known: 40, ..usage };
    let rows = super::rows(&subject(Some(&claimed), &stbc, &peers));
    assert_eq!(find(&rows, "STBC Receive").seen, Some(3));
}

/// A 5 GHz station: rates 6 to 54 Mb/s; HT with 40 MHz, SGI and two streams; VHT with 80 MHz and two streams.
fn wide_station(operation: &[u8]) -> Capabilities {
    let mut bytes = vec![1, 8, 12, 18, 24, 36, 48, 72, 96, 108, 45, 26, 0x6e, 0x00, 0x17, 0xff, 0xff];
    bytes.resize(bytes.len() + 21, 0);
    bytes.extend([191, 12, 0x20, 0, 0, 0, 0xfa, 0xff, 0, 0, 0xfa, 0xff, 0, 0]);
    bytes.extend(operation);
    Capabilities::read(Elements::new(&bytes))
}

#[test]
fn what_no_header_tells_is_not_called_unused() {
    let claimed = wide_station(&[]);
    let usage = Usage { he: 500, received_high: 500, bands: [0, 500, 0], ..Usage::default() };
    let peers = with_peer(&claimed, 500, 500);
    let rows = rows(&subject(Some(&claimed), &usage, &peers));
    let streams = find(&rows, "2 Spatial Streams 5 GHz");
    assert_eq!((streams.seen, note(streams)), (None, None), "{streams:?}");
    assert_eq!(streams.seen_detail.as_deref(), Some("the receiver does not report the number of streams"));
    let width = find(&rows, "80 MHz operation in 5 GHz");
    assert_eq!((width.seen, note(width)), (None, None), "{width:?}");
    let sgi = find(&rows, "Short Guard Interval");
    assert_eq!((sgi.claimed, sgi.seen, note(sgi)), (Claim::Yes, None, None), "HE has no short guard interval");
    let stbc = find(&rows, "STBC Transmit");
    assert_eq!((stbc.seen, stbc.seen_detail.as_deref()), (None, Some("the receiver does not report STBC")));
}

#[test]
fn a_network_of_20_mhz_is_no_occasion_for_more() {
    // HT Operation on channel 36: a secondary channel above it and any width, or none.
    let operation = |second: u8| {
        let mut bytes = vec![61, 22, 36, second];
        bytes.resize(24, 0);
        bytes
    };
    let station = wide_station(&[]);
    let usage = Usage { vht: 500, widths: Widths([500, 0, 0, 0, 0]), bands: [0, 500, 0], ..Usage::default() };
    let said = |second: u8| {
        let ap = wide_station(&operation(second));
        let peers = with_peer(&ap, 500, 0);
        let all = rows(&subject(Some(&station), &usage, &peers));
        note(find(&all, "80 MHz operation in 5 GHz")).map(str::to_owned)
    };
    assert_eq!(said(0), None);
    let unused = "claimed, never used in 500 HT or later frames from and to it, with an occasion in 500";
    assert_eq!(said(5).as_deref(), Some(unused));
}

#[test]
fn a_width_is_used_in_frames_as_wide_as_the_row_says() {
    let operation = [61, 22, 36, 5].into_iter().chain([0; 20]).chain([192, 5, 1, 42, 0, 0, 0]).collect::<Vec<u8>>();
    let station = wide_station(&operation);
    let said = |widths: [u64; 5]| {
        let usage = Usage { vht: widths.iter().sum(), widths: Widths(widths), bands: [0, 500, 0], ..Usage::default() };
        let peers = with_peer(&station, 500, 0);
        let all = rows(&subject(Some(&station), &usage, &peers));
        let row = find(&all, "80 MHz operation in 5 GHz");
        (row.seen, row.seen_detail.clone().unwrap_or_default(), note(row).is_some())
    };
    let (seen, detail, noted) = said([100, 400, 0, 0, 0]);
    assert_eq!((seen, noted), (Some(0), true), "a network of 80 MHz, and frames of 40");
    assert_eq!(detail, "0 of 500 HT or later frames from and to it (20 MHz: 100, 40 MHz: 400)");
    assert_eq!(said([100, 100, 300, 0, 0]).0, Some(300));

    let usage = Usage { vht: 10, widths: Widths([4, 0, 6, 0, 0]), bands: [0, 10, 0], ..Usage::default() };
    let unclaimed = rows(&subject(None, &usage, &Peers::default()));
    assert_eq!(find(&unclaimed, "Wider than 20 MHz in 5 GHz").seen, Some(6));
}

#[test]
fn what_a_station_receives_is_not_audited_against_what_it_sends() {
    let claimed = dongle();
    let usage = Usage { ht: 132, greenfield: 79, greenfield_known: 132, ldpc: 40, ldpc_known: 132, ..Usage::default() };
    let peers = with_peer(&claimed, 132, 132);
    let rows = rows(&subject(Some(&claimed), &usage, &peers));
    for (name, sent) in [("Greenfield Preamble", "79 of 132 frames it sent"), ("LDPC", "40 of 132 frames it sent")] {
        let row = find(&rows, name);
        assert_eq!(note(row), None, "{name}");
        assert!(row.seen_detail.as_ref().is_some_and(|detail| detail.contains(sent)), "{name}: {:?}", row.seen_detail);
    }
}

#[test]
fn without_rates_nothing_is_said_of_the_phy() {
    let claimed = dongle();
    let usage = Usage { data: 10, ..Usage::default() };
    let rows = rows(&subject(Some(&claimed), &usage, &Peers::default()));
    for name in ["Short Guard Interval", "STBC Receive", "b/g/n", "TX A-MPDU", "1 Spatial Stream band unknown"] {
        assert_eq!(find(&rows, name).seen_detail.as_deref(), Some(NO_RATES), "{name}");
    }
    assert_eq!(find(&rows, "WMM").seen, Some(0), "the MAC header is there all the same");
}

#[test]
fn without_claims_use_is_shown_and_nothing_accused() {
    let streams = [9, 0, 0, 0, 0, 0, 0, 0];
    let usage =
        Usage { ht: 9, short_gi: 4, short_gi_known: 9, streams, max_nss: 2, bands: [0, 9, 0], ..Usage::default() };
    let peers = Peers::default();
    let rows = rows(&Subject { shows_security: false, ..subject(None, &usage, &peers) });
    assert!(rows.iter().all(|row| row.claimed == Claim::NotAvailable && row.note.is_none()), "{rows:#?}");
    let sgi = find(&rows, "Short Guard Interval").seen_detail.as_deref();
    assert_eq!(sgi, Some("no HT or VHT frames to it; 4 of 9 frames it sent"));
    assert_eq!(
        find(&rows, "2 Spatial Streams 5 GHz").seen_detail.as_deref(),
        Some("0 of 9 HT or later frames it sent")
    );
}

#[test]
fn used_without_claim_is_noted() {
    let claimed = Capabilities::read(Elements::new(&[1, 4, 0x82, 0x84, 0x8b, 0x96]));
    let usage = Usage { ht: 10, stbc: 3, stbc_known: 10, dsss: 1, bands: [11, 0, 0], ..Usage::default() };
    let peers = Peers::default();
    let all = rows(&subject(Some(&claimed), &usage, &peers));
    let stbc = note(find(&all, "STBC Transmit"));
    assert_eq!(stbc, Some("not claimed, but used in 3 of 10 HT or later frames it sent"));
    assert_eq!(note(find(&all, "b")), Some("sent 10 of 11 frames without claiming them: n"));
    let once = Usage { ht: 1, stbc: 1, stbc_known: 1, ..usage };
    let all = rows(&subject(Some(&claimed), &once, &peers));
    assert_eq!(note(find(&all, "STBC Transmit")), None, "one frame may be a receiver's mistake");
}

#[test]
fn sae_is_seen_in_authentication_frames() {
    let claimed = dongle();
    let usage = Usage { authentications: 4, sae_authentications: 3, ..Usage::default() };
    let peers = Peers::default();
    let with_sae = rows(&subject(Some(&claimed), &usage, &peers));
    let row = find(&with_sae, "WPA3 Personal (SAE)");
    assert_eq!((row.claimed, row.seen), (Claim::No, Some(3)));
    assert_eq!(note(row), Some("not claimed, but used in 3 of 4 authentication frames it sent"));
    let silent = rows(&subject(Some(&claimed), &Usage::default(), &peers));
    let row = find(&silent, "WPA3 Personal (SAE)");
    assert_eq!((row.seen, row.seen_detail.as_deref()), (None, Some("no authentication frames it sent")));
}

/// RSN with these key management suites, CCMP.
fn keys(suites: &[u8]) -> Capabilities {
    let mut bytes = vec![48, 0, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4];
    bytes.extend([suites.len() as u8, 0]);
    suites.iter().for_each(|suite| bytes.extend([0, 0x0f, 0xac, *suite]));
    bytes.extend([0, 0]);
    bytes[1] = bytes.len() as u8 - 2;
    Capabilities::read(Elements::new(&bytes))
}

#[test]
fn encrypted_data_is_personal_only_where_nothing_else_can_be_meant() {
    let usage = Usage { data: 500, protected_data: 480, ..Usage::default() };
    let peers = Peers::default();
    let personal = |claimed: &Capabilities, usage: &Usage| {
        let all = rows(&subject(Some(claimed), usage, &peers));
        let row = find(&all, "WPA2/WPA Personal");
        (row.claimed, row.seen, note(row).map(str::to_owned))
    };
    assert_eq!(personal(&keys(&[2]), &usage), (Claim::Yes, Some(480), None));
    assert_eq!(personal(&keys(&[2, 8]), &usage), (Claim::Yes, None, None), "PSK or SAE");
    for other in [1, 8, 18] {
        assert_eq!(personal(&keys(&[other]), &usage), (Claim::No, None, None), "suite {other}");
    }
    let wep = Usage { wep_data: 480, ..usage };
    assert_eq!(personal(&Capabilities::default(), &wep), (Claim::No, None, None));
    let clear = Usage { protected_data: 0, ..usage };
    let (_, seen, said) = personal(&keys(&[2]), &clear);
    assert_eq!((seen, said.is_some()), (Some(0), true), "claimed, and all data in the clear");
}

#[test]
fn a_claim_that_no_peer_shares_is_not_noted() {
    let claimed = dongle();
    let old = Capabilities::read(Elements::new(&[1, 4, 0x82, 0x84, 0x8b, 0x96]));
    let usage = Usage { dsss: 300, data: 300, protected_data: 300, bands: [300, 0, 0], ..Usage::default() };
    let peers =
        Peers(vec![Peer { claimed: Some(&old), sent: 300, sent_by_generation: [300, 0, 0, 0, 0, 0], received: 300 }]);
    let all = rows(&subject(Some(&claimed), &usage, &peers));
    assert!(all.iter().all(|row| row.note.is_none()), "{all:#?}");
    let able = Peers(vec![Peer { claimed: Some(&claimed), ..peers.0[0].clone() }]);
    let all = rows(&subject(Some(&claimed), &usage, &able));
    let said = "claims n, as its peers do, but sent them 0 of 300 data MPDUs in its formats";
    assert_eq!(note(find(&all, "b/g/n")), Some(said));
}
