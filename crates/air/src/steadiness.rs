//! Throughput and retries over time, and the moments worth a word.

use crate::link::{FlowSum, Link};
use crate::medium::Medium;
use crate::micros::us;
use crate::report::{FlowBin, Hearing, RetryCount, Steadiness, SteadinessEvent};
use sentence::{one_or, sentence, Figure, Sentence};

/// Bins below which a series is too short to speak of steadiness.
const MIN_BINS: usize = 10;
/// A bin below this share of the median is a dropout.
const DROPOUT: f64 = 0.1;
/// A sender with fewer MPDUs than this share of before is silent.
const SILENT: f64 = 0.05;
/// Bins on either side of a shift.
const WINDOW: usize = 5;
/// A shift changes the level by at least this factor.
const FACTOR: f64 = 1.5;
/// Retry % moves by at least this many points for a retry shift.
const RETRY_POINTS: f64 = 10.0;
/// Standard deviations from which two shares of retries differ; fewer is chance in one of 370 cases.
const SIGMAS: f64 = 3.0;
/// Events listed per direction.
const MAX_EVENTS: usize = 20;
/// Median throughput below which nothing is called a dropout or a shift, Mbit/s.
const MIN_MEDIAN_MBIT_S: f64 = 0.1;

/// The series of one direction with its events.
///
/// `hearing`: whether silence is evidence, and whether the capture is known to miss frames.
pub fn build(link: &Link, direction: &str, medium: &Medium, hearing: &Hearing) -> Option<Steadiness> {
    let series = &link.series;
    if series.is_empty() {
        return None;
    }
    let width_ns = series.width_ns();
    let seconds = width_ns as f64 / 1e9;
    let raw: Vec<(i64, FlowSum)> = series.iter().collect();
    let bins: Vec<FlowBin> = raw
        .iter()
        .map(|(start, sum)| {
            let is_blind = medium.is_blind(*start, width_ns);
            FlowBin {
                start_us: us(*start),
                mbit_s: (!is_blind).then(|| sum.payload as f64 * 8.0 / 1e6 / seconds),
                retry: RetryCount::new(u64::from(sum.mpdus), u64::from(sum.retries)),
                phy_rate_mbit_s: (sum.rated > 0).then(|| sum.rate_kbps as f64 / f64::from(sum.rated) / 1000.0),
                busy_share: medium.busy_share(*start, width_ns).filter(|_| !is_blind),
            }
        })
        .collect();
    // The first and the last bin are only partly covered.
    let inner = bins.get(1..bins.len().saturating_sub(1)).unwrap_or_default();
    let mut rates: Vec<f64> = inner.iter().filter_map(|bin| bin.mbit_s).collect();
    rates.sort_by(f64::total_cmp);
    let middle = |at: usize| rates.get(at).copied();
    let median = rates.len().checked_sub(1).and_then(|last| Some((middle(last / 2)? + middle(rates.len() / 2)?) / 2.0));
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (rates.len().max(2) - 1) as f64;
    let mut events = Vec::new();
    // A flow that rests half of the time has no level to drop from.
    let sought = if rates.len() < MIN_BINS { None } else { median.filter(|median| *median >= MIN_MEDIAN_MBIT_S) };
    let longest = inner.split(|bin| bin.mbit_s.is_none()).map(<[FlowBin]>::len).max().unwrap_or(0);
    let sought = sought.filter(|_| longest >= 2 * WINDOW);
    if let Some(median) = sought {
        let known = Known {
            median,
            bins: rates.len() as u64,
            width_us: us(width_ns),
            silence_is_evidence: hearing.silence_is_evidence,
            misses_frames: !hearing.doubts.is_empty(),
        };
        // What happened between two parts that were observed is not known.
        for part in inner.split(|bin| bin.mbit_s.is_none()) {
            dropouts(part, &known, &mut events);
            shifts(part, &known, &mut events);
        }
    }
    events.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
    events.truncate(MAX_EVENTS);
    Some(Steadiness {
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        direction: direction.to_owned(),
        bin_us: us(width_ns),
        series: bins,
        events,
        events_sought: Some(sought.is_some()),
        not_sought: sought.is_none().then(|| not_sought(rates.len(), longest, median)),
        median_bins: Some(rates.len() as u64),
        median_mbit_s: median,
        variation: (mean > 0.0 && rates.len() > 1).then(|| variance.sqrt() / mean),
    })
}

