//! Frames, retries, bad FCS, signal, rates and Block Ack frames, per transmitter and per link.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use txop_air::frame::{Fcs, Frame};
use txop_air::report::Report;

use super::captures;
use super::outcome::Outcome;
use super::tshark::{self, Row};

const ADDBA_REQUEST: i64 = 0;
const ADDBA_RESPONSE: i64 = 1;
const DELBA: i64 = 2;
/// A receiver that did not keep the transmitter's address writes this one.
const NO_ADDRESS: &str = "00:00:00:00:00:00";

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let rows = tshark::rows(path);
    let wlan: Vec<&Row> = rows.iter().filter(|row| is_wlan(row)).collect();
    let Some(report) = captures::report(path) else {
        if !wlan.is_empty() && captures::frames(path).is_empty() {
            outcome.explain("no record of it can be read: refused, tshark dissects what there is");
        } else if !wlan.is_empty() {
            outcome.differ(format!("{name}: rejected, tshark reads {} frames", wlan.len()));
        }
        return;
    };
    outcome.same("frames", &name, wlan.len() as u64, report.frames);

    let frames = captures::frames(path);
    let readable: Vec<&Row> = wlan.iter().copied().filter(|row| ours(row, &frames).is_some()).collect();
    for row in &wlan {
        if ours(row, &frames).is_none() {
            unreadable(row, outcome);
        }
    }
    stations(&name, &readable, &frames, &report, outcome);
    fcs(&name, &readable, &frames, &report, outcome);
    block_ack_frames(&name, &readable, &frames, &report, outcome);
    signal_and_rates(&name, &readable, &frames, &report, outcome);
}

/// Is the record of an 802.11 link type (numbers of Wireshark's list of encapsulations)?
fn is_wlan(row: &Row) -> bool {
    let protocols = row.get("frame.protocols");
    ["radiotap", "wlan", "prism", "ppi"].iter().any(|p| protocols.split(':').next() == Some(p))
}

fn ours<'a>(row: &Row, frames: &'a HashMap<u64, Frame>) -> Option<&'a Frame> {
    frames.get(&u64::try_from(row.number("frame.number")?).ok()?)
}

/// Records without a frame for us.
fn unreadable(row: &Row, outcome: &mut Outcome) {
    match (row.kind(), row.get("wlan.fc.version")) {
        _ if row.is_foreign() => outcome.explain("unreadable here: protocol version 1, 2 or 3, too short"),
        (None, _) => outcome.explain("unreadable on both sides"),
        _ if row.bad() => {
            outcome.explain("unreadable here: damaged and shorter than its header, tshark reads what is there")
        }
        _ => outcome.explain("unreadable here: shorter than its header, tshark reads what is there"),
    }
}

/// The transmitter as tshark has it. Three kinds of control frame have one for us and none, or one as sent, for tshark.
fn transmitter(row: &Row, frame: &Frame, outcome: &mut Outcome) -> Option<String> {
    let ours = frame.ta().map(|ta| ta.to_string());
    let theirs = if row.is_foreign() { None } else { row.ta() };
    if ours == theirs {
        return ours;
    }
    let class = match row.kind() {
        _ if row.is_foreign() => return None,
        Some(0x1e) => "CF-End: the BSSID is its TA (9.3.1.5), tshark names it BSSID only",
        Some(0x160..=0x16f) => "control frame extension of 60 GHz, not laid out by tshark",
        Some(0x13) => "TACK, not laid out here",
        _ => return theirs,
    };
    outcome.explain(class);
    ours
}

