//! The RTL8188EU as rtl8xxxu uses it: what differs from the RTL8188CUS, and transmit reports against what the air had.

use std::collections::BTreeMap;

use proptest::prelude::*;
use vusb::air::{ChannelSettings, Medium};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use vusb::device::Device;
use wire::phy::{Bandwidth, Mode};
use wire::usb::realtek::{RxWalk, RX_DESCRIPTOR};
use wire::usb::usbip::Completion;

use crate::chip::{read, run, set_up, transmission, write, FarEnd};
use crate::host::Host;

/// AGG_ENABLE of this chip, and MCS 7 chosen by the driver.
const AGGREGATE: (usize, u32) = (2, 1 << 12);
const MCS7: [(usize, u32); 2] = [(4, 1 << 8), (5, 19 | 0x0001_ff00)];
const MS: u64 = 1_000_000;

/// A chip on channel 6 whose reports come every 200 ms, with the fallback and retry limit that rtl8xxxu sets.
pub fn chip_on_air(channel: ChannelSettings) -> (Host<Rtl8188cus>, FarEnd) {
    let far = FarEnd::default();
    let medium = Medium::new(channel, 1, None);
    let mut host = Host::new(Rtl8188cus::new(Settings::new(Model::Rtl8188eu), medium, Box::new(far.clone())));
    set_up(&mut host);
    write(&mut host, reg::DARFRC, &[0, 0, 0, 0, 4, 4, 8, 16]);
    write(&mut host, reg::RETRY_LIMIT, &[0x30, 0x30]);
    write(&mut host, reg::ARFR0, &0x000f_f015u32.to_le_bytes());
    write(&mut host, reg::MAX_AGGR_NUM, &[7, 7]);
    write(&mut host, reg::TX_REPORT_TIME, &0x186au16.to_le_bytes());
    write(&mut host, reg::TX_REPORT_CTRL, &[3, 2]);
    (host, far)
}

/// Station 0 of the reports among what the host got.
fn reports(got: &[(Completion, Vec<u8>)]) -> Vec<[u64; 6]> {
    let mut reports = Vec::new();
    for (_, data) in got {
        for packet in RxWalk::new(data, data.len()).map_while(Result::ok).filter(|packet| packet.report == 2) {
            let start = packet.offset + RX_DESCRIPTOR;
            assert_eq!((packet.overhead, packet.frame_len), (RX_DESCRIPTOR, 16));
            assert_eq!(data[packet.offset + 16], 3, "both stations are valid");
            let [low, high, one, two, three, more, given_up, _]: [u8; 8] = data[start..start + 8].try_into().unwrap();
            let at_once = u64::from(u16::from_le_bytes([low, high]));
            reports.push([at_once, one.into(), two.into(), three.into(), more.into(), given_up.into()]);
        }
    }
    reports
}

fn sum(reports: &[[u64; 6]]) -> [u64; 6] {
    std::array::from_fn(|at| reports.iter().map(|report| report[at]).sum())
}

#[test]
fn it_is_what_the_driver_asks_for() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    // Cut D, no test chip, made by TSMC.
    assert_eq!(read(&mut host, reg::SYS_CFG), 3 << 12);
    let configuration = host.device.identity().configuration.clone();
    assert_eq!((configuration[13], configuration.len()), (3, 9 + 9 + 3 * 7), "no interrupt endpoint");
    assert_eq!(host.device.identity().device[8..12], [0xda, 0x0b, 0x79, 0x81]);
}

#[test]
fn an_a_mpdu_has_as_many_mpdus_as_the_register_says() {
    for (setting, expected) in [("register", 7), ("fixed", 20)] {
        let far = FarEnd::default();
        let mut settings = Settings::new(Model::Rtl8188eu);
        settings.assume(&format!("aggregate-limit={setting}")).unwrap();
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let mut host = Host::new(Rtl8188cus::new(settings, medium, Box::new(far)));
        set_up(&mut host);
        write(&mut host, reg::MAX_AGGR_NUM, &[7, 7]);
        for sequence in 0..41 {
            host.write(3, &transmission(sequence, 300, &[AGGREGATE, MCS7[0], MCS7[1]]));
        }
        run(&mut host, 100 * MS);
        let sent = host.statistics()["air"]["chip"].clone();
        assert_eq!(sent["mpdus"], 41);
        assert_eq!(sent["ampdus"].as_u64().unwrap(), 41u64.div_ceil(expected), "{setting}");
    }
    // The bit of an RTL8188CUS means nothing.
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    host.write(3, &transmission(0, 300, &[(1, 1 << 5), MCS7[0], MCS7[1]]));
    run(&mut host, 100 * MS);
    assert_eq!(host.statistics()["air"]["chip"]["ampdus"], 0);
}

#[test]
fn forty_mhz_has_bits_of_its_own() {
    for (bits, wide) in [(0x0400u32, true), (0, false)] {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        write(&mut host, reg::FPGA0_RF_MODE, &[1]);
        write(&mut host, reg::OFDM1_LSTF, &(1u32 << 10).to_le_bytes());
        let centre = if wide { 8 } else { 6 };
        write(&mut host, reg::FPGA0_XA_LSSI_PARM, &(0x18u32 << 20 | bits | centre).to_le_bytes());
        host.write(3, &transmission(1, 300, &[(4, 1 << 8 | 1 << 25), (5, 19)]));
        run(&mut host, 20 * MS);
        let mode = far.0.borrow().heard[0].2.mode;
        assert_eq!(matches!(mode, Mode::Ht(ht) if ht.bandwidth == Bandwidth::Mhz40), wide);
    }
}

