//! What the figures mean, in words.

use crate::conclusion::{counted, figure, percent, thousands, unit, verdict, with_bytes, without_data};
use crate::report::{Device, Endpoint, Report, Traffic, Verdict};
use crate::sdio;

/// Transfers below which nothing is concluded about aggregation.
const ENOUGH: u64 = 20;
/// Datagrams per transfer below which transfers are not aggregated.
const NOT_AGGREGATED: f64 = 1.1;
/// Records are many when more than one in so many is missing.
const MANY_MISSING: u64 = 20;
/// Ethernet frames below which nothing is concluded about a wrong framing.
const ENOUGH_MISUSE: u64 = 2;

/// All conclusions, the most important first.
pub(crate) fn verdicts(report: &Report) -> Vec<Verdict> {
    let mut found = Vec::new();
    for device in &report.devices {
        let mine = report.traffic.iter().filter(|row| row.device == device.name);
        let traffic: Vec<&Traffic> = mine.filter(|row| is_steady(report, row)).collect();
        let endpoints: Vec<&Endpoint> = report.endpoints.iter().filter(|row| row.device == device.name).collect();
        found.extend(misuse(device, &traffic, &endpoints));
        for row in traffic.iter().filter(|row| row.transfers >= ENOUGH) {
            found.extend(aggregation(report, device, row));
        }
        found.extend(crate::agreement::agreements(report, device));
        found.extend(faults(report, device, &traffic));
        found.extend(errors(device, &endpoints));
    }
    found.extend(sdio::verdicts(report));
    if found.is_empty() && report.traffic.iter().all(|row| matches!(row.framing.as_str(), "other" | "mass-storage")) {
        let transfers: u64 = report.traffic.iter().map(|row| row.transfers).sum();
        let text = match transfers {
            0 => nothing_to_look_into(report),
            1 => "No network traffic was recognised in the one bulk transfer with data, so there is nothing to say about \
                  aggregation."
                .to_owned(),
            n => format!(
                "No network traffic was recognised in {} bulk transfers with data, so there is nothing to say about aggregation.",
                figure(n)
            ),
        };
        found.push(Verdict {
            code: "no-network".to_owned(),
            tone: "neutral".to_owned(),
            device: None,
            text,
            evidence: Vec::new(),
        });
    }
    let rank = |tone: &str| ["bad", "neutral", "good"].iter().position(|known| *known == tone).unwrap_or(3);
    found.sort_by_key(|verdict| rank(&verdict.tone));
    found
}

/// No bulk transfer could be looked into.
fn nothing_to_look_into(report: &Report) -> String {
    let (mut transfers, mut bytes) = (0, 0);
    for endpoint in without_data(report) {
        transfers += with_bytes(endpoint);
        bytes += endpoint.bytes;
    }
    if transfers == 0 {
        return "No bulk transfer with data is in this capture, so there is nothing to say about aggregation."
            .to_owned();
    }
    format!(
        "The data of no bulk transfer is in this capture ({} with {} without it), so there is nothing to say about aggregation.",
        counted(transfers, "transfer"),
        counted(bytes, "byte")
    )
}

/// Whether the framing of a row is what its endpoint carries: half of the endpoint's transfers or more carry datagrams, and
/// at most one in four of the row's breaks the rules of the framing. As [`crate::endpoint::Endpoint::is_steady`], in the
/// window.
fn is_steady(report: &Report, row: &Traffic) -> bool {
    let same = || report.traffic.iter().filter(|other| other.device == row.device && other.endpoint == row.endpoint);
    let all: u64 = same().map(|other| other.transfers).sum();
    let network = same().filter(|other| !matches!(other.framing.as_str(), "other" | "mass-storage"));
    let network: u64 = network.map(|other| other.transfers).sum();
    !matches!(row.framing.as_str(), "qmap" | "raw-ip" | "ethernet")
        || (network * 2 >= all && row.faulty_transfers * 4 <= row.transfers)
}

/// `uplink` or `downlink`.
fn way(direction: &str) -> &'static str {
    if direction == "out" {
        "uplink"
    } else {
        "downlink"
    }
}

fn framing_name(framing: &str) -> &str {
    match framing {
        "qmap" => "QMAP",
        "raw-ip" => "raw IP",
        "ntb16" => "NTB-16",
        "ntb32" => "NTB-32",
        "rndis" => "RNDIS",
        "ethernet" => "Ethernet",
        "realtek" => "Realtek descriptors",
        other => other,
    }
}

/// Records of an endpoint that are missing in the capture, more than one in twenty of their kind.
struct Missing {
    /// The rate is a lower bound, and whether it is that of submissions.
    is_bound: bool,
    is_handed_over: bool,
    evidence: String,
}

