#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod air;
mod collision;
#[cfg(feature = "link")]
mod link_air;
mod on_air;
mod output;
mod sdio;
mod settings;
mod spool;
mod usb;

pub use air::{AirRecorder, AirState};
#[cfg(feature = "link")]
pub use link_air::{address, AirCapture, Network};
pub use on_air::OnAir;
pub use output::OutputState;
pub use sdio::SdioCapture;
pub use settings::{CaptureSettings, CaptureStatus, Collisions, Origin};
pub use spool::Spool;
pub use usb::UsbCapture;
