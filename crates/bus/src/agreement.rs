//! What the data formats that a host and a modem agreed on mean, in words.

use sentence::{counted, grouped, one_or, sentence, Figure, Sentence};

use crate::conclusion::{unit, verdict};
use crate::report::{AgreedDirection, DataFormat, Device, Limit, Report, Verdict};

/// Fewest transfers for which keeping to a limit is reported.
const ENOUGH: u64 = 20;
/// One transfer in this many is few.
const FEW: u64 = 20;

/// `16 datagrams and 8,192 bytes`; `None` when neither is limited.
fn limits_of(datagrams: Option<u32>, bytes: Option<u32>) -> Option<String> {
    let datagrams = datagrams.map(|count| counted(count.into(), "datagram"));
    let bytes = bytes.map(|count| counted(count.into(), "byte"));
    let parts: Vec<String> = datagrams.into_iter().chain(bytes).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// `QMAP to the host, at most 16 datagrams and 8,192 bytes in a transfer`.
fn side(protocol: Option<&str>, datagrams: Option<u32>, bytes: Option<u32>, where_to: &str) -> Option<String> {
    let protocol = protocol?;
    let limits =
        limits_of(datagrams, bytes).map_or_else(String::new, |limits| format!(", at most {limits} in a transfer"));
    Some(format!("{protocol} {where_to} the host{limits}"))
}

/// What a side of the format says, both directions and the link.
fn sides(link: Option<&str>, found: [Option<String>; 2]) -> String {
    let link = link.map(|link| format!("the link {link}"));
    let parts: Vec<String> = link.into_iter().chain(found.into_iter().flatten()).collect();
    if parts.is_empty() {
        "nothing in particular".to_owned()
    } else {
        parts.join("; ")
    }
}

fn asked(format: &DataFormat) -> String {
    let way = |way: &AgreedDirection, to| side(way.asked.as_deref(), way.asked_datagrams, way.asked_bytes, to);
    sides(format.asked_link.as_deref(), [way(&format.uplink, "from"), way(&format.downlink, "to")])
}

fn answered(format: &DataFormat) -> String {
    let way = |way: &AgreedDirection, to| side(way.agreed.as_deref(), way.datagrams, way.bytes, to);
    sides(format.link.as_deref(), [way(&format.uplink, "from"), way(&format.downlink, "to")])
}

/// The record of the answer.
fn record(format: &DataFormat) -> Figure {
    Figure::of(format.record as f64, "record", 1, 0)
}

/// What the host asked for or about, and what the modem answered, as their messages have it.
fn messages(format: &DataFormat) -> [String; 2] {
    [question(format), answer(format)]
}

fn question(format: &DataFormat) -> String {
    if format.request == "set" {
        format!("the host asked for {} (WDA Set Data Format)", asked(format))
    } else {
        "the host asked what it is (WDA Get Data Format)".to_owned()
    }
}

fn answer(format: &DataFormat) -> String {
    let record = format.record;
    match &format.refused {
        Some(reason) => format!("the modem refused: {reason} (record {record})"),
        None => format!("the modem answered {} (record {record})", answered(format)),
    }
}

/// Conclusions about the data formats of one device.
pub(crate) fn agreements(report: &Report, device: &Device) -> Vec<Verdict> {
    let formats: Vec<&DataFormat> = report.data_formats.iter().filter(|format| format.device == device.name).collect();
    let mut found = Vec::new();
    if let Some(last) = formats.iter().rev().find(|format| format.request == "set" && format.refused.is_some()) {
        let reason = last.refused.as_deref().unwrap_or("no reason");
        let text = sentence!(
            "The modem refused {a} data format: {reason}. The host had asked for {asked}.",
            a = Figure::said(1.0, "count", formats.len() as u64, "a");
            reason = reason,
            asked = asked(last)
        );
        found.push(verdict("data-format-refused", "bad", device, text, Vec::new()).quoting(messages(last)));
    }
    found.extend(in_force(&formats).map(|(format, text, why)| {
        // The answer is the text.
        verdict("data-format", "neutral", device, text, why).quoting([question(format)])
    }));
    for format in formats {
        found.extend(kept(report, device, format, &format.uplink, "uplink"));
        found.extend(kept(report, device, format, &format.downlink, "downlink"));
    }
    found
}

/// The data format in force at the end of the window (of the capture, without one), or the first that came after it; and how
/// often it was set.
fn in_force<'a>(formats: &[&'a DataFormat]) -> Option<(&'a DataFormat, Sentence, Vec<Sentence>)> {
    let accepted = || formats.iter().copied().filter(|format| format.refused.is_none());
    let sets = |is_after: bool| {
        let counted = accepted().filter(|format| format.request == "set" && is_late(format) == is_after);
        counted.count() as u64
    };
    let in_time = accepted().rfind(|format| !is_late(format));
    let format = in_time.or_else(|| accepted().next())?;
    let who = if format.request == "set" { "modem agreed on" } else { "modem says that its data format is" };
    let text = if is_late(format) {
        sentence!(
            "After the window, the {who} {answered} (record {record}). What was in force in the window can't be determined, because \
             no earlier answer is in the capture.",
            record = record(format);
            who = who,
            answered = answered(format)
        )
    } else {
        sentence!(
            "The {who} {answered} (record {record}).",
            record = record(format);
            who = who,
            answered = answered(format)
        )
    };
    let mut why = Vec::new();
    let all = sets(false) + sets(true);
    let times = |count: u64| Figure::counted(count, all, "time");
    match (sets(false), sets(true)) {
        (0 | 1, 0) | (0, 1) => {}
        (before, 0) if format.request == "set" => {
            why.push(sentence!("the format was set {times}; this is the last", times = times(before)));
        }
        (before, 0) => why.push(sentence!("the format was set {times}", times = times(before))),
        (0, after) => why.push(sentence!("the format was set {times} after the window", times = times(after))),
        (before, after) => why.push(sentence!(
            "the format was set {before} up to the end of the window, where this one was in force, and {after} after it",
            before = times(before),
            after = times(after)
        )),
    }
    Some((format, text, why))
}

