//! Limits of a capture, and why.

mod known;
mod overlap;
mod times;

pub use known::Known;
pub use times::{disorder, doubled, heard_twice, interleaved, merged, repeated, reversed, untimely, LONG_PAUSE_NS};

use crate::calibrate::{ClockSource, Grouping};
use crate::captured_by::CapturedBy;
use crate::link::Links;
use crate::report::Limit;
use crate::station::Stations;
use crate::summary;
use sentence::{one_or, sentence, Figure, Sentence};
use times::{farthest_back, in_it_twice, sorted, MIN_COPIES, MIN_JUMPS, TIMED_OR_COUNTED};

/// The hardware clock and the capture's may differ by this much, ns, and by this share of the time, before it is reported: packets are
/// handed over late and in bunches.
const APART_NS: i64 = 2_000_000;
const APART: f64 = 0.1;
/// Frames below which the absence of something says nothing.
const MIN_FRAMES: u64 = 100;
/// Responses from which their median gap is compared with SIFS; solicited responses that must show what a stamp marks.
const MIN_GAPS: u64 = 20;
const MIN_PAIRS: u64 = 5;
/// A median response gap this far from SIFS is remarked upon.
const ODD_GAP_US: f64 = 4.0;

/// Limits of this capture. `untimely`: why times cannot be used at all.
pub fn limits(known: &Known<'_>, untimely: Option<Limit>) -> Vec<Limit> {
    let n = known.counts.frames();
    if n == 0 {
        let sentence = sentence!("{n} are in what was counted", n = Figure::said(0.0, "count", 0, "no 802.11 frames"));
        return vec![Limit::new("no-frames", sentence, &["all sections"])];
    }
    let mut limits: Vec<Limit> = untimely.into_iter().collect();
    clock(known, &mut limits);
    rates(known, &mut limits);
    damage(known, &mut limits);
    hearing(known, &mut limits);
    copies(known, &mut limits);
    joint(known, &mut limits);
    limits.extend(no_address(known));
    limits.extend(relabelled(known));
    limits.extend(overlap::overlap(known));
    limits.extend(times::long_pause(known.medium.totals().longest_pause_ns));
    limits
}

/// Frames with a transmitter of all zeros, which is the address of no station.
fn no_address(known: &Known<'_>) -> Option<Limit> {
    let (zero, all) = (known.addressless, known.counts.frames());
    (zero > 0).then(|| {
        let sentence = sentence!(
            "{zero} of {all} frames {have} the transmitter address 00:00:00:00:00:00, which is no station's: the sender or the sniffer left \
             it empty, and whose they are is not known",
            zero = Figure::count(zero, all),
            all = Figure::total(all);
            have = one_or(zero, "has", "have")
        );
        Limit::new("no-address", sentence, &["stations", "exchanges", "Block Ack accounting"])
    })
}

/// Records with another link header than the file declares.
fn relabelled(known: &Known<'_>) -> Option<Limit> {
    let (relabelled, records) = (known.counts.tally.relabelled, known.counts.tally.wlan);
    (relabelled > 0).then(|| {
        let sentence = sentence!(
            "{relabelled} of {records} records are declared as 802.11 frames without a link header (link type 105), and begin with a radiotap \
             header (127): they are read with it; whatever changed the link type may have changed more",
            relabelled = Figure::count(relabelled, records),
            records = Figure::total(records)
        );
        Limit::new("radiotap-as-802.11", sentence, &["all sections"])
    })
}

/// Responses to and from several at once.
fn joint(known: &Known<'_>, limits: &mut Vec<Limit>) {
    if known.joint_ppdus > 0 {
        limits.push(Limit::new(
            "joint-responses",
            sentence!(
                "{ppdus} {carry} data to or from several users: who of these answered, and when, is unknown",
                ppdus = Figure::all(known.joint_ppdus, "PPDU");
                carry = one_or(known.joint_ppdus, "carries", "carry")
            ),
            &["exchanges", "response delay"],
        ));
    }
    if known.unattributed_acks > 0 {
        limits.push(Limit::new(
            "unattributed-block-acks",
            sentence!(
                "{parts} parts of Block Acks to several stations are for AIDs that no captured association response gives to a \
                 station: they are in no Block Ack account",
                parts = Figure::total(known.unattributed_acks)
            ),
            &["block_acks"],
        ));
    }
}

