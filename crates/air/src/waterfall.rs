//! From effective PHY rate to payload rate: the accounts of the channel seen from one direction.

use crate::captured_by::CapturedBy;
use crate::limits::LONG_PAUSE_NS;
use crate::link::{Link, SpentNs};
use crate::medium::Totals;
use crate::micros::us;
use crate::report::{Hearing, Limit, Waterfall, WaterfallStep};
use sentence::{one_or, sentence, Figure, Sentence};

/// Causes in the order of the report, with their words.
const CAUSES: [(&str, &str); 14] = [
    ("payload", "payload, first transmissions"),
    ("mac_headers", "MAC, security and LLC headers, FCS, padding"),
    ("preamble", "PHY preambles"),
    ("ifs_backoff", "inter-frame spaces and backoff"),
    ("ack", "ACK, Block Ack and its requests"),
    ("rts_cts", "RTS and CTS"),
    ("retries", "repeats of captured MPDUs"),
    ("reverse", "the same pair's other direction"),
    ("other_stations", "other stations, multicast"),
    ("beacons_management", "beacons and management"),
    ("damaged", "damaged or uncaptured frames"),
    ("idle_queued", "idle while the sender had an MPDU to repeat"),
    ("idle", "idle"),
    ("unobserved", "not observed: changes of the channel, and long pauses without any frame"),
];

/// One direction of a pair, and what else its transmitter sent.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The link.
    pub link: &'a Link,
    /// The link the other way.
    pub reverse: Option<&'a Link>,
    /// Airtime of what the transmitter sent to others and to groups, ns.
    pub elsewhere_ns: i64,
    /// Data MPDUs that the transmitter sent to others.
    pub elsewhere_mpdus: u64,
    /// Frames of the receiver that have the power management bit set, and all that it sent.
    pub receiver_sleeps: (u64, u64),
}

impl Direction<'_> {
    /// Frames between the two were captured during a part of the time only.
    fn apart(&self, observed_ns: i64, place: CapturedBy) -> Option<Sentence> {
        let (mut first, mut last, mut frames) = self.link.on_medium?;
        if let Some((other_first, other_last, others)) = self.reverse.and_then(|reverse| reverse.on_medium) {
            (first, last, frames) = (first.min(other_first), last.max(other_last), frames + others);
        }
        let seconds = |ns: i64| Figure::of(ns as f64 / 1e9, "s", frames, 1);
        (((last - first) as f64) < TOGETHER * observed_ns as f64).then(|| {
            sentence!(
                "the two were not in contact all the time (the {frames} between them{that} lie within {together} of {observed} s)",
                frames = Figure::all(frames, "frame"),
                together = seconds(last - first),
                observed = seconds(observed_ns);
                that = place.that()
            )
        })
    }

    /// The receiver slept at times, so that the sender had to wait for it (IEEE 802.11-2020, 11.2.3); `None`: no frame says so.
    fn sleeps(&self) -> Option<Sentence> {
        let (asleep, sent) = self.receiver_sleeps;
        (asleep > 0).then(|| {
            sentence!(
                "{ra} slept ({asleep} of {sent} frames that it sent have the power management bit set)",
                asleep = Figure::count(asleep, sent),
                sent = Figure::total(sent);
                ra = self.link.ra
            )
        })
    }
}

/// Builds the waterfall of a direction; `None` without observed payload.
pub fn build(direction: Direction<'_>, totals: &Totals, grounds: &Grounds<'_>) -> Option<Waterfall> {
    let Direction { link, reverse, .. } = direction;
    let observed = totals.observed_ns;
    if observed <= 0 || link.spent.total() <= 0 || link.medium_mpdus == 0 {
        return None;
    }
    let own = link.spent;
    let back = reverse.map_or_else(SpentNs::default, |reverse| reverse.spent);
    let others = totals.all.total() - own.total() - back.total() + totals.stray_ns;
    let queued = link.idle_queued_ns.clamp(0, totals.idle_ns);
    let ns = [
        own.payload,
        own.headers,
        own.preamble,
        own.ifs,
        own.ack,
        own.rts_cts,
        own.retries,
        back.total(),
        others,
        totals.management_ns,
        totals.damaged_ns,
        queued,
        totals.idle_ns - queued,
        totals.unobserved_ns,
    ];
    let payload_bits = link.payload_bytes as f64 * 8.0;
    let phy_rate = if link.timed_payload_ns > 0 {
        link.timed_payload_bytes as f64 * 8000.0 / link.timed_payload_ns as f64
    } else {
        0.0
    };
    let steps: Vec<WaterfallStep> = CAUSES
        .iter()
        .zip(ns)
        .map(|((cause, label), ns)| {
            let share = ns as f64 / observed as f64;
            WaterfallStep {
                cause: (*cause).to_owned(),
                label: label_of_payload(cause, link)
                    .or_else(|| label_of_gap(cause, totals.gaps_usable, grounds))
                    .unwrap_or_else(|| (*label).to_owned()),
                us: us(ns),
                share,
                mbit_s: share * phy_rate,
            }
        })
        .collect();
    let mut waterfall = Waterfall {
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        direction: direction.name.to_owned(),
        observed_us: us(observed),
        phy_rate_mbit_s: (phy_rate > 0.0).then_some(phy_rate),
        payload_mbit_s: payload_bits * 1000.0 / observed as f64,
        payload_bytes: link.payload_bytes,
        mpdus: link.medium_mpdus,
        mpdus_timed: Some(link.timed_mpdus),
        timing: if totals.gaps_usable { "stamps" } else { "capture-clock" }.to_owned(),
        steps,
        advice: Vec::new(),
    };
    waterfall.advice = advise(&waterfall, direction, grounds);
    Some(waterfall)
}

