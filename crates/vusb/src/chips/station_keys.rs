//! The keys of a connection of a station with firmware that encrypts.

use wire::ieee80211::tkip::{self, michael, MIC_LEN};
use wire::ieee80211::{eapol, Header, MacAddr, QosControl};

use crate::chips::ccmp::{Ccmp, HEADER as CCMP_HEADER, MIC};
use crate::chips::station_counters::RxCounters;
use crate::chips::tkip::Tkip;
use crate::chips::wep::ICV;

/// Header of CCMP: bit 5 of its fourth byte (12.5.3.2).
const EXTENDED_IV: u8 = 0x20;
/// What an MSDU of EAPOL begins with (RFC 1042).
const EAPOL: [u8; 8] = {
    let [high, low] = eapol::ETHERTYPE.to_be_bytes();
    [0xaa, 0xaa, 3, 0, 0, 0, high, low]
};

/// When frames of EAPOL are encrypted. No driver and no public document says it of a firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum EapolRule {
    /// When the last one of the access point was. So message 4 of a handshake is not, whether the host sets the key
    /// before it or after it: the access point has no key until it has that message.
    #[default]
    AsReceived,
    /// Like all others: when there is a key.
    ByKey,
}

/// A key as the host gives it.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(super) enum Key {
    /// CCMP with 128 bits.
    Ccmp([u8; 16]),
    /// TKIP: the temporal key, the MIC key of what this station sends, and of what it receives (Linux
    /// include/uapi/linux/nl80211.h, NL80211_TKIP_DATA_OFFSET_TX_MIC_KEY and _RX_MIC_KEY).
    Tkip([u8; 32]),
}

/// A key, ready for use.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(from = "Key", into = "Key")]
enum Cipher {
    Ccmp(Box<Ccmp>),
    Tkip { tkip: Tkip, sends: [u8; MIC_LEN], receives: [u8; MIC_LEN] },
}

/// The MIC (Michael) of an MSDU in a frame with this header (IEEE 802.11-2020, 12.5.2.3).
fn mic(key: [u8; MIC_LEN], header: &Header, msdu: &[u8]) -> Option<[u8; MIC_LEN]> {
    let (MacAddr(destination), MacAddr(source)) = (header.destination()?, header.source()?);
    Some(michael(key, destination, source, header.qos.map_or(0, QosControl::tid), msdu))
}

impl From<Key> for Cipher {
    fn from(key: Key) -> Self {
        Self::new(key)
    }
}

impl From<Cipher> for Key {
    fn from(cipher: Cipher) -> Self {
        match cipher {
            Cipher::Ccmp(ccmp) => Self::Ccmp(*ccmp.key()),
            Cipher::Tkip { tkip, sends, receives } => {
                let mut bytes = [0; 32];
                for (place, byte) in bytes.iter_mut().zip(tkip.key().iter().chain(&sends).chain(&receives)) {
                    *place = *byte;
                }
                Self::Tkip(bytes)
            }
        }
    }
}

impl Cipher {
    fn new(key: Key) -> Self {
        match key {
            Key::Ccmp(key) => Self::Ccmp(Box::new(Ccmp::new(key))),
            Key::Tkip(bytes) => {
                let part = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
                let temporal = bytes.first_chunk().copied().unwrap_or_default();
                Self::Tkip { tkip: Tkip::new(temporal), sends: part(16), receives: part(24) }
            }
        }
    }

    /// The frame with this packet number; `None`: it has no addresses of a data frame.
    fn encrypt(&mut self, number: u64, header: &Header, msdu: &[u8]) -> Option<Vec<u8>> {
        let mut mpdu = Vec::with_capacity(header.header_len + CCMP_HEADER + msdu.len() + MIC_LEN + ICV);
        header.emit(&mut mpdu);
        let encrypted = match self {
            Self::Ccmp(ccmp) => {
                let [n0, n1, n2, n3, n4, n5, ..] = number.to_le_bytes();
                mpdu.extend([n0, n1, 0, EXTENDED_IV, n2, n3, n4, n5]);
                mpdu.extend_from_slice(msdu);
                ccmp.encrypt(&mut mpdu)
            }
            Self::Tkip { tkip, sends, .. } => {
                mpdu.extend(tkip::header(number, 0));
                mpdu.extend_from_slice(msdu);
                mpdu.extend(mic(*sends, header, msdu)?);
                tkip.encrypt(&mut mpdu)
            }
        };
        encrypted.then_some(mpdu)
    }

