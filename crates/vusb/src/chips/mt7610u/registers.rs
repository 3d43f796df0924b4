//! Registers that do more than keep what is written. Names and meanings as in Linux'
//! drivers/net/wireless/mediatek/mt76/mt76x02_regs.h, where no other file is named.

/// Kind and revision of the chip (MT_ASIC_VERSION).
pub const ASIC_VERSION: u32 = 0x0000;
/// Crystal and PLL, ready in bits 22 and 23 (MT_CMB_CTRL).
pub const CMB_CTRL: u32 = 0x0020;
pub(super) const CMB_READY: u32 = 3 << 22;
/// Efuse: address in 25:16, kick in bit 30, present in bit 31, and its data (MT_EFUSE_CTRL, MT_EFUSE_DATA).
pub const EFUSE_CTRL: u32 = 0x0024;
pub(super) const EFUSE_KICK: u32 = 1 << 30;
pub(super) const EFUSE_PRESENT: u32 = 1 << 31;
pub(super) const EFUSE_OUT: u32 = 0x3f;
/// First of four words (MT_EFUSE_DATA_BASE).
pub const EFUSE_DATA: u32 = 0x0028;
/// DMA, busy in bits 1 and 3 (MT_WPDMA_GLO_CFG).
pub const WPDMA_GLO_CFG: u32 = 0x0208;
pub(super) const WPDMA_BUSY: u32 = 1 << 1 | 1 << 3;
/// DMA of the USB end, busy in bits 30 and 31 (MT_USB_DMA_CFG).
pub const USB_DMA_CFG: u32 = 0x0238;
pub(super) const USB_DMA_BUSY: u32 = 3 << 30;
/// Several received frames in a transfer, if bit 21 is set: up to as many KiB as 15:8 says (MT_USB_DMA_CFG_RX_BULK_AGG_*;
/// mt7601u/mt7601u.h, MT_USB_AGGR_SIZE_LIMIT). mt76x0u switches it off (mt76x0/usb.c, mt76x0u_init_usb_dma).
pub(super) const RX_AGGREGATION: u32 = 1 << 21;
/// Where the templates of beacons are, a byte for each, in 64 bytes (MT_BCN_OFFSET).
pub const BCN_OFFSET: u32 = 0x041c;
/// RF registers before the MCU runs, of an MT7601U always: data 7:0, register 14:8, bank 17:15, write 30, kick 31 (mt76x0/phy.c,
/// mt76x0_rf_csr_wr; the bits of MT76x0's mt76x02_regs.h, MT_RF_CSR_CFG_*). An MT7601U has one bit less for the register.
pub const RF_CSR_CFG: u32 = 0x0500;
pub(super) const RF_WRITE: u32 = 1 << 30;
pub(super) const RF_KICK: u32 = 1 << 31;
/// 1: the MCU runs (MT_MCU_COM_REG0; mt76x0/mcu.h, mt76x0_firmware_running).
pub const COM_REG0: u32 = 0x0730;
/// Bit 31: the MCU has taken a part of the firmware (MT_MCU_COM_REG1; mt7601u/mcu.c, mt7601u_dma_fw, waits for it).
pub const COM_REG1: u32 = 0x0734;
pub(super) const TAKEN: u32 = 1 << 31;
/// Version of the MAC (MT_MAC_CSR0).
pub const MAC_CSR0: u32 = 0x1000;
/// Transmitter in bit 2, receiver in bit 3 (MT_MAC_SYS_CTRL).
pub const MAC_SYS_CTRL: u32 = 0x1004;
pub(super) const ENABLE_TX: u32 = 1 << 2;
pub(super) const ENABLE_RX: u32 = 1 << 3;
/// Own address (MT_MAC_ADDR_DW0 and DW1).
pub const MAC_ADDR: u32 = 0x1008;
/// Length of an A-MPDU at most in bits 13:12, from 8 KiB on (MT_MAX_LEN_CFG; rt2800.h, MAX_LEN_CFG_MAX_PSDU).
pub const MAX_LEN_CFG: u32 = 0x1018;
/// Registers of an MT7601U's baseband: value 7:0, register 15:8, read 16, busy 17 (mt7601u/regs.h, MT_BBP_CSR_CFG).
pub const BBP_CSR_CFG: u32 = 0x101c;
pub(super) const BBP_READ: u32 = 1 << 16;
pub(super) const BBP_BUSY: u32 = 1 << 17;
/// Length of an A-MPDU at most, a nibble for each MCS, 20 and 40 MHz (MT_AMPDU_MAX_LEN_20M1S, _40M1S).
pub const AMPDU_MAX_LEN_20: u32 = 0x1030;
/// The same for 40 MHz.
pub const AMPDU_MAX_LEN_40: u32 = 0x1038;
/// Stations with frames that are dropped, a bit for each (MT_WCID_DROP).
pub const WCID_DROP: u32 = 0x106c;
/// Templates of beacons that are not sent (MT_BCN_BYPASS_MASK).
pub const BCN_BYPASS_MASK: u32 = 0x108c;
/// Addresses of further networks, 8 of them (MT_MAC_APC_BSSID_L and _H).
pub const APC_BSSID: u32 = 0x1090;
/// Beacon interval in 1/16 TU, timer 16, TBTT 19, beacons 20 (MT_BEACON_TIME_CFG).
pub const BEACON_TIME_CFG: u32 = 0x1114;
pub(super) const BEACONS: u32 = 1 << 16 | 1 << 19 | 1 << 20;
/// The chip's timer, in microseconds (MT_TSF_TIMER_DW0, _DW1).
pub const TSF: u32 = 0x111c;
pub(super) const TSF_HIGH: u32 = TSF + 4;
/// Until the next beacon, in 32 us (MT_TBTT_TIMER).
pub const TBTT_TIMER: u32 = 0x1124;
/// Busy in bits 0 and 1 (MT_MAC_STATUS).
pub const MAC_STATUS: u32 = 0x1200;
/// Contention of best effort, background, video, voice: TXOP limit 7:0, AIFSN 11:8, exponents of the windows 15:12 and
/// 19:16 (MT_EDCA_CFG_AC).
pub const EDCA_CFG: u32 = 0x1300;
/// Threshold of RTS in bits 23:8 (MT_TX_RTS_CFG).
pub const TX_RTS_CFG: u32 = 0x1344;
/// Retries: short limit 7:0, long limit 15:8, the length from which on that counts 27:16, fallback of rates in bit 30
/// (MT_TX_RETRY_CFG; the fields are those of TX_RTY_CFG in rt2x00's rt2800.h, for the MAC that this one descends from).
pub const TX_RETRY_CFG: u32 = 0x134c;
pub(super) const AUTO_FALLBACK: u32 = 1 << 30;
/// The rate below each of HT and VHT MCS 0 to 7, a nibble for each (MT_VHT_HT_FBK_CFG0; rt2800.h, HT_FBK_CFG0).
pub const HT_FBK_CFG0: u32 = 0x1354;
/// The same for OFDM (numbered from 8) and CCK (from 0) (MT_LG_FBK_CFG0, _CFG1; rt2800.h, LG_FBK_CFG0).
pub const LG_FBK_CFG0: u32 = 0x135c;
/// The rates below those of CCK.
pub const LG_FBK_CFG1: u32 = 0x1360;
/// Protection of OFDM, of HT in 20 and in 40 MHz: rate 15:0, RTS or CTS 17:16, by threshold only 26 (MT_OFDM_PROT_CFG,
/// MT_MM20_PROT_CFG, MT_MM40_PROT_CFG).
pub const OFDM_PROT_CFG: u32 = 0x1368;
/// HT, 20 MHz.
pub const MM20_PROT_CFG: u32 = 0x136c;
/// HT, 40 MHz.
pub const MM40_PROT_CFG: u32 = 0x1370;
/// The same of VHT in 20, 40 and 80 MHz, one behind the other (MT_TX_PROT_CFG6 to 8).
pub const VHT_PROT_CFG: u32 = 0x13e0;
/// Band: 5 GHz in bit 1 (MT_TX_BAND_CFG).
pub const TX_BAND_CFG: u32 = 0x132c;
pub(super) const BAND_5GHZ: u32 = 1 << 1;
/// What is not handed on, a bit for each (MT_RX_FILTR_CFG).
pub const RX_FILTER: u32 = 0x1400;
pub(super) const DROP_OTHERS: u32 = 1 << 2;
pub(super) const DROP_MULTICAST: u32 = 1 << 5;
pub(super) const DROP_BROADCAST: u32 = 1 << 6;
pub(super) const DROP_PS_POLL: u32 = 1 << 13;
pub(super) const DROP_BLOCK_ACK_REQUEST: u32 = 1 << 15;
/// Legacy rates that answers use, CCK in bits 3:0, OFDM in 11:4 (MT_LEGACY_BASIC_RATE).
pub const LEGACY_BASIC_RATE: u32 = 0x1408;
/// Reports of transmission; reading takes one out (MT_TX_STAT_FIFO).
pub const TX_STAT_FIFO: u32 = 0x1718;
/// The rest of the next report, which stays (MT_TX_STAT_FIFO_EXT).
pub const TX_STAT_FIFO_EXT: u32 = 0x1798;
/// Addresses of stations, 8 bytes each: address, and a bit for each TID with a Block Ack that was agreed to (MT_WCID_ADDR).
pub const WCID_ADDR: u32 = 0x1800;
/// Version of the baseband (MT_BBP(CORE, 0)).
pub const BBP_VERSION: u32 = 0x2000;
/// Measurement of the temperature, busy in bit 4 (MT_BBP(CORE, 34)).
pub const BBP_TEMPERATURE: u32 = 0x2088;
pub(super) const BBP_TEMPERATURE_BUSY: u32 = 1 << 4;
/// Width in 14:12, side of the primary channel in 9:8 (MT_BBP(AGC, 0), MT_BBP_AGC_R0_BW, MT_BBP_AGC_R0_CTRL_CHAN).
pub const BBP_AGC0: u32 = 0x2300;
/// Keys of stations, 32 bytes each (MT_WCID_KEY).
pub const WCID_KEY: u32 = 0x8000;
/// The next headers of their ciphers, 8 bytes each (MT_WCID_IV).
pub const WCID_IV: u32 = 0xa000;
/// What their keys are for: cipher in 3:1 (MT_WCID_ATTR, MT_WCID_ATTR_PKEY_MODE).
pub const WCID_ATTR: u32 = 0xa800;
/// Keys of the first network's groups, 32 bytes each, and what they are for: a nibble for each (MT_SKEY_BASE_0,
/// MT_SKEY_MODE_BASE_0).
pub const GROUP_KEY: u32 = 0xac00;
/// Their ciphers.
pub const GROUP_KEY_MODE: u32 = 0xb000;
/// Templates of beacons (MT_BEACON_BASE).
pub const BEACON: u32 = 0xc000;
/// Bytes of them (mt76x02_usb_core.c: "Beacon SRAM memory is limited to 8kB").
pub const BEACON_LEN: u32 = 8_192;
