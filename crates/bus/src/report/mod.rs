//! The result of an analysis: plain data, serialised as version 1 of the `txop-bus` JSON format.
//!
//! Rules that hold everywhere: `None` (JSON `null`) means *not available*, never zero, and [`Summary::limits`] says why;
//! every share has its numerator and denominator beside it; times are µs since the first record unless the name says
//! otherwise; shares are fractions of one. A "transfer request" is a URB (Linux) or an IRP (Windows).

mod device;
mod endpoint;
mod modem;
mod sdio;
mod spread;
mod summary;
mod traffic;
mod verdict;

pub use capture::report::DamageNote;
use serde::Serialize;

pub use device::{Device, Interface, Request, DEFAULT_ADDRESS};
pub use endpoint::{Endpoint, Gap, RateBin, StatusCount};
pub use modem::{AgreedDirection, DataFormat, QmiMessage};
pub use sdio::{Sdio, SdioPackets, SdioRegister};
pub use spread::{Bar, Spread};
pub use summary::{Limit, LinkTypeCount, Summary};
pub use traffic::Traffic;
pub use verdict::Verdict;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-bus";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 1;

/// Everything `txop bus` knows about one capture.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Always `"txop-bus"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 1. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// Program and version that wrote this.
    pub tool: String,
    /// Where the figures come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` for a capture that says that txop made it,
    /// `imported` for any other.
    pub origin: String,
    /// The file as named by the caller.
    pub path: String,
    /// Records (or lines) that are USB transfer requests, or of a command log of an SDIO bus.
    pub records: u64,
    /// What the capture is, and what it cannot show.
    pub summary: Summary,
    /// What it means, in words; the most important first.
    pub verdicts: Vec<Verdict>,
    /// Devices, the busiest first.
    pub devices: Vec<Device>,
    /// Per endpoint and direction, in the order of the devices.
    pub endpoints: Vec<Endpoint>,
    /// What the transfers carry, per endpoint, direction and framing.
    pub traffic: Vec<Traffic>,
    /// Control requests, the most frequent first.
    pub requests: Vec<Request>,
    /// QMI messages of modems, the most frequent first, of the whole capture.
    pub qmi_messages: Vec<QmiMessage>,
    /// Data formats that hosts and modems agreed on, in order, of the whole capture; counts of transfers are of the window.
    pub data_formats: Vec<DataFormat>,
    /// The commands of an SDIO bus; `None`: the capture is not a command log of one, or the document is an older one.
    #[serde(default)] // older documents lack it
    pub sdio: Option<Sdio>,
}
