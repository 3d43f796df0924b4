//! USBPcap records (link type 249): what a Windows filter driver above the root hub sees of IRPs. Little endian.
//!
//! A record is one pass of an IRP through the filter: on its way down (submission) or up (completion). The data of OUT
//! transfers stand with the submission; how much a bulk IN transfer asked for is not recorded at all.

use super::setup::Setup;
use super::{EndpointAddress, TransferType};
use crate::pcap::ByteOrder;

/// Bytes of the shortest header.
pub const HEADER: usize = 27;

/// Functions that reset a pipe, clear its stall, or both (Windows' usb.h: `URB_FUNCTION_SYNC_RESET_PIPE_AND_CLEAR_STALL`,
/// `URB_FUNCTION_SYNC_RESET_PIPE`, `URB_FUNCTION_SYNC_CLEAR_STALL`).
pub const RESETS_PIPE: [u16; 3] = [0x001e, 0x0030, 0x0031];
/// The function that takes back all requests of a pipe (`URB_FUNCTION_ABORT_PIPE`).
pub const ABORTS_PIPE: u16 = 0x0002;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A transfer.
    Transfer(TransferType),
    /// A request that moves no data (abort a pipe, select a configuration...): USBPcap writes 254 or 255.
    Other(u8),
}

/// Stage of a control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// SETUP, with the OUT data after it.
    Setup,
    /// Data, as a record of its own (old versions).
    Data,
    /// Status, as a record of its own (old versions).
    Status,
    /// The whole transfer, with the IN data.
    Complete,
    /// None of these.
    Unknown(u8),
}

/// Why a record is not a USBPcap record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsbpcapError {
    /// The record ends inside its header.
    Truncated {
        /// Bytes the header has.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// The header says it is shorter than it can be.
    HeaderLength(u16),
}

impl core::fmt::Display for UsbpcapError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, got } => write!(f, "USBPcap header of {needed} bytes is cut after {got}"),
            Self::HeaderLength(len) => write!(f, "USBPcap header length {len} at offset 0 is below {HEADER}"),
        }
    }
}

/// A checked view of one record.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    header: &'a [u8],
    rest: &'a [u8],
}

const LE: ByteOrder = ByteOrder::Little;

impl<'a> Packet<'a> {
    /// Looks at a record.
    ///
    /// # Errors
    /// See [`UsbpcapError`].
    #[inline]
    pub fn parse(record: &'a [u8]) -> Result<Self, UsbpcapError> {
        let truncated = |needed| UsbpcapError::Truncated { needed, got: record.len() };
        let len = LE.u16_at(record, 0).ok_or(truncated(HEADER))?;
        if usize::from(len) < HEADER {
            return Err(UsbpcapError::HeaderLength(len));
        }
        let (header, rest) = record.split_at_checked(usize::from(len)).ok_or(truncated(usize::from(len)))?;
        Ok(Self { header, rest })
    }

    fn byte(&self, at: usize) -> u8 {
        self.header.get(at).copied().unwrap_or(0)
    }

    /// Identifies the IRP between submission and completion; 0 for the descriptors that USBPcap writes at the start.
    pub fn id(&self) -> u64 {
        self.header.get(2..).and_then(<[u8]>::first_chunk::<8>).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// USBD_STATUS; meaningful in completions.
    pub fn status(&self) -> u32 {
        LE.u32_at(self.header, 10).unwrap_or(0)
    }

    /// URB function (Microsoft, usb.h).
    pub fn function(&self) -> u16 {
        LE.u16_at(self.header, 14).unwrap_or(0)
    }

    /// The IRP is on its way up.
    pub fn is_completion(&self) -> bool {
        self.byte(16) & 1 != 0
    }

    /// Number of the root hub.
    pub fn bus(&self) -> u16 {
        LE.u16_at(self.header, 17).unwrap_or(0)
    }

    /// Address of the device.
    pub fn device(&self) -> u16 {
        LE.u16_at(self.header, 19).unwrap_or(0)
    }

    /// The endpoint; for control transfers the direction bit is that of the data stage.
    pub fn endpoint(&self) -> EndpointAddress {
        EndpointAddress(self.byte(21))
    }

    /// What the record is about.
    pub fn kind(&self) -> Kind {
        let number = self.byte(22);
        TransferType::from_capture(number).map_or(Kind::Other(number), Kind::Transfer)
    }

    /// Bytes of data the record had before any snap length, SETUP included.
    pub fn length(&self) -> u32 {
        LE.u32_at(self.header, 23).unwrap_or(0)
    }

    /// Stage of a control transfer.
    pub fn stage(&self) -> Option<Stage> {
        let control = self.kind() == Kind::Transfer(TransferType::Control);
        let stage = *self.header.get(27).filter(|_| control)?;
        Some(match stage {
            0 => Stage::Setup,
            1 => Stage::Data,
            2 => Stage::Status,
            3 => Stage::Complete,
            other => Stage::Unknown(other),
        })
    }

    /// The SETUP packet of a control submission.
    pub fn setup(&self) -> Option<Setup> {
        let bytes = self.rest.first_chunk::<8>().filter(|_| self.stage() == Some(Stage::Setup))?;
        Some(Setup::from_bytes(*bytes))
    }

    /// Isochronous packets that went wrong, by the counter of the header.
    pub fn iso_errors(&self) -> u32 {
        let iso = self.kind() == Kind::Transfer(TransferType::Isochronous);
        LE.u32_at(self.header, 35).filter(|_| iso).unwrap_or(0)
    }

    /// The captured data, without SETUP.
    pub fn data(&self) -> &'a [u8] {
        let kept = self.rest.get(..self.length() as usize).unwrap_or(self.rest);
        let skipped = if self.stage() == Some(Stage::Setup) { 8 } else { 0 };
        kept.get(skipped..).unwrap_or_default()
    }

    /// Bytes of data the record had, without SETUP.
    pub fn data_length(&self) -> u32 {
        self.length().saturating_sub(if self.stage() == Some(Stage::Setup) { 8 } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_out_submission() {
        let mut bytes = vec![27, 0];
        bytes.extend(0xffff_fa80_1ec4_2330u64.to_le_bytes());
        bytes.extend([0, 0, 0, 0, 9, 0, 0, 1, 0, 7, 0, 2, 3, 7, 0, 0, 0]);
        bytes.extend([0x22, 2, 0x10, 0, 0x13, 0, 6]);
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.kind(), Kind::Transfer(TransferType::Bulk));
        assert!(!packet.is_completion());
        assert_eq!((packet.bus(), packet.device(), packet.endpoint().0, packet.data().len()), (1, 7, 2, 7));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(length in 0u16..64, bytes: Vec<u8>) {
            let mut record = length.to_le_bytes().to_vec();
            record.extend(bytes);
            if let Ok(packet) = Packet::parse(&record) {
                let _ = (packet.kind(), packet.stage(), packet.setup(), packet.iso_errors(), packet.data_length());
                assert!(packet.data().len() <= record.len());
            }
        }
    }
}
