//! The baseband of an MT7601U: 256 registers of a byte, behind one register of the MAC (Linux mt7601u: phy.c, mt7601u_bbp_wr and
//! mt7601u_bbp_rr) or in commands to the MCU. Two pairs of them are the index and the value of further ones.

use wire::phy::Bandwidth;

use super::registers as reg;

/// Version; the driver waits until it is neither 0 nor 0xff (phy.c, mt7601u_wait_bbp_ready). Which one it is is not known.
const VERSION: u8 = 0;
const VERSION_VALUE: u8 = 1;
/// Side of the primary channel in bit 5: below the other one's (mt7601u_bbp_set_ctrlch; there `below` is the other one).
const SIDE: u8 = 3;
const PRIMARY_ABOVE: u8 = 1 << 5;
/// Width in bits 4:3: 2 is 40 MHz (mt7601u_bbp_set_bw).
const WIDTH: u8 = 4;
const WIDTH_BITS: u8 = 3 << 3;
const WIDTH_40: u8 = 2 << 3;
/// Measurements: what is shown in 2:0, begin in bit 4, which is gone when the value is there (phy.c, BBP_R47_*).
const MEASURE: u8 = 47;
const BEGIN: u8 = 1 << 4;
const SHOWN: u8 = 7;
const SHOWN_TRANSMITTER: u8 = 0;
const SHOWN_TEMPERATURE: u8 = 4;
/// What was measured.
const MEASURED: u8 = 49;
/// A tone for the measurement of the transmitter (mt7601u_tssi_dc_gain_cal writes 0x31, and 0 behind it).
const TONE: u8 = 244;
/// The temperature that the EEPROM has as its reference: 25 degrees (phy.c, mt7601u_temp_comp: "< 20C" is 5 degrees below it).
pub(super) const TEMPERATURE: u8 = 0x20;
/// The transmitter's level without and with the tone. Assumed; the driver takes the logarithm of the difference.
const SILENCE_LEVEL: u8 = 0x08;
const TONE_LEVEL: u8 = 0x30;
/// Index and value of the calibration registers, of which one has a bit that is gone when the calibration is over (phy.c,
/// mt7601u_rxdc_cal: writes 0x4c, waits for 0x0c).
const CALIBRATION_INDEX: u8 = 158;
const CALIBRATION: u8 = 159;
const RX_DC: u8 = 0x8c;
const CALIBRATES: u8 = 1 << 6;
/// Index and value of the registers of gain control (initvals.h, a comment on R195 and R196).
const GAIN_CONTROL_INDEX: u8 = 195;
const GAIN_CONTROL: u8 = 196;

/// Registers of a byte, by numbers of a byte.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Bank(Box<[u8]>);

impl Default for Bank {
    fn default() -> Self {
        Self(vec![0; 256].into_boxed_slice())
    }
}

impl Bank {
    fn get(&self, register: u8) -> u8 {
        self.0.get(usize::from(register)).copied().unwrap_or(0)
    }

    fn set(&mut self, register: u8, value: u8) {
        if let Some(kept) = self.0.get_mut(usize::from(register)) {
            *kept = value;
        }
    }
}

/// Its registers.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Baseband {
    registers: Bank,
    calibration: Bank,
    gain_control: Bank,
}

impl Default for Baseband {
    fn default() -> Self {
        let mut registers = Bank::default();
        registers.set(VERSION, VERSION_VALUE);
        Self { registers, calibration: Bank::default(), gain_control: Bank::default() }
    }
}

impl Baseband {
    /// A register.
    pub(super) fn read(&self, register: u8) -> u8 {
        match register {
            MEASURED => self.measured(),
            CALIBRATION => self.calibration.get(self.registers.get(CALIBRATION_INDEX)),
            GAIN_CONTROL => self.gain_control.get(self.registers.get(GAIN_CONTROL_INDEX)),
            _ => self.registers.get(register),
        }
    }

    fn measured(&self) -> u8 {
        match self.registers.get(MEASURE) & SHOWN {
            SHOWN_TEMPERATURE => TEMPERATURE,
            SHOWN_TRANSMITTER if self.registers.get(TONE) != 0 => TONE_LEVEL,
            SHOWN_TRANSMITTER => SILENCE_LEVEL,
            _ => 0,
        }
    }

