//! Scenarios in virtual time: one run, or every combination of a sweep with several seeds, in parallel.
//!
//! The same scenario and seed give the same [`Run`], on any number of threads. Results are the JSON document
//! `txop-simulate` ([docs/simulate.md](../../../docs/simulate.md)).

mod batch;
mod monitor_tap;
mod outcome;
mod record;
pub mod result;
mod run;
mod summary;
mod sweep;

pub use batch::{batch, Batch, BatchError, MOST_SEEDS};
pub use monitor_tap::{CaptureError, Captures};
pub use result::{Document, Run};
pub use run::{run, RunError};
pub use sweep::Axis;
