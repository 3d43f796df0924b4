//! Rust errors as Python exceptions.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::import_exception!(txop.core.errors, CaptureError);
pyo3::import_exception!(txop.core.errors, KeyFileError);

/// `OSError` of the fitting kind (`FileNotFoundError`, ...), with the file's name, as Python's own `open` raises it.
pub(crate) fn os_error(error: io::Error, path: &Path) -> PyErr {
    if error.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return error.into(); // an exception of Python's (Ctrl-C) on its way through Rust
    }
    let Some(code) = error.raw_os_error() else {
        return match error.kind() {
            io::ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(format!("{}: {error}", path.display())),
        };
    };
    // "Permission denied (os error 13)": Python puts the number in itself.
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((code, text, path.as_os_str().to_owned()))
}

/// What `air` says when there is no report.
pub(crate) fn from_air(error: air::Error, path: &Path) -> PyErr {
    match error {
        air::Error::Open(capture::OpenError::Io(error)) => os_error(error, path),
        air::Error::Stopped => PyRuntimeError::new_err("stopped"),
        other => CaptureError::new_err(other.to_string()),
    }
}
