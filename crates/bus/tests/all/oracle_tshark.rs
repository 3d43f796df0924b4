//! Every count of an endpoint against tshark, and every capture analysed or refused with a reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use txop_bus::report::Report;
use txop_bus::{analyze, Error};

/// The captures with USB in them; empty, said loudly, when there are none.
fn captures() -> Vec<PathBuf> {
    let mut files = ["usb", "generated"].map(corpus::files).concat();
    files.retain(|file| !name(file).ends_with(".md"));
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn named(wanted: &str) -> Option<Report> {
    let file = captures().into_iter().find(|file| name(file).starts_with(wanted));
    if file.is_none() {
        eprintln!("SKIPPED: no capture {wanted}");
    }
    file.map(|file| analyze(&file, &Default::default(), &mut ()).expect("a report"))
}

/// Per bus, device, endpoint and type: submissions, completions, bytes, completions by status.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    submissions: u64,
    completions: u64,
    bytes: u64,
    statuses: BTreeMap<String, u64>,
}

type Table = BTreeMap<(String, String, String), Counts>;

const FIELDS: [&str; 13] = [
    "usb.bus_id",
    "usb.device_address",
    "usb.endpoint_address",
    "usb.transfer_type",
    "usb.urb_type",
    "usb.urb_status",
    "usb.urb_len",
    "usb.irp_info.direction",
    "usb.usbd_status",
    "usb.data_len",
    "usb.irp_id",
    "usb.urb_id",
    "frame.time_epoch",
];

/// The same as tshark counts it; `None` when tshark is not there. With `once`, a record counts once that is in the file twice:
/// usbmon0 and a bus's own interface captured together.
fn tshark(file: &Path, once: bool) -> Option<Table> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-E", "occurrence=f", "-r"]).arg(file);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: tshark is not installed");
        return None;
    };
    let mut table = Table::new();
    // USBPcap records the bytes of OUT transfers with their submission: kept until the completion, by IRP and endpoint.
    let mut sent: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    // The kind of each identifier's latest record: a request is submitted and completed by turns.
    let mut latest: BTreeMap<String, String> = BTreeMap::new();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<&str> = text.lines().collect();
    if once {
        lines.sort_by_key(|line| line.rsplit_once('\t').expect("columns").1);
    }
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let [bus, device, endpoint, transfer, urb, status, urb_len, direction, usbd, data_len, irp, id, _] = cells[..]
        else {
            panic!("{} columns", cells.len())
        };
        if once && latest.insert(id.to_owned(), urb.to_owned()).as_deref() == Some(urb) {
            continue;
        }
        // USBPcap writes requests without an identifier down for itself.
        if !direction.is_empty() && number_of(irp) == 0 {
            continue;
        }
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        let transfer = match transfer {
            "0x00" => "isochronous",
            "0x01" => "interrupt",
            "0x02" => "control",
            "0x03" => "bulk",
            _ => continue, // requests that move no data
        };
        let row = table.entry((format!("{bus}.{device}"), endpoint.to_owned(), transfer.to_owned())).or_default();
        let is_in = u8::from_str_radix(&endpoint[2..], 16).expect("an address") & 0x80 != 0;
        if direction.is_empty() {
            match urb.trim_matches('\'') {
                "S" => row.submissions += 1,
                "C" => {
                    row.completions += 1;
                    row.bytes += number(urb_len);
                    *row.statuses.entry(status.to_owned()).or_default() += 1;
                }
                other => panic!("URB type {other}"),
            }
            continue;
        }
        let key = (irp.to_owned(), device.to_owned(), endpoint.to_owned());
        let setup = if transfer == "control" && direction == "0x00" { 8 } else { 0 };
        if direction == "0x00" {
            row.submissions += 1;
            sent.insert(key, number(data_len) - setup);
        } else {
            row.completions += 1;
            *row.statuses.entry(usbd.to_owned()).or_default() += 1;
            row.bytes += if is_in { number(data_len) } else { sent.remove(&key).unwrap_or(0) };
        }
    }
    Some(table)
}

/// A hexadecimal identifier.
fn number_of(id: &str) -> u64 {
    u64::from_str_radix(id.trim_start_matches("0x"), 16).expect("an identifier")
}

