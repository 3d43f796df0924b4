//! What the sniffer received of what must have been sent: silence in a capture is not evidence of silence on the air.
//!
//! Four things tell that a capture misses frames. Beacons come in a raster (IEEE 802.11-2020, 11.1.3.2). A response answers a
//! frame (10.3.2.3), so one without its frame means that this frame was missed. And an access point that carries
//! traffic sends beacons, a station that gets unicast data sends responses: where a whole kind is absent, it was filtered out.
//! A retry repeats an attempt (9.2.4.1.6): where that is neither in the capture nor among its damaged frames, it was made while the
//! capture shows nothing.

use wire::ieee80211::{FrameKind, FrameType, MacAddr};

use crate::beacons::{Beacons, USUAL_NS};
use crate::captured_by::CapturedBy;
use crate::claims::Claims;
use crate::exchange::Role;
use crate::link::Links;
use crate::medium::Totals;
use crate::ppdu::Ppdu;
use crate::report::{BlindSpot, BlockAckFlow, Hearing};
use crate::station::Stations;
use sentence::{one_or, sentence, Figure, Sentence};

/// Share of orphaned responses, or of acknowledged MPDUs without their frame, from which a capture is deaf.
const ORPHANS: f64 = 0.1;
/// Share of the silent time that uncaptured attempts must have taken to make silence no evidence.
const UNSEEN: f64 = 0.1;
/// Share of all the time below which they do not change what silence says.
const UNSEEN_LEAST: f64 = 0.005;
/// Senders that one damaged frame may hide: two that collide, seldom three.
const COLLIDE: i64 = 3;
/// PPDUs with such retries below which these are single events, however many MPDUs they carry.
const MIN_EVENTS: u64 = 5;
/// Frames below which the absence of a whole kind says nothing.
const MIN_FRAMES: u64 = 20;

/// Counters: of responses, of all interfaces; of the rest, of the interface that the accounts of the medium are about.
#[derive(Debug, Default)]
pub struct Listener {
    control: u64,
    acks: u64,
    block_acks: u64,
    clears_to_send: u64,
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

/// What was counted beside it.
#[derive(Clone, Copy)]
pub struct Counted<'a> {
    pub stations: &'a Stations,
    pub claims: &'a Claims,
    pub links: &'a Links,
    /// Block Ack accounts.
    pub flows: &'a [BlockAckFlow],
    /// Accounts of the channel.
    pub totals: &'a Totals,
    /// The interface that they are of.
    pub place: CapturedBy,
}

impl Listener {
    /// Records a PPDU and of what it is to the others. `is_main`: of the medium's interface.
    #[inline]
    pub fn ppdu(&mut self, ppdu: &Ppdu, role: Role, is_main: bool) {
        match role {
            Role::Response { .. } | Role::JointResponse => self.responses += 1,
            Role::Stray if matches!(ppdu.kind, FrameKind::Ack | FrameKind::BlockAck) => {
                self.responses += 1;
                self.orphans += 1;
            }
            _ => {}
        }
        if role != Role::Damaged && ppdu.fc.frame_type() == FrameType::Control {
            self.control += 1;
            match ppdu.kind {
                FrameKind::Ack => self.acks += 1,
                FrameKind::BlockAck => self.block_acks += 1,
                FrameKind::Cts => self.clears_to_send += 1,
                _ => {}
            }
        }
        if !is_main {
            return;
        }
        let (first, last) = self.span_ns.unwrap_or((ppdu.start_ns, ppdu.start_ns));
        self.span_ns = Some((first.min(ppdu.start_ns), last.max(ppdu.start_ns)));
        self.ppdus += 1;
        self.beside += u64::from(!matches!(role, Role::Beacon | Role::Management | Role::Damaged));
        if role == Role::Data && ppdu.fc.to_ds() != ppdu.fc.from_ds() {
            let mpdus = ppdu.mpdus.len() as u64;
            self.infrastructure_data += mpdus;
            self.from_ap += if ppdu.fc.from_ds() { mpdus } else { 0 };
        }
    }

