//! What the limits are read off.

use crate::calibrate::Calibration;
use crate::claims::Claims;
use crate::link::Links;
use crate::medium::Medium;
use crate::report::{Hearing, Limit};
use crate::station::Stations;
use crate::summary::{Counts, Source};

/// Everything that the limits are read off.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Frames with a transmitter of all zeros that are not known to be damaged.
    pub addressless: u64,
    /// Whole-capture counters.
    pub counts: &'a Counts,
    /// What the reader knows.
    pub source: &'a Source,
    /// What stamps mean.
    pub calibration: &'a Calibration,
    /// Times the hardware clock jumped.
    pub jumps: u64,
    /// The interface that the accounts of the medium are about.
    pub main_interface: u32,
    /// What access points and stations announce.
    pub claims: &'a Claims,
    /// All links.
    pub links: &'a Links,
    /// All stations.
    pub stations: &'a Stations,
    /// The channel's accounts.
    pub medium: &'a Medium,
    /// The channel that was chosen, MHz; `None`: all.
    pub chosen_mhz: Option<u16>,
    /// First to last frame of the main interface, ns.
    pub span_ns: i64,
    /// What the sniffer captured.
    pub hearing: &'a Hearing,
    /// Records that are out of order, or in the file twice.
    pub unordered: Option<&'a Limit>,
    /// PPDUs with data to or from several users.
    pub joint_ppdus: u64,
    /// Parts of Multi-STA Block Acks for stations that are not known.
    pub unattributed_acks: u64,
}
