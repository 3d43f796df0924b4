//! Ethernet frames as 802.11 data frames, and back (RFC 1042); several in an A-MSDU (9.3.2.2).

use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{Amsdu, FrameControl, Header, MacAddr, Mpdu, QosControl, Seq};

/// Bytes of a QoS data header without HT Control.
const QOS_HEADER: usize = 26;

/// An Ethernet frame of an MSDU behind LLC and SNAP; `None`: other encapsulations.
fn ethernet(destination: &[u8], source: &[u8], msdu: &[u8]) -> Option<Vec<u8>> {
    Some([destination, source, msdu.strip_prefix(&LLC_SNAP)?].concat())
}

/// The Ethernet frames in a data frame from a station to its access point: none in null data, encrypted frames,
/// fragments and other encapsulations; several in an A-MSDU.
pub(super) fn from_station(mpdu: &[u8]) -> Vec<Vec<u8>> {
    let Ok(header) = Header::parse(mpdu, false) else { return Vec::new() };
    let fc = header.fc;
    // To the distribution system, whole, not encrypted.
    let whole = !fc.more_fragments() && header.fragment == Some(0);
    if !fc.carries_data() || !fc.to_ds() || fc.from_ds() || fc.protected() || !whole {
        return Vec::new();
    }
    let body = mpdu.get(header.header_len..).unwrap_or_default();
    if header.is_amsdu() {
        let frames = Amsdu::new(body, body.len());
        return frames.filter_map(|part| ethernet(&part.destination.0, &part.source.0, part.msdu)).collect();
    }
    match (header.destination(), header.source()) {
        (Some(destination), Some(source)) => ethernet(&destination.0, &source.0, body).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A data frame from the access point `network` that carries an Ethernet frame; QoS where `tid` is given.
pub(super) fn to_station(ethernet: &[u8], network: MacAddr, sequence: u16, tid: Option<u8>) -> Option<Vec<u8>> {
    let (destination, source) = (MacAddr::read(ethernet, 0)?, MacAddr::read(ethernet, 6)?);
    let rest = ethernet.get(12..)?;
    let fc = FrameControl::default().with_from_ds(true);
    let header = Header::data(fc, [destination, network, source], Seq::new(sequence), tid.map(QosControl::new));
    let mut mpdu = Vec::with_capacity(QOS_HEADER + LLC_SNAP.len() + rest.len());
    header.emit(&mut mpdu);
    mpdu.extend(LLC_SNAP);
    mpdu.extend_from_slice(rest);
    Some(mpdu)
}

/// How many MSDUs a frame from [`to_station`] or [`join`] carries.
pub(super) fn msdus(mpdu: &[u8]) -> usize {
    match Mpdu::new(mpdu).qos() {
        Some(qos) if qos.amsdu_present() => {
            let body = mpdu.get(QOS_HEADER..).unwrap_or_default();
            Amsdu::new(body, body.len()).count()
        }
        _ => 1,
    }
}

/// Puts one more Ethernet frame behind those of a QoS data frame, which becomes an A-MSDU, of `limit` bytes at most.
/// `false`: it does not fit, and nothing has changed.
pub(super) fn join(mpdu: &mut Vec<u8>, network: MacAddr, ethernet: &[u8], limit: usize) -> bool {
    let frame = Mpdu::new(&mut *mpdu);
    let (Some(qos), Some(first_to), Some(first_from)) = (frame.qos(), frame.receiver(), frame.address_3()) else {
        return false;
    };
    let (Some(to), Some(from)) = (MacAddr::read(ethernet, 0), MacAddr::read(ethernet, 6)) else { return false };
    let (Some(rest), Some(body)) = (ethernet.get(12..), mpdu.get(QOS_HEADER..)) else { return false };
    let subframe = |to: MacAddr, from: MacAddr, len: usize| [&to.0, &from.0, &(len as u16).to_be_bytes()[..]].concat();
    let mut amsdu = if qos.amsdu_present() {
        body.to_vec()
    } else {
        [&subframe(first_to, first_from, body.len())[..], body].concat()
    };
    amsdu.resize(amsdu.len().next_multiple_of(4), 0);
    amsdu.extend(subframe(to, from, LLC_SNAP.len() + rest.len()));
    amsdu.extend(LLC_SNAP);
    amsdu.extend_from_slice(rest);
    if amsdu.len() > limit {
        return false;
    }
    let mut frame = Mpdu::new(&mut *mpdu);
    frame.set_qos(qos.with_amsdu_present());
    // The addresses of an A-MSDU's header are those of the link (table 9-30).
    frame.set_address_3(network);
    mpdu.truncate(QOS_HEADER);
    mpdu.extend(amsdu);
    true
}

#[cfg(test)]
pub(in crate::peers::builtin) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame of the access point as a station would send it.
    pub(in crate::peers::builtin) fn as_from_station(down: &[u8]) -> Vec<u8> {
        let mut up = down.to_vec();
        up[1] = up[1] & !0x03 | 0x01;
        let (to, network, from) = (down[4..10].to_vec(), down[10..16].to_vec(), down[16..22].to_vec());
        up[4..10].copy_from_slice(&network);
        up[10..16].copy_from_slice(&from);
        up[16..22].copy_from_slice(&to);
        up
    }

    #[test]
    fn down_and_up() {
        let ethernet: Vec<u8> = (0..40).collect();
        let down = to_station(&ethernet, MacAddr([9; 6]), 5, Some(0)).unwrap();
        assert_eq!((down.len(), &down[22..24]), (26 + 6 + 28, &[0x50, 0][..]));
        assert_eq!(from_station(&as_from_station(&down)), [ethernet]);
        assert!(from_station(&down).is_empty());
        assert!(from_station(&[0xc8, 1, 0]).is_empty());
    }

    proptest! {
        #[test]
        fn an_amsdu_gives_back_what_was_put_in(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 14..300), 1..8)
        ) {
            let mut frames = frames;
            for frame in &mut frames {
                frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
            }
            let network = MacAddr([9; 6]);
            let mut mpdu = to_station(&frames[0], network, 5, Some(0)).unwrap();
            let mut inside = 1;
            for frame in &frames[1..] {
                if !join(&mut mpdu, network, frame, 1_000) {
                    break;
                }
                inside += 1;
            }
            prop_assert!(mpdu.len() - QOS_HEADER <= 1_000);
            prop_assert_eq!(msdus(&mpdu), inside);
            prop_assert_eq!(from_station(&as_from_station(&mpdu)), &frames[..inside]);
        }

        #[test]
        fn any_bytes_are_taken_apart_without_a_panic(bytes: Vec<u8>, more: Vec<u8>) {
            let _ = (from_station(&bytes), msdus(&bytes));
            let _ = join(&mut bytes.clone(), MacAddr([9; 6]), &more, 4_000);
        }
    }
}
