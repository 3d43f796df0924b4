//! Every variant of the formats, from our writers and from bytes made by hand.

use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use txop_capture::{
    Access, Compression, Container, Damage, Drops, Follow, InterfaceSettings, OpenError, Options, PcapSettings,
    PcapWriter, PcapngWriter, Reader,
};
use wire::linktype::LinkType;
use wire::pcap::{ByteOrder, Fraction};
use wire::pcapng::{emit_block, emit_option, TickRate};

const TIME_NS: i64 = 1_700_000_000_123_456_789;

/// What the tests compare of a record: time, interface, link type, original length, data.
type Seen = (Option<i64>, u32, u32, u32, Vec<u8>);

fn read_all(reader: &mut Reader) -> (Vec<Seen>, Option<Damage>) {
    let mut seen = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(r)) => {
                assert_eq!(r.number, seen.len() as u64 + 1);
                seen.push((r.time_ns, r.interface, r.link_type.0, r.original_len, r.data.to_vec()));
            }
            Ok(None) => return (seen, None),
            Err(damage) => {
                assert_eq!(reader.next(), Ok(None), "a damage is reported once");
                return (seen, Some(damage));
            }
        }
    }
}

fn open_bytes(bytes: &[u8]) -> Result<Reader, OpenError> {
    Reader::from_read(Cursor::new(bytes.to_vec()))
}

fn read_bytes(bytes: &[u8]) -> (Vec<Seen>, Option<Damage>) {
    read_all(&mut open_bytes(bytes).expect("opens"))
}

fn small_pcap(settings: PcapSettings) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("header");
    for (i, data) in [&b"first"[..], b"", b"the third record"].into_iter().enumerate() {
        writer.write(TIME_NS + i as i64 * 1_000_000_000, 100 + i as u32, data).expect("record");
    }
    writer.into_inner()
}

#[test]
fn pcap_of_both_byte_orders_and_both_fractions() {
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        for (fraction, time_ns) in [(Fraction::Nanos, TIME_NS), (Fraction::Micros, TIME_NS / 1000 * 1000)] {
            let settings =
                PcapSettings { byte_order, fraction, fcs_len: Some(4), ..PcapSettings::micros(LinkType(127)) };
            let mut reader = open_bytes(&small_pcap(settings)).expect("opens");
            let (seen, damage) = read_all(&mut reader);
            assert_eq!(damage, None);
            let expected = [&b"first"[..], b"", b"the third record"]
                .into_iter()
                .enumerate()
                .map(|(i, data)| (Some(time_ns + i as i64 * 1_000_000_000), 0, 127, 100 + i as u32, data.to_vec()));
            assert_eq!(seen, expected.collect::<Vec<_>>());
            assert_eq!(reader.container(), Container::Pcap);
            assert_eq!(reader.sections()[0].byte_order, byte_order);
            assert_eq!(reader.interfaces()[0].fcs_len, Some(4));
        }
    }
}

#[test]
fn pcap_with_24_byte_record_headers() {
    let mut bytes = vec![0x34, 0xcd, 0xb2, 0xa1, 2, 0, 4, 0];
    bytes.extend([0; 8]);
    bytes.extend([0xff, 0xff, 0, 0, 105, 0, 0, 0]);
    for data in [b"ab", b"cd"] {
        bytes.extend([1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0]);
        bytes.extend([3, 0, 0, 0, 0, 0, 4, 0]);
        bytes.extend(data);
    }
    let expected = |data: &[u8]| (Some(1_000_002_000), 0, 105, 9, data.to_vec());
    assert_eq!(read_bytes(&bytes), (vec![expected(b"ab"), expected(b"cd")], None));
}

#[test]
fn pcap_of_version_2_2_stores_the_original_length_first() {
    let mut bytes = vec![0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 2];
    bytes.extend([0; 8]);
    bytes.extend([0, 0, 0, 96, 0, 0, 0, 1]);
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 2, b'x', b'y']);
    assert_eq!(read_bytes(&bytes), (vec![(Some(1_000_000_000), 0, 1, 60, b"xy".to_vec())], None));
    bytes[7] = 9;
    let error = open_bytes(&bytes).err().map(|e| e.to_string());
    assert_eq!(error.as_deref(), Some("the pcap file header claims version 2.9, known are 2.0 to 2.4"));
}

