//! The captures of a run.

use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use capture::WriteError;
use link::ppdu::Ppdu;
use monitor::{AirCapture, CaptureSettings, CaptureStatus, Network, Origin, Spool, UsbCapture};
use wire::usb::urb::Urb;

use crate::datagram::Datagram;
use crate::status::FileStatus;
use crate::EmulateError;

/// A capture file that is asked for.
#[derive(Clone, Debug)]
pub struct FileSettings {
    /// The pcapng file; replaced when it exists.
    pub path: PathBuf,
    /// Bytes kept of each data frame or transfer, headers included.
    pub snap_bytes: usize,
    /// The file ends before it gets larger than this.
    pub limit_bytes: Option<u64>,
}

/// The files that are being written.
pub(crate) struct Files {
    air: Option<(PathBuf, AirCapture<Spool>)>,
    usb: Option<(PathBuf, UsbCapture<Spool>)>,
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn make<C>(
    file: FileSettings,
    begin: impl FnOnce(Spool, &CaptureSettings) -> Result<C, WriteError>,
) -> Result<(PathBuf, C), EmulateError> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let settings = CaptureSettings {
        start_unix_ns: i64::try_from(since_1970.as_nanos()).unwrap_or(0),
        snap_bytes: file.snap_bytes,
        limit_bytes: file.limit_bytes,
        ..CaptureSettings::new(Origin::Emulated)
    };
    let made = Spool::create(&file.path).and_then(|spool| begin(spool, &settings).map_err(io_error));
    match made {
        Ok(capture) => Ok((file.path, capture)),
        Err(source) => Err(EmulateError::File { path: file.path, source }),
    }
}

fn close(path: PathBuf, (spool, mut status): (Spool, CaptureStatus)) -> FileStatus {
    if let Err(error) = spool.close() {
        status.error = Some(error.to_string());
    }
    FileStatus { path, status }
}

impl Files {
    /// Makes the files. Time 0 of the link is now.
    pub(crate) fn create(
        air: Option<(FileSettings, Network)>,
        usb: Option<FileSettings>,
    ) -> Result<Self, EmulateError> {
        let air = air.map(|(file, network)| make(file, |spool, settings| AirCapture::new(spool, network, settings)));
        let usb = usb.map(|file| make(file, UsbCapture::new));
        Ok(Self { air: air.transpose()?, usb: usb.transpose()? })
    }

    pub(crate) const fn wants_bus(&self) -> bool {
        self.usb.is_some()
    }

    pub(crate) fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        if let Some((_, air)) = &mut self.air {
            air.take(ppdu);
        }
    }

    pub(crate) fn bus(&mut self, urb: &Urb<'_>) {
        if let Some((_, usb)) = &mut self.usb {
            usb.take(urb);
        }
    }

    /// Hands over what is buffered.
    pub(crate) fn flush(&mut self) {
        if let Some((_, air)) = &mut self.air {
            air.flush();
        }
        if let Some((_, usb)) = &mut self.usb {
            usb.flush();
        }
    }

    /// Writes what is left: the air, the bus.
    pub(crate) fn finish(self) -> (Option<FileStatus>, Option<FileStatus>) {
        (
            self.air.map(|(path, capture)| close(path, capture.finish())),
            self.usb.map(|(path, capture)| close(path, capture.finish())),
        )
    }
}
