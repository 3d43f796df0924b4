//! The recorder of the air.

use std::io::Write;

use capture::WriteError;
use wire::ieee80211::Mpdu;
use wire::linktype::LinkType;
use wire::radiotap::Reception;

use crate::collision::{damage, damage_key, Overlap, Party};
use crate::on_air::OnAir;
use crate::output::{Output, OutputState};
use crate::settings::{CaptureSettings, CaptureStatus, Collisions};

/// Bytes of a frame check sequence.
pub(crate) const FCS_LEN: usize = 4;

/// Writes PPDUs as a monitor interface would have captured them: pcapng with radiotap headers and FCS.
pub struct AirRecorder<W> {
    output: Output<W>,
    snap_bytes: usize,
    tsf_start_us: u64,
    collisions: Collisions,
    /// The latest collision, until it is known that nothing more belongs to it.
    overlap: Option<Overlap>,
    ampdus: u32,
    record: Vec<u8>,
}

/// What another process needs to continue a file, beside the file.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct AirState {
    output: OutputState,
    overlap: Option<Overlap>,
    ampdus: u32,
}

impl<W> AirRecorder<W> {
    /// What another process needs to continue the file, beside the file.
    pub fn state(&self) -> AirState {
        AirState { output: self.output.state(), overlap: self.overlap.clone(), ampdus: self.ampdus }
    }

    /// Continues a file with that state; what is written to is at the place where it was.
    pub fn continue_as(&mut self, state: AirState) {
        self.output.continue_as(state.output);
        (self.overlap, self.ampdus) = (state.overlap, state.ampdus);
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
            collisions: settings.collisions,
            overlap: None,
            ampdus: 0,
            record: Vec::with_capacity(4_096),
        })
    }

    /// The time stamp of a PPDU: the first bit of the MPDU is what a Linux driver in monitor mode stamps.
    pub fn tsf_us(&self, ppdu: &OnAir) -> u64 {
        let first_bit_ns = ppdu.start_ns + ppdu.mode.preamble_ns().map_or(0, u64::from);
        self.tsf_start_us.saturating_add(first_bit_ns / 1_000)
    }

    /// Writes a PPDU of `mpdus` MPDUs; those that collided as [`CaptureSettings::collisions`] says, once all of their collision
    /// are known. `emit` appends the MPDU of a number to the bytes it is given, without FCS, and has its whole length; behind that
    /// limit, the second number, a data frame is cut anyway. Errors are reported by [`Self::finish`].
    pub fn take(
        &mut self,
        ppdu: &OnAir,
        mpdus: usize,
        aggregated: bool,
        emit: impl FnMut(usize, usize, &mut Vec<u8>) -> usize,
    ) {
        if self.overlap.as_ref().is_some_and(|overlap| Some(overlap.begin_ns) != ppdu.collision_ns) {
            self.end_overlap();
        }
        match ppdu.collision_ns {
            None => self.write(ppdu, mpdus, aggregated, false, emit),
            Some(begin_ns) => {
                self.output.status.collided += mpdus as u64;
                if self.collisions != Collisions::Absent {
                    let party = self.party(ppdu, mpdus, aggregated, emit);
                    let overlap = self.overlap.get_or_insert_with(|| Overlap { begin_ns, parties: Vec::new() });
                    overlap.parties.push(party);
                }
            }
        }
    }

    fn reception(&self, ppdu: &OnAir, bad_fcs: bool) -> Reception {
        Reception {
            // All MPDUs of an A-MPDU have the same stamp.
            tsft_us: self.tsf_us(ppdu),
            mode: ppdu.mode,
            frequency_mhz: ppdu.frequency_mhz,
            signal_dbm: ppdu.signal_dbm,
            noise_dbm: Some(ppdu.noise_dbm),
            bad_fcs,
            ampdu: None,
        }
    }

    /// Keeps a PPDU that collided.
    fn party(
        &mut self,
        ppdu: &OnAir,
        mpdus: usize,
        aggregated: bool,
        mut emit: impl FnMut(usize, usize, &mut Vec<u8>) -> usize,
    ) -> Party {
        let mut reception = self.reception(ppdu, true);
        reception.ampdu = aggregated.then_some((0, false));
        let mpdus = (0..mpdus).map(|index| {
            // The limit counts the header.
            reception.emit(&mut self.record);
            let start = self.record.len();
            let len = emit(index, self.snap_bytes, &mut self.record);
            (self.record.get(start..).unwrap_or_default().to_vec(), len)
        });
        Party { ppdu: *ppdu, aggregated, mpdus: mpdus.collect() }
    }

    /// Writes what a sniffer has of the latest collision.
    fn end_overlap(&mut self) {
        let Some(mut overlap) = self.overlap.take() else { return };
        let Some((party, damaged)) = overlap.followed(self.collisions) else { return };
        let Party { ppdu, aggregated, mpdus } = party;
        let written = self.output.status.records;
        self.write(&ppdu, mpdus.len(), aggregated, damaged, |index, _, out| match mpdus.get(index) {
            Some((bytes, len)) => {
                out.extend_from_slice(bytes);
                *len
            }
            None => 0,
        });
        let status = &mut self.output.status;
        let written = status.records - written;
        *(if damaged { &mut status.damaged } else { &mut status.intact }) += written;
    }

    fn write(
        &mut self,
        ppdu: &OnAir,
        mpdus: usize,
        aggregated: bool,
        damaged: bool,
        mut emit: impl FnMut(usize, usize, &mut Vec<u8>) -> usize,
    ) {
        if self.output.is_closed() {
            return self.output.leave_out(mpdus as u64);
        }
        self.ampdus = self.ampdus.wrapping_add(u32::from(aggregated));
        let mut reception = self.reception(ppdu, damaged);
        let mut record = std::mem::take(&mut self.record);
        for index in 0..mpdus {
            reception.ampdu = aggregated.then_some((self.ampdus, index + 1 == mpdus));
            reception.emit(&mut record);
            let start = record.len();
            let len = emit(index, self.snap_bytes, &mut record);
            let frame = record.get_mut(start..).unwrap_or_default();
            let snap = if Mpdu::new(&*frame).is_data() { self.snap_bytes } else { usize::MAX };
            let key = damage_key(ppdu.start_ns, index);
            if damaged {
                damage(frame, key);
            }
            // An FCS that will be cut off need not be computed.
            if start + len < snap {
                let wrong = if damaged { key as u32 | 1 } else { 0 };
                let check = wire::fcs::fcs32(frame) ^ wrong;
                record.extend_from_slice(&check.to_le_bytes());
            }
            record.truncate(snap);
            self.output.write(ppdu.end_ns, start + len + FCS_LEN, &record);
        }
        self.record = record;
    }

    /// Hands over what is buffered, for those who follow the file; the latest collision comes with what follows it.
    pub fn flush(&mut self) {
        self.output.flush();
    }

    /// Ends the file, and gives back what it was written to.
    pub fn finish(mut self) -> (W, CaptureStatus) {
        self.end_overlap();
        self.output.finish()
    }
}