/// What the payload is called where its time is not that of all bits of the goodput; `None`: as in [`CAUSES`].
fn label_of_payload(cause: &str, link: &Link) -> Option<String> {
    if cause != "payload" {
        return None;
    }
    // The next PPDU began before they can have ended, by what the header says of their rate and length.
    let is_cut = link.spent.payload as f64 * (1.0 + PAYLOAD_CUT) < link.timed_payload_ns as f64;
    let cut = if is_cut { ", as far as the next PPDU left them time" } else { "" };
    match link.timed_mpdus < link.medium_mpdus {
        true => Some(format!("payload bits of the MPDUs with a known duration, each once{cut}")),
        false if is_cut => Some(format!("payload, first transmissions{cut}")),
        false => None,
    }
}

/// What a gap between frames is called by what is known of it; `None`: as in [`CAUSES`].
fn label_of_gap(cause: &str, gaps_usable: bool, grounds: &Grounds<'_>) -> Option<String> {
    let is_silence = grounds.hearing.silence_is_evidence;
    let label = match (cause, gaps_usable, is_silence) {
        ("ifs_backoff", false, _) => "inter-frame spaces and backoff (not available: counted as idle)",
        ("idle", true, true) => "idle",
        ("idle", false, true) => "idle, inter-frame spaces and backoff (not separable: no usable stamps)",
        ("idle", true, false) => "idle or not captured",
        ("idle", false, false) => "idle or not captured, inter-frame spaces and backoff",
        ("idle_queued", _, false) => "idle or not captured while the sender had an MPDU to repeat",
        _ => return None,
    };
    // They are in the capture, and nothing says for how long they had the channel.
    let also =
        if cause != "ifs_backoff" && grounds.untimed.0 > 0 { ", and frames without a known duration" } else { "" };
    Some(format!("{label}{also}"))
}

/// Part by which the payload's time may be shorter than durations say, for the rounding of stamps.
const PAYLOAD_CUT: f64 = 0.001;
/// Data MPDUs of a direction below which its losses are not explained.
const MIN_MPDUS: u64 = 20;
/// Least share of the time that the second loss must have.
const MIN_SECOND_SHARE: f64 = 0.05;
/// Share of the time observed that the frames between two stations span where they are in contact all the time.
const TOGETHER: f64 = 0.9;
/// Least share of the time that is worth a sentence.
const MIN_SHARE: f64 = 0.005;

/// What the sentences under a waterfall may rest on, beside the waterfall.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// MPDUs could be grouped to PPDUs.
    pub grouped: bool,
    /// The capture has hardware time stamps, calibrated or not.
    pub stamped: bool,
    /// Channels that frames were captured on.
    pub channels: u64,
    /// First PPDU to last, away times included, ns.
    pub observed_ns: i64,
    /// Time that was not observed, and the part of it between frames of different channels, ns.
    pub unobserved_ns: i64,
    /// See `unobserved_ns`.
    pub hopped_ns: i64,
    /// The longest pause in it on one channel, ns.
    pub longest_pause_ns: i64,
    /// Airtime of beacons, and of all other management, ns.
    pub management_ns: (i64, i64),
    /// Frames of unknown duration, and all.
    pub untimed: (u64, u64),
    /// What the sniffer captured.
    pub hearing: &'a Hearing,
    /// The interface that all this is of.
    pub place: CapturedBy,
    /// What the capture does not show.
    pub limits: &'a [Limit],
}

