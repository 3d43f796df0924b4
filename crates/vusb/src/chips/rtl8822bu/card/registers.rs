//! Registers of the bus, as Linux' drivers/net/wireless/realtek/rtw88/sdio.h names them without `REG_SDIO_`, and what else is behind
//! an address. Multi-byte registers are little endian.

/// Which interrupts reach the host (`HIMR`).
pub const MASK: u16 = 0x0014;
/// Which there are (`HISR`); a one that is written clears it.
pub const STATUS: u16 = 0x0018;
/// Bit of both: something was received. It stays as long as something waits: the driver does not clear it.
pub const RECEIVED: u32 = 1 << 0;
/// Bit of both: a frame was lost: there was no room for it, or DMA was off (`TXFOVW`).
pub const OVERFLOW: u32 = 1 << 4;
/// Bit of both: a power state is confirmed (`CPWM1`).
pub const POWER_CONFIRMED: u32 = 1 << 18;
/// Bytes that can be read next (`RX0_REQ_LEN`), 32 bits: the driver of this generation reads them all.
pub const RECEIVED_LEN: u16 = 0x001c;
/// Free pages of the packet buffer (`FREE_TXPG`), bits 11:0 and 27:16 of three words: of the high and the normal place, of the low
/// one and of all, of the extra one.
pub const FREE_PAGES: u16 = 0x0020;
/// Bytes of [`FREE_PAGES`].
pub const FREE_PAGES_LEN: u16 = 12;
/// A confirmed power state (`HCPWM1_V2`), and the request (`HRPWM1`): bit 7 is toggled.
pub const POWER_STATE: u16 = 0x0038;
/// See [`POWER_STATE`].
pub const POWER_REQUEST: u16 = 0x0080;
/// Access to a register of the MAC by two registers here (`INDIRECT_REG_CFG`): bits 15:0 which, and what follows.
pub const INDIRECT: u16 = 0x0040;
/// Third byte of [`INDIRECT`]: two bytes; four bytes; write; read.
pub const INDIRECT_WORD: u8 = 1 << 0;
/// See [`INDIRECT_WORD`].
pub const INDIRECT_DOUBLE: u8 = 1 << 1;
/// See [`INDIRECT_WORD`].
pub const INDIRECT_WRITE: u8 = 1 << 2;
/// See [`INDIRECT_WORD`].
pub const INDIRECT_READ: u8 = 1 << 3;
/// It is done: the driver waits for it.
pub const INDIRECT_DONE: u8 = 1 << 4;
/// Its data (`INDIRECT_REG_DATA`).
pub const INDIRECT_DATA: u16 = 0x0044;
/// Suspend (`HSUS_CTRL`).
pub const SUSPEND: u16 = 0x0086;
/// Bit of [`SUSPEND`]: the host wants it (`HCI_SUS_REQ`).
pub const SUSPEND_REQUEST: u8 = 1 << 0;
/// Bit of [`SUSPEND`]: the bus works (`HCI_RESUME_RDY`).
pub const RESUMED: u8 = 1 << 1;

/// What is behind an address of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// A register of the bus.
    Bus(u16),
    /// A register of the MAC.
    Mac(u16),
    /// What comes from the host.
    FromHost {
        /// Its bytes at most: the address has its length in words. What is written beyond them fills a block.
        len: usize,
    },
    /// What was received.
    ToHost,
    /// Nothing that a driver asks for.
    Nothing,
}

/// What is behind an address: bits 16:13 say of what it is (`CMD_ADDR_MSK`). The four queues of pages are 4 high, 5 normal, 6 low,
/// 7 extra; a frame goes where its descriptor says, so it does not matter here which one the driver takes.
pub const fn behind(address: u32, writes: bool) -> Behind {
    match (address >> 13 & 0x0f, writes) {
        (0, _) => Behind::Bus((address & 0x0fff) as u16),
        (8.., _) => Behind::Mac((address & 0xffff) as u16),
        (4..=7, true) => Behind::FromHost { len: 4 * (address & 0x1fff) as usize },
        (7, false) => Behind::ToHost,
        _ => Behind::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sdio.c, rtw_sdio_to_bus_offset, rtw_sdio_get_tx_addr; sdio.h, RTW_SDIO_ADDR_RX_RX0FF_GEN.
    #[test]
    fn addresses_say_what_they_are_of() {
        assert_eq!(behind(0x0_0014, true), Behind::Bus(MASK));
        assert_eq!([0x1_0100, 0x1_fe58].map(|at| behind(at, false)), [Behind::Mac(0x0100), Behind::Mac(0xfe58)]);
        for queue in 4..=7 {
            assert_eq!(behind(queue << 13 | 26, true), Behind::FromHost { len: 104 });
        }
        assert_eq!([0x0_e000, 0x0_e003].map(|at| behind(at, false)), [Behind::ToHost; 2]);
        assert_eq!([0x0_8000, 0x0_2000].map(|at| behind(at, false)), [Behind::Nothing; 2]);
    }
}
