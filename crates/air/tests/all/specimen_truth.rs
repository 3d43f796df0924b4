//! Reports of generated captures against what the scene really was.

use std::collections::BTreeMap;
use std::path::PathBuf;

use specimen::{Scene, Truth, PRESETS};
use txop_air::report::Report;

/// Long enough for verdicts, short enough for a test.
const SECONDS: f64 = 2.5;

fn play(name: &str, seconds: f64) -> (Report, Truth) {
    let mut scene = Scene::preset(name).unwrap_or_else(|| panic!("no preset {name}"));
    scene.seconds = seconds;
    // Tests that play the same scene run side by side, each in a thread of its own.
    let test = format!("{}-{:?}", std::process::id(), std::thread::current().id());
    let path: PathBuf = std::env::temp_dir().join(format!("txop-truth-{test}-{name}"));
    let mut file = Vec::new();
    let truth = specimen::write(&scene, &mut file).expect("a capture");
    std::fs::write(&path, &file).expect("a temporary file");
    let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ());
    std::fs::remove_file(&path).expect("the temporary file");
    (report.unwrap_or_else(|error| panic!("{name}: {error}")), truth)
}

/// Differences of one preset, all of them at once.
struct Check<'a> {
    preset: &'a str,
    problems: Vec<String>,
    compared: usize,
}

impl Check<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, truth: T, report: T) {
        self.compared += 1;
        if truth != report {
            self.problems.push(format!("{}: {what}: truth {truth:?}, report {report:?}", self.preset));
        }
    }

    /// Within `share` of the truth.
    fn near(&mut self, what: &str, truth: f64, report: f64, share: f64) {
        self.compared += 1;
        if (truth - report).abs() > share * truth.abs() + 1e-9 {
            let off = 100.0 * (report - truth) / truth;
            self.problems.push(format!("{}: {what}: truth {truth:.1}, report {report:.1} ({off:+.2} %)", self.preset));
        }
    }
}

/// Nothing on the air is hidden from a sniffer that loses nothing.
fn hears_all(truth: &Truth) -> bool {
    truth.not_captured == 0 && truth.damaged == 0
}

#[test]
fn every_preset_is_found_as_it_was() {
    let mut problems = Vec::new();
    let mut compared = 0;
    for (name, _) in PRESETS {
        let (report, truth) = play(name, SECONDS);
        let mut check = Check { preset: name, problems: Vec::new(), compared: 0 };
        counts(&mut check, &report, &truth);
        timing(&mut check, &report, &truth);
        ghosts(&mut check, &report, &truth);
        if hears_all(&truth) {
            airtime(&mut check, &report, &truth);
        }
        if truth.damaged == truth.bad_fcs {
            // Damage that the file does not show cannot be determined from good frames.
            block_acks(&mut check, &report, &truth);
        }
        let grouped =
            !matches!(*name, "sequence-reference" | "no-ampdu-status" | "bare" | "prism" | "hidden-rates" | "ppi");
        if grouped && hears_all(&truth) {
            aggregation(&mut check, &report, &truth);
            exchanges(&mut check, &report, &truth);
        }
        waterfall(&mut check, &report);
        compared += check.compared;
        problems.extend(check.problems);
    }
    for problem in &problems {
        println!("{problem}");
    }
    println!("{compared} values compared");
    assert!(problems.is_empty(), "{} of {compared} values differ", problems.len());
}

fn counts(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    check.same("frames", truth.frames, report.frames);
    check.same("bad FCS", truth.bad_fcs, report.bad_fcs);
    check.same("cut frames", truth.cut_frames, report.summary.cut_frames);
    check.same("captured bytes", truth.captured_bytes, report.summary.captured_bytes);
    for station in &truth.stations {
        let Some(row) = report.stations.iter().find(|row| row.address == station.address) else {
            check.problems.push(format!("{}: no station {}", check.preset, station.address));
            continue;
        };
        let at = |what: &str| format!("{what} of {}", station.address);
        check.same(&at("frames sent"), station.frames_sent, row.frames_sent);
        check.same(&at("bad FCS sent"), station.bad_fcs_sent, row.bad_fcs_sent);
        check.same(&at("bytes sent"), station.bytes_sent, row.bytes_sent);
        check.same(&at("data frames sent"), station.data_frames_sent, row.data_frames_sent);
        check.same(&at("frames received"), station.frames_received, row.frames_received);
        check.same(&at("retries sent"), station.retries_sent, row.retries_sent);
        if truth.damaged == truth.bad_fcs {
            let (a, b) = (station.mpdu_retry, row.mpdu_retry);
            check.same(&at("MPDU retry"), (a.frames, a.retries), (b.frames, b.retries));
        }
    }
    for link in &truth.links {
        let row = report.links.iter().find(|row| row.ta == link.ta && row.ra == link.ra);
        let at = |what: &str| format!("{what} of {} to {}", link.ta, link.ra);
        check.same(&at("frames"), Some(link.frames), row.map(|row| row.frames));
        check.same(&at("bytes"), Some(link.bytes), row.map(|row| row.bytes));
        let retry = |count: txop_air::report::RetryCount| (count.frames, count.retries);
        let wireshark = (link.wireshark_retry.frames, link.wireshark_retry.retries);
        check.same(&at("Wireshark's retry"), Some(wireshark), row.map(|row| retry(row.wireshark_retry)));
    }
    for flow in truth.flows.iter().filter(|flow| truth.damaged == 0 && flow.retransmissions == 0) {
        let row = report.waterfalls.iter().find(|row| row.ta == flow.ta && row.ra == flow.ra);
        if let Some(row) = row {
            check.same(&format!("payload bytes of {} to {}", flow.ta, flow.ra), flow.payload_bytes, row.payload_bytes);
        }
    }
}

