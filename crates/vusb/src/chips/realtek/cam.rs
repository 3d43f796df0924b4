//! Key memory (CAM): 32 entries of 8 words. Words 0 and 1: control (valid bit 15, group bit 6, cipher bits 5:2, key
//! index bits 1:0) and address; words 2 to 5: the key (rtl8xxxu core.c, rtl8xxxu_cam_write; rtlwifi cam.c).

use super::memory::{Memory, Touched};

/// Register of commands to the key memory.
pub const CAM_CMD: u16 = 0x0670;
/// What is to be written into it.
pub const CAM_WRITE: u16 = 0x0674;
/// What was read out of it.
pub const CAM_READ: u16 = 0x0678;

const VALID: u32 = 1 << 15;
const GROUP: u32 = 1 << 6;
/// Command bits: the chip clears POLLING when it is done.
const POLLING: u32 = 1 << 31;
const CLEAR_ALL: u32 = 1 << 30;
const WRITE: u32 = 1 << 16;
/// The command that writes an entry.
pub const WRITE_NOW: u32 = POLLING | WRITE;

/// Ciphers by their number in the key memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// WEP-40 (1).
    Wep40,
    /// WEP-104 (5).
    Wep104,
    /// TKIP (2).
    Tkip,
    /// CCMP with 128 bits (4).
    Ccmp,
    /// None of these.
    Other(u8),
}

impl Cipher {
    /// Its number, which received frames are marked with as well (rtl8xxxu.h, RX_DESC_ENC_*).
    pub const fn number(self) -> u8 {
        match self {
            Self::Wep40 => 1,
            Self::Tkip => 2,
            Self::Ccmp => 4,
            Self::Wep104 => 5,
            Self::Other(number) => number,
        }
    }

    /// Whether it is one of those that the encryption field of a transmit descriptor stands for: 1 is RC4, which is WEP and
    /// TKIP, 3 is AES (rtl8xxxu.h, TXDESC_SEC_RC4 and TXDESC_SEC_AES; rtw88 tx.c, rtw_tx_pkt_info_update_sec).
    pub const fn is_meant_by(self, field: u8) -> bool {
        match self {
            Self::Wep40 | Self::Wep104 | Self::Tkip => field == 1,
            Self::Ccmp => field == 3,
            Self::Other(_) => false,
        }
    }
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What it is for.
    pub cipher: Cipher,
    /// Its 128 bits.
    pub bytes: [u8; 16],
}

/// The key memory.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Cam {
    entries: [[u32; 8]; 32],
}

impl Cam {
    /// Carries out what was written to the command register.
    pub fn written(&mut self, memory: &mut Memory, touched: Touched) {
        let command = memory.u32(CAM_CMD);
        if !touched.has(CAM_CMD + 3) || command & POLLING == 0 {
            return;
        }
        let entry = self.entries.get_mut((command >> 3) as usize & 31);
        let word = entry.and_then(|entry| entry.get_mut(command as usize & 7));
        if command & CLEAR_ALL != 0 {
            self.entries = Default::default();
        } else if let Some(word) = word {
            if command & WRITE != 0 {
                *word = memory.u32(CAM_WRITE);
            } else {
                memory.set_u32(CAM_READ, *word);
            }
        }
        memory.set_u32(CAM_CMD, command & !POLLING);
    }

