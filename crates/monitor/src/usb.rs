//! The recorder of the bus.

use std::io::Write;

use capture::WriteError;
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::usb::urb::Urb;
use wire::usb::usbmon::LONG_HEADER;

use crate::output::{Output, OutputState};
use crate::settings::{CaptureSettings, CaptureStatus};

/// The one bus there is.
const BUS: u16 = 1;

/// Writes URBs as usbmon would have captured them: pcapng with link type 220.
pub struct UsbCapture<W> {
    output: Output<W>,
    snap_bytes: usize,
    record: Vec<u8>,
}

impl<W> UsbCapture<W> {
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

impl<W: Write> UsbCapture<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, settings: &CaptureSettings) -> Result<Self, WriteError> {
        Ok(Self {
            output: Output::new(inner, "usbmon1", LinkType::USB_LINUX_MMAPPED, settings)?,
            snap_bytes: settings.snap_bytes.max(LONG_HEADER),
            record: Vec::with_capacity(4_096),
        })
    }

    /// Writes an event. Errors are reported by [`Self::finish`].
    pub fn take(&mut self, urb: &Urb<'_>) {
        let time_us = self.output.unix_ns(urb.at_ns).div_euclid(1_000);
        self.record.clear();
        self.record.extend_from_slice(&urb.header(BUS, time_us).emit(ByteOrder::Little));
        let room = self.snap_bytes - LONG_HEADER;
        self.record.extend_from_slice(urb.data.get(..room).unwrap_or(urb.data));
        self.output.write(urb.at_ns, LONG_HEADER + urb.data.len(), &self.record);
    }

    /// Hands over what is buffered, for those who follow the file.
    pub fn flush(&mut self) {
        self.output.flush();
    }

    /// Ends the file, and gives back what it was written to.
    pub fn finish(self) -> (W, CaptureStatus) {
        self.output.finish()
    }
}
