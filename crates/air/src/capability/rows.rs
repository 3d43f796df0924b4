//! Claims against use, row by row.

use serde::Serialize;
use wire::ieee80211::{AccessCategory, Capabilities};
use wire::phy::Band;

use crate::usage::Usage;

/// Whether a capability is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Its frames say so.
    Yes,
    /// Its frames say the contrary, or leave out the element that would say so.
    No,
    /// No frame with such a claim was captured, or no element can make it.
    NotAvailable,
}

impl From<bool> for Claim {
    fn from(claimed: bool) -> Self {
        match claimed {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// One capability of one station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapabilityRow {
    /// In the words of a Wi-Fi Alliance certificate.
    pub capability: String,
    /// Claimed.
    pub claimed: Claim,
    /// What exactly, or why it is not available.
    pub claimed_detail: Option<String>,
    /// Frames that used it; `None` when this capture cannot tell.
    pub seen: Option<u64>,
    /// Numerator and denominator in words, or why the capture cannot tell.
    pub seen_detail: Option<String>,
    /// What a reader should notice.
    pub note: Option<String>,
}

/// What an audit is about. Usage counts frames that are not known to be damaged.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// It is an access point.
    pub is_ap: bool,
    /// What it claims; `None` when no frame with claims was captured.
    pub claimed: Option<&'a Capabilities>,
    /// The claims come from a frame that shows the security elements: not from a probe request.
    pub shows_security: bool,
    /// What it was seen using.
    pub usage: &'a Usage,
    /// Frames it sent.
    pub frames: u64,
    /// Frames it sent with the Power Management bit.
    pub pm_frames: u64,
    /// Changes of the Power Management bit from frame to frame.
    pub pm_changes: u64,
}

/// Puts claims and use side by side.
pub fn rows(subject: &Subject<'_>) -> Vec<CapabilityRow> {
    let mut rows = Vec::new();
    bands(subject, &mut rows);
    rows.push(streams(subject));
    rows.push(generations(subject));
    wmm(subject, &mut rows);
    security(subject, &mut rows);
    modulation(subject, &mut rows);
    rows.push(width(subject));
    aggregation(subject, &mut rows);
    rows.extend((!subject.is_ap).then(|| power_management(subject)));
    rows
}

const NO_CLAIM: &str = "no beacon, probe or association frame of it captured";
const NO_RATES: &str = "the capture does not say how frames were modulated";

/// What was seen of a capability.
enum Seen {
    /// Frames that used it, of how many, called what.
    Frames(u64, u64, String),
    /// Cannot be told, because.
    Unknown(&'static str),
}

impl Subject<'_> {
    /// A claim that `test` finds in the elements.
    fn claim(&self, test: impl FnOnce(&Capabilities) -> (bool, Option<String>)) -> (Claim, Option<String>) {
        match self.claimed {
            None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
            Some(capabilities) => {
                let (claimed, detail) = test(capabilities);
                (claimed.into(), detail)
            }
        }
    }

    /// The band most of its frames were in.
    fn band(&self) -> Option<Band> {
        let [low, middle, high] = self.usage.bands;
        match low.max(middle).max(high) {
            0 => None,
            most if most == low => Some(Band::Ghz2_4),
            most if most == middle => Some(Band::Ghz5),
            _ => Some(Band::Ghz6),
        }
    }

    fn band_name(&self) -> &'static str {
        self.band().map_or("band unknown", band_name)
    }

    /// HT and later frames it sent.
    fn high_sent(&self) -> u64 {
        self.usage.ht + self.usage.vht + self.usage.he + self.usage.eht
    }

    /// HT and later frames from and to it.
    fn high(&self) -> u64 {
        self.high_sent() + self.usage.received_high
    }

    /// Frames whose modulation the capture tells: it sent them, or they are HT or later and sent to it.
    fn rated(&self) -> u64 {
        self.usage.dsss + self.usage.ofdm + self.high()
    }

    /// Use of a feature that every radio header reports.
    fn seen(&self, used: u64, of: u64, what: &str) -> Seen {
        match self.rated() {
            0 => Seen::Unknown(NO_RATES),
            _ => Seen::Frames(used, of, what.to_owned()),
        }
    }

