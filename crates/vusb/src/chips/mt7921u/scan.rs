//! Scans of the firmware (Linux mt76/mt76_connac_mcu.c, mt76_connac_mcu_hw_scan): on each channel probe requests, or only
//! listening. In a network the station tells the access point that it sleeps before it leaves the channel, and is back there
//! between two others.

use wire::ieee80211::{FrameKind, Header, MacAddr, Seq};
use wire::phy::{Band, Mode};

use super::assumptions::Assumptions;
use super::commands::ScanRequest;
use super::rates::LOWEST_OFDM;
use crate::air::Tuned;

const MS: u64 = 1_000_000;
/// Time for the Null frame that says that the station sleeps.
const LEAVE_NS: u64 = 10 * MS;

/// Where a scan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Phase {
    /// The access point is told.
    Leaving,
    /// On a channel.
    Away,
    /// On the channel of the network.
    Home,
}

/// A scan.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Scan {
    request: ScanRequest,
    /// The channel, by its place in the request.
    at: usize,
    phase: Phase,
    until_ns: u64,
    /// There is a network to come back to.
    connected: bool,
}

/// What a scan makes the chip do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To say whether it sleeps.
    Announce(bool),
    /// To send these probe requests.
    Probe(Vec<Vec<u8>>, Mode),
    /// It has ended.
    Done(u8),
}

/// What a scan has to know.
pub struct Around<'a> {
    /// The chip's address.
    pub own: MacAddr,
    /// Channels on which nothing may begin to send.
    pub passive: &'a [(Band, u8)],
    /// What is assumed.
    pub assumed: &'a Assumptions,
}

impl Scan {
    /// Begins.
    pub fn new(now_ns: u64, request: ScanRequest, connected: bool, around: &Around<'_>) -> (Self, Option<Step>) {
        let mut scan = Self { request, at: 0, phase: Phase::Home, until_ns: now_ns, connected };
        let step = scan.next(now_ns, around);
        (scan, step)
    }

    /// Where the radio is; `None`: on the channel of the network.
    pub fn tuned(&self) -> Option<Tuned> {
        (self.phase == Phase::Away).then(|| self.request.channel(self.at)).flatten().map(|(_, _, tuned)| tuned)
    }

    /// It listens on a channel.
    pub fn is_away(&self) -> bool {
        self.phase == Phase::Away
    }

    /// When something happens next.
    pub const fn until_ns(&self) -> u64 {
        self.until_ns
    }

    /// Its time is over: what comes next.
    pub fn advance(&mut self, now_ns: u64, around: &Around<'_>) -> Option<Step> {
        (self.until_ns <= now_ns).then(|| self.next(now_ns, around)).flatten()
    }

    fn next(&mut self, now_ns: u64, around: &Around<'_>) -> Option<Step> {
        match self.phase {
            Phase::Home if self.connected => {
                (self.phase, self.until_ns) = (Phase::Leaving, now_ns + LEAVE_NS);
                Some(Step::Announce(true))
            }
            Phase::Home | Phase::Leaving => self.visit(now_ns, around),
            Phase::Away => {
                self.at += 1;
                let ends = self.at >= self.request.channels.len();
                if self.connected && !ends {
                    let home_ns = u64::from(around.assumed.scan_home_ms) * MS;
                    (self.phase, self.until_ns) = (Phase::Home, now_ns + home_ns);
                    return Some(Step::Announce(false));
                }
                self.visit(now_ns, around)
            }
        }
    }

    /// Goes to the next channel that there is.
    fn visit(&mut self, now_ns: u64, around: &Around<'_>) -> Option<Step> {
        let (band, number, _) = loop {
            if self.at >= self.request.channels.len() {
                self.phase = Phase::Home;
                return Some(Step::Done(self.request.number));
            }
            match self.request.channel(self.at) {
                Some(found) => break found,
                None => self.at += 1,
            }
        };
        let active = self.request.active && !around.passive.contains(&(band, number));
        let dwell_ms = if active { around.assumed.scan_active_ms } else { around.assumed.scan_passive_ms };
        (self.phase, self.until_ns) = (Phase::Away, now_ns + u64::from(dwell_ms) * MS);
        let mode = match band {
            Band::Ghz2_4 => Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) },
            _ => LOWEST_OFDM,
        };
        active.then(|| Step::Probe(self.probes(around.own), mode))
    }

    fn probes(&self, own: MacAddr) -> Vec<Vec<u8>> {
        let from = self.request.address.map_or(own, MacAddr);
        let any = [Vec::new()];
        let names = if self.request.names.is_empty() { &any[..] } else { &self.request.names };
        let probe = |name: &Vec<u8>| {
            let mut probe = Vec::new();
            let all = MacAddr::BROADCAST;
            Header::management(FrameKind::ProbeRequest, all, from, all, Seq::default()).emit(&mut probe);
            probe.extend([0, name.len() as u8]);
            probe.extend_from_slice(name);
            probe.extend_from_slice(&self.request.elements);
            probe
        };
        names.iter().map(probe).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_channel_has_its_time() {
        let assumed = Assumptions::default();
        let around = Around { own: MacAddr([4; 6]), passive: &[(Band::Ghz5, 36)], assumed: &assumed };
        let channels = vec![(1, 1), (3, 5), (2, 36), (1, 11)];
        let request =
            ScanRequest { number: 9, active: true, channels, elements: vec![1, 1, 2], ..ScanRequest::default() };
        let (mut scan, step) = Scan::new(0, request.clone(), false, &around);
        let Some(Step::Probe(probes, _)) = step else { panic!() };
        assert_eq!((probes.len(), &probes[0][24..]), (1, &[0, 0, 1, 1, 2][..]));
        assert_eq!((scan.tuned().map(|tuned| tuned.frequency_mhz), scan.until_ns()), (Some(2_412), 40 * MS));
        assert_eq!(scan.advance(39 * MS, &around), None);
        assert_eq!(scan.advance(40 * MS, &around), None, "6 GHz is left out, and 36 is listened on");
        assert_eq!((scan.tuned().map(|tuned| tuned.frequency_mhz), scan.until_ns()), (Some(5_180), 150 * MS));
        assert!(matches!(scan.advance(150 * MS, &around), Some(Step::Probe(..))));
        assert_eq!(scan.advance(190 * MS, &around), Some(Step::Done(9)));
        // In a network.
        let (mut scan, step) = Scan::new(0, request, true, &around);
        assert_eq!((step, scan.tuned()), (Some(Step::Announce(true)), None));
        assert!(matches!(scan.advance(10 * MS, &around), Some(Step::Probe(..))));
        assert_eq!(scan.advance(50 * MS, &around), Some(Step::Announce(false)));
        assert_eq!((scan.tuned(), scan.until_ns()), (None, 150 * MS));
    }
}
