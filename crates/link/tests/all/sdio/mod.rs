//! The SDIO link: what holds always, and what was measured on a Neo FreeRunner.

mod flow;
mod invariants;
mod reference;
