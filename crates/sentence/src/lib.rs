#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod figure;
mod sentence;

pub use figure::{counted, grouped, one_or, percent, Figure};
pub use sentence::Sentence;
