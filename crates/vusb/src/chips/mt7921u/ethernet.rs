//! Ethernet frames to and from 802.11: what the driver leaves to the chip (mac80211's encapsulation and decapsulation offload).

use wire::ieee80211::{FrameControl, Header, MacAddr, QosControl, Seq};

/// RFC 1042, and what stands for AppleTalk's ARP and IPX (802.1H).
const RFC_1042: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
const BRIDGE_TUNNEL: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0xf8];
const AARP: u16 = 0x80f3;
const IPX: u16 = 0x8137;
const HEADER: usize = 14;

/// Who a frame is sent by, and to.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The access point.
    pub receiver: MacAddr,
    /// The chip.
    pub own: MacAddr,
}

/// The data frame to an access point of an Ethernet frame, without a sequence number; `None`: it is cut.
pub fn encapsulate(ethernet: &[u8], link: Link, tid: Option<u8>, has_type: bool) -> Option<Vec<u8>> {
    let [d0, d1, d2, d3, d4, d5, _, _, _, _, _, _, high, low] = *ethernet.first_chunk::<HEADER>()?;
    let destination = MacAddr([d0, d1, d2, d3, d4, d5]);
    let fc = FrameControl::default().with_to_ds(true);
    let header = Header::data(fc, [link.receiver, link.own, destination], Seq::default(), tid.map(QosControl::new));
    let mut mpdu = Vec::with_capacity(ethernet.len() + 24);
    header.emit(&mut mpdu);
    if has_type {
        let number = u16::from_be_bytes([high, low]);
        mpdu.extend(if [AARP, IPX].contains(&number) { BRIDGE_TUNNEL } else { RFC_1042 });
        mpdu.extend([high, low]);
    }
    mpdu.extend_from_slice(ethernet.get(HEADER..)?);
    Some(mpdu)
}

/// The Ethernet frame of a data frame; `None`: it is one that stays as it is.
pub fn decapsulate(header: &Header, mpdu: &[u8]) -> Option<Vec<u8>> {
    if header.is_amsdu() || header.fc.more_fragments() || header.fragment != Some(0) || !header.fc.carries_data() {
        return None;
    }
    let body = mpdu.get(header.header_len..)?;
    let (front, rest) = body.split_first_chunk::<8>()?;
    let [s0, s1, s2, s3, s4, s5, high, low] = *front;
    let snap = [s0, s1, s2, s3, s4, s5];
    let number = u16::from_be_bytes([high, low]);
    let tunnelled = [AARP, IPX].contains(&number);
    if snap != BRIDGE_TUNNEL && (snap != RFC_1042 || tunnelled) {
        return None;
    }
    let mut ethernet = Vec::with_capacity(HEADER + rest.len());
    ethernet.extend(header.destination()?.0);
    ethernet.extend(header.source()?.0);
    ethernet.extend([high, low]);
    ethernet.extend_from_slice(rest);
    Some(ethernet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINK: Link = Link { receiver: MacAddr([2; 6]), own: MacAddr([4; 6]) };

    proptest! {
        #[test]
        fn an_ethernet_frame_comes_back(
            destination: [u8; 6], number in 0x0600u16.., payload: Vec<u8>, tid in prop::option::of(0u8..8),
        ) {
            let ethernet = [&destination[..], &LINK.own.0, &number.to_be_bytes(), &payload].concat();
            let mut mpdu = encapsulate(&ethernet, LINK, tid, true).unwrap();
            // As the access point sends it on: from the DS.
            mpdu[1] = 0x02;
            let (first, rest) = mpdu[4..22].split_at_mut(6);
            first.copy_from_slice(&rest[6..12]);
            let source = LINK.own.0;
            rest[6..12].copy_from_slice(&source);
            let header = Header::parse(&mpdu, false).unwrap();
            prop_assert_eq!(decapsulate(&header, &mpdu), Some(ethernet));
        }

        #[test]
        fn any_frame_is_survived(frame: Vec<u8>) {
            let _ = encapsulate(&frame, LINK, Some(0), frame.len() % 2 == 0);
            if let Ok(header) = Header::parse(&frame, false) {
                let _ = decapsulate(&header, &frame);
            }
        }
    }
}
