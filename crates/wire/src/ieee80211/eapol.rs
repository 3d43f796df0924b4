//! EAPOL-Key frames (12.7.2) and the elements in their Key Data field.

use super::elements::Elements;

/// EtherType of EAPOL (IEEE Std 802.1X-2020, 11.1.4).
pub const ETHERTYPE: u16 = 0x888e;

/// Packet type of EAPOL-Key (IEEE Std 802.1X-2020, table 11-3).
const TYPE_KEY: u8 = 3;
/// Bytes of the EAPOL header: version, type, length.
const HEADER_LEN: usize = 4;
/// Offset of the Key MIC field, header included.
const MIC_AT: usize = 81;
/// Lengths that the Key MIC field may have; the key management decides (12.7.3).
const MIC_LENS: [usize; 3] = [16, 24, 32];

/// Bytes of the field between Key MIC and Key Data.
const DATA_LENGTH_LEN: usize = 2;

/// Descriptor type of an RSN key.
pub const DESCRIPTOR_RSN: u8 = 2;
/// Descriptor type of a WPA key, before 802.11i was done.
pub const DESCRIPTOR_WPA: u8 = 254;

/// The Key Information field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInformation(pub u16);

impl KeyInformation {
    /// Key Descriptor Version: 1 HMAC-MD5 and RC4, 2 HMAC-SHA-1 and AES, 3 AES-CMAC and AES, 0 as the key management says.
    pub const fn version(self) -> u8 {
        (self.0 & 0x7) as u8
    }

    /// Pairwise, else a group key.
    pub const fn pairwise(self) -> bool {
        self.0 & 0x8 != 0
    }

    /// Key Ack: the authenticator asks for an answer, so it is the sender.
    pub const fn ack(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// The Key MIC field holds a MIC.
    pub const fn mic(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Error (a Michael failure report).
    pub const fn error(self) -> bool {
        self.0 & 0x400 != 0
    }

    /// Request: the supplicant asks for a handshake.
    pub const fn request(self) -> bool {
        self.0 & 0x800 != 0
    }

    /// The Key Data field is encrypted.
    pub const fn encrypted(self) -> bool {
        self.0 & 0x1000 != 0
    }
}

/// Which message of a handshake an EAPOL-Key frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Four-way handshake, 1: ANonce.
    First,
    /// Four-way handshake, 2: SNonce, and the station's RSN element.
    Second,
    /// Four-way handshake, 3: the group key.
    Third,
    /// Four-way handshake, 4.
    Fourth,
    /// Group key handshake, from the authenticator.
    GroupFirst,
    /// Group key handshake, from the station.
    GroupSecond,
    /// Asks for a handshake or reports an error.
    Request,
}

impl Message {
    /// Which message has this Key Information, and Key Data or none. Message 2 has Key Data, message 4 none (12.7.6.5). The
    /// Secure bit does not help: stations set it in message 2 when keys are renewed, and under WPA in neither. Nor is the nonce,
    /// which some repeat in message 4.
    pub const fn of(info: KeyInformation, has_data: bool) -> Self {
        match (info.pairwise(), info.ack(), info.mic()) {
            _ if info.request() || info.error() => Self::Request,
            (true, true, false) => Self::First,
            (true, true, true) => Self::Third,
            (true, false, _) if has_data => Self::Second,
            (true, false, _) => Self::Fourth,
            (false, true, _) => Self::GroupFirst,
            (false, false, _) => Self::GroupSecond,
        }
    }

    /// Reads the first bytes of an EAPOL-Key packet, from its protocol version on: enough of one that is cut. Whether it has Key
    /// Data follows from its length. `None` for other packets, and for those cut before the Key Information.
    pub fn peek(bytes: &[u8]) -> Option<Self> {
        let [_, TYPE_KEY, length @ .., DESCRIPTOR_RSN | DESCRIPTOR_WPA, high, low] = *bytes.first_chunk::<7>()? else {
            return None;
        };
        let end = HEADER_LEN + usize::from(u16::from_be_bytes(length));
        let has_data = MIC_LENS.iter().all(|mic_len| end != MIC_AT + mic_len + DATA_LENGTH_LEN);
        Some(Self::of(KeyInformation(u16::from_be_bytes([high, low])), has_data))
    }
}

/// An EAPOL-Key frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EapolKey<'a> {
    /// All of it, from the protocol version to the end of the Key Data.
    pub packet: &'a [u8],
    /// Descriptor type: [`DESCRIPTOR_RSN`] or [`DESCRIPTOR_WPA`].
    pub descriptor: u8,
    /// Key Information.
    pub information: KeyInformation,
    /// Key Replay Counter.
    pub replay_counter: u64,
    /// Key Nonce.
    pub nonce: [u8; 32],
    /// EAPOL-Key IV: of Key Data that RC4 encrypts.
    pub iv: [u8; 16],
    /// Key MIC.
    pub mic: &'a [u8],
    /// Key Data.
    pub data: &'a [u8],
}

