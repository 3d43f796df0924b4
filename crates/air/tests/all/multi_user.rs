//! HE and EHT PPDUs of all formats, in captures made frame by frame: no real capture with MU or trigger-based ones is known.

use crate::handmade::{shared_out, signalled, Address, Handmade};
use txop_air::report::{AllocatedUnit, MultiUser, MultiUserPpdus, ResourceUnit, SigBRate};
use wire::phy::Bandwidth;
use wire::radiotap::HeMu;

const AP: Address = [2, 0, 0, 0, 0, 1];
const STATION: Address = [2, 0, 0, 0, 0, 9];

/// A radiotap header with channel 6,135 MHz, and this behind it.
fn header(present: u32, rest: &[u8]) -> Vec<u8> {
    let len = 12 + rest.len() as u16;
    let mut bytes = vec![0, 0];
    bytes.extend(len.to_le_bytes());
    bytes.extend((1 << 3 | present).to_le_bytes());
    bytes.extend(6_135u16.to_le_bytes());
    bytes.extend([0x40, 0x01]);
    bytes.extend(rest);
    bytes
}

/// HE (field 23): format 0 SU, 1 ER SU, 2 MU, 3 trigger-based; 0 to 3 for 20 to 160 MHz, 4 to 10 for 26 to 1992 tones; MCS 0,
/// one stream, guard interval 0.8 us.
fn he(format: u16, width_or_unit: u16) -> Vec<u8> {
    let data = [0x4020 | format, 0x0002, 0, 0, width_or_unit, 1];
    header(1 << 23, &data.map(u16::to_le_bytes).concat())
}

/// The same with HE-MU (field 24), whose flags2 tell the width: 0 to 3 for 20 to 160 MHz.
fn he_mu(unit: u16, width: u16) -> Vec<u8> {
    let data = [0x4022, 0x0002, 0, 0, unit, 1, 0, 0x0004 | width, 0, 0, 0, 0];
    header(1 << 23 | 1 << 24, &data.map(u16::to_le_bytes).concat())
}

/// Trigger-based, with the width of the PPDU in data6.
fn he_tb(unit: u16, width: u16) -> Vec<u8> {
    let data = [0x4023, 0x0002, 0, 0, unit, 1 | 0x0020 | width << 6];
    header(1 << 23, &data.map(u16::to_le_bytes).concat())
}

