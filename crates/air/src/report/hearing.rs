//! What the sniffer captured of what must have been there.

use serde::Serialize;

use sentence::Sentence;

/// Whether the silence of a capture is evidence of silence on the air.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hearing {
    /// The sniffer was listening, and neither responses nor Block Acks show that it missed many frames: while it captured nothing,
    /// most likely no station near it sent.
    pub silence_is_evidence: bool,
    /// The beacons that show that it was listening; `None` when no access point was captured in nearly all of its
    /// raster.
    pub proof: Option<Sentence>,
    /// Why silence is not evidence, doubts aside; `None` where there are beacons and enough other frames.
    #[serde(default)] // older documents lack it
    pub no_proof: Option<Sentence>,
    /// What shows that frames are missing.
    pub doubts: Vec<Sentence>,
    /// Data MPDUs that were sent again and of which no undamaged earlier attempt is there, if these are many.
    #[serde(default)] // older documents lack it
    pub missing_attempts: Option<Sentence>,
    /// Control frames with a good or unknown FCS.
    pub control_frames: u64,
    /// ACKs.
    #[serde(default)] // older documents lack it
    pub acks: u64,
    /// Block Acks.
    #[serde(default)] // older documents lack it
    pub block_acks: u64,
    /// CTS.
    #[serde(default)] // older documents lack it
    pub clears_to_send: u64,
    /// Kinds of responses that the sniffer does not deliver, although frames that ask for them are in the capture.
    #[serde(default)] // older documents lack it
    pub blind_spots: Vec<BlindSpot>,
    /// ACKs and Block Acks.
    pub responses: u64,
    /// Those of `responses` without their frame in the capture.
    pub responses_without_frame: u64,
    /// Stations that sent beacons which were received.
    #[serde(default)] // older documents lack it
    pub beacon_senders: u64,
    /// Beacons captured and due, per access point, most beacons first (64 at most).
    pub beacons: Vec<BeaconRaster>,
}

/// A kind of response that is missing altogether, where other control frames are in the capture: nothing can be concluded from
/// its absence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlindSpot {
    /// `no-acks`, `no-block-acks`, `no-cts`.
    pub code: String,
    /// PPDUs that ask for such a response, to stations of which frames were captured.
    pub asked: u64,
    /// In words.
    #[serde(flatten)]
    pub sentence: Sentence,
}

/// Beacons of one access point.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BeaconRaster {
    /// MAC address.
    pub address: String,
    /// Beacon interval that it names, in units of 1,024 µs; `None` when it names none (100 is assumed then).
    pub interval_tu: Option<u16>,
    /// Beacons captured with a good or unknown FCS.
    pub heard: u64,
    /// Beacons due from the first to the last one captured.
    pub due: u64,
    /// `heard / due`, 1 at most.
    pub heard_share: f64,
}

/// Frames of one kind that came faster than any protocol has use for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flood {
    /// `deauthentication`, `disassociation`, `authentication`, `association request`.
    pub kind: String,
    /// Frames of the kind in the whole capture.
    pub frames: u64,
    /// Most of them in one second.
    pub most_in_a_second: u64,
    /// First of them, µs since the first frame.
    pub first_us: f64,
    /// Last of them, µs since the first frame.
    pub last_us: f64,
    /// The address that most were sent under.
    pub sender: String,
    /// The address most were sent to.
    pub receiver: String,
    /// In words.
    #[serde(flatten)]
    pub sentence: Sentence,
}
