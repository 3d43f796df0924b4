//! Makes the seeds of every target out of captures that the specimen crate invents: `cargo run --example seeds`.
//!
//! One seed for each kind of frame and each link header; small captures for the two targets that take whole files.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Cursor, Write};
use std::path::Path;

use capture::{PcapSettings, PcapWriter, Reader};
use specimen::{Scene, PRESETS};
use wire::ieee80211::{FrameType, Header};
use wire::linktype::LinkType;

const RECORDS: usize = 48;
const SECONDS: f64 = 0.3;
/// Bytes of a capture that is cut off; small inputs are what a fuzzer gets on with.
const CUT: usize = 2_000;

type Seeds = BTreeMap<(&'static str, String), Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut seeds = Seeds::new();
    for &(preset, _) in PRESETS {
        let Some(mut scene) = Scene::preset(preset) else { continue };
        scene.seconds = SECONDS;
        let mut file = Vec::new();
        specimen::write(&scene, &mut file)?;
        if preset == "pcapng" {
            let cut = &file[..file.len().min(CUT)];
            seeds.insert(("capture", "pcapng-cut".to_owned()), cut.to_vec());
            seeds.insert(("air", "pcapng-cut".to_owned()), cut.to_vec());
        }
        records(preset, file, &mut seeds)?;
    }
    avs(&mut seeds);
    compressed(&mut seeds)?;
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for ((target, name), bytes) in &seeds {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::File::create(folder.join(name))?.write_all(bytes)?;
    }
    println!("{} seeds", seeds.len());
    Ok(())
}

fn records(preset: &str, file: Vec<u8>, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    let mut reader = Reader::from_read(Cursor::new(file))?;
    let mut small: Option<PcapWriter<Vec<u8>>> = None;
    let mut kept = 0;
    while let Some(record) = reader.next()? {
        let target = match record.link_type {
            LinkType::IEEE802_11_RADIOTAP => Some("radiotap"),
            LinkType::IEEE802_11_PRISM => Some("prism"),
            LinkType::PPI => Some("ppi"),
            _ => None,
        };
        let Ok(radio) = wire::radio::decode(record.link_type, record.data) else { continue };
        let mpdu = &record.data[radio.header_len..];
        let Ok(header) = Header::parse(mpdu, radio.data_pad) else { continue };
        if let Some(target) = target {
            let name = format!("{}-{}", radio.mode.family().replace(['/', ' '], "-"), radio.ampdu.is_some());
            seeds.entry((target, name)).or_insert_with(|| record.data[..radio.header_len].to_vec());
        }
        let kind = format!("{:04x}", header.fc.0 & 0x40fc);
        let whole = [&[u8::from(radio.data_pad)], &mpdu[..mpdu.len().min(256)]].concat();
        let body = &mpdu[header.header_len..mpdu.len().saturating_sub(4).max(header.header_len)];
        match header.fc.frame_type() {
            FrameType::Management => {
                let bytes = [&header.fc.0.to_le_bytes()[..], body].concat();
                seeds.entry(("management", kind.clone())).or_insert(bytes);
            }
            FrameType::Control if !body.is_empty() => {
                seeds.entry(("block_ack", format!("{kind}-{}", body.len()))).or_insert_with(|| body.to_vec());
            }
            FrameType::Data => {
                seeds.entry(("data_body", kind.clone())).or_insert_with(|| whole.clone());
            }
            FrameType::Control | FrameType::Extension => {}
        }
        seeds.entry(("mac_header", kind)).or_insert(whole);
        if kept < RECORDS {
            kept += 1;
            let writer = match &mut small {
                Some(writer) => writer,
                None => small.insert(PcapWriter::new(Vec::new(), PcapSettings::nanos(record.link_type))?),
            };
            writer.write(
                record.time_ns.unwrap_or(0),
                record.original_len,
                &record.data[..record.data.len().min(160)],
            )?;
        }
    }
    if let Some(writer) = small {
        let bytes = writer.into_inner();
        seeds.insert(("capture", preset.to_owned()), bytes[..bytes.len().min(CUT)].to_vec());
        seeds.insert(("air", preset.to_owned()), bytes);
    }
    Ok(())
}

/// No preset has AVS headers: one of version 1 with a data rate of 54 Mb/s, -60 dBm, in channel 6.
fn avs(seeds: &mut Seeds) {
    let fields: [u32; 16] = [0x8021_1001, 64, 0, 1_000, 0, 0, 8, 6, 540, 0, 0, 2, -60i32 as u32, -95i32 as u32, 0, 5];
    let bytes = fields.iter().flat_map(|field| field.to_be_bytes()).collect();
    seeds.insert(("avs", "ofdm".to_owned()), bytes);
}

/// A small pcap and a small pcapng in gzip and in zstd.
fn compressed(seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    for name in ["healthy", "pcapng-cut"] {
        let Some(plain) = seeds.get(&("capture", name.to_owned())).cloned() else { continue };
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&plain)?;
        seeds.insert(("capture", format!("{name}-gzip")), gzip.finish()?);
        seeds.insert(("capture", format!("{name}-zstd")), zstd::encode_all(&plain[..], 3)?);
    }
    Ok(())
}
