//! The thread that writes the capture file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use capture::{InterfaceSettings, PcapngWriter, WriteError};
use link::{beacon_len, Ppdu, Scenario, Side};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;

use super::frame::{self, FCS_LEN};
use super::owned::{frames_of, OwnedContents, OwnedPpdu};
use super::radiotap::Reception;
use super::AirSettings;
use crate::run::Datagram;
use crate::status::AirStatus;

/// How the interface description begins.
const EMULATED: &str = "emulated by txop";
/// PPDUs on the way to the writer at most, and frames in them.
const QUEUE_PPDUS: usize = 8_192;
const QUEUE_FRAMES: u64 = 16_384;
/// Bytes of pcapng around a record at most: block header and trailer, padding.
const RECORD_OVERHEAD: u64 = 36;
/// A reader that follows the file sees it this old at most.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// The stations' clock (TSF) at time 0, µs.
const TSF_START_US: u64 = 10_000_000;

/// The link's end of the writer.
pub(crate) struct AirWriter {
    sender: SyncSender<OwnedPpdu>,
    /// Frames that wait for the writer.
    waiting: Arc<AtomicU64>,
    thread: JoinHandle<Written>,
    settings: AirSettings,
    dropped: u64,
    collided: u64,
}

/// What the thread says at its end.
struct Written {
    frames: u64,
    dropped: u64,
    error: Option<String>,
}

impl AirWriter {
    /// Makes the file and starts the thread. `origin`: Unix time of the link's time 0.
    pub(crate) fn start(settings: AirSettings, scenario: Scenario, origin: SystemTime) -> io::Result<Self> {
        let mut output = Output::create(&settings, scenario, origin)?;
        let (sender, receiver) = sync_channel(QUEUE_PPDUS);
        let waiting = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&waiting);
        let thread = thread::Builder::new()
            .name("txop-air-writer".into())
            .spawn(move || output.write_all(&receiver, &counter))?;
        Ok(Self { sender, waiting, thread, settings, dropped: 0, collided: 0 })
    }

    /// Takes note of a PPDU. Never waits.
    pub(crate) fn take(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        let frames = frames_of(ppdu);
        if ppdu.collided {
            self.collided += frames;
            return;
        }
        let room = self.waiting() + frames <= QUEUE_FRAMES;
        self.waiting.fetch_add(frames, Ordering::Relaxed);
        if !room || self.sender.try_send(ppdu.into()).is_err() {
            self.waiting.fetch_sub(frames, Ordering::Relaxed);
            self.dropped += frames;
        }
    }

    /// Frames that wait to be written.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Writes what is left and closes the file.
    pub(crate) fn finish(self) -> AirStatus {
        let Self { sender, thread, settings, dropped, collided, .. } = self;
        drop(sender);
        let written = thread.join().unwrap_or_else(|_| Written {
            frames: 0,
            dropped: 0,
            error: Some("the writer broke off".to_owned()),
        });
        AirStatus {
            path: settings.path,
            frames: written.frames,
            dropped: dropped + written.dropped,
            collided,
            error: written.error,
        }
    }
}

/// The open file.
struct Output {
    file: PcapngWriter<BufWriter<File>>,
    interface: u32,
    scenario: Scenario,
    origin_ns: i64,
    snap_bytes: usize,
    limit_bytes: u64,
    bytes: u64,
    frames: u64,
    dropped: u64,
    ppdus: u32,
    beacons: u16,
    record: Vec<u8>,
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn create(path: &Path) -> io::Result<(PcapngWriter<BufWriter<File>>, u32)> {
    let buffer = BufWriter::with_capacity(1 << 18, File::create(path)?);
    let mut file = PcapngWriter::new(buffer, ByteOrder::Little).map_err(io_error)?;
    let settings = InterfaceSettings {
        name: Some("mon0".to_owned()),
        description: Some(EMULATED.to_owned()),
        ..InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP)
    };
    let interface = file.add_interface(&settings).map_err(io_error)?;
    file.flush().map_err(io_error)?;
    Ok((file, interface))
}

