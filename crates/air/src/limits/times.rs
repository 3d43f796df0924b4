//! Whether the times of a capture can be used, and whether its frames are there once.

use capture::Order;
use sentence::{one_or, sentence, Figure, Sentence};

use super::known::Known;
use crate::calibrate::{Calibration, SeveralRadios, Steps};
use crate::duplicates::BEGINNING;
use crate::link::{Link, Links};
use crate::report::Limit;
use crate::summary::Counts;

/// Modelled airtime may exceed the time observed by this factor (collisions, hidden stations) before it cannot be true.
const IMPOSSIBLE: f64 = 1.05;
/// And by this much: the last PPDU lies beyond its own stamp.
const IMPOSSIBLE_NS: i64 = 20_000_000;
/// Share of the records out of order, or of the frames at which the hardware clock jumped, from which times are not used.
const UNTIMELY: f64 = 0.01;
/// Fewest jumps of the hardware clock for a sentence about them.
pub const MIN_JUMPS: u64 = 3;
/// Fewest copies for a sentence about them.
pub const MIN_COPIES: u64 = 20;
/// Frames of a link without copies from which it is clean, and of all such links from which copies are not the capture's.
const MIN_CLEAN_LINK: u64 = 20;
const MIN_CLEAN: u64 = 100;
/// First frames that have to come again before the capture counts as appended to itself.
const MIN_AGAIN: u64 = BEGINNING as u64 * 3 / 4;
/// Share of the frames in the file twice from which times are not used.
const DOUBLED: f64 = 0.05;

/// Sections that need times.
const TIMED: &[&str] = &["airtime", "waterfall", "steadiness", "response delay", "exchanges"];

/// Sections that need times, or count frames.
pub const TIMED_OR_COUNTED: &[&str] =
    &["all counts", "airtime", "waterfall", "steadiness", "response delay", "exchanges"];

/// Records that are out of order: neither times nor who answered what can be determined.
pub fn disorder(counts: &Counts) -> Option<Limit> {
    let (n, disordered) = (counts.frames(), counts.disordered());
    if disordered as f64 <= UNTIMELY * n as f64 {
        return None;
    }
    let (disordered, n) = (Figure::count(disordered, n), Figure::total(n));
    let most = farthest_back(counts);
    let sentence = if counts.tally.order.is_reversed() {
        sentence!(
            "the records stand in reverse order: sorted as far as is done while reading, {disordered} of {n} {are} still earlier than one before \
             them, by up to {most} s, so that their times cannot be used (sort them: reordercap)",
            disordered = disordered,
            n = n,
            most = most;
            are = one_or(counts.disordered(), "is", "are")
        )
    } else {
        sentence!(
            "sorted as far as is done while reading, {disordered} of {n} records {are} still earlier than one before them, by up to {most} s: records that are out of order, or captures that were put one behind the other, have no times that \
             can be used (sort them: reordercap, mergecap)",
            disordered = disordered,
            n = n,
            most = most;
            are = one_or(counts.disordered(), "is", "are")
        )
    };
    Some(Limit::new("disorder", sentence, TIMED))
}

/// The most that a record is earlier than one before it.
pub fn farthest_back(counts: &Counts) -> Figure {
    Figure::of(counts.farthest_back_ns() as f64 / 1e9, "s", counts.disordered(), 3)
}

/// Records that were put in order.
pub fn sorted(order: &Order) -> Option<Limit> {
    let Order { moved, farthest_ns, records, .. } = *order;
    if moved == 0 {
        return None;
    }
    let (count, n) = (Figure::count(moved, records), Figure::total(records));
    let most = Figure::of(farthest_ns as f64 / 1e9, "s", moved, 3);
    let sentence = if order.is_reversed() {
        sentence!(
            "the records stand in reverse order: {moved} of {n} {were} put before others that are later by up to {most} s, but records up to \
             1 ms apart stay as they stand, so that who answered what is not known (sort them: reordercap)",
            moved = count,
            n = n,
            most = most;
            were = one_or(moved, "was", "were")
        )
    } else {
        sentence!(
            "{moved} of {n} records stood behind others that are later by more than 1 ms, and up to {most} s: they were put into the order of \
             their times; records up to 1 ms apart stay as they stand",
            moved = count,
            n = n,
            most = most
        )
    };
    Some(Limit::new("sorted", sentence, &["airtime", "exchanges"]))
}

/// Records in reverse order: of those close together, a response still stands before what it answers.
pub fn reversed(counts: &Counts) -> Option<Limit> {
    let order = &counts.tally.order;
    let limit = sorted(order).filter(|_| order.is_reversed())?;
    Some(Limit::new("disorder", limit.sentence, TIMED))
}

