//! What the data formats that a host and a modem agreed on mean, in words.

use crate::conclusion::{counted, figure, unit, verdict};
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

fn evidence(format: &DataFormat) -> Vec<String> {
    let record = format.record;
    let question = if format.request == "set" {
        format!("the host asked for {} (WDA Set Data Format)", asked(format))
    } else {
        "the host asked what it is (WDA Get Data Format)".to_owned()
    };
    let answer = match &format.refused {
        Some(reason) => format!("the modem refused: {reason} (record {record})"),
        None => format!("the modem answered {} (record {record})", answered(format)),
    };
    vec![question, answer]
}

/// Conclusions about the data formats of one device.
pub(crate) fn agreements(report: &Report, device: &Device) -> Vec<Verdict> {
    let formats: Vec<&DataFormat> = report.data_formats.iter().filter(|format| format.device == device.name).collect();
    let mut found = Vec::new();
    if let Some(last) = formats.iter().rev().find(|format| format.request == "set" && format.refused.is_some()) {
        let reason = last.refused.as_deref().unwrap_or("no reason");
        let text = format!("The modem refused a data format: {reason}. The host had asked for {}.", asked(last));
        found.push(verdict("data-format-refused", "bad", device, text, evidence(last)));
    }
    found.extend(in_force(&formats).map(|(text, why)| verdict("data-format", "neutral", device, text, why)));
    for format in formats {
        found.extend(kept(report, device, format, &format.uplink, "uplink"));
        found.extend(kept(report, device, format, &format.downlink, "downlink"));
    }
    found
}

/// The data format in force at the end of the window (of the capture, without one), or the first that came after it; and how
/// often it was set.
fn in_force(formats: &[&DataFormat]) -> Option<(String, Vec<String>)> {
    let accepted = || formats.iter().copied().filter(|format| format.refused.is_none());
    let sets = |is_after: bool| {
        let counted = accepted().filter(|format| format.request == "set" && is_late(format) == is_after);
        counted.count() as u64
    };
    let in_time = accepted().rfind(|format| !is_late(format));
    let format = in_time.or_else(|| accepted().next())?;
    let who = if format.request == "set" { "modem agreed on" } else { "modem says that its data format is" };
    let text = if is_late(format) {
        format!(
            "After the window, the {who} {}. What was in force in the window can't be told, because no earlier answer is in \
             the capture.",
            answered(format)
        )
    } else {
        format!("The {who} {}.", answered(format))
    };
    let mut why = evidence(format);
    match (sets(false), sets(true)) {
        (0 | 1, 0) | (0, 1) => {}
        (before, 0) if format.request == "set" => {
            why.push(format!("the format was set {}; this is the last", counted(before, "time")));
        }
        (before, 0) => why.push(format!("the format was set {}", counted(before, "time"))),
        (0, after) => why.push(format!("the format was set {} after the window", counted(after, "time"))),
        (before, after) => why.push(format!(
            "the format was set {} up to the end of the window, where this one was in force, and {} after it",
            counted(before, "time"),
            counted(after, "time")
        )),
    }
    Some((text, why))
}

/// Whether transfers keep to a format.
fn kept(report: &Report, device: &Device, format: &DataFormat, way: &AgreedDirection, name: &str) -> Vec<Verdict> {
    let unit = unit(report);
    let is_lossy = report.summary.unmatched_completions + report.summary.lost_completions > 0;
    let (Some(transfers), mut found) = (way.transfers.filter(|&count| count > 0), Vec::new()) else {
        return Vec::new();
    };
    let seen = limits_of_seen(way);
    let cut = way.cut_transfers.unwrap_or(0);
    if let (Some(limits), Some(beyond)) = (limits_of(way.datagrams, way.bytes), way.beyond) {
        if beyond > 0 {
            let who = if name == "uplink" {
                "The host puts more into a transfer than the modem takes"
            } else {
                "The modem puts more into a transfer than it said"
            };
            let go = if beyond == 1 { "goes" } else { "go" };
            let at_least = if cut > 0 { "at least " } else { "" };
            let crash = if name == "uplink" { " Modems may crash of that." } else { "" };
            let text = format!(
                "{who}: {at_least}{} of {} {name} {unit}s {go} past {limits} (the most in one: {seen}).{crash}",
                figure(beyond),
                figure(transfers),
            );
            let mut why = evidence(format);
            if let Some(record) = way.first_beyond_record {
                why.push(format!("the first is record {record}"));
            }
            found.push(verdict(&format!("{name}-beyond-agreed"), "bad", device, text, why));
        } else if transfers >= ENOUGH && way.most_bytes.is_some() && cut > 0 {
            let text = format!(
                "No {name} {unit} is seen to go past {limits}, but {} of {} are cut in the capture, so their datagrams \
                 can't be counted (the most seen in one: {seen}).",
                figure(cut),
                figure(transfers)
            );
            found.push(verdict(&format!("{name}-within-agreed"), "neutral", device, text, evidence(format)));
        } else if transfers >= ENOUGH && way.most_bytes.is_some() {
            let text = format!(
                "All {} {name} {unit}s{captured} stay within the agreed {limits}: the most in one is {seen}.",
                figure(transfers),
                captured = if is_lossy { " whose data was captured" } else { "" }
            );
            found.push(verdict(&format!("{name}-within-agreed"), "good", device, text, evidence(format)));
        }
    }
    if let (Some(agreed), Some(other)) = (way.agreed.as_deref(), way.other_framing.filter(|&count| count > 0)) {
        let instead = if agreed == "no aggregation" { "QMAP" } else { "no QMAP" };
        let are = if other == 1 { "is" } else { "are" };
        let text = format!(
            "{} of {} {name} {unit}s {are} not framed as agreed: {instead} where {agreed} was agreed on.",
            figure(other),
            figure(transfers)
        );
        // A few are what the driver's own interface says beside those on top of it.
        let tone = if other * FEW < transfers { "neutral" } else { "bad" };
        found.push(verdict(&format!("{name}-other-framing"), tone, device, text, evidence(format)));
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

/// Why it can't be told whether aggregates keep to what was agreed on.
pub(crate) fn limits(report: &Report, cut: u64) -> Option<Limit> {
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
        return None;
    }
    let is_later = report
        .devices
        .iter()
        .filter(|device| unknown.contains(&device.name.as_str()))
        .all(|device| report.data_formats.iter().any(|format| is_accepted(format, device)));
    let because = if cut > 0 {
        format!(
            "{} cut in the capture",
            if cut == 1 { "a QMI message is".to_owned() } else { format!("{} QMI messages are", figure(cut)) }
        )
    } else if is_later {
        "the modem's answer about its data format (WDA) came after the window".to_owned()
    } else {
        "no modem's answer about its data format (WDA) is in the capture: it came before, or was not asked for"
            .to_owned()
    };
    let s = if unknown.len() == 1 { "" } else { "s" };
    let text = format!(
        "Whether the aggregates of device{s} {} keep to what host and modem agreed on can't be told, because {because}.",
        unknown.join(", ")
    );
    Some(Limit { code: "no-data-format".to_owned(), text })
}
