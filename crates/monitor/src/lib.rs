#![doc = include_str!("../README.md")]

mod air;
#[cfg(feature = "link")]
mod link_air;
mod output;
mod settings;
mod spool;
mod usb;

pub use air::{AirRecorder, OnAir};
#[cfg(feature = "link")]
pub use link_air::{address, AirCapture, Network};
pub use settings::{CaptureSettings, CaptureStatus, Origin};
pub use spool::Spool;
pub use usb::UsbCapture;
