//! No network is faster than its PHY, and what makes one faster does.

use proptest::prelude::*;

use super::station::Network;
use wire::phy::{Bandwidth, Mode};

/// Mbit/s of Ethernet frames that a saturated downlink delivers, and the mode of its data frames.
fn downlink(script: &str, len: usize) -> (f64, Mode) {
    let mut network = Network::joined(script);
    network.send_down(100, len);
    network.run_ms(20);
    network.station.heard.clear();
    let start_ns = network.now_ns;
    while network.now_ns < start_ns + 200_000_000 {
        network.fill_down(400, len);
        network.run_ms(2);
    }
    let received = network.down();
    let mode = network.station.heard.iter().find(|heard| heard.1[0] & 0x0c == 0x08).unwrap().2.mode;
    let elapsed_s = (network.now_ns - start_ns) as f64 / 1e9;
    ((received.len() * len * 8) as f64 / elapsed_s / 1e6, mode)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn throughput_stays_below_what_the_phy_allows(
        mcs in 0u8..8,
        (wide, short_gi, tx_stbc, greenfield) in any::<(bool, bool, bool, bool)>(),
        (ampdu, rts) in any::<(bool, bool)>(),
        amsdu_frames in 1u8..5,
        len in prop_oneof![Just(1514usize), 64usize..1514],
    ) {
        let script = format!(
            "[network]\nmcs = {mcs}\nwide = {wide}\nshort_gi = {short_gi}\ntx_stbc = {tx_stbc}\n\
             greenfield = {greenfield}\nampdu = {ampdu}\nrts = {rts}\namsdu_frames = {amsdu_frames}\n"
        );
        let (mbit_s, mode) = downlink(&script, len);
        let phy_mbit_s = f64::from(mode.rate_kbps().unwrap()) / 1_000.0;
        prop_assert!(mbit_s > 0.0 && mbit_s < phy_mbit_s, "{mbit_s} of {phy_mbit_s}");
        let Mode::Ht(ht) = mode else { panic!("{mode:?}") };
        prop_assert_eq!((ht.mcs, ht.bandwidth == Bandwidth::Mhz40, ht.short_gi), (mcs, wide, Some(short_gi)));
        prop_assert_eq!((ht.stbc, ht.greenfield), (Some(u8::from(tx_stbc)), Some(greenfield)));
    }
}

#[test]
fn aggregation_and_width_pay() {
    let speed = |script: &str| downlink(script, 1_514).0;
    let (single, ampdu) = (speed("[network]\nampdu = false\n"), speed(""));
    let amsdu = speed("[network]\nampdu = false\namsdu_frames = 2\n");
    let (wide, rts) = (speed("[network]\nwide = true\nshort_gi = true\n"), speed("[network]\nrts = true\n"));
    // 65 Mbit/s: one frame of 1546 bytes takes some 380 us with contention and acknowledgement, 32 in an A-MPDU some
    // 6.3 ms.
    assert!((26.0..36.0).contains(&single), "{single}");
    assert!((52.0..63.0).contains(&ampdu), "{ampdu}");
    assert!(single * 1.2 < amsdu && amsdu < ampdu, "{single} {amsdu} {ampdu}");
    assert!(wide > ampdu * 1.8 && rts < ampdu, "{wide} {rts}");
}