/// Limits by which air that looks idle may not be, whatever beacons were captured.
const UNHEARD: [&str; 5] = ["one-direction", "hopping", "away", "dropped", "own-transmissions"];

impl Grounds<'_> {
    /// Why silence says nothing; `None` when it does.
    fn deaf(&self) -> Option<Sentence> {
        let of_limit = self.limits.iter().find(|limit| UNHEARD.contains(&limit.code.as_str()));
        if let Some(doubt) = self.hearing.doubts.first().or(of_limit.map(|limit| &limit.sentence)) {
            return Some(doubt.clone());
        }
        let (untimed, all) = self.untimed;
        if untimed * 10 > all {
            return Some(sentence!(
                "{untimed} of {all} frames {have} no known duration",
                untimed = Figure::count(untimed, all),
                all = Figure::total(all);
                have = one_or(untimed, "has", "have")
            ));
        }
        if self.hearing.silence_is_evidence {
            return None;
        }
        self.hearing.no_proof.clone()
    }
}

/// The two largest losses, with what would bring them back.
fn advise(waterfall: &Waterfall, direction: Direction<'_>, grounds: &Grounds<'_>) -> Vec<Sentence> {
    let link = direction.link;
    if link.medium_mpdus < MIN_MPDUS {
        return vec![sentence!(
            "What limits this direction is unknown: {mpdus} {were} captured of it (needed: {MIN_MPDUS}).",
            mpdus = Figure::only_counted(link.medium_mpdus, link.medium_mpdus, "data MPDU");
            were = one_or(link.medium_mpdus, "was", "were")
        )];
    }
    let mut losses: Vec<&WaterfallStep> = waterfall.steps.iter().filter(|step| step.cause != "payload").collect();
    losses.sort_by(|a, b| b.us.total_cmp(&a.us));
    let silent = |step: &WaterfallStep| matches!(step.cause.as_str(), "idle" | "idle_queued");
    let is_silent_first = losses.first().is_some_and(|step| silent(step));
    losses
        .into_iter()
        .take(2)
        .enumerate()
        .filter(|(place, step)| step.share > if *place == 0 { MIN_SHARE } else { MIN_SECOND_SHARE })
        .map(|(place, step)| {
            let share = Figure::share(step.share, link.medium_mpdus, 1);
            let goes = match step.cause.as_str() {
                "unobserved" => sentence!(
                    "{share} of the time was not observed, in changes of the channel and long pauses without any frame",
                    share = share
                ),
                _ => sentence!("{share} of the time goes to {cause}", share = share; cause = step.label),
            };
            let is_said = place > 0 && is_silent_first && silent(step);
            goes.and(": ", remedy(step, waterfall, direction, grounds, is_said)).ended()
        })
        .collect()
}

/// Data MPDUs of a direction by whether their format can be aggregated: (can, all with a known format).
fn aggregatable(link: &Link) -> (u64, u64) {
    link.rates.frames_that(|mode| mode.can_aggregate())
}

/// `is_said`: why silence says nothing stands in the sentence before.
fn remedy(
    step: &WaterfallStep,
    waterfall: &Waterfall,
    direction: Direction<'_>,
    grounds: &Grounds<'_>,
    is_said: bool,
) -> Sentence {
    let Direction { link, reverse, elsewhere_ns, .. } = direction;
    let sent = link.medium_mpdus;
    let payload = link.payload_bytes as f64 / sent.max(1) as f64;
    match step.cause.as_str() {
        "ifs_backoff" | "preamble" | "ack" => once_per_ppdu(link, grounds.grouped),
        "mac_headers" => sentence!(
            "larger MPDUs would lower it (mean payload {payload} {bytes} of {mpdus} MPDUs)",
            payload = Figure::of(payload, "bytes", sent, 0),
            mpdus = Figure::total(sent);
            bytes = one_or(payload.round_ties_even() as u64, "byte", "bytes")
        ),
        "rts_cts" => protection(link),
        "retries" => sentence!(
            "{retry} of the {mpdus} {are} retries; a lower rate helps only if they were lost, and not if they were acknowledged \
             too late: see Block Acks and ACKs",
            retry = Figure::percent(link.medium_retries, link.medium_mpdus, 1),
            mpdus = Figure::all(sent, "MPDU");
            are = one_or(sent, "is", "are")
        ),
        "reverse" => other_direction(reverse, grounds.grouped),
        "other_stations" => sentence!(
            "{seconds} s, of which {own} s are of frames that {ta} sent itself; this direction sent {mpdus} beside them",
            seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2),
            own = Figure::of(us(elsewhere_ns) / 1e6, "s", link.medium_mpdus, 2),
            mpdus = Figure::all(sent, "MPDU");
            ta = link.ta
        ),
        "beacons_management" => management(step, link, grounds),
        "damaged" => sentence!(
            "{seconds} s of frames that the sniffer could not decode, or that it missed inside an A-MPDU: they may belong to any \
             cause; a sniffer nearer to the stations can show it",
            seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2)
        ),
        "idle" | "idle_queued" if is_said && grounds.deaf().is_some() => sentence!(
            "{seconds} s, of which the same holds",
            seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2)
        ),
        "idle_queued" => match grounds.deaf() {
            Some(doubt) => sentence!(
                "the sender had an MPDU to repeat for {seconds} s, silent or missed by the sniffer",
                seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2)
            )
            .and(": ", doubt),
            None => {
                let silent = sentence!(
                    "the sender had an MPDU to repeat, and no frame of it was captured for {seconds} s: its driver, bus or firmware was busy or slow",
                    seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2)
                );
                either(silent, "it waited for what the sniffer does not hear", direction.sleeps().into_iter().collect())
                    .with(" (an 802.11 capture does not show which)")
            }
        },
        "idle" => idle(step, waterfall, direction, grounds),
        _ => unobserved(link, grounds),
    }
}

