//! Addresses that no station has.
//!
//! A damaged frame carries damaged addresses. Where the FCS is known the rule is simple: an address that no frame
//! with a good FCS names does not exist. Where it is not known, only rare addresses a few bit flips from a common
//! one are taken to be ghosts.

use wire::ieee80211::MacAddr;

use crate::report;
use crate::station::{Station, Stations};

/// Bit flips up to which an address may stem from another.
const MAX_DISTANCE: u32 = 12;
/// Without FCS: bit flips up to which a rare address is a ghost.
const MAX_DISTANCE_UNCHECKED: u32 = 4;
/// Without FCS: an origin is this much more frequent than its ghost.
const MIN_RATIO: u64 = 50;
/// Without FCS: a ghost appears in at most this many frames.
const MAX_FRAMES_UNCHECKED: u64 = 3;
/// Origins compared with, the most frequent ones.
const MAX_ORIGINS: usize = 1_024;

/// What an address is taken to be.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The ghost.
    pub address: MacAddr,
    /// Likely origin and bits of difference.
    pub origin: Option<(MacAddr, u32)>,
    /// In words.
    pub reason: String,
}

fn frames(station: &Station) -> u64 {
    station.sent + station.received
}

fn seen_good(station: &Station) -> bool {
    station.sent_good + station.received_good > 0
}

/// Finds the ghosts among all unicast addresses; `fcs_known` when frames carry a checkable FCS or flag.
pub fn find(stations: &Stations, fcs_known: bool) -> Vec<Verdict> {
    let unicast = |address: u64| !MacAddr::from_u64(address).is_group();
    let mut origins: Vec<(u64, u64)> = stations
        .table
        .iter()
        .filter(|(address, station)| unicast(**address) && (!fcs_known || seen_good(station)))
        .map(|(address, station)| (*address, frames(station)))
        .collect();
    origins.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    origins.truncate(MAX_ORIGINS);

    let mut found = Vec::new();
    for (address, station) in stations.table.iter().filter(|(address, _)| unicast(**address)) {
        let bad = station.sent_bad + station.received_bad;
        if fcs_known && (seen_good(station) || bad == 0 || bad < frames(station) || station.bad_twice > 0) {
            continue;
        }
        if !fcs_known && frames(station) > MAX_FRAMES_UNCHECKED {
            continue;
        }
        // Nearest origin; among equally near ones the most frequent, which comes first.
        let busier = origins.partition_point(|(_, count)| *count > frames(station));
        let origin = origins
            .iter()
            .take(busier)
            .filter(|(other, _)| other != address)
            .map(|(other, count)| (*other, (other ^ address).count_ones(), *count))
            .min_by_key(|(_, distance, _)| *distance)
            .map(|(other, distance, count)| (MacAddr::from_u64(other), distance, count));
        let address = MacAddr::from_u64(*address);
        let near = origin.map(|(other, distance, _)| (other, distance)).filter(|(_, d)| *d <= MAX_DISTANCE);
        if fcs_known {
            let reason = match near {
                Some((other, distance)) => format!(
                    "only in damaged frames ({bad} of {bad}), {distance} bit{} from {other}",
                    if distance == 1 { "" } else { "s" }
                ),
                None => format!("only in damaged frames ({bad} of {bad}), near no known address"),
            };
            found.push(Verdict { address, origin: near, reason });
        } else if let Some((other, distance, count)) = origin {
            let rare = count >= MIN_RATIO * frames(station);
            // Access points number their networks by flipping the locally administered bit or the last bits; they
            // announce themselves, ghosts do not.
            if rare && distance <= MAX_DISTANCE_UNCHECKED && !station.acts_as_ap(false) && station.responses == 0 {
                let reason = format!(
                    "no FCS to check: {} frame{}, {distance} bit{} from {other} ({count} frames)",
                    frames(station),
                    if frames(station) == 1 { "" } else { "s" },
                    if distance == 1 { "" } else { "s" },
                );
                found.push(Verdict { address, origin: Some((other, distance)), reason });
            }
        }
    }
    found.sort_by_key(|verdict| (verdict.origin.map(|(other, d)| (d, other)), verdict.address));
    found
}

/// The report's rows.
pub fn report(verdicts: &[Verdict], stations: &Stations) -> Vec<report::Ghost> {
    verdicts
        .iter()
        .map(|verdict| {
            let station = stations.table.by_key(&verdict.address.as_u64());
            report::Ghost {
                address: verdict.address.to_string(),
                of: verdict.origin.map(|(other, _)| other.to_string()),
                distance: verdict.origin.map(|(_, distance)| distance),
                frames_sent: station.map_or(0, |s| s.sent),
                frames_received: station.map_or(0, |s| s.received),
                bad_fcs: station.map_or(0, |s| s.sent_bad + s.received_bad),
                reason: verdict.reason.clone(),
            }
        })
        .collect()
}
