//! CSR's SD host controller on USB, which takes SDIO cards (Linux drivers/mmc/host/ushc.c). Little endian.

/// Vendor and product.
pub const IDS: (u16, u16) = (0x0a12, 0x5d10);
/// Bulk endpoint of commands and of data to the card.
pub const BULK_OUT: u8 = 2;
/// Bulk endpoint of data from the card and of statuses.
pub const BULK_IN: u8 = 6;

/// Vendor requests to the device.
pub mod request {
    /// USHC_GET_CAPS: 4 bytes, see [`super::CAPABILITIES`].
    pub const GET_CAPABILITIES: u8 = 0;
    /// USHC_HOST_CTRL: the value has [`super::HIGH_SPEED`] and [`super::WIDTH_4`].
    pub const HOST_CONTROL: u8 = 1;
    /// USHC_PWR_CTRL: the value is 0 for off.
    pub const POWER: u8 = 2;
    /// USHC_CLK_FREQ: Hz, low half in the value, high half in the index; it has no answer.
    pub const CLOCK: u8 = 3;
    /// USHC_RESET.
    pub const RESET: u8 = 6;
}

/// Version 2, 3.3 V (bit 8), high speed (bit 16).
pub const CAPABILITIES: u32 = 0x0001_0102;
/// USHC_HOST_CTRL_HIGH_SPD.
pub const HIGH_SPEED: u16 = 0x01;
/// USHC_HOST_CTRL_4BIT.
pub const WIDTH_4: u16 = 0x02;

/// Bytes of an interrupt transfer: a status, three reserved ones.
pub const INTERRUPT: usize = 4;
/// USHC_INT_STATUS_CARD_PRESENT.
pub const CARD_PRESENT: u8 = 0x01;
/// USHC_INT_STATUS_SDIO_INT.
pub const CARD_INTERRUPT: u8 = 0x02;

/// A command for the card (`struct ushc_cbw`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommandBlock {
    /// Number of the command.
    pub number: u8,
    /// Bytes of a block of its data; 0: it has none.
    pub block_bytes: u16,
    /// Its argument.
    pub argument: u32,
}

impl CommandBlock {
    /// Bytes.
    pub const LEN: usize = 8;

    /// From a transfer of that length; `None`: it is not a command.
    pub fn parse(transfer: &[u8]) -> Option<Self> {
        let &[b'C', number, b0, b1, a0, a1, a2, a3] = transfer else { return None };
        let block_bytes = u16::from_le_bytes([b0, b1]);
        Some(Self { number, block_bytes, argument: u32::from_le_bytes([a0, a1, a2, a3]) })
    }

    /// The bytes.
    pub const fn emit(&self) -> [u8; Self::LEN] {
        let ([b0, b1], [a0, a1, a2, a3]) = (self.block_bytes.to_le_bytes(), self.argument.to_le_bytes());
        [b'C', self.number, b0, b1, a0, a1, a2, a3]
    }
}

/// What happened to a command (`struct ushc_csw`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StatusBlock {
    /// See [`error`].
    pub status: u8,
    /// What the card has answered.
    pub response: u32,
}

/// Bits of a status.
pub mod error {
    /// USHC_READ_RESP_ERR_CMD: the command got no answer, or a wrong one.
    pub const COMMAND: u8 = 0x01;
    /// USHC_READ_RESP_ERR_DAT: the data did not come whole.
    pub const DATA: u8 = 0x02;
    /// USHC_READ_RESP_ERR_CRC: because of a wrong CRC.
    pub const CRC: u8 = 0x04;
    /// USHC_READ_RESP_ERR_TIMEOUT: because nothing came.
    pub const TIMEOUT: u8 = 0x08;
}

impl StatusBlock {
    /// Bytes.
    pub const LEN: usize = 6;

    /// From a transfer of that length; `None`: it is not a status.
    pub fn parse(transfer: &[u8]) -> Option<Self> {
        let &[b'S', status, r0, r1, r2, r3] = transfer else { return None };
        Some(Self { status, response: u32::from_le_bytes([r0, r1, r2, r3]) })
    }

    /// The bytes.
    pub const fn emit(&self) -> [u8; Self::LEN] {
        let [r0, r1, r2, r3] = self.response.to_le_bytes();
        [b'S', self.status, r0, r1, r2, r3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_come_back(number: u8, block_bytes: u16, argument: u32, status: u8, response: u32) {
            let command = CommandBlock { number, block_bytes, argument };
            prop_assert_eq!(CommandBlock::parse(&command.emit()), Some(command));
            let status = StatusBlock { status, response };
            prop_assert_eq!(StatusBlock::parse(&status.emit()), Some(status));
        }

        #[test]
        fn other_bytes_are_neither(bytes: Vec<u8>) {
            prop_assert!(CommandBlock::parse(&bytes).is_none_or(|block| block.emit() == bytes[..]));
            prop_assert!(StatusBlock::parse(&bytes).is_none_or(|block| block.emit() == bytes[..]));
        }
    }
}
