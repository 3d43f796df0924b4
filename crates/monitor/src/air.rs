//! The capture of the air.

use std::io::Write;

use capture::WriteError;
use link::engine::Packet;
use link::ppdu::{Contents, Ppdu};
use wire::linktype::LinkType;
use wire::radiotap::Reception;

use crate::beacon::beacon;
use crate::frame::{self, DataFrame, FCS_LEN};
use crate::network::Network;
use crate::output::Output;
use crate::settings::{CaptureSettings, CaptureStatus};

/// The radios' clock (TSF) at time 0, µs.
const TSF_START_US: u64 = 10_000_000;

/// Writes PPDUs as a monitor interface would have captured them: pcapng with radiotap headers and FCS.
pub struct AirCapture<W> {
    output: Output<W>,
    network: Network,
    snap_bytes: usize,
    ppdus: u32,
    beacons: u16,
    record: Vec<u8>,
}

impl<W: Write> AirCapture<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, network: Network, settings: &CaptureSettings) -> Result<Self, WriteError> {
        Ok(Self {
            output: Output::new(inner, "mon0", LinkType::IEEE802_11_RADIOTAP, settings)?,
            network,
            snap_bytes: settings.snap_bytes,
            ppdus: 0,
            beacons: 0,
            record: Vec::with_capacity(4_096),
        })
    }

    /// Writes a PPDU, unless it collided. What goes wrong is said by [`Self::finish`].
    pub fn take<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        let frames = match ppdu.contents {
            Contents::Data { mpdus, .. } => mpdus.len() as u64,
            _ => 1,
        };
        if ppdu.collided {
            return self.output.collided(frames);
        }
        if self.output.is_closed() {
            return self.output.leave_out(frames);
        }
        // The first bit of the MPDU is what a Linux driver in monitor mode stamps; all of an A-MPDU have the same stamp.
        let first_bit_ns = ppdu.start_ns + ppdu.mode.preamble_ns().map_or(0, u64::from);
        let mut reception = Reception {
            tsft_us: TSF_START_US + first_bit_ns / 1_000,
            mode: ppdu.mode,
            frequency_mhz: self.network.frequency_mhz(),
            signal_dbm: ppdu.signal_dbm,
            noise_dbm: None,
            bad_fcs: false,
            ampdu: None,
        };
        self.ppdus = self.ppdus.wrapping_add(1);
        let mut record = std::mem::take(&mut self.record);
        if let Contents::Data { category, ampdu, qos, mpdus } = ppdu.contents {
            for (index, mpdu) in mpdus.iter().enumerate() {
                reception.ampdu = ampdu.then_some((self.ppdus, index + 1 == mpdus.len()));
                reception.emit(&mut record);
                let start = record.len();
                let frame = DataFrame { category, qos, limit: self.snap_bytes };
                let len = frame::data(ppdu, frame, mpdu, &mut record);
                self.write(ppdu.end_ns, &mut record, start, len, self.snap_bytes);
            }
        } else {
            reception.emit(&mut record);
            let start = record.len();
            if matches!(ppdu.contents, Contents::Beacon) {
                self.beacons = (self.beacons + 1) % 4_096;
                beacon(&self.network, reception.tsft_us, self.beacons, &mut record);
            } else {
                frame::control(ppdu, &mut record);
            }
            let len = record.len() - start;
            self.write(ppdu.end_ns, &mut record, start, len, usize::MAX);
        }
        self.record = record;
    }

    /// Adds the FCS to the frame of `len` bytes that begins at `start`, unless it was cut, and writes the record.
    fn write(&mut self, at_ns: u64, record: &mut Vec<u8>, start: usize, len: usize, snap: usize) {
        // An FCS that will be cut off need not be computed.
        if start + len < snap {
            let check = wire::fcs::fcs32(&record[start..]);
            record.extend_from_slice(&check.to_le_bytes());
        }
        record.truncate(snap);
        self.output.write(at_ns, start + len + FCS_LEN, record);
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