fn timing(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    // Without rates no gap can be computed, and with false rates of responses their start is not known.
    if !matches!(check.preset, "hidden-rates" | "sequence-reference" | "bare") {
        check.same("stamp meaning", truth.timing.stamp_meaning, report.timing.stamp_meaning.as_deref());
    }
    // A capture without A-MPDUs, or without rates, shows no reference either.
    let has_ampdus = truth.aggregation.iter().any(|row| row.ampdus > 0) && check.preset != "hidden-rates";
    let reference = if has_ampdus { truth.timing.ampdu_reference } else { "absent" };
    check.same("A-MPDU reference", reference, &report.timing.ampdu_reference);
    if truth.timing.stamp_meaning.is_some() && !matches!(check.preset, "hidden-rates" | "bare") {
        let believable = truth.timing.control_rates_believable;
        check.same("control rates believable", believable, report.timing.control_rates_believable);
    }
}

fn ghosts(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    let real: Vec<&String> = truth.stations.iter().map(|station| &station.address).collect();
    for ghost in report.ghosts.iter().filter(|ghost| real.contains(&&ghost.address)) {
        check.problems.push(format!("{}: {} is real, not a ghost", check.preset, ghost.address));
    }
    if truth.damaged != truth.bad_fcs {
        return;
    }
    for ghost in &truth.ghosts {
        let first = u8::from_str_radix(&ghost.address[..2], 16).expect("an address");
        if first & 1 == 1 || real.contains(&&ghost.address) {
            continue;
        }
        let found = report.ghosts.iter().find(|row| row.address == ghost.address);
        let found = found.map(|row| (row.of.clone(), row.distance, row.frames_sent, row.frames_received));
        let expected = (Some(ghost.of.clone()), Some(ghost.distance), ghost.frames_sent, ghost.frames_received);
        check.same(&format!("ghost {}", ghost.address), Some(expected), found);
    }
}

fn airtime(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    let Some(busy) = report.airtime.busy_us else { return };
    // Without the A-MPDUs' borders every MPDU seems to have a preamble; false control rates give no airtime.
    let grouped =
        !matches!(check.preset, "no-ampdu-status" | "sequence-reference" | "ppi" | "prism" | "bare" | "own-stamps");
    if !grouped {
        return;
    }
    check.near("busy us", truth.airtime.busy_ns as f64 / 1000.0, busy, 0.01);
    for station in &truth.stations {
        let row = report.stations.iter().find(|row| row.address == station.address);
        if let Some(us) = row.and_then(|row| row.airtime_us) {
            check.near(&format!("airtime us of {}", station.address), station.airtime_ns as f64 / 1000.0, us, 0.01);
        }
        if let Some(kinds) = row.and_then(|row| row.airtime) {
            let truth = station.airtime;
            let kinds = [
                ("data", truth.data_ns, kinds.data_us),
                ("retry", truth.retry_ns, kinds.retry_us),
                ("control", truth.control_ns, kinds.control_us),
                ("management", truth.management_ns, kinds.management_us),
                ("beacon", truth.beacon_ns, kinds.beacon_us),
            ];
            for (kind, ns, us) in kinds {
                check.near(&format!("{kind} airtime us of {}", station.address), ns as f64 / 1000.0, us, 0.01);
            }
        }
    }
}