/// Whether two shares of retries differ by more than [`SIGMAS`] standard deviations of their difference.
fn is_told_apart(a: &RetryCount, b: &RetryCount) -> bool {
    let (n, m) = (a.frames.max(1) as f64, b.frames.max(1) as f64);
    let pooled = (a.retries + b.retries) as f64 / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    (a.retries as f64 / n - b.retries as f64 / m).abs() > SIGMAS * deviation
}

/// Why events were not looked for, in `bins` of this median, of which `longest` are in a row.
fn not_sought(bins: usize, longest: usize, median: Option<f64>) -> Sentence {
    let n = bins as u64;
    match median.filter(|_| bins >= MIN_BINS) {
        Some(median) if median >= MIN_MEDIAN_MBIT_S => sentence!(
            "no {least} bins in a row were observed (the most are {longest} of {bins})",
            least = Figure::of((2 * WINDOW) as f64, "count", (2 * WINDOW) as u64, 0),
            longest = Figure::count(longest as u64, n),
            bins = Figure::total(n)
        ),
        Some(median) => sentence!(
            "the median ({median} Mbit/s) is below {least} Mbit/s, which leaves nothing to drop from",
            median = Figure::of(median, "Mbit/s", n, 3),
            least = Figure::of(MIN_MEDIAN_MBIT_S, "Mbit/s", n, 1)
        ),
        None => sentence!(
            "{bins} between the first and the last {were} observed, and at least {least} are needed",
            bins = Figure::all(n, "bin"),
            least = Figure::of(MIN_BINS as f64, "count", MIN_BINS as u64, 0);
            were = if bins == 1 { "was" } else { "were" }
        ),
    }
}

/// What events are judged by.
struct Known {
    median: f64,
    /// Bins that the median is of.
    bins: u64,
    width_us: f64,
    silence_is_evidence: bool,
    /// The capture shows that frames are missing from it.
    misses_frames: bool,
}

/// Sums over some bins, for comparing before and during.
struct Level {
    mbit_s: f64,
    retry: RetryCount,
    phy: Option<f64>,
    busy: Option<f64>,
    frames_per_bin: f64,
}

fn level(bins: &[FlowBin]) -> Level {
    let mean = |values: Vec<f64>| {
        let n = values.len();
        (n > 0).then(|| values.iter().sum::<f64>() / n as f64)
    };
    let frames: u64 = bins.iter().map(|bin| bin.retry.frames).sum();
    let retries = bins.iter().map(|bin| bin.retry.retries).sum();
    Level {
        mbit_s: mean(bins.iter().filter_map(|bin| bin.mbit_s).collect()).unwrap_or(0.0),
        retry: RetryCount::new(frames, retries),
        phy: mean(bins.iter().filter_map(|bin| bin.phy_rate_mbit_s).collect()),
        busy: mean(bins.iter().filter_map(|bin| bin.busy_share).collect()),
        frames_per_bin: frames as f64 / bins.len().max(1) as f64,
    }
}