fn stations(name: &str, rows: &[&Row], frames: &HashMap<u64, Frame>, report: &Report, outcome: &mut Outcome) {
    let mut sent: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut links: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut received: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        let Some(frame) = ours(row, frames) else { continue };
        if row.is_foreign() {
            outcome.explain("protocol version 1, 2 or 3: no addresses here");
            continue;
        }
        let ra = row.get("wlan.ra").to_owned();
        *received.entry(ra.clone()).or_default() += 1;
        if let Some(ta) = transmitter(row, frame, outcome) {
            let entry = sent.entry(ta.clone()).or_default();
            entry.0 += 1;
            entry.1 += u64::from(row.flag("wlan.fc.retry"));
            *links.entry((ta, ra)).or_default() += 1;
        }
    }
    let ours = report.stations.iter().filter(|s| s.frames_sent > 0);
    let ours = ours.map(|s| (s.address.clone(), (s.frames_sent, s.retries_sent))).collect();
    outcome.tables("frames and retries by TA", name, &sent, &ours);
    let ours = report.links.iter().map(|link| ((link.ta.clone(), link.ra.clone()), link.frames)).collect();
    outcome.tables("frames by TA and RA", name, &links, &ours);
    let ours = report.stations.iter().filter(|s| s.frames_received > 0);
    let ours = ours.map(|s| (s.address.clone(), s.frames_received)).collect();
    outcome.tables("frames by RA", name, &received, &ours);
}

fn fcs(name: &str, rows: &[&Row], frames: &HashMap<u64, Frame>, report: &Report, outcome: &mut Outcome) {
    if captures::fcs_is_invented(name) {
        let flagged = rows.iter().filter(|row| row.flag("radiotap.flags.badfcs")).count() as u64;
        outcome.same("frames flagged bad (invented FCS)", name, flagged, report.bad_fcs);
        return;
    }
    let unchecked = |row: &Row| row.is_foreign() && ours(row, frames).is_some_and(|f| f.computed_fcs == Some(false));
    let bad = rows.iter().filter(|row| row.bad() || unchecked(row)).count() as u64;
    outcome.same("bad FCS", name, bad, report.bad_fcs);
    for row in rows {
        let Some(frame) = ours(row, frames) else { continue };
        let at = || format!("{name} frame {}", row.get("frame.number"));
        if row.is_foreign() && frame.computed_fcs == Some(false) && !row.bad() {
            outcome.explain("protocol version 1, 2 or 3: tshark checks no FCS");
            continue;
        }
        if row.has_fcs_of_ciphertext() {
            outcome.explain("decrypted by the receiver: the FCS is of the ciphertext, its flag counts");
        }
        outcome.same("bad FCS of a frame", &at(), row.bad(), frame.fcs == Fcs::Bad);
        if row.get("wlan.fcs.status") == "1" && !row.bad() {
            outcome.same("good FCS of a frame", &at(), true, frame.fcs == Fcs::Good);
        }
    }
}

/// Block Ack, ADDBA and DELBA frames that are not damaged.
fn block_ack_frames(name: &str, rows: &[&Row], frames: &HashMap<u64, Frame>, report: &Report, outcome: &mut Outcome) {
    type Key = (String, String, i64);
    let mut acks: BTreeMap<Key, u64> = BTreeMap::new();
    let mut agreements: BTreeMap<Key, [u64; 4]> = BTreeMap::new();
    let invented = captures::fcs_is_invented(name);
    for row in rows {
        let damaged = if invented { row.flag("radiotap.flags.badfcs") } else { row.bad() };
        let (Some(ta), ra, false) = (row.ta(), row.get("wlan.ra").to_owned(), damaged) else { continue };
        let bitmap = row.get("wlan.ba.bm");
        if row.kind() == Some(0x19) && ta == NO_ADDRESS {
            outcome.explain("Block Ack with a TA of zeros: of no pair of stations here");
            continue;
        }
        if row.kind() == Some(0x19) && !bitmap.is_empty() {
            if let Some(tid) = row.number("wlan.ba.basic.tidinfo") {
                *acks.entry((ra, ta, tid)).or_default() += 1;
            }
            continue;
        }
        let is_action = matches!(row.kind(), Some(0xd | 0xe));
        if !is_action || row.number("wlan.fixed.category_code") != Some(3) {
            continue;
        }
        let tid = row.number("wlan.fixed.baparams.tid");
        let action = row.number("wlan.fixed.action_code");
        let (Some(action), true) = (action, ours(row, frames).is_some()) else { continue };
        match (action, tid) {
            (ADDBA_REQUEST, Some(tid)) => agreements.entry((ta, ra, tid)).or_default()[0] += 1,
            (ADDBA_RESPONSE, Some(tid)) => {
                let accepted = row.number("wlan.fixed.status_code") == Some(0);
                agreements.entry((ra, ta, tid)).or_default()[if accepted { 1 } else { 2 }] += 1;
            }
            (DELBA, _) => {}
            _ => {}
        }
    }
    let key =
        |flow: &txop_air::report::BlockAckFlow| (flow.originator.clone(), flow.recipient.clone(), i64::from(flow.tid));
    let flows = || report.block_acks.iter();
    let ours = flows().filter(|flow| flow.block_acks > 0).map(|flow| (key(flow), flow.block_acks)).collect();
    outcome.tables("Block Acks by originator, recipient and TID", name, &acks, &ours);
    let counts =
        |flow: &txop_air::report::BlockAckFlow| [flow.addba_requests, flow.addba_accepted, flow.addba_refused, 0];
    let ours = flows().map(|flow| (key(flow), counts(flow))).filter(|(_, counts)| counts.iter().any(|n| *n > 0));
    outcome.tables("ADDBA requests, acceptances, refusals", name, &agreements, &ours.collect());
}