/// The 4-way handshake: data frames on the air that belong to no flow of the scene.
fn handshake(truth: &Truth, ta: &str, ra: &str) -> u64 {
    let of_flows = truth.flows.iter().filter(|flow| flow.ta == ta && flow.ra == ra).map(|flow| flow.transmissions);
    let link = truth.links.iter().find(|link| link.ta == ta && link.ra == ra);
    link.map_or(0, |link| link.mpdu_retry.frames).saturating_sub(of_flows.sum())
}

fn block_acks(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    for flow in truth.block_acks.iter().filter(|flow| flow.block_acks > 0) {
        let row = report
            .block_acks
            .iter()
            .find(|row| (&row.originator, &row.recipient, row.tid) == (&flow.originator, &flow.recipient, flow.tid));
        let at = format!("Block Acks of {} to {}", flow.originator, flow.recipient);
        let Some(row) = row else {
            check.problems.push(format!("{}: no {at}", check.preset));
            continue;
        };
        let extra = handshake(truth, &flow.originator, &flow.recipient);
        let figures = [
            ("Block Acks", flow.block_acks, row.block_acks),
            ("requests", flow.requests, row.requests),
            ("ADDBA requests", flow.addba_requests, row.addba_requests),
            ("ADDBA acceptances", flow.addba_accepted, row.addba_accepted),
            ("transmissions", flow.transmissions + extra, row.transmissions),
            ("retransmissions", flow.retransmissions, row.retransmissions),
            ("MPDUs", flow.mpdus + extra, row.mpdus),
            ("newly acked", flow.newly_acked, row.newly_acked),
            ("acked, not captured", flow.acked_not_captured, row.acked_not_captured),
            ("stale", flow.stale_bits, row.stale_bits),
            ("left out", flow.left_out, row.left_out),
            ("left out, late", flow.left_out_late, row.left_out_late),
            ("left out, resent, acked", flow.left_out_resent_acked, row.left_out_resent_acked),
            ("left out, resent, lost", flow.left_out_resent_lost, row.left_out_resent_lost),
            ("left out, abandoned", flow.left_out_abandoned, row.left_out_abandoned),
        ];
        let misses = truth.not_captured > 0;
        for (what, truth, report) in figures {
            // The truth covers the PPDU just answered. The report also counts what an unanswered PPDU before it
            // carried, and takes an acknowledgement for the first one when the first was not captured.
            if what.starts_with("left out") || (misses && matches!(what, "acked, not captured" | "stale")) {
                // These bitmaps start after some of the numbers just sent: such a number is outside the bitmap, which
                // the truth calls left out and the report does not. A Block Ack that the sniffer missed makes the
                // next one answer for two PPDUs.
                let slack = match check.preset {
                    "full-history" | "no-memory" => 4 + truth / 16,
                    "deaf-sniffer" => 4 + truth / 3,
                    _ => 4 + truth / 100,
                };
                check.same(&format!("{at}: {what} ({truth}, {report})"), true, truth.abs_diff(report) <= slack);
            } else {
                check.same(&format!("{at}: {what}"), truth, report);
            }
        }
    }
}

fn aggregation(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    for row in truth.aggregation.iter().filter(|row| row.ra != "ff:ff:ff:ff:ff:ff") {
        let found = report.aggregation.iter().find(|r| (&r.ta, &r.ra, r.tid) == (&row.ta, &row.ra, row.tid));
        let at = format!("{} to {} TID {:?}", row.ta, row.ra, row.tid);
        let extra = handshake(truth, &row.ta, &row.ra);
        let figures = (row.ppdus + extra, row.ampdus, row.mpdus + extra);
        if found.is_some_and(|row| row.ppdus.is_none()) {
            assert_eq!(report.timing.grouping, "none", "{at}: PPDUs are not available only where nothing groups MPDUs");
        }
        let found_figures = found.map(|r| (r.ppdus.unwrap_or(figures.0), r.ampdus.unwrap_or(0), r.mpdus));
        check.same(&format!("PPDUs, A-MPDUs, MPDUs of {at}"), Some(figures), found_figures);
        let sizes = (1u64..).zip(&row.mpdus_per_ppdu).filter(|(size, count)| **count > 0 && *size <= 64);
        let mut truth: BTreeMap<u64, u64> = sizes.map(|(size, count)| (size, *count)).collect();
        *truth.entry(1).or_default() += extra;
        truth.retain(|_, count| *count > 0);
        let bars = found.iter().flat_map(|r| &r.histogram).filter(|bar| bar.count > 0 && bar.low <= 64.0);
        let ours: BTreeMap<u64, u64> = bars.map(|bar| (bar.low as u64, bar.count)).collect();
        if report.timing.grouping != "none" {
            check.same(&format!("MPDUs per PPDU of {at}"), truth, ours);
        }
    }
}

