//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::{assume, one_of};

/// What is assumed of an AR9280, AR9220 or AR9287: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280Assumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// A station that did not answer gets no more frames until one comes that clears its filter: the driver counts on it where a
    /// station sleeps (Linux ath9k/xmit.c, ATH9K_TXERR_FILT).
    pub filter: Switch,
}

/// Whether the chip does something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar9280Switch"))]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// It does.
    #[default]
    On,
    /// It does not.
    Off,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self { filter: Switch::On }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str = "filter=on|off";

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| match name {
            "filter" => one_of(value, [("on", Switch::On), ("off", Switch::Off)]).map(|value| self.filter = value),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        assumed.set("filter=off").unwrap();
        assert_eq!(assumed.filter, Switch::Off);
        for wrong in ["", "filter", "filter=maybe", "filters=on"] {
            assert!(assumed.set(wrong).unwrap_err().contains("filter=on|off"), "{wrong}");
        }
    }
}
