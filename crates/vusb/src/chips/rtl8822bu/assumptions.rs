//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::rate_steps::Rules;
use crate::chips::{assume, one_of};

/// In which of the two forms that rtw88 reads the firmware reports what happened to a frame (fw.c, rtw_fw_c2h_cmd_handle and
/// rtw_fw_c2h_cmd_handle_ext).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReportForm {
    /// C2H_HALMAC with C2H_CCX_RPT inside.
    #[default]
    Extended,
    /// C2H_CCX_TX_RPT.
    Plain,
}

/// What is assumed of an RTL8822BU: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822buAssumptions"))]
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
    /// How a transmission is reported.
    pub report_form: ReportForm,
    /// What AMPDU_MAX_TIME_V1 counts in, us: with rtw88's 0x70 and 32 us that is 3.6 ms.
    pub ampdu_time_us: u32,
    /// What the threshold of receive aggregation counts in, bytes: rtw88's 5 are then 20 KiB, which fit its buffers of 32 KiB.
    pub rx_threshold_bytes: u32,
    /// What the timeout of receive aggregation counts in, us: rtw88's 32 are then 1 ms.
    pub rx_timeout_us: u32,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            adaptation_sample: 32,
            adaptation_interval_ms: 200,
            adaptation_down: 0.5,
            adaptation_up: 0.9,
            report_form: ReportForm::Extended,
            ampdu_time_us: 32,
            rx_threshold_bytes: 4_096,
            rx_timeout_us: 32,
        }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str = "adaptation-sample=1..65535, adaptation-interval-ms=0..65535, adaptation-down=0..1, \
                         adaptation-up=0..1, report-form=extended|plain, ampdu-time-us=1..65535, \
                         rx-threshold-bytes=1..65535, rx-timeout-us=1..65535";

impl Assumptions {
    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let number = value.parse::<u16>().ok().map(u32::from);
            let positive = number.filter(|&number| number > 0);
            let part = value.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
            match name {
                "adaptation-sample" => positive.map(|number| self.adaptation_sample = number),
                "adaptation-interval-ms" => number.map(|number| self.adaptation_interval_ms = number),
                "adaptation-down" => part.map(|part| self.adaptation_down = part),
                "adaptation-up" => part.map(|part| self.adaptation_up = part),
                "ampdu-time-us" => positive.map(|number| self.ampdu_time_us = number),
                "rx-threshold-bytes" => positive.map(|number| self.rx_threshold_bytes = number),
                "rx-timeout-us" => positive.map(|number| self.rx_timeout_us = number),
                "report-form" => one_of(value, [("extended", ReportForm::Extended), ("plain", ReportForm::Plain)])
                    .map(|form| self.report_form = form),
                _ => None,
            }
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
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        for assignment in [
            "adaptation-sample=8",
            "adaptation-interval-ms=0",
            "adaptation-down=0.25",
            "adaptation-up=1",
            "report-form=plain",
            "ampdu-time-us=16",
            "rx-threshold-bytes=1024",
            "rx-timeout-us=8",
        ] {
            assumed.set(assignment).unwrap();
        }
        let expected = Assumptions {
            adaptation_sample: 8,
            adaptation_interval_ms: 0,
            adaptation_down: 0.25,
            adaptation_up: 1.0,
            report_form: ReportForm::Plain,
            ampdu_time_us: 16,
            rx_threshold_bytes: 1_024,
            rx_timeout_us: 8,
        };
        assert_eq!(assumed, expected);
        for wrong in ["", "adaptation-sample=0", "adaptation-up=1.5", "adaptation-down=nan", "report-form=no", "x=1"] {
            assert!(assumed.set(wrong).unwrap_err().contains("report-form=extended|plain"), "{wrong}");
        }
        assert_eq!(assumed, expected);
        let fields = serde_json::to_value(expected).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
    }
}
