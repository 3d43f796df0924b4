//! RF registers, and what they say of the channel.

use wire::phy::Bandwidth;

use super::baseband::Baseband;
use super::memory::Memory;
use super::model::Model;
use super::registers as reg;
use crate::air::Tuned;

/// Banks of 256 registers (Linux mt76x0/phy.h, MT_RF).
const BANKS: u32 = 8;
/// Registers of bank 0 that make the channel (mt76x0/phy.c, mt76x0_phy_set_chan_rf_params).
const PLL_N: u32 = 29;
const PLL_N_HIGH: u32 = 30;
const PLL_K: u32 = 31;
const PLL_DENOMINATOR: u32 = 32;
const XO_DIVIDER: u32 = 24;
/// A fraction of 18 bits, which counts where bit 1 of the register with N's last bit is clear (there, R28 to R26 and "sdm_bp").
const SIGMA_DELTA: [u32; 3] = [26, 27, 28];
const NO_SIGMA_DELTA: u32 = 1 << 1;
const SIGMA_DELTA_BITS: u32 = 18;
/// What the denominator is larger than its register (a comment there: "pll_den: (Denomina - 8)").
const DENOMINATOR_OFFSET: u32 = 8;
/// Registers of bank 0 that make the channel of an MT7601U (mt7601u/phy.c, __mt7601u_phy_set_channel): two bytes of fraction, two
/// bits and a byte of a number.
const FRACTION: u32 = 17;
const FRACTION_HIGH: u32 = 18;
const NUMBER_LOW: u32 = 19;
const NUMBER: u32 = 20;
/// What they are a multiple of, kHz. That is inferred: with it, the driver's table of channels 1 to 14 comes to their
/// frequencies.
const REFERENCE_KHZ: u64 = 7_500;

/// The radio.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Radio {
    registers: Box<[u8]>,
}

impl Default for Radio {
    fn default() -> Self {
        Self { registers: vec![0; (BANKS << 8) as usize].into_boxed_slice() }
    }
}

fn place(bank: u32, register: u32) -> usize {
    (bank << 8 | register & 0xff) as usize
}

impl Radio {
    /// A register by the address that the MCU's commands give it: bank in bits 31:16, register in 15:0.
    pub(super) fn read(&self, address: u32) -> u8 {
        self.registers.get(place(address >> 16 & 0x7fff, address)).copied().unwrap_or(0)
    }

    pub(super) fn write(&mut self, address: u32, value: u8) {
        if let Some(register) = self.registers.get_mut(place(address >> 16 & 0x7fff, address)) {
            *register = value;
        }
    }

    /// A write to the register of serial access. Gives what it then holds.
    pub(super) fn serial(&mut self, model: Model, value: u32) -> u32 {
        let bank_shift = model.rf_bank_shift();
        let bank = value >> bank_shift & ((1 << (18 - bank_shift)) - 1);
        let address = bank << 16 | value >> 8 & ((1 << (bank_shift - 8)) - 1);
        let done = value & !reg::RF_KICK;
        if value & reg::RF_KICK == 0 {
            value
        } else if value & reg::RF_WRITE != 0 {
            self.write(address, value as u8);
            done
        } else {
            done & !0xff | u32::from(self.read(address))
        }
    }

