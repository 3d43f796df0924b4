//! Virtual time: flows between modelled hosts, over a wire and a link, from event to event.

mod flow;
mod measure;
mod observer;
mod results;
mod run;
mod settings;
mod timers;

pub use observer::Observer;
pub use results::{Drops, FlowResult, IntervalResult, SimulationResult, TcpResult};
pub use run::Simulation;
pub use settings::SimulationSettings;
