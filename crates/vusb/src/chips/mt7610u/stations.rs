//! The table of stations (WCID): addresses, agreements and keys, as drivers write them into registers
//! (Linux mt76x02_mac.c, mt76x02_mac_wcid_setup and mt76x02_mac_wcid_set_key).

use std::collections::BTreeMap;

use wire::ieee80211::{MacAddr, Mpdu};

use super::memory::Memory;
use super::registers as reg;
use crate::chips::ccmp::{header_len, Ccmp, HEADER, MIC};
use crate::state::{Reader, State, StateError, Writer};

/// Entry of frames that belong to no station.
pub const NO_STATION: u8 = 0xff;
/// Entries with an address (mt76x02_mac_wcid_setup).
const ADDRESSES: u8 = 128;
/// Number of CCMP (mt76x02_regs.h, enum mt76x02_cipher_type).
const CIPHER_NONE: u32 = 0;
const CIPHER_CCMP: u32 = 4;
/// A header of CCMP has bit 5 of its fourth byte set, and the number of the key in bits 7:6 (IEEE 802.11-2020, 12.5.3.2).
const EXTENDED_IV: u8 = 0x20;

/// Which byte of that header the number is in.
const KEY_NUMBER: usize = 3;

/// What happened to a frame's encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// It stays as it is: no key, or it came encrypted.
    Left,
    /// The chip has encrypted it.
    Done,
    /// It cannot be: a cipher that is not modelled, or a frame that is too short.
    Failed,
}

/// Keys made ready for use.
#[derive(Default)]
pub struct Stations {
    ready: BTreeMap<u32, Ccmp>,
}

/// The station with an address.
pub(super) fn find(memory: &Memory, address: MacAddr) -> u8 {
    let is_it = |wcid: &u8| memory.array(reg::WCID_ADDR + 8 * u32::from(*wcid)) == address.0;
    (0..ADDRESSES).find(is_it).unwrap_or(NO_STATION)
}

/// Whether the driver has agreed to Block Ack with a station (mt76x02_util.c, mt76x02_ampdu_action: bits 31:16 of the
/// entry's second word).
pub(super) fn has_agreed(memory: &Memory, wcid: u8, tid: u8) -> bool {
    wcid < ADDRESSES && tid < 16 && memory.word(reg::WCID_ADDR + 8 * u32::from(wcid) + 4) >> (16 + tid) & 1 == 1
}

/// Whether frames to a station are dropped: it sleeps, and the driver buffers them (mt76x02_util.c, mt76x02_sta_ps).
pub(super) fn is_dropped(memory: &Memory, wcid: u8) -> bool {
    memory.word(reg::WCID_DROP + 4 * (u32::from(wcid) / 32)) >> (wcid % 32) & 1 == 1
}

/// The cipher of a key of the first network's groups (mt7601u/mac.c, mt76_mac_shared_key_setup).
fn group_cipher(memory: &Memory, key: u8) -> u32 {
    memory.word(reg::GROUP_KEY_MODE) >> (4 * u32::from(key)) & 7
}

/// Where a station's key is.
fn key_address(wcid: u8) -> u32 {
    reg::WCID_KEY + 32 * u32::from(wcid)
}

fn cipher(memory: &Memory, wcid: u8) -> u32 {
    memory.word(reg::WCID_ATTR + 4 * u32::from(wcid)) >> 1 & 7
}

/// The next header of a station's cipher. Its packet number is one more than the last one used, which is what the driver
/// writes (mt76x02_mac_wcid_set_key writes the key's tx_pn, from which mac80211 counts up before use).
fn next_header(memory: &mut Memory, wcid: u8) -> [u8; HEADER] {
    let address = reg::WCID_IV + 8 * u32::from(wcid);
    let [n0, n1, _, key, n2, n3, n4, n5]: [u8; HEADER] = memory.array(address);
    let number = u64::from_le_bytes([n0, n1, n2, n3, n4, n5, 0, 0]).wrapping_add(1);
    let [n0, n1, n2, n3, n4, n5, ..] = number.to_le_bytes();
    let header = [n0, n1, 0, key | EXTENDED_IV, n2, n3, n4, n5];
    memory.set(address, u32::from_le_bytes([n0, n1, 0, key | EXTENDED_IV]));
    memory.set(address + 4, u32::from_le_bytes([n2, n3, n4, n5]));
    header
}

