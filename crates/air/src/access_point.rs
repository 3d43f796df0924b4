//! The list of access points: what each one's latest beacon or probe response says of it.

use hashbrown::{HashMap, HashSet};
use wire::ieee80211::rsn::{akm, SuiteSet};
use wire::ieee80211::{display_ssid, Capabilities, MacAddr, Rsn, SecondaryChannel};
use wire::phy::Band;

use crate::claims::{ApClaim, Claims};
use crate::link::Links;
use crate::micros::us;
use crate::report::AccessPoint;
use crate::station::Stations;

/// One row per access point, most beacons first. Where `only_heard`, of those alone that sent a counted frame: in a window
/// there are claims of others, too.
pub fn access_points(
    claims: &Claims,
    stations: &Stations,
    links: &Links,
    is_ghost: &dyn Fn(u64) -> bool,
    only_heard: bool,
) -> Vec<AccessPoint> {
    let served = served(claims, links, is_ghost);
    let mut rows: Vec<AccessPoint> = claims
        .aps()
        .into_iter()
        .filter(|(address, _)| !address.is_group() && !is_ghost(address.as_u64()))
        .map(|(address, claim)| {
            let mut row = described(address, claim, claims.kind(address));
            row.stations = served.get(&address.as_u64()).map_or(0, |stations| stations.len() as u64);
            if let Some(station) = stations.table.by_key(&address.as_u64()) {
                row.beacons = station.beacons;
                row.signal_dbm = station.signal.spread();
                (row.first_seen_us, row.last_seen_us) = (station.first_ns.map(us), station.last_ns.map(us));
            }
            row
        })
        .filter(|row| !only_heard || row.first_seen_us.is_some())
        .collect();
    rows.sort_by(|a, b| b.beacons.cmp(&a.beacons).then_with(|| a.bssid.cmp(&b.bssid)));
    rows
}

/// The stations with which each access point exchanged unicast data; another access point (a wireless bridge) does not count.
fn served(claims: &Claims, links: &Links, is_ghost: &dyn Fn(u64) -> bool) -> HashMap<u64, HashSet<u64>> {
    let mut served: HashMap<u64, HashSet<u64>> = HashMap::new();
    for (_, link) in links.iter().filter(|(_, link)| link.mpdus > 0 && !link.ra.is_group()) {
        for (ap, station) in [(link.ta, link.ra), (link.ra, link.ta)] {
            if claims.ap(ap).is_some() && claims.ap(station).is_none() && !is_ghost(station.as_u64()) {
                served.entry(ap.as_u64()).or_default().insert(station.as_u64());
            }
        }
    }
    served
}

