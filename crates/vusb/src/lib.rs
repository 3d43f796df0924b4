#![doc = include_str!("../README.md")]

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