impl<'a> EapolKey<'a> {
    /// Reads an EAPOL packet, from its protocol version on; bytes after it (padding) are left alone.
    ///
    /// How long the MIC is follows from the key management, which the frame does not name: it is the one length with which
    /// the lengths of packet and Key Data agree. `None` for other packets, and for those that are cut or contradict themselves.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let [_, TYPE_KEY, high, low, descriptor @ (DESCRIPTOR_RSN | DESCRIPTOR_WPA), ..] = *bytes else { return None };
        let end = HEADER_LEN + usize::from(u16::from_be_bytes([high, low]));
        let packet = bytes.get(..end)?;
        let (mic, data) = MIC_LENS.into_iter().find_map(|mic_len| {
            let (mic, rest) = packet.get(MIC_AT..)?.split_at_checked(mic_len)?;
            let (len, data) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*len)) == data.len()).then_some((mic, data))
        })?;
        Some(Self {
            packet,
            descriptor,
            information: KeyInformation(u16::from_be_bytes(*packet.get(5..)?.first_chunk()?)),
            replay_counter: u64::from_be_bytes(*packet.get(9..)?.first_chunk()?),
            nonce: *packet.get(17..)?.first_chunk()?,
            iv: *packet.get(49..)?.first_chunk()?,
            mic,
            data,
        })
    }

    /// Which message it is.
    pub const fn message(&self) -> Message {
        Message::of(self.information, !self.data.is_empty())
    }

    /// The packet with a Key MIC field of zeros: what the MIC is computed over.
    pub fn authenticated(&self) -> impl Iterator<Item = &'a [u8]> {
        const ZEROS: [u8; 32] = [0; 32];
        let after = MIC_AT + self.mic.len();
        let parts = [self.packet.get(..MIC_AT), ZEROS.get(..self.mic.len()), self.packet.get(after..)];
        parts.into_iter().flatten()
    }
}

/// A group key in (decrypted) Key Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKey<'a> {
    /// Key ID, 0 to 3.
    pub id: u8,
    /// The key.
    pub key: &'a [u8],
}

/// The group key in decrypted Key Data (GTK KDE, table 12-9).
pub fn group_key(data: &[u8]) -> Option<GroupKey<'_>> {
    Elements::new(data).find_map(|element| match element.data {
        [0x00, 0x0f, 0xac, 1, flags, _, key @ ..] if element.id == VENDOR && !key.is_empty() => {
            Some(GroupKey { id: flags & 0x3, key })
        }
        _ => None,
    })
}

/// Element ID of KDEs, the one of vendor-specific elements.
const VENDOR: u8 = 221;
/// Element ID of the RSN element.
const RSN: u8 = 48;
/// Element ID of the Mobility Domain element.
const MOBILITY_DOMAIN: u8 = 54;
/// Element ID of the Fast BSS Transition element.
const FAST_TRANSITION: u8 = 55;
/// Subelement ID of the key holder of PMK-R1 (table 9-220).
const R1KH_ID: u8 = 1;
/// Subelement ID of the key holder of PMK-R0.
const R0KH_ID: u8 = 3;

/// Data of the RSN element in Key Data.
pub fn rsn(data: &[u8]) -> Option<&[u8]> {
    Elements::new(data).find(RSN)
}

/// Data of the WPA element in Key Data, after OUI and type.
pub fn wpa(data: &[u8]) -> Option<&[u8]> {
    Elements::new(data).find_map(|element| match element.data {
        [0x00, 0x50, 0xf2, 1, rest @ ..] if element.id == VENDOR => Some(rest),
        _ => None,
    })
}

/// What message 2 of an initial mobility domain association says of the keys' hierarchy (12.7.1.6, 13.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MobilityDomain<'a> {
    /// Mobility Domain Identifier.
    pub id: [u8; 2],
    /// Who holds PMK-R0, 1 to 48 bytes.
    pub r0kh_id: &'a [u8],
    /// Who holds PMK-R1.
    pub r1kh_id: [u8; 6],
}

