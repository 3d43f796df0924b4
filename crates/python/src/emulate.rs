//! `emulate_link`: the link engine in real time (`crates/emulate`), and the check of its scenarios.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use ::emulate::{AirSettings, DeviceSettings, EmulateError, Settings};
use link::Scenario;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::os_error;

fn scenario_of(json: &str) -> PyResult<Scenario> {
    Scenario::from_json(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Checks the JSON form of a link scenario; returns it with every default filled in.
///
/// Raises `ValueError` for an unknown key or a value out of range; the message begins with the key (`dut.mcs: ...`).
#[pyfunction]
pub(crate) fn check_link_scenario<'py>(py: Python<'py>, scenario: &str) -> PyResult<Bound<'py, PyBytes>> {
    let json = serde_json::to_vec(&scenario_of(scenario)?).map_err(not_serialised)?;
    Ok(PyBytes::new(py, &json))
}

/// Emulates a link between two TUN devices until one of `stop_fds` can be read (or is hung up); returns the status as JSON
/// (format `txop-emulate`).
///
/// The devices, called `interface`, are made in the network namespaces at the given paths (`/proc/PID/ns/net`), down
/// and without an address; then `ready()` is called. `air` is a pcapng file for what a monitor would have captured;
/// `air_snap_bytes` of each data frame are kept, and the file ends before `air_limit_bytes`.
///
/// Raises `ValueError` for a scenario that cannot be, `OSError` when a namespace, a device or the file is refused.
#[pyfunction]
#[pyo3(signature = (
    scenario, *, ready, stop_fds, dut_namespace=None, ap_namespace=None, interface="air0", mtu=1500,
    air=None, air_snap_bytes=128, air_limit_bytes=None,
))]
#[allow(clippy::too_many_arguments)] // keywords on the Python side
pub(crate) fn emulate_link<'py>(
    py: Python<'py>,
    scenario: &str,
    ready: Py<PyAny>,
    stop_fds: Vec<RawFd>,
    dut_namespace: Option<PathBuf>,
    ap_namespace: Option<PathBuf>,
    interface: &str,
    mtu: u16,
    air: Option<PathBuf>,
    air_snap_bytes: usize,
    air_limit_bytes: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let device = |namespace| DeviceSettings { namespace, name: interface.to_owned(), mtu };
    let settings = Settings {
        scenario: scenario_of(scenario)?,
        dut: device(dut_namespace),
        ap: device(ap_namespace),
        air: air.map(|path| AirSettings { path, snap_bytes: air_snap_bytes, limit_bytes: air_limit_bytes }),
    };
    let stop = stop_fds.into_iter().map(own).collect::<PyResult<Vec<OwnedFd>>>()?;
    let mut not_ready = None;
    let ran = py.detach(|| {
        let stop: Vec<BorrowedFd<'_>> = stop.iter().map(AsFd::as_fd).collect();
        ::emulate::run(settings, &stop, || {
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
    let copied = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
    copied.map_err(|error| PyOSError::new_err(format!("file descriptor {fd}: {error}")))
}

fn from_emulate(error: EmulateError) -> PyErr {
    match error {
        EmulateError::Scenario(error) => PyValueError::new_err(error.to_string()),
        EmulateError::Namespace { source, path } | EmulateError::Air { source, path } => os_error(source, &path),
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
