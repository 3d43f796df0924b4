//! Automatic rate fallback: the rate of each retry, which the MAC works out from registers without its firmware.
//!
//! | what | from |
//! | --- | --- |
//! | DARFRC (0x430) is of data, RARFRC (0x438) of RTS: eight bytes, for the first retry to the eighth, the low five bits count | `REG_DARFRC` in Realtek's Ameba SDK (fields RC1 to RC8, 5 bits each, "Data Auto Rate Fallback Retry Count", 1 to 8 after reset); FreeBSD if_rtwn.c, rtwn_mrr_init |
//! | a byte is how many rates lower that retry is sent | inferred from what drivers write, see below |
//! | rates lower than the first that a table enables; the lowest of it at last | the same SDK: to the next one enabled in ARFR |
//! | ARFR0 to 3 (0x444 on), bit n is descriptor rate n, are the tables of rate IDs 12 to 15 | rtlwifi rtl8192cu/trx.c (rate ID 0xC + index) and hw.c (ARFR0 + 4 × index) |
//! | as many rates as the descriptor's limit (data: 5 bits, RTS: 4) at most | rtl8xxxu core.c (0x0001ff00 for data, none for management); rtlwifi rtl8192se/trx.c calls the largest one the whole range |
//!
//! The byte's meaning. rtlwifi's rtl8192ee/dm.c, rtl92ee_dm_dynamic_arfb_select, writes the registers for each first rate:
//! for MCS 8 0, 0, 8, 8, 9, 9, 10, 11, for MCS 9 0, 0, 7, 7, 8, 8, 9, 10, for MCS 12 0, 0, 1, 5, 6, 7, 8, 9. Read as rates
//! below the first, MCS 8 falls to MCS 0 and MCS 9 to MCS 2, rates of one stream and about the same speed. Read as numbers of
//! retries the zeros and the falling order make no sense. FreeBSD's 1, 2, 3, ... 8 is documented as one rate per retry there. The
//! SDK's words can be read either way: `fallback-counts` chooses.

use super::assumptions::{Assumptions, Beyond, Counts, Order, RtsTable, Table};
use super::registers as reg;
use super::tx_descriptor::TxDescriptor;
use crate::air::rates::MCS0;
use crate::chips::realtek::memory::Memory;

/// Bytes of DARFRC and of RARFRC.
const COUNTS: usize = 8;
/// Bits of each that count.
const COUNT: u8 = 0x1f;
/// Rates 0 to 19.
const RATES: u32 = 0x000f_ffff;
/// 6 Mbit/s.
const OFDM_6: u8 = 4;
/// 5.5 Mbit/s.
const CCK_5_5: u8 = 2;
/// The first rate ID with an ARFR register of its own.
const ARFR_IDS: u8 = 12;

/// How many rates below the first one the retry number `retries` is sent (0: the first attempt).
pub(super) fn below(counts: [u8; COUNTS], retries: u8, assumed: &Assumptions) -> usize {
    let Some(last) = retries.checked_sub(1) else { return 0 };
    match assumed.fallback_counts {
        Counts::Rates => match (counts.get(usize::from(last)), assumed.fallback_beyond) {
            (Some(count), _) => usize::from(count & COUNT),
            (None, Beyond::Last) => usize::from(counts[COUNTS - 1] & COUNT),
            (None, Beyond::Lowest) => usize::MAX,
        },
        Counts::Retries => counts.iter().map(|count| count & COUNT).filter(|&n| n > 0 && n <= retries).count(),
    }
}

/// The rates below `first`, the next one first.
fn lower(first: u8, order: Order) -> impl Iterator<Item = u8> {
    let skipped = move |rate: &u8| match order {
        Order::Index => false,
        // Faster than the lowest of the class above.
        Order::Slower => {
            first >= MCS0 && (OFDM_6 + 1..MCS0).contains(rate)
                || first >= OFDM_6 && (CCK_5_5 + 1..OFDM_6).contains(rate)
        }
    };
    (0..first.min(32)).rev().filter(move |rate| !skipped(rate))
}

/// The rate that is `steps` enabled ones below `first`, or the lowest.
fn fallen(first: u8, table: u32, steps: usize, order: Order) -> u8 {
    lower(first, order).filter(|rate| table >> rate & 1 == 1).take(steps).last().unwrap_or(first)
}

