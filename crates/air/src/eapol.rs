//! What an EAPOL packet in the clear is for (IEEE Std 802.1X-2020, 11.3; IEEE Std 802.11-2020, 12.7).

/// Packet types.
const EAP: u8 = 0;
const START: u8 = 1;
const LOGOFF: u8 = 2;
const KEY: u8 = 3;

/// Descriptor types of keys for WPA and RSN.
const DESCRIPTORS: [u8; 2] = [254, 2];

/// Bits of Key Information.
const PAIRWISE: u16 = 0x0008;
const ACK: u16 = 0x0080;
const MIC: u16 = 0x0100;
const ERROR: u16 = 0x0400;
const REQUEST: u16 = 0x0800;

/// Offsets, from the protocol version on.
const DESCRIPTOR_AT: usize = 4;
const INFORMATION_AT: usize = 5;
const LENGTH_AT: usize = 2;

/// What the length field says of an EAPOL-Key without Key Data, by the length of its MIC (16, 24, 32 bytes).
const LENGTHS_WITHOUT_DATA: [u16; 3] = [95, 103, 111];

/// An EAPOL packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eapol {
    /// Message 1 to 4 of the four-way handshake.
    Handshake(u8),
    /// Message 1 or 2 of the group key handshake.
    GroupKey(u8),
    /// A station asks for a handshake, or reports an error.
    KeyRequest,
    /// EAPOL-Key of another kind (dynamic WEP), or cut too short to tell.
    OtherKey,
    /// EAP with its code: 1 request, 2 response, 3 success, 4 failure.
    Eap(u8),
    /// A station asks to be authenticated.
    Start,
    /// A station leaves.
    Logoff,
    /// Anything else.
    Other,
}

impl Eapol {
    /// Reads the first bytes of a packet, from the protocol version on.
    pub fn read(packet: &[u8]) -> Self {
        match packet.get(1) {
            Some(&EAP) => packet.get(4).map_or(Self::Other, |code| Self::Eap(*code)),
            Some(&START) => Self::Start,
            Some(&LOGOFF) => Self::Logoff,
            Some(&KEY) => Self::key(packet),
            _ => Self::Other,
        }
    }

    fn key(packet: &[u8]) -> Self {
        let known = packet.get(DESCRIPTOR_AT).is_some_and(|descriptor| DESCRIPTORS.contains(descriptor));
        let information = packet.get(INFORMATION_AT..).and_then(|rest| rest.first_chunk().copied());
        let (true, Some(information)) = (known, information.map(u16::from_be_bytes)) else { return Self::OtherKey };
        let has = |bit: u16| information & bit != 0;
        match (has(PAIRWISE), has(ACK), has(MIC)) {
            _ if has(REQUEST) || has(ERROR) => Self::KeyRequest,
            (true, true, false) => Self::Handshake(1),
            (true, true, true) => Self::Handshake(3),
            (true, false, _) => Self::Handshake(if has_data(packet) { 2 } else { 4 }),
            (false, true, _) => Self::GroupKey(1),
            (false, false, _) => Self::GroupKey(2),
        }
    }
}

/// Message 2 brings the station's RSN element, message 4 nothing. The Secure bit is no help: stations set it in message 2 when
/// keys are renewed, and under WPA in neither; nor is the nonce, which some repeat in message 4.
fn has_data(packet: &[u8]) -> bool {
    let length = packet.get(LENGTH_AT..).and_then(|rest| rest.first_chunk().copied()).map(u16::from_be_bytes);
    length.is_some_and(|length| !LENGTHS_WITHOUT_DATA.contains(&length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The beginning of an EAPOL-Key packet with this Key Information and so many bytes of Key Data.
    fn key(information: u16, data_len: u8) -> Vec<u8> {
        let mut packet = vec![2, 3, 0, 95 + data_len, 2];
        packet.extend(information.to_be_bytes());
        packet
    }

    #[test]
    fn messages_are_told_by_who_asks_and_by_what_they_carry() {
        let read = |information, data_len| Eapol::read(&key(information, data_len));
        assert_eq!(read(0x008a, 0), Eapol::Handshake(1));
        assert_eq!(read(0x010a, 22), Eapol::Handshake(2));
        assert_eq!(read(0x030a, 22), Eapol::Handshake(2), "Secure, when keys are renewed");
        assert_eq!(read(0x13ca, 56), Eapol::Handshake(3));
        assert_eq!(read(0x030a, 0), Eapol::Handshake(4));
        assert_eq!(read(0x0109, 0), Eapol::Handshake(4), "WPA");
        assert_eq!(read(0x1382, 32), Eapol::GroupKey(1));
        assert_eq!(read(0x0302, 0), Eapol::GroupKey(2));
        assert_eq!(read(0x0d0a, 0), Eapol::KeyRequest);
        assert_eq!(Eapol::read(&[1, 0, 0, 5, 3]), Eapol::Eap(3));
        assert_eq!(Eapol::read(&[1, 1, 0, 0]), Eapol::Start);
        assert_eq!(Eapol::read(&[2, 3, 0, 95, 1, 0, 0]), Eapol::OtherKey, "dynamic WEP");
    }

    proptest! {
        #[test]
        fn any_bytes_are_something(packet in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Eapol::read(&packet);
        }
    }
}
