//! An SDIO WLAN card in a small machine: bus, host driver, card, the air.
//!
//! Host 1 is the machine, host 0 a server behind the access point.
//!
//! ```text
//! host 1 -> CPU -> [queue] -> CMD53 write -> card (credits) -> air -> wire -> host 0
//! host 1 <- CPU <- CMD53 read <- CMD53 status <- (CMD52) <- poll or interrupt <- card <- air <- [queue] <- host 0
//! ```
//!
//! One command is on the bus at a time, and there is one CPU. With a synchronous host interface the driver sleeps through each
//! transfer, works on the packet, and then begins the next transfer; with an asynchronous one these overlap.
//!
//! The air is one server for both directions with a rate and a time for each frame: what matters here is before it.

mod bus;
mod counters;
mod link;
mod poll;
mod radio;
mod settings;

pub use counters::{SdioCounters, SdioWay};
pub use link::{SdioLink, NEAR_HOST};
pub use settings::{
    AirSettings, BusSettings, CardSettings, Hif, HostSettings, Interrupts, PowerSave, ProcessRuns, SdioSettings,
    REFERENCE_MHZ,
};
