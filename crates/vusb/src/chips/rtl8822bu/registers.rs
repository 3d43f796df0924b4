//! Register addresses and bits, as Linux' drivers/net/wireless/realtek/rtw88/reg.h names them, unless another file is named.
//! Multi-byte registers are little endian.

pub use crate::chips::realtek::efuse::EFUSE_CTRL;
pub use crate::chips::realtek::power::{BCN_PSR_RPT, BSSID, MACID};
pub use crate::chips::realtek::queues::TXPAUSE;

/// Function enables of the system.
pub const SYS_FUNC_EN: u16 = 0x0002;
/// Second byte of [`SYS_FUNC_EN`]: the CPU runs (BIT_FEN_CPUEN).
pub const CPU_ENABLE: u8 = 0x04;
/// Power state machine.
pub const SYS_PW_CTRL: u16 = 0x0004;
/// Byte 1: switch the MAC on (bit 0), or off (bit 1); the chip clears both when done.
pub const MAC_ON: u8 = 0x01;
/// See [`MAC_ON`].
pub const MAC_OFF: u8 = 0x02;
/// Byte 2: the power supply is up (rtw8822b.c, trans_cardemu_to_act_8822b polls for it).
pub const POWER_READY: u8 = 0x02;
/// Firmware download and state.
pub const MCUFW_CTRL: u16 = 0x0080;
/// Byte 0 of [`MCUFW_CTRL`]: download enabled.
pub const FW_DL_ENABLE: u8 = 0x01;
/// Bits of [`MCUFW_CTRL`] that the driver sets: both memories are loaded, and their checksums are right.
pub const FW_CHECKSUMS_OK: u16 = 1 << 4 | 1 << 6;
/// The driver says that the firmware may start (BIT_FW_DW_RDY).
pub const FW_READY: u16 = 1 << 14;
/// The firmware has initialised (BIT_FW_INIT_RDY).
pub const FW_INITIALISED: u16 = 1 << 15;
/// What chip it is: bits 15:12 its version, bit 27 two antennas (BIT_RF_TYPE_ID).
pub const SYS_CFG1: u16 = 0x00f0;
/// Enables of the MAC's blocks, and in bits 17:16 whether it has a network.
pub const CR: u16 = 0x0100;
/// MAC transmitter and receiver are on.
pub const CR_MAC_TX_RX: u8 = 0xc0;
/// DMA brings something from the host (BIT_HCI_TXDMA_EN).
pub const CR_FROM_HOST: u8 = 1 << 0;
/// DMA brings something to the host (BIT_HCI_RXDMA_EN).
pub const CR_TO_HOST: u8 = 1 << 1;
/// Value while the MAC is not powered (mac.c, rtw_mac_power_switch).
pub const CR_OFF: u8 = 0xea;
/// The queues' places in the packet buffer, two bits each: 4 voice, 6 video, 8 best effort, 10 background, 12 management, 14 high;
/// and in byte 0 what receive DMA does.
pub const TXDMA_PQ_MAP: u16 = 0x010c;
/// Bit of byte 0 of [`TXDMA_PQ_MAP`]: receive aggregation (BIT_RXDMA_AGG_EN).
pub const RX_AGGREGATION: u8 = 0x04;
/// Boundary of the receive buffer.
pub const RXFF_BNDY: u16 = 0x011c;
/// A report of the firmware that is read here: its number, a count, what it says.
pub const C2HEVT: u16 = 0x01a0;
/// Which mailboxes are full, bits 3:0.
pub const HMETFR: u16 = 0x01cc;
/// Mailboxes to the firmware: four of four bytes.
pub const HMEBOX0: u16 = 0x01d0;
/// Their extensions: four of four bytes.
pub const HMEBOX0_EX: u16 = 0x01f0;
/// Page of the packet buffer at which the beacon queue writes, bits 11:0; bit 15: it has. Writing a one clears that.
pub const FIFOPAGE_CTRL_2: u16 = 0x0204;
/// Second byte of [`FIFOPAGE_CTRL_2`]: the page has been written (BIT_BCN_VALID_V1).
pub const BEACON_VALID: u8 = 0x80;
/// Linked list of the packet buffer's pages: bit 0 makes it; cleared when done.
pub const AUTO_LLT_V1: u16 = 0x0208;
/// Bit of the last byte of RQPN_CTRL_2: the numbers of pages count from now on (BIT_LD_RQPN).
pub const RQPN_CTRL_2: u16 = 0x022c;
/// See [`RQPN_CTRL_2`].
pub const LOAD_PAGES: u8 = 0x80;
/// Pages of the packet buffer: of the high, low, normal and extra place, and of all. Lower half what is reserved, upper half what
/// is free.
pub const FIFOPAGE_INFO_1: u16 = 0x0230;
/// Receive aggregation: byte 0 threshold, byte 1 timeout; bit 7 of byte 3 was seen to be cleared only.
pub const RXDMA_AGG_PG_TH: u16 = 0x0280;
/// Rate fallback of data frames: one byte for each retry, the first to the eighth.
pub const DARFRC: u16 = 0x0430;
/// Rates of control responses, bits 11:0.
pub const RRSR: u16 = 0x0440;
/// Longest A-MPDU in time.
pub const AMPDU_MAX_TIME_V1: u16 = 0x0455;
/// Which part of a wide channel is the primary one: bits 3:0 (main.h, RTW_SC_20_*).
pub const DATA_SC: u16 = 0x0483;
/// Most MPDUs of an A-MPDU.
pub const MAX_AGGR_NUM: u16 = 0x04ca;
/// Timing synchronisation function, 64 bits, us (the first generation's address; rtw88 does not read it).
pub const TSFTR: u16 = 0x0560;
/// Byte 0, bit 7: frames have the power management bit (BIT_PWRMGT_HWDATA_EN).
pub const TCR: u16 = 0x0604;
/// See [`TCR`].
pub const POWER_MANAGEMENT: u8 = 0x80;
/// The receive filter.
pub const RCR: u16 = 0x0608;
/// State of the receiver before each received frame, in 8 bytes.
pub const RX_DRVINFO_SZ: u16 = 0x060f;
/// Which management subtypes are received; control; data.
pub const RXFLTMAP0: u16 = 0x06a0;
/// See [`RXFLTMAP0`].
pub const RXFLTMAP1: u16 = 0x06a2;
/// See [`RXFLTMAP0`].
pub const RXFLTMAP2: u16 = 0x06a4;
/// Writing an RF register of path A or B: bits 27:20 address, 19:0 data (rtw8822b.c, rf_sipi_addr).
pub const RF_WRITE: [u16; 2] = [0x0c90, 0x0e90];
/// Where the RF registers of path A and B are read, and can be written, too: four bytes each (rtw8822b.c, rf_base_addr).
pub const RF_DIRECT: [u16; 2] = [0x2800, 0x2c00];
/// DMA between the packet buffer and the CPU's memories: source, destination, control.
pub const DDMA_CH0SA: u16 = 0x1200;
/// See [`DDMA_CH0SA`].
pub const DDMA_CH0DA: u16 = 0x1204;
/// See [`DDMA_CH0SA`]; bits 17:0 length, and the following.
pub const DDMA_CH0CTRL: u16 = 0x1208;
/// It goes on; cleared when done.
pub const DDMA_OWN: u32 = 1 << 31;
/// The checksum was wrong.
pub const DDMA_CHECKSUM_WRONG: u32 = 1 << 27;
/// To the host, not to a memory.
pub const DDMA_MODE: u32 = 1 << 26;
/// Forgets what the checksum was.
pub const DDMA_RESET_CHECKSUM: u32 = 1 << 25;
/// What follows belongs to the same checksum.
pub const DDMA_CONTINUED: u32 = 1 << 24;
/// Access to the registers of coexistence with LTE: bit 29 ready, 31 begin, 30 write, bits 15:0 register; data to write, and read.
pub const LTECOEX_CTRL: u16 = 0x1700;
/// See [`LTECOEX_CTRL`].
pub const LTECOEX_WRITE: u16 = 0x1704;
/// See [`LTECOEX_CTRL`].
pub const LTECOEX_READ: u16 = 0x1708;
/// Last byte of [`LTECOEX_CTRL`]: ready.
pub const LTECOEX_READY: u8 = 0x20;
/// A request for a power state, and its confirmation: bit 7 is toggled (main.c, rtw_chip_parameter_setup).
pub const RPWM: u16 = 0xfe58;
/// See [`RPWM`].
pub const CPWM: u16 = 0xfe57;

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
    /// State of the receiver before the frame.
    pub const APPEND_PHYSTAT: u32 = 1 << 28;
    /// Frame check sequence after the frame.
    pub const APPEND_FCS: u32 = 1 << 31;
}
