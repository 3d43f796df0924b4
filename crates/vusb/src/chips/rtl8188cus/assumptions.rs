//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::rate_steps::Rules;
use crate::chips::{assume, one_of};

/// What the eight bytes of DARFRC and RARFRC count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Byte n says how many rates below the first one the n-th retry is sent.
    #[default]
    Rates,
    /// Each byte that is not 0 is a number of retries from which on one rate more is given up.
    Retries,
}

/// Which rate comes below another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The next slower one of its class; below MCS 0 6 Mbit/s, below 6 Mbit/s 5.5 Mbit/s.
    #[default]
    Slower,
    /// The next lower descriptor number: below MCS 0 54 Mbit/s, below 6 Mbit/s 11 Mbit/s.
    Index,
}

/// Where the rates of data frames are enabled with a rate ID that has no ARFR register (0 to 11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// In the mask of rates that the driver gave the firmware for the station.
    #[default]
    Mask,
    /// In the ARFR register with the number of the rate ID, modulo 4.
    Arfr,
}

/// Which byte counts from the ninth retry on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// The eighth.
    #[default]
    Last,
    /// None: the lowest rate of the table.
    Lowest,
}

/// What an RTS without an answer is to the frames behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RtsRetries {
    /// Counted apart: they were not sent, so they are not retries.
    #[default]
    Apart,
    /// An attempt of theirs.
    WithData,
}

/// Where the rates of RTS are enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RtsTable {
    /// In the set of response rates (0x440).
    #[default]
    Responses,
    /// All legacy rates are.
    All,
}

/// What is assumed of an RTL8188CUS: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188cusAssumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// What DARFRC and RARFRC count.
    pub fallback_counts: Counts,
    /// Which rate comes below another one.
    pub fallback_order: Order,
    /// The table of rate IDs 0 to 11.
    pub fallback_table: Table,
    /// From the ninth retry on.
    pub fallback_beyond: Beyond,
    /// Retries of RTS.
    pub rts_retries: RtsRetries,
    /// Rates of RTS.
    pub rts_table: RtsTable,
    /// Rate adaptation: MPDUs of one decision at least.
    pub adaptation_sample: u32,
    /// Rate adaptation: shortest time between two decisions, ms.
    pub adaptation_interval_ms: u32,
    /// Rate adaptation: a lower first rate when less than this part of the MPDUs got through.
    pub adaptation_down: f64,
    /// Rate adaptation: a higher first rate when more than this part did.
    pub adaptation_up: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            fallback_counts: Counts::default(),
            fallback_order: Order::default(),
            fallback_table: Table::default(),
            fallback_beyond: Beyond::default(),
            rts_retries: RtsRetries::default(),
            rts_table: RtsTable::default(),
            adaptation_sample: 32,
            adaptation_interval_ms: 200,
            adaptation_down: 0.5,
            adaptation_up: 0.9,
        }
    }
}

pub(super) const NAMES: &str = "fallback-counts=rates|retries, fallback-order=slower|index, fallback-table=mask|arfr, \
                     fallback-beyond=last|lowest, rts-retries=apart|with-data, rts-table=responses|all, \
                     adaptation-sample=N, adaptation-interval-ms=N, adaptation-down=0..1, adaptation-up=0..1";

fn part(value: &str) -> Option<f64> {
    value.parse().ok().filter(|part| (0.0..=1.0).contains(part))
}

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| self.set_one(name, value))
    }

    /// Sets one; `None`: there is no such name or value.
    pub(super) fn set_one(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "fallback-counts" => one_of(value, [("rates", Counts::Rates), ("retries", Counts::Retries)])
                .map(|value| self.fallback_counts = value),
            "fallback-order" => one_of(value, [("slower", Order::Slower), ("index", Order::Index)])
                .map(|value| self.fallback_order = value),
            "fallback-table" => {
                one_of(value, [("mask", Table::Mask), ("arfr", Table::Arfr)]).map(|value| self.fallback_table = value)
            }
            "fallback-beyond" => one_of(value, [("last", Beyond::Last), ("lowest", Beyond::Lowest)])
                .map(|value| self.fallback_beyond = value),
            "rts-retries" => one_of(value, [("apart", RtsRetries::Apart), ("with-data", RtsRetries::WithData)])
                .map(|value| self.rts_retries = value),
            "rts-table" => one_of(value, [("responses", RtsTable::Responses), ("all", RtsTable::All)])
                .map(|value| self.rts_table = value),
            "adaptation-sample" => value.parse().ok().filter(|&n| n > 0).map(|value| self.adaptation_sample = value),
            "adaptation-interval-ms" => value.parse().ok().map(|value| self.adaptation_interval_ms = value),
            "adaptation-down" => part(value).map(|value| self.adaptation_down = value),
            "adaptation-up" => part(value).map(|value| self.adaptation_up = value),
            _ => None,
        }
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
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        for assignment in ["fallback-counts=retries", "rts-table=all", "adaptation-sample=8", "adaptation-up=0.75"] {
            assumed.set(assignment).unwrap();
        }
        let expected = Assumptions {
            fallback_counts: Counts::Retries,
            rts_table: RtsTable::All,
            adaptation_sample: 8,
            adaptation_up: 0.75,
            ..Assumptions::default()
        };
        assert_eq!(assumed, expected);
        for wrong in ["", "fallback-counts", "fallback-counts=", "nonsense=1", "adaptation-sample=0", "adaptation-up=2"]
        {
            assert!(assumed.set(wrong).unwrap_err().contains("fallback-order=slower|index"), "{wrong}");
        }
        assert_eq!(assumed, expected);
    }

    /// Every field can be set, and the text that says so has them all.
    #[test]
    fn all_have_names() {
        let fields = serde_json::to_value(Assumptions::default()).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
        let values = |choice: &str| choice.split('|').map(str::to_owned).collect::<Vec<_>>();
        for choice in NAMES.split(", ") {
            let (name, choices) = choice.split_once('=').unwrap();
            for value in values(choices) {
                let value = match value.as_str() {
                    "N" => "5",
                    "0..1" => "0.5",
                    word => word,
                };
                let mut assumed = Assumptions::default();
                assumed.set(&format!("{name}={value}")).unwrap();
                let set = serde_json::to_value(assumed).unwrap();
                let shown = set.get(name).unwrap();
                assert_eq!(shown.as_str().map_or_else(|| shown.to_string(), str::to_owned), value, "{name}");
            }
        }
    }
}
