//! The goodput of a direction and the payload of its waterfall are the same bits in the same time, or are called differently.

use std::io::Cursor;

use crate::handmade::{Address, Handmade};
use capture::Reader;
use proptest::prelude::*;
use specimen::{Scene, PRESETS};
use txop_air::report::{Report, Waterfall};

/// What the payload's row is called where it is of the goodput's bits.
const PLAIN: &str = "payload, first transmissions";

fn analyze(bytes: Vec<u8>) -> Report {
    let reader = Reader::from_read(Cursor::new(bytes)).expect("a capture");
    txop_air::analyze_reader(reader, "memory".to_owned(), Default::default(), &mut ()).expect("a report")
}

fn played(scene: &Scene) -> Report {
    let mut bytes = Vec::new();
    specimen::write(scene, &mut bytes).expect("a capture");
    analyze(bytes)
}

/// By how much the row differs from the goodput, as part of it; and from its share of the effective PHY rate.
fn differences(fall: &Waterfall) -> [f64; 2] {
    let payload = &fall.steps[0];
    assert_eq!(payload.cause, "payload");
    let of_rate = fall.payload_mbit_s / fall.phy_rate_mbit_s.expect("a rate");
    [payload.mbit_s / fall.payload_mbit_s - 1.0, payload.share / of_rate - 1.0]
}

/// Durations are of whole nanoseconds.
const ROUNDING: f64 = 1e-5;

#[test]
fn all_presets() {
    let mut compared = 0;
    for (name, _) in PRESETS {
        let mut scene = Scene::preset(name).expect("a preset");
        scene.seconds = 0.2;
        for fall in &played(&scene).waterfalls {
            assert!(
                differences(fall).iter().all(|part| part.abs() < ROUNDING),
                "{name} {}: {:?}",
                fall.ta,
                differences(fall)
            );
            assert_eq!(fall.steps[0].label, PLAIN, "{name} {}", fall.ta);
            compared += 1;
        }
    }
    assert!(compared >= PRESETS.len(), "{compared}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_the_sniffer_damages(
        seed in any::<u64>(),
        damaged in 0.0..0.6f64,
        in_address in 0.0..1.0f64,
        preset in prop::sample::select(vec!["ghosts", "silent-damage", "lossy", "late-block-ack", "deaf-sniffer", "no-ampdu-status"]),
    ) {
        let mut scene = Scene::preset(preset).expect("a preset");
        (scene.seconds, scene.seed) = (0.3, seed);
        (scene.sniffer.damage.probability, scene.sniffer.damage.address_share) = (damaged, in_address);
        for fall in &played(&scene).waterfalls {
            let differences = differences(fall);
            prop_assert!(differences.iter().all(|part| part.abs() < ROUNDING), "{preset}: {differences:?}");
        }
    }
}

const STATION: Address = [2, 0, 0, 0, 0, 1];
const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 2];

#[test]
fn other_bits_have_another_name() {
    // Every third MPDU names no rate.
    let mut capture = Handmade::on(5_180);
    for n in 0..300u16 {
        if n % 3 != 0 {
            capture.frame(0x0108, [ACCESS_POINT, STATION, ACCESS_POINT], &[0; 1_000]);
        } else {
            let unrated = vec![0, 0, 12, 0, 0x08, 0, 0, 0, 0x3c, 0x14, 0x40, 0x01];
            capture.behind(unrated, 0x0108, [ACCESS_POINT, STATION, ACCESS_POINT], &[0; 1_000]);
        }
    }
    let report = capture.report();
    let fall = report.waterfalls.first().expect("two of three have a duration");
    assert_eq!((fall.mpdus, fall.mpdus_timed), (300, Some(200)));
    assert!((differences(fall)[0] + 1.0 / 3.0).abs() < 0.01, "{:?}", differences(fall));
    assert_ne!(fall.steps[0].label, PLAIN);
}
