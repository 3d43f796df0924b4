//! Access points that the capture can hardly hear, on channels that overlap its own.

use std::collections::BTreeSet;

use sentence::{one_or, sentence, Figure};
use wire::ieee80211::MacAddr;
use wire::phy::Band;

use super::Known;
use crate::report::Limit;

/// Channels of 20 MHz in 2.4 GHz overlap up to this difference of their numbers, which are 5 MHz apart.
const OVERLAP: std::ops::RangeInclusive<u16> = 1..=3;
/// Beacons of an access point from which its channel is believed.
const MIN_OVERLAP_BEACONS: u64 = 2;

/// Access points on channels that overlap the one that was captured, in 2.4 GHz: what they send is noise here.
pub fn overlap(known: &Known<'_>) -> Option<Limit> {
    let main = known.counts.main_channel().filter(|mhz| Band::from_frequency_mhz(*mhz) == Some(Band::Ghz2_4))?;
    let here = Band::channel_number(main)?;
    let announces = |address: MacAddr| {
        let station = known.stations.table.by_key(&address.as_u64());
        station.is_some_and(|station| station.heard_beacons >= MIN_OVERLAP_BEACONS)
    };
    let channels: Vec<u16> = known
        .claims
        .aps()
        .into_iter()
        .filter(|(address, claim)| claim.frequency_mhz == Some(main) && announces(*address))
        .filter_map(|(_, claim)| claim.channel().filter(|channel| OVERLAP.contains(&channel.abs_diff(here))))
        .collect();
    let distinct: BTreeSet<u16> = channels.iter().copied().collect();
    (!channels.is_empty()).then(|| {
        let listed: Vec<String> = distinct.iter().map(ToString::to_string).collect();
        let sentence = sentence!(
            "{aps} {use_s} {channel_s} {listed}, overlapping channel {here}: most of what they send is noise here that no frame shows",
            aps = Figure::all(channels.len() as u64, "access point");
            use_s = one_or(channels.len() as u64, "uses", "use"),
            channel_s = one_or(distinct.len() as u64, "channel", "channels"),
            listed = listed.join(", "),
            here = here
        );
        Limit::new("overlapping-channels", sentence, &["airtime", "waterfall"])
    })
}
