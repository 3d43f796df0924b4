//! QMI, Qualcomm's control protocol of modems, in QMUX frames as USB carries them. Little endian.
//!
//! A host sends a frame with SEND_ENCAPSULATED_COMMAND, is notified of an answer on the interrupt endpoint and fetches it with
//! GET_ENCAPSULATED_RESPONSE (USB CDC 1.2, 6.2; Linux drivers/usb/class/cdc-wdm.c). Numbers of services, messages and TLVs
//! are facts of libqmi's `data/qmi-service-*.json` and `qmi-enums*.h`.
//!
//! | module | what |
//! | --- | --- |
//! | [`qmux`] | the frame: header, view, emission |
//! | [`tlv`] | the fields of a message |
//! | [`ctl`], [`dms`], [`nas`], [`wds`], [`wda`] | the messages of a service, as plain representations |

pub mod ctl;
pub mod dms;
mod message_names;
pub mod nas;
pub mod qmux;
pub mod tlv;
pub mod wda;
pub mod wds;

#[cfg(test)]
mod tests;

use super::Fault;
use tlv::{Tlvs, Writer};

/// A service of the modem (`QmiService` of libqmi).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Service(pub u8);

impl Service {
    /// Client identifiers and what all services share.
    pub const CTL: Self = Self(0x00);
    /// Wireless data: connections.
    pub const WDS: Self = Self(0x01);
    /// Device management.
    pub const DMS: Self = Self(0x02);
    /// Network access.
    pub const NAS: Self = Self(0x03);
    /// Wireless data administration: the format of the data path.
    pub const WDA: Self = Self(0x1a);

    /// Its name.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0x00 => "CTL",
            0x01 => "WDS",
            0x02 => "DMS",
            0x03 => "NAS",
            0x04 => "QOS",
            0x05 => "WMS",
            0x06 => "PDS",
            0x07 => "AUTH",
            0x08 => "AT",
            0x09 => "VOICE",
            0x0a => "CAT2",
            0x0b => "UIM",
            0x0c => "PBM",
            0x10 => "LOC",
            0x11 => "SAR",
            0x12 => "IMS",
            0x1a => "WDA",
            0x22 => "COEX",
            0x24 => "PDC",
            0x2a => "DSD",
            0x2f => "DPM",
            _ => return None,
        })
    }
}

/// Why a request was refused (`QmiProtocolError` of libqmi).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u16);

impl ErrorCode {
    /// The message breaks the rules of its layout.
    pub const MALFORMED_MESSAGE: Self = Self(1);
    /// No client identifier is left.
    pub const CLIENT_IDS_EXHAUSTED: Self = Self(5);
    /// No such client.
    pub const INVALID_CLIENT_ID: Self = Self(7);
    /// No such packet data handle.
    pub const INVALID_HANDLE: Self = Self(9);
    /// There is no call.
    pub const OUT_OF_CALL: Self = Self(15);
    /// A field that has to be there is not.
    pub const MISSING_ARGUMENT: Self = Self(17);
    /// It is so already.
    pub const NO_EFFECT: Self = Self(26);
    /// No such service.
    pub const INVALID_SERVICE_TYPE: Self = Self(31);
    /// A value out of its range.
    pub const INVALID_ARGUMENT: Self = Self(48);
    /// No such message.
    pub const INVALID_QMI_COMMAND: Self = Self(71);

    /// Its name.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "none",
            1 => "malformed message",
            2 => "no memory",
            3 => "internal",
            4 => "aborted",
            5 => "client IDs exhausted",
            7 => "invalid client ID",
            9 => "invalid handle",
            14 => "call failed",
            15 => "out of call",
            16 => "not provisioned",
            17 => "missing argument",
            25 => "device unsupported",
            26 => "no effect",
            31 => "invalid service type",
            45 => "invalid data format",
            48 => "invalid argument",
            52 => "device not ready",
            71 => "invalid QMI command",
            74 => "information unavailable",
            94 => "not supported",
            _ => return None,
        })
    }
}

/// The TLV of every answer that says whether the request was carried out.
const RESULT: u8 = 0x02;

/// Fields of a message, as a plain representation.
pub trait Fields: Sized {
    /// From the TLVs of a message.
    ///
    /// # Errors
    /// A TLV that is missing, too short, or runs past the end.
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault>;

    /// Appends them as TLVs.
    fn write(&self, tlvs: &mut Writer);
}

/// No fields at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nothing;

impl Fields for Nothing {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        tlvs.check().map(|()| Self)
    }

    fn write(&self, _tlvs: &mut Writer) {}
}

/// What a request brought: the fields of the answer, or why it was refused.
pub type Outcome<F> = Result<F, ErrorCode>;

/// Reads an answer.
///
/// # Errors
/// As [`Fields::read`]; also an answer that does not say whether it succeeded.
pub fn read_outcome<F: Fields>(tlvs: &Tlvs<'_>) -> Result<Outcome<F>, Fault> {
    let result = tlvs.pair_of_u16(RESULT)?.ok_or(Fault { offset: 0, what: "an answer without its result" })?;
    Ok(if result.0 == 0 { Ok(F::read(tlvs)?) } else { Err(ErrorCode(result.1)) })
}

/// The TLVs of an answer.
pub fn write_outcome<F: Fields>(outcome: &Outcome<F>) -> Writer {
    let mut tlvs = Writer::default();
    let (status, code) = outcome.as_ref().map_or_else(|code| (1, code.0), |_| (0, 0));
    tlvs.pair_of_u16(RESULT, (status, code));
    if let Ok(fields) = outcome {
        fields.write(&mut tlvs);
    }
    tlvs
}

/// The TLVs of a request or an indication.
pub fn write_fields(fields: &impl Fields) -> Writer {
    let mut tlvs = Writer::default();
    fields.write(&mut tlvs);
    tlvs
}
