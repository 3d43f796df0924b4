//! What a perfect monitor would see: every PPDU, with its place in time.

use wire::ieee80211::body::LLC_SNAP;
use wire::ip::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use wire::phy::Mode;

use crate::packet::{AccessCategory, HostId, Packet};

/// Bytes that a packet gets in a QoS data MPDU: MAC header with QoS control (26), LLC/SNAP (8), FCS (4).
pub const DATA_OVERHEAD: usize = 26 + 8 + 4;

/// Appends what a packet is in an MPDU: LLC and SNAP headers (RFC 1042), then the packet itself, as many bytes as it says it
/// has and `room` at most.
pub fn write_msdu<P: Packet>(packet: &P, room: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&LLC_SNAP);
    let type_at = out.len();
    out.extend_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
    let body = out.len();
    let room = room.min(packet.size_bytes());
    packet.write_bytes(out, room);
    out.resize(body + room, 0);
    if out.get(body).is_some_and(|byte| byte >> 4 == 6) {
        out[type_at..body].copy_from_slice(&ETHERTYPE_IPV6.to_be_bytes());
    }
}

/// A PPDU on the air. Radios have the numbers of their hosts: 0 is the access point, 1 and up are the stations.
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
    pub from: HostId,
    /// Receiver; `None`: broadcast.
    pub to: Option<HostId>,
    /// Received signal strength at the access point or, for what it sends, at the receiver, dBm.
    pub signal_dbm: i8,
    /// Noise there, dBm.
    pub noise_dbm: i8,
    /// It overlaps with another PPDU: it cannot be decoded.
    pub collided: bool,
    /// What it carries.
    pub contents: Contents<'a, P>,
}

/// What a PPDU carries.
#[derive(Clone, Debug)]
pub enum Contents<'a, P> {
    /// Data.
    Data {
        /// Its access category.
        category: AccessCategory,
        /// As an A-MPDU.
        ampdu: bool,
        /// With a QoS Control field; a legacy station's has none.
        qos: bool,
        /// The MPDUs, in their order on the air.
        mpdus: &'a [DataMpdu<'a, P>],
    },
    /// ACK.
    Ack,
    /// Compressed Block Ack.
    BlockAck {
        /// Its access category.
        category: AccessCategory,
        /// Sequence number of the lowest bit.
        start_sequence: u16,
        /// The bits.
        bitmap: u64,
    },
    /// Compressed Block Ack request.
    BlockAckRequest {
        /// Its access category.
        category: AccessCategory,
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
