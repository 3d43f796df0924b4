//! Every real capture, record by record, against tshark: number, time, lengths, interface, link type.

use std::path::Path;
use std::process::Command;

use txop_capture::{Access, Options, Reader};

const FIELDS: [&str; 6] =
    ["frame.number", "frame.time_epoch", "frame.cap_len", "frame.len", "frame.interface_id", "frame.encap_type"];

/// Wireshark's WTAP_ENCAP_ numbers (wiretap/wtap.h) of the link types in the captures.
const ENCAPS: &[(u32, u32)] = &[
    (1, 1),     // Ethernet
    (105, 20),  // IEEE 802.11
    (119, 21),  // Prism
    (127, 23),  // radiotap
    (113, 25),  // Linux SLL
    (163, 24),  // AVS
    (189, 95),  // USB_LINUX
    (192, 97),  // PPI
    (220, 115), // USB_LINUX_MMAPPED
    (249, 152), // USBPCAP
    (266, 182), // USB_DARWIN
    (288, 208), // USB_2_0
];

/// "1700000000.123456789" in nanoseconds. tshark prints nine digits or more: a writer's fraction above one second (real
/// files have it) stays a fraction, "1177961534.1000046000", and the sign of a negative one moves to the front.
fn epoch_ns(text: &str) -> Option<i64> {
    let (text, sign) = text.strip_prefix('-').map_or((text, 1), |text| (text, -1));
    let (seconds, nanoseconds) = text.split_once('.').filter(|(_, fraction)| fraction.len() >= 9)?;
    Some(seconds.parse::<i64>().ok()? * 1_000_000_000 + sign * nanoseconds.parse::<i64>().ok()?)
}

/// One line per record: the fields that tshark printed.
fn tshark(path: &Path) -> (Vec<Vec<String>>, String) {
    let mut command = Command::new("tshark");
    command.args(["-n", "-r"]).arg(path).args(["-T", "fields"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    (lines, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    files: u64,
    records: u64,
    link_types_unchecked: u64,
    refused: u64,
}

fn compare(path: &Path, compared: &mut Compared) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut reader = match Reader::open(path, Options::default()) {
        Ok(reader) => reader,
        Err(error) => {
            // Refused are only formats that are neither pcap nor pcapng, by their name.
            assert!(error.to_string().starts_with("this is "), "{name}: {error}");
            assert!([".pcap", ".pcapng", ".gz"].iter().all(|end| !name.ends_with(end)), "{name}: {error}");
            eprintln!("{name}: refused: {error}");
            compared.refused += 1;
            return;
        }
    };
    let other = Options { access: Access::Mapped, ..Options::default() };
    let mut mapped = Reader::open(path, other).expect("opens again");
    let (lines, complaint) = tshark(path);
    let mut lines = lines.iter();
    let damage = loop {
        let next = reader.next();
        assert_eq!(next, mapped.next(), "{name}: buffered and mapped");
        let record = match next {
            Ok(Some(record)) => record,
            Ok(None) => break None,
            Err(damage) => break Some(damage),
        };
        let context = format!("{name}, record {}", record.number);
        let line = lines.next().unwrap_or_else(|| panic!("{context}: not in tshark: {complaint}"));
        let [number, time, cap_len, len, interface_id, encap] = line.as_slice() else {
            panic!("{context}: {line:?}");
        };
        assert_eq!(number, &record.number.to_string(), "{context}");
        assert_eq!(epoch_ns(time), record.time_ns, "{context}: {time}");
        assert_eq!(cap_len, &record.captured_len().to_string(), "{context}");
        assert_eq!(len, &record.original_len.to_string(), "{context}");
        match ENCAPS.iter().find(|&&(ours, _)| ours == record.link_type.0) {
            Some((_, theirs)) => assert_eq!(encap, &theirs.to_string(), "{context}: {}", record.link_type),
            None => compared.link_types_unchecked += 1,
        }
        let interface = record.interface as usize;
        // tshark prints no number for pcap.
        if !interface_id.is_empty() {
            assert_eq!(interface_id, &reader.interfaces()[interface].id.to_string(), "{context}");
        }
        compared.records += 1;
    };
    assert_eq!(lines.count(), 0, "{name}: records in tshark after our last; we {damage:?}");
    let cut_short = complaint.contains("cut short") || complaint.contains("damaged or corrupt");
    assert_eq!(damage.is_some(), cut_short, "{name}: tshark says {complaint:?}, we {damage:?}");
    if let Some(damage) = damage {
        eprintln!("{name}: {damage}");
    }
    compared.files += 1;
}

#[test]
fn every_real_capture_reads_as_in_tshark() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no tshark on this machine, nothing was compared");
        return;
    }
    let paths = corpus::some(["usb", "wlan"].map(corpus::files).concat());
    if paths.is_empty() {
        return;
    }
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let compared = std::thread::scope(|scope| {
        let start = |first: usize| {
            let paths = &paths;
            scope.spawn(move || {
                let mut compared = Compared::default();
                paths.iter().skip(first).step_by(threads).for_each(|path| compare(path, &mut compared));
                compared
            })
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        running.into_iter().fold(Compared::default(), |sum, thread| {
            let part = thread.join().expect("every capture agrees");
            Compared {
                files: sum.files + part.files,
                records: sum.records + part.records,
                link_types_unchecked: sum.link_types_unchecked + part.link_types_unchecked,
                refused: sum.refused + part.refused,
            }
        })
    });
    eprintln!("compared with tshark: {compared:?}");
    assert!(compared.files > 0 && compared.records > 0, "captures are there, but none was compared");
}
