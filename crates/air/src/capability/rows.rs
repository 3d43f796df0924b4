//! Claims against use, row by row.

use wire::ieee80211::{AccessCategory, Capabilities};
use wire::phy::Band;

use super::amendments::amendments;
use super::beamforming::beamforming;
use super::peers::{claims_generation, GENERATIONS, MIN_CONTRADICTION, MIN_OCCASION};
use super::security::security;
use super::subject::{band_name, row, Seen, Subject, NO_CLAIM, NO_RATES};
use crate::access_point::width_mhz;
use crate::report::{Basis, CapabilityRow, Claim};
use sentence::{counted, grouped, sentence, Figure, Sentence};

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
    beamforming(subject, &mut rows);
    aggregation(subject, &mut rows);
    amendments(subject, &mut rows);
    rows.extend((!subject.is_ap).then(|| power_management(subject)));
    rows
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
            _ => (Claim::NotAvailable, Some("a frame's elements apply only to the band that it is sent in".to_owned())),
        };
        rows.push(row(
            Basis::Radio,
            band_name(band),
            claim,
            Seen::Frames(seen, subject.frames, "frames it sent".to_owned()),
            None,
        ));
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
    // An HT element without a transmit set says what the station receives (IEEE Std 802.11-2020, 9.4.2.55.4).
    let says_sending = subject.claimed.is_none_or(|capabilities| {
        let is_newer = capabilities.vht.is_some() || capabilities.he.is_some();
        is_newer || capabilities.ht.is_none_or(|ht| ht.tx_streams().is_some())
    });
    let most = subject.usage.max_nss;
    let count = claimed.unwrap_or(most).max(1);
    let claim = match claimed {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(count) if says_sending => {
            (Claim::Yes, Some(format!("transmits up to {count} spatial stream{}", plural(count))))
        }
        Some(count) => {
            let received = format!("receives up to {count} spatial stream{}; says nothing of sending", plural(count));
            (Claim::Yes, Some(received))
        }
    };
    let at_count = subject.usage.streams.get(usize::from(count - 1)).copied().unwrap_or(0);
    let legacy = subject.usage.dsss + subject.usage.ofdm;
    let (known, silent) = (subject.usage.streams.iter().sum(), "the receiver does not report the number of streams");
    let seen = match count {
        1 => {
            subject.reported(at_count + legacy, known + legacy, subject.high_sent() + legacy, silent, "frames it sent")
        }
        _ => subject.reported(at_count, known, subject.high_sent(), silent, "HT or later frames it sent"),
    };
    let occasion = subject.peers.sent_to(|peer| rx_streams(peer) >= count);
    let name = format!("{count} Spatial Stream{} {}", plural(count), subject.band_name());
    let mut row = row(Basis::Radio, name, claim, seen, (count > 1 && says_sending).then_some(occasion));
    let beyond: u64 = subject.usage.streams.iter().skip(usize::from(claimed.unwrap_or(u8::MAX))).sum();
    if let (Some(claimed), MIN_CONTRADICTION.., true) = (claimed, beyond, says_sending) {
        row.note = Some(sentence!(
            "claims {claimed} spatial streams, but sent {beyond} of {high} HT or later frames with up to {most}",
            claimed = Figure::total(u64::from(claimed)),
            beyond = Figure::count(beyond, known),
            high = Figure::total(known),
            most = Figure::count(u64::from(most), beyond)
        ));
    }
    row
}

