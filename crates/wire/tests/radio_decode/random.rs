//! Random headers: hostile bytes, round trips, and the rare fields against tshark.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use txop_wire::linktype::LinkType;
use txop_wire::phy::{Bandwidth, Eht, GuardInterval, He, HeFormat, Ht, Mode, Vht};
use txop_wire::radio::decode;

use crate::encoder::{header, le16s, le32s, Word, SIZE};
use crate::{captures, tshark};

const LINKS: [LinkType; 5] = [
    LinkType::IEEE802_11,
    LinkType::IEEE802_11_PRISM,
    LinkType::IEEE802_11_RADIOTAP,
    LinkType::IEEE802_11_AVS,
    LinkType::PPI,
];

const ALL_FIELDS: u32 = 0x0fff_ffff;
/// tshark 4.0 does not know the size of field 25 (HE-MU-other-user) and gives up on headers with it; it does not show
/// field 16 (RTS retries), by which we know a transmission.
const TSHARK_FIELDS: u32 = ALL_FIELDS & !(1 << 25 | 1 << 16);

/// Fields of the set `allowed`, with random data.
fn random_fields(allowed: u32) -> impl Strategy<Value = Vec<(u32, Vec<u8>)>> {
    (any::<u32>(), prop::collection::vec(any::<u8>(), 120)).prop_map(move |(present, bytes)| {
        let mut bytes = bytes.into_iter();
        let chosen = (0..28_u32).filter(|field| (present & allowed) >> field & 1 != 0);
        chosen.map(|field| (field, bytes.by_ref().take(SIZE[field as usize]).collect())).collect()
    })
}

fn random_words(allowed: u32) -> impl Strategy<Value = Vec<Word>> {
    let later = prop_oneof![
        2 => random_fields(allowed).prop_map(Word::Radiotap),
        1 => (any::<u32>(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(bits, data)| Word::Vendor(bits, data)),
    ];
    (random_fields(allowed), prop::collection::vec(later, 0..4)).prop_map(|(first, later)| {
        let mut words = vec![Word::Radiotap(first)];
        words.extend(later);
        words
    })
}

/// The data of every field of that number, in order.
fn all<'a>(words: &'a [Word], field: u32) -> impl Iterator<Item = &'a [u8]> + 'a {
    words.iter().flat_map(move |word| {
        let fields = match word {
            Word::Radiotap(fields) | Word::WithTlvs(fields, _) => fields.as_slice(),
            Word::Vendor(..) => &[],
        };
        fields.iter().filter(move |(number, _)| *number == field).map(|(_, data)| data.as_slice())
    })
}

fn first<const N: usize>(words: &[Word], field: u32) -> Option<[u8; N]> {
    all(words, field).next().map(|data| data[..N].try_into().unwrap())
}