#[test]
fn pcapng_with_every_resolution_and_offset() {
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        let rates = [
            TickRate::MICROS,
            TickRate::NANOS,
            TickRate::Decimal(0),
            TickRate::Decimal(3),
            TickRate::Decimal(10),
            TickRate::Binary(0),
            TickRate::Binary(10),
            TickRate::Binary(33),
        ];
        let mut writer = PcapngWriter::new(Vec::new(), byte_order).expect("section");
        for (i, tick_rate) in rates.into_iter().enumerate() {
            let settings = InterfaceSettings {
                name: Some(format!("mon{i}")),
                description: Some("odd length".to_owned()),
                tick_rate,
                offset_s: [0, 1_000_000_000][i % 2],
                fcs_len: Some(4),
                snap_len: Some(262_144),
                ..InterfaceSettings::nanos(LinkType(105 + i as u32))
            };
            let interface = writer.add_interface(&settings).expect("interface");
            writer.write(interface, TIME_NS, 7, &[i as u8; 5]).expect("packet");
        }
        let mut reader = open_bytes(&writer.into_inner()).expect("opens");
        let (seen, damage) = read_all(&mut reader);
        assert_eq!(damage, None);
        let second = 1_700_000_000_000_000_000;
        // 2^-10 s: 0.123456789 s lies in tick 127 (0.1240234375 s), because the writer rounds binary ticks up.
        let times = [
            second + 123_456_000,
            TIME_NS,
            second,
            second + 123_000_000,
            TIME_NS,
            second + 1_000_000_000,
            second + 124_023_437,
            TIME_NS,
        ];
        for (i, (record, time_ns)) in seen.iter().zip(times).enumerate() {
            assert_eq!(record, &(Some(time_ns), i as u32, 105 + i as u32, 7, vec![i as u8; 5]), "{:?}", rates[i]);
        }
        assert_eq!(seen.len(), rates.len());
        let last = reader.interfaces().last().expect("interfaces");
        assert_eq!((last.id, last.name.as_deref(), last.tick_rate), (7, Some("mon7"), TickRate::Binary(33)));
        assert_eq!((last.fcs_len, last.snap_len), (Some(4), Some(262_144)));
    }
}

#[test]
fn pcapng_sections_of_different_byte_order_have_their_own_interfaces() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Little).expect("section");
    writer.add_interface(&InterfaceSettings::nanos(LinkType(127))).expect("interface");
    writer.add_interface(&InterfaceSettings::nanos(LinkType(105))).expect("interface");
    writer.write(1, 5, 2, b"le").expect("packet");
    writer.begin_section(ByteOrder::Big).expect("section");
    writer.add_interface(&InterfaceSettings::nanos(LinkType(189))).expect("interface");
    writer.write(0, 6, 2, b"be").expect("packet");
    assert!(writer.write(1, 6, 2, b"no such interface").is_err());
    let mut reader = open_bytes(&writer.into_inner()).expect("opens");
    let expected = vec![(Some(5), 1, 105, 2, b"le".to_vec()), (Some(6), 2, 189, 2, b"be".to_vec())];
    assert_eq!(read_all(&mut reader), (expected, None));
    let places: Vec<_> = reader.interfaces().iter().map(|i| (i.section, i.id)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0)]);
    assert_eq!(reader.sections()[1].byte_order, ByteOrder::Big);
}

#[test]
fn simple_packets_have_no_time_and_are_cut_to_the_snap_length() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Big).expect("section");
    let settings = InterfaceSettings { snap_len: Some(6), ..InterfaceSettings::nanos(LinkType(105)) };
    assert!(writer.write_simple(1, b"x").is_err(), "no interface yet");
    writer.add_interface(&settings).expect("interface");
    writer.write_simple(1500, b"sixsix").expect("packet");
    writer.write_simple(3, b"abc").expect("packet");
    let expected = vec![(None, 0, 105, 1500, b"sixsix".to_vec()), (None, 0, 105, 3, b"abc".to_vec())];
    assert_eq!(read_bytes(&writer.into_inner()), (expected, None));
}

