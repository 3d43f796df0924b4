//! Random records survive the way through both writers; random damage never costs a record before it.

use std::io::Cursor;

use proptest::prelude::*;
use txop_capture::{Damage, InterfaceSettings, PcapSettings, PcapWriter, PcapngWriter, Reader};
use wire::linktype::LinkType;
use wire::pcap::{ByteOrder, Fraction};
use wire::pcapng::TickRate;

type Seen = (u64, Option<i64>, u32, u32, Vec<u8>);

fn read_all(bytes: Vec<u8>) -> (Vec<Seen>, Option<Damage>) {
    let total = bytes.len() as u64;
    let Ok(mut reader) = Reader::from_read(Cursor::new(bytes)) else { return (Vec::new(), None) };
    let mut seen = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(r)) => seen.push((r.offset, r.time_ns, r.interface, r.original_len, r.data.to_vec())),
            Ok(None) => return (seen, None),
            Err(damage) => {
                assert!(damage.compressed_offset.is_some() || damage.offset <= total);
                assert_eq!(damage.records, seen.len() as u64);
                return (seen, Some(damage));
            }
        }
    }
}

fn byte_order() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)]
}

/// Time, original length, data.
fn packets() -> impl Strategy<Value = Vec<(i64, u32, Vec<u8>)>> {
    let time_ns = 0..(i64::from(u32::MAX) * 1_000_000_000);
    prop::collection::vec((time_ns, any::<u32>(), prop::collection::vec(any::<u8>(), 0..60)), 0..12)
}

fn write_pcap(order: ByteOrder, fraction: Fraction, packets: &[(i64, u32, Vec<u8>)]) -> Vec<u8> {
    let settings = PcapSettings { byte_order: order, fraction, ..PcapSettings::nanos(LinkType(127)) };
    let mut writer = PcapWriter::new(Vec::new(), settings).expect("memory");
    for (time_ns, original_len, data) in packets {
        writer.write(*time_ns, *original_len, data).expect("in range");
    }
    writer.into_inner()
}

fn write_pcapng(order: ByteOrder, rate: TickRate, packets: &[(i64, u32, Vec<u8>)]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), order).expect("memory");
    let settings = InterfaceSettings { tick_rate: rate, ..InterfaceSettings::nanos(LinkType(127)) };
    for _ in 0..2 {
        writer.add_interface(&settings).expect("memory");
    }
    for (i, (time_ns, original_len, data)) in packets.iter().enumerate() {
        writer.write(i as u32 % 2, *time_ns, *original_len, data).expect("in range");
    }
    writer.into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pcap_round_trip(order in byte_order(), nanos: bool, packets in packets()) {
        let fraction = if nanos { Fraction::Nanos } else { Fraction::Micros };
        let (seen, damage) = read_all(write_pcap(order, fraction, &packets));
        prop_assert_eq!(damage, None);
        prop_assert_eq!(seen.len(), packets.len());
        for (seen, (time_ns, original_len, data)) in seen.into_iter().zip(packets) {
            let time_ns = time_ns / fraction.unit_ns() * fraction.unit_ns();
            prop_assert_eq!((seen.1, seen.3, seen.4), (Some(time_ns), original_len, data));
        }
    }

    #[test]
    fn pcapng_round_trip(order in byte_order(), packets in packets()) {
        for rate in [TickRate::NANOS, TickRate::Binary(31)] {
            let (seen, damage) = read_all(write_pcapng(order, rate, &packets));
            prop_assert_eq!(damage, None);
            prop_assert_eq!(seen.len(), packets.len());
            for (i, (seen, (time_ns, original_len, data))) in seen.into_iter().zip(&packets).enumerate() {
                prop_assert_eq!((seen.1, seen.2, seen.3), (Some(*time_ns), i as u32 % 2, *original_len));
                prop_assert_eq!(&seen.4, data);
            }
        }
    }

    #[test]
    fn corruption_leaves_the_records_before_it(
        order in byte_order(), ng: bool, packets in packets(), place: prop::sample::Index, value in 1u8..,
    ) {
        let mut bytes = if ng {
            write_pcapng(order, TickRate::NANOS, &packets)
        } else {
            write_pcap(order, Fraction::Nanos, &packets)
        };
        let (before, _) = read_all(bytes.clone());
        let place = place.index(bytes.len());
        bytes[place] ^= value;
        let (after, _) = read_all(bytes);
        // Records that end before the changed byte are those that another record starts before it.
        let untouched = before.windows(2).filter(|pair| pair[1].0 <= place as u64).count();
        if before.first().is_some_and(|first| first.0 <= place as u64) {
            prop_assert!(after.len() >= untouched);
            prop_assert_eq!(&after[..untouched], &before[..untouched]);
        }
    }

    #[test]
    fn noise_behind_any_magic_is_survived(
        magic in prop::sample::select(vec![
            &b"\xd4\xc3\xb2\xa1\x02\0\x04\0"[..], b"\xa1\xb2\x3c\x4d\0\x02\0\x04", b"\x34\xcd\xb2\xa1\x02\0\x04\0",
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
            b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x7fver", b"",
        ]),
        noise in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        read_all([magic, &noise].concat());
    }

    #[test]
    fn corrupted_compression_is_survived(packets in packets(), place: prop::sample::Index, value in 1u8.., zstd: bool) {
        let plain = write_pcap(ByteOrder::Little, Fraction::Nanos, &packets);
        let mut bytes = if zstd {
            zstd::encode_all(&plain[..], 1).expect("memory")
        } else {
            let mut encoder = flate2::bufread::GzEncoder::new(&plain[..], flate2::Compression::fast());
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut encoder, &mut bytes).expect("memory");
            bytes
        };
        let place = place.index(bytes.len());
        bytes[place] ^= value;
        read_all(bytes);
    }
}
