//! Opening a capture and walking through its records.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use wire::linktype::LinkType;

use crate::damage::{Damage, OpenError};
use crate::decompress::{decompress, Counted};
use crate::follow::{Follow, Following};
use crate::input::Input;
use crate::interfaces::{Drops, Interface, Section};
use crate::located::{Broken, Located};
use crate::pcap::Pcap;
use crate::pcapng::Pcapng;
use crate::recognise::{self, Compression, Container, MAGIC_LEN, NAMING_LEN};

/// How the bytes of an uncompressed regular file are reached. Records are lent without a copy either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Read through a buffer that stays in the processor's cache. The default: with frames of ordinary size it takes
    /// less processor time than page faults do (`examples/count.rs` measures both), and a file that shrinks while it
    /// is read is an ordinary end.
    #[default]
    Buffered,
    /// Mapped window by window, which pays where most of each record is never touched. If another process truncates
    /// the file inside the mapped window, the operating system kills this process (SIGBUS).
    Mapped,
}

/// Settings of a [`Reader`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For uncompressed regular files; everything else is buffered.
    pub access: Access,
    /// Wait at the end of a regular file for more data. Implies [`Access::Buffered`].
    pub follow: Option<Follow>,
    /// Deliver only the records of this interface, an index in [`Reader::interfaces`]; all by default. Records keep the
    /// numbers that they have in the capture.
    pub interface: Option<u32>,
}

/// One captured packet, lent until the next is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Position in the capture, from 1.
    pub number: u64,
    /// Byte offset of the record (pcap) or block (pcapng) in the decompressed capture.
    pub offset: u64,
    /// Nanoseconds since 1970-01-01 UTC; `None` for simple packets, which have no time, and outside the years 1677
    /// to 2262.
    pub time_ns: Option<i64>,
    /// Index in [`Reader::interfaces`]; counts on over all sections.
    pub interface: u32,
    /// Link-layer header type of `data`.
    pub link_type: LinkType,
    /// Bytes the packet had on the wire, as the writer says; may be less than `data.len()` in odd files.
    pub original_len: u32,
    /// The captured bytes.
    pub data: &'a [u8],
}

impl Record<'_> {
    /// Captured bytes.
    #[inline]
    pub fn captured_len(&self) -> u32 {
        self.data.len() as u32
    }
}

enum Format {
    Pcap { pcap: Pcap, section: Box<Section>, interface: Box<Interface> },
    Pcapng(Box<Pcapng>),
}

/// Reads a capture record by record, in memory that does not grow with it.
pub struct Reader {
    input: Input,
    format: Format,
    compression: Option<Compression>,
    records: u64,
    finished: bool,
    only: Option<u32>,
    left_out: u64,
    follow: Option<Follow>,
    /// Bytes taken from a compressed input.
    compressed: Option<Arc<AtomicU64>>,
    total_bytes: Option<u64>,
}