    /// What the synthesizer makes, MHz: a reference times N + K / denominator, or N and a fraction. The reference follows from
    /// the driver's own tables of channels (mt76x0/initvals_phy.h, mt76x0_frequency_plan and mt76x0_sdm_frequency_plan): 60 MHz
    /// with a divider of 3, 15 with 1, 30 with 0; in 5 GHz twice that.
    fn synthesizer_mhz(&self, in_5ghz: bool) -> Option<u32> {
        let bank0 = |register| u32::from(self.read(register));
        let reference_mhz = match bank0(XO_DIVIDER) & 3 {
            0 => 30,
            1 => 15,
            3 => 60,
            _ => return None,
        } << u32::from(in_5ghz);
        let n = bank0(PLL_N) | (bank0(PLL_N_HIGH) & 1) << 8;
        if bank0(PLL_N_HIGH) & NO_SIGMA_DELTA == 0 {
            let [low, middle, high] = SIGMA_DELTA.map(bank0);
            let parts = n << SIGMA_DELTA_BITS | (high & 3) << 16 | middle << 8 | low;
            let mhz = u64::from(reference_mhz) * u64::from(parts) + (1 << (SIGMA_DELTA_BITS - 1));
            return u32::try_from(mhz >> SIGMA_DELTA_BITS).ok();
        }
        let denominator = (bank0(PLL_DENOMINATOR) & 0x1f) + DENOMINATOR_OFFSET;
        Some(reference_mhz * (n * denominator + (bank0(PLL_K) & 0x1f)) / denominator)
    }

    /// The same of an MT7601U.
    fn fractional_mhz(&self) -> Option<u32> {
        let bank0 = |register| u64::from(self.read(register));
        let number = bank0(NUMBER) << 2 | bank0(NUMBER_LOW) & 3;
        let parts = number << 16 | bank0(FRACTION_HIGH) << 8 | bank0(FRACTION);
        u32::try_from((parts * REFERENCE_KHZ / 1_000 + (1 << 15)) >> 16).ok()
    }

    /// Where it is; `None`: nowhere that a driver sends it.
    pub fn tuned(&self, model: Model, memory: &Memory, small: &Baseband) -> Option<Tuned> {
        let (in_5ghz, (centre_mhz, (width, primary))) = match model {
            Model::Mt7601u => (false, (self.fractional_mhz()?, small.width())),
            Model::Mt7610u => {
                let in_5ghz = memory.word(reg::TX_BAND_CFG) & reg::BAND_5GHZ != 0;
                (in_5ghz, (self.synthesizer_mhz(in_5ghz)?, width(memory.word(reg::BBP_AGC0))))
            }
        };
        let lowest_mhz = centre_mhz.checked_sub(u32::from(width.mhz()) / 2 - 10)?;
        let frequency_mhz = u16::try_from(lowest_mhz + 20 * primary).ok()?;
        let band = if in_5ghz { 5_180..=5_885 } else { 2_412..=2_484 };
        band.contains(&frequency_mhz).then_some(Tuned { frequency_mhz, width })
    }
}

