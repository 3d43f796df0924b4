//! RF registers behind their serial interface, channel, and I/Q calibration.

use super::model::Model;
use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};

/// RF register with the channel in bits 9:0 and the bandwidth in bits 11:10, and LC calibration in bit 15
/// (rtl8xxxu regs.h, RF6052_REG_MODE_AG).
const MODE_AG: u8 = 0x18;
const LC_CALIBRATION: u32 = 1 << 15;
/// The bits of the bandwidth; the model says what they mean.
const MODE_AG_BANDWIDTH: u32 = 0x0c00;
/// Channel numbers between a 40 MHz channel's centre and its primary channel's.
const HALF_CHANNELS: u8 = 2;

/// Results of path A that a driver takes for good: none of the values that it knows as failures, and the same each time
/// (rtl8xxxu core.c, rtl8xxxu_iqk_path_a and rtl8xxxu_simularity_compare).
const IQK_RESULTS: [(u16, u32); 4] = [
    (reg::TX_POWER_BEFORE_IQK_A, 0x0101_0000),
    (reg::TX_POWER_AFTER_IQK_A, 0x0003_0000),
    (reg::RX_POWER_BEFORE_IQK_A_2, 0x0100_0000),
    (reg::RX_POWER_AFTER_IQK_A_2, 0x0001_0000),
];

/// The radio.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Radio {
    #[serde(with = "crate::state::array")]
    registers: [u32; 256],
    /// MODE_AG's bandwidth for 40 MHz.
    wide: u32,
}

impl Radio {
    /// One with power that has just come.
    pub const fn new(model: Model) -> Self {
        Self { registers: [0; 256], wide: model.rf_40mhz() }
    }

    /// After a write to baseband registers. `strobes_before`: bit 31 of the read strobe before the write.
    pub fn written(&mut self, memory: &mut Memory, touched: Touched, strobe_before: bool) {
        for parameter in [reg::FPGA0_XA_LSSI_PARM, reg::FPGA0_XB_LSSI_PARM] {
            if touched.has(parameter + 3) {
                let value = memory.u32(parameter);
                self.write((value >> 20) as u8, value & 0x000f_ffff);
            }
        }
        let strobe = memory.u32(reg::FPGA0_XA_HSSI_PARM2);
        // The strobe counts on its rising edge: drivers leave it set with an address that is not wanted any more.
        if touched.has(reg::FPGA0_XA_HSSI_PARM2 + 3) && strobe >> 31 == 1 && !strobe_before {
            let value = self.register((strobe >> 23) as u8);
            memory.set_u32(reg::FPGA0_XA_LSSI_READBACK, value);
            memory.set_u32(reg::HSPI_XA_READBACK, value);
        }
        if touched.has(reg::IQK_AGC_PTS + 3) && memory.u8(reg::IQK_AGC_PTS + 3) == 0xf8 {
            for (address, value) in IQK_RESULTS {
                memory.set_u32(address, value);
            }
        }
    }

    fn write(&mut self, address: u8, value: u32) {
        // LC calibration ends before a driver has waited its 100 ms (rtl8723a_phy_lc_calibrate).
        let value = if address == MODE_AG { value & !LC_CALIBRATION } else { value };
        if let Some(slot) = self.registers.get_mut(usize::from(address)) {
            *slot = value;
        }
    }

    fn register(&self, address: u8) -> u32 {
        self.registers.get(usize::from(address)).copied().unwrap_or(0)
    }

    /// Number of the (primary) channel that it is tuned to. In 40 MHz the RF register has the centre, and the baseband says
    /// on which side of it the primary channel is.
    pub fn channel(&self, memory: &Memory) -> u8 {
        let tuned = (self.register(MODE_AG) & 0xff) as u8;
        if !self.is_40mhz(memory) {
            tuned
        } else if memory.u32(reg::OFDM1_LSTF) & reg::OFDM1_LSTF_PRIMARY_LOW != 0 {
            tuned.saturating_sub(HALF_CHANNELS)
        } else {
            tuned.saturating_add(HALF_CHANNELS)
        }
    }

    /// Whether RF and baseband are both set to 40 MHz.
    pub fn is_40mhz(&self, memory: &Memory) -> bool {
        self.register(MODE_AG) & MODE_AG_BANDWIDTH == self.wide
            && memory.u8(reg::FPGA0_RF_MODE) & reg::FPGA0_RF_MODE_40MHZ != 0
    }
}
