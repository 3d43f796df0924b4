//! What the capture cannot show, and why.

use sentence::{counted, grouped};

use crate::agreement::OfMessages;
use crate::conclusion::with_bytes;
use crate::copies::APART_US;
use crate::report::{Limit, Report, Summary, DEFAULT_ADDRESS};
use crate::steps_back::STEP_US;
use crate::totals::{Source, Totals};
use crate::usbsnoop::SHOWN_MAX;

/// Everything that weakens or removes figures of `report`; `from_before`: completions of requests from before the capture.
pub(crate) fn limits(
    report: &Report,
    totals: &Totals,
    source: &Source,
    of_messages: OfMessages,
    from_before: u64,
) -> Vec<Limit> {
    let layer = report.summary.layer.as_str();
    let unknown: u64 = report.endpoints.iter().filter_map(|endpoint| endpoint.bytes_unknown).sum();
    // What a log shows of a request is no matter of missing records.
    let unknown = if layer == "urb-log" { 0 } else { unknown.saturating_sub(totals.failed_lengths) };
    // A hub says nothing about drivers, and a root hub cannot be plugged in.
    let devices = || report.devices.iter().filter(|device| device.kind != DEFAULT_ADDRESS);
    let without = devices().filter(|device| device.vendor_id.is_none() && device.kind != "hub").count();

    let mut found = of_the_file(report, totals, source);
    found.extend(unmatched(&report.summary, from_before, unknown));
    found.extend(of_the_layer(report, totals));
    if without > 0 {
        found.push(limit("no-descriptors", not_enumerated(without, devices().count())));
    }
    found.extend(without_data(report));
    found.extend(of_the_records(report, totals));
    found.extend(steps_back(&report.summary));
    found.extend(crate::agreement::limits(report, of_messages));
    found.extend(addresses(report));
    found
}

fn limit(code: &str, text: impl Into<String>) -> Limit {
    Limit { code: code.to_owned(), text: text.into() }
}

/// What the format of the file, or who wrote it, left out.
fn of_the_file(report: &Report, totals: &Totals, source: &Source) -> Vec<Limit> {
    let mut found = Vec::new();
    if source.container == "usbsnoop-text" {
        found.push(limit(
            "no-clock",
            "This log has no time that could be trusted, no URB identifiers and no statuses: it gives \
             requests and their data only, so rates, turnarounds and errors are not available.",
        ));
    }
    if totals.cut_transfers > 0 {
        found.push(match source.container.as_str() {
            "usbmon-text" => limit("text-32-bytes", short_lines(report, totals)),
            "usbsnoop-text" => limit("text-32-bytes", short_log(totals)),
            _ => limit("snap", cut(totals, source)),
        });
    }
    match source.dropped {
        Some(0) => {}
        Some(n) => found.push(limit(
            "dropped",
            format!(
                "{} dropped while capturing, so every count is a lower bound, and a gap may be the capture's.",
                if n == 1 { "1 record was".to_owned() } else { format!("{} records were", grouped(n)) }
            ),
        )),
        None if !source.is_text && report.summary.layer != "sdio" => found.push(limit(
            "drops-unknown",
            "The file does not record how many records were dropped while capturing; where only one end of a request was, the \
             order of the others shows it.",
        )),
        None => {}
    }
    if source.is_by_time_of_day {
        found.push(limit(
            "no-date",
            "The text of usbmon has the time of day modulo 4,096 s and no date: the window was placed by the time of day alone.",
        ));
    }
    if totals.copies > 0 {
        found.push(limit("copies", copies(totals.copies, totals.records)));
    }
    found
}

