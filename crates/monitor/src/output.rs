//! A pcapng file with one interface, a limit, and a memory for what went wrong.

use std::io::{ErrorKind, Write};

use capture::{InterfaceSettings, PcapngWriter, WriteError};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;

use crate::settings::{CaptureSettings, CaptureStatus};

/// Bytes of pcapng around a record at most: block header and trailer, padding.
const RECORD_OVERHEAD: u64 = 36;
/// For the blocks at the beginning and the end of the file.
const RESERVED: u64 = 1_024;

/// Where records go. Errors are kept until the end: those who show PPDUs have no use for them.
pub(crate) struct Output<W> {
    file: PcapngWriter<W>,
    interface: u32,
    start_unix_ns: i64,
    limit_bytes: u64,
    bytes: u64,
    full: bool,
    last_ns: u64,
    pub(crate) status: CaptureStatus,
}

/// What another process needs to continue a file, beside the file.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct OutputState {
    bytes: u64,
    full: bool,
    last_ns: u64,
    status: CaptureStatus,
    full_unix_ns: Option<i64>,
}

impl<W> Output<W> {
    pub(crate) fn state(&self) -> OutputState {
        OutputState {
            bytes: self.bytes,
            full: self.full,
            last_ns: self.last_ns,
            status: self.status.clone(),
            full_unix_ns: self.status.full_unix_ns,
        }
    }

    pub(crate) fn continue_as(&mut self, state: OutputState) {
        let OutputState { bytes, full, last_ns, status, full_unix_ns } = state;
        (self.bytes, self.full, self.last_ns) = (bytes, full, last_ns);
        self.status = CaptureStatus { full_unix_ns, ..status };
    }

    pub(crate) const fn inner(&self) -> &W {
        self.file.inner()
    }

    pub(crate) fn inner_mut(&mut self) -> &mut W {
        self.file.inner_mut()
    }
}

impl<W: Write> Output<W> {
    pub(crate) fn new(
        inner: W,
        name: &str,
        link_type: LinkType,
        settings: &CaptureSettings,
    ) -> Result<Self, WriteError> {
        let mut file = PcapngWriter::new(inner, ByteOrder::Little)?;
        let interface = file.add_interface(&InterfaceSettings {
            name: Some(name.to_owned()),
            description: Some(settings.origin.description().to_owned()),
            ..InterfaceSettings::nanos(link_type)
        })?;
        file.flush()?;
        Ok(Self {
            file,
            interface,
            start_unix_ns: settings.start_unix_ns,
            limit_bytes: settings.limit_bytes.unwrap_or(u64::MAX),
            bytes: RESERVED,
            full: false,
            last_ns: 0,
            status: CaptureStatus::default(),
        })
    }

    /// Nothing is written any more.
    pub(crate) const fn is_closed(&self) -> bool {
        self.full || self.status.error.is_some()
    }

    /// Counts frames that are left out.
    pub(crate) fn leave_out(&mut self, frames: u64) {
        self.status.dropped += frames;
    }

    /// Unix time of a time of the link, ns.
    pub(crate) fn unix_ns(&self, at_ns: u64) -> i64 {
        self.start_unix_ns.saturating_add(i64::try_from(at_ns).unwrap_or(i64::MAX))
    }

    pub(crate) fn write(&mut self, at_ns: u64, original_len: usize, data: &[u8]) {
        self.last_ns = self.last_ns.max(at_ns);
        let bytes = self.bytes.saturating_add(data.len() as u64 + RECORD_OVERHEAD);
        if bytes > self.limit_bytes && !self.full {
            self.full = true;
            self.status.full_unix_ns = Some(self.unix_ns(at_ns));
        }
        if self.is_closed() {
            self.status.dropped += 1;
            return;
        }
        let time_ns = self.unix_ns(at_ns);
        match self.file.write(self.interface, time_ns, u32::try_from(original_len).unwrap_or(u32::MAX), data) {
            Ok(()) => {
                self.bytes = bytes;
                self.status.records += 1;
            }
            // A spool that has no room at the moment.
            Err(WriteError::Io(error)) if error.kind() == ErrorKind::WouldBlock => self.status.dropped += 1,
            Err(error) => {
                self.status.dropped += 1;
                self.status.error = Some(error.to_string());
            }
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.status.error.is_none() {
            self.status.error = self.file.flush().err().map(|error| error.to_string());
        }
    }

    /// Ends the file with what it does not have in it.
    pub(crate) fn finish(mut self) -> (W, CaptureStatus) {
        if self.status.error.is_none() {
            let CaptureStatus { records, dropped, .. } = self.status;
            let time_ns = self.unix_ns(self.last_ns);
            let end = self.file.write_statistics(self.interface, time_ns, Some(records + dropped), Some(dropped));
            self.status.error = end.err().map(|error| error.to_string());
            self.flush();
        }
        (self.file.into_inner(), self.status)
    }
}
