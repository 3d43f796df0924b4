#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod access_point;
mod aggregation;
mod allocations;
mod analyzer;
mod block_ack;
mod block_ack_log;
pub mod calibrate;
pub mod capability;
mod ciphers;
mod claims;
mod clock;
mod copies;
pub mod decode;
mod decryption;
mod devices;
mod duplicates;
mod eapol;
mod elsewhere;
mod events;
mod exchange;
mod exchange_stats;
mod few;
mod flood;
pub mod frame;
mod ghost;
mod handed_over;
mod hearing;
mod histogram;
mod limits;
mod link;
mod medium;
mod micros;
mod multi_user;
mod network;
mod packet;
mod pipeline;
mod ppdu;
mod rate_timeline;
mod repeats;
pub mod report;
mod selection;
mod series;
mod station;
mod steadiness;
mod summary;
mod table;
mod times;
mod traffic;
pub mod usage;
mod verdict;
mod waterfall;

pub use analyzer::{Analyzer, Options};
pub use pipeline::{analyze, analyze_reader, Error, Progress};
pub use selection::{Channel, Selection};
