//! Scenario files: TOML that names one link, the traffic over it and how long to watch, checked so that every error names
//! the file, the line, the key and what it may be.
//!
//! Files can stand on each other (`base = "other.toml"`): tables are merged key by key, everything else is replaced. This
//! module reads no files itself; the caller passes their text.
//!
//! ```
//! use txop_link::scenario::Draft;
//!
//! let text = r#"
//! [wlan.dut]
//! mcs = 5
//!
//! [[traffic]]
//! kind = "udp"
//! from = "dut"
//! to = "server"
//! rate_mbit_s = 100
//! "#;
//! let mut draft = Draft::from_text("up.toml", text)?;
//! draft.set("run.duration_s", "5")?;
//! assert_eq!(draft.check()?.head.run.duration_s, 5.0);
//!
//! draft.set("wlan.dut.mcs", "99")?;
//! let problem = draft.check().expect_err("no such MCS");
//! assert_eq!(problem.to_string(), "wlan.dut.mcs=99: 99 is not in the range from 0 to 31");
//! # Ok::<(), txop_link::scenario::Problem>(())
//! ```

mod draft;
mod flow;
mod key;
mod problem;
mod settings;
mod tree;
mod words;

pub use draft::Draft;
pub use flow::{Flow, FlowHead, FlowKind, FlowSettings, KindSettings};
pub use problem::{Place, Problem};
pub use settings::{Head, LinkSettings, ScenarioFile};
