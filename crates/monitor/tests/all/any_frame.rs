//! Whatever a link shows: every frame is read again by the analyzer as what it was, with the right rate and FCS.

use std::io::Cursor;

use link::engine::{AccessCategory, HostId, Packet};
use link::ppdu::{Contents, DataMpdu, Ppdu};
use txop_monitor::{address, AirCapture, CaptureSettings, Network, Origin};
use wire::phy::{Bandwidth, Ht, Mode};

#[derive(Clone)]
struct Modelled(usize);

impl Packet for Modelled {
    fn size_bytes(&self) -> usize {
        self.0
    }

    /// Fewer bytes than asked for: the monitor makes up the rest.
    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.extend_from_slice(&[0x60, 0, 0][..limit.min(3)]);
    }
}

const fn ht(mcs: u8, bandwidth: Bandwidth) -> Mode {
    let short_gi = Some(mcs % 2 == 1);
    Mode::Ht(Ht { mcs, bandwidth, short_gi, greenfield: Some(false), ldpc: Some(false), stbc: Some(0), ness: 0 })
}

struct Cell {
    air: AirCapture<Vec<u8>>,
    now_ns: u64,
    sequence: u16,
}

impl Cell {
    fn send(&mut self, mode: Mode, from: u16, to: Option<u16>, contents: Contents<'_, Modelled>) {
        let len = match contents {
            Contents::Data { qos, mpdus, ampdu, .. } => {
                let lens = mpdus.iter().map(|m| m.packet.0 + if qos { 38 } else { 36 });
                if ampdu {
                    wire::phy::ampdu_psdu_len(lens)
                } else {
                    lens.sum()
                }
            }
            Contents::Ack | Contents::Cts => 14,
            Contents::Rts => 20,
            Contents::BlockAck { .. } => 32,
            Contents::BlockAckRequest { .. } => 24,
            Contents::Beacon => 164,
        };
        let end_ns = self.now_ns + mode.duration(len, None).expect("a mode with a length").min_ns();
        self.air.take(&Ppdu {
            start_ns: self.now_ns,
            end_ns,
            duration_us: 0,
            mode,
            from: HostId(from),
            to: to.map(HostId),
            signal_dbm: -61,
            noise_dbm: -95,
            collided: false,
            contents,
        });
        self.now_ns = end_ns + 50_000;
    }

    fn data(&mut self, mode: Mode, from: u16, to: u16, how: (AccessCategory, bool, bool), packets: usize) {
        let packet = Modelled(700);
        let mpdus: Vec<_> = (0..packets)
            .map(|n| DataMpdu { sequence: (self.sequence + n as u16) % 4_096, retry: n == 1, packet: &packet })
            .collect();
        self.sequence = (self.sequence + packets as u16) % 4_096;
        let (category, qos, ampdu) = how;
        self.send(mode, from, Some(to), Contents::Data { category, ampdu, qos, mpdus: &mpdus });
    }
}

#[test]
fn stations_categories_rates_and_frames_without_qos() {
    let network = Network {
        channel: 6,
        width_mhz: 40,
        streams: Some(4),
        rates: vec![0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36, 48, 72, 96, 108],
        beacon_bytes: 164 + 6,
    };
    let settings = CaptureSettings::new(Origin::Emulated);
    let air = AirCapture::new(Vec::new(), network, &settings).expect("memory");
    let mut cell = Cell { air, now_ns: 0, sequence: 0 };
    let legacy: Vec<Mode> = [2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108]
        .into_iter()
        .filter_map(|rate| Mode::from_legacy_rate(rate, Some(rate == 22)))
        .collect();
    assert_eq!(legacy.len(), 12);
    let (mut frames, mut data) = (0, 0);
    for _ in 0..20 {
        cell.send(legacy[0], 0, None, Contents::Beacon);
        frames += 1;
        for (n, mode) in legacy.iter().enumerate() {
            let station = 1 + n as u16 % 3;
            cell.data(*mode, station, 0, (AccessCategory::BestEffort, false, false), 1);
            cell.send(legacy[1], 0, Some(station), Contents::Ack);
            frames += 2;
            data += 1;
        }
        for (n, category) in AccessCategory::BY_PRIORITY.into_iter().enumerate() {
            let station = 300 + n as u16;
            let mode = ht(n as u8 * 8 + n as u8, Bandwidth::Mhz40);
            cell.send(legacy[6], 0, Some(station), Contents::Rts);
            cell.send(legacy[6], station, Some(0), Contents::Cts);
            let start_sequence = cell.sequence;
            cell.data(mode, 0, station, (category, true, true), 1 + n * 3);
            cell.send(legacy[6], station, Some(0), Contents::BlockAck { category, start_sequence, bitmap: 0x3ff });
            cell.send(legacy[6], 0, Some(station), Contents::BlockAckRequest { category, start_sequence });
            frames += 5 + n * 3;
            data += 1 + n * 3;
        }
    }
    let (file, status) = cell.air.finish();
    assert_eq!((status.records, status.dropped, status.error), (frames as u64, 0, None));
    let reader = capture::Reader::from_read(Cursor::new(file)).expect("a capture");
    let report = air::analyze_reader(reader, "memory".to_owned(), Default::default(), &mut ()).expect("a report");
    assert_eq!((report.origin.as_str(), report.frames, report.bad_fcs), ("emulated", frames as u64, 0));
    assert_eq!((report.summary.fcs.good, report.summary.unreadable), (frames as u64, 0));
    assert_eq!(report.links.iter().map(|link| link.data_frames).sum::<u64>(), data as u64);
    assert_eq!(report.links.iter().map(|link| link.mpdu_retry.retries).sum::<u64>(), 20 * 3);
    let tids: std::collections::BTreeSet<u8> = report.block_acks.iter().map(|flow| flow.tid).collect();
    assert_eq!(tids.into_iter().collect::<Vec<_>>(), [0, 1, 5, 6]);
    let of_303 = report.links.iter().find(|link| link.ra == address(HostId(303)).to_string()).expect("a link");
    assert_eq!(of_303.data_frames, 20 * 10);
    let rates = report.links.iter().flat_map(|link| link.rates.iter().map(|rate| rate.label.clone()));
    let rates: std::collections::BTreeSet<_> = rates.collect();
    let expected = ["1 Mb/s long", "2 Mb/s long", "5.5 Mb/s long", "11 Mb/s short"]
        .into_iter()
        .chain(["6 Mb/s", "9 Mb/s", "12 Mb/s", "18 Mb/s", "24 Mb/s", "36 Mb/s", "48 Mb/s", "54 Mb/s"])
        .chain(["HT40 MCS0", "HT40 MCS9 SGI", "HT40 MCS18", "HT40 MCS27 SGI"]);
    assert_eq!(rates, expected.map(str::to_owned).collect());
}
