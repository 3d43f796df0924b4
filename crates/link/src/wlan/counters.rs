//! What happened, counted.

use serde::Serialize;

/// Everything that was counted since the link began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// What the station did.
    pub dut: SideCounters,
    /// What the access point did.
    pub ap: SideCounters,
    /// Times that both began to send in the same slot.
    pub collisions: u64,
}

/// What one station did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideCounters {
    /// Packets handed to it to send.
    pub packets_offered: u64,
    /// Of these: delivered to the host at the other end.
    pub packets_delivered: u64,
    /// Bytes of the delivered packets (IP header included).
    pub bytes_delivered: u64,
    /// Packets that it was to send and that were dropped.
    pub drops: Drops,
    /// Data PPDUs sent, collided ones included.
    pub ppdus: u64,
    /// Of these: with more than one MPDU.
    pub ampdus: u64,
    /// Data MPDUs sent, retransmissions and collided ones included.
    pub mpdus: u64,
    /// Of these: sent again (with the retry bit).
    pub retries: u64,
    /// Data PPDUs lost in a collision.
    pub ppdus_collided: u64,
    /// MPDUs in them.
    pub mpdus_collided: u64,
    /// Of these: sent again.
    pub retries_collided: u64,
    /// MPDUs lost on the way (`mpdu_error_rate`).
    pub mpdus_lost: u64,
    /// RTS frames sent, collided ones included.
    pub rts: u64,
    /// Block Ack requests sent, collided ones included.
    pub block_ack_requests: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// ACKs sent.
    pub acks: u64,
    /// Block Acks sent.
    pub block_acks: u64,
    /// PPDUs received and not answered (`missing_ack_rate`).
    pub answers_missing: u64,
    /// MPDUs received and left out of the Block Ack that answered them (`late_block_ack_us`).
    pub left_out_late: u64,
    /// MPDUs received that had been received before.
    pub duplicates: u64,
    /// Time on the air of everything it sent, ns.
    pub airtime_ns: u64,
}

/// Packets that did not get through, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// The driver queue was full.
    pub queue_full: u64,
    /// Sent as often as the retry limit allows. (The other end may have received it: then it was delivered too.)
    pub retry_limit: u64,
    /// The receiving host did not keep up.
    pub receiver_full: u64,
}
