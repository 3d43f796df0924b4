//! Checksums of TCP and UDP, which the modem reports to the host, and fills in for it.

use wire::internet_checksum::{checksum, folded, sum};

/// A TCP or UDP segment in an IP packet that is not a fragment.
struct Segment {
    /// Where its first byte is.
    start: usize,
    /// Behind its last byte.
    end: usize,
    /// Where its checksum is.
    field: usize,
    /// Sum of the pseudo header.
    pseudo: u64,
    is_udp: bool,
}

fn segment(packet: &[u8]) -> Option<Segment> {
    let u16_at = |at: usize| Some(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?));
    let first = *packet.first()?;
    let (start, end, protocol, addresses) = match first >> 4 {
        4 => {
            let fragment = u16_at(6)? & 0x3fff != 0;
            let header = usize::from(first & 0x0f) * 4;
            if fragment || header < 20 {
                return None;
            }
            (header, usize::from(u16_at(2)?), *packet.get(9)?, packet.get(12..20)?)
        }
        // Extension headers are left alone, as by Linux' rmnet.
        6 => (40, 40 + usize::from(u16_at(4)?), *packet.get(6)?, packet.get(8..40)?),
        _ => return None,
    };
    let (field, is_udp) = match protocol {
        6 => (start + 16, false),
        17 => (start + 6, true),
        _ => return None,
    };
    if end > packet.len() || field + 2 > end {
        return None;
    }
    let pseudo = sum(addresses) + u64::from(protocol) + (end - start) as u64;
    Some(Segment { start, end, field, pseudo, is_udp })
}

/// Whether the checksum of a packet's TCP or UDP segment is there and right.
pub(super) fn is_right(packet: &[u8]) -> bool {
    segment(packet).is_some_and(|found| {
        let bytes = packet.get(found.start..found.end).unwrap_or_default();
        let unused = found.is_udp && packet.get(found.field..found.field + 2) == Some(&[0, 0]);
        !unused && folded(found.pseudo + sum(bytes)) == 0xffff
    })
}

/// Fills in the checksum of a packet's TCP or UDP segment, whatever is there; `false`: it has none.
pub(super) fn fill(packet: &mut [u8]) -> bool {
    let Some(Segment { start, end, field, pseudo, is_udp }) = segment(packet) else { return false };
    let Some(place) = packet.get_mut(field..field + 2) else { return false };
    place.fill(0);
    let check = checksum(pseudo, packet.get(start..end).unwrap_or_default());
    // In UDP, 0 means that there is none (RFC 768).
    let check = if is_udp && check == 0 { 0xffff } else { check };
    if let Some(place) = packet.get_mut(field..field + 2) {
        place.copy_from_slice(&check.to_be_bytes());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(version: u8, payload: &[u8]) -> Vec<u8> {
        let len = 8 + payload.len() as u16;
        let mut packet = if version == 4 {
            let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 80, 210, 2, 10, 80, 210, 1];
            header[2..4].copy_from_slice(&(20 + len).to_be_bytes());
            header
        } else {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, 17, 64];
            header[4..6].copy_from_slice(&len.to_be_bytes());
            header.extend(0..32);
            header
        };
        packet.extend([0x13, 0x89, 0x13, 0x8a]);
        packet.extend(len.to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn a_checksum_by_hand() {
        // 10.80.210.2 to 10.80.210.1, 5001 to 5002, 10 bytes with "hi": 0a50+d202+0a50+d201 + 11 + a + 1389+138a + a + 6869 = 4846
        let mut packet = udp(4, b"hi");
        assert!(!is_right(&packet) && fill(&mut packet) && is_right(&packet));
        assert_eq!(packet[26..28], (!0x4846u16).to_be_bytes());
    }

    proptest::proptest! {
        #[test]
        fn what_is_filled_in_is_right(payload: Vec<u8>, six: bool, at: usize, flip in 1u8..) {
            let mut packet = udp(if six { 6 } else { 4 }, &payload);
            proptest::prop_assert!(fill(&mut packet) && is_right(&packet));
            // The checksum over the whole packet is what is missing from the pseudo header: as Linux' rmnet checks it.
            let start = if six { 40 } else { 20 };
            let whole = folded(u64::from(checksum(0, &packet)) + sum(&packet[..start]));
            let segment = segment(&packet).unwrap();
            proptest::prop_assert_eq!(whole % 0xffff, folded(segment.pseudo) % 0xffff);
            let at = start + at % (packet.len() - start);
            if !(4 + start..8 + start).contains(&at) {
                packet[at] ^= flip;
                proptest::prop_assert!(!is_right(&packet));
            }
        }

        #[test]
        fn any_bytes_are_no_trouble(mut bytes: Vec<u8>, first in proptest::sample::select(vec![0x45u8, 0x4f, 0x60, 0])) {
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            let filled = fill(&mut bytes);
            proptest::prop_assert_eq!(filled, is_right(&bytes));
        }
    }
}
