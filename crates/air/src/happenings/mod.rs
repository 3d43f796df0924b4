//! What happened, as sentences with codes: who joined, failed to join, was thrown out, moved; floods and attacks, and what they
//! look like. Tables are bounded, whatever the capture holds.

mod beacons;
mod context;
mod floods;
mod joins;
mod sources;
mod switches;

use hashbrown::HashMap;
use wire::ieee80211::{FrameKind, MacAddr, Management};

use crate::frame::{Detail, Frame};
use crate::report::Happening;
pub use context::Context;

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
