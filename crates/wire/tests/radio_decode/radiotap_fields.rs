//! Each radiotap field on bytes made by hand.

use txop_wire::linktype::LinkType;
use txop_wire::phy::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};
use txop_wire::radio::{decode, DeviceStamp, RadioError, RadioInfo, StampPosition};

use crate::encoder::{header, le16s, le32s, Word};

fn of(words: &[Word]) -> RadioInfo {
    decode(LinkType::IEEE802_11_RADIOTAP, &header(words)).expect("a whole header")
}

fn fields(fields: &[(u32, &[u8])]) -> RadioInfo {
    of(&[word(fields)])
}

fn word(fields: &[(u32, &[u8])]) -> Word {
    Word::Radiotap(fields.iter().map(|&(field, data)| (field, data.to_vec())).collect())
}

fn tlvs(tlvs: &[(u16, Vec<u8>)]) -> RadioInfo {
    of(&[Word::WithTlvs(vec![], tlvs.to_vec())])
}

/// The smallest header: nothing is present, so nothing is claimed.
#[test]
fn an_empty_header_claims_nothing() {
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &[0, 0, 8, 0, 0, 0, 0, 0, 0xd4]).unwrap();
    assert_eq!(info, RadioInfo { header_len: 8, tsft_bits: 64, ..RadioInfo::default() });
}

#[test]
fn lengths_that_lie_are_errors() {
    let decode = |bytes: &[u8]| decode(LinkType::IEEE802_11_RADIOTAP, bytes);
    assert_eq!(decode(&[0, 0, 8]), Err(RadioError::Truncated { needed: 8, got: 3 }));
    assert_eq!(decode(&[0, 0, 9, 0, 0, 0, 0, 0]), Err(RadioError::Truncated { needed: 9, got: 8 }));
    assert!(matches!(decode(&[0, 0, 7, 0, 0, 0, 0, 0]), Err(RadioError::Malformed(_))));
    assert!(matches!(decode(&[1, 0, 8, 0, 0, 0, 0, 0]), Err(RadioError::Malformed(_))));
}

/// A header made by hand, byte by byte: alignment counts from the start of the header, not from the end of the
/// presence words. With two words the fields start at 12 and TSFT (align 8) at 16.
#[test]
fn alignment_counts_from_the_header_start() {
    let mut bytes = vec![0, 0, 26, 0];
    bytes.extend_from_slice(&0xa000_0001_u32.to_le_bytes()); // TSFT, radiotap namespace next, another word
    bytes.extend_from_slice(&0x0000_0820_u32.to_le_bytes()); // signal, antenna
    bytes.extend_from_slice(&[0xff; 4]); // padding
    bytes.extend_from_slice(&0x0123_4567_89ab_cdef_u64.to_le_bytes());
    bytes.extend_from_slice(&[0xc4, 1]);
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &bytes).unwrap();
    assert_eq!(info.tsft_us, Some(0x0123_4567_89ab_cdef));
    assert_eq!(info.signal_dbm, Some(-60));
    assert_eq!(info.antennas, 1);
}

/// Bit 0x40 is the FCS verdict; without the field there is no verdict.
#[test]
fn flags() {
    let info = fields(&[(1, &[0x10])]);
    assert_eq!((info.fcs_included, info.bad_fcs, info.data_pad), (Some(true), Some(false), false));
    let info = fields(&[(1, &[0x60])]);
    assert_eq!((info.fcs_included, info.bad_fcs, info.data_pad), (Some(false), Some(true), true));
    let info = fields(&[(2, &[12])]);
    assert_eq!((info.fcs_included, info.bad_fcs), (None, None));
}

