//! The packets of the modelled hosts.

use crate::engine::{AccessCategory, HostId};

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: usize = 20;
/// Bytes of a UDP header, and of an ICMP echo header.
pub const UDP_HEADER: usize = 8;
/// Bytes of a TCP header with the timestamps option (RFC 7323): 20, 10, and two NOPs.
pub const TCP_HEADER: usize = 32;
/// SACK blocks beside timestamps (RFC 2018, 3).
pub const SACK_BLOCKS: usize = 3;

/// The ECN field of the IP header (RFC 3168, 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECT(0).
    Capable,
    /// Congestion Experienced.
    Congested,
}

/// An IPv4 packet of a modelled host. Payloads are zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modelled {
    /// Number of its flow.
    pub flow: u32,
    /// It goes from the flow's receiver to its sender.
    pub back: bool,
    /// Sender.
    pub from: HostId,
    /// Receiver.
    pub to: HostId,
    /// Access category; in the IP header as its DSCP.
    pub category: AccessCategory,
    /// ECN field.
    pub ecn: Ecn,
    /// When its host handed it down.
    pub sent_ns: u64,
    /// What follows the IP header.
    pub body: Body,
}

/// What follows the IP header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Udp {
        /// Which of its flow, from 0.
        sequence: u64,
        /// Bytes behind the UDP header.
        payload: u16,
    },
    /// ICMP echo.
    Echo {
        /// A reply.
        reply: bool,
        /// Which of its flow, from 0.
        sequence: u64,
        /// Bytes behind the ICMP header.
        payload: u16,
        /// When the request was sent.
        asked_ns: u64,
    },
}

/// TCP flags, as far as they are modelled (RFC 9293, 3.1; RFC 3168, 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// SYN.
    pub syn: bool,
    /// ECE.
    pub ece: bool,
    /// CWR.
    pub cwr: bool,
}

/// A TCP segment. Its stream is counted in segments of the same size, from 0: that is what all of TCP's rules are about
/// here. In the header it is bytes: the initial sequence number is 0, and segment `n` begins at `1 + n * mss`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Number of the segment that it carries (or, without payload, of the next).
    pub number: u64,
    /// Number of the next segment that its sender expects.
    pub ack: u64,
    /// Bytes in a segment of this flow.
    pub mss: u16,
    /// It carries a segment.
    pub data: bool,
    /// Flags.
    pub flags: Flags,
    /// TSval, ms.
    pub ts_value: u32,
    /// TSecr, ms.
    pub ts_echo: u32,
    /// Receive window, bytes.
    pub window_bytes: u32,
    /// How many of `sack` there are.
    pub sack_blocks: u8,
    /// SACK blocks, first and one past last segment; the first may be a duplicate (RFC 2883).
    pub sack: [(u64, u64); SACK_BLOCKS],
}

impl Segment {
    /// The SACK blocks that are there.
    pub fn sack(&self) -> &[(u64, u64)] {
        &self.sack[..usize::from(self.sack_blocks).min(SACK_BLOCKS)]
    }

    /// Bytes of its header, options included.
    pub fn header_bytes(&self) -> usize {
        // SYN: MSS (4), SACK permitted and timestamps (12), NOP and window scale (4) on top of 20.
        if self.flags.syn {
            return 40;
        }
        // Two NOPs, kind and length, 8 bytes each (RFC 2018, 3).
        let sack = if self.sack_blocks == 0 { 0 } else { 4 + 8 * usize::from(self.sack_blocks) };
        TCP_HEADER + sack
    }
}

impl Modelled {
    /// Bytes behind the headers of TCP, UDP or ICMP.
    pub fn payload_bytes(&self) -> usize {
        match self.body {
            Body::Tcp(segment) if segment.data => usize::from(segment.mss),
            Body::Tcp(_) => 0,
            Body::Udp { payload, .. } | Body::Echo { payload, .. } => usize::from(payload),
        }
    }
}
