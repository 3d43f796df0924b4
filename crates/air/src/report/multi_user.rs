//! How HE and EHT PPDUs share the channel.

use serde::Serialize;

/// HE and EHT data frames of one transmitter to one receiver, by the format of their PPDU and the resource unit they were in.
///
/// Frames are MPDUs; a PPDU to several users is in the capture once for each user with received frames.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiUser {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// HE and EHT data frames, FCS good or unknown.
    pub frames: u64,
    /// In PPDUs to a single user (HE SU, EHT MU with one user).
    pub single_user: u64,
    /// In extended-range PPDUs (HE ER SU).
    pub extended_range: u64,
    /// In PPDUs to several users (HE MU; EHT OFDMA and MU-MIMO).
    pub multi_user: u64,
    /// In trigger-based PPDUs (uplink).
    pub trigger_based: u64,
    /// The capture does not say which.
    pub format_unknown: u64,
    /// Frames with a recorded resource unit: in MU and trigger-based PPDUs only those with its size; in all others
    /// the whole band.
    pub unit_known: u64,
    /// Frames of `unit_known` in a unit that is smaller than the PPDU's width, or of which the U-SIG says that they are OFDMA. Where
    /// the capture does not give the width, only units smaller than the narrowest channel (242 tones) count.
    pub certainly_ofdma: u64,
    /// `certainly_ofdma / unit_known`.
    pub certainly_ofdma_share: Option<f64>,
    /// MU and trigger-based PPDUs with a known duration (their header has the L-SIG), and this user's resource unit and the
    /// width.
    #[serde(default)] // older documents lack it
    pub ppdus_timed: Option<u64>,
    /// Sum of the durations of these, µs: each PPDU once, whatever part of it this user had. Null when there are none.
    #[serde(default)] // older documents lack it
    pub ppdus_air_us: Option<f64>,
    /// Mean part of the width that this user's resource unit took in them, weighted with their durations: tones of the unit by
    /// tones of the width. Null when there are none.
    #[serde(default)] // older documents lack it
    pub band_share: Option<f64>,
    /// MU and trigger-based PPDUs of which frames of other users were captured, too, by their hardware stamp. Such a PPDU's time
    /// counts once: airtime and waterfall give each user the part that its unit is of all units captured.
    #[serde(default)] // older documents lack it
    pub ppdus_joint: Option<u64>,
    /// Frames by size of their resource unit, where it is known; smallest first.
    pub resource_units: Vec<ResourceUnit>,
}

/// Frames in resource units of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceUnit {
    /// Tones: 26 to 1992 in HE, to 3984 in EHT.
    pub tones: u16,
    /// Frames.
    pub frames: u64,
}

/// HE and EHT PPDUs to several users, as wholes: what their signalling allocates, and which users' frames were captured.
///
/// Parts of one PPDU are known by their equal hardware stamps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiUserPpdus {
    /// Transmitter.
    pub ta: String,
    /// PPDUs of which at least one frame was captured.
    pub ppdus: u64,
    /// Parts of such PPDUs that have no stamp: which of them are one PPDU cannot be determined. In none of the other
    /// counts.
    pub parts_without_stamp: u64,
    /// PPDUs with a header that lists all units and users: HE-MU or EHT with the RU Allocation of both content channels (EHT: without
    /// units of several parts), or MU-MIMO in the whole band with its number of users.
    pub allocation_known: u64,
    /// PPDUs with headers that contradict each other, or tell fewer users than were captured. Not in `allocation_known`.
    pub contradictory: u64,
    /// Resource units in `allocation_known`; null when there are none.
    pub units: Option<u64>,
    /// User fields in them. A unit can be allocated and left empty, so this is the most users there can be.
    pub users: Option<u64>,
    /// Users of them with a captured frame that is not known to be damaged.
    pub users_captured: Option<u64>,
    /// `users` without `users_captured`: users without a captured frame, and units that were left empty.
    pub users_not_captured: Option<u64>,
    /// Units by their size, smallest first.
    pub resource_units: Vec<AllocatedUnit>,
    /// The same by allocation, most PPDUs first, 32 at most.
    pub allocations: Vec<AllocationCount>,
    /// PPDUs with a known duration (their header has the L-SIG), and how long their HE-SIG-B or EHT-SIG lasted: its symbols, or for an
    /// HE-SIG-B without a common field (compressed) its MCS and number of users.
    #[serde(default)] // older documents lack it
    pub sig_timed: Option<u64>,
    /// Time of HE-SIG-B or EHT-SIG in them, µs: what it costs to say who has which unit. Null when there are none.
    #[serde(default)] // older documents lack it
    pub sig_us: Option<f64>,
    /// Sum of the durations of these PPDUs, µs. Null when there are none.
    #[serde(default)] // older documents lack it
    pub sig_air_us: Option<f64>,
    /// `sig_us / sig_air_us`.
    #[serde(default)] // older documents lack it
    pub sig_share: Option<f64>,
    /// HE MU PPDUs by the rate of their HE-SIG-B, where the header states it.
    #[serde(default)] // older documents lack it
    pub sig_b_rates: Vec<SigBRate>,
}

/// HE MU PPDUs that sent their HE-SIG-B in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SigBRate {
    /// MCS: 0 to 5, higher ones are reserved.
    pub mcs: u8,
    /// Dual carrier modulation; null where the header does not show it.
    pub dcm: Option<bool>,
    /// PPDUs.
    pub ppdus: u64,
}

/// Resource units of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocatedUnit {
    /// Tones: 26 to 996 in HE, to 1992 in EHT, also the whole band (to 3984) where that is shared by MU-MIMO.
    pub tones: u16,
    /// Units.
    pub units: u64,
}

/// PPDUs that share the channel out in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationCount {
    /// Units as `count x tones`, largest first: `484 + 2 x 242`.
    pub units: String,
    /// User fields of each of these PPDUs.
    pub users: u8,
    /// PPDUs.
    pub ppdus: u64,
    /// Users captured, all these PPDUs together.
    pub users_captured: u64,
}