/// What RTS and CTS are for.
fn protection(link: &Link) -> Sentence {
    let (rts, ppdus) = link.exchange.as_ref().map_or((0, 0), |stats| (stats.rts(), stats.asking()));
    sentence!(
                "{rts} RTS stand beside its {ppdus} that ask for a response; the RTS threshold and the protection bits of the BSS \
                 decide on protection",
                rts = Figure::total(rts),
                ppdus = Figure::all(ppdus, "PPDU")
            )
}

/// What the other direction's time is made of.
fn other_direction(reverse: Option<&Link>, grouped: bool) -> Sentence {
    match reverse.map(|reverse| (reverse, aggregatable(reverse))) {
        Some((reverse, (can, known))) if can > 0 => {
            let (ppdus, mpdus) = ppdus_of(reverse);
            let came = sentence!(
                "its {mpdus} came in {ppdus}",
                mpdus = Figure::all(mpdus, "MPDU"),
                ppdus = Figure::all(ppdus, "PPDU")
            );
            if !grouped || mpdus >= 4 * ppdus {
                return came;
            }
            came.and(
                    "; ",
                    sentence!(
                        "{can} of {known} {were} sent in a format that can be aggregated, and more of them in a PPDU would shorten it",
                        can = Figure::count(can, known),
                        known = Figure::total(known);
                        were = one_or(can, "was", "were")
                    ),
                )
        }
        other => sentence!(
            "{mpdus}, none of them in a format that can be aggregated",
            mpdus = Figure::all(other.map_or(0, |(reverse, _)| reverse.medium_mpdus), "MPDU")
        ),
    }
}

/// The station that sent these management frames, or got them.
fn management(step: &WaterfallStep, link: &Link, grounds: &Grounds<'_>) -> Sentence {
    let networks = grounds.hearing.beacon_senders;
    let said = sentence!("{seconds} s", seconds = Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2));
    let (beacons, others) = grounds.management_ns;
    if others > beacons {
        return said.and(
            ", most of it ",
            sentence!(
                "of other management frames than beacons ({others} of {all} s on the air)",
                others = Figure::of(others as f64 / 1e9, "s", link.medium_mpdus, 2),
                all = Figure::of((others + beacons) as f64 / 1e9, "s", link.medium_mpdus, 2)
            ),
        );
    }
    if networks < 2 {
        return said;
    }
    said.and(
        ", ",
        sentence!(
            "with beacons of {networks} BSSIDs: fewer, or a higher rate of beacons, would shorten it",
            networks = Figure::total(networks)
        ),
    )
}

/// Why time was not observed.
fn unobserved(link: &Link, grounds: &Grounds<'_>) -> Sentence {
    match () {
        () if grounds.channels > 1 && grounds.hopped_ns * 2 > grounds.unobserved_ns => sentence!(
            "the sniffer went through {channels} channels; a capture on one channel does not lose this time",
            channels = Figure::total(grounds.channels)
        ),
        () if grounds.hopped_ns * 2 > grounds.unobserved_ns => sentence!(
            "{seconds} s of it lie between two frames that name different channels",
            seconds = Figure::of(grounds.hopped_ns as f64 / 1e9, "s", link.medium_mpdus, 2)
        ),
        () if grounds.longest_pause_ns > LONG_PAUSE_NS => sentence!(
            "captures of different times are in this file, with {days} days between two of them",
            days = Figure::of(grounds.longest_pause_ns as f64 / 86_400e9, "d", 1, 1)
        ),
        () => sentence!(
            "{seconds} s in pauses in which not even beacons were captured, where they come at other times: the sniffer did not listen, \
             the access point was away, or frames were filtered out",
            seconds = Figure::of((grounds.unobserved_ns - grounds.hopped_ns) as f64 / 1e9, "s", link.medium_mpdus, 2)
        ),
    }
}

