//! The command that sets aggregation by the host.

use std::io;

use clap::Args;
use vusb::functions::tx_aggregation::TxAggregation;

/// It cannot be set.
#[derive(Debug, thiserror::Error)]
#[error("cannot set the aggregation of {interface}: {source}")]
pub struct TxAggregationError {
    /// The interface.
    interface: String,
    /// What the system said.
    source: io::Error,
}

/// Aggregation by the host.
#[derive(Debug, Args)]
pub struct TxAggregationArgs {
    /// The interface.
    pub interface: String,
    /// Bytes of a transfer at most.
    #[arg(long, default_value_t = 16_384)]
    pub bytes: u32,
    /// Datagrams of a transfer at most; 1 turns it off.
    #[arg(long, default_value_t = 16)]
    pub datagrams: u32,
    /// How long a datagram waits for more.
    #[arg(long, value_name = "US", default_value_t = 800)]
    pub hold_us: u32,
}

impl TxAggregationArgs {
    /// Sets it.
    pub fn apply(&self) -> Result<(), TxAggregationError> {
        let limits = TxAggregation { bytes: self.bytes, datagrams: self.datagrams, hold_us: self.hold_us };
        limits.apply(&self.interface).map_err(|source| TxAggregationError { interface: self.interface.clone(), source })
    }
}
