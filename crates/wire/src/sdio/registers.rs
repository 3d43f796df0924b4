//! Registers that every card has: CCCR (table 6-1) and FBR (table 6-3).

/// Format of CCCR and FBR, and revision of SDIO.
pub const REVISIONS: u32 = 0x00;
/// Revision of the SD physical layer.
pub const SD_REVISION: u32 = 0x01;
/// I/O Enable: a bit per function.
pub const IO_ENABLE: u32 = 0x02;
/// I/O Ready.
pub const IO_READY: u32 = 0x03;
/// Interrupt Enable: bit 0 is the master's.
pub const INTERRUPT_ENABLE: u32 = 0x04;
/// Interrupt Pending.
pub const INTERRUPT_PENDING: u32 = 0x05;
/// I/O Abort: bits 2:0 name the function with a transfer that ends, bit 3 resets.
pub const IO_ABORT: u32 = 0x06;
/// Bus Interface Control: width in bits 1:0.
pub const BUS_INTERFACE: u32 = 0x07;
/// Card Capability.
pub const CAPABILITY: u32 = 0x08;
/// Pointer to the common CIS, 3 bytes.
pub const CIS_POINTER: u32 = 0x09;
/// Block size of function 0, 2 bytes.
pub const BLOCK_SIZE: u32 = 0x10;
/// Bus Speed Select: bit 0 the card supports high speed, bits 3:1 what the host has chosen.
pub const BUS_SPEED: u32 = 0x13;
/// First register of vendors' own.
pub const VENDOR: u32 = 0xf0;

/// RES of [`IO_ABORT`].
pub const RESET: u8 = 0x08;
/// SMB of [`CAPABILITY`]: CMD53 with blocks.
pub const MULTI_BLOCK: u8 = 0x02;
/// S4MI of [`CAPABILITY`]: interrupts between blocks of 4 bits.
pub const INTERRUPT_4BIT: u8 = 0x10;
/// LSC of [`CAPABILITY`]: a low-speed card; it has four lines only where 4BLS (0x80) says so.
pub const LOW_SPEED: u8 = 0x40;
/// SHS of [`BUS_SPEED`].
pub const HIGH_SPEED_SUPPORTED: u8 = 0x01;
/// EHS of [`BUS_SPEED`].
pub const HIGH_SPEED: u8 = 0x02;
/// [`BUS_INTERFACE`] of 4 bits.
pub const WIDTH_4: u8 = 0x02;

/// Where the FBR of a function, 1 to 7, begins.
pub const fn fbr(function: u8) -> u32 {
    function as u32 * 0x100
}
