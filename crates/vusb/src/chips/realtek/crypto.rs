//! Ciphers by the number that they have in the key memory.

use super::cam::{Cipher, Key};
use crate::chips::ccmp::{header_len, Ccmp};
use crate::chips::tkip::Tkip;
use crate::chips::wep::Wep;
use crate::state::{Reader, State, StateError, Writer};

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
    pub fn encrypt(&mut self, key: Key, frame: &mut Vec<u8>) -> bool {
        match self.engine(key) {
            Engine::Wep(wep) => wep.encrypt(frame),
            Engine::Tkip(tkip) => tkip.encrypt(frame),
            Engine::Ccmp(ccmp) => ccmp.encrypt(frame),
            Engine::None => false,
        }
    }

    /// Decrypts a frame; what the cipher has put around the data stays. `None`: too short, or not one of the chip's
    /// ciphers; `Some(false)`: the integrity check failed.
    pub fn decrypt(&mut self, key: Key, frame: &mut [u8]) -> Option<bool> {
        match self.engine(key) {
            Engine::Wep(wep) => wep.decrypt(frame),
            Engine::Tkip(tkip) => tkip.decrypt(frame),
            Engine::Ccmp(ccmp) => ccmp.decrypt(frame),
            Engine::None => None,
        }
    }
}

/// Number of the key in an encrypted frame: bits 7:6 of the fourth byte of any cipher's header.
pub fn key_index(frame: &[u8]) -> Option<u8> {
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
