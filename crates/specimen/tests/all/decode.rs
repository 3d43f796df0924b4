//! The files as txop's own reader and decoders see them.

use std::collections::BTreeMap;
use std::io::Cursor;

use capture::Reader;
use txop_specimen::{write, Scene};
use wire::ieee80211::Header;
use wire::radio;

#[test]
fn rates_per_station_come_back() {
    for name in ["healthy", "legacy", "vht", "he", "ppi", "pcapng", "ack-by-rate"] {
        let mut scene = Scene::preset(name).unwrap_or_else(|| panic!("no preset {name}"));
        scene.seconds = 0.4;
        let mut file = Vec::new();
        let truth = write(&scene, &mut file).unwrap_or_else(|error| panic!("{error}"));
        let mut reader = Reader::from_read(Cursor::new(file)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut rates: BTreeMap<(String, String), (u64, u64, u64)> = BTreeMap::new();
        let (mut frames, mut ampdus) = (0, 0);
        while let Some(record) = reader.next().unwrap_or_else(|damage| panic!("{name}: {damage}")) {
            frames += 1;
            let info = radio::decode(record.link_type, record.data).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((info.fcs_included, info.tsft_us.is_some()), (Some(true), true), "{name}");
            assert_eq!(info.frequency_mhz, Some(scene.frequency_mhz), "{name}");
            ampdus += u64::from(info.ampdu.is_some());
            let mpdu = &record.data[info.header_len..];
            assert_eq!(wire::fcs::check(mpdu), Some(true), "{name}");
            let header = Header::parse(&mpdu[..mpdu.len() - 4], false).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            if let Some(ta) = header.transmitter() {
                // PPI does not give the preamble length of DSSS frames.
                let label = info.mode.label();
                let label = label.trim_end_matches(" long").trim_end_matches(" short");
                let row = rates.entry((ta.to_string(), label.to_owned())).or_default();
                row.0 += 1;
                row.1 += u64::from(mpdu[1] & 8 != 0);
                row.2 += mpdu.len() as u64;
            }
        }
        assert_eq!(frames, truth.frames, "{name}");
        let mut expected: BTreeMap<(String, String), (u64, u64, u64)> = BTreeMap::new();
        for station in &truth.stations {
            for rate in &station.rates {
                let label = rate.label.trim_end_matches(" long").trim_end_matches(" short");
                let row = expected.entry((station.address.clone(), label.to_owned())).or_default();
                *row = (row.0 + rate.frames, row.1 + rate.retries, row.2 + rate.bytes);
            }
        }
        assert_eq!(rates, expected, "{name}");
        let in_ampdus: u64 = truth.block_acks.iter().map(|flow| flow.transmissions).sum();
        assert_eq!(ampdus, in_ampdus, "{name}");
    }
}