/// What changed beside the throughput, and whether that explains it.
fn explain(before: &Level, during: &Level, known: &Known) -> (bool, Sentence) {
    let frames = before.retry.frames + during.retry.frames;
    let mut words: Vec<Sentence> = Vec::new();
    let mut explained = false;
    if during.frames_per_bin < SILENT * before.frames_per_bin {
        let mpdus = one_or(during.frames_per_bin.round_ties_even() as u64, "MPDU", "MPDUs");
        let before = Figure::of(before.frames_per_bin, "MPDUs/bin", before.retry.frames, 0);
        let during = Figure::of(during.frames_per_bin, "MPDUs/bin", during.retry.frames, 0);
        words.push(if known.silence_is_evidence {
            sentence!(
                "sender silent ({during} {mpdus} in a bin instead of {before})",
                during = during,
                before = before;
                mpdus = mpdus
            )
        } else {
            sentence!(
                "sender not captured ({during} {mpdus} in a bin instead of {before}; whether it was silent, this capture does not show)",
                during = during,
                before = before;
                mpdus = mpdus
            )
        });
    } else if let (Some(a), Some(b)) = (before.retry.percent, during.retry.percent) {
        let from = Figure::of(a, "%", before.retry.frames, 0);
        let to = Figure::of(b, "%", during.retry.frames, 0);
        words.push(if (b - a).abs() >= RETRY_POINTS || is_told_apart(&before.retry, &during.retry) {
            sentence!("retry % from {from} to {to}", from = from, to = to)
        } else {
            sentence!("retry % not clearly changed ({from} and {to})", from = from, to = to)
        });
    }
    // Only what goes the same way explains: a drop by a lower rate, more retries or a busier channel, a rise by the contrary.
    let drop = during.mbit_s < before.mbit_s;
    if let (Some(a), Some(b)) = (before.phy, during.phy) {
        if b < a / FACTOR || b > a * FACTOR {
            explained |= (b < a) == drop;
            words.push(sentence!(
                "PHY rate from {from} to {to} Mbit/s",
                from = Figure::of(a, "Mbit/s", before.retry.frames, 0),
                to = Figure::of(b, "Mbit/s", during.retry.frames, 0)
            ));
        }
    }
    if let (Some(a), Some(b)) = (before.busy, during.busy) {
        if (b - a).abs() >= 0.2 {
            explained |= (b > a) == drop && during.retry.frames > 0;
            words.push(sentence!(
                "channel busy from {from} to {to}",
                from = Figure::share(a, before.retry.frames, 0),
                to = Figure::share(b, during.retry.frames, 0)
            ));
        }
    }
    if let (Some(a), Some(b)) = (before.retry.percent, during.retry.percent) {
        explained |= (b - a).abs() >= RETRY_POINTS && (b > a) == drop;
    }
    let nothing = || sentence!("nothing else changed in {mpdus}", mpdus = Figure::all(frames, "MPDU"));
    let all = words.into_iter().reduce(|all, next| all.and(", ", next));
    (explained, all.unwrap_or_else(nothing))
}

fn dropouts(bins: &[FlowBin], known: &Known, events: &mut Vec<SteadinessEvent>) {
    let median = known.median;
    let mut at = 0;
    while let Some((earlier, rest @ [_, ..])) = bins.split_at_checked(at) {
        let (dropout, _) =
            rest.split_at(rest.iter().take_while(|bin| bin.mbit_s.is_some_and(|rate| rate < DROPOUT * median)).count());
        let (Some(first), Some(last)) = (dropout.first(), dropout.last()) else {
            at += 1;
            continue;
        };
        let end = at + dropout.len();
        let before = level(earlier.get(at.saturating_sub(WINDOW)..).unwrap_or_default());
        let during = level(dropout);
        // One thin bin in a sparse flow is not an event.
        if at > 0 && before.mbit_s >= 0.5 * median {
            let (start_us, end_us) = (first.start_us, last.start_us + known.width_us);
            let (explained, why) = explain(&before, &during, known);
            let said = sentence!(
                "drops to {to} Mbit/s from {start} s to {end} s (median {median}): {unexplained}",
                to = Figure::of(during.mbit_s, "Mbit/s", (end - at) as u64, 1),
                start = Figure::of(start_us / 1e6, "s", (end - at) as u64, 1),
                end = Figure::of(end_us / 1e6, "s", (end - at) as u64, 1),
                median = Figure::of(median, "Mbit/s", known.bins, 1);
                unexplained = match (explained, known.misses_frames) {
                    (true, _) => "",
                    (false, true) => "in this capture, ",
                    (false, false) => "unexplained, ",
                }
            );
            events.push(SteadinessEvent { start_us, end_us, kind: "dropout".to_owned(), sentence: said.and("", why) });
        }
        at = end;
    }
}

