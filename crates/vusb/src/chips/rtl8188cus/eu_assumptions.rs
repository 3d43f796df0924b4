//! What no driver and no public document says about an RTL8188EU. It has no rate adaptation of its own, so nothing is assumed
//! of one.

use serde::Serialize;

use super::assumptions::{Assumptions, Beyond, Counts, Order, RtsRetries, RtsTable, Table};
use super::reports::{self, Counted, Full};
use crate::chips::{assume, one_of};

/// How many MPDUs an A-MPDU has at most where the descriptor has no limit, as rtl8xxxu's have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AggregateLimit {
    /// As many as MAX_AGGR_NUM (0x4ca) says: rtl8xxxu writes 7 for this chip, 20 for an RTL8723B, 31 for an RTL8192F, which fits
    /// the five bits of the descriptor's limit (core.c, rtl8xxxu_init_mac; 8723b.c and 8192f.c, max_aggr_num).
    #[default]
    Register,
    /// 20, as for an RTL8188CUS.
    Fixed,
}

/// What is assumed of an RTL8188EU: `--assume`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8188euAssumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct EuAssumptions {
    /// What DARFRC and RARFRC count.
    pub fallback_counts: Counts,
    /// Which rate comes below another one.
    pub fallback_order: Order,
    /// From the ninth retry on.
    pub fallback_beyond: Beyond,
    /// Retries of RTS.
    pub rts_retries: RtsRetries,
    /// Rates of RTS.
    pub rts_table: RtsTable,
    /// Most MPDUs of an A-MPDU.
    pub aggregate_limit: AggregateLimit,
    /// Which frames transmit reports count.
    pub report_frames: Counted,
    /// What happens to a counter of a report that is full.
    pub report_counters: Full,
}

pub(super) const NAMES: &str =
    "fallback-counts=rates|retries, fallback-order=slower|index, fallback-beyond=last|lowest, \
                     rts-retries=apart|with-data, rts-table=responses|all, aggregate-limit=register|fixed, \
                     report-frames=all|data, report-counters=stays|wraps";

impl EuAssumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| match name {
            "aggregate-limit" => {
                one_of(value, [("register", AggregateLimit::Register), ("fixed", AggregateLimit::Fixed)])
                    .map(|value| self.aggregate_limit = value)
            }
            "report-frames" => {
                one_of(value, [("all", Counted::All), ("data", Counted::Data)]).map(|value| self.report_frames = value)
            }
            "report-counters" => one_of(value, [("stays", Full::Stays), ("wraps", Full::Wraps)])
                .map(|value| self.report_counters = value),
            "fallback-counts" | "fallback-order" | "fallback-beyond" | "rts-retries" | "rts-table" => {
                let mut mac = self.mac();
                mac.set_one(name, value)?;
                self.fallback_counts = mac.fallback_counts;
                self.fallback_order = mac.fallback_order;
                self.fallback_beyond = mac.fallback_beyond;
                self.rts_retries = mac.rts_retries;
                self.rts_table = mac.rts_table;
                Some(())
            }
            _ => None,
        })
    }

    /// Those that the MAC shares with an RTL8188CUS's. The firmware gets no mask of rates, so fallback uses the register.
    pub(super) fn mac(&self) -> Assumptions {
        Assumptions {
            fallback_counts: self.fallback_counts,
            fallback_order: self.fallback_order,
            fallback_table: Table::Arfr,
            fallback_beyond: self.fallback_beyond,
            rts_retries: self.rts_retries,
            rts_table: self.rts_table,
            ..Assumptions::default()
        }
    }

    /// Those of reports.
    pub(super) const fn reports(&self) -> reports::Assumptions {
        reports::Assumptions { counted: self.report_frames, full: self.report_counters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field can be set, and the text that says so has them all.
    #[test]
    fn all_have_names() {
        let fields = serde_json::to_value(EuAssumptions::default()).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
        for choice in NAMES.split(", ") {
            let (name, values) = choice.split_once('=').unwrap();
            for value in values.split('|') {
                let mut assumed = EuAssumptions::default();
                assumed.set(&format!("{name}={value}")).unwrap();
                assert_eq!(serde_json::to_value(assumed).unwrap()[name], value);
            }
        }
    }

    #[test]
    fn those_of_the_firmware_of_others_are_unknown() {
        let mut assumed = EuAssumptions::default();
        for wrong in ["adaptation-up=0.5", "fallback-table=mask", "report-frames=none", "nonsense"] {
            assert!(assumed.set(wrong).unwrap_err().contains("report-counters=stays|wraps"), "{wrong}");
        }
        assert_eq!(assumed, EuAssumptions::default());
    }

    #[test]
    fn the_mac_gets_what_was_set() {
        let mut assumed = EuAssumptions::default();
        assumed.set("fallback-counts=retries").unwrap();
        assumed.set("rts-retries=with-data").unwrap();
        let mac = assumed.mac();
        assert_eq!((mac.fallback_counts, mac.rts_retries), (Counts::Retries, RtsRetries::WithData));
    }
}
