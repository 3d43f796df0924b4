//! Ethernet frames as 802.11 data frames, and back (RFC 1042).

/// LLC and SNAP header up to the EtherType.
pub(super) const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// The Ethernet frame in a data frame from a station to its access point; `None`: there is none (null data, encrypted,
/// other encapsulations).
pub(super) fn from_station(mpdu: &[u8]) -> Option<Vec<u8>> {
    let (first, second) = (*mpdu.first()?, *mpdu.get(1)?);
    let qos = first & 0x80 != 0;
    // Data with a body, to the distribution system, not encrypted.
    if first & 0x0c != 0x08 || first & 0x40 != 0 || second & 0x43 != 0x01 {
        return None;
    }
    let header = if qos { 26 } else { 24 };
    let body = mpdu.get(header..)?.strip_prefix(&LLC_SNAP)?;
    let (destination, source) = (mpdu.get(16..22)?, mpdu.get(10..16)?);
    Some([destination, source, body].concat())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn down_and_up() {
        let ethernet: Vec<u8> = (0..40).collect();
        let down = to_station(&ethernet, [9; 6], 5, Some(0)).unwrap();
        assert_eq!((down.len(), &down[22..24]), (26 + 6 + 28, &[0x50, 0][..]));
        // The same frame as the station would send it.
        let mut up = down.clone();
        up[1] = 0x01;
        up[4..10].copy_from_slice(&[9; 6]);
        up[10..16].copy_from_slice(&ethernet[6..12]);
        up[16..22].copy_from_slice(&ethernet[..6]);
        assert_eq!(from_station(&up), Some(ethernet));
        assert_eq!(from_station(&down), None);
        assert_eq!(from_station(&[0xc8, 1, 0]), None);
    }
}
