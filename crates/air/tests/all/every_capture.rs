//! Every real capture gives a report whose sums agree, or a clear error.

use txop_air::report::Report;

#[test]
fn every_capture_gives_a_consistent_report_or_a_clear_error() {
    let (mut reports, mut frames, mut rejected) = (0, 0, Vec::new());
    for path in corpus::files("wlan") {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match txop_air::analyze(&path, Default::default(), Default::default(), &mut ()) {
            Ok(report) => {
                consistent(&name, &report);
                reports += 1;
                frames += report.frames;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.len() > 20 && text.contains(' '), "{name}: {text:?} does not explain itself");
                rejected.push(format!("{name}: {text}"));
            }
        }
    }
    println!("{reports} reports over {frames} frames, {} rejected", rejected.len());
    for line in rejected {
        println!("{line}");
    }
}

/// What holds for every report.
fn consistent(name: &str, report: &Report) {
    let summary = &report.summary;
    let known = summary.fcs.good + summary.fcs.bad + summary.fcs.unknown;
    assert_eq!(known + summary.unreadable + summary.empty_psdus, report.frames, "{name}: frames");
    assert_eq!(summary.fcs.bad, report.bad_fcs, "{name}: bad FCS");
    let records: u64 = summary.link_types.iter().map(|link| link.frames).sum();
    assert_eq!(records, report.frames + summary.not_wlan, "{name}: link types");

    if report.ghost_effect.addresses_evicted == 0 {
        let received: u64 = report.stations.iter().map(|station| station.frames_received).sum();
        let sent: u64 = report.stations.iter().map(|station| station.frames_sent).sum();
        assert!(received <= known && sent <= received, "{name}: {sent} sent, {received} received, {known} known");
        let linked: u64 = report.links.iter().map(|link| link.frames).sum();
        assert_eq!(linked, sent, "{name}: frames of links");
        let timeline = &report.rate_timeline;
        let over_time = timeline.rows.iter().map(|cell| cell.frames).sum::<u64>() + timeline.frames_left_out;
        let rated = report.stations.iter().map(|station| station.frames_sent - station.bad_fcs_sent).sum::<u64>();
        assert_eq!(over_time, rated, "{name}: rates over time");
    }
    for station in &report.stations {
        let at = format!("{name}: {}", station.address);
        assert!(station.retries_sent <= station.frames_sent, "{at}");
        assert!(station.mpdu_retry.retries <= station.mpdu_retry.frames, "{at}");
        assert!(station.mpdu_retry.frames <= station.data_frames_sent, "{at}");
        let rated: u64 = station.rates.iter().map(|rate| rate.frames).sum();
        assert_eq!(rated, station.frames_sent - station.bad_fcs_sent, "{at}: rates");
    }
    for network in &report.bss {
        assert!(network.retries <= network.packets && network.beacons <= network.packets, "{name}: {}", network.bssid);
        let sent: u64 = network.members.iter().map(|member| member.counts.sent).sum();
        assert!(sent <= 2 * network.data_packets, "{name}: {}", network.bssid);
    }
    for flow in &report.block_acks {
        let fates =
            flow.left_out_late + flow.left_out_resent_acked + flow.left_out_resent_lost + flow.left_out_abandoned;
        assert_eq!(fates, flow.left_out, "{name}: {} to {} TID {}", flow.originator, flow.recipient, flow.tid);
        assert!(flow.newly_acked <= flow.mpdus, "{name}: {} newly acked of {}", flow.newly_acked, flow.mpdus);
        assert!(flow.mpdus <= flow.transmissions && flow.retransmissions <= flow.transmissions, "{name}");
    }
    for pair in &report.exchanges {
        let answered = pair.acked + pair.block_acked;
        assert!(pair.cts <= pair.rts, "{name}: {} CTS for {} RTS", pair.cts, pair.rts);
        assert!(answered <= pair.ppdus, "{name}: {} to {}: {answered} of {}", pair.ta, pair.ra, pair.ppdus);
        assert!(
            pair.late_responses.unwrap_or(0) <= answered + pair.cts && pair.unexpected_rate <= pair.rate_checked,
            "{name}"
        );
    }
    for row in &report.aggregation {
        let bars: u64 = row.histogram.iter().map(|bar| bar.count).sum();
        assert!(row.ppdus == Some(bars) || row.histogram.is_empty(), "{name}: {bars} of {:?} PPDUs", row.ppdus);
        assert!(row.ampdus <= row.ppdus && row.ppdus.is_none_or(|ppdus| ppdus <= row.mpdus), "{name}");
    }
    airtime(name, report);
    one_is_one(name, &serde_json::to_value(report).expect("JSON"));
}

/// No text says "1 frames".
fn one_is_one(name: &str, value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            let words: Vec<&str> = text.split([' ', '(', ')', ',', ';', ':']).collect();
            for three in words.windows(3) {
                let many = ["frames", "MPDUs", "PPDUs", "A-MPDUs", "Acks", "times", "responses", "changes", "ones"];
                assert!(!(three[0] != "of" && three[1] == "1" && many.contains(&three[2])), "{name}: {text}");
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| one_is_one(name, value)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| one_is_one(name, value)),
        _ => {}
    }
}

fn airtime(name: &str, report: &Report) {
    let share_is_one = |shares: f64| (shares - 1.0).abs() < 1e-9;
    if !report.waterfall.is_empty() {
        assert!(share_is_one(report.waterfall.iter().map(|step| step.share).sum()), "{name}");
    }
    for waterfall in &report.waterfalls {
        let sum: f64 = waterfall.steps.iter().map(|step| step.share).sum();
        assert!(share_is_one(sum), "{name}: shares sum to {sum}");
        assert!(
            waterfall.steps.iter().all(|step| step.share >= 0.0 && step.us >= 0.0),
            "{name}: {:?}",
            waterfall.steps
        );
    }
    if let (Some(busy), Some(observed)) = (report.airtime.busy_us, report.airtime.observed_us) {
        assert!(busy >= 0.0 && busy <= observed * (1.0 + 1e-9), "{name}: busy {busy} of {observed} us");
        // What the PPDUs last, and what of it the timeline shows: a clock that runs backwards would hide most of it.
        let kinds = report.airtime.kinds.expect("busy");
        let sum = kinds.data_us
            + kinds.retry_us
            + kinds.control_us
            + kinds.management_us
            + kinds.beacon_us
            + kinds.unknown_us;
        assert!(busy >= 0.8 * sum, "{name}: busy {busy} us of {sum} us sent");
    }
    for bin in &report.airtime.series {
        assert!((0.0..=1.0 + 1e-9).contains(&bin.busy_share), "{name}: {bin:?}");
    }
}
