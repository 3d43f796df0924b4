//! `txop bus`' analyzer finds in a capture of the bus what was shown to it.

use std::io::Cursor;

use txop_monitor::{CaptureSettings, Origin, UsbCapture};
use wire::usb::urb::Urb;
use wire::usb::usbmon::EventKind;
use wire::usb::usbmon::LONG_HEADER;
use wire::usb::{EndpointAddress, TransferType};

/// IPv4 as far as anybody looks, in QMAP of version 1 (4 bytes of header).
fn qmap(datagrams: usize) -> Vec<u8> {
    let mut packet = vec![0; 1_000];
    packet[..4].copy_from_slice(&[0x45, 0, 0x03, 0xe8]);
    packet[8] = 64;
    let mut transfer = Vec::new();
    for _ in 0..datagrams {
        transfer.extend_from_slice(&[0, 1, 0x03, 0xe8]);
        transfer.extend_from_slice(&packet);
    }
    transfer
}

fn play(snap_bytes: usize, limit_bytes: Option<u64>) -> (Vec<u8>, txop_monitor::CaptureStatus) {
    let settings = CaptureSettings {
        start_unix_ns: 1_700_000_000_000_000_000,
        snap_bytes,
        limit_bytes,
        ..CaptureSettings::new(Origin::Simulated)
    };
    let mut usb = UsbCapture::new(Vec::new(), &settings).expect("memory");
    for n in 0..200u64 {
        let at_ns = n * 1_000_000;
        for (endpoint, datagrams) in [(0x02, 3), (0x81, 5)] {
            let transfer = qmap(datagrams);
            let is_in = endpoint & 0x80 != 0;
            let id = 0x1000 + u64::from(endpoint);
            let submit = Urb {
                at_ns,
                event: EventKind::Submission,
                id,
                device: 7,
                endpoint: EndpointAddress(endpoint),
                transfer: TransferType::Bulk,
                status: -115,
                setup: None,
                interval: 0,
                transfer_flags: 0,
                length: if is_in { 16_384 } else { transfer.len() as u32 },
                data: if is_in { &[] } else { &transfer },
            };
            usb.take(&submit);
            usb.take(&Urb {
                at_ns: at_ns + 250_000,
                event: EventKind::Completion,
                status: 0,
                length: transfer.len() as u32,
                data: if is_in { &transfer } else { &[] },
                ..submit
            });
        }
    }
    usb.finish()
}

#[test]
fn the_analyzer_finds_what_was_shown() {
    let (file, status) = play(usize::MAX, None);
    assert_eq!((status.records, status.dropped, status.error), (800, 0, None));
    let report = bus::analyze_read(Cursor::new(file), None, "memory".to_owned(), &Default::default(), &mut ())
        .expect("a report");
    assert_eq!((report.origin.as_str(), report.records, report.summary.unreadable), ("simulated", 800, 0));
    assert_eq!((report.summary.submissions, report.summary.completions), (400, 400));
    let turnaround: Vec<_> = report.endpoints.iter().map(|e| e.turnaround_us.map(|t| (t.min, t.max))).collect();
    assert_eq!(turnaround, [Some((250.0, 250.0)); 2]);
    let carried: Vec<_> = report.traffic.iter().map(|t| (t.framing.as_str(), t.transfers, t.datagrams)).collect();
    assert_eq!(carried.len(), 2, "{carried:?}");
    for row in [("qmap", 200, 600), ("qmap", 200, 1_000)] {
        assert!(carried.contains(&row), "{carried:?}");
    }
}

#[test]
fn cut_transfers_and_a_limit_are_reported() {
    let (file, _) = play(LONG_HEADER + 96, None);
    let report = bus::analyze_read(Cursor::new(file), None, "memory".to_owned(), &Default::default(), &mut ())
        .expect("a report");
    assert_eq!((report.records, report.summary.cut_transfers), (800, 400));
    let (file, status) = play(usize::MAX, Some(100_000));
    assert!((90_000..=100_000).contains(&file.len()), "{}", file.len());
    assert_eq!(status.records + status.dropped, 800);
    let report = bus::analyze_read(Cursor::new(file), None, "memory".to_owned(), &Default::default(), &mut ())
        .expect("a report");
    assert_eq!((report.records, report.summary.dropped_by_capture), (status.records, Some(status.dropped)));
}
