//! Joining a network and leaving it: open authentication, association, what the network may do to it.

use wire::ieee80211::{
    rsn, CapabilityInfo, FixedFields, FrameControl, FrameKind, HtCapabilities, MacAddr, ManagementBody,
    ManagementElements, ReasonCode, Rsn, StatusCode, SuiteSet, Wmm,
};
use wire::sdio::wmi::{authentication, cipher, Disconnected, Event};

use super::firmware::{Firmware, ToHost, SEQUENCES};
use super::network::{Join, Network};
use crate::air::rates::LEGACY_RATES;
use crate::chips::duplicates::Duplicates;
use crate::chips::station_frames::body;
use crate::chips::station_keys::Keys;

/// Time that an access point has to answer, and how often it is asked.
const ANSWER_NS: u64 = 200_000_000;
const TRIES: u8 = 3;
/// Without a beacon for so long the network is lost.
const LOST_NS: u64 = 2_000_000_000;
/// Beacons between two times that the station would listen.
const LISTEN_INTERVAL: u16 = 10;
/// HT Capability Information: SM power save disabled, short guard interval in 20 MHz.
const HT_INFORMATION: u16 = 0x000c | 1 << 5;

impl Firmware {
    pub(super) fn is_connected_to(&self, address: MacAddr) -> bool {
        self.join == Join::Connected && self.network.as_ref().is_some_and(|network| network.bssid == address)
    }

    /// The host wants to join what its profile says.
    pub(super) fn begin_join(&mut self, now_ns: u64) {
        self.forget_network();
        if self.profile.pairwise & !(cipher::NONE | cipher::TKIP | cipher::CCMP) != 0 {
            // WEP is not modelled.
            return self.disconnected(0, MacAddr::default(), Disconnected::AssociationFailed);
        }
        if self.wanted().is_some() {
            return self.authenticate_first(now_ns);
        }
        self.join = Join::Searching;
        let frequencies = Some(self.profile.frequency_mhz).filter(|&mhz| mhz > 0).into_iter().collect();
        if self.scan.is_none() {
            self.begin_scan(now_ns, frequencies, false);
        }
    }

    /// The firmware's own scan is over.
    pub(super) fn join_after_scan(&mut self, now_ns: u64) {
        if self.join != Join::Searching {
            return;
        }
        if self.wanted().is_some() {
            return self.authenticate_first(now_ns);
        }
        self.join = Join::Idle;
        self.disconnected(0, MacAddr::default(), Disconnected::NoNetwork);
    }

    fn authenticate_first(&mut self, now_ns: u64) {
        let Some(seen) = self.wanted() else { return };
        let mut network = Network::of(seen);
        // With TKIP there is no 802.11n (IEEE 802.11-2020, 12.6.3).
        network.ht &= self.profile.pairwise & cipher::TKIP == 0;
        self.home = Some(seen.tuned);
        self.network = Some(network);
        self.authenticate(now_ns, 1);
    }

    fn authenticate(&mut self, now_ns: u64, tries: u8) {
        let Some(bssid) = self.network.as_ref().map(|network| network.bssid) else { return };
        self.join = Join::Authenticating(now_ns + ANSWER_NS, tries);
        let fixed = FixedFields::Authentication { algorithm: 0, transaction: 1, status: StatusCode::Success };
        let frame = self.management(now_ns, FrameKind::Authentication, bssid, &body(fixed));
        self.push(frame);
    }

    fn associate(&mut self, now_ns: u64, tries: u8) {
        let Some(network) = &self.network else { return };
        let bssid = network.bssid;
        self.join = Join::Associating(now_ns + ANSWER_NS, tries);
        let request = self.association_request(network);
        if let Some(network) = &mut self.network {
            network.request.clone_from(&request);
        }
        let frame = self.management(now_ns, FrameKind::AssociationRequest, bssid, &request);
        self.push(frame);
    }

    fn association_request(&self, network: &Network) -> Vec<u8> {
        let mut mcs_set = [0; 16];
        mcs_set[0] = 0xff;
        let encrypted = self.profile.is_encrypted();
        let suites = self.suites().filter(|_| encrypted);
        let elements = ManagementElements {
            ssid: Some(&self.profile.ssid),
            rsn: suites.and_then(|(is_rsn, suites)| is_rsn.then_some(suites)),
            ht: network.ht.then_some(HtCapabilities {
                info: HT_INFORMATION,
                ampdu_parameters: 0x03,
                mcs_set,
                extended: 0,
            }),
            wmm: network.qos.then_some(Wmm { qos_info: 0, parameters: None }),
            ..ManagementElements::default()
        };
        // ESS, privacy, short preamble, short slot.
        let capability = CapabilityInfo(0x0421 | u16::from(encrypted) << 4 | network.capability.0 & 0x0010);
        let fixed = FixedFields::AssociationRequest { capability, listen_interval: LISTEN_INTERVAL };
        let mut request = Vec::new();
        ManagementBody { fixed, elements: elements.with_rates(&LEGACY_RATES) }.emit(&mut request);
        if let Some((false, wpa)) = suites {
            wpa.emit_wpa(&mut request);
        }
        request.extend_from_slice(&self.request_elements);
        request
    }