/// A modulation with the field that describes it: field number, or TLV type from 32.
fn described_mode() -> impl Strategy<Value = (Mode, Vec<(u32, Vec<u8>)>)> {
    let legacy = prop::sample::select(vec![2_u8, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108])
        .prop_map(|rate| (Mode::from_legacy_rate(rate, None).unwrap(), vec![(2, vec![rate])]));
    let ht = (
        0..=76_u8,
        any::<bool>(),
        any::<Option<bool>>(),
        any::<[Option<bool>; 2]>(),
        prop::option::of(0..4_u8),
        0..4_u8,
    )
        .prop_map(|(mcs, is_40, short_gi, [greenfield, ldpc], stbc, ness)| {
            let mut known = 0x43 | u8::from(short_gi.is_some()) << 2 | (ness >> 1) << 7;
            let mut flags = u8::from(is_40) | u8::from(short_gi == Some(true)) << 2 | (ness & 1) << 7;
            for (value, known_bit, flag_bit) in [(greenfield, 0x08, 0x08), (ldpc, 0x10, 0x10)] {
                known |= if value.is_some() { known_bit } else { 0 };
                flags |= if value == Some(true) { flag_bit } else { 0 };
            }
            known |= if stbc.is_some() { 0x20 } else { 0 };
            flags |= stbc.unwrap_or(0) << 5;
            let bandwidth = if is_40 { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
            let ht = Ht { mcs, bandwidth, short_gi, greenfield, ldpc, stbc, ness };
            (Mode::Ht(ht), vec![(19, vec![known, flags, mcs])])
        });
    let widths = [(0, Bandwidth::Mhz20), (1, Bandwidth::Mhz40), (4, Bandwidth::Mhz80), (11, Bandwidth::Mhz160)];
    let vht = (
        0..=9_u8,
        1..=8_u8,
        0..4_usize,
        prop::sample::select(widths.to_vec()),
        any::<[bool; 2]>(),
        any::<[Option<bool>; 2]>(),
    )
        .prop_map(|(mcs, nss, user, (code, bandwidth), [stbc, ldpc], [short_gi, ldpc_extra_symbol])| {
            let known = 0x41 | u8::from(short_gi.is_some()) << 2 | if ldpc_extra_symbol.is_some() { 0x10 } else { 0 };
            let extra = u8::from(ldpc_extra_symbol == Some(true));
            let mut bytes = vec![known, 0, u8::from(stbc) | u8::from(short_gi == Some(true)) << 2 | extra << 4, code];
            bytes.extend((0..4).map(|index| if index == user { mcs << 4 | nss } else { 0 }));
            bytes.extend([u8::from(ldpc) << user, 0, 0, 0]);
            let vht = Vht { mcs, nss, bandwidth, short_gi, stbc: Some(stbc), ldpc: Some(ldpc), ldpc_extra_symbol };
            (Mode::Vht(vht), vec![(21, bytes)])
        });
    let he = (
        0..4_u16,
        0..=11_u8,
        1..=8_u8,
        0..=10_u16,
        prop::option::of(0..3_u16),
        0..4_u16,
        any::<[bool; 2]>(),
        any::<Option<bool>>(),
    )
        .prop_map(|(format, mcs, nss, width, gi, ltf, [dcm, stbc], ldpc)| {
            let nss = if stbc { 1 } else { nss };
            let bandwidths = [Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160];
            let tones = [26, 52, 106, 242, 484, 996, 1992];
            let he = He {
                format: [HeFormat::Su, HeFormat::ErSu, HeFormat::Mu, HeFormat::TriggerBased][usize::from(format)],
                mcs,
                nss,
                bandwidth: bandwidths.get(usize::from(width)).copied(),
                ru_tones: usize::from(width).checked_sub(4).map(|index| tones[index]),
                gi: gi.map(|gi| [GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200][usize::from(gi)]),
                ltf_ns: [None, Some(3200), Some(6400), Some(12800)][usize::from(ltf)],
                dcm,
                stbc: Some(stbc),
                ldpc,
            };
            let data1 = format | 0x4260 | if ldpc.is_some() { 0x80 } else { 0 };
            let coding = u16::from(ldpc == Some(true));
            let data3 = u16::from(mcs) << 8 | u16::from(dcm) << 12 | coding << 13 | u16::from(stbc) << 15;
            let nsts = if stbc { 2 } else { u16::from(nss) };
            let data5 = width | gi.unwrap_or(0) << 4 | ltf << 6;
            (Mode::He(he), vec![(23, le16s(&[data1, u16::from(gi.is_some()) << 1, data3, 0, data5, nsts]))])
        });
    let eht = (
        any::<Option<bool>>(),
        prop::option::of(0..16_u8),
        prop::option::of(1..=16_u8),
        prop::option::of(0..3_u32),
        prop::option::of(0..6_u32),
    )
        .prop_map(|(marked, mcs, nss, gi, width)| {
            let mut user = if marked == Some(true) { 0x80 } else { 0 };
            user |= mcs.map_or(0, |mcs| 0x02 | u32::from(mcs) << 20);
            user |= nss.map_or(0, |nss| 0x10 | u32::from(nss - 1) << 24);
            let mut words = vec![if gi.is_some() { 0x04 } else { 0 }, gi.unwrap_or(0) << 7, 0, 0, 0, 0, 0, 0, 0, 0];
            words.push(user);
            let widths = [
                Bandwidth::Mhz20,
                Bandwidth::Mhz40,
                Bandwidth::Mhz80,
                Bandwidth::Mhz160,
                Bandwidth::Mhz320,
                Bandwidth::Mhz320,
            ];
            let intervals = [GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200];
            let eht = Eht {
                mcs,
                nss,
                bandwidth: width.map(|code| widths[code as usize]),
                gi: gi.map(|code| intervals[code as usize]),
                ..Eht::UNKNOWN
            };
            let common = width.map_or(0, |code| 0x02 | code << 15);
            (Mode::Eht(eht), vec![(33, le32s(&[common, 0, 0])), (34, le32s(&words))])
        });
    prop_oneof![legacy, ht, vht, he, eht]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for link in LINKS {
            if let Ok(info) = decode(link, &bytes) {
                prop_assert!(info.header_len <= bytes.len());
            }
        }
    }

    /// As above, but with starts that get past the first checks, and lengths that are nearly right.
    #[test]
    fn hostile_bytes_behind_a_plausible_start(
        start in prop::sample::select(vec![
            vec![0, 0], vec![0, 1], vec![0x44, 0, 0, 0], vec![0, 0, 0, 0x41], vec![0x80, 0x21, 0x10, 0x02],
            vec![0, 1, 60, 0, 105, 0, 0, 0, 2, 0, 20, 0], vec![0, 0, 12, 0, 127, 0, 0, 0],
        ]),
        len in 0..80_u8,
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut record = start;
        if record.len() <= 4 {
            record.extend_from_slice(&[len, 0, 0, 0][..if record.len() == 2 { 2 } else { 4 }]);
        }
        record.append(&mut bytes);
        for link in LINKS {
            if let Ok(info) = decode(link, &record) {
                prop_assert!(info.header_len <= record.len());
            }
        }
    }

    /// Every cut of a valid header is either an error or a header that fits.
    #[test]
    fn truncated_headers(words in random_words(ALL_FIELDS), keep in any::<prop::sample::Index>()) {
        let bytes = header(&words);
        let cut = &bytes[..keep.index(bytes.len())];
        prop_assert!(decode(LinkType::IEEE802_11_RADIOTAP, cut).is_err());
    }

    #[test]
    fn any_subset_of_fields_decodes_to_its_values(words in random_words(ALL_FIELDS)) {
        let mut record = header(&words);
        let header_len = record.len();
        record.extend_from_slice(&[0xd4, 0, 0, 0]);
        let info = decode(LinkType::IEEE802_11_RADIOTAP, &record).unwrap();
        prop_assert_eq!(info.header_len, header_len);
        prop_assert_eq!(info.tsft_us, first(&words, 0).map(u64::from_le_bytes));
        let flags = first(&words, 1).map(u8::from_le_bytes);
        prop_assert_eq!(info.fcs_included, flags.map(|f| f & 0x10 != 0));
        prop_assert_eq!(info.bad_fcs, flags.map(|f| f & 0x40 != 0));
        prop_assert_eq!(info.data_pad, flags.is_some_and(|f| f & 0x20 != 0));
        prop_assert_eq!(info.signal_dbm, all(&words, 5).map(|data| data[0] as i8).max());
        prop_assert_eq!(info.noise_dbm, first(&words, 6).map(i8::from_le_bytes));
        let antennas = words.iter().filter(|word| {
            let one = std::slice::from_ref(*word);
            all(one, 5).next().is_some() && all(one, 11).next().is_some()
        });
        prop_assert_eq!(usize::from(info.antennas), antennas.count());
        prop_assert_eq!(info.bad_plcp, all(&words, 14).any(|data| data[0] & 2 != 0));
        prop_assert_eq!(info.own_transmission, [15, 16, 17].iter().any(|&field| all(&words, field).next().is_some()));
        prop_assert_eq!(info.ampdu.map(|a| a.reference), first(&words, 20).map(u32::from_le_bytes));
        prop_assert_eq!(info.zero_length_psdu, all(&words, 26).next().is_some());
        let l_sig = first::<4>(&words, 27).map(|data| (data[0], u16::from_le_bytes([data[2], data[3]])));
        prop_assert_eq!(info.l_sig.and_then(|l| l.length), l_sig.filter(|(known, _)| known & 2 != 0).map(|(_, v)| v >> 4));
        prop_assert_eq!(info.l_sig.is_some(), l_sig.is_some());
    }

    #[test]
    fn a_described_mode_comes_back((mode, described) in described_mode(), tsft in any::<Option<u64>>()) {
        let mut fields: Vec<(u32, Vec<u8>)> = tsft.map(|us| (0, us.to_le_bytes().to_vec())).into_iter().collect();
        let (classic, items): (Vec<_>, Vec<_>) = described.into_iter().partition(|(field, _)| *field < 28);
        fields.extend(classic);
        let items: Vec<(u16, Vec<u8>)> = items.into_iter().map(|(kind, data)| (kind as u16, data)).collect();
        let word = if items.is_empty() { Word::Radiotap(fields) } else { Word::WithTlvs(fields, items) };
        let info = decode(LinkType::IEEE802_11_RADIOTAP, &header(&[word])).unwrap();
        prop_assert_eq!(info.mode, mode);
        prop_assert_eq!(info.tsft_us, tsft);
    }
}