fn exchanges(check: &mut Check<'_>, report: &Report, truth: &Truth) {
    for pair in &truth.exchanges {
        let found = report.exchanges.iter().find(|row| row.ta == pair.ta && row.ra == pair.ra);
        let answered = (pair.ppdus, pair.acked, pair.block_acked, pair.cts);
        let at = format!("{} to {}", pair.ta, pair.ra);
        check.same(
            &format!("PPDUs answered, {at}"),
            Some(answered),
            found.map(|r| (r.ppdus + r.rts, r.acked, r.block_acked, r.cts)),
        );
    }
}

fn waterfall(check: &mut Check<'_>, report: &Report) {
    for waterfall in &report.waterfalls {
        let sum: f64 = waterfall.steps.iter().map(|step| step.share).sum();
        check.compared += 1;
        if (sum - 1.0).abs() > 1e-9 {
            check.problems.push(format!("{}: shares sum to {sum}", check.preset));
        }
    }
}

/// Airtime that the waterfall gives to retries and responses, against the truth.
#[test]
fn the_waterfall_gives_airtime_to_its_causes() {
    for name in ["healthy", "lossy", "legacy", "vht", "he"] {
        let (report, truth) = play(name, SECONDS);
        let waterfall = &report.waterfalls[0];
        let us = |cause: &str| waterfall.steps.iter().find(|step| step.cause == cause).map_or(0.0, |step| step.us);
        let total: f64 = waterfall.steps.iter().map(|step| step.us).sum();
        let observed = truth.airtime.observed_ns as f64 / 1000.0;
        assert!((total - observed).abs() < 0.01 * observed, "{name}: {total} us of {observed}");
        let idle = us("idle") + us("idle_queued") + us("ifs_backoff") + us("unobserved");
        // The other direction's gaps are in `reverse`: what is left is at least the air that was busy.
        let busy = truth.airtime.busy_ns as f64 / 1000.0;
        assert!(total - idle >= busy * 0.99, "{name}: {} us busy of {busy}", total - idle);
        let sender = truth.stations.iter().find(|station| station.address == waterfall.ta).expect("the sender");
        let retries = sender.airtime.retry_ns as f64 / 1000.0;
        assert!(us("retries") <= retries * 1.01, "{name}: retries {} of {retries} us", us("retries"));
        let link_bytes = truth.flows.iter().find(|flow| flow.ta == waterfall.ta && flow.ra == waterfall.ra);
        let flow = link_bytes.expect("the flow");
        // The two EAPOL frames of the handshake are payload too.
        assert!(waterfall.payload_bytes <= flow.payload_bytes + 1000, "{name}");
        assert!(waterfall.payload_bytes as f64 > 0.95 * flow.payload_bytes as f64, "{name}");
    }
}

#[test]
fn verdicts_name_what_was_planted() {
    let expected: [(&str, &str, &[&str]); 4] = [
        ("late-block-ack", "block-ack", &["late", "probably-late"]),
        ("lossy", "block-ack", &["not-received"]),
        ("healthy", "block-ack", &["in-order"]),
        ("ack-by-rate", "ack", &["rate-dependent"]),
    ];
    for (name, question, answers) in expected {
        let (report, truth) = play(name, 6.0);
        let flow = &truth.flows[0];
        let verdict = report
            .ack_verdicts
            .iter()
            .find(|v| v.originator == flow.ta && v.recipient == flow.ra && v.question == question)
            .unwrap_or_else(|| panic!("{name}: no verdict for {question}: {:?}", report.ack_verdicts));
        assert!(answers.contains(&verdict.answer.as_str()), "{name}: {verdict:?}");
        assert!(!verdict.evidence.is_empty(), "{name}: {verdict:?}");
    }
}

#[test]
fn a_dropout_is_found_where_it_was() {
    let (report, truth) = play("dropout", 10.0);
    let planted = truth.events.iter().find(|event| event.kind == "dropout").expect("a dropout");
    let steadiness =
        report.steadiness.iter().find(|s| s.ta == planted.ta && s.ra == planted.ra).expect("the direction");
    let found: Vec<_> = steadiness.events.iter().filter(|event| event.kind == "dropout").collect();
    let near = |a: f64, b: f64| (a - b).abs() <= 2.0 * steadiness.bin_us;
    assert!(
        found.iter().any(|event| near(event.start_us, planted.start_us) && near(event.end_us, planted.end_us)),
        "planted {planted:?}, found {:?}",
        steadiness.events
    );
}
