//! What the sniffer received of what must have been sent: silence in a capture is not evidence of silence on the air.
//!
//! Four things tell that a capture misses frames. Beacons come in a raster (IEEE 802.11-2020, 11.1.3.2). A response answers a
//! frame (10.3.2.3), so one whose frame is not there means that this frame was missed. And an access point that carries
//! traffic sends beacons, a station that gets unicast data sends responses: where a whole kind is absent, it was filtered out.
//! A retry repeats an attempt (9.2.4.1.6): where that is neither in the capture nor among its damaged frames, it was made while the
//! capture shows nothing.

use wire::ieee80211::{FrameKind, FrameType, MacAddr};

use crate::claims::{ApClaim, Claims};
use crate::exchange::Role;
use crate::link::Links;
use crate::medium::Totals;
use crate::micros::TU_NS;
use crate::ppdu::Ppdu;
use crate::report::{BeaconRaster, BlockAckFlow, Hearing};
use crate::station::{Station, Stations};
use sentence::{sentence, Figure, Sentence};

/// Access points listed.
const MAX_ROWS: usize = 64;
/// The usual beacon interval: 100 TU.
const USUAL_TU: u16 = 100;
/// Beacons due below which their share says nothing.
pub const MIN_DUE: u64 = 10;
/// Share of the beacons due that a sniffer must have heard before its silence means anything.
const HEARD: f64 = 0.9;
/// Share of the time observed that the raster must span, for the same reason.
const SPANNED: f64 = 0.9;
/// Share of orphaned responses, or of acknowledged MPDUs without their frame, from which a capture is deaf.
const ORPHANS: f64 = 0.1;
/// Share of the silent time that uncaptured attempts must have taken to make silence no evidence.
const UNSEEN: f64 = 0.1;
/// PPDUs with such retries below which these are single events, however many MPDUs they carry.
const MIN_EVENTS: u64 = 5;
/// Frames below which the absence of a whole kind says nothing.
const MIN_FRAMES: u64 = 20;

/// More beacons than a raster has places: one address announces several networks, frames are in the capture more than once, or
/// its times are not true. The ends of the raster are rounded.
pub fn is_beyond(heard: u64, due: u64) -> bool {
    heard > due + 1 + due / 100
}

/// Beacons of one access point.
#[derive(Clone, Debug)]
struct Raster {
    address: MacAddr,
    interval_tu: Option<u16>,
    beacons: u64,
    /// Damaged frames in its name, some of which may be beacons.
    damaged: u64,
    first_ns: i64,
    last_ns: i64,
}

impl Raster {
    fn new(address: MacAddr, station: &Station, claims: &Claims) -> Self {
        let (first_ns, last_ns) = station.beacon_span_ns;
        let interval_tu = claims.ap(address).and_then(|claim| claim.interval_tu());
        Self { address, interval_tu, beacons: station.heard_beacons, damaged: station.sent_bad, first_ns, last_ns }
    }

    fn due(&self) -> u64 {
        let interval_ns = i64::from(self.interval_tu.unwrap_or(USUAL_TU).max(1)) * TU_NS;
        // Beacons wait for the channel: the raster is rounded to whole intervals.
        let passed = self.last_ns.saturating_sub(self.first_ns).max(0);
        ((passed + interval_ns / 2) / interval_ns) as u64 + 1
    }

    /// Beacons came as often as they were due, or more seldom.
    fn is_one(&self) -> bool {
        !is_beyond(self.beacons, self.due())
    }

    /// Adds the damaged frames in its name.
    fn with_damaged(&self, said: Sentence) -> Sentence {
        match self.damaged {
            0 => said,
            damaged => {
                said.and("; ", sentence!("{damaged} damaged frames name it, too", damaged = Figure::total(damaged)))
            }
        }
    }

    fn heard_share(&self) -> f64 {
        self.beacons.min(self.due()) as f64 / self.due() as f64
    }
}

/// Counters of the interface whose channel the medium's accounts are of.
#[derive(Debug, Default)]
pub struct Listener {
    control: u64,
    infrastructure_data: u64,
    /// Those of them that an access point sent.
    from_ap: u64,
    span_ns: Option<(i64, i64)>,
    responses: u64,
    orphans: u64,
    ppdus: u64,
    /// Those of `ppdus` that are data or control frames.
    beside: u64,
}

