//! Several stations, access categories, and radios without QoS: the analyzer finds in the capture what the link counted for
//! each station.

use std::collections::HashMap;
use std::io::Cursor;

use link::wlan::Phy;
use link::{AccessCategory, Contents, HostId, Link, Medium, Packet, Ppdu, Scenario, Sink, Station, WlanLink};
use txop_monitor::{address, AirCapture, CaptureSettings, Origin};

const MS: u64 = 2_000;

#[derive(Clone)]
struct Modelled(AccessCategory);

impl Packet for Modelled {
    fn size_bytes(&self) -> usize {
        1_000
    }

    fn category(&self) -> AccessCategory {
        self.0
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.push(0x45);
        out.resize(out.len() + limit.min(1_000) - 1, 0);
    }
}

/// What went past the sink from one radio to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    mpdus: u64,
    retries: u64,
    /// MPDUs that did not collide.
    clear_mpdus: u64,
    clear_retries: u64,
}

struct Outside {
    air: AirCapture<Vec<u8>>,
    seen: HashMap<(HostId, HostId), Seen>,
    busy_ns: u64,
    busy_until_ns: u64,
}

impl Sink<Modelled> for Outside {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Modelled) {}

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Modelled>) {
        if let (Contents::Data { mpdus, .. }, Some(to)) = (&ppdu.contents, ppdu.to) {
            let retries = mpdus.iter().filter(|mpdu| mpdu.retry).count() as u64;
            let seen = self.seen.entry((ppdu.from, to)).or_default();
            seen.mpdus += mpdus.len() as u64;
            seen.retries += retries;
            if !ppdu.collided {
                seen.clear_mpdus += mpdus.len() as u64;
                seen.clear_retries += retries;
            }
        }
        // Overlaps count once.
        self.busy_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns.max(self.busy_until_ns));
        self.busy_until_ns = self.busy_until_ns.max(ppdu.end_ns);
        self.air.take(ppdu);
    }
}

fn station(name: &str, phy: Phy, mcs: u8, rate_mbit_s: Option<f64>, count: u16) -> Station {
    Station { name: name.to_owned(), phy, mcs, rate_mbit_s, count, mpdu_error_rate: 0.02, ..Station::default() }
}

fn play(scenario: &Scenario, name: &str) {
    let settings = CaptureSettings { snap_bytes: 160, ..CaptureSettings::new(Origin::Simulated) };
    let air = AirCapture::new(Vec::new(), scenario.into(), &settings).expect("memory");
    let mut outside = Outside { air, seen: HashMap::new(), busy_ns: 0, busy_until_ns: 0 };
    let mut link = WlanLink::new(scenario.clone()).expect("a scenario");
    let hosts = link.hosts() as u16;
    for ms in 0..MS {
        link.advance(ms * 1_000_000, &mut outside);
        for host in 1..hosts {
            let category = AccessCategory::BY_PRIORITY[(ms as usize + usize::from(host)) % 4];
            link.offer(ms * 1_000_000, HostId::SERVER, HostId(host), Modelled(category));
            if ms % 3 == 0 {
                link.offer(ms * 1_000_000, HostId(host), HostId::SERVER, Modelled(category));
            }
        }
    }
    link.settle(&mut outside);
    let (file, status) = outside.air.finish();
    assert_eq!((status.dropped, status.error.as_deref()), (0, None), "{name}");
    let reader = capture::Reader::from_read(Cursor::new(file)).expect("a capture");
    let report = air::analyze_reader(reader, name.to_owned(), Default::default(), &mut ()).expect("a report");
    assert_eq!(
        (report.frames, report.bad_fcs, report.summary.unreadable),
        (status.records, status.damaged, 0),
        "{name}"
    );
    assert_eq!(report.ghosts.len(), 0, "{name}");
    let counters = link.counters();
    let mut compared = 0;
    for (number, counted) in (1u16..).zip(&counters.stations) {
        for (from, to, counted) in [(0, number, &counted.down), (number, 0, &counted.up)] {
            let seen = outside.seen.get(&(HostId(from), HostId(to))).copied().unwrap_or_default();
            let what = format!("{name}: {from} to {to}");
            assert!(seen.mpdus > 0, "{what}");
            assert_eq!((seen.mpdus, seen.retries), (counted.mpdus, counted.retries), "{what}");
            let (ta, ra) = (address(HostId(from)).to_string(), address(HostId(to)).to_string());
            let row = report.links.iter().find(|row| row.ta == ta && row.ra == ra).expect("a link");
            let found = (row.data_frames, row.mpdu_retry.retries);
            assert_eq!((seen.clear_mpdus, seen.clear_retries), found, "{what}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2 * (hosts - 1));
    let busy_us = report.airtime.busy_us.expect("airtime");
    assert!((outside.busy_ns as f64 / 1e3 - busy_us).abs() < 1e-3 * busy_us, "{name}: {} {busy_us}", outside.busy_ns);
}

#[test]
fn stations_and_categories() {
    let stations = vec![station("fast", Phy::Ht, 15, None, 3), station("slow", Phy::Ht, 0, None, 1)];
    play(&Scenario { seed: 3, stations, ..Scenario::default() }, "802.11n");
}

#[test]
fn old_and_new_radios_together() {
    let stations = vec![
        station("n", Phy::Ht, 7, None, 1),
        station("g", Phy::Ofdm, 0, Some(24.0), 1),
        station("b", Phy::Dsss, 0, Some(5.5), 1),
    ];
    let medium = Medium { channel: 1, ..Medium::default() };
    play(&Scenario { seed: 4, medium, stations, ..Scenario::default() }, "802.11b, g and n");
}
