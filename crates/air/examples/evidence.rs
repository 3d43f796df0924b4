//! How well the findings hold: captures whose faults are known by construction, and what the analysis says of them.
//!
//! `cargo run --release -p txop-air --example evidence -- [CAPTURES] [SEED] [FOLDER]`: prints precision, recall and F1 by kind as
//! JSON; with a folder, writes the captures and their labels there, too.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use specimen::{Deaf, Joining, LateResponse, Node, Offered, Receiver, Scene, Sniffer, StampMeaning, Station};
use txop_air::report::Report;
use wire::ieee80211::MacAddr;

/// A capture to be made: what is wrong on the air, and how much of that its sniffer can show.
struct Case {
    scene: Scene,
    /// Kinds of findings that are true.
    truth: Vec<String>,
    /// Those that the analysis is to find where the evidence is in the capture: losses beside a larger fault are not.
    demanded: Vec<String>,
    /// The evidence of them is in the capture.
    is_shown: bool,
    /// What the sniffer misses, in words.
    sniffer: &'static str,
}

/// Numbers that a seed repeats (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn share(&mut self, most: f64) -> f64 {
        self.below(1_000_001) as f64 / 1e6 * most
    }
}

/// Share of lost MPDUs of a flow from which the analysis speaks of losses.
const WORTH_A_WORD: f64 = 0.02;

/// Faults of a link, and none.
const FAULTS: [&str; 6] = ["none", "late-block-ack", "lossy", "ack-by-rate", "late-and-lossy", "single-and-lossy"];

fn scene(draw: &mut Draw) -> (Scene, &'static str) {
    let fault = FAULTS[draw.below(FAULTS.len() as u64) as usize];
    let preset = match fault {
        "none" => ["healthy", "legacy", "vht", "upload", "power-save", "full-history"][draw.below(6) as usize],
        "single-and-lossy" => "legacy",
        fault => fault,
    };
    let mut scene = Scene::preset(preset).expect("a preset");
    scene.seed = draw.next();
    scene.seconds = 1.5;
    match fault {
        "late-block-ack" => scene.stations[0].receiver.late_block_ack_us = 400.0 + draw.share(800.0),
        "lossy" => scene.flows[0].loss = 0.1 + draw.share(0.2),
        "single-and-lossy" => scene.flows[0].loss = 0.15 + draw.share(0.3),
        _ => {}
    }
    if fault == "none" && draw.below(4) == 0 {
        let late = LateResponse { probability: 0.02, extra_us: 12.0 };
        scene.stations[0].receiver = Receiver { late_response: Some(late), ..scene.stations[0].receiver.clone() };
    }
    (scene, fault)
}

/// What the sniffer misses; how much of all frames.
fn sniffer(draw: &mut Draw, of: &Sniffer) -> (Sniffer, &'static str, f64) {
    let mut sniffer = of.clone();
    let share = draw.share(0.4);
    let what = match draw.below(9) {
        0 | 1 => "nothing",
        2 => {
            sniffer.loss = share;
            "frames"
        }
        3 => {
            sniffer.ppdu_loss = share;
            "PPDUs"
        }
        4 => {
            sniffer.response_loss = share;
            "responses"
        }
        5 => {
            sniffer.deaf_to = Deaf { ack: true, ..Deaf::default() };
            "ACKs"
        }
        6 => {
            sniffer.deaf_to = Deaf { block_ack: true, ..Deaf::default() };
            "Block Acks"
        }
        7 => {
            sniffer.tsft = false;
            "time stamps"
        }
        _ => {
            // A clock that marks something else than the standard says.
            sniffer.stamp = [StampMeaning::PpduStart, StampMeaning::PpduEnd][draw.below(2) as usize];
            "the meaning of stamps"
        }
    };
    let lost = sniffer.loss.max(sniffer.ppdu_loss).max(sniffer.response_loss);
    (sniffer, what, lost)
}

