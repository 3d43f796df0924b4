//! Devices as a host drives them.

mod bus;
mod chip;
mod faults;
mod functions;
mod host;
