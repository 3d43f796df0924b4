//! Looking for networks: a probe request on every channel, and some time to listen.

use wire::ieee80211::{FixedFields, FrameControl, FrameKind, MacAddr, ManagementBody, ManagementElements};
use wire::phy::Bandwidth;
use wire::sdio::wmi::{BssInfo, Event};

use super::firmware::Firmware;
use super::network::{Scan, Seen};
use crate::air::rates::LEGACY_RATES;
use crate::air::{Reception, Tuned};
use crate::chips::station_frames::once;
use crate::peers::queue::Queue;

/// Networks that are remembered.
const SEEN_MAX: usize = 64;
/// Channels of a scan at most (wmi.h, WMI_MAX_CHANNELS).
const CHANNELS_MAX: usize = 32;

/// Where a frequency is, in the band that the radio has.
fn channel_of(frequency_mhz: u16) -> Option<Tuned> {
    (1..=14).filter_map(Tuned::channel).find(|tuned| tuned.frequency_mhz == frequency_mhz)
}

impl Firmware {
    /// Begins to scan these channels, or all.
    pub(super) fn begin_scan(&mut self, now_ns: u64, frequencies_mhz: Vec<u16>, for_host: bool) {
        self.chip.scans += 1;
        let mut channels: Vec<Tuned> = frequencies_mhz.into_iter().filter_map(channel_of).take(CHANNELS_MAX).collect();
        if channels.is_empty() {
            channels = (1..=13).filter_map(Tuned::channel).collect();
        }
        self.probes = Queue::default();
        self.scan = Some(Scan { channels, at: 0, until_ns: now_ns, for_host, reported: Vec::new() });
        self.visit(now_ns);
    }

    fn visit(&mut self, now_ns: u64) {
        let dwell_ns = u64::from(self.assumptions.scan_dwell_ms) * 1_000_000;
        let Some(scan) = &mut self.scan else { return };
        scan.until_ns = now_ns + dwell_ns;
        let mut names: Vec<Vec<u8>> = self.probed.iter().map(|(_, name)| name.clone()).collect();
        if names.is_empty() {
            names.push(self.profile.ssid.clone());
        }
        for name in names {
            let mut body = Vec::new();
            ManagementElements { ssid: Some(&name), ..ManagementElements::default() }
                .with_rates(&LEGACY_RATES)
                .emit(&mut body);
            let probe = self.management(now_ns, FrameKind::ProbeRequest, MacAddr::BROADCAST, &body);
            self.probes.push(once(probe));
        }
    }

    pub(super) fn advance_scan(&mut self, now_ns: u64) {
        let Some(scan) = self.scan.as_mut().filter(|scan| scan.until_ns <= now_ns) else { return };
        scan.at += 1;
        if scan.at < scan.channels.len() {
            return self.visit(now_ns);
        }
        let for_host = scan.for_host;
        self.scan = None;
        if for_host {
            self.event(&Event::ScanComplete);
        }
        self.join_after_scan(now_ns);
    }

    /// A beacon or a probe response.
    pub(super) fn network_heard(
        &mut self,
        now_ns: u64,
        (bssid, probe_response): (MacAddr, bool),
        body: &[u8],
        reception: &Reception,
    ) {
        // Beacons and probe responses have the same body.
        let Some(parsed) = ManagementBody::parse(FrameControl::new(FrameKind::Beacon), body) else { return };
        let FixedFields::Beacon { interval_tu, capability, .. } = parsed.fixed else { return };
        let elements = parsed.elements;
        // A beacon on a neighbouring channel can be heard, too; this medium has none.
        let frequency_mhz = reception.tuned.frequency_mhz;
        let info = BssInfo { frequency_mhz, probe_response, signal_dbm: reception.signal_dbm, bssid, body };
        let is_own = self.is_connected_to(bssid);
        if is_own && !probe_response {
            self.beacon_ns = now_ns;
            self.signal_dbm = reception.signal_dbm;
            if self.reports_own_beacons() {
                self.event(&Event::BssInfo(info));
            }
        }
        let Some(scan) = &mut self.scan else { return };
        if !scan.reported.contains(&(bssid, probe_response)) && scan.reported.len() < 2 * SEEN_MAX {
            scan.reported.push((bssid, probe_response));
            self.event(&Event::BssInfo(info));
        }
        let rates = [elements.supported_rates, elements.extended_rates].concat();
        let mut ssid = elements.ssid.unwrap_or_default().to_vec();
        if let (true, Some(known)) = (ssid.is_empty(), self.seen.iter().find(|known| known.bssid == bssid)) {
            // A hidden network's beacon has no name; its probe response had.
            ssid.clone_from(&known.ssid);
        }
        let seen = Seen {
            bssid,
            ssid,
            tuned: Tuned { frequency_mhz, width: Bandwidth::Mhz20 },
            signal_dbm: reception.signal_dbm,
            interval_tu,
            capability,
            basic_rates: rates,
            ht: elements.ht.is_some(),
            wmm: elements.wmm.is_some(),
        };
        if let Some(known) = self.seen.iter_mut().find(|known| known.bssid == bssid) {
            *known = seen;
        } else if self.seen.len() < SEEN_MAX {
            self.seen.push(seen);
        }
    }

    /// The strongest network that was heard of what the host wants.
    pub(super) fn wanted(&self) -> Option<&Seen> {
        let profile = &self.profile;
        let fits = |seen: &&Seen| {
            seen.ssid == profile.ssid && (profile.bssid == MacAddr::default() || seen.bssid == profile.bssid)
        };
        self.seen.iter().filter(fits).max_by_key(|seen| seen.signal_dbm)
    }
}
