//! Devices as a host drives them.

mod bus;
mod chip;
mod chip_blocks;
mod functions;
mod host;
mod trace;
