//! 802.11 monitor captures whose truth is known.
//!
//! A [`Scene`] says what happens on the air and how a sniffer sees it; [`write`] plays it on a nanosecond time line,
//! writes the capture file, and returns the [`Truth`]: every counter that an analysis of the file should find, exact.
//! The same scene always gives the same bytes. Memory does not grow with the length of a scene.
//!
//! ```
//! use txop_specimen::Scene;
//!
//! let scene = Scene { seconds: 0.2, ..Scene::default() };
//! let mut file = Vec::new();
//! let truth = txop_specimen::write(&scene, &mut file)?;
//! assert_eq!(truth.captured_bytes + 16 * truth.frames + 24, file.len() as u64);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! What the model leaves out: collisions, hidden nodes, access categories other than best effort, A-MSDU, fragments,
//! direct traffic between stations, and anything about radio propagation; losses are drawn, not computed.

mod airtime;
mod census;
mod element;
mod engine;
mod exchange;
mod file;
mod frame;
mod join;
mod ledger;
mod linkheader;
mod medium;
mod originator;
mod preset;
mod recipient;
mod scene;
mod sniffer;
mod stage;
mod truth;

pub use preset::PRESETS;
pub use scene::*;
pub use stage::write;
pub use truth::*;
