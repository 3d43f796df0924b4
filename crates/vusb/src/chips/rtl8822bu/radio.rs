//! RF registers, and what they and the MAC say of the channel; I/Q calibration.

use wire::phy::Bandwidth;

use super::efuse::THERMAL;
use super::registers as reg;
use crate::air::Tuned;
use crate::chips::realtek::memory::{Memory, Touched};

/// RF register with the centre of the channel in bits 7:0, the bandwidth in 11:10 and the band in 16 and 8 (rtw8822b.c,
/// rtw8822b_set_channel_rf).
const CHANNEL: u16 = 0x18;
const BAND_5GHZ: u32 = 1 << 16 | 1 << 8;
/// RF register in which the firmware says that calibration is done, and how (rtw8822b.c, rtw8822b_do_iqk).
const CALIBRATED: u16 = 0x08;
const CALIBRATED_VALUE: u32 = 0x000a_bcde;
/// RF register with the thermal meter in bits 15:10.
const THERMAL_METER: u16 = 0x42;
/// Bits of an RF register.
const MASK: u32 = 0x000f_ffff;

/// Where an RF register of a path is read.
const fn place(direct: u16, register: u16) -> u16 {
    direct + 4 * (register & 0xff)
}

/// The MAC was switched on: the temperature is that at which it was calibrated.
pub fn switched_on(memory: &mut Memory) {
    memory.set_u32(place(reg::RF_DIRECT[0], THERMAL_METER), u32::from(THERMAL) << 10);
}

/// After a write to registers: what goes the serial way is read in the direct one.
pub fn written(memory: &mut Memory, touched: Touched) {
    for (serial, direct) in reg::RF_WRITE.into_iter().zip(reg::RF_DIRECT) {
        if touched.has(serial + 3) {
            let value = memory.u32(serial);
            let register = (value >> 20 & 0xff) as u16;
            let value = match register {
                // The meter is started by this register, and has its value in the same (rtw8822b.c, rtw8822b_pwr_track).
                THERMAL_METER => value & MASK & !0xfc00 | u32::from(THERMAL) << 10,
                _ => value & MASK,
            };
            memory.set_u32(place(direct, register), value);
        }
    }
}

/// The firmware has calibrated, which succeeds at once.
pub fn calibrated(memory: &mut Memory) {
    memory.set_u32(place(reg::RF_DIRECT[0], CALIBRATED), CALIBRATED_VALUE);
}

/// The width that the RF is set to.
pub fn width(memory: &Memory) -> Bandwidth {
    match memory.u32(place(reg::RF_DIRECT[0], CHANNEL)) >> 10 & 3 {
        2 => Bandwidth::Mhz40,
        1 => Bandwidth::Mhz80,
        _ => Bandwidth::Mhz20,
    }
}

/// Where the radio is; `None`: nowhere that a driver sends it.
pub fn tuned(memory: &Memory) -> Option<Tuned> {
    let value = memory.u32(place(reg::RF_DIRECT[0], CHANNEL));
    let width = width(memory);
    let centre_mhz = match (value & BAND_5GHZ, (value & 0xff) as i32) {
        (0, 14) => 2_484,
        (0, number @ 1..=13) => 2_407 + 5 * number,
        (BAND_5GHZ, number @ 36..=177) => 5_000 + 5 * number,
        _ => return None,
    };
    // main.h, RTW_SC_20_UPPER, LOWER, UPMOST, LOWEST.
    let primary_mhz = match (width, memory.u8(reg::DATA_SC) & 0x0f) {
        (Bandwidth::Mhz20, _) => 0,
        (_, 1) => 10,
        (_, 2) => -10,
        (Bandwidth::Mhz80, 3) => 30,
        (Bandwidth::Mhz80, 4) => -30,
        _ => return None,
    };
    let frequency_mhz = u16::try_from(centre_mhz + primary_mhz).ok()?;
    Some(Tuned { frequency_mhz, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(memory: &mut Memory, register: u16, value: u32) {
        memory.set_u32(register, value);
        written(memory, Touched { start: register, len: 4 });
    }

    /// As rtw8822b_set_channel_rf writes them, with the bits that it leaves.
    #[test]
    fn channels() {
        let mut memory = Memory::default();
        assert_eq!(tuned(&memory), None);
        for (value, part, frequency_mhz, width) in [
            (0x13c06u32, 0, None, Bandwidth::Mhz20),
            (0x03c06, 0, Some(2_437), Bandwidth::Mhz20),
            (0x03c0e, 0, Some(2_484), Bandwidth::Mhz20),
            (0x03c0f, 0, None, Bandwidth::Mhz20),
            (0x03808, 2, Some(2_437), Bandwidth::Mhz40),
            (0x03804, 1, Some(2_437), Bandwidth::Mhz40),
            (0x13d24, 0, Some(5_180), Bandwidth::Mhz20),
            (0x1392e, 2, Some(5_220), Bandwidth::Mhz40),
            (0x1352a, 4, Some(5_180), Bandwidth::Mhz80),
            (0x1352a, 3, Some(5_240), Bandwidth::Mhz80),
            (0x5359b, 1, Some(5_785), Bandwidth::Mhz80),
            (0x1352a, 0, None, Bandwidth::Mhz80),
        ] {
            write(&mut memory, reg::RF_WRITE[0], 0x18 << 20 | value);
            memory.set_u8(reg::DATA_SC, part);
            let expected = frequency_mhz.map(|frequency_mhz| Tuned { frequency_mhz, width });
            assert_eq!(tuned(&memory), expected, "{value:#x} {part}");
        }
    }

    #[test]
    fn registers_are_read_where_they_are_written() {
        let mut memory = Memory::default();
        write(&mut memory, reg::RF_WRITE[1], 0x33 << 20 | 0x00001);
        assert_eq!((memory.u32(0x2c00 + 4 * 0x33), memory.u32(0x2800 + 4 * 0x33)), (1, 0));
        calibrated(&mut memory);
        assert_eq!(memory.u32(0x2820), 0xabcde);
        write(&mut memory, reg::RF_WRITE[0], 8 << 20);
        assert_eq!(memory.u32(0x2820), 0);
        write(&mut memory, reg::RF_WRITE[0], 0x42 << 20 | 3 << 16);
        assert_eq!(memory.u32(0x2800 + 4 * 0x42) >> 10 & 0x3f, 0x1a);
    }
}
