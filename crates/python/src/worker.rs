//! A thread that works for a call from Python, while the call waits for its news.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;

/// How long Ctrl-C may go unnoticed.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// Asks the worker to stop when the call ends, however it ends.
pub(crate) struct StopAtEnd(pub(crate) Arc<AtomicBool>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits for news for as long as signals may wait, with the interpreter lock released; gives the inbox back.
pub(crate) fn receive<T: Send>(py: Python<'_>, inbox: Receiver<T>) -> (Receiver<T>, Result<T, RecvTimeoutError>) {
    py.detach(move || {
        let received = inbox.recv_timeout(SIGNAL_CHECK);
        (inbox, received)
    })
}