fn missing(report: &Report, row: &Traffic, endpoint: &Endpoint) -> Option<Missing> {
    let (requests, completions) = (endpoint.submissions, endpoint.completions);
    let is_out = row.direction == "out";
    if completions == 0 {
        let were = if requests == 1 { "was" } else { "were" };
        let requests = counted(requests, "request");
        let evidence = format!("{requests} {were} made on this endpoint, and no completion of it is in the capture");
        return Some(Missing { is_bound: false, is_handed_over: is_out, evidence });
    }
    let is_many = |lost: u64, kept: u64| lost > kept / MANY_MISSING;
    let same = report.traffic.iter().filter(|r| r.device == row.device && r.endpoint == row.endpoint);
    let is_one_framing = same.map(|r| r.transfers).sum::<u64>() == row.transfers;
    let (lost_submissions, lost_completions) =
        (endpoint.lost_submissions.unwrap_or(0), endpoint.lost_completions.unwrap_or(0));
    let lacks_submissions = is_out && is_many(lost_submissions, requests);
    let lacks_completions = is_many(lost_completions, completions);
    if !lacks_submissions && !lacks_completions {
        return without_submission(endpoint, is_out, is_one_framing);
    }
    // Of transfers to the device either kind of record has a rate.
    let is_handed_over = is_out && lost_completions > lost_submissions;
    let is_bound = if is_handed_over { lacks_submissions } else { lacks_completions || !is_one_framing };
    let rate = match (is_bound, is_handed_over) {
        (true, _) => "the rate is a lower bound",
        (false, true) => "the rate is that of the submissions",
        (false, false) => "the rate is that of the completions",
    };
    let lost = |count: u64, one: &str| (count > 0).then(|| counted(count, one));
    let lost: Vec<String> =
        [lost(lost_submissions, "submission"), lost(lost_completions, "completion")].into_iter().flatten().collect();
    let are = if lost_submissions + lost_completions == 1 { "is" } else { "are" };
    let counted_in = if lacks_submissions { "; datagrams are counted where the data is there" } else { "" };
    let evidence = format!(
        "{} and {} of this endpoint are in the capture, and at least {} {are} missing: {rate}{counted_in}",
        counted(requests, "submission"),
        counted(completions, "completion"),
        lost.join(" and ")
    );
    Some(Missing { is_bound, is_handed_over, evidence })
}

/// Transfers to the device that were handed over before the capture: their data stand with their submissions.
fn without_submission(endpoint: &Endpoint, is_out: bool, is_one_framing: bool) -> Option<Missing> {
    let (unmatched, completions) = (endpoint.unmatched_completions.unwrap_or(0), endpoint.completions);
    (is_out && unmatched > completions.saturating_sub(unmatched) / MANY_MISSING).then(|| Missing {
        is_bound: !is_one_framing,
        is_handed_over: false,
        evidence: format!(
            "{} completed on this endpoint, {} of them without the submission, which has the data, in the capture: {}",
            counted(completions, "transfer"),
            figure(unmatched),
            if is_one_framing { "datagrams are counted in the others" } else { "the rate is a lower bound" }
        ),
    })
}

/// `, 1,116 URB/s (busiest second 1,200)`: of completions, or of what was handed over where completions are missing.
fn rate(row: &Traffic, missing: Option<&Missing>, unit: &str) -> String {
    let bound = if missing.is_some_and(|missing| missing.is_bound) { "at least " } else { "" };
    if missing.is_some_and(|missing| missing.is_handed_over) {
        return row
            .handed_over_per_s
            .map_or_else(String::new, |mean| format!(", {bound}{} {unit}/s handed over", thousands(mean)));
    }
    match (row.per_s, row.peak_per_s) {
        (Some(mean), Some(peak)) => {
            format!(", {bound}{} {unit}/s (busiest second {bound}{})", thousands(mean), thousands(peak))
        }
        (Some(mean), None) => format!(", {bound}{} {unit}/s", thousands(mean)),
        _ => String::new(),
    }
}

