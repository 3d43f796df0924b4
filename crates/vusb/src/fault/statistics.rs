//! What is counted of faults.

use serde::Serialize;

/// A fault of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultCounters {
    /// Its name in the script.
    pub name: String,
    /// Transfers of its kind that were answered.
    pub transfers: u64,
    /// How often it struck.
    pub struck: u64,
}