/// Whether transfers keep to a format.
fn kept(report: &Report, device: &Device, format: &DataFormat, way: &AgreedDirection, name: &str) -> Vec<Verdict> {
    let unit = unit(report);
    let summary = &report.summary;
    let missing = [Some(summary.unmatched_completions), Some(summary.lost_completions), summary.lost_submissions];
    let is_lossy = missing.into_iter().chain([summary.dropped_by_capture]).flatten().any(|count| count > 0);
    let (Some(transfers), mut found) = (way.transfers.filter(|&count| count > 0), Vec::new()) else {
        return Vec::new();
    };
    let seen = limits_of_seen(way);
    let cut = way.cut_transfers.unwrap_or(0);
    let unread = way.unread_transfers.unwrap_or(0);
    let compared = transfers.saturating_sub(unread);
    if let (Some(limits), Some(beyond)) = (limits_of(way.datagrams, way.bytes), way.beyond) {
        if beyond > 0 {
            let who = if name == "uplink" {
                "The host puts more into a transfer than the modem takes"
            } else {
                "The modem puts more into a transfer than it said"
            };
            let go = if beyond == 1 { "goes" } else { "go" };
            let at_least = if cut > 0 { "at least " } else { "" };
            let crash = if name == "uplink" { " Some modems crash on that." } else { "" };
            let text = sentence!(
                "{who}: {at_least}{beyond} of {all} {name} {unit}s {go} past {limits} (the most in one: {seen}).{crash}",
                beyond = Figure::count(beyond, transfers),
                all = Figure::total(transfers);
                who = who,
                at_least = at_least,
                name = name,
                unit = unit,
                go = go,
                limits = limits,
                seen = seen,
                crash = crash
            );
            let mut why = Vec::new();
            if let Some(record) = way.first_beyond_record {
                let record = Figure::of(record as f64, "record", 1, 0);
                why.push(sentence!("the first is record {record}", record = record));
            }
            found.push(verdict(&format!("{name}-beyond-agreed"), "bad", device, text, why).quoting(messages(format)));
        } else if compared >= ENOUGH && way.most_bytes.is_some() && cut > 0 {
            let text = sentence!(
                "No {name} {unit} is seen to go past {limits}, but {cut} of {all} {are} cut in the capture, so their datagrams \
                 can't be counted (the most seen in one: {seen}).",
                cut = Figure::count(cut, compared),
                all = Figure::total(compared);
                name = name,
                unit = unit,
                limits = limits,
                seen = seen,
                are = one_or(cut, "is", "are")
            );
            found.push(
                verdict(&format!("{name}-within-agreed"), "neutral", device, text, Vec::new())
                    .quoting(messages(format)),
            );
        } else if compared >= ENOUGH && way.most_bytes.is_some() {
            let text = sentence!(
                "All {all} {name} {unit}s{with}{captured} stay within the agreed {limits}: the most in one is {seen}",
                all = Figure::total(compared);
                with = if unread > 0 { " with datagrams" } else { "" },
                name = name,
                unit = unit,
                captured = if is_lossy { " with data that was captured" } else { "" },
                limits = limits,
                seen = seen
            );
            let text = match unread {
                0 => text.ended(),
                n => text.and(
                    "; ",
                    sentence!("{unread} could not be looked into.", unread = Figure::counted(n, transfers, "other")),
                ),
            };
            found.push(
                verdict(&format!("{name}-within-agreed"), "good", device, text, Vec::new()).quoting(messages(format)),
            );
        }
    }
    if let (Some(agreed), Some(other)) = (way.agreed.as_deref(), way.other_framing.filter(|&count| count > 0)) {
        let instead = if agreed == "no aggregation" { "QMAP" } else { "no QMAP" };
        let are = if other == 1 { "is" } else { "are" };
        let text = sentence!(
            "{other} of {all} {name} {unit}s {are} not framed as agreed: {instead} where {agreed} was agreed on.",
            other = Figure::count(other, transfers),
            all = Figure::total(transfers);
            name = name,
            unit = unit,
            are = are,
            instead = instead,
            agreed = agreed
        );
        // A few are what the driver's own interface says beside those on top of it.
        let tone = if other * FEW < transfers { "neutral" } else { "bad" };
        found.push(verdict(&format!("{name}-other-framing"), tone, device, text, Vec::new()).quoting(messages(format)));
    }
    found
}

