//! Radar that stations report to their access point (DFS; IEEE Std 802.11-2020, 11.8.6).

use hashbrown::HashMap;
use wire::ieee80211::{Action, FixedFields, MacAddr, Management};

use super::context::{named, Context};
use crate::frame::Frame;
use crate::report::Happening;
use sentence::{sentence, Figure};

/// Reporters that are followed.
const MAX_REPORTERS: usize = 256;

/// Reports of one station to one receiver of one channel: frames, first, last.
#[derive(Debug, Default)]
pub struct Radar(HashMap<(u64, u64, u8), (u64, i64, i64)>);

impl Radar {
    /// Records a management frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        let FixedFields::Action(Action::RadarReport(channel)) = management.fixed else { return };
        let (Some(ta), ra) = (frame.ta().filter(|ta| named(*ta)), frame.header.receiver()) else { return };
        let key = (ta.as_u64(), ra.as_u64(), channel);
        if self.0.len() < MAX_REPORTERS || self.0.contains_key(&key) {
            let (frames, _, last_ns) = self.0.entry(key).or_insert((0, at_ns, at_ns));
            *frames += 1;
            *last_ns = at_ns;
        }
    }

    /// One row for each reporter, receiver and channel.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(key, _)| **key);
        rows.into_iter()
            .map(|((ta, ra, channel), (frames, first_ns, last_ns))| {
                let [reporter, receiver] = [*ta, *ra].map(MacAddr::from_u64);
                let said = sentence!(
                    "{reporter} reports radar on channel {channel} to {receiver} in {frames} (DFS): the network has to leave the channel",
                    frames = Figure::all(*frames, "frame");
                    reporter = reporter,
                    receiver = context.network(receiver),
                    channel = channel
                );
                Happening {
                    station: Some(reporter.to_string()),
                    bssid: Some(receiver.to_string()),
                    channel: Some(u16::from(*channel)),
                    ..Happening::new("radar-reported", "event", (*first_ns, *last_ns), *frames, said)
                }
            })
            .collect()
    }
}
