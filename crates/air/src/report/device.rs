//! Multi-link devices.

use serde::Serialize;

use super::RetryCount;
use sentence::Sentence;

/// Stations that are links of one device by what they say themselves (IEEE 802.11be: multi-link device, MLD). What each link does
/// is in `stations` and `links`, under its own address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiLinkDevice {
    /// Address of the device.
    pub mld: String,
    /// `ap` or `station`.
    pub kind: &'static str,
    /// Its links, those with most frames first.
    pub links: Vec<DeviceLink>,
    /// Links of which frames were captured.
    pub links_captured: u64,
    /// Frames of all links.
    pub frames_sent: u64,
    /// Data frames (not Null) of all links.
    pub data_frames_sent: u64,
    /// MPDU bytes of all links.
    pub bytes_sent: u64,
    /// Unicast data MPDUs of all links, and the retries among them.
    pub mpdu_retry: RetryCount,
    /// Airtime of all links together, µs: on several channels they send at the same time. Null where that of a link is not
    /// available.
    pub airtime_us: Option<f64>,
}

/// One link of a multi-link device.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLink {
    /// Its address, under which it is in `stations`.
    pub address: String,
    /// Its number in the device, where a frame states it.
    pub link_id: Option<u8>,
    /// Its primary channel, where it or its access point names one.
    pub channel: Option<u16>,
    /// Frames with a Multi-Link element that this address sent itself; beacons that repeat the last one count once.
    pub own_claims: u64,
    /// Frames in which another link of the device names it, likewise: profiles of the Multi-Link element, neighbour reports.
    pub named_by_others: u64,
    /// Frames sent.
    pub frames_sent: u64,
    /// Unicast data MPDUs, and the retries among them.
    pub mpdu_retry: RetryCount,
    /// Airtime of what it sent, µs; null where it is not available.
    pub airtime_us: Option<f64>,
}

/// An address that is claimed for more than one multi-link device: it is in none of them.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnclearLink {
    /// The address.
    pub address: String,
    /// The devices that it is claimed for: all of them, or four where there are more, and `text` says "at least".
    pub mlds: Vec<String>,
    /// Why it can't be determined.
    pub text: Sentence,
}
