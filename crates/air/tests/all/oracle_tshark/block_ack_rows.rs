//! Block Acks one by one: when, who, from which number on, and the bitmap.

use std::collections::BTreeMap;
use std::path::Path;

use txop_air::Options;

use super::captures;
use super::outcome::Outcome;
use super::tshark;

const BLOCK_ACK: i64 = 0x19;

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let options = Options { lists_block_acks: true, ..Options::default() };
    let Ok(report) = txop_air::analyze(path, Default::default(), options, &mut ()) else { return };
    let log = report.block_ack_log.expect("it was asked for");
    let trusted = captures::fcs_is_invented(&name);
    let theirs: BTreeMap<u64, _> = tshark::rows(path)
        .iter()
        .filter(|row| row.kind() == Some(BLOCK_ACK) && !row.is_foreign() && (trusted || !row.bad()))
        .filter_map(|row| {
            let number = u64::try_from(row.number("frame.number")?).ok()?;
            let start = row.number("wlan.fixed.ssc.sequence");
            let bitmap = row.get("wlan.ba.bm").replace(':', "");
            Some((number, (row.ta(), row.get("wlan.ra").to_owned(), start, bitmap)))
        })
        .collect();
    let ours = log.rows.iter().map(|row| {
        let start = row.start.map(i64::from);
        (row.number, (row.recipient.clone(), row.originator.clone(), start, row.bitmap.clone().unwrap_or_default()))
    });
    outcome.same("Block Ack frames", &name, theirs.len() as u64, log.frames);
    outcome.tables("Block Acks", &name, &theirs, &ours.collect());
}
