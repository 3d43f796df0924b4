//! The commands of SDIO cards and what cards answer (SDIO Simplified Specification 3.00, part E1).
//!
//! | module | format | clause |
//! | --- | --- | --- |
//! | [`command`] | arguments of CMD52 and CMD53, responses R4, R5 and R6 | 3.3, 4.9, 5.1, 5.3 |
//! | [`tuple`](mod@tuple) | the Card Information Structure | 16 |
//! | [`registers`] | CCCR and FBR | 6.9, 6.10 |
//! | [`clocks`] | time on the bus | SD Physical Layer 3.0 |
//! | [`slot`] | between a virtual host controller in the kernel and its card | python/txop/guest_image/virtual_mmc_host |
//! | [`log`] | a command log | docs/virtual-sdio.md |
//! | [`htc`], [`wmi`], [`bmi`] | what Atheros' chips put into a mailbox | Linux drivers/net/wireless/ath/ath6kl |
//! | [`libertas`] | what goes through the port of Marvell's | Linux drivers/net/wireless/marvell/libertas |

pub mod bmi;
pub mod clocks;
pub mod command;
pub mod htc;
pub mod libertas;
pub mod log;
pub mod registers;
pub mod slot;
pub mod tuple;
pub mod wmi;

pub use command::{number, Direct, Extended, OperatingConditions, Response5};

/// A little-endian half word of a message.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

/// A little-endian word of a message.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
