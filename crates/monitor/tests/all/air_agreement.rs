//! The analyzer, which knows nothing about the link, must find in the capture what the link has counted.

use std::collections::HashSet;
use std::io::Cursor;
use std::sync::Arc;

use ::air::report::Report;
use link::{Contents, Counters, HostId, Link, Medium, Packet, Ppdu, Scenario, SideCounters, Sink, Station, WlanLink};
use txop_monitor::{address, AirCapture, CaptureSettings, CaptureStatus, Origin};

const SECONDS: u64 = 2;
/// Up and down: sender and receiver.
const WAYS: [[HostId; 2]; 2] = [[HostId(1), HostId::SERVER], [HostId::SERVER, HostId(1)]];

#[derive(Clone)]
struct Datagram(Arc<[u8]>);

impl Datagram {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        self.0.len()
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.extend_from_slice(&self.0[..self.0.len().min(limit)]);
    }
}

/// The capture of a scenario, in memory.
fn capture_of(scenario: &Scenario, settings: CaptureSettings) -> AirCapture<Vec<u8>> {
    AirCapture::new(Vec::new(), scenario.into(), &settings).expect("memory")
}

const SIMULATED: CaptureSettings = CaptureSettings::new(Origin::Simulated);

fn analyze(file: Vec<u8>) -> Report {
    let reader = capture::Reader::from_read(Cursor::new(file)).expect("a capture");
    ::air::analyze_reader(reader, "memory".to_owned(), Default::default(), &mut ()).expect("a report")
}

struct Outside {
    air: AirCapture<Vec<u8>>,
    /// Bytes of the packets in the capture, each counted once, by sender.
    payload: [u64; 2],
    seen: [HashSet<Vec<u8>>; 2],
    /// Block Ack requests, by sender.
    requests: [u64; 2],
    airtime_ns: u64,
    /// Time of collisions: overlaps count once.
    collided_ns: u64,
    collided_until_ns: u64,
}

impl Outside {
    fn new(air: AirCapture<Vec<u8>>) -> Self {
        Self {
            air,
            payload: [0; 2],
            seen: Default::default(),
            requests: [0; 2],
            airtime_ns: 0,
            collided_ns: 0,
            collided_until_ns: 0,
        }
    }
}

impl Sink<Datagram> for Outside {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {}

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        if ppdu.collided {
            self.collided_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns.max(self.collided_until_ns));
            self.collided_until_ns = self.collided_until_ns.max(ppdu.end_ns);
        } else {
            self.airtime_ns += ppdu.end_ns - ppdu.start_ns;
        }
        if let (Contents::Data { mpdus, .. }, false) = (&ppdu.contents, ppdu.collided) {
            for bytes in mpdus.iter().map(|mpdu| mpdu.packet.bytes()) {
                let new = self.seen[ppdu.from.index()].insert(bytes[12..20].to_vec());
                self.payload[ppdu.from.index()] += if new { bytes.len() as u64 } else { 0 };
            }
        }
        let is_request = matches!(ppdu.contents, Contents::BlockAckRequest { .. }) && !ppdu.collided;
        self.requests[ppdu.from.index()] += u64::from(is_request);
        self.air.take(ppdu);
    }
}

/// A link that has been played, and what the analyzer says of it.
struct Played {
    counters: Counters,
    payload: [u64; 2],
    requests: [u64; 2],
    airtime_ns: u64,
    collided_ns: u64,
    status: CaptureStatus,
    report: Report,
}

/// An IPv4 packet as far as anybody looks.
fn datagram(len: usize, serial: u64) -> Datagram {
    let mut bytes = vec![0; len];
    bytes[0] = 0x45;
    bytes[12..20].copy_from_slice(&serial.to_le_bytes());
    Datagram(Arc::from(bytes))
}

/// Sources at both ends that send `rate` packets per ms; every fourth is small.
fn play(scenario: &Scenario, rate: u64, snap_bytes: usize) -> Played {
    let mut outside = Outside::new(capture_of(scenario, CaptureSettings { snap_bytes, ..SIMULATED }));
    let mut link = WlanLink::new(scenario.clone()).expect("a scenario");
    for ms in 0..SECONDS * 1_000 {
        link.advance(ms * 1_000_000, &mut outside);
        for serial in 0..rate {
            let len = if serial % 4 == 3 { 52 } else { 1_500 };
            for [from, to] in WAYS {
                link.offer(ms * 1_000_000, from, to, datagram(len, ms * rate + serial));
            }
        }
    }
    // Nothing new comes: what is under way gets there.
    link.advance((SECONDS + 1) * 1_000_000_000, &mut outside);
    let Outside { air, payload, requests, airtime_ns, collided_ns, .. } = outside;
    let (file, status) = air.finish();
    let report = analyze(file);
    Played { counters: link.counters(), payload, requests, airtime_ns, collided_ns, status, report }
}