#[test]
fn obsolete_packets_statistics_and_unknown_blocks() {
    let order = ByteOrder::Little;
    let mut writer = PcapngWriter::new(Vec::new(), order).expect("section");
    writer.add_interface(&InterfaceSettings::nanos(LinkType(105))).expect("interface");
    writer.write_statistics(0, TIME_NS, Some(1000), Some(3)).expect("statistics");
    writer.write_statistics(0, TIME_NS, Some(2000), Some(17)).expect("statistics");
    let mut bytes = writer.into_inner();
    // Name resolution, a custom block and an undefined one are passed over.
    for (block_type, len) in [(4, 8), (0xbad, 300_000), (0x7777_7777, 0)] {
        emit_block(&mut bytes, order, block_type, |out| out.resize(out.len() + len, 0xee));
    }
    for drops in [5u16, 0xffff] {
        emit_block(&mut bytes, order, 2, |out| {
            out.extend([0, 0]);
            out.extend(drops.to_le_bytes());
            for word in [0u32, 77, 3, 9] {
                out.extend(word.to_le_bytes());
            }
            out.extend(b"old\0");
        });
    }
    emit_block(&mut bytes, order, 6, |out| {
        for word in [0u32, 0, 78, 1, 1] {
            out.extend(word.to_le_bytes());
        }
        out.extend(b"e\0\0\0");
        emit_option(out, order, 1, b"a comment");
        emit_option(out, order, 4, &2u64.to_le_bytes());
    });
    let mut reader = open_bytes(&bytes).expect("opens");
    let old = (Some(77), 0, 105, 9, b"old".to_vec());
    let (seen, damage) = read_all(&mut reader);
    assert_eq!((seen, damage), (vec![old.clone(), old, (Some(78), 0, 105, 1, b"e".to_vec())], None));
    assert_eq!(reader.interfaces()[0].received, Some(2000));
    assert_eq!(reader.drops(), Drops { by_statistics: Some(17), by_records: Some(7) });
    assert_eq!(open_bytes(&small_pcap(PcapSettings::nanos(LinkType(105)))).expect("opens").drops(), Drops::default());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn gzip_of_several_members_and_zstd_of_several_frames() {
    let plain = small_pcap(PcapSettings::nanos(LinkType(105)));
    let expected = read_bytes(&plain);
    let (head, tail) = plain.split_at(47);
    let mut members = [gzip(head), gzip(&[]), gzip(tail)].concat();
    let mut reader = open_bytes(&members).expect("opens");
    assert_eq!(reader.compression(), Some(Compression::Gzip));
    assert_eq!(read_all(&mut reader), expected);
    assert_eq!(reader.bytes_read(), members.len() as u64);
    members.extend([0; 512]);
    assert_eq!(read_bytes(&members), expected, "padding of zeros");
    members.extend(b"garbage");
    let damage = read_bytes(&members).1.expect("garbage after the last member");
    assert!(damage.message.contains("followed by something else"), "{damage}");

    let frame = |bytes| zstd::encode_all(bytes, 3).expect("memory");
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4].to_vec();
    let mut reader = open_bytes(&[skippable, frame(head), frame(tail)].concat()).expect("opens");
    assert_eq!(reader.compression(), Some(Compression::Zstd));
    assert_eq!(read_all(&mut reader), expected);
    let error = open_bytes(&gzip(&gzip(&plain))).err().map(|e| e.to_string());
    assert_eq!(error.as_deref(), Some("this is compressed twice (gzip inside); unpack it once first"));
}