    /// What the station has chosen, and whether that stands in an RSN element: else in a WPA one.
    fn suites(&self) -> Option<(bool, Rsn)> {
        let (is_rsn, akm) = match self.profile.authentication {
            authentication::WPA => (false, rsn::akm::IEEE802_1X),
            authentication::WPA_PSK => (false, rsn::akm::PSK),
            authentication::WPA2 => (true, rsn::akm::IEEE802_1X),
            authentication::WPA2_PSK => (true, rsn::akm::PSK),
            _ => return None,
        };
        let suite = |ciphers: u8| {
            SuiteSet::of(if ciphers & cipher::TKIP == 0 { rsn::cipher::CCMP128 } else { rsn::cipher::TKIP })
        };
        let suites = Rsn {
            version: 1,
            group: suite(self.profile.group),
            pairwise: suite(self.profile.pairwise),
            akm: SuiteSet::of(akm),
            capabilities: Some(0),
            ..Rsn::default()
        };
        Some((is_rsn, suites))
    }

    /// An answer, or a frame that ends the connection.
    pub(super) fn answered(&mut self, now_ns: u64, from: MacAddr, fc: FrameControl, body: &[u8]) {
        if self.network.as_ref().is_none_or(|network| network.bssid != from) {
            return;
        }
        let Some(parsed) = ManagementBody::parse(fc, body) else { return };
        match (self.join, parsed.fixed) {
            (Join::Authenticating(..), FixedFields::Authentication { transaction: 2, status, .. }) => {
                if status == StatusCode::Success {
                    self.associate(now_ns, 1);
                } else {
                    self.failed(status.number(), Disconnected::AuthenticationFailed);
                }
            }
            (Join::Associating(..), FixedFields::AssociationResponse { status, aid, .. }) => {
                if status == StatusCode::Success {
                    self.connected(now_ns, aid, body);
                } else {
                    self.failed(status.number(), Disconnected::AssociationFailed);
                }
            }
            (
                Join::Authenticating(..) | Join::Associating(..) | Join::Connected,
                FixedFields::Disassociation(reason) | FixedFields::Deauthentication(reason),
            ) => self.failed(reason.number(), Disconnected::ByAccessPoint),
            _ => {}
        }
    }

    fn connected(&mut self, now_ns: u64, aid: u16, response: &[u8]) {
        let Some(network) = &self.network else { return };
        let event = Event::Connected {
            frequency_mhz: network.frequency_mhz,
            bssid: network.bssid,
            beacon_interval_tu: network.interval_tu,
            request: &network.request,
            response,
        }
        .emit();
        self.chip.wmi_events += 1;
        self.chip.associations += 1;
        self.join = Join::Connected;
        self.power.changed_network(now_ns);
        self.power.aid = aid;
        self.beacon_ns = now_ns;
        self.duplicates = [Duplicates::default(); SEQUENCES];
        self.asked = 0;
        self.to_host.push(ToHost::Event(event));
    }

    /// The network has refused, or has ended it.
    fn failed(&mut self, code: u16, why: Disconnected) {
        let bssid = self.network.as_ref().map_or(MacAddr::default(), |network| network.bssid);
        self.forget_network();
        self.disconnected(code, bssid, why);
    }

    fn disconnected(&mut self, code: u16, bssid: MacAddr, why: Disconnected) {
        self.event(&Event::Disconnected { code, bssid, why });
    }

    /// The host wants to leave. It gets the event, connected or not.
    pub(super) fn leave(&mut self, now_ns: u64) {
        let bssid = self.network.as_ref().map(|network| network.bssid);
        let was_on_air = matches!(self.join, Join::Associating(..) | Join::Connected);
        self.forget_network();
        if let Some(bssid) = bssid.filter(|_| was_on_air) {
            let fixed = FixedFields::Deauthentication(ReasonCode::LeavingNetworkDeauth);
            let frame = self.management(now_ns, FrameKind::Deauthentication, bssid, &body(fixed));
            self.push(frame);
        }
        self.disconnected(0, bssid.unwrap_or_default(), Disconnected::Asked);
    }

    fn forget_network(&mut self) {
        (self.join, self.network) = (Join::Idle, None);
        self.power.changed_network(self.now_ns);
        self.keys = Keys::default();
        self.agreements = Default::default();
        self.rates = Default::default();
        self.drop_frames();
    }

    pub(super) fn join_deadline(&self) -> Option<u64> {
        match self.join {
            Join::Authenticating(until_ns, _) | Join::Associating(until_ns, _) => Some(until_ns),
            Join::Connected => Some(self.beacon_ns + LOST_NS),
            Join::Idle | Join::Searching => None,
        }
    }

    pub(super) fn advance_join(&mut self, now_ns: u64) {
        if self.join_deadline().is_none_or(|until_ns| until_ns > now_ns) {
            return;
        }
        match self.join {
            Join::Authenticating(_, tries) if tries < TRIES => self.authenticate(now_ns, tries + 1),
            Join::Associating(_, tries) if tries < TRIES => self.associate(now_ns, tries + 1),
            Join::Authenticating(..) => self.failed(0, Disconnected::AuthenticationFailed),
            Join::Associating(..) => self.failed(0, Disconnected::AssociationFailed),
            Join::Connected => self.failed(0, Disconnected::LostLink),
            Join::Idle | Join::Searching => {}
        }
    }
}
