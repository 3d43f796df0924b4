//! From PHY rate to payload rate: the accounts of the channel seen from one direction.

use crate::link::{Link, SpentNs};
use crate::medium::Totals;
use crate::report::{Limit, Waterfall, WaterfallStep};

/// Causes in the order of the report, with their words.
const CAUSES: [(&str, &str); 14] = [
    ("payload", "payload bits, each MPDU once"),
    ("mac_headers", "MAC, security and LLC headers, FCS, padding"),
    ("preamble", "PHY preambles"),
    ("ifs_backoff", "inter-frame spaces and backoff"),
    ("ack", "ACK, Block Ack and its requests"),
    ("rts_cts", "RTS and CTS"),
    ("retries", "retries"),
    ("reverse", "the same pair's other direction"),
    ("other_stations", "other stations"),
    ("beacons_management", "beacons and management"),
    ("damaged", "damaged or uncaptured frames"),
    ("idle_queued", "idle while the sender had an MPDU to repeat"),
    ("idle", "idle"),
    ("unobserved", "the sniffer listened elsewhere"),
];

/// Builds the waterfall of `link` (`reverse`: the link the other way); `None` without observed payload.
/// `grouped`: MPDUs could be grouped to PPDUs; `limits`: what the capture cannot tell.
pub fn build(
    link: &Link,
    reverse: Option<&Link>,
    totals: &Totals,
    direction: &str,
    grouped: bool,
    limits: &[Limit],
) -> Option<Waterfall> {
    let observed = totals.observed_ns;
    if observed <= 0 || link.spent.total() <= 0 || link.mpdus == 0 {
        return None;
    }
    let own = link.spent;
    let back = reverse.map_or_else(SpentNs::default, |reverse| reverse.spent);
    let others = totals.all.total() - own.total() - back.total() + totals.stray_ns;
    let queued = link.idle_queued_ns.clamp(0, totals.idle_ns);
    let ns = [
        own.payload,
        own.headers,
        own.preamble,
        own.ifs,
        own.ack,
        own.rts_cts,
        own.retries,
        back.total(),
        others,
        totals.management_ns,
        totals.damaged_ns,
        queued,
        totals.idle_ns - queued,
        totals.unobserved_ns,
    ];
    let payload_bits = link.payload_bytes as f64 * 8.0;
    let phy_rate = if link.timed_payload_ns > 0 {
        link.timed_payload_bytes as f64 * 8000.0 / link.timed_payload_ns as f64
    } else {
        0.0
    };
    let mut steps: Vec<WaterfallStep> = CAUSES
        .iter()
        .zip(ns)
        .map(|((cause, label), ns)| {
            let share = ns as f64 / observed as f64;
            WaterfallStep {
                cause: (*cause).to_owned(),
                label: (*label).to_owned(),
                us: ns as f64 / 1000.0,
                share,
                mbit_s: share * phy_rate,
            }
        })
        .collect();
    if !totals.gaps_usable {
        for step in &mut steps {
            match step.cause.as_str() {
                "idle" => step.label = "idle, inter-frame spaces and backoff (not separable: no usable stamps)".into(),
                "ifs_backoff" => step.label = "inter-frame spaces and backoff (not available: counted as idle)".into(),
                _ => {}
            }
        }
    }
    let mut waterfall = Waterfall {
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        direction: direction.to_owned(),
        observed_us: observed as f64 / 1000.0,
        phy_rate_mbit_s: phy_rate,
        payload_mbit_s: payload_bits * 1000.0 / observed as f64,
        payload_bytes: link.payload_bytes,
        mpdus: link.mpdus,
        timing: if totals.gaps_usable { "stamps" } else { "capture-clock" }.to_owned(),
        steps,
        advice: Vec::new(),
    };
    waterfall.advice = advise(&waterfall, link, grouped, limits);
    Some(waterfall)
}

/// Limits by which air that looks idle may not be.
const UNHEARD: [&str; 5] = ["one-direction", "hopping", "away", "several-interfaces", "dropped"];

