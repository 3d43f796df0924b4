#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod counts;
mod derive;
mod key_file;
mod pair;
mod protect;
mod sessions;
#[cfg(test)]
mod staged;
mod stream;
mod wep;

pub use counts::{Counts, Undecrypted};
pub use derive::Akm;
pub use key_file::{KeyFileError, Keys, Problem};
pub use pair::{Pair, State};
pub use sessions::Sessions;
