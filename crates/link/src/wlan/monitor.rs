//! What a perfect monitor would see: every PPDU, with its place in time.

use wire::phy::Mode;

use crate::wlan::link::Side;

/// Bytes that a packet gets in a QoS data MPDU: MAC header with QoS control (26), LLC/SNAP (8), FCS (4).
pub const DATA_OVERHEAD: usize = 26 + 8 + 4;
/// Length of the beacons on a channel, FCS included: those of an open 802.11n access point with WMM and a name of four
/// bytes. In 2.4 GHz there are the elements DSSS Parameter Set and ERP more.
pub const fn beacon_len(channel: u16) -> usize {
    if channel <= 14 {
        164
    } else {
        158
    }
}

/// A PPDU on the air.
#[derive(Clone, Debug)]
pub struct Ppdu<'a, P> {
    /// First sample of the preamble.
    pub start_ns: u64,
    /// End (signal extension not included).
    pub end_ns: u64,
    /// How long the rest of the exchange takes: the Duration field, µs.
    pub duration_us: u16,
    /// Modulation.
    pub mode: Mode,
    /// Transmitter.
    pub from: Side,
    /// It overlaps with a PPDU of the other station: nobody can decode it.
    pub collided: bool,
    /// What it carries.
    pub contents: Contents<'a, P>,
}

/// What a PPDU carries.
#[derive(Clone, Debug)]
pub enum Contents<'a, P> {
    /// QoS data, TID 0, to the other station: an A-MPDU when there are several.
    Data(&'a [DataMpdu<'a, P>]),
    /// ACK.
    Ack,
    /// Compressed Block Ack.
    BlockAck {
        /// Sequence number of the lowest bit.
        start_sequence: u16,
        /// The bits.
        bitmap: u64,
    },
    /// Compressed Block Ack request.
    BlockAckRequest {
        /// First sequence number that the sender still cares for.
        start_sequence: u16,
    },
    /// RTS.
    Rts,
    /// CTS.
    Cts,
    /// Beacon of the access point.
    Beacon,
}

/// A data MPDU.
#[derive(Clone, Copy, Debug)]
pub struct DataMpdu<'a, P> {
    /// Sequence number.
    pub sequence: u16,
    /// Retry bit.
    pub retry: bool,
    /// What it carries.
    pub packet: &'a P,
}