#[test]
fn compressed_damage_comes_after_the_records_before_it() {
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType(105))).expect("header");
    for i in 0..20_000u32 {
        let noise = i.wrapping_mul(2_654_435_761).to_be_bytes();
        writer.write(TIME_NS + i64::from(i), 4, &noise).expect("record");
    }
    let plain = writer.into_inner();
    for (name, compressed) in [("gzip", gzip(&plain)), ("zstd", zstd::encode_all(&plain[..], 3).expect("memory"))] {
        let cut = compressed.len() * 2 / 3;
        let (seen, damage) = read_bytes(&compressed[..cut]);
        let damage = damage.expect("cut off");
        assert!(damage.message.contains(&format!("the {name} data is cut off")), "{damage}");
        assert_eq!(damage.compressed_offset, Some(cut as u64));
        assert_eq!(damage.offset, 24 + 20 * seen.len() as u64);
        assert!(seen.len() > 5_000, "{name}: only {} records", seen.len());
        assert!(seen.iter().zip(0..).all(|(record, i)| record.0 == Some(TIME_NS + i)));
    }
    // A flipped bit in the middle: whatever was decoded before it is delivered, and its check fails at the latest.
    let mut flipped = gzip(&plain);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    let (seen, damage) = read_bytes(&flipped);
    assert!(damage.is_some());
    assert!(seen.len() > 5_000, "only {} records", seen.len());
}

#[test]
fn a_small_file_cut_at_every_byte() {
    let mut pcapng = PcapngWriter::new(Vec::new(), ByteOrder::Big).expect("section");
    let mut ends = Vec::new();
    let settings = InterfaceSettings { name: Some("mon0".to_owned()), ..InterfaceSettings::nanos(LinkType(127)) };
    pcapng.add_interface(&settings).expect("interface");
    for data in [&b"a"[..], b"", b"four"] {
        pcapng.write(0, TIME_NS, 4, data).expect("packet");
    }
    pcapng.write_statistics(0, TIME_NS, None, Some(0)).expect("statistics");
    let pcapng = pcapng.into_inner();
    let mut at = 0;
    while at < pcapng.len() {
        let len = u32::from_be_bytes(pcapng[at + 4..at + 8].try_into().expect("4 bytes")) as usize;
        at += len;
        ends.push(at);
    }
    // Section, interface, three packets, statistics.
    assert_eq!(ends.len(), 6);
    let packets_before = |cut: usize| ends[2..5].iter().filter(|&&end| end <= cut).count();
    check_cuts(&pcapng, ends[0], &ends, packets_before);

    let pcap = small_pcap(PcapSettings::micros(LinkType(127)));
    let ends = [24, 24 + 21, 24 + 21 + 16, pcap.len()];
    check_cuts(&pcap, 24, &ends, |cut| ends[1..].iter().filter(|&&end| end <= cut).count());
}

/// `ends`: where the header and each record or block ends.
fn check_cuts(bytes: &[u8], header_len: usize, ends: &[usize], records_before: impl Fn(usize) -> usize) {
    let whole = read_bytes(bytes).0;
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    for cut in 0..=bytes.len() {
        std::fs::write(file.path(), &bytes[..cut]).expect("temporary file");
        for access in [Access::Mapped, Access::Buffered] {
            let opened = Reader::open(file.path(), Options { access, ..Options::default() });
            if cut < header_len {
                match opened.err() {
                    Some(OpenError::Empty) => assert_eq!(cut, 0),
                    Some(OpenError::Unknown { .. } | OpenError::Unsupported { .. }) => assert!((1..4).contains(&cut)),
                    Some(OpenError::Damaged(damage)) => assert_eq!((damage.offset, damage.records), (0, 0)),
                    other => panic!("cut at {cut}: {other:?}"),
                }
                continue;
            }
            let (seen, damage) = read_all(&mut opened.expect("the header is whole"));
            assert_eq!(seen, whole[..records_before(cut)], "cut at {cut}");
            let last_end = ends.iter().copied().filter(|&end| end <= cut).max().expect("the header");
            let expected = (last_end < cut).then_some((last_end as u64, seen.len() as u64));
            assert_eq!(damage.map(|d| (d.offset, d.records)), expected, "cut at {cut}");
        }
    }
}

