//! Virtual network functions: what carries datagrams over USB without a radio of its own that the driver could see.

mod descriptors;
mod downlink;
mod histogram;
pub mod ncm;
pub mod qmi_modem;
mod range;
pub mod tx_aggregation;
pub mod wired;

pub use downlink::Aggregation;
pub use range::SettingsError;
