//! `analyze_air`: the analysis of `crates/air`, on a thread of its own.
//!
//! The calling thread only waits, relays and looks for Ctrl-C. So a first stage that hangs in a read from a pipe cannot
//! hold up the user: the call returns, and the waiting thread goes with the process.

use std::fs::File;
use std::io::Read;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wire::ieee80211::MacAddr;

use crate::errors::{from_air, os_error, KeyFileError};
use crate::window::{window, End};
use crate::worker::{receive, StopAtEnd};

/// From the analysis to the calling thread.
enum News {
    Progress(u64, Option<u64>),
    Snapshot(Result<Vec<u8>, serde_json::Error>),
    Done(Result<Result<Vec<u8>, serde_json::Error>, air::Error>),
}

/// The analysis' view of the calling thread.
struct Relay {
    news: Sender<News>,
    stop: Arc<AtomicBool>,
    /// Time between two snapshots; `None`: none are wanted.
    every: Option<Duration>,
    last: Instant,
}

impl air::Progress for Relay {
    fn tick(&mut self, bytes_read: u64, total_bytes: Option<u64>) -> bool {
        let heard = self.news.send(News::Progress(bytes_read, total_bytes)).is_ok();
        heard && !self.stop.load(Ordering::Relaxed)
    }

    fn wants_snapshot(&mut self) -> bool {
        self.every.is_some_and(|every| self.last.elapsed() >= every)
    }

    fn snapshot(&mut self, report: air::report::Report) {
        self.last = Instant::now();
        let _ = self.news.send(News::Snapshot(serde_json::to_vec(&report)));
    }
}

