//! The recorder of an SDIO bus.

use std::io::Write;

use capture::WriteError;
use wire::linktype::LinkType;
use wire::sdio::log::{Record, HEADER};

use crate::output::{Output, OutputState};
use crate::settings::{CaptureSettings, CaptureStatus};

/// Writes a command log: pcapng with the link type of [`wire::sdio::log`].
pub struct SdioCapture<W> {
    output: Output<W>,
    snap_bytes: usize,
    record: Vec<u8>,
}

impl<W> SdioCapture<W> {
    /// What another process needs to continue the file, beside the file.
    pub fn state(&self) -> OutputState {
        self.output.state()
    }

    /// Continues a file with that state; what is written to is at the place where it was.
    pub fn continue_as(&mut self, state: OutputState) {
        self.output.continue_as(state);
    }

    /// What is written to.
    pub const fn inner(&self) -> &W {
        self.output.inner()
    }

    /// What is written to.
    pub fn inner_mut(&mut self) -> &mut W {
        self.output.inner_mut()
    }
}

impl<W: Write> SdioCapture<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, settings: &CaptureSettings) -> Result<Self, WriteError> {
        Ok(Self {
            output: Output::new(inner, "mmc0", LinkType::SDIO_LOG, settings)?,
            snap_bytes: settings.snap_bytes.max(HEADER),
            record: Vec::with_capacity(4_096),
        })
    }

    /// Writes a record with its data. Errors are reported by [`Self::finish`].
    pub fn take(&mut self, at_ns: u64, record: &Record, data: &[u8]) {
        self.record.clear();
        self.record.extend_from_slice(&record.emit());
        let room = self.snap_bytes - HEADER;
        self.record.extend_from_slice(data.get(..room).unwrap_or(data));
        self.output.write(at_ns, HEADER + data.len(), &self.record);
    }

    /// Ends the file, and gives back what it was written to.
    pub fn finish(self) -> (W, CaptureStatus) {
        self.output.finish()
    }
}
