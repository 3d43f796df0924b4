//! Time on the air of the scene's PPDUs: the rules of `wire::phy`, bound to one channel.

use std::io;

use wire::phy::{control_response_rate, Band, Bandwidth, Mode, RateSet, Timing};

/// Rules of one channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Air {
    band: Band,
    timing: Timing,
    basic: RateSet,
    /// Channel number, for the elements that name it.
    pub(crate) channel: u8,
    /// Mode of beacons and management frames.
    pub(crate) lowest: Mode,
}

impl Air {
    /// # Errors
    /// A frequency that is not a 20 MHz channel in 2.4 or 5 GHz.
    pub(crate) fn new(frequency_mhz: u16) -> io::Result<Self> {
        let band = Band::from_frequency_mhz(frequency_mhz).filter(|b| matches!(b, Band::Ghz2_4 | Band::Ghz5));
        let channel = Band::channel_number(frequency_mhz).and_then(|n| u8::try_from(n).ok());
        let (Some(band), Some(channel)) = (band, channel) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{frequency_mhz} MHz is not the centre of a channel in 2.4 or 5 GHz"),
            ));
        };
        let lowest = match band {
            Band::Ghz2_4 => crate::scene::legacy(2),
            _ => crate::scene::legacy(12),
        };
        let timing = Timing::new(band, Bandwidth::Mhz20, true);
        // The basic rates that the beacons announce are the mandatory ones.
        Ok(Self { band, timing, basic: RateSet::mandatory(band), channel, lowest })
    }

    /// # Errors
    /// A mode that does not exist, or one with a duration that its header alone does not give.
    pub(crate) fn check(&self, mode: Mode) -> io::Result<()> {
        let known = mode.duration(1000, Some(self.band)).is_some() && self.response_mode(mode).is_some();
        known.then_some(()).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not possible on this channel", mode.label()))
        })
    }

    pub(crate) const fn sifs_ns(&self) -> u64 {
        self.timing.sifs_ns as u64
    }

    pub(crate) const fn slot_ns(&self) -> u64 {
        self.timing.slot_ns as u64
    }

    /// Silence that belongs to the end of a PPDU of this mode.
    pub(crate) const fn extension_ns(&self, mode: Mode) -> u64 {
        match mode {
            Mode::Dsss { .. } => 0,
            _ => self.timing.signal_extension_ns as u64,
        }
    }

    /// Preamble and PHY header; 0 for a mode that was not checked.
    pub(crate) fn preamble_ns(&self, mode: Mode) -> u64 {
        mode.preamble_ns().map_or(0, u64::from)
    }

    /// From the start of the preamble to the end of the last symbol, for a PSDU of this length; 0 for a mode that was
    /// not checked.
    pub(crate) fn duration_ns(&self, mode: Mode, psdu_len: usize) -> u64 {
        mode.duration(psdu_len, Some(self.band)).map_or(0, |duration| duration.ns)
    }

    /// Mode of the response to a PPDU of this mode.
    pub(crate) fn response_mode(&self, soliciting: Mode) -> Option<Mode> {
        control_response_rate(&soliciting, Some(&self.basic), self.band)
    }
}
