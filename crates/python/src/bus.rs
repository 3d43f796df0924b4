//! `analyze_bus`: the analysis of `crates/bus`, on a thread of its own, so that Ctrl-C works while a pipe is silent.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{os_error, CaptureError};
use crate::window::{window, End};
use crate::worker::{receive, StopAtEnd};

/// From the analysis to the calling thread.
enum News {
    Progress(u64, Option<u64>),
    Done(Result<Result<Vec<u8>, serde_json::Error>, bus::Error>),
}

struct Relay {
    news: Sender<News>,
    stop: Arc<AtomicBool>,
}

impl bus::Progress for Relay {
    fn tick(&mut self, bytes_read: u64, total_bytes: Option<u64>) -> bool {
        self.news.send(News::Progress(bytes_read, total_bytes)).is_ok() && !self.stop.load(Ordering::Relaxed)
    }
}

/// Analyse the USB capture or usbmon text at `path` (`-`: standard input); returns the report as JSON (format
/// `txop-bus`).
///
/// `progress(bytes_read, total)` is called about ten times a second; `total` is `None` where the size is not known; an
/// exception in it ends the analysis.
///
/// `start`, `end`: as in `analyze_air`.
///
/// Raises `OSError` when the file cannot be read, `CaptureError` when it is not a USB capture.
#[pyfunction]
#[pyo3(signature = (path, *, start=None, end=None, progress=None))]
pub(crate) fn analyze_bus<'py>(
    py: Python<'py>,
    path: PathBuf,
    start: End,
    end: End,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let stop = Arc::new(AtomicBool::new(false));
    let _stop_at_end = StopAtEnd(Arc::clone(&stop));
    let (news, mut inbox) = channel();
    let mut relay = Relay { news: news.clone(), stop };
    let input = path.clone();
    let options = bus::Options { window: window(start, end) };
    std::thread::Builder::new().name("txop-bus".into()).spawn(move || {
        // A panic drops both senders, which the calling thread notices.
        let _ = catch_unwind(AssertUnwindSafe(move || {
            let report = bus::analyze(&input, &options, &mut relay);
            let _ = news.send(News::Done(report.map(|report| serde_json::to_vec(&report))));
        }));
    })?;
    loop {
        let (inbox_back, received) = receive(py, inbox);
        inbox = inbox_back;
        py.check_signals()?;
        match received {
            Ok(News::Progress(done, total)) => {
                if let Some(progress) = &progress {
                    progress.call1(py, (done, total))?;
                }
            }
            Ok(News::Done(Ok(Ok(json)))) => return Ok(PyBytes::new(py, &json)),
            Ok(News::Done(Ok(Err(error)))) => {
                return Err(PyRuntimeError::new_err(format!("the report cannot be written as JSON: {error}")));
            }
            Ok(News::Done(Err(error))) => {
                return Err(match error {
                    bus::Error::Open(capture::OpenError::Io(error)) | bus::Error::Io(error) => os_error(error, &path),
                    bus::Error::Stopped => PyRuntimeError::new_err("stopped"),
                    other => CaptureError::new_err(other.to_string()),
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the analysis broke off; its message is on standard error"));
            }
        }
    }
}
