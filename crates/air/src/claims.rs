//! What access points and stations claim of themselves: the elements of their management frames, kept per address.

use std::sync::Arc;

use hashbrown::HashMap;
use wire::ieee80211::{
    Capabilities, CapabilityInfo, FixedFields, FrameKind, MacAddr, Management, Rsn, Ssid, StatusCode,
};
use wire::phy::RateSet;

use crate::few::Few;
use crate::frame::{Fcs, Frame};
use crate::namer::is_nan;

/// Access points and stations with kept claims.
const MAX_CLAIMS: usize = 2_048;
/// Frames kept per access point that no other agrees with yet.
const MAX_UNCONFIRMED: usize = 16;
/// Names kept of one access point.
const MAX_SSIDS: usize = 8;

/// What an access point announces.
#[derive(Clone, Debug)]
pub struct ApClaim {
    /// Elements of its latest beacon or probe response.
    pub capabilities: Box<Capabilities>,
    /// Capability Information of it.
    pub info: Option<CapabilityInfo>,
    /// Its elements were captured to the last one: what they leave out is not claimed.
    pub is_whole: bool,
    /// Names that it gave, in the order of their appearance.
    pub ssids: Vec<Ssid>,
    /// Its latest beacon names no SSID; `None` without a beacon.
    pub is_hidden: Option<bool>,
    /// What the receiver was tuned to, MHz, at the first of its frames that records it.
    pub frequency_mhz: Option<u16>,
    /// Beacon intervals in units of 1,024 µs, each with the number of frames that name it.
    intervals: Few<u16, 8>,
    /// Basic rates, when it names any.
    pub basic_rates: Option<RateSet>,
    /// The frame that was taken in last: the same one again says nothing new.
    latest: Option<Arc<Management>>,
    /// The latest that say something else, where no FCS shows whether they are damaged: each is taken in when another agrees.
    unconfirmed: Vec<Arc<Management>>,
}

impl ApClaim {
    fn new(frame: &Frame, facts: &Management) -> Self {
        let mut claim = Self {
            capabilities: Box::new(facts.capabilities),
            info: facts.capability_info(),
            is_whole: !frame.is_cut,
            ssids: Vec::new(),
            is_hidden: None,
            frequency_mhz: None,
            intervals: Few::default(),
            basic_rates: basic_rates(&facts.capabilities),
            latest: None,
            unconfirmed: Vec::new(),
        };
        claim.capabilities.ssid = facts.capabilities.ssid.filter(|ssid| !ssid.is_hidden());
        claim.name(frame, facts);
        claim.interval(facts);
        claim
    }

    /// Beacon interval in units of 1,024 µs.
    pub fn interval_tu(&self) -> Option<u16> {
        self.intervals.most()
    }

    /// More than a tenth of its frames name another interval than the others: its beacons are in no single raster. A damaged
    /// one among many that agree changes nothing.
    pub fn has_several_intervals(&self) -> bool {
        let (all, most) = self.intervals.iter().fold((0, 0), |(all, most), (_, count)| (all + count, count.max(most)));
        most * 10 < all * 9
    }

    fn interval(&mut self, facts: &Management) {
        if let Some(interval_tu) = interval_tu(facts) {
            self.intervals.add(interval_tu, 1);
        }
    }

    /// The channel it names: DS parameter set, HT operation, else (in 6 GHz) HE operation.
    pub fn channel(&self) -> Option<u16> {
        let capabilities = &self.capabilities;
        capabilities
            .dsss_channel
            .or_else(|| capabilities.ht_operation.map(|operation| operation.primary_channel))
            .or_else(|| capabilities.he_operation?.six_ghz.map(|[primary_channel, ..]| primary_channel))
            .map(u16::from)
    }

    /// Does a frame say the same as what is known, or as one of the latest that did not?
    fn confirms(&self, facts: &Management) -> bool {
        let known = (self.info, &*self.capabilities);
        let mut others = self.unconfirmed.iter().map(|other| (other.capability_info(), &other.capabilities));
        let this = (facts.capability_info(), &facts.capabilities);
        agree(this, known) || others.any(|other| agree(this, other))
    }