/// What times mean.
fn clock(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let Known { counts, calibration, .. } = known;
    let n = counts.frames();
    let affects = &["response delay", "inter-frame spaces", "idle with queued data"];
    if calibration.source == ClockSource::Capture {
        limits.push(Limit::new(
            "no-tsft",
            sentence!(
                "{stamped} of {n} frames {carry} a hardware time stamp: gaps of microseconds are unknown",
                stamped = Figure::count(counts.stamped(), n),
                n = Figure::total(n);
                carry = one_or(counts.stamped(), "carries", "carry")
            ),
            affects,
        ));
    } else if !calibration.gaps_usable() && known.unordered.is_none() {
        let (stamped, pairs) = (Figure::count(counts.stamped(), n), calibration.pairs());
        let that = CapturedBy::new(known.main_interface, counts.interfaces()).that();
        let said = if pairs < MIN_PAIRS {
            sentence!(
                "{stamped} of {n} frames {carry} a hardware time stamp of any kind, but {pairs}{that} could show what it marks",
                stamped = stamped,
                n = Figure::total(n),
                pairs = Figure::only_counted(pairs, pairs, "solicited response");
                that = that,
                carry = one_or(counts.stamped(), "carries", "carry")
            )
        } else {
            sentence!(
                "{stamped} of {n} frames {carry} a hardware time stamp of any kind, but none of its possible meanings puts the gaps of the {pairs} solicited \
                 responses{that}, in the whole capture, near SIFS",
                stamped = stamped,
                n = Figure::total(n),
                pairs = Figure::total(pairs);
                that = that,
                carry = one_or(counts.stamped(), "carries", "carry")
            )
        };
        limits.push(Limit::new("stamps-not-calibrated", said, affects));
    } else if let Some((offset, pairs)) = calibration.offset_us() {
        if pairs >= MIN_GAPS && offset.abs() > ODD_GAP_US {
            limits.push(Limit::new(
                "odd-gap",
                sentence!(
                    "responses come {offset} µs {when} than expected in the median (n={pairs}): the stamps, or the durations computed, are \
                     off by that much; response delays compare with each other, not with SIFS",
                    offset = Figure::of(offset.abs(), "µs", pairs, 1),
                    pairs = Figure::total(pairs);
                    when = if offset > 0.0 { "later" } else { "earlier" }
                ),
                &["response delay", "inter-frame spaces"],
            ));
        }
    }
    let is_said = known.unordered.is_some() || is_limited(limits, "clock-jumps");
    if known.jumps >= MIN_JUMPS && n >= MIN_FRAMES && !is_said {
        limits.push(Limit::new(
            "some-clock-jumps",
            sentence!(
                "the sniffer's hardware clock jumped {jumps} in {n}, against the clock of the capturing machine",
                jumps = Figure::counted(known.jumps, n, "time"),
                n = Figure::all(n, "frame")
            ),
            &["airtime", "waterfall"],
        ));
    }
    limits.extend(disagreement(known).filter(|_| !is_said && known.jumps < MIN_JUMPS));
    if known.unordered.is_none() {
        limits.extend(sorted(&counts.tally.order));
        let disordered = counts.disordered();
        if disordered > 0 {
            limits.push(Limit::new(
                "some-disorder",
                sentence!(
                    "sorted as far as is done while reading, {disordered} of {n} records {are} still earlier than one before them, by up to {most} s",
                    disordered = Figure::count(disordered, n),
                    n = Figure::total(n),
                    most = farthest_back(counts);
                    are = one_or(disordered, "is", "are")
                ),
                &["airtime", "exchanges"],
            ));
        }
    }
}

