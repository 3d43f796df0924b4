//! A machine with an LTE USB modem: host driver, USB, the modem's processor, the cell.
//!
//! Host 1 is the machine, host 0 a server behind the cell.
//!
//! ```text
//! host 1 -> [aggregation] -> [FIFO] -> OUT URBs -> bus -> modem's processor -> [radio buffer] -> grant, delay -> host 0
//!           (rmnet, qmi_wwan)   \-> [cdc_ncm]             one URB at a time
//! host 1 <- host CPU <- bus <- IN URBs <- [aggregation by the modem] <- delay, grant <- [FIFO of the cell] <- host 0
//! ```
//!
//! The modem's processor is what the link is about: it takes a time for each uplink URB, so pure ACKs, one in a URB, can use
//! it up; aggregation gives it back.
//!
//! # When a packet's buffer is freed
//!
//! TCP small queues count what the driver holds. A URB of one packet holds it until it completes. rmnet copies the first
//! packet of an aggregate and holds the others until the aggregate's URB completes (rmnet_map_tx_aggregate); cdc_ncm and the
//! qmi_wwan patch copy every packet, so TCP learns at once that it is gone.

mod aggregate;
mod bus;
mod counters;
mod crash;
mod downlink;
mod encoding;
mod host;
mod link;
mod radio;
mod records;
mod settings;

pub use aggregate::TxReason;
pub use counters::{ModemCounters, ModemDrops, TxReasons, WayCounters};
pub use link::{ModemLink, NEAR_HOST};
pub use settings::{
    DeviceSettings, DriverSettings, Framing, ModemSettings, QmapAggregation, RadioSettings, Speed, UsbSettings,
};