/// Writes `packets` as a capture, lets tshark read it, and compares every column.
fn compare_with_tshark(name: &str, link: u32, packets: &[Vec<u8>], ignored: &[&str], at_least: usize) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, captures::pcap_file(link, packets)).expect("the build folder is writable");
    let table = tshark::table(&path);
    assert_eq!(table.len(), packets.len(), "tshark read another number of frames");
    let mut compared = 0;
    let mut differences = Vec::new();
    for (index, packet) in packets.iter().enumerate() {
        let info = decode(LinkType(link), packet).expect("a whole header");
        for d in table.differences(index, link, &info, &mut compared) {
            if ignored.contains(&d.field) {
                continue;
            }
            differences.push(format!("frame {}: {} tshark {} ours {}", index + 1, d.field, d.tshark, d.ours));
        }
    }
    println!("{name}: {} frames, {compared} values compared", packets.len());
    assert!(
        differences.is_empty(),
        "{} differences, first {:#?}",
        differences.len(),
        &differences[..differences.len().min(40)]
    );
    assert!(compared >= at_least, "only {compared} values compared");
}

pub fn samples<T>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

/// An ACK frame for tshark to dissect behind the header.
pub const ACK: [u8; 14] = [0xd4, 0, 0, 0, 0x00, 0x14, 0xa5, 0xcb, 0x6e, 0x1a, 0xc2, 0x59, 0x43, 0xc1];

