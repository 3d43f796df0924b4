//! Command logs of SDIO buses ([`wire::sdio::log`]): what the commands were, how long they took, and how many of them a packet
//! costs.

mod card;
mod figures;
mod htc;
mod limits;
mod port;
mod registers;
mod verdict;

pub(crate) use figures::Commands;
pub(crate) use limits::limits;
pub(crate) use verdict::verdicts;
