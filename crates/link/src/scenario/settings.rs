//! What a scenario file may say.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::flow::FlowSettings;
use crate::checked::{in_range, ScenarioError};
use crate::wlan;

/// Bytes of a title or name at most.
const MOST_TEXT: usize = 200;
/// Flows at most.
const MOST_FLOWS: usize = 10_000;
/// Samples of a time series at most.
const MOST_SAMPLES: f64 = 100_000.0;

/// A scenario file: one link, the traffic over it, and how long to watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// One line.
    #[serde(default)]
    pub title: String,
    /// What it is about, in sentences.
    #[serde(default)]
    pub description: String,
    /// Where its figures were measured, when its parameters were fitted to measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_from: Option<String>,
    /// An 802.11 link. A scenario has exactly one link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wlan: Option<wlan::Scenario>,
    /// Who sends what to whom.
    #[serde(default)]
    pub traffic: Vec<FlowSettings>,
    /// How long, and with which seed.
    #[serde(default)]
    pub run: RunSettings,
}

/// How long a run takes, and with which seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// Simulated time that does not count, at the beginning, s: 0 to 3600.
    pub warm_up_s: f64,
    /// Simulated time that counts, s: 0.001 to 86400.
    pub duration_s: f64,
    /// Of all random choices; several seeds count up from it.
    pub seed: u64,
    /// Between two points of the time series, s: 0.001 to 3600.
    pub sample_s: f64,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self { warm_up_s: 2.0, duration_s: 10.0, seed: 1, sample_s: 0.1 }
    }
}

/// The link of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkSettings<'a> {
    /// 802.11.
    Wlan(&'a wlan::Scenario),
}

impl ScenarioFile {
    /// Keys at the top of a document.
    pub(super) const KEYS: &'static [&'static str] =
        &["title", "description", "calibrated_from", "base", "wlan", "traffic", "run"];
    /// Those of them that are links.
    pub(super) const LINKS: &'static [&'static str] = &["wlan"];

    /// The link.
    ///
    /// # Errors
    /// There is none.
    pub fn link(&self) -> Result<LinkSettings<'_>, ScenarioError> {
        let found: Vec<LinkSettings<'_>> = [self.wlan.as_ref().map(LinkSettings::Wlan)].into_iter().flatten().collect();
        match found[..] {
            [link] => Ok(link),
            [] => {
                Err(ScenarioError::new("scenario", format!("there is no link: it has one of the tables {}", tables())))
            }
            _ => Err(ScenarioError::new("scenario", format!("there is more than one of the tables {}", tables()))),
        }
    }

    /// Names of the hosts, in the order of their [numbers](crate::engine::HostId).
    pub fn hosts(&self) -> Vec<String> {
        vec!["server".to_owned(), "dut".to_owned()]
    }

    /// The first value that cannot be, if any.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self) -> Result<(), ScenarioError> {
        for (key, text) in [("title", Some(&self.title)), ("calibrated_from", self.calibrated_from.as_ref())] {
            if text.is_some_and(|text| text.len() > MOST_TEXT) {
                return Err(ScenarioError::new(key, format!("is longer than {MOST_TEXT} bytes")));
            }
        }
        match self.link()? {
            LinkSettings::Wlan(wlan) => wlan.check("wlan").map_err(|error| below("wlan", &error))?,
        }
        self.run.check()?;
        self.check_traffic()
    }

    fn check_traffic(&self) -> Result<(), ScenarioError> {
        if self.traffic.is_empty() {
            return Err(ScenarioError::new("traffic", "there is none: at least one [[traffic]] table is needed"));
        }
        if self.traffic.len() > MOST_FLOWS {
            return Err(ScenarioError::new("traffic", format!("more than {MOST_FLOWS} flows")));
        }
        let hosts = self.hosts();
        let end_s = self.run.warm_up_s + self.run.duration_s;
        for (index, flow) in self.traffic.iter().enumerate() {
            flow.check(&format!("traffic.{index}"), &hosts, end_s)?;
        }
        Ok(())
    }

    /// As JSON, every default filled in.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

impl RunSettings {
    fn check(&self) -> Result<(), ScenarioError> {
        in_range("run", "warm_up_s", self.warm_up_s, 0.0..=3_600.0, " s")?;
        in_range("run", "duration_s", self.duration_s, 0.001..=86_400.0, " s")?;
        in_range("run", "sample_s", self.sample_s, 0.001..=3_600.0, " s")?;
        if (self.warm_up_s + self.duration_s) / self.sample_s > MOST_SAMPLES {
            let what = format!("{} s makes more than {MOST_SAMPLES} points", self.sample_s);
            return Err(ScenarioError::new("run.sample_s", what));
        }
        Ok(())
    }
}

fn below(table: &str, error: &ScenarioError) -> ScenarioError {
    ScenarioError::new(format!("{table}.{}", error.key), error.what.clone())
}

fn tables() -> String {
    let names: Vec<String> = ScenarioFile::LINKS.iter().map(|name| format!("[{name}]")).collect();
    names.join(", ")
}
