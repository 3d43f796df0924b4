//! The bytes of a capture, uncompressed, front to back: a sliding window over a mapped file or over a buffer that a
//! reader fills. Records are lent as ranges of the window, so nothing is copied.

use std::fs::File;
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};

use crate::follow::shrank;

/// First size of the buffer. Calibrated: of 256 KiB to 2 MiB the analysis of small frames took the least time with this one
/// (6 % less than with 256 KiB; `docs/performance.md`), of large frames the same.
const BUFFER_LEN: usize = 2 << 20;
/// Bytes mapped at once: resident memory stays below this for a file of any size.
const WINDOW_LEN: u64 = 16 << 20;
/// Mappings begin at a multiple of this; every page size in use divides it.
const MAP_ALIGNMENT: u64 = 64 << 10;

/// Fewer bytes than asked for are left.
#[derive(Debug)]
pub(crate) struct Short {
    /// Bytes left.
    pub available: usize,
    /// Why no more will come, if it is not the regular end of the input.
    pub failure: Option<String>,
}

/// Where the window's bytes come from.
enum Backing {
    Mapped { file: File, map: Option<Mmap>, seen_len: u64 },
    Buffered { reader: Box<dyn Read + Send>, buffer: Vec<u8>, filled: usize },
}

impl Backing {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped { map, .. } => map.as_deref().unwrap_or_default(),
            Self::Buffered { buffer, filled, .. } => buffer.get(..*filled).unwrap_or_default(),
        }
    }
}

/// A range of the present window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    start: usize,
    len: usize,
}

/// See the module.
pub(crate) struct Input {
    backing: Backing,
    /// First unread byte in the window.
    position: usize,
    /// Offset of the window's first byte in the capture.
    window_offset: u64,
    failure: Option<String>,
    ended: bool,
}

impl Input {
    /// Reads through a buffer.
    pub(crate) fn buffered(reader: Box<dyn Read + Send>) -> Self {
        Self::new(Backing::Buffered { reader, buffer: vec![0; BUFFER_LEN], filled: 0 })
    }

    /// Maps a regular file, window after window.
    pub(crate) fn mapped(file: File) -> Self {
        Self::new(Backing::Mapped { file, map: None, seen_len: 0 })
    }

    fn new(backing: Backing) -> Self {
        Self { backing, position: 0, window_offset: 0, failure: None, ended: false }
    }

    /// Offset in the capture of the next unread byte.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.window_offset + self.position as u64
    }

    /// The unread bytes of the window.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.backing.bytes().get(self.position..).unwrap_or_default()
    }

    /// The next `len` bytes, without taking them.
    #[inline]
    pub(crate) fn peek(&mut self, len: usize) -> Result<&[u8], Short> {
        if self.unread().len() < len {
            self.fill(len)?;
        }
        Ok(self.unread().get(..len).unwrap_or_default())
    }

    /// The next `N` bytes, without taking them.
    #[inline]
    pub(crate) fn peek_array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        if self.unread().len() < N {
            self.fill(N)?;
        }
        Ok(self.unread().first_chunk().copied().unwrap_or([0; N]))
    }

    /// Takes `len` bytes that were peeked, and names the `data_len` of them that begin `data_at` after the first.
    #[inline]
    pub(crate) fn take(&mut self, len: usize, data_at: usize, data_len: usize) -> Range {
        let start = self.position + data_at;
        self.position += len;
        Range { start, len: data_len }
    }

    /// The bytes of a range taken since the last `peek` or `skip`.
    #[inline]
    pub(crate) fn bytes(&self, range: Range) -> &[u8] {
        self.backing.bytes().get(range.start..range.start + range.len).unwrap_or_default()
    }

    /// Takes `len` bytes unseen; needs no room for them.
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Short> {
        let mut left = len;
        while left > 0 {
            let unread = self.unread().len() as u64;
            if unread == 0 {
                self.fill(1).map_err(|short| Short { available: (len - left) as usize, ..short })?;
                continue;
            }
            let step = unread.min(left);
            self.position += step as usize;
            left -= step;
        }
        Ok(())
    }

    /// Brings at least `len` unread bytes into the window.
    #[cold]
    fn fill(&mut self, len: usize) -> Result<(), Short> {
        if !self.ended {
            let result = match self.backing {
                Backing::Mapped { .. } => self.remap(len),
                Backing::Buffered { .. } => self.read(len),
            };
            if let Err(error) = result {
                self.ended = true;
                self.failure = Some(error.to_string());
            }
        }
        let available = self.unread().len();
        if available >= len {
            return Ok(());
        }
        Err(Short { available, failure: self.failure.clone() })
    }

    fn read(&mut self, len: usize) -> io::Result<()> {
        let Backing::Buffered { reader, buffer, filled } = &mut self.backing else { return Ok(()) };
        if self.position > 0 {
            buffer.copy_within(self.position..*filled, 0);
            self.window_offset += self.position as u64;
            *filled -= self.position;
            self.position = 0;
        }
        while *filled < len {
            if *filled == buffer.len() {
                // Doubled only when it is full: a length that lies costs no more than the bytes that are there.
                buffer.resize(buffer.len() * 2, 0);
            }
            match reader.read(buffer.get_mut(*filled..).unwrap_or_default()) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => *filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn remap(&mut self, len: usize) -> io::Result<()> {
        let offset = self.offset();
        let Backing::Mapped { file, map, seen_len } = &mut self.backing else { return Ok(()) };
        let file_len = file.metadata()?.len();
        if file_len < *seen_len {
            return Err(shrank(*seen_len, file_len));
        }
        *seen_len = file_len;
        let start = offset - offset % MAP_ALIGNMENT;
        let wanted = WINDOW_LEN.max(offset - start + len as u64);
        let window_len = wanted.min(file_len.saturating_sub(start));
        // The old window goes first, so that two are never mapped together.
        *map = None;
        self.window_offset = start;
        self.position = (offset - start) as usize;
        if window_len <= offset - start {
            // Nothing left to map; the empty window begins at the offset.
            self.window_offset = offset;
            self.position = 0;
            return Ok(());
        }
        let window_len = usize::try_from(window_len).map_err(io::Error::other)?;
        // SAFETY: the mapping is private to this value, read-only and dropped before the file. Nothing in this process
        // writes to the file through Rust memory. Another process may: changed bytes are as good as any hostile input
        // to the parsers, which read every value once. If another process truncates the file inside the mapped window
        // after the length was taken above, touching the missing pages raises SIGBUS; callers that cannot exclude it
        // read buffered (`Access::Buffered`), and a file that is followed always is.
        #[expect(unsafe_code, reason = "a file is mapped")]
        let window = unsafe { MmapOptions::new().offset(start).len(window_len).map(&*file) }?;
        #[cfg(unix)]
        window.advise(memmap2::Advice::Sequential)?;
        *map = Some(window);
        Ok(())
    }
}