    /// Use of a feature that some radio headers report: `known` of `frames` frames could have shown it.
    fn reported(&self, used: u64, known: u64, frames: u64, silent: &'static str, what: &str) -> Seen {
        match (known, frames) {
            (0, 1..) => Seen::Unknown(silent),
            _ => self.seen(used, known, what),
        }
    }
}

const fn band_name(band: Band) -> &'static str {
    match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
        Band::Ghz6 => "6 GHz",
        Band::Ghz60 => "60 GHz",
    }
}

fn row(capability: impl Into<String>, (claimed, claimed_detail): (Claim, Option<String>), seen: Seen) -> CapabilityRow {
    let (seen, seen_detail, note) = match seen {
        Seen::Unknown(reason) => (None, Some(reason.to_owned()), None),
        Seen::Frames(_, 0, what) => (None, Some(format!("no {what}")), None),
        Seen::Frames(used, of, what) => {
            let note = match (claimed, used) {
                (Claim::Yes, 0) => Some(format!("claimed, never used in {} {what}", grouped(of))),
                (Claim::No, 1..) => {
                    Some(format!("not claimed, but used in {} of {} {what}", grouped(used), grouped(of)))
                }
                _ => None,
            };
            (Some(used), Some(format!("{} of {} {what}", grouped(used), grouped(of))), note)
        }
    };
    CapabilityRow { capability: capability.into(), claimed, claimed_detail, seen, seen_detail, note }
}

/// `12345` as `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn plural(count: u8) -> &'static str {
    match count {
        1 => "",
        _ => "s",
    }
}

fn bands(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let home = subject.band();
    for (band, seen) in [Band::Ghz2_4, Band::Ghz5, Band::Ghz6].into_iter().zip(subject.usage.bands) {
        if seen == 0 {
            continue;
        }
        let claim = match (subject.claimed, home == Some(band)) {
            (Some(_), true) => (Claim::Yes, Some("its elements were sent there".to_owned())),
            _ => (Claim::NotAvailable, Some("a frame's elements speak for the band it is sent in".to_owned())),
        };
        rows.push(row(band_name(band), claim, Seen::Frames(seen, subject.frames, "frames it sent".to_owned())));
    }
}

fn streams(subject: &Subject<'_>) -> CapabilityRow {
    let claimed = subject.claimed.map(|capabilities| {
        let ht = capabilities.ht.map_or(0, |ht| ht.tx_streams().unwrap_or(ht.rx_streams()));
        let vht = capabilities.vht.map_or(0, |vht| vht.tx_streams());
        let he = capabilities.he.map_or(0, |he| he.tx_streams());
        // Without HT there is one stream: DSSS and OFDM know no others.
        ht.max(vht).max(he).max(1)
    });
    let most = subject.usage.max_nss;
    let count = claimed.unwrap_or(most).max(1);
    let claim = match claimed {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(count) => (Claim::Yes, Some(format!("transmits up to {count} spatial stream{}", plural(count)))),
    };
    let at_count = subject.usage.streams.get(usize::from(count - 1)).copied().unwrap_or(0);
    let legacy = subject.usage.dsss + subject.usage.ofdm;
    let seen = match count {
        1 => subject.seen(at_count + legacy, subject.high_sent() + legacy, "frames it sent"),
        _ => subject.seen(at_count, subject.high_sent(), "HT or later frames it sent"),
    };
    let mut row = row(format!("{count} Spatial Stream{} {}", plural(count), subject.band_name()), claim, seen);
    if claimed.is_some_and(|claimed| most > claimed) {
        row.note = Some(format!("claims {count}, but sent with {most} spatial streams"));
    }
    row
}