/// U-SIG and EHT (TLVs 33 and 34): uplink, PPDU type, unit code; 320 MHz, MCS 13, two streams, guard interval 0.8 us.
fn eht(uplink: u32, ppdu_type: Option<u32>, unit: Option<u32>) -> Vec<u8> {
    let (value, mask) = ppdu_type.map_or((0, 0), |code| (code << 6 | 1 << 17, 0x003e_00c0));
    let u_sig = [0x06 | 4 << 15 | uplink << 18, value, mask];
    let mut item = vec![0x04 | unit.map_or(0, |_| 0x0040_0000), 0, unit.unwrap_or(0)];
    item.resize(10, 0);
    item.push(0x80 | 0x10 | 0x02 | 13 << 20 | 1 << 24);
    let tlv = |kind: u16, words: &[u32]| {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend((4 * words.len() as u16).to_le_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes
    };
    header(1 << 28, &[tlv(33, &u_sig), tlv(34, &item)].concat())
}

fn downlink(frames: &[(usize, Vec<u8>)]) -> Handmade {
    let mut capture = Handmade::on(6_135);
    for (count, radiotap) in frames {
        for _ in 0..*count {
            capture.behind(radiotap.clone(), 0x0208, [STATION, AP, AP], &[0; 40]);
        }
    }
    capture
}

fn only(capture: &Handmade) -> MultiUser {
    let report = capture.report();
    assert_eq!(report.multi_user.len(), 1, "{:?}", report.multi_user);
    report.multi_user[0].clone()
}

fn units(row: &MultiUser) -> Vec<(u16, u64)> {
    row.resource_units.iter().map(|ResourceUnit { tones, frames }| (*tones, *frames)).collect()
}

#[test]
fn he_formats_and_resource_units() {
    let frames = [(10, he(0, 2)), (1, he(1, 0)), (4, he(2, 6)), (3, he(2, 8)), (5, he(3, 4)), (2, he(3, 3))];
    let row = only(&downlink(&frames));
    assert_eq!((row.frames, row.single_user, row.extended_range), (25, 10, 1));
    assert_eq!((row.multi_user, row.trigger_based, row.format_unknown), (7, 7, 0));
    assert_eq!(units(&row), [(26, 5), (106, 4), (484, 3)]);
    assert_eq!((row.unit_known, row.certainly_ofdma), (25, 9), "484 tones may be all of a 40 MHz channel");
    assert_eq!(row.certainly_ofdma_share, Some(9.0 / 25.0));
}

#[test]
fn the_width_of_the_ppdu_tells_whether_a_unit_is_a_part_of_it() {
    // 484 tones in 80 MHz and in 40 MHz, 996 of 160 MHz trigger-based, 106 tones of extended range, all of 40 MHz.
    let frames = [(3, he_mu(8, 2)), (2, he_mu(8, 1)), (4, he_tb(9, 3)), (1, he_tb(9, 2)), (5, he(1, 6)), (1, he(2, 1))];
    let row = only(&downlink(&frames));
    assert_eq!((row.frames, row.unit_known, row.certainly_ofdma), (16, 16, 7));
    assert_eq!(units(&row), [(106, 5), (484, 5), (996, 5)]);
}

#[test]
fn eht_formats_and_resource_units() {
    let (single, ofdma, mimo) = (eht(0, Some(1), None), eht(0, Some(0), Some(9)), eht(0, Some(2), None));
    let trigger_based = eht(1, Some(0), Some(2));
    let frames =
        [(6, single), (3, ofdma), (2, mimo), (4, trigger_based), (5, eht(1, Some(0), None)), (1, eht(0, None, None))];
    let row = only(&downlink(&frames));
    assert_eq!((row.frames, row.single_user, row.multi_user), (21, 6, 5));
    assert_eq!((row.trigger_based, row.format_unknown), (9, 1));
    assert_eq!(units(&row), [(106, 4), (132, 3)]);
    assert_eq!((row.unit_known, row.certainly_ofdma), (15, 7));
}

#[test]
fn legacy_links_have_no_row() {
    let mut capture = Handmade::on(2_437);
    capture.uplink(STATION, AP, &[0; 40]);
    assert!(capture.report().multi_user.is_empty());
}

/// 20 us of legacy preamble, 4 of RL-SIG, 8 of U-SIG, two symbols of EHT-SIG as U-SIG says, 4 of EHT-STF, two LTFs of 7.2, and one
/// symbol of 13.6 us (68 bytes, where one symbol carries 78,400 bits): 72 us.
#[test]
fn eht_to_one_user_has_a_duration_without_l_sig() {
    let report = downlink(&[(100, eht(0, Some(1), None))]).report();
    let ap = report.stations.iter().find(|station| station.address == "02:00:00:00:00:01").expect("the access point");
    assert_eq!(ap.airtime_us, Some(7_200.0));
    // With several users only the L-SIG has the longest: not available.
    let report = downlink(&[(100, eht(0, Some(0), Some(2)))]).report();
    let ap = report.stations.iter().find(|station| station.address == "02:00:00:00:00:01").expect("the access point");
    assert_eq!(ap.airtime_us, None);
}

/// TSFT, channel, HE, HE-MU and L-SIG: an HE PPDU of 80 MHz with this unit (code of data5) and L-SIG LENGTH.
fn stamped(format: u16, tsft_us: u64, unit: u16, l_sig: u16) -> Vec<u8> {
    let width_only = HeMu { width: Some(Bandwidth::Mhz80), ..HeMu::default() };
    signalled(format, tsft_us, unit, l_sig, &width_only)
}

fn user(number: u8) -> Address {
    [2, 0, 0, 0, 0, number]
}

fn airtime(report: &txop_air::report::Report, ta: Address, ra: Address) -> f64 {
    let name = |address: Address| address.map(|byte| format!("{byte:02x}")).join(":");
    let link = report.links.iter().find(|link| link.ta == name(ta) && link.ra == name(ra)).expect("the link");
    link.airtime_us.expect("an airtime")
}

/// L-SIG LENGTH 298 is 20 us and 4 for each three bytes begun of 301: 424 us. Units of 484, 242 and 242 of the 996 tones; the
/// MPDUs of the first user stand around those of the second.
#[test]
fn a_ppdu_to_several_users_counts_once() {
    let mut capture = Handmade::on(6_135);
    let (wide, narrow) = (8, 7);
    for ppdu in 0..50u64 {
        let at_us = 1_000 + 30_000 * ppdu;
        for (to, unit) in [(11, wide), (12, narrow), (11, wide), (13, narrow)] {
            capture.same_instant();
            capture.behind(stamped(2, at_us, unit, 298), 0x0208, [user(to), AP, AP], &[0; 40]);
        }
        capture.pause(20);
    }
    let report = capture.report();
    let airtimes = [11, 12, 13].map(|to| airtime(&report, AP, user(to)));
    assert_eq!(airtimes, [50.0 * 212.0, 50.0 * 106.0, 50.0 * 106.0], "by their units: 484, 242 and 242 of 968 tones");
    let he = &report.airtime.by_phy[0];
    assert_eq!((he.ppdus, he.airtime_us), (50, 50.0 * 424.0), "{he:?}");
    assert_eq!(report.airtime.busy_us, Some(50.0 * 424.0));
    let shares: Vec<_> =
        report.multi_user.iter().map(|row| (row.ra.as_str(), row.ppdus_timed, row.ppdus_joint)).collect();
    assert!(shares.iter().all(|(_, timed, joint)| (*timed, *joint) == (Some(50), Some(50))), "{shares:?}");
    let of = |to: &str| report.multi_user.iter().find(|row| row.ra.ends_with(to)).expect("a row");
    assert!((of("0b").band_share.unwrap() - 484.0 / 996.0).abs() < 1e-9);
    assert!((of("0c").band_share.unwrap() - 242.0 / 996.0).abs() < 1e-9);
    assert_eq!(of("0d").ppdus_air_us, Some(50.0 * 424.0));
}

#[test]
fn a_trigger_based_ppdu_of_several_users_counts_once() {
    let mut capture = Handmade::on(6_135);
    for ppdu in 0..50u64 {
        let at_us = 1_000 + 30_000 * ppdu;
        for from in [11, 12] {
            capture.same_instant();
            capture.behind(stamped(3, at_us, 7, 298), 0x0108, [AP, user(from), AP], &[0; 40]);
        }
        capture.pause(20);
    }
    let report = capture.report();
    assert_eq!([11, 12].map(|from| airtime(&report, user(from), AP)), [50.0 * 212.0; 2]);
    assert_eq!(report.airtime.busy_us, Some(50.0 * 424.0));
    assert!(report.exchanges.is_empty(), "who answers whom is not judged: {:?}", report.exchanges);
}

#[test]
fn without_l_sig_there_is_no_share_of_the_band() {
    let row = only(&downlink(&[(3, he_mu(8, 2))]));
    assert_eq!((row.ppdus_timed, row.ppdus_air_us, row.band_share, row.ppdus_joint), (Some(0), None, None, Some(0)));
}

/// The whole band for this many users.
fn mimo(users: u8) -> HeMu {
    HeMu {
        sig_b_compression: Some(true),
        symbols_or_users: Some(users),
        width: Some(Bandwidth::Mhz80),
        ..HeMu::default()
    }
}

/// PPDUs of the access point, one after the other: HE-MU field and users captured.
fn sent(ppdus: &[(HeMu, &[u8])]) -> Vec<MultiUserPpdus> {
    let mut capture = Handmade::on(6_135);
    for (at, (field, users)) in ppdus.iter().enumerate() {
        for to in *users {
            capture.same_instant();
            let radiotap = signalled(2, 1_000 + 30_000 * at as u64, 7, 298, field);
            capture.behind(radiotap, 0x0208, [user(*to), AP, AP], &[0; 40]);
        }
        capture.pause(20);
    }
    capture.report().multi_user_ppdus
}

#[test]
fn users_of_whom_nothing_was_captured_are_counted() {
    // All users of 30 PPDUs, one user only of 20, two users of five in the whole band of 10.
    let mut ppdus = vec![(shared_out(), [11, 12, 13].as_slice()); 30];
    ppdus.extend(vec![(shared_out(), [12].as_slice()); 20]);
    ppdus.extend(vec![(mimo(5), [11, 13].as_slice()); 10]);
    let rows = sent(&ppdus);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.ta.as_str(), row.ppdus, row.allocation_known), ("02:00:00:00:00:01", 60, 60));
    assert_eq!((row.units, row.users), (Some(50 * 3 + 10), Some(50 * 3 + 10 * 5)));
    assert_eq!((row.users_captured, row.users_not_captured), (Some(30 * 3 + 20 + 10 * 2), Some(20 * 2 + 10 * 3)));
    let by_size: Vec<_> = row.resource_units.iter().map(|AllocatedUnit { tones, units }| (*tones, *units)).collect();
    assert_eq!(by_size, [(242, 100), (484, 50), (996, 10)]);
    let allocations: Vec<_> =
        row.allocations.iter().map(|it| (it.units.as_str(), it.users, it.ppdus, it.users_captured)).collect();
    assert_eq!(allocations, [("484 + 2 x 242", 3, 50, 110), ("996", 5, 10, 20)]);
    // HE-SIG-B of three symbols of 4 us, in 424 us; in the others its MCS, and so its length, is not known.
    assert_eq!((row.sig_timed, row.sig_us, row.sig_air_us), (Some(50), Some(50.0 * 12.0), Some(50.0 * 424.0)));
    assert_eq!(row.sig_share, Some(12.0 / 424.0));
    assert_eq!(row.sig_b_rates, [SigBRate { mcs: 0, dcm: Some(false), ppdus: 50 }]);
}