#[test]
fn random_radiotap_headers_agree_with_tshark() {
    if !tshark::is_installed() {
        return;
    }
    let packets: Vec<Vec<u8>> = samples(random_words(TSHARK_FIELDS), 3000)
        .iter()
        .map(|words| [header(words).as_slice(), &ACK].concat())
        .collect();
    // Random bytes describe several modulations at once, most of them impossible, or a rate beside them.
    // A repeated field of which the first is unusable (an undefined unit, an MCS without its index) counts from the second.
    let ignored = [
        "modulation",
        "radiotap.datarate",
        "radiotap.timestamp.flags.32bit",
        "radiotap.timestamp.samplingpos",
        "radiotap.mcs.stbc",
        // Of two HE-MU fields, beside several HE fields, tshark may take another one.
        "radiotap.he_mu.bw_from_sig_a",
    ];
    compare_with_tshark("random_radiotap.pcap", 127, &packets, &ignored, 20_000);
}

#[test]
fn random_modes_agree_with_tshark() {
    if !tshark::is_installed() {
        return;
    }
    let packets: Vec<Vec<u8>> = samples(described_mode(), 3000)
        .into_iter()
        .filter(|(_, fields)| fields.iter().all(|(field, _)| *field < 28))
        .map(|(_, fields)| [header(&[Word::Radiotap(fields)]).as_slice(), &ACK].concat())
        .collect();
    compare_with_tshark("random_modes.pcap", 127, &packets, &[], 10_000);
}

/// No real AVS capture was found anywhere: tshark on made ones is the only oracle.
#[test]
fn random_avs_headers_agree_with_tshark() {
    if !tshark::is_installed() {
        return;
    }
    let strategy = (
        any::<u64>(),
        prop::sample::select(vec![10_u32, 20, 55, 110, 60, 90, 120, 540]),
        any::<[i8; 2]>(),
        0..4_u32,
        any::<bool>(),
    );
    let packets: Vec<Vec<u8>> = samples(strategy, 500)
        .into_iter()
        .map(|(mac_time, rate, [signal, noise], ssi_type, is_v2)| {
            let len: u32 = if is_v2 { 80 } else { 64 };
            let mut bytes = Vec::new();
            let time = [(mac_time >> 32) as u32, mac_time as u32];
            let words =
                [0x8021_1000 + if is_v2 { 2 } else { 1 }, len, time[0], time[1], 0, 0, 6, 2437, rate, 0, 0, ssi_type];
            for word in words.into_iter().chain([i32::from(signal) as u32, i32::from(noise) as u32, 1, 0]) {
                bytes.extend_from_slice(&word.to_be_bytes());
            }
            bytes.resize(len as usize, 0);
            bytes.extend_from_slice(&ACK);
            bytes
        })
        .collect();
    compare_with_tshark("random_avs.pcap", 163, &packets, &[], 1_000);
    compare_with_tshark("random_avs_as_prism.pcap", 119, &packets, &[], 1_000);
}
