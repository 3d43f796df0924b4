//! Radiotap (radiotap.org), the header that Linux, the BSDs and macOS put before a captured 802.11 frame.
//!
//! A version, a length, a chain of 32-bit presence words, then the fields that the words announce, little-endian,
//! in bit order, each aligned to its natural boundary *counted from the start of the header*. The length says
//! where the 802.11 frame begins, so a header with unknown or cut-off fields still yields the frame: decoding
//! stops at the first thing it cannot size, and what was read before it stays valid.

mod bytes;
mod emit;
mod fields;
mod he_mu;
mod memo;
mod modulation;
mod walk;

pub use emit::Reception;
pub use he_mu::{HeMu, HE_MU_BYTES};
pub(crate) use memo::Memo;
pub(crate) use modulation::legacy;
pub(crate) use walk::decode;
