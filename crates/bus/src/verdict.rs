//! What the figures mean, in words.

use sentence::{one_or, sentence, Figure, Sentence};

use crate::conclusion::{part, unit, verdict, with_bytes, without_data};
use crate::report::{self, Device, Endpoint, Report, Traffic, Verdict};
use crate::sdio;

/// Transfers below which nothing is concluded about aggregation.
const ENOUGH: u64 = 20;
/// Datagrams per transfer below which transfers are not aggregated.
const NOT_AGGREGATED: f64 = 1.1;
/// Many records are missing when more than one in this many is.
const MANY_MISSING: u64 = 20;
/// Bytes of an Ethernet header (IEEE 802.3 clause 3.2).
const ETHERNET: u64 = 14;
/// Ethernet frames below which nothing is concluded about a wrong framing.
const ENOUGH_MISUSE: u64 = 2;

/// All conclusions, the most important first.
pub(crate) fn verdicts(report: &Report) -> Vec<Verdict> {
    let summary = &report.summary;
    if report.records + summary.other_requests == 0 {
        let unreadable = summary.unreadable;
        if unreadable > 0 {
            let text = sentence!(
                "{none} of {records} could be read, so nothing is known of the transfers.",
                none = Figure::said(0.0, "record", unreadable, "None"),
                records = Figure::all(unreadable, "record")
            );
            return vec![Verdict::new("nothing-readable", "bad", None, text, Vec::new())];
        }
        let of = summary.window.as_ref().map_or(0, |window| window.records_before + window.records_after);
        let text = sentence!(
            "{nothing} was recorded in the {part}, so there is no verdict on it.",
            nothing = Figure::said(0.0, "record", of, "Nothing");
            part = part(report)
        );
        return vec![Verdict::new("nothing-recorded", "neutral", None, text, Vec::new())];
    }
    let mut found = Vec::new();
    for device in &report.devices {
        let mine = report.traffic.iter().filter(|row| row.device == device.name);
        let traffic: Vec<&Traffic> = mine.filter(|row| is_steady(report, row)).collect();
        let endpoints: Vec<&Endpoint> = report.endpoints.iter().filter(|row| row.device == device.name).collect();
        found.extend(misuse(report, device, &traffic, &endpoints));
        for row in traffic.iter().filter(|row| row.transfers >= ENOUGH) {
            found.extend(aggregation(report, device, row));
        }
        found.extend(crate::agreement::agreements(report, device));
        found.extend(faults(report, device, &traffic));
        found.extend(errors(device, &endpoints));
    }
    found.extend(sdio::verdicts(report));
    if found.is_empty() && !report.traffic.iter().any(Traffic::is_network) {
        found.push(Verdict::new("no-network", "neutral", None, nothing_recognised(report), Vec::new()));
    }
    let rank = |tone: &str| ["bad", "neutral", "good"].iter().position(|known| *known == tone).unwrap_or(3);
    found.sort_by_key(|verdict| rank(&verdict.tone));
    found
}

/// No bulk transfer carries network traffic, or none could be looked into.
fn nothing_recognised(report: &Report) -> Sentence {
    let seen: u64 = report.traffic.iter().map(|row| row.transfers).sum();
    if seen > 0 {
        let transfers = match seen {
            1 => Figure::said(1.0, "count", 1, "the one bulk transfer"),
            n => Figure::all(n, "bulk transfer"),
        };
        return sentence!(
            "No network traffic was recognised in {transfers} with data{here}, so there is nothing to say about aggregation.",
            transfers = transfers;
            here = if report.summary.window.is_some() { " in this window" } else { "" }
        );
    }
    let (mut transfers, mut bytes) = (0, 0);
    for endpoint in without_data(report) {
        transfers += with_bytes(endpoint);
        bytes += endpoint.bytes.unwrap_or(0);
    }
    if transfers == 0 {
        return sentence!(
            "{no} bulk transfer with data is in this {part}, so there is nothing to say about aggregation.",
            no = Figure::said(0.0, "count", report.summary.completions, "No");
            part = part(report)
        );
    }
    sentence!(
        "The data of no bulk transfer is in this capture ({without} with {bytes} without it), so there is nothing to say about \
         aggregation.",
        without = Figure::all(transfers, "transfer"),
        bytes = Figure::all(bytes, "byte")
    )
}

