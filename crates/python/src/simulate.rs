//! `simulate`: scenarios in virtual time (`crates/simulate`), on threads of their own.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::Arc;

use link::scenario::{Draft, Problem};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simulate::{batch, Axis, Batch, BatchError, Captures, Document};

use crate::worker::{receive, StopAtEnd};

enum News {
    Progress(usize, usize),
    Done(Box<Result<Document, BatchError>>),
}

/// Checks the scenario called `name`; returns every setting, defaults filled in, as JSON.
///
/// `read(name)` returns the text of a scenario file; what it raises is given as the reason. `settings` are pairs of a dotted
/// key and a TOML value.
///
/// Raises `ValueError` with the place, the key and what it may be.
#[pyfunction]
#[pyo3(signature = (name, read, *, settings=Vec::new()))]
pub(crate) fn check_scenario<'py>(
    py: Python<'py>,
    name: &str,
    read: Py<PyAny>,
    settings: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let scenario = draft(py, name, &read, &settings)?.check().map_err(problem)?;
    let json = serde_json::to_vec(&scenario.to_json()).map_err(not_serialised)?;
    Ok(PyBytes::new(py, &json))
}

/// The same for the scenario without its traffic, which need not have any.
#[pyfunction]
#[pyo3(signature = (name, read, *, settings=Vec::new()))]
pub(crate) fn check_link<'py>(
    py: Python<'py>,
    name: &str,
    read: Py<PyAny>,
    settings: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let head = draft(py, name, &read, &settings)?.check_link().map_err(problem)?;
    let json = serde_json::to_vec(&head.to_json()).map_err(not_serialised)?;
    Ok(PyBytes::new(py, &json))
}

/// Runs the scenario called `name` with every combination of the sweeps and `seeds` seeds; returns the JSON document
/// `txop-simulate`.
///
/// `read` and `settings` as for `check_scenario`; `sweeps` are `key=first..last`, `key=first..last:step` or `key=a,b`.
/// `threads`: runs at the same time, 0 for as many as there are processors. `progress(done, all)` is called after runs; an
/// exception in it ends the simulation, as Ctrl-C does.
///
/// For the first run `air` is a file for what a perfect monitor would have captured and `usb` for what usbmon would have;
/// with `waterfall` the result says where its goodput went.
///
/// Raises `ValueError` for an invalid scenario or sweep, `OSError` when a capture cannot be written.
#[pyfunction]
#[pyo3(signature = (
    name, read, *, settings=Vec::new(), sweeps=Vec::new(), seeds=1, threads=0, air=None, usb=None, waterfall=false,
    progress=None,
))]
#[allow(clippy::too_many_arguments)] // keywords on the Python side
pub(crate) fn simulate_scenario<'py>(
    py: Python<'py>,
    name: &str,
    read: Py<PyAny>,
    settings: Vec<(String, String)>,
    sweeps: Vec<String>,
    seeds: u32,
    threads: usize,
    air: Option<PathBuf>,
    usb: Option<PathBuf>,
    waterfall: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let draft = draft(py, name, &read, &settings)?;
    let axis = |text: &String| Axis::parse(text).map_err(|what| PyValueError::new_err(format!("{text}: {what}")));
    let axes = sweeps.iter().map(axis).collect::<PyResult<Vec<Axis>>>()?;
    let wanted =
        Batch { draft, name: name.to_owned(), axes, seeds, threads, captures: Captures { air, usb, waterfall } };

    let stop = Arc::new(AtomicBool::new(false));
    let _stop_at_end = StopAtEnd(Arc::clone(&stop));
    let (news, mut inbox) = channel();
    std::thread::Builder::new().name("txop-simulate".into()).spawn(move || {
        // A panic drops the sender, which the calling thread notices.
        let reports = news.clone();
        let found = batch(&wanted, &stop, &|done, all| drop(reports.send(News::Progress(done, all))));
        let _ = news.send(News::Done(Box::new(found)));
    })?;
    loop {
        let (inbox_back, received) = receive(py, inbox);
        inbox = inbox_back;
        py.check_signals()?;
        match received {
            Ok(News::Progress(done, all)) => {
                if let Some(progress) = &progress {
                    progress.call1(py, (done, all))?;
                }
            }
            Ok(News::Done(found)) => {
                let document = (*found).map_err(|error| match error {
                    BatchError::Scenario(_) | BatchError::TooMuch(_) => PyValueError::new_err(error.to_string()),
                    BatchError::Capture(_) => PyOSError::new_err(error.to_string()),
                    BatchError::Stopped | BatchError::Threads(_) => PyRuntimeError::new_err(error.to_string()),
                })?;
                let json = py.detach(|| serde_json::to_vec(&document)).map_err(not_serialised)?;
                return Ok(PyBytes::new(py, &json));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the simulation broke off; its message is on standard error"));
            }
        }
    }
}

fn draft(py: Python<'_>, name: &str, read: &Py<PyAny>, settings: &[(String, String)]) -> PyResult<Draft> {
    let mut draft = with_texts(py, read, |text_of| Draft::read(name, text_of))?.map_err(problem)?;
    for (key, value) in settings {
        draft.set(key, value).map_err(problem)?;
    }
    Ok(draft)
}

/// What `work` gives when texts of files are what `read(name)` returns; what that raises is the reason that there is none,
/// but for Ctrl-C.
pub(crate) fn with_texts<T>(
    py: Python<'_>,
    read: &Py<PyAny>,
    work: impl FnOnce(&mut dyn FnMut(&str) -> Result<String, String>) -> T,
) -> PyResult<T> {
    let mut fault: Option<PyErr> = None;
    let done = work(&mut |name: &str| {
        let text = read.call1(py, (name,)).and_then(|text| text.extract::<String>(py));
        text.map_err(|error| {
            let what = error.value(py).to_string();
            if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                fault = Some(error);
            }
            what
        })
    });
    fault.map_or(Ok(done), Err)
}

fn problem(problem: Problem) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

fn not_serialised(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(format!("cannot be written as JSON: {error}"))
}
