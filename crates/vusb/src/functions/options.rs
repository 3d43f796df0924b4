//! Options of the command line that several network functions have.

use clap::Args;

use super::block_limits::BLOCK_BYTES;
use super::{Aggregation, SettingsError};
use crate::entry::Options;
use crate::machine::Machine;
use crate::making::MakeError;
use crate::wired::{Carries, Wired};

/// The wired end of all functions.
pub const WIRED: Options = Options::of::<WiredOptions>("wired");
/// Transfers to the host.
pub const AGGREGATION: Options = Options::of::<AggregationOptions>("aggregation");
/// Blocks.
pub const BLOCKS: Options = Options::of::<BlockOptions>("blocks");

/// The wired end.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
pub struct WiredOptions {
    /// Name of the network interface at the other end (TAP for ncm and ecm, TUN for mbim and qmi-modem).
    #[arg(long, value_name = "NAME", default_value = "wired0")]
    pub wired: String,
}

/// Transfers to the host.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
pub struct AggregationOptions {
    /// Datagrams of a transfer to the host, at most [default: ncm and mbim 40, qmi-modem 32].
    #[arg(long, value_name = "N")]
    pub aggregate_datagrams: Option<usize>,
    /// Bytes of a transfer to the host, at most [default: ncm and mbim 16384, qmi-modem 15872].
    #[arg(long, value_name = "BYTES")]
    pub aggregate_bytes: Option<usize>,
    /// How long a datagram for the host waits for more [default: ncm and mbim 0, qmi-modem 1000].
    #[arg(long, value_name = "US")]
    pub hold_us: Option<u64>,
}

/// Blocks of NCM and MBIM.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
pub struct BlockOptions {
    /// ncm, mbim: offer 32-bit blocks.
    #[arg(long)]
    pub ntb32: bool,
    /// ncm, mbim: dwNtbInMaxSize.
    #[arg(long, value_name = "BYTES", default_value_t = BLOCK_BYTES)]
    pub ntb_in_max: u32,
    /// ncm, mbim: dwNtbOutMaxSize.
    #[arg(long, value_name = "BYTES", default_value_t = BLOCK_BYTES)]
    pub ntb_out_max: u32,
    /// ncm, mbim: wNtbOutMaxDatagrams; 0 is unlimited.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ntb_out_datagrams: u16,
}

impl WiredOptions {
    /// Makes it.
    ///
    /// # Errors
    /// The interface cannot be made.
    pub fn create(&self, machine: &Machine, carries: Carries) -> Result<Box<dyn Wired>, MakeError> {
        machine.interface(&self.wired, carries).map_err(|source| MakeError::Wired { name: self.wired.clone(), source })
    }
}

impl AggregationOptions {
    /// What they make of a function's own.
    pub fn over(&self, default: Aggregation) -> Aggregation {
        Aggregation {
            datagrams: self.aggregate_datagrams.unwrap_or(default.datagrams),
            bytes: self.aggregate_bytes.unwrap_or(default.bytes),
            hold_ns: self.hold_us.map_or(default.hold_ns, |us| us.saturating_mul(1_000)),
        }
    }
}

impl From<SettingsError> for MakeError {
    fn from(error: SettingsError) -> Self {
        Self::Setting(error.to_string())
    }
}