/// Whether the framing of a row is what its endpoint carries: half of the endpoint's transfers or more carry datagrams, and
/// at most one in four of the row's breaks the rules of the framing. As [`crate::endpoint::Endpoint::is_steady`], in the
/// window.
fn is_steady(report: &Report, row: &Traffic) -> bool {
    let same = || report.traffic.iter().filter(|other| other.device == row.device && other.endpoint == row.endpoint);
    let all: u64 = same().map(|other| other.transfers).sum();
    let network = same().filter(|other| other.is_network());
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

/// Records of an endpoint that are missing in the capture.
struct Missing {
    /// The rate is a lower bound, and whether it is that of submissions.
    is_bound: bool,
    is_handed_over: bool,
    evidence: Sentence,
}

fn missing(report: &Report, row: &Traffic, endpoint: &Endpoint) -> Option<Missing> {
    let (requests, completions) = (endpoint.submissions, endpoint.completions);
    let is_out = row.direction == "out";
    let summary = &report.summary;
    let dropped = summary.dropped_by_capture.unwrap_or(0);
    if completions > 0 && dropped > 0 {
        let all = report.records + dropped;
        let evidence = sentence!(
            "{dropped} of {all} records {were} dropped while capturing, by the capture's own count: the rate is a lower bound",
            dropped = Figure::count(dropped, all),
            all = Figure::total(all);
            were = one_or(dropped, "was", "were")
        );
        return Some(Missing { is_bound: true, is_handed_over: false, evidence });
    }
    if completions == 0 {
        let evidence = sentence!(
            "{requests} {were} made on this endpoint, and {no} completion of it is in the {part}",
            requests = Figure::all(requests, "request"),
            no = Figure::said(0.0, "count", requests, "no");
            were = if requests == 1 { "was" } else { "were" },
            part = part(report)
        );
        return Some(Missing { is_bound: false, is_handed_over: is_out, evidence });
    }
    let is_many = |lost: u64, kept: u64| lost > kept / MANY_MISSING;
    let same = report.traffic.iter().filter(|r| r.device == row.device && r.endpoint == row.endpoint);
    let is_one_framing = same.map(|r| r.transfers).sum::<u64>() == row.transfers;
    let (lost_submissions, lost_completions) =
        (endpoint.lost_submissions.unwrap_or(0), endpoint.lost_completions.unwrap_or(0));
    let lacks_submissions = is_out && is_many(lost_submissions, requests);
    if !lacks_submissions && lost_completions == 0 {
        return without_submission(row, endpoint, is_out, is_one_framing);
    }
    // Of transfers to the device either kind of record has a rate.
    let is_handed_over = is_out && is_many(lost_completions, completions) && lost_completions > lost_submissions;
    let is_bound = if is_handed_over { lost_submissions > 0 } else { lost_completions > 0 || !is_one_framing };
    let rate = match (is_bound, is_handed_over) {
        (true, _) => "the rate is a lower bound",
        (false, true) => "the rate is that of the submissions",
        (false, false) => "the rate is that of the completions",
    };
    let lost = |count: u64, kept: u64, one: &str| {
        (count > 0).then(|| sentence!("{lost}", lost = Figure::counted(count, count + kept, one)))
    };
    let lost = match (lost(lost_submissions, requests, "submission"), lost(lost_completions, completions, "completion"))
    {
        (Some(submissions), Some(completions)) => submissions.and(" and ", completions),
        (one, other) => one.or(other)?,
    };
    let are = if lost_submissions + lost_completions == 1 { "is" } else { "are" };
    let counted_in = if lacks_submissions { "; datagrams are counted where the data is there" } else { "" };
    let evidence = sentence!(
        "{submissions} and {completions} of this endpoint are in the {part}, and at least ",
        submissions = Figure::all(requests, "submission"),
        completions = Figure::all(completions, "completion");
        part = part(report)
    );
    let evidence = evidence.and("", lost).with(&format!(" {are} missing: {rate}{counted_in}"));
    Some(Missing { is_bound, is_handed_over, evidence })
}

/// Transfers to the device that were handed over before the capture: their data stand with their submissions.
fn without_submission(row: &Traffic, endpoint: &Endpoint, is_out: bool, is_one_framing: bool) -> Option<Missing> {
    let (unmatched, completions) = (endpoint.unmatched_completions.unwrap_or(0), endpoint.completions);
    (is_out && unmatched > completions.saturating_sub(unmatched) / MANY_MISSING).then(|| Missing {
        is_bound: !is_one_framing,
        is_handed_over: false,
        evidence: sentence!(
            "{completed} completed on this endpoint, {unmatched} of them without a submission that belongs to them, which has the \
             data: datagrams are those of {transfers} in the capture{bound}",
            completed = Figure::all(completions, "transfer"),
            unmatched = Figure::count(unmatched, completions),
            transfers = Figure::all(row.transfers, "submission");
            bound = if is_one_framing { "" } else { ", and the rate is a lower bound" }
        ),
    })
}

/// `, 1,116 URB/s (busiest second 1,200)`: of completions, or of what was handed over where completions are missing.
fn rate(row: &Traffic, missing: Option<&Missing>, unit: &str) -> Option<Sentence> {
    let bound = if missing.is_some_and(|missing| missing.is_bound) { "at least " } else { "" };
    let per_s = |rate: f64| Figure::rounded(rate, "per second", row.transfers);
    if missing.is_some_and(|missing| missing.is_handed_over) {
        let mean = row.handed_over_per_s?;
        return Some(sentence!(", {bound}{mean} {unit}/s handed over", mean = per_s(mean); bound = bound, unit = unit));
    }
    let mean = sentence!(", {bound}{mean} {unit}/s", mean = per_s(row.per_s?); bound = bound, unit = unit);
    let peak =
        row.peak_per_s.map(|peak| sentence!(" (busiest second {bound}{peak})", peak = per_s(peak); bound = bound));
    Some(joined(mean, peak))
}

/// A sentence with what else there is to it.
fn joined(said: Sentence, more: Option<Sentence>) -> Sentence {
    match more {
        Some(more) => said.and("", more),
        None => said,
    }
}

/// How many datagrams a transfer of one direction carries.
fn aggregation(report: &Report, device: &Device, row: &Traffic) -> Option<Verdict> {
    let seen = |e: &&Endpoint| e.device == row.device && e.address == row.endpoint && e.transfer == "bulk";
    let endpoint = report.endpoints.iter().find(seen)?;
    let missing = missing(report, row, endpoint);
    let rate = rate(row, missing.as_ref(), unit(report));
    let mean = row.at_least_per_transfer?;
    let kept = row.transfers.saturating_sub(row.faulty_transfers);
    let mut evidence = aggregation_evidence(row, missing);
    if row.faulty_transfers > 0 {
        let break_ = if row.faulty_transfers == 1 { "breaks" } else { "break" };
        evidence.push(sentence!(
            "{faulty} of them {break_} the rules of the framing, so the mean is of {kept}",
            faulty = Figure::count(row.faulty_transfers, row.transfers),
            kept = Figure::count(kept, row.transfers);
            break_ = break_
        ));
    }
    let said = said_of_aggregation(row, unit(report), mean, kept)?;
    let code = format!("{}-{}", way(&row.direction), said.code);
    Some(verdict(&code, said.tone, device, joined(said.sentence, rate).with(said.end), evidence))
}

/// What the counts of a direction are.
fn aggregation_evidence(row: &Traffic, missing: Option<Missing>) -> Vec<Sentence> {
    let (cut, transfers) = (row.cut_transfers.unwrap_or(0), row.transfers);
    let what = sentence!(
        "{transfers} on endpoint {endpoint} ({bytes}), {least}{datagrams}",
        transfers = Figure::all(transfers, "transfer"),
        bytes = Figure::all(row.bytes, "byte"),
        datagrams = Figure::all(row.datagrams_at_least, "datagram");
        endpoint = row.endpoint,
        least = if cut > 0 { "at least " } else { "" }
    );
    let cut_away = (cut > 0).then(|| {
        let are = if cut == 1 { "is" } else { "are" };
        sentence!("; {cut} {are} cut in the capture", cut = Figure::counted(cut, transfers, "transfer"); are = are)
    });
    let mut evidence = vec![joined(what, cut_away)];
    if let (Some(share), "out") = (row.ack_only_share, row.direction.as_str()) {
        evidence.push(sentence!(
            "{share} of the {way} transfers{of_known} carry nothing but TCP acknowledgements ({acks} of {judged})",
            share = Figure::share(share, row.judged_transfers, 0),
            acks = Figure::count(row.ack_only_transfers, row.judged_transfers),
            judged = Figure::total(row.judged_transfers);
            of_known = if row.judged_transfers < transfers { " with known payloads" } else { "" },
            way = way(&row.direction)
        ));
    }
    evidence.extend(missing.map(|missing| missing.evidence));
    if let Some(counted) = row.counted_by_table.filter(|counted| *counted > 0) {
        evidence.push(sentence!(
            "datagrams of {counted} are counted by {by}",
            counted = Figure::counted(counted, transfers, "transfer");
            by = if row.framing == "realtek" {
                "the number of packets in the first descriptor, as the capture cut the others"
            } else {
                "the length of a pointer table that the capture cut"
            }
        ));
    }
    if let Some(share) = row.padding_share.filter(|share| *share >= 0.05) {
        // Of transfers with all datagrams known.
        let bytes = row.payload_bytes + row.header_bytes + row.padding_bytes;
        evidence.push(sentence!(
            "{padding} of the bytes{whole} are padding",
            padding = Figure::share(share, bytes, 0);
            whole = if row.whole_transfers < transfers { " of whole transfers" } else { "" }
        ));
    }
    evidence
}

/// A conclusion about a direction, without its rate and evidence.
struct Said {
    code: &'static str,
    tone: &'static str,
    sentence: Sentence,
    end: &'static str,
}

/// The conclusion from `mean` datagrams in each of `kept` transfers.
fn said_of_aggregation(row: &Traffic, unit: &str, mean: f64, kept: u64) -> Option<Said> {
    let (way, framing) = (way(&row.direction), framing_name(&row.framing));
    let upper = capital(way);
    let (cut, transfers) = (row.cut_transfers.unwrap_or(0), row.transfers);
    let least = if cut > 0 { "at least " } else { "" };
    let each = Figure::of(mean, "datagrams/transfer", kept, 1);
    match row.framing.as_str() {
        "raw-ip" | "ethernet" => {
            let sentence = sentence!(
                "{way} is {framing}: {one} datagram per {unit}",
                one = Figure::said(mean, "datagrams/transfer", kept, "one");
                way = upper,
                framing = framing,
                unit = unit
            );
            let end = ". The framing has no aggregation.";
            return Some(Said { code: "one-each", tone: "neutral", sentence, end });
        }
        "realtek" => {
            let sentence = sentence!(
                "{way} is 802.11 frames with {framing}: {least}{mean} per {unit}",
                mean = each;
                way = upper,
                framing = framing,
                least = least,
                unit = unit
            );
            return Some(Said { code: "frames", tone: "neutral", sentence, end: "." });
        }
        "qmap" | "ntb16" | "ntb32" | "rndis" => {}
        _ => return None,
    }
    let is_few = |per_transfer: f64| per_transfer < NOT_AGGREGATED;
    if is_few(mean) && cut > 0 && !row.at_most_per_transfer.is_some_and(is_few) {
        let sentence = sentence!(
            "Whether the {way} is aggregated can't be determined, because {cut} of {transfers} {are} cut in the capture: at least {mean} \
             datagrams per {unit} ({framing})",
            cut = Figure::count(cut, transfers),
            transfers = Figure::all(transfers, "transfer"),
            mean = each;
            way = way,
            unit = unit,
            framing = framing,
            are = one_or(cut, "is", "are")
        );
        return Some(Said { code: "aggregation-unknown", tone: "neutral", sentence, end: "." });
    }
    if is_few(mean) {
        let sentence = sentence!(
            "{way} is not aggregated: {least}{mean} datagram per {unit} ({framing})",
            mean = each;
            way = upper,
            least = least,
            unit = unit,
            framing = framing
        );
        let tone = if way == "uplink" { "bad" } else { "neutral" };
        return Some(Said { code: "not-aggregated", tone, sentence, end: "." });
    }
    if row.most_datagrams <= 1 && cut == 0 {
        return None;
    }
    let sentence = sentence!(
        "{way} is aggregated: {least}{mean} datagrams per {unit} ({framing})",
        mean = each;
        way = upper,
        least = least,
        unit = unit,
        framing = framing
    );
    Some(Said { code: "aggregated", tone: "good", sentence, end: "." })
}

/// A modem that takes IP packets is fed Ethernet frames.
fn misuse(report: &Report, device: &Device, traffic: &[&Traffic], endpoints: &[&Endpoint]) -> Option<Verdict> {
    let row = traffic.iter().find(|row| row.direction == "out" && row.framing == "ethernet")?;
    let is_ethernet_device = matches!(device.kind.as_str(), "ncm" | "rndis")
        || device.kind_by == "both"
        || (device.kind == "ecm" && device.kind_by == "descriptor");
    if row.transfers < ENOUGH_MISUSE || (is_ethernet_device && device.kind != "qmi") {
        return None;
    }
    let bulk_in: u64 =
        endpoints.iter().filter(|e| e.direction == "in" && e.transfer == "bulk").filter_map(|e| e.bytes).sum();
    let is_ip = |row: &Traffic| matches!(row.framing.as_str(), "raw-ip" | "qmap");
    let carried = |direction: &str, is_one: &dyn Fn(&Traffic) -> bool| -> u64 {
        let rows = traffic.iter().filter(|row| row.direction == direction && is_one(row));
        rows.map(|row| row.transfers).sum()
    };
    // A few at the start may precede the driver's configuration, and a few among many may look like it by accident.
    if row.transfers * 2 <= carried("out", &Traffic::is_network) {
        return None;
    }
    let answers_in_ip = carried("in", &is_ip) * 2 > carried("in", &Traffic::is_network);
    let to_nobody = row.same_address_transfers == row.transfers;
    if !(answers_in_ip || (bulk_in == 0 && (to_nobody || device.kind == "qmi"))) {
        return None;
    }
    let asked = endpoints.iter().filter(|e| e.direction == "in" && e.transfer == "bulk").map(|e| e.submissions).sum();
    let is_asked = asked > 0;
    let transfers = row.transfers;
    let mut evidence = vec![sentence!(
        "endpoint {endpoint}: {transfers}, the first of {bytes} bytes: an Ethernet header of 14 bytes, then an IP packet of {packet}",
        transfers = Figure::all(transfers, "transfer"),
        bytes = Figure::of(row.first_transfer_bytes as f64, "bytes", 1, 0),
        packet = Figure::of(row.first_transfer_bytes.saturating_sub(ETHERNET) as f64, "bytes", 1, 0);
        endpoint = row.endpoint
    )];
    if to_nobody {
        evidence.push(sentence!(
            "{each} frame goes to the address that it comes from: no Ethernet peer is behind",
            each = Figure::said(row.same_address_transfers as f64, "count", transfers, "each")
        ));
    }
    evidence.push(if answers_in_ip {
        let in_ip = carried("in", &is_ip);
        sentence!("what comes back is IP without an Ethernet header ({back})", back = Figure::all(in_ip, "transfer"))
    } else if is_asked {
        let nothing = Figure::said(0.0, "bytes", asked, "nothing");
        sentence!("{nothing} came back on any bulk IN endpoint", nothing = nothing)
    } else {
        let requests = endpoints.iter().map(|e| e.submissions).sum();
        sentence!(
            "{no} request to a bulk IN endpoint is in this {part}, so what came back is not known",
            no = Figure::said(0.0, "count", requests, "no");
            part = part(report)
        )
    });
    let text = sentence!(
        "{a} modem fed with Ethernet frames: the host sends IP packets behind a {header}-byte Ethernet header, which a \
         modem in raw-IP mode does not understand{back}. Set the driver to raw IP (for qmi_wwan: write Y to \
         /sys/class/net/INTERFACE/qmi/raw_ip while it is down), or the modem to 802.3.",
        header = Figure::of(ETHERNET as f64, "bytes", transfers, 0);
        a = if answers_in_ip { "Raw-IP" } else { "Perhaps a raw-IP" },
        back = match (answers_in_ip, is_asked) {
            (true, _) => "; it answers in bare IP".to_owned(),
            (false, true) => format!("; nothing came back in this {}", part(report)),
            (false, false) => format!("; what it answers is not in this {}", part(report)),
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
    let examples: Vec<String> = rows.iter().flat_map(|row| row.fault_examples.iter().cloned()).collect();
    let blocks = sentence!(
        "{blocks} {are} missing by sequence number",
        blocks = Figure::all(missing, "block");
        are = if missing == 1 { "is" } else { "are" }
    );
    if faulty > 0 {
        let text = sentence!(
            "{faulty} of {transfers} {go} the rules of their framing.",
            faulty = Figure::count(faulty, transfers),
            transfers = Figure::all(transfers, "transfer");
            go = if faulty == 1 { "breaks" } else { "break" }
        );
        let evidence = if missing > 0 { vec![blocks] } else { Vec::new() };
        return Some(verdict("framing-faults", "bad", device, text, evidence).quoting(examples));
    }
    let summary = &report.summary;
    let lost =
        summary.lost_submissions.unwrap_or(0) + summary.lost_completions + summary.dropped_by_capture.unwrap_or(0);
    let (tone, why) = if lost > missing / 4 {
        ("neutral", ". The capture itself lost records, so they may just not be in it.")
    } else if summary.dropped_by_capture == Some(0) {
        let why = ", although no record was dropped while capturing: their sender skipped the numbers, they were lost on the way, or \
                   both ends of their requests were taken out of the file.";
        ("bad", why)
    } else {
        let why = ". Their sender skipped the numbers, they were lost on the way, or the capture lacks both ends of their requests: \
                   which it was can't be determined, because the file does not record how many were dropped.";
        ("neutral", why)
    };
    Some(verdict("missing-blocks", tone, device, blocks.with(why), Vec::new()))
}

fn errors(device: &Device, endpoints: &[&Endpoint]) -> Option<Verdict> {
    // A stall is how a device says that it does not know a control request, and how mass storage ends a command early; a
    // device that leaves ends all requests.
    let is_end = |name: &str| {
        matches!(
            name,
            "success" | "not recorded" | "ENOENT" | "ECONNRESET" | "USBD_STATUS_SUCCESS" | "USBD_STATUS_CANCELED"
        )
    };
    let is_fault = |endpoint: &Endpoint, name: &str| {
        !is_end(name)
            && !matches!(name, "ESHUTDOWN" | "ENODEV" | "EREMOTEIO" | "USBD_STATUS_DEVICE_GONE")
            && !(matches!(name, "EPIPE" | "USBD_STATUS_STALL_PID")
                && (endpoint.transfer == "control" || device.kind == "mass-storage"))
    };
    let mut evidence = Vec::new();
    let mut count = 0;
    // By status, what is no fault.
    let mut others: Vec<(&report::StatusCount, u64)> = Vec::new();
    for endpoint in endpoints {
        for status in &endpoint.statuses {
            if is_end(&status.name) || is_fault(endpoint, &status.name) {
                continue;
            }
            match others.iter_mut().find(|(known, _)| known.code == status.code) {
                Some((_, sum)) => *sum += status.count,
                None => others.push((status, status.count)),
            }
        }
        for status in endpoint.statuses.iter().filter(|status| is_fault(endpoint, &status.name)) {
            count += status.count;
            evidence.push(sentence!(
                "endpoint {address} ({transfer} {direction}): {times} {status} ({code}), {meaning}",
                times = Figure::counted(status.count, endpoint.completions, "time");
                address = endpoint.address,
                transfer = endpoint.transfer,
                direction = endpoint.direction,
                status = status.name,
                code = status.code,
                meaning = status.meaning
            ));
        }
    }
    for (status, others) in others {
        evidence.push(sentence!(
            "{others} more did not succeed, which {are} not counted as {errors}: {status} ({code}), {meaning}",
            others = Figure::count(others, device.completions);
            are = if others == 1 { "is" } else { "are" },
            errors = if others == 1 { "an error" } else { "errors" },
            status = status.name,
            code = status.code,
            meaning = status.meaning
        ));
    }
    (count > 0).then(|| {
        let text = sentence!(
            "{count} of {requests} of device {name} ({kind}) ended with an error.",
            count = Figure::count(count, device.completions),
            requests = Figure::all(device.completions, "completed request");
            name = device.name,
            kind = device.kind_name
        );
        let tone = if count * 1000 < device.completions { "neutral" } else { "bad" };
        verdict("errors", tone, device, text, evidence)
    })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
