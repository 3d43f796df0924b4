#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod agreement;
mod analyzer;
mod class;
mod conclusion;
mod copies;
mod device;
mod device_row;
mod endpoint;
pub mod event;
mod histogram;
mod limits;
mod payload;
mod qmi;
mod rate;
pub mod report;
mod requests;
mod sdio;
mod source;
mod steps_back;
mod totals;
mod traffic;
mod under_way;
mod usbsnoop;
mod verdict;

pub use analyzer::Analyzer;
pub use source::{analyze, analyze_read, Error, Options, Progress};
