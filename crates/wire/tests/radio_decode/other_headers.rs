//! Prism, AVS and PPI on bytes made by hand or copied from real frames.

use txop_wire::linktype::LinkType;
use txop_wire::phy::{Bandwidth, Ht, Mode};
use txop_wire::radio::{decode, RadioError, RadioInfo};

use crate::encoder::{header, Word};

/// A Prism header: message code, then items of identifier, status and value.
fn prism(code: u32, items: &[(u32, u16, u32)], bytes_of: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let half = |value: u16| {
        let word = bytes_of(u32::from(value));
        if word[0] == value as u8 {
            [word[0], word[1]]
        } else {
            [word[2], word[3]]
        }
    };
    let mut bytes = bytes_of(code).to_vec();
    bytes.extend(bytes_of(24 + 12 * items.len() as u32));
    bytes.extend(*b"wlan0\0\0\0\0\0\0\0\0\0\0\0");
    for &(identifier, status, value) in items {
        bytes.extend(bytes_of(identifier));
        bytes.extend(half(status));
        bytes.extend(half(4));
        bytes.extend(bytes_of(value));
    }
    bytes
}

/// Ten items in one of the two numberings: from `first`, `step` apart.
fn items(first: u32, step: u32, is_tx: u32) -> Vec<(u32, u16, u32)> {
    let values = [6_567_637, 0x7996_e188, 7, 57, 0, (-61_i32) as u32, (-95_i32) as u32, 22, is_tx, 118];
    // Signal quality (5) is not supplied.
    (0..10).map(|index| (first + index * step, u16::from(index == 4), values[index as usize])).collect()
}

#[test]
fn prism_in_both_numberings_and_byte_orders() {
    for bytes_of in [u32::to_le_bytes, u32::to_be_bytes] {
        for (code, step) in [(0x44, 0x1_0000), (0x41, 0x1000)] {
            let bytes = prism(code, &items(code + step, step, 0), bytes_of);
            assert_eq!(bytes.len(), 144);
            let info = decode(LinkType::IEEE802_11_PRISM, &bytes).unwrap();
            let expected = RadioInfo {
                header_len: 144,
                tsft_us: Some(0x7996_e188),
                tsft_bits: 32,
                frequency_mhz: Some(2442),
                signal_dbm: Some(-61),
                noise_dbm: Some(-95),
                mode: Mode::Dsss { rate_500kbps: 22, short_preamble: None },
                ..RadioInfo::default()
            };
            assert_eq!(info, expected, "code {code:#x}");
        }
    }
}

#[test]
fn prism_items_that_are_not_supplied_are_absent() {
    let mut all = items(0x1_0044, 0x1_0000, 1);
    for (_, status, _) in &mut all {
        *status = 1;
    }
    let info = decode(LinkType::IEEE802_11_PRISM, &prism(0x44, &all, u32::to_le_bytes)).unwrap();
    assert_eq!(info, RadioInfo { header_len: 144, tsft_bits: 32, ..RadioInfo::default() });
}

#[test]
fn prism_transmissions_and_device_units() {
    let mut all = items(0x1_0044, 0x1_0000, 1);
    // madwifi's signal is not dBm.
    all[5].2 = 57;
    let info = decode(LinkType::IEEE802_11_PRISM, &prism(0x44, &all, u32::to_le_bytes)).unwrap();
    assert!(info.own_transmission);
    assert_eq!(info.signal_dbm, None);
}

#[test]
fn prism_headers_that_are_none() {
    let decode = |bytes: &[u8]| decode(LinkType::IEEE802_11_PRISM, bytes);
    let bytes = prism(0x44, &items(0x1_0044, 0x1_0000, 0), u32::to_le_bytes);
    assert_eq!(decode(&bytes[..143]), Err(RadioError::Truncated { needed: 144, got: 143 }));
    assert_eq!(decode(&bytes[..7]), Err(RadioError::Truncated { needed: 24, got: 7 }));
    assert!(matches!(decode(&[0; 144]), Err(RadioError::Malformed(_))));
    for bad_len in [0, 23, 143] {
        let mut bytes = bytes.clone();
        bytes[4] = bad_len;
        assert!(matches!(decode(&bytes), Err(RadioError::Malformed(_))), "{bad_len}");
    }
}