impl Stations {
    /// The key at an address.
    fn key(&mut self, memory: &Memory, address: u32) -> &Ccmp {
        let bytes: [u8; 16] = memory.array(address);
        let ready = self.ready.entry(address).or_insert_with(|| Ccmp::new(bytes));
        if *ready.key() != bytes {
            *ready = Ccmp::new(bytes);
        }
        ready
    }

    /// Encrypts a frame with the key of its station. `given`: the cipher's header, where the driver has made it.
    pub(super) fn encrypt(
        &mut self,
        memory: &mut Memory,
        wcid: u8,
        given: Option<[u8; HEADER]>,
        frame: &mut Vec<u8>,
    ) -> Encryption {
        if wcid == NO_STATION || !Mpdu::new(&frame[..]).protected() {
            return Encryption::Left;
        }
        match cipher(memory, wcid) {
            CIPHER_NONE => return Encryption::Left,
            CIPHER_CCMP => {}
            _ => return Encryption::Failed,
        }
        let Some(len) = header_len(frame).filter(|&len| len <= frame.len()) else { return Encryption::Failed };
        let header = given.unwrap_or_else(|| next_header(memory, wcid));
        frame.splice(len..len, header);
        if self.key(memory, key_address(wcid)).encrypt(frame) {
            Encryption::Done
        } else {
            Encryption::Failed
        }
    }

    /// Decrypts a frame with the key of its station: the cipher's header stays, its integrity code goes. `None`: it is not
    /// for the chip to decrypt; `false`: the integrity check failed, and the frame stays.
    pub(super) fn decrypt(&mut self, memory: &Memory, wcid: u8, frame: &mut Vec<u8>) -> Option<bool> {
        let mpdu = Mpdu::new(&frame[..]);
        if wcid == NO_STATION || !mpdu.protected() || !mpdu.is_data() || cipher(memory, wcid) != CIPHER_CCMP {
            return None;
        }
        self.decrypt_with(memory, key_address(wcid), frame)
    }

    /// The same for a frame of the own network to a group. mt7601u gives the chip the keys of groups; those of an MT7610U are
    /// mac80211's (mt76x02_util.c, mt76x02_set_key).
    pub(super) fn decrypt_group(&mut self, memory: &Memory, frame: &mut Vec<u8>) -> Option<bool> {
        let mpdu = Mpdu::new(&frame[..]);
        if !mpdu.protected() || !mpdu.is_data() {
            return None;
        }
        let key = frame.get(header_len(frame)? + KEY_NUMBER)? >> 6;
        if group_cipher(memory, key) != CIPHER_CCMP {
            return None;
        }
        self.decrypt_with(memory, reg::GROUP_KEY + 32 * u32::from(key), frame)
    }

    fn decrypt_with(&mut self, memory: &Memory, address: u32, frame: &mut Vec<u8>) -> Option<bool> {
        let right = self.key(memory, address).decrypt(frame)?;
        if right {
            frame.truncate(frame.len().saturating_sub(MIC));
        }
        Some(right)
    }
}

/// Keys are made ready again.
impl State for Stations {
    fn save(&self, _to: &mut Writer) -> Result<(), StateError> {
        Ok(())
    }