/// The most datagrams and bytes seen.
fn limits_of_seen(way: &AgreedDirection) -> String {
    let datagrams = counted(way.most_datagrams.unwrap_or(0), "datagram");
    format!("{datagrams}, {}", counted(way.most_bytes.unwrap_or(0), "byte"))
}

/// It came after the window.
fn is_late(format: &DataFormat) -> bool {
    format.after_window == Some(true)
}

fn is_accepted(format: &DataFormat, device: &Device) -> bool {
    format.device == device.name && format.refused.is_none()
}

/// What messages of modems do not show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfMessages {
    /// Messages that are cut in the capture.
    pub cut: u64,
    /// Transfers with datagrams in front of the first answer about the data format, of devices that have one.
    pub unjudged: u64,
}

/// Why it can't be determined whether aggregates keep to what was agreed on.
pub(crate) fn limits(report: &Report, OfMessages { cut, unjudged }: OfMessages) -> Option<Limit> {
    let unknown: Vec<&str> = report
        .devices
        .iter()
        .filter(|device| {
            let has = |format: &DataFormat| is_accepted(format, device) && !is_late(format);
            let qmap = report.traffic.iter().any(|row| row.device == device.name && row.framing == "qmap");
            device.kind == "qmi" && qmap && !report.data_formats.iter().any(has)
        })
        .map(|device| device.name.as_str())
        .collect();
    if unknown.is_empty() {
        let (transfers, they) =
            if unjudged == 1 { ("1 transfer".to_owned(), "it") } else { (counted(unjudged, "transfer"), "they") };
        let text = format!(
            "{transfers} with datagrams came before the first answer about the data format: what {they} had to keep to can't be determined."
        );
        return (unjudged > 0).then(|| Limit { code: "no-data-format".to_owned(), text });
    }
    let is_later = report
        .devices
        .iter()
        .filter(|device| unknown.contains(&device.name.as_str()))
        .all(|device| report.data_formats.iter().any(|format| is_accepted(format, device)));
    let because = if cut > 0 {
        format!(
            "{} cut in the capture",
            if cut == 1 { "a QMI message is".to_owned() } else { format!("{} QMI messages are", grouped(cut)) }
        )
    } else if is_later {
        "the modem's answer about its data format (WDA) came after the window".to_owned()
    } else {
        "no modem's answer about its data format (WDA) is in the capture: it came before, or was not asked for"
            .to_owned()
    };
    let s = if unknown.len() == 1 { "" } else { "s" };
    let text = format!(
        "Whether the aggregates of device{s} {} keep to what host and modem agreed on can't be determined, because {because}.",
        unknown.join(", ")
    );
    Some(Limit { code: "no-data-format".to_owned(), text })
}
