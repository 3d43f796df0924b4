//! The keys of a connection of a station whose firmware encrypts.

use wire::ieee80211::Header;

use crate::chips::ccmp::{Ccmp, HEADER as CCMP_HEADER, MIC};

/// Header of CCMP: bit 5 of its fourth byte (12.5.3.2).
const EXTENDED_IV: u8 = 0x20;

/// The keys of a connection. Others than CCMP's are not modelled.
#[derive(Default)]
pub(super) struct Keys {
    pairwise: Option<Ccmp>,
    group: [Option<Ccmp>; 4],
    /// The last packet number that was sent.
    number: u64,
}

impl Keys {
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

    /// Encrypts a data frame of a header and a body; `None`: there is no key, and it stays as it is.
    pub(super) fn encrypt(&mut self, header: &Header, body: &[u8]) -> Option<Vec<u8>> {
        let key = self.pairwise.as_ref()?;
        self.number += 1;
        let [n0, n1, n2, n3, n4, n5, ..] = self.number.to_le_bytes();
        let mut mpdu = Vec::with_capacity(header.header_len + CCMP_HEADER + body.len() + MIC);
        Header { fc: header.fc.with_protected(true), ..*header }.emit(&mut mpdu);
        mpdu.extend([n0, n1, 0, EXTENDED_IV, n2, n3, n4, n5]);
        mpdu.extend_from_slice(body);
        key.encrypt(&mut mpdu).then_some(mpdu)
    }

    /// Decrypts a frame in place. `None`: there is no key for it, or it is too short; else whether its integrity code is right.
    pub(super) fn decrypt(&self, header: &Header, mpdu: &mut [u8]) -> Option<bool> {
        let id = *mpdu.get(header.header_len + 3)? >> 6;
        let key = if header.receiver().is_group() { self.group.get(usize::from(id))? } else { &self.pairwise };
        key.as_ref()?.decrypt(mpdu)
    }
}
