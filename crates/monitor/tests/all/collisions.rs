//! What collides is in the capture as a sniffer would have it, and the analyzer does not take it for silence.

use std::collections::BTreeSet;
use std::io::Cursor;

use air::report::Report;
use link::wlan::Phy;
use link::{Contents, HostId, Link, Medium, Packet, Ppdu, Scenario, Sink, Station, WlanLink};
use txop_monitor::{AirCapture, CaptureSettings, CaptureStatus, Collisions, Origin};

#[derive(Clone)]
struct Modelled(usize);

impl Packet for Modelled {
    fn size_bytes(&self) -> usize {
        self.0
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.push(0x45);
        out.resize(out.len() + limit.min(self.0) - 1, 0);
    }
}

/// What the link showed.
#[derive(Default)]
struct Truth {
    clear_ns: u64,
    /// Overlaps count once.
    collided_ns: u64,
    busy_until_ns: u64,
    /// Unicast PPDUs that ask for an ACK or a Block Ack and did not collide, and how many of all have an answer.
    soliciting: u64,
    answers: u64,
}

struct Outside {
    air: AirCapture<Vec<u8>>,
    truth: Truth,
}

impl Sink<Modelled> for Outside {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Modelled) {}

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Modelled>) {
        let truth = &mut self.truth;
        let ns = ppdu.end_ns.saturating_sub(ppdu.start_ns.max(truth.busy_until_ns));
        truth.busy_until_ns = truth.busy_until_ns.max(ppdu.end_ns);
        *(if ppdu.collided { &mut truth.collided_ns } else { &mut truth.clear_ns }) += ns;
        match ppdu.contents {
            Contents::Data { .. } | Contents::BlockAckRequest { .. } => truth.soliciting += u64::from(!ppdu.collided),
            Contents::Ack | Contents::BlockAck { .. } => truth.answers += 1,
            Contents::Rts | Contents::Cts | Contents::Beacon => {}
        }
        self.air.take(ppdu);
    }
}

struct Played {
    truth: Truth,
    collisions: u64,
    status: CaptureStatus,
    file: Vec<u8>,
    report: Report,
}

/// Every radio has something to send all the time.
fn saturated(scenario: &Scenario, collisions: Collisions) -> Played {
    let settings = CaptureSettings { snap_bytes: 128, collisions, ..CaptureSettings::new(Origin::Simulated) };
    let air = AirCapture::new(Vec::new(), scenario.into(), &settings).expect("memory");
    let mut outside = Outside { air, truth: Truth::default() };
    let mut link = WlanLink::new(scenario.clone()).expect("a scenario");
    let hosts = link.hosts() as u16;
    for ms in 0..2_000 {
        link.advance(ms * 1_000_000, &mut outside);
        for host in 1..hosts {
            for _ in 0..20 / (hosts - 1) {
                link.offer(ms * 1_000_000, HostId::SERVER, HostId(host), Modelled(1_500));
                link.offer(ms * 1_000_000, HostId(host), HostId::SERVER, Modelled(1_500));
            }
        }
    }
    link.settle(&mut outside);
    let (file, status) = outside.air.finish();
    let reader = capture::Reader::from_read(Cursor::new(file.clone())).expect("a capture");
    let report = air::analyze_reader(reader, "memory".to_owned(), Default::default(), &mut ()).expect("a report");
    Played { truth: outside.truth, collisions: link.counters().collisions, status, file, report }
}

fn both(station: Station) -> Scenario {
    Scenario { dut: station.clone(), ap: station, ..Scenario::default() }
}

fn scenarios() -> Vec<(&'static str, Scenario)> {
    let station = Station::default;
    let several = |count| Station { name: "sta".to_owned(), count, phy: Phy::Ht, ..station() };
    vec![
        ("A-MPDUs", Scenario::default()),
        ("single", both(Station { tx_ampdu: false, ..station() })),
        ("rts", both(Station { rts: true, ..station() })),
        ("lossy", both(Station { mpdu_error_rate: 0.1, tx_ampdu: false, ..station() })),
        ("silent", both(Station { missing_ack_rate: 0.1, tx_ampdu: false, ..station() })),
        ("wide-2.4", Scenario { medium: Medium { channel: 6, width_mhz: 40, ..Medium::default() }, ..both(station()) }),
        ("six stations", Scenario { stations: vec![several(6)], ..Scenario::default() }),
        ("dsss", both(Station { phy: Phy::Ofdm, rate_mbit_s: Some(24.0), ..station() })),
    ]
}

/// Longest wait in front of a frame that collides: AIFS and a backoff of the first window doubled twice, with EIFS before it.
const WAIT_US: f64 = 1_000.0;

