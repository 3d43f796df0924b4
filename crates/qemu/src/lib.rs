#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod abi;
pub mod clock;
pub mod config;
pub mod lab;
pub mod request;
