//! Virtual network functions: what carries datagrams over USB without a radio of its own that the driver could see.

mod block_counters;
mod block_limits;
mod blocks;
mod channels;
mod downlink;
pub mod ecm;
mod histogram;
pub mod mbim;
pub mod ncm;
pub mod options;
mod outbox;
pub mod qmi_modem;
mod range;
pub mod tx_aggregation;

pub use block_counters::{BlockCounters, BlockDirection, BlockFormat};
pub use downlink::Aggregation;
pub use range::SettingsError;