/// What the place at which the records were made does not show.
fn of_the_layer(report: &Report, totals: &Totals) -> Vec<Limit> {
    let mut found = Vec::new();
    if report.summary.layer == "irp" {
        found.push(limit(
            "irp-layer",
            "USBPcap sees IRPs above the root hub: how much an IN transfer asked for is not recorded, nor \
             are URB flags, and times include Windows' own scheduling. Sizes, rates and requests under way compare with \
             a usbmon trace; the size of offered buffers does not.",
        ));
    }
    if totals.failed_lengths > 0 {
        found.push(limit(
            "failed-bytes",
            format!(
                "{} to the device did not succeed, and USBPcap does not record how much of {} was moved: {} not counted.",
                counted(totals.failed_lengths, "transfer"),
                if totals.failed_lengths == 1 { "it" } else { "them" },
                if totals.failed_lengths == 1 { "its bytes are" } else { "their bytes are" }
            ),
        ));
    }
    if totals.injected > 0 {
        let (requests, were, them) = match totals.injected {
            1 => ("1 request".to_owned(), "was", "it"),
            n => (counted(n, "request"), "were", "them"),
        };
        found.push(limit(
            "injected",
            format!(
                "{requests} {were} written down by USBPcap itself when it started, and never {were} on the bus: descriptors are \
                 taken from {them}, and nothing else counts {them}."
            ),
        ));
    }
    if let Some(step) = report.summary.clock_step_us {
        let step = duration(step);
        found.push(limit(
            "coarse-clock",
            format!(
                "The clock of this capture moves in steps of {step} (all of its {} changes are multiples of that), so times are \
                 known to {step} only.",
                grouped(totals.stamps)
            ),
        ));
    }
    if report.summary.layer == "urb" {
        found.push(limit(
            "urb-layer",
            "usbmon sees URBs between driver and host controller, not the packets on the wires: NAKs and \
             retries on the bus are not recorded.",
        ));
    }
    found
}

/// Records that are counted and not looked into, or with time that goes back.
fn of_the_records(report: &Report, totals: &Totals) -> Vec<Limit> {
    let mut found = Vec::new();
    if totals.isochronous > 0 {
        let errors: u64 = report.endpoints.iter().map(|endpoint| endpoint.iso_errors).sum();
        let failed = match errors {
            0 => String::new(),
            n => format!(" {} of them had an error; bytes are those of the buffers.", counted(n, "packet")),
        };
        found.push(limit("isochronous", format!("Isochronous transfers are counted, but not looked into.{failed}")));
    }
    if totals.not_followed > 0 {
        let belong = match totals.not_followed {
            1 => "1 record belongs".to_owned(),
            n => format!("{} records belong", grouped(n)),
        };
        found.push(limit("too-many", format!("{belong} to more endpoints than a report follows.")));
    }
    if totals.backward_steps > 0 {
        let (steps, records) = (totals.backward_steps, grouped(report.records));
        let are = if steps == 1 { "is" } else { "are" };
        let by = duration(totals.backward_most_us);
        let steps = grouped(steps);
        found.push(limit(
            "backward",
            format!("{steps} of {records} records {are} stamped earlier than the record before, by up to {by}."),
        ));
    }
    found
}

/// Transfers of which the file has the beginning.
fn not_whole(totals: &Totals) -> String {
    let are = if totals.cut_transfers == 1 { "is" } else { "are" };
    let (cut, all) = (grouped(totals.cut_transfers), grouped(totals.data_transfers));
    format!("{cut} of {all} transfers with data {are} not whole in the capture")
}

/// What the 32 bytes of a line do not show.
fn short_lines(report: &Report, totals: &Totals) -> String {
    let network = || report.traffic.iter().filter(|row| row.is_network());
    let mut hidden = String::new();
    if network().any(|row| row.cut_transfers.unwrap_or(0) > 0) {
        hidden.push_str("; datagrams after the first are not seen");
    }
    let readable = network().filter(|row| row.framing != "realtek");
    let unknown: u64 = readable.map(|row| row.datagrams.saturating_sub(row.judged_datagrams)).sum();
    if unknown > 0 {
        let (of, they, are) = match unknown {
            1 => ("1 datagram".to_owned(), "it", "is only a TCP acknowledgement"),
            n => (counted(n, "datagram"), "they", "are only TCP acknowledgements"),
        };
        hidden.push_str(&format!("; of {of} it can't be determined whether {they} {are}"));
    }
    format!(
        "{}, because the text form of usbmon shows at most 32 bytes of each{hidden}. Capture with tcpdump -i usbmonN -w FILE for \
         the rest.",
        not_whole(totals)
    )
}

