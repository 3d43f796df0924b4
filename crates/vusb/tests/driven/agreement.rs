//! `txop air` and `txop bus`, which know nothing about chips, must find in the recordings what the chip and its bus have counted.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;

use ::air::report::Report;
use vusb::air::{
    response_to, ChannelSettings, Medium, Neighbour, Outcome, Ppdu, Protection, Reception, SideCounters, Station, Tuned,
};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use vusb::device::Device;
use vusb::peers::{PeerStatistics, Peers};
use vusb::record::{settings, AirFile, UsbFile};
use wire::ieee80211::MacAddr;
use wire::phy::{AccessCategory, EdcaParameters, Mode};

use crate::chip::{set_up, transmission, write, AP, OWN};
use crate::host::Host;

const SECONDS: u64 = 1;
/// 2026-01-01.
const EPOCH_NS: i64 = 1_767_225_600_000_000_000;
const AMPDU_MAX: usize = 12;
const ATTEMPTS: u8 = 4;

/// An access point that answers everything, and sends what it is given as a real one would: in A-MPDUs, again when it is not
/// acknowledged.
struct Peer {
    waiting: VecDeque<(Vec<u8>, u8)>,
    on_air: Vec<(Vec<u8>, u8)>,
    since_ns: u64,
    aggregates: bool,
    protection: Protection,
}

#[derive(Clone)]
struct FarEnd(Rc<RefCell<Peer>>);

const MODE: fn() -> Mode = || vusb::air::rates::mode(17, Default::default());

impl Station for FarEnd {
    fn tuned(&self) -> Option<Tuned> {
        Tuned::channel(6)
    }
    fn ready_since(&self) -> Option<u64> {
        let peer = self.0.borrow();
        (!peer.waiting.is_empty()).then_some(peer.since_ns)
    }
    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::BestEffort)
    }
    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let mut peer = self.0.borrow_mut();
        let count = if peer.aggregates { peer.waiting.len().min(AMPDU_MAX) } else { 1 };
        let taken: Vec<_> = peer.waiting.drain(..count).collect();
        let mpdus: Vec<_> = taken.iter().map(|(mpdu, _)| mpdu.clone()).collect();
        peer.on_air = taken;
        let response = response_to(mpdus.first()?, peer.aggregates);
        Some(Ppdu { mode: MODE(), mpdus, aggregated: peer.aggregates, protection: peer.protection, response })
    }
    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        let mut peer = self.0.borrow_mut();
        let sent = std::mem::take(&mut peer.on_air);
        for ((mut mpdu, attempts), &acknowledged) in sent.into_iter().zip(&outcome.acknowledged).rev() {
            if !acknowledged && attempts + 1 < ATTEMPTS {
                mpdu[1] |= 0x08;
                peer.waiting.push_front((mpdu, attempts + 1));
            }
        }
    }
    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        true
    }
}

impl Peers for FarEnd {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![self]
    }
    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![self]
    }
    fn statistics(&self) -> PeerStatistics {
        PeerStatistics::default()
    }
}

/// What both sides do.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    aggregates: bool,
    /// Words of the descriptor besides those of rate and aggregation.
    words: &'static [(usize, u32)],
    protection: Protection,
    channel: ChannelSettings,
    neighbour: Option<f64>,
}

const GOOD: ChannelSettings = ChannelSettings { signal_dbm: -45, noise_dbm: -95, loss: 0.0 };
const PLAIN: Case =
    Case { name: "plain", aggregates: false, words: &[], protection: Protection::None, channel: GOOD, neighbour: None };
/// RTS_CTS_ENABLE and HW_RTS_ENABLE at 24 Mbit/s; the same for CTS to itself at 1 Mbit/s.
const RTS: &[(usize, u32)] = &[(4, 1 << 12 | 1 << 13 | 8)];
const CTS_TO_SELF: &[(usize, u32)] = &[(4, 1 << 11 | 1 << 13)];
/// Retry limit of 2 in the descriptor: much is given up, and Block Ack requests follow.
const IMPATIENT: &[(usize, u32)] = &[(5, 1 << 17 | 2 << 18)];

fn down(sequence: u16, len: usize) -> Vec<u8> {
    let mut frame = vec![0x88, 0x02, 0, 0];
    for address in [OWN, AP, AP] {
        frame.extend(address);
    }
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    frame.resize(len, 0x66);
    frame
}

