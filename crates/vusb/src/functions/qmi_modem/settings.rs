//! How a modem is set up.

use serde::Serialize;

use crate::functions::range::in_range;
use crate::functions::{Aggregation, SettingsError};

/// What transfers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// One IP packet each.
    RawIp,
    /// QMAP, version 1.
    Qmap,
}

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModemSettings {
    /// What transfers carry.
    pub framing: Framing,
    /// The multiplexed connection that there is.
    pub mux_id: u8,
    /// How long the modem works on one transfer from the host, whatever is in it, us.
    pub transfer_cost_us: u64,
    /// Rate of the radio link from the host, Mbit/s.
    pub uplink_mbit_s: f64,
    /// Rate of the radio link to the host, Mbit/s.
    pub downlink_mbit_s: f64,
    /// Delay of the radio link, each way, us.
    pub delay_us: u64,
    /// Datagrams from the host wait for the radio at most so long; while they would wait longer no transfer is taken, us.
    pub uplink_buffer_us: u64,
    /// Datagrams for the host that wait at most, those on their way included; the wired end is not read while so many do.
    pub downlink_queue: usize,
    /// How it packs datagrams for the host, in QMAP.
    pub to_host: Aggregation,
}

impl Default for ModemSettings {
    /// The rates of LTE category 4 (3GPP TS 36.306, tables 4.1-1 and 4.1-2: 150 and 50 Mbit/s); aggregates that fit
    /// into the buffers that qmi_wwan has with an MTU of 16,000. The cost of a transfer is of no particular modem: 190 us is 5,263 transfers a second, so that
    /// one datagram each is just enough for the data of the uplink and not for acknowledgements beside them.
    fn default() -> Self {
        Self {
            framing: Framing::Qmap,
            mux_id: 1,
            transfer_cost_us: 190,
            uplink_mbit_s: 50.0,
            downlink_mbit_s: 150.0,
            delay_us: 5_000,
            uplink_buffer_us: 10_000,
            downlink_queue: 300,
            to_host: Aggregation { datagrams: 32, bytes: 15_872, hold_ns: 1_000_000 },
        }
    }
}

/// Time of `bytes` at `mbit_s`.
fn nanoseconds(bytes: usize, mbit_s: f64) -> u64 {
    (bytes as f64 * 8_000.0 / mbit_s) as u64
}

impl ModemSettings {
    /// Whether all are in their ranges.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), SettingsError> {
        in_range("cost of a transfer in us", self.transfer_cost_us, 0, 1_000_000)?;
        for (name, rate) in
            [("uplink rate in Mbit/s", self.uplink_mbit_s), ("downlink rate in Mbit/s", self.downlink_mbit_s)]
        {
            if !(0.01..=100_000.0).contains(&rate) {
                // The ranges are told in whole numbers.
                return Err(SettingsError { name, value: rate as u64, least: 1, most: 100_000 });
            }
        }
        in_range("delay in us", self.delay_us, 0, 10_000_000)?;
        in_range("uplink buffer in us", self.uplink_buffer_us, 0, 10_000_000)?;
        in_range("downlink queue", self.downlink_queue as u64, 1, 100_000)?;
        self.to_host.check()
    }

    pub(super) fn uplink_ns(&self, bytes: usize) -> u64 {
        nanoseconds(bytes, self.uplink_mbit_s)
    }

    pub(super) fn downlink_ns(&self, bytes: usize) -> u64 {
        nanoseconds(bytes, self.downlink_mbit_s)
    }
}
