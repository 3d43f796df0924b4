//! Scenario files: what is accepted, what is refused and how it is said, and that nothing makes the reader fall over.

use std::collections::BTreeMap;

use proptest::prelude::*;
use txop_link::scenario::{Draft, Problem, ScenarioFile};

const PLAIN: &str = r#"
title = "Up"

[wlan.medium]
channel = 1

[wlan.dut]
mcs = 5

[[traffic]]
kind = "udp"
from = "dut"
to = "server"
rate_mbit_s = 100
"#;

fn check(text: &str) -> Result<ScenarioFile, Problem> {
    Draft::from_text("a.toml", text).and_then(|draft| draft.check())
}

fn said(text: &str) -> String {
    check(text).expect_err(text).to_string()
}

/// Reads `name` out of files in memory.
fn files(name: &str, files: &[(&str, &str)]) -> Result<ScenarioFile, Problem> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let mut read = |name: &str| files.get(name).map(|text| (*text).to_owned()).ok_or("no such file".to_owned());
    Draft::read(name, &mut read).and_then(|draft| draft.check())
}

fn with(line: &str) -> String {
    PLAIN.replace("mcs = 5", line)
}

#[test]
fn a_plain_scenario_is_read_and_its_defaults_are_filled_in() {
    let file = check(PLAIN).expect("a scenario");
    assert_eq!(file.head.title, "Up");
    assert_eq!(file.hosts(), ["server", "dut"]);
    let json = file.to_json();
    assert_eq!(json["wlan"]["dut"]["mcs"], 5);
    assert_eq!(json["wlan"]["ap"]["mcs"], 7);
    assert_eq!(json["traffic"][0]["rate_mbit_s"], 100.0);
    assert_eq!(json["run"]["seed"], 1);
    assert_eq!(file.flows().expect("flows").len(), 1);
    // Real packets over an emulated link are traffic enough.
    let bare = Draft::from_text("a.toml", "[wlan]").expect("a draft");
    assert!(bare.check().is_err() && bare.check_link().is_ok());
}

#[test]
fn an_error_names_file_line_key_and_range() {
    assert_eq!(said(&with("mcs = 99")), "a.toml, line 8: wlan.dut.mcs: 99 is not in the range from 0 to 31");
    assert_eq!(said(&with("mcs = -1")), "a.toml, line 8: wlan.dut.mcs: -1 is not a whole number from 0 to 255");
    assert_eq!(said(&with("mcs = 5.5")), "a.toml, line 8: wlan.dut.mcs: 5.5 is not a whole number from 0 to 255");
    assert_eq!(said(&with("tx_ampdu = \"no\"")), "a.toml, line 8: wlan.dut.tx_ampdu: \"no\" is not true or false");
    assert_eq!(
        said(&with("qeue_packets = 5")),
        "a.toml, line 8: wlan.dut.qeue_packets: there is no such key here; did you mean queue_packets?"
    );
    assert_eq!(
        said(&with("mpdu_error_rate = nan")),
        "a.toml, line 8: wlan.dut.mpdu_error_rate: nan is not a finite number"
    );
    assert!(said(&with("mpdu_error_rate = inf")).contains("is not a finite number"));
    assert!(said(&with("mcs = 99999999999999999999999")).contains("too large"));
    assert!(said(&with("mcs = 2020-01-01")).contains("a date or time"));
    assert!(said(&with("mcs = ")).starts_with("a.toml, line 8: not TOML: "));
    assert_eq!(said(&PLAIN.replace("[wlan.dut]", "[wlan.dot]")).split(": ").nth(1), Some("wlan.dot"));
    assert!(said(&PLAIN.replace("title", "titel")).contains("titel: there is no such key here; did you mean title?"));
}

