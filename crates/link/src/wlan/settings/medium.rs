//! The channel.

use serde::{Deserialize, Serialize};

use crate::checked::ScenarioError;

/// The channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Medium {
    /// Primary channel: 1 to 14 (2.4 GHz), or one of the 20 MHz channels from 36 to 177 (5 GHz).
    pub channel: u16,
    /// 20 or 40 MHz.
    pub width_mhz: u16,
    /// The access point sends beacons, one in 102.4 ms.
    pub beacons: bool,
    /// Slots of 9 µs in 2.4 GHz. Left out: yes, unless a radio knows only 802.11b.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_slot: Option<bool>,
    /// Rates that every station must know, Mbit/s: control responses are sent with the highest of them that is not above
    /// the rate of what they answer. Empty: 6, 12 and 24; with radios that know only 802.11b 1, 2, 5.5 and 11 before them,
    /// or 1 and 2 alone when the access point is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub basic_rates_mbit_s: Vec<f64>,
}

impl Default for Medium {
    fn default() -> Self {
        Self { channel: 36, width_mhz: 20, beacons: true, short_slot: None, basic_rates_mbit_s: Vec::new() }
    }
}

/// The 20 MHz channels of the 5 GHz band (IEEE 802.11-2020 annex E).
const fn is_5_ghz_channel(channel: u16) -> bool {
    matches!(channel, 36..=64 | 100..=144 if channel % 4 == 0) || matches!(channel, 149..=177 if channel % 4 == 1)
}

/// A rate of 802.11a, b or g in units of 500 kbit/s.
pub(crate) fn legacy_rate(mbit_s: f64) -> Option<u8> {
    [2u8, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108].into_iter().find(|&rate| f64::from(rate) / 2.0 == mbit_s)
}

impl Medium {
    /// In the 2.4 GHz band.
    pub const fn is_2_4_ghz(&self) -> bool {
        self.channel <= 14
    }

    pub(super) fn check(&self, key: &str) -> Result<(), ScenarioError> {
        let Self { channel, width_mhz, .. } = *self;
        let wrong = |name: &str, what: String| Err(ScenarioError::new(format!("{key}.{name}"), what));
        if !(1..=14).contains(&channel) && !is_5_ghz_channel(channel) {
            let what = format!("{channel} is not a 20 MHz channel: 1 to 14, 36 to 64, 100 to 144 or 149 to 177");
            return wrong("channel", what);
        }
        if !matches!(width_mhz, 20 | 40) {
            return wrong("width_mhz", format!("{width_mhz} is neither 20 nor 40"));
        }
        if width_mhz == 40 && matches!(channel, 14 | 165 | 177) {
            return wrong("width_mhz", format!("channel {channel} has no second channel beside it for 40 MHz"));
        }
        if self.basic_rates_mbit_s.len() > 12 {
            return wrong("basic_rates_mbit_s", "there are only twelve rates".to_owned());
        }
        for &rate in &self.basic_rates_mbit_s {
            let dsss = matches!(legacy_rate(rate), Some(2 | 4 | 11 | 22));
            if legacy_rate(rate).is_none() || (dsss && !self.is_2_4_ghz()) {
                let what = format!("{rate} is not one of 6, 9, 12, 18, 24, 36, 48, 54 or, in 2.4 GHz, 1, 2, 5.5, 11");
                return wrong("basic_rates_mbit_s", what);
            }
        }
        Ok(())
    }
}