/// What the 32 bytes of a line of a UsbSnoop log do not show.
fn short_log(totals: &Totals) -> String {
    let their = if totals.cut_transfers == 1 { "its" } else { "their" };
    format!(
        "{}: a line shows at most {SHOWN_MAX} bytes, and the device was asked for more, so {their} bytes are a lower bound.",
        not_whole(totals)
    )
}

/// Transfers of which the file has the beginning, and what cut them, as far as their records show.
fn cut(totals: &Totals, source: &Source) -> String {
    let (in_file, by_recorder) = (totals.cut_records, totals.cut_transfers - totals.cut_records);
    let at = match totals.cut_at {
        Some((least, most)) if least < most => {
            format!("cut at {} to {} bytes", grouped(least.into()), grouped(most.into()))
        }
        Some((at, _)) if source.snap_lengths.contains(&at) => {
            format!("cut at the snap length, {} bytes", grouped(at.into()))
        }
        Some((at, _)) => format!("cut at {} bytes", grouped(at.into())),
        None => "cut".to_owned(),
    };
    let cause = match (in_file, by_recorder) {
        (0, _) => "usbmon stored only part of their buffers".to_owned(),
        (_, 0) => format!("their records are {at}"),
        (file, kernel) => format!(
            "the records of {} are {at}, and of {} usbmon stored only part of the buffer",
            grouped(file),
            grouped(kernel)
        ),
    };
    format!("{} ({cause}): datagrams behind the cut are counted as \"at least\".", not_whole(totals))
}

/// Devices with descriptors that are not in the capture.
fn not_enumerated(without: usize, devices: usize) -> String {
    if devices == 1 {
        return "The enumeration of the device is not in the capture, so its descriptors are not known: plug it in while \
                capturing."
            .to_owned();
    }
    let (their, them) = if without == 1 { ("its", "it") } else { ("their", "them") };
    format!(
        "The enumeration of {without} of {devices} devices is not in the capture, so {their} descriptors are not known: plug \
         {them} in while capturing."
    )
}

/// Bulk transfers with bytes without any data that can be looked into.
fn without_data(report: &Report) -> impl Iterator<Item = Limit> + '_ {
    crate::conclusion::without_data(report).map(|endpoint| Limit {
        code: "no-data".to_owned(),
        text: format!(
            "The data of {} on endpoint {} {} of device {} ({}) is not in the capture: {}.",
            counted(with_bytes(endpoint), "transfer"),
            endpoint.address,
            endpoint.direction,
            endpoint.device,
            counted(endpoint.bytes.unwrap_or(0), "byte"),
            if endpoint.direction == "out" && endpoint.submissions == 0 {
                "it stands with the submission, which is missing"
            } else {
                "the records have none of it"
            }
        ),
    })
}

/// Records that are in the file twice.
fn copies(copies: u64, records: u64) -> String {
    let repeat = if copies == 1 { "repeats" } else { "repeat" };
    format!(
        "At least {} of {} records {repeat} another that is at most {APART_US} µs away, as where usbmon0 and a bus's own \
         interface are captured together: these count once.",
        grouped(copies),
        grouped(records)
    )
}

/// `12 µs`, `12.5 ms`, `1.000 s`.
fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        _ => format!("{}.{:03} s", grouped(us / 1_000_000), us % 1_000_000 / 1_000),
    }
}

/// Addresses that several devices had one after the other.
fn addresses(report: &Report) -> impl Iterator<Item = Limit> + '_ {
    let shared = report.devices.iter().filter(|device| !device.earlier_ids.is_empty());
    shared.map(|device| {
        let last = match (&device.vendor_id, &device.product_id) {
            (Some(vendor), Some(product)) => format!("{vendor}:{product}"),
            _ => "one with descriptors that are not in the capture".to_owned(),
        };
        Limit {
            code: "address-reused".to_owned(),
            text: format!(
                "Address {} was given to {} devices one after the other ({}, then {last}): its figures are of all of them, and what it \
                 is, is the last.",
                device.name,
                device.earlier_ids.len() + 1,
                device.earlier_ids.join(", "),
            ),
        }
    })
}

