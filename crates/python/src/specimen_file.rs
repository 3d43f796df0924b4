//! `write_specimen`: a capture made by `crates/specimen`, in a file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use specimen::{Container, Scene, PRESETS};

use crate::errors::os_error;

/// How long Ctrl-C may go unnoticed.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);

/// A writer that looks for Ctrl-C now and then, and then fails with Python's own exception inside.
struct Interruptible<W> {
    inner: W,
    checked: Instant,
}

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.checked.elapsed() >= SIGNAL_CHECK {
            self.checked = Instant::now();
            Python::attach(|py| py.check_signals()).map_err(io::Error::other)?;
        }
        self.inner.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The scenes that `write_specimen` knows: name, and what it shows.
#[pyfunction]
pub(crate) fn specimen_scenes() -> Vec<(&'static str, &'static str)> {
    PRESETS.to_vec()
}

/// Make an 802.11 monitor capture with a known truth, and return that truth as JSON.
///
/// `scene` is one of `specimen_scenes()`; the same scene, `seed` and `seconds` always give the same bytes. The file is
/// pcapng when the name ends so, otherwise what the scene says. A file of that name is replaced; it is removed again
/// when the writing fails.
///
/// Raises `OSError` when the file cannot be written, `ValueError` for an unknown scene or impossible `seconds`.
#[pyfunction]
#[pyo3(signature = (path, *, seed, seconds, scene="healthy"))]
pub(crate) fn write_specimen<'py>(
    py: Python<'py>,
    path: PathBuf,
    seed: u64,
    seconds: f64,
    scene: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut settings = Scene::preset(scene)
        .ok_or_else(|| PyValueError::new_err(format!("there is no scene {scene:?}; see specimen_scenes()")))?;
    settings.seed = seed;
    settings.seconds = seconds;
    if path.extension().is_some_and(|extension| extension == "pcapng") {
        settings.output.container = Container::Pcapng;
    }
    let written = py.detach(|| {
        let file = File::create(&path)?;
        let mut out = Interruptible { inner: BufWriter::with_capacity(1 << 18, file), checked: Instant::now() };
        let truth = specimen::write(&settings, &mut out).and_then(|truth| out.flush().map(|()| truth));
        if truth.is_err() {
            let _ = fs::remove_file(&path);
        }
        truth
    });
    let truth = written.map_err(|error| os_error(error, &path))?;
    let json = serde_json::to_vec_pretty(&truth)
        .map_err(|error| PyRuntimeError::new_err(format!("the truth cannot be written as JSON: {error}")))?;
    Ok(PyBytes::new(py, &json))
}
