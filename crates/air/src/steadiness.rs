//! Throughput and retries over time, and the moments worth a word.

use crate::link::{FlowSum, Link};
use crate::medium::Medium;
use crate::report::{FlowBin, RetryCount, Steadiness, SteadinessEvent};

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
/// Events listed per direction.
const MAX_EVENTS: usize = 20;

/// The series of one direction with its events.
pub fn build(link: &Link, direction: &str, medium: &Medium) -> Option<Steadiness> {
    let series = &link.series;
    if series.is_empty() {
        return None;
    }
    let width_ns = series.width_ns();
    let seconds = width_ns as f64 / 1e9;
    let raw: Vec<(i64, FlowSum)> = series.iter().collect();
    let bins: Vec<FlowBin> = raw
        .iter()
        .map(|(start, sum)| FlowBin {
            start_us: *start as f64 / 1000.0,
            mbit_s: sum.payload as f64 * 8.0 / 1e6 / seconds,
            retry: RetryCount::new(u64::from(sum.mpdus), u64::from(sum.retries)),
            phy_rate_mbit_s: (sum.rated > 0).then(|| sum.rate_kbps as f64 / f64::from(sum.rated) / 1000.0),
            busy_share: medium.busy_share(*start, width_ns),
        })
        .collect();
    // The first and the last bin are only partly covered.
    let inner = bins.get(1..bins.len().saturating_sub(1)).unwrap_or_default();
    let mut rates: Vec<f64> = inner.iter().map(|bin| bin.mbit_s).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (rates.len().max(2) - 1) as f64;
    let mut events = Vec::new();
    if inner.len() >= MIN_BINS {
        if let Some(median) = median.filter(|median| *median > 0.0) {
            let width_us = width_ns as f64 / 1000.0;
            dropouts(inner, median, width_us, &mut events);
            shifts(inner, width_us, &mut events);
        }
    }
    events.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
    events.truncate(MAX_EVENTS);
    Some(Steadiness {
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        direction: direction.to_owned(),
        bin_us: width_ns as f64 / 1000.0,
        series: bins,
        events,
        median_mbit_s: median,
        variation: (mean > 0.0 && rates.len() > 1).then(|| variance.sqrt() / mean),
    })
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
        mbit_s: mean(bins.iter().map(|bin| bin.mbit_s).collect()).unwrap_or(0.0),
        retry: RetryCount::new(frames, retries),
        phy: mean(bins.iter().filter_map(|bin| bin.phy_rate_mbit_s).collect()),
        busy: mean(bins.iter().filter_map(|bin| bin.busy_share).collect()),
        frames_per_bin: frames as f64 / bins.len().max(1) as f64,
    }
}

/// What changed beside the throughput, in words; "unexplained" when nothing did.
fn explain(before: &Level, during: &Level) -> String {
    let mut words = Vec::new();
    if during.frames_per_bin < SILENT * before.frames_per_bin {
        words.push("sender silent".to_owned());
    } else if let (Some(a), Some(b)) = (before.retry.percent, during.retry.percent) {
        if (b - a).abs() >= RETRY_POINTS {
            words.push(format!("retry % from {a:.0} to {b:.0}"));
        } else {
            words.push(format!("retry % unchanged ({a:.0} and {b:.0})"));
        }
    }
    // Only what goes the same way explains: a drop by a lower rate, more retries or a busier channel, a rise by the contrary.
    let drop = during.mbit_s < before.mbit_s;
    let mut explained = false;
    if let (Some(a), Some(b)) = (before.phy, during.phy) {
        if b < a / FACTOR || b > a * FACTOR {
            explained |= (b < a) == drop;
            words.push(format!("PHY rate from {a:.0} to {b:.0} Mbit/s"));
        }
    }
    if let (Some(a), Some(b)) = (before.busy, during.busy) {
        if (b - a).abs() >= 0.2 {
            words.push(format!("channel busy from {:.0} to {:.0} %", a * 100.0, b * 100.0));
            explained |= (b > a) == drop && during.retry.frames > 0;
        }
    }
    if let (Some(a), Some(b)) = (before.retry.percent, during.retry.percent) {
        explained |= (b - a).abs() >= RETRY_POINTS && (b > a) == drop;
    }
    if !explained {
        words.insert(0, "unexplained".to_owned());
    }
    words.join(", ")
}

