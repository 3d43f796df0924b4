//! Virtual USB devices that unmodified Linux drivers drive.
//!
//! ```text
//! driver -> usbcore -> vhci-hcd -> socket -> Session -> [trace::Traced] -> [fault::Faulty] -> Device (chips::*) -> air::Medium -> ap::*
//!                                                                                          (functions::*) -> network interface
//! ```
//!
//! [`session::Session`] speaks USB/IP and does what a bus and a host controller do: packets, queues, stalls, babble.
//! A [`device::Device`] answers transactions. Neither does input or output or has a clock: [`serve`] brings bytes and
//! time to both. The same bytes at the same times with the same seed give the same answers.

pub mod air;
pub mod ap;
pub mod chips;
pub mod device;
pub mod fault;
pub mod functions;
pub mod record;
pub mod serve;
pub mod session;
mod small_file;
pub mod trace;