/// Most spatial streams that a station claims to receive.
fn rx_streams(claimed: &Capabilities) -> u8 {
    let ht = claimed.ht.map_or(0, |ht| ht.rx_streams());
    ht.max(claimed.vht.map_or(0, |vht| vht.rx_streams())).max(claimed.he.map_or(0, |he| he.rx_streams()))
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
        ("be", claims(&|c| c.eht.is_some()), sent.eht),
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
        0 => row(Basis::Radio, "", claim, Seen::Unknown(NO_RATES), None),
        rated => row(Basis::Radio, "", claim, Seen::Frames(rated, subject.frames, "frames it sent".to_owned()), None),
    };
    row.capability = match (claimed.is_empty(), used.is_empty()) {
        (false, _) => claimed,
        (true, false) => used,
        (true, true) => "b/g/n/ac/ax".to_owned(),
    };
    if rated > 0 {
        let counts = all.iter().filter(|entry| entry.1 || entry.2 > 0);
        let counts: Vec<_> = counts.map(|(letter, _, frames)| format!("{letter} {}", grouped(*frames))).collect();
        // The newest that it claims, else the newest that it used: all of them together are all its frames, whatever it claims.
        let newest = all.iter().rev().find(|entry| entry.1).or_else(|| all.iter().rev().find(|entry| entry.2 > 0));
        row.seen = newest.map(|entry| entry.2);
        let counted = newest.filter(|_| counts.len() > 1).map(|entry| format!(" (counted: {})", entry.0));
        row.seen_detail = Some(format!(
            "{} of {} frames it sent{}",
            counts.join(", "),
            grouped(subject.frames),
            counted.unwrap_or_default()
        ));
        row.note = unused_generation(subject, &all).or_else(|| {
            let unclaimed = letters(&|entry| !entry.1 && entry.2 >= MIN_CONTRADICTION);
            let frames: u64 = all.iter().filter(|entry| !entry.1).map(|entry| entry.2).sum();
            (row.claimed == Claim::Yes && !unclaimed.is_empty()).then(|| {
                sentence!(
                    "sent {frames} of {rated} frames without claiming them: {unclaimed}",
                    frames = Figure::count(frames, rated),
                    rated = Figure::total(rated);
                    unclaimed = unclaimed
                )
            })
        });
    }
    row
}

/// The newest generation that it shares with its peers, when it never sent them data in it or a newer one. Older ones are for
/// bad links: not to use them is not a fault.
fn unused_generation(subject: &Subject<'_>, names: &[(&str, bool, u64); GENERATIONS]) -> Option<Sentence> {
    let claimed = subject.claimed?;
    let shared = |place: &usize| claims_generation(claimed, *place) && subject.peers.in_generation(*place).1 > 0;
    let newest = (0..GENERATIONS).rev().find(shared)?;
    let (name, _, _) = *names.get(newest)?;
    let (used, sent) = subject.peers.in_generation(newest);
    (newest > 0 && used == 0 && sent >= MIN_OCCASION).then(|| {
        sentence!(
            "claims {name}, as its peers do, but sent them {used} of {sent} data MPDUs in its formats",
            used = Figure::count(used, sent),
            sent = Figure::total(sent);
            name = name
        )
    })
}

fn wmm(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = subject.claim(|c| match c.wmm {
        Some(wmm) if wmm.parameters.is_some() => (true, Some("parameter element".to_owned())),
        Some(_) => (true, Some("information element".to_owned())),
        // The standard's own form of it.
        None if c.edca.is_some() => (true, Some("EDCA parameter set".to_owned())),
        None => (false, None),
    });
    let qos_data: u64 = usage.tids.iter().sum();
    // A probe request says nothing of WMM.
    let claim = match (claim.0, subject.shows_security) {
        (Claim::No, false) => (Claim::NotAvailable, Some("a probe request does not contain it".to_owned())),
        // An HT station is a QoS station (4.3.14), whether or not it has the element of the Wi-Fi Alliance.
        (Claim::No, true) if subject.claimed.is_some_and(|c| c.ht.is_some() || c.he.is_some()) => {
            (Claim::NotAvailable, Some("no WMM element; HT and HE stations have QoS without it".to_owned()))
        }
        _ => claim,
    };
    let occasion = subject.peers.sent_to(|peer| peer.wmm.is_some());
    let seen = Seen::Frames(qos_data, usage.data, "data frames it sent".to_owned());
    let mut wmm = row(Basis::Mac, "WMM", claim, seen, Some(occasion));
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
    rows.push(row(
        Basis::Mac,
        "WMM-Power Save",
        claim,
        Seen::Unknown("trigger frames look like any other frame"),
        None,
    ));
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
    // The element is about receiving: what it sends depends on the claims of its peers.
    let seen = subject.seen(usage.received_short_gi, usage.received_short_gi_known, "HT or VHT frames to it");
    let occasion = subject.peers.received_from(|peer| peer.ht.is_some());
    let short_gi = row(Basis::Radio, "Short Guard Interval", claim, seen, Some(occasion));
    rows.push(with_sent(short_gi, usage.short_gi, usage.short_gi_known));

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
    let occasion = subject.peers.received_from(tx_stbc);
    rows.push(row(Basis::Radio, "STBC Receive", claim, seen, Some(occasion)));
    let claim = subject.claim(|c| (tx_stbc(c), None));
    let what = "HT or later frames it sent";
    let seen = subject.reported(usage.stbc, usage.stbc_known, subject.high_sent(), silent, what);
    let occasion = subject.peers.sent_to(|peer| {
        peer.ht.is_some_and(|ht| ht.rx_stbc_streams() > 0) || peer.vht.is_some_and(|vht| vht.rx_stbc_streams() > 0)
    });
    rows.push(row(Basis::Radio, "STBC Transmit", claim, seen, Some(occasion)));

    let claim = subject.claim(|c| (ldpc(c), ldpc(c).then(|| "receives it".to_owned())));
    let silent = "the receiver does not report the coding";
    // The element is about receiving.
    let what_received = "HT or later frames to it";
    let known = usage.received_ldpc_known;
    let seen = subject.reported(usage.received_ldpc, known, usage.received_high, silent, what_received);
    let occasion = subject.peers.received_from(ldpc);
    let ldpc_row = row(Basis::Radio, "LDPC", claim, seen, Some(occasion));
    rows.push(with_sent(ldpc_row, usage.ldpc, usage.ldpc_known));

    // As is this one (IEEE Std 802.11-2020, 9.4.2.55.2): whether it sends greenfield PPDUs is up to what its peers receive.
    let claim = subject.claim(|c| {
        let greenfield = c.ht.is_some_and(|ht| ht.greenfield());
        (greenfield, greenfield.then(|| "receives it".to_owned()))
    });
    let silent = "the capture does not record the preamble";
    let known = usage.received_greenfield_known;
    let seen = subject.reported(usage.received_greenfield, known, usage.received_ht, silent, "HT frames to it");
    let greenfield = row(Basis::Radio, "Greenfield Preamble", claim, seen, None);
    rows.push(with_sent(greenfield, usage.greenfield, usage.greenfield_known));
}

