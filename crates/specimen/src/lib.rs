#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]
#![allow(clippy::indexing_slicing, reason = "scenes are its own: stations are indexed with the numbers it gave them")]

mod airtime;
mod census;
mod element;
mod engine;
mod exchange;
mod file;
mod frame;
mod join;
mod ledger;
mod linkheader;
mod medium;
mod originator;
mod preset;
mod recipient;
mod scene;
mod sniffer;
mod stage;
mod truth;

pub use preset::PRESETS;
pub use scene::*;
pub use stage::write;
pub use truth::*;
