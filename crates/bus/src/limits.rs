//! What the capture cannot tell, and why.

use crate::conclusion::figure;
use crate::copies::APART_US;
use crate::report::{Limit, Report};
use crate::totals::{Source, Totals};

/// Everything that weakens or removes figures of `report`.
pub(crate) fn limits(report: &Report, totals: &Totals, source: &Source, cut_messages: u64) -> Vec<Limit> {
    let mut found = Vec::new();
    let mut add = |code: &str, text: String| found.push(Limit { code: code.to_owned(), text });
    let layer = report.summary.layer.as_str();
    if source.container == "usbsnoop-text" {
        add(
            "no-clock",
            "This log has no time that could be trusted, no URB identifiers and no statuses: it gives \
             requests and their data only, so rates, turnarounds and errors are not available."
                .to_owned(),
        );
    }
    if source.container == "usbmon-text" {
        add(
            "text-32-bytes",
            "The text form of usbmon shows at most 32 bytes of each transfer: datagrams after the \
             first are not seen, and TCP acknowledgements cannot be told. Capture with tcpdump -i usbmonN -w FILE \
             for the rest."
                .to_owned(),
        );
    }
    if totals.cut_transfers > 0 && source.container != "usbmon-text" {
        let snap = source.snap_lengths.iter().filter(|len| **len != 0).max();
        let cause = snap.map_or_else(
            || "the kernel stores only part of scattered buffers".to_owned(),
            |len| format!("snap length {len}, or the kernel stored only part"),
        );
        add(
            "snap",
            format!(
                "{} of {} transfers with data {} not whole in the capture ({cause}): datagrams behind \
             the cut are counted as \"at least\".",
                figure(totals.cut_transfers),
                figure(totals.data_transfers),
                if totals.cut_transfers == 1 { "is" } else { "are" }
            ),
        );
    }
    match source.dropped {
        Some(0) => {}
        Some(n) => add(
            "dropped",
            format!(
                "{} dropped while capturing, so every count is a lower bound.",
                if n == 1 { "1 record was".to_owned() } else { format!("{} records were", figure(n)) }
            ),
        ),
        None if !source.is_text && layer != "sdio" => add(
            "drops-unknown",
            "The file does not say how many records were dropped while \
             capturing; completions without their submission would show it."
                .to_owned(),
        ),
        None => {}
    }
    if totals.copies > 0 {
        add("copies", copies(totals.copies, totals.records));
    }
    if totals.unmatched + totals.lost_completions > 0 {
        add("unmatched", unmatched(totals.unmatched, totals.lost_completions));
    }
    if layer == "irp" {
        add("irp-layer", "USBPcap sees IRPs above the root hub: how much an IN transfer asked for is not recorded, nor \
             are URB flags, and times include Windows' own scheduling. Sizes, rates and requests under way compare with \
             a usbmon trace; the size of offered buffers does not.".to_owned());
    }
    if layer == "urb" {
        add(
            "urb-layer",
            "usbmon sees URBs between driver and host controller, not the packets on the wires: NAKs and \
             retries on the bus are not recorded."
                .to_owned(),
        );
    }
    // A hub says nothing of drivers, and a root hub cannot be plugged in.
    let without = report.devices.iter().filter(|device| device.vendor_id.is_none() && device.kind != "hub").count();
    if without > 0 {
        add(
            "no-descriptors",
            if report.devices.len() == 1 {
                "The enumeration of the device is not in the capture, so its descriptors are not known: plug it in while \
                 capturing."
                    .to_owned()
            } else {
                let (their, them) = if without == 1 { ("its", "it") } else { ("their", "them") };
                format!(
                    "The enumeration of {without} of {} devices is not in the capture, so {their} descriptors are not known: \
                     plug {them} in while capturing.",
                    report.devices.len()
                )
            },
        );
    }
    if totals.isochronous > 0 {
        add("isochronous", "Isochronous transfers are counted, but not looked into.".to_owned());
    }
    if totals.not_followed > 0 {
        add(
            "too-many",
            format!(
                "{} to more endpoints than a report follows.",
                if totals.not_followed == 1 {
                    "1 record belongs".to_owned()
                } else {
                    format!("{} records belong", figure(totals.not_followed))
                }
            ),
        );
    }
    if totals.backward_steps > 0 {
        let (steps, records) = (totals.backward_steps, figure(totals.records));
        let are = if steps == 1 { "is" } else { "are" };
        add("backward", format!("{} of {records} records {are} stamped before the one in front.", figure(steps)));
    }
    found.extend(crate::agreement::limits(report, cut_messages));
    found
}

/// Records that are in the file twice.
fn copies(copies: u64, records: u64) -> String {
    let repeat = if copies == 1 { "repeats" } else { "repeat" };
    format!(
        "At least {} of {} records {repeat} another that is at most {APART_US} µs away, as where usbmon0 and a bus's own \
         interface are captured together: these count once.",
        figure(copies),
        figure(records)
    )
}

/// Completions without their submission, and submissions whose identifier came back without a completion.
fn unmatched(completions: u64, lost: u64) -> String {
    let (are, have) = if completions == 1 { ("completion", "has") } else { ("completions", "have") };
    let without = format!("{} {are} {have} no submission in the capture", figure(completions));
    if lost == 0 {
        return format!(
            "{without}: requests from before the capture, or dropped records. Turnarounds, requests under way and rates of \
             transfers are weaker for it; the completions and their bytes are counted all the same."
        );
    }
    let (sent, whose) = if lost == 1 { ("submission", "its") } else { ("submissions", "their") };
    format!(
        "{without}, and {} {sent} no completion although {whose} identifier was used again: records were dropped while \
         capturing. Counts of completions and bytes are lower bounds; turnarounds, requests under way and rates of transfers \
         are weaker for it.",
        figure(lost)
    )
}