/// An AVS header of version 1: the words in order.
fn avs(changes: &[(usize, u32)]) -> Vec<u8> {
    let mut words = [0x8021_1001, 64, 1, 2, 0, 0, 6, 7, 55, 0, 0, 2, (-50_i32) as u32, (-90_i32) as u32, 1, 1];
    for &(index, value) in changes {
        words[index] = value;
    }
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn avs_under_both_link_types() {
    for link in [LinkType::IEEE802_11_AVS, LinkType::IEEE802_11_PRISM] {
        let expected = RadioInfo {
            header_len: 64,
            tsft_us: Some(1 << 32 | 2),
            tsft_bits: 64,
            frequency_mhz: Some(2442),
            mode: Mode::Dsss { rate_500kbps: 11, short_preamble: Some(true) },
            signal_dbm: Some(-50),
            noise_dbm: Some(-90),
            ..RadioInfo::default()
        };
        assert_eq!(decode(link, &avs(&[])), Ok(expected));
    }
}

#[test]
fn avs_values_that_are_absent_or_elsewhere() {
    let of = |changes: &[(usize, u32)]| decode(LinkType::IEEE802_11_AVS, &avs(changes)).unwrap();
    assert_eq!(of(&[(2, 0), (3, 0)]).tsft_us, None, "zero is: not supplied");
    assert_eq!(of(&[(11, 3)]).signal_dbm, None, "raw RSSI");
    assert_eq!(of(&[(13, 0xffff_ffff)]).noise_dbm, None, "not provided");
    assert_eq!(of(&[(7, 5180)]).frequency_mhz, Some(5180));
    assert_eq!(of(&[(7, 5_180_000)]).frequency_mhz, Some(5180), "kHz");
    assert_eq!(of(&[(6, 1)]).frequency_mhz, None, "frequency hopping");
    assert_eq!(of(&[(6, 1)]).mode, Mode::Unknown);
    assert_eq!(of(&[(15, 2)]).mode, Mode::Unknown, "PBCC");
    assert_eq!(of(&[(8, 54_000_000)]).mode, Mode::Ofdm { rate_500kbps: 108, bandwidth: Bandwidth::Mhz20 }, "bit/s");
    assert_eq!(of(&[(8, 56)]).mode, Mode::Unknown, "5.6 Mbit/s");
}

#[test]
fn avs_headers_that_are_none() {
    let decode = |bytes: &[u8]| decode(LinkType::IEEE802_11_AVS, bytes);
    assert!(matches!(decode(&avs(&[(0, 0x8021_1003)])), Err(RadioError::Malformed(_))));
    assert!(matches!(decode(&avs(&[(1, 63)])), Err(RadioError::Malformed(_))));
    assert_eq!(decode(&avs(&[(1, 65)])), Err(RadioError::Truncated { needed: 65, got: 64 }));
    assert_eq!(decode(&avs(&[(1, u32::MAX)])), Err(RadioError::Truncated { needed: u32::MAX as usize, got: 64 }));
    assert_eq!(decode(&avs(&[])[..63]), Err(RadioError::Truncated { needed: 64, got: 63 }));
}

/// The header of a real frame at 300 Mbit/s (AirPcap N): common and MAC+PHY fields.
const PPI_HT: [u8; 84] = [
    0, 0, 84, 0, 105, 0, 0, 0, //
    2, 0, 20, 0, 0x63, 0x7e, 0xcd, 0xf3, 0, 0, 0, 0, 0x01, 0, 0x58, 0x02, 0x76, 0x09, 0xc0, 0, 0, 0, 0xc8,
    0xa0, //
    4, 0, 48, 0, 0x06, 0, 0, 0, 0x02, 0, 0, 0, 0, 0x0f, 0x02, 0x28, //
    0x22, 0x22, 0x1e, 0xff, 0x24, 0x27, 0x21, 0xff, 0x8a, 0x09, 0xc0, 0, 0xc2, 0xa0, 0xc2, 0xa0, //
    0xbe, 0xa0, 0x80, 0x80, 0x16, 0x11, 0x13, 0x1d, 0x15, 0x11, 0x17, 0x16, 0x19, 0x12, 0x1a, 0x16, 0, 0, 0, 0,
];

fn ppi(changes: &[(usize, u8)]) -> Result<RadioInfo, RadioError> {
    let mut bytes = PPI_HT;
    for &(at, value) in changes {
        bytes[at] = value;
    }
    decode(LinkType::PPI, &bytes)
}

#[test]
fn ppi_of_a_real_ht_frame() {
    let ht = Ht {
        mcs: 15,
        bandwidth: Bandwidth::Mhz40,
        short_gi: Some(true),
        greenfield: Some(false),
        ldpc: None,
        stbc: None,
        ness: 0,
    };
    let expected = RadioInfo {
        header_len: 84,
        tsft_us: Some(0xf3cd_7e63),
        tsft_bits: 64,
        fcs_included: Some(true),
        bad_fcs: Some(false),
        frequency_mhz: Some(2422),
        mode: Mode::Ht(ht),
        signal_dbm: Some(-56),
        noise_dbm: Some(-96),
        antennas: 3,
        ..RadioInfo::default()
    };
    assert_eq!(ppi(&[]), Ok(expected));
}

#[test]
fn ppi_flags_and_absent_values() {
    let info = ppi(&[(20, 0x0e)]).unwrap();
    assert_eq!(info.tsft_us, Some(0xf3cd_7e63 * 1000), "the timer counts ms");
    assert_eq!((info.fcs_included, info.bad_fcs, info.bad_plcp), (Some(false), Some(true), true));
    assert_eq!(ppi(&[(30, 0x80)]).unwrap().signal_dbm, Some(-62), "the strongest antenna stands in");
    let info = ppi(&[(12, 0), (13, 0), (14, 0), (15, 0), (24, 0), (25, 0)]).unwrap();
    assert_eq!((info.tsft_us, info.frequency_mhz), (None, None));
}

#[test]
fn ppi_ampdu() {
    let ampdu = |flags: u8| ppi(&[(36, flags)]).unwrap().ampdu;
    assert_eq!(ampdu(0x06), None);
    let more = ampdu(0x30).unwrap();
    assert_eq!((more.reference, more.is_last, more.delimiter_crc_error), (2, Some(false), false));
    assert_eq!(ampdu(0x10).unwrap().is_last, Some(true));
    assert_eq!(ampdu(0x70).unwrap().is_last, None, "the delimiter after it was broken");
}

#[test]
fn ppi_modulation_by_rate() {
    // The MAC+PHY field turned into one of an unknown type; the rate is 54 Mbit/s.
    let legacy = [(22, 108), (23, 0), (32, 0x99)];
    assert_eq!(ppi(&legacy).unwrap().mode, Mode::Ofdm { rate_500kbps: 108, bandwidth: Bandwidth::Mhz20 });
    // With an 802.11n MAC field it may as well be HT MCS 3 at 40 MHz.
    assert_eq!(ppi(&[(22, 108), (23, 0), (32, 3)]).unwrap().mode, Mode::Unknown);
    assert_eq!(ppi(&[(32, 0x99)]).unwrap().mode, Mode::Unknown, "600 is not a legacy rate");
    assert_eq!(ppi(&[(45, 0xff)]).unwrap().mode, Mode::Unknown, "no MCS");
}

#[test]
fn ppi_lengths_that_lie_are_errors() {
    assert!(matches!(ppi(&[(34, 49)]), Err(RadioError::Malformed(_))), "past the end");
    assert!(matches!(ppi(&[(35, 0xff)]), Err(RadioError::Malformed(_))), "far past the end");
    assert!(matches!(ppi(&[(10, 19)]), Err(RadioError::Malformed(_))), "a short common field");
    assert!(matches!(ppi(&[(2, 7)]), Err(RadioError::Malformed(_))));
    assert!(matches!(ppi(&[(0, 1)]), Err(RadioError::Malformed(_))));
    assert_eq!(ppi(&[(2, 85)]), Err(RadioError::Truncated { needed: 85, got: 84 }));
    assert_eq!(ppi(&[(4, 1)]), Err(RadioError::Unsupported(LinkType(1))), "Ethernet inside");
}

/// With the alignment flag each field is padded to four bytes; without it none is.
#[test]
fn ppi_alignment() {
    for (flags, padding) in [(0, 0), (1, 3)] {
        let mut bytes = vec![0, flags, 0, 0, 105, 0, 0, 0, 0x30, 0x75, 5, 0, 1, 2, 3, 4, 5];
        bytes.extend(std::iter::repeat_n(0xee, padding));
        bytes.extend_from_slice(&PPI_HT[8..32]);
        bytes[2] = bytes.len() as u8;
        let info = decode(LinkType::PPI, &bytes).unwrap();
        assert_eq!((info.frequency_mhz, info.header_len), (Some(2422), bytes.len()));
    }
}

#[test]
fn ppi_around_radiotap() {
    let inner = header(&[Word::Radiotap(vec![(2, vec![12]), (5, vec![0xc4])])]);
    let mut bytes = vec![0, 0, 8, 0, 127, 0, 0, 0];
    bytes.extend_from_slice(&inner);
    let info = decode(LinkType::PPI, &bytes).unwrap();
    assert_eq!(info.header_len, 8 + inner.len());
    assert_eq!(info.signal_dbm, Some(-60));
    assert!(decode(LinkType::PPI, &bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn bare_frames_and_other_link_types() {
    let info = decode(LinkType::IEEE802_11, &[]).unwrap();
    assert_eq!((info.header_len, info.fcs_included), (0, None));
    assert_eq!(decode(LinkType::USB_LINUX, &[0; 64]), Err(RadioError::Unsupported(LinkType::USB_LINUX)));
}
