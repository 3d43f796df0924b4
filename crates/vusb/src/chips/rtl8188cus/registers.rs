//! Register addresses and bits of the chip's first generation (gen1: RTL8188C, RTL8192C, RTL8723A) and of the RTL8188E, as Linux'
//! drivers/net/wireless/realtek/rtl8xxxu/regs.h and rtlwifi/rtl8192cu/reg.h name them. Multi-byte registers are little
//! endian.
/// Function enables of the system; bit 10 starts the 8051.
pub const SYS_FUNC: u16 = 0x0002;
/// Second byte of [`SYS_FUNC`]: the 8051 runs.
pub const SYS_FUNC_CPU_ENABLE: u8 = 0x04;
/// Power state machine.
pub const APS_FSMCO: u16 = 0x0004;
/// Byte 0: the power supply is up (PFM_ALDN).
pub const APS_FSMCO_PFM_ALDN: u8 = 0x02;
/// Byte 1: switch the MAC on (bit 0) or off (bit 1); the chip clears both when done.
pub const APS_FSMCO_MAC_SWITCHES: u8 = 0x03;
/// Byte 2: power ready (RTL8723A).
pub const APS_FSMCO_WLON: u8 = 0x02;
/// Byte 0: EEPROM or efuse, autoload.
pub const REG_9346CR: u16 = 0x000a;
/// Bit 5: what was in efuse was loaded at reset (EEPROM_ENABLE).
pub const REG_9346CR_AUTOLOAD: u8 = 0x20;
/// RTL8723A: functions that the board has.
pub const MULTI_FUNC_CTRL: u16 = 0x0068;
/// Wi-Fi is one of them.
pub const MULTI_WIFI_FUNC_ENABLE: u32 = 1 << 2;
/// Firmware download and state.
pub const MCU_FW_DL: u16 = 0x0080;
/// Download enabled.
pub const FW_DL_ENABLE: u8 = 0x01;
/// The driver says that the firmware may start.
pub const FW_DL_READY: u8 = 0x02;
/// The checksum of the download is right.
pub const FW_DL_CHECKSUM: u8 = 0x04;
/// The firmware has initialised (MCU_WINT_INIT_READY).
pub const FW_INIT_READY: u8 = 0x40;
/// The 8051 runs from RAM (MCU_FW_RAM_SEL).
pub const FW_RAM_SELECT: u8 = 0x80;
/// Extension bytes of mailbox 0; two per mailbox.
pub const HMBOX_EXT_0: u16 = 0x0088;
/// What chip it is.
pub const SYS_CFG: u16 = 0x00f0;
/// Bit of [`SYS_CFG`]: there is Bluetooth, by which rtl8xxxu of Linux 6.1 identifies an RTL8723AU (rtl8xxxu_identify_chip).
pub const SYS_CFG_BT_FUNC: u32 = 1 << 16;
/// Where [`SYS_CFG`] has the version of the chip, four bits (rtl8xxxu regs.h, SYS_CFG_CHIP_VERSION_MASK).
pub const SYS_CFG_CUT_SHIFT: u32 = 12;
/// Enables of the MAC's blocks; 0xea as long as the MAC is off.
pub const CR: u16 = 0x0100;
/// MAC transmitter and receiver are on (bits 6 and 7).
pub const CR_MAC_TX_RX: u8 = 0xc0;
/// Value while the MAC is not powered.
pub const CR_OFF: u8 = 0xea;
/// DMA between packet buffers and USB; bit 2 of byte 0: receive aggregation.
pub const TRXDMA_CTRL: u16 = 0x010c;
/// Bit of [`TRXDMA_CTRL`].
pub const RX_AGGREGATION: u8 = 0x04;
/// Boundary of the receive buffer, in the upper half.
pub const TRXFF_BNDY: u16 = 0x0114;
/// Which mailboxes are full, bits 3:0.
pub const HMTFR: u16 = 0x01cc;
/// Byte 3 of [`HMTFR`]: asks the firmware to reset itself (rtlwifi rtl92c_firmware_selfreset).
pub const FIRMWARE_SELF_RESET: u8 = 0x20;
/// Mailboxes to the firmware: four of four bytes.
pub const HMBOX_0: u16 = 0x01d0;
/// Linked list table of the transmit packet buffer: bits 31:30 operation, 15:8 address, 7:0 data.
pub const LLT_INIT: u16 = 0x01e0;
/// Receive aggregation: byte 0 threshold in pages of 128 bytes, byte 1 timeout.
pub const RXDMA_AGG_PG_TH: u16 = 0x0280;
/// Byte 2: bit 2 asks receive DMA to stop, bit 1 says that it is idle.
pub const RXPKT_NUM: u16 = 0x0284;
/// Rate fallback of data frames: one byte for each retry, the first to the eighth.
pub const DARFRC: u16 = 0x0430;
/// Rate fallback of RTS, likewise.
pub const RARFRC: u16 = 0x0438;
/// Rates of control responses, bits 11:0.
pub const RESPONSE_RATE_SET: u16 = 0x0440;
/// Tables of rates that fallback may use, four of them; bit n is descriptor rate n.
pub const ARFR0: u16 = 0x0444;
/// Longest A-MPDU by rate, one nibble per MCS.
pub const AGGLEN_LMT: u16 = 0x0458;
/// First rate of data frames by station, one byte each: descriptor rate in bits 5:0, short guard interval in bit 6.
pub const INIDATA_RATE_SEL: u16 = 0x0484;
/// Most MPDUs of an A-MPDU.
pub const MAX_AGGR_NUM: u16 = 0x04ca;
/// RTL8188E: transmit reports; byte 0 switches them on, byte 1 is how many stations they have.
pub const TX_REPORT_CTRL: u16 = 0x04ec;
/// Byte 0 of [`TX_REPORT_CTRL`]: reports, and the timer of those over a time.
pub const TX_REPORT_ON: u8 = 0x03;
/// RTL8188E: time between two transmit reports, 32 us.
pub const TX_REPORT_TIME: u16 = 0x04f0;
/// Timing synchronisation function, 64 bits, us.
pub const TSFTR: u16 = 0x0560;
/// Bit 6 asks the MAC to stop beacon transmission; bit 7 follows (rtl8xxxu 8723a.c, power off).
pub const APSD_CTRL: u16 = 0x0600;
/// Bit 2: 20 MHz.
pub const BW_OPMODE: u16 = 0x0603;
/// The receive filter.
pub const RCR: u16 = 0x0608;
/// Driver information before each received frame, in 8 bytes.
pub const RX_DRVINFO_SZ: u16 = 0x060f;
pub use crate::chips::realtek::cam::{CAM_CMD, CAM_READ, CAM_WRITE};
pub use crate::chips::realtek::crypto::SECURITY_CFG;
pub use crate::chips::realtek::efuse::EFUSE_CTRL;
pub use crate::chips::realtek::power::{BCN_PSR_RPT, BSSID, MACID};
pub use crate::chips::realtek::queues::{RETRY_LIMIT, TXPAUSE};
/// Which management subtypes are received; control; data.
pub const RXFLTMAP0: u16 = 0x06a0;
/// See [`RXFLTMAP0`].
pub const RXFLTMAP1: u16 = 0x06a2;
/// See [`RXFLTMAP0`].
pub const RXFLTMAP2: u16 = 0x06a4;
/// Bandwidth of the baseband.
pub const FPGA0_RF_MODE: u16 = 0x0800;
/// Byte 0 of [`FPGA0_RF_MODE`]: 40 MHz.
pub const FPGA0_RF_MODE_40MHZ: u8 = 0x01;
/// Strobe for reading an RF register: bits 30:23 address, bit 31 edge.
pub const FPGA0_XA_HSSI_PARM2: u16 = 0x0824;
/// Writing an RF register: bits 27:20 address, 19:0 data.
pub const FPGA0_XA_LSSI_PARM: u16 = 0x0840;
/// See [`FPGA0_XA_LSSI_PARM`], path B.
pub const FPGA0_XB_LSSI_PARM: u16 = 0x0844;
/// What was read of the RF, serial interface.
pub const FPGA0_XA_LSSI_READBACK: u16 = 0x08a0;
/// What was read of the RF, parallel interface.
pub const HSPI_XA_READBACK: u16 = 0x08b8;
/// Long training field; in 40 MHz also which half is the primary channel.
pub const OFDM1_LSTF: u16 = 0x0d00;
/// Bit of [`OFDM1_LSTF`]: the primary channel is the lower half (OFDM_LSTF_PRIME_CH_LOW; bit 11 is the upper half).
pub const OFDM1_LSTF_PRIMARY_LOW: u32 = 1 << 10;
/// Start of I/Q calibration: the rising edge of bit 31..24 from 0xf9 to 0xf8.
pub const IQK_AGC_PTS: u16 = 0x0e48;
/// Results of I/Q calibration of path A.
pub const TX_POWER_BEFORE_IQK_A: u16 = 0x0e94;
/// See [`TX_POWER_BEFORE_IQK_A`].
pub const TX_POWER_AFTER_IQK_A: u16 = 0x0e9c;
/// See [`TX_POWER_BEFORE_IQK_A`].
pub const RX_POWER_BEFORE_IQK_A_2: u16 = 0x0ea4;
/// See [`TX_POWER_BEFORE_IQK_A`].
pub const RX_POWER_AFTER_IQK_A_2: u16 = 0x0eac;
/// Window for downloading firmware.
pub const FW_START: u16 = 0x1000;
/// Bytes of it.
pub const FW_PAGE: u16 = 0x1000;
/// Bulk OUT endpoints of the queues: bits 3:0 high, 7:4 normal, 11:8 low.
pub const NORMAL_SIE_EP_TX: u16 = 0xfe66;

/// Bits of [`RCR`].
pub mod rcr {
    /// Any unicast frame.
    pub const ACCEPT_ALL: u32 = 1 << 0;
    /// Unicast frames to the own address.
    pub const ACCEPT_MATCH: u32 = 1 << 1;
    /// Multicast frames.
    pub const ACCEPT_MULTICAST: u32 = 1 << 2;
    /// Broadcast frames.
    pub const ACCEPT_BROADCAST: u32 = 1 << 3;
    /// Data frames only of the own network.
    pub const CHECK_BSSID_DATA: u32 = 1 << 6;
    /// Beacons and probe responses only of the own network.
    pub const CHECK_BSSID_BEACON: u32 = 1 << 7;
    /// All data frames, whatever the filter map says.
    pub const ACCEPT_DATA: u32 = 1 << 11;
    /// All control frames.
    pub const ACCEPT_CONTROL: u32 = 1 << 12;
    /// All management frames.
    pub const ACCEPT_MANAGEMENT: u32 = 1 << 13;
    /// PHY status before the frame.
    pub const APPEND_PHYSTAT: u32 = 1 << 28;
    /// Frame check sequence after the frame.
    pub const APPEND_FCS: u32 = 1 << 31;
}
