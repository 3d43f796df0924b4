//! How a capture is made, and its summary at the end.

use serde::Serialize;

/// Who made a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A link in real time, with real packets.
    Emulated,
    /// A link in virtual time, with modelled packets.
    Simulated,
    /// A virtual device in a guest with a clock that is exact.
    GuestExact,
    /// A virtual device in a guest in real time.
    GuestFast,
}

impl Origin {
    /// How the interface description begins; the analyzers look for it.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Emulated => capture::EMULATED,
            Self::Simulated => capture::SIMULATED,
            Self::GuestExact => capture::GUEST_EXACT,
            Self::GuestFast => capture::GUEST_FAST,
        }
    }
}

/// How PPDUs that overlap appear in a capture. A receiver follows one preamble at a time, so at most one of them is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collisions {
    /// The one that lasts longest, damaged: its rate and its lengths are right, its bytes and FCS are wrong. The capture
    /// thus accounts for all the time that the collision took.
    #[default]
    Damaged,
    /// The strongest one, intact, if it is stronger than each of the others by 10 dB or more (capture effect); it is lost at its
    /// receiver all the same. Otherwise as [`Self::Damaged`].
    Strongest,
    /// None of them, as with a sniffer that delivers no frames with a wrong FCS.
    Absent,
}

/// That of links: they have been there for ten seconds.
const TSF_START_US: u64 = 10_000_000;

/// What goes into a capture file.
#[derive(Clone, Copy, Debug)]
pub struct CaptureSettings {
    /// Who makes it.
    pub origin: Origin,
    /// Unix time of time 0, ns.
    pub start_unix_ns: i64,
    /// The radios' clock (TSF) at time 0, us.
    pub tsf_start_us: u64,
    /// Bytes kept of each data frame (radiotap header included) or transfer (usbmon header included); other frames are
    /// whole.
    pub snap_bytes: usize,
    /// The file ends before it gets larger than this. Once a record did not fit, none is written any more: no gaps.
    pub limit_bytes: Option<u64>,
    /// How PPDUs that overlap appear.
    pub collisions: Collisions,
}

impl CaptureSettings {
    /// Whole frames, no limit, from 1970 on.
    pub const fn new(origin: Origin) -> Self {
        Self {
            origin,
            start_unix_ns: 0,
            tsf_start_us: TSF_START_US,
            snap_bytes: usize::MAX,
            limit_bytes: None,
            collisions: Collisions::Damaged,
        }
    }
}

/// The account of a capture file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureStatus {
    /// Frames or URB events in it.
    pub records: u64,
    /// Left out because the writer did not keep up or the file had reached its limit.
    pub dropped: u64,
    /// Frames that overlapped with others. Most are not in the file, as a receiver follows one PPDU at a time.
    pub collided: u64,
    /// Those of them that are in the file with a wrong FCS.
    pub damaged: u64,
    /// Those of them that are in the file undamaged, because they were much stronger than the others (capture effect).
    pub intact: u64,
    /// Why writing stopped early.
    pub error: Option<String>,
    /// The time (ns since 1970) of the first record that found no room because of the limit.
    #[serde(skip)]
    pub full_unix_ns: Option<i64>,
}
