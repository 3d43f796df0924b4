#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod card;
mod counters;
mod function;
mod registers;

pub use card::{Answer, Card, Command};
pub use counters::CardCounters;
pub use function::{BusAbility, CardIdentity, Function};
