//! A scenario with everything that is asked of it: every combination of a sweep, several seeds, in parallel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use link::scenario::{Draft, Problem, ScenarioFile};
use rayon::prelude::*;

use crate::monitor_tap::{CaptureError, Captures};
use crate::result::{Document, Point, Run, ScenarioSummary, FORMAT, VERSION};
use crate::run::{run, RunError};
use crate::summary::summarize;
use crate::sweep::Axis;

/// Runs of one batch at most.
const MOST_RUNS: usize = 100_000;
/// Seeds of one batch at most.
pub const MOST_SEEDS: u32 = 10_000;
/// Threads of one batch at most.
const MOST_THREADS: usize = 1_024;

/// What to run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The scenario, settings of the command line included.
    pub draft: Draft,
    /// What it is called.
    pub name: String,
    /// What is swept, outermost first.
    pub axes: Vec<Axis>,
    /// Seeds for each point, from the scenario's own upwards.
    pub seeds: u32,
    /// Runs at the same time; 0: as many as there are processors.
    pub threads: usize,
    /// What to capture of the first run.
    pub captures: Captures,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The scenario, or what was swept in it.
    #[error(transparent)]
    Scenario(#[from] Problem),
    /// It is more than a batch may be.
    #[error("{0}")]
    TooMuch(String),
    /// A capture could not be made.
    #[error(transparent)]
    Capture(CaptureError),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// The threads could not be started.
    #[error("threads cannot be started: {0}")]
    Threads(String),
}

impl From<RunError> for BatchError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(problem) => Self::Scenario(problem),
            RunError::Capture(error) => Self::Capture(error),
            RunError::Stopped => Self::Stopped,
        }
    }
}

/// Checks every combination, then runs them all. `progress(done, all)` is called, on any thread, after each run; `stop`
/// ends the batch early.
///
/// # Errors
/// See [`BatchError`]. The document does not depend on the number of threads.
pub fn batch(
    batch: &Batch,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Document, BatchError> {
    let scenario = batch.draft.check()?;
    let points = points(batch)?;
    let seeds = batch.seeds.clamp(1, MOST_SEEDS) as usize;
    let all = points.len().saturating_mul(seeds);
    if all > MOST_RUNS {
        let what = format!("{} points with {seeds} seeds are {all} runs; {MOST_RUNS} at most", points.len());
        return Err(BatchError::TooMuch(what));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        // Threads without a run would only look for one.
        .num_threads(batch.threads.min(all).min(MOST_THREADS))
        .build()
        .map_err(|error| BatchError::Threads(error.to_string()))?;
    let done = AtomicUsize::new(0);
    let one = |number: usize| -> Result<Run, BatchError> {
        if stop.load(Ordering::Relaxed) {
            return Err(BatchError::Stopped);
        }
        #[expect(clippy::indexing_slicing, reason = "each point has as many numbers as there are seeds")]
        let scenario = &points[number / seeds].1;
        let seed = scenario.head.run.seed.wrapping_add((number % seeds) as u64);
        let captures = if number == 0 { &batch.captures } else { &Captures::default() };
        let found = run(scenario, seed, captures, stop)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        Ok(found)
    };
    let mut runs: Vec<Run> = pool.install(|| (0..all).into_par_iter().map(one).collect::<Result<_, _>>())?;
    let mut rest = runs.drain(..);
    let points = points
        .into_iter()
        .map(|(values, _)| {
            let runs: Vec<Run> = rest.by_ref().take(seeds).collect();
            Point { values, summary: summarize(&runs), runs }
        })
        .collect();
    Ok(Document {
        format: FORMAT,
        version: VERSION,
        origin: "simulated",
        txop: env!("CARGO_PKG_VERSION"),
        scenario: describe(&batch.name, &scenario),
        axes: batch.axes.clone(),
        points,
    })
}

/// Every combination of the values of the axes, the last axis fastest, checked.
fn points(batch: &Batch) -> Result<Vec<(Vec<String>, ScenarioFile)>, BatchError> {
    let mut drafts = vec![(Vec::new(), batch.draft.clone())];
    for axis in &batch.axes {
        if drafts.len().saturating_mul(axis.values.len()) > MOST_RUNS {
            return Err(BatchError::TooMuch(format!("the sweep has more than {MOST_RUNS} points")));
        }
        let mut next = Vec::with_capacity(drafts.len() * axis.values.len());
        for (values, draft) in &drafts {
            for value in &axis.values {
                let mut draft = draft.clone();
                draft.set(&axis.key, value)?;
                next.push((values.iter().cloned().chain([value.clone()]).collect(), draft));
            }
        }
        drafts = next;
    }
    drafts.into_iter().map(|(values, draft)| Ok((values, draft.check()?))).collect()
}

fn describe(name: &str, scenario: &ScenarioFile) -> ScenarioSummary {
    let head = &scenario.head;
    ScenarioSummary {
        name: name.to_owned(),
        title: head.title.clone(),
        description: head.description.clone(),
        calibrated_from: head.calibrated_from.clone(),
        link: scenario.link().map_or("none", |link| link.kind()),
        hosts: scenario.hosts(),
        settings: scenario.to_json(),
    }
}
