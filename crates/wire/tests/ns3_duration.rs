//! PPDU durations against the expected values of ns-3's own test (`src/wifi/test/tx-duration-test.cc`).
//!
//! Every DSSS, OFDM, ERP-OFDM, HT, VHT, HE and EHT value must come out to the nanosecond once the differences that
//! `docs/airtime.md` lists are taken back, and each is taken back by its formula, not by a tolerance.

use std::collections::BTreeMap;

use txop_wire::phy::{Band, Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Timing, Vht};

/// One row of the table.
struct Row {
    mode: Mode,
    psdu_len: usize,
    ns: u64,
    /// The row's band is 2.4 GHz, where ns-3 counts the signal extension.
    has_signal_extension: bool,
}

/// "1742.4" (microseconds) in nanoseconds.
fn ns_from_us(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    Some(whole.parse::<u64>().ok()? * 1_000 + format!("{fraction:0<3}").parse::<u64>().ok()?)
}

fn bandwidth(mhz: &str) -> Option<Bandwidth> {
    [Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160, Bandwidth::Mhz320]
        .into_iter()
        .find(|b| b.mhz().to_string() == mhz)
}

fn gi(ns: &str) -> Option<GuardInterval> {
    [GuardInterval::Ns400, GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200]
        .into_iter()
        .find(|g| g.ns().to_string() == ns)
}

fn parse(line: &str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let [phy, name, width, gi_ns, preamble, bytes, us] = columns[..] else { panic!("not a row: {line}") };
    let mcs = || name.split_once("Mcs").and_then(|(_, mcs)| mcs.parse::<u8>().ok()).expect("MCS");
    let rate_500kbps = || {
        let rate = name.split_once("Rate").and_then(|(_, rate)| rate.strip_suffix("Mbps")).expect("rate");
        (rate.replace('_', ".").parse::<f32>().expect("rate") * 2.0) as u8
    };
    let width = || bandwidth(width).expect("width");
    let gi = gi(gi_ns).expect("guard interval");
    let short_gi = Some(gi == GuardInterval::Ns400);
    let mode = match phy {
        "DsssPhy" => Mode::Dsss { rate_500kbps: rate_500kbps(), short_preamble: Some(preamble == "SHORT") },
        "OfdmPhy" | "ErpOfdmPhy" => Mode::Ofdm { rate_500kbps: rate_500kbps(), bandwidth: width() },
        "HtPhy" => Mode::Ht(Ht {
            mcs: mcs(),
            bandwidth: width(),
            short_gi,
            greenfield: Some(false),
            ldpc: Some(false),
            stbc: Some(0),
            ness: 0,
        }),
        "VhtPhy" => Mode::Vht(Vht {
            mcs: mcs(),
            nss: 1,
            bandwidth: width(),
            short_gi,
            stbc: Some(false),
            ldpc: Some(false),
            ldpc_extra_symbol: None,
        }),
        "HePhy" => Mode::He(He {
            format: HeFormat::Su,
            mcs: mcs(),
            nss: 1,
            bandwidth: Some(width()),
            ru_tones: None,
            gi: Some(gi),
            ltf_ns: None,
            dcm: false,
            stbc: Some(false),
            ldpc: None,
        }),
        "EhtPhy" => Mode::Eht(Eht {
            format: Some(EhtFormat::SingleUser),
            mcs: Some(mcs()),
            nss: Some(1),
            bandwidth: Some(width()),
            gi: Some(gi),
            // ns-3 sends EHT-SIG faster where the data is fast: 52 bits in one symbol from MCS 1 on.
            sig_symbols: Some(if mcs() == 0 { 2 } else { 1 }),
            ..Eht::UNKNOWN
        }),
        other => panic!("unknown PHY {other}"),
    };
    Row {
        mode,
        psdu_len: bytes.parse().expect("bytes"),
        ns: ns_from_us(us).expect("time"),
        has_signal_extension: phy == "ErpOfdmPhy",
    }
}

