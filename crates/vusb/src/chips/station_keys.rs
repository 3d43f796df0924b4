//! The keys of a connection of a station whose firmware encrypts.

use wire::ieee80211::{eapol, Header};

use crate::chips::ccmp::{Ccmp, HEADER as CCMP_HEADER, MIC};
use crate::chips::station_counters::RxCounters;

/// Header of CCMP: bit 5 of its fourth byte (12.5.3.2).
const EXTENDED_IV: u8 = 0x20;
/// What an MSDU of EAPOL begins with (RFC 1042).
const EAPOL: [u8; 8] = {
    let [high, low] = eapol::ETHERTYPE.to_be_bytes();
    [0xaa, 0xaa, 3, 0, 0, 0, high, low]
};

/// When frames of EAPOL are encrypted. No driver and no public document says it of a firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EapolRule {
    /// When the last one of the access point was. So message 4 of a handshake is not, whether the host sets the key before it or
    /// after it: the access point has no key until it has that message.
    #[default]
    AsReceived,
    /// Like all others: when there is a key.
    ByKey,
}

/// The keys of a connection. Others than CCMP's are not modelled.
#[derive(Default)]
pub(super) struct Keys {
    pairwise: Option<Ccmp>,
    group: [Option<Ccmp>; 4],
    /// The last packet number that was sent.
    number: u64,
    rule: EapolRule,
    /// The last frame of EAPOL that came was encrypted.
    eapol_was_encrypted: bool,
}

/// What a data frame holds.
enum Msdu {
    /// It was not encrypted.
    Plain(Vec<u8>),
    /// It was.
    Decrypted(Vec<u8>),
    /// Its integrity code is wrong.
    WrongIntegrity,
}

impl Keys {
    /// None yet.
    pub(super) fn with(rule: EapolRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// The key of frames for one station, or none; its packet numbers start from 0.
    pub(super) fn set_pairwise(&mut self, key: Option<[u8; 16]>) {
        (self.pairwise, self.number) = (key.map(Ccmp::new), 0);
    }

    /// The key of frames for groups with this ID, or none.
    pub(super) fn set_group(&mut self, index: u8, key: Option<[u8; 16]>) {
        if let Some(slot) = self.group.get_mut(usize::from(index & 3)) {
            *slot = key.map(Ccmp::new);
        }
    }

    /// Frames for one station have a key.
    pub(super) const fn has_pairwise(&self) -> bool {
        self.pairwise.is_some()
    }

    /// A data frame of a header and a body, and whether it is encrypted: it is where there is a key, unless the access point would have
    /// none for it.
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
        let key = self.pairwise.as_ref().filter(|_| !in_clear)?;
        self.number += 1;
        let [n0, n1, n2, n3, n4, n5, ..] = self.number.to_le_bytes();
        let mut mpdu = Vec::with_capacity(header.header_len + CCMP_HEADER + body.len() + MIC);
        Header { fc: header.fc.with_protected(true), ..*header }.emit(&mut mpdu);
        mpdu.extend([n0, n1, 0, EXTENDED_IV, n2, n3, n4, n5]);
        mpdu.extend_from_slice(body);
        key.encrypt(&mut mpdu).then_some(mpdu)
    }

    /// The MSDU in a data frame, counted by what it was; `None`: the frame has none that can be read.
    pub(super) fn receive(&mut self, header: &Header, mpdu: &[u8], rx: &mut RxCounters) -> Option<Vec<u8>> {
        match self.msdu(header, mpdu)? {
            Msdu::Plain(msdu) => Some(msdu),
            Msdu::Decrypted(msdu) => {
                rx.decrypted += 1;
                Some(msdu)
            }
            Msdu::WrongIntegrity => {
                rx.integrity_errors += 1;
                None
            }
        }
    }

    /// The MSDU in a data frame that is one whole; `None`: it is not, there is no key for it, or it is cut.
    fn msdu(&mut self, header: &Header, mpdu: &[u8]) -> Option<Msdu> {
        let found = self.read(header, mpdu);
        if let Some(Msdu::Plain(msdu) | Msdu::Decrypted(msdu)) = &found {
            if msdu.starts_with(&EAPOL) && !header.receiver().is_group() {
                self.eapol_was_encrypted = header.fc.protected();
            }
        }
        found
    }

    fn read(&self, header: &Header, mpdu: &[u8]) -> Option<Msdu> {
        if header.is_amsdu() || header.fc.more_fragments() || header.fragment != Some(0) {
            return None;
        }
        if !header.fc.protected() {
            return mpdu.get(header.header_len..).map(|msdu| Msdu::Plain(msdu.to_vec()));
        }
        let mut mpdu = mpdu.to_vec();
        if !self.decrypt(header, &mut mpdu)? {
            return Some(Msdu::WrongIntegrity);
        }
        let end = mpdu.len().checked_sub(MIC)?;
        mpdu.get(header.header_len + CCMP_HEADER..end).map(|msdu| Msdu::Decrypted(msdu.to_vec()))
    }

    /// Decrypts a frame in place. `None`: there is no key for it, or it is too short; else whether its integrity code is right.
    fn decrypt(&self, header: &Header, mpdu: &mut [u8]) -> Option<bool> {
        let id = *mpdu.get(header.header_len + 3)? >> 6;
        let key = if header.receiver().is_group() { self.group.get(usize::from(id))? } else { &self.pairwise };
        key.as_ref()?.decrypt(mpdu)
    }
}

#[cfg(test)]
mod tests {
    use wire::ieee80211::{FrameControl, MacAddr, Seq};

    use super::*;

    const KEY: [u8; 16] = [7; 16];

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
        let found = match keys.msdu(&parsed, &mpdu).unwrap() {
            Msdu::Plain(found) => (false, found),
            Msdu::Decrypted(found) => (true, found),
            Msdu::WrongIntegrity => panic!("the key is right"),
        };
        assert_eq!(found, (encrypted, msdu.to_vec()));
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
}
