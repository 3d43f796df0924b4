//! What transfer blocks a function takes and sends at most (NCM 1.0, 6.2.1).

use super::range::{in_range, SettingsError};

/// GET_NTB_INPUT_SIZE at least (dwNtbInMaxSize is at least 2048).
pub(super) const INPUT_MIN: u32 = 2_048;
/// Bytes of a block at most, each way, unless it is set: as Linux' own limit for cdc_ncm (include/linux/usb/cdc_ncm.h).
pub(super) const BLOCK_BYTES: u32 = 16_384;
/// Datagrams at multiples of four.
pub(super) const ALIGN: u16 = 4;

/// What blocks a function takes and sends at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockLimits {
    /// 32-bit blocks beside 16-bit ones.
    pub(super) wide: bool,
    /// dwNtbInMaxSize.
    pub(super) in_max: u32,
    /// dwNtbOutMaxSize.
    pub(super) out_max: u32,
    /// wNtbOutMaxDatagrams; 0 is unlimited.
    pub(super) out_datagrams_max: u16,
}

impl BlockLimits {
    pub(super) fn check(self) -> Result<(), SettingsError> {
        in_range("dwNtbInMaxSize", u64::from(self.in_max), u64::from(INPUT_MIN), 1 << 20)?;
        in_range("dwNtbOutMaxSize", u64::from(self.out_max), u64::from(INPUT_MIN), 1 << 20)
    }

    /// GET_NTB_PARAMETERS (NCM 1.0, table 6-3).
    pub(super) fn parameters(self) -> Vec<u8> {
        let formats: u16 = if self.wide { 3 } else { 1 };
        let mut bytes = vec![28, 0];
        bytes.extend(formats.to_le_bytes());
        bytes.extend(self.in_max.to_le_bytes());
        for number in [ALIGN, 0, ALIGN, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.out_max.to_le_bytes());
        for number in [ALIGN, 0, ALIGN, self.out_datagrams_max] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }
}
