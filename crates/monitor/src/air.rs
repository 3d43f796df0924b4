//! The recorder of the air.

use std::io::Write;

use capture::WriteError;
use wire::ieee80211::Mpdu;
use wire::linktype::LinkType;
use wire::phy::Mode;
use wire::radiotap::Reception;

use crate::output::Output;
use crate::settings::{CaptureSettings, CaptureStatus};

/// Bytes of a frame check sequence.
pub(crate) const FCS_LEN: usize = 4;

/// A PPDU on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    /// First sample of its preamble.
    pub start_ns: u64,
    /// Its end, signal extension not included: when a host would get it.
    pub end_ns: u64,
    /// How it is modulated.
    pub mode: Mode,
    /// Centre of the primary channel, MHz.
    pub frequency_mhz: u16,
    /// Received signal strength.
    pub signal_dbm: i8,
    /// Noise at the receiver.
    pub noise_dbm: i8,
    /// It overlaps with another PPDU.
    pub collided: bool,
}

/// Writes PPDUs as a monitor interface would have captured them: pcapng with radiotap headers and FCS.
pub struct AirRecorder<W> {
    output: Output<W>,
    snap_bytes: usize,
    tsf_start_us: u64,
    ampdus: u32,
    record: Vec<u8>,
}

impl<W: Write> AirRecorder<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, settings: &CaptureSettings) -> Result<Self, WriteError> {
        Ok(Self {
            output: Output::new(inner, "mon0", LinkType::IEEE802_11_RADIOTAP, settings)?,
            snap_bytes: settings.snap_bytes,
            tsf_start_us: settings.tsf_start_us,
            ampdus: 0,
            record: Vec::with_capacity(4_096),
        })
    }

    /// The time stamp of a PPDU: the first bit of the MPDU is what a Linux driver in monitor mode stamps.
    pub fn tsf_us(&self, ppdu: &OnAir) -> u64 {
        let first_bit_ns = ppdu.start_ns + ppdu.mode.preamble_ns().map_or(0, u64::from);
        self.tsf_start_us.saturating_add(first_bit_ns / 1_000)
    }

    /// Writes a PPDU of `mpdus` MPDUs, unless it collided. `emit` appends the MPDU of a number to the bytes it is given, without
    /// FCS, and has its whole length; behind that limit, the second number, a data frame is cut anyway. What goes wrong is
    /// said by [`Self::finish`].
    pub fn take(
        &mut self,
        ppdu: &OnAir,
        mpdus: usize,
        aggregated: bool,
        mut emit: impl FnMut(usize, usize, &mut Vec<u8>) -> usize,
    ) {
        if ppdu.collided {
            return self.output.collided(mpdus as u64);
        }
        if self.output.is_closed() {
            return self.output.leave_out(mpdus as u64);
        }
        self.ampdus = self.ampdus.wrapping_add(u32::from(aggregated));
        let mut reception = Reception {
            // All MPDUs of an A-MPDU have the same stamp.
            tsft_us: self.tsf_us(ppdu),
            mode: ppdu.mode,
            frequency_mhz: ppdu.frequency_mhz,
            signal_dbm: ppdu.signal_dbm,
            noise_dbm: Some(ppdu.noise_dbm),
            bad_fcs: false,
            ampdu: None,
        };
        let mut record = std::mem::take(&mut self.record);
        for index in 0..mpdus {
            reception.ampdu = aggregated.then_some((self.ampdus, index + 1 == mpdus));
            reception.emit(&mut record);
            let start = record.len();
            let len = emit(index, self.snap_bytes, &mut record);
            let frame = record.get(start..).unwrap_or_default();
            let snap = if Mpdu::new(frame).is_data() { self.snap_bytes } else { usize::MAX };
            // An FCS that will be cut off need not be computed.
            if start + len < snap {
                let check = wire::fcs::fcs32(frame);
                record.extend_from_slice(&check.to_le_bytes());
            }
            record.truncate(snap);
            self.output.write(ppdu.end_ns, start + len + FCS_LEN, &record);
        }
        self.record = record;
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