/// Lasting changes of level: every value after is beyond every value before, by a factor.
fn shifts(bins: &[FlowBin], known: &Known, events: &mut Vec<SteadinessEvent>) {
    let window = |from: usize| bins.get(from..)?.first_chunk::<WINDOW>();
    let mut at = WINDOW;
    while let Some((left, right)) = window(at - WINDOW).zip(window(at)) {
        let (before, after) = (level(left), level(right));
        let max = |bins: &[FlowBin]| bins.iter().filter_map(|bin| bin.mbit_s).fold(0.0, f64::max);
        let min = |bins: &[FlowBin]| bins.iter().filter_map(|bin| bin.mbit_s).fold(f64::INFINITY, f64::min);
        let drop = max(right) * FACTOR < min(left);
        let rise = max(left) * FACTOR < min(right);
        let retry = left.iter().chain(right).all(|bin| bin.retry.frames >= 20)
            && before.retry.percent.zip(after.retry.percent).is_some_and(|(a, b)| (b - a).abs() >= RETRY_POINTS)
            && separated(left, right);
        let (start_us, end_us) = (right[0].start_us, right[WINDOW - 1].start_us + known.width_us);
        let is_said = events.iter().any(|event| event.start_us <= end_us && event.end_us >= left[0].start_us);
        let n = WINDOW as u64;
        let start = Figure::of(start_us / 1e6, "s", n, 1);
        let (from, to) = (Figure::of(before.mbit_s, "Mbit/s", n, 1), Figure::of(after.mbit_s, "Mbit/s", n, 1));
        if (drop || rise) && !is_said {
            let (explained, why) = explain(&before, &after, known);
            let said = sentence!(
                "{how} {what} at {start} s, {from} to {to} Mbit/s: ",
                start = start,
                from = from,
                to = to;
                how = match (explained, known.misses_frames) {
                    (true, _) => "sudden",
                    (false, true) => "in this capture,",
                    (false, false) => "unexplained",
                },
                what = if drop { "drop" } else { "rise" }
            );
            events.push(SteadinessEvent {
                start_us,
                end_us,
                kind: if drop { "drop" } else { "rise" }.to_owned(),
                sentence: said.and("", why),
            });
            at += WINDOW;
        } else if retry && !is_said {
            events.push(SteadinessEvent {
                start_us,
                end_us,
                kind: "retry-shift".to_owned(),
                sentence: sentence!(
                    "retry % from {retry_from} to {retry_to} at {start} s (throughput {from} to {to} Mbit/s)",
                    retry_from = Figure::of(before.retry.percent.unwrap_or(0.0), "%", before.retry.frames, 0),
                    retry_to = Figure::of(after.retry.percent.unwrap_or(0.0), "%", after.retry.frames, 0),
                    start = start,
                    from = from,
                    to = to
                ),
            });
            at += WINDOW;
        } else {
            at += 1;
        }
    }
}

/// Retry % of all bins on one side is beyond that of all bins on the other.
fn separated(left: &[FlowBin], right: &[FlowBin]) -> bool {
    let range = |bins: &[FlowBin]| {
        bins.iter()
            .filter_map(|bin| bin.retry.percent)
            .fold((f64::INFINITY, 0.0f64), |(lo, hi), p| (lo.min(p), hi.max(p)))
    };
    let ((a_low, a_high), (b_low, b_high)) = (range(left), range(right));
    a_high < b_low || b_high < a_low
}
