//! The MPDUs of a PPDU of a link, without their FCS.

use link::engine::{AccessCategory, HostId, Packet};
use link::ppdu::{write_msdu, Contents, DataMpdu, Ppdu};
use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{
    Bitmap, CompressedBlockAck, CompressedBlockAckReq, FrameControl, FrameKind, Header, MacAddr, QosControl, Seq,
};

use super::network::address;

fn receiver(to: Option<HostId>) -> MacAddr {
    to.map_or(MacAddr::BROADCAST, address)
}

/// How a data frame is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataFrame {
    pub(super) category: AccessCategory,
    pub(super) qos: bool,
    /// `out` is not to become longer than this; the frame is cut.
    pub(super) limit: usize,
}

/// Appends a data frame; gives the length that it has when it is not cut. The far ends of the traffic are the radios
/// themselves.
pub(super) fn data<P: Packet>(
    ppdu: &Ppdu<'_, P>,
    frame: DataFrame,
    mpdu: &DataMpdu<'_, P>,
    out: &mut Vec<u8>,
) -> usize {
    let start = out.len();
    let down = ppdu.from == HostId::SERVER;
    let fc = FrameControl::default().with_from_ds(down).with_to_ds(!down).with_retry(mpdu.retry);
    let (to, from, bssid) = (receiver(ppdu.to), address(ppdu.from), address(HostId::SERVER));
    // Downlink: destination, BSSID, source. Uplink: BSSID, source, destination.
    let addresses = if down { [to, bssid, from] } else { [bssid, from, to] };
    let qos = frame.qos.then(|| QosControl::new(frame.category.tid()));
    let header = Header::data(fc, addresses, Seq::new(mpdu.sequence), qos);
    Header { duration_id: ppdu.duration_us, ..header }.emit(out);
    let body = out.len() + LLC_SNAP.len() + 2;
    write_msdu(mpdu.packet, frame.limit.saturating_sub(body), out);
    body - start + mpdu.packet.size_bytes()
}

/// Appends a control frame; nothing for other frames.
pub(super) fn control<P>(ppdu: &Ppdu<'_, P>, out: &mut Vec<u8>) {
    let (to, from) = (receiver(ppdu.to), address(ppdu.from));
    let header = |kind: FrameKind, transmitter: Option<MacAddr>, out: &mut Vec<u8>| {
        Header { duration_id: ppdu.duration_us, ..Header::control(kind, to, transmitter) }.emit(out);
    };
    match ppdu.contents {
        Contents::Data { .. } | Contents::Beacon => {}
        Contents::Ack => header(FrameKind::Ack, None, out),
        Contents::Cts => header(FrameKind::Cts, None, out),
        Contents::Rts => header(FrameKind::Rts, Some(from), out),
        Contents::BlockAck { category, start_sequence, bitmap } => {
            header(FrameKind::BlockAck, Some(from), out);
            let (start, bitmap) = (Seq::new(start_sequence), Bitmap::from(bitmap));
            CompressedBlockAck { tid: category.tid(), start, bitmap }.emit(out);
        }
        Contents::BlockAckRequest { category, start_sequence } => {
            header(FrameKind::BlockAckReq, Some(from), out);
            CompressedBlockAckReq { tid: category.tid(), start: Seq::new(start_sequence) }.emit(out);
        }
    }
}
