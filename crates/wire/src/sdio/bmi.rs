//! BMI, what a host says to an Atheros chip before its firmware runs (Linux drivers/net/wireless/ath/ath6kl/bmi.h). Little
//! endian words.

use super::u32_at;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// BMI_DONE: the firmware starts.
    Done,
    /// BMI_READ_MEMORY.
    ReadMemory {
        /// Address.
        address: u32,
        /// Bytes.
        len: u32,
    },
    /// BMI_WRITE_MEMORY.
    WriteMemory {
        /// Address.
        address: u32,
        /// What is written.
        data: &'a [u8],
    },
    /// BMI_EXECUTE: a subroutine runs.
    Execute {
        /// Its entry.
        address: u32,
        /// Its parameter.
        parameter: u32,
    },
    /// BMI_SET_APP_START.
    SetStart {
        /// Where the firmware begins.
        address: u32,
    },
    /// BMI_READ_SOC_REGISTER.
    ReadRegister {
        /// Address.
        address: u32,
    },
    /// BMI_WRITE_SOC_REGISTER.
    WriteRegister {
        /// Address.
        address: u32,
        /// What is written.
        value: u32,
    },
    /// BMI_GET_TARGET_INFO.
    TargetInfo,
    /// BMI_LZ_STREAM_START: compressed data go there from now on.
    LzStart {
        /// Address.
        address: u32,
    },
    /// BMI_LZ_DATA.
    LzData {
        /// Compressed bytes.
        data: &'a [u8],
    },
    /// Another one.
    Unknown(u32),
}

impl<'a> Command<'a> {
    /// From a message; `None`: it is cut. What follows the command is not looked at.
    pub fn parse(message: &'a [u8]) -> Option<Self> {
        let word = |at: usize| u32_at(message, 4 * at);
        let data = |from: usize, len: u32| message.get(from..from.checked_add(len as usize)?);
        Some(match word(0)? {
            1 => Self::Done,
            2 => Self::ReadMemory { address: word(1)?, len: word(2)? },
            3 => Self::WriteMemory { address: word(1)?, data: data(12, word(2)?)? },
            4 => Self::Execute { address: word(1)?, parameter: word(2)? },
            5 => Self::SetStart { address: word(1)? },
            6 => Self::ReadRegister { address: word(1)? },
            7 => Self::WriteRegister { address: word(1)?, value: word(2)? },
            8 => Self::TargetInfo,
            13 => Self::LzStart { address: word(1)? },
            14 => Self::LzData { data: data(8, word(1)?)? },
            other => Self::Unknown(other),
        })
    }

    /// The message.
    pub fn emit(&self) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        match *self {
            Self::Done => words(&[1]),
            Self::ReadMemory { address, len } => words(&[2, address, len]),
            Self::WriteMemory { address, data } => [words(&[3, address, data.len() as u32]), data.to_vec()].concat(),
            Self::Execute { address, parameter } => words(&[4, address, parameter]),
            Self::SetStart { address } => words(&[5, address]),
            Self::ReadRegister { address } => words(&[6, address]),
            Self::WriteRegister { address, value } => words(&[7, address, value]),
            Self::TargetInfo => words(&[8]),
            Self::LzStart { address } => words(&[13, address]),
            Self::LzData { data } => [words(&[14, data.len() as u32]), data.to_vec()].concat(),
            Self::Unknown(id) => words(&[id]),
        }
    }
}

/// The answer to BMI_GET_TARGET_INFO (`struct ath6kl_bmi_target_info` behind TARGET_VERSION_SENTINAL).
pub fn target_info(version: u32, kind: u32) -> [u8; 16] {
    let mut answer = [0xff; 16];
    for (slot, word) in answer.chunks_exact_mut(4).skip(1).zip([12, version, kind]) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_as_the_driver_writes_them() {
        let write = Command::WriteMemory { address: 0x540654, data: &[1, 2, 3, 4] };
        assert_eq!(write.emit(), [3, 0, 0, 0, 0x54, 6, 0x54, 0, 4, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(Command::parse(&write.emit()[..14]), None);
        assert_eq!(target_info(0x3000_0582, 3)[4..12], [12, 0, 0, 0, 0x82, 5, 0, 0x30]);
    }

    proptest! {
        #[test]
        fn any_message_is_read(message: Vec<u8>) {
            if let Some(command) = Command::parse(&message) {
                let emitted = command.emit();
                prop_assert_eq!(Command::parse(&emitted), Some(command));
            }
        }

        #[test]
        fn known_commands_come_back(id in 1u32..16, words: [u32; 2], data: [u8; 8]) {
            let mut message = id.to_le_bytes().to_vec();
            message.extend(words.iter().flat_map(|word| (word & 0xf).to_le_bytes()));
            message.extend(data);
            if let Some(command) = Command::parse(&message) {
                prop_assert!(message.starts_with(&command.emit()));
            }
        }
    }
}
