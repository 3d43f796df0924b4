//! How long is simulated, and from which seed.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};

/// How a simulation runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SimulationSettings {
    /// Key of all random sources. Hosts, path and link draw from streams of their own.
    pub seed: u64,
    /// What is not measured at the beginning, s.
    pub warm_up_s: f64,
    /// How long is measured, s.
    pub duration_s: f64,
    /// Length of the intervals of the time series, s.
    pub interval_s: f64,
    /// Flows begin up to so long after their start, at random: hosts are not in step, s.
    pub start_spread_s: f64,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self { seed: 1, warm_up_s: 3.0, duration_s: 10.0, interval_s: 0.1, start_spread_s: 0.01 }
    }
}

impl SimulationSettings {
    /// # Errors
    /// Names the key (`key.name`) of a setting that is out of its range.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "warm_up_s", self.warm_up_s, 0.0..=1e6, " s")?;
        in_range(key, "duration_s", self.duration_s, 0.001..=1e6, " s")?;
        // A million intervals at most.
        let least = ((self.warm_up_s + self.duration_s) / 1e6).max(0.001);
        in_range(key, "interval_s", self.interval_s, least..=1e6, " s")?;
        in_range(key, "start_spread_s", self.start_spread_s, 0.0..=1000.0, " s")
    }
}