fn generations(subject: &Subject<'_>) -> CapabilityRow {
    let sent = subject.usage;
    let rated = sent.dsss + sent.ofdm + subject.high_sent();
    let claims = |test: &dyn Fn(&Capabilities) -> bool| subject.claimed.is_some_and(test);
    let ofdm = match subject.band() {
        Some(Band::Ghz2_4) => "g",
        // Only in 2.4 GHz are there DSSS rates to claim.
        None if claims(&|c| c.rates.is_some_and(|rates| rates.has_dsss())) => "g",
        _ => "a",
    };
    let all = [
        ("b", claims(&|c| c.rates.is_some_and(|rates| rates.has_dsss())), sent.dsss),
        (ofdm, claims(&|c| c.rates.is_some_and(|rates| rates.has_ofdm())), sent.ofdm),
        ("n", claims(&|c| c.ht.is_some()), sent.ht),
        ("ac", claims(&|c| c.vht.is_some()), sent.vht),
        ("ax", claims(&|c| c.he.is_some()), sent.he),
        ("be", claims(&|c| c.eht), sent.eht),
    ];
    let letters = |pick: &dyn Fn(&(&str, bool, u64)) -> bool| {
        all.iter().filter(|entry| pick(entry)).map(|entry| entry.0).collect::<Vec<_>>().join("/")
    };
    let claimed = letters(&|entry| entry.1);
    let used = letters(&|entry| entry.2 > 0);
    let claim = match subject.claimed {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(_) if claimed.is_empty() => (Claim::NotAvailable, Some("no rates element captured".to_owned())),
        Some(_) => (Claim::Yes, None),
    };
    let mut row = match rated {
        0 => row("", claim, Seen::Unknown(NO_RATES)),
        rated => row("", claim, Seen::Frames(rated, subject.frames, "frames it sent".to_owned())),
    };
    row.capability = match (claimed.is_empty(), used.is_empty()) {
        (false, _) => claimed,
        (true, false) => used,
        (true, true) => "b/g/n/ac/ax".to_owned(),
    };
    if rated > 0 {
        let counts = all.iter().filter(|entry| entry.1 || entry.2 > 0);
        let counts: Vec<_> = counts.map(|(letter, _, frames)| format!("{letter} {}", grouped(*frames))).collect();
        row.seen_detail = Some(format!("{} of {} frames it sent", counts.join(", "), grouped(subject.frames)));
        let unused = letters(&|entry| entry.1 && entry.2 == 0);
        row.note = (!unused.is_empty()).then(|| format!("claimed, but never sent: {unused}"));
        let unclaimed = letters(&|entry| !entry.1 && entry.2 > 0);
        if row.claimed == Claim::Yes && !unclaimed.is_empty() {
            row.note = Some(format!("sent without being claimed: {unclaimed}"));
        }
    }
    row
}

fn wmm(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = subject.claim(|c| match c.wmm {
        Some(wmm) if wmm.parameters.is_some() => (true, Some("parameter element".to_owned())),
        Some(_) => (true, Some("information element".to_owned())),
        None => (false, None),
    });
    let qos_data: u64 = usage.tids.iter().sum();
    let mut wmm = row("WMM", claim, Seen::Frames(qos_data, usage.data, "data frames it sent".to_owned()));
    if qos_data > 0 {
        let categories =
            [AccessCategory::Voice, AccessCategory::Video, AccessCategory::BestEffort, AccessCategory::Background];
        let counts = categories.map(|category| {
            let of_category = (0..).zip(usage.tids).filter(|(tid, _)| AccessCategory::of_tid(*tid) == Some(category));
            let frames: u64 = of_category.map(|(_, frames)| frames).sum();
            format!("{} {}", category.short_name(), grouped(frames))
        });
        let total = format!("{} of {} data frames it sent", grouped(qos_data), grouped(usage.data));
        wmm.seen_detail = Some(format!("{total}: {}", counts.join(", ")));
    }
    rows.push(wmm);
    let claim = subject.claim(|c| match (c.wmm, subject.is_ap) {
        (None, _) => (false, None),
        (Some(wmm), true) => (wmm.ap_uapsd(), None),
        (Some(wmm), false) => {
            let enabled = AccessCategory::ALL.into_iter().filter(|category| wmm.station_uapsd(*category));
            let names: Vec<_> = enabled.map(AccessCategory::short_name).collect();
            (!names.is_empty(), (!names.is_empty()).then(|| names.join(", ")))
        }
    });
    rows.push(row("WMM-Power Save", claim, Seen::Unknown("trigger frames look like any other frame")));
}