/// The hardware clock and the capture's do not agree on how long the capture lasts.
fn disagreement(known: &Known<'_>) -> Option<Limit> {
    let (n, one_interface) = (known.counts.frames(), known.counts.interfaces() == 1);
    let captured_ns =
        known.counts.span_ns().filter(|_| one_interface && known.calibration.source != ClockSource::Capture)?;
    let apart_ns = known.span_ns.saturating_sub(captured_ns).saturating_abs();
    let is_far = apart_ns > APART_NS && apart_ns as f64 > APART * captured_ns.min(known.span_ns) as f64;
    is_far.then(|| {
        let milliseconds = |ns: i64| Figure::of(ns as f64 / 1e6, "ms", n, 2);
        let sentence = sentence!(
            "from the first frame to the last of {n} the hardware clock counts {hardware} ms and the capture's clock {captured} ms: rates and \
             shares of time are by the hardware clock",
            n = Figure::total(n),
            hardware = milliseconds(known.span_ns),
            captured = milliseconds(captured_ns)
        );
        Limit::new("clocks-differ", sentence, &["airtime", "waterfall", "steadiness"])
    })
}

/// What the receiver says of modulation.
fn rates(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let Known { counts, calibration, medium, .. } = known;
    let n = counts.frames();
    if counts.rated() * 2 < n {
        limits.push(Limit::new(
            "no-rate",
            sentence!(
                "{rated} of {n} frames {carry} the rate they were sent at",
                rated = Figure::only(counts.rated(), n),
                n = Figure::total(n);
                carry = one_or(counts.rated(), "carries", "carry")
            ),
            &["airtime", "waterfall", "rates"],
        ));
    } else if medium.duration_known_share().is_some_and(|share| share < 0.9) {
        let (untimed, all) = (medium.untimed(), medium.untimed() + medium.timed());
        limits.push(Limit::new(
            "no-duration",
            sentence!(
                "the duration of {untimed} of {all} frames ({share}) cannot be computed from what the capture records",
                untimed = Figure::count(untimed, all),
                all = Figure::total(all),
                share = Figure::percent(untimed, all, 1)
            ),
            &["airtime", "waterfall"],
        ));
    }
    // Of frames that are there twice, the next one may be a copy; of sorted ones, it may have come before.
    let is_in_order = known.unordered.is_none() && counts.tally.order.moved == 0;
    if calibration.control_rates == Some(false) && is_in_order {
        let (overlaps, checked) = calibration.overlaps();
        limits.push(Limit::new(
            "control-rates",
            sentence!(
                "the rates that control frames claim cannot be true ({overlaps} of {checked} would overlap the next frame): their airtime \
                 is that of the rate the rules give",
                overlaps = Figure::count(overlaps, checked),
                checked = Figure::total(checked)
            ),
            &["response rates", "airtime of control frames"],
        ));
    }
    if calibration.grouping == Grouping::None {
        let (status, aggregatable) = (counts.with_ampdu_status(), counts.aggregatable());
        let rated = counts.rated();
        let why = if counts.none_may_aggregate() {
            sentence!(
                "{aggregatable} of {n} frames were sent in a format that can carry an A-MPDU",
                aggregatable = Figure::count(0, n),
                n = Figure::total(n)
            )
        } else if rated == 0 {
            sentence!(
                "{status} of {n} frames {have} an A-MPDU status, and the format of none is known: MPDUs cannot be grouped to PPDUs",
                status = Figure::count(status, n),
                n = Figure::total(n);
                have = one_or(status, "has", "have")
            )
        } else if aggregatable == 0 {
            sentence!(
                "{status} of {n} frames {have} an A-MPDU status, and {aggregatable} of the {rated} whose format is known can carry an \
                 A-MPDU: MPDUs cannot be grouped to PPDUs",
                status = Figure::count(status, n),
                n = Figure::total(n),
                aggregatable = Figure::count(0, rated),
                rated = Figure::total(rated);
                have = one_or(status, "has", "have")
            )
        } else if status > 0 {
            sentence!(
                "the A-MPDU references of {status} of {n} frames do not identify PPDUs and no stamps repeat: MPDUs cannot be grouped to \
                 PPDUs",
                status = Figure::count(status, n),
                n = Figure::total(n)
            )
        } else {
            sentence!(
                "{status} of {n} frames {have} an A-MPDU status, and no time stamps repeat: MPDUs cannot be grouped to PPDUs",
                status = Figure::count(status, n),
                n = Figure::total(n);
                have = one_or(status, "has", "have")
            )
        };
        limits.push(Limit::new("no-ampdu-status", why, &["aggregation", "position of left-out MPDUs"]));
    }
}

