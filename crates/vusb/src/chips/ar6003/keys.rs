//! The keys of a connection.

use wire::ieee80211::Header;
use wire::sdio::wmi::{cipher, AddKey};

use crate::chips::ccmp::{Ccmp, HEADER as CCMP_HEADER, MIC};

/// Header of CCMP: bit 5 of its fourth byte (12.5.3.2).
const EXTENDED_IV: u8 = 0x20;

/// The keys of a connection. Others than CCMP's are not modelled.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) pairwise: Option<Ccmp>,
    group: [Option<Ccmp>; 4],
    /// The last packet number that was sent.
    number: u64,
}

impl Keys {
    pub(super) fn add(&mut self, key: &AddKey) {
        let bytes = *key.key.first_chunk().unwrap_or(&[0; 16]);
        let ccmp = (key.cipher & cipher::CCMP != 0 && key.len == 16).then(|| Ccmp::new(bytes));
        if key.group {
            if let Some(slot) = self.group.get_mut(usize::from(key.index & 3)) {
                *slot = ccmp;
            }
        } else {
            (self.pairwise, self.number) = (ccmp, 0);
        }
    }

    pub(super) fn remove(&mut self, index: u8) {
        if let Some(slot) = self.group.get_mut(usize::from(index & 3)) {
            *slot = None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ccmp_has_keys() {
        let mut keys = Keys::default();
        let key = AddKey { index: 1, cipher: cipher::TKIP, group: false, len: 32, key: [7; 32] };
        keys.add(&key);
        assert!(keys.pairwise.is_none());
        keys.add(&AddKey { cipher: cipher::CCMP, len: 16, ..key });
        keys.add(&AddKey { cipher: cipher::CCMP, len: 16, group: true, ..key });
        assert!(keys.pairwise.is_some() && keys.group[1].is_some());
        keys.remove(1);
        assert!(keys.group[1].is_none());
    }
}
