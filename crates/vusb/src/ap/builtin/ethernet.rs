//! Ethernet frames as 802.11 data frames, and back (RFC 1042); several in an A-MSDU (9.3.2.2).

use wire::ieee80211::{Amsdu, Header};

/// LLC and SNAP header up to the EtherType.
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
/// Bytes of a QoS data header without HT Control.
const QOS_HEADER: usize = 26;
/// QoS Control: the body is an A-MSDU.
const AMSDU_PRESENT: u8 = 0x80;

/// An Ethernet frame of an MSDU behind LLC and SNAP; `None`: other encapsulations.
fn ethernet(destination: &[u8], source: &[u8], msdu: &[u8]) -> Option<Vec<u8>> {
    Some([destination, source, msdu.strip_prefix(&LLC_SNAP)?].concat())
}

/// The Ethernet frames in a data frame from a station to its access point: none in null data, encrypted frames,
/// fragments and other encapsulations; several in an A-MSDU.
pub(super) fn from_station(mpdu: &[u8]) -> Vec<Vec<u8>> {
    let Ok(header) = Header::parse(mpdu, false) else { return Vec::new() };
    let flags = mpdu.get(1).copied().unwrap_or(0);
    // To the distribution system, whole, not encrypted.
    if !header.fc.carries_data() || flags & 0x47 != 0x01 || header.fragment != Some(0) {
        return Vec::new();
    }
    let body = mpdu.get(header.header_len..).unwrap_or_default();
    if header.is_amsdu() {
        let frames = Amsdu::new(body, body.len());
        return frames.filter_map(|part| ethernet(&part.destination.0, &part.source.0, part.msdu)).collect();
    }
    match (mpdu.get(16..22), mpdu.get(10..16)) {
        (Some(destination), Some(source)) => ethernet(destination, source, body).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A data frame from the access point `network` that carries an Ethernet frame; QoS where `tid` is given.
pub(super) fn to_station(ethernet: &[u8], network: [u8; 6], sequence: u16, tid: Option<u8>) -> Option<Vec<u8>> {
    let (destination, source, rest) = (ethernet.get(..6)?, ethernet.get(6..12)?, ethernet.get(12..)?);
    let mut mpdu = vec![if tid.is_some() { 0x88 } else { 0x08 }, 0x02, 0, 0];
    mpdu.extend_from_slice(destination);
    mpdu.extend(network);
    mpdu.extend_from_slice(source);
    mpdu.extend((sequence << 4).to_le_bytes());
    if let Some(tid) = tid {
        mpdu.extend([tid, 0]);
    }
    mpdu.extend(LLC_SNAP);
    mpdu.extend_from_slice(rest);
    Some(mpdu)
}

/// How many MSDUs a frame from [`to_station`] or [`join`] carries.
pub(super) fn msdus(mpdu: &[u8]) -> usize {
    match mpdu.get(24) {
        Some(qos) if qos & AMSDU_PRESENT != 0 => {
            let body = mpdu.get(QOS_HEADER..).unwrap_or_default();
            Amsdu::new(body, body.len()).count()
        }
        _ => 1,
    }
}

/// Puts one more Ethernet frame behind those of a QoS data frame, which becomes an A-MSDU, of `limit` bytes at most.
/// `false`: it does not fit, and nothing has changed.
pub(super) fn join(mpdu: &mut Vec<u8>, network: [u8; 6], ethernet: &[u8], limit: usize) -> bool {
    let Some(&qos) = mpdu.get(24).filter(|_| mpdu.first().is_some_and(|first| first & 0x8c == 0x88)) else {
        return false;
    };
    let header = |destination: &[u8], source: &[u8], len: usize| {
        let len = (len as u16).to_be_bytes();
        [destination, source, &len].concat()
    };
    let (Some(to), Some(from), Some(rest)) = (ethernet.get(..6), ethernet.get(6..12), ethernet.get(12..)) else {
        return false;
    };
    let Some(body) = mpdu.get(QOS_HEADER..) else { return false };
    let mut amsdu = if qos & AMSDU_PRESENT != 0 {
        body.to_vec()
    } else {
        let (Some(to), Some(from)) = (mpdu.get(4..10), mpdu.get(16..22)) else { return false };
        [&header(to, from, body.len())[..], body].concat()
    };
    amsdu.resize(amsdu.len().next_multiple_of(4), 0);
    amsdu.extend(header(to, from, LLC_SNAP.len() + rest.len()));
    amsdu.extend(LLC_SNAP);
    amsdu.extend_from_slice(rest);
    if amsdu.len() > limit {
        return false;
    }
    if let Some(qos) = mpdu.get_mut(24) {
        *qos |= AMSDU_PRESENT;
    }
    // The addresses of an A-MSDU's header are those of the link (table 9-30).
    if let Some(third) = mpdu.get_mut(16..22) {
        third.copy_from_slice(&network);
    }
    mpdu.truncate(QOS_HEADER);
    mpdu.extend(amsdu);
    true
}

#[cfg(test)]
pub(in crate::ap::builtin) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame of the access point as a station would send it.
    pub(in crate::ap::builtin) fn as_from_station(down: &[u8]) -> Vec<u8> {
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
        let down = to_station(&ethernet, [9; 6], 5, Some(0)).unwrap();
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
            let network = [9; 6];
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
            let _ = join(&mut bytes.clone(), [9; 6], &more, 4_000);
        }
    }
}