#[test]
fn a_compressed_sig_b_lasts_as_long_as_its_users_need() {
    // Five users, three in the first content channel: 52 and 31 bits, at 26 bits a symbol 4 of them.
    let field = HeMu { sig_b_mcs: Some(0), sig_b_dcm: Some(false), ..mimo(5) };
    let row = &sent(&[(field, &[11, 12])])[0];
    assert_eq!((row.sig_timed, row.sig_us, row.sig_air_us), (Some(1), Some(16.0), Some(424.0)));
    // Headers that differ in it are not believed.
    let mut capture = Handmade::on(6_135);
    for (to, sig_b_mcs) in [(11, Some(0)), (12, Some(1))] {
        capture.same_instant();
        let field = HeMu { sig_b_mcs, ..field };
        capture.behind(signalled(2, 1_000, 7, 298, &field), 0x0208, [user(to), AP, AP], &[0; 40]);
    }
    let row = &capture.report().multi_user_ppdus[0];
    assert_eq!((row.contradictory, row.sig_timed, row.sig_us, row.sig_share), (1, Some(0), None, None));
    assert!(row.sig_b_rates.is_empty());
}

/// TSFT, channel, L-SIG, U-SIG and EHT: a downlink OFDMA PPDU of this width code with EHT-SIG of five symbols and these RU Allocation
/// subfields, one for each 20 MHz.
fn eht_ofdma(tsft_us: u64, width: u32, subfields: &[u16]) -> Vec<u8> {
    let mut bytes = tsft_us.to_le_bytes().to_vec();
    bytes.extend(6_135u16.to_le_bytes());
    bytes.extend([0x40, 0x01]);
    bytes.extend(2u16.to_le_bytes());
    bytes.extend((297u16 << 4).to_le_bytes());
    let mut item = [0u32; 11];
    for (index, subfield) in subfields.iter().enumerate() {
        let (word, shift) = index.checked_sub(1).map_or((1, 13), |index| (2 + index / 3, 10 * (index % 3)));
        item[1 + word] |= (u32::from(*subfield) | 0x200) << shift;
    }
    item[10] = 0x80;
    let u_sig = [0x06 | width << 15, 4 << 17, 0x003e_00c0];
    for (kind, words) in [(33u16, u_sig.as_slice()), (34, &item)] {
        bytes.extend(kind.to_le_bytes());
        bytes.extend((4 * words.len() as u16).to_le_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    let present: u32 = 1 | 1 << 3 | 1 << 27 | 1 << 28;
    let mut header = vec![0, 0];
    header.extend((8 + bytes.len() as u16).to_le_bytes());
    header.extend(present.to_le_bytes());
    header.extend(bytes);
    header
}

#[test]
fn eht_ofdma_is_shared_out_as_eht_sig_says() {
    let mut capture = Handmade::on(6_135);
    let mut at_us = 1_000;
    let mut ppdu = |width, subfields: &[u16], users: &[u8]| {
        at_us += 30_000;
        for to in users {
            capture.same_instant();
            capture.behind(eht_ofdma(at_us, width, subfields), 0x0208, [user(*to), AP, AP], &[0; 40]);
        }
        capture.pause(20);
    };
    // 80 MHz: 484 tones and twice 242. 160 MHz: 996 tones for two users, 484 for one, 242 for one, 20 MHz punctured.
    for _ in 0..10 {
        ppdu(2, &[72, 29, 64, 64], &[11, 12]);
    }
    for _ in 0..5 {
        ppdu(3, &[80, 80, 30, 30, 72, 29, 64, 26], &[11]);
    }
    // A unit of several parts, and another width than there are subfields for.
    ppdu(2, &[96, 96, 96, 64], &[11]);
    ppdu(3, &[72, 29, 64, 64], &[11]);
    let rows = capture.report().multi_user_ppdus;
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.ppdus, row.allocation_known, row.contradictory), (17, 15, 0));
    assert_eq!((row.users, row.users_captured), (Some(10 * 3 + 5 * 4), Some(10 * 2 + 5)));
    let allocations: Vec<_> = row.allocations.iter().map(|it| (it.units.as_str(), it.users, it.ppdus)).collect();
    assert_eq!(allocations, [("484 + 2 x 242", 3, 10), ("996 + 484 + 242", 4, 5)]);
    // EHT-SIG of 20 us, in 420 us.
    assert_eq!((row.sig_timed, row.sig_us, row.sig_air_us), (Some(17), Some(17.0 * 20.0), Some(17.0 * 420.0)));
    assert!(row.sig_b_rates.is_empty());
}