/// A row that counts frames sent, with the frames received: these may show the use that the others do not.
fn with_received(mut row: CapabilityRow, received: u64) -> CapabilityRow {
    if received > 0 {
        row.seen = Some(row.seen.unwrap_or(0) + received);
        let more = format!("{} to it", counted(received, "frame"));
        row.seen_detail = Some(match row.seen_detail.take() {
            Some(detail) => format!("{detail}; {more}"),
            None => more,
        });
        row.note = row.note.take().or_else(|| {
            (row.claimed == Claim::No && received >= MIN_CONTRADICTION).then(|| {
                sentence!("not claimed, but used in {received} to it", received = Figure::all(received, "frame"))
            })
        });
    }
    row
}

/// A row that counts frames received, with the frames sent: whether it sends so is up to the claims of its peers.
fn with_sent(mut row: CapabilityRow, sent: u64, of: u64) -> CapabilityRow {
    if of > 0 {
        let more = format!("{} of {} frames it sent", grouped(sent), grouped(of));
        row.seen_detail = Some(match row.seen_detail.take() {
            Some(detail) => format!("{detail}; {more}"),
            None => more,
        });
    }
    row
}

fn tx_stbc(claimed: &Capabilities) -> bool {
    claimed.ht.is_some_and(|ht| ht.tx_stbc())
        || claimed.vht.is_some_and(|vht| vht.tx_stbc())
        || claimed.he.is_some_and(|he| he.tx_stbc())
}

fn ldpc(claimed: &Capabilities) -> bool {
    claimed.ht.is_some_and(|ht| ht.ldpc())
        || claimed.vht.is_some_and(|vht| vht.ldpc())
        || claimed.he.is_some_and(|he| he.ldpc())
}

/// Widest channel that a station claims, MHz.
fn claimed_width_mhz(c: &Capabilities) -> u16 {
    let wide_160 = c.vht.is_some_and(|vht| matches!(vht.width_set(), 1 | 2)) || c.he.is_some_and(|he| he.width_160());
    let wide_80 = c.vht.is_some() || c.he.is_some_and(|he| he.width_80());
    match (wide_160, wide_80, c.ht.is_some_and(|ht| ht.width_40())) {
        (true, ..) => 160,
        (_, true, _) => 80,
        (_, _, true) => 40,
        _ => 20,
    }
}

