//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::assume;

/// What is assumed of an AR6003 and its firmware: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar6003Assumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// Credits that the firmware gives the host: messages of up to `credit-bytes` that it takes before it has sent some.
    pub credits: u16,
    /// Bytes of a message that a credit stands for.
    pub credit_bytes: u16,
    /// Messages to the host that may be fetched at once, at most.
    pub bundle: u16,
    /// Received frames that wait to be fetched; what comes while they do is not acknowledged.
    pub rx_frames: u16,
    /// Time on each channel of a scan, ms: more than the usual 102.4 ms between beacons.
    pub scan_dwell_ms: u16,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self { credits: 20, credit_bytes: 1_664, bundle: 8, rx_frames: 64, scan_dwell_ms: 110 }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str =
    "credits=4..1024, credit-bytes=256..4096, bundle=1..8, rx-frames=1..4096, scan-dwell-ms=1..1000";

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let within = |least: u16, most: u16| value.parse().ok().filter(|number| (least..=most).contains(number));
            match name {
                "credits" => within(4, 1_024).map(|number| self.credits = number),
                "credit-bytes" => within(256, 4_096).map(|number| self.credit_bytes = number),
                "bundle" => within(1, 8).map(|number| self.bundle = number),
                "rx-frames" => within(1, 4_096).map(|number| self.rx_frames = number),
                "scan-dwell-ms" => within(1, 1_000).map(|number| self.scan_dwell_ms = number),
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
        for assignment in ["credits=8", "credit-bytes=512", "bundle=1", "rx-frames=16", "scan-dwell-ms=30"] {
            assumed.set(assignment).unwrap();
        }
        let expected = Assumptions { credits: 8, credit_bytes: 512, bundle: 1, rx_frames: 16, scan_dwell_ms: 30 };
        assert_eq!(assumed, expected);
        for wrong in ["", "credits", "credits=3", "bundle=9", "rts-table=all"] {
            assert!(assumed.set(wrong).unwrap_err().contains("bundle=1..8"), "{wrong}");
        }
        let fields = serde_json::to_value(expected).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
    }
}