    /// Writes one. Calibrations and measurements are over at once.
    pub(super) fn write(&mut self, register: u8, value: u8) {
        match register {
            VERSION => {}
            MEASURE => self.registers.set(MEASURE, value & !BEGIN),
            CALIBRATION => {
                let index = self.registers.get(CALIBRATION_INDEX);
                let over = if index == RX_DC { CALIBRATES } else { 0 };
                self.calibration.set(index, value & !over);
            }
            GAIN_CONTROL => self.gain_control.set(self.registers.get(GAIN_CONTROL_INDEX), value),
            _ => self.registers.set(register, value),
        }
    }

    /// A write to the register of access. Gives what it then holds.
    pub(super) fn access(&mut self, value: u32) -> u32 {
        let register = (value >> 8) as u8;
        let done = value & !reg::BBP_BUSY;
        if value & reg::BBP_BUSY == 0 {
            value
        } else if value & reg::BBP_READ != 0 {
            done & !0xff | u32::from(self.read(register))
        } else {
            self.write(register, value as u8);
            done
        }
    }

    /// The width that it is set to, and which of the channels in it is the primary one, from the lowest on.
    pub(super) fn width(&self) -> (Bandwidth, u32) {
        if self.registers.get(WIDTH) & WIDTH_BITS == WIDTH_40 {
            (Bandwidth::Mhz40, u32::from(self.registers.get(SIDE) & PRIMARY_ABOVE != 0))
        } else {
            (Bandwidth::Mhz20, 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(baseband: &mut Baseband, register: u8) -> u8 {
        let value = u32::from(register) << 8 | 1 << 19 | reg::BBP_READ | reg::BBP_BUSY;
        let shown = baseband.access(value);
        assert_eq!((shown >> 8 & 0xff, shown & reg::BBP_BUSY), (register.into(), 0));
        shown as u8
    }

    fn write(baseband: &mut Baseband, register: u8, value: u8) {
        baseband.access(u32::from(register) << 8 | u32::from(value) | 1 << 19 | reg::BBP_BUSY);
    }

    #[test]
    fn registers_keep_what_is_written_and_the_version_is_there() {
        let mut baseband = Baseband::default();
        assert!(![0, 0xff].contains(&read(&mut baseband, VERSION)));
        write(&mut baseband, 66, 0x14);
        write(&mut baseband, VERSION, 0);
        assert_eq!((read(&mut baseband, 66), read(&mut baseband, VERSION)), (0x14, VERSION_VALUE));
        assert_eq!(baseband.access(66 << 8 | 0x77), 66 << 8 | 0x77, "not kicked");
        assert_eq!(read(&mut baseband, 66), 0x14);
        assert_eq!(baseband.width(), (Bandwidth::Mhz20, 0));
        write(&mut baseband, WIDTH, 0x40 | WIDTH_40);
        write(&mut baseband, SIDE, PRIMARY_ABOVE);
        assert_eq!(baseband.width(), (Bandwidth::Mhz40, 1));
    }

    /// The steps of mt7601u_rxdc_cal, mt7601u_read_temp and mt7601u_tssi_dc_gain_cal.
    #[test]
    fn calibrations_and_measurements_end() {
        let mut baseband = Baseband::default();
        for (register, value) in [(158, 0x8d), (159, 0xfc), (158, 0x8c), (159, 0x4c)] {
            write(&mut baseband, register, value);
        }
        write(&mut baseband, 158, 0x8c);
        assert_eq!(read(&mut baseband, 159), 0x0c);
        write(&mut baseband, 158, 0x8d);
        assert_eq!(read(&mut baseband, 159), 0xfc);
        write(&mut baseband, 47, 0x90);
        assert_eq!(read(&mut baseband, 47) & BEGIN, 0);
        write(&mut baseband, 47, 0x80 | SHOWN_TEMPERATURE);
        assert_eq!(read(&mut baseband, 49), TEMPERATURE);
        write(&mut baseband, 47, 0x40);
        let silence = read(&mut baseband, 49);
        write(&mut baseband, 244, 0x31);
        assert!(read(&mut baseband, 49) > silence);
        write(&mut baseband, 195, 0x20);
        write(&mut baseband, 196, 0x17);
        write(&mut baseband, 195, 0x21);
        assert_eq!(read(&mut baseband, 196), 0);
    }
}
