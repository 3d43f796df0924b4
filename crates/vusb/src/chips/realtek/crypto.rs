//! Ciphers by the number that they have in the key memory.

use wire::ieee80211::Mpdu;

use super::cam::{Cam, Cipher, Key};
use super::memory::Memory;
use crate::chips::ccmp::{header_len, Ccmp};
use crate::chips::tkip::Tkip;
use crate::chips::wep::Wep;
use crate::state::{Reader, State, StateError, Writer};

/// Encryption on transmission (bit 2) and reception (bit 3) (rtw88 sec.h, RTW_SEC_CONFIG).
pub const SECURITY_CFG: u16 = 0x0680;

/// The outcome for a frame that a descriptor asks to encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// It goes as it is.
    Plain,
    /// It is encrypted.
    Done,
    /// There is no key for it.
    NoKey,
    /// It is too short, or the cipher is not the chip's.
    Failed,
}

enum Engine {
    Wep(Wep),
    Tkip(Tkip),
    Ccmp(Box<Ccmp>),
    None,
}

/// Keys made ready for use, the last few of them.
#[derive(Default)]
pub struct Engines {
    ready: Vec<(Key, Engine)>,
}

/// How many keys are kept ready: a pairwise and a group key, and those that come after them.
const READY: usize = 4;

impl Engines {
    #[expect(clippy::indexing_slicing, reason = "the place was just found, or is that of what was just inserted")]
    fn engine(&mut self, key: Key) -> &mut Engine {
        let at = match self.ready.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                let engine = match key.cipher {
                    Cipher::Wep40 => Engine::Wep(Wep::new(key.bytes, false)),
                    Cipher::Wep104 => Engine::Wep(Wep::new(key.bytes, true)),
                    Cipher::Tkip => Engine::Tkip(Tkip::new(key.bytes)),
                    Cipher::Ccmp => Engine::Ccmp(Box::new(Ccmp::new(key.bytes))),
                    Cipher::Other(_) => Engine::None,
                };
                self.ready.truncate(READY - 1);
                self.ready.insert(0, (key, engine));
                0
            }
        };
        &mut self.ready[at].1
    }

    /// Encrypts a frame that has the cipher's header already. `false`: too short, or not one of the chip's ciphers.
    fn encrypt(&mut self, key: Key, frame: &mut Vec<u8>) -> bool {
        match self.engine(key) {
            Engine::Wep(wep) => wep.encrypt(frame),
            Engine::Tkip(tkip) => tkip.encrypt(frame),
            Engine::Ccmp(ccmp) => ccmp.encrypt(frame),
            Engine::None => false,
        }
    }

    /// Encrypts as the security field of a descriptor says.
    pub fn encrypt_as(&mut self, security: u8, memory: &Memory, cam: &Cam, mpdu: &mut Vec<u8>) -> Encryption {
        let frame = Mpdu::new(&*mpdu);
        let enabled = memory.u8(SECURITY_CFG) & 0x04 != 0;
        if security == 0 || !frame.protected() || !enabled {
            return Encryption::Plain;
        }
        let receiver = frame.receiver().unwrap_or_default();
        let index = key_index(mpdu).unwrap_or(0);
        let key = cam.pairwise(receiver.0).or_else(|| cam.group(index));
        match key.filter(|key| key.cipher.is_meant_by(security)) {
            None => Encryption::NoKey,
            Some(key) if self.encrypt(key, mpdu) => Encryption::Done,
            Some(_) => Encryption::Failed,
        }
    }

    /// Decrypts what came off the air, where there is a key: the cipher's number, and what [`Self::decrypt`] gives.
    pub fn decrypt_received(
        &mut self,
        memory: &Memory,
        cam: &Cam,
        is_group: bool,
        frame: &mut [u8],
    ) -> Option<(u8, Option<bool>)> {
        let mpdu = Mpdu::new(&*frame);
        if !mpdu.protected() || !mpdu.is_data() || memory.u8(SECURITY_CFG) & 0x08 == 0 {
            return None;
        }
        let index = key_index(frame)?;
        let pairwise = mpdu.transmitter().and_then(|from| cam.pairwise(from.0)).filter(|_| !is_group);
        // A network with WEP may have default keys only.
        let key = pairwise.or_else(|| cam.group(index))?;
        Some((key.cipher.number(), self.decrypt(key, frame)))
    }

    /// Decrypts a frame; what the cipher has put around the data stays. `None`: too short, or not one of the chip's
    /// ciphers; `Some(false)`: the integrity check failed.
    fn decrypt(&mut self, key: Key, frame: &mut [u8]) -> Option<bool> {
        match self.engine(key) {
            Engine::Wep(wep) => wep.decrypt(frame),
            Engine::Tkip(tkip) => tkip.decrypt(frame),
            Engine::Ccmp(ccmp) => ccmp.decrypt(frame),
            Engine::None => None,
        }
    }
}

/// Number of the key in an encrypted frame: bits 7:6 of the fourth byte of any cipher's header.
fn key_index(frame: &[u8]) -> Option<u8> {
    let header = header_len(frame)?;
    frame.get(header + 3).map(|byte| byte >> 6)
}

/// Keys are made ready again.
impl State for Engines {
    fn save(&self, _to: &mut Writer) -> Result<(), StateError> {
        Ok(())
    }

    fn restore(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        self.ready.clear();
        Ok(())
    }
}
