//! Keys of stations, and ciphers: the chip puts their headers and integrity codes on, and takes them off.

use wire::ieee80211::tkip::{self, michael, MIC_LEN};
use wire::ieee80211::Header;

use crate::chips::ccmp::{Ccmp, HEADER as CCMP_HEADER, MIC};
use crate::chips::tkip::Tkip;
use crate::chips::wep::{Wep, ICV};

/// Ciphers of commands (mt76_connac_mcu.h, enum mcu_cipher_type).
const WEP40: u8 = 1;
const WEP104: u8 = 2;
const TKIP: u8 = 4;
const CCMP: u8 = 5;
/// Keys of management frames for groups: mac80211 checks them itself.
const BIP: u8 = 10;
/// Ciphers of received frames (mt76.h, enum mt76_cipher_type).
const RX_WEP40: u8 = 1;
const RX_TKIP: u8 = 2;
const RX_CCMP: u8 = 4;
const RX_WEP104: u8 = 5;
/// Header of TKIP and CCMP: bit 5 of its fourth byte.
const EXTENDED_IV: u8 = 0x20;
const WEP_HEADER: usize = 4;

/// A key as a command gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Key {
    /// One of enum mcu_cipher_type.
    pub cipher: u8,
    /// Its number, 0 to 3.
    pub id: u8,
    /// Its bytes; of TKIP the temporal key, the MIC key of what is received, and of what is sent (mt76_connac_mcu.c,
    /// mt76_connac_mcu_sta_key_tlv swaps them).
    pub bytes: [u8; 32],
}

impl Key {
    /// It is one of data frames.
    pub const fn is_of_data(&self) -> bool {
        self.cipher != BIP
    }
}

#[derive(Clone)]
enum Engine {
    Wep(Wep),
    Tkip(Box<Tkip>),
    Ccmp(Box<Ccmp>),
    /// One that is not modelled.
    None,
}

/// A key, ready for use.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(from = "Key", into = "Key")]
pub struct Cipher {
    key: Key,
    engine: Engine,
}

impl From<Key> for Cipher {
    fn from(key: Key) -> Self {
        let first = key.bytes.first_chunk().copied().unwrap_or_default();
        let engine = match key.cipher {
            WEP40 => Engine::Wep(Wep::new(first, false)),
            WEP104 => Engine::Wep(Wep::new(first, true)),
            TKIP => Engine::Tkip(Box::new(Tkip::new(first))),
            CCMP => Engine::Ccmp(Box::new(Ccmp::new(first))),
            _ => Engine::None,
        };
        Self { key, engine }
    }
}

impl From<Cipher> for Key {
    fn from(cipher: Cipher) -> Self {
        cipher.key
    }
}

/// A frame that was decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Header and data, nothing of the cipher.
    pub mpdu: Vec<u8>,
    /// Its packet number.
    pub number: Option<[u8; 6]>,
}

/// Why a frame was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unopened {
    /// It is cut, or of a cipher that is not modelled.
    Other,
    /// The integrity check has failed.
    Integrity,
    /// The MIC of TKIP is wrong.
    Michael,
}

impl Cipher {
    /// The key.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The cipher's number on received frames.
    pub const fn received(&self) -> u8 {
        match self.key.cipher {
            WEP40 => RX_WEP40,
            WEP104 => RX_WEP104,
            TKIP => RX_TKIP,
            CCMP => RX_CCMP,
            _ => 0,
        }
    }

    fn mic_key(&self, at: usize) -> [u8; MIC_LEN] {
        self.key.bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default()
    }

    fn mic(&self, at: usize, header: &Header, msdu: &[u8]) -> Option<[u8; MIC_LEN]> {
        let (destination, source) = (header.destination()?, header.source()?);
        let priority = header.qos.map_or(0, |qos| qos.tid());
        Some(michael(self.mic_key(at), destination.0, source.0, priority, msdu))
    }

    /// The encrypted frame of one that is not; `None`: it cannot be.
    pub fn seal(&mut self, number: u64, mpdu: &[u8]) -> Option<Vec<u8>> {
        let header = Header::parse(mpdu, false).ok()?;
        let (front, body) = mpdu.split_at_checked(header.header_len)?;
        let mut sealed = front.to_vec();
        if let Some(flags) = sealed.get_mut(1) {
            *flags |= 0x40;
        }
        let [n0, n1, n2, n3, n4, n5, ..] = number.to_le_bytes();
        let id = self.key.id << 6;
        let mic = match self.engine {
            Engine::Tkip(_) => Some(self.mic(24, &header, body)?),
            _ => None,
        };
        match &self.engine {
            Engine::Ccmp(_) => sealed.extend([n0, n1, 0, EXTENDED_IV | id, n2, n3, n4, n5]),
            Engine::Tkip(_) => sealed.extend(tkip::header(number, self.key.id)),
            Engine::Wep(_) => sealed.extend([n0, n1, n2, id]),
            Engine::None => return None,
        }
        sealed.extend_from_slice(body);
        sealed.extend(mic.into_iter().flatten());
        let done = match &mut self.engine {
            Engine::Ccmp(ccmp) => ccmp.encrypt(&mut sealed),
            Engine::Tkip(tkip) => tkip.encrypt(&mut sealed),
            Engine::Wep(wep) => wep.encrypt(&mut sealed),
            Engine::None => false,
        };
        done.then_some(sealed)
    }