fn dropouts(bins: &[FlowBin], median: f64, width_us: f64, events: &mut Vec<SteadinessEvent>) {
    let mut at = 0;
    while at < bins.len() {
        if bins[at].mbit_s >= DROPOUT * median {
            at += 1;
            continue;
        }
        let end = bins[at..].iter().position(|bin| bin.mbit_s >= DROPOUT * median).map_or(bins.len(), |n| at + n);
        let before = level(&bins[at.saturating_sub(WINDOW)..at]);
        let during = level(&bins[at..end]);
        // One thin bin in a sparse flow is no event.
        if at > 0 && before.mbit_s >= 0.5 * median {
            let (start_us, end_us) = (bins[at].start_us, bins[end - 1].start_us + width_us);
            events.push(SteadinessEvent {
                start_us,
                end_us,
                kind: "dropout".to_owned(),
                text: format!(
                    "drops to {:.1} Mbit/s from {:.1} s to {:.1} s (median {median:.1}): {}",
                    during.mbit_s,
                    start_us / 1e6,
                    end_us / 1e6,
                    explain(&before, &during)
                ),
            });
        }
        at = end;
    }
}

/// Lasting changes of level: every value after is beyond every value before, by a factor.
fn shifts(bins: &[FlowBin], width_us: f64, events: &mut Vec<SteadinessEvent>) {
    let mut at = WINDOW;
    while at + WINDOW <= bins.len() {
        let (left, right) = (&bins[at - WINDOW..at], &bins[at..at + WINDOW]);
        let (before, after) = (level(left), level(right));
        let max = |bins: &[FlowBin]| bins.iter().map(|bin| bin.mbit_s).fold(0.0, f64::max);
        let min = |bins: &[FlowBin]| bins.iter().map(|bin| bin.mbit_s).fold(f64::INFINITY, f64::min);
        let drop = max(right) * FACTOR < min(left);
        let rise = max(left) * FACTOR < min(right);
        let retry = left.iter().chain(right).all(|bin| bin.retry.frames >= 20)
            && before.retry.percent.zip(after.retry.percent).is_some_and(|(a, b)| (b - a).abs() >= RETRY_POINTS)
            && separated(left, right);
        let (start_us, end_us) = (right[0].start_us, right[WINDOW - 1].start_us + width_us);
        let known = events.iter().any(|event| event.start_us <= end_us && event.end_us >= left[0].start_us);
        if (drop || rise) && !known {
            events.push(SteadinessEvent {
                start_us,
                end_us,
                kind: if drop { "drop" } else { "rise" }.to_owned(),
                text: format!(
                    "{} {} at {:.1} s, {:.1} to {:.1} Mbit/s: {}",
                    if explain(&before, &after).starts_with("unexplained") { "unexplained" } else { "sudden" },
                    if drop { "drop" } else { "rise" },
                    start_us / 1e6,
                    before.mbit_s,
                    after.mbit_s,
                    explain(&before, &after).trim_start_matches("unexplained, ")
                ),
            });
            at += WINDOW;
        } else if retry && !known {
            events.push(SteadinessEvent {
                start_us,
                end_us,
                kind: "retry-shift".to_owned(),
                text: format!(
                    "retry % from {:.0} to {:.0} at {:.1} s (throughput {:.1} to {:.1} Mbit/s)",
                    before.retry.percent.unwrap_or(0.0),
                    after.retry.percent.unwrap_or(0.0),
                    start_us / 1e6,
                    before.mbit_s,
                    after.mbit_s
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