#[test]
fn what_cannot_be_is_refused() {
    let flow = |old: &str, new: &str| said(&PLAIN.replace(old, new));
    assert!(said("").contains("there is no link; write one of [wlan]"));
    assert!(said(&format!("{PLAIN}\n[pipe]\nrate_mbit_s = 10")).contains("there is more than one link"));
    assert!(said("[pipe]").contains("traffic: there is none"));
    assert!(said("traffic = 3\n[pipe]").contains("write [[traffic]]"));
    assert!(
        flow("\"udp\"", "\"upd\"").contains("traffic.0.kind: \"upd\" is not a value of this key; did you mean udp?")
    );
    assert!(flow("from = \"dut\"", "from = \"dutt\"").contains("there is no host \"dutt\"; did you mean dut?"));
    assert!(flow("to = \"server\"", "to = \"dut\"").contains("traffic.0.to: is the host that sends"));
    assert!(flow("to = \"server\"", "").contains("the key to is missing"));
    assert!(flow("rate_mbit_s = 100", "rate_mbit_s = -1").contains("traffic.0.rate_mbit_s: -1 is not in the range"));
    assert!(flow("rate_mbit_s = 100", "congestion = \"bbr\"").contains("traffic.0.congestion: there is no such key"));
    assert!(flow("rate_mbit_s = 100", "start_s = -1").contains("traffic.0.start_s: -1 is not in the range"));
    assert!(flow("rate_mbit_s = 100", "start_s = 99").contains("from 0 to 13 s"));
    assert!(flow("rate_mbit_s = 100", "start_s = 5\nstop_s = 4").contains("traffic.0.stop_s: 4 is not in the range"));
    assert!(said(&format!("{PLAIN}\n[run]\nduration_s = 0")).contains("run.duration_s: 0 is not in the range"));
    assert!(said(&format!("{PLAIN}\n[run]\nwarm_up_s = -3")).contains("run.warm_up_s"));
    assert!(said(&format!("{PLAIN}\n[path]\ndelay_ms = -3")).contains("path.delay_ms: -3 is not in the range"));
    assert!(said(&PLAIN.replace("[wlan.medium]", "[wlan]\nseed = 3\n[wlan.medium]"))
        .contains("line 5: wlan.seed: is not used"));
    let both = format!("{PLAIN}\n[[wlan.stations]]\nname = \"b\"");
    assert!(said(&both).contains("line 7: wlan.dut: is the only station"), "{}", said(&both));
    // A rate that the width, or the radio, cannot carry; no stations at all.
    assert!(said(&PLAIN.replace("channel = 1", "width_mhz = 80"))
        .contains("wlan.medium.width_mhz: 80 is neither 20 nor 40"));
    assert!(said(&with("width_mhz = 40")).contains("wlan.dut.width_mhz: 40 is not 20, the width of the medium"));
    assert!(said(&with("rate_mbit_s = 54")).contains("wlan.dut.rate_mbit_s"));
    let none = PLAIN.replace("[wlan.dut]\nmcs = 5", "[[wlan.stations]]\ncount = 0\nname = \"dut\"");
    assert!(said(&none).contains("0 is not in the range from 1 to 1000 stations"), "{}", said(&none));
    assert!(said("[pipe]\nstations = 0\n").contains("pipe.stations: 0 is not in the range from 1"));
}

#[test]
fn stations_have_names_and_a_star_stands_for_several() {
    let text = r#"
[[wlan.stations]]
name = "fast"
count = 3
mcs = 7
[[wlan.stations]]
name = "slow"
mcs = 0
[[traffic]]
kind = "tcp"
from = "server"
to = "fast*"
[[traffic]]
kind = "ping"
from = "slow"
to = "server"
count = 2
"#;
    let file = check(text).expect("a scenario");
    assert_eq!(file.hosts(), ["server", "fast-1", "fast-2", "fast-3", "slow"]);
    let flows = file.flows().expect("flows");
    let names: Vec<String> = flows.iter().map(|flow| flow.settings.label()).collect();
    assert_eq!(
        names,
        [
            "tcp server to fast-1",
            "tcp server to fast-2",
            "tcp server to fast-3",
            "ping slow to server 1",
            "ping slow to server 2"
        ]
    );
    assert_eq!(flows[2].settings.to, 3);
    assert!(said(&text.replace("fast*", "quick*")).contains("no station's name begins with \"quick\""));
    assert!(said(&text.replace("\"slow\"\nmcs", "\"server\"\nmcs")).contains("more than one host is called \"server\""));
    assert!(said(&text.replace("mcs = 0", "mcs = 77")).contains("line 8: wlan.stations.1.mcs: 77 is not in the range"));
}

#[test]
fn tcp_on_a_wlan_host_has_the_pacing_shift_of_mac80211() {
    let shift = |from: &str, path: &str, more: &str| {
        let to = if from == "dut" { "server" } else { "dut" };
        let text = format!("[wlan]\n{path}\n[[traffic]]\nkind = \"tcp\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}");
        check(&text).expect("a scenario").to_json()["traffic"][0]["pacing_shift"].clone()
    };
    assert_eq!(shift("dut", "[path]", ""), 7);
    assert_eq!(shift("server", "[path]", ""), 10);
    assert_eq!(shift("server", "", ""), 7);
    assert_eq!(shift("dut", "[path]", "pacing_shift = 10"), 10);
}

