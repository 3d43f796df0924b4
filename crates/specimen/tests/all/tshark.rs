//! The files as tshark reads them: an independent oracle.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use txop_specimen::{write, Scene, StampMeaning, Truth};

/// tshark's lines, or `None` (said loudly) where there is no tshark.
fn tshark(path: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("tshark")
        .args(["-n", "-r"])
        .arg(path)
        .args(["-o", "wlan.check_checksum:TRUE", "-o", "ppi.reassemble:FALSE", "-o", "wlan_radio.tsf_at_end:FALSE"])
        .args(["-T", "fields", "-E", "separator=|"])
        .args(arguments)
        .output();
    match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: no tshark on this machine, the files are not checked against it");
            None
        }
        Err(error) => panic!("tshark: {error}"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
        }
    }
}

struct Specimen {
    path: std::path::PathBuf,
    truth: Truth,
}

impl Drop for Specimen {
    fn drop(&mut self) {
        // A file that is left behind does not make a test wrong.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn specimen(test: &str, name: &str, change: impl Fn(&mut Scene)) -> Specimen {
    let mut scene = Scene::preset(name).unwrap_or_else(|| panic!("no preset {name}"));
    scene.seconds = 0.8;
    change(&mut scene);
    let path = std::env::temp_dir().join(format!("txop-specimen-{}-{test}-{name}.pcap", std::process::id()));
    let file = File::create(&path).unwrap_or_else(|error| panic!("{error}"));
    let truth = write(&scene, BufWriter::new(file)).unwrap_or_else(|error| panic!("{error}"));
    Specimen { path, truth }
}

#[test]
fn no_frame_is_malformed_and_every_fcs_is_as_the_truth_says() {
    for name in
        ["healthy", "late-and-lossy", "upload", "legacy", "vht", "he", "ppi", "pcapng", "ghosts", "silent-damage"]
    {
        let specimen = specimen("fcs", name, |_| {});
        let fields = ["-e", "wlan.fcs.status", "-e", "_ws.malformed", "-e", "radiotap.flags.badfcs"];
        let Some(lines) = tshark(&specimen.path, &fields) else { return };
        assert_eq!(lines.len() as u64, specimen.truth.frames, "{name}");
        let bad = lines.iter().filter(|line| line.starts_with('0')).count() as u64;
        let good = lines.iter().filter(|line| line.starts_with("1|")).count() as u64;
        assert_eq!((good, bad), (specimen.truth.frames - specimen.truth.bad_fcs, specimen.truth.bad_fcs), "{name}");
        assert!(lines.iter().filter(|line| line.starts_with("1|")).all(|line| !line.contains("malformed")), "{name}");
    }
    for name in ["bare", "prism", "no-fcs", "hidden-rates", "snapped"] {
        let specimen = specimen("open", name, |_| {});
        let Some(lines) = tshark(&specimen.path, &["-e", "wlan.fc.type_subtype", "-e", "_ws.malformed"]) else {
            return;
        };
        assert_eq!(lines.len() as u64, specimen.truth.frames, "{name}");
        assert!(lines.iter().all(|line| !line.starts_with('|')), "{name}");
        let whole = name != "snapped";
        assert!(!whole || lines.iter().all(|line| line.ends_with('|')), "{name}");
    }
}

#[test]
fn retries_per_transmitter() {
    for name in ["healthy", "late-and-lossy", "upload", "legacy", "ghosts", "ppi", "bare"] {
        let specimen = specimen("retry", name, |_| {});
        let Some(lines) = tshark(&specimen.path, &["-e", "wlan.ta", "-e", "wlan.fc.retry"]) else { return };
        let mut rows: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (ta, retry) in lines.iter().filter_map(|line| line.split_once('|')).filter(|(ta, _)| !ta.is_empty()) {
            let row = rows.entry(ta).or_default();
            row.0 += 1;
            row.1 += u64::from(retry == "1" || retry == "True");
        }
        for station in &specimen.truth.stations {
            let row = rows.get(station.address.as_str()).copied().unwrap_or_default();
            assert_eq!(row, (station.frames_sent, station.retries_sent), "{name} {}", station.address);
        }
    }
}

#[test]
fn block_ack_bitmaps_and_agreements_are_read_alike() {
    for name in ["late-and-lossy", "he"] {
        let specimen = specimen("ba", name, |scene| scene.seconds = 0.4);
        let fields = ["-Y", "wlan.fc.type_subtype==0x19", "-e", "wlan.ra", "-e", "wlan.ba.bm"];
        let Some(lines) = tshark(&specimen.path, &fields) else { return };
        for flow in &specimen.truth.block_acks {
            let mine: Vec<&String> = lines.iter().filter(|line| line.starts_with(&flow.originator)).collect();
            assert_eq!(mine.len() as u64, flow.block_acks, "{name}");
            let digits: u32 = mine
                .iter()
                .filter_map(|line| line.split('|').nth(1))
                .flat_map(|bitmap| bitmap.chars().filter_map(|c| c.to_digit(16)))
                .map(u32::count_ones)
                .sum();
            assert_eq!(u64::from(digits), flow.newly_acked + flow.acked_not_captured + flow.stale_bits, "{name}");
        }
        let fields = ["-Y", "wlan.fixed.baparams", "-e", "wlan.fixed.baparams.buffersize"];
        let Some(lines) = tshark(&specimen.path, &fields) else { return };
        let expected: u64 = specimen.truth.block_acks.iter().map(|b| b.addba_requests + b.addba_accepted).sum();
        assert_eq!(lines.len() as u64, expected, "{name}");
    }
}

/// Time on the air of DSSS and OFDM frames, which tshark computes as the standard does.
#[test]
fn durations_on_the_time_line() {
    let specimen = specimen("duration", "legacy", |scene| scene.sniffer.stamp = StampMeaning::PpduStart);
    let fields = ["-e", "wlan_radio.duration", "-e", "wlan.fc.type"];
    let Some(lines) = tshark(&specimen.path, &fields) else { return };
    let sum: u64 = lines.iter().filter_map(|line| line.split('|').next()?.parse::<u64>().ok()).sum();
    assert_eq!(lines.len() as u64, specimen.truth.frames);
    assert_eq!(sum * 1000, specimen.truth.airtime.busy_ns);
}

#[test]
fn capabilities_are_read_as_they_were_written() {
    let specimen = specimen("elements", "healthy", |scene| scene.seconds = 0.3);
    let fields = [
        "-Y",
        "wlan.fc.type_subtype==8",
        "-e",
        "wlan.ssid",
        "-e",
        "wlan.ds.current_channel",
        "-e",
        "wlan.ht.capabilities.short20",
        "-e",
        "wlan.rsn.akms.type",
        "-e",
        "wlan.country_info.code",
        "-e",
        "wlan.erp_info.erp_present",
        "-e",
        "wlan.wfa.ie.wme.subtype",
    ];
    let Some(lines) = tshark(&specimen.path, &fields) else { return };
    assert_eq!(lines.len(), 3);
    for line in &lines {
        let cells: Vec<&str> = line.split('|').collect();
        assert!(matches!(cells[0], "customer-wifi" | "637573746f6d65722d77696669"), "{line}");
        assert_eq!((cells[1], cells[3], cells[6]), ("12", "2", "1"), "{line}");
        assert!(matches!(cells[2], "1" | "True"), "{line}");
    }
}
