//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::{assume, one_of};

/// Which waiting frames may go into one A-MPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Aggregates {
    /// All in the queue that are for the same station and TID.
    #[default]
    Any,
    /// Only those that follow each other.
    Neighbours,
}

/// What is assumed of an MT7610U or MT7601U: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7610uAssumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// Frames that each queue takes before bulk OUT is NAKed.
    pub tx_queue_frames: u16,
    /// Reports of transmission that wait to be read; what comes while they do is lost.
    pub tx_reports: u16,
    /// Received frames that wait to be fetched.
    pub rx_frames: u16,
    /// What goes into an A-MPDU.
    pub aggregates: Aggregates,
    /// Time that a vendor request takes on the bus and in the chip, us. The guest adds some 5 at 1,000 and some 9 at 500 million
    /// instructions a second (usbmon of a guest, n = 1,624 and 1,617), so that the driver waits some 220. Calibrated from public
    /// usbmon captures of four other high-speed devices on Linux hosts, with vendor requests that took 48, 207, 270 (reads) or
    /// 372 (writes) and 420 us in the median (n = 8 to 162). On the bus alone a device took 27 to 114 us for a control read
    /// (n = 30, Packetry's capture `address-reuse`). A comment in mt7601u has about 200 for each read of a register (mac.c,
    /// mt7601u_mac_work).
    pub vendor_request_us: u16,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            tx_queue_frames: 32,
            tx_reports: 64,
            rx_frames: 128,
            aggregates: Aggregates::Any,
            vendor_request_us: 215,
        }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str = "tx-queue-frames=1..4096, tx-reports=1..4096, rx-frames=1..4096, aggregates=any|neighbours, \
                         vendor-request-us=1..4096";

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let number = value.parse().ok().filter(|number| (1..=4_096).contains(number));
            match name {
                "tx-queue-frames" => number.map(|number| self.tx_queue_frames = number),
                "tx-reports" => number.map(|number| self.tx_reports = number),
                "rx-frames" => number.map(|number| self.rx_frames = number),
                "vendor-request-us" => number.map(|number| self.vendor_request_us = number),
                "aggregates" => one_of(value, [("any", Aggregates::Any), ("neighbours", Aggregates::Neighbours)])
                    .map(|value| self.aggregates = value),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        for assignment in
            ["tx-queue-frames=8", "tx-reports=16", "rx-frames=4096", "aggregates=neighbours", "vendor-request-us=7"]
        {
            assumed.set(assignment).unwrap();
        }
        let expected = Assumptions {
            tx_queue_frames: 8,
            tx_reports: 16,
            rx_frames: 4_096,
            aggregates: Aggregates::Neighbours,
            vendor_request_us: 7,
        };
        assert_eq!(assumed, expected);
        for wrong in ["", "tx-reports", "tx-reports=0", "tx-reports=4097", "aggregates=all", "rts-table=all"] {
            assert!(assumed.set(wrong).unwrap_err().contains("aggregates=any|neighbours"), "{wrong}");
        }
        assert_eq!(assumed, expected);
        let fields = serde_json::to_value(expected).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
    }
}
