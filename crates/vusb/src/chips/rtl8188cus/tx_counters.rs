//! What the transmitter counts.

use serde::Serialize;

/// What the transmitter has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TxCounters {
    /// Frames from the driver.
    pub frames: u64,
    /// Descriptors with a wrong checksum: the frame is dropped.
    pub bad_checksums: u64,
    /// Transfers in which no descriptor and frame could be found.
    pub malformed: u64,
    /// Frames for the beacon queue: they are kept back.
    pub reserved: u64,
    /// Frames with AGG_ENABLE.
    pub aggregate: u64,
    /// Frames with RTS_CTS_ENABLE.
    pub rts: u64,
    /// Frames with CTS_SELF_ENABLE.
    pub cts_to_self: u64,
    /// Frames with HW_RTS_ENABLE.
    pub hardware_rts: u64,
    /// Frames by RTS rate: 1, 2, 5.5 Mbit/s and so on.
    pub rts_rates: [u64; 12],
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames for which there was no key.
    pub no_key: u64,
    /// Frames given up after the last retry.
    pub given_up: u64,
    /// Times that a bulk OUT endpoint was NAKed because the packet buffer was full (counted once per wait).
    pub buffer_full: u64,
}
