//! A file that still grows: its end is not the end until reading is stopped.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::damage::Bytes;

/// How to wait for more data.
#[derive(Clone, Debug)]
pub struct Follow {
    /// Set to end the reading: what is in the file by then is still delivered.
    pub stop: Arc<AtomicBool>,
    /// Time between two looks at the file.
    pub poll: Duration,
}

impl Follow {
    /// Follows until `stop` is set, looking ten times a second.
    pub fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop, poll: Duration::from_millis(100) }
    }
}

/// Reads a file and waits at its end.
pub(crate) struct Following {
    file: File,
    follow: Follow,
    position: u64,
}

impl Following {
    pub(crate) fn new(file: File, follow: Follow) -> Self {
        Self { file, follow, position: 0 }
    }
}

impl Read for Following {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // The flag is read before the file, so that nothing written before the flag was set is missed.
            let stopped = self.follow.stop.load(Ordering::Acquire);
            let read = self.file.read(buffer)?;
            self.position += read as u64;
            if read > 0 || stopped || buffer.is_empty() {
                return Ok(read);
            }
            let len = self.file.metadata()?.len();
            if len < self.position {
                return Err(shrank(self.position, len));
            }
            std::thread::sleep(self.follow.poll);
        }
    }
}

/// The file is now shorter than what was read of it.
pub(crate) fn shrank(from: u64, to: u64) -> io::Error {
    let message = format!("the file shrank from at least {} to {} while it was read", Bytes(from), Bytes(to));
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}