impl Reader {
    /// Opens a file, a named pipe, or with `-` the standard input.
    ///
    /// # Errors
    /// See [`OpenError`]. While a file is followed, waits until it holds a file header.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        let only = options.interface;
        if path.as_os_str() == "-" {
            return Ok(Self::from_read(io::stdin())?.of_interface(only));
        }
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(Self::from_read(file)?.of_interface(only));
        }
        Self::from_file(file, options)
    }

    /// Reads a regular file, which stands at its beginning.
    pub(crate) fn from_file(file: File, options: Options) -> Result<Self, OpenError> {
        let only = options.interface;
        Ok(Self::from_whole_file(file, options)?.of_interface(only))
    }

    /// Delivers only the records of this interface from now on.
    pub(crate) fn of_interface(self, only: Option<u32>) -> Self {
        Self { only, ..self }
    }

    fn from_whole_file(mut file: File, options: Options) -> Result<Self, OpenError> {
        let total_bytes = Some(file.metadata()?.len());
        if let Some(follow) = options.follow {
            let following = Following::new(file, follow.clone());
            return Self::from_parts(following, Some(follow), None);
        }
        let mut magic = Vec::with_capacity(MAGIC_LEN);
        file.by_ref().take(MAGIC_LEN as u64).read_to_end(&mut magic)?;
        io::Seek::rewind(&mut file)?;
        if options.access == Access::Mapped && recognise::compression(&magic).is_none() {
            return Self::with_input(Input::mapped(file), None, None, total_bytes);
        }
        Self::from_parts(file, None, total_bytes)
    }

    /// Reads anything that delivers bytes: a pipe, a socket, memory.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn from_read(read: impl Read + Send + 'static) -> Result<Self, OpenError> {
        Self::from_parts(read, None, None)
    }

    fn from_parts(
        mut read: impl Read + Send + 'static,
        follow: Option<Follow>,
        total_bytes: Option<u64>,
    ) -> Result<Self, OpenError> {
        let mut magic = Vec::with_capacity(MAGIC_LEN);
        read.by_ref().take(MAGIC_LEN as u64).read_to_end(&mut magic)?;
        let compression = recognise::compression(&magic);
        let whole = io::Cursor::new(magic).chain(read);
        let Some(kind) = compression else {
            return Self::with_input(Input::buffered(Box::new(whole)), None, follow, total_bytes);
        };
        let counted = Counted::new(whole);
        let count = counted.count();
        let input = Input::buffered(decompress(kind, counted)?);
        Self::with_input(input, Some((kind, count)), follow, total_bytes)
    }

    fn with_input(
        mut input: Input,
        compressed: Option<(Compression, Arc<AtomicU64>)>,
        follow: Option<Follow>,
        total_bytes: Option<u64>,
    ) -> Result<Self, OpenError> {
        let (compression, compressed) = compressed.unzip();
        let damaged = |broken: Broken| OpenError::Damaged(damage(broken, 0, compressed.as_deref()));
        let failure = input.peek(MAGIC_LEN).err().and_then(|short| short.failure);
        if let Some(failure) = failure {
            let message = format!("the file header could not be read: {failure}");
            return Err(damaged(Broken::contradiction(0, message)));
        }
        let format = match recognise::container(input.unread()) {
            Some(Container::Pcap) => {
                let pcap = Pcap::open(&mut input).map_err(damaged)?;
                let (section, interface) = (Box::new(pcap.section()), Box::new(pcap.interface()));
                Format::Pcap { pcap, section, interface }
            }
            Some(Container::Pcapng) => Format::Pcapng(Box::new(Pcapng::open(&mut input).map_err(damaged)?)),
            None => {
                // More bytes help to name the format; fewer are not an error here.
                let _ = input.peek(NAMING_LEN);
                let head = input.unread();
                return Err(recognise::refusal(head.get(..NAMING_LEN).unwrap_or(head)));
            }
        };
        Ok(Self {
            input,
            format,
            compression,
            records: 0,
            finished: false,
            only: None,
            left_out: 0,
            follow,
            compressed,
            total_bytes,
        })
    }

    /// The next record, `None` at the end.
    ///
    /// # Errors
    /// [`Damage`] once, where the capture breaks off; after it the capture is at its end.
    #[inline]
    #[allow(clippy::should_implement_trait)] // lends, which `Iterator` cannot
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Damage> {
        while !self.finished {
            let located = match &mut self.format {
                Format::Pcap { pcap, .. } => pcap.locate(&mut self.input, self.records + 1),
                Format::Pcapng(pcapng) => pcapng.locate(&mut self.input),
            };
            match located {
                Ok(Some(located)) => {
                    self.records += 1;
                    let Located { offset, time_ns, interface, link_type, original_len, data } = located;
                    if self.only.is_some_and(|only| only != interface) {
                        self.left_out += 1;
                        continue;
                    }
                    let (number, data) = (self.records, self.input.bytes(data));
                    return Ok(Some(Record { number, offset, time_ns, interface, link_type, original_len, data }));
                }
                Ok(None) => self.finished = true,
                Err(broken) => return self.broken(broken).map_or(Ok(None), Err),
            }
        }
        Ok(None)
    }

    /// Records of interfaces that were not chosen, so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the reading; a record that is cut off because following was stopped is not damage.
    #[cold]
    fn broken(&mut self, broken: Broken) -> Option<Damage> {
        self.finished = true;
        let stopped = self.follow.as_ref().is_some_and(|follow| follow.stop.load(Ordering::Acquire));
        (!(stopped && broken.cut_off)).then(|| damage(broken, self.records, self.compressed.as_deref()))
    }

    /// pcap or pcapng.
    pub fn container(&self) -> Container {
        match self.format {
            Format::Pcap { .. } => Container::Pcap,
            Format::Pcapng(_) => Container::Pcapng,
        }
    }

    /// Around the container, if any.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Sections met so far.
    pub fn sections(&self) -> &[Section] {
        match &self.format {
            Format::Pcap { section, .. } => std::slice::from_ref(section),
            Format::Pcapng(pcapng) => &pcapng.sections,
        }
    }

    /// Interfaces met so far, over all sections, in the order of their description.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap { interface, .. } => std::slice::from_ref(interface),
            Format::Pcapng(pcapng) => &pcapng.interfaces,
        }
    }

    /// Packets the capturing host lost, by what was read so far (statistics usually stand at the end).
    pub fn drops(&self) -> Drops {
        match &self.format {
            Format::Pcap { .. } => Drops::default(),
            Format::Pcapng(pcapng) => pcapng.drops(),
        }
    }

    /// Records read so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of the input used so far, compressed ones if it is compressed; for progress against
    /// [`Self::total_bytes`].
    pub fn bytes_read(&self) -> u64 {
        self.compressed.as_ref().map_or_else(|| self.input.offset(), |count| count.load(Ordering::Relaxed))
    }

    /// Size of the file when it was opened; `None` for pipes and files that are followed.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }
}

fn damage(broken: Broken, records: u64, compressed: Option<&AtomicU64>) -> Damage {
    Damage {
        offset: broken.offset,
        compressed_offset: compressed.map(|count| count.load(Ordering::Relaxed)),
        records,
        message: broken.message,
    }
}
