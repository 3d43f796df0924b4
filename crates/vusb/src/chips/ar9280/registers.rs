//! Registers and their bits that the chip does something with (Linux drivers/net/wireless/ath/ath9k/reg.h, ath/reg.h). The others
//! keep what was written to them.

/// Queues of frames: a QCU and the DCU of the same number (mac.h, ATH9K_NUM_TX_QUEUES).
pub const QUEUES: usize = 10;

// DMA and interrupts.
pub const CR: u32 = 0x0008;
pub const RXDP: u32 = 0x000c;
pub const IER: u32 = 0x0024;
pub const RIMT: u32 = 0x002c;
pub const ISR: u32 = 0x0080;
pub const ISR_S0: u32 = 0x0084;
pub const ISR_S1: u32 = 0x0088;
pub const ISR_S2: u32 = 0x008c;
pub const ISR_S3: u32 = 0x0090;
pub const ISR_S4: u32 = 0x0094;
pub const ISR_S5: u32 = 0x0098;
pub const IMR: u32 = 0x00a0;
pub const IMR_S0: u32 = 0x00a4;
pub const IMR_S1: u32 = 0x00a8;
pub const IMR_S2: u32 = 0x00ac;
pub const IMR_S5: u32 = 0x00b8;

/// CR: the receiver is to read on at its descriptors; to stop.
pub const CR_RXE: u32 = 1 << 2;
pub const CR_RXD: u32 = 1 << 5;

pub const ISR_RXOK: u32 = 1 << 0;
pub const ISR_RXEOL: u32 = 1 << 4;
pub const ISR_RXORN: u32 = 1 << 5;
pub const ISR_TXOK: u32 = 1 << 6;
pub const ISR_TXDESC: u32 = 1 << 7;
pub const ISR_TXERR: u32 = 1 << 8;
pub const ISR_TXEOL: u32 = 1 << 10;
pub const ISR_SWBA: u32 = 1 << 16;
pub const ISR_BCNMISC: u32 = 1 << 23;
pub const ISR_RXMINTR: u32 = 1 << 24;
pub const ISR_GENTMR: u32 = 1 << 28;
pub const ISR_RXINTM: u32 = 1 << 31;
/// ISR_S0: queues with a frame that went well, with a descriptor that asked for an interrupt; ISR_S1: with an error, at their end.
pub const LOW_QUEUES: u32 = 0x03ff;
pub const HIGH_QUEUES: u32 = 0x03ff << 16;
/// ISR_S2: the time of a beacon.
pub const S2_TBTT: u32 = 1 << 31;

// Queues.
pub const Q_TXDP: u32 = 0x0800;
pub const Q_TXE: u32 = 0x0840;
pub const Q_TXD: u32 = 0x0880;
pub const Q_RDYTIMECFG: u32 = 0x0900;
pub const Q_MISC: u32 = 0x09c0;
pub const Q_STS: u32 = 0x0a00;
pub const D_LCL_IFS: u32 = 0x1040;
pub const D_RETRY_LIMIT: u32 = 0x1080;
pub const D_CHNTIME: u32 = 0x10c0;
/// How long a queue may go on sending, in µs, and whether it may.
pub const CHNTIME_DURATION: u32 = 0x000f_ffff;
pub const CHNTIME_EN: u32 = 1 << 20;
/// Ready time: its duration in µs, and whether it counts.
pub const RDYTIME_DURATION: u32 = 0x00ff_ffff;
pub const RDYTIME_EN: u32 = 1 << 24;
/// What begins the turn of a queue: 2, the DMA beacon alert.
pub const MISC_POLICY: u32 = 0x0f;
pub const POLICY_BEACON_ALERT: u32 = 2;
/// Its frames are beacons: they go before all others then.
pub const MISC_BEACON_USE: u32 = 1 << 7;

// The host interface.
pub const SREV: u32 = 0x4020;
pub const INTR_SYNC_CAUSE: u32 = 0x4028;
pub const INTR_ASYNC_CAUSE: u32 = 0x4038;
pub const INTR_ASYNC_ENABLE: u32 = 0x403c;
pub const EEPROM_STATUS_DATA: u32 = 0x407c;
/// The EEPROM's words, each as a register.
pub const EEPROM: u32 = 0x2000;
pub const EEPROM_END: u32 = 0x4000;
/// The interrupt of the MAC.
pub const MAC_IRQ: u32 = 1 << 1;