#[test]
fn files_stand_on_each_other() {
    let base = ("base.toml", PLAIN);
    let file = files("x/over.toml", &[("x/over.toml", "base = \"../base.toml\"\n[wlan.ap]\nmcs = 3"), base]);
    let json = file.expect("a scenario").to_json();
    assert_eq!((&json["wlan"]["dut"]["mcs"], &json["wlan"]["ap"]["mcs"]), (&5.into(), &3.into()));

    let wrong = files("over.toml", &[("over.toml", "base = \"base.toml\"\n\n[wlan.dut]\nmcs = 77"), base]);
    assert_eq!(
        wrong.expect_err("mcs").to_string(),
        "over.toml, line 4: wlan.dut.mcs: 77 is not in the range from 0 to 31"
    );
    let wrong = files("over.toml", &[("over.toml", "base = \"base.toml\"\ntraffic = []"), base]);
    assert!(wrong.expect_err("no traffic").to_string().contains("over.toml, line 2: traffic: there is none"));
    // The base's own fault is said of the base.
    let broken = PLAIN.replace("mcs = 5", "mcs = 55");
    let wrong = files("over.toml", &[("over.toml", "base = \"base.toml\""), ("base.toml", &broken)]);
    assert!(wrong.expect_err("mcs").to_string().starts_with("base.toml, line 8: wlan.dut.mcs"));
    // Another link takes the place of the base's.
    let pipe = "base = \"base.toml\"\n[pipe]\nrate_mbit_s = 10";
    assert!(files("over.toml", &[("over.toml", pipe), base]).expect("a pipe").head.wlan.is_none());
}

#[test]
fn bases_that_lead_nowhere_are_refused() {
    let error = |list: &[(&str, &str)]| files("a.toml", list).expect_err("bases").to_string();
    assert_eq!(error(&[]), "a.toml: no such file");
    assert_eq!(error(&[("a.toml", "title = \"\"\nbase = \"b.toml\"")]), "a.toml, line 2: base: b.toml: no such file");
    assert_eq!(
        error(&[("a.toml", "base = \"b.toml\""), ("b.toml", "base = \"./a.toml\"")]),
        "b.toml, line 1: base: it is based on itself: a.toml -> b.toml -> a.toml"
    );
    assert!(error(&[("a.toml", "base = \"/etc/passwd\"")]).contains("relative to the folder of this one"));
    assert!(error(&[("a.toml", "base = 3")]).contains("not the name of a file"));
    let deep: Vec<(String, String)> = (0..12)
        .map(|n| {
            (format!("{}.toml", if n == 0 { "a".into() } else { n.to_string() }), format!("base = \"{}.toml\"", n + 1))
        })
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert!(error(&deep).contains("more than 8 files on each other"));
}

#[test]
fn keys_are_set_by_their_dotted_names() {
    let mut draft = Draft::from_text("a.toml", PLAIN).expect("a draft");
    for (key, value) in [
        ("wlan.ap.mcs", "3"),
        ("traffic.0.kind", "tcp"),
        ("run.duration_s", "0.5"),
        ("title", "other"),
        ("path.delay_ms", "5"),
    ] {
        draft.set(key, value).expect(key);
    }
    let problem = draft.check().expect_err("tcp has no rate");
    assert!(problem.to_string().contains("traffic.0.rate_mbit_s: there is no such key here"), "{problem}");
    draft.set("traffic", "[{kind = 'ping', from = 'dut', to = 'server'}]").expect("an array");
    let json = draft.check().expect("a scenario").to_json();
    assert_eq!((&json["wlan"]["ap"]["mcs"], &json["title"]), (&3.into(), &"other".into()));
    assert_eq!(json["traffic"][0]["kind"], "ping");

    // A name without dots: every key of that name in the link.
    draft.set("mcs", "1").expect("every mcs");
    let json = draft.check().expect("a scenario").to_json();
    assert_eq!((&json["wlan"]["dut"]["mcs"], &json["wlan"]["ap"]["mcs"]), (&1.into(), &1.into()));
    draft.set("traffic.*.interval_ms", "20").expect("all");
    assert_eq!(draft.check().expect("a scenario").to_json()["traffic"][0]["interval_ms"], 20.0);

    for (key, value, what) in [
        ("", "1", "not a key"),
        ("wlan..mcs", "1", "not a key"),
        ("traffic.7.start_s", "1", "there are 1 elements"),
        ("traffic.nobody.start_s", "1", "no element has the name nobody"),
        ("title.mcs", "1", "there is a value"),
        ("wlan.*.mcs", "1", "stands for the elements of an array"),
        ("nonsense", "1", "no key of the link is called nonsense"),
        ("run.seed", "", "not a TOML value"),
        ("run.seed", "[1", "not a TOML value"),
    ] {
        let problem = draft.set(key, value).expect_err(key).to_string();
        assert!(problem.contains(what), "{key}={value}: {problem}");
    }
    draft.set("wlan.ap.mcs", "99").expect("set");
    assert_eq!(draft.check().expect_err("99").to_string(), "wlan.ap.mcs=99: 99 is not in the range from 0 to 31");
}