fn ours(report: &Report) -> Table {
    let rows = report.endpoints.iter().map(|row| {
        let statuses = row.statuses.iter().map(|status| (status.code.clone(), status.count)).collect();
        (
            (row.device.clone(), row.address.clone(), row.transfer.clone()),
            Counts {
                submissions: row.submissions,
                completions: row.completions,
                bytes: row.bytes.unwrap_or(0),
                statuses,
            },
        )
    });
    rows.collect()
}

/// Captures that take tshark more than a second or two.
const LARGE: [&str; 6] = ["liquidctl_Corsair", "liquidctl_Gigabyte", "liquidctl_NZXT", "C_cdc", "E_rtl", "A_hwsim"];

#[test]
fn counts_agree_with_tshark() {
    compare(captures().into_iter().filter(|file| !LARGE.iter().any(|large| name(file).starts_with(large))).collect());
}

#[test]
#[ignore = "slow: tshark on every capture"]
fn counts_agree_with_tshark_on_every_capture() {
    let compared = compare(captures());
    assert!(captures().is_empty() || compared >= 36, "{compared} captures");
}

fn compare(captures: Vec<PathBuf>) -> usize {
    let (mut files, mut endpoints, mut requests) = (0, 0, 0);
    for file in captures {
        let Ok(report) = analyze(&file, &Default::default(), &mut ()) else { continue };
        if report.summary.container.ends_with("text") {
            continue;
        }
        let Some(theirs) = tshark(&file, report.summary.limits.iter().any(|limit| limit.code == "copies")) else {
            return files;
        };
        assert_eq!(ours(&report), theirs, "{}", file.display());
        files += 1;
        endpoints += theirs.len();
        requests += theirs.values().map(|row| row.submissions + row.completions).sum::<u64>();
    }
    println!("{files} captures, {endpoints} endpoints, {requests} requests");
    files
}

#[test]
fn every_capture_is_analysed_or_refused_with_a_reason() {
    for file in captures() {
        let wanted = name(&file);
        match analyze(&file, &Default::default(), &mut ()) {
            Ok(report) => assert!(report.records + report.summary.other_requests > 0, "{wanted}"),
            Err(Error::NotUsb(text)) if wanted.starts_with("packetry") => assert!(text.contains("of the wires")),
            Err(Error::NotUsb(text)) if wanted.contains("Lighting_Node") => assert!(text.contains("macOS")),
            Err(Error::NotUsb(text)) if wanted.starts_with("A_hwsim") => assert!(text.contains("txop air")),
            Err(error) => panic!("{wanted}: {error}"),
        }
    }
}

/// Lines counted by their third word, which is all that the counts need.
#[test]
fn counts_of_texts_agree_with_their_lines() {
    for file in captures() {
        let Ok(report) = analyze(&file, &Default::default(), &mut ()) else { continue };
        if report.summary.container != "usbmon-text" {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&file).expect("a file")).into_owned();
        let letter = |letter| text.lines().filter(|line| line.split(' ').nth(2) == Some(letter)).count() as u64;
        let summary = &report.summary;
        let lines = (letter("S"), letter("C"));
        let found = (summary.submissions, summary.completions);
        assert!(summary.unreadable <= 1, "{}", file.display());
        assert!(lines.0 + lines.1 - found.0 - found.1 <= summary.unreadable, "{lines:?} {found:?} {}", file.display());
    }
}

#[test]
fn the_modem_whose_uplink_is_not_aggregated_is_named() {
    let Some(report) = named("D_qmi_wwan") else { return };
    let device = &report.devices[0];
    assert_eq!((device.kind.as_str(), device.kind_by.as_str()), ("qmi", "both"));
    assert_eq!(device.product_id.as_deref(), Some("0125"));
    let worst = &report.verdicts[0];
    assert_eq!(worst.code, "uplink-not-aggregated");
    assert!(worst.text.starts_with("Uplink is not aggregated: 1.0 datagram per URB (QMAP), "), "{}", worst.text);
    assert!(report.verdicts.iter().any(|verdict| verdict.code == "downlink-aggregated"));
    let uplink = report.traffic.iter().find(|row| row.framing == "qmap" && row.direction == "out").expect("uplink");
    assert_eq!(
        (uplink.transfers, uplink.datagrams, uplink.most_datagrams, uplink.faulty_transfers),
        (5475, 5475, 1, 0)
    );
    let downlink = report.traffic.iter().find(|row| row.framing == "qmap" && row.direction == "in").expect("downlink");
    assert!(downlink.at_least_per_transfer.is_some_and(|mean| mean > 5.0));
    assert_eq!(downlink.datagrams_per_transfer, None, "transfers are cut, so the true mean is not known");
}