fn security(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = |test: &dyn Fn(&Capabilities) -> (bool, Option<String>)| match subject.shows_security {
        true => subject.claim(test),
        false => (Claim::NotAvailable, Some("no frame with its security elements captured".to_owned())),
    };
    let protected = || Seen::Frames(usage.protected_data, usage.data, "data frames it sent".to_owned());
    let personal = claim(&|c| {
        let (rsn, wpa) = (c.rsn.is_some_and(|rsn| rsn.psk()), c.wpa.is_some_and(|wpa| wpa.psk()));
        let detail = match (rsn, wpa) {
            (true, true) => Some("WPA2 and WPA"),
            (true, false) => Some("WPA2"),
            (false, true) => Some("WPA only"),
            (false, false) => None,
        };
        (rsn || wpa, detail.map(str::to_owned))
    });
    let sae = claim(&|c| (c.rsn.is_some_and(|rsn| rsn.sae()), c.sae_h2e.then(|| "with hash-to-element".to_owned())));
    let enterprise = claim(&|c| {
        let either = [c.rsn, c.wpa].into_iter().flatten().any(|security| security.enterprise());
        (either, None)
    });
    let both = personal.0 == Claim::Yes && sae.0 == Claim::Yes;
    let mut row_personal = row("WPA2/WPA Personal", personal, protected());
    if both {
        row_personal.note =
            Some("WPA2 and WPA3 are offered: encrypted data frames do not tell which is in use".to_owned());
    }
    rows.push(row_personal);
    let seen =
        Seen::Frames(usage.sae_authentications, usage.authentications, "authentication frames it sent".to_owned());
    rows.push(row("WPA3 Personal (SAE)", sae, seen));
    if enterprise.0 == Claim::Yes {
        rows.push(row("WPA2/WPA3 Enterprise", enterprise, protected()));
    }
    let pmf = claim(&|c| match c.rsn {
        Some(rsn) if rsn.mfp_required() => (true, Some("required".to_owned())),
        Some(rsn) if rsn.mfp_capable() => (true, Some("capable".to_owned())),
        _ => (false, None),
    });
    let what = "unicast deauthentication, disassociation and action frames it sent".to_owned();
    let seen = Seen::Frames(usage.protected_management, usage.robust_management, what);
    rows.push(row("Protected Management Frames", pmf, seen));
}

fn modulation(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = subject.claim(|c| {
        let mut widths = Vec::new();
        let mut push = |claimed: bool, name: &'static str| widths.extend(claimed.then_some(name));
        push(c.ht.is_some_and(|ht| ht.short_gi_20()), "20 MHz");
        push(c.ht.is_some_and(|ht| ht.short_gi_40()), "40 MHz");
        push(c.vht.is_some_and(|vht| vht.short_gi_80()), "80 MHz");
        push(c.vht.is_some_and(|vht| vht.short_gi_160()), "160 MHz");
        (!widths.is_empty(), (!widths.is_empty()).then(|| format!("receives it at {}", widths.join(", "))))
    });
    let used = usage.short_gi + usage.received_short_gi;
    rows.push(row(
        "Short Guard Interval",
        claim,
        subject.seen(used, subject.high(), "HT or later frames from and to it"),
    ));

    let silent = "the receiver does not report STBC";
    let claim = subject.claim(|c| {
        let ht = c.ht.map_or(0, |ht| ht.rx_stbc_streams());
        let vht = c.vht.map_or(0, |vht| vht.rx_stbc_streams());
        let he = c.he.is_some_and(|he| he.rx_stbc());
        let streams = ht.max(vht).max(u8::from(he));
        (streams > 0, (streams > 0).then(|| format!("of {streams} spatial stream{}", plural(streams))))
    });
    let what = "HT or later frames to it";
    let seen = subject.reported(usage.received_stbc, usage.received_stbc_known, usage.received_high, silent, what);
    rows.push(row("STBC Receive", claim, seen));
    let claim = subject.claim(|c| {
        let any = c.ht.is_some_and(|ht| ht.tx_stbc())
            || c.vht.is_some_and(|vht| vht.tx_stbc())
            || c.he.is_some_and(|he| he.tx_stbc());
        (any, None)
    });
    let what = "HT or later frames it sent";
    let seen = subject.reported(usage.stbc, usage.stbc_known, subject.high_sent(), silent, what);
    rows.push(row("STBC Transmit", claim, seen));

    let claim = subject.claim(|c| {
        let any =
            c.ht.is_some_and(|ht| ht.ldpc()) || c.vht.is_some_and(|vht| vht.ldpc()) || c.he.is_some_and(|he| he.ldpc());
        (any, any.then(|| "receives it".to_owned()))
    });
    let silent = "the receiver does not report the coding";
    let seen = subject.reported(usage.ldpc, usage.ldpc_known, subject.high_sent(), silent, what);
    rows.push(with_received(row("LDPC", claim, seen), usage.received_ldpc));

    let claim = subject.claim(|c| (c.ht.is_some_and(|ht| ht.greenfield()), None));
    let silent = "the receiver does not report the preamble";
    let seen = subject.reported(usage.greenfield, usage.greenfield_known, usage.ht, silent, "HT frames it sent");
    rows.push(with_received(row("Greenfield Preamble", claim, seen), usage.received_greenfield));
}