struct Check<'a> {
    name: &'a str,
    problems: Vec<String>,
    compared: u32,
}

impl Check<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, link: T, report: T) {
        self.compared += 1;
        if link != report {
            self.problems.push(format!("{}: {what}: link {link:?}, report {report:?}", self.name));
        }
    }

    fn near(&mut self, what: &str, link: f64, report: f64, share: f64) {
        self.compared += 1;
        if (link - report).abs() > share * link.abs() {
            self.problems.push(format!("{}: {what}: link {link}, report {report}", self.name));
        }
    }
}

/// One direction: `sent` are the sender's counters, `got` the receiver's; payload bytes and Block Ack requests as they
/// went past the sink.
fn direction(
    check: &mut Check<'_>,
    report: &Report,
    [from, to]: [HostId; 2],
    (sent, got): (&SideCounters, &SideCounters),
    (bytes, requests): (u64, u64),
) {
    let (ta, ra) = (address(from).to_string(), address(to).to_string());
    let link = report.links.iter().find(|link| link.ta == ta && link.ra == ra).expect("a link");
    check.same("MPDUs", sent.mpdus - sent.mpdus_collided, link.mpdu_retry.frames);
    check.same("retries", sent.retries - sent.retries_collided, link.mpdu_retry.retries);
    let exchange = report.exchanges.iter().find(|exchange| exchange.ta == ta && exchange.ra == ra).expect("exchanges");
    check.same("ACKs", got.acks, exchange.acked);
    check.same("Block Acks", got.block_acks, exchange.block_acked);
    check.same("soliciting PPDUs", sent.ppdus - sent.ppdus_collided + requests, exchange.ppdus);
    let aggregation = report.aggregation.iter().find(|row| row.ta == ta && row.ra == ra).expect("aggregation");
    // Where nothing groups MPDUs, PPDUs are not counted.
    let ppdus = sent.ppdus - sent.ppdus_collided;
    let counted = aggregation.ppdus.or((report.timing.grouping == "none").then_some(ppdus));
    check.same("PPDUs", Some(ppdus), counted);
    if let Some(flow) = report.block_acks.iter().find(|flow| flow.originator == ta) {
        check.same("Block Acks counted", got.block_acks, flow.block_acks);
        if sent.mpdus_lost == 0 {
            check.same("left out", got.left_out_late, flow.left_out);
        } else {
            check.near("left out", (got.left_out_late + sent.mpdus_lost) as f64, flow.left_out as f64, 0.05);
        }
    }
    if let Some(waterfall) = report.waterfalls.iter().find(|waterfall| waterfall.ta == ta) {
        check.same("payload bytes", bytes, waterfall.payload_bytes);
    }
}

#[test]
fn the_analyzer_finds_what_the_link_counted() {
    let station = Station::default;
    let cases = [
        ("plain", Scenario::default(), 1),
        ("saturated", Scenario::default(), 5),
        ("single", both(Station { tx_ampdu: false, ..station() }), 2),
        ("rts", both(Station { rts: true, ..station() }), 4),
        ("late", Scenario { ap: Station { late_block_ack_us: 400, ..station() }, ..Scenario::default() }, 3),
        ("lossy", both(Station { mpdu_error_rate: 0.1, retry_limit: 2, ..station() }), 2),
        ("silent", Scenario { ap: Station { missing_ack_rate: 0.1, ..station() }, ..Scenario::default() }, 3),
        (
            "wide-2.4",
            Scenario {
                medium: Medium { channel: 6, width_mhz: 40, ..Medium::default() },
                ..both(Station { mcs: 15, ..station() })
            },
            6,
        ),
    ];
    let (mut problems, mut compared) = (Vec::new(), 0);
    for (name, scenario, rate) in cases {
        let scenario = Scenario { seed: 7, ..scenario };
        let Played { counters, payload, requests, airtime_ns, collided_ns, status, report } =
            play(&scenario, rate, 128);
        let mut check = Check { name, problems: Vec::new(), compared: 0 };
        check.same("frames", status.records, report.frames);
        check.same("dropped", (0, None, Some(0)), (status.dropped, status.error, report.summary.dropped_by_capture));
        check.same("origin", "simulated", &report.origin);
        check.same("bad FCS, unreadable", (status.damaged, 0), (report.bad_fcs, report.summary.unreadable));
        check.same("stamps", Some("mpdu-first-bit".to_owned()), report.timing.stamp_meaning.clone());
        check.same("ghosts", 0, report.ghosts.len());
        direction(&mut check, &report, WAYS[0], (&counters.dut, &counters.ap), (payload[1], requests[1]));
        direction(&mut check, &report, WAYS[1], (&counters.ap, &counters.dut), (payload[0], requests[0]));
        check.same("beacons", counters.ap.beacons, report.bss.iter().map(|bss| bss.beacons).sum());
        check.near("airtime", (airtime_ns + collided_ns) as f64 / 1e3, report.airtime.busy_us.unwrap_or(0.0), 1e-4);
        assert!(counters.collisions > 0, "{name}");
        compared += check.compared;
        problems.extend(check.problems);
    }
    assert!(problems.is_empty(), "{} of {compared} differ:\n{}", problems.len(), problems.join("\n"));
}

