//! What a driver and a device say to each other, written down for people who debug drivers: one JSON object per line.
//!
//! ```text
//! {"t_s":9.481906,"event":"write","bytes":4,"register":"0x0608","name":"RCR","value":"0x7000280e"}
//! ```
//!
//! A layer around a device, like faults. [`Traced`] knows transfers; what their contents mean says the device's
//! [`Vocabulary`]. Transfers are written when they are answered: a NAK is not an answer. Faults of a script stand in front
//! of the transfer that they happened to.

mod line;
mod names;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::RawFd;
use std::path::Path;

use serde::Serialize;
use wire::usb::setup::Setup;

use crate::device::{
    ControlReply, Device, DeviceCounters, Effect, FaultCounters, FaultEvent, Identity, InReply, OutReply, Source,
};
use crate::pci::{PciIdentity, Register, Width};
use crate::state::{self, Continued, State, StateError};
pub use line::{hex, Detail, FrameDetail, Plain, Vocabulary};
pub use names::Names;

/// Bytes after which a trace ends: a guest keeps it in memory.
pub const LIMIT: u64 = 256 << 20;

#[derive(Serialize)]
struct Line<'a> {
    t_s: f64,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stall: bool,
    #[serde(flatten)]
    detail: Detail,
}

/// A trace's file.
struct Writer<W> {
    out: W,
    left: u64,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    fn line(&mut self, line: &Line<'_>) {
        if self.left == 0 || self.failed.is_some() {
            return;
        }
        let result = serde_json::to_vec(line).map_err(io::Error::other).and_then(|mut bytes| {
            bytes.push(b'\n');
            let len = bytes.len() as u64;
            if len > self.left {
                self.left = 0;
                let last = format!("{{\"t_s\":{},\"event\":\"the trace is full\"}}\n", line.t_s);
                return self.out.write_all(last.as_bytes());
            }
            self.left -= len;
            self.out.write_all(&bytes)
        });
        self.failed = result.err();
    }
}

/// A device with a conversation that is written down.
pub struct Traced<D, W> {
    inner: D,
    vocabulary: Box<dyn Vocabulary>,
    writer: Writer<W>,
    present: bool,
    /// Faults to be written; kept for its memory.
    events: Vec<FaultEvent>,
}

impl<D: Device> Traced<D, BufWriter<File>> {
    /// Creates the file; one that is continued is there, and stays until [`State::restore`].
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(inner: D, vocabulary: Box<dyn Vocabulary>, path: &Path, continued: bool) -> io::Result<Self> {
        let file = File::options().write(true).create(true).truncate(!continued).open(path)?;
        Ok(Self::new(inner, vocabulary, BufWriter::new(file), LIMIT))
    }
}

impl<D: Device, W: Write> Traced<D, W> {
    /// Writes at most `limit` bytes and a last line.
    pub fn new(inner: D, vocabulary: Box<dyn Vocabulary>, out: W, limit: u64) -> Self {
        Self { inner, vocabulary, writer: Writer { out, left: limit, failed: None }, present: true, events: Vec::new() }
    }

    fn note(&mut self, now_ns: u64, event: &str, detail: Detail) {
        self.transfer(now_ns, event, None, None, false, detail);
    }

    /// Writes the faults of the call that was just made.
    fn faults(&mut self, now_ns: u64) {
        let mut events = std::mem::take(&mut self.events);
        self.inner.fault_events(&mut events);
        for fault in events.drain(..) {
            let name = Some(fault.name).filter(|name| !name.is_empty());
            self.note(now_ns, "fault", Detail { name, means: Some(fault.what), ..Detail::default() });
        }
        self.events = events;
    }

    /// An access to a register on PCI. Of several functions, the first is the device under test: the others are not told apart
    /// by their registers, so the line has their number.
    fn register(&mut self, now_ns: u64, event: &str, register: Register, value: u32) {
        self.faults(now_ns);
        let Register { function, offset, width } = register;
        let detail = Detail {
            register: Some(format!("{offset:#06x}")),
            name: self.vocabulary.register(offset),
            value: Some(match width {
                Width::Byte => format!("{value:#04x}"),
                Width::Half => format!("{value:#06x}"),
                Width::Word => format!("{value:#010x}"),
            }),
            function: (function > 0).then_some(function),
            ..Detail::default()
        };
        self.transfer(now_ns, event, None, None, false, detail);
    }

