//! What a chip sends when it gives up a frame of a Block Ack agreement: the receiver's window must move past what will never
//! come (IEEE 802.11-2020, 10.25.6.6).

use wire::ieee80211::{CompressedBlockAckReq, FrameKind, Header, Mpdu};

/// A Block Ack request that starts behind the frame given up, or at the first of the same TID that will still come.
pub fn block_ack_request(lost: &[u8], next: Option<&[u8]>) -> Vec<u8> {
    let lost = Mpdu::new(lost);
    let start = next.map(Mpdu::new).filter(|next| next.tid() == lost.tid() && next.receiver() == lost.receiver());
    let start = start.and_then(|next| next.sequence()).unwrap_or(lost.sequence().unwrap_or_default().add(1));
    let mut mpdu = Vec::new();
    Header::control(FrameKind::BlockAckReq, lost.receiver().unwrap_or_default(), lost.transmitter()).emit(&mut mpdu);
    CompressedBlockAckReq { tid: lost.tid().unwrap_or(0), start }.emit(&mut mpdu);
    mpdu
}
