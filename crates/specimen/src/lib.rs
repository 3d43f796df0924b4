#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

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