/// A row that counts frames sent, with the frames received: these may show the use that the others do not.
fn with_received(mut row: CapabilityRow, received: u64) -> CapabilityRow {
    if received > 0 {
        row.seen = Some(row.seen.unwrap_or(0) + received);
        let more = format!("{} frames to it", grouped(received));
        row.seen_detail = Some(match row.seen_detail.take() {
            Some(detail) => format!("{detail}; {more}"),
            None => more,
        });
        row.note = (row.claimed == Claim::No).then(|| "not claimed, but used".to_owned());
    }
    row
}

fn width(subject: &Subject<'_>) -> CapabilityRow {
    let usage = subject.usage;
    let what = "HT or later frames from and to it";
    if subject.band() == Some(Band::Ghz2_4) {
        let claim = subject.claim(|c| {
            let wide = c.ht.is_some_and(|ht| ht.width_40());
            let coexists = c.extended.is_some_and(|extended| extended.coexistence_2040())
                || c.coexistence_2040.is_some()
                || c.obss_scan_parameters;
            let detail = match (wide, coexists) {
                (true, true) => "40 MHz and 20/40 coexistence",
                (true, false) => "40 MHz, but no 20/40 coexistence",
                (false, true) => "20/40 coexistence, but no 40 MHz",
                (false, false) => "20 MHz only",
            };
            (wide && coexists, Some(detail.to_owned()))
        });
        let seen = subject.seen(usage.wide_2_4 + usage.received_wide, subject.high(), what);
        return row("40 MHz operation in 2.4 GHz with coexistence mechanisms", claim, seen);
    }
    let widest = subject.claimed.map(|c| {
        let wide_160 =
            c.vht.is_some_and(|vht| matches!(vht.width_set(), 1 | 2)) || c.he.is_some_and(|he| he.width_160());
        let wide_80 = c.vht.is_some() || c.he.is_some_and(|he| he.width_80());
        match (wide_160, wide_80, c.ht.is_some_and(|ht| ht.width_40())) {
            (true, ..) => 160,
            (_, true, _) => 80,
            (_, _, true) => 40,
            _ => 20,
        }
    });
    let claim = match widest {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(20) => (Claim::No, Some("20 MHz only".to_owned())),
        Some(mhz) => (Claim::Yes, Some(format!("up to {mhz} MHz"))),
    };
    let name = format!("{} MHz operation in {}", widest.unwrap_or(40).max(40), subject.band_name());
    row(name, claim, subject.seen(usage.wide + usage.received_wide, subject.high(), what))
}