    /// Decrypts a frame.
    ///
    /// # Errors
    /// See [`Unopened`].
    pub fn open(&mut self, mpdu: &[u8]) -> Result<Opened, Unopened> {
        let header = Header::parse(mpdu, false).map_err(|_| Unopened::Other)?;
        let mut bytes = mpdu.to_vec();
        let (front, behind) = match &self.engine {
            Engine::Ccmp(_) => (CCMP_HEADER, MIC),
            Engine::Tkip(_) => (tkip::HEADER_LEN, MIC_LEN + ICV),
            Engine::Wep(_) => (WEP_HEADER, ICV),
            Engine::None => return Err(Unopened::Other),
        };
        let right = match &mut self.engine {
            Engine::Ccmp(ccmp) => ccmp.decrypt(&mut bytes),
            Engine::Tkip(tkip) => tkip.decrypt(&mut bytes),
            Engine::Wep(wep) => wep.decrypt(&mut bytes),
            Engine::None => None,
        };
        if !right.ok_or(Unopened::Other)? {
            return Err(Unopened::Integrity);
        }
        let start = header.header_len + front;
        let end = bytes.len().checked_sub(behind).ok_or(Unopened::Other)?;
        let body = bytes.get(start..end).ok_or(Unopened::Other)?;
        if matches!(self.engine, Engine::Tkip(_)) {
            let mic = self.mic(16, &header, body).ok_or(Unopened::Other)?;
            if bytes.get(end..end + MIC_LEN) != Some(&mic[..]) {
                return Err(Unopened::Michael);
            }
        }
        let number = match (&self.engine, bytes.get(header.header_len..).and_then(<[u8]>::first_chunk::<8>)) {
            (Engine::Ccmp(_), Some(&[n0, n1, _, _, n2, n3, n4, n5])) => Some([n0, n1, n2, n3, n4, n5]),
            (Engine::Tkip(_), Some(&[n1, _, n0, _, n2, n3, n4, n5])) => Some([n0, n1, n2, n3, n4, n5]),
            _ => None,
        };
        let mut mpdu = bytes.get(..header.header_len).ok_or(Unopened::Other)?.to_vec();
        mpdu.extend_from_slice(body);
        Ok(Opened { mpdu, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::ieee80211::{FrameControl, MacAddr, QosControl, Seq};

    fn frame(tid: Option<u8>, body: &[u8]) -> Vec<u8> {
        let fc = FrameControl::default().with_to_ds(true);
        let addresses = [MacAddr([2; 6]), MacAddr([4; 6]), MacAddr([6; 6])];
        let mut frame = Vec::new();
        Header::data(fc, addresses, Seq::new(9), tid.map(QosControl::new)).emit(&mut frame);
        frame.extend_from_slice(body);
        frame
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_opened(
            cipher in prop::sample::select(vec![WEP40, WEP104, TKIP, CCMP]),
            id in 0u8..4,
            mut bytes: [u8; 32],
            tid in prop::option::of(0u8..8),
            number in 0u64..1 << 47,
            body: Vec<u8>,
        ) {
            let plain = frame(tid, &body);
            let mut sender = Cipher::from(Key { cipher, id, bytes });
            let sealed = sender.seal(number, &plain).unwrap();
            prop_assert_eq!(sealed[1] & 0x40, 0x40);
            // The MIC key that one sends with is the one that the other receives with.
            bytes[16..].rotate_left(8);
            let mut receiver = Cipher::from(Key { cipher, id, bytes });
            let opened = receiver.open(&sealed).unwrap();
            prop_assert_eq!(&opened.mpdu[24..], &plain[24..]);
            let [n0, n1, n2, n3, n4, n5, ..] = number.to_le_bytes();
            let expected = (cipher == TKIP || cipher == CCMP).then_some([n0, n1, n2, n3, n4, n5]);
            prop_assert_eq!(opened.number, expected);
            let mut damaged = sealed.clone();
            *damaged.last_mut().unwrap() ^= 1;
            prop_assert_eq!(receiver.open(&damaged), Err(Unopened::Integrity));
        }

        #[test]
        fn any_frame_is_survived(frame: Vec<u8>, cipher in 0u8..20) {
            let mut cipher = Cipher::from(Key { cipher, id: 0, bytes: [7; 32] });
            let _ = cipher.open(&frame);
            let _ = cipher.seal(1, &frame);
        }
    }
}