#[test]
fn the_time_of_collisions_is_that_of_damaged_frames() {
    let mut least_absent: f64 = 1.0;
    for (name, scenario) in scenarios() {
        for seed in 0..2 {
            let scenario = Scenario { seed, ..scenario.clone() };
            let played = saturated(&scenario, Collisions::Damaged);
            let Played { truth, collisions, status, report, .. } = &played;
            assert!(*collisions > 5, "{name}: {collisions}");
            assert_eq!((report.frames, report.bad_fcs), (status.records, status.damaged), "{name} {seed}");
            assert_eq!((report.summary.unreadable, report.ghosts.len(), status.intact), (0, 0, 0), "{name} {seed}");
            // Stamps are of whole microseconds.
            let busy_us = report.airtime.busy_us.expect("stamps");
            let truth_us = (truth.clear_ns + truth.collided_ns) as f64 / 1e3;
            assert!((busy_us - truth_us).abs() < 1e-4 * truth_us, "{name} {seed}: {busy_us} {truth_us}");
            let fall = &report.waterfalls[0];
            let us = |cause: &str| fall.steps.iter().find(|step| step.cause == cause).map_or(f64::NAN, |step| step.us);
            // Frames with the spaces before them, as everywhere in a waterfall.
            let collided_us = truth.collided_ns as f64 / 1e3;
            let most_us = collided_us + WAIT_US * *collisions as f64;
            assert!(
                (collided_us * 0.9999..most_us).contains(&us("damaged")),
                "{name} {seed}: {} {collided_us}",
                us("damaged")
            );
            // Somebody has something to send all the time: what is idle is only what the rule for backoffs does not explain.
            let idle = (us("idle") + us("idle_queued")) / fall.observed_us;
            assert!(idle < 0.006, "{name} {seed}: idle {idle}");
            let missing = report.summary.limits.iter().find(|limit| limit.code == "frames-missing");
            assert!(missing.is_none(), "{name} {seed}: {missing:?}");
            // The waterfall's payload is the goodput.
            for fall in &report.waterfalls {
                let part = fall.steps[0].mbit_s / fall.payload_mbit_s - 1.0;
                assert!(fall.steps[0].cause == "payload" && part.abs() < 1e-5, "{name} {seed}: {part}");
            }
            // A damaged frame asks for nothing and answers nothing. That it may have been an answer leaves few questions open.
            let asked: u64 = report.exchanges.iter().map(|row| row.ppdus).sum();
            let answered: u64 = report.exchanges.iter().map(|row| row.acked + row.block_acked).sum();
            assert!(asked <= truth.soliciting && truth.soliciting - asked <= collisions / 10, "{name} {seed}: {asked}");
            assert_eq!(answered, truth.answers, "{name} {seed}");
            if seed > 0 {
                continue;
            }
            // Without them, their time looks like silence.
            let absent = saturated(&scenario, Collisions::Absent);
            let fall = &absent.report.waterfalls[0];
            let share = |cause: &str| fall.steps.iter().find(|step| step.cause == cause).map_or(0.0, |step| step.share);
            assert_eq!((absent.report.bad_fcs, absent.status.records), (0, status.records - status.damaged), "{name}");
            assert_eq!(share("damaged"), 0.0, "{name}");
            if name == "A-MPDUs" || name == "six stations" {
                least_absent = least_absent.min(share("idle") + share("idle_queued"));
            }
        }
    }
    assert!(least_absent > 0.03, "{least_absent}");
}

/// When the PPDU of a record began (its stamp), and whether its FCS is wrong.
fn stamps(file: &[u8]) -> Vec<(u64, bool, Option<i64>)> {
    let mut reader = capture::Reader::from_read(Cursor::new(file.to_vec())).expect("a capture");
    let mut found = Vec::new();
    while let Some(record) = reader.next().expect("a record") {
        let stamp = u64::from_le_bytes(record.data[8..16].try_into().expect("8 bytes"));
        found.push((stamp, record.data[16] & 0x40 != 0, record.time_ns));
    }
    found
}

#[test]
fn one_ppdu_of_each_collision_is_there() {
    for (name, scenario) in scenarios() {
        let played = saturated(&scenario, Collisions::Damaged);
        let stamps = stamps(&played.file);
        let of = |wanted: bool| -> BTreeSet<u64> {
            stamps.iter().filter(|(_, bad, _)| *bad == wanted).map(|(stamp, ..)| *stamp).collect()
        };
        let (bad, good) = (of(true), of(false));
        assert_eq!(bad.len() as u64, played.collisions, "{name}");
        assert!(bad.is_disjoint(&good), "{name}");
        assert!(stamps.windows(2).all(|pair| pair[0].2 <= pair[1].2), "{name}: in the order of time");
        assert_eq!(
            saturated(&scenario, Collisions::Damaged).file,
            played.file,
            "{name}: the same seed, the same bytes"
        );
        assert!(played.status.collided >= 2 * played.collisions && played.status.damaged < played.status.collided);
    }
}

#[test]
fn a_much_stronger_frame_survives_where_that_is_asked_for() {
    let near = Station { name: "near".to_owned(), snr_db: Some(60.0), ..Station::default() };
    let far = Station { name: "far".to_owned(), snr_db: Some(35.0), ..Station::default() };
    let stations = vec![near, far];
    let ap = Station { snr_db: Some(45.0), ..Station::default() };
    let scenario = Scenario { stations, ap, seed: 2, ..Scenario::default() };
    let Played { collisions, status, report, file, .. } = saturated(&scenario, Collisions::Strongest);
    assert!(status.intact > 0, "{status:?}");
    assert_eq!((report.bad_fcs, report.frames), (status.damaged, status.records));
    let good: BTreeSet<u64> = stamps(&file).iter().filter(|(_, bad, _)| !bad).map(|(stamp, ..)| *stamp).collect();
    let damaged = saturated(&scenario, Collisions::Damaged);
    let before: BTreeSet<u64> =
        stamps(&damaged.file).iter().filter(|(_, bad, _)| *bad).map(|(stamp, ..)| *stamp).collect();
    // Nobody answers those that survive at the sniffer: they collided where they should have gone.
    let survived = good.intersection(&before).count() as u64;
    assert!(survived > 0 && survived <= collisions);
    let counts = |report: &Report| {
        let asked: u64 = report.exchanges.iter().map(|row| row.ppdus).sum();
        (asked, report.exchanges.iter().map(|row| row.acked + row.block_acked).sum::<u64>())
    };
    let (with, without) = (counts(&report), counts(&damaged.report));
    assert_eq!((with.0 - without.0, with.1), (survived, without.1));
}
