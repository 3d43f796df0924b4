#![doc = include_str!("../README.md")]

mod aggregation;
mod analyzer;
mod block_ack;
pub mod calibrate;
pub mod capability;
mod claims;
mod clock;
mod copies;
mod duplicates;
mod exchange;
mod few;
mod flood;
pub mod frame;
mod ghost;
mod hearing;
mod histogram;
mod limits;
mod link;
mod medium;
mod network;
mod pipeline;
mod ppdu;
mod repeats;
pub mod report;
pub mod sentence;
mod series;
mod station;
mod steadiness;
mod summary;
mod table;
mod times;
pub mod usage;
mod verdict;
mod waterfall;

pub use analyzer::{Analyzer, Options};
pub use pipeline::{analyze, analyze_reader, Error, Progress};