fn described(address: MacAddr, claim: &ApClaim, kind: Option<&'static str>) -> AccessPoint {
    let capabilities = &claim.capabilities;
    let band = band(claim);
    let channel = claim.channel().or_else(|| claim.frequency_mhz.and_then(Band::channel_number));
    // What a cut frame lacks may have been there.
    let is_whole = claim.is_whole && !capabilities.truncated;
    let securities = [capabilities.rsn.map(|rsn| (rsn, "")), capabilities.wpa.map(|wpa| (wpa, "WPA "))];
    let securities = || securities.iter().flatten();
    let mut key_managements: Vec<String> =
        securities().flat_map(|(rsn, prefix)| named(rsn.akm, prefix, akm::name)).collect();
    let mut pairwise_ciphers: Vec<String> = securities().flat_map(|(rsn, _)| named(rsn.pairwise, "", cipher)).collect();
    let mut group_ciphers: Vec<String> = securities().flat_map(|(rsn, _)| named(rsn.group, "", cipher)).collect();
    for list in [&mut key_managements, &mut pairwise_ciphers, &mut group_ciphers] {
        let mut seen = HashSet::new();
        list.retain(|name| seen.insert(name.clone()));
    }
    AccessPoint {
        bssid: address.to_string(),
        kind,
        ssids: claim.ssids.iter().map(ToString::to_string).collect(),
        hidden: claim.is_hidden,
        channel,
        frequency_mhz: channel
            .zip(band)
            // A DSSS Parameter Set beside a receiver in another band is not of the captured channel.
            .filter(|(channel, band)| *channel > 14 || *band != Band::Ghz5)
            .and_then(|(channel, band)| band.frequency_mhz(channel))
            .or(claim.frequency_mhz),
        width_mhz: is_whole.then(|| width_mhz(capabilities)).flatten(),
        punctured_mhz: capabilities.eht_operation.and_then(|operation| operation.punctured_mhz()),
        standards: if is_whole { standards(capabilities, band) } else { Vec::new() },
        security: security(claim),
        key_managements,
        pairwise_ciphers,
        group_ciphers,
        pmf: capabilities.rsn.filter(|rsn| rsn.capabilities.is_some() || !rsn.truncated).map(|rsn| match () {
            () if rsn.mfp_required() => "required",
            () if rsn.mfp_capable() => "capable",
            () => "no",
        }),
        wps: capabilities.wps,
        country: capabilities.country.map(|[first, second, _]| display_ssid(&[first, second])),
        mld: capabilities.multi_link.map(|link| link.mld.to_string()),
        beacons: 0,
        signal_dbm: None,
        stations: 0,
        first_seen_us: None,
        last_seen_us: None,
    }
}

/// The band that it was captured in, else the one that its elements are for.
fn band(claim: &ApClaim) -> Option<Band> {
    let heard = claim.frequency_mhz.and_then(Band::from_frequency_mhz);
    heard.or_else(|| match &claim.capabilities {
        c if c.he_operation.is_some_and(|operation| operation.six_ghz.is_some()) => Some(Band::Ghz6),
        c if c.dsss_channel.is_some_and(|channel| channel <= 14) => Some(Band::Ghz2_4),
        c if c.ht_operation.is_some_and(|operation| operation.primary_channel > 14) => Some(Band::Ghz5),
        _ => None,
    })
}

/// Channel width of its network, MHz: the newest operation element that gives one decides.
pub fn width_mhz(c: &Capabilities) -> Option<u16> {
    let ht = c.ht_operation.map(|operation| match operation.secondary_channel() {
        SecondaryChannel::Above | SecondaryChannel::Below if operation.any_width() => 40,
        _ => 20,
    });
    c.eht_operation
        .and_then(|operation| operation.width_mhz())
        .or_else(|| c.he_operation.and_then(|operation| operation.six_ghz_width_mhz()))
        .or_else(|| c.vht_operation.and_then(|operation| operation.width_mhz()))
        .or(ht)
        .or(c.rates.map(|_| 20))
}

fn standards(c: &Capabilities, band: Option<Band>) -> Vec<&'static str> {
    let has_dsss = c.rates.is_some_and(|rates| rates.has_dsss());
    let ofdm = match band {
        Some(Band::Ghz2_4) => "g",
        None if has_dsss => "g", // only in 2.4 GHz are there DSSS rates to claim
        _ => "a",
    };
    let all = [
        ("b", has_dsss),
        (ofdm, c.rates.is_some_and(|rates| rates.has_ofdm())),
        ("n", c.ht.is_some()),
        ("ac", c.vht.is_some()),
        ("ax", c.he.is_some()),
        ("be", c.eht.is_some()),
    ];
    all.into_iter().filter(|(_, is_claimed)| *is_claimed).map(|(name, _)| name).collect()
}

