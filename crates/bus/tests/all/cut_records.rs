//! Captures that have the beginning of their transfers only, and devices without an address: what is said of the cause.

use std::io::Cursor;

use capture::{PcapSettings, PcapWriter};
use txop_bus::analyze_read;
use txop_bus::report::Report;
use wire::linktype::LinkType;

fn read(file: Vec<u8>) -> Report {
    analyze_read(Cursor::new(file), None, "test".to_owned(), &Default::default(), &mut ()).expect("a report")
}

fn read_lines(lines: &[&str]) -> Report {
    read((lines.join("\n") + "\n").into_bytes())
}

fn limit<'a>(report: &'a Report, code: &str) -> Option<&'a str> {
    report.summary.limits.iter().find(|limit| limit.code == code).map(|limit| limit.text.as_str())
}

/// usbmon's record of an OUT transfer handed over, of `len` bytes, of which the kernel stored `stored` and the file `kept`.
fn submission(id: u8, len: u32, stored: u32, kept: usize) -> Vec<u8> {
    let mut out = vec![id, 0, 0, 0, 0, 0, 0, 0, b'S', 3, 2, 5, 1, 0, b'-', 0];
    out.extend([0; 12]);
    out.extend((-115i32).to_le_bytes());
    out.extend(len.to_le_bytes());
    out.extend(stored.to_le_bytes());
    out.extend([0; 24]);
    out.extend(vec![0x5a; kept]);
    out
}

fn usbmon(snap_len: u32, records: &[Vec<u8>]) -> Report {
    let settings = PcapSettings { snap_len, ..PcapSettings::micros(LinkType::USB_LINUX_MMAPPED) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a header");
    for (at, record) in (1_000_000i64..).step_by(1_000).zip(records) {
        writer.write(at * 1_000, record.len() as u32 + 100, record).expect("a record");
    }
    read(writer.into_inner())
}

#[test]
fn what_cut_a_transfer_is_told_by_its_record() {
    let by_tool = usbmon(262_144, &[submission(1, 1_500, 1_500, 136), submission(2, 900, 900, 136)]);
    let text = "2 of 2 transfers with data are not whole in the capture (their records are cut at 200 bytes): datagrams behind \
                the cut are counted as \"at least\".";
    assert_eq!(limit(&by_tool, "snap"), Some(text));
    let by_snap_length = usbmon(200, &[submission(1, 1_500, 1_500, 136)]);
    assert!(limit(&by_snap_length, "snap").is_some_and(|text| text.contains("cut at the snap length, 200 bytes")));
    let at_two = usbmon(262_144, &[submission(1, 1_500, 1_500, 136), submission(2, 900, 900, 36)]);
    assert!(limit(&at_two, "snap").is_some_and(|text| text.contains("their records are cut at 100 to 200 bytes")));
    let by_kernel = usbmon(262_144, &[submission(1, 1_500, 136, 136)]);
    assert!(limit(&by_kernel, "snap").is_some_and(|text| text.contains("(usbmon stored only part of their buffers)")));
    let both = usbmon(262_144, &[submission(1, 1_500, 1_500, 136), submission(2, 900, 36, 36), submission(3, 9, 9, 9)]);
    let text = "2 of 3 transfers with data are not whole in the capture (the records of 1 are cut at 200 bytes, and of 1 usbmon \
                stored only part of the buffer)";
    assert!(limit(&both, "snap").is_some_and(|found| found.starts_with(text)), "{:?}", limit(&both, "snap"));
}

#[test]
fn the_32_bytes_of_a_text_hide_only_what_is_behind_them() {
    // A whole interrupt transfer: nothing is hidden.
    let short = read_lines(&["a1 100 S Ii:1:002:1 -115:8 8 <", "a1 200 C Ii:1:002:1 0:8 4 = 01020304"]);
    assert_eq!(limit(&short, "text-32-bytes"), None);
    let keys = read_lines(&["a1 100 S Ii:1:002:1 -115:8 64 <", "a1 200 C Ii:1:002:1 0:8 64 = 01020304 00000000"]);
    let text = limit(&keys, "text-32-bytes").expect("a limit");
    assert!(text.starts_with("1 of 1 transfers with data is not whole in the capture, because the text form of usbmon shows at most 32 bytes of each. Capture"), "{text}");
    // ICMP, which its 24th byte shows, and TCP of which the flags are behind the end.
    let packet = |protocol: &str| {
        format!("a1 100 S Bo:1:002:2 -115 84 = 45000054 00004000 40{protocol}0000 0a000001 0a000002 00000000 00000000 00000000")
    };
    let icmp = read_lines(&[&packet("01")]);
    assert!(limit(&icmp, "text-32-bytes").is_some_and(|text| !text.contains("acknowledgement")));
    let tcp = read_lines(&[&packet("06")]);
    let text = limit(&tcp, "text-32-bytes").expect("a limit");
    assert!(
        text.contains("; of 1 datagram it can't be determined whether it is only a TCP acknowledgement."),
        "{text}"
    );
}

#[test]
fn address_0_is_no_device() {
    // A device is asked for its descriptor and given address 3; another one is there all the time, without descriptors.
    let report = read_lines(&[
        "a1 100 S Ci:1:000:0 s 80 06 0100 0000 0012 18 <",
        "a1 200 C Ci:1:000:0 0 18 = 12010002 00000040 da0b7681 00020102 0301",
        "a2 300 S Co:1:000:0 s 00 05 0003 0000 0000 0",
        "a2 400 C Co:1:000:0 0 0",
        "a3 500 S Ii:1:004:1 -115:8 8 <",
        "a3 600 C Ii:1:004:1 0:8 8 = 00000000 00000000",
    ]);
    let of = |name: &str| report.devices.iter().find(|device| device.name == name).expect("the device");
    assert_eq!(of("1.3").vendor_id.as_deref(), Some("0bda"));
    assert_eq!((of("1.0").kind.as_str(), &of("1.0").vendor_id, of("1.0").completions), ("default-address", &None, 2));
    assert_eq!(
        of("1.0").evidence,
        ["2 requests to address 0, which devices have until they get an address of their own"]
    );
    let text = limit(&report, "no-descriptors").expect("a limit");
    assert!(text.starts_with("The enumeration of 1 of 2 devices is not in the capture"), "{text}");
}

#[test]
fn a_transfer_whose_data_is_missing_is_in_the_capture_all_the_same() {
    let report = read_lines(&["a1 100 C Bo:1:002:5 0 280 >"]);
    assert_eq!(
        report.verdicts.first().map(|verdict| verdict.text.as_str()),
        Some(
            "The data of no bulk transfer is in this capture (1 transfer with 280 bytes without it), so there is nothing to say \
             about aggregation."
        )
    );
    let text =
        "The data of 1 transfer on endpoint 0x05 out of device 1.2 (280 bytes) is not in the capture: it stands with \
                the submission, which is missing.";
    assert_eq!(limit(&report, "no-data"), Some(text));
    assert_eq!((report.endpoints[0].in_flight_max, report.endpoints[0].in_flight_mean), (None, None));
    let nothing = read_lines(&["a1 100 C Bo:1:002:5 0 0"]);
    assert!(nothing.verdicts.first().is_some_and(|verdict| verdict.text.starts_with("No bulk transfer with data")));
    assert_eq!(limit(&nothing, "no-data"), None);
}
