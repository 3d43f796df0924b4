//! What a USB capture says: transfers per endpoint, devices, what they carry and how well it is aggregated.
//!
//! Records of usbmon (binary and text), USBPcap and UsbSnoop become [`event::Event`]s; one [`Analyzer`] walks through
//! them in order and keeps counters of bounded size. The result is one [`report::Report`].

mod analyzer;
mod class;
mod device;
mod endpoint;
pub mod event;
mod histogram;
mod limits;
mod payload;
mod rate;
pub mod report;
mod requests;
mod source;
mod traffic;
mod usbsnoop;
mod verdict;

pub use analyzer::Analyzer;
pub use source::{analyze, analyze_read, Error, Options, Progress};
