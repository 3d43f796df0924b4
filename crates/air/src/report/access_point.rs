//! Access points with their security.

use serde::Serialize;

use super::Spread;

/// Something that sends beacons or probe responses, as its latest ones describe it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessPoint {
    /// BSSID.
    pub bssid: String,
    /// `ap`, or what else sends beacons: `ibss`, `mesh`; `None` when the frame that says so was cut.
    pub kind: Option<&'static str>,
    /// The names it gave (8 at most), made safe for display; empty when no frame names it.
    pub ssids: Vec<String>,
    /// Its latest beacon names no SSID; `None` without a beacon.
    pub hidden: Option<bool>,
    /// Primary channel that its elements name, else the one that the receiver was tuned to.
    pub channel: Option<u16>,
    /// Centre of the primary channel, MHz: of the channel named, in the band that the receiver was in.
    pub frequency_mhz: Option<u16>,
    /// Channel width by its operation elements, MHz; 80+80 MHz are 160. 20 for one without such elements.
    pub width_mhz: Option<u16>,
    /// The part of it that its EHT Operation element says is punctured (not used), MHz; null where no element says.
    #[serde(default)] // older documents lack it
    pub punctured_mhz: Option<u16>,
    /// Amendments to 802.11 that its rates and capability elements claim: `b`, `a` or `g`, `n`, `ac`, `ax`, `be`.
    pub standards: Vec<&'static str>,
    /// How it is secured, in words: `open`, `WEP`, `WPA2 Personal`, `WPA2/WPA3 Personal`, ...; `None` when the elements
    /// that say so were not captured.
    pub security: Option<String>,
    /// Key management suites of its RSN element, then those of its WPA element.
    pub key_managements: Vec<String>,
    /// Pairwise ciphers of both elements.
    pub pairwise_ciphers: Vec<String>,
    /// Group ciphers of both elements.
    pub group_ciphers: Vec<String>,
    /// Protected Management Frames: `required`, `capable`, `no`; `None` without an RSN element.
    pub pmf: Option<&'static str>,
    /// It offers WPS.
    pub wps: bool,
    /// Country, made safe for display.
    pub country: Option<String>,
    /// Address of the multi-link device that it is a link of.
    pub mld: Option<String>,
    /// Beacons with a good or unknown FCS.
    pub beacons: u64,
    /// Signal of its frames, dBm.
    pub signal_dbm: Option<Spread>,
    /// Stations that it exchanged unicast data frames with; ghosts are not counted.
    pub stations: u64,
    /// First frame it sent, µs since the start of the capture.
    pub first_seen_us: Option<f64>,
    /// Last frame it sent, µs since the start of the capture.
    pub last_seen_us: Option<f64>,
}