impl Output {
    fn create(settings: &AirSettings, scenario: Scenario, origin: SystemTime) -> io::Result<Self> {
        let (file, interface) = create(&settings.path)?;
        let since_1970 = origin.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            file,
            interface,
            scenario,
            origin_ns: i64::try_from(since_1970.as_nanos()).unwrap_or(0),
            snap_bytes: settings.snap_bytes,
            limit_bytes: settings.limit_bytes.unwrap_or(u64::MAX),
            bytes: 1_024,
            frames: 0,
            dropped: 0,
            ppdus: 0,
            beacons: 0,
            record: Vec::with_capacity(4_096),
        })
    }

    fn write_all(&mut self, receiver: &Receiver<OwnedPpdu>, waiting: &AtomicU64) -> Written {
        let mut error: Option<io::Error> = None;
        let (mut dirty, mut last_ns) = (false, 0);
        loop {
            match receiver.recv_timeout(FLUSH_INTERVAL) {
                Ok(ppdu) => {
                    waiting.fetch_sub(ppdu.frames(), Ordering::Relaxed);
                    last_ns = ppdu.end_ns;
                    if error.is_some() {
                        self.dropped += ppdu.frames();
                        continue;
                    }
                    dirty = true;
                    error = self.ppdu(&ppdu).err();
                }
                Err(RecvTimeoutError::Timeout) => {
                    if std::mem::take(&mut dirty) && error.is_none() {
                        error = self.file.flush().map_err(io_error).err();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if error.is_none() {
            error = self.close(last_ns).err();
        }
        Written { frames: self.frames, dropped: self.dropped, error: error.map(|error| error.to_string()) }
    }

    fn close(&mut self, last_ns: u64) -> io::Result<()> {
        let received = Some(self.frames + self.dropped);
        let time_ns = self.time_ns(last_ns);
        self.file.write_statistics(self.interface, time_ns, received, Some(self.dropped)).map_err(io_error)?;
        self.file.flush().map_err(io_error)
    }

    fn time_ns(&self, ns: u64) -> i64 {
        self.origin_ns.saturating_add(i64::try_from(ns).unwrap_or(i64::MAX))
    }

    fn ppdu(&mut self, ppdu: &OwnedPpdu) -> io::Result<()> {
        // The first bit of the MPDU is what a Linux driver in monitor mode stamps; all of an A-MPDU have the same stamp.
        let first_bit_ns = ppdu.start_ns + ppdu.mode.preamble_ns().map_or(0, u64::from);
        let tsft_us = TSF_START_US + first_bit_ns / 1_000;
        let mut reception = Reception {
            tsft_us,
            mode: ppdu.mode,
            frequency_mhz: self.scenario.frequency_mhz(),
            signal_dbm: if ppdu.from == Side::Dut { -45 } else { -40 },
            ampdu: None,
        };
        self.ppdus = self.ppdus.wrapping_add(1);
        let time_ns = self.time_ns(ppdu.end_ns);
        let OwnedContents::Data(mpdus) = &ppdu.contents else {
            let mut record = self.start_record(&reception);
            let start = record.len();
            if matches!(ppdu.contents, OwnedContents::Beacon) {
                self.beacons = (self.beacons + 1) % 4_096;
                record.reserve(beacon_len(self.scenario.medium.channel));
            }
            let (from, duration_us) = (ppdu.from, ppdu.duration_us);
            frame::other(&self.scenario, from, duration_us, &ppdu.contents, tsft_us, self.beacons, &mut record);
            return self.end_record(time_ns, record, start, usize::MAX);
        };
        for (index, mpdu) in mpdus.iter().enumerate() {
            reception.ampdu = (mpdus.len() > 1).then_some((self.ppdus, index + 1 == mpdus.len()));
            let mut record = self.start_record(&reception);
            let start = record.len();
            frame::data(ppdu.from, ppdu.duration_us, mpdu, &mut record);
            self.end_record(time_ns, record, start, self.snap_bytes)?;
        }
        Ok(())
    }

    fn start_record(&mut self, reception: &Reception) -> Vec<u8> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        reception.emit(&mut record);
        record
    }

    /// Adds the FCS to the frame that begins at `start` and writes the record, or the first `snap` bytes of it.
    fn end_record(&mut self, time_ns: i64, mut record: Vec<u8>, start: usize, snap: usize) -> io::Result<()> {
        let original_len = record.len() + FCS_LEN;
        // An FCS that will be cut off need not be computed.
        if original_len - FCS_LEN < snap {
            let check = wire::fcs::fcs32(&record[start..]);
            record.extend_from_slice(&check.to_le_bytes());
        }
        record.truncate(snap);
        let bytes = record.len() as u64 + RECORD_OVERHEAD;
        // Once a frame did not fit, none is written any more: no gaps.
        let written = if self.dropped > 0 || self.bytes.saturating_add(bytes) > self.limit_bytes {
            self.dropped += 1;
            Ok(())
        } else {
            self.bytes += bytes;
            self.frames += 1;
            self.file.write(self.interface, time_ns, original_len as u32, &record).map_err(io_error)
        };
        self.record = record;
        written
    }
}