/// Time steps back by more than the order of records allows.
fn steps_back(summary: &Summary) -> Option<Limit> {
    let count = summary.steps_back.filter(|count| *count > 0)?;
    let sum_us = summary.steps_back_us.unwrap_or(0);
    let how = format!(
        "Time steps back by more than {} ms {}, by {}, as where captures stand one behind the other or the clock was set",
        STEP_US / 1_000,
        if count == 1 { "once".to_owned() } else { counted(count, "time") },
        match count {
            1 => duration(sum_us),
            _ => format!("{} in all, {} at the most", duration(sum_us), duration(summary.step_back_most_us.unwrap_or(0))),
        }
    );
    let what = match summary.span_us.filter(|span| *span > 0) {
        None => "the time span, rates, gaps and requests under way cannot be determined, and requests are paired between these steps only",
        Some(_) => "rates are of the time between these steps, and requests are paired in it only",
    };
    let text = format!("{how}: {what}.");
    Some(Limit { code: "steps-back".to_owned(), text })
}

/// What is not known of completions to the device without a submission, in USBPcap's records.
fn without_bytes(count: u64) -> String {
    format!("but the bytes of {} to the device are not, which stand with the submission", counted(count, "transfer"))
}

/// Records that are missing, as the other ends of their requests show.
fn unmatched(summary: &Summary, from_before: u64, unknown: u64) -> Option<Limit> {
    let (unmatched, lost) = (summary.unmatched_completions, summary.lost_completions);
    let dropped = summary.lost_submissions.unwrap_or(0);
    // What a capture that dropped nothing lacks was taken out of it afterwards.
    let cause = match summary.dropped_by_capture {
        Some(0) => "taken out of the file",
        _ => "dropped while capturing, or taken out of the file",
    };
    let limit = |text| Some(Limit { code: "unmatched".to_owned(), text });
    if summary.completions == 0 && summary.submissions > 0 && summary.window.is_none() {
        return limit(format!(
            "No completion is in the capture, so what became of its {}, how long {} took and what came back is not known.",
            counted(summary.submissions, "request"),
            if summary.submissions == 1 { "it" } else { "they" }
        ));
    }
    if unmatched + dropped + lost == 0 {
        return None;
    }
    let (are, have) = if unmatched == 1 { ("completion", "has") } else { ("completions", "have") };
    let without = format!("{} {are} {have} no submission in the capture", grouped(unmatched));
    if dropped + lost == 0 {
        let steps = if summary.steps_back.unwrap_or(0) > 0 { ", or from before time steps back" } else { "" };
        let their = if unmatched == 1 { "Its turnaround is" } else { "Their turnarounds are" };
        let counted = match unknown {
            0 if unmatched == 1 => "the completion and its bytes are counted all the same".to_owned(),
            0 => "the completions and their bytes are counted all the same".to_owned(),
            n => format!("the completions are counted all the same, {}", without_bytes(n)),
        };
        let origin = if summary.submissions == 0 && unmatched > 1 {
            "the capture has no submission at all".to_owned()
        } else if from_before == unmatched {
            format!("requests submitted before the capture began{steps}, judging by their order")
        } else {
            format!("requests submitted before the capture began{steps}, or their submissions were {cause}")
        };
        return limit(format!(
            "{without}: {origin}. {their} not known, and requests under way are a lower bound or not known; {counted}."
        ));
    }
    let lost_records = [(dropped, "submission"), (lost, "completion")];
    let missing: Vec<String> =
        lost_records.into_iter().filter(|(count, _)| *count > 0).map(|(count, one)| counted(count, one)).collect();
    let are = if dropped + lost == 1 { "is" } else { "are" };
    let under_way = match (lost, dropped) {
        (0, _) => ", and requests under way are a lower bound",
        (_, 0) => "; requests under way and gaps are not available where completions are missing",
        _ => "; requests under way are a lower bound, and where completions are missing they and the gaps are not available",
    };
    let mut bounds =
        if lost > 0 { "Counts of completions and bytes are lower bounds. ".to_owned() } else { String::new() };
    if unknown > 0 {
        bounds.push_str(&format!("Completions are counted all the same, {}. ", without_bytes(unknown)));
    }
    let without = if unmatched > 0 { format!("{without}. ") } else { String::new() };
    limit(format!(
        "{without}By the order of the others and identifiers that are used again, at least {} {are} missing: {cause}. \
         {bounds}Turnarounds are of fewer requests{under_way}.",
        missing.join(" and ")
    ))
}
