#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

pub mod btf;
pub mod dhcp;
pub mod fcs;
pub mod ieee80211;
pub mod internet_checksum;
pub mod ip;
pub mod linktype;
pub mod pcap;
pub mod pcapng;
pub mod phy;
pub mod radio;
pub mod sdio;
pub mod usb;

mod access_category;
mod avs;
mod channel;
mod ppi;
mod prism;
mod radio_info;
pub mod radiotap;

pub use access_category::AccessCategory;
