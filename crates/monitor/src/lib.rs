#![doc = include_str!("../README.md")]

mod air;
mod beacon;
mod frame;
mod network;
mod output;
mod settings;
mod spool;
mod usb;

pub use air::AirCapture;
pub use network::{address, Network};
pub use settings::{CaptureSettings, CaptureStatus, Origin};
pub use spool::Spool;
pub use usb::UsbCapture;
