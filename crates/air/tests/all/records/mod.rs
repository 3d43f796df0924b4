//! Made-up captures as records, to be rearranged, and records as captures.

use std::io::Cursor;

use capture::{PcapSettings, PcapWriter, Reader};
use specimen::Scene;
use wire::linktype::LinkType;

/// Time (ns since 1970) and bytes, from the radiotap header on.
pub type Record = (i64, Vec<u8>);

/// The records of a scene.
pub fn records_of(scene: &Scene) -> Vec<Record> {
    let mut bytes = Vec::new();
    specimen::write(scene, &mut bytes).expect("a capture");
    let mut reader = Reader::from_read(Cursor::new(bytes)).expect("a capture");
    let mut records = Vec::new();
    while let Some(record) = reader.next().expect("no damage") {
        records.push((record.time_ns.expect("a time"), record.data.to_vec()));
    }
    records
}

/// The records of a preset scene of this length.
pub fn records(name: &str, seconds: f64) -> Vec<Record> {
    let mut scene = Scene::preset(name).expect("a preset");
    scene.seconds = seconds;
    records_of(&scene)
}

/// A pcap file of records, in their order.
pub fn pcap<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<u8> {
    let settings = PcapSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("a file header");
    for (time_ns, data) in records {
        writer.write(*time_ns, data.len() as u32, data).expect("memory");
    }
    writer.into_inner()
}