    fn restore(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        self.ready.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: [u8; 6] = [2, 0, 0, 0, 1, 0];

    fn with_station(wcid: u8, cipher: u32) -> Memory {
        let mut memory = Memory::new(0x1_0000);
        let mut words = |address: u32, bytes: &[u8]| {
            for (at, word) in bytes.chunks(4).enumerate() {
                let mut padded = [0; 4];
                padded[..word.len()].copy_from_slice(word);
                memory.set(address + 4 * at as u32, u32::from_le_bytes(padded));
            }
        };
        words(reg::WCID_ADDR + 8 * u32::from(wcid), &ADDRESS);
        words(reg::WCID_KEY + 32 * u32::from(wcid), &[7; 16]);
        // Packet number 0xffff, key 1.
        words(reg::WCID_IV + 8 * u32::from(wcid), &[0xff, 0xff, 0, 0x60, 0, 0, 0, 0]);
        memory.set(reg::WCID_ATTR + 4 * u32::from(wcid), cipher << 1 | 1);
        memory
    }

    fn frame() -> Vec<u8> {
        let mut frame = vec![0x88, 0x42, 0, 0];
        frame.extend([4; 18]);
        frame.extend([0x10, 0, 0, 0]);
        frame.extend(*b"secret");
        frame
    }

    #[test]
    fn frames_are_encrypted_with_the_next_number_and_come_back() {
        let (mut memory, mut stations) = (with_station(0, CIPHER_CCMP), Stations::default());
        let mut sent = frame();
        assert_eq!(stations.encrypt(&mut memory, 0, None, &mut sent), Encryption::Done);
        assert_eq!(sent[26..34], [0x00, 0x00, 0, 0x60, 1, 0, 0, 0], "packet number 0x10000");
        assert_eq!((sent.len(), &sent[34..40] != b"secret"), (26 + HEADER + 6 + MIC, true));
        let mut damaged = sent.clone();
        assert_eq!(stations.decrypt(&memory, 0, &mut sent), Some(true));
        assert_eq!((&sent[34..], sent.len()), (&b"secret"[..], 40));
        damaged[36] ^= 1;
        assert_eq!((stations.decrypt(&memory, 0, &mut damaged), damaged.len()), (Some(false), 48));
        let mut again = frame();
        let given = Some([9, 0, 0, 0x20, 0, 0, 0, 0]);
        assert_eq!(stations.encrypt(&mut memory, 0, given, &mut again), Encryption::Done);
        assert_eq!(again[26], 9);
        assert_eq!(memory.word(reg::WCID_IV), 0x6000_0000, "the driver's own number is not counted");
    }

    #[test]
    fn what_is_not_for_the_chip_is_left() {
        let mut stations = Stations::default();
        for (cipher, wcid, expected) in [
            (CIPHER_NONE, 3, Encryption::Left),
            (CIPHER_CCMP, NO_STATION, Encryption::Left),
            (CIPHER_CCMP - 1, 3, Encryption::Failed),
        ] {
            let (mut memory, mut sent) = (with_station(3, cipher), frame());
            assert_eq!(stations.encrypt(&mut memory, wcid, None, &mut sent), expected);
            assert_eq!(sent, frame());
            assert_eq!(stations.decrypt(&memory, wcid, &mut sent), None);
        }
    }

    #[test]
    fn frames_to_groups_are_decrypted_with_the_key_that_they_name() {
        let (mut memory, mut stations) = (with_station(0, CIPHER_CCMP), Stations::default());
        let mut sent = frame();
        sent[4..10].fill(0xff);
        assert_eq!(stations.encrypt(&mut memory, 0, None, &mut sent), Encryption::Done);
        // Key 1, as the header of the station's cipher has it.
        let mut got = sent.clone();
        assert_eq!(stations.decrypt_group(&memory, &mut got), None);
        memory.set(reg::GROUP_KEY_MODE, CIPHER_CCMP << 4);
        assert_eq!(stations.decrypt_group(&memory, &mut got), Some(false), "another key");
        for at in 0..4 {
            memory.set(reg::GROUP_KEY + 32 + 4 * at, 0x0707_0707);
        }
        assert_eq!(stations.decrypt_group(&memory, &mut got), Some(true));
        assert_eq!(got[34..], *b"secret");
        assert_eq!(stations.decrypt_group(&memory, &mut vec![0x08, 0x42, 0]), None, "cut off");
    }

    #[test]
    fn stations_are_found_by_address() {
        let mut memory = with_station(5, 0);
        assert_eq!((find(&memory, MacAddr(ADDRESS)), find(&memory, MacAddr([9; 6]))), (5, NO_STATION));
        assert!(!has_agreed(&memory, 5, 3) && !is_dropped(&memory, 37));
        memory.set(reg::WCID_ADDR + 8 * 5 + 4, 1 << 19);
        memory.set(reg::WCID_DROP + 4, 1 << 5);
        assert!(has_agreed(&memory, 5, 3) && !has_agreed(&memory, 5, 4) && is_dropped(&memory, 37));
    }
}
