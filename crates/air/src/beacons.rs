//! Beacons as evidence that the sniffer was listening: they come in a raster (IEEE 802.11-2020, 11.1.3.2).

use sentence::{one_or, sentence, Figure, Sentence};
use wire::ieee80211::MacAddr;

use crate::captured_by::CapturedBy;
use crate::claims::{ApClaim, Claims};
use crate::micros::TU_NS;
use crate::report::BeaconRaster;
use crate::station::{Station, Stations};

/// Access points listed.
const MAX_ROWS: usize = 64;
/// The usual beacon interval: 100 TU.
const USUAL_TU: u16 = 100;
/// The same in ns.
pub const USUAL_NS: i64 = USUAL_TU as i64 * TU_NS;
/// Beacons due below which their share says nothing.
const MIN_DUE: u64 = 10;
/// Share of the beacons due that a sniffer must have captured before its silence means anything.
const HEARD: f64 = 0.9;
/// Share of the time observed that the raster must span, for the same reason.
const SPANNED: f64 = 0.9;

/// Beacons of one access point.
#[derive(Clone, Debug)]
struct Raster {
    address: MacAddr,
    interval_tu: Option<u16>,
    beacons: u64,
    /// Damaged frames in its name, some of which may be beacons.
    damaged: u64,
    /// With the sequence number of the one before.
    same: u64,
    /// Networks that it names.
    names: usize,
    first_ns: i64,
    last_ns: i64,
}

impl Raster {
    fn new(address: MacAddr, station: &Station, claims: &Claims) -> Self {
        let (first_ns, last_ns) = station.beacon_span_ns;
        let claim = claims.ap(address);
        Self {
            address,
            interval_tu: claim.and_then(|claim| claim.interval_tu()),
            beacons: station.heard_beacons,
            damaged: station.sent_bad,
            same: station.same_beacons,
            names: claim.map_or(0, |claim| claim.ssids.len()),
            first_ns,
            last_ns,
        }
    }

    fn due(&self) -> u64 {
        let interval_ns = i64::from(self.interval_tu.unwrap_or(USUAL_TU).max(1)) * TU_NS;
        // Beacons wait for the channel: the raster is rounded to whole intervals.
        let passed = self.last_ns.saturating_sub(self.first_ns).max(0);
        ((passed + interval_ns / 2) / interval_ns) as u64 + 1
    }

    /// It has no more beacons than places; else one address announces several networks, frames are in the capture more than once, or
    /// its times are not true. The ends are rounded.
    fn is_one(&self) -> bool {
        let due = self.due();
        self.beacons <= due + 1 + due / 100
    }

    /// Why there are more beacons than places.
    fn excess(&self) -> &'static str {
        match (self.names > 1, self.same * 10 > self.beacons) {
            (true, _) => "it announces several networks",
            (false, true) => "frames are in the capture more than once",
            (false, false) => "it sends them more often than their interval says",
        }
    }

    /// Adds the damaged frames in its name.
    fn with_damaged(&self, said: Sentence) -> Sentence {
        match self.damaged {
            0 => said,
            damaged => {
                said.and("; ", sentence!("{damaged} name it, too", damaged = Figure::all(damaged, "damaged frame")))
            }
        }
    }

    fn heard_share(&self) -> f64 {
        self.beacons.min(self.due()) as f64 / self.due() as f64
    }

    fn row(&self) -> BeaconRaster {
        BeaconRaster {
            address: self.address.to_string(),
            interval_tu: self.interval_tu,
            heard: self.beacons,
            due: self.due(),
            heard_share: self.heard_share(),
        }
    }
}

/// Who sends beacons.
pub struct Beacons {
    /// Rasters of access points, most beacons first.
    rasters: Vec<Raster>,
    /// The station with most beacons, and how many, of those that name several intervals: there is no single raster then, so how
    /// many were due is not known.
    irregular: Option<(MacAddr, u64)>,
    /// Stations that sent beacons which were received.
    pub senders: u64,
    /// This machine sent some itself.
    own: bool,
}

impl Beacons {
    pub fn new(stations: &Stations, claims: &Claims) -> Self {
        let sent = stations.table.iter().filter(|(_, station)| station.heard_beacons > 0);
        // The stations of an IBSS take turns (11.1.3.5): what one of them sends has no raster.
        let of_each = sent
            .map(|(address, station)| (MacAddr::from_u64(*address), station))
            .filter(|(address, _)| claims.kind(*address) != Some("ibss"));
        let changed = |address: MacAddr| claims.ap(address).is_some_and(ApClaim::has_several_intervals);
        let (irregular, regular): (Vec<_>, Vec<_>) = of_each.partition(|(address, _)| changed(*address));
        let senders = (irregular.len() + regular.len()) as u64;
        let irregular = irregular.into_iter().map(|(address, station)| (address, station.heard_beacons));
        let mut rasters: Vec<Raster> =
            regular.into_iter().map(|(address, station)| Raster::new(address, station, claims)).collect();
        rasters.sort_by(|a, b| b.beacons.cmp(&a.beacons).then(a.address.cmp(&b.address)));
        Self {
            rasters,
            irregular: irregular.max_by_key(|(address, beacons)| (*beacons, *address)),
            senders,
            own: stations.table.iter().any(|(_, station)| station.own_beacons > 0),
        }
    }

