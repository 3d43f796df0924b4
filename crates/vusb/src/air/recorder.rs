//! What a monitor beside the stations would capture: radiotap (radiotap.org) in pcapng.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use capture::{InterfaceSettings, PcapngWriter, WriteError};
use wire::fcs::fcs32;
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::radiotap::Reception;

use crate::record::Room;

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame<'a> {
    /// The end of its PPDU, on the run's clock: when a host would get it.
    pub end_ns: u64,
    /// How it was received. With a wrong FCS, nobody could read it.
    pub reception: Reception,
    /// Without frame check sequence.
    pub bytes: &'a [u8],
}

/// Writes frames into a pcapng file.
pub struct AirRecorder {
    writer: PcapngWriter<BufWriter<File>>,
    interface: u32,
    epoch_ns: i64,
    room: Room,
    record: Vec<u8>,
    failed: Option<io::Error>,
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl AirRecorder {
    /// Creates the file. `epoch_ns` is what to add to the run's clock to get the time since 1970.
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(path: &Path, epoch_ns: i64, room: Room) -> io::Result<Self> {
        let mut writer = PcapngWriter::new(BufWriter::new(File::create(path)?), ByteOrder::Little).map_err(io_error)?;
        let settings = InterfaceSettings {
            name: Some("air".into()),
            description: Some(crate::record::mark().to_owned()),
            fcs_len: Some(4),
            ..InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP)
        };
        let interface = writer.add_interface(&settings).map_err(io_error)?;
        Ok(Self { writer, interface, epoch_ns, room, record: Vec::new(), failed: None })
    }

    /// Writes one frame down.
    pub fn frame(&mut self, frame: &AirFrame<'_>) {
        if self.failed.is_some() {
            return;
        }
        frame.reception.emit(&mut self.record);
        self.record.extend_from_slice(frame.bytes);
        let fcs = fcs32(frame.bytes) ^ u32::from(frame.reception.bad_fcs);
        self.record.extend(fcs.to_le_bytes());
        let time_ns = self.epoch_ns.saturating_add(i64::try_from(frame.end_ns).unwrap_or(i64::MAX));
        if !self.room.take(self.record.len(), time_ns) {
            return;
        }
        if let Err(error) = self.writer.write(self.interface, time_ns, self.record.len() as u32, &self.record) {
            self.failed = Some(io_error(error));
        }
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error of the file since it was created.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.writer.flush().map_err(io_error),
        }
    }
}
