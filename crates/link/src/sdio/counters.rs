//! What happened on an SDIO link, counted.

use serde::Serialize;

/// Everything that was counted since the link began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioCounters {
    /// To the access point.
    pub uplink: SdioWay,
    /// To the host with the card.
    pub downlink: SdioWay,
    /// Commands (CMD52 and CMD53).
    pub commands: u64,
    /// Blocks in them, a transfer in byte mode counted as one.
    pub blocks: u64,
    /// Bytes moved by CMD53, padding included.
    pub bus_bytes: u64,
    /// Times that ksdioirqd asked, without an interrupt.
    pub polls: u64,
    /// Polls that found something.
    pub polls_found: u64,
    /// Interrupts that were served, polled or not.
    pub services: u64,
    /// Context switches of the threads of driver and bus.
    pub context_switches: u64,
    /// CPU time, ns.
    pub cpu_busy_ns: u64,
    /// Time that the bus carried something, ns.
    pub bus_busy_ns: u64,
    /// Time that the air carried something, ns.
    pub air_busy_ns: u64,
    /// Beacons that announced something for the station and that it missed.
    pub missed_beacons: u64,
}

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioWay {
    /// Packets offered.
    pub packets_offered: u64,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Bytes of the delivered packets (IP header included).
    pub bytes_delivered: u64,
    /// Packets dropped because a queue was full.
    pub queue_full: u64,
}
