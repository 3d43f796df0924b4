//! What stations claim and what they were seen to use.

use serde::Serialize;

use sentence::Sentence;

/// Claims and use of one station.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapabilityAudit {
    /// MAC address.
    pub address: String,
    /// `ap`, `station`, or what else sends beacons: `ibss`, `mesh`.
    pub role: &'static str,
    /// The SSID it announces or asked to join, made safe for display.
    pub ssid: Option<String>,
    /// Where the claims come from: `beacon or probe response`, `association request`, `probe request`; `None` when no
    /// such frame was captured.
    pub claimed_in: Option<&'static str>,
    /// Frames it sent that are not known to be damaged.
    pub frames: u64,
    /// One per capability.
    pub rows: Vec<CapabilityRow>,
}

/// One capability of one station.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapabilityRow {
    /// In the words of a Wi-Fi Alliance certificate.
    pub capability: String,
    /// Whether it is claimed.
    pub claimed: Claim,
    /// What exactly is claimed, or why it is not available.
    pub claimed_detail: Option<String>,
    /// Frames that used it; `None` when this capture does not show it.
    pub seen: Option<u64>,
    /// Numerator and denominator in words, or why the capture does not show it.
    pub seen_detail: Option<String>,
    /// What a reader should notice: a claim that was not used although there was an occasion, or a use without a claim.
    pub note: Option<Sentence>,
    /// What `seen` and `note` rest on.
    #[serde(skip)]
    pub basis: Basis,
}

/// What a figure of frames rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// MAC headers and frame bodies.
    Mac,
    /// The modulation that the radio header gives, which can be false.
    Radio,
}

/// Whether a capability is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Its frames say so.
    Yes,
    /// Its frames say the contrary, or leave out the element that would say so.
    No,
    /// No frame with such a claim was captured, or no element can make it.
    NotAvailable,
}

impl From<bool> for Claim {
    fn from(claimed: bool) -> Self {
        match claimed {
            true => Self::Yes,
            false => Self::No,
        }
    }
}
