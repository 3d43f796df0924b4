//! Arguments and responses of commands.

/// Numbers of commands.
pub mod number {
    /// GO_IDLE_STATE.
    pub const GO_IDLE_STATE: u8 = 0;
    /// SEND_RELATIVE_ADDR.
    pub const SEND_RELATIVE_ADDR: u8 = 3;
    /// IO_SEND_OP_COND.
    pub const IO_SEND_OP_COND: u8 = 5;
    /// SELECT_CARD.
    pub const SELECT_CARD: u8 = 7;
    /// IO_RW_DIRECT.
    pub const IO_RW_DIRECT: u8 = 52;
    /// IO_RW_EXTENDED.
    pub const IO_RW_EXTENDED: u8 = 53;
}

/// Bits of a register address.
const ADDRESS: u32 = 0x1_ffff;
/// Largest byte or block count of CMD53.
pub const COUNT_MAX: u16 = 0x1ff;
/// Bytes that a byte count of 0 stands for (table 5-3).
const BYTES_OF_0: usize = 512;

/// The argument of CMD52, IO_RW_DIRECT (5.1): one register is read, written, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direct {
    /// Writes the register.
    pub write: bool,
    /// Function number, 0 to 7.
    pub function: u8,
    /// The response has what the register reads after the write.
    pub read_after_write: bool,
    /// Register address, 17 bits.
    pub address: u32,
    /// What is written.
    pub data: u8,
}

impl Direct {
    /// From an argument; every argument has a meaning.
    pub const fn parse(argument: u32) -> Self {
        Self {
            write: argument >> 31 & 1 == 1,
            function: (argument >> 28 & 7) as u8,
            read_after_write: argument >> 27 & 1 == 1,
            address: argument >> 9 & ADDRESS,
            data: argument as u8,
        }
    }

    /// The argument. Of function and address the bits that fit are taken.
    pub const fn emit(&self) -> u32 {
        (self.write as u32) << 31
            | (self.function as u32 & 7) << 28
            | (self.read_after_write as u32) << 27
            | (self.address & ADDRESS) << 9
            | self.data as u32
    }
}

/// The argument of CMD53, IO_RW_EXTENDED (5.3): bytes or blocks are read or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extended {
    /// Writes to the card.
    pub write: bool,
    /// Function number, 0 to 7.
    pub function: u8,
    /// `count` is in blocks of the function's block size.
    pub block_mode: bool,
    /// The address goes up with every byte; else every byte goes to one register.
    pub incrementing: bool,
    /// Address of the first register, 17 bits.
    pub address: u32,
    /// Bytes or blocks, 0 to [`COUNT_MAX`]; see [`Self::len`].
    pub count: u16,
}

impl Extended {
    /// From an argument; every argument has a meaning.
    pub const fn parse(argument: u32) -> Self {
        Self {
            write: argument >> 31 & 1 == 1,
            function: (argument >> 28 & 7) as u8,
            block_mode: argument >> 27 & 1 == 1,
            incrementing: argument >> 26 & 1 == 1,
            address: argument >> 9 & ADDRESS,
            count: argument as u16 & COUNT_MAX,
        }
    }

    /// The argument. Of function, address and count the bits that fit are taken.
    pub const fn emit(&self) -> u32 {
        (self.write as u32) << 31
            | (self.function as u32 & 7) << 28
            | (self.block_mode as u32) << 27
            | (self.incrementing as u32) << 26
            | (self.address & ADDRESS) << 9
            | (self.count & COUNT_MAX) as u32
    }

    /// Bytes of the data, with blocks of `block_bytes`. `None`: blocks without end, until the host aborts (table 5-3).
    pub fn len(&self, block_bytes: u16) -> Option<usize> {
        match (self.block_mode, self.count) {
            (true, 0) => None,
            (true, blocks) => Some(usize::from(blocks) * usize::from(block_bytes)),
            (false, 0) => Some(BYTES_OF_0),
            (false, bytes) => Some(usize::from(bytes)),
        }
    }
}

