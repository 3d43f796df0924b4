#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

pub mod air;
pub mod assembly;
pub mod chips;
mod descriptors;
pub mod device;
pub mod entry;
pub mod fault;
pub mod functions;
pub mod machine;
pub mod making;
pub mod options;
pub mod pci;
pub mod peers;
pub mod record;
pub mod registry;
pub mod replies;
pub mod serve;
pub mod session;
mod small_file;
pub mod state;
pub mod statistics;
pub mod trace;
pub mod urbs;
pub mod ushc;
pub mod wired;
#[cfg(feature = "schema")]
mod with_faults;