fn aggregation(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = match subject.claimed {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(c) => match c.vht.map(|vht| vht.max_ampdu_bytes()).or(c.ht.map(|ht| ht.max_ampdu_bytes())) {
            // Receiving is part of HT; no element says whether a station also sends them.
            Some(bytes) => {
                let detail = format!("no element claims sending; receives up to {} bytes", grouped(u64::from(bytes)));
                (Claim::NotAvailable, Some(detail))
            }
            None if c.he.is_some() || c.eht => (Claim::NotAvailable, Some("no element claims sending".to_owned())),
            None => (Claim::No, Some("no HT".to_owned())),
        },
    };
    let seen = match (usage.ampdus, subject.high_sent()) {
        (0, 1..) => Seen::Unknown("none recognised: it sent none, or the receiver does not mark them"),
        (_, high) => {
            let what = match usage.ampdus {
                0 => "HT or later frames it sent".to_owned(),
                ampdus => format!("HT or later frames it sent, in {} A-MPDUs", grouped(ampdus)),
            };
            match subject.rated() {
                0 if usage.ampdus == 0 => Seen::Unknown(NO_RATES),
                _ => Seen::Frames(usage.ampdu_mpdus, high.max(usage.ampdu_mpdus), what),
            }
        }
    };
    rows.push(row("TX A-MPDU", claim, seen));

    let claim = subject.claim(|c| match c.ht {
        Some(ht) => (true, Some(format!("receives up to {} bytes", grouped(u64::from(ht.max_amsdu_bytes()))))),
        None => (c.he.is_some() || c.eht, None),
    });
    let qos_data: u64 = usage.tids.iter().sum();
    let seen = Seen::Frames(usage.amsdus, qos_data, "QoS data frames it sent".to_owned());
    rows.push(with_received(row("A-MSDU", claim, seen), usage.received_amsdus));
}

