//! The peers that a station exchanged data with: a claim can only be used with a peer that claims it, too.

use hashbrown::HashMap;
use wire::ieee80211::{Capabilities, MacAddr};
use wire::phy::Mode;

use crate::claims::Claims;
use crate::link::{Link, Links};

/// Data MPDUs below which the absence of something says nothing.
pub const MIN_OCCASION: u64 = 50;
/// Frames that contradict a claim, from which on it is reported.
pub const MIN_CONTRADICTION: u64 = 3;

/// Generations of 802.11, oldest first: b, a or g, n, ac, ax, be.
pub const GENERATIONS: usize = 6;

/// The place of a mode's generation in [`GENERATIONS`].
pub fn generation(mode: &Mode) -> Option<usize> {
    match mode {
        Mode::Dsss { .. } => Some(0),
        Mode::Ofdm { .. } => Some(1),
        Mode::Ht(_) => Some(2),
        Mode::Vht(_) => Some(3),
        Mode::He(_) => Some(4),
        Mode::Eht(_) => Some(5),
        Mode::Unknown => None,
    }
}

/// Does a station claim a generation?
pub fn claims_generation(capabilities: &Capabilities, generation: usize) -> bool {
    match generation {
        0 => capabilities.rates.is_some_and(|rates| rates.has_dsss()),
        1 => capabilities.rates.is_some_and(|rates| rates.has_ofdm()),
        2 => capabilities.ht.is_some(),
        3 => capabilities.vht.is_some(),
        4 => capabilities.he.is_some(),
        _ => capabilities.eht.is_some(),
    }
}

/// What was exchanged with one other station.
#[derive(Clone, Debug, Default)]
pub struct Peer<'a> {
    /// What it claims; `None` when no frame with claims was captured.
    pub claimed: Option<&'a Capabilities>,
    /// Unicast data MPDUs sent to it, with a good or unknown FCS; no retries and no EAPOL.
    pub sent: u64,
    /// Those of `sent` by generation, where the capture records it.
    pub sent_by_generation: [u64; GENERATIONS],
    /// Unicast data MPDUs that it sent.
    pub received: u64,
}

/// All peers of a station that it exchanged unicast data with.
#[derive(Clone, Debug, Default)]
pub struct Peers<'a>(pub Vec<Peer<'a>>);

impl Peers<'_> {
    /// Data MPDUs sent to peers that claim what `test` looks for.
    pub fn sent_to(&self, test: impl Fn(&Capabilities) -> bool) -> u64 {
        self.0.iter().filter(|peer| peer.claimed.is_some_and(&test)).map(|peer| peer.sent).sum()
    }

    /// Data MPDUs received from peers that claim what `test` looks for.
    pub fn received_from(&self, test: impl Fn(&Capabilities) -> bool) -> u64 {
        self.0.iter().filter(|peer| peer.claimed.is_some_and(&test)).map(|peer| peer.received).sum()
    }

    /// Data MPDUs of a known generation, sent to peers that claim `generation`: of this or a newer one, and all.
    pub fn in_generation(&self, wanted: usize) -> (u64, u64) {
        let peers = self.0.iter().filter(|peer| peer.claimed.is_some_and(|claimed| claims_generation(claimed, wanted)));
        peers.fold((0, 0), |(used, all), peer| {
            let newer: u64 = peer.sent_by_generation.iter().skip(wanted).sum();
            (used + newer, all + peer.sent_by_generation.iter().sum::<u64>().min(peer.sent))
        })
    }
}

/// The peers of every station.
#[derive(Debug, Default)]
pub struct AllPeers<'a>(HashMap<u64, HashMap<u64, Peer<'a>>>);

impl<'a> AllPeers<'a> {
    /// From the links of a capture.
    pub fn new(links: &'a Links, claims: &'a Claims) -> Self {
        let mut all = Self::default();
        for (_, link) in links.iter().filter(|(_, link)| link.mpdus > 0 && !link.ra.is_group()) {
            let (ta, ra) = (link.ta, link.ra);
            let to = all.peer(ta, ra, claims);
            // Key exchange and retries go at lower rates than data could.
            let mpdus = link.mpdus.saturating_sub(link.mpdu_retries + link.eapol);
            to.sent += mpdus;
            add_generations(link, &mut to.sent_by_generation);
            all.peer(ra, ta, claims).received += mpdus;
        }
        all
    }

    fn peer(&mut self, of: MacAddr, with: MacAddr, claims: &'a Claims) -> &mut Peer<'a> {
        let peers = self.0.entry(of.as_u64()).or_default();
        peers.entry(with.as_u64()).or_insert_with(|| Peer { claimed: claims.any(with), ..Peer::default() })
    }

    /// Those of one station.
    pub fn of(&self, address: MacAddr) -> Peers<'a> {
        Peers(self.0.get(&address.as_u64()).map(|peers| peers.values().cloned().collect()).unwrap_or_default())
    }
}

fn add_generations(link: &Link, counts: &mut [u64; GENERATIONS]) {
    for (place, count) in counts.iter_mut().enumerate() {
        *count += link.rates.frames_that(|mode| generation(mode) == Some(place)).0;
    }
}