    fn keys(&self) -> impl Iterator<Item = (u32, [u8; 6], Key)> + '_ {
        self.entries.iter().filter(|entry| entry[0] & VALID != 0).map(|entry| {
            let [low, high] = [entry[0].to_le_bytes(), entry[1].to_le_bytes()];
            let address = [low[2], low[3], high[0], high[1], high[2], high[3]];
            let cipher = match entry[0] >> 2 & 7 {
                1 => Cipher::Wep40,
                5 => Cipher::Wep104,
                2 => Cipher::Tkip,
                4 => Cipher::Ccmp,
                other => Cipher::Other(other as u8),
            };
            let mut bytes = [0; 16];
            for (slot, word) in bytes.chunks_exact_mut(4).zip(&entry[2..6]) {
                slot.copy_from_slice(&word.to_le_bytes());
            }
            (entry[0], address, Key { cipher, bytes })
        })
    }

    /// The pairwise key with the station at `address`.
    pub fn pairwise(&self, address: [u8; 6]) -> Option<Key> {
        self.keys().find(|(control, of, _)| control & GROUP == 0 && *of == address).map(|(.., key)| key)
    }

    /// The group key, or default key of WEP, with this index. Drivers mark it in one of three ways: with the group bit
    /// (rtl8xxxu_cam_write), with the broadcast address, or with an address that is the index (rtlwifi rtl8192cu/mac.c,
    /// rtl92c_set_key, for WEP).
    pub fn group(&self, index: u8) -> Option<Key> {
        let index = index & 3;
        let is_group = |control: u32, address: [u8; 6]| {
            control & GROUP != 0 || address == [0xff; 6] || address == [0, 0, 0, 0, 0, index]
        };
        let mut keys = self.keys().filter(|(control, ..)| control & 3 == u32::from(index));
        keys.find(|(control, address, _)| is_group(*control, *address)).map(|(.., key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(cam: &mut Cam, memory: &mut Memory, entry: u32, word: u32, value: u32) {
        memory.set_u32(CAM_WRITE, value);
        memory.set_u32(CAM_CMD, POLLING | WRITE | entry << 3 | word);
        cam.written(memory, Touched { start: CAM_CMD, len: 4 });
        assert_eq!(memory.u32(CAM_CMD) & POLLING, 0);
    }

    /// The writes of rtl8xxxu_cam_write for a pairwise and a group key.
    #[test]
    fn keys_as_the_driver_writes_them() {
        let (mut cam, mut memory) = (Cam::default(), Memory::default());
        let key = |n: u32| 0x0302_0100 + 0x0404_0404 * n;
        for (entry, control) in [(0, VALID | 4 << 2), (1, VALID | GROUP | 4 << 2 | 1)] {
            for word in (0..6).rev() {
                let value = match word {
                    0 => control | 0x02 << 16 | 0xaa << 24,
                    1 => 0xeedd_ccbb,
                    n => key(n - 2),
                };
                write(&mut cam, &mut memory, entry, word, value);
            }
        }
        let expected = Key { cipher: Cipher::Ccmp, bytes: std::array::from_fn(|i| i as u8) };
        assert_eq!(cam.pairwise([0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee]), Some(expected));
        assert_eq!(cam.pairwise([0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xef]), None);
        assert_eq!((cam.group(1), cam.group(2)), (Some(expected), None));
        // DISABLE_KEY: control word zero.
        write(&mut cam, &mut memory, 0, 0, 0);
        assert_eq!(cam.pairwise([0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee]), None);
    }

    /// rtlwifi marks group keys with the broadcast address, default keys of WEP with an address that is their number.
    #[test]
    fn group_keys_of_rtlwifi() {
        let (mut cam, mut memory) = (Cam::default(), Memory::default());
        for (entry, control, low, high) in [
            (1, VALID | 2 << 2 | 1, 0xffff_0000u32, 0xffff_ffff),
            (2, VALID | 1 << 2 | 2, 0, 0x0200_0000),
            (3, VALID | 5 << 2 | 3, 0, 0x0400_0000),
        ] {
            write(&mut cam, &mut memory, entry, 1, high);
            write(&mut cam, &mut memory, entry, 0, control | low);
        }
        let cipher = |index| cam.group(index).map(|key| key.cipher);
        assert_eq!([cipher(0), cipher(1), cipher(2), cipher(3)], [None, Some(Cipher::Tkip), Some(Cipher::Wep40), None]);
    }
}
