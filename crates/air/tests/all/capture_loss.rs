//! A sniffer that misses frames must not turn one answer into another.

use std::path::PathBuf;

use specimen::Scene;
use txop_air::report::Report;
use wire::linktype::LinkType;

/// The scene with every data frame dropped from the file with a chance of `percent`, the same ones every time.
fn thinned(name: &str, percent: u64) -> Report {
    let mut scene = Scene::preset(name).expect("a preset");
    scene.seconds = 6.0;
    let mut bytes = Vec::new();
    specimen::write(&scene, &mut bytes).expect("a capture");
    let mut reader = capture::Reader::from_read(std::io::Cursor::new(bytes)).expect("a capture");
    let settings = capture::PcapSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
    let mut writer = capture::PcapWriter::new(Vec::new(), settings).expect("a file header");
    let mut state = 88_172_645_463_325_252u64;
    while let Some(record) = reader.next().expect("no damage") {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let header_len = usize::from(u16::from_le_bytes([record.data[2], record.data[3]]));
        let is_data = record.data[header_len] & 0x0c == 0x08;
        if !(is_data && state % 100 < percent) {
            let time_ns = record.time_ns.expect("a time");
            writer.write(time_ns, record.original_len, record.data).expect("memory");
        }
    }
    let path: PathBuf = std::env::temp_dir().join(format!("txop-loss-{}-{name}-{percent}", std::process::id()));
    std::fs::write(&path, writer.into_inner()).expect("a temporary file");
    let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ());
    std::fs::remove_file(&path).expect("the temporary file");
    report.expect("a report")
}

/// The answer for the access point's Block Acks.
fn answer(report: &Report) -> String {
    let busiest = &report.block_acks[0];
    let verdict = report
        .ack_verdicts
        .iter()
        .find(|v| v.question == "block-ack" && v.originator == busiest.originator && v.recipient == busiest.recipient);
    verdict.expect("a verdict").answer.clone()
}

#[test]
fn losses_are_never_called_late() {
    for percent in [0, 10, 30, 50] {
        let answer = answer(&thinned("lossy", percent));
        assert!(["not-received", "not-determined"].contains(&answer.as_str()), "{percent} % missing: {answer}");
    }
}

#[test]
fn lateness_is_never_called_loss() {
    for percent in [0, 10, 30, 50] {
        let answer = answer(&thinned("late-block-ack", percent));
        assert!(
            ["late", "probably-late", "not-determined"].contains(&answer.as_str()),
            "{percent} % missing: {answer}"
        );
    }
}

/// Bins of the two series have different widths in a long capture: the busy share must not show it.
#[test]
fn a_steady_channel_is_steadily_busy() {
    let mut scene = Scene::preset("legacy").expect("a preset");
    scene.seconds = 45.0;
    let path: PathBuf = std::env::temp_dir().join(format!("txop-steady-{}", std::process::id()));
    let file = std::fs::File::create(&path).expect("a temporary file");
    specimen::write(&scene, std::io::BufWriter::new(file)).expect("a capture");
    let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ());
    std::fs::remove_file(&path).expect("the temporary file");
    let report = report.expect("a report");
    let series = &report.steadiness[0].series;
    let shares: Vec<f64> = series[1..series.len() - 1].iter().filter_map(|bin| bin.busy_share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(shares.len() > 100, "{}", shares.len());
    assert!(shares.iter().all(|share| (share - mean).abs() < 0.15), "mean {mean}: {shares:?}");
}
