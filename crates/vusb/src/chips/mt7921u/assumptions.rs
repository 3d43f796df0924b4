//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::assume;
use crate::chips::rate_steps::Rules;

/// What is assumed of an MT7921U: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7921uAssumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// Rate control of the firmware (its algorithm is not known): MPDUs of one decision at least.
    pub adaptation_sample: u32,
    /// Time between two decisions at least, ms.
    pub adaptation_interval_ms: u32,
    /// It goes one rate down when a smaller part of the MPDUs than this was acknowledged.
    pub adaptation_down: f64,
    /// It goes one rate up when a larger part was.
    pub adaptation_up: f64,
    /// Attempts at each rate before the next lower one.
    pub attempts_per_rate: u32,
    /// MPDUs of an A-MPDU at most, where the window of the agreement allows as many.
    pub ampdu_max: u32,
    /// Bytes of frames that wait in the chip, KiB, before the endpoints of frames are NAKed.
    pub tx_buffer_kib: u32,
    /// Bytes of received frames that wait for the host, KiB.
    pub rx_buffer_kib: u32,
    /// Time on a channel of a scan with probe requests, ms.
    pub scan_active_ms: u32,
    /// Time on a channel where a scan only listens, ms.
    pub scan_passive_ms: u32,
    /// Time on the channel of the network between two others of a scan, ms.
    pub scan_home_ms: u32,
    /// Beacons that have not come when the firmware says that the connection is lost.
    pub beacon_loss: u32,
    /// Time without data before the chip sleeps, where the driver allows it, ms.
    pub idle_ms: u32,
    /// PS-Polls between two beacons at most, before the chip wakes up for the rest.
    pub ps_polls: u32,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            adaptation_sample: 32,
            adaptation_interval_ms: 200,
            adaptation_down: 0.5,
            adaptation_up: 0.9,
            attempts_per_rate: 2,
            ampdu_max: 64,
            tx_buffer_kib: 128,
            rx_buffer_kib: 256,
            scan_active_ms: 40,
            scan_passive_ms: 110,
            scan_home_ms: 100,
            beacon_loss: 20,
            idle_ms: 100,
            ps_polls: 1,
        }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str = "adaptation-sample=1..65535, adaptation-interval-ms=0..65535, adaptation-down=0..1, \
                         adaptation-up=0..1, attempts-per-rate=1..15, ampdu-max=1..64, tx-buffer-kib=4..65535, \
                         rx-buffer-kib=4..65535, scan-active-ms=1..65535, scan-passive-ms=1..65535, \
                         scan-home-ms=0..65535, beacon-loss=1..65535, idle-ms=1..10000, ps-polls=0..255";

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let number = value.parse::<u16>().ok().map(u32::from);
            let within = |low: u32, high: u32| number.filter(|number| (low..=high).contains(number));
            let part = || value.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
            let (slot, value) = match name {
                "adaptation-down" => return part().map(|part| self.adaptation_down = part),
                "adaptation-up" => return part().map(|part| self.adaptation_up = part),
                "adaptation-sample" => (&mut self.adaptation_sample, within(1, 65_535)),
                "adaptation-interval-ms" => (&mut self.adaptation_interval_ms, number),
                "attempts-per-rate" => (&mut self.attempts_per_rate, within(1, 15)),
                "ampdu-max" => (&mut self.ampdu_max, within(1, 64)),
                "tx-buffer-kib" => (&mut self.tx_buffer_kib, within(4, 65_535)),
                "rx-buffer-kib" => (&mut self.rx_buffer_kib, within(4, 65_535)),
                "scan-active-ms" => (&mut self.scan_active_ms, within(1, 65_535)),
                "scan-passive-ms" => (&mut self.scan_passive_ms, within(1, 65_535)),
                "scan-home-ms" => (&mut self.scan_home_ms, number),
                "beacon-loss" => (&mut self.beacon_loss, within(1, 65_535)),
                "idle-ms" => (&mut self.idle_ms, within(1, 10_000)),
                "ps-polls" => (&mut self.ps_polls, within(0, 255)),
                _ => return None,
            };
            value.map(|value| *slot = value)
        })
    }

    /// Those of rate control.
    pub(super) const fn rules(&self) -> Rules {
        Rules {
            sample: self.adaptation_sample,
            interval_ms: self.adaptation_interval_ms,
            down: self.adaptation_down,
            up: self.adaptation_up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_set_by_its_name() {
        let names: Vec<&str> = NAMES.split(", ").filter_map(|word| word.trim().split('=').next()).collect();
        let fields = serde_json::to_value(Assumptions::default()).unwrap();
        assert_eq!(names.len(), fields.as_object().unwrap().len());
        for name in names {
            let mut assumed = Assumptions::default();
            let value = if name.starts_with("adaptation-") { "1" } else { "7" };
            assumed.set(&format!("{name}={value}")).unwrap();
            let before = fields.get(name).unwrap().as_f64();
            let after = serde_json::to_value(assumed).unwrap().get(name).unwrap().as_f64();
            assert_ne!(before, after, "{name}");
        }
        for wrong in ["", "x=1", "ampdu-max=65", "adaptation-up=nan", "idle-ms=0", "ps-polls=256"] {
            assert!(Assumptions::default().set(wrong).unwrap_err().contains("beacon-loss"), "{wrong}");
        }
    }
}
