//! Joining a network and leaving it: open authentication, association, what the network may do to it.

use wire::ieee80211::{
    CapabilityInfo, FixedFields, FrameControl, FrameKind, MacAddr, ManagementBody, ManagementElements, ReasonCode,
    StatusCode,
};
use wire::phy::RateSet;
use wire::sdio::libertas::{event, Associate, Header};

use super::firmware::Firmware;
use super::under_way::{Join, Network};
use crate::air::rates::LEGACY_RATES;
use crate::air::Tuned;
use crate::chips::station_frames::body;
use crate::chips::station_keys::Keys;

/// Time that an access point has to answer, and how often it is asked: less together than the driver waits for a command (cmd.c,
/// lbs_submit_command).
const ANSWER_NS: u64 = 200_000_000;
const TRIES: u8 = 3;
/// Without a beacon for so long the network is lost.
const LOST_NS: u64 = 2_000_000_000;
/// RSN (IEEE 802.11-2020, table 9-92).
const RSN: u8 = 48;
/// Status of an association that is not answered: authentication timed out (cfg.c, WLAN_STATUS_AUTH_TIMEOUT).
const NO_ANSWER: u16 = 16;

impl Firmware {
    pub(super) fn is_connected_to(&self, address: MacAddr) -> bool {
        self.join == Join::Connected && self.bssid() == Some(address)
    }

    pub(super) fn bssid(&self) -> Option<MacAddr> {
        self.network.as_ref().map(|network| network.asked.bssid)
    }

    /// The host wants to join a network.
    pub(super) fn begin_join(&mut self, now_ns: u64, header: Header, asked: Associate) {
        if self.scan.is_some() || self.join.is_under_way() {
            return self.fail(header);
        }
        self.forget_network();
        let tuned = Tuned::channel(asked.channel);
        let too_long = asked.rsn.as_ref().is_some_and(|rsn| rsn.len() > usize::from(u8::MAX));
        // Shared keys and WPA are not modelled.
        if tuned.is_none() || asked.wpa || asked.authentication != 0 || asked.bssid.is_group() || too_long {
            return self.fail(header);
        }
        self.home = tuned;
        let basic = Some(RateSet::basic_of(&asked.rates)).filter(|set| !set.is_empty());
        self.network = Some(Network { header, asked, basic });
        self.authenticate(now_ns, 1);
    }

    fn authenticate(&mut self, now_ns: u64, tries: u8) {
        self.join = Join::Authenticating(now_ns + ANSWER_NS, tries);
        let fixed = FixedFields::Authentication { algorithm: 0, transaction: 1, status: StatusCode::Success };
        self.ask(now_ns, FrameKind::Authentication, &body(fixed));
    }

    fn associate(&mut self, now_ns: u64, tries: u8) {
        let Some(Network { asked, .. }) = &self.network else { return };
        self.join = Join::Associating(now_ns + ANSWER_NS, tries);
        let rates = if asked.rates.is_empty() { &LEGACY_RATES[..] } else { &asked.rates };
        let elements = ManagementElements { ssid: Some(&asked.ssid), ..ManagementElements::default() };
        let (capability, listen_interval) = (CapabilityInfo(asked.capability), asked.listen_interval);
        let fixed = FixedFields::AssociationRequest { capability, listen_interval };
        let mut request = Vec::new();
        ManagementBody { fixed, elements: elements.with_rates(rates) }.emit(&mut request);
        if let Some(rsn) = &asked.rsn {
            request.extend([RSN, rsn.len() as u8]);
            request.extend(rsn);
        }
        self.ask(now_ns, FrameKind::AssociationRequest, &request);
    }

    /// Sends the network a management frame.
    fn ask(&mut self, now_ns: u64, kind: FrameKind, body: &[u8]) {
        let Some(bssid) = self.bssid() else { return };
        let frame = self.management(now_ns, kind, bssid, body);
        self.push(frame);
    }

    /// An answer, or a frame that ends the connection.
    pub(super) fn answered(&mut self, now_ns: u64, from: MacAddr, fc: FrameControl, body: &[u8]) {
        if self.bssid() != Some(from) {
            return;
        }
        let Some(parsed) = ManagementBody::parse(fc, body) else { return };
        match (self.join, parsed.fixed) {
            (Join::Authenticating(..), FixedFields::Authentication { transaction: 2, status, .. }) => {
                if status == StatusCode::Success {
                    self.associate(now_ns, 1);
                } else {
                    self.refused(status.number());
                }
            }
            (Join::Associating(..), FixedFields::AssociationResponse { status, .. }) => {
                if status == StatusCode::Success {
                    self.connected(now_ns);
                }
                // Capability, status, association ID and elements, as they have come (host.h, cmd_ds_802_11_associate_response).
                self.joined(body);
                if status != StatusCode::Success {
                    self.forget_network();
                }
            }
            (Join::Authenticating(..) | Join::Associating(..), FixedFields::Deauthentication(reason)) => {
                self.refused(reason.number());
            }
            (Join::Connected, FixedFields::Disassociation(_)) => self.lost(event::DISASSOCIATED),
            (Join::Connected, FixedFields::Deauthentication(_)) => self.lost(event::DEAUTHENTICATED),
            _ => {}
        }
    }

    fn connected(&mut self, now_ns: u64) {
        self.chip.associations += 1;
        self.join = Join::Connected;
        self.beacon_ns = now_ns;
        self.duplicates = Default::default();
    }

    /// The command has its answer.
    fn joined(&mut self, body: &[u8]) {
        if let Some(header) = self.network.as_ref().map(|network| network.header) {
            self.answer(header, body);
        }
    }

    /// The network does not want the station, or does not answer.
    fn refused(&mut self, status: u16) {
        let words = [0, status, 0].map(u16::to_le_bytes);
        self.joined(words.as_flattened());
        self.forget_network();
    }

    fn lost(&mut self, event: u32) {
        self.forget_network();
        self.event(event);
    }

    /// The host wants to leave.
    pub(super) fn leave(&mut self, now_ns: u64, bssid: MacAddr, reason: u16) {
        if !self.is_connected_to(bssid) {
            return;
        }
        let fixed = FixedFields::Deauthentication(ReasonCode::from(reason));
        self.ask(now_ns, FrameKind::Deauthentication, &body(fixed));
        self.forget_network();
    }

    fn forget_network(&mut self) {
        (self.join, self.network, self.signal_dbm) = (Join::Idle, None, None);
        self.keys = Keys::with(self.assumptions.eapol());
        self.tx.dropped += self.queue.take_data().len() as u64;
    }

    pub(super) fn join_deadline(&self) -> Option<u64> {
        match self.join {
            Join::Authenticating(until_ns, _) | Join::Associating(until_ns, _) => Some(until_ns),
            Join::Connected => Some(self.beacon_ns + LOST_NS),
            Join::Idle => None,
        }
    }

    pub(super) fn advance_join(&mut self, now_ns: u64) {
        if self.join_deadline().is_none_or(|until_ns| until_ns > now_ns) {
            return;
        }
        match self.join {
            Join::Authenticating(_, tries) if tries < TRIES => self.authenticate(now_ns, tries + 1),
            Join::Associating(_, tries) if tries < TRIES => self.associate(now_ns, tries + 1),
            Join::Authenticating(..) | Join::Associating(..) => self.refused(NO_ANSWER),
            Join::Connected => self.lost(event::LINK_LOST),
            Join::Idle => {}
        }
    }
}