/// What is known of damaged and cut frames.
fn damage(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let counts = known.counts;
    let n = counts.frames();
    // What the machine sent itself was not received, and has no FCS.
    let received = n.saturating_sub(counts.own());
    let unchecked = counts.fcs_unknown.saturating_sub(counts.own_unchecked);
    let (right, unsaid) = (counts.tally.fcs_inferred, counts.tally.fcs_unsaid);
    if unchecked * 2 > received {
        limits.push(Limit::new(
            "no-fcs",
            sentence!(
                "the FCS of {unknown} of {n} received frames cannot be checked: damage goes unnoticed",
                unknown = Figure::count(unchecked, received),
                n = Figure::total(received)
            ),
            &["bad FCS", "ghosts", "retry % of good frames"],
        ));
    } else if right > 0 && unsaid > right {
        limits.push(Limit::new(
            "fcs-not-said",
            sentence!(
                "the capture does not record for {unsaid} whole frames whether they end with their FCS: {right} end with a right one, so the {others} \
                 others are damaged, or end without one",
                unsaid = Figure::total(unsaid),
                right = Figure::count(right, unsaid),
                others = Figure::count(unsaid - right, unsaid)
            ),
            &["bad FCS", "ghosts", "retry % of good frames"],
        ));
    } else if counts.fcs_bad == 0 && received >= MIN_FRAMES {
        limits.push(Limit::new(
            "no-bad-fcs",
            sentence!(
                "{bad} of {n} received frames are known to be damaged: an interface that discards such frames leaves none, so their absence \
                 says nothing about the air",
                bad = Figure::count(0, received),
                n = Figure::total(received)
            ),
            &["bad FCS", "airtime of damaged frames"],
        ));
    }
    if counts.fcs_flagged > 0 {
        limits.push(Limit::new(
            "fcs-flagged",
            sentence!(
                "{flagged} of {n} frames have no valid FCS in the capture: only the receiver's flag indicates that they are not damaged",
                flagged = Figure::count(counts.fcs_flagged, n),
                n = Figure::total(n)
            ),
            &["bad FCS"],
        ));
    }
    let unreadable = counts.tally.unreadable;
    if unreadable * 100 > n {
        limits.push(Limit::new(
            "unreadable",
            sentence!(
                "{unreadable} of {records} records cannot be read: they are in no count below",
                unreadable = Figure::count(unreadable, n + unreadable),
                records = Figure::total(n + unreadable)
            ),
            &["all counts"],
        ));
    }
    let cut = counts.tally.cut;
    if cut > 0 {
        limits.push(Limit::new(
            "cut",
            sentence!(
                "{cut} of {n} frames {are} cut in the capture: their FCS and the end of their bodies are not available",
                cut = Figure::count(cut, n),
                n = Figure::total(n);
                are = one_or(cut, "is", "are")
            ),
            &["bad FCS", "A-MSDU", "capabilities"],
        ));
    }
}

/// What the sniffer cannot have captured.
fn hearing(known: &Known<'_>, limits: &mut Vec<Limit>) {
    if let Some(sentence) = one_direction(known.links, known.stations).filter(|_| known.unordered.is_none()) {
        limits.push(Limit::new("one-direction", sentence, &["exchanges", "Block Ack accounting", "waterfall"]));
    }
    channels(known, limits);
    unobserved(known, limits);
    let stated: Vec<Sentence> = limits.iter().map(|limit| limit.sentence.clone()).collect();
    for doubt in known.hearing.doubts.iter().filter(|doubt| !stated.contains(doubt)) {
        limits.push(Limit::new(
            "frames-missing",
            doubt.clone(),
            &["idle", "exchanges", "Block Ack accounting", "waterfall"],
        ));
    }
    interfaces(known, limits);
    losses(known, limits);
}

