//! How a capture is made, and what is said of it at the end.

use serde::Serialize;

/// Who made a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A link in real time, with real packets.
    Emulated,
    /// A link in virtual time, with modelled packets.
    Simulated,
}

impl Origin {
    /// How the interface description begins; the analyzers look for it.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Emulated => capture::EMULATED,
            Self::Simulated => capture::SIMULATED,
        }
    }
}

/// What goes into a capture file.
#[derive(Clone, Copy, Debug)]
pub struct CaptureSettings {
    /// Who makes it.
    pub origin: Origin,
    /// Unix time of the link's time 0, ns.
    pub start_unix_ns: i64,
    /// Bytes kept of each data frame (radiotap header included) or transfer (usbmon header included); other frames are
    /// whole.
    pub snap_bytes: usize,
    /// The file ends before it gets larger than this. Once a record did not fit, none is written any more: no gaps.
    pub limit_bytes: Option<u64>,
}

impl CaptureSettings {
    /// Whole frames, no limit, from 1970 on.
    pub const fn new(origin: Origin) -> Self {
        Self { origin, start_unix_ns: 0, snap_bytes: usize::MAX, limit_bytes: None }
    }
}

/// The account of a capture file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaptureStatus {
    /// Frames or URB events in it.
    pub records: u64,
    /// Left out because the writer did not keep up or the file had reached its limit.
    pub dropped: u64,
    /// Collided frames: never in the file.
    pub collided: u64,
    /// Why writing stopped early.
    pub error: Option<String>,
}