/// Plays a case; gives the chip's statistics when the air is silent.
fn play(case: &Case, air: &Path, usb: &Path) -> (Rtl8188cus, vusb::urbs::UrbCounters) {
    let peer = Peer {
        waiting: VecDeque::new(),
        on_air: Vec::new(),
        since_ns: 0,
        aggregates: case.aggregates,
        protection: case.protection,
    };
    let far = FarEnd(Rc::new(RefCell::new(peer)));
    let recorder = AirFile::create(air, &settings(monitor::Origin::Emulated, EPOCH_NS, None)).unwrap();
    let medium = Medium::new(case.channel, 7, Some(recorder)).with_neighbour(case.neighbour.map(Neighbour::new));
    let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(far.clone()));
    let observer = UsbFile::create(usb, &settings(monitor::Origin::Emulated, EPOCH_NS, None)).unwrap();
    let mut host = Host::observed(chip, Some(Box::new(observer)));
    set_up(&mut host);
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    let aggregate = if case.aggregates { 1 << 5 } else { 0 };
    let words = [&[(1, aggregate), (4, 1 << 8), (5, 17)], case.words].concat();
    let (mut up, mut down_sequence) = (0u16, 0u16);
    for _ in 0..4 {
        host.read(1, 16_384, 0);
    }
    let begin_ns = host.now_ns;
    let traffic_end_ns = begin_ns + SECONDS * 1_000_000_000;
    let (mut next_ns, mut steps) = (begin_ns, 0);
    while host.now_ns < traffic_end_ns + 500_000_000 {
        if host.now_ns >= next_ns && next_ns < traffic_end_ns {
            // Two each way in a millisecond, one of them small; bursts, so that there is something to aggregate.
            next_ns += 5_000_000;
            let mut peer = far.0.borrow_mut();
            for serial in 0..10 {
                let len = if serial % 2 == 0 { 1_500 } else { 90 };
                host.write(3, &transmission(up, len, &words));
                up = (up + 1) & 0xfff;
                if peer.waiting.is_empty() {
                    peer.since_ns = host.now_ns;
                }
                peer.waiting.push_back((down(down_sequence, len), 0));
                down_sequence = (down_sequence + 1) & 0xfff;
            }
        }
        for (completion, data) in host.completions() {
            if let (wire::usb::usbip::Completion::Submit { status: 0, .. }, false) = (completion, data.is_empty()) {
                host.read(1, 16_384, 0);
            }
        }
        let traffic_ns = if next_ns < traffic_end_ns { next_ns } else { u64::MAX };
        let event_ns = host.device.next_event().unwrap_or(u64::MAX).min(traffic_ns);
        host.now_ns = event_ns.clamp(host.now_ns + 1, host.now_ns + 5_000_000);
        steps += 1;
        assert!(steps < 1_000_000, "it spins");
    }
    host.device.finish().unwrap();
    let (chip, counters) = host.finish();
    (chip, counters)
}

fn analyze(path: &Path) -> Report {
    let reader = capture::Reader::from_read(std::fs::File::open(path).unwrap()).unwrap();
    ::air::analyze_reader(reader, "air".to_owned(), Default::default(), &mut ()).unwrap()
}

struct Check<'a> {
    name: &'a str,
    problems: Vec<String>,
}

impl Check<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, counted: T, found: T) {
        if counted != found {
            self.problems.push(format!("{}: {what}: counted {counted:?}, found {found:?}", self.name));
        }
    }
}

/// One direction: what `sent` has sent, and `got` answered. Every frame that did not collide can be read in the capture.
fn direction(check: &mut Check<'_>, report: &Report, way: [[u8; 6]; 2], (sent, got): (&SideCounters, &SideCounters)) {
    let [ta, ra] = way.map(|address| MacAddr(address).to_string());
    let (all, collided) = (&sent.sent, &sent.collided);
    let link = report.links.iter().find(|link| link.ta == ta && link.ra == ra).expect("a link");
    check.same("data MPDUs", all.unicast_data - collided.unicast_data, link.mpdu_retry.frames);
    check.same("retries", all.data_retries - collided.data_retries, link.mpdu_retry.retries);
    let exchange = report.exchanges.iter().find(|exchange| exchange.ta == ta && exchange.ra == ra).expect("exchanges");
    // Where nothing groups MPDUs, a damaged frame may be part of the A-MPDU before it: the question stays open.
    let (counted, found) = (all.soliciting - collided.soliciting, exchange.ppdus);
    let is_open = report.timing.grouping == "none" && (1..=counted / 100).contains(&(counted - found.min(counted)));
    check.same("soliciting PPDUs", counted, if is_open { counted } else { found });
    check.same("ACKs", got.acks, exchange.acked);
    check.same("Block Acks", got.block_acks, exchange.block_acked);
    check.same("RTS", all.rts - collided.rts, exchange.rts);
    check.same("CTS", got.cts, exchange.cts);
    let rows = report.aggregation.iter().filter(|row| row.ta == ta && row.ra == ra);
    let (ppdus, ampdus) = rows.fold((Some(0), 0), |(ppdus, ampdus), row| {
        (ppdus.zip(row.ppdus).map(|(sum, more)| sum + more), ampdus + row.ampdus.unwrap_or(0))
    });
    // Where nothing groups MPDUs, PPDUs are not counted.
    let truth = all.data_ppdus - collided.data_ppdus;
    check.same("data PPDUs", Some(truth), ppdus.or((report.timing.grouping == "none").then_some(truth)));
    let several = |frames: &vusb::air::Frames| frames.ampdus - frames.single_ampdus;
    check.same("A-MPDUs of several MPDUs", several(all) - several(collided), ampdus);
    let requests: u64 = report.block_acks.iter().filter(|flow| flow.originator == ta).map(|flow| flow.requests).sum();
    check.same("Block Ack requests", all.block_ack_requests - collided.block_ack_requests, requests);
    let bytes = all.sent_bytes - collided.sent_bytes;
    check.same("bytes", bytes + 20 * (all.rts - collided.rts) + 32 * sent.block_acks, link.bytes);
}

