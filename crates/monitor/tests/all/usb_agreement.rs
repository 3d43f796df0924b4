//! `txop bus`' analyzer, which knows nothing about the link, must find in the capture what an 802.11 link over USB has counted.

use std::io::Cursor;

use bus::report::Report;
use link::wlan::{Usb, UsbCounters};
use link::{HostId, Link, Packet, Scenario, Sink, Station, WlanLink};
use txop_monitor::{CaptureSettings, CaptureStatus, Origin, UsbCapture};
use wire::usb::urb::Urb;

const STATION: HostId = HostId(1);

/// An IPv4 packet as far as anybody looks.
#[derive(Clone)]
struct Datagram(usize);

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        self.0
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        let mut bytes = vec![0; self.0];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(self.0 as u16).to_be_bytes());
        bytes.truncate(limit);
        out.extend(bytes);
    }
}

struct Outside {
    usb: UsbCapture<Vec<u8>>,
    last_ns: u64,
    delivered: u64,
}

impl Sink<Datagram> for Outside {
    fn deliver(&mut self, _at_ns: u64, to: HostId, _packet: Datagram) {
        self.delivered += u64::from(to == STATION);
    }

    fn wants_bus(&self) -> bool {
        true
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        assert!(urb.at_ns >= self.last_ns, "URBs come in the order of their times");
        self.last_ns = urb.at_ns;
        self.usb.take(urb);
    }
}

struct Played {
    counted: UsbCounters,
    delivered: u64,
    status: CaptureStatus,
    report: Report,
}

/// Both ends send for two seconds; the station begins. `small`: bytes of every third packet.
fn play(usb: Usb, snap_bytes: usize, small: usize) -> Played {
    let dut = Station { per_packet_cost_us: 20.0, usb: Some(usb), ..Station::default() };
    let mut link = WlanLink::new(Scenario { dut, ..Scenario::default() }).expect("a scenario");
    let settings = CaptureSettings { snap_bytes, ..CaptureSettings::new(Origin::Simulated) };
    let usb = UsbCapture::new(Vec::new(), &settings).expect("memory");
    let mut outside = Outside { usb, last_ns: 0, delivered: 0 };
    for ms in 0..2_000u64 {
        link.advance(ms * 1_000_000, &mut outside);
        for serial in 0..3 {
            let packet = Datagram(if serial == 2 { small } else { 1_500 });
            link.offer(ms * 1_000_000, STATION, HostId::SERVER, packet.clone());
            if ms > 20 {
                link.offer(ms * 1_000_000, HostId::SERVER, STATION, packet);
            }
        }
    }
    link.advance(3_000_000_000, &mut outside);
    let (file, status) = outside.usb.finish();
    let report = bus::analyze_read(Cursor::new(file), None, "memory".to_owned(), &Default::default(), &mut ())
        .expect("a report");
    let counted = link.counters().dut.usb.expect("a radio with USB");
    Played { counted, delivered: outside.delivered, status, report }
}

fn agree(usb: &Usb) -> Played {
    let played = play(usb.clone(), usize::MAX, 52);
    let Played { counted, status, report, .. } = &played;
    assert_eq!((status.dropped, report.summary.unreadable, report.summary.cut_transfers), (0, 0, 0));
    assert_eq!((report.origin.as_str(), report.devices.len()), ("simulated", 1));
    assert_eq!((report.devices[0].name.as_str(), report.devices[0].kind.as_str()), ("1.4", "realtek-wifi"));
    let found = |address: &str, direction: &str| {
        let endpoint = report.endpoints.iter().find(|row| row.address == address && row.direction == direction);
        let endpoint = endpoint.unwrap_or_else(|| panic!("endpoint {address} {direction} in {:?}", report.endpoints));
        assert_eq!((endpoint.errors.expect("a count"), endpoint.transfer.as_str() == "bulk"), (0, address != "0x84"));
        (endpoint.completions, endpoint.bytes.expect("bytes"))
    };
    assert_eq!(found("0x02", "out"), (counted.out_urbs, counted.out_bytes));
    assert_eq!(found("0x81", "in"), (counted.in_urbs, counted.in_bytes));
    let carried = |direction: &str| {
        let mut rows = report.traffic.iter().filter(|row| row.direction == direction);
        let row = rows.next().expect("traffic");
        assert!(rows.next().is_none(), "one framing each way");
        assert_eq!((row.framing.as_str(), row.faulty_transfers), ("realtek", 0));
        (row.transfers, row.datagrams)
    };
    assert_eq!(carried("out"), (counted.out_urbs, counted.out_urbs));
    assert_eq!(carried("in"), (counted.in_urbs, counted.in_packets));
    assert!(counted.out_urbs > 5_000 && counted.in_packets > 5_000, "{counted:?}");
    assert_eq!(played.delivered, counted.in_packets);
    let interrupts = (usb.interrupts_per_second * 3.0) as u64;
    if interrupts > 0 {
        assert_eq!(found("0x84", "in").0, interrupts);
    }
    let s = &report.summary;
    assert_eq!(s.completions, counted.out_urbs + counted.in_urbs + interrupts);
    // At the end every IN URB waits for data, and that for interrupts too.
    assert_eq!(s.submissions - s.completions, u64::from(usb.rx_urbs) + u64::from(interrupts > 0));
    played
}

#[test]
fn one_packet_per_urb_and_interrupts() {
    let usb = Usb { tx_urb_cost_us: 30.0, rx_urb_cost_us: 40.0, interrupts_per_second: 1_000.0, ..Usb::default() };
    let played = agree(&usb);
    assert_eq!(played.counted.in_urbs, played.counted.in_packets);
}

#[test]
fn packets_put_together() {
    let usb = Usb { tx_urb_cost_us: 30.0, rx_urb_cost_us: 40.0, rx_packets_per_urb: 4, ..Usb::default() };
    let played = agree(&usb);
    assert!(played.counted.in_packets > 2 * played.counted.in_urbs, "{:?}", played.counted);
    // Cut transfers: the first descriptor says how many packets there are.
    for small in [52, 1_500] {
        for snap_bytes in [256, 128, 64 + 32] {
            let cut = play(usb.clone(), snap_bytes, small);
            assert!(cut.report.summary.cut_transfers > 0);
            let rows = |direction: &str| {
                cut.report.traffic.iter().find(|row| row.direction == direction).expect("traffic").clone()
            };
            let (row, out) = (rows("in"), rows("out"));
            let counted = cut.counted.in_packets as f64 / cut.counted.in_urbs as f64;
            assert_eq!((row.cut_transfers, row.datagrams), (Some(0), cut.counted.in_packets), "{snap_bytes}, {small}");
            assert_eq!(
                (row.datagrams_per_transfer, row.at_least_per_transfer),
                (Some(counted), Some(counted)),
                "{snap_bytes}"
            );
            assert_eq!(row.at_most_per_transfer, Some(counted), "{snap_bytes}");
            assert!(row.counted_by_table > Some(cut.counted.in_urbs / 2), "{row:?}");
            assert_eq!((out.datagrams, out.datagrams_per_transfer), (cut.counted.out_urbs, Some(1.0)));
        }
    }
}

#[test]
fn few_urbs_lose_packets_and_are_never_more_than_there_are() {
    let usb = Usb { rx_urbs: 2, rx_packets_per_urb: 4, rx_urb_cost_us: 600.0, ..Usb::default() };
    let played = agree(&usb);
    let endpoint = played.report.endpoints.iter().find(|row| row.address == "0x81").expect("the IN endpoint");
    assert_eq!(endpoint.in_flight_max, Some(2));
}