    /// What shows that the sniffer was listening all the time that was observed.
    pub fn proof(&self, observed_ns: i64) -> Option<Sentence> {
        let spans = |raster: &Raster| (raster.last_ns - raster.first_ns) as f64 >= SPANNED * observed_ns as f64;
        let steady =
            self.rasters.iter().filter(|r| r.due() >= MIN_DUE && r.is_one() && r.heard_share() >= HEARD && spans(r));
        let raster = steady.max_by(|a, b| a.heard_share().total_cmp(&b.heard_share()))?;
        Some(sentence!(
            "{heard} of the {due} of {who} that were due were captured ({share})",
            heard = Figure::count(raster.beacons.min(raster.due()), raster.due()),
            due = Figure::all(raster.due(), "beacon"),
            share = Figure::percent(raster.beacons.min(raster.due()), raster.due(), 1);
            who = raster.address
        ))
    }

    /// Why they show nothing of the `observed_ns` that the sniffer listened, in which there are `ppdus`.
    pub fn no_proof(&self, observed_ns: i64, ppdus: u64, place: CapturedBy) -> Sentence {
        let Some(best) = self.rasters.first() else {
            if let Some(irregular) = self.of_no_raster() {
                return irregular;
            }
            return sentence!(
                "{no} undamaged beacon of an access point of 2.4, 5 or 6 GHz was received{by}{but}",
                no = Figure::said(0.0, "count", ppdus, "no");
                by = place.by(),
                but = if self.own { ", other than those that this machine sent itself" } else { "" }
            );
        };
        let heard = || Figure::counted(best.beacons, best.beacons.max(best.due()), "beacon");
        let were = if best.due() == 1 { "was" } else { "were" };
        if !best.is_one() {
            return sentence!(
                "{heard} of {who} are in {place}, where {due} {were} due: {why}",
                heard = heard(),
                due = Figure::total(best.due());
                who = best.address,
                were = were,
                why = best.excess(),
                place = place
            );
        }
        if best.due() < MIN_DUE {
            return sentence!(
                "no access point was captured{by} long enough to show that the sniffer was listening ({heard} of {who}, where {due} {were} \
                 due; at least {least} have to be due)",
                heard = heard(),
                due = Figure::total(best.due()),
                least = Figure::total(MIN_DUE);
                who = best.address,
                were = were,
                by = place.by()
            );
        }
        if best.heard_share() < HEARD {
            return best.with_damaged(sentence!(
                "no access point was captured{by} throughout (best {heard} of {who}, where {due} {were} due between the first and the last)",
                heard = heard(),
                due = Figure::total(best.due());
                who = best.address,
                by = place.by(),
                were = one_or(best.due(), "was", "were")
            ));
        }
        let seconds = |ns: i64| Figure::of(ns as f64 / 1e9, "s", best.beacons, 1);
        sentence!(
            "no access point was captured{by} throughout (best {heard} of {who}, in {part} of {observed} s)",
            heard = heard(),
            part = seconds(best.last_ns - best.first_ns),
            observed = seconds(observed_ns);
            who = best.address,
            by = place.by()
        )
    }

    /// There are none at all, not even some that show nothing.
    pub fn are_none(&self) -> bool {
        self.rasters.is_empty() && self.irregular.is_none() && !self.own
    }

    /// Those of every access point, most beacons first (64 at most).
    pub fn rows(&self) -> Vec<BeaconRaster> {
        self.rasters.iter().take(MAX_ROWS).map(Raster::row).collect()
    }

    /// No access point's beacons have a raster.
    pub fn of_no_raster(&self) -> Option<Sentence> {
        let (who, beacons) = self.irregular.filter(|_| self.rasters.is_empty())?;
        Some(sentence!(
            "the {beacons} of {who} name more than one interval, so how many were due is unknown",
            beacons = Figure::all(beacons, "beacon");
            who = who
        ))
    }

    /// Many beacons of the access point of `pair` are missing.
    pub fn few_of(&self, pair: Option<(MacAddr, MacAddr)>, place: CapturedBy) -> Option<Sentence> {
        let (a, b) = pair?;
        let raster = self.rasters.iter().find(|raster| raster.address == a || raster.address == b)?;
        (raster.due() >= MIN_DUE && raster.heard_share() < HEARD).then(|| {
            raster.with_damaged(sentence!(
                "{heard} {undamaged}beacons of {who} are in {place}, where {due} {were} due between the first and the last",
                heard = Figure::count(raster.beacons, raster.due()),
                due = Figure::total(raster.due());
                who = raster.address,
                place = place,
                undamaged = if raster.damaged > 0 { "undamaged " } else { "" },
                were = one_or(raster.due(), "was", "were")
            ))
        })
    }
}
