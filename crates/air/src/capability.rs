//! Capabilities: what access points and stations claim, and what their traffic uses, in the words of a Wi-Fi Alliance
//! certificate.

mod amendments;
mod beamforming;
mod peers;
mod rows;
mod security;
mod subject;

pub use subject::Subject;

use std::collections::BTreeSet;

use wire::ieee80211::MacAddr;

use self::peers::AllPeers;
use crate::claims::Claims;
use crate::link::Links;
use crate::report::{Basis, CapabilityAudit};
use crate::station::{Station, Stations};

/// Addresses audited at most: access points first, then those with the most frames.
const MAX_AUDITS: usize = 256;

/// Audits every access point and station that claims something or sends data.
///
/// A station that only probes is left out: it asks, but takes part in nothing.
pub fn audit(
    claims: &Claims,
    stations: &Stations,
    links: &Links,
    is_ghost: &dyn Fn(u64) -> bool,
) -> Vec<CapabilityAudit> {
    let stations_claiming = claims.stations();
    let asked = |address: MacAddr| {
        let found = stations_claiming.binary_search_by_key(&address, |(address, _)| *address).ok();
        found.and_then(|index| stations_claiming.get(index)).map(|(_, claim)| *claim)
    };
    let joined = stations_claiming.iter().filter(|(_, claim)| claim.from_association).map(|(address, _)| *address);
    let with_data = stations.table.iter().filter(|(_, station)| station.usage.data > 0);
    let addresses: BTreeSet<MacAddr> = claims
        .aps()
        .into_iter()
        .map(|(address, _)| address)
        .chain(joined)
        .chain(with_data.map(|(key, _)| MacAddr::from_u64(*key)))
        .filter(|address| !address.is_group() && !is_ghost(address.as_u64()))
        .collect();

    let all_peers = AllPeers::new(links, claims);
    let silent = Station::default();
    let has_mesh = claims.has_mesh();
    let mut subjects: Vec<(MacAddr, bool, &Station)> = addresses
        .into_iter()
        .map(|address| {
            let station = stations.table.by_key(&address.as_u64()).unwrap_or(&silent);
            let is_ap = claims.ap(address).is_some() || station.acts_as_ap(has_mesh);
            (address, is_ap, station)
        })
        .collect();
    subjects.sort_by_key(|(address, is_ap, station)| (!*is_ap, u64::MAX - station.sent, *address));
    subjects.truncate(MAX_AUDITS);
    subjects
        .into_iter()
        .map(|(address, is_ap, station)| {
            let ap = claims.ap(address).filter(|claim| is_ap && claim.is_whole);
            let request = asked(address).filter(|claim| !is_ap && claim.is_whole);
            let claimed = ap.map(|claim| &*claim.capabilities).or(request.map(|claim| &*claim.capabilities));
            let claimed_in = match (ap, request) {
                (Some(_), _) => Some("beacon or probe response"),
                (None, Some(claim)) if claim.from_association => Some("association request"),
                (None, Some(_)) => Some("probe request"),
                (None, None) => None,
            };
            let frames = station.sent.saturating_sub(station.sent_bad);
            let ssid = claimed.and_then(|claimed| claimed.ssid).filter(|ssid| !ssid.is_hidden());
            let peers = all_peers.of(address);
            let rows = rows::rows(&Subject {
                is_ap,
                claimed,
                shows_security: claimed.is_some() && claimed_in != Some("probe request"),
                privacy: ap.and_then(|claim| claim.info).map(|info| info.privacy()),
                peers: &peers,
                usage: &station.usage,
                frames,
                pm_frames: station.pm_frames,
                pm_changes: station.pm_changes,
            });
            CapabilityAudit {
                address: address.to_string(),
                role: if is_ap { claims.kind(address).unwrap_or("ap") } else { "station" },
                ssid: ssid.map(|ssid| ssid.to_string()),
                claimed_in,
                frames,
                rows,
            }
        })
        .collect()
}

/// Removes statements about modulations that cannot be true; what rests on MAC headers stays.
pub fn forget_rates(audits: &mut [CapabilityAudit]) {
    for row in audits.iter_mut().flat_map(|audit| &mut audit.rows).filter(|row| row.basis == Basis::Radio) {
        row.note = None;
    }
}
