//! What happened, as sentences with codes: who joined, failed to join, was thrown out, moved; floods and attacks, and what they
//! look like. Tables are bounded, whatever the capture holds.

mod beacons;
mod floods;
mod joins;
mod sources;
mod switches;

use hashbrown::HashMap;
use wire::ieee80211::{FrameKind, MacAddr, Management};

use crate::claims::Claims;
use crate::frame::{Detail, Frame};
use crate::link::Links;
use crate::report::Happening;
use crate::station::Stations;
use beacons::BeaconFlood;
use floods::Floods;
use joins::Joins;
use sources::Sources;
use switches::Switches;

/// Sentences of the report.
const MAX_HAPPENINGS: usize = 200;

/// Everything that is counted for them.
#[derive(Debug, Default)]
pub struct Happenings {
    joins: Joins,
    floods: Floods,
    beacons: BeaconFlood,
    sources: Sources,
    switches: Switches,
}

/// What else is known when the report is made.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub claims: &'a Claims,
    pub links: &'a Links,
    pub stations: &'a Stations,
    /// Damage does not go unnoticed.
    pub fcs_known: bool,
}

impl Context<'_> {
    /// An access point, with the name of its network where it gives one.
    fn network(&self, ap: MacAddr) -> String {
        match self.claims.ssid(ap) {
            Some(ssid) => format!("{ap} ({ssid})"),
            None => ap.to_string(),
        }
    }

    /// Its network is known to be without encryption.
    fn is_open(&self, ap: MacAddr) -> bool {
        self.claims.ap(ap).is_some_and(|claim| {
            let capabilities = &claim.capabilities;
            let is_private = claim.info.is_some_and(|info| info.privacy());
            claim.is_whole && capabilities.rsn.is_none() && capabilities.wpa.is_none() && !is_private
        })
    }

    /// Of two addresses that of an access point, else the first.
    fn network_address(&self, one: MacAddr, other: MacAddr) -> MacAddr {
        match self.claims.ap(one).is_none() && self.claims.ap(other).is_some() {
            true => other,
            false => one,
        }
    }

    /// Data and Null frames from one address to another.
    fn data_frames(&self, ta: MacAddr, ra: MacAddr) -> u64 {
        self.links.by_key(&(ta.as_u64(), ra.as_u64())).map_or(0, |link| link.data + link.nulls)
    }

    /// Null frames from one address to another.
    fn null_frames(&self, ta: MacAddr, ra: MacAddr) -> u64 {
        self.links.by_key(&(ta.as_u64(), ra.as_u64())).map_or(0, |link| link.nulls)
    }

    /// All that an address sends are the frames of which a flood is made.
    fn does_nothing_else(&self, address: MacAddr) -> bool {
        let station = self.stations.table.by_key(&address.as_u64());
        station.is_none_or(|station| {
            let usage = &station.usage;
            station.sent <= usage.authentications + usage.associations
        })
    }
}

impl Happenings {
    /// Takes note of any frame that is not known to be damaged.
    #[inline]
    pub fn frame(&mut self, frame: &Frame, management: Option<&Management>, at_ns: i64) {
        self.sources.frame(frame, at_ns);
        if frame.header.fc.kind() == FrameKind::Beacon {
            self.beacons.frame(frame, management, at_ns);
        }
    }

    /// Takes note of a management frame or EAPOL packet that is not known to be damaged.
    pub fn detail(&mut self, frame: &Frame, detail: &Detail, at_ns: i64) {
        self.joins.frame(frame, detail, at_ns);
        if let Detail::Management(management) = detail {
            self.floods.frame(frame, management, at_ns);
            self.switches.frame(frame, management, at_ns);
        }
    }

    /// Attacks first, then faults, then events; in each kind, those of most frames first.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut all: Vec<Happening> = self.beacons.report().into_iter().collect();
        all.extend(self.floods.report(&self.joins, context));
        all.extend(self.sources.report(context.fcs_known));
        all.extend(self.joins.report(context));
        all.extend(self.switches.report(context));
        all.extend(direct_links(context));
        // What single frames look like says less than what they do together.
        let rank = |happening: &Happening| match (happening.kind, happening.code.as_str()) {
            ("attack", "own-addressee" | "group-sources") => 1,
            ("attack", _) => 0,
            ("fault", _) => 2,
            _ => 3,
        };
        all.sort_by(|a, b| {
            (rank(a), std::cmp::Reverse(a.frames))
                .cmp(&(rank(b), std::cmp::Reverse(b.frames)))
                .then_with(|| a.first_us.total_cmp(&b.first_us))
                .then_with(|| (&a.code, &a.station, &a.bssid).cmp(&(&b.code, &b.station, &b.bssid)))
        });
        all.truncate(MAX_HAPPENINGS);
        all
    }
}

/// Two stations of a network that send data to each other, not through its access point.
fn direct_links(context: &Context<'_>) -> Vec<Happening> {
    let mut pairs: HashMap<(MacAddr, MacAddr), (u64, i64, i64, MacAddr)> = HashMap::new();
    for (_, link) in context.links.iter() {
        let Some(bssid) = link.bssid.filter(|bssid| *bssid != link.ta && *bssid != link.ra) else { continue };
        let is_direct = link.ds == Some((false, false)) && link.mpdus > 0 && !link.ra.is_group();
        let acts_as_ap = |bssid: MacAddr| {
            context.stations.table.by_key(&bssid.as_u64()).is_some_and(|station| station.acts_as_ap(false))
        };
        let is_of_ap = context.claims.kind(bssid) == Some("ap") || acts_as_ap(bssid);
        if is_direct && is_of_ap {
            let key = (link.ta.min(link.ra), link.ta.max(link.ra));
            let sum = pairs.entry(key).or_insert((0, link.first_ns, link.last_ns, bssid));
            *sum = (sum.0 + link.mpdus, sum.1.min(link.first_ns), sum.2.max(link.last_ns), bssid);
        }
    }
    pairs
        .into_iter()
        .map(|((one, other), (frames, first_ns, last_ns, bssid))| {
            let said = sentence::sentence!(
                "{one} and {other} send {frames} to each other directly, not through {ap} (TDLS)",
                frames = sentence::Figure::all(frames, "data frame");
                one = one,
                other = other,
                ap = context.network(bssid)
            );
            Happening {
                station: Some(one.to_string()),
                bssid: Some(bssid.to_string()),
                ..Happening::new("direct-link", "event", (first_ns, last_ns), frames, said)
            }
        })
        .collect()
}

/// A single station has such an address: no group address, and not all zeros.
fn named(address: MacAddr) -> bool {
    !address.is_group() && address != MacAddr::ZERO
}

/// Marks of a flood in words, behind a comma.
fn words(marks: &[&'static str]) -> String {
    marks
        .iter()
        .map(|mark| match *mark {
            "sent-by-this-machine" => ", sent by the capturing machine itself",
            "same-sequence-numbers" => ", with equal sequence numbers",
            "own-addressee" => ", in part addressed to their own transmitter",
            "group-sources" => ", in part with a group address as transmitter",
            "one-sequence-counter" => ", with the sequence numbers of one transmitter",
            "same-timestamps" => ", with time stamps near zero",
            _ => ", of senders that do nothing else",
        })
        .collect()
}
