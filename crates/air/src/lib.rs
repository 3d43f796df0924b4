//! What an 802.11 capture says: stations, exchanges, Block Ack, ghosts, airtime, and where the goodput went.
//!
//! Two stages run side by side. The first reads records, decodes each into a fixed-size [`frame::Frame`] and counts the
//! networks; the second, [`Analyzer`], walks through the frames in order and keeps counters of bounded size. Before the
//! second stage starts, the time stamps of the first frames are calibrated ([`calibrate`]), because what a driver
//! stamps is not what the standard says. The result is one [`report::Report`].

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
