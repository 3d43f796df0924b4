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
    usb(&mut seeds)?;
    qmi(&mut seeds)?;
    decrypt(&mut seeds);
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

/// A key, messages 1 and 2 of a handshake (whose MIC is wrong), and a protected frame.
fn decrypt(seeds: &mut Seeds) {
    let frame = |fc: [u8; 2], addresses: [u8; 2], body: &[u8]| {
        let [receiver, sender] = addresses.map(|last| [2, 0, 0, 0, 0, last]);
        [&fc[..], &[0, 0], &receiver, &sender, &[2, 0, 0, 0, 0, 1], &[0, 0], body].concat()
    };
    let message = |information: [u8; 2], data: &[u8]| {
        let len = (95 + data.len()) as u8;
        let mut body = vec![0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e, 2, 3, 0, len, 2, information[0], information[1], 0, 16];
        body.resize(8 + 98, 1);
        body.push(data.len() as u8);
        body[8 + 97] = 0;
        body.extend(data);
        body
    };
    let rsn = [48, 20, 1, 0, 0, 15, 172, 4, 1, 0, 0, 15, 172, 4, 1, 0, 0, 15, 172, 2, 0, 0];
    let chunks = [
        format!("pmk {}", "5a".repeat(32)).into_bytes(),
        frame([0x08, 0x02], [2, 1], &message([0x00, 0x8a], &[])),
        frame([0x08, 0x01], [1, 2], &message([0x01, 0x0a], &rsn)),
        frame([0x08, 0x41], [1, 2], &[1, 0, 0, 0x20, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    ];
    let bytes = chunks.iter().flat_map(|chunk| [&(chunk.len() as u16).to_be_bytes()[..], chunk].concat()).collect();
    seeds.insert(("decrypt", "handshake".to_owned()), bytes);
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

/// USB transfers: one of each framing, in usbmon and USBPcap records, as capture and as text.
/// A host that sets a modem's data path up and uses it: pieces of the target, each with its kind and length in front.
fn qmi(seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    use wire::usb::qmi::qmux::{Header, Kind};
    use wire::usb::qmi::tlv::Writer;
    use wire::usb::qmi::{ctl, dms, wda, wds, write_fields, Nothing, Service};

    let piece = |kind: u8, bytes: &[u8]| [&[kind, bytes.len() as u8][..], bytes].concat();
    let request = |service: Service, message: u16, fields: Writer| {
        let client = u8::from(service != Service::CTL);
        let header = Header { from_service: false, service, client, kind: Kind::Request, transaction: 1, message };
        header.emit(&fields).map(|bytes| piece(0, &bytes)).ok_or("a short message")
    };
    let allocate = |service| request(Service::CTL, ctl::ALLOCATE_CID, write_fields(&ctl::Allocate { service }));
    let way = |aggregation| wda::Direction { aggregation: Some(aggregation), datagrams: Some(20), bytes: Some(4_096) };
    for (name, protocol) in
        [("qmap", wda::Aggregation::QMAP), ("v4", wda::Aggregation::QMAP_V4), ("v5", wda::Aggregation::QMAP_V5)]
    {
        let format = wda::DataFormat {
            qos_header: None,
            link: Some(wda::LinkProtocol::RAW_IP),
            uplink: way(protocol),
            downlink: way(protocol),
        };
        let mut datagram = vec![0, 1, 0, 40];
        datagram.extend([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        datagram.extend([0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        let bind = wds::BindMux { endpoint: Some((2, 4)), mux_id: Some(1), client_type: None };
        let start = wds::StartNetwork { apn: Some("internet".into()), family: Some(4), profile: None };
        let pieces = [
            request(Service::CTL, ctl::GET_VERSION_INFO, write_fields(&Nothing))?,
            allocate(Service::WDA)?,
            allocate(Service::WDS)?,
            allocate(Service::DMS)?,
            request(Service::DMS, dms::GET_MANUFACTURER, write_fields(&Nothing))?,
            request(Service::WDA, wda::SET_DATA_FORMAT, write_fields(&wda::Request { format, endpoint: Some((2, 4)) }))?,
            request(Service::WDS, wds::BIND_MUX_DATA_PORT, write_fields(&bind))?,
            request(Service::WDS, wds::START_NETWORK, write_fields(&start))?,
            piece(4, &[]),
            piece(5 | 3 << 3, &datagram),
            piece(6, &datagram[4..]),
            piece(7, &[]),
            request(Service::WDS, wds::GET_CURRENT_SETTINGS, write_fields(&Nothing))?,
        ];
        seeds.insert(("qmi", name.to_owned()), pieces.concat());
    }
    Ok(())
}

/// A command log: the card's identity, the start of its firmware, and a message.
fn sdio_log() -> Result<Vec<u8>, Box<dyn Error>> {
    use wire::sdio::htc::{Header, ToHost};
    use wire::sdio::log::{LoggedCommand, Record};
    use wire::sdio::{number, Direct, Extended};

    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType::SDIO_LOG))?;
    let mut at_ns = 1_000_000_000;
    let mut record = |record: Record, data: &[u8]| {
        at_ns += 50_000;
        let bytes = [&record.emit()[..], data].concat();
        writer.write(at_ns, bytes.len() as u32, &bytes)
    };
    let command = |number, argument, response, data_len: usize| {
        let known = LoggedCommand { fetched: true, took_ns: 9_000, clock_hz: 25_000_000, bus_width: 4, ..Default::default() };
        Record::Command(LoggedCommand { number, argument, response, data_len: data_len as u32, ..known })
    };
    record(command(number::GO_IDLE_STATE, 0, None, 0), &[])?;
    let chain = [0x20, 4, 0x71, 0x02, 0x01, 0x03, 0xff];
    for (address, value) in [(9, 0), (10, 0x10), (11, 0)].into_iter().chain((0x1000..).zip(chain)) {
        let argument = Direct { address, ..Direct::default() }.emit();
        record(command(number::IO_RW_DIRECT, argument, Some(0x1000 | value), 0), &[])?;
    }
    let connected = ToHost::Connected { service: 0x101, endpoint: 2, message_max: 2048 }.emit();
    let header = |endpoint, len: usize| Header { endpoint, payload_len: len as u16, ..Header::default() }.emit();
    let messages = [
        (true, vec![1, 0, 0, 0]),
        (false, [&header(0, connected.len())[..], &connected].concat()),
        (true, [&header(2, 20)[..], &[7; 20]].concat()),
    ];
    record(Record::Line(true), &[])?;
    for (write, data) in messages {
        let count = data.len() as u16;
        let address = if write { 0x1000 - u32::from(count) } else { 0x800 };
        let argument = Extended { write, function: 1, incrementing: true, address, count, block_mode: false };
        record(command(number::IO_RW_EXTENDED, argument.emit(), Some(0x1000), data.len()), &data)?;
    }
    Ok(writer.into_inner())
}

fn usb(seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    use wire::usb::{ntb, qmap, rndis};

    let mut ip = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip.extend([0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    let ethernet = [&[2; 12][..], &[8, 0], &ip].concat();
    let mut chain = Vec::new();
    for _ in 0..3 {
        chain.extend(qmap::Header::for_datagram(1, ip.len()).ok_or("an IP packet")?.to_bytes());
        chain.extend(&ip);
    }
    let mut block = ntb::Builder::new(*b"NCM0");
    block.push(&ethernet);
    block.push(&ethernet);
    let block = block.finish(7).ok_or("a small block")?;
    let message = [&rndis::header(ethernet.len()).ok_or("an Ethernet frame")?[..], &ethernet].concat();
    let transfers =
        [("raw-ip", ip), ("ethernet", ethernet), ("qmap", chain), ("ntb", block), ("rndis", message)];
    for (name, data) in transfers {
        let cut = [&[0, 0][..], &data].concat();
        seeds.insert((if name == "ntb" { "ntb" } else { "qmap" }, name.to_owned()), cut);
        let len = (data.len() as u32).to_le_bytes();
        let mut urb = vec![1, 0, 0, 0, 0, 0, 0, 0, b'S', 3, 5, 2, 1, 0, b'-', 0];
        urb.extend([0; 12]);
        urb.extend((-115i32).to_le_bytes());
        urb.extend([len, len].concat());
        urb.extend([0; 24]);
        urb.extend(&data);
        let mut irp = vec![27, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 1, 0, 2, 0, 5, 3];
        irp.extend(len);
        irp.extend(&data);
        for (target, link, record) in [("usbmon", 220, urb), ("usbpcap", 249, irp)] {
            let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType(link)))?;
            writer.write(1_000_000_000, record.len() as u32, &record)?;
            seeds.insert(("bus", format!("{target}-{name}")), writer.into_inner());
            seeds.insert((target, name.to_owned()), record);
        }
    }
    let line = b"ffff0001 100 S Bo:1:002:5 -115 98 = d286e6c7 8cfed286 e6c78cfe 08004500\n".to_vec();
    seeds.insert(("usbmon", "text".to_owned()), line.clone());
    seeds.insert(("bus", "text".to_owned()), line);
    let snoop = b"000001:  OUT: 000001 ms 000001 ms 80 06 00 01 00 00 12 00 <<< 12 01 10 01\n".to_vec();
    seeds.insert(("bus", "usbsnoop".to_owned()), snoop);
    seeds.insert(("bus", "sdio".to_owned()), sdio_log()?);
    Ok(())
}