/// Which channels it was on.
fn channels(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let n = known.counts.frames();
    let channels = known.counts.channels(known.main_interface);
    let is_merged = is_limited(limits, "merged-channels");
    if let (Some(chosen), true) = (known.chosen_mhz, channels > 1 && known.calibration.several_radios.is_none()) {
        limits.push(Limit::new(
            "hopping",
            sentence!(
                "the sniffer listened on {others}, too: time between two frames on {chosen} MHz with one on another channel \
                 between them is not observed",
                others = Figure::all(channels - 1, "other channel");
                chosen = chosen
            ),
            &["airtime", "waterfall", "steadiness"],
        ));
    } else if channels > 1 && known.chosen_mhz.is_none() && !is_merged {
        limits.push(Limit::new(
            "hopping",
            sentence!(
                "frames were captured on {channels} channels: gaps across a change of the channel are not observed, and time on one channel \
                 counts for all; --channel gives one alone",
                channels = Figure::total(channels)
            ),
            &["airtime", "waterfall", "steadiness"],
        ));
    } else if channels == 0 {
        limits.push(Limit::new(
            "no-channel",
            sentence!(
                "{tuned} of {n} frames carry their channel: SIFS and signal extension of 2.4 GHz are assumed where they matter",
                tuned = Figure::count(0, n),
                n = Figure::total(n)
            ),
            &["response delay", "airtime"],
        ));
    }
}

/// When it did not listen.
fn unobserved(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let Known { counts, medium, .. } = known;
    let channels = counts.channels(known.main_interface);
    let totals = medium.totals();
    let is_much = |ns: i64| known.unordered.is_none() && ns.saturating_mul(20) > totals.observed_ns;
    let share = |ns: i64| ns as f64 / totals.observed_ns.max(1) as f64;
    if channels <= 1 && is_much(totals.hopped_ns) {
        let (here, all) = counts.on_main_channel(known.main_interface);
        limits.push(Limit::new(
            "hopping",
            sentence!(
                "{elsewhere} of {all} frames {were} captured on another channel than the others: {share} of the time lies between two frames \
                 of different channels, and is not observed",
                elsewhere = Figure::count(all - here, all),
                all = Figure::total(all),
                share = Figure::share(share(totals.hopped_ns), all, 0);
                were = one_or(all - here, "was", "were")
            ),
            &["airtime", "waterfall", "steadiness"],
        ));
    }
    let silent_ns = totals.unobserved_ns - totals.hopped_ns;
    if is_much(silent_ns) {
        limits.push(Limit::new(
            "away",
            sentence!(
                "not even beacons were captured for {share} of the time, where {beacons} {were} captured at other times: the sniffer did not \
                 listen, the access point was away, or frames were filtered out",
                share = Figure::share(share(silent_ns), medium.beacons(), 0),
                beacons = Figure::total(medium.beacons());
                were = one_or(medium.beacons(), "was", "were")
            ),
            &["airtime", "waterfall", "steadiness", "exchanges"],
        ));
    }
}

/// Interfaces, of which one has the times.
fn interfaces(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let counts = known.counts;
    let n = counts.frames();
    if counts.interfaces() > 1 {
        let least = if counts.interfaces() >= summary::MAX_INTERFACES as u64 { "at least " } else { "" };
        let main = known.main_interface;
        limits.push(Limit::new(
            "several-interfaces",
            sentence!(
                "{least}{interfaces} captured these frames: airtime, waterfall, steadiness, what stamps mark, response delays and \
                 what beacons and silence show are those of interface {main}, which has {own} of {n}, and of those that were looked at first no fewer than any other; everything \
                 else is of all",
                interfaces = Figure::all(counts.interfaces(), "interface"),
                own = Figure::count(counts.captured_by(main), n),
                n = Figure::total(n);
                main = main,
                least = least
            ),
            &["frames", "exchanges", "aggregation", "airtime", "waterfall", "steadiness"],
        ));
        limits.extend(heard_twice(counts));
    }
}