#[test]
fn a_raw_ip_modem_fed_with_ethernet_is_named() {
    let Some(report) = named("quectel_rmnet") else { return };
    let worst = &report.verdicts[0];
    assert_eq!((worst.code.as_str(), worst.tone.as_str()), ("raw-ip-misuse", "bad"));
    assert!(worst.text.contains("Ethernet") && worst.evidence[0].contains("an IP packet of 84"), "{worst:?}");
}

#[test]
fn classes_of_generated_captures() {
    // The vendor of the Realtek chip is Edimax, which makes other devices, too.
    for (capture, kind, by, framing) in [
        ("C_cdc_ncm", "ncm", "both", "ntb16"),
        ("C_cdc_ecm", "ecm", "both", "ethernet"),
        ("E_rtl8xxxu", "realtek-wifi", "content", "realtek"),
    ] {
        let Some(report) = named(capture) else { return };
        let device = &report.devices[0];
        assert_eq!((device.kind.as_str(), device.kind_by.as_str()), (kind, by), "{capture}");
        let carried: u64 = report.traffic.iter().filter(|row| row.framing == framing).map(|row| row.transfers).sum();
        let all: u64 = report.traffic.iter().map(|row| row.transfers).sum();
        assert!(carried * 1000 >= all * 999, "{capture}: {carried} of {all} transfers are {framing}");
        assert_eq!(report.traffic.iter().map(|row| row.faulty_transfers).sum::<u64>(), 0, "{capture}");
    }
}

#[test]
fn the_made_up_blocks_are_read() {
    let Some(report) = named("SYNTH_ncm_mbim_qmap") else { return };
    let datagrams: Vec<_> = report.traffic.iter().map(|row| (row.framing.as_str(), row.datagrams)).collect();
    assert_eq!(datagrams, [("qmap", 3), ("ntb16", 4)]);
}

#[test]
fn the_clock_of_a_text_wraps_once() {
    let Some(report) = named("f196_usbfan.usbmon") else { return };
    assert_eq!(report.summary.clock_wraps, 1);
    assert!(report.summary.span_us.is_some_and(|span| span < 200_000_000), "{:?}", report.summary.span_us);
    assert_eq!(report.summary.backward_steps, 0);
}

/// Captures of a big-endian machine, and with the short header, are rare; these are made here, tshark reads them too.
#[test]
fn both_headers_in_both_byte_orders_agree_with_tshark() {
    for (link, header_len) in [(189u32, 48usize), (220, 64)] {
        for big in [false, true] {
            let two = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
            let four = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
            let eight = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
            let mut file = four(0xa1b2_c3d4).to_vec();
            file.extend([two(2), two(4)].concat());
            file.extend([four(0), four(0), four(65_535), four(link)].concat());
            for n in 0..10u32 {
                let is_completion = n % 2 == 1;
                let data: &[u8] = if is_completion { &[] } else { &[7; 31] };
                let mut record = eight(u64::from(n / 2 + 1)).to_vec();
                record.extend([if is_completion { b'C' } else { b'S' }, 3, 2, 9]);
                record.extend(two(258));
                record.extend([b'-', if is_completion { b'>' } else { 0 }]);
                record.extend(eight(1_000));
                record.extend(four(n * 500));
                record.extend(four(if is_completion { 0 } else { (-115i32) as u32 }));
                record.extend([four(31), four(data.len() as u32)].concat());
                record.resize(header_len, 0);
                record.extend(data);
                let len = four(record.len() as u32);
                file.extend([four(1_000), four(n * 500), len, len].concat());
                file.extend(record);
            }
            let path = std::env::temp_dir().join(format!("txop-bus-{}-{link}-{big}.pcap", std::process::id()));
            std::fs::write(&path, file).expect("a temporary file");
            let report = analyze(&path, &Default::default(), &mut ());
            let theirs = tshark(&path, false);
            std::fs::remove_file(&path).expect("the temporary file");
            let report = report.expect("a report");
            if let Some(theirs) = theirs {
                assert_eq!(ours(&report), theirs, "link type {link}, big endian {big}");
            }
            let row = &report.endpoints[0];
            assert_eq!((row.device.as_str(), row.completions, row.bytes), ("258.9", 5, Some(155)));
            assert_eq!(row.turnaround_us.map(|spread| (spread.n, spread.max)), Some((5, 500.0)));
        }
    }
}