fn power_management(subject: &Subject<'_>) -> CapabilityRow {
    let claim = (Claim::NotAvailable, Some("no element claims it".to_owned()));
    let mut row = row("Power Management", claim, Seen::Unknown("no frame of it captured"));
    if subject.frames > 0 {
        row.seen = Some(subject.pm_changes);
        let (changes, with_bit) = (grouped(subject.pm_changes), grouped(subject.pm_frames));
        let frames = grouped(subject.frames);
        row.seen_detail =
            Some(format!("{changes} changes of the bit; {with_bit} of {frames} frames it sent have it set"));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::ieee80211::Elements;

    /// A one-stream 2.4 GHz HT station: rates 1 to 54 Mb/s, 40 MHz, SGI 20 and 40, RX STBC 1, coexistence, WMM, WPA2
    /// with optional frame protection.
    fn dongle() -> Capabilities {
        let mut bytes = vec![1, 8, 0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36, 45, 26, 0x6e, 0x01, 0x17, 0xff];
        bytes.resize(bytes.len() + 22, 0);
        bytes.extend([127, 1, 1, 221, 7, 0x00, 0x50, 0xf2, 2, 0, 1, 0]);
        bytes.extend([48, 20, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0x80, 0]);
        Capabilities::read(Elements::new(&bytes))
    }

    fn subject<'a>(claimed: Option<&'a Capabilities>, usage: &'a Usage) -> Subject<'a> {
        Subject { is_ap: false, claimed, shows_security: true, usage, frames: 20_000, pm_frames: 0, pm_changes: 0 }
    }

    fn find<'a>(rows: &'a [CapabilityRow], name: &str) -> &'a CapabilityRow {
        rows.iter().find(|row| row.capability == name).unwrap_or_else(|| panic!("no row {name:?} in {rows:#?}"))
    }

    #[test]
    fn claimed_but_never_used_is_noted_with_its_denominator() {
        let claimed = dongle();
        let mut usage = Usage { ht: 12_345, bands: [12_345, 0, 0], max_nss: 1, ..Usage::default() };
        usage.streams[0] = 12_345;
        let rows = rows(&subject(Some(&claimed), &usage));
        let sgi = find(&rows, "Short Guard Interval");
        assert_eq!((sgi.claimed, sgi.seen), (Claim::Yes, Some(0)));
        assert_eq!(sgi.note.as_deref(), Some("claimed, never used in 12,345 HT or later frames from and to it"));
        let streams = find(&rows, "1 Spatial Stream 2.4 GHz");
        assert_eq!((streams.claimed, streams.seen, &streams.note), (Claim::Yes, Some(12_345), &None));
        assert_eq!(find(&rows, "b/g/n").note.as_deref(), Some("claimed, but never sent: b/g"));
        let wide = find(&rows, "40 MHz operation in 2.4 GHz with coexistence mechanisms");
        assert_eq!((wide.claimed, wide.seen), (Claim::Yes, Some(0)));
        assert_eq!(find(&rows, "WPA2/WPA Personal").claimed, Claim::Yes);
        assert_eq!(find(&rows, "WPA3 Personal (SAE)").claimed, Claim::No);
        assert_eq!(find(&rows, "Protected Management Frames").claimed_detail.as_deref(), Some("capable"));
    }

    #[test]
    fn what_the_receiver_does_not_report_is_not_zero() {
        let claimed = dongle();
        let usage = Usage { ht: 50, received_high: 50, bands: [50, 0, 0], ..Usage::default() };
        let rows = rows(&subject(Some(&claimed), &usage));
        for name in ["STBC Receive", "LDPC", "Greenfield Preamble", "TX A-MPDU"] {
            let row = find(&rows, name);
            assert_eq!((row.seen, &row.note), (None, &None), "{name}");
            assert!(row.seen_detail.is_some(), "{name} says why");
        }
        let stbc = Usage { received_stbc: 3, received_stbc_known: 40, ..usage };
        let rows = super::rows(&subject(Some(&claimed), &stbc));
        assert_eq!(find(&rows, "STBC Receive").seen, Some(3));
    }

    #[test]
    fn without_rates_nothing_is_said_of_the_phy() {
        let claimed = dongle();
        let usage = Usage { data: 10, ..Usage::default() };
        let rows = rows(&subject(Some(&claimed), &usage));
        for name in ["Short Guard Interval", "STBC Receive", "b/g/n", "TX A-MPDU", "1 Spatial Stream band unknown"] {
            assert_eq!(find(&rows, name).seen_detail.as_deref(), Some(NO_RATES), "{name}");
        }
        assert_eq!(find(&rows, "WMM").seen, Some(0), "the MAC header is there all the same");
    }

    #[test]
    fn without_claims_use_is_shown_and_nothing_accused() {
        let usage = Usage { ht: 9, short_gi: 4, max_nss: 2, bands: [0, 9, 0], ..Usage::default() };
        let rows = rows(&Subject { shows_security: false, ..subject(None, &usage) });
        assert!(rows.iter().all(|row| row.claimed == Claim::NotAvailable && row.note.is_none()), "{rows:#?}");
        assert_eq!(find(&rows, "Short Guard Interval").seen, Some(4));
        assert_eq!(
            find(&rows, "2 Spatial Streams 5 GHz").seen_detail.as_deref(),
            Some("0 of 9 HT or later frames it sent")
        );
    }

    #[test]
    fn used_without_claim_is_noted() {
        let claimed = Capabilities::read(Elements::new(&[1, 4, 0x82, 0x84, 0x8b, 0x96]));
        let usage = Usage { ht: 10, stbc: 2, stbc_known: 10, dsss: 1, bands: [11, 0, 0], ..Usage::default() };
        let rows = rows(&subject(Some(&claimed), &usage));
        let note = find(&rows, "STBC Transmit").note.as_deref();
        assert_eq!(note, Some("not claimed, but used in 2 of 10 HT or later frames it sent"));
        assert_eq!(find(&rows, "b").note.as_deref(), Some("sent without being claimed: n"));
    }

    #[test]
    fn sae_is_seen_in_authentication_frames() {
        let claimed = dongle();
        let usage = Usage { authentications: 3, sae_authentications: 2, ..Usage::default() };
        let with_sae = rows(&subject(Some(&claimed), &usage));
        let row = find(&with_sae, "WPA3 Personal (SAE)");
        assert_eq!((row.claimed, row.seen), (Claim::No, Some(2)));
        assert_eq!(row.note.as_deref(), Some("not claimed, but used in 2 of 3 authentication frames it sent"));
        let silent = rows(&subject(Some(&claimed), &Usage::default()));
        let row = find(&silent, "WPA3 Personal (SAE)");
        assert_eq!((row.seen, row.seen_detail.as_deref()), (None, Some("no authentication frames it sent")));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