/// Where many frames are in the file twice, neither times nor answers can be determined.
pub fn doubled(counts: &Counts, calibration: &Calibration, links: &Links) -> Option<Limit> {
    if let Some((copies, looked_at)) = calibration.copies {
        let sentence = sentence!(
            "{copies} of {looked_at} data and management frames that were looked at first are the frame before of their sender again, before \
             it has ended, without the retry bit: captures of one channel were merged into one interface",
            copies = Figure::count(copies, looked_at),
            looked_at = Figure::total(looked_at)
        );
        return Some(Limit::new("duplicates", sentence, TIMED_OR_COUNTED));
    }
    if counts.begins_again >= MIN_AGAIN {
        let sentence = sentence!(
            "{again} of the first {first} different frames with a sequence number are in the file again, with the same length and time: the \
             capture was appended to itself",
            first = Figure::total(BEGINNING as u64),
            again = Figure::count(counts.begins_again, BEGINNING as u64)
        );
        return Some(Limit::new("duplicates", sentence, TIMED_OR_COUNTED));
    }
    if is_of_few_links(links) {
        return None;
    }
    if counts.copies >= MIN_COPIES && counts.copies as f64 > DOUBLED * counts.data() as f64 {
        let sentence = sentence!(
            "{copies} of {data} frames with data are there again within half a second or with the same hardware stamp, with the same number, length and addresses and without the \
             retry bit: captures of one channel were merged, or a sender repeats frames without marking them",
            copies = Figure::count(counts.copies, counts.data()),
            data = Figure::total(counts.data())
        );
        return Some(Limit::new("duplicates", sentence, TIMED_OR_COUNTED));
    }
    let (n, duplicates) = (counts.frames(), counts.duplicates);
    let is_much = duplicates >= MIN_COPIES && duplicates as f64 > DOUBLED * n as f64;
    is_much.then(|| Limit::new("duplicates", in_it_twice(duplicates, n), TIMED_OR_COUNTED))
}

/// Do the links that have no frame twice carry a good part of the frames? A capture merged with itself has frames of every sender
/// twice: here some sender repeats its own without marking them, as floods do.
fn is_of_few_links(links: &Links) -> bool {
    let sum = |is: &dyn Fn(&Link) -> bool| -> u64 {
        links.iter().map(|(_, link)| link).filter(|link| is(link)).map(|link| link.frames).sum()
    };
    let all = sum(&|_| true);
    let clean = sum(&|link| link.twice == 0 && link.frames >= MIN_CLEAN_LINK);
    clean >= MIN_CLEAN && clean * 10 >= all
}

/// Links with frames that are in the file twice, where that is not the fault of the capture.
pub fn repeated(links: &Links) -> Option<Limit> {
    let doubled: Vec<&Link> = links.iter().map(|(_, link)| link).filter(|link| link.is_doubled()).collect();
    let most = doubled.iter().max_by_key(|link| (link.twice, link.ta, link.ra))?;
    let sum: u64 = doubled.iter().map(|link| link.twice).sum();
    let of: u64 = doubled.iter().map(|link| link.frames).sum();
    let sentence = sentence!(
        "{twice} of {frames} on {doubled} are there again within half a second, with the same number, length and addresses and without the \
         retry bit, most of {ta} to {ra}: their senders repeat frames without marking them, or another station sends in their name; no verdict \
         about responses on these links",
        twice = Figure::count(sum, of),
        frames = Figure::all(of, "frame"),
        doubled = Figure::all(doubled.len() as u64, "link");
        ta = most.ta,
        ra = most.ra
    );
    Some(Limit::new("repeated-frames", sentence, &["exchanges", "Block Ack accounting"]))
}

/// Frames that are copies of others.
pub fn in_it_twice(duplicates: u64, n: u64) -> Sentence {
    sentence!(
        "at least {duplicates} of {n} frames {are} in the file twice, with the same header, length and time: a capture merged with itself, \
         or two captures of one interface",
        duplicates = Figure::count(duplicates, n),
        n = Figure::total(n);
        are = one_or(duplicates, "is", "are")
    )
}

/// Several interfaces captured the same frames: the figures of links count them twice.
pub fn heard_twice(counts: &Counts) -> Option<Limit> {
    let (n, twice) = (counts.frames(), counts.heard_twice);
    (twice >= MIN_COPIES && twice * 100 > n).then(|| {
        let sentence = sentence!(
            "at least {twice} of {n} frames {were} captured by two interfaces, and count twice in stations, links, exchanges, Block Acks and \
             aggregation; --capture-interface gives one interface alone",
            twice = Figure::count(twice, n),
            n = Figure::total(n);
            were = one_or(twice, "was", "were")
        );
        Limit::new("heard-twice", sentence, &["all counts", "exchanges", "Block Ack accounting", "aggregation"])
    })
}

