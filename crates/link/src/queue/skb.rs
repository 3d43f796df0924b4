//! What the queues of Linux count for a packet, and which of many queues is which.

use crate::engine::Packet;

/// The Ethernet header, which a queueing discipline counts with each packet, bytes.
pub(crate) const ETHERNET_HEADER_BYTES: u32 = 14;

/// The QoS data header and LLC/SNAP, which mac80211 counts with each packet (the header is there before its queues), bytes.
pub(crate) const WLAN_HEADER_BYTES: u32 = 26 + 8;

/// `sizeof(struct sk_buff)` and the cache lines it fills, 64-bit kernels, bytes.
const SK_BUFF_BYTES: u64 = 256;

/// `sizeof(struct skb_shared_info)` behind the data and the headroom before it, bytes.
const SHARED_INFO_AND_HEADROOM_BYTES: u64 = 320 + 64;

/// What a packet of `bytes` takes of a memory limit: data in an allocation of a power of two, and what manages it. 2304 for
/// a full Ethernet frame.
pub(crate) const fn true_bytes(bytes: u32) -> u64 {
    SK_BUFF_BYTES + (bytes as u64 + SHARED_INFO_AND_HEADROOM_BYTES).next_power_of_two()
}

/// The queue, out of `queues`, of a flow. `perturbation` makes which flows share one differ between instances.
pub(crate) fn queue_of<P: Packet>(packet: &P, perturbation: u64, queues: usize) -> usize {
    // The finalizer of SplitMix64, and the multiplication in place of a remainder that Linux uses (`reciprocal_scale`).
    let mixed = (u64::from(packet.flow()) ^ perturbation).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let hash = (mixed ^ (mixed >> 31)) >> 32;
    ((hash * queues as u64) >> 32) as usize
}

/// The longest of some queues, of equals the first.
pub(crate) fn fattest(backlogs: &[u64]) -> usize {
    let (mut fattest, mut most) = (0, 0);
    for (index, &backlog) in backlogs.iter().enumerate() {
        if backlog > most {
            (fattest, most) = (index, backlog);
        }
    }
    fattest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_2304_bytes_and_an_acknowledgement_768() {
        assert_eq!([true_bytes(1514), true_bytes(66), true_bytes(40)], [2304, 768, 768]);
    }
}
