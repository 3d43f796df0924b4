//! What is on the air.

use wire::phy::Mode;

/// A PPDU on the air.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
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
    /// It overlaps with others, which began in the same slot: when that slot began, the same for all of them.
    pub collision_ns: Option<u64>,
}