/// The channel changes faster than a radio can be tuned.
pub fn merged(counts: &Counts, calibration: &Calibration, main_interface: u32) -> Option<Limit> {
    // Of a channel that was chosen, the times are right.
    let chosen = counts.channels(main_interface) <= 1;
    let several = calibration.several_radios.filter(|_| !chosen)?;
    let sentence = match several {
        SeveralRadios::Fast { fast, changes } => sentence!(
            "{fast} of the first {changes} of the channel in the file come within half a millisecond, faster than a radio can be tuned: captures of several \
             radios were merged, or frames name another channel than the one they were captured on; --channel gives one channel alone",
            fast = Figure::count(fast, changes),
            changes = Figure::all(changes, "change")
        ),
        SeveralRadios::Clocks(steps) => stepping(steps).and(
            ", ",
            sentence!(
                "each time as the channel changes ({steps} steps): --channel gives one channel alone",
                steps = Figure::total(steps.all)
            ),
        ),
    };
    Some(Limit::new("merged-channels", sentence, TIMED))
}

/// The stamps go from one clock to another, and back.
fn stepping(steps: Steps) -> Sentence {
    sentence!(
        "{back} of the first {all} steps of the hardware stamps against the capture's clock, of {median} s in the median, return to where they \
         were before: captures with clocks of their own were merged",
        back = Figure::count(steps.back, steps.all),
        all = Figure::total(steps.all),
        median = Figure::of(steps.median_s, "s", steps.all, 1)
    )
}

/// Two captures of one channel with clocks of their own were merged: who answered what can't be determined.
pub fn interleaved(calibration: &Calibration) -> Option<Limit> {
    calibration.several_clocks.map(|steps| Limit::new("clock-jumps", stepping(steps), TIMED_OR_COUNTED))
}

/// Why times cannot be used at all; `None` when they can.
pub fn untimely(known: &Known<'_>) -> Option<Limit> {
    let n = known.counts.frames();
    if let Some(limit) = known.unordered {
        return Some(limit.clone());
    }
    if known.jumps >= MIN_JUMPS && known.jumps as f64 > UNTIMELY * n as f64 {
        return Some(Limit::new(
            "clock-jumps",
            sentence!(
                "the sniffer's hardware clock jumped {jumps} in {n}, against the clock of the capturing machine: times between frames are not \
                 usable",
                jumps = Figure::counted(known.jumps, n, "time"),
                n = Figure::all(n, "frame")
            ),
            &["airtime", "waterfall", "steadiness", "events", "rates"],
        ));
    }
    if let Some((overruns, checked)) = known.calibration.rates_not_true {
        return Some(Limit::new(
            "rates-not-true",
            sentence!(
                "{overruns} of the first {checked} that could be checked would still be on the air when the next one begins, at the rates and hardware time \
                 stamps of the capture: rates or stamps are wrong (frames of a simulated radio take no time)",
                overruns = Figure::count(overruns, checked),
                checked = Figure::all(checked, "frame")
            ),
            TIMED,
        ));
    }
    let modelled_ns = known.medium.modelled_ns();
    let possible = (IMPOSSIBLE * known.span_ns as f64) as i64 + IMPOSSIBLE_NS;
    if modelled_ns > possible {
        let ppdus = known.medium.timed();
        return Some(Limit::new(
            "airtime-exceeds-time",
            sentence!(
                "{frames} would take {modelled} s at the rates that the capture claims, in {span} s: {why} (frames of a simulated radio take no time)",
                frames = Figure::all(ppdus, "frame"),
                modelled = Figure::of(modelled_ns as f64 / 1e9, "s", ppdus, 1),
                span = Figure::of(known.span_ns as f64 / 1e9, "s", ppdus, 1);
                why = if known.counts.channels(known.main_interface) > 1 {
                    "the rates or the times are not true, or channels were captured at the same time, of which --channel gives one"
                } else {
                    "either the rates or the times are not true"
                }
            ),
            TIMED,
        ));
    }
    None
}

/// A pause in which not even beacons were captured is longer than any sniffer is deaf: captures of different times.
pub const LONG_PAUSE_NS: i64 = 6 * 3_600 * 1_000_000_000;

/// Captures of different times in one file.
pub fn long_pause(pause_ns: i64) -> Option<Limit> {
    (pause_ns > LONG_PAUSE_NS).then(|| {
        let sentence = sentence!(
            "nothing was captured for {days} days in a row: captures of different times are in this file, and shares of time are of all of it",
            days = Figure::of(pause_ns as f64 / 86_400e9, "d", 1, 1)
        );
        Limit::new("several-times", sentence, &["airtime", "waterfall", "steadiness"])
    })
}