fn width(subject: &Subject<'_>) -> CapabilityRow {
    let usage = subject.usage;
    let what = "HT or later frames from and to it";
    let widths = usage.widths.with(&usage.received_widths);
    let (known, silent) = (widths.known(), "the receiver does not report the width");
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
        let seen =
            subject.reported(usage.wide_2_4 + usage.received_widths.from_mhz(40), known, subject.high(), silent, what);
        // Coexistence takes the width back wherever others are heard: not to use it is not a fault.
        return row(Basis::Radio, "40 MHz operation in 2.4 GHz with coexistence mechanisms", claim, seen, None);
    }
    let widest = subject.claimed.map(claimed_width_mhz);
    let claim = match widest {
        None => (Claim::NotAvailable, Some(NO_CLAIM.to_owned())),
        Some(20) => (Claim::No, Some("20 MHz only".to_owned())),
        Some(mhz) => (Claim::Yes, Some(format!("up to {mhz} MHz"))),
    };
    // Without a claim of a width, what can be seen is whether any frame is wide.
    let wide = widest.filter(|mhz| *mhz > 20);
    let name = match wide {
        Some(mhz) => format!("{mhz} MHz operation in {}", subject.band_name()),
        None => format!("Wider than 20 MHz in {}", subject.band_name()),
    };
    let least = wide.unwrap_or(40);
    // Where no frame is wide at all, a network of 40 MHz would have been an occasion, whatever is claimed beyond.
    let worth = if widths.from_mhz(40) == 0 { 40 } else { least };
    // The network has to be as wide, too: that is for the access point to say.
    let is_wide = |claimed: &Capabilities| width_mhz(claimed).is_some_and(|mhz| mhz >= worth);
    let own = subject.claimed.filter(|_| subject.is_ap);
    let occasion = subject.peers.sent_to(|peer| claimed_width_mhz(peer) >= worth && is_wide(own.unwrap_or(peer)));
    let what = match widths.each().map(|(mhz, frames)| format!("{mhz} MHz: {}", grouped(frames))).collect::<Vec<_>>() {
        each if each.len() > 1 => format!("{what} ({})", each.join(", ")),
        _ => what.to_owned(),
    };
    let seen = subject.reported(widths.from_mhz(least), known, subject.high(), silent, &what);
    row(Basis::Radio, name, claim, seen, Some(occasion))
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
            None if c.he.is_some() || c.eht.is_some() => {
                (Claim::NotAvailable, Some("no element claims sending".to_owned()))
            }
            None => (Claim::No, Some("no HT".to_owned())),
        },
    };
    let seen = match (usage.ampdus, subject.high_sent()) {
        (0, 1..) => Seen::Unknown("none recognised: it sent none, or the receiver does not mark them"),
        (_, high) => {
            let what = match usage.ampdus {
                0 => "HT or later frames it sent".to_owned(),
                _ => "HT or later frames it sent, in A-MPDUs as far as the capture marks or groups them".to_owned(),
            };
            match subject.rated() {
                0 if usage.ampdus == 0 => Seen::Unknown(NO_RATES),
                _ => Seen::Frames(usage.ampdu_mpdus, high.max(usage.ampdu_mpdus), what),
            }
        }
    };
    rows.push(row(Basis::Radio, "TX A-MPDU", claim, seen, None));

    let claim = subject.claim(|c| match c.ht {
        Some(ht) => (true, Some(format!("receives up to {} bytes", grouped(u64::from(ht.max_amsdu_bytes()))))),
        None => (c.he.is_some() || c.eht.is_some(), None),
    });
    let qos_data: u64 = usage.tids.iter().sum();
    let seen = Seen::Frames(usage.amsdus, qos_data, "QoS data frames it sent".to_owned());
    // Every HT station receives A-MSDUs; none has to send them.
    rows.push(with_received(row(Basis::Mac, "A-MSDU", claim, seen, None), usage.received_amsdus));
}

fn power_management(subject: &Subject<'_>) -> CapabilityRow {
    let claim = (Claim::NotAvailable, Some("no element claims it".to_owned()));
    let mut row = row(Basis::Mac, "Power Management", claim, Seen::Unknown("no frame of it captured"), None);
    if subject.frames > 0 {
        row.seen = Some(subject.pm_changes);
        let (changes, with_bit) = (counted(subject.pm_changes, "change"), grouped(subject.pm_frames));
        let frames = grouped(subject.frames);
        row.seen_detail = Some(format!("{changes} of the bit; {with_bit} of {frames} frames it sent have it set"));
    }
    row
}

#[cfg(test)]
mod tests;
