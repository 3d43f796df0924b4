//! Looking for networks on the channels that the driver names, at most four at once (Linux libertas/cfg.c, lbs_scan_worker).

use wire::ieee80211::{FrameKind, MacAddr, ManagementElements};
use wire::sdio::libertas::{emit_scan_result, Header, Heard, ScanChannel};

use super::firmware::Firmware;
use super::under_way::{HeardNetwork, Scan};
use crate::air::rates::LEGACY_RATES;
use crate::air::{Reception, Tuned};
use crate::chips::station_frames::once;
use crate::peers::queue::Queue;

/// Networks that a scan remembers.
const HEARD_MAX: usize = 64;
/// Channels of a scan at most: all that there are.
const CHANNELS_MAX: usize = 14;
/// Bytes of the fixed part of a beacon.
const FIXED: usize = 12;

impl Firmware {
    pub(super) fn begin_scan(&mut self, now_ns: u64, header: Header, ssid: Vec<u8>, channels: &[ScanChannel]) {
        if self.scan.is_some() || self.join.is_under_way() {
            return self.fail(header);
        }
        self.chip.scans += 1;
        let tuned = |channel: &ScanChannel| Tuned::channel(channel.number).map(|tuned| (tuned, *channel));
        let channels = channels.iter().filter_map(tuned).take(CHANNELS_MAX).collect();
        self.probes = Queue::default();
        self.scan = Some(Scan { header, ssid, channels, at: 0, until_ns: now_ns, heard: Vec::new() });
        self.visit(now_ns);
    }

    /// Goes to the next channel; without one the scan is over.
    fn visit(&mut self, now_ns: u64) {
        let Some(scan) = &mut self.scan else { return };
        let Some((_, channel)) = scan.channels.get(scan.at) else { return self.end_scan() };
        scan.until_ns = now_ns + u64::from(channel.dwell_ms.max(1)) * 1_000_000;
        if channel.passive {
            return;
        }
        let mut body = Vec::new();
        ManagementElements { ssid: Some(&scan.ssid), ..ManagementElements::default() }
            .with_rates(&LEGACY_RATES)
            .emit(&mut body);
        let probe = self.management(now_ns, FrameKind::ProbeRequest, MacAddr::BROADCAST, &body);
        self.probes.push(once(probe));
    }

    fn end_scan(&mut self) {
        let Some(scan) = self.scan.take() else { return };
        let heard: Vec<Heard<'_>> = scan
            .heard
            .iter()
            .map(|network| Heard { bssid: network.bssid, signal_dbm: network.signal_dbm, body: &network.body })
            .collect();
        let (answer, _) = emit_scan_result(&heard);
        self.answer(scan.header, &answer);
    }

    pub(super) fn advance_scan(&mut self, now_ns: u64) {
        if let Some(scan) = self.scan.as_mut().filter(|scan| scan.until_ns <= now_ns) {
            scan.at += 1;
            self.visit(now_ns);
        }
    }

    /// A beacon or a probe response.
    pub(super) fn network_heard(&mut self, now_ns: u64, bssid: MacAddr, body: &[u8], reception: &Reception) {
        if self.is_connected_to(bssid) {
            self.beacon_ns = now_ns;
            self.signal_dbm = Some(reception.signal_dbm);
        }
        let Some(scan) = self.scan.as_mut().filter(|_| body.len() >= FIXED) else { return };
        let heard = HeardNetwork { bssid, signal_dbm: reception.signal_dbm, body: body.to_vec() };
        if let Some(known) = scan.heard.iter_mut().find(|known| known.bssid == bssid) {
            *known = heard;
        } else if scan.heard.len() < HEARD_MAX {
            scan.heard.push(heard);
        }
    }
}
