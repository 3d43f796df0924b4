//! Decompression as a stream, with memory bounded by the format's window and never by what the data claims.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};

use crate::recognise::Compression;

const COMPRESSED_BUFFER_LEN: usize = 128 << 10;
/// 2^27 bytes = 128 MiB, zstd's own default limit for a decoder; larger windows are refused.
#[cfg(feature = "zstd")]
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Counts the bytes taken from an input.
pub(crate) struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, count: Arc::default() }
    }

    pub(crate) fn count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.count)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A reader of the decompressed bytes of `inner`.
pub(crate) fn decompress(
    compression: Compression,
    inner: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    let inner = BufReader::with_capacity(COMPRESSED_BUFFER_LEN, inner);
    Ok(match compression {
        Compression::Gzip => Box::new(Gzip::new(inner)),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without zstd"))
        }
        #[cfg(feature = "zstd")]
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(inner)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(Zstd(decoder))
        }
    })
}

#[cfg(feature = "zstd")]
struct Zstd<R: BufRead>(zstd::stream::read::Decoder<'static, R>);

#[cfg(feature = "zstd")]
impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            io::ErrorKind::UnexpectedEof => cut_off("zstd"),
            kind => io::Error::new(kind, format!("the zstd data is damaged ({error})")),
        })
    }
}

fn cut_off(format: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the {format} data is cut off"))
}

/// Every member of a gzip file one after the other. Unlike a reader that reports an error instead of bytes, it delivers
/// the bytes decoded before the error first.
struct Gzip<R> {
    inner: R,
    member: Member,
}

enum Member {
    /// Between two members, or before the first.
    Between,
    Inside(Box<Decompress>),
    Failed(String),
    Ended,
}

impl<R: BufRead> Gzip<R> {
    fn new(inner: R) -> Self {
        Self { inner, member: Member::Inside(Box::new(Decompress::new_gzip(15))) }
    }

    fn begin_member(&mut self) -> io::Result<Member> {
        loop {
            // Zeros between members and after the last are padding (tapes, block devices), as gzip itself takes them.
            let bytes = self.inner.fill_buf()?;
            let Some(first) = bytes.iter().position(|&byte| byte != 0) else {
                if bytes.is_empty() {
                    return Ok(Member::Ended);
                }
                let zeros = bytes.len();
                self.inner.consume(zeros);
                continue;
            };
            if bytes.get(first) != Some(&0x1f) {
                return Ok(Member::Failed("the gzip data is followed by something else".to_owned()));
            }
            self.inner.consume(first);
            return Ok(Member::Inside(Box::new(Decompress::new_gzip(15))));
        }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let decoder = match &mut self.member {
                Member::Ended => return Ok(0),
                Member::Failed(message) => return Err(io::Error::new(io::ErrorKind::InvalidData, message.clone())),
                Member::Between => {
                    self.member = self.begin_member()?;
                    continue;
                }
                Member::Inside(decoder) => decoder,
            };
            let input = self.inner.fill_buf()?;
            let at_end = input.is_empty();
            let (in_before, out_before) = (decoder.total_in(), decoder.total_out());
            let result = decoder.decompress(input, buffer, FlushDecompress::None);
            let consumed = (decoder.total_in() - in_before) as usize;
            let produced = (decoder.total_out() - out_before) as usize;
            self.inner.consume(consumed);
            match result {
                Ok(Status::StreamEnd) => self.member = Member::Between,
                Ok(_) if produced == 0 && at_end => return Err(cut_off("gzip")),
                Ok(_) if produced == 0 && consumed == 0 => {
                    self.member = Member::Failed("the gzip data is damaged (no progress)".to_owned());
                }
                Ok(_) => {}
                Err(error) => self.member = Member::Failed(format!("the gzip data is damaged ({error})")),
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
    }
}