/// `first, other, ..., or last`.
fn either(first: Sentence, other: &str, mut more: Vec<Sentence>) -> Sentence {
    let Some(last) = more.pop() else { return first.with(&format!(", or {other}")) };
    let begun = more.into_iter().fold(first.with(&format!(", {other}")), |said, next| said.and(", ", next));
    begun.and(", or ", last)
}

fn ppdus_of(link: &Link) -> (u64, u64) {
    link.aggregates.iter().fold((0u64, 0u64), |(ppdus, mpdus), (_, a)| (ppdus + a.ppdus(), mpdus + a.mpdus()))
}

fn once_per_ppdu(link: &Link, grouped: bool) -> Sentence {
    let (ppdus, mpdus) = ppdus_of(link);
    let mean = mpdus as f64 / ppdus.max(1) as f64;
    let (can, known) = aggregatable(link);
    if known > 0 && can == 0 {
        return sentence!(
            "every PPDU pays this once, and {can} of {known} MPDUs were sent in a format that can be aggregated",
            can = Figure::count(0, known),
            known = Figure::total(known)
        );
    }
    if !grouped {
        return sentence!(
            "every PPDU pays this once; how many of the {mpdus} shared one, this capture does not show",
            mpdus = Figure::all(link.medium_mpdus, "MPDU")
        );
    }
    let per_ppdu = Figure::of(mean, "MPDUs/PPDU", ppdus, 1);
    if mean < 4.0 {
        sentence!(
            "every PPDU pays this once and carries {per_ppdu} MPDUs on average (n={ppdus}): more MPDUs per A-MPDU would spread it",
            per_ppdu = per_ppdu,
            ppdus = Figure::total(ppdus)
        )
    } else {
        sentence!(
            "PPDUs already carry {per_ppdu} MPDUs on average (n={ppdus}): longer ones, or a larger TXOP, would bring some of it back",
            per_ppdu = per_ppdu,
            ppdus = Figure::total(ppdus)
        )
    }
}

/// What the sender's silence means, and whether it was one.
fn idle(step: &WaterfallStep, waterfall: &Waterfall, direction: Direction<'_>, grounds: &Grounds<'_>) -> Sentence {
    let link = direction.link;
    let seconds = || Figure::of(step.us / 1e6, "s", link.medium_mpdus, 2);
    let said = match grounds.deaf() {
        Some(doubt) => sentence!("{seconds} s, idle or missed by the sniffer", seconds = seconds()).and(", as ", doubt),
        None => {
            let said = sentence!("no transmission was captured{by} for {seconds} s", seconds = seconds(); by = grounds.place.by());
            let said = match &grounds.hearing.proof {
                Some(proof) => said.and(", while ", proof.clone()),
                None => said,
            };
            let (mpdus, were) = (Figure::all(link.medium_mpdus, "MPDU"), one_or(link.medium_mpdus, "was", "were"));
            let captured = match direction.elsewhere_mpdus {
                0 => sentence!("{mpdus} {were} captured{by}", mpdus = mpdus; were = were, by = grounds.place.by()),
                others => sentence!(
                    "{mpdus} to this receiver and {others} to others were captured{by}",
                    mpdus = mpdus,
                    others = Figure::total(others);
                    by = grounds.place.by()
                ),
            };
            let offered = captured.with(": the source had no more to send");
            let apart = direction.apart(grounds.observed_ns, grounds.place);
            let others = apart.into_iter().chain(direction.sleeps()).collect();
            let why = either(offered, "the sender's host or bus did not deliver it", others);
            said.and(". ", why).with(", or the sniffer missed frames; the capture does not show which")
        }
    };
    if waterfall.timing != "capture-clock" {
        return said;
    }
    let (ppdus, mpdus) = ppdus_of(link);
    let of = match grounds.grouped && ppdus < mpdus {
        true => Figure::all(ppdus, "PPDU"),
        false => Figure::all(link.medium_mpdus, "MPDU"),
    };
    let spaces = sentence!(
        "Inter-frame spaces and backoff of {of} are part of it: {why}",
        of = of;
        why = if grounds.stamped {
            "it is not known what the hardware time stamps mark"
        } else {
            "only hardware time stamps (TSFT) would separate them"
        }
    );
    said.and(". ", spaces)
}
