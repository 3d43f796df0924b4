//! The table of stations: whom the chip knows, with keys, sequence numbers, agreements and rates.

use wire::ieee80211::{MacAddr, Seq};
use wire::phy::{Bandwidth, Mode};

use super::assumptions::Assumptions;
use super::commands::StationRecord;
use super::keys::{Cipher, Key};
use super::rates::{numbers, Abilities};
use crate::chips::rate_steps::Steps;
use wire::usb::connac2::phy;

/// Entries (mt792x.h, MT792x_WTBL_SIZE).
pub const STATIONS: usize = 20;
/// User priorities, and frames without one.
const SEQUENCES: usize = 9;
/// An entry of groups has this own address (mt76_connac_mcu.c, __mt76_connac_mcu_alloc_sta_req).
const GROUPS: u8 = 0x0e;
/// The state of a record: it has left (CONN_STATE_DISCONNECT).
const LEFT: u8 = 0;

/// One of them.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// In use.
    pub present: bool,
    /// Its address; of an entry of groups that of the access point.
    pub address: MacAddr,
    /// It is for frames to groups, and those of no station.
    pub is_group: bool,
    /// Network.
    pub bss: u8,
    /// AID of the chip there.
    pub aid: u16,
    /// Received data become Ethernet frames.
    pub translate: bool,
    /// Keys by number, and the one that is sent with.
    keys: [Option<Cipher>; 4],
    current: Option<u8>,
    /// The last packet number that was sent.
    number: u64,
    sequences: [u16; SEQUENCES],
    /// Windows of the agreements in which the chip sends, by user priority; 0: none.
    windows: [u16; 8],
    abilities: Abilities,
    ladder: Vec<Mode>,
    ladder_width: Option<Bandwidth>,
    steps: Steps,
    /// Airtime in us, sent and received, BK, BE, VI, VO.
    pub airtime_us: [[u32; 2]; 4],
    /// How strong its last answer was.
    pub signal_dbm: i8,
}

impl Entry {
    /// The window of an agreement; 0: there is none.
    pub fn window(&self, tid: u8) -> u16 {
        self.windows.get(usize::from(tid)).copied().unwrap_or(0)
    }

    /// The next sequence number of a user priority, or of frames without one.
    pub fn next_sequence(&mut self, tid: Option<u8>) -> Seq {
        let Some(slot) = self.sequences.get_mut(tid.map_or(SEQUENCES - 1, |tid| usize::from(tid & 7))) else {
            return Seq::default();
        };
        let sequence = Seq::new(*slot);
        *slot = sequence.add(1).value();
        sequence
    }

    /// The number that a user priority continues with.
    pub fn sequence_of(&self, tid: u8) -> Seq {
        Seq::new(self.sequences.get(usize::from(tid & 7)).copied().unwrap_or(0))
    }

    /// Encrypts a frame with the key that is sent with; `None`: there is none, or it cannot be.
    pub fn seal(&mut self, mpdu: &[u8]) -> Option<Vec<u8>> {
        let cipher = self.keys.get_mut(usize::from(self.current?))?.as_mut()?;
        self.number += 1;
        cipher.seal(self.number, mpdu)
    }

    /// The key with a number.
    pub fn cipher(&mut self, id: u8) -> Option<&mut Cipher> {
        self.keys.get_mut(usize::from(id & 3))?.as_mut()
    }

    fn set_keys(&mut self, keys: &[Key]) {
        if keys.is_empty() {
            (self.keys, self.current) = (Default::default(), None);
        }
        for key in keys.iter().filter(|key| key.is_of_data()) {
            let Some(slot) = self.keys.get_mut(usize::from(key.id)) else { continue };
            // The same once more, with the key of management frames for groups: its packet numbers go on.
            if slot.as_ref().is_none_or(|cipher| cipher.key() != key) {
                *slot = Some(Cipher::from(*key));
                self.number = 0;
            }
            self.current = Some(key.id);
        }
    }

