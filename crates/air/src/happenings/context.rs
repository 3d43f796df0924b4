//! What the sentences need beside what was counted for them: names, links, stations.

use wire::ieee80211::MacAddr;

use crate::claims::Claims;
use crate::link::Links;
use crate::station::Stations;

/// What else is known when the report is made.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub claims: &'a Claims,
    pub links: &'a Links,
    pub stations: &'a Stations,
    /// Damage does not go unnoticed.
    pub fcs_known: bool,
}

impl Context<'_> {
    /// An access point, with the name of its network where it gives one.
    pub fn network(&self, ap: MacAddr) -> String {
        match self.claims.ssid(ap) {
            Some(ssid) => format!("{ap} (SSID \"{ssid}\")"),
            None => ap.to_string(),
        }
    }

    /// Its network is known to have no handshake: it is open, or has WEP. An association is all there is to joining it.
    pub fn has_no_handshake(&self, ap: MacAddr) -> bool {
        self.claims.ap(ap).is_some_and(|claim| {
            let capabilities = &claim.capabilities;
            claim.is_whole && capabilities.rsn.is_none() && capabilities.wpa.is_none()
        })
    }

    /// Of two addresses that of an access point, else the first.
    pub fn network_address(&self, one: MacAddr, other: MacAddr) -> MacAddr {
        match self.claims.ap(one).is_none() && self.claims.ap(other).is_some() {
            true => other,
            false => one,
        }
    }

    /// Data and Null frames from one address to another.
    pub fn data_frames(&self, ta: MacAddr, ra: MacAddr) -> u64 {
        self.links.by_key(&(ta.as_u64(), ra.as_u64())).map_or(0, |link| link.data + link.nulls)
    }

    /// Null frames from one address to another.
    pub fn null_frames(&self, ta: MacAddr, ra: MacAddr) -> u64 {
        self.links.by_key(&(ta.as_u64(), ra.as_u64())).map_or(0, |link| link.nulls)
    }

    /// All that an address sends are the frames of which a flood is made.
    pub fn does_nothing_else(&self, address: MacAddr) -> bool {
        let station = self.stations.table.by_key(&address.as_u64());
        station.is_none_or(|station| {
            let usage = &station.usage;
            station.sent <= usage.authentications + usage.associations
        })
    }
}

/// A single station has such an address: no group address, and not all zeros.
pub fn named(address: MacAddr) -> bool {
    !address.is_group() && address != MacAddr::ZERO
}

/// Marks of a flood in words, behind a comma.
pub fn words(marks: &[&'static str]) -> String {
    marks
        .iter()
        .map(|mark| match *mark {
            "sent-by-this-machine" => ", sent by the capturing machine itself",
            "same-sequence-numbers" => ", with equal sequence numbers",
            "own-addressee" => ", in part addressed to their own transmitter",
            "group-sources" => ", in part with a group address as transmitter",
            "one-sequence-counter" => ", with the sequence numbers of one transmitter",
            "same-timestamps" => ", with time stamps near zero",
            _ => ", of senders that do nothing else",
        })
        .collect()
}
