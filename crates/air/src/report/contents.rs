//! What the capture contains.

use serde::Serialize;

/// Frames that are not known to be damaged, by what they are.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contents {
    /// By type and subtype.
    pub kinds: Vec<FrameKindRow>,
    /// Frames of special protocols and action frames by category, those of most frames first: NAN, FTM, TDLS, beamforming feedback,
    /// remote identification of unmanned aircraft, mesh, ...
    pub named: Vec<NamedFrames>,
}

/// Frames of one type and subtype.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameKindRow {
    /// `management`, `control`, `data`, `extension`.
    pub frame_type: &'static str,
    /// Number of the subtype.
    pub subtype: u8,
    /// Name of both.
    pub name: String,
    /// Frames.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// MPDU bytes.
    pub bytes: u64,
    /// Airtime of the PPDUs that begin with such a frame, of the interface of the airtime accounts, µs; null where durations are
    /// not known.
    pub airtime_us: Option<f64>,
}

/// Frames with a name of their own.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedFrames {
    /// What they are.
    pub name: String,
    /// Frames.
    pub frames: u64,
}
