//! The frame of a message: QMUX, then the header of the service (`struct full_message` of libqmi's qmi-message.c).
//!
//! ```text
//! 01 | length (2), all but the 01 | flags | service | client | flags | transaction (CTL: 1, else 2) | message (2) | length (2) | TLVs
//! ```

use super::tlv::{Tlvs, Writer};
use super::Service;
use crate::pcap::ByteOrder;
use crate::usb::Fault;

/// The byte that begins a frame.
pub const MARKER: u8 = 1;
/// Bytes of the QMUX header, with the marker.
pub const HEADER: usize = 6;
/// Flag of QMUX: the service sends it.
const FROM_SERVICE: u8 = 0x80;
/// Flag of a service's message: more than one message in the frame.
const COMPOUND: u8 = 0x01;

/// What a message is to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The host asks.
    Request,
    /// The modem answers.
    Response,
    /// The modem reports, unasked.
    Indication,
}

impl Kind {
    /// Flags in the header of the service: CTL has no flag for compound messages, so that its others stand one lower.
    const fn flags(self, service: Service) -> u8 {
        let shift = if service.0 == Service::CTL.0 { 0 } else { 1 };
        match self {
            Self::Request => 0,
            Self::Response => 1 << shift,
            Self::Indication => 2 << shift,
        }
    }
}

/// What stands in front of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The modem sends it.
    pub from_service: bool,
    /// The service of the message.
    pub service: Service,
    /// The host's client of the service; 0 for CTL, 255 for all.
    pub client: u8,
    /// Request, response or indication.
    pub kind: Kind,
    /// Which request an answer belongs to; one byte in CTL.
    pub transaction: u16,
    /// Number of the message.
    pub message: u16,
}

impl Header {
    /// Bytes up to the first TLV.
    const fn len(service: Service) -> usize {
        HEADER + if service.0 == Service::CTL.0 { 6 } else { 7 }
    }

    /// The header of an answer to this request.
    #[must_use]
    pub const fn answer(self) -> Self {
        Self { from_service: true, kind: Kind::Response, ..self }
    }

    /// The frame with these fields; `None` when it is longer than a frame can be.
    pub fn emit(&self, tlvs: &Writer) -> Option<Vec<u8>> {
        let fields = tlvs.bytes();
        let len = u16::try_from(Self::len(self.service) - 1 + fields.len()).ok()?;
        let fields_len = u16::try_from(fields.len()).ok()?;
        let mut bytes = vec![MARKER];
        bytes.extend(len.to_le_bytes());
        bytes.extend([if self.from_service { FROM_SERVICE } else { 0 }, self.service.0, self.client]);
        bytes.push(self.kind.flags(self.service));
        let transaction = self.transaction.to_le_bytes();
        let shown = if self.service == Service::CTL { 1 } else { 2 };
        bytes.extend(transaction.iter().take(shown));
        bytes.extend(self.message.to_le_bytes());
        bytes.extend(fields_len.to_le_bytes());
        bytes.extend(fields);
        Some(bytes)
    }
}

/// A message in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What stands in front of its fields.
    pub header: Header,
    /// Its fields.
    pub tlvs: Tlvs<'a>,
    /// Bytes of the frame.
    pub len: usize,
}

impl<'a> Message<'a> {
    /// The message that a transfer of `transfer_len` bytes begins with, `captured` of which are there. `None`: the capture
    /// is cut before its fields.
    ///
    /// # Errors
    /// Bytes that are not a QMUX frame, or one with inconsistent lengths.
    pub fn parse(captured: &'a [u8], transfer_len: usize) -> Result<Option<Self>, Fault> {
        let transfer_len = transfer_len.max(captured.len());
        let fault = |offset, what| Err(Fault { offset, what });
        if captured.first().is_some_and(|&marker| marker != MARKER) {
            return fault(0, "not the byte that a QMUX frame begins with");
        }
        if transfer_len < HEADER {
            return fault(0, "fewer bytes than a QMUX header has");
        }
        let Some(&[_, low, high, flags, service, client]) = captured.first_chunk() else { return Ok(None) };
        let service = Service(service);
        let start = Header::len(service);
        let len = usize::from(u16::from_le_bytes([low, high])) + 1;
        if len > transfer_len {
            return fault(1, "QMUX length goes past the end of the transfer");
        }
        if len < start {
            return fault(1, "QMUX length has no room for the header of a message");
        }
        let Some(head) = captured.get(HEADER..start) else { return Ok(None) };
        let is_control = service == Service::CTL;
        let at = if is_control { 2 } else { 3 };
        let number = |at| ByteOrder::Little.u16_at(head, at).unwrap_or_default();
        let (kind_flags, transaction) = match head {
            [kind, transaction, ..] if is_control => (kind << 1, u16::from(*transaction)),
            [kind, ..] => (*kind, number(1)),
            [] => return Ok(None),
        };
        if kind_flags & COMPOUND != 0 {
            return fault(HEADER, "several messages in one frame: not read");
        }
        let kind = match kind_flags >> 1 & 3 {
            0 => Kind::Request,
            2 => Kind::Indication,
            _ => Kind::Response,
        };
        let fields_len = usize::from(number(at + 2));
        if start + fields_len > len {
            return fault(start - 2, "the fields go past the end of their frame");
        }
        let from_service = flags & FROM_SERVICE != 0;
        let header = Header { from_service, service, client, kind, transaction, message: number(at) };
        let tlvs = Tlvs::new(captured.get(start..).unwrap_or_default(), fields_len, start);
        Ok(Some(Self { header, tlvs, len }))
    }
}