    fn transfer(
        &mut self,
        now_ns: u64,
        event: &str,
        endpoint: Option<u8>,
        bytes: Option<usize>,
        stall: bool,
        detail: Detail,
    ) {
        let t_s = now_ns as f64 / 1e9;
        self.writer.line(&Line { t_s, event, endpoint, bytes, stall, detail });
    }
}

impl<D: Device, W: Continued> Device for Traced<D, W> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn functions(&self) -> Vec<PciIdentity> {
        self.inner.functions()
    }

    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        let value = self.inner.read_register(now_ns, register);
        self.register(now_ns, "read", register, value);
        value
    }

    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        self.inner.write_register(now_ns, register, value);
        self.register(now_ns, "write", register, value);
    }

    fn interrupts(&self) -> u32 {
        self.inner.interrupts()
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        let reply = self.inner.control(now_ns, setup, data);
        self.faults(now_ns);
        let (bytes, stall) = match &reply {
            ControlReply::Nak => return reply,
            ControlReply::Data(bytes) => (&bytes[..], false),
            ControlReply::Accepted => (data, false),
            ControlReply::Stall => (data, true),
        };
        let detail = self.vocabulary.control(setup, bytes, stall);
        let event = if setup.is_in() { "read" } else { "write" };
        self.transfer(now_ns, event, None, Some(bytes.len()), stall, detail);
        reply
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        let reply = self.inner.transfer_out(now_ns, endpoint, data);
        self.faults(now_ns);
        if reply != OutReply::Nak {
            let detail = self.vocabulary.transfer_out(endpoint, data);
            self.transfer(now_ns, "out", Some(endpoint), Some(data.len()), reply == OutReply::Stall, detail);
        }
        reply
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        let reply = self.inner.transfer_in(now_ns, endpoint, transfer);
        self.faults(now_ns);
        if reply != InReply::Nak {
            let detail = self.vocabulary.transfer_in(endpoint, transfer);
            self.transfer(now_ns, "in", Some(endpoint), Some(transfer.len()), reply == InReply::Stall, detail);
        }
        reply
    }

    fn advance(&mut self, now_ns: u64) {
        self.inner.advance(now_ns);
        self.faults(now_ns);
        let present = self.inner.is_present(now_ns);
        if present != self.present {
            self.present = present;
            self.note(now_ns, if present { "present" } else { "unplugged" }, Detail::default());
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.inner.next_event()
    }

    fn reset(&mut self, now_ns: u64) {
        self.inner.reset(now_ns);
        self.vocabulary.reset();
        self.note(now_ns, "plugged in", Detail::default());
    }

    fn is_present(&self, now_ns: u64) -> bool {
        self.inner.is_present(now_ns)
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.inner.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.inner.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        if !matches!(effect, Effect::Reseed(..)) {
            let means = format!("{effect:?}");
            self.note(now_ns, "fault", Detail { means: Some(means), ..Detail::default() });
        }
        self.inner.inject(now_ns, effect)
    }

    fn fault_events(&mut self, events: &mut Vec<FaultEvent>) {
        self.inner.fault_events(events);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        self.inner.statistics()
    }

    fn fault_counters(&self) -> Option<Vec<FaultCounters>> {
        self.inner.fault_counters()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.finish()?;
        match self.writer.failed.take() {
            Some(error) => Err(error),
            None => self.writer.out.flush(),
        }
    }

    fn save_state(&self, to: &mut state::Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut state::Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({D: Device, W: Continued} Traced<D, W> { writer, present, events } within { inner, vocabulary });

impl<W: Continued> State for Writer<W> {
    fn save(&self, to: &mut state::Writer) -> Result<(), StateError> {
        to.put(&self.left)?;
        self.out.save_place(to)
    }

    fn restore(&mut self, from: &mut state::Reader<'_>) -> Result<(), StateError> {
        self.left = from.take()?;
        self.out.restore_place(from)
    }
}
