//! What those on the air with a chip count.

use serde::Serialize;

/// What was relayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelayCounters {
    /// Frames from the kernel.
    pub from_kernel: u64,
    /// Frames to the kernel.
    pub to_kernel: u64,
    /// Frames of the kernel that were acknowledged.
    pub acknowledged: u64,
    /// Frames of the kernel given up after their last retry.
    pub given_up: u64,
    /// Frames that the kernel did not take.
    pub refused: u64,
    /// Frames from the kernel dropped because too many waited.
    pub dropped: u64,
}

/// What the built-in access point has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApCounters {
    /// Frames from the TAP device for the station.
    pub from_wire: u64,
    /// Frames from the station to the TAP device.
    pub to_wire: u64,
    /// Bytes of them.
    pub from_wire_bytes: u64,
    /// See `from_wire_bytes`.
    pub to_wire_bytes: u64,
    /// Frames that the TAP device did not take.
    pub refused: u64,
    /// Frames given up after their last retry.
    pub given_up: u64,
    /// Frames dropped because too many waited.
    pub dropped: u64,
    /// Beacons.
    pub beacons: u64,
    /// Associations and reassociations that it granted.
    pub associations: u64,
    /// A-MSDUs sent.
    pub amsdus_sent: u64,
    /// A-MSDUs received.
    pub amsdus_received: u64,
    /// MPDUs received twice.
    pub duplicates: u64,
    /// Times that the station fell asleep.
    pub sleeps: u64,
    /// Frames that were kept for a sleeping station.
    pub kept: u64,
    /// PS-Poll frames.
    pub ps_polls: u64,
    /// Block Acks that a script kept back, or made late.
    pub block_acks_withheld: u64,
}

/// An event of the script of an access point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCounters {
    /// Its name in the script.
    pub name: String,
    /// How often it happened.
    pub happened: u64,
}

/// No peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoPeers {
    /// Always `none`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "none")))]
    pub kind: &'static str,
}

/// A radio of mac80211_hwsim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RadioStatistics {
    /// Frames that went to and from the kernel.
    pub relay: RelayCounters,
    /// Frames that wait.
    pub waiting: usize,
}

/// The access point that hostapd is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostapdStatistics {
    /// Always `hostapd`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "hostapd")))]
    pub kind: &'static str,
    /// Frames that went to and from the kernel.
    pub relay: RelayCounters,
    /// Frames that wait.
    pub waiting: usize,
}

/// Stations of a chip that is an access point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StationsStatistics {
    /// Always `stations`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "stations")))]
    pub kind: &'static str,
    /// One after the other.
    pub stations: Vec<RadioStatistics>,
}

/// Several access points, each of a hostapd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessPointsStatistics {
    /// Always `access-points`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "access-points")))]
    pub kind: &'static str,
    /// One after the other.
    pub access_points: Vec<RadioStatistics>,
}

/// The built-in access point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuiltinStatistics {
    /// Always `builtin`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "builtin")))]
    pub kind: &'static str,
    /// What it did.
    pub wire: ApCounters,
    /// A station is associated.
    pub associated: bool,
    /// Where its network is now.
    pub channel: u8,
    /// Events of its script.
    pub script: Vec<EventCounters>,
}

/// What those on the air with a chip have counted, by `kind`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PeerStatistics {
    /// There is no peer.
    None(NoPeers),
    /// hostapd.
    Hostapd(HostapdStatistics),
    /// Stations.
    Stations(StationsStatistics),
    /// Several access points.
    AccessPoints(AccessPointsStatistics),
    /// The built-in access point.
    Builtin(BuiltinStatistics),
}

impl Default for PeerStatistics {
    fn default() -> Self {
        Self::None(NoPeers { kind: "none" })
    }
}
