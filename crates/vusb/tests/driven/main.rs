//! Devices as a host drives them.

mod access_point;
mod agreement;
mod airtime_bound;
mod bus;
mod chip;
mod chip_blocks;
mod faults;
mod functions;
mod host;
mod idle;
mod mbim;
mod modem_control;
mod mt7601u;
mod mt7921u;
mod rtl8188eu;
mod rtl8822bu;
mod trace;
