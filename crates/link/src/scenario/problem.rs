//! What is wrong with a scenario, and where.

use std::fmt;
use std::sync::Arc;

use crate::checked::ScenarioError;

/// Where a value was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// A file, or the option that set the value.
    pub source: Arc<str>,
    /// From 1; 0: the source has no lines.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.source),
            line => write!(f, "{}, line {line}", self.source),
        }
    }
}

/// Why a scenario is refused: the place, the key, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// Where the value stands; `None`: nowhere, as with a key that is missing.
    pub place: Option<Place>,
    /// The key, dotted (`wlan.ap.mcs`); `None`: the document itself is wrong.
    pub key: Option<String>,
    /// What is wrong with it, with the values it may have.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        // An option that set a key has named it already.
        let named =
            |key: &str| self.place.as_ref().is_some_and(|place| place.line == 0 && place.source.starts_with(key));
        if let Some(key) = self.key.as_ref().filter(|key| !named(key)) {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl Problem {
    /// A problem of a document as a whole.
    pub(super) fn of_source(place: Place, what: impl Into<String>) -> Self {
        Self { place: Some(place), key: None, what: what.into() }
    }

    /// A problem of a key that is not (or not necessarily) in a document.
    pub(super) fn of_key(place: Option<Place>, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place, key: Some(key.into()), what: what.into() }
    }
}

impl From<ScenarioError> for Problem {
    fn from(error: ScenarioError) -> Self {
        Self { place: None, key: Some(error.key), what: error.what }
    }
}