#[test]
fn lengths_that_lie_are_told_in_one_sentence() {
    let mut bytes = small_pcap(PcapSettings::micros(LinkType(105)));
    bytes[24 + 21 + 8..24 + 21 + 12].copy_from_slice(&4_000_000_000u32.to_le_bytes());
    let (seen, damage) = read_bytes(&bytes);
    assert_eq!(seen.len(), 1);
    let damage = damage.expect("a lie");
    assert_eq!(damage.to_string(), "record 2 at byte 45 claims 4,000,000,000 bytes, the file ends after 32 bytes");

    // The bytes are there, but no 802.11 frame is that long; a USB transfer may be.
    for (link_type, records) in [(105, 0), (220, 1)] {
        let mut writer = PcapWriter::new(Vec::new(), PcapSettings::micros(LinkType(link_type))).expect("header");
        writer.write(TIME_NS, 300_000, &vec![7; 300_000]).expect("record");
        let (seen, damage) = read_bytes(&writer.into_inner());
        assert_eq!(seen.len(), records);
        let message = "record 1 at byte 24 claims 300,000 bytes, but a record of link type 105 (ieee802_11) has at most 262,144 bytes";
        assert_eq!(damage.map(|d| d.message), (records == 0).then(|| message.to_owned()));
    }
    // More captured than the snap length and than the original length: odd, but the bytes are there.
    let settings = PcapSettings { snap_len: 3, ..PcapSettings::micros(LinkType(105)) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("header");
    writer.write(0, 1, b"four").expect("record");
    assert_eq!(read_bytes(&writer.into_inner()), (vec![(Some(0), 0, 105, 1, b"four".to_vec())], None));
}

#[test]
fn damaged_pcapng_blocks() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Little).expect("section");
    writer.add_interface(&InterfaceSettings::nanos(LinkType(105))).expect("interface");
    let header_len = writer.into_inner().len();
    let file = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::Little).expect("section");
        writer.add_interface(&InterfaceSettings::nanos(LinkType(105))).expect("interface");
        writer.write(0, 1, 4, b"good").expect("packet");
        writer.write(0, 2, 4, b"bad?").expect("packet");
        writer.write(0, 3, 4, b"last").expect("packet");
        let mut bytes = writer.into_inner();
        change(&mut bytes);
        read_bytes(&bytes)
    };
    let block = header_len + 36;
    let cases: [(usize, u32, &str); 5] = [
        (4, 37, "claims a length of 37 bytes, but a block has at least 12 bytes and a multiple of 4"),
        (4, 40, "claims 40 bytes at its beginning and"),
        (8, 9, "belongs to interface 9, but its section has described 1 so far"),
        (20, 5, "claims 5 bytes of data in a block of 36 bytes, at most 4 are possible"),
        (4, 0xffff_fff0, "claims 4,294,967,280 bytes, the file ends after 72 bytes"),
    ];
    for (at, value, message) in cases {
        let (seen, damage) = file(&|bytes| bytes[block + at..block + at + 4].copy_from_slice(&value.to_le_bytes()));
        let damage = damage.expect(message);
        assert_eq!((seen.len(), damage.offset), (1, block as u64), "{message}");
        assert!(damage.message.contains(message), "{damage}");
    }
}

