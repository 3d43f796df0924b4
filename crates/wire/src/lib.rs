//! Every byte layout txop reads or writes, and its arithmetic; no behaviour.
//!
//! Each module is one format. A format is given as a *view* (a checked slice with one-line accessors) and, where
//! txop needs the meaning rather than the bytes, a plain *representation*. Nothing here keeps state, allocates per
//! frame or knows which tool asks.
//!
//! Values that a standard does not define are data (`Unknown(n)` arms, `Option`), never errors: a capture from next
//! year's hardware must still be readable.

pub mod fcs;
pub mod ieee80211;
pub mod ip;
pub mod linktype;
pub mod pcap;
pub mod pcapng;
pub mod phy;
pub mod radio;
pub mod usb;

mod avs;
mod channel;
mod ppi;
mod prism;
pub mod radiotap;
