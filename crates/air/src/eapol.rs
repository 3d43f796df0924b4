//! What an EAPOL packet in the clear is for (IEEE Std 802.1X-2020, 11.3; IEEE Std 802.11-2020, 12.7).

use wire::ieee80211::eapol::Message;

/// Packet types.
const EAP: u8 = 0;
const START: u8 = 1;
const LOGOFF: u8 = 2;
const KEY: u8 = 3;
/// Expanded EAP type of the Wi-Fi Alliance: Simple Configuration (RFC 3748, 5.7; Wi-Fi Simple Configuration 2.0.8, 7.7.1).
const WPS: [u8; 8] = [254, 0, 0x37, 0x2a, 0, 0, 0, 1];
/// Its operation code of a message that refuses.
const WPS_NACK: u8 = 3;

/// An EAPOL packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eapol {
    /// A message of a handshake, or the request for one.
    Key(Message),
    /// EAPOL-Key of another kind (dynamic WEP), or cut too short to tell.
    OtherKey,
    /// EAP with its code: 1 request, 2 response, 3 success, 4 failure.
    Eap(u8),
    /// A message of Wi-Fi Simple Configuration (WPS), an EAP method that ends with EAP-Failure also when all went well.
    Wps {
        /// The access point sent it.
        is_request: bool,
        /// It says that something went wrong.
        is_nack: bool,
    },
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
            Some(&EAP) => match (packet.get(4), packet.get(8..16)) {
                (Some(code @ (1 | 2)), Some(method)) if method == WPS => {
                    Self::Wps { is_request: *code == 1, is_nack: packet.get(16) == Some(&WPS_NACK) }
                }
                (code, _) => code.map_or(Self::Other, |code| Self::Eap(*code)),
            },
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
        let wps = |code, operation| {
            let packet = [&[1, 0, 0, 14, code, 7, 0, 14][..], &WPS, &[operation, 0]].concat();
            Eapol::read(&packet)
        };
        assert_eq!(wps(1, 4), Eapol::Wps { is_request: true, is_nack: false });
        assert_eq!(wps(2, WPS_NACK), Eapol::Wps { is_request: false, is_nack: true });
        assert_eq!(wps(4, 4), Eapol::Eap(4));
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