fn aggregation(report: &Report, device: &Device, row: &Traffic) -> Option<Verdict> {
    let unit = unit(report);
    let can = matches!(row.framing.as_str(), "qmap" | "ntb16" | "ntb32" | "rndis");
    let one_each = matches!(row.framing.as_str(), "raw-ip" | "ethernet");
    let (way, framing) = (way(&row.direction), framing_name(&row.framing));
    let seen = |e: &&Endpoint| e.device == row.device && e.address == row.endpoint && e.transfer == "bulk";
    let endpoint = report.endpoints.iter().find(seen)?;
    let missing = missing(report, row, endpoint);
    let rate = rate(row, missing.as_ref(), unit);
    let mut evidence = vec![format!(
        "{} on endpoint {} ({}), {}{}{}",
        counted(row.transfers, "transfer"),
        row.endpoint,
        counted(row.bytes, "byte"),
        if row.cut_transfers.unwrap_or(0) > 0 { "at least " } else { "" },
        counted(row.datagrams_at_least, "datagram"),
        match row.cut_transfers.unwrap_or(0) {
            0 => String::new(),
            1 => "; 1 transfer is cut in the capture".to_owned(),
            cut => format!("; {} are cut in the capture", counted(cut, "transfer")),
        },
    )];
    if let (Some(share), "out") = (row.ack_only_share, row.direction.as_str()) {
        evidence.push(format!(
            "{} of the {way} transfers carry nothing but TCP acknowledgements ({} of {})",
            percent(share),
            figure(row.ack_only_transfers),
            figure(row.judged_transfers)
        ));
    }
    evidence.extend(missing.map(|missing| missing.evidence));
    if let Some(share) = row.padding_share.filter(|share| *share >= 0.05) {
        evidence.push(format!("{} of the bytes are padding", percent(share)));
    }
    let mean = row.at_least_per_transfer?;
    let least = if row.cut_transfers.unwrap_or(0) > 0 { "at least " } else { "" };
    if one_each {
        let text =
            format!("{} is {framing}: one datagram per {unit}{rate}. The framing has no aggregation.", capital(way));
        return Some(verdict(&format!("{way}-one-each"), "neutral", device, text, evidence));
    }
    if row.framing == "realtek" {
        let text = format!("{} is 802.11 frames with {framing}: {least}{mean:.1} per {unit}{rate}.", capital(way));
        return Some(verdict(&format!("{way}-frames"), "neutral", device, text, evidence));
    }
    if !can {
        return None;
    }
    if mean < NOT_AGGREGATED && row.cut_transfers.unwrap_or(0) * 10 < row.transfers {
        let tone = if way == "uplink" { "bad" } else { "neutral" };
        let text = format!("{} is not aggregated: {mean:.1} datagram per {unit} ({framing}){rate}.", capital(way));
        return Some(verdict(&format!("{way}-not-aggregated"), tone, device, text, evidence));
    }
    if row.most_datagrams <= 1 && row.cut_transfers.unwrap_or(0) == 0 {
        return None;
    }
    let text = format!("{} is aggregated: {least}{mean:.1} datagrams per {unit} ({framing}){rate}.", capital(way));
    Some(verdict(&format!("{way}-aggregated"), "good", device, text, evidence))
}

/// A modem that takes IP packets is fed Ethernet frames.
fn misuse(device: &Device, traffic: &[&Traffic], endpoints: &[&Endpoint]) -> Option<Verdict> {
    let row = traffic.iter().find(|row| row.direction == "out" && row.framing == "ethernet")?;
    let is_ethernet_device = matches!(device.kind.as_str(), "ncm" | "rndis")
        || device.kind_by == "both"
        || (device.kind == "ecm" && device.kind_by == "descriptor");
    if row.transfers < ENOUGH_MISUSE || (is_ethernet_device && device.kind != "qmi") {
        return None;
    }
    let bulk_in: u64 = endpoints.iter().filter(|e| e.direction == "in" && e.transfer == "bulk").map(|e| e.bytes).sum();
    let answers_in_ip =
        traffic.iter().any(|row| row.direction == "in" && matches!(row.framing.as_str(), "raw-ip" | "qmap"));
    let to_nobody = row.same_address_transfers == row.transfers;
    if !(answers_in_ip || (bulk_in == 0 && (to_nobody || device.kind == "qmi"))) {
        return None;
    }
    let is_asked = endpoints.iter().any(|e| e.direction == "in" && e.transfer == "bulk" && e.submissions > 0);
    let nothing = if is_asked {
        "nothing came back on any bulk IN endpoint"
    } else {
        "no request to a bulk IN endpoint is in this capture, so what came back is not known"
    };
    let mut evidence = vec![format!(
        "endpoint {}: {}, the first of {} bytes: an Ethernet header of 14 bytes, then an IP packet of {}",
        row.endpoint,
        counted(row.transfers, "transfer"),
        row.first_transfer_bytes,
        row.first_transfer_bytes.saturating_sub(14)
    )];
    if to_nobody {
        evidence.push("each frame goes to the address that it comes from: no Ethernet peer is behind".to_owned());
    }
    evidence.push(if answers_in_ip {
        "what comes back is IP without an Ethernet header".to_owned()
    } else {
        nothing.to_owned()
    });
    let text = format!(
        "{} modem fed with Ethernet frames: the host sends IP packets behind a 14-byte Ethernet header, which a \
         modem in raw-IP mode does not understand{}. Set the driver to raw IP (for qmi_wwan: write Y to \
         /sys/class/net/INTERFACE/qmi/raw_ip while it is down), or the modem to 802.3.",
        if answers_in_ip { "Raw-IP" } else { "Perhaps a raw-IP" },
        match (answers_in_ip, is_asked) {
            (true, _) => "; it answers in bare IP",
            (false, true) => "; nothing came back in this capture",
            (false, false) => "; what it answers is not in this capture",
        }
    );
    Some(verdict("raw-ip-misuse", "bad", device, text, evidence))
}