/// The preamble matters for DSSS only, and is unknown without the flags.
#[test]
fn legacy_rates() {
    assert_eq!(fields(&[(2, &[22])]).mode, Mode::Dsss { rate_500kbps: 22, short_preamble: None });
    assert_eq!(fields(&[(1, &[2]), (2, &[11])]).mode, Mode::Dsss { rate_500kbps: 11, short_preamble: Some(true) });
    assert_eq!(fields(&[(1, &[0]), (2, &[2])]).mode, Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) });
    assert_eq!(fields(&[(2, &[108])]).mode, Mode::Ofdm { rate_500kbps: 108, bandwidth: Bandwidth::Mhz20 });
    // Zero beside an MCS field is common and means nothing.
    assert_eq!(fields(&[(2, &[0])]).mode, Mode::Unknown);
    // Some drivers mean HT MCS 7 by this; others do not.
    assert_eq!(fields(&[(2, &[0x87])]).mode, Mode::Unknown);
}

/// Half- and quarter-clocked channels state the real rate: 3 Mbit/s at 10 MHz is what 6 is at 20 MHz.
#[test]
fn half_and_quarter_rate_channels() {
    let on = |flags: u16, rate: u8| fields(&[(2, &[rate]), (3, &le16s(&[5890, flags]))]).mode;
    assert_eq!(on(0x4140, 6), Mode::Ofdm { rate_500kbps: 6, bandwidth: Bandwidth::Mhz10 });
    assert_eq!(on(0x4140, 54), Mode::Ofdm { rate_500kbps: 54, bandwidth: Bandwidth::Mhz10 });
    assert_eq!(on(0x4140, 108), Mode::Unknown, "a 20 MHz rate on a 10 MHz channel");
    assert_eq!(on(0x8140, 27), Mode::Ofdm { rate_500kbps: 27, bandwidth: Bandwidth::Mhz5 });
    assert_eq!(on(0xc140, 12), Mode::Unknown, "half and quarter at once");
    // The same rate numbers under Atheros turbo, frequency hopping and sub-1-GHz are other modulations.
    assert_eq!(on(0x0150, 24), Mode::Unknown);
    assert_eq!(on(0x0880, 2), Mode::Unknown);
    assert_eq!(on(0x0044, 12), Mode::Unknown);
}

#[test]
fn channel_and_xchannel() {
    assert_eq!(fields(&[(3, &le16s(&[2412, 0x00a0]))]).frequency_mhz, Some(2412));
    assert_eq!(fields(&[(3, &le16s(&[0, 0]))]).frequency_mhz, None, "0 MHz is absence");
    let xchannel = [0x40, 0x41, 0x02, 0x00, 0x71, 0x16, 149, 0];
    let info = fields(&[(2, &[12]), (18, &xchannel)]);
    assert_eq!(info.frequency_mhz, Some(5745));
    assert_eq!(info.mode, Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz10 });
}

/// The combined signal comes first; the words after it describe one antenna each.
#[test]
fn several_antennas() {
    let info = of(&[
        word(&[(5, &[0xc0]), (6, &[0xa0])]),
        word(&[(5, &[0xb0]), (11, &[0])]),
        word(&[(5, &[0xc8]), (11, &[1])]),
    ]);
    assert_eq!(info.signal_dbm, Some(-56));
    assert_eq!(info.noise_dbm, Some(-96));
    assert_eq!(info.antennas, 2);
}

/// A second word without a reset means fields 32 and up, which have no size: what came before counts.
#[test]
fn a_word_without_namespace_reset_stops_decoding() {
    let mut bytes = header(&[word(&[(2, &[12])]), word(&[(2, &[108])])]);
    bytes[7] &= !0x20;
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &bytes).unwrap();
    assert_eq!(info.header_len, bytes.len());
    assert_eq!(info.mode, Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 });
}

/// The vendor's presence bits mean nothing to us, and its data is skipped by its own length.
#[test]
fn vendor_namespaces_are_skipped_exactly() {
    let info = of(&[
        word(&[(1, &[0x10])]),
        Word::Vendor(0x1fff_ffff, vec![0x55; 7]),
        Word::Vendor(0x0000_0001, vec![0xaa; 4]),
        word(&[(5, &[0xc4]), (11, &[0])]),
    ]);
    assert_eq!((info.fcs_included, info.signal_dbm), (Some(true), Some(-60)));
}