#[test]
fn all_values() {
    let Some(path) = corpus::find("oracle/ns3_txduration.tsv") else { return };
    let table = std::fs::read_to_string(path).expect("a table");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = |what| *counts.entry(what).or_default() += 1;
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.starts_with("phy\t")) {
        let row = parse(line);
        let ours = row.mode.duration(row.psdu_len, None).unwrap_or_else(|| panic!("no duration: {line}"));
        let mut expected = row.ns;
        let mut exception = "equal";
        if row.has_signal_extension {
            // ns-3 counts the silence after the PPDU.
            expected -= u64::from(Timing::new(Band::Ghz2_4, Bandwidth::Mhz20, true).signal_extension_ns);
            exception = "ERP-OFDM: signal extension not air time (-6 us)";
        }
        if let Mode::Vht(vht) = row.mode {
            // ns-3 gives VHT-SIG-B no time in a single-user PPDU.
            expected += 4_000;
            exception = if vht.short_gi == Some(true) {
                "VHT short GI: SIG-B (+4 us), end on 4 us grid"
            } else {
                "VHT: SIG-B (+4 us)"
            };
        }
        if matches!(row.mode, Mode::Ht(Ht { short_gi: Some(true), .. }) | Mode::Vht(Vht { short_gi: Some(true), .. })) {
            // The standard ends a short guard interval data field on the 4 us grid. All else is a multiple of 4 us.
            expected = expected.div_ceil(4_000) * 4_000;
            if matches!(row.mode, Mode::Ht(_)) {
                exception = "HT short GI: end on 4 us grid";
            }
        }
        let gi = match row.mode {
            Mode::He(he) => he.gi,
            Mode::Eht(eht) => eht.gi,
            _ => None,
        };
        if let Some(gi) = gi {
            // ns-3 has one LTF of 8 us whatever the guard interval: right for 2x + 1.6 us only.
            let ltf_ns = match gi {
                GuardInterval::Ns3200 => 16_000,
                GuardInterval::Ns1600 => 8_000,
                _ => 7_200,
            };
            expected = expected + ltf_ns - 8_000;
            exception = match gi {
                GuardInterval::Ns3200 => "HE and EHT, GI 3.2: 4x LTF of 16 us (+8 us)",
                GuardInterval::Ns1600 => "HE and EHT, GI 1.6: equal",
                _ => "HE and EHT, GI 0.8: 2x LTF of 7.2 us (-0.8 us)",
            };
            if let Mode::Eht(Eht { mcs: Some(0), bandwidth: Some(width), .. }) = row.mode {
                // ns-3 has an HE-SIG-B there, with an RU allocation of 8 bits for each 40 MHz and a bit for the middle 26 tones
                // from 80 MHz on: EHT-SIG to one user has no RU allocation, and 52 bits at any width.
                let allocations = u64::from(width.mhz() / 40).max(1);
                let bits = 8 * allocations + u64::from(allocations > 1) + 10 + 31;
                expected = expected + 4_000 * 2 - 4_000 * bits.div_ceil(26);
                if allocations > 1 {
                    exception = "EHT from 80 MHz on: EHT-SIG without RU allocation (-4 to -12 us), LTF as above";
                }
            } else if gi != GuardInterval::Ns3200 {
                assert!((ours.min_ns()..=ours.max_ns()).contains(&row.ns), "ns-3 outside our bounds: {line}");
            }
        } else {
            assert!(ours.is_exact(), "{line}");
        }
        assert_eq!(ours.ns, expected, "{line}");
        count(exception);
    }
    for (what, n) in &counts {
        println!("{n:4}  {what}");
    }
    let compared: usize = counts.values().sum();
    println!("{compared:4}  rows compared, all exact with the listed differences");
    assert_eq!(compared, 249, "rows, 90 of them EHT");
}
