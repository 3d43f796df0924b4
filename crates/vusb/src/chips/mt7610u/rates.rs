//! Rates of retries, protection and answers, as registers say.

use wire::phy::{Bandwidth, Mode, RateSet};
use wire::usb::mediatek::Rate;

use super::memory::Memory;
use super::model::Model;
use super::registers as reg;
use crate::air::rates::legacy_rates;
use crate::air::{width, Protection};

/// 6 Mbit/s: what Block Ack requests are sent at.
pub(super) const LOWEST_OFDM: Rate = Rate(1 << 13);

/// OFDM rates are numbered from here in the registers of fallback (rt2800.h, LG_FBK_CFG0).
const OFDM: u8 = 8;

/// The rate of an attempt: each retry goes one step down, which is how the driver reads reports (mt76x02_mac.c,
/// mt76x02_mac_fill_tx_status).
pub(super) fn of_attempt(memory: &Memory, first: Rate, attempts: u8) -> Rate {
    if memory.word(reg::TX_RETRY_CFG) & reg::AUTO_FALLBACK == 0 {
        return first;
    }
    // Tables are 8 steps deep.
    (0..attempts.min(16)).fold(first, |rate, _| below(memory, rate))
}

fn is_in_5ghz(model: Model, memory: &Memory) -> bool {
    model.has_5ghz() && memory.word(reg::TX_BAND_CFG) & reg::BAND_5GHZ != 0
}

/// Whether there is such a rate in the band.
pub(super) fn exists(model: Model, memory: &Memory, rate: Rate) -> bool {
    rate.mode().is_some_and(|mode| match mode {
        Mode::Dsss { .. } => !is_in_5ghz(model, memory),
        Mode::Vht(_) => is_in_5ghz(model, memory),
        _ => true,
    })
}

/// The lowest rate of the band.
pub(super) fn lowest(model: Model, memory: &Memory) -> Rate {
    if is_in_5ghz(model, memory) {
        LOWEST_OFDM
    } else {
        Rate::default()
    }
}

fn below(memory: &Memory, rate: Rate) -> Rate {
    let nibble = |register: u32, index: u8| (memory.word(register) >> (4 * u32::from(index & 7)) & 0x0f) as u8;
    if rate.is_ht() || rate.is_vht() && rate.index() < 8 {
        return rate.with_index(nibble(reg::HT_FBK_CFG0, rate.index()) & 7);
    }
    if rate.is_vht() {
        // One MCS down, as the driver reads reports (mt76x02_mac.c, mt76x02_tx_rate_fallback). The register of these rates (0x1358)
        // is not followed: MCS 8 would fall to 0 (mt76x0/initvals_init.h: 0xedcba980), which is right for HT with two streams.
        return rate.with_index(rate.index() - 1);
    }
    if !rate.is_ofdm() {
        let short = rate.index() & 8;
        return rate.with_index(nibble(reg::LG_FBK_CFG1, rate.index() & 3) & 3 | short);
    }
    match nibble(reg::LG_FBK_CFG0, rate.index()) {
        number @ OFDM.. => rate.with_index(number - OFDM),
        number => Rate(u16::from(number & 3)),
    }
}

/// RTS or CTS before a PPDU of this many bytes.
pub(super) fn protection(model: Model, memory: &Memory, rate: Rate, psdu_len: usize) -> Protection {
    let register = match rate.bandwidth() {
        Some(Bandwidth::Mhz80) if rate.is_vht() => reg::VHT_PROT_CFG + 8,
        Some(Bandwidth::Mhz40) if rate.is_vht() => reg::VHT_PROT_CFG + 4,
        _ if rate.is_vht() => reg::VHT_PROT_CFG,
        Some(Bandwidth::Mhz40) if rate.is_ht() => reg::MM40_PROT_CFG,
        _ if rate.is_ht() => reg::MM20_PROT_CFG,
        _ if rate.is_ofdm() => reg::OFDM_PROT_CFG,
        _ => return Protection::None,
    };
    let value = memory.word(register);
    let threshold = memory.word(reg::TX_RTS_CFG) >> 8 & 0xffff;
    let by_threshold = value >> 26 & 1 == 1;
    let Some(mode) = protecting(model, memory, value as u16) else { return Protection::None };
    match value >> 16 & 3 {
        1 if !by_threshold || psdu_len > threshold as usize => Protection::Rts(mode),
        2 => Protection::CtsToSelf(mode),
        _ => Protection::None,
    }
}