/// A station that fails to join, or joins; the finding that is true of it.
fn joining(draw: &mut Draw) -> (Joining, Option<&'static str>) {
    match draw.below(6) {
        0 => (Joining::Refused(17), Some("join-failed/authentication/refused")),
        1 => (Joining::ThrownOut(6), Some("join-failed/association/deauthenticated")),
        2 => (Joining::Silent, Some("join-failed/handshake-1/no-answer")),
        3 => (Joining::WrongPassword, Some("join-failed/handshake-2/deauthenticated")),
        _ => (Joining::Joins, None),
    }
}

fn case(draw: &mut Draw) -> Case {
    let (mut scene, fault) = scene(draw);
    let (sniffer, what, lost) = sniffer(draw, &scene.sniffer);
    scene.sniffer = sniffer;
    let mut truth: Vec<String> = match fault {
        "late-block-ack" | "late-and-lossy" => vec!["late".to_owned()],
        "ack-by-rate" => vec!["rate-dependent".to_owned()],
        _ => Vec::new(),
    };
    if scene.flows.iter().any(|flow| flow.loss >= WORTH_A_WORD) {
        truth.push("lost".to_owned());
    }
    let (joining, failure) = joining(draw);
    let address = MacAddr([0x02, 0x53, 0, 0, 0, 7]);
    let ready = Station { address, joining, ..Station::default() };
    scene.stations.push(ready);
    truth.extend(failure.map(str::to_owned));
    // Without any other control frame there is nothing to tell a filter from a sniffer that delivers no ACKs.
    let has_other_control = scene.flows.iter().any(|flow| flow.aggregation.is_some() || flow.rts_threshold.is_some());
    if scene.sniffer.deaf_to.ack && has_other_control {
        truth.push("no-acks".to_owned());
    }
    if scene.sniffer.deaf_to.block_ack && scene.flows.iter().any(|flow| flow.aggregation.is_some()) {
        truth.push("no-block-acks".to_owned());
    }
    debug_assert!(scene.flows.iter().all(|flow| flow.offered != Offered::MbitPerS(0.0) && flow.to != Node::Station(9)));
    let is_deaf = match fault {
        "ack-by-rate" | "single-and-lossy" => scene.sniffer.deaf_to.ack,
        _ => scene.sniffer.deaf_to.block_ack,
    };
    let needs_times = matches!(fault, "late-block-ack" | "late-and-lossy" | "lossy");
    let is_shown = lost < 0.1 && !is_deaf && (scene.sniffer.tsft || !needs_times);
    let is_minor = |kind: &String| kind == "lost" && !matches!(fault, "lossy" | "single-and-lossy");
    let demanded = truth.iter().filter(|kind| !is_minor(kind)).cloned().collect();
    if joining == Joining::WrongPassword {
        // What the capture shows where the sniffer missed the deauthentication: message 1 again, as after a wrong password.
        truth.push("join-failed/handshake-2/not-accepted".to_owned());
    }
    Case { scene, truth, demanded, is_shown, sniffer: what }
}

/// Kinds of findings that the report has.
fn findings(report: &Report) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |kind: &str| {
        if !found.iter().any(|known| known == kind) {
            found.push(kind.to_owned());
        }
    };
    for verdict in &report.ack_verdicts {
        match verdict.answer.as_str() {
            "late" | "probably-late" | "mixed" if verdict.question == "block-ack" => add("late"),
            "late" => add("late-responses"),
            "rate-dependent" => add("rate-dependent"),
            "not-received" => add("lost"),
            _ => {}
        }
    }
    for happening in &report.happenings {
        if happening.code == "join-failed" {
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            add(&format!("join-failed/{}/{}", part(&happening.step), part(&happening.cause)));
        } else if happening.kind != "event" {
            add(&happening.code);
        }
    }
    report.hearing.blind_spots.iter().for_each(|spot| add(&spot.code));
    found
}

#[derive(Default)]
struct Score {
    found: u64,
    wrong: u64,
    missed: u64,
    /// Those of `missed` whose evidence is in the capture.
    missed_although_shown: u64,
    shown: u64,
}

