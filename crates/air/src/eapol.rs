//! What an EAPOL packet in the clear is for (IEEE Std 802.1X-2020, 11.3; IEEE Std 802.11-2020, 12.7).

use wire::ieee80211::eapol::Message;

/// Packet types.
const EAP: u8 = 0;
const START: u8 = 1;
const LOGOFF: u8 = 2;
const KEY: u8 = 3;

/// An EAPOL packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eapol {
    /// A message of a handshake, or the request for one.
    Key(Message),
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
            Some(&KEY) => Message::peek(packet).map_or(Self::OtherKey, Self::Key),
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The beginning of an EAPOL-Key packet with this Key Information and this many bytes of Key Data.
    fn key(information: u16, data_len: u8) -> Vec<u8> {
        let mut packet = vec![2, 3, 0, 95 + data_len, 2];
        packet.extend(information.to_be_bytes());
        packet
    }

    #[test]
    fn messages_are_told_by_who_asks_and_by_what_they_carry() {
        let read = |information, data_len| Eapol::read(&key(information, data_len));
        assert_eq!(read(0x008a, 0), Eapol::Key(Message::First));
        assert_eq!(read(0x010a, 22), Eapol::Key(Message::Second));
        assert_eq!(read(0x030a, 22), Eapol::Key(Message::Second), "Secure, when keys are renewed");
        assert_eq!(read(0x13ca, 56), Eapol::Key(Message::Third));
        assert_eq!(read(0x030a, 0), Eapol::Key(Message::Fourth));
        assert_eq!(read(0x0109, 0), Eapol::Key(Message::Fourth), "WPA");
        assert_eq!(read(0x1382, 32), Eapol::Key(Message::GroupFirst));
        assert_eq!(read(0x0302, 0), Eapol::Key(Message::GroupSecond));
        assert_eq!(read(0x0d0a, 0), Eapol::Key(Message::Request));
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