    /// Takes what the frame calls itself, and where it was captured.
    fn name(&mut self, frame: &Frame, facts: &Management) {
        self.frequency_mhz = self.frequency_mhz.or(frame.radio.frequency_mhz);
        let Some(ssid) = facts.capabilities.ssid else { return };
        if matches!(frame.header.fc.kind(), FrameKind::Beacon) {
            self.is_hidden = Some(ssid.is_hidden());
        }
        if !ssid.is_hidden() && self.ssids.len() < MAX_SSIDS && !self.ssids.contains(&ssid) {
            self.ssids.push(ssid);
        }
    }
}

/// What a station asks for.
#[derive(Clone, Debug)]
pub struct StationClaim {
    /// The access point it asked.
    pub bssid: Option<MacAddr>,
    /// Elements of its latest (re)association request, else of its latest probe request.
    pub capabilities: Box<Capabilities>,
    /// From an association request.
    pub from_association: bool,
    /// Its elements were captured to the last one.
    pub is_whole: bool,
}

/// Claims by address.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    aps: HashMap<u64, ApClaim>,
    /// Beacons and probe responses of access points for which there was no room.
    pub aps_not_kept: u64,
    stations: HashMap<u64, StationClaim>,
    /// Stations by access point and AID.
    associated: HashMap<(u64, u16), MacAddr>,
}

impl Claims {
    /// Takes a management frame with a usable FCS.
    pub fn management(&mut self, frame: &Frame, facts: &Arc<Management>) {
        let Some(ta) = frame.ta() else { return };
        let key = ta.as_u64();
        match frame.header.fc.kind() {
            // The devices of a NAN cluster send beacons, too.
            FrameKind::Beacon if is_nan(&frame.header) => {}
            FrameKind::Beacon | FrameKind::ProbeResponse => {
                if let Some(claim) = self.aps.get_mut(&key) {
                    claim.interval(facts);
                    if claim.latest.as_ref().is_some_and(|latest| Arc::ptr_eq(latest, facts)) {
                        return;
                    }
                    if claim.is_whole && frame.is_cut {
                        return;
                    }
                    if frame.fcs == Fcs::Unknown && !claim.confirms(facts) {
                        claim.unconfirmed.truncate(MAX_UNCONFIRMED - 1);
                        claim.unconfirmed.insert(0, facts.clone());
                        return;
                    }
                    claim.is_whole = !frame.is_cut;
                    claim.latest = Some(facts.clone());
                    claim.name(frame, facts);
                    // A beacon of a hidden network names no SSID; what a probe response named stays.
                    let known = claim.capabilities.ssid.filter(|ssid| !ssid.is_hidden());
                    *claim.capabilities = facts.capabilities;
                    claim.capabilities.ssid = facts.capabilities.ssid.filter(|ssid| !ssid.is_hidden()).or(known);
                    claim.info = facts.capability_info().or(claim.info);
                    claim.basic_rates = basic_rates(&facts.capabilities).or(claim.basic_rates);
                } else if self.aps.len() < MAX_CLAIMS {
                    self.aps.insert(key, ApClaim::new(frame, facts));
                } else {
                    self.aps_not_kept += 1;
                }
            }
            FrameKind::AssociationRequest | FrameKind::ReassociationRequest | FrameKind::ProbeRequest => {
                let from_association = !matches!(frame.header.fc.kind(), FrameKind::ProbeRequest);
                let bssid = frame.header.bssid().filter(|bssid| !bssid.is_group());
                let capabilities = Box::new(facts.capabilities);
                let claim = StationClaim { bssid, capabilities, from_association, is_whole: !frame.is_cut };
                let old = self.stations.get(&key);
                let room = old.is_some() || self.stations.len() < MAX_CLAIMS;
                let is_better = from_association || !old.is_some_and(|old| old.from_association);
                if room && is_better && !(frame.is_cut && old.is_some_and(|old| old.is_whole)) {
                    self.stations.insert(key, claim);
                }
            }
            FrameKind::AssociationResponse | FrameKind::ReassociationResponse => {
                if let FixedFields::AssociationResponse { status: StatusCode::Success, aid, .. } = facts.fixed {
                    let key = (key, aid);
                    if self.associated.len() < MAX_CLAIMS || self.associated.contains_key(&key) {
                        self.associated.insert(key, frame.header.receiver());
                    }
                }
            }
            _ => {}
        }
    }

