//! Writing classic pcap.

use std::io::{self, Write};

use wire::linktype::LinkType;
use wire::pcap::{ByteOrder, FileHeader, Flavour, Fraction, RecordHeader};

use crate::located::RECORD_LEN_MAX;

/// Why a record or header cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format has no number for this instant.
    #[error("the time {time_ns} ns after 1970 does not fit into the format's timestamp")]
    Time {
        /// The instant.
        time_ns: i64,
    },
    /// More data than readers accept.
    #[error("a record of {len} bytes is longer than the 16,777,216 that readers accept")]
    TooLong {
        /// Length of the data.
        len: usize,
    },
    /// A packet for an interface that was not added to the section.
    #[error("interface {interface} is not described in this section")]
    NoInterface {
        /// The index asked for.
        interface: u32,
    },
}

/// What the file header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcapSettings {
    /// Byte order of the file.
    pub byte_order: ByteOrder,
    /// Unit of the times; finer parts are cut off.
    pub fraction: Fraction,
    /// Largest captured length announced, in bytes; not enforced.
    pub snap_len: u32,
    /// Link-layer header type of all records.
    pub link_type: LinkType,
    /// Bytes of frame check sequence at the end of each frame, if it is to be announced; even.
    pub fcs_len: Option<u8>,
}

impl PcapSettings {
    /// Little endian, microseconds.
    pub const fn micros(link_type: LinkType) -> Self {
        Self { byte_order: ByteOrder::Little, fraction: Fraction::Micros, snap_len: 262_144, link_type, fcs_len: None }
    }

    /// Little endian, nanoseconds.
    pub const fn nanos(link_type: LinkType) -> Self {
        Self { fraction: Fraction::Nanos, ..Self::micros(link_type) }
    }
}

/// Writes a pcap file. Wrap `W` in a `BufWriter` where writes are dear.
#[derive(Debug)]
pub struct PcapWriter<W> {
    inner: W,
    settings: PcapSettings,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(mut inner: W, settings: PcapSettings) -> Result<Self, WriteError> {
        let PcapSettings { byte_order, fraction, snap_len, link_type, fcs_len } = settings;
        let flavour = Flavour::Standard(fraction);
        let header = FileHeader { byte_order, flavour, version: (2, 4), snap_len, link_type, fcs_len };
        inner.write_all(&header.emit())?;
        Ok(Self { inner, settings })
    }

    /// Writes a record of `data`, captured `time_ns` after 1970-01-01 UTC, that had `original_len` bytes on the wire.
    ///
    /// # Errors
    /// A time before 1970 or after 2106, too much data, and those of `inner`. Nothing is written for the first two.
    pub fn write(&mut self, time_ns: i64, original_len: u32, data: &[u8]) -> Result<(), WriteError> {
        let seconds = u32::try_from(time_ns.div_euclid(1_000_000_000)).map_err(|_| WriteError::Time { time_ns })?;
        let fraction = time_ns.rem_euclid(1_000_000_000) / self.settings.fraction.unit_ns();
        let captured_len = checked_len(data)?;
        let header = RecordHeader { seconds, fraction: fraction as u32, captured_len, original_len };
        self.inner.write_all(&header.emit(self.settings.byte_order))?;
        self.inner.write_all(data)?;
        Ok(())
    }

    /// Flushes `inner`.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.inner.flush()?)
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

/// The length of a record's data, if readers accept it.
pub(crate) fn checked_len(data: &[u8]) -> Result<u32, WriteError> {
    let len = u32::try_from(data.len()).ok().filter(|&len| len <= RECORD_LEN_MAX);
    len.ok_or(WriteError::TooLong { len: data.len() })
}
