//! A file that is written on a thread of its own.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes handed to the thread at once.
const CHUNK_BYTES: usize = 1 << 16;
/// Bytes on the way to the thread at most.
const WAITING_BYTES: usize = 16 << 20;
/// A reader that follows the file sees it this old at most, as long as something comes.
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// A writer that never waits: what is written goes to a thread that writes the file. While too much is on the way, a
/// write is refused as a whole ([`ErrorKind::WouldBlock`]).
pub struct Spool {
    chunk: Vec<u8>,
    flushed: Instant,
    begun: bool,
    sender: Sender<Vec<u8>>,
    /// Written chunks come back to be filled again.
    empty: Receiver<Vec<u8>>,
    shared: Arc<Shared>,
    thread: JoinHandle<io::Result<()>>,
}

#[derive(Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
    /// Error number of the write that failed; 0: none did.
    failure: AtomicI32,
}

impl Shared {
    fn check(&self) -> io::Result<()> {
        match self.failure.load(Ordering::Acquire) {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

/// Said when the operating system does not say what is wrong: EIO.
const INPUT_OUTPUT_ERROR: i32 = 5;

impl Spool {
    /// Makes the file (replaced when it exists) and starts the thread.
    ///
    /// # Errors
    /// The file cannot be made, or no thread.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let (sender, chunks) = channel::<Vec<u8>>();
        let (back, empty) = channel();
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("txop-capture".into())
            .spawn(move || write_chunks(file, &chunks, &back, &of_thread))?;
        let chunk = Vec::with_capacity(CHUNK_BYTES);
        Ok(Self { chunk, flushed: Instant::now(), begun: false, sender, empty, shared, thread })
    }

    /// Bytes that wait to be written.
    pub fn waiting_bytes(&self) -> usize {
        self.chunk.len() + self.shared.waiting_bytes.load(Ordering::Relaxed)
    }

    fn hand_over(&mut self) {
        self.flushed = Instant::now();
        if self.chunk.is_empty() {
            return;
        }
        let next = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK_BYTES));
        let chunk = std::mem::replace(&mut self.chunk, next);
        self.shared.waiting_bytes.fetch_add(chunk.len(), Ordering::Relaxed);
        // Without a receiver the thread has ended, with the error that `close` gives.
        let _ = self.sender.send(chunk);
    }

    /// Writes what is left, and waits until it is written.
    ///
    /// # Errors
    /// What went wrong when the file was written.
    pub fn close(mut self) -> io::Result<()> {
        self.hand_over();
        drop(self.sender);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the writer broke off")))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shared.check()?;
        if self.waiting_bytes().saturating_add(bytes.len()) > WAITING_BYTES {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES || self.flushed.elapsed() > FLUSH_INTERVAL {
            self.hand_over();
        }
        Ok(bytes.len())
    }

    /// Hands over what there is. Only the first time it waits until that is written: so a file that cannot be written is
    /// reported before anything depends on it.
    fn flush(&mut self) -> io::Result<()> {
        self.hand_over();
        while !self.begun && self.waiting_bytes() > 0 && self.shared.check().is_ok() && !self.thread.is_finished() {
            thread::sleep(Duration::from_micros(200));
        }
        self.begun = true;
        self.shared.check()
    }
}

fn write_chunks(mut file: File, chunks: &Receiver<Vec<u8>>, back: &Sender<Vec<u8>>, shared: &Shared) -> io::Result<()> {
    for mut chunk in chunks {
        let written = file.write_all(&chunk);
        if let Err(error) = written {
            shared.failure.store(error.raw_os_error().unwrap_or(INPUT_OUTPUT_ERROR), Ordering::Release);
            return Err(error);
        }
        shared.waiting_bytes.fetch_sub(chunk.len(), Ordering::Relaxed);
        chunk.clear();
        let _ = back.send(chunk);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_in_the_file() {
        let path = std::env::temp_dir().join(format!("txop-spool-{}", std::process::id()));
        let mut spool = Spool::create(&path).expect("a temporary file");
        let mut expected = Vec::new();
        for n in 0..3_000u32 {
            let piece = vec![n as u8; (n % 257) as usize];
            loop {
                match spool.write(&piece) {
                    Ok(len) => break assert_eq!(len, piece.len()),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            expected.extend(piece);
        }
        spool.close().expect("written");
        let written = std::fs::read(&path).expect("the file");
        std::fs::remove_file(&path).expect("the temporary file");
        assert!(written == expected);
    }

    #[test]
    fn a_full_device_is_reported() {
        let Ok(mut spool) = Spool::create(Path::new("/dev/full")) else { return };
        spool.write_all(&[7; 4_096]).expect("not written yet");
        assert_eq!(spool.flush().expect_err("it is full").kind(), ErrorKind::StorageFull);
        assert_eq!(spool.write(&[7]).expect_err("it is full").kind(), ErrorKind::StorageFull);
        assert_eq!(spool.close().expect_err("it is full").kind(), ErrorKind::StorageFull);
    }
}
