#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]
#![allow(
    clippy::indexing_slicing,
    reason = "in the hottest loops: places in rings by sequence number, rate numbers that it gave out, and numbers of functions, which callers keep below the count that they made"
)]

mod access;
mod block_ack;
mod contention;
mod error_rate;
mod exchange;
mod rates;

pub use access::{Access, Collider, Spaces, Unanswered};
pub use block_ack::{Arrival, Reorder, Scoreboard, WINDOW};
pub use contention::Parameters;
pub use error_rate::ErrorRates;
pub use exchange::{mpdu_end_ns, Plan, Protection, Response, Slice, Timeline};
pub use rates::{Rate, RateId, Rates};