#[test]
fn an_allocation_that_cannot_be_true_is_not_believed() {
    // Two users captured, where the header states them one; and a PPDU of which two headers say different things.
    let rows = sent(&[(mimo(1), &[11, 12]), (mimo(2), &[11, 12])]);
    assert_eq!((rows[0].ppdus, rows[0].allocation_known, rows[0].contradictory), (2, 1, 1));
    let mut capture = Handmade::on(6_135);
    for (to, field) in [(11, mimo(2)), (12, mimo(3))] {
        capture.same_instant();
        capture.behind(signalled(2, 1_000, 7, 298, &field), 0x0208, [user(to), AP, AP], &[0; 40]);
    }
    let row = &capture.report().multi_user_ppdus[0];
    assert_eq!((row.ppdus, row.contradictory, row.users, row.users_not_captured), (1, 1, None, None));
}

#[test]
fn without_a_stamp_or_an_allocation_nothing_is_said_of_the_others() {
    let row = &downlink(&[(3, he_mu(8, 2))]).report().multi_user_ppdus[0];
    assert_eq!((row.ppdus, row.parts_without_stamp, row.users), (0, 3, None));
    // One content channel of two.
    let half = HeMu { channels: [Some([200, 192, 0, 0]), None], ..shared_out() };
    let row = &sent(&[(half, &[11])])[0];
    assert_eq!((row.ppdus, row.allocation_known, row.units, row.users_captured), (1, 0, None, None));
    // Trigger-based PPDUs have no such header, those to a single user no others.
    assert!(downlink(&[(3, he(0, 2)), (2, he_tb(9, 3))]).report().multi_user_ppdus.is_empty());
}