/// A skip length that reaches past the header ends decoding, not the program.
#[test]
fn a_vendor_that_skips_too_far() {
    let mut bytes = header(&[word(&[(1, &[0x10])]), Word::Vendor(0, vec![]), word(&[(5, &[0xc4])])]);
    let skip_at = bytes.len() - 3;
    bytes[skip_at..skip_at + 2].copy_from_slice(&0xffff_u16.to_le_bytes());
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &bytes).unwrap();
    assert_eq!((info.fcs_included, info.signal_dbm), (Some(true), None));
}

/// Presence words that run off the end leave no field to read, but the frame is still found.
#[test]
fn endless_presence_words() {
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &[0, 0, 12, 0, 3, 0, 0, 0x80, 3, 0, 0, 0x80, 0xd4]).unwrap();
    assert_eq!(info, RadioInfo { header_len: 12, tsft_bits: 64, ..RadioInfo::default() });
}

/// A field cut off by the header length is absent; those before it are not.
#[test]
fn a_field_past_the_end_is_absent() {
    let mut bytes = header(&[word(&[(1, &[0x50]), (3, &le16s(&[2412, 0]))])]);
    bytes.pop();
    bytes[2] -= 1;
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &bytes).unwrap();
    assert_eq!((info.bad_fcs, info.frequency_mhz), (Some(true), None));
}

#[test]
fn rx_and_tx_flags() {
    assert!(fields(&[(14, &[2, 0])]).bad_plcp);
    assert!(!fields(&[(14, &[1, 0])]).bad_plcp, "bit 0 is reserved");
    assert!(!fields(&[(14, &[0, 0])]).own_transmission);
    assert!(fields(&[(15, &[0, 0])]).own_transmission);
    assert!(fields(&[(17, &[0])]).own_transmission);
}

const HT: Ht = Ht {
    mcs: 15,
    bandwidth: Bandwidth::Mhz40,
    short_gi: Some(true),
    greenfield: Some(false),
    ldpc: Some(true),
    stbc: Some(1),
    ness: 0,
};

#[test]
fn mcs() {
    assert_eq!(fields(&[(19, &[0x7f, 0x35, 15])]).mode, Mode::Ht(HT));
    // Nothing known but what makes a rate.
    let bare = Ht { greenfield: None, ldpc: None, stbc: None, ..HT };
    assert_eq!(fields(&[(19, &[0x07, 0xfd, 15])]).mode, Mode::Ht(bare));
    // 20 MHz in the upper half of a 40 MHz channel.
    let upper = Ht { bandwidth: Bandwidth::Mhz20, ..bare };
    assert_eq!(fields(&[(19, &[0x07, 0x07, 15])]).mode, Mode::Ht(upper));
    // The number of extension streams is split over both bytes: high bit in `known`, low bit in `flags`.
    let three = Ht { ness: 3, ..bare };
    assert_eq!(fields(&[(19, &[0xc7, 0x85, 15])]).mode, Mode::Ht(three));
}

#[test]
fn an_mcs_that_is_not_known_is_not_guessed() {
    assert_eq!(fields(&[(19, &[0x00, 0x05, 7])]).mode, Mode::Unknown);
    // No index: the rate beside it counts.
    let rate = fields(&[(2, &[12]), (19, &[0x05, 0x05, 7])]).mode;
    assert_eq!(rate, Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 });
    // An index but no bandwidth: HT at an unknown rate, certainly not at the legacy one.
    assert_eq!(fields(&[(2, &[12]), (19, &[0x06, 0x05, 7])]).mode, Mode::Unknown);
    // No guard interval: one of two rates.
    let mode = fields(&[(2, &[12]), (19, &[0x03, 0x05, 7])]).mode;
    assert_eq!((mode.rate_kbps(), mode.rate_range_kbps()), (None, Some((135_000, 150_000))));
    // Not an HT MCS.
    assert_eq!(fields(&[(19, &[0x07, 0x00, 77])]).mode, Mode::Unknown);
}

