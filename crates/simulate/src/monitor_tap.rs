//! Monitors on a running link: capture files, and the analysis of the air while it happens.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::JoinHandle;

use air::report::{Report, Waterfall};
use link::{HostId, Packet, Ppdu};
use monitor::{address, AirCapture, CaptureSettings, CaptureStatus, Network, Origin, UsbCapture};
use wire::usb::urb::Urb;

/// Pieces of a capture on their way to the analysis, and bytes in each.
const PIECES: usize = 64;
const PIECE_BYTES: usize = 1 << 16;
/// Bytes of a data frame that the analysis looks at.
const ANALYSED_BYTES: usize = 160;

/// What is to be captured of a run, from the end of the warm-up to the end.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    /// File for what a perfect monitor of the air would have captured.
    pub air: Option<PathBuf>,
    /// File for what usbmon would have captured.
    pub usb: Option<PathBuf>,
    /// Explain where the goodput went, as `txop air` does.
    pub waterfall: bool,
}

/// A capture that went wrong.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct CaptureError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub what: String,
}

/// Monitors that take what they are shown.
pub(crate) struct Taps {
    air: Option<AirCapture<Tee>>,
    usb: Option<UsbCapture<BufWriter<File>>>,
    analysis: Option<JoinHandle<Result<Report, air::Error>>>,
    captures: Captures,
}

impl Taps {
    /// `network`: of the air, if the link has one.
    pub(crate) fn new(captures: &Captures, network: Option<Network>) -> Result<Self, CaptureError> {
        let settings = CaptureSettings::new(Origin::Simulated);
        let mut taps = Self { air: None, usb: None, analysis: None, captures: captures.clone() };
        if let Some(path) = &captures.usb {
            let file = create(path)?;
            taps.usb = Some(UsbCapture::new(file, &settings).map_err(|error| said(path, error))?);
        }
        let Some(network) = network.filter(|_| captures.air.is_some() || captures.waterfall) else {
            return Ok(taps);
        };
        let mut tee = Tee::default();
        if let Some(path) = &captures.air {
            tee.file = Some(create(path)?);
        }
        if captures.waterfall {
            let (sender, receiver) = sync_channel(PIECES);
            tee.pipe = Some(PipeWriter { sender, piece: Vec::with_capacity(PIECE_BYTES) });
            let analyse = move || {
                let reader = capture::Reader::from_read(PipeReader { receiver, piece: Vec::new(), at: 0 });
                air::analyze_reader(
                    reader.map_err(air::Error::Open)?,
                    "simulated".to_owned(),
                    air::Options::default(),
                    &mut (),
                )
            };
            let thread = std::thread::Builder::new().name("txop-waterfall".into()).spawn(analyse);
            taps.analysis = Some(thread.map_err(|error| said(Path::new("waterfall"), error))?);
        }
        let snap_bytes = if captures.air.is_some() { usize::MAX } else { ANALYSED_BYTES };
        let settings = CaptureSettings { snap_bytes, ..settings };
        let path = captures.air.as_deref().unwrap_or(Path::new("waterfall"));
        taps.air = Some(AirCapture::new(tee, network, &settings).map_err(|error| said(path, error))?);
        Ok(taps)
    }

    pub(crate) fn air<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        if let Some(air) = &mut self.air {
            air.take(ppdu);
        }
    }

    pub(crate) fn usb(&mut self, urb: &Urb<'_>) {
        if let Some(usb) = &mut self.usb {
            usb.take(urb);
        }
    }

    /// Ends the files and the analysis; returns the waterfalls, radios called by the names of their hosts.
    pub(crate) fn finish(self, hosts: &[String]) -> Result<Option<Vec<Waterfall>>, CaptureError> {
        if let (Some(usb), Some(path)) = (self.usb, &self.captures.usb) {
            let (mut file, status) = usb.finish();
            written(path, &status)?;
            file.flush().map_err(|error| said(path, error))?;
        }
        if let Some(air) = self.air {
            let (mut tee, status) = air.finish();
            let path = self.captures.air.as_deref().unwrap_or(Path::new("waterfall"));
            written(path, &status)?;
            tee.flush().map_err(|error| said(path, error))?;
        }
        let Some(thread) = self.analysis else { return Ok(None) };
        let mut report = match thread.join() {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => return Err(said(Path::new("waterfall"), error)),
            Err(_) => return Err(said(Path::new("waterfall"), "the analysis broke off")),
        };
        for fall in &mut report.waterfalls {
            for end in [&mut fall.ta, &mut fall.ra] {
                let host = (0..hosts.len()).find(|&number| address(HostId(number as u16)).to_string() == *end);
                if let Some(name) = host.and_then(|number| hosts.get(number)) {
                    end.clone_from(name);
                }
            }
            name_gaps(fall);
        }
        Ok(Some(report.waterfalls))
    }
}

/// Names what the monitor knows better than the analysis can: that no frame is missing, also where a run is too short for beacons
/// to show it, and that frames are damaged by collisions and by nothing else.
fn name_gaps(fall: &mut Waterfall) {
    if fall.timing != "stamps" {
        return;
    }
    for step in &mut fall.steps {
        let label = match step.cause.as_str() {
            "idle" => "idle",
            "idle_queued" => "idle while the sender had an MPDU to repeat",
            "damaged" => "frames that collided",
            _ => continue,
        };
        label.clone_into(&mut step.label);
    }
}

fn create(path: &Path) -> Result<BufWriter<File>, CaptureError> {
    let file = File::create(path).map_err(|error| said(path, error))?;
    Ok(BufWriter::with_capacity(1 << 18, file))
}

fn said(path: &Path, error: impl std::fmt::Display) -> CaptureError {
    CaptureError { path: path.to_owned(), what: error.to_string() }
}

fn written(path: &Path, status: &CaptureStatus) -> Result<(), CaptureError> {
    match &status.error {
        Some(error) => Err(said(path, error)),
        None => Ok(()),
    }
}

/// To a file and to the analysis, whichever there is.
#[derive(Default)]
struct Tee {
    file: Option<BufWriter<File>>,
    pipe: Option<PipeWriter>,
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(pipe) = &mut self.pipe {
            pipe.write_all(bytes)?;
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(pipe) = &mut self.pipe {
            pipe.flush()?;
        }
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

struct PipeWriter {
    sender: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        // The analysis has ended early when its channel is closed; its own error says why.
        let _ = self.sender.send(piece);
        Ok(())
    }
}

struct PipeReader {
    receiver: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for PipeReader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.receiver.recv() {
                Ok(piece) => (self.piece, self.at) = (piece, 0),
                Err(_) => return Ok(0),
            }
        }
        let count = self.piece.get(self.at..).unwrap_or_default().read(room)?;
        self.at += count;
        Ok(count)
    }
}
