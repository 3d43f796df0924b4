//! What makes up the rest of the chip's management: power, link table, DMA.

use super::efuse::Efuse;
use super::model::Model;
use super::registers as reg;
use crate::chips::realtek::efuse;
use crate::chips::realtek::memory::{Memory, Touched};

/// What registers are when power comes.
pub fn cold_start(memory: &mut Memory, model: Model) {
    *memory = Memory::default();
    memory.set_u8(reg::CR, reg::CR_OFF);
    // rtlwifi starts the firmware without enabling the 8051: it is enabled.
    memory.set_u8(reg::SYS_FUNC + 1, reg::SYS_FUNC_CPU_ENABLE);
    memory.set_u8(reg::REG_9346CR, reg::REG_9346CR_AUTOLOAD);
    memory.set_u8(reg::APS_FSMCO, reg::APS_FSMCO_PFM_ALDN);
    memory.set_u8(reg::APS_FSMCO + 2, reg::APS_FSMCO_WLON);
    // High queue on endpoint 2, normal queue on endpoint 3.
    memory.set_u8(reg::NORMAL_SIE_EP_TX, 0x32);
    memory.set_u32(reg::SYS_CFG, model.sys_cfg());
    if model == Model::Rtl8723au {
        memory.set_u32(reg::MULTI_FUNC_CTRL, reg::MULTI_WIFI_FUNC_ENABLE);
    }
}

/// Registers of the MAC that answer a write at once.
pub fn written(memory: &mut Memory, touched: Touched, efuse: &Efuse) {
    if touched.has(reg::APS_FSMCO) || touched.has(reg::APS_FSMCO + 1) {
        memory.change(reg::APS_FSMCO + 1, reg::APS_FSMCO_MAC_SWITCHES, 0);
        memory.change(reg::APS_FSMCO, 0, reg::APS_FSMCO_PFM_ALDN);
        memory.change(reg::APS_FSMCO + 2, 0, reg::APS_FSMCO_WLON);
    }
    efuse::written(memory, touched, |address| efuse.byte(address));
    if touched.has(reg::LLT_INIT + 3) {
        // The operation is done: bits 31:30 are zero again (rtl8xxxu_llt_write polls for it).
        memory.change(reg::LLT_INIT + 3, 0xc0, 0);
    }
    if touched.has(reg::RXPKT_NUM + 2) && memory.u8(reg::RXPKT_NUM + 2) & 0x04 != 0 {
        memory.change(reg::RXPKT_NUM + 2, 0, 0x02);
    }
    if touched.has(reg::APSD_CTRL) && memory.u8(reg::APSD_CTRL) & 0x40 == 0 {
        memory.change(reg::APSD_CTRL, 0x80, 0);
    }
}
