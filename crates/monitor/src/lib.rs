//! What perfect monitors of a link would have captured: the air as radiotap frames, the bus as usbmon records.
//!
//! [`AirCapture`] takes the PPDUs and [`UsbCapture`] the URBs that a link shows to its sink, and writes pcapng to any
//! writer: a `Vec`, a file, or a [`Spool`], which writes its file on a thread of its own and never makes the link wait.
//! The description of the interface says who made the capture ([`Origin`]), so the analyzers can tell it from a real one.
//!
//! Collided PPDUs are not in a capture: no receiver can decode them.

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