    /// The station to which this access point gave this AID, where the capture has the response that says so.
    pub fn associated(&self, ap: MacAddr, aid: u16) -> Option<MacAddr> {
        self.associated.get(&(ap.as_u64(), aid)).copied()
    }

    /// Access points, by address.
    pub fn aps(&self) -> Vec<(MacAddr, &ApClaim)> {
        let mut rows: Vec<_> = self.aps.iter().map(|(key, claim)| (MacAddr::from_u64(*key), claim)).collect();
        rows.sort_by_key(|(address, _)| *address);
        rows
    }

    /// Stations, by address.
    pub fn stations(&self) -> Vec<(MacAddr, &StationClaim)> {
        let mut rows: Vec<_> = self.stations.iter().map(|(key, claim)| (MacAddr::from_u64(*key), claim)).collect();
        rows.sort_by_key(|(address, _)| *address);
        rows
    }

    /// An access point's claim.
    pub fn ap(&self, address: MacAddr) -> Option<&ApClaim> {
        self.aps.get(&address.as_u64())
    }

    /// What an address that sends beacons is: `ap`, `ibss` or `mesh`, by the ESS and IBSS bits of its Capability Information
    /// (IEEE 802.11-2020, 9.4.1.4); `None` without any.
    pub fn kind(&self, address: MacAddr) -> Option<&'static str> {
        let info = self.ap(address)?.info?;
        Some(match (info.ess(), info.ibss()) {
            (true, _) => "ap",
            (false, true) => "ibss",
            (false, false) => "mesh",
        })
    }

    /// Mesh stations announce themselves.
    pub fn has_mesh(&self) -> bool {
        self.aps.keys().any(|address| self.kind(MacAddr::from_u64(*address)) == Some("mesh"))
    }

    /// What an address claims in a frame that was captured whole, as an access point or else as a station.
    pub fn any(&self, address: MacAddr) -> Option<&Capabilities> {
        let station = || self.stations.get(&address.as_u64()).filter(|claim| claim.is_whole);
        let ap = self.ap(address).filter(|claim| claim.is_whole);
        ap.map(|claim| &*claim.capabilities).or_else(|| station().map(|claim| &*claim.capabilities))
    }

    /// What a station asked for when it associated: its RSN element, where that frame was captured whole.
    pub fn asked_for(&self, station: MacAddr) -> Option<Rsn> {
        let claim = self.stations.get(&station.as_u64()).filter(|claim| claim.from_association && claim.is_whole)?;
        claim.capabilities.rsn.or(claim.capabilities.wpa)
    }

    /// The access point that a station asked.
    pub fn asked(&self, station: MacAddr) -> Option<MacAddr> {
        self.stations.get(&station.as_u64())?.bssid
    }

    /// The SSID of an access point, safe to display.
    pub fn ssid(&self, address: MacAddr) -> Option<String> {
        self.ap(address)?.capabilities.ssid.map(|ssid| ssid.to_string())
    }

    /// The channel an access point names.
    pub fn channel(&self, address: MacAddr) -> Option<u16> {
        self.ap(address)?.channel()
    }

    /// Basic rates of the BSS that either address announces.
    pub fn basic_rates(&self, a: MacAddr, b: MacAddr) -> Option<RateSet> {
        self.ap(a).or_else(|| self.ap(b)).and_then(|claim| claim.basic_rates)
    }
}

/// Do two frames agree in what names a network and its kind? A hidden name agrees with any.
fn agree(a: (Option<CapabilityInfo>, &Capabilities), b: (Option<CapabilityInfo>, &Capabilities)) -> bool {
    let named = |c: &Capabilities| c.ssid.filter(|ssid| !ssid.is_hidden());
    let same_name = match (named(a.1), named(b.1)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    same_name && a.0 == b.0 && a.1.rates == b.1.rates && a.1.dsss_channel == b.1.dsss_channel
}

fn interval_tu(facts: &Management) -> Option<u16> {
    match facts.fixed {
        FixedFields::Beacon { interval_tu, .. } => Some(interval_tu).filter(|tu| *tu > 0),
        _ => None,
    }
}

fn basic_rates(capabilities: &Capabilities) -> Option<RateSet> {
    let set = RateSet::basic_of(capabilities.rates.as_ref()?.as_bytes());
    (!set.is_empty()).then_some(set)
}