/// What an RTS or CTS is sent at; what the band does not have is sent at its lowest rate. The width of an MT7610U's is that of
/// duplicates (mt76x02_regs.h, MT_PROT_RATE_DUP_OFDM_24).
fn protecting(model: Model, memory: &Memory, register: u16) -> Option<Mode> {
    let mode = match model {
        Model::Mt7601u => Rate::of_mt7601u_protection(register)?,
        Model::Mt7610u => Rate(register).within(Bandwidth::Mhz20).mode()?,
    };
    let is_there = !(is_in_5ghz(model, memory) && matches!(mode, Mode::Dsss { .. }));
    if is_there {
        Some(mode)
    } else {
        LOWEST_OFDM.mode()
    }
}

/// The rates that answers use.
pub(super) fn basic(memory: &Memory) -> Option<RateSet> {
    legacy_rates(memory.word(reg::LEGACY_BASIC_RATE))
}

/// Bytes of an A-MPDU at most: 2 to the power of a nibble for each MCS, times 32. That is inferred: so read, the driver's
/// values (mt76x0/initvals_init.h, 0xaaa99887 for 20 MHz) all come to 3.4 to 5.1 ms, below the 5.484 ms of a PPDU (IEEE
/// 802.11-2020, table 19-25), and no other power of two does. mt76x0u writes none for 40 MHz; for 80 MHz, and for MCS 8 and 9, no
/// register is known.
pub(super) fn ampdu_bytes(model: Model, memory: &Memory, mode: &Mode) -> usize {
    let mcs = match mode {
        Mode::Ht(ht) => ht.mcs & 7,
        Mode::Vht(vht) => vht.mcs,
        _ => return 0,
    };
    if model.has_one_ampdu_length() {
        return (1 << (13 + (memory.word(reg::MAX_LEN_CFG) >> 12 & 3))) - 1;
    }
    let lengths = match width(mode) {
        Bandwidth::Mhz20 if mcs < 8 => memory.word(reg::AMPDU_MAX_LEN_20),
        Bandwidth::Mhz40 if mcs < 8 => memory.word(reg::AMPDU_MAX_LEN_40),
        _ => 0,
    };
    match lengths >> (4 * u32::from(mcs & 7)) & 0x0f {
        0 => usize::from(u16::MAX),
        exponent => (32usize << exponent).min(usize::from(u16::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let mut memory = Memory::new(0x2000);
        memory.set(reg::TX_RETRY_CFG, 0x47d0_1f0f);
        memory.set(reg::HT_FBK_CFG0, 0x6543_2100);
        memory.set(reg::LG_FBK_CFG0, 0xedcb_a988);
        memory.set(reg::LG_FBK_CFG1, 0x2100);
        memory
    }

    #[test]
    fn each_retry_is_one_rate_down() {
        let mut memory = memory();
        let index = |memory: &Memory, rate: u16, attempts| of_attempt(memory, Rate(rate), attempts).0;
        assert_eq!([0, 1, 7, 8, 255].map(|n| index(&memory, 0x4207, n)), [0x4207, 0x4206, 0x4200, 0x4200, 0x4200]);
        assert_eq!([1, 7, 9].map(|n| index(&memory, 0x2007, n)), [0x2006, 0x2000, 0x2000]);
        assert_eq!([1, 3].map(|n| index(&memory, 0x000b, n)), [0x000a, 0x0008], "short preamble");
        let vht = [1, 2, 3, 9, 255].map(|n| index(&memory, 0x8309, n));
        assert_eq!(vht, [0x8308, 0x8307, 0x8306, 0x8300, 0x8300]);
        memory.set(reg::TX_RETRY_CFG, 0);
        assert_eq!(index(&memory, 0x4007, 3), 0x4007);
    }

    #[test]
    fn there_is_no_cck_in_5_ghz() {
        let mut memory = memory();
        let all = |model, memory: &Memory| {
            let rates = [0x0003, 0x2000, 0x4007, 0x8109, 0x8009];
            (rates.map(|rate| exists(model, memory, Rate(rate))), lowest(model, memory))
        };
        let in_2ghz = ([true, true, true, false, false], Rate(0));
        assert_eq!(all(Model::Mt7610u, &memory), in_2ghz);
        memory.set(reg::TX_BAND_CFG, reg::BAND_5GHZ);
        assert_eq!(all(Model::Mt7610u, &memory), ([false, true, true, true, false], Rate(0x2000)));
        assert_eq!(all(Model::Mt7601u, &memory), in_2ghz);
    }

    /// The lengths that the driver writes, as times at each MCS.
    #[test]
    fn lengths_of_ampdus_come_to_what_a_ppdu_may_last() {
        let mut memory = memory();
        memory.set(reg::AMPDU_MAX_LEN_20, 0xaaa9_9887);
        for mcs in 0..8 {
            let mode = Rate(0x4000 | mcs).mode().unwrap();
            let us = ampdu_bytes(Model::Mt7610u, &memory, &mode) * 8_000 / mode.rate_kbps().unwrap() as usize;
            assert!((3_300..5_484).contains(&us), "{mcs}: {us}");
        }
        // The factor of a station that takes 64 KiB, as mt7601u writes it (mac.c, mt7601u_mac_set_ampdu_factor).
        memory.set(reg::MAX_LEN_CFG, 0x000a_0fff | 3 << 12);
        let mode = Rate(0x4000).mode().unwrap();
        assert_eq!(ampdu_bytes(Model::Mt7601u, &memory, &mode), 65_535);
    }

    #[test]
    fn protection_is_what_the_register_of_the_format_says() {
        let mut memory = memory();
        memory.set(reg::TX_RTS_CFG, 500 << 8);
        // The two drivers number formats in different bits (mt76x0/initvals_init.h; mt7601u/initvals.h).
        for (model, rate) in [(Model::Mt7610u, 0x2004), (Model::Mt7601u, 0x4004)] {
            memory.set(reg::MM20_PROT_CFG, 0x0175_0000 | rate);
            memory.set(reg::OFDM_PROT_CFG, 0x07f5_0000 | rate);
            let of = |rate: u16, len| protection(model, &memory, Rate(rate), len);
            let rts = Protection::Rts(Rate(0x2004).mode().unwrap());
            assert_eq!([of(0x4007, 10), of(0x2007, 501)], [rts; 2], "{model:?}");
            assert_eq!([of(0x2007, 10), of(0x0003, 501)], [Protection::None; 2], "{model:?}");
            assert_eq!(of(0x4087, 10), Protection::None, "40 MHz has its own");
        }
    }

    /// As mt76x02_mac_set_tx_protection writes them where stations without HT are there.
    #[test]
    fn protection_of_vht_is_at_a_rate_of_the_band() {
        let mut memory = memory();
        memory.set(reg::TX_BAND_CFG, reg::BAND_5GHZ);
        memory.set(reg::VHT_PROT_CFG + 8, 0xe3f5_2104);
        let of = |memory: &Memory, rate| protection(Model::Mt7610u, memory, Rate(rate), 10);
        assert_eq!(of(&memory, 0x8109), Protection::Rts(Rate(0x2004).mode().unwrap()));
        assert_eq!([of(&memory, 0x8089), of(&memory, 0x8007)], [Protection::None; 2]);
        memory.set(reg::VHT_PROT_CFG, 0xe3f5_0003);
        assert_eq!(of(&memory, 0x8007), Protection::Rts(LOWEST_OFDM.mode().unwrap()), "no CCK in 5 GHz");
    }
}