#[test]
fn reports_come_in_their_time_and_follow_the_register() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    for _ in 0..20 {
        host.read(1, 16_384, 0);
    }
    assert_eq!(reports(&run(&mut host, 1_000 * MS)), [[0; 6]; 5]);
    // 1.2 s.
    write(&mut host, reg::TX_REPORT_TIME, &0x927cu16.to_le_bytes());
    assert_eq!(reports(&run(&mut host, 2_400 * MS)).len(), 2);
    write(&mut host, reg::TX_REPORT_CTRL, &[1]);
    assert_eq!(reports(&run(&mut host, 5_000 * MS)).len(), 0, "without the timer there are none");
    // The radio is switched off.
    write(&mut host, reg::TX_REPORT_CTRL, &[3]);
    write(&mut host, reg::CR, &[0x3f]);
    assert_eq!(reports(&run(&mut host, 5_000 * MS)).len(), 0);
}

#[test]
fn what_nothing_answers_is_given_up_and_reported() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    far.0.borrow_mut().deaf = true;
    // The descriptor's own limit: two retries.
    let limit = (5, 1 << 17 | 2 << 18);
    for sequence in 0..3 {
        host.write(3, &transmission(sequence, 300, &[MCS7[0], MCS7[1], limit]));
    }
    host.read(1, 16_384, 0);
    assert_eq!(reports(&run(&mut host, 200 * MS)), [[0, 0, 0, 0, 0, 3]]);
    assert_eq!(far.0.borrow().heard.len(), 9);
}

/// A full receive buffer has no room for reports: what they counted is lost, and later ones come.
#[test]
fn a_full_buffer_loses_reports() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    // Room for three of 40 bytes.
    write(&mut host, reg::TRXFF_BNDY + 2, &119u16.to_le_bytes());
    run(&mut host, 1_000 * MS);
    let counters = host.statistics()["reports"].clone();
    assert_eq!((&counters["sent"], &counters["lost"]), (&3.into(), &2.into()));
    for _ in 0..4 {
        host.read(1, 16_384, 0);
    }
    assert_eq!(reports(&run(&mut host, 200 * MS)).len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The far end hears every try that the given loss leaves over; the chip knows of none but by answers. What the reports say
    /// is what happened, for each number of retries.
    #[test]
    fn reports_say_what_the_air_had(loss in 0.0f64..0.5, count in 1u16..200, aggregate: bool) {
        let (mut host, _) = chip_on_air(ChannelSettings { loss, ..ChannelSettings::default() });
        for _ in 0..40 {
            host.read(1, 16_384, 0);
        }
        let words: &[(usize, u32)] = &[if aggregate { AGGREGATE } else { (2, 0) }, MCS7[0], MCS7[1]];
        for sequence in 0..count {
            host.write(3, &transmission(sequence, 100, words));
        }
        let said = sum(&reports(&run(&mut host, 4_000 * MS)));
        let statistics = host.statistics();
        let (air, own) = (&statistics["air"]["chip"], &statistics["reports"]);
        prop_assert_eq!(said.iter().sum::<u64>(), u64::from(count), "each frame once");
        prop_assert_eq!(said[5], statistics["tx"]["given_up"].as_u64().unwrap());
        prop_assert_eq!(&own["counted"], &own["reported"]);
        let own: Vec<u64> = own["reported"]["retries"].as_array().unwrap().iter().filter_map(|n| n.as_u64()).collect();
        prop_assert_eq!(&own[..], &said[..5]);
        // All tries of the chip: those of frames that arrived at once to after three retries are in the reports.
        let tries = air["mpdus"].as_u64().unwrap() - air["block_ack_requests"].as_u64().unwrap();
        let known = said[0] + 2 * said[1] + 3 * said[2] + 4 * said[3];
        prop_assert!(tries >= known + 5 * said[4], "{tries} tries, {said:?}");
        prop_assert_eq!(said[4] + said[5] > 0, tries > known);
    }

    /// The far end does not answer the first tries of each frame: the number of retries of each is known from the air.
    #[test]
    fn each_number_of_retries_is_counted(silent in 0usize..7, count in 1u16..60) {
        let (mut host, far) = chip_on_air(ChannelSettings::default());
        for _ in 0..40 {
            host.read(1, 16_384, 0);
        }
        let mut got = Vec::new();
        for sequence in 0..count {
            far.0.borrow_mut().deaf = silent > 0;
            host.write(3, &transmission(sequence, 100, &MCS7));
            let heard = far.0.borrow().heard.len();
            while far.0.borrow().heard.len() < heard + silent {
                got.extend(run(&mut host, MS / 10));
            }
            far.0.borrow_mut().deaf = false;
            got.extend(run(&mut host, 20 * MS));
        }
        got.extend(run(&mut host, 1_000 * MS));
        let said = sum(&reports(&got));
        let mut tries: BTreeMap<u16, usize> = BTreeMap::new();
        for (_, frame, _) in &far.0.borrow().heard {
            *tries.entry(u16::from_le_bytes([frame[22], frame[23]]) >> 4).or_default() += 1;
        }
        let mut expected = [0; 6];
        tries.values().for_each(|&tries| expected[(tries - 1).min(4)] += 1);
        prop_assert_eq!(said, expected);
    }
}
