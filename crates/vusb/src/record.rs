//! What was on the air and went over the buses, written down by the recorders of `monitor`, as modelled links are.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use monitor::{AirRecorder, CaptureSettings, CaptureStatus, Origin, SdioCapture, UsbCapture};
use wire::sdio::log::Record;
use wire::usb::urb::Urb;

use crate::state::{self, Continued, State, StateError};

/// A whole capture. `epoch_ns` is what to add to the run's clock to get the time since 1970; the chips' clock (TSF) is the run's.
pub fn settings(origin: Origin, epoch_ns: i64, limit_bytes: Option<u64>) -> CaptureSettings {
    CaptureSettings { start_unix_ns: epoch_ns, tsf_start_us: 0, limit_bytes, ..CaptureSettings::new(origin) }
}

/// Gets every URB.
pub trait Observer {
    /// A URB was submitted or has ended.
    fn urb(&mut self, urb: &Urb<'_>);

    /// The run ends.
    ///
    /// # Errors
    /// Those of its file.
    fn finish(&mut self) -> io::Result<()>;

    /// Saves itself, as [`State::save`].
    ///
    /// # Errors
    /// It cannot.
    fn save_state(&self, _to: &mut state::Writer) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }

    /// As [`State::restore`].
    ///
    /// # Errors
    /// It cannot.
    fn restore_state(&mut self, _from: &mut state::Reader<'_>) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }
}

/// The capture of the air, until it is finished.
pub struct AirFile {
    path: PathBuf,
    recorder: Option<AirRecorder<BufWriter<File>>>,
    limit_bytes: Option<u64>,
}

/// The capture of the bus, until it is finished.
pub struct UsbFile {
    recorder: Option<UsbCapture<BufWriter<File>>>,
    limit_bytes: Option<u64>,
}

/// The command log of an SDIO bus, until it is finished.
pub struct CommandFile {
    path: PathBuf,
    recorder: Option<SdioCapture<BufWriter<File>>>,
    limit_bytes: Option<u64>,
}

/// A file's error, with its name: a device has several files.
fn named(path: &Path) -> impl FnOnce(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn create(path: &Path, continued: bool) -> io::Result<BufWriter<File>> {
    let file = File::options().write(true).create(true).truncate(!continued).open(path)?;
    Ok(BufWriter::new(file))
}

/// The place in a file and the state of its recorder, in this order.
macro_rules! continued {
    ($type:ty) => {
        impl State for $type {
            fn save(&self, to: &mut state::Writer) -> Result<(), StateError> {
                to.put(&self.recorder.is_some())?;
                if let Some(recorder) = &self.recorder {
                    recorder.inner().save_place(to)?;
                    to.put(&recorder.state())?;
                }
                Ok(())
            }

            fn restore(&mut self, from: &mut state::Reader<'_>) -> Result<(), StateError> {
                if !from.take::<bool>()? {
                    self.recorder = None;
                } else if let Some(recorder) = &mut self.recorder {
                    recorder.inner_mut().restore_place(from)?;
                    recorder.continue_as(from.take()?);
                }
                Ok(())
            }
        }
    };
}

continued!(AirFile);
continued!(UsbFile);
continued!(CommandFile);

/// What was printed of captures that are full, for those that cannot read stderr.
static FULL: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes what was printed of captures that reached their limit: a sentence for each.
pub fn take_full() -> Vec<String> {
    FULL.lock().map(|mut full| std::mem::take(&mut *full)).unwrap_or_default()
}

/// Prints on stderr from when on a capture of `what` has nothing, and gives what went wrong with its file.
fn ended(what: &str, limit_bytes: Option<u64>, status: CaptureStatus) -> io::Result<()> {
    if let (Some(limit_bytes), Some(time_ns)) = (limit_bytes, status.full_unix_ns) {
        let megabytes = limit_bytes >> 20;
        let text = format!("the capture of the {what} is full: {megabytes} MB; nothing after {time_ns} ns is in it");
        eprintln!("txop-vusb: {text}");
        if let Ok(mut full) = FULL.lock() {
            full.push(text);
        }
    }
    status.error.map_or(Ok(()), |error| Err(io::Error::other(error)))
}

impl AirFile {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(path: &Path, settings: &CaptureSettings) -> io::Result<Self> {
        Self::open(path, settings, false)
    }

    /// Creates the file, or opens the one that [`State::restore`] continues.
    ///
    /// # Errors
    /// Those of the file.
    pub fn open(path: &Path, settings: &CaptureSettings, continued: bool) -> io::Result<Self> {
        let recorder = AirRecorder::new(create(path, continued)?, settings).map_err(io::Error::other)?;
        Ok(Self { path: path.into(), recorder: Some(recorder), limit_bytes: settings.limit_bytes })
    }

    /// The recorder, until the end.
    pub(crate) fn recorder(&mut self) -> Option<&mut AirRecorder<BufWriter<File>>> {
        self.recorder.as_mut()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first error of the file since it was created, with its name.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.recorder.take() {
            Some(recorder) => ended("air", self.limit_bytes, recorder.finish().1).map_err(named(&self.path)),
            None => Ok(()),
        }
    }
}

impl CommandFile {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(path: &Path, settings: &CaptureSettings) -> io::Result<Self> {
        Self::open(path, settings, false)
    }

    /// Creates the file, or opens the one that [`State::restore`] continues.
    ///
    /// # Errors
    /// Those of the file.
    pub fn open(path: &Path, settings: &CaptureSettings, continued: bool) -> io::Result<Self> {
        let recorder = SdioCapture::new(create(path, continued)?, settings).map_err(io::Error::other)?;
        Ok(Self { path: path.into(), recorder: Some(recorder), limit_bytes: settings.limit_bytes })
    }

    /// Writes a record.
    pub(crate) fn take(&mut self, at_ns: u64, record: &Record, data: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.take(at_ns, record, data);
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first error of the file since it was created, with its name.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.recorder.take() {
            Some(recorder) => ended("SDIO bus", self.limit_bytes, recorder.finish().1).map_err(named(&self.path)),
            None => Ok(()),
        }
    }
}

impl UsbFile {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(path: &Path, settings: &CaptureSettings) -> io::Result<Self> {
        Self::open(path, settings, false)
    }

    /// Creates the file, or opens the one that [`State::restore`] continues.
    ///
    /// # Errors
    /// Those of the file.
    pub fn open(path: &Path, settings: &CaptureSettings, continued: bool) -> io::Result<Self> {
        let recorder = UsbCapture::new(create(path, continued)?, settings).map_err(io::Error::other)?;
        Ok(Self { recorder: Some(recorder), limit_bytes: settings.limit_bytes })
    }
}

impl Observer for UsbFile {
    fn urb(&mut self, urb: &Urb<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.take(urb);
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.recorder.take() {
            Some(recorder) => ended("bus", self.limit_bytes, recorder.finish().1),
            None => Ok(()),
        }
    }

    fn save_state(&self, to: &mut state::Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut state::Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_capture_ends_without_a_gap_and_counts_what_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usb.pcapng");
        let mut file = UsbFile::create(&path, &settings(Origin::Emulated, 1_000, Some(65_536))).unwrap();
        let urb = Urb {
            at_ns: 0,
            event: wire::usb::usbmon::EventKind::Completion,
            id: 1,
            device: 2,
            endpoint: wire::usb::EndpointAddress(0x81),
            transfer: wire::usb::TransferType::Bulk,
            setup: None,
            interval: 0,
            transfer_flags: 0,
            status: 0,
            length: 8_192,
            data: &[7; 8_192],
        };
        for id in 1..=20 {
            file.urb(&Urb { id, ..urb });
        }
        file.finish().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() <= 65_536);
        let report =
            bus::analyze_read(File::open(&path).unwrap(), None, "usb".to_owned(), &Default::default(), &mut ());
        let summary = report.unwrap().summary;
        assert_eq!((summary.completions, summary.dropped_by_capture), (7, Some(13)));
    }
}
