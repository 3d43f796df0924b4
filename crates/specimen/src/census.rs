//! Counts what is in the file, frame by frame: stations, links, ghosts, rates.

use std::collections::HashMap;

use wire::ieee80211::MacAddr;
use wire::phy::Mode;

use crate::frame::{Class, Mpdu};
use crate::truth::{GhostTruth, LinkTruth, RateTruth, StationTruth, GHOSTS_MAX};

/// What damage did to a captured frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Harm {
    /// Bits are wrong.
    pub(crate) damaged: bool,
    /// The file shows it.
    pub(crate) visible: bool,
    /// The transmitter address, if it became another one.
    pub(crate) transmitter: Option<MacAddr>,
    /// The receiver address, likewise.
    pub(crate) receiver: Option<MacAddr>,
}

#[derive(Default)]
struct RateCount {
    frames: u64,
    retries: u64,
    bytes: u64,
}

/// The counters.
pub(crate) struct Census {
    addresses: Vec<MacAddr>,
    stations: Vec<StationTruth>,
    rates: Vec<Vec<(Mode, RateCount)>>,
    /// By transmitter, then receiver; the last receiver is broadcast.
    links: Vec<Vec<LinkTruth>>,
    ghosts: HashMap<MacAddr, GhostTruth>,
    ghosts_not_listed: u64,
}

/// What the census hands over.
pub(crate) struct CensusResult {
    pub(crate) stations: Vec<StationTruth>,
    pub(crate) links: Vec<LinkTruth>,
    pub(crate) ghosts: Vec<GhostTruth>,
    pub(crate) ghosts_not_listed: u64,
}

impl Census {
    pub(crate) fn new(addresses: &[MacAddr]) -> Self {
        let n = addresses.len();
        let stations = addresses
            .iter()
            .enumerate()
            .map(|(index, address)| StationTruth {
                address: address.to_string(),
                kind: if index == 0 { "ap" } else { "station" },
                ..StationTruth::default()
            })
            .collect();
        Self {
            addresses: addresses.to_vec(),
            stations,
            rates: (0..n).map(|_| Vec::new()).collect(),
            links: vec![vec![LinkTruth::default(); n + 1]; n],
            ghosts: HashMap::new(),
            ghosts_not_listed: 0,
        }
    }

    /// True for an address of the scene.
    pub(crate) fn is_real(&self, address: MacAddr) -> bool {
        self.addresses.contains(&address)
    }

    /// Counts a captured frame of `len` bytes (FCS included).
    pub(crate) fn count(&mut self, mpdu: &Mpdu, mode: Mode, len: usize, harm: &Harm) {
        let retry = u64::from(mpdu.retry);
        let data = mpdu.content.class() == Class::Data;
        let has_transmitter = mpdu.content.has_transmitter();
        if has_transmitter && harm.transmitter.is_none() {
            let station = &mut self.stations[mpdu.from];
            station.frames_sent += 1;
            station.bytes_sent += len as u64;
            station.retries_sent += retry;
            station.data_frames_sent += u64::from(data);
            station.bad_fcs_sent += u64::from(harm.visible);
            station.power_management_frames += u64::from(mpdu.power_management);
            if data && !harm.damaged && mpdu.to.is_some() {
                station.mpdu_retry.frames += 1;
                station.mpdu_retry.retries += retry;
            }
            let rates = &mut self.rates[mpdu.from];
            let at = rates.iter().position(|(m, _)| *m == mode).unwrap_or_else(|| {
                rates.push((mode, RateCount::default()));
                rates.len() - 1
            });
            let rate = &mut rates[at].1;
            rate.frames += 1;
            rate.retries += retry;
            rate.bytes += len as u64;
            if harm.receiver.is_none() {
                let broadcast = self.addresses.len();
                let link = &mut self.links[mpdu.from][mpdu.to.unwrap_or(broadcast)];
                link.frames += 1;
                link.bytes += len as u64;
                link.data_frames += u64::from(data);
                if data || matches!(mpdu.content.class(), Class::Management | Class::Beacon) {
                    link.wireshark_retry.frames += 1;
                    link.wireshark_retry.retries += retry;
                }
                if data && !harm.damaged && mpdu.to.is_some() {
                    link.mpdu_retry.frames += 1;
                    link.mpdu_retry.retries += retry;
                }
            }
        }
        if let Some(to) = mpdu.to.filter(|_| harm.receiver.is_none()) {
            self.stations[to].frames_received += 1;
        }
        if let Some(ghost) = harm.transmitter {
            self.ghost(ghost, mpdu.from, 1, 0);
        }
        if let (Some(ghost), Some(to)) = (harm.receiver, mpdu.to) {
            self.ghost(ghost, to, 0, 1);
        }
    }

    fn ghost(&mut self, address: MacAddr, of: usize, sent: u64, received: u64) {
        let origin = self.addresses[of];
        if self.ghosts.len() >= GHOSTS_MAX && !self.ghosts.contains_key(&address) {
            self.ghosts_not_listed += 1;
            return;
        }
        let ghost = self.ghosts.entry(address).or_insert_with(|| GhostTruth {
            address: address.to_string(),
            of: origin.to_string(),
            distance: address.bit_distance(origin),
            frames_sent: 0,
            frames_received: 0,
        });
        ghost.frames_sent += sent;
        ghost.frames_received += received;
    }

    pub(crate) fn finish(mut self) -> CensusResult {
        for (station, rates) in self.stations.iter_mut().zip(&self.rates) {
            // Modes that differ in nothing that a label says are one rate.
            for (mode, count) in rates {
                let label = mode.label();
                let at = station.rates.iter().position(|row| row.label == label).unwrap_or_else(|| {
                    station.rates.push(RateTruth { label, frames: 0, retries: 0, bytes: 0 });
                    station.rates.len() - 1
                });
                let row = &mut station.rates[at];
                row.frames += count.frames;
                row.retries += count.retries;
                row.bytes += count.bytes;
            }
            station.rates.sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.label.cmp(&b.label)));
        }
        let mut links = Vec::new();
        for (from, row) in self.links.into_iter().enumerate() {
            for (to, link) in row.into_iter().enumerate().filter(|(_, link)| link.frames > 0) {
                let ra = self.addresses.get(to).copied().unwrap_or(MacAddr::BROADCAST);
                links.push(LinkTruth { ta: self.addresses[from].to_string(), ra: ra.to_string(), ..link });
            }
        }
        let mut ghosts: Vec<_> = self.ghosts.into_values().collect();
        ghosts.sort_by(|a, b| a.address.cmp(&b.address));
        CensusResult { stations: self.stations, links, ghosts, ghosts_not_listed: self.ghosts_not_listed }
    }
}
