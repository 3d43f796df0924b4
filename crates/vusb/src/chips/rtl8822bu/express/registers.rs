//! Registers of the bus, as Linux' drivers/net/wireless/realtek/rtw88/pci.h names them. Multi-byte registers are little endian.

/// Which interrupts reach the host, and which there are (`RTK_PCI_HIMR0`, `RTK_PCI_HISR0` and their like); a one that is written
/// to the second clears it.
pub const INTERRUPTS: [(u16, u16); 4] = [(0x00b0, 0x00b4), (0x00b8, 0x00bc), (0x10b0, 0x10b4), (0x10b8, 0x10bc)];
/// The first of them: a frame, or a report, was received (`IMR_ROK`).
pub const RECEIVED: u32 = 1 << 0;
/// Bit of the first: there was no buffer for one (`IMR_RDU`).
pub const NO_BUFFER: u32 = 1 << 1;

/// Control of DMA (`RTK_PCI_CTRL`).
pub const CTRL: u16 = 0x0300;
/// DMA begins again, and with it the tags of buffers (`BIT_RST_TRXDMA_INTF`).
pub const RESET_DMA: u32 = 1 << 20;
/// Where the descriptor of the beacon queue's only buffer is (`RTK_PCI_TXBD_DESA_BCNQ`).
pub const BEACON_BASE: u16 = 0x0308;
/// In the word with [`RX_COUNT`]: the beacon queue's buffer is to be read (`RTK_PCI_TXBD_BCN_WORK`, `BIT_PCI_BCNQ_FLAG`).
pub const BEACON_WORK: u16 = 0x0383;
/// See [`BEACON_WORK`].
pub const BEACON_FLAG: u8 = 1 << 4;
/// Where the descriptors of buffers for received frames are (`RTK_PCI_RXBD_DESA_MPDUQ`).
pub const RX_BASE: u16 = 0x0338;
/// How many, bits 11:0 (`RTK_PCI_RXBD_NUM_MPDUQ`).
pub const RX_COUNT: u16 = 0x0382;
/// Bits 11:0 the one that the driver reads next, bits 27:16 the one that is written next (`RTK_PCI_RXBD_IDX_MPDUQ`).
pub const RX_INDEX: u16 = 0x03b4;
/// Sets indices to zero (`RTK_PCI_TXBD_RWPTR_CLR`). Which bit is for which, no driver says: it writes ones.
pub const CLEAR_INDICES: u16 = 0x039c;
/// Ports to registers of the link: data to write, and read, of the configuration space; how (`REG_DBI_WDATA_V1`, `REG_DBI_RDATA_V1`,
/// `REG_DBI_FLAG_V1`).
pub const DBI_WRITE: u16 = 0x03e8;
/// See [`DBI_WRITE`].
pub const DBI_READ: u16 = 0x03ec;
/// See [`DBI_WRITE`]: bits 11:2 the word, bits 15:12 which of its bytes are written.
pub const DBI_FLAG: u16 = 0x03f0;
/// Bit of [`DBI_FLAG`]: write; cleared when done (`BIT_DBI_WFLAG`).
pub const DBI_WRITES: u32 = 1 << 16;
/// Bit of [`DBI_FLAG`]: read; cleared when done (`BIT_DBI_RFLAG`).
pub const DBI_READS: u32 = 1 << 17;
/// Access to the link's physical layer (`REG_PCIE_MIX_CFG`).
pub const MDIO_FLAG: u16 = 0x03f8;
/// Bit of [`MDIO_FLAG`]: write; cleared when done (`BIT_MDIO_WFLAG_V1`).
pub const MDIO_WRITES: u32 = 1 << 5;
/// Sets the indices of commands to zero (`RTK_PCI_TXBD_H2CQ_CSR`).
pub const COMMANDS_CONTROL: u16 = 0x1330;
/// Bit of [`COMMANDS_CONTROL`]: clear the driver's index (`BIT_CLR_H2CQ_HOST_IDX`).
pub const CLEAR_DRIVERS: u32 = 1 << 16;
/// Bit of [`COMMANDS_CONTROL`]: clear the chip's index (`BIT_CLR_H2CQ_HW_IDX`).
pub const CLEAR_CHIPS: u32 = 1 << 8;

/// A ring of frames to the air, or of commands to the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Where its descriptors are.
    pub base: u16,
    /// How many, bits 11:0.
    pub count: u16,
    /// Bits 11:0 the one that the driver writes next, bits 27:16 the one that is read next.
    pub index: u16,
    /// Which interrupt says that descriptors were read: number of the register, and bit.
    pub done: (usize, u32),
}

const fn ring(base: u16, count: u16, index: u16, done: (usize, u32)) -> Ring {
    Ring { base, count, index, done }
}

/// Commands.
pub const COMMANDS: Ring = ring(0x1320, 0x1328, 0x132c, (3, 16));

/// All: voice, video, best effort, background, management, groups, commands.
pub const RINGS: [Ring; 7] = [
    ring(0x0318, 0x0384, 0x03a0, (0, 2)),
    ring(0x0320, 0x0386, 0x03a4, (0, 3)),
    ring(0x0328, 0x0388, 0x03a8, (0, 4)),
    ring(0x0330, 0x038a, 0x03ac, (0, 5)),
    ring(0x0310, 0x0380, 0x03b0, (0, 6)),
    ring(0x0340, 0x038c, 0x03b8, (0, 7)),
    COMMANDS,
];

/// The registers that are the bus's, and not the MAC's: they keep what is in them while that has no power (rtw88 sets up rings
/// before it switches the MAC on, main.c, rtw_power_on).
pub const PLACES: [std::ops::Range<u16>; 4] = [0x00b0..0x00c0, 0x0300..0x0400, 0x10b0..0x10c0, 0x1320..0x1334];