/// Frames that were sent and not received, or not written.
fn losses(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let counts = known.counts;
    let n = counts.frames();
    if counts.own() > 0 {
        limits.push(Limit::new(
            "own-transmissions",
            sentence!(
                "{own} of {n} frames {were} sent by the capturing machine itself: they carry no reception data",
                own = Figure::count(counts.own(), n),
                n = Figure::total(n);
                were = one_or(counts.own(), "was", "were")
            ),
            &["signal", "airtime", "response delay"],
        ));
    }
    if let Some(dropped) = known.source.dropped.filter(|dropped| *dropped > 0) {
        limits.push(Limit::new(
            "dropped",
            sentence!(
                "the capture lost {dropped} by its own count",
                dropped = Figure::counted(dropped, n.saturating_add(dropped), "packet")
            ),
            &["all counts"],
        ));
    }
}

/// Is one of `limits` of this code?
pub fn is_limited(limits: &[Limit], code: &str) -> bool {
    limits.iter().any(|limit| limit.code == code)
}

/// Frames that are in the file twice.
fn copies(known: &Known<'_>, limits: &mut Vec<Limit>) {
    let (own, handed_over) = (known.counts.own(), known.counts.handed_over);
    if handed_over > 0 {
        limits.push(Limit::new(
            "handed-over",
            sentence!(
                "{handed_over} of {own} frames of the capturing machine are in the file as they were handed to the driver, without a rate, \
                 and as a rule again as they were sent: counts of frames have both, exchanges and throughput only what was sent",
                handed_over = Figure::count(handed_over, own),
                own = Figure::total(own)
            ),
            &["frames", "stations"],
        ));
    }
    let (n, duplicates) = (known.counts.frames(), known.counts.duplicates);
    let mut is_said = is_limited(limits, "duplicates");
    if let Some(limit) = repeated(known.links).filter(|_| !is_said) {
        limits.push(limit);
        is_said = true;
    }
    if duplicates >= MIN_COPIES && duplicates * 100 > n && !is_said {
        limits.push(Limit::new("duplicates", in_it_twice(duplicates, n), TIMED_OR_COUNTED));
    }
}

/// The busiest link's receiver sends no data frame and no Block Ack back: its side was not captured.
fn one_direction(links: &Links, stations: &Stations) -> Option<Sentence> {
    let busiest = links.iter().map(|(_, link)| link).filter(|l| !l.ra.is_group()).max_by_key(|l| l.mpdus)?;
    if busiest.mpdus < 20 {
        return None;
    }
    let back = links.by_key(&(busiest.ra.as_u64(), busiest.ta.as_u64())).map_or(0, |link| link.frames);
    let answered = busiest.exchange.as_ref().is_some_and(|stats| stats.answered() > 0);
    let others = stations.table.by_key(&busiest.ra.as_u64()).map_or(0, |station| station.sent);
    (back == 0 && !answered).then(|| {
        if others > 0 {
            return sentence!(
                "{mpdus} of {ta} to {ra} are in it, but of the {sent} of {ra} none goes to {ta} ({back}), nor does an \
                 undamaged response",
                mpdus = Figure::all(busiest.mpdus, "data MPDU"),
                sent = Figure::all(others, "frame"),
                back = Figure::count(0, others);
                ta = busiest.ta,
                ra = busiest.ra
            );
        }
        sentence!(
            "of {ta} and {ra} only the first was captured ({mpdus}, {back} undamaged frames the other way)",
            mpdus = Figure::all(busiest.mpdus, "data MPDU"),
            back = Figure::count(0, busiest.mpdus);
            ta = busiest.ta,
            ra = busiest.ra
        )
    })
}