/// R4 (3.3), what a card answers to CMD5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatingConditions {
    /// The card is ready.
    pub ready: bool,
    /// I/O functions, 0 to 7.
    pub functions: u8,
    /// There is memory, too.
    pub memory: bool,
    /// Voltages that it takes, 24 bits: bit 8 is 2.0 to 2.1 V, bit 23 is 3.5 to 3.6 V.
    pub voltages: u32,
}

impl OperatingConditions {
    /// From a response.
    pub const fn parse(response: u32) -> Self {
        Self {
            ready: response >> 31 & 1 == 1,
            functions: (response >> 28 & 7) as u8,
            memory: response >> 27 & 1 == 1,
            voltages: response & 0x00ff_ffff,
        }
    }

    /// The response.
    pub const fn emit(&self) -> u32 {
        (self.ready as u32) << 31
            | (self.functions as u32 & 7) << 28
            | (self.memory as u32) << 27
            | self.voltages & 0x00ff_ffff
    }
}

/// What R5 says of a command (table 5-2).
pub mod flag {
    /// COM_CRC_ERROR: the command before had a wrong CRC.
    pub const COM_CRC_ERROR: u8 = 0x80;
    /// ILLEGAL_COMMAND: the card does not take this command in its state.
    pub const ILLEGAL_COMMAND: u8 = 0x40;
    /// IO_CURRENT_STATE: CMD (the card is selected, and no data are under way).
    pub const STATE_CMD: u8 = 0x10;
    /// ERROR: another one.
    pub const ERROR: u8 = 0x08;
    /// FUNCTION_NUMBER: there is no such function.
    pub const FUNCTION_NUMBER: u8 = 0x02;
    /// OUT_OF_RANGE: the argument is not one that the card allows.
    pub const OUT_OF_RANGE: u8 = 0x01;
    /// What makes Linux refuse the response (include/linux/mmc/sdio.h, R5_STATUS without the state).
    pub const ERRORS: u8 = COM_CRC_ERROR | ILLEGAL_COMMAND | ERROR | FUNCTION_NUMBER | OUT_OF_RANGE;
}

/// R5 (5.2), what a card answers to CMD52 and CMD53.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response5 {
    /// See [`flag`].
    pub flags: u8,
    /// What was read.
    pub data: u8,
}

impl Response5 {
    /// From a response.
    pub const fn parse(response: u32) -> Self {
        Self { flags: (response >> 8) as u8, data: response as u8 }
    }

    /// The response.
    pub const fn emit(&self) -> u32 {
        (self.flags as u32) << 8 | self.data as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arguments_as_linux_makes_them() {
        // Reset of the card's I/O: CMD52, write 0x08 to register 6 of function 0 (drivers/mmc/core/sdio_ops.c, sdio_reset).
        let reset = Direct { write: true, address: 6, data: 8, ..Direct::default() };
        assert_eq!(reset.emit(), 0x8000_0c08);
        // Two blocks to the end of the extended mailbox of an AR6003.
        let write =
            Extended { write: true, function: 1, block_mode: true, incrementing: true, address: 0x6f00, count: 2 };
        assert_eq!(write.emit(), 0x9cde_0002);
        assert_eq!(write.len(128), Some(256));
        assert_eq!(Extended::parse(0).len(128), Some(512));
        assert_eq!(Extended { block_mode: true, ..Extended::default() }.len(128), None);
        let ready = OperatingConditions { ready: true, functions: 1, memory: false, voltages: 0x00ff_8000 };
        assert_eq!(ready.emit(), 0x90ff_8000);
    }

    proptest! {
        #[test]
        fn every_argument_comes_back(argument: u32) {
            // Bit 8 of CMD52 and bits 26 to 24 of R4 are stuff bits.
            prop_assert_eq!(Direct::parse(argument).emit(), argument & !0x0400_0100);
            prop_assert_eq!(Extended::parse(argument).emit(), argument);
            prop_assert_eq!(OperatingConditions::parse(argument).emit(), argument & !0x0700_0000);
            prop_assert_eq!(Response5::parse(argument).emit(), argument & 0xffff);
        }
    }
}