// The real-time clock: reset and sleep.
pub const RTC_RC: u32 = 0x7000;
pub const RTC_RESET: u32 = 0x7040;
pub const RTC_STATUS: u32 = 0x7044;
pub const RTC_FORCE_WAKE: u32 = 0x704c;
pub const RC_MAC_WARM: u32 = 1 << 0;
pub const RC_MAC_COLD: u32 = 1 << 1;
pub const STATUS_SHUTDOWN: u32 = 1;
pub const STATUS_ON: u32 = 2;
pub const STATUS_SLEEP: u32 = 4;
pub const WAKE_EN: u32 = 1 << 0;
pub const WAKE_ON_INT: u32 = 1 << 1;

// The protocol unit.
pub const STA_ID0: u32 = 0x8000;
pub const STA_ID1: u32 = 0x8004;
pub const BSS_ID0: u32 = 0x8008;
pub const USEC: u32 = 0x801c;
pub const RESET_TSF: u32 = 0x8020;
pub const RX_FILTER: u32 = 0x803c;
pub const DIAG_SW: u32 = 0x8048;
pub const TSF_L32: u32 = 0x804c;
pub const TSF_U32: u32 = 0x8050;
pub const OBS_BUS_1: u32 = 0x806c;
pub const BSS_MASK: u32 = 0x80e0;
pub const TFCNT: u32 = 0x80ec;
pub const RFCNT: u32 = 0x80f0;
pub const RCCNT: u32 = 0x80f4;
pub const CCCNT: u32 = 0x80f8;
pub const PCU_MISC: u32 = 0x8120;
pub const NEXT_TIMERS: u32 = 0x8200;
pub const TIMER_PERIODS: u32 = 0x8220;
pub const TIMER_MODE: u32 = 0x8240;
pub const SLP32_MODE: u32 = 0x8244;
/// The chip is the access point of the network; the network has none.
pub const STA_ID1_AP: u32 = 1 << 16;
pub const STA_ID1_ADHOC: u32 = 1 << 17;
/// RESET_TSF: the TSF begins again.
pub const RESET_TSF_ONCE: u32 = 1 << 24;
pub const DIAG_RX_DIS: u32 = 1 << 5;
/// The TSF is added to the timestamp that a frame has, not put in its place.
pub const MISC_ADD_TSF: u32 = 1 << 3;

// Counters that are clear after they were read, and those of the PHY's errors: nothing is counted.
pub const MIB: std::ops::RangeInclusive<u32> = 0x8088..=0x8098;
pub const PHY_ERRORS: [u32; 4] = [0x8124, 0x8128, 0x812c, 0x8134];

// Receive filter.
pub const FILTER_UNICAST: u32 = 1 << 0;
pub const FILTER_GROUP: u32 = 1 << 1 | 1 << 2;
pub const FILTER_CONTROL: u32 = 1 << 3;
pub const FILTER_BEACON: u32 = 1 << 4;
pub const FILTER_PROMISCUOUS: u32 = 1 << 5;
pub const FILTER_PROBE_REQUEST: u32 = 1 << 7;
pub const FILTER_MY_BEACON: u32 = 1 << 9;
pub const FILTER_BLOCK_ACK_REQUEST: u32 = 1 << 10;
pub const FILTER_PS_POLL: u32 = 1 << 14;

// Keys: 32 bytes each.
pub const KEYTABLE: u32 = 0x8800;
pub const KEYTABLE_END: u32 = 0x9800;

// The baseband.
pub const PHY_MODE: u32 = 0x9804;
pub const PHY_AGC_CONTROL: u32 = 0x9860;
pub const PHY_CCA: [u32; 2] = [0x9864, 0xa864];
pub const PHY_EXT_CCA: [u32; 2] = [0x99bc, 0xa9bc];
pub const PHY_SYNTH_CONTROL: u32 = 0x9874;
pub const PHY_TIMING_CTRL4: [u32; 2] = [0x9920, 0xa920];
pub const PHY_RFBUS_REQ: u32 = 0x997c;
pub const PHY_CHIP_ID: u32 = 0x9c00;
pub const PHY_RFBUS_GRANT: u32 = 0x9c20;
/// 40 MHz, and the primary channel is the lower one.
pub const MODE_40: u32 = 1 << 2;
pub const MODE_PRIMARY_LOW: u32 = 1 << 4;
/// A calibration of gain, one of the noise floor: done when they read 0.
pub const AGC_CALIBRATIONS: u32 = 3;
pub const IQ_CALIBRATION: u32 = 1 << 16;