    /// The MSDU in an encrypted frame.
    fn decrypt(&mut self, header: &Header, mpdu: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let mut mpdu = mpdu.to_vec();
        let (start, behind) = match self {
            Self::Ccmp(_) => (header.header_len + CCMP_HEADER, MIC),
            Self::Tkip { .. } => (header.header_len + tkip::HEADER_LEN, MIC_LEN + ICV),
        };
        let right = match self {
            Self::Ccmp(ccmp) => ccmp.decrypt(&mut mpdu),
            Self::Tkip { tkip, .. } => tkip.decrypt(&mut mpdu),
        };
        if !right.ok_or(Unreadable::NotWhole)? {
            return Err(Unreadable::WrongIntegrity);
        }
        let end = mpdu.len().checked_sub(behind).ok_or(Unreadable::NotWhole)?;
        let msdu = mpdu.get(start..end).ok_or(Unreadable::NotWhole)?;
        if let Self::Tkip { receives, .. } = self {
            if mic(*receives, header, msdu).as_ref().map(<[u8; MIC_LEN]>::as_slice) != mpdu.get(end..end + MIC_LEN) {
                return Err(Unreadable::WrongMichael { key_id: key_id(header, &mpdu).unwrap_or(0) });
            }
        }
        Ok(msdu.to_vec())
    }
}

/// Number of the key of an encrypted frame: bits 7:6 of the fourth byte of any cipher's header.
fn key_id(header: &Header, mpdu: &[u8]) -> Option<u8> {
    mpdu.get(header.header_len + 3).map(|byte| byte >> 6)
}

/// Why a data frame has no MSDU that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is a fragment, an A-MSDU or cut, or there is no key for it.
    NotWhole,
    /// The integrity check of the cipher has failed.
    WrongIntegrity,
    /// The TKIP MIC is wrong but the ICV is right: the frame may be forged.
    WrongMichael {
        /// Key ID.
        key_id: u8,
    },
}

/// The keys of a connection.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Keys {
    pairwise: Option<Cipher>,
    group: [Option<Cipher>; 4],
    /// The last packet number that was sent.
    number: u64,
    rule: EapolRule,
    /// The last frame of EAPOL that came was encrypted.
    eapol_was_encrypted: bool,
}