/// Analyse the 802.11 capture at `path` (`-`: standard input); returns the report as JSON (format `txop-air`).
///
/// `pair`: transmitter and receiver with a goodput that is explained, the busiest by default. `progress(bytes_read, total)` is
/// called about ten times a second; `total` is `None` where the size is not known; an exception in it ends the analysis.
///
/// `follow`: wait at the end of the file for more; Ctrl-C then ends the waiting, not the call, and the report of all that
/// was read is returned, also when the `KeyboardInterrupt` came up inside `progress` or `snapshot` (a second one is
/// raised). While following, `snapshot(json)` is called with a report of what there is so far every `snapshot_seconds`.
///
/// `bssid`: of stations, links and what is explained only those of this network; `channel`: only frames on this channel
/// (its number, or the MHz of its centre) are counted; `interface`: only records of this interface of the capture, counted
/// from 0.
///
/// `block_acks`: every Block Ack becomes a row.
///
/// `start`, `end`: only records from then on and before then are counted: `(since_first_record, nanoseconds)`, else since
/// 1970.
///
/// `key_file`: a file with keys that protected frames are decrypted with (`txop_decrypt::Keys::parse` says what it holds).
/// `packets`: packets are looked at; with keys they always are.
///
/// Raises `OSError` when the file cannot be read, `CaptureError` when it is not an 802.11 capture or
/// does not have what was chosen, `ValueError` when `pair` is not two MAC addresses, `bssid` is not one, or `snapshot_seconds` is not a time,
/// `KeyFileError` when the file is not a key file; its message repeats nothing of it.
#[pyfunction]
#[pyo3(signature = (path, *, pair=None, bssid=None, channel=None, interface=None, start=None, end=None, block_acks=false, progress=None, follow=false, snapshot=None,
    snapshot_seconds=1.0, key_file=None, packets=false))]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub(crate) fn analyze_air<'py>(
    py: Python<'py>,
    path: PathBuf,
    pair: Option<(String, String)>,
    bssid: Option<String>,
    channel: Option<u16>,
    interface: Option<u32>,
    start: End,
    end: End,
    block_acks: bool,
    progress: Option<Py<PyAny>>,
    follow: bool,
    snapshot: Option<Py<PyAny>>,
    snapshot_seconds: f64,
    key_file: Option<PathBuf>,
    packets: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let pair = pair.map(|(from, to)| Ok::<_, PyErr>((address(&from)?, address(&to)?))).transpose()?;
    let bssid = bssid.map(|bssid| address(&bssid)).transpose()?;
    let selection = air::Selection { bssid, channel: channel.map(air::Channel::from), interface };
    // Off the interpreter: a passphrase takes some milliseconds.
    let keys = key_file.map(|path| py.detach(|| keys(&path))).transpose()?;
    let options =
        air::Options { pair, window: window(start, end), selection, keys, packets, lists_block_acks: block_acks };
    let every = Duration::try_from_secs_f64(snapshot_seconds)
        .map_err(|_| PyValueError::new_err(format!("{snapshot_seconds} is not a number of seconds")))?;

    let stop = Arc::new(AtomicBool::new(false));
    let stop_at_end = StopAtEnd(Arc::clone(&stop));
    let settings = capture::Options {
        follow: follow.then(|| capture::Follow::until(Arc::new(AtomicBool::new(false)))),
        ..capture::Options::default()
    };
    let (news, mut inbox) = mpsc::channel();
    let mut relay = Relay {
        news: news.clone(),
        stop: Arc::clone(&stop),
        every: (follow && snapshot.is_some()).then_some(every),
        last: Instant::now(),
    };
    let input = path.clone();
    std::thread::Builder::new().name("txop-air".into()).spawn(move || {
        // A panic drops both senders, which the calling thread notices.
        let _ = catch_unwind(AssertUnwindSafe(move || {
            let report = air::analyze(&input, settings, options, &mut relay);
            let _ = news.send(News::Done(report.map(|report| serde_json::to_vec(&report))));
        }));
    })?;

    // The first Ctrl-C while following asks for the report of what was read; everything else ends the call.
    let ends_call = |error: PyErr| {
        let asks_for_report = follow && error.is_instance_of::<PyKeyboardInterrupt>(py);
        if asks_for_report && !stop_at_end.0.swap(true, Ordering::Relaxed) {
            Ok(())
        } else {
            Err(error)
        }
    };
    loop {
        let (inbox_back, received) = receive(py, inbox);
        inbox = inbox_back;
        py.check_signals().or_else(ends_call)?;
        let stopping = stop.load(Ordering::Relaxed); // nothing that still waits in the inbox is relayed then
        match received {
            Ok(News::Progress(..) | News::Snapshot(_)) if stopping => {}
            Ok(News::Progress(done, total)) => {
                if let Some(progress) = &progress {
                    progress.call1(py, (done, total)).map(drop).or_else(ends_call)?;
                }
            }
            Ok(News::Snapshot(json)) => {
                if let Some(snapshot) = &snapshot {
                    let json = PyBytes::new(py, &json.map_err(not_serialised)?);
                    snapshot.call1(py, (json,)).map(drop).or_else(ends_call)?;
                }
            }
            Ok(News::Done(Ok(json))) => return Ok(PyBytes::new(py, &json.map_err(not_serialised)?)),
            Ok(News::Done(Err(error))) => return Err(from_air(error, &path)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the analysis broke off; its message is on standard error"));
            }
        }
    }
}

/// Bytes read of a key file: one more than it may have.
const KEY_FILE_BYTES: u64 = (1 << 20) + 1;

fn keys(path: &Path) -> PyResult<Arc<decrypt::Keys>> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(KEY_FILE_BYTES).read_to_end(&mut text));
    read.map_err(|error| os_error(error, path))?;
    let keys = decrypt::Keys::parse(&text);
    text.fill(0);
    let keys = keys.map_err(|error| KeyFileError::new_err(format!("{}: {error}", path.display())))?;
    Ok(Arc::new(keys))
}

fn address(text: &str) -> PyResult<MacAddr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is not a MAC address such as 00:0c:41:82:b2:55")))
}

fn not_serialised(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(format!("the report cannot be written as JSON: {error}"))
}
