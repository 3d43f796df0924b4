//! Registers by the names of the driver (Linux mt76/mt792x_regs.h and mt7921/regs.h), and what reading some of them does. All
//! others are plain memory.

use std::collections::BTreeMap;

use super::statistics::Counted;

/// Chip and revision (MT_HW_CHIPID, MT_HW_REV).
pub const HW_CHIPID: u32 = 0x7001_0200;
/// See [`HW_CHIPID`].
pub const HW_REV: u32 = 0x7001_0204;
/// Bit 0: the firmware's processor has power; bits 1:0: the firmware runs.
pub const CONN_ON_MISC: u32 = 0x7c06_00f0;
/// See [`CONN_ON_MISC`].
pub const POWERED: u32 = 1;
/// See [`CONN_ON_MISC`].
pub const RUNNING: u32 = 3;
/// Bit 3: what comes to the endpoint of best effort is firmware.
pub const UDMA_TX_QSEL: u32 = 0x7400_0008;
/// See [`UDMA_TX_QSEL`].
pub const FW_DL_EN: u32 = 1 << 3;
/// Bit 22: the wireless part is initialised.
pub const UDMA_CONN_INFRA_STATUS: u32 = 0x7400_0a20;
/// See [`UDMA_CONN_INFRA_STATUS`].
pub const INITIALISED: u32 = 1 << 22;
/// Bit 0: the wireless part is held in reset.
pub const WF_SUBSYS_RST: u32 = 0x7000_2600;
/// Bit 6: events come to the endpoint of received frames.
pub const WFDMA_HOST_CONFIG: u32 = 0x7c02_7030;
/// See [`WFDMA_HOST_CONFIG`].
pub const EVENTS_WITH_FRAMES: u32 = 1 << 6;
/// Bits 2 and 3: DMA towards the host is enabled, is busy.
pub const UWFDMA0_GLO_CFG: u32 = 0x7c02_4208;
/// The clock of the network, us, in two words; bit 0 of the other writes it.
pub const LPON_UTTR0: u32 = 0x820e_b080;
/// See [`LPON_UTTR0`].
pub const LPON_UTTR1: u32 = 0x820e_b084;
/// See [`LPON_UTTR0`].
pub const LPON_TCR: u32 = 0x820e_b0a8;
/// A change of the table of stations: bit 31 busy, bit 12 clears counters of the one in bits 9:0.
pub const WTBL_UPDATE: u32 = 0x820d_4230;
/// See [`WTBL_UPDATE`].
pub const CLEAR_COUNTERS: u32 = 1 << 12;
const BUSY: u32 = 1 << 31;
/// The table of stations: 256 bytes a station. Word 7 has guard intervals, words 20 to 27 airtime, word 30 the signal.
pub const WTBL: u32 = 0x820d_8000;
const WTBL_END: u32 = WTBL + 0x8000;

/// Words that the host may write; what it writes beyond them gets lost.
const WORDS_MAX: usize = 16_384;

/// A place in the table of stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WtblPlace {
    /// Station.
    pub station: u8,
    /// Word of its entry.
    pub word: u8,
}

impl WtblPlace {
    /// The entry and offset that an address names; `None` outside of the table.
    pub const fn of(address: u32) -> Option<Self> {
        if address < WTBL || address >= WTBL_END {
            return None;
        }
        Some(Self { station: (address >> 8 & 0x7f) as u8, word: (address >> 2 & 0x3f) as u8 })
    }
}

/// The words behind the registers.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Registers {
    words: BTreeMap<u32, u32>,
    /// What counting registers have not told yet.
    pub(super) counted: Counted,
}

impl Default for Registers {
    fn default() -> Self {
        let words = BTreeMap::from([
            // A revision that the driver has no special case for.
            (HW_CHIPID, 0x7961),
            (HW_REV, 0x8a10),
            (UDMA_CONN_INFRA_STATUS, INITIALISED),
        ]);
        Self { words, counted: Counted::default() }
    }
}

impl Registers {
    /// A word.
    pub fn word(&self, address: u32) -> u32 {
        self.words.get(&(address & !3)).copied().unwrap_or(0)
    }

    /// Puts a word.
    pub fn set(&mut self, address: u32, value: u32) {
        let address = address & !3;
        if self.words.len() < WORDS_MAX || self.words.contains_key(&address) {
            self.words.insert(address, value);
        }
    }

    /// Sets and clears bits.
    pub fn change(&mut self, address: u32, clear: u32, set: u32) {
        self.set(address, self.word(address) & !clear | set);
    }

    /// The host reads one.
    pub fn read(&mut self, address: u32) -> u32 {
        match self.counted.take(address) {
            Some(count) => count,
            None => self.word(address),
        }
    }

    /// The host writes one. Bits that only start something do not stay.
    pub fn write(&mut self, address: u32, value: u32) {
        let value = match address {
            WTBL_UPDATE => value & !BUSY,
            UWFDMA0_GLO_CFG => value & !(1 << 1 | 1 << 3),
            HW_CHIPID | HW_REV | CONN_ON_MISC | UDMA_CONN_INFRA_STATUS => return,
            _ => value,
        };
        self.set(address, value);
    }
}
