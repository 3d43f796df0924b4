//! 802.11 data frames in the clear, for whoever has the keys of the network.
//!
//! [`Keys`] are read from a key file. [`Sessions`] follows the four-way and group key handshakes of a capture, derives the
//! keys of every pair of stations from them, proves each by a MIC, and decrypts: CCMP and GCMP with keys of 128 and 256 bits.
//! TKIP, WEP, fast transition (11r) and FILS are told, not decrypted. Nothing here does I/O, every table is bounded, and no key is ever
//! part of an error or of what `Debug` prints.

mod derive;
mod key_file;
mod pair;
mod protect;
mod sessions;
#[cfg(test)]
mod staged;

pub use derive::Akm;
pub use key_file::{KeyFileError, Keys, Problem};
pub use pair::{Pair, State};
pub use sessions::{Counts, Sessions, Undecrypted};
