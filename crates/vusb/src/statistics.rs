//! What `--stats` writes: counters of the bus, and of the device.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::chips::{ar6003, mt7610u, rtl8188cus, sd8686};
use crate::fault::FaultCounters;
use crate::functions::ecm::EcmStatistics;
use crate::functions::mbim::MbimStatistics;
use crate::functions::ncm::NcmStatistics;
use crate::functions::qmi_modem::QmiModemStatistics;
use crate::session::UrbCounters;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-vusb-statistics";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 1;

/// Everything that was counted up to a moment.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Always `"txop-vusb-statistics"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 1. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// When that was, by CLOCK_MONOTONIC (/proc/uptime without suspend), ns.
    pub monotonic_ns: u64,
    /// What has to be added to it for the time stamps of the captures, ns.
    pub epoch_ns: i64,
    /// The bus.
    pub urbs: UrbCounters,
    /// The device; `None` when it counts nothing.
    pub device: Option<DeviceStatistics>,
}

/// What a device has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DeviceStatistics {
    /// RTL8188CUS or RTL8723AU.
    Rtl8188cus(Box<rtl8188cus::Statistics>),
    /// RTL8188EU.
    Rtl8188eu(Box<rtl8188cus::EuStatistics>),
    /// MT7610U or MT7601U.
    Mt7610u(Box<mt7610u::Statistics>),
    /// AR6003 or AR6004.
    Ar6003(Box<ar6003::Statistics>),
    /// SD8686.
    Sd8686(Box<sd8686::Statistics>),
    /// NCM function.
    Ncm(Box<NcmStatistics>),
    /// MBIM function.
    Mbim(Box<MbimStatistics>),
    /// ECM function.
    Ecm(Box<EcmStatistics>),
    /// QMI modem.
    QmiModem(Box<QmiModemStatistics>),
}

impl DeviceStatistics {
    /// Adds what the layer around the device has counted.
    pub(crate) fn set_faults(&mut self, faults: Vec<FaultCounters>) {
        let slot = match self {
            Self::Rtl8188cus(chip) => &mut chip.faults,
            Self::Rtl8188eu(chip) => &mut chip.faults,
            Self::Mt7610u(chip) => &mut chip.faults,
            Self::Ar6003(chip) => &mut chip.faults,
            Self::Sd8686(chip) => &mut chip.faults,
            Self::Ncm(function) => &mut function.faults,
            Self::Mbim(function) => &mut function.faults,
            Self::Ecm(function) => &mut function.faults,
            Self::QmiModem(modem) => &mut modem.faults,
        };
        *slot = Some(faults);
    }
}

impl Statistics {
    /// Writes the document, whole or not at all, with its keys in the order of the alphabet.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let sorted = serde_json::to_value(self).map_err(io::Error::other)?;
        let mut text = serde_json::to_string_pretty(&sorted).map_err(io::Error::other)?;
        text.push('\n');
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        std::fs::write(&unfinished, text)?;
        std::fs::rename(&unfinished, path)
    }
}