#[test]
fn what_is_optional_can_be_left_out() {
    let sleeping = "[sdio.radio.power_save]\nbeacon_us = 51200\n[path]\ndelay_ms = 5\n[[traffic]]\nkind = \"ping\"\nfrom = \"dut\"\nto = \"server\"\ninterval_ms = 9\n";
    for off in ["none", "false", "null"] {
        let mut draft = Draft::from_text("x.toml", sleeping).expect("a draft");
        let before = draft.check().expect("a scenario").to_json();
        assert_eq!(before["sdio"]["radio"]["power_save"]["beacon_us"], 51_200);
        draft.set("sdio.radio.power_save", off).expect(off);
        draft.set("path", off).expect(off);
        let json = draft.check().expect(off).to_json();
        assert!(json["sdio"]["radio"]["power_save"].is_null() && json["path"].is_null(), "{off}: {json}");
    }
    let mut draft = Draft::from_text("x.toml", sleeping).expect("a draft");
    draft.set("sdio.radio.mbit_s", "null").expect("set");
    assert!(draft.check().expect_err("needs a number").to_string().contains("sdio.radio.mbit_s"));
    // A word that a key knows does not mean absence.
    let modem = "[modem.driver]\naggregation = \"rmnet\"\n";
    let mut draft = Draft::from_text("x.toml", modem).expect("a draft");
    draft.set("modem.driver.aggregation", "none").expect("set");
    assert_eq!(draft.check_link().expect("a link").to_json()["modem"]["driver"]["aggregation"], "none");
}

#[test]
fn hostile_documents_are_refused_and_nothing_else_happens() {
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{} = 1", "a.".repeat(50_000) + "a");
    let long = format!("title = \"{}\"\n{PLAIN}", "x".repeat(2_000_000));
    let many =
        format!("{PLAIN}{}", "[[traffic]]\nkind=\"ping\"\nfrom=\"dut\"\nto=\"server\"\ncount = 1000\n".repeat(20));
    let samples = format!("{PLAIN}\n[run]\nduration_s = 86400\ninterval_s = 0.001");
    for text in [deep.as_str(), &dotted, &long, &many, &samples, "\u{0}", "[", "wlan = []", "[wlan]\nstations = {}"] {
        assert!(check(text).is_err(), "{}", &text[..text.len().min(60)]);
    }
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_a_problem(text in "\\PC{0,200}") {
        let _ = check(&text);
    }

    #[test]
    fn any_key_and_value_can_be_tried(key in "[a-z.*0-9\\[\\]]{0,30}", value in "\\PC{0,20}") {
        let mut draft = Draft::from_text("a.toml", PLAIN).expect("a draft");
        if draft.set(&key, &value).is_ok() {
            let _ = draft.check();
        }
    }

    #[test]
    fn a_line_put_in_anywhere_gives_a_problem_with_a_place(at in 0usize..20, line in "[a-z_]{1,12} = [0-9\"a-z\\[\\]{}.-]{0,12}") {
        let mut lines: Vec<&str> = PLAIN.lines().collect();
        lines.insert(at.min(lines.len()), &line);
        if let Err(problem) = check(&lines.join("\n")) {
            prop_assert!(problem.place.is_some(), "{}", problem);
        }
    }
}

#[test]
fn a_pipe_without_a_rate_takes_only_traffic_that_something_limits() {
    let flow =
        |pipe: &str, flow: &str| format!("[pipe]\n{pipe}\n[[traffic]]\nfrom = \"dut\"\nto = \"server\"\n{flow}\n");
    let (udp, tcp) = ("kind = \"udp\"", "kind = \"tcp\"");
    for endless in [flow("", udp), flow("", tcp), flow("delay_ms = 10", udp)] {
        assert!(said(&endless).contains("pipe.rate_mbit_s: must be given"), "{endless}");
    }
    for limited in [
        flow("rate_mbit_s = 10", udp),
        flow("up = { rate_mbit_s = 10 }", tcp),
        flow("delay_ms = 10", tcp),
        flow("", "kind = \"tcp\"\nbytes = 1000000"),
        flow("", "kind = \"udp\"\nrate_mbit_s = 5"),
        flow("", "kind = \"ping\""),
        flow("", tcp) + "[path]\n",
    ] {
        assert!(check(&limited).is_ok(), "{limited}: {:?}", check(&limited));
    }
}

#[test]
fn a_base_is_a_file_and_is_not_set() {
    assert!(said("base = \".\"").contains("base: is a folder"));
    let mut draft = Draft::from_text("a.toml", PLAIN).expect("a draft");
    assert!(draft.set("base", "other.toml").expect_err("base").to_string().contains("cannot be set"));
}
