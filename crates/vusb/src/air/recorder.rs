//! What a monitor beside the two stations would capture: radiotap (radiotap.org) in pcapng.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use capture::{InterfaceSettings, PcapngWriter, WriteError};
use wire::fcs::fcs32;
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::phy::{Bandwidth, Ht, Mode};

/// Present bits.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const DBM_SIGNAL: u32 = 1 << 5;
const DBM_NOISE: u32 = 1 << 6;
const MCS: u32 = 1 << 19;
const AMPDU_STATUS: u32 = 1 << 20;
/// Flags: short preamble, frame check sequence included, and it is wrong.
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS: u8 = 0x10;
const FLAG_BAD_FCS: u8 = 0x40;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame<'a> {
    /// First sample of its PPDU, on the run's clock.
    pub start_ns: u64,
    /// How it was modulated.
    pub mode: Mode,
    /// Centre frequency.
    pub frequency_mhz: u16,
    /// Signal and noise.
    pub signal_dbm: i8,
    /// See `signal_dbm`.
    pub noise_dbm: i8,
    /// Number of its A-MPDU, and whether it is the last in it.
    pub ampdu: Option<(u32, bool)>,
    /// Nobody could read it.
    pub damaged: bool,
    /// Without frame check sequence.
    pub bytes: &'a [u8],
}

/// Writes frames into a pcapng file.
pub struct AirRecorder {
    writer: PcapngWriter<BufWriter<File>>,
    interface: u32,
    epoch_ns: i64,
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
    pub fn create(path: &Path, epoch_ns: i64) -> io::Result<Self> {
        let mut writer = PcapngWriter::new(BufWriter::new(File::create(path)?), ByteOrder::Little).map_err(io_error)?;
        let settings = InterfaceSettings {
            name: Some("air".into()),
            description: Some("virtual air".into()),
            fcs_len: Some(4),
            ..InterfaceSettings::nanos(LinkType::IEEE802_11_RADIOTAP)
        };
        let interface = writer.add_interface(&settings).map_err(io_error)?;
        Ok(Self { writer, interface, epoch_ns, record: Vec::new(), failed: None })
    }

    /// Writes one frame down.
    pub fn frame(&mut self, frame: &AirFrame<'_>) {
        if self.failed.is_some() {
            return;
        }
        self.record.clear();
        header(frame, &mut self.record);
        self.record.extend_from_slice(frame.bytes);
        let fcs = fcs32(frame.bytes) ^ u32::from(frame.damaged);
        self.record.extend(fcs.to_le_bytes());
        let time_ns = self.epoch_ns.saturating_add(i64::try_from(frame.start_ns).unwrap_or(i64::MAX));
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

/// Bits: bandwidth, guard interval, greenfield, STBC.
fn mcs_flags(ht: &Ht) -> u8 {
    u8::from(ht.bandwidth == Bandwidth::Mhz40)
        | u8::from(ht.short_gi) << 2
        | u8::from(ht.greenfield == Some(true)) << 3
        | ht.stbc.unwrap_or(0) << 5
}

/// Appends the radiotap header. `out` is empty: fields are aligned from its start.
fn header(frame: &AirFrame<'_>, out: &mut Vec<u8>) {
    let mut present = TSFT | FLAGS | CHANNEL | DBM_SIGNAL | DBM_NOISE;
    out.extend([0; 8]);
    out.extend((frame.start_ns / 1_000).to_le_bytes());
    let short = matches!(frame.mode, Mode::Dsss { short_preamble: Some(true), .. });
    let bad = if frame.damaged { FLAG_BAD_FCS } else { 0 };
    out.push(FLAG_FCS | bad | if short { FLAG_SHORT_PREAMBLE } else { 0 });
    match frame.mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            present |= RATE;
            out.push(rate_500kbps);
        }
        _ => out.push(0),
    }
    let coding = if matches!(frame.mode, Mode::Dsss { .. }) { CHANNEL_CCK } else { CHANNEL_OFDM };
    out.extend(frame.frequency_mhz.to_le_bytes());
    out.extend((CHANNEL_2_GHZ | coding).to_le_bytes());
    out.extend([frame.signal_dbm as u8, frame.noise_dbm as u8]);
    if let Mode::Ht(ht) = &frame.mode {
        present |= MCS;
        // Known: bandwidth, MCS, guard interval, format, FEC, STBC.
        out.extend([0x3f, mcs_flags(ht), ht.mcs]);
    }
    if let Some((reference, last)) = frame.ampdu {
        present |= AMPDU_STATUS;
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(reference.to_le_bytes());
        out.extend((0x0004u16 | if last { 0x0008 } else { 0 }).to_le_bytes());
        out.extend([0, 0]);
    }
    let len = out.len() as u16;
    out[2..4].copy_from_slice(&len.to_le_bytes());
    out[4..8].copy_from_slice(&present.to_le_bytes());
}