#[test]
fn ampdu() {
    let info = fields(&[(20, &[0x92, 1, 0, 0, 0xcc, 0, 0, 0])]);
    let ampdu = info.ampdu.unwrap();
    assert_eq!((ampdu.reference, ampdu.is_last, ampdu.eof), (0x192, Some(true), Some(true)));
    let ampdu = fields(&[(20, &[1, 0, 0, 0, 0x58, 0, 0, 0])]).ampdu.unwrap();
    // "Last" and "EOF" are set but not known.
    assert_eq!((ampdu.is_last, ampdu.eof, ampdu.delimiter_crc_error), (None, None, true));
}

/// Bytes of a real frame (Broadcom, macOS): everything known, 40 MHz, MCS 6, two streams, LDPC.
const VHT_BYTES: [u8; 12] = [0xff, 0x01, 0x40, 0x01, 0x62, 0, 0, 0, 0x01, 0, 0, 0];
const VHT: Vht = Vht {
    mcs: 6,
    nss: 2,
    bandwidth: Bandwidth::Mhz40,
    short_gi: Some(false),
    stbc: Some(false),
    ldpc: Some(true),
    ldpc_extra_symbol: Some(false),
};

fn vht(changes: &[(usize, u8)]) -> Mode {
    let mut bytes = VHT_BYTES;
    for &(at, value) in changes {
        bytes[at] = value;
    }
    fields(&[(2, &[12]), (21, &bytes)]).mode
}

#[test]
fn vht_single_user() {
    assert_eq!(vht(&[]), Mode::Vht(VHT));
    assert_eq!(
        vht(&[(2, 0x15)]),
        Mode::Vht(Vht { short_gi: Some(true), stbc: Some(true), ldpc_extra_symbol: Some(true), ..VHT })
    );
    assert_eq!(
        vht(&[(0, 0x44), (2, 0x15)]),
        Mode::Vht(Vht { short_gi: Some(true), stbc: None, ldpc_extra_symbol: None, ..VHT })
    );
    assert_eq!(vht(&[(0, 0xfe)]), Mode::Vht(Vht { stbc: None, ..VHT }), "STBC not known");
    assert_eq!(vht(&[(0, 0xbf)]), Mode::Unknown, "bandwidth not known");
    assert_eq!(vht(&[(0, 0xfb)]), Mode::Vht(Vht { short_gi: None, ..VHT }), "guard interval not known");
    assert_eq!(vht(&[(4, 0xf2)]), Mode::Unknown, "15 is: MCS not known");
    assert_eq!(
        vht(&[(4, 0x60)]),
        Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 },
        "no user: the field says nothing"
    );
}

/// Multi-user: the others' MCS is 15 (not known) when one user's frames were received.
#[test]
fn vht_multi_user() {
    let third = Vht { mcs: 8, nss: 1, ldpc: Some(true), ..VHT };
    assert_eq!(vht(&[(4, 0xf2), (5, 0xf1), (6, 0x81), (8, 0x04)]), Mode::Vht(third));
    assert_eq!(vht(&[(5, 0x71)]), Mode::Unknown, "two users described: whose frame is it?");
}

/// The table of radiotap.org's VHT field.
#[test]
fn vht_bandwidth_codes() {
    let mhz = [20, 40, 20, 20, 80, 40, 40, 20, 20, 20, 20, 160, 80, 80, 40, 40, 40, 40, 20, 20, 20, 20, 20, 20, 20, 20];
    for (code, mhz) in mhz.into_iter().enumerate() {
        let Mode::Vht(vht) = vht(&[(3, code as u8)]) else { panic!("code {code}") };
        assert_eq!(vht.bandwidth.mhz(), mhz, "code {code}");
    }
    assert_eq!(vht(&[(3, 26)]), Mode::Unknown);
}

