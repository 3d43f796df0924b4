//! Devices as a host drives them.

mod bus;
mod chip;
mod functions;
mod host;