impl Keys {
    /// None yet.
    pub(super) fn with(rule: EapolRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// The key of frames for one station, or none; its packet numbers start from 0.
    pub(super) fn set_pairwise(&mut self, key: Option<Key>) {
        (self.pairwise, self.number) = (key.map(Cipher::new), 0);
    }

    /// The key of frames for groups with this ID, or none.
    pub(super) fn set_group(&mut self, index: u8, key: Option<Key>) {
        if let Some(slot) = self.group.get_mut(usize::from(index & 3)) {
            *slot = key.map(Cipher::new);
        }
    }

    /// Frames for one station have a key.
    pub(super) const fn has_pairwise(&self) -> bool {
        self.pairwise.is_some()
    }

    /// A data frame of a header and a body, and whether it is encrypted: it is where there is a key, unless the access
    /// point would have none for it.
    pub(super) fn mpdu(&mut self, header: &Header, body: &[u8]) -> (Vec<u8>, bool) {
        if let Some(mpdu) = self.encrypt(header, body) {
            return (mpdu, true);
        }
        let mut mpdu = Vec::with_capacity(header.header_len + body.len());
        header.emit(&mut mpdu);
        mpdu.extend_from_slice(body);
        (mpdu, false)
    }

    fn encrypt(&mut self, header: &Header, body: &[u8]) -> Option<Vec<u8>> {
        let in_clear = self.rule == EapolRule::AsReceived && !self.eapol_was_encrypted && body.starts_with(&EAPOL);
        let key = self.pairwise.as_mut().filter(|_| !in_clear)?;
        self.number += 1;
        key.encrypt(self.number, &Header { fc: header.fc.with_protected(true), ..*header }, body)
    }

    /// The MSDU in a data frame, counted by what it was.
    ///
    /// # Errors
    /// The frame has none that can be read.
    pub(super) fn receive(&mut self, header: &Header, mpdu: &[u8], rx: &mut RxCounters) -> Result<Vec<u8>, Unreadable> {
        let found = self.msdu(header, mpdu);
        match &found {
            Ok(_) => rx.decrypted += u64::from(header.fc.protected()),
            Err(Unreadable::WrongIntegrity) => rx.integrity_errors += 1,
            Err(Unreadable::WrongMichael { .. }) => rx.michael_errors += 1,
            Err(Unreadable::NotWhole) => {}
        }
        found
    }

    /// The MSDU in a data frame that is one whole.
    fn msdu(&mut self, header: &Header, mpdu: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let found = self.read(header, mpdu);
        if let Ok(msdu) = &found {
            if msdu.starts_with(&EAPOL) && !header.receiver().is_group() {
                self.eapol_was_encrypted = header.fc.protected();
            }
        }
        found
    }

    fn read(&mut self, header: &Header, mpdu: &[u8]) -> Result<Vec<u8>, Unreadable> {
        if header.is_amsdu() || header.fc.more_fragments() || header.fragment != Some(0) {
            return Err(Unreadable::NotWhole);
        }
        if !header.fc.protected() {
            return mpdu.get(header.header_len..).map(<[u8]>::to_vec).ok_or(Unreadable::NotWhole);
        }
        let id = key_id(header, mpdu).ok_or(Unreadable::NotWhole)?;
        let key = if header.receiver().is_group() {
            self.group.get_mut(usize::from(id)).and_then(Option::as_mut)
        } else {
            self.pairwise.as_mut()
        };
        key.ok_or(Unreadable::NotWhole)?.decrypt(header, mpdu)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wire::ieee80211::{FrameControl, MacAddr, Seq};

    use super::*;

    const KEY: Key = Key::Ccmp([7; 16]);

    fn header(from_ds: bool) -> Header {
        let fc =
            if from_ds { FrameControl::default().with_from_ds(true) } else { FrameControl::default().with_to_ds(true) };
        Header::data(fc, [MacAddr([2; 6]), MacAddr([4; 6]), MacAddr([4; 6])], Seq::new(1), None)
    }

    fn eapol_frame() -> Vec<u8> {
        [&EAPOL[..], &[2, 3, 0, 95]].concat()
    }

    /// The access point sends this MSDU, encrypted or not.
    fn hear(keys: &mut Keys, msdu: &[u8], encrypted: bool) {
        let mut sender = Keys::default();
        sender.set_pairwise(Some(KEY));
        sender.eapol_was_encrypted = true;
        let mut plain = Vec::new();
        header(true).emit(&mut plain);
        plain.extend_from_slice(msdu);
        let mpdu = if encrypted { sender.encrypt(&header(true), msdu).unwrap() } else { plain };
        let parsed = Header::parse(&mpdu, false).unwrap();
        let mut rx = RxCounters::default();
        assert_eq!(keys.receive(&parsed, &mpdu, &mut rx).unwrap(), msdu);
        assert_eq!(rx.decrypted, u64::from(encrypted));
    }

    fn is_encrypted(keys: &mut Keys, msdu: &[u8]) -> bool {
        keys.encrypt(&header(false), msdu).is_some()
    }

    #[test]
    fn eapol_goes_as_it_came() {
        let (eapol, other) = (eapol_frame(), [&EAPOL[..6], &[8, 0, 1, 2]].concat());
        let mut keys = Keys::default();
        hear(&mut keys, &eapol, false);
        keys.set_pairwise(Some(KEY));
        assert_eq!([&eapol, &other].map(|msdu| is_encrypted(&mut keys, msdu)), [false, true]);
        // Other frames that come encrypted say nothing of the handshake.
        hear(&mut keys, &other, true);
        assert!(!is_encrypted(&mut keys, &eapol));
        // A group key has a handshake of its own, with encrypted frames.
        hear(&mut keys, &eapol, true);
        assert!(is_encrypted(&mut keys, &eapol));
        // Message 3 once more, of a network that the station has just joined again.
        hear(&mut keys, &eapol, false);
        assert!(!is_encrypted(&mut keys, &eapol));
    }

    #[test]
    fn or_by_the_key_alone() {
        let mut keys = Keys::with(EapolRule::ByKey);
        hear(&mut keys, &eapol_frame(), false);
        assert!(!is_encrypted(&mut keys, &eapol_frame()));
        keys.set_pairwise(Some(KEY));
        assert!(is_encrypted(&mut keys, &eapol_frame()));
    }

    /// The keys of the other station: it sends with the MIC key that this one receives with.
    fn turned(mut bytes: [u8; 32]) -> [u8; 32] {
        let (sends, receives) = bytes.split_at_mut(24);
        sends.get_mut(16..).unwrap().swap_with_slice(receives);
        bytes
    }

    #[test]
    fn a_wrong_mic_is_not_a_wrong_icv() {
        let bytes: [u8; 32] = std::array::from_fn(|at| at as u8);
        let mut sender = Keys::default();
        sender.set_pairwise(Some(Key::Tkip(turned(bytes))));
        let mpdu = sender.encrypt(&header(true), b"some payload").unwrap();
        let parsed = Header::parse(&mpdu, false).unwrap();
        let mut rx = RxCounters::default();
        let mut keys = Keys::default();
        assert_eq!(keys.receive(&parsed, &mpdu, &mut rx), Err(Unreadable::NotWhole), "there is no key yet");
        keys.set_pairwise(Some(Key::Tkip(bytes)));
        assert_eq!(keys.receive(&parsed, &mpdu, &mut rx).unwrap(), b"some payload");
        let mut damaged = mpdu.clone();
        damaged[40] ^= 1;
        assert_eq!(keys.receive(&parsed, &damaged, &mut rx), Err(Unreadable::WrongIntegrity));
        // With the temporal key, and another MIC key.
        let mut other = bytes;
        other[31] ^= 1;
        keys.set_pairwise(Some(Key::Tkip(other)));
        assert_eq!(keys.receive(&parsed, &mpdu, &mut rx), Err(Unreadable::WrongMichael { key_id: 0 }));
        assert_eq!((rx.decrypted, rx.integrity_errors, rx.michael_errors), (1, 1, 1));
    }

    proptest! {
        #[test]
        fn what_is_encrypted_is_read_again(
            bytes: [u8; 32],
            tkip: bool,
            tid in prop::option::of(0u8..8),
            number in 0u64..1 << 47,
            msdu in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let (mut sender, mut receiver) = (Keys::default(), Keys::default());
            let first: [u8; 16] = bytes[..16].try_into().unwrap();
            let tkip_keys = [turned(bytes), bytes].map(Key::Tkip);
            let [sends, receives] = if tkip { tkip_keys } else { [first; 2].map(Key::Ccmp) };
            sender.set_pairwise(Some(sends));
            receiver.set_pairwise(Some(receives));
            (sender.number, sender.eapol_was_encrypted) = (number, true);
            let fc = FrameControl::default().with_from_ds(true);
            let addresses = [MacAddr([2; 6]), MacAddr([4; 6]), MacAddr([6; 6])];
            let header = Header::data(fc, addresses, Seq::new(1), tid.map(QosControl::new));
            let mpdu = sender.encrypt(&header, &msdu).unwrap();
            let parsed = Header::parse(&mpdu, false).unwrap();
            prop_assert_eq!(receiver.receive(&parsed, &mpdu, &mut RxCounters::default()), Ok(msdu));
        }

        #[test]
        fn any_frame_is_survived(frame: Vec<u8>, bytes: [u8; 32], tkip: bool) {
            let mut keys = Keys::default();
            let key = if tkip { Key::Tkip(bytes) } else { Key::Ccmp([1; 16]) };
            keys.set_pairwise(Some(key));
            (0..4).for_each(|index| keys.set_group(index, Some(key)));
            if let Ok(header) = Header::parse(&frame, false) {
                let _ = keys.receive(&header, &frame, &mut RxCounters::default());
            }
        }
    }
}
