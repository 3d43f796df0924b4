//! Contention parameters that differ from the defaults.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};
use crate::engine::AccessCategory;

/// What one radio contends with. What is left out has the default of the radio's kind (see [`Edca`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct EdcaTable {
    /// AC_BK.
    pub background: Edca,
    /// AC_BE; also what a radio without QoS (802.11a, b, g) contends with.
    pub best_effort: Edca,
    /// AC_VI.
    pub video: Edca,
    /// AC_VO.
    pub voice: Edca,
}

/// One access category. A key that is left out has its default: for 802.11n stations those of IEEE 802.11-2020 table 9-155
/// (with the TXOP limits of the WMM specification), for the access point the same with AIFSN 1 for video and voice, for
/// radios without QoS those of the DCF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Edca {
    /// Slots after SIFS before the backoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aifsn: Option<u8>,
    /// Smallest contention window, slots: 2^n - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<u16>,
    /// Largest contention window, slots: 2^n - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<u16>,
    /// How long the medium may be kept at a time, µs; 0: one frame exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub txop_us: Option<u32>,
}

impl EdcaTable {
    /// The row of a category.
    pub const fn of(&self, category: AccessCategory) -> Edca {
        match category {
            AccessCategory::Background => self.background,
            AccessCategory::BestEffort => self.best_effort,
            AccessCategory::Video => self.video,
            AccessCategory::Voice => self.voice,
        }
    }

    pub(super) fn check(&self, key: &str) -> Result<(), ScenarioError> {
        let rows = ["background", "best_effort", "video", "voice"];
        for (name, edca) in rows.into_iter().zip(AccessCategory::BY_PRIORITY.map(|category| self.of(category))) {
            let key = format!("{key}.{name}");
            in_range(&key, "aifsn", edca.aifsn.unwrap_or(2), 1..=15, "")?;
            in_range(&key, "txop_us", edca.txop_us.unwrap_or(0), 0..=2_097_120, " µs")?;
            for (name, window) in [("cw_min", edca.cw_min), ("cw_max", edca.cw_max)] {
                if window.is_some_and(|window| window > 32_767 || !(window + 1).is_power_of_two()) {
                    let what = format!("{} is not one of 0, 1, 3, 7, 15, ... 32767", window.unwrap_or(0));
                    return Err(ScenarioError::new(format!("{key}.{name}"), what));
                }
            }
            if let (Some(min), Some(max)) = (edca.cw_min, edca.cw_max) {
                if min > max {
                    let what = format!("{min} is larger than cw_max, {max}");
                    return Err(ScenarioError::new(format!("{key}.cw_min"), what));
                }
            }
        }
        Ok(())
    }
}