/// The width that an MT7610U's baseband is set to, and which of the channels in it is the primary one, from the lowest on
/// (mt76x02_phy.c, mt76x02_phy_set_bw; mt76x0/phy.c, mt76x0_phy_set_channel).
const fn width(gain_control: u32) -> (Bandwidth, u32) {
    let primary = gain_control >> 8 & 3;
    match gain_control >> 12 & 7 {
        3 => (Bandwidth::Mhz40, primary & 1),
        7 => (Bandwidth::Mhz80, primary),
        _ => (Bandwidth::Mhz20, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Denominator, K, N and divider of the driver's table for channels 1 to 14.
    const PLAN: [(u16, u8, u8, u8, u8); 14] = [
        (2412, 0x02, 0x02, 0x28, 3),
        (2417, 0x07, 0x02, 0xa1, 1),
        (2422, 0x07, 0x0b, 0x50, 0),
        (2427, 0x02, 0x09, 0x50, 0),
        (2432, 0x07, 0x02, 0xa2, 1),
        (2437, 0x07, 0x07, 0xa2, 1),
        (2442, 0x02, 0x07, 0x28, 3),
        (2447, 0x07, 0x02, 0xa3, 1),
        (2452, 0x07, 0x0d, 0x28, 3),
        (2457, 0x02, 0x09, 0x51, 0),
        (2462, 0x07, 0x02, 0xa4, 1),
        (2467, 0x07, 0x07, 0xa4, 1),
        (2472, 0x02, 0x02, 0x29, 3),
        (2484, 0x02, 0x04, 0x29, 3),
    ];

    #[test]
    fn the_drivers_table_gives_the_channels_of_the_band() {
        let (mut radio, mut memory) = (Radio::default(), Memory::new(0x2400));
        assert_eq!(radio.tuned(Model::Mt7610u, &memory, &Baseband::default()), None);
        for (frequency_mhz, denominator, k, n, divider) in PLAN {
            for (register, value) in [
                (PLL_DENOMINATOR, 0x40 | denominator),
                (PLL_K, 0x40 | k),
                (PLL_N, n),
                (PLL_N_HIGH, 0x02),
                (XO_DIVIDER, divider),
            ] {
                radio.write(register, value);
            }
            assert_eq!(
                radio.tuned(Model::Mt7610u, &memory, &Baseband::default()),
                Some(Tuned { frequency_mhz, width: Bandwidth::Mhz20 })
            );
        }
        radio.write(PLL_K, 0x02); // channel 13
        memory.set(reg::BBP_AGC0, 3 << 12 | 1 << 8);
        assert_eq!(
            radio.tuned(Model::Mt7610u, &memory, &Baseband::default()),
            Some(Tuned { frequency_mhz: 2482, width: Bandwidth::Mhz40 })
        );
        memory.set(reg::BBP_AGC0, 3 << 12);
        assert_eq!(
            radio.tuned(Model::Mt7610u, &memory, &Baseband::default()),
            Some(Tuned { frequency_mhz: 2462, width: Bandwidth::Mhz40 })
        );
        memory.set(reg::TX_BAND_CFG, reg::BAND_5GHZ);
        assert_eq!(radio.tuned(Model::Mt7610u, &memory, &Baseband::default()), None, "2 x 2472 MHz");
    }

    /// Frequency, N, K and denominator of channels 36, 38, 42, 48, 64, 37, 149, 155 and 157 in the driver's table; and N and
    /// fraction of 54, 55 and 151 in the other one, which the driver uses for these.
    #[test]
    fn channels_of_5_ghz() {
        let (mut radio, mut memory) = (Radio::default(), Memory::new(0x2400));
        memory.set(reg::TX_BAND_CFG, reg::BAND_5GHZ);
        radio.write(XO_DIVIDER, 3);
        let tuned = |radio: &Radio, memory: &Memory| radio.tuned(Model::Mt7610u, memory, &Baseband::default());
        let plan = [
            (5180, 0x2b, 0x02, 0x04),
            (5190, 0x2b, 0x03, 0x04),
            (5210, 0x2b, 0x05, 0x04),
            (5240, 0x2b, 0x08, 0x04),
            (5320, 0x2c, 0x04, 0x04),
            (5185, 0x2b, 0x05, 0x10),
            (5745, 0x2f, 0x15, 0x10),
            (5775, 0x30, 0x03, 0x10),
            (5785, 0x30, 0x05, 0x10),
        ];
        for (frequency_mhz, n, k, denominator) in plan {
            for (register, value) in [(PLL_N, n), (PLL_N_HIGH, 0x02), (PLL_K, k), (PLL_DENOMINATOR, denominator)] {
                radio.write(register, value);
            }
            assert_eq!(tuned(&radio, &memory), Some(Tuned { frequency_mhz, width: Bandwidth::Mhz20 }));
        }
        for (frequency_mhz, n, fraction) in [(5270, 0x2b, 0x3aaaau32), (5275, 0x2b, 0x3d555), (5755, 0x2f, 0x3d555)] {
            let [low, middle, high, _] = fraction.to_le_bytes();
            let fraction = SIGMA_DELTA.into_iter().zip([low, middle, high]);
            for (register, value) in fraction.chain([(PLL_N, n), (PLL_N_HIGH, 0x80)]) {
                radio.write(register, value);
            }
            assert_eq!(tuned(&radio, &memory), Some(Tuned { frequency_mhz, width: Bandwidth::Mhz20 }));
        }
        for (register, value) in [(PLL_N, 0x30), (PLL_N_HIGH, 0x02), (PLL_K, 0x03), (PLL_DENOMINATOR, 0x10)] {
            radio.write(register, value);
        }
        // Channel 155 (5775 MHz) has the primary channels 149, 153, 157 and 161.
        for (number, frequency_mhz) in (0..).zip([5745, 5765, 5785, 5805]) {
            memory.set(reg::BBP_AGC0, 7 << 12 | number << 8);
            assert_eq!(tuned(&radio, &memory), Some(Tuned { frequency_mhz, width: Bandwidth::Mhz80 }));
        }
    }

    /// Fraction, number of the MT7601U's table for channels 1 to 14.
    const FRACTIONAL_PLAN: [(u16, [u8; 4]); 14] = [
        (2412, [0x99, 0x99, 0x09, 0x50]),
        (2417, [0x46, 0x44, 0x0a, 0x50]),
        (2422, [0xec, 0xee, 0x0a, 0x50]),
        (2427, [0x99, 0x99, 0x0b, 0x50]),
        (2432, [0x46, 0x44, 0x08, 0x51]),
        (2437, [0xec, 0xee, 0x08, 0x51]),
        (2442, [0x99, 0x99, 0x09, 0x51]),
        (2447, [0x46, 0x44, 0x0a, 0x51]),
        (2452, [0xec, 0xee, 0x0a, 0x51]),
        (2457, [0x99, 0x99, 0x0b, 0x51]),
        (2462, [0x46, 0x44, 0x08, 0x52]),
        (2467, [0xec, 0xee, 0x08, 0x52]),
        (2472, [0x99, 0x99, 0x09, 0x52]),
        (2484, [0x33, 0x33, 0x0b, 0x52]),
    ];

    #[test]
    fn the_table_of_an_mt7601u_gives_the_same_channels() {
        let (mut radio, memory, mut baseband) = (Radio::default(), Memory::new(0x2400), Baseband::default());
        let tuned = |radio: &Radio, baseband: &Baseband| radio.tuned(Model::Mt7601u, &memory, baseband);
        assert_eq!(tuned(&radio, &baseband), None);
        for (frequency_mhz, values) in FRACTIONAL_PLAN {
            for (register, value) in (FRACTION..).zip(values) {
                radio.write(register, value);
            }
            assert_eq!(tuned(&radio, &baseband), Some(Tuned { frequency_mhz, width: Bandwidth::Mhz20 }));
        }
        for (register, value) in (FRACTION..).zip(FRACTIONAL_PLAN[12].1) {
            radio.write(register, value);
        }
        baseband.write(4, 0x50);
        assert_eq!(tuned(&radio, &baseband), Some(Tuned { frequency_mhz: 2462, width: Bandwidth::Mhz40 }));
        baseband.write(3, 0x20);
        assert_eq!(tuned(&radio, &baseband), Some(Tuned { frequency_mhz: 2482, width: Bandwidth::Mhz40 }));
    }

    #[test]
    fn serial_access() {
        let mut radio = Radio::default();
        let place = 5 << 15 | 0x24 << 8;
        assert_eq!(radio.serial(Model::Mt7610u, reg::RF_KICK | reg::RF_WRITE | place | 0xab) >> 31, 0);
        assert_eq!(radio.serial(Model::Mt7610u, reg::RF_KICK | place) & 0xff, 0xab);
        assert_eq!(radio.read(5 << 16 | 0x24), 0xab);
        assert_eq!(radio.serial(Model::Mt7610u, place | 0x77), place | 0x77, "not kicked");
        let place = 5 << 14 | 0x03 << 8;
        radio.serial(Model::Mt7601u, reg::RF_KICK | reg::RF_WRITE | place | 0x11);
        assert_eq!((radio.read(5 << 16 | 3), radio.serial(Model::Mt7601u, reg::RF_KICK | place) & 0xff), (0x11, 0x11));
    }
}