    /// First to last frame, ns.
    pub fn span_ns(&self) -> i64 {
        self.span_ns.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// What the capture shows of its own hearing. `pair`: the two stations that the report explains.
    pub fn report(&self, counted: &Counted<'_>, pair: Option<(MacAddr, MacAddr)>) -> Hearing {
        let Counted { stations, claims, links, flows, totals, place } = *counted;
        let beacons = Beacons::new(stations, claims);
        let asked = Asked::new(links, stations);
        let doubts: Vec<Sentence> = [
            self.beacons_missing(&beacons, place),
            beacons.of_no_raster(),
            beacons.few_of(pair, place),
            self.responses_missing(&asked),
            self.silently_answered(&asked),
            self.answers_to_nothing(),
            acknowledged_unseen(flows),
            attempts_unseen(totals, place),
        ]
        .into_iter()
        .flatten()
        .collect();
        let blind_spots = self.blind_spots(&asked);
        let doubts = doubts.into_iter().chain(blind_spots.iter().map(|spot| spot.sentence.clone())).collect::<Vec<_>>();
        let proof = beacons.proof(self.span_ns());
        // A filter for beacons leaves their whole raster and nothing else.
        let only_beacons = (self.beside < MIN_FRAMES).then(|| {
            sentence!(
                "{beside} of {ppdus} PPDUs in {place} are data or control frames, as where the others were filtered out",
                beside = Figure::only(self.beside, self.ppdus),
                ppdus = Figure::total(self.ppdus);
                place = place
            )
        });
        Hearing {
            silence_is_evidence: doubts.is_empty() && proof.is_some() && only_beacons.is_none(),
            no_proof: if proof.is_none() {
                Some(beacons.no_proof(self.span_ns(), self.ppdus, place))
            } else {
                only_beacons
            },
            proof,
            doubts,
            missing_attempts: missing_attempts(links),
            control_frames: self.control,
            acks: self.acks,
            block_acks: self.block_acks,
            clears_to_send: self.clears_to_send,
            blind_spots,
            responses: self.responses,
            responses_without_frame: self.orphans,
            beacon_senders: beacons.senders,
            beacons: beacons.rows(),
        }
    }

    /// Traffic of an infrastructure network, and no beacon.
    fn beacons_missing(&self, beacons: &Beacons, place: CapturedBy) -> Option<Sentence> {
        let observed_ns = self.span_ns();
        if self.infrastructure_data < MIN_FRAMES || !beacons.are_none() || observed_ns <= USUAL_NS * 10 {
            return None;
        }
        let none = sentence!(
            "no undamaged beacon is in {place}, although {data} of an infrastructure network are, in {seconds} s in which an access \
             point usually sends about {due}",
            data = Figure::all(self.infrastructure_data, "data frame"),
            seconds = Figure::of(observed_ns as f64 / 1e9, "s", self.infrastructure_data, 1),
            due = Figure::total((observed_ns / USUAL_NS) as u64);
            place = place
        );
        let sent = Figure::count(self.from_ap, self.infrastructure_data);
        let why = if self.from_ap == 0 {
            sentence!(
                "an access point sent none of these data frames ({sent}), so beacons were damaged or filtered out, or the access point is too far away",
                sent = sent
            )
        } else {
            sentence!(
                "an access point sent {sent} of these data frames, so beacons were damaged, filtered out or not recorded",
                sent = sent
            )
        };
        Some(none.and("; ", why))
    }

    /// Frames that ask for responses, and few responses.
    fn responses_missing(&self, asked: &Asked) -> Option<Sentence> {
        if asked.asking >= MIN_FRAMES && self.control == 0 {
            return Some(sentence!(
                "no undamaged control frame was captured, although at least {asking} {ask} for a response: they were damaged, filtered out or not recorded{or}",
                asking = Figure::all(asked.asking, "PPDU");
                or = if asked.anybody_there { "" } else { ", or no receiver was there: no frame of any of them was captured" },
                ask = one_or(asked.asking, "asks", "ask")
            ));
        }
        let settled = asked.answered + asked.unanswered;
        (settled >= MIN_FRAMES && asked.answered < asked.unanswered).then(|| {
            sentence!(
                "{answered} of {asking} PPDUs of data and Null frames without a retransmission have a captured response ({share})",
                asking = Figure::total(settled),
                answered = Figure::count(asked.answered, settled),
                share = Figure::percent(asked.answered, settled, 0)
            )
        })
    }

    /// Kinds of responses of which there is not a single one, where other control frames are there.
    fn blind_spots(&self, asked: &Asked) -> Vec<BlindSpot> {
        let others = |own: u64| self.control.saturating_sub(own);
        let kinds = [
            ("no-acks", "ACK", asked.acks, self.acks),
            ("no-block-acks", "Block Ack", asked.block_acks, self.block_acks),
            ("no-cts", "CTS", asked.clearances, self.clears_to_send),
        ];
        let is_blind =
            |captured: u64, asked: u64| captured == 0 && asked >= MIN_FRAMES && others(captured) >= MIN_FRAMES;
        kinds
            .into_iter()
            .filter(|(.., asked, captured)| is_blind(*captured, *asked))
            .map(|(code, name, asked, captured)| BlindSpot {
                code: code.to_owned(),
                asked,
                sentence: sentence!(
                    "this sniffer delivers no {name}s: {captured} are in it, although {asked} to stations that were captured ask for one, and \
                     {others} are in it",
                    captured = Figure::count(captured, asked),
                    asked = Figure::all(asked, "PPDU"),
                    others = Figure::all(others(captured), "other control frame");
                    name = name
                ),
            })
            .collect()
    }

    /// Frames without a response that were not sent again. Who gets no response sends again, until it gives up: who does not was
    /// answered.
    fn silently_answered(&self, asked: &Asked) -> Option<Sentence> {
        let Asked { data, unanswered, again, .. } = *asked;
        let is_much = data >= MIN_FRAMES && unanswered as f64 > ORPHANS * data as f64 && unanswered * 4 > again;
        (is_much && self.control > 0).then(|| {
            sentence!(
                "{unanswered} of {data} PPDUs of data and Null frames ({share}) have no captured response and no retransmission, as if they had been answered",
                unanswered = Figure::count(unanswered, data),
                data = Figure::total(data),
                share = Figure::percent(unanswered, data, 0)
            )
        })
    }

    /// Responses without their frame.
    fn answers_to_nothing(&self) -> Option<Sentence> {
        (self.responses >= MIN_FRAMES && self.orphans as f64 > ORPHANS * self.responses as f64).then(|| {
            sentence!(
                "for {orphans} of {responses} ACKs and Block Acks ({share}), the frame that they answer was missed, cut or damaged, or captured more than 10 ms \
                 before",
                orphans = Figure::count(self.orphans, self.responses),
                responses = Figure::total(self.responses),
                share = Figure::percent(self.orphans, self.responses, 0)
            )
        })
    }
}

/// MPDUs that Block Acks acknowledge and that are missing.
fn acknowledged_unseen(flows: &[BlockAckFlow]) -> Option<Sentence> {
    let (newly, unseen) =
        flows.iter().fold((0, 0), |(newly, unseen), f| (newly + f.newly_acked, unseen + f.acked_not_captured));
    (unseen >= MIN_FRAMES && unseen as f64 > ORPHANS * (newly + unseen) as f64).then(|| {
        sentence!(
            "{unseen} of {acked} MPDUs that Block Acks acknowledge ({share}) were not captured undamaged",
            unseen = Figure::count(unseen, newly + unseen),
            acked = Figure::total(newly + unseen),
            share = Figure::percent(unseen, newly + unseen, 0)
        )
    })
}

/// Attempts that retries repeat and that are missing.
fn attempts_unseen(totals: &Totals, place: CapturedBy) -> Option<Sentence> {
    let Totals { unseen, idle_ns, damaged_ns, observed_ns, .. } = *totals;
    // The damaged frames of a capture may be the missing attempts, each those of several senders at the same time.
    let hidden_ns = damaged_ns.max(unseen.hidden_ns.min(damaged_ns.saturating_mul(COLLIDE)));
    let elsewhere_ns = (unseen.ns - hidden_ns) as f64;
    let is_much = elsewhere_ns > UNSEEN * idle_ns as f64 && elsewhere_ns > UNSEEN_LEAST * observed_ns as f64;
    (unseen.mpdus >= MIN_FRAMES && unseen.ppdus >= MIN_EVENTS && is_much).then(|| {
        sentence!(
            "of {unseen} of {mpdus} data MPDUs after the first half second ({share}), which carry the retry bit, no undamaged earlier \
             attempt is in {place}; sent again they took {seconds} s, and nothing was captured{by} for {idle} s",
            unseen = Figure::count(unseen.mpdus, unseen.of_mpdus),
            mpdus = Figure::total(unseen.of_mpdus),
            share = Figure::percent(unseen.mpdus, unseen.of_mpdus, 1),
            seconds = Figure::of(unseen.ns as f64 / 1e9, "s", unseen.mpdus, 2),
            idle = Figure::of(idle_ns as f64 / 1e9, "s", unseen.of_mpdus, 2);
            place = place,
            by = place.by()
        )
    })
}

/// Where most earlier attempts of retries are missing or damaged, if these are many.
fn missing_attempts(links: &Links) -> Option<Sentence> {
    let most = links.iter().map(|(_, link)| link).max_by_key(|link| (link.unseen_retries, link.ta, link.ra))?;
    (most.unseen_retries >= MIN_FRAMES).then(|| {
        sentence!(
            "of {missed} of {mpdus} data MPDUs of {ta} to {ra} ({share}), which carry the retry bit, no undamaged earlier attempt is in it",
            missed = Figure::count(most.unseen_retries, most.medium_mpdus),
            mpdus = Figure::total(most.medium_mpdus),
            share = Figure::percent(most.unseen_retries, most.medium_mpdus, 1);
            ta = most.ta,
            ra = most.ra
        )
    })
}

/// PPDUs that ask for a response, and how they ended.
struct Asked {
    asking: u64,
    /// Data and Null frames in them; management goes to scanners, too, who are gone before they answer.
    data: u64,
    answered: u64,
    /// Those without a response that were not sent again, and those that were: what was sent again had no answer.
    unanswered: u64,
    again: u64,
    /// Some receiver sends, too: who is not there does not answer.
    anybody_there: bool,
    /// PPDUs to receivers that send, too, by the kind of response that they ask for.
    acks: u64,
    block_acks: u64,
    clearances: u64,
}

impl Asked {
    /// Without what goes to the capturing machine: its radio does not report its responses.
    fn new(links: &Links, stations: &Stations) -> Self {
        let mut asked = Self {
            asking: 0,
            data: 0,
            answered: 0,
            unanswered: 0,
            again: 0,
            anybody_there: false,
            acks: 0,
            block_acks: 0,
            clearances: 0,
        };
        for (_, link) in links.iter().filter(|(_, link)| !stations.is_ours(link.ra)) {
            let Some(stats) = link.exchange.as_ref() else { continue };
            let is_there = stations.sends(link.ra);
            asked.anybody_there |= stats.asking() > 0 && is_there;
            if is_there {
                asked.acks += stats.acks().0;
                asked.block_acks += stats.aggregated();
                asked.clearances += stats.rts();
            }
            let (data, unanswered, again) = stats.data_without_response();
            asked.asking += stats.asking();
            asked.answered += stats.data_answered();
            (asked.data, asked.unanswered, asked.again) =
                (asked.data + data, asked.unanswered + unanswered, asked.again + again);
        }
        asked
    }
}
