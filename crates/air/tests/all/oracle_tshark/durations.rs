//! PPDU durations against `wlan_radio.duration`, every difference with its reason.

use std::path::Path;

use txop_air::frame::Frame;
use wire::phy::{Band, Mode};

use super::captures;
use super::outcome::Outcome;
use super::tshark::{self, Row};

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let frames = captures::frames(path);
    for row in tshark::rows(path) {
        let number = row.number("frame.number").expect("a number") as u64;
        let Some(frame) = frames.get(&number) else { continue };
        let band = frame.radio.frequency_mhz.and_then(Band::from_frequency_mhz);
        let duration = |len: u32| frame.radio.mode.duration(len as usize, band);
        let (theirs, ours) = (row.number("wlan_radio.duration"), duration(frame.mpdu_len));
        let (theirs, ours) = match (theirs, ours) {
            (Some(theirs), Some(ours)) => (theirs as f64, ours),
            (None, Some(_)) => {
                let class = match frame.radio.mode {
                    Mode::He(_) => "only ours: HE",
                    Mode::Ht(_) => "only ours: HT",
                    Mode::Vht(_) => "only ours: VHT",
                    Mode::Dsss { .. } => "only ours: DSSS",
                    Mode::Ofdm { .. } => "only ours: OFDM",
                    _ => "only ours: other",
                };
                outcome.explain(class);
                continue;
            }
            (Some(theirs), None) => {
                match only_tshark(frame) {
                    Some(class) => outcome.explain(class),
                    None => outcome.differ(format!(
                        "{name} frame {number}: tshark {theirs} us, ours none, {:?}",
                        frame.radio.mode
                    )),
                }
                continue;
            }
            (None, None) => continue,
        };
        let us = ours.ns as f64 / 1000.0;
        let what = match frame.radio.mode {
            Mode::Dsss { .. } => "DSSS and CCK",
            Mode::Ofdm { .. } => "OFDM",
            Mode::Ht(_) => "HT",
            Mode::Vht(_) => "VHT",
            _ => "other",
        };
        *outcome.compared.entry(what).or_default() += 1;
        if us == theirs {
            continue;
        }
        match reason(frame, &row, theirs, us, &duration).or_else(|| aggregated(frame)) {
            Some(class) => outcome.explain(class),
            None => outcome.differ(format!(
                "{name} frame {number}: tshark {theirs} us, ours {us} us (-{} +{}), {} bytes, {:?}, aggregate {:?}, flags fcs {:?}",
                ours.minus_ns, ours.plus_ns, frame.mpdu_len, frame.radio.mode, row.get("wlan_radio.aggregate"), frame.radio.fcs_included
            )),
        }
    }
}

/// Why tshark has a duration and we have none.
fn only_tshark(frame: &Frame) -> Option<&'static str> {
    match frame.radio.mode {
        Mode::Dsss { .. } if frame.radio.frequency_mhz.is_some_and(|mhz| mhz > 3_000) => {
            Some("only tshark: DSSS above 2.4 GHz does not exist")
        }
        Mode::Ht(ht) if ht.stbc.is_some_and(|stbc| stbc > 0) => {
            Some("only tshark: more space-time streams than STBC has")
        }
        Mode::Unknown => Some("only tshark: rate that 802.11 does not have"),
        Mode::Dsss { rate_500kbps: 2, short_preamble: Some(true) } => {
            Some("only tshark: short preamble at 1 Mb/s does not exist")
        }
        _ => None,
    }
}

/// Why the two differ.
fn reason(
    frame: &Frame,
    row: &Row,
    theirs: f64,
    ours: f64,
    duration: &dyn Fn(u32) -> Option<wire::phy::AirDuration>,
) -> Option<&'static str> {
    let more = ours - theirs;
    let near = |other: f64| (other - theirs).abs() < 1e-6;
    // Without FCS bytes tshark takes the captured length for the whole MPDU.
    let stripped = frame.radio.fcs_included != Some(true);
    let shorter = frame.mpdu_len.checked_sub(4).and_then(duration).map_or(0.0, |d| d.ns as f64 / 1000.0);
    let micros = |len: usize| duration(len as u32).map_or(0.0, |d| d.ns as f64 / 1000.0);
    let len = frame.mpdu_len as usize;
    if row.get("frame.protocols").starts_with("ppi") {
        // PPI's FCS flag is not looked at by tshark, and the number of streams is taken for extension streams.
        let again = micros(len + 4);
        let short = if matches!(frame.radio.mode, Mode::Dsss { short_preamble: None, .. }) { 96.0 } else { 0.0 };
        return match frame.radio.mode {
            Mode::Ht(_) if (4.0..=16.0).contains(&(theirs - ours)) => {
                Some("PPI: streams taken for extension streams by tshark")
            }
            _ if near(again - short) => Some("PPI: tshark adds an FCS that is there already"),
            _ => None,
        };
    }
    if matches!(frame.radio.mode, Mode::Ht(_)) && frame.radio.ampdu.is_none() && near(micros(len + 44)) {
        return Some("HT: tshark takes 44 bytes more (cause not found)");
    }
    if near(micros(len + frame.radio.header_len)) {
        return Some("cut frame: tshark counts the link header as part of the MPDU");
    }
    if frame.header.pad_len > 0 && near(micros(len - 4 + usize::from(frame.header.pad_len))) {
        return Some("padding of the MAC header, not on the air: counted by tshark");
    }
    match frame.radio.mode {
        Mode::Dsss { short_preamble, .. } => {
            let preamble = if short_preamble.is_none() { 96.0 } else { 0.0 };
            match () {
                () if preamble > 0.0 && near(ours - preamble) => {
                    Some("DSSS: preamble not known, tshark takes the short one")
                }
                () if stripped && near(shorter) => Some("no FCS bytes: tshark leaves their time out"),
                () if stripped && near(shorter - preamble) => Some("DSSS: neither preamble known nor FCS bytes there"),
                () => None,
            }
        }
        Mode::Ofdm { .. } => (stripped && near(shorter)).then_some("no FCS bytes: tshark leaves their time out"),
        Mode::Ht(ht) => {
            if !row.get("wlan_radio.aggregate").is_empty() || row.flag("wlan_radio.aggregate") {
                return Some("HT: subframe of an A-MPDU");
            }
            let greenfield = if ht.greenfield == Some(true) { 4.0 } else { 0.0 };
            let rounding = if ht.short_gi == Some(true) { 4.0 } else { 0.0 };
            match () {
                () if greenfield > 0.0 && (more + greenfield).abs() <= rounding => {
                    Some("HT greenfield: one LTF too many in tshark")
                }
                () if stripped && (near(shorter) || (ht.short_gi == Some(true) && (shorter - theirs).abs() < 4.0)) => {
                    Some("no FCS bytes: tshark leaves their time out")
                }
                () if ht.short_gi == Some(true) && more.abs() <= 4.0 => Some("HT short GI: rounding"),
                () => None,
            }
        }
        Mode::Vht(_) => {
            if !row.get("wlan_radio.aggregate").is_empty() {
                return Some("VHT: subframe of an A-MPDU");
            }
            ((3.0..=18.0).contains(&more)).then_some("VHT: tshark leaves SIG-B, tail and symbol rounding out")
        }
        _ => None,
    }
}

/// tshark gives the subframes of an A-MPDU what each of them adds, and groups them by equal stamps only.
fn aggregated(frame: &Frame) -> Option<&'static str> {
    frame.radio.ampdu.map(|_| "A-MPDU: what a subframe adds, by equal stamps, is no PPDU's duration")
}