/// Signal and rates: frames that are not damaged.
fn signal_and_rates(name: &str, rows: &[&Row], frames: &HashMap<u64, Frame>, report: &Report, outcome: &mut Outcome) {
    let mut signal: BTreeMap<String, (i64, i64, u64)> = BTreeMap::new();
    let mut rates: BTreeMap<(String, i64), u64> = BTreeMap::new();
    let invented = captures::fcs_is_invented(name);
    let mut without_rate: BTreeSet<String> = BTreeSet::new();
    for row in rows {
        let damaged = if invented { row.flag("radiotap.flags.badfcs") } else { row.bad() };
        let (false, Some(frame)) = (damaged, ours(row, frames)) else { continue };
        let Some(ta) = transmitter(row, frame, &mut Outcome::default()) else { continue };
        if let Some(dbm) = signal_of(row, frame, outcome) {
            let entry = signal.entry(ta.clone()).or_insert((dbm, dbm, 0));
            *entry = (entry.0.min(dbm), entry.1.max(dbm), entry.2 + 1);
        }
        match (row.get("wlan_radio.data_rate").parse::<f64>(), frame.radio.mode.rate_kbps()) {
            (Ok(rate), Some(_)) => *rates.entry((ta, tenths(rate))).or_default() += 1,
            (Ok(_), None) => outcome.explain("rate that 802.11 does not have"),
            // tshark says no rate: leave this transmitter out when we have one.
            (Err(_), Some(_)) => {
                without_rate.insert(ta);
            }
            (Err(_), None) => {}
        }
    }
    let ours = report.stations.iter().filter_map(|station| {
        let spread = station.signal_dbm?;
        Some((station.address.clone(), (spread.min as i64, spread.max as i64, spread.n)))
    });
    outcome.tables("signal: minimum, maximum, n", name, &signal, &ours.collect());
    rates.retain(|(ta, _), _| !without_rate.contains(ta));
    let mut ours: BTreeMap<(String, i64), u64> = BTreeMap::new();
    for station in report.stations.iter().filter(|s| !without_rate.contains(&s.address)) {
        for rate in &station.rates {
            if let Some(mbit_s) = rate.mbit_s {
                *ours.entry((station.address.clone(), tenths(mbit_s))).or_default() += rate.frames;
            }
        }
    }
    outcome.tables("frames by TA and rate", name, &rates, &ours);
}

/// Rates are printed with one decimal: compare what remains of 0.1 Mb/s.
fn tenths(mbit_s: f64) -> i64 {
    (mbit_s * 10.0).floor() as i64
}

/// Signal of a frame; with several antennas the report has the strongest, tshark's first may be any.
fn signal_of(row: &Row, frame: &Frame, outcome: &mut Outcome) -> Option<i64> {
    if frame.radio.antennas > 1 {
        outcome.explain("signal of several antennas: the strongest here");
        return frame.radio.signal_dbm.map(i64::from);
    }
    if row.get("frame.protocols").starts_with("prism") && frame.radio.signal_dbm.is_none() {
        outcome.explain("Prism signal item marked absent: tshark prints 0");
        return None;
    }
    row.number("radiotap.dbm_antsignal").or(row.number("wlan_radio.signal_dbm"))
}