/// The rates that a frame may fall back to. `mask`: what the firmware was given for its station.
fn table(memory: &Memory, rate_id: u8, mask: u32, assumed: &Assumptions) -> u32 {
    let arfr = |index: u8| memory.u32(reg::ARFR0 + 4 * u16::from(index & 3));
    match rate_id.checked_sub(ARFR_IDS) {
        Some(index) => arfr(index) & RATES,
        None if assumed.fallback_table == Table::Arfr => arfr(rate_id) & RATES,
        None => mask & RATES,
    }
}

/// The rate of a data or management frame that goes at `first` and was sent again `retries` times already or is now.
pub(super) fn data_rate(
    memory: &Memory,
    descriptor: &TxDescriptor,
    (first, mask): (u8, u32),
    retries: u8,
    assumed: &Assumptions,
) -> u8 {
    if descriptor.no_fallback() {
        return first;
    }
    let steps = below(memory.array(reg::DARFRC), retries, assumed).min(usize::from(descriptor.data_fallback_limit()));
    fallen(first, table(memory, descriptor.rate_id(), mask, assumed), steps, assumed.fallback_order)
}

/// The rate of an RTS that was not answered `retries` times.
pub(super) fn rts_rate(memory: &Memory, descriptor: &TxDescriptor, retries: u8, assumed: &Assumptions) -> u8 {
    let table = match assumed.rts_table {
        RtsTable::Responses => memory.u32(reg::RESPONSE_RATE_SET),
        RtsTable::All => u32::MAX,
    };
    let steps = below(memory.array(reg::RARFRC), retries, assumed).min(usize::from(descriptor.rts_fallback_limit()));
    fallen(descriptor.rts_rate().min(MCS0 - 1), table & RATES, steps, assumed.fallback_order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::rtl8188cus::Model;
    use proptest::prelude::*;

    /// What rtl8xxxu and rtl8192cu write (core.c, rtl8xxxu_init_device; mac.c, rtl92c_init_rate_fallback).
    fn as_drivers_leave_it() -> Memory {
        let mut memory = Memory::default();
        memory.set_u32(reg::DARFRC, 0x0000_0000);
        memory.set_u32(reg::DARFRC + 4, 0x1008_0404);
        memory.set_u32(reg::RARFRC, 0x0403_0201);
        memory.set_u32(reg::RARFRC + 4, 0x0807_0605);
        memory.set_u32(reg::RESPONSE_RATE_SET, 0x15f);
        memory.set_u32(reg::ARFR0, 0x000f_f015);
        memory
    }

    fn descriptor(rate_id: u8, rts_rate: u8, limits: u32) -> TxDescriptor {
        let mut bytes = [0; 32];
        bytes[4..8].copy_from_slice(&(u32::from(rate_id) << 16).to_le_bytes());
        bytes[16..20].copy_from_slice(&u32::from(rts_rate).to_le_bytes());
        bytes[20..24].copy_from_slice(&limits.to_le_bytes());
        TxDescriptor::parse(&bytes, Model::Rtl8188cus).unwrap()
    }

    const LIMITS: u32 = 0x0001_ff00;
    const MCS7: u8 = MCS0 + 7;

    fn rates(mask: u32, assumed: &Assumptions, id: u8) -> Vec<u8> {
        let (memory, descriptor) = (as_drivers_leave_it(), descriptor(id, 8, LIMITS));
        (0..=10).map(|retries| data_rate(&memory, &descriptor, (MCS7, mask), retries, assumed)).collect()
    }

    #[test]
    fn what_drivers_write_keeps_the_rate_for_four_retries() {
        let assumed = Assumptions::default();
        let mcs = |n: u8| MCS0 + n;
        // rtl8xxxu's mask: MCS 3, then 6 Mbit/s, then 1 Mbit/s.
        let kept = [MCS7; 5];
        assert_eq!(rates(0x000f_ffff, &assumed, 0), [&kept[..], &[mcs(3), mcs(3), OFDM_6, 0, 0, 0]].concat());
        // rtl8192cu's, and the vendor driver's, near the access point: not below MCS 4.
        assert_eq!(rates(0x000f_0000, &assumed, 0), [&kept[..], &[mcs(4); 6]].concat());
        // With a table of its own.
        assert_eq!(rates(0x000f_ffff, &assumed, 12), [&kept[..], &[mcs(3), mcs(3), OFDM_6, 0, 0, 0]].concat());
        assert_eq!(rates(0x000f_ffff, &assumed, 13), [MCS7; 11], "a table without any");
    }

    #[test]
    fn the_assumptions_have_their_effect() {
        let with = |assignment: &str| {
            let mut assumed = Assumptions::default();
            assumed.set(assignment).unwrap();
            rates(0x000f_ffff, &assumed, 0)
        };
        let mcs = |n: u8| MCS0 + n;
        assert_eq!(with("fallback-counts=retries")[3..=8], [mcs(7), mcs(5), mcs(5), mcs(5), mcs(5), mcs(4)]);
        assert_eq!(with("fallback-order=index")[5..=8], [mcs(3), mcs(3), 11, 3]);
        assert_eq!(with("fallback-table=arfr")[5..=9], [mcs(3), mcs(3), OFDM_6, 0, 0]);
        assert_eq!(with("fallback-beyond=lowest")[8..], [0, 0, 0]);
    }

    #[test]
    fn rts_falls_one_response_rate_with_each_retry() {
        let memory = as_drivers_leave_it();
        let rates = |descriptor: &TxDescriptor, assumed: &Assumptions| -> Vec<u8> {
            (0..7).map(|retries| rts_rate(&memory, descriptor, retries, assumed)).collect()
        };
        let mut assumed = Assumptions::default();
        // 24, 12, 6, 5.5, 2, 1 Mbit/s: the basic rates of an 802.11g network.
        assert_eq!(rates(&descriptor(0, 8, LIMITS), &assumed), [8, 6, 4, 2, 1, 0, 0]);
        assert_eq!(rates(&descriptor(0, 8, 2 << 13), &assumed), [8, 6, 4, 4, 4, 4, 4], "the descriptor's limit");
        assumed.rts_table = RtsTable::All;
        assert_eq!(rates(&descriptor(0, 8, LIMITS), &assumed), [8, 7, 6, 5, 4, 2, 1]);
    }

    #[test]
    fn frames_that_ask_for_none_do_not_fall_back() {
        let (memory, assumed) = (as_drivers_leave_it(), Assumptions::default());
        // Management frames of both drivers have no limit in their descriptor.
        assert_eq!(data_rate(&memory, &descriptor(0, 0, 0), (11, 0xfff), 8, &assumed), 11);
        let mut bytes = [0; 32];
        bytes[17] = 1 << 2;
        bytes[20..24].copy_from_slice(&LIMITS.to_le_bytes());
        let never = TxDescriptor::parse(&bytes, Model::Rtl8188cus).unwrap();
        assert_eq!(data_rate(&memory, &never, (MCS7, RATES), 8, &assumed), MCS7);
        // Registers that were never written: the same rate forever.
        assert_eq!(data_rate(&Memory::default(), &descriptor(0, 0, LIMITS), (MCS7, RATES), 40, &assumed), MCS7);
    }

    proptest! {
        #[test]
        fn a_retry_is_never_faster_and_its_rate_is_enabled(
            counts: u64, mask: u32, first in 0u8..20, retries: u8, id in 0u8..16, limits: u32, index: bool, read: bool,
        ) {
            let mut memory = as_drivers_leave_it();
            memory.write(reg::DARFRC, &counts.to_le_bytes());
            let assumed = Assumptions {
                fallback_order: if index { Order::Index } else { Order::Slower },
                fallback_counts: if read { Counts::Rates } else { Counts::Retries },
                ..Assumptions::default()
            };
            let descriptor = descriptor(id, 8, limits);
            let rate = data_rate(&memory, &descriptor, (first, mask), retries, &assumed);
            prop_assert!(rate <= first);
            prop_assert!(rate == first || table(&memory, id, mask, &assumed) >> rate & 1 == 1);
            let steps = lower(first, assumed.fallback_order).take_while(|&it| it >= rate);
            let enabled = steps.filter(|&it| table(&memory, id, mask, &assumed) >> it & 1 == 1).count();
            prop_assert!(enabled <= usize::from(descriptor.data_fallback_limit()));
            if retries == 0 {
                prop_assert_eq!(rate, first);
            }
        }

        /// With counts that do not fall, neither does the rate rise again.
        #[test]
        fn rising_counts_never_raise_the_rate(mut counts in prop::array::uniform8(0u8..32), mask: u32, first in 0u8..20) {
            counts.sort_unstable();
            let mut memory = Memory::default();
            memory.write(reg::DARFRC, &counts);
            let (assumed, descriptor) = (Assumptions::default(), descriptor(0, 8, LIMITS));
            let rate = |retries| data_rate(&memory, &descriptor, (first, mask), retries, &assumed);
            prop_assert!((0..20).all(|retries| rate(retries + 1) <= rate(retries)));
        }
    }
}
