//! Rate adaptation, which this chip's firmware does: drivers only give masks of rates. It chooses the rate of first attempts;
//! retries fall back without it (`fallback.rs`).
//!
//! Which algorithm the real firmware has is not known. This one goes down one rate when fewer than half of the MPDUs got
//! through, up one when more than nine in ten did, and decides after 32 MPDUs and 200 ms at the earliest (all four are
//! assumptions; 200 ms is the shortest period in which an RTL8188E reports to the driver that does it there: staging
//! rtl8188eu/hal/Hal8188ERateAdaptive.c, DynamicTxRPTTiming).
//!
//! The first rate of each station stands in INIDATA_RATE_SEL, where the vendor's driver reads it (rtl8192c_dm.c) and writes
//! it itself while the firmware does not adapt rates (rtl8192c_cmd.c, rtl8192c_Add_RateATid).

use super::assumptions::Assumptions;
use super::registers as reg;
use super::tx_descriptor::TxDescriptor;
use crate::air::rates::MCS0;
use crate::chips::rate_steps::Steps;
use crate::chips::realtek::memory::Memory;

/// 6 Mbit/s.
const OFDM_6: u8 = 4;
/// Rates 0 to 19.
const RATES: u32 = 0x000f_ffff;
/// Stations that are distinguished.
const STATIONS: usize = 32;

/// What is known of the way to one station.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Way {
    /// Bit n: descriptor rate n may be used; 0: the driver has not said.
    mask: u32,
    /// Short guard interval allowed.
    short_gi: bool,
    steps: Steps,
}

impl Way {
    /// The rate of first attempts.
    fn first(&self) -> u8 {
        let mut rates = (0..20u8).rev().filter(|rate| self.mask >> rate & 1 == 1);
        let highest = rates.next().unwrap_or(0);
        // Not below 6 Mbit/s, or MCS 0: control responses of CCK would cost more than the retries.
        let floor = if highest >= OFDM_6 { OFDM_6 } else { 0 };
        let class = if highest >= MCS0 { MCS0 } else { floor };
        let lower = rates.filter(|&rate| rate >= class).take(self.steps.below());
        lower.last().unwrap_or(highest)
    }
}

/// Rate adaptation of all stations.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RateAdaptation {
    ways: [Way; STATIONS],
}

impl RateAdaptation {
    /// The driver's mask for a station.
    pub fn set_mask(&mut self, memory: &mut Memory, macid: u8, mask: u32, short_gi: bool) {
        if let Some(way) = self.ways.get_mut(usize::from(macid & 31)) {
            *way = Way { mask: mask & RATES, short_gi, ..Way::default() };
            show(memory, macid, way);
        }
    }

    /// The rate of a frame's first attempt, and the mask of rates that it may use.
    pub fn choose(&self, memory: &Memory, descriptor: &TxDescriptor) -> (u8, u32) {
        let way = self.ways.get(usize::from(descriptor.macid() & 31)).copied().unwrap_or_default();
        // rtl8xxxu gives the mask of its network to station 0, before it knows the number of the station. Without any:
        // the table that both drivers write into ARFR0 (rtl8xxxu 8192c.c, rtl8192c_mac_init_table).
        let masks = [way.mask, self.ways[0].mask, memory.u32(reg::ARFR0) & RATES];
        let mask = masks.into_iter().find(|&mask| mask != 0).unwrap_or(0);
        if descriptor.use_driver_rate() || descriptor.is_group() {
            return (descriptor.rate(), mask);
        }
        if way.mask == 0 && self.ways[0].mask == 0 {
            // No rate control: what a driver has put there, else what the descriptor begins with.
            let initial = memory.u8(reg::INIDATA_RATE_SEL + u16::from(descriptor.macid() & 31)) & 0x3f;
            let highest = Way { mask, ..way }.first();
            return match (initial, mask) {
                (0, 0) => (descriptor.rate(), mask),
                (0, _) => (highest, mask),
                (initial, _) => (initial, mask),
            };
        }
        (Way { mask, ..way }.first(), mask)
    }

    /// Whether an MPDU was acknowledged.
    pub fn report(
        &mut self,
        now_ns: u64,
        memory: &mut Memory,
        descriptor: &TxDescriptor,
        acknowledged: bool,
        assumed: &Assumptions,
    ) {
        if descriptor.use_driver_rate() {
            return;
        }
        let Some(way) = self.ways.get_mut(usize::from(descriptor.macid() & 31)) else { return };
        // Seven rates below the highest at most.
        if way.steps.report(now_ns, acknowledged, 7, &assumed.rules()) {
            show(memory, descriptor.macid(), way);
        }
    }
}

/// Writes a station's first rate where drivers look for it: bit 6 is the short guard interval.
fn show(memory: &mut Memory, macid: u8, way: &Way) {
    if way.mask != 0 {
        let short_gi = u8::from(way.short_gi) << 6;
        memory.set_u8(reg::INIDATA_RATE_SEL + u16::from(macid & 31), way.first() | short_gi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::rtl8188cus::Model;

    const MS: u64 = 1_000_000;

    fn descriptor() -> TxDescriptor {
        TxDescriptor::parse(&[0; 32], Model::Rtl8188cus).unwrap()
    }

    #[test]
    fn the_first_rate_falls_and_rises_and_stands_in_its_register() {
        let (mut rates, mut memory, assumed) = (RateAdaptation::default(), Memory::default(), Assumptions::default());
        rates.set_mask(&mut memory, 0, 0xf0ff_ffff, true);
        assert_eq!((rates.choose(&memory, &descriptor()), memory.u8(reg::INIDATA_RATE_SEL)), ((19, RATES), 19 | 0x40));
        let mut now_ns = 0;
        let mut report = |rates: &mut RateAdaptation, memory: &mut Memory, count: u32, step_ns: u64, good: bool| {
            for _ in 0..count {
                now_ns += step_ns;
                rates.report(now_ns, memory, &descriptor(), good, &assumed);
            }
        };
        // Many at once, as lost A-MPDUs: not before 200 ms are over.
        report(&mut rates, &mut memory, 500, MS / 10, false);
        assert_eq!(rates.choose(&memory, &descriptor()).0, 19);
        report(&mut rates, &mut memory, 151, MS, false);
        assert_eq!((rates.choose(&memory, &descriptor()).0, memory.u8(reg::INIDATA_RATE_SEL)), (18, 18 | 0x40));
        // Few: not before there are 32 of them.
        report(&mut rates, &mut memory, 31, 100 * MS, true);
        assert_eq!(rates.choose(&memory, &descriptor()).0, 18);
        report(&mut rates, &mut memory, 1, MS, true);
        assert_eq!(rates.choose(&memory, &descriptor()).0, 19);
        report(&mut rates, &mut memory, 10_000, 10 * MS, false);
        assert_eq!(rates.choose(&memory, &descriptor()).0, MCS0, "not below MCS 0");
    }

    #[test]
    fn without_a_mask_registers_say() {
        let (rates, mut memory) = (RateAdaptation::default(), Memory::default());
        let mut bytes = [0; 32];
        bytes[20] = 7;
        let with_rate = TxDescriptor::parse(&bytes, Model::Rtl8188cus).unwrap();
        assert_eq!(rates.choose(&memory, &with_rate).0, 7);
        memory.set_u32(reg::ARFR0, 0x000f_f015);
        assert_eq!(rates.choose(&memory, &with_rate), (19, 0x000f_f015));
        memory.set_u8(reg::INIDATA_RATE_SEL, 15 | 0x40);
        assert_eq!(rates.choose(&memory, &with_rate), (15, 0x000f_f015));
    }
}