/// How an access point is secured, in the words of the Wi-Fi Alliance.
fn security(claim: &ApClaim) -> Option<String> {
    let c = &claim.capabilities;
    let privacy = claim.info?.privacy();
    // A cut frame may have lost the element; the Privacy bit says that there is something.
    if c.rsn.is_none() && c.wpa.is_none() && (c.truncated || !claim.is_whole) {
        return None;
    }
    let rsn = |test: &dyn Fn(Rsn) -> bool| c.rsn.is_some_and(test);
    let wpa = |test: &dyn Fn(Rsn) -> bool| c.wpa.is_some_and(test);
    let with = |kinds: &'static [u8]| move |rsn: Rsn| kinds.iter().any(|kind| rsn.akm.contains(*kind));
    // 802.1X with SHA-256 is WPA3 where management frames have to be protected, 192 bits always.
    let suite_b = rsn(&with(&[akm::SUITE_B_192]));
    let enterprise_3 = suite_b || rsn(&|rsn| with(&[akm::IEEE802_1X_SHA256, 22, 23])(rsn) && rsn.mfp_required());
    let enterprise_2 = rsn(&|rsn| match rsn.mfp_required() {
        true => with(&[akm::IEEE802_1X, akm::FT_802_1X, 11, 13])(rsn),
        false => with(&[akm::IEEE802_1X, akm::FT_802_1X, akm::IEEE802_1X_SHA256, 11, 13, 22, 23])(rsn),
    });
    let mut parts = Vec::new();
    let mut push = |generations: [(&str, bool); 3], what: &str| {
        let names: Vec<&str> = generations.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        if !names.is_empty() {
            parts.push(format!("{} {what}", names.join("/")));
        }
    };
    push([("WPA", wpa(&Rsn::psk)), ("WPA2", rsn(&Rsn::psk)), ("WPA3", rsn(&Rsn::sae))], "Personal");
    let bits = if suite_b { "Enterprise 192-bit" } else { "Enterprise" };
    push([("WPA", wpa(&Rsn::enterprise)), ("WPA2", enterprise_2), ("WPA3", enterprise_3)], bits);
    parts.extend(rsn(&with(&[14, 15, 16, 17])).then(|| "FILS".to_owned()));
    parts.extend(rsn(&Rsn::owe).then(|| "Enhanced Open (OWE)".to_owned()));
    Some(match (parts.is_empty(), c.rsn.is_some() || c.wpa.is_some()) {
        (false, _) => parts.join(", "),
        (true, true) if c.rsn.is_some_and(|rsn| rsn.truncated) => {
            "encrypted, by an RSN element that cannot be read".to_owned()
        }
        (true, true) => "encrypted, with a key management that is not known here".to_owned(),
        (true, false) if privacy => "WEP".to_owned(),
        (true, false) if c.owe_transition => "open (with an OWE twin)".to_owned(),
        (true, false) => "open".to_owned(),
    })
}

/// Key managements and pairwise ciphers of an RSN or WPA element, by name.
pub fn suites(rsn: Rsn) -> (Vec<String>, Vec<String>) {
    (named(rsn.akm, "", akm::name).collect(), named(rsn.pairwise, "", cipher).collect())
}

/// The names of all suites in a set.
fn named<'a>(
    set: SuiteSet,
    prefix: &'a str,
    name: impl Fn(u8) -> Option<&'static str> + 'a,
) -> impl Iterator<Item = String> + 'a {
    let own = (0..32).filter(move |kind| set.contains(*kind)).map(move |kind| match name(kind) {
        Some(name) => format!("{prefix}{name}"),
        None => format!("{prefix}suite {kind}"),
    });
    own.chain(set.unknown.then(|| format!("{prefix}of a vendor")))
}

/// Cipher suites (IEEE Std 802.11-2020, table 9-149).
fn cipher(kind: u8) -> Option<&'static str> {
    Some(match kind {
        0 => "group cipher",
        1 => "WEP-40",
        2 => "TKIP",
        4 => "CCMP-128",
        5 => "WEP-104",
        7 => "no group traffic",
        8 => "GCMP-128",
        9 => "GCMP-256",
        10 => "CCMP-256",
        _ => return None,
    })
}
