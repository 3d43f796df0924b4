//! One scenario, one seed.

use std::sync::atomic::{AtomicBool, Ordering};

use link::modem::{ModemLink, ModemSettings};
use link::scenario::{Flow, LinkSettings, Problem, ScenarioFile};
use link::sdio::{SdioLink, SdioSettings};
use link::simulation::{Simulation, SimulationResult};
use link::traffic::Modelled;
use link::{Link, Pipe, ScenarioError, WlanLink};
use monitor::Network;
use serde_json::Value;

use crate::monitor_tap::{CaptureError, Captures, Taps};
use crate::outcome;
use crate::record::Record;
use crate::result::Run;

/// Simulated time between two looks at whether to stop, ns.
const LOOK_NS: u64 = 50_000_000;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be.
    #[error(transparent)]
    Scenario(#[from] Problem),
    /// A capture could not be made.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error.into())
    }
}

/// Runs a scenario once, with `seed` in place of its own.
///
/// # Errors
/// See [`RunError`].
pub fn run(scenario: &ScenarioFile, seed: u64, captures: &Captures, stop: &AtomicBool) -> Result<Run, RunError> {
    scenario.check()?;
    let setup = Setup { scenario, seed, flows: scenario.flows()?, hosts: scenario.hosts(), captures, stop };
    match scenario.link()? {
        LinkSettings::Wlan(wlan) => {
            let mut settings = wlan.clone();
            settings.seed = seed;
            setup.drive(WlanLink::new(settings)?, Some(wlan.into()), |link| serde_json::to_value(link.counters()).ok())
        }
        LinkSettings::Modem(modem) => {
            let settings = ModemSettings { seed, ..modem.clone() };
            setup.drive(ModemLink::new(settings)?, None, |link| serde_json::to_value(link.counters()).ok())
        }
        LinkSettings::Sdio(sdio) => {
            let settings = SdioSettings { seed, ..sdio.clone() };
            setup.drive(SdioLink::new(settings)?, None, |link| serde_json::to_value(link.counters()).ok())
        }
        LinkSettings::Pipe(pipe) => {
            let link = Pipe::new(link::PipeSettings { seed, ..*pipe })?;
            setup.drive(link, None, |_| None)
        }
    }
}

struct Setup<'a> {
    scenario: &'a ScenarioFile,
    seed: u64,
    flows: Vec<Flow>,
    hosts: Vec<String>,
    captures: &'a Captures,
    stop: &'a AtomicBool,
}

impl Setup<'_> {
    fn drive<L: Link<Modelled>>(
        &self,
        link: L,
        network: Option<Network>,
        counters: impl Fn(&L) -> Option<Value>,
    ) -> Result<Run, RunError> {
        let has_air = network.is_some();
        let mut settings = self.scenario.head.run;
        settings.seed = self.seed;
        let flows: Vec<_> = self.flows.iter().map(|flow| flow.settings.clone()).collect();
        let mut simulation = Simulation::new(settings, self.scenario.head.path, &flows, link)?;
        let window_ns = (simulation.measure_from_ns(), simulation.end_ns());
        let interval_ns = (settings.interval_s * 1e9).round() as u64;
        let taps = Taps::new(self.captures, network)?;
        let mut record = Record::new(self.hosts.len(), window_ns, interval_ns, taps);
        let mut now_ns = 0;
        while now_ns < window_ns.1 {
            if self.stop.load(Ordering::Relaxed) {
                return Err(RunError::Stopped);
            }
            now_ns = now_ns.saturating_add(LOOK_NS).min(window_ns.1);
            simulation.run_until(now_ns, &mut record);
        }
        let (found, link): (SimulationResult, L) = simulation.finish(&mut record);
        let counters = counters(&link).unwrap_or(Value::Null);
        let waterfalls = record.taps.finish(&self.hosts)?;
        let kinds: Vec<_> = self.flows.iter().map(|flow| flow.kind).collect();
        let air = has_air.then_some(&record.air);
        Ok(outcome::run(&found, &kinds, &self.hosts, air, &record.bus, counters, waterfalls))
    }
}
