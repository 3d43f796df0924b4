//! Conclusions.

use std::iter;

use sentence::{Figure, Sentence};
use serde::Serialize;

#[cfg(doc)]
use super::Device;

/// A conclusion.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Stable identifier: `uplink-not-aggregated`, `raw-ip-misuse`, `errors`, ...
    pub code: String,
    /// `bad`, `good` or `neutral`.
    pub tone: String,
    /// Device it is about, as in [`Device::name`]; `None` for the whole capture.
    pub device: Option<String>,
    /// In words.
    pub text: String,
    /// What it rests on, in words.
    pub evidence: Vec<String>,
    /// The figures of the text, then those of the evidence, each with its n.
    #[serde(default)] // older documents lack them
    figures: Vec<Figure>,
}

impl Verdict {
    /// The only way to one: every conclusion, and every line of its evidence, has figures.
    pub(crate) fn new(code: &str, tone: &str, device: Option<&str>, text: Sentence, evidence: Vec<Sentence>) -> Self {
        let figures = iter::once(&text).chain(&evidence).flat_map(|said| said.figures().iter().cloned()).collect();
        Self {
            code: code.to_owned(),
            tone: tone.to_owned(),
            device: device.map(str::to_owned),
            text: text.text().to_owned(),
            evidence: evidence.iter().map(|line| line.text().to_owned()).collect(),
            figures,
        }
    }

    /// With lines that show what the text counts: records of the capture as they are.
    #[must_use]
    pub(crate) fn quoting(mut self, records: impl IntoIterator<Item = String>) -> Self {
        self.evidence.splice(..0, records);
        self
    }

    /// What the words rest on.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }
}
