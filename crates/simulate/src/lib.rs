#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

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