#[test]
fn timestamps() {
    let stamp = |accuracy: u16, unit_position: u8, flags: u8| {
        let mut bytes = 0x1_0000_0005_u64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&accuracy.to_le_bytes());
        bytes.extend_from_slice(&[unit_position, flags]);
        fields(&[(22, &bytes)]).stamp
    };
    let us = DeviceStamp {
        ns: 0x1_0000_0005 * 1000,
        position: StampPosition::PpduStart,
        is_32bit: false,
        wraps_after_ns: None,
        accuracy_ns: Some(7000),
    };
    assert_eq!(stamp(7, 0x11, 0x02), Some(us));
    // The high half of a 32-bit counter is not in use.
    let short = DeviceStamp {
        ns: 5,
        position: StampPosition::PpduEnd,
        is_32bit: true,
        wraps_after_ns: Some(1 << 32),
        accuracy_ns: None,
    };
    assert_eq!(stamp(7, 0x22, 0x01), Some(short));
    assert_eq!(stamp(7, 0x11, 0x01).unwrap().wraps_after_ns, Some(1_000 << 32), "a counter of microseconds");
    assert_eq!(stamp(7, 0x30, 0x01).unwrap().ns, 5_000_000);
    assert_eq!(stamp(0, 0xf2, 0x00).unwrap().position, StampPosition::Unknown);
    assert_eq!(stamp(0, 0x03, 0x00), None, "an undefined unit");
}

/// Words of a real frame (Qualcomm Atheros), which carries a vendor namespace as well.
const HE_WORDS: [u16; 6] = [0xc3fc, 0x00fe, 0x69e5, 0x000f, 0x2180, 0x7f02];
const HE: He = He {
    format: HeFormat::Su,
    mcs: 9,
    nss: 2,
    bandwidth: Some(Bandwidth::Mhz20),
    ru_tones: None,
    gi: Some(GuardInterval::Ns800),
    ltf_ns: Some(6400),
    dcm: false,
    stbc: Some(false),
    ldpc: Some(true),
};

fn he(changes: &[(usize, u16)]) -> Mode {
    let mut words = HE_WORDS;
    for &(at, value) in changes {
        words[at] = value;
    }
    fields(&[(2, &[12]), (23, &le16s(&words))]).mode
}

#[test]
fn he_modes() {
    assert_eq!(he(&[]), Mode::He(HE));
    let mu = He { format: HeFormat::Mu, bandwidth: None, ru_tones: Some(106), gi: Some(GuardInterval::Ns3200), ..HE };
    assert_eq!(he(&[(0, 0xc3fe), (4, 0x21a6)]), Mode::He(mu));
    let stbc = He { nss: 1, stbc: Some(true), dcm: true, ..HE };
    assert_eq!(he(&[(2, 0xf9e5)]), Mode::He(stbc));
    let bare = He { bandwidth: None, stbc: None, ldpc: None, ltf_ns: None, ..HE };
    assert_eq!(he(&[(0, 0x0020), (1, 0x0002), (4, 0x0000)]), Mode::He(bare));
}

/// An HE field means an HE PPDU: with too little known, the rate beside it must not be believed either.
#[test]
fn he_that_is_not_known_is_not_guessed() {
    assert_eq!(he(&[(0, 0xc3dc)]), Mode::Unknown, "MCS");
    let any_gi = Mode::He(He { gi: None, ..HE });
    assert_eq!(he(&[(1, 0x00fc)]), any_gi, "guard interval");
    assert_eq!(he(&[(4, 0x21b0)]), any_gi, "a reserved guard interval");
    let (any, known) = (any_gi.duration(1500, None).unwrap(), Mode::He(HE).duration(1500, None).unwrap());
    assert!(any.min_ns() == known.min_ns() && any.max_ns() > known.max_ns() + 10_000, "{any:?} {known:?}");
    assert_eq!((any_gi.rate_kbps(), any_gi.rate_range_kbps()), (None, Some((195_000, 229_412))));
    let streams = he(&[(5, 0x7f00)]);
    assert_eq!(streams, Mode::He(He { nss: 0, ..HE }), "no number of streams (ns-3 leaves it out): HE all the same");
    assert_eq!((streams.rate_kbps(), streams.duration(1500, None)), (None, None), "but without a rate");
    assert_eq!(he(&[(2, 0x6ee5)]), Mode::Unknown, "MCS 14");
}