/// The Mobility Domain and Fast BSS Transition elements in Key Data, with the subelements of the latter (9.4.2.46, 9.4.2.47).
/// `mic_len`: of the key management.
pub fn mobility_domain(data: &[u8], mic_len: usize) -> Option<MobilityDomain<'_>> {
    let domain = Elements::new(data).find(MOBILITY_DOMAIN)?;
    // MIC Control, MIC, ANonce, SNonce.
    let parameters = Elements::new(data).find(FAST_TRANSITION)?.get(2 + mic_len + 64..)?;
    let r0kh_id = Elements::new(parameters).find(R0KH_ID).filter(|id| (1..=48).contains(&id.len()))?;
    let r1kh_id = Elements::new(parameters).find(R1KH_ID)?;
    Some(MobilityDomain { id: *domain.first_chunk()?, r0kh_id, r1kh_id: r1kh_id.try_into().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(info: u16, mic: &[u8], data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![2, TYPE_KEY, 0, 0, DESCRIPTOR_RSN];
        bytes.extend(info.to_be_bytes());
        bytes.extend([0, 16]);
        bytes.extend(7u64.to_be_bytes());
        bytes.extend([9; 32]);
        bytes.resize(MIC_AT, 0);
        bytes.extend(mic);
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
        let len = (bytes.len() - HEADER_LEN) as u16;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes
    }

    #[test]
    fn messages_are_told_apart() {
        let message = |info: u16, data: &[u8]| EapolKey::parse(&packet(info, &[1; 16], data)).unwrap().message();
        assert_eq!(message(0x008a, &[]), Message::First);
        assert_eq!(message(0x010a, &[48, 0]), Message::Second);
        assert_eq!(message(0x030a, &[48, 0]), Message::Second, "a later handshake");
        assert_eq!(message(0x13ca, &[0; 56]), Message::Third);
        assert_eq!(message(0x030a, &[]), Message::Fourth);
        assert_eq!(message(0x1382, &[0; 40]), Message::GroupFirst);
        assert_eq!(message(0x0302, &[]), Message::GroupSecond);
        assert_eq!(message(0x0d0a, &[]), Message::Request);
    }

    #[test]
    fn the_group_key_is_found_behind_other_elements() {
        let mut data = vec![48, 2, 1, 0];
        data.extend([221, 22, 0x00, 0x0f, 0xac, 1, 2, 0]);
        data.extend([0x5a; 16]);
        data.extend([0xdd, 0, 0, 0]);
        assert_eq!(group_key(&data), Some(GroupKey { id: 2, key: &[0x5a; 16] }));
        assert_eq!(rsn(&data), Some(&[1, 0][..]));
        assert_eq!(wpa(&data), None);
    }

    #[test]
    fn key_holders_of_a_mobility_domain() {
        let mut parameters = vec![0; 2 + 16 + 64];
        parameters.extend([1, 6, 2, 0, 0, 0, 0, 0xa, 3, 4, b'n', b'a', b's', b'0']);
        let mut data = vec![54, 3, 0x34, 0x12, 0, 55, parameters.len() as u8];
        data.extend(&parameters);
        let found = MobilityDomain { id: [0x34, 0x12], r0kh_id: b"nas0", r1kh_id: [2, 0, 0, 0, 0, 0xa] };
        assert_eq!(mobility_domain(&data, 16), Some(found));
        assert_eq!(mobility_domain(&data, 24), None, "another key management");
        assert_eq!(mobility_domain(&data[..data.len() - 1], 16), None, "cut");
        assert_eq!(mobility_domain(&data[5..], 16), None, "no Mobility Domain element");
    }

    proptest! {
        #[test]
        fn the_length_of_the_mic_follows_from_the_others(
            mic_len in prop::sample::select(MIC_LENS.to_vec()), data in prop::collection::vec(any::<u8>(), 0..80),
            padding in 0usize..8,
        ) {
            let mut bytes = packet(0x010a, &vec![0xa5; mic_len], &data);
            let whole = bytes.len();
            bytes.resize(whole + padding, 0);
            let key = EapolKey::parse(&bytes).unwrap();
            prop_assert_eq!((key.mic.len(), key.data, key.packet.len()), (mic_len, &data[..], whole));
            let zeroed: Vec<u8> = key.authenticated().flatten().copied().collect();
            prop_assert_eq!(zeroed.len(), whole);
            prop_assert!(zeroed[MIC_AT..MIC_AT + mic_len].iter().all(|byte| *byte == 0));
            prop_assert_eq!(EapolKey::parse(&bytes[..whole - 1]), None);
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(key) = EapolKey::parse(&bytes) {
                let _ = (key.message(), key.authenticated().count());
            }
            let _ = (group_key(&bytes), rsn(&bytes), wpa(&bytes));
        }
    }
}