#[test]
fn the_analyzers_find_what_the_chip_counted() {
    let folder = tempfile::tempdir().unwrap();
    let noisy = ChannelSettings { signal_dbm: -45, noise_dbm: -66, loss: 0.0 };
    let lossy = ChannelSettings { loss: 0.1, ..GOOD };
    let rts = |words| Case {
        words,
        protection: Protection::Rts(Mode::Ofdm { rate_500kbps: 48, bandwidth: wire::phy::Bandwidth::Mhz20 }),
        ..PLAIN
    };
    let cases = [
        PLAIN,
        Case { name: "aggregated", aggregates: true, ..PLAIN },
        Case { name: "rts", aggregates: true, ..rts(RTS) },
        Case { name: "lossy rts", aggregates: true, channel: lossy, ..rts(RTS) },
        Case { name: "cts-to-self", ..rts(CTS_TO_SELF) },
        Case { name: "lossy", channel: lossy, ..PLAIN },
        Case { name: "lossy aggregated", aggregates: true, channel: lossy, ..PLAIN },
        Case { name: "noisy", aggregates: true, channel: noisy, ..PLAIN },
        Case {
            name: "impatient",
            aggregates: true,
            channel: ChannelSettings { loss: 0.4, ..GOOD },
            words: IMPATIENT,
            ..PLAIN
        },
        Case { name: "neighbour", aggregates: true, channel: lossy, neighbour: Some(8.0), ..PLAIN },
    ];
    let mut problems = Vec::new();
    for case in cases {
        let (air, usb) = (folder.path().join("air.pcapng"), folder.path().join("usb.pcapng"));
        let (chip, urbs) = play(&case, &air, &usb);
        let counters = chip.air().clone();
        let ap = counters.ap.unwrap();
        let report = analyze(&air);
        let mut check = Check { name: case.name, problems: Vec::new() };
        // One PPDU of each collision is in the capture, damaged: of one MPDU or several.
        check.same("one PPDU for each collision", true, report.bad_fcs >= counters.collisions);
        check.same("ghosts", 0, report.ghosts.len());
        check.same("unreadable", 0, report.summary.unreadable);
        direction(&mut check, &report, [OWN, AP], (&counters.chip, &ap));
        direction(&mut check, &report, [AP, OWN], (&ap, &counters.chip));
        problems.extend(check.problems);
        assert!(counters.collisions > 5 && counters.chip.sent.mpdus > 1_000, "{}: {counters:?}", case.name);
        assert!(counters.busy_ns < (SECONDS + 1) * 1_000_000_000, "{}: more than all the time", case.name);
        let must_lose = case.channel != GOOD;
        assert_eq!(counters.lost > 100, must_lose, "{}: {counters:?}", case.name);
        let airtime_ns = counters.chip.airtime_ns + ap.airtime_ns + counters.neighbour.airtime_ns;
        assert!(counters.busy_ns < airtime_ns && counters.busy_ns > airtime_ns * 3 / 4, "{}: {counters:?}", case.name);
        bus(case.name, &usb, &urbs);
    }
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
}

fn bus(name: &str, usb: &Path, urbs: &vusb::urbs::UrbCounters) {
    let file = std::fs::File::open(usb).unwrap();
    let report = ::bus::analyze_read(file, None, "usb".to_owned(), &Default::default(), &mut ()).unwrap();
    let rows = || report.endpoints.iter();
    let bytes = |way: &str| {
        rows().filter(|row| row.direction == way && row.transfer != "control").filter_map(|row| row.bytes).sum::<u64>()
    };
    assert_eq!(rows().map(|row| row.submissions).sum::<u64>(), urbs.submitted, "{name}");
    let ended = urbs.succeeded + urbs.stalled + urbs.babbled + urbs.failed + urbs.unlinked;
    assert_eq!(rows().map(|row| row.completions).sum::<u64>(), ended, "{name}");
    assert_eq!((bytes("in"), bytes("out")), (urbs.in_bytes, urbs.out_bytes), "{name}");
    assert!(urbs.in_bytes > 100_000 && urbs.out_bytes > 100_000, "{name}: {urbs:?}");
}