#[test]
fn the_newest_phy_wins() {
    let he = le16s(&HE_WORDS);
    assert_eq!(fields(&[(19, &[7, 0, 7]), (21, &VHT_BYTES), (23, &he)]).mode, Mode::He(HE));
    assert_eq!(fields(&[(19, &[7, 0, 7]), (21, &VHT_BYTES)]).mode, Mode::Vht(VHT));
    assert!(matches!(fields(&[(2, &[12]), (19, &[7, 0, 7])]).mode, Mode::Ht(_)));
}

#[test]
fn zero_length_psdu_and_l_sig() {
    assert!(fields(&[(26, &[0])]).zero_length_psdu);
    let l_sig = fields(&[(27, &le16s(&[2, 1000 << 4 | 11]))]).l_sig.unwrap();
    assert_eq!((l_sig.length, l_sig.rate), (Some(1000), None));
    let l_sig = fields(&[(27, &le16s(&[1, 1000 << 4 | 11]))]).l_sig.unwrap();
    assert_eq!((l_sig.length, l_sig.rate), (None, Some(11)));
}

/// HE-MU without HE and HE-MU-other-user say nothing; the field after them shows that they were stepped over.
#[test]
fn he_mu_fields_are_stepped_over() {
    let info = fields(&[(24, &[0xff; 12]), (25, &[0xff; 6]), (27, &le16s(&[3, 0xfff0]))]);
    assert_eq!(info.l_sig.unwrap().length, Some(4095));
}

fn eht_item(known: u32, data0: u32, users: &[u32]) -> (u16, Vec<u8>) {
    let mut words = vec![known, data0, 0, 0, 0, 0, 0, 0, 0, 0];
    words.extend_from_slice(users);
    (34, le32s(&words))
}

/// As Linux writes them: EHT first, then U-SIG; unknown items and those with an odd length in between.
#[test]
fn eht_from_tlvs() {
    let mine = 0x80 | 0x10 | 0x02 | 13 << 20 | 1 << 24;
    let info = tlvs(&[
        (0x7777, vec![1, 2, 3]),
        eht_item(0x04, 2 << 7, &[0x12, mine]),
        (28, vec![]),
        (33, le32s(&[0x02 | 4 << 15, 0, 0])),
        (27, le16s(&[2, 100 << 4])),
    ]);
    let eht = Eht {
        mcs: Some(13),
        nss: Some(2),
        bandwidth: Some(Bandwidth::Mhz320),
        gi: Some(GuardInterval::Ns3200),
        ..Eht::UNKNOWN
    };
    assert_eq!(info.mode, Mode::Eht(eht));
    assert_eq!(info.l_sig.unwrap().length, Some(100), "a classic field as an item");
}