fn faults(report: &Report, device: &Device, traffic: &[&Traffic]) -> Option<Verdict> {
    let rows: Vec<&&Traffic> = traffic.iter().filter(|row| row.faulty_transfers > 0).collect();
    let faulty: u64 = rows.iter().map(|row| row.faulty_transfers).sum();
    let missing: u64 = traffic.iter().filter_map(|row| row.missing_blocks).sum();
    if faulty == 0 && missing == 0 {
        return None;
    }
    let transfers: u64 = rows.iter().map(|row| row.transfers).sum();
    let mut evidence: Vec<String> = rows.iter().flat_map(|row| row.fault_examples.iter().cloned()).collect();
    if missing > 0 {
        evidence.push(format!(
            "{} {} missing by sequence number",
            counted(missing, "block"),
            if missing == 1 { "is" } else { "are" }
        ));
    }
    let summary = &report.summary;
    let lost =
        summary.lost_submissions.unwrap_or(0) + summary.lost_completions + summary.dropped_by_capture.unwrap_or(0);
    let lossy = lost > missing / 4;
    let text = if faulty > 0 {
        format!(
            "{} of {} {} the rules of their framing.",
            figure(faulty),
            counted(transfers, "transfer"),
            if faulty == 1 { "breaks" } else { "break" }
        )
    } else if lossy {
        "Blocks are missing by their sequence numbers. The capture itself lost records, so they may just not be in it."
            .to_owned()
    } else {
        "Blocks are missing by their sequence numbers, although the capture has both ends of nearly all requests: their \
         sender skipped the numbers, or they were lost on the way."
            .to_owned()
    };
    let tone = if faulty == 0 && lossy { "neutral" } else { "bad" };
    Some(verdict(if faulty > 0 { "framing-faults" } else { "missing-blocks" }, tone, device, text, evidence))
}

fn errors(device: &Device, endpoints: &[&Endpoint]) -> Option<Verdict> {
    // A stall is how a device says that it does not know a control request, and how mass storage ends a command early; a
    // device that leaves ends all requests.
    let is_fault = |endpoint: &Endpoint, name: &str| {
        !matches!(
            name,
            "success"
                | "not recorded"
                | "ENOENT"
                | "ECONNRESET"
                | "ESHUTDOWN"
                | "ENODEV"
                | "EREMOTEIO"
                | "USBD_STATUS_SUCCESS"
                | "USBD_STATUS_CANCELED"
                | "USBD_STATUS_DEVICE_GONE"
        ) && !(matches!(name, "EPIPE" | "USBD_STATUS_STALL_PID")
            && (endpoint.transfer == "control" || device.kind == "mass-storage"))
    };
    let mut evidence = Vec::new();
    let mut count = 0;
    for endpoint in endpoints {
        for status in endpoint.statuses.iter().filter(|status| is_fault(endpoint, &status.name)) {
            count += status.count;
            evidence.push(format!(
                "endpoint {} ({} {}): {} {} ({}), {}",
                endpoint.address,
                endpoint.transfer,
                endpoint.direction,
                counted(status.count, "time"),
                status.name,
                status.code,
                status.meaning
            ));
        }
    }
    let others = endpoints.iter().map(|endpoint| endpoint.errors).sum::<u64>().saturating_sub(count);
    if others > 0 {
        evidence.push(format!(
            "{} more did not succeed, which is no fault: a stall that says no to a request, or a device that left",
            figure(others)
        ));
    }
    (count > 0).then(|| {
        let text = format!(
            "{} of {} of device {} ({}) ended with an error.",
            figure(count),
            counted(device.completions, "completed request"),
            device.name,
            device.kind_name
        );
        let tone = if count * 1000 < device.completions { "neutral" } else { "bad" };
        verdict("errors", tone, device, text, evidence)
    })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