#[test]
fn formats_that_are_named_and_refused() {
    let cases: [(&[u8], &str); 12] = [
        (b"", "empty"),
        (b"\x7fver\xaf\0\0\0\0\x02\0\0<?xml", "OmniPeek"),
        (b"GMBU\0\x02\x01\0", "Network Monitor 2"),
        (b"RTSS\0\x02\x01\0", "Network Monitor 1"),
        (b"snoop\0\0\0\0\0\0\x02", "snoop"),
        (b"\0\0\0\0\0\0\0\x5f\x02\x04\0\x60\0\0\0\x40", "ERF"),
        (b"No. Time Source Destination\n1 0.0\n", "plain text"),
        (b"ffff8803fdf61a80 1427430234 C Ii:1:005:1 0:8 8 = 00000000\n", "usbmon"),
        (b"\xfd7zXZ\0", "xz"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\xff\xfe\xfd\xfc\0\0\0\0", "fffefdfc"),
        (b"\xa1", "begins with the bytes a1"),
    ];
    for (bytes, expected) in cases {
        let message = open_bytes(bytes).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // Little endian, ERF stamps the seconds in the upper half: 0x5f000000 is the year 2020.
}

#[test]
fn records_larger_than_the_buffer_and_across_every_border() {
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType(220))).expect("header");
    let mut lens = Vec::new();
    // 40 MB: several mapped windows (16 MiB) and many buffers (256 KiB).
    for i in 0..400u32 {
        let len = [1usize, 4_000, 100_001, 262_144, 131_072][i as usize % 5] + i as usize;
        let data: Vec<u8> = (0..len).map(|k| (k as u32).wrapping_mul(i + 7) as u8).collect();
        writer.write(i64::from(i), len as u32, &data).expect("record");
        lens.push(len);
    }
    let bytes = writer.into_inner();
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    std::fs::write(file.path(), &bytes).expect("temporary file");
    for access in [Access::Mapped, Access::Buffered] {
        let mut reader = Reader::open(file.path(), Options { access, ..Options::default() }).expect("opens");
        let mut at = 24;
        for &len in &lens {
            let record = reader.next().expect("sound").expect("one more");
            assert_eq!((record.offset, record.data.len()), (at as u64, len));
            assert!(record.data == &bytes[at + 16..at + 16 + len], "data of the record at {at}");
            at += 16 + len;
        }
        assert_eq!(reader.next(), Ok(None));
        assert_eq!(reader.total_bytes(), Some(bytes.len() as u64));
        assert_eq!(reader.bytes_read(), bytes.len() as u64);
    }
}

#[test]
fn a_file_that_shrinks_is_damage() {
    let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType(220))).expect("header");
    for i in 0..40 {
        writer.write(i, 1 << 20, &vec![0; 1 << 20]).expect("record");
    }
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    std::fs::write(file.path(), writer.into_inner()).expect("temporary file");
    let mut reader =
        Reader::open(file.path(), Options { access: Access::Mapped, ..Options::default() }).expect("opens");
    assert!(reader.next().expect("sound").is_some());
    // The first window (16 MiB) stays whole, so that no mapped page goes missing.
    file.as_file().set_len(20 << 20).expect("temporary file");
    let (seen, damage) = read_all_from(&mut reader);
    assert!(seen < 20);
    assert!(damage.expect("it shrank").message.contains("the file shrank from"));
}

fn read_all_from(reader: &mut Reader) -> (u64, Option<Damage>) {
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return (reader.records(), None),
            Err(damage) => return (reader.records(), Some(damage)),
        }
    }
}

#[test]
fn a_growing_file_is_waited_for_until_stopped() {
    let bytes = small_pcap(PcapSettings::nanos(LinkType(105)));
    let whole = read_bytes(&bytes).0;
    for kept in [bytes.len(), bytes.len() - 3] {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        let path = file.path().to_owned();
        let stop = Arc::new(AtomicBool::new(false));
        let follow = Follow { poll: Duration::from_millis(1), ..Follow::until(Arc::clone(&stop)) };
        let options = Options { follow: Some(follow), ..Options::default() };
        let reading =
            std::thread::spawn(move || read_all(&mut Reader::open(&path, options).expect("waits for the header")));
        // In pieces that cut the file header, record headers and data.
        for piece in bytes[..kept].chunks(7) {
            file.write_all(piece).expect("temporary file");
            file.flush().expect("temporary file");
            std::thread::sleep(Duration::from_millis(3));
        }
        assert!(!reading.is_finished(), "it waits at the end");
        stop.store(true, Ordering::Release);
        let (seen, damage) = reading.join().expect("no panic");
        assert_eq!(damage, None, "half a record at the stop is not damage");
        let complete = if kept == bytes.len() { 3 } else { 2 };
        assert_eq!(seen, whole[..complete]);
    }
}