/// Why "idle" may be air that the sniffer did not hear; empty without such a reason.
fn unheard(limits: &[Limit]) -> String {
    let reasons: Vec<&str> =
        limits.iter().filter(|limit| UNHEARD.contains(&limit.code.as_str())).map(|limit| limit.text.as_str()).collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(" (or the sniffer did not hear it: {})", reasons.join("; ")),
    }
}

/// The two largest losses in words, with what would bring them back.
fn advise(waterfall: &Waterfall, link: &Link, grouped: bool, limits: &[Limit]) -> Vec<String> {
    let mut losses: Vec<&WaterfallStep> = waterfall.steps.iter().filter(|step| step.cause != "payload").collect();
    losses.sort_by(|a, b| b.us.total_cmp(&a.us));
    let (ppdus, mpdus) =
        link.aggregates.iter().fold((0u64, 0u64), |(ppdus, mpdus), (_, a)| (ppdus + a.ppdus(), mpdus + a.mpdus()));
    let mean = if ppdus > 0 { mpdus as f64 / ppdus as f64 } else { 0.0 };
    let retry_percent = 100.0 * link.mpdu_retries as f64 / link.mpdus.max(1) as f64;
    losses
        .into_iter()
        .take(2)
        .filter(|step| step.share > 0.005)
        .map(|step| {
            let remedy = match step.cause.as_str() {
                "ifs_backoff" | "preamble" | "ack" if !grouped => {
                    "every PPDU pays this once; how many MPDUs a PPDU carries \
                     this capture does not tell"
                        .to_owned()
                }
                "ifs_backoff" | "preamble" | "ack" if mean > 0.0 && mean < 4.0 => format!(
                    "every PPDU pays this once and carries {mean:.1} MPDUs on average (n={ppdus}): more MPDUs per \
                     A-MPDU would spread it"
                ),
                "ifs_backoff" | "preamble" | "ack" => format!(
                    "PPDUs already carry {mean:.1} MPDUs on average (n={ppdus}): longer ones, or a larger TXOP, would \
                     bring some of it back"
                ),
                "mac_headers" => "larger MPDUs or A-MSDU would lower the share of headers".to_owned(),
                "rts_cts" => "protection is used: check the RTS threshold and the BSS's protection bits".to_owned(),
                "retries" => format!(
                    "{retry_percent:.1} % of the MPDUs are retries (n={}): see the Block Ack and response sections for \
                     whether they were lost or acknowledged too late; a lower rate helps only if they were lost",
                    link.mpdus
                ),
                "reverse" => "TCP acknowledgements or data the other way use it: aggregation of that direction would \
                              shorten it"
                    .to_owned(),
                "other_stations" => "others use the channel: a free channel would give it back".to_owned(),
                "beacons_management" => "beacons and management at low rates: fewer networks on the channel or a \
                                         higher basic rate would shorten them"
                    .to_owned(),
                "damaged" => "frames the sniffer could not decode: they may belong to any cause; a sniffer nearer to \
                              the stations tells"
                    .to_owned(),
                "idle_queued" => "the sender had an MPDU to repeat and did not send: its driver, bus or firmware was \
                                  busy or slow (an 802.11 capture cannot tell which)"
                    .to_owned(),
                "idle" if waterfall.timing == "capture-clock" => "without usable stamps this includes inter-frame \
                                                                  spaces and backoff; capture with TSFT to separate \
                                                                  them"
                    .to_owned(),
                "idle" => "nobody sends: the source, the sender's host or its bus does not deliver more".to_owned(),
                _ => "the sniffer was not on the channel: capture on one channel".to_owned(),
            };
            let doubt = if step.cause == "idle" { unheard(limits) } else { String::new() };
            format!("{:.1} % of the time goes to {}: {remedy}{doubt}.", step.share * 100.0, step.label)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_in_doubt_only_where_the_sniffer_may_have_missed_frames() {
        let limit =
            |code: &str, text: &str| Limit { code: code.to_owned(), text: text.to_owned(), affects: Vec::new() };
        assert_eq!(unheard(&[limit("no-tsft", "no stamps"), limit("no-fcs", "no FCS")]), "");
        let limits = [limit("hopping", "heard on 2 channels"), limit("no-fcs", "no FCS"), limit("away", "away")];
        assert_eq!(unheard(&limits), " (or the sniffer did not hear it: heard on 2 channels; away)");
    }
}
