//! What the firmware is about: a scan, a network that is joined.

use wire::ieee80211::MacAddr;
use wire::phy::RateSet;
use wire::sdio::libertas::{Associate, Header, ScanChannel};

use crate::air::Tuned;

/// How far joining is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Join {
    Idle,
    /// An authentication is under way: when it is asked for again, and how often it was.
    Authenticating(u64, u8),
    /// An association is.
    Associating(u64, u8),
    Connected,
}

impl Join {
    /// The host waits for how it ends.
    pub(super) const fn is_under_way(self) -> bool {
        matches!(self, Self::Authenticating(..) | Self::Associating(..))
    }
}

/// The network that is joined, or is being joined.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Network {
    /// The command that joining answers.
    pub(super) header: Header,
    pub(super) asked: Associate,
    pub(super) basic: Option<RateSet>,
}

/// A scan under way.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Scan {
    /// The command that it answers.
    pub(super) header: Header,
    pub(super) ssid: Vec<u8>,
    pub(super) channels: Vec<(Tuned, ScanChannel)>,
    pub(super) at: usize,
    /// When it leaves the channel.
    pub(super) until_ns: u64,
    pub(super) heard: Vec<HeardNetwork>,
}

/// A network that was heard.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct HeardNetwork {
    pub(super) bssid: MacAddr,
    pub(super) signal_dbm: i8,
    pub(super) body: Vec<u8>,
}

impl Scan {
    /// The channel that it listens to.
    pub(super) fn tuned(&self) -> Option<Tuned> {
        self.channels.get(self.at).map(|(tuned, _)| *tuned)
    }
}
