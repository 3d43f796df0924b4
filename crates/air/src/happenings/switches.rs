//! Channel switches that access points announce.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use wire::ieee80211::{Action, FixedFields, MacAddr, Management};

use super::context::{named, Context};
use crate::few::Few;
use crate::frame::Frame;
use crate::report::Happening;
use sentence::{one_or, sentence, Figure};

/// Access points that are followed.
const MAX_APS: usize = 256;
/// Channels on which an access point has to look for radar (5,250 to 5,350 and 5,470 to 5,725 MHz).
const RADAR: std::ops::RangeInclusive<u16> = 52..=144;

/// Announcements of one access point.
#[derive(Clone, Debug, Default)]
struct Announced {
    frames: u64,
    channels: Few<u8, 32>,
    quiet: u64,
    first_ns: i64,
    last_ns: i64,
}

/// Announcements by access point.
#[derive(Debug, Default)]
pub struct Switches(HashMap<u64, Announced>);

impl Switches {
    /// Records a management frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        let switch = match management.fixed {
            FixedFields::Action(Action::ChannelSwitch(switch)) => switch,
            // Elements that do not add up are damaged, or those of a frame cut short.
            FixedFields::Beacon { .. } if !management.capabilities.truncated => {
                match management.capabilities.channel_switch {
                    Some(switch) => switch,
                    None => return,
                }
            }
            _ => return,
        };
        let Some(ta) = frame.ta().filter(|ta| named(*ta)) else { return };
        if self.0.len() >= MAX_APS && !self.0.contains_key(&ta.as_u64()) {
            return;
        }
        let known = self.0.entry(ta.as_u64()).or_default();
        if known.frames == 0 {
            known.first_ns = at_ns;
        }
        known.frames += 1;
        known.last_ns = at_ns;
        known.quiet += u64::from(switch.quiet);
        known.channels.add(switch.channel, 1);
    }

    /// One row for each access point.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(key, _)| **key);
        rows.into_iter()
            .map(|(key, known)| {
                let ap = MacAddr::from_u64(*key);
                let channels: BTreeSet<u8> = known.channels.iter().map(|(channel, _)| channel).collect();
                let from = context.claims.channel(ap).filter(|channel| RADAR.contains(channel));
                let listed: Vec<String> = channels.iter().map(ToString::to_string).collect();
                let said = sentence!(
                    "{ap} announces a channel switch in {frames} over {seconds} s, to {channel_s} {listed}, {quiet} of them with a demand for \
                     silence until then{radar}",
                    frames = Figure::all(known.frames, "frame"),
                    seconds = Figure::of((known.last_ns - known.first_ns).max(0) as f64 / 1e9, "s", known.frames, 1),
                    quiet = Figure::count(known.quiet, known.frames);
                    ap = context.network(ap),
                    channel_s = one_or(channels.len() as u64, "channel", "channels"),
                    listed = listed.join(", "),
                    radar = from.map_or(String::new(), |channel| {
                        format!("; it is on channel {channel}, which has to be left when radar is heard (DFS)")
                    })
                );
                Happening {
                    bssid: Some(ap.to_string()),
                    channel: known.channels.most().map(u16::from),
                    ..Happening::new("channel-switch", "event", (known.first_ns, known.last_ns), known.frames, said)
                }
            })
            .collect()
    }
}
