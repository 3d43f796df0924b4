//! `emulate_link`: the link engine in real time (`crates/emulate`), and the check of scenarios that are part of a plan.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use ::emulate::{EmulateError, FileSettings, Settings};
use link::scenario::{Draft, Head, Problem};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::errors::os_error;
use crate::simulate::with_texts;

/// What a document that is part of another one is called in places.
const PART: &str = "";

/// Checks the tables of a scenario without traffic, as JSON; returns the whole with every default filled in. `read(name)`
/// returns the text of the file that `base` names, and of those that this one is based on.
///
/// Raises `ValueError` for an unknown key or a value out of range; the message begins with the key (`wlan.dut.mcs: ...`),
/// with `scenario` when it is of the whole, and with `base` when it is of a file.
#[pyfunction]
pub(crate) fn check_link_tables<'py>(py: Python<'py>, tables: &str, read: Py<PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let document: Value =
        serde_json::from_str(tables).map_err(|error| PyValueError::new_err(format!("scenario: {error}")))?;
    let draft = with_texts(py, &read, |text_of| Draft::from_json(PART, &document, text_of))?.map_err(of_part)?;
    let json = serde_json::to_vec(&draft.check_link().map_err(of_part)?.to_json()).map_err(not_serialised)?;
    Ok(PyBytes::new(py, &json))
}

fn of_part(problem: Problem) -> PyErr {
    let of_a_file = problem.place.as_ref().is_some_and(|place| !place.source.is_empty());
    PyValueError::new_err(match problem.key {
        _ if of_a_file => format!("base: {problem}"),
        Some(key) => format!("{key}: {}", problem.what),
        None => format!("scenario: {}", problem.what),
    })
}

fn head_of(json: &str) -> PyResult<Head> {
    let head: Head = serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("scenario: {error}")))?;
    head.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(head)
}

/// Names of the hosts that the link of a scenario joins, by number. `scenario` as `check_link` and `check_link_tables` return it.
///
/// Raises `ValueError` for an invalid scenario.
#[pyfunction]
pub(crate) fn scenario_hosts(scenario: &str) -> PyResult<Vec<String>> {
    Ok(head_of(scenario)?.hosts())
}

/// Emulates a link between TUN devices until one of `stop_fds` can be read (or is hung up); returns the status as JSON
/// (format `txop-emulate`).
///
/// `scenario` as `check_link` and `check_link_tables` return it. `hosts` is a JSON array, by host number: `name`, `namespace` (a path such as `/proc/PID/ns/net`, or null), `device`, `mtu`
/// and `addresses`, a list. The devices are made down and without an address; then `ready()` is called. `air` and `usb` are
/// pcapng files for what monitors would have captured; `snap_bytes` of each data frame and `usb_snap_bytes` of each
/// transfer (None: all) are kept, and each file ends before `limit_bytes`.
///
/// Raises `ValueError` for an invalid scenario, `OSError` when a namespace, a device or a file is refused.
#[pyfunction]
#[pyo3(signature = (
    scenario, hosts, *, ready, stop_fds, air=None, usb=None, snap_bytes=128, usb_snap_bytes=None,
    limit_bytes=None,
))]
#[allow(clippy::too_many_arguments)] // keywords on the Python side
pub(crate) fn emulate_link<'py>(
    py: Python<'py>,
    scenario: &str,
    hosts: &str,
    ready: Py<PyAny>,
    stop_fds: Vec<RawFd>,
    air: Option<PathBuf>,
    usb: Option<PathBuf>,
    snap_bytes: usize,
    usb_snap_bytes: Option<usize>,
    limit_bytes: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let hosts = serde_json::from_str(hosts).map_err(|error| PyValueError::new_err(format!("hosts: {error}")))?;
    let file = |path, snap_bytes| FileSettings { path, snap_bytes, limit_bytes };
    let air = air.map(|path| file(path, snap_bytes));
    let usb = usb.map(|path| file(path, usb_snap_bytes.unwrap_or(usize::MAX)));
    let settings = Settings { scenario: head_of(scenario)?, hosts, air, usb };
    let stop = stop_fds.into_iter().map(own).collect::<PyResult<Vec<OwnedFd>>>()?;
    let mut not_ready = None;
    let ran = py.detach(|| {
        let stop: Vec<BorrowedFd<'_>> = stop.iter().map(AsFd::as_fd).collect();
        ::emulate::emulate(settings, &stop, || {
            not_ready = Python::attach(|py| ready.call0(py)).err();
            not_ready.is_none()
        })
    });
    if let Some(error) = not_ready {
        return Err(error);
    }
    let json = serde_json::to_vec(&ran.map_err(from_emulate)?).map_err(not_serialised)?;
    Ok(PyBytes::new(py, &json))
}

/// A copy of a file descriptor of Python's.
fn own(fd: RawFd) -> PyResult<OwnedFd> {
    if fd < 0 {
        return Err(PyValueError::new_err(format!("{fd} is not a file descriptor")));
    }
    // SAFETY: the borrow ends with this statement, and the interpreter lock keeps other Python code from closing the
    // descriptor meanwhile. A number that is not open is refused by dup.
    #[expect(unsafe_code, reason = "a descriptor of Python's is borrowed for one call")]
    let copied = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
    copied.map_err(|error| PyOSError::new_err(format!("file descriptor {fd}: {error}")))
}

fn from_emulate(error: EmulateError) -> PyErr {
    match error {
        error @ (EmulateError::Scenario(_) | EmulateError::NothingToCapture { .. }) => {
            PyValueError::new_err(error.to_string())
        }
        EmulateError::Namespace { source, path } | EmulateError::File { source, path } => os_error(source, &path),
        EmulateError::Device { ref source, .. }
        | EmulateError::Lost { ref source, .. }
        | EmulateError::System { ref source, .. } => match source.raw_os_error() {
            // With the number Python makes it the fitting kind (PermissionError, FileNotFoundError).
            Some(code) => PyOSError::new_err((code, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
    }
}

fn not_serialised(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(format!("cannot be written as JSON: {error}"))
}
