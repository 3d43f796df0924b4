//! DHCP for IPv4 (RFC 2131, RFC 2132): who asks for what.

use core::net::Ipv4Addr;

use crate::ieee80211::MacAddr;

/// UDP ports of server and client.
pub const PORTS: [u16; 2] = [67, 68];

/// Length of a BOOTP message up to the options' magic cookie.
const FIXED: usize = 236;
const COOKIE: [u8; 4] = [99, 130, 83, 99];
const PAD: u8 = 0;
const END: u8 = 255;
/// Option "DHCP message type".
const MESSAGE_TYPE: u8 = 53;

/// A DHCP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dhcp {
    /// Message type (RFC 2132, 9.6).
    pub kind: u8,
    /// Transaction ID.
    pub transaction: u32,
    /// Hardware address of the client.
    pub client: MacAddr,
    /// "Your" address, which the server gives; `None` when the message has none.
    pub address: Option<Ipv4Addr>,
}

impl Dhcp {
    /// The message in the data of a datagram; `None` when it is not DHCP or its type is cut off.
    pub fn parse(data: &[u8]) -> Option<Self> {
        let mut rest = data.get(FIXED..)?.strip_prefix(&COOKIE)?;
        let kind = loop {
            match rest {
                [PAD, after @ ..] => rest = after,
                [END, ..] | [] | [_] => return None,
                [MESSAGE_TYPE, 1, kind, ..] => break *kind,
                [_, len, after @ ..] => rest = after.get(usize::from(*len)..)?,
            }
        };
        let address: [u8; 4] = *data.get(16..)?.first_chunk()?;
        Some(Self {
            kind,
            transaction: u32::from_be_bytes(*data.get(4..)?.first_chunk()?),
            client: MacAddr::read(data, 28)?,
            address: (address != [0; 4]).then(|| Ipv4Addr::from(address)),
        })
    }

    /// The type as RFC 2132 calls it.
    pub const fn name(&self) -> Option<&'static str> {
        Some(match self.kind {
            1 => "DISCOVER",
            2 => "OFFER",
            3 => "REQUEST",
            4 => "DECLINE",
            5 => "ACK",
            6 => "NAK",
            7 => "RELEASE",
            8 => "INFORM",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(options: &[u8]) -> Vec<u8> {
        let mut data = vec![2, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef];
        data.resize(16, 0);
        data.extend([192, 168, 0, 7]);
        data.resize(28, 0);
        data.extend([2, 0, 0, 0, 0, 9]);
        data.resize(FIXED, 0);
        data.extend(COOKIE);
        data.extend(options);
        data
    }

    #[test]
    fn the_type_is_found_behind_other_options() {
        let dhcp = Dhcp::parse(&message(&[0, 1, 4, 255, 255, 255, 0, 53, 1, 5, 255])).unwrap();
        assert_eq!((dhcp.name(), dhcp.transaction), (Some("ACK"), 0xdead_beef));
        assert_eq!((dhcp.client, dhcp.address), (MacAddr([2, 0, 0, 0, 0, 9]), Some(Ipv4Addr::new(192, 168, 0, 7))));
        assert_eq!(Dhcp::parse(&message(&[255, 53, 1, 5])), None, "behind the end");
        assert_eq!(Dhcp::parse(&message(&[1, 200, 0])), None, "cut");
        assert_eq!(Dhcp::parse(&message(&[])), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(options: Vec<u8>, cut in 0usize..300) {
            let message = message(&options);
            let _ = Dhcp::parse(&message[..cut.min(message.len())]);
            let _ = Dhcp::parse(&message);
        }
    }
}