    /// The rates of a frame, the first one first; none: it has said none.
    pub fn rates(&mut self, width: Bandwidth) -> &[Mode] {
        if self.ladder_width != Some(width) {
            let before = self.ladder.len();
            self.ladder = self.abilities.ladder(width);
            self.ladder_width = Some(width);
            if before != self.ladder.len() {
                self.steps = Steps::default();
            }
        }
        self.ladder.get(self.steps.below().min(self.ladder.len().saturating_sub(1))..).unwrap_or_default()
    }

    /// An MPDU at a rate of rate control has ended.
    pub fn report(&mut self, now_ns: u64, acknowledged: bool, assumed: &Assumptions) {
        let lowest = self.ladder.len().saturating_sub(1);
        self.steps.report(now_ns, acknowledged, lowest, &assumed.rules());
    }

    /// Its guard intervals, as the driver reads them: short ones of HT and VHT from bit 12 on, of HE from 24 on (mt7921/mac.c,
    /// mt7921_mac_sta_poll).
    pub fn guard_intervals(&self) -> u32 {
        let Some(numbers) = self.ladder.first().and_then(numbers) else { return 0 };
        if numbers.rate.phy == phy::HE_SU {
            u32::from(numbers.guard) << (24 + 2 * numbers.bandwidth)
        } else {
            u32::from(numbers.guard) << (12 + numbers.bandwidth)
        }
    }
}

/// All of them.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Stations(Vec<Entry>);

impl Default for Stations {
    fn default() -> Self {
        Self(vec![Entry::default(); STATIONS])
    }
}

impl Stations {
    /// One by its number.
    pub fn get(&self, number: u16) -> Option<&Entry> {
        self.0.get(usize::from(number))
    }

    /// One by its number.
    pub fn get_mut(&mut self, number: u16) -> Option<&mut Entry> {
        self.0.get_mut(usize::from(number))
    }

    /// The one with an address.
    pub fn find(&self, address: MacAddr) -> Option<u16> {
        self.0.iter().position(|entry| entry.present && !entry.is_group && entry.address == address).map(|at| at as u16)
    }

    /// The entry of groups of a network.
    pub fn group_of(&mut self, bss: u8) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.present && entry.is_group && entry.bss == bss)
    }

    /// The driver says what a station is. Gives whether it has left.
    pub fn set(&mut self, record: &StationRecord) -> bool {
        let Some(entry) = self.0.get_mut(usize::from(record.station)) else { return false };
        if let Some((_, _, _, LEFT)) = record.basic {
            *entry = Entry::default();
            return true;
        }
        (entry.present, entry.bss, entry.is_group) = (true, record.bss, record.own == GROUPS);
        if let Some((address, aid, _, _)) = record.basic {
            if entry.address != address {
                let (bss, is_group) = (entry.bss, entry.is_group);
                *entry = Entry { present: true, bss, is_group, address, ..Entry::default() };
            }
            entry.aid = aid;
        }
        if let Some(address) = record.address {
            entry.address = address;
        }
        if record.rates.is_some() || record.ht.is_some() || record.vht.is_some() || record.he.is_some() {
            let (legacy, mcs) = record.rates.unwrap_or((entry.abilities.legacy, [0; 4]));
            let [first, second, ..] = mcs;
            let abilities = Abilities {
                legacy,
                ht_mcs: u16::from_le_bytes([first, second]),
                ht: record.ht,
                vht: record.vht,
                he: record.he,
                bandwidth: record.bandwidth.unwrap_or(0),
            };
            if abilities != entry.abilities {
                (entry.abilities, entry.ladder_width, entry.steps) = (abilities, None, Steps::default());
            }
        }
        if let Some((tid, sends, active, window)) = record.block_ack.filter(|&(_, sends, ..)| sends) {
            if let Some(slot) = entry.windows.get_mut(usize::from(tid)) {
                *slot = if sends && active { window } else { 0 };
            }
        }
        if let Some(keys) = &record.keys {
            entry.set_keys(keys);
        }
        if let Some(translate) = record.translate {
            entry.translate = translate;
        }
        false
    }

    /// The driver clears the counters of a station.
    pub fn clear_counters(&mut self, number: u16) {
        if let Some(entry) = self.get_mut(number) {
            entry.airtime_us = Default::default();
        }
    }
}
