//! WEP (12.3.2): an initialisation vector and the key of the network.

use zeroize::Zeroizing;

use crate::stream;

/// Bytes of the initialisation vector.
const IV_LEN: usize = 3;
/// Bytes between MAC header and data: initialisation vector and key number.
const HEADER_LEN: usize = 4;
/// Bytes of the keys that there are: 40 and 104 bits.
pub(crate) const KEY_LENS: [usize; 2] = [5, 13];

/// A key of a network.
pub(crate) struct WepKey {
    /// The only network it can be of; `None`: any.
    pub(crate) ssid: Option<Vec<u8>>,
    pub(crate) key: Zeroizing<Vec<u8>>,
}

impl WepKey {
    /// Opens the body of an MPDU into `clear`; `false` when its integrity check value does not match, and `clear` is empty then.
    pub(crate) fn open(&self, body: &[u8], clear: &mut Vec<u8>) -> bool {
        clear.clear();
        let opened = self.try_open(body, clear).is_some();
        if !opened {
            clear.clear();
        }
        opened
    }

    fn try_open(&self, body: &[u8], clear: &mut Vec<u8>) -> Option<()> {
        let seed = Zeroizing::new([body.get(..IV_LEN)?, &self.key].concat());
        clear.extend_from_slice(body.get(HEADER_LEN..)?);
        stream::open(&seed, clear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// IEEE 802.11-2020, annex J.4: a NetBIOS name query under the key 30 31 32 33 34.
    #[test]
    fn the_mpdu_of_the_standard() {
        let body = hex("fb 02 9e 80 f6 9c 58 06 bd 6c e8 46 26 bc be fb 94 74 65 0a ad 1f 79 09 b0 f6 4d 5f 58 a5 03 a2 58 b7 ed 22 eb \
             0e a6 49 30 d3 a0 56 a5 57 42 fc ce 14 1d 48 5f 8a a8 36 de a1 8d f4 2c 53 80 80 5a d0 c6 1a 5d 6f 58 f4 10 40 b2 4b 7d 1a \
             69 38 56 ed 0d 43 98 e7 ae e3 bf 0e 2a 2c a8 f7");
        let key = |bytes: &[u8]| WepKey { ssid: None, key: Zeroizing::new(bytes.to_vec()) };
        let mut clear = Vec::new();
        assert!(key(b"01234").open(&body, &mut clear));
        assert_eq!((clear.len(), &clear[..8]), (body.len() - 8, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..]));
        assert!(!key(b"01235").open(&body, &mut clear) && clear.is_empty());
    }

    proptest! {
        #[test]
        fn any_body_is_refused(body in prop::collection::vec(any::<u8>(), 0..60), key: [u8; 13], is_long: bool) {
            let key = WepKey { ssid: None, key: Zeroizing::new(key[..if is_long { 13 } else { 5 }].to_vec()) };
            prop_assert!(!key.open(&body, &mut Vec::new()));
        }
    }
}
