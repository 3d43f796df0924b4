//! What happens to the frames of a PPDU that were not acknowledged. For one of a Block Ack agreement that is given up the chip
//! sends a request: the receiver's window must move past what will never come (IEEE 802.11-2020, 10.25.6.6).

use std::collections::VecDeque;

use wire::ieee80211::{CompressedBlockAckReq, FrameKind, Header, Mpdu};

/// Puts the frames that are sent again back in front of their queue, in their order, and before them the request for the frame
/// that was given up, which `queued` makes of its bytes and of that frame.
pub fn put_back<Q>(
    queue: &mut VecDeque<Q>,
    again: Vec<Q>,
    given_up: Option<Q>,
    mpdu: impl Fn(&Q) -> &[u8],
    queued: impl FnOnce(Vec<u8>, Q) -> Q,
) {
    for frame in again.into_iter().rev() {
        queue.push_front(frame);
    }
    if let Some(lost) = given_up {
        let request = block_ack_request(mpdu(&lost), queue.front().map(mpdu));
        queue.push_front(queued(request, lost));
    }
}

/// A Block Ack request that starts behind the frame given up, or at the first of the same TID that will still come.
fn block_ack_request(lost: &[u8], next: Option<&[u8]>) -> Vec<u8> {
    let lost = Mpdu::new(lost);
    let start = next.map(Mpdu::new).filter(|next| next.tid() == lost.tid() && next.receiver() == lost.receiver());
    let start = start.and_then(|next| next.sequence()).unwrap_or(lost.sequence().unwrap_or_default().add(1));
    let mut mpdu = Vec::new();
    Header::control(FrameKind::BlockAckReq, lost.receiver().unwrap_or_default(), lost.transmitter()).emit(&mut mpdu);
    CompressedBlockAckReq { tid: lost.tid().unwrap_or(0), start }.emit(&mut mpdu);
    mpdu
}