impl Listener {
    /// Takes note of a PPDU and of what it is to the others.
    #[inline]
    pub fn ppdu(&mut self, ppdu: &Ppdu, role: Role) {
        let (first, last) = self.span_ns.unwrap_or((ppdu.start_ns, ppdu.start_ns));
        self.span_ns = Some((first.min(ppdu.start_ns), last.max(ppdu.start_ns)));
        self.ppdus += 1;
        self.beside += u64::from(!matches!(role, Role::Beacon | Role::Management | Role::Damaged));
        match role {
            Role::Data if ppdu.fc.to_ds() != ppdu.fc.from_ds() => {
                let mpdus = ppdu.mpdus.len() as u64;
                self.infrastructure_data += mpdus;
                self.from_ap += if ppdu.fc.from_ds() { mpdus } else { 0 };
            }
            Role::Response { .. } | Role::JointResponse => self.responses += 1,
            Role::Stray if matches!(ppdu.kind, FrameKind::Ack | FrameKind::BlockAck) => {
                self.responses += 1;
                self.orphans += 1;
            }
            _ => {}
        }
        self.control += u64::from(role != Role::Damaged && ppdu.fc.frame_type() == FrameType::Control);
    }

    /// First to last frame, ns.
    pub fn span_ns(&self) -> i64 {
        self.span_ns.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Why no beacons show that the sniffer was listening. `best`: the raster with most beacons.
    fn no_proof(&self, best: Option<&Raster>, irregular: Option<&Sentence>, sends_beacons: bool) -> Sentence {
        let Some(best) = best else {
            if let Some(irregular) = irregular {
                return irregular.clone();
            }
            return sentence!(
                "{no} undamaged beacon of an access point of 2.4, 5 or 6 GHz was received{but}",
                no = Figure::said(0.0, "count", self.ppdus, "no");
                but = if sends_beacons { ", other than those that this machine sent itself" } else { "" }
            );
        };
        let heard = || Figure::counted(best.beacons, best.beacons.max(best.due()), "beacon");
        let were = if best.due() == 1 { "was" } else { "were" };
        if !best.is_one() {
            return sentence!(
                "{heard} of {who} are in it, where {due} {were} due: it announces several networks, frames are in the capture more than \
                 once, or its times are not true",
                heard = heard(),
                due = Figure::total(best.due());
                who = best.address,
                were = were
            );
        }
        if best.due() < MIN_DUE {
            return sentence!(
                "no access point was heard long enough to show that the sniffer was listening ({heard} of {who}, where {due} {were} \
                 due; at least {least} have to be due)",
                heard = heard(),
                due = Figure::total(best.due()),
                least = Figure::total(MIN_DUE);
                who = best.address,
                were = were
            );
        }
        if best.heard_share() < HEARD {
            return best.with_damaged(sentence!(
                "no access point was heard throughout (best {heard} of {who}, where {due} were due between the first and the last)",
                heard = heard(),
                due = Figure::total(best.due());
                who = best.address
            ));
        }
        let seconds = |ns: i64| Figure::of(ns as f64 / 1e9, "s", best.beacons, 1);
        sentence!(
            "no access point was heard throughout (best {heard} of {who}, in {part} of {observed} s)",
            heard = heard(),
            part = seconds(best.last_ns - best.first_ns),
            observed = seconds(self.span_ns());
            who = best.address
        )
    }

    /// What the capture shows of its own hearing. `pair`: the two stations that the report explains; `totals`: the accounts of the
    /// channel.
    pub fn report(
        &self,
        stations: &Stations,
        claims: &Claims,
        links: &Links,
        flows: &[BlockAckFlow],
        pair: Option<(MacAddr, MacAddr)>,
        totals: &Totals,
    ) -> Hearing {
        let observed_ns = self.span_ns();
        let sent = stations.table.iter().filter(|(_, station)| station.heard_beacons > 0);
        // The stations of an IBSS take turns (11.1.3.5): what one of them sends has no raster.
        let of_each = sent
            .map(|(address, station)| (MacAddr::from_u64(*address), station))
            .filter(|(address, _)| claims.kind(*address) != Some("ibss"));
        // With several intervals there is no single raster, so how many were due is not known.
        let changed = |address: MacAddr| claims.ap(address).is_some_and(ApClaim::has_several_intervals);
        let (irregular, regular): (Vec<_>, Vec<_>) = of_each.partition(|(address, _)| changed(*address));
        let beacon_senders = (irregular.len() + regular.len()) as u64;
        let irregular = irregular.into_iter().max_by_key(|(address, station)| (station.heard_beacons, *address));
        let mut rasters: Vec<Raster> =
            regular.into_iter().map(|(address, station)| Raster::new(address, station, claims)).collect();
        rasters.sort_by(|a, b| b.beacons.cmp(&a.beacons).then(a.address.cmp(&b.address)));
        let spans = |raster: &&Raster| (raster.last_ns - raster.first_ns) as f64 >= SPANNED * observed_ns as f64;
        let of_pair = |raster: &&Raster| pair.is_some_and(|(a, b)| raster.address == a || raster.address == b);
        let steady =
            rasters.iter().filter(|r| r.due() >= MIN_DUE && r.is_one() && r.heard_share() >= HEARD && spans(r));
        let best = steady.max_by(|a, b| a.heard_share().total_cmp(&b.heard_share()));

        let mut doubts: Vec<Sentence> = Vec::new();
        let seconds = observed_ns as f64 / 1e9;
        let sends_beacons = stations.table.iter().any(|(_, station)| station.own_beacons > 0);
        if self.infrastructure_data >= MIN_FRAMES
            && rasters.is_empty()
            && irregular.is_none()
            && !sends_beacons
            && observed_ns > i64::from(USUAL_TU) * TU_NS * 10
        {
            let due = (observed_ns / (i64::from(USUAL_TU) * TU_NS)) as u64;
            let none = sentence!(
                "no beacon is in it, although {data} data frames of an infrastructure network are, in {seconds} s in which an access \
                 point usually sends about {due}",
                data = Figure::total(self.infrastructure_data),
                seconds = Figure::of(seconds, "s", self.infrastructure_data, 1),
                due = Figure::total(due)
            );
            let sent = Figure::count(self.from_ap, self.infrastructure_data);
            let why = if self.from_ap == 0 {
                sentence!(
                    "an access point sent none of them ({sent}), so beacons were filtered out, or the access point is too far away",
                    sent = sent
                )
            } else {
                sentence!(
                    "an access point sent {sent} of them, so beacons were filtered out or not recorded",
                    sent = sent
                )
            };
            doubts.push(none.and("; ", why));
        }
        let irregular = irregular.filter(|_| rasters.is_empty()).map(|(who, station)| {
            sentence!(
                "the {beacons} beacons of {who} name more than one interval, so how many were due cannot be told",
                beacons = Figure::total(station.heard_beacons);
                who = who
            )
        });
        doubts.extend(irregular.clone());
        if let Some(raster) = rasters.iter().find(of_pair).filter(|r| r.due() >= MIN_DUE && r.heard_share() < HEARD) {
            doubts.push(raster.with_damaged(sentence!(
                "{heard} {undamaged}beacons of {who} are in it, where {due} were due between the first and the last",
                heard = Figure::count(raster.beacons, raster.due()),
                due = Figure::total(raster.due());
                who = raster.address,
                undamaged = if raster.damaged > 0 { "undamaged " } else { "" }
            )));
        }
        let judged = || links.iter().filter(|(_, link)| !stations.is_ours(link.ra));
        let exchanges = || judged().filter_map(|(_, link)| link.exchange.as_ref());
        let asking: u64 = exchanges().map(|stats| stats.asking()).sum();
        // Who is not there does not answer.
        let sends = |address: MacAddr| stations.table.by_key(&address.as_u64()).is_some_and(|station| station.sent > 0);
        let asked = || judged().filter(|(_, link)| link.exchange.as_ref().is_some_and(|stats| stats.asking() > 0));
        let anybody_there = asked().any(|(_, link)| sends(link.ra));
        // Management goes to scanners, too, who are gone before they answer; what was sent again had no answer.
        let answered: u64 = exchanges().map(|stats| stats.data_answered()).sum();
        let (data, unanswered, again) = exchanges().fold((0, 0, 0), |(data, unanswered, again), stats| {
            let (of_data, not_resent, resent) = stats.data_without_response();
            (data + of_data, unanswered + not_resent, again + resent)
        });
        if asking >= MIN_FRAMES && self.control == 0 {
            doubts.push(sentence!(
                "no control frame is in it, although at least {asking} PPDUs ask for a response: they were filtered out or not recorded{or}",
                asking = Figure::total(asking);
                or = if anybody_there { "" } else { ", or no receiver was there: no frame of any of them was captured" }
            ));
        } else if answered + unanswered >= MIN_FRAMES && answered < unanswered {
            doubts.push(sentence!(
                "{answered} of {asking} PPDUs of data and Null frames that were not sent again have a response in it ({share})",
                asking = Figure::total(answered + unanswered),
                answered = Figure::count(answered, answered + unanswered),
                share = Figure::percent(answered, answered + unanswered, 0)
            ));
        }
        // Who gets no response sends again, until it gives up: who does not was answered.
        if data >= MIN_FRAMES && unanswered as f64 > ORPHANS * data as f64 && unanswered * 4 > again && self.control > 0
        {
            doubts.push(sentence!(
                "{unanswered} of {data} PPDUs of data and Null frames ({share}) have no response in it and were not sent again, as if they had been answered",
                unanswered = Figure::count(unanswered, data),
                data = Figure::total(data),
                share = Figure::percent(unanswered, data, 0)
            ));
        }
        if self.responses >= MIN_FRAMES && self.orphans as f64 > ORPHANS * self.responses as f64 {
            doubts.push(sentence!(
                "{orphans} of {responses} responses ({share}) answer a frame that was not captured whole",
                orphans = Figure::count(self.orphans, self.responses),
                responses = Figure::total(self.responses),
                share = Figure::percent(self.orphans, self.responses, 0)
            ));
        }
        let (newly, unseen) =
            flows.iter().fold((0, 0), |(newly, unseen), f| (newly + f.newly_acked, unseen + f.acked_not_captured));
        if unseen >= MIN_FRAMES && unseen as f64 > ORPHANS * (newly + unseen) as f64 {
            doubts.push(sentence!(
                "{unseen} of {acked} MPDUs that Block Acks acknowledge ({share}) were not captured",
                unseen = Figure::count(unseen, newly + unseen),
                acked = Figure::total(newly + unseen),
                share = Figure::percent(unseen, newly + unseen, 0)
            ));
        }
        let Totals { unseen, idle_ns, damaged_ns, .. } = *totals;
        let most = links.iter().map(|(_, link)| link).max_by_key(|link| (link.unseen_retries, link.ta, link.ra));
        let missing_attempts = most.filter(|link| link.unseen_retries >= MIN_FRAMES).map(|link| {
            sentence!(
                "the earlier attempts of {missed} of {mpdus} data MPDUs of {ta} to {ra} ({share}), which carry the retry bit, are not in it",
                missed = Figure::count(link.unseen_retries, link.medium_mpdus),
                mpdus = Figure::total(link.medium_mpdus),
                share = Figure::percent(link.unseen_retries, link.medium_mpdus, 1);
                ta = link.ta,
                ra = link.ra
            )
        });
        // The damaged frames of a capture may be the missing attempts.
        let is_much = unseen.mpdus >= MIN_FRAMES
            && unseen.ppdus >= MIN_EVENTS
            && (unseen.ns - damaged_ns) as f64 > UNSEEN * idle_ns as f64;
        if is_much {
            let missing = sentence!(
                "the earlier attempts of {unseen} of {mpdus} data MPDUs ({share}), which carry the retry bit, are not in it",
                unseen = Figure::count(unseen.mpdus, unseen.of_mpdus),
                mpdus = Figure::total(unseen.of_mpdus),
                share = Figure::percent(unseen.mpdus, unseen.of_mpdus, 1)
            );
            let took = sentence!(
                "sent again they took {seconds} s, and nothing was captured for {idle} s",
                seconds = Figure::of(unseen.ns as f64 / 1e9, "s", unseen.mpdus, 2),
                idle = Figure::of(idle_ns as f64 / 1e9, "s", unseen.of_mpdus, 2)
            );
            doubts.push(missing.and("; ", took));
        }
        let proof = best.map(|raster| {
            sentence!(
                "{heard} of the {due} beacons of {who} that were due were heard ({share})",
                heard = Figure::count(raster.beacons.min(raster.due()), raster.due()),
                due = Figure::total(raster.due()),
                share = Figure::percent(raster.beacons.min(raster.due()), raster.due(), 1);
                who = raster.address
            )
        });
        // A filter for beacons leaves their whole raster and nothing else.
        let only_beacons = (self.beside < MIN_FRAMES).then(|| {
            sentence!(
                "only {beside} of {ppdus} PPDUs in it are data or control frames, as where the others were filtered out",
                beside = Figure::count(self.beside, self.ppdus),
                ppdus = Figure::total(self.ppdus)
            )
        });
        Hearing {
            silence_is_evidence: doubts.is_empty() && proof.is_some() && only_beacons.is_none(),
            no_proof: if proof.is_none() {
                Some(self.no_proof(rasters.first(), irregular.as_ref(), sends_beacons))
            } else {
                only_beacons
            },
            proof,
            doubts,
            missing_attempts,
            control_frames: self.control,
            responses: self.responses,
            responses_without_frame: self.orphans,
            beacon_senders,
            beacons: rasters
                .iter()
                .take(MAX_ROWS)
                .map(|raster| BeaconRaster {
                    address: raster.address.to_string(),
                    interval_tu: raster.interval_tu,
                    heard: raster.beacons,
                    due: raster.due(),
                    heard_share: raster.heard_share(),
                })
                .collect(),
        }
    }
}