impl Score {
    fn json(&self) -> serde_json::Value {
        let ratio = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let precision = ratio(self.found, self.found + self.wrong);
        let recall = ratio(self.shown - self.missed_although_shown, self.shown);
        let f1 = precision.zip(recall).filter(|(p, r)| p + r > 0.0).map(|(p, r)| 2.0 * p * r / (p + r));
        serde_json::json!({
            "found": self.found, "wrong": self.wrong, "missed": self.missed, "evidence_in_capture": self.shown,
            "missed_although_in_capture": self.missed_although_shown,
            "precision": precision, "recall_where_in_capture": recall, "f1": f1,
        })
    }
}

/// Counts the findings of one capture.
fn count(scores: &mut BTreeMap<String, Score>, case: &Case, found: &[String]) {
    for kind in found {
        let score = scores.entry(kind.clone()).or_default();
        *(if case.truth.contains(kind) { &mut score.found } else { &mut score.wrong }) += 1;
    }
    for kind in &case.demanded {
        let score = scores.entry(kind.clone()).or_default();
        // What is wrong with the sniffer itself, and joins, do not depend on what a link's fault needs.
        let is_shown =
            kind.starts_with("no-") || if kind.starts_with("join") { joins_shown(case) } else { case.is_shown };
        let is_missed = !found.contains(kind);
        score.shown += u64::from(is_shown);
        score.missed += u64::from(is_missed);
        score.missed_although_shown += u64::from(is_missed && is_shown);
    }
}

fn joins_shown(case: &Case) -> bool {
    let sniffer = &case.scene.sniffer;
    sniffer.loss < 0.02 && sniffer.ppdu_loss < 0.02
}

fn write(folder: &Path, index: u64, case: &Case, file: &[u8], found: &[String]) -> Result<(), Box<dyn Error>> {
    let name = format!("{index:04}");
    fs::write(folder.join(format!("{name}.pcap")), file)?;
    let label = serde_json::json!({
        "capture": format!("{name}.pcap"), "true": case.truth, "evidence_in_capture": case.is_shown, "sniffer_misses": case.sniffer,
        "seed": case.scene.seed, "found": found,
    });
    fs::write(folder.join(format!("{name}.json")), serde_json::to_vec_pretty(&label)?)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let captures: u64 = arguments.first().map_or(Ok(100), |n| n.parse())?;
    let mut draw = Draw(arguments.get(1).map_or(Ok(1), |n| n.parse())?);
    let folder = arguments.get(2).map(Path::new);
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for index in 0..captures {
        let case = case(&mut draw);
        let mut file = Vec::new();
        specimen::write(&case.scene, &mut file)?;
        let reader = capture::Reader::from_read(std::io::Cursor::new(file.clone()))?;
        let report = txop_air::analyze_reader(reader, format!("{index}"), Default::default(), &mut ())?;
        let found = findings(&report);
        for kind in found.iter().filter(|kind| !case.truth.contains(kind)) {
            eprintln!("{index}: {kind} is not true (true: {:?}; the sniffer misses {})", case.truth, case.sniffer);
            for verdict in report.ack_verdicts.iter().filter(|verdict| verdict.answer == "not-received") {
                eprintln!("    {} to {}: {}", verdict.originator, verdict.recipient, verdict.sentence.text());
            }
        }
        count(&mut scores, &case, &found);
        if let Some(folder) = folder {
            write(folder, index, &case, &file, &found)?;
        }
    }
    let all = scores.values().fold(Score::default(), |sum, score| Score {
        found: sum.found + score.found,
        wrong: sum.wrong + score.wrong,
        missed: sum.missed + score.missed,
        missed_although_shown: sum.missed_although_shown + score.missed_although_shown,
        shown: sum.shown + score.shown,
    });
    let kinds: BTreeMap<&String, serde_json::Value> = scores.iter().map(|(kind, score)| (kind, score.json())).collect();
    let result = serde_json::json!({ "captures": captures, "all": all.json(), "kinds": kinds });
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}