/// A PPDU without OFDMA that leaves out a part of its width has the rest as one unit.
#[test]
fn eht_with_a_punctured_channel() {
    let of = |width: u32, kind: u32, code: u32| {
        let u_sig = (33, le32s(&[0x06 | width << 15, kind << 6 | code << 9, u32::MAX]));
        match tlvs(&[u_sig]).mode {
            Mode::Eht(eht) => eht.ru_tones,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((of(2, 1, 0), of(2, 1, 4), of(2, 1, 5)), (None, Some(726), None));
    assert_eq!((of(3, 1, 8), of(3, 2, 12)), (Some(1722), Some(1480)));
    assert_eq!((of(4, 1, 8), of(4, 1, 9), of(5, 1, 24)), (Some(3472), Some(2988), Some(2476)));
    assert_eq!(of(3, 0, 1), None, "with OFDMA, of one 80 MHz");
}

#[test]
fn eht_with_little_known() {
    let nothing = Eht::UNKNOWN;
    assert_eq!(tlvs(&[eht_item(0, 0, &[])]).mode, Mode::Eht(nothing));
    // Two users, neither marked: whose frame is it?
    assert_eq!(tlvs(&[eht_item(0, 0, &[0x12, 0x12])]).mode, Mode::Eht(nothing));
    // One user, not marked, can only be the one.
    let one = Eht { mcs: Some(0), nss: Some(1), ..nothing };
    assert_eq!(tlvs(&[eht_item(0, 0, &[0x12])]).mode, Mode::Eht(one));
    // Bytes left out at the end are zero.
    assert_eq!(tlvs(&[(34, vec![])]).mode, Mode::Eht(nothing));
    // A U-SIG of a later version is a PHY after EHT.
    assert_eq!(tlvs(&[(33, le32s(&[0x01 | 1 << 12, 0, 0]))]).mode, Mode::Unknown);
}

/// Link direction, PPDU type and the number of EHT-SIG symbols are in U-SIG, the size of the user's unit is in EHT.
///
/// Bits 0 to 5 of value and mask are the last ones of U-SIG-1; those of U-SIG-2 follow (radiotap.org, and
/// `IEEE80211_RADIOTAP_EHT_USIG2_MU_...` of Linux).
#[test]
fn eht_to_several_users() {
    let u_sig = |uplink: u32, value: u32, mask: u32| (33, le32s(&[0x04 | uplink << 18, value, mask]));
    let of = |u_sig| match tlvs(&[u_sig]).mode {
        Mode::Eht(eht) => (eht.format, eht.sig_symbols),
        other => panic!("{other:?}"),
    };
    let all = u32::MAX;
    assert_eq!(of(u_sig(0, 1 << 6 | 3 << 17, all)), (Some(EhtFormat::SingleUser), Some(4)));
    assert_eq!(of(u_sig(1, 1 << 6, all)), (Some(EhtFormat::SingleUser), Some(1)), "a station to its access point");
    assert_eq!(of(u_sig(0, 0, all)), (Some(EhtFormat::Ofdma), Some(1)));
    assert_eq!(of(u_sig(0, 2 << 6, all)), (Some(EhtFormat::MuMimo), Some(1)));
    assert_eq!(of(u_sig(1, 0x1f << 17, all)), (Some(EhtFormat::TriggerBased), None), "no EHT-SIG");
    assert_eq!(of(u_sig(0, 3 << 6, all)), (None, None), "reserved");
    assert_eq!(of(u_sig(0, 1 << 6 | 3 << 17, 0x40)), (None, None), "not all bits of the type are known");
    let sizes = [26, 52, 106, 242, 484, 996, 1992, 3984, 78, 132, 726, 1480, 1722, 2476, 2988, 3472];
    for code in 0..32u32 {
        let mut words = vec![0x0040_0000, 0, code | 0x1fe0];
        words.resize(10, 0);
        let Mode::Eht(eht) = tlvs(&[(34, le32s(&words))]).mode else { panic!("not EHT") };
        assert_eq!(eht.ru_tones, sizes.get(code as usize).copied(), "{code}");
    }
}

/// An item longer than the header is not read.
#[test]
fn a_tlv_past_the_end() {
    let mut bytes = header(&[Word::WithTlvs(vec![(1, vec![0x10])], vec![(27, le16s(&[3, 0xfff0]))])]);
    bytes[14] = 5;
    let info = decode(LinkType::IEEE802_11_RADIOTAP, &bytes).unwrap();
    assert_eq!((info.fcs_included, info.l_sig), (Some(true), None));
}
