//! TKIP (IEEE 802.11-2020, 12.5.2) of frames: the key of every frame mixed from the temporal key, the transmitter and
//! the TSC, then WEP. The MIC (Michael) is a part of the data here. The drivers of an RTL8188CUS ask mac80211 to append
//! and check it (IEEE80211_KEY_FLAG_GENERATE_MMIC in rtl8xxxu core.c, rtl8xxxu_set_key, and rtlwifi core.c,
//! rtl_op_set_key); firmware that encrypts does so itself (`station_keys.rs`).

use wire::ieee80211::tkip::{self, KeyMixer};
use wire::ieee80211::{MacAddr, Mpdu};

use super::wep::{open, seal, Seed};
use crate::chips::ccmp::header_len;

/// A temporal key, ready for use.
#[derive(Clone)]
pub struct Tkip(KeyMixer);

impl Tkip {
    /// With a temporal key.
    pub const fn new(key: [u8; 16]) -> Self {
        Self(KeyMixer::new(key))
    }

    /// The temporal key.
    pub const fn key(&self) -> &[u8; 16] {
        self.0.key()
    }

    fn seed(&mut self, frame: &[u8], header: usize) -> Option<Seed> {
        let MacAddr(transmitter) = Mpdu::new(frame).transmitter()?;
        let counter = tkip::counter(frame.get(header..)?)?;
        Some(Seed::Long(self.0.mpdu_key(transmitter, counter)))
    }

    /// Encrypts what follows the TKIP header, which the frame has already (data and their MIC), and appends the ICV.
    /// `false`: too short, and not changed.
    pub fn encrypt(&mut self, frame: &mut Vec<u8>) -> bool {
        let Some(header) = header_len(frame) else { return false };
        let Some(seed) = self.seed(frame, header) else { return false };
        seal(&seed, frame, header + tkip::HEADER_LEN);
        true
    }

    /// Decrypts; header, MIC and ICV stay. `None`: too short; `Some(false)`: the ICV is wrong.
    pub fn decrypt(&mut self, frame: &mut [u8]) -> Option<bool> {
        let header = header_len(frame)?;
        let seed = self.seed(frame, header)?;
        open(&seed, frame, header + tkip::HEADER_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_frame_is_noticed() {
        let mut frame = vec![0x08, 0x41];
        frame.resize(24, 7);
        frame.extend([0, 0x20, 1, 0x20, 0, 0, 0, 0]);
        frame.extend([0x55; 40]);
        let mut tkip = Tkip::new([9; 16]);
        assert!(tkip.encrypt(&mut frame));
        frame[40] ^= 1;
        assert_eq!(tkip.decrypt(&mut frame), Some(false));
    }

    proptest::proptest! {
        #[test]
        fn any_frame_comes_back_or_is_refused(mut frame: Vec<u8>, key: [u8; 16]) {
            let mut tkip = Tkip::new(key);
            let before = frame.clone();
            if tkip.encrypt(&mut frame) {
                assert_eq!(tkip.decrypt(&mut frame), Some(true));
                assert_eq!(frame[..before.len()], before);
            } else {
                assert_eq!(frame, before);
            }
            let _ = tkip.decrypt(&mut frame);
        }
    }
}
