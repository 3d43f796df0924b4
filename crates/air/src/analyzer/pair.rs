//! The pair of stations that is explained.

use wire::ieee80211::MacAddr;

use crate::link::Link;

/// Fewest data MPDUs of a link for a sentence about its losses, and the share of retries among them (%) from which it suffers.
const MIN_MPDUS: u64 = 50;
const MUCH_RETRIED: u64 = 10;
/// Share of the observed time, one in so many, that is worth explaining when it is lost to retries.
const WORTH: i64 = 200;

/// The two ends of the link that loses most to retries, where that is worth a word, and clearly more than the link with most payload
/// loses.
pub(super) fn suffering(rows: &[&Link], observed_ns: i64) -> Option<(MacAddr, MacAddr)> {
    let lost = |link: &Link| (link.airtime.retry, link.retry_bytes);
    let suffers = |link: &&Link| {
        let are_stations = link.ta != link.ra && !link.ra.is_group() && !link.ta.is_group();
        are_stations
            && !link.is_doubled()
            && link.medium_mpdus >= MIN_MPDUS
            && link.timed_mpdus > 0
            && link.mpdu_retries * 100 >= link.mpdus * MUCH_RETRIED
    };
    let most = rows.iter().copied().filter(suffers).max_by_key(|link| (lost(link), link.ta, link.ra))?;
    let is_worth_it = most.airtime.retry.saturating_mul(WORTH) >= observed_ns || most.mpdu_retries * 2 >= most.mpdus;
    let pair = (most.ta, most.ra);
    let busiest_loses = busiest(rows).map_or((0, 0), |(a, b)| {
        let ends = |link: &&&Link| (link.ta, link.ra) == (a, b) || (link.ta, link.ra) == (b, a);
        rows.iter().filter(ends).map(|link| lost(link)).max().unwrap_or_default()
    });
    let is_clear =
        lost(most).0 > 2 * busiest_loses.0 || (most.airtime.retry == 0 && lost(most).1 > 2 * busiest_loses.1);
    (is_worth_it && is_clear).then_some(pair)
}

/// The two ends of the link with most payload.
pub(super) fn busiest(rows: &[&Link]) -> Option<(MacAddr, MacAddr)> {
    rows.iter()
        .filter(|link| !link.ra.is_group() && link.ta != link.ra && link.mpdus > 0)
        .max_by_key(|link| (link.payload_bytes, link.mpdus))
        .map(|link| (link.ta, link.ra))
}
