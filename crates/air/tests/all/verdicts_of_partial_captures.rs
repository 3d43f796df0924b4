//! Verdicts of captures that lack part of what was on the air: none may name a fault that was not there.

use specimen::{Deaf, Scene, Sniffer};
use txop_air::report::{AckVerdict, Report};

/// Long enough for hundreds of A-MPDUs.
const SECONDS: f64 = 3.0;

fn report(scene: &Scene) -> Report {
    let mut file = Vec::new();
    specimen::write(scene, &mut file).expect("a capture");
    let reader = capture::Reader::from_read(std::io::Cursor::new(file)).expect("a capture");
    txop_air::analyze_reader(reader, "memory".to_owned(), Default::default(), &mut ()).expect("a report")
}

fn scene(preset: &str, seed: u64) -> Scene {
    Scene { seconds: SECONDS, seed, ..Scene::preset(preset).expect("a preset") }
}

/// Sniffers that miss something, each with a name.
fn sniffers(of: &Sniffer) -> Vec<(String, Sniffer)> {
    let mut all: Vec<(String, Sniffer)> = vec![
        ("no-acks".to_owned(), Sniffer { deaf_to: Deaf { ack: true, ..Deaf::default() }, ..of.clone() }),
        ("no-block-acks".to_owned(), Sniffer { deaf_to: Deaf { block_ack: true, ..Deaf::default() }, ..of.clone() }),
        ("no-responses".to_owned(), Sniffer { deaf_to: Deaf { ack: true, block_ack: true, cts: true }, ..of.clone() }),
    ];
    for percent in [5, 20, 40] {
        let loss = f64::from(percent) / 100.0;
        all.push((format!("ppdu-loss-{percent}"), Sniffer { ppdu_loss: loss, ..of.clone() }));
        all.push((format!("frame-loss-{percent}"), Sniffer { loss, ..of.clone() }));
        let ungrouped = specimen::AmpduReference::Absent;
        let without = Sniffer { ppdu_loss: loss, tsft: false, ampdu_reference: ungrouped, ..of.clone() };
        all.push((format!("ppdu-loss-{percent}-without-times"), without));
    }
    all
}

fn found<'a>(report: &'a Report, answers: &[&str]) -> Vec<&'a AckVerdict> {
    report.ack_verdicts.iter().filter(|verdict| answers.contains(&verdict.answer.as_str())).collect()
}

#[test]
fn no_lateness_where_the_receiver_is_prompt() {
    for preset in ["healthy", "lossy", "vht"] {
        let whole = scene(preset, 11);
        for (name, sniffer) in sniffers(&whole.sniffer) {
            let report = report(&Scene { sniffer, ..whole.clone() });
            let late = found(&report, &["late", "probably-late", "mixed", "rate-dependent"]);
            assert!(late.is_empty(), "{preset}, {name}: {late:#?}");
        }
    }
}

#[test]
fn lateness_is_found_where_a_tenth_of_the_ppdus_is_missing() {
    let whole = scene("late-block-ack", 11);
    for loss in [0.0, 0.05, 0.1] {
        let sniffer = Sniffer { ppdu_loss: loss, ..whole.sniffer.clone() };
        let report = report(&Scene { sniffer, ..whole.clone() });
        assert!(!found(&report, &["late", "probably-late"]).is_empty(), "{loss}: {:#?}", report.ack_verdicts);
    }
}

/// Rate control of a sender whose ACKs do not arrive at some rates is another thing than a sniffer that delivers no ACKs.
#[test]
fn rates_are_judged_by_responses_of_the_same_kind() {
    let whole = scene("ack-by-rate", 11);
    assert!(!found(&report(&whole), &["rate-dependent"]).is_empty());
    for (name, sniffer) in sniffers(&whole.sniffer).into_iter().filter(|(_, sniffer)| sniffer.deaf_to.ack) {
        let report = report(&Scene { sniffer, ..whole.clone() });
        assert!(found(&report, &["rate-dependent"]).is_empty(), "{name}: {:#?}", report.ack_verdicts);
    }
}

#[test]
fn a_sniffer_without_acks_is_named() {
    let whole = scene("healthy", 3);
    let codes = |deaf_to| {
        let sniffer = Sniffer { deaf_to, ..whole.sniffer.clone() };
        let hearing = report(&Scene { sniffer, ..whole.clone() }).hearing;
        let codes: Vec<String> = hearing.blind_spots.into_iter().map(|spot| spot.code).collect();
        (codes, hearing.acks > 0, hearing.block_acks > 0)
    };
    assert_eq!(codes(Deaf::default()), (vec![], true, true));
    assert_eq!(codes(Deaf { ack: true, ..Deaf::default() }), (vec!["no-acks".to_owned()], false, true));
    assert_eq!(codes(Deaf { block_ack: true, ..Deaf::default() }), (vec!["no-block-acks".to_owned()], true, false));
}

/// What the sender repeats it got no answer to, whatever the sniffer misses.
#[test]
fn what_was_sent_again_was_not_answered() {
    let mut whole = scene("legacy", 5);
    for flow in &mut whole.flows {
        flow.loss = 0.3;
    }
    whole.sniffer.deaf_to = Deaf { ack: true, block_ack: true, cts: true };
    let report = report(&whole);
    let verdict = found(&report, &["unanswered"]);
    assert!(!verdict.is_empty(), "{:#?}", report.ack_verdicts);
    let exchange = report.exchanges.iter().find(|row| row.ta == verdict[0].originator).expect("its exchange");
    assert!(exchange.data.missing_resent >= 10 && exchange.data.answered == 0);
}

/// Real captures in which earlier versions found faults that were not there: whole A-MPDUs are missing, or all ACKs and CTS.
#[test]
fn real_captures_have_no_fault_that_was_not_there() {
    let names = [
        "8._KRACK_DG_00037_20240417040744.pcap",
        "8._KRACK_DG_00006_20240417040533.pcap",
        "1._BF_00032_20240416233500.pcap",
    ];
    for name in names {
        let Some(path) = corpus::find(&format!("../cases/air/{name}")) else { continue };
        let report = txop_air::analyze(&path, Default::default(), Default::default(), &mut ()).expect("a report");
        let faults = found(&report, &["late", "probably-late", "mixed", "rate-dependent", "not-received"]);
        assert!(faults.is_empty(), "{name}: {faults:#?}");
        let blind: Vec<&str> = report.hearing.blind_spots.iter().map(|spot| spot.code.as_str()).collect();
        assert_eq!(blind, ["no-acks", "no-cts"], "{name}");
    }
}
