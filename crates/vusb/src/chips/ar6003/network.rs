//! Networks as the firmware knows them: what was heard, what is joined, and how far a scan or joining is.

use wire::ieee80211::{CapabilityInfo, MacAddr};
use wire::phy::RateSet;

use crate::air::Tuned;

/// A scan under way.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Scan {
    pub(super) channels: Vec<Tuned>,
    pub(super) at: usize,
    /// When it leaves the channel.
    pub(super) until_ns: u64,
    /// The host has asked for it, and is notified of its end; else the firmware has, to join.
    pub(super) for_host: bool,
    /// What was reported: the network, and whether a probe response.
    pub(super) reported: Vec<(MacAddr, bool)>,
}

impl Scan {
    /// The channel that it listens to.
    pub(super) fn tuned(&self) -> Option<Tuned> {
        self.channels.get(self.at).copied()
    }
}

/// A network that was heard.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Seen {
    pub(super) bssid: MacAddr,
    pub(super) ssid: Vec<u8>,
    pub(super) tuned: Tuned,
    pub(super) signal_dbm: i8,
    pub(super) interval_tu: u16,
    pub(super) capability: CapabilityInfo,
    pub(super) basic_rates: Vec<u8>,
    pub(super) ht: bool,
    pub(super) wmm: bool,
}

/// How far joining is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Join {
    Idle,
    /// The network is looked for.
    Searching,
    /// An authentication is under way: when it is asked for again, and how often it was.
    Authenticating(u64, u8),
    /// An association is.
    Associating(u64, u8),
    Connected,
}

/// The network that is joined, or is being joined.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Network {
    pub(super) bssid: MacAddr,
    pub(super) frequency_mhz: u16,
    pub(super) interval_tu: u16,
    pub(super) qos: bool,
    pub(super) basic: Option<RateSet>,
    pub(super) capability: CapabilityInfo,
    pub(super) ht: bool,
    /// Body of the association request, which the host is given.
    pub(super) request: Vec<u8>,
}

impl Network {
    pub(super) fn of(seen: &Seen) -> Self {
        Self {
            bssid: seen.bssid,
            frequency_mhz: seen.tuned.frequency_mhz,
            interval_tu: seen.interval_tu,
            qos: seen.wmm,
            basic: Some(RateSet::basic_of(&seen.basic_rates)).filter(|set| !set.is_empty()),
            capability: seen.capability,
            ht: seen.ht && seen.wmm,
            request: Vec::new(),
        }
    }
}
