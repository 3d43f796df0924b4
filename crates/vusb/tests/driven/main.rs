//! Devices as a host drives them.

mod agreement;
mod bus;
mod chip;
mod functions;
mod host;
