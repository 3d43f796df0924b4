#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

pub mod air;
pub mod chips;
pub mod device;
pub mod fault;
pub mod functions;
pub mod peers;
pub mod record;
pub mod serve;
pub mod session;
mod small_file;
pub mod statistics;
pub mod trace;
pub mod ushc;
pub mod wired;
