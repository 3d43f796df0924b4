//! What a link header says, in one form for all link types.

use crate::linktype::LinkType;
use crate::phy::{Allocation, Mode, SigB};

/// Where in a PPDU a time stamp was taken, as the header *declares* it (drivers are often wrong).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StampPosition {
    /// First bit of the MPDU.
    FirstMpduBit,
    /// Start of the PPDU (the PLCP preamble).
    PpduStart,
    /// End of the PPDU.
    PpduEnd,
    /// End of the MPDU.
    MpduEnd,
    /// Declared unknown, or a value that is not defined.
    Unknown,
}

/// Radiotap's timestamp field (22), converted to nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceStamp {
    /// Time in ns (wraps with the device's counter).
    pub ns: u64,
    /// Where the stamp was taken.
    pub position: StampPosition,
    /// The counter has only 32 bits.
    pub is_32bit: bool,
    /// The counter begins again after this many ns; `None` when that is longer than 64 bits of ns.
    pub wraps_after_ns: Option<u64>,
    /// Accuracy in ns, where declared.
    pub accuracy_ns: Option<u32>,
}

/// Radiotap's A-MPDU status field (20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpduStatus {
    /// Reference number: the same for all MPDUs of one A-MPDU *if the driver keeps the rule*.
    pub reference: u32,
    /// `Some(true)` for the last subframe, `None` where not known.
    pub is_last: Option<bool>,
    /// Delimiter CRC error.
    pub delimiter_crc_error: bool,
    /// EOF bit of the delimiter, where known.
    pub eof: Option<bool>,
}

/// L-SIG as received in front of HT-mixed, VHT, HE and EHT PPDUs (radiotap field 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LSig {
    /// LENGTH in bytes, 12 bits; `None` when not known.
    pub length: Option<u16>,
    /// RATE code, 4 bits; `None` when not known.
    pub rate: Option<u8>,
}

/// One frame's radio metadata. Every absent field is `None`: absence is never a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RadioInfo {
    /// Bytes of the link header before the 802.11 MAC header.
    pub header_len: usize,
    /// MAC time stamp in µs (radiotap TSFT, Prism/AVS/PPI mactime). What it marks must be calibrated.
    pub tsft_us: Option<u64>,
    /// Bits in the counter behind `tsft_us` (64 unless the format has fewer).
    pub tsft_bits: u8,
    /// Radiotap timestamp field.
    pub stamp: Option<DeviceStamp>,
    /// The MPDU ends with its 4-byte FCS; `None` where the header does not say.
    pub fcs_included: Option<bool>,
    /// The receiver flagged a bad FCS; `None` where it does not say.
    pub bad_fcs: Option<bool>,
    /// The receiver flagged a bad PLCP header.
    pub bad_plcp: bool,
    /// The MAC header is padded to a multiple of four bytes.
    pub data_pad: bool,
    /// Centre frequency of the primary channel, MHz.
    pub frequency_mhz: Option<u16>,
    /// Modulation.
    pub mode: Mode,
    /// Units and users of the whole PPDU, of which this frame's is one; `None` where the header does not give all of them.
    pub allocation: Option<Allocation>,
    /// HE-SIG-B of an HE MU PPDU, as far as the header shows it.
    pub sig_b: SigB,
    /// Signal at the antenna (the strongest one when there are several), dBm.
    pub signal_dbm: Option<i8>,
    /// Noise, dBm.
    pub noise_dbm: Option<i8>,
    /// Antennas that reported a signal of their own (0 or 1: single).
    pub antennas: u8,
    /// A-MPDU status.
    pub ampdu: Option<AmpduStatus>,
    /// L-SIG.
    pub l_sig: Option<LSig>,
    /// The frame was sent by the capturing machine (TX flags or data retries present).
    pub own_transmission: bool,
    /// A zero-length PSDU: no 802.11 frame follows this header.
    pub zero_length_psdu: bool,
}

/// Why a link header could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RadioError {
    /// The record ends inside the header.
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes there.
        got: usize,
    },
    /// A field says something impossible (a length that is shorter than its own header, a wrong version or magic).
    Malformed(&'static str),
    /// Not an 802.11 link type.
    Unsupported(LinkType),
}

impl core::fmt::Display for RadioError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, got } => {
                write!(f, "link header cut short: {needed} bytes needed, {got} captured")
            }
            Self::Malformed(what) => write!(f, "malformed link header: {what}"),
            Self::Unsupported(link) => write!(f, "link type {link} holds no 802.11 frames"),
        }
    }
}

impl std::error::Error for RadioError {}
