//! The channel that the synthesizer makes (Linux ath9k/ar9002_phy.c, ar9002_hw_set_channel; ar5008_phy.c,
//! ar5008_hw_set_channel_regs).

use wire::phy::Bandwidth;

use super::memory::Registers;
use super::registers as reg;
use crate::air::Tuned;

/// MHz of the synthesizer; `None`: nothing that a driver asks for.
fn synthesizer_mhz(control: u32) -> Option<u32> {
    let select = u64::from(control & 0x03ff_ffff);
    let mhz = if control >> 29 & 1 == 1 {
        // 2.4 GHz: a fraction of 16 bits of 15 MHz.
        (select * 15 + (1 << 15)) >> 16
    } else if control >> 28 & 1 == 1 {
        // 5 GHz: twice that.
        (select * 15 + (1 << 14)) >> 15
    } else {
        // 5 GHz in steps: 60 MHz, divided by 24, 12, 6 or 3, with halves.
        let divisor = 24 >> (control >> 26 & 3);
        let steps = u64::from(control >> 17 & 0x1ff) + u64::from((control & 0x1_ffff) / 2);
        steps * 60 / divisor
    };
    u32::try_from(mhz).ok()
}

/// Where the radio is.
pub(super) fn tuned(registers: &Registers) -> Option<Tuned> {
    let centre_mhz = synthesizer_mhz(registers.word(reg::PHY_SYNTH_CONTROL))?;
    let mode = registers.word(reg::PHY_MODE);
    let (width, primary_mhz) = match (mode & reg::MODE_40 != 0, mode & reg::MODE_PRIMARY_LOW != 0) {
        (false, _) => (Bandwidth::Mhz20, Some(centre_mhz)),
        (true, true) => (Bandwidth::Mhz40, centre_mhz.checked_sub(10)),
        (true, false) => (Bandwidth::Mhz40, Some(centre_mhz + 10)),
    };
    let frequency_mhz = u16::try_from(primary_mhz?).ok()?;
    matches!(frequency_mhz, 2_412..=2_484 | 5_180..=5_885).then_some(Tuned { frequency_mhz, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(control: u32, mode: u32) -> Option<(u16, Bandwidth)> {
        let mut registers = Registers::default();
        registers.set(reg::PHY_SYNTH_CONTROL, control);
        registers.set(reg::PHY_MODE, mode);
        tuned(&registers).map(|tuned| (tuned.frequency_mhz, tuned.width))
    }

    /// CHANSEL_2G and CHANSEL_5G of ath9k/phy.h: (MHz * 0x10000) / 15, and half of that.
    #[test]
    fn channels() {
        for mhz in (2_412..=2_472u32).step_by(5) {
            assert_eq!(at(1 << 29 | ((mhz << 16) / 15), 0), Some((mhz as u16, Bandwidth::Mhz20)));
        }
        for mhz in (5_180..=5_320u32).step_by(20) {
            assert_eq!(at(1 << 28 | ((mhz << 15) / 15), 0), Some((mhz as u16, Bandwidth::Mhz20)));
        }
        // In steps of 60 MHz / 3 or / 6 (aModeRefSel 3 and 2): multiples of 20 and of 10 MHz. Bits 9 and up of the steps are
        // below the others, times two.
        for (mhz, select) in [(5_180u32, 3), (5_190, 2), (5_300, 3), (5_310, 2)] {
            let steps = mhz * (24 >> select) / 60;
            let control = select << 26 | (steps & 0x1ff) << 17 | ((steps & !0x1ff) * 2);
            assert_eq!(at(control, 0), Some((mhz as u16, Bandwidth::Mhz20)), "{mhz}");
        }
        let wide = |mode| at(1 << 29 | ((2_447 << 16) / 15), mode);
        assert_eq!(wide(reg::MODE_40 | reg::MODE_PRIMARY_LOW), Some((2_437, Bandwidth::Mhz40)));
        assert_eq!(wide(reg::MODE_40), Some((2_457, Bandwidth::Mhz40)));
        assert_eq!(at(0, 0), None);
    }
}
