//! What happened, as sentences with codes: who joined, failed to join, was thrown out, moved; floods and attacks, and what they
//! look like. Tables are bounded, whatever the capture holds.

mod beacons;
mod context;
mod direct;
mod floods;
mod joins;
mod radar;
mod sources;
mod switches;

use wire::ieee80211::{FrameKind, Management};

use crate::frame::{Detail, Frame};
use crate::report::Happening;
pub use context::Context;

use beacons::BeaconFlood;
use direct::DirectLinks;
use floods::Floods;
use joins::Joins;
use radar::Radar;
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
    radar: Radar,
    direct: DirectLinks,
}

impl Happenings {
    /// Records any frame that is not known to be damaged.
    #[inline]
    pub fn frame(&mut self, frame: &Frame, management: Option<&Management>, at_ns: i64) {
        self.sources.frame(frame, at_ns);
        self.joins.data(frame);
        if frame.header.fc.kind() == FrameKind::Beacon {
            self.beacons.frame(frame, management, at_ns);
        }
    }

    /// Records a management frame or EAPOL packet that is not known to be damaged.
    pub fn detail(&mut self, frame: &Frame, detail: &Detail, at_ns: i64) {
        self.joins.frame(frame, detail, at_ns);
        if let Detail::Management(management) = detail {
            self.floods.frame(frame, management, at_ns);
            self.switches.frame(frame, management, at_ns);
            self.radar.frame(frame, management, at_ns);
        }
        if let Detail::Tdls(tdls) = detail {
            self.direct.frame(frame, *tdls, at_ns);
        }
    }

    /// Attacks first, then faults, then events; in each kind, those of most frames first.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut all: Vec<Happening> = self.beacons.report().into_iter().collect();
        all.extend(self.floods.report(&self.joins, context));
        all.extend(self.sources.report(context.fcs_known));
        all.extend(self.joins.report(context));
        all.extend(self.switches.report(context));
        all.extend(self.radar.report(context));
        all.extend(self.direct.report(context));
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
