//! A modelled TCP: what Linux' does, as far as a bulk transfer shows it.

mod bbr;
mod congestion;
mod cubic;
mod hystart;
mod pacing;
mod process;
mod prr;
mod rack;
mod rate;
mod receiver;
mod reno;
mod rtt;
mod scoreboard;
mod sender;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use receiver::Receiver;
pub(crate) use sender::{Sender, SenderCounts};
pub use settings::{Congestion, TcpSettings};