fn both(station: Station) -> Scenario {
    Scenario { dut: station.clone(), ap: station, ..Scenario::default() }
}

/// Cutting frames changes what is in the file, not what the analyzer finds.
#[test]
fn whole_frames_and_cut_frames_tell_the_same() {
    let scenario = Scenario { ap: Station { late_block_ack_us: 300, ..Station::default() }, ..Scenario::default() };
    let cut = play(&scenario, 2, 128).report;
    let whole = play(&scenario, 2, usize::MAX).report;
    assert!(cut.summary.cut_frames > 0 && whole.summary.cut_frames == 0);
    assert_eq!(whole.summary.fcs.good + whole.bad_fcs, whole.frames, "every FCS is right, but those of damaged frames");
    let figures = |report: &Report| {
        let links: Vec<_> =
            report.links.iter().map(|link| (link.ta.clone(), link.bytes, link.mpdu_retry.retries)).collect();
        let payload: Vec<_> = report.waterfalls.iter().map(|waterfall| waterfall.payload_bytes).collect();
        (links, payload, report.airtime.busy_us)
    };
    assert_eq!(figures(&cut), figures(&whole));
}

/// Wherever the link is stopped, what it has counted is in the capture.
#[test]
fn a_link_that_is_stopped_has_shown_what_it_counted() {
    struct Shown([u64; 2]);
    impl Sink<Datagram> for Shown {
        fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {}

        fn wants_air(&self) -> bool {
            true
        }

        fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
            if let Contents::Data { mpdus, .. } = ppdu.contents {
                self.0[ppdu.from.index()] += mpdus.len() as u64;
            }
        }
    }
    let mut unfinished = 0;
    for stop_us in (100..20_000).step_by(97) {
        let mut link =
            WlanLink::new(both(Station { rts: stop_us % 2 == 0, ..Station::default() })).expect("a scenario");
        for serial in 0..200 {
            for [from, to] in WAYS {
                link.offer(0, from, to, datagram(1_500, serial));
            }
        }
        let mut shown = Shown([0; 2]);
        link.advance(stop_us * 1_000, &mut shown);
        let counted = |link: &WlanLink<Datagram>| [link.counters().ap.mpdus, link.counters().dut.mpdus];
        unfinished += u32::from(counted(&link) != shown.0);
        link.settle(&mut shown);
        assert_eq!(counted(&link), shown.0, "stopped after {stop_us} µs");
    }
    assert!(unfinished > 50);
}

#[test]
fn a_limit_ends_the_file_and_is_reported() {
    let settings = CaptureSettings { snap_bytes: 128, limit_bytes: Some(20_000), ..SIMULATED };
    let mut outside = Outside::new(capture_of(&Scenario::default(), settings));
    let mut link = WlanLink::new(Scenario::default()).expect("a scenario");
    for n in 0..200 {
        link.offer(0, HostId(1), HostId::SERVER, datagram(1_500, n));
    }
    link.advance(500_000_000, &mut outside);
    let (file, status) = outside.air.finish();
    assert!((10_000..=20_000).contains(&file.len()), "{}", file.len());
    let report = analyze(file);
    assert!(status.dropped > 0 && status.records > 50);
    assert_eq!((report.frames, report.summary.dropped_by_capture), (status.records, Some(status.dropped)));
}
