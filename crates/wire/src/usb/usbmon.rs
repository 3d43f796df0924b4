//! Binary usbmon records: 48 bytes of header (link type 189) or 64 (220), in the byte order of the capturing machine.
//!
//! OUT data stands with the submission, IN data with the completion. The kernel may store less than the transfer had
//! (scattered buffers, its ring), and the capturing program's snap length cuts again.

use super::setup::Setup;
use super::{EndpointAddress, TransferType};
use crate::pcap::ByteOrder;

/// Bytes of a header under link type 189.
pub const SHORT_HEADER: usize = 48;
/// Bytes of a header under link type 220.
pub const LONG_HEADER: usize = 64;
/// Bytes of an isochronous packet descriptor.
pub const ISO_DESCRIPTOR: usize = 16;

/// What happened to the URB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Handed to the host controller.
    Submission,
    /// Came back.
    Completion,
    /// Was refused when it was handed over.
    SubmissionError,
}

impl EventKind {
    /// From the letter in both forms of usbmon.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'S' => Self::Submission,
            b'C' => Self::Completion,
            b'E' => Self::SubmissionError,
            _ => return None,
        })
    }

    /// The letter in both forms of usbmon.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Submission => b'S',
            Self::Completion => b'C',
            Self::SubmissionError => b'E',
        }
    }
}

/// What the header of a record says that is not isochronous, to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Identifies the URB between submission and completion.
    pub id: u64,
    /// What happened.
    pub event: EventKind,
    /// How the endpoint transfers.
    pub transfer: TransferType,
    /// The endpoint.
    pub endpoint: EndpointAddress,
    /// Address of the device.
    pub device: u8,
    /// Number of the bus.
    pub bus: u16,
    /// Since 1970, µs.
    pub time_us: i64,
    /// 0 or a negative error number; -115 (EINPROGRESS) for a submission.
    pub status: i32,
    /// Bytes asked for (submission) or transferred (completion).
    pub length: u32,
    /// Bytes of data that follow.
    pub stored_length: u32,
    /// The SETUP packet of a control transfer; written with submissions only.
    pub setup: Option<Setup>,
    /// Polling interval of an interrupt endpoint, in the units of its speed.
    pub interval: u32,
    /// Bits of `struct urb`'s transfer_flags.
    pub transfer_flags: u32,
}

impl Header {
    /// The long header (link type 220).
    pub fn emit(&self, order: ByteOrder) -> [u8; LONG_HEADER] {
        let mut bytes = [0; LONG_HEADER];
        bytes[0..8].copy_from_slice(&order.u64_bytes(self.id));
        bytes[8] = self.event.letter();
        bytes[9] = self.transfer as u8;
        bytes[10] = self.endpoint.0;
        bytes[11] = self.device;
        bytes[12..14].copy_from_slice(&order.u16_bytes(self.bus));
        let is_submission = self.event == EventKind::Submission;
        let setup = self.setup.filter(|_| is_submission);
        bytes[14] = if setup.is_some() { 0 } else { b'-' };
        // 0, or which way the data go that are in the URB's other record (mon_bin.c, mon_bin_event).
        bytes[15] = match (is_submission, self.endpoint.is_in()) {
            (true, true) => b'<',
            (false, false) => b'>',
            _ => 0,
        };
        bytes[16..24].copy_from_slice(&order.u64_bytes(self.time_us.div_euclid(1_000_000) as u64));
        bytes[24..28].copy_from_slice(&order.u32_bytes(self.time_us.rem_euclid(1_000_000) as u32));
        bytes[28..32].copy_from_slice(&order.u32_bytes(self.status as u32));
        bytes[32..36].copy_from_slice(&order.u32_bytes(self.length));
        bytes[36..40].copy_from_slice(&order.u32_bytes(self.stored_length));
        if let Some(setup) = setup {
            bytes[40..48].copy_from_slice(&setup.to_bytes());
        }
        bytes[48..52].copy_from_slice(&order.u32_bytes(self.interval));
        bytes[56..60].copy_from_slice(&order.u32_bytes(self.transfer_flags));
        bytes
    }
}

/// Why a record is not a usbmon record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsbmonError {
    /// The record ends inside its header.
    Truncated {
        /// Bytes the header has.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// Not the letter S, C or E.
    UnknownEvent(u8),
    /// Not a transfer type of 0 to 3.
    UnknownTransferType(u8),
}

impl core::fmt::Display for UsbmonError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, got } => write!(f, "usbmon header of {needed} bytes is cut after {got}"),
            Self::UnknownEvent(byte) => write!(f, "usbmon event type 0x{byte:02x} at offset 8 is not S, C or E"),
            Self::UnknownTransferType(byte) => write!(f, "usbmon transfer type {byte} at offset 9 is not 0 to 3"),
        }
    }
}

/// One isochronous packet of a URB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsoDescriptor {
    /// Its own status.
    pub status: i32,
    /// Where its data begin in the buffer.
    pub offset: u32,
    /// Bytes of data.
    pub length: u32,
}

/// A checked view of one record.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    header: &'a [u8; SHORT_HEADER],
    /// Fields that only the long header has.
    extension: Option<&'a [u8; LONG_HEADER - SHORT_HEADER]>,
    rest: &'a [u8],
    order: ByteOrder,
    event: EventKind,
    transfer: TransferType,
}

impl<'a> Packet<'a> {
    /// Looks at a record with a header that has `header_len` bytes ([`SHORT_HEADER`] or [`LONG_HEADER`]).
    ///
    /// # Errors
    /// See [`UsbmonError`].
    #[inline]
    pub fn parse(record: &'a [u8], order: ByteOrder, header_len: usize) -> Result<Self, UsbmonError> {
        let truncated = UsbmonError::Truncated { needed: header_len, got: record.len() };
        let (header, mut rest) = record.split_first_chunk::<SHORT_HEADER>().ok_or(truncated)?;
        let mut extension = None;
        if header_len != SHORT_HEADER {
            let (more, after) = rest.split_first_chunk::<{ LONG_HEADER - SHORT_HEADER }>().ok_or(truncated)?;
            (extension, rest) = (Some(more), after);
        }
        let event = EventKind::from_letter(header[8]).ok_or(UsbmonError::UnknownEvent(header[8]))?;
        let transfer = TransferType::from_capture(header[9]).ok_or(UsbmonError::UnknownTransferType(header[9]))?;
        Ok(Self { header, extension, rest, order, event, transfer })
    }

    #[inline]
    fn u32(&self, at: usize) -> u32 {
        self.order.u32_at(self.header, at).unwrap_or(0)
    }

    /// Identifies the URB between submission and completion (its address in the kernel, reused later).
    #[inline]
    pub fn id(&self) -> u64 {
        self.header.first_chunk::<8>().map_or(0, |bytes| self.order.u64(*bytes))
    }

    /// What happened.
    #[inline]
    pub fn event(&self) -> EventKind {
        self.event
    }

    /// How the endpoint transfers.
    #[inline]
    pub fn transfer(&self) -> TransferType {
        self.transfer
    }

    /// The endpoint; for control transfers the direction bit is that of the data stage.
    #[inline]
    pub fn endpoint(&self) -> EndpointAddress {
        EndpointAddress(self.header[10])
    }

    /// Address of the device.
    #[inline]
    pub fn device(&self) -> u8 {
        self.header[11]
    }

    /// Number of the bus.
    #[inline]
    pub fn bus(&self) -> u16 {
        self.order.u16_at(self.header, 12).unwrap_or(0)
    }

    /// The SETUP packet, where the record has one.
    #[inline]
    pub fn setup(&self) -> Option<Setup> {
        let bytes: [u8; 8] = *self.header.get(40..)?.first_chunk()?;
        let is_there = self.header[14] == 0 && self.transfer == TransferType::Control;
        (is_there && self.event == EventKind::Submission).then(|| Setup::from_bytes(bytes))
    }

    /// Seconds and microseconds of the event, as µs since 1970.
    #[inline]
    pub fn time_us(&self) -> i64 {
        let seconds = self.header.get(16..).and_then(<[u8]>::first_chunk::<8>).map_or(0, |b| self.order.u64(*b) as i64);
        seconds.saturating_mul(1_000_000).saturating_add(i64::from(self.u32(24) as i32))
    }

    /// 0 or a negative error number.
    #[inline]
    pub fn status(&self) -> i32 {
        self.u32(28) as i32
    }

    /// Bytes asked for (submission) or transferred (completion).
    #[inline]
    pub fn length(&self) -> u32 {
        self.u32(32)
    }

    /// Bytes the kernel stored after the header.
    #[inline]
    pub fn stored_length(&self) -> u32 {
        self.u32(36)
    }

    /// Polling interval of an interrupt or isochronous endpoint; `None` under link type 189.
    pub fn interval(&self) -> Option<u32> {
        self.order.u32_at(self.extension?, 0)
    }

    /// Bits of `struct urb`'s transfer_flags; `None` under link type 189.
    pub fn transfer_flags(&self) -> Option<u32> {
        self.order.u32_at(self.extension?, 8)
    }

    /// Isochronous packets that went wrong, by the counter of the header.
    #[inline]
    pub fn iso_errors(&self) -> u32 {
        if self.transfer == TransferType::Isochronous {
            self.u32(40)
        } else {
            0
        }
    }

    #[inline]
    fn iso_len(&self) -> usize {
        let count = match (self.transfer, self.extension) {
            (TransferType::Isochronous, Some(extension)) => self.order.u32_at(extension, 12).unwrap_or(0),
            _ => 0,
        };
        (count as usize).saturating_mul(ISO_DESCRIPTOR).min(self.rest.len())
    }

    /// The isochronous packet descriptors that were captured.
    pub fn iso_descriptors(&self) -> impl Iterator<Item = IsoDescriptor> + 'a {
        let order = self.order;
        let bytes = self.rest.get(..self.iso_len()).unwrap_or_default();
        bytes.chunks_exact(ISO_DESCRIPTOR).map(move |d| IsoDescriptor {
            status: order.u32_at(d, 0).unwrap_or(0) as i32,
            offset: order.u32_at(d, 4).unwrap_or(0),
            length: order.u32_at(d, 8).unwrap_or(0),
        })
    }

    /// The captured data, descriptors of isochronous packets not included.
    #[inline]
    pub fn data(&self) -> &'a [u8] {
        let stored = self.stored_length() as usize;
        let kept = self.rest.get(..stored).unwrap_or(self.rest);
        kept.get(self.iso_len()..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(order: ByteOrder, long: bool, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(order.u64_bytes(0xffff_8880_1234_5678));
        bytes.extend([b'S', 3, 0x05, 2]);
        bytes.extend(order.u16_bytes(1));
        bytes.extend([b'-', 0]);
        bytes.extend(order.u64_bytes(1_700_000_000));
        bytes.extend(order.u32_bytes(250_000));
        bytes.extend(order.u32_bytes((-115i32) as u32));
        bytes.extend(order.u32_bytes(1500));
        bytes.extend(order.u32_bytes(data.len() as u32));
        bytes.extend([0; 8]);
        if long {
            bytes.extend([0; 16]);
        }
        bytes.extend(data);
        bytes
    }

    #[test]
    fn both_headers_in_both_byte_orders() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (long, len) in [(false, SHORT_HEADER), (true, LONG_HEADER)] {
                let bytes = record(order, long, &[1, 2, 3]);
                let packet = Packet::parse(&bytes, order, len).unwrap();
                assert_eq!(packet.id(), 0xffff_8880_1234_5678);
                assert_eq!((packet.event(), packet.transfer()), (EventKind::Submission, TransferType::Bulk));
                assert_eq!((packet.bus(), packet.device(), packet.endpoint().0), (1, 2, 5));
                assert_eq!(packet.time_us(), 1_700_000_000_250_000);
                assert_eq!((packet.status(), packet.length(), packet.stored_length()), (-115, 1500, 3));
                assert_eq!((packet.data(), packet.setup()), (&[1u8, 2, 3][..], None));
            }
        }
    }

    #[test]
    fn a_cut_header_is_named() {
        let error = Packet::parse(&[0; 63], ByteOrder::Little, LONG_HEADER).unwrap_err();
        assert_eq!(error, UsbmonError::Truncated { needed: 64, got: 63 });
    }

    proptest::proptest! {
        #[test]
        fn what_was_written_is_read_again(
            (id, event, transfer, endpoint, device) in (0u64.., 0usize..3, 1u8..4, 0u8.., 0u8..),
            (bus, time_us, status, length) in (0u16.., 0i64..1 << 50, -200i32..1, 0u32..),
            data: Vec<u8>,
            (setup, interval, transfer_flags) in proptest::prelude::any::<([u8; 8], u32, u32)>(),
            big: bool,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let (event, transfer) = (
                [EventKind::Submission, EventKind::Completion, EventKind::SubmissionError][event],
                TransferType::from_capture(transfer).unwrap(),
            );
            let has_setup = event == EventKind::Submission && transfer == TransferType::Control;
            let header = Header {
                id,
                event,
                transfer,
                endpoint: EndpointAddress(endpoint),
                device,
                bus,
                time_us,
                status,
                length,
                stored_length: data.len() as u32,
                setup: has_setup.then(|| Setup::from_bytes(setup)),
                interval,
                transfer_flags,
            };
            let bytes = [&header.emit(order)[..], &data].concat();
            let packet = Packet::parse(&bytes, order, LONG_HEADER).unwrap();
            let again = Header {
                id: packet.id(),
                event: packet.event(),
                transfer: packet.transfer(),
                endpoint: packet.endpoint(),
                device: packet.device(),
                bus: packet.bus(),
                time_us: packet.time_us(),
                status: packet.status(),
                length: packet.length(),
                stored_length: packet.stored_length(),
                setup: packet.setup(),
                interval: packet.interval().unwrap(),
                transfer_flags: packet.transfer_flags().unwrap(),
            };
            assert_eq!(again, header);
            assert_eq!(packet.data(), &data[..]);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, long: bool, big: bool) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let mut bytes = bytes;
            if let Some(slot) = bytes.get_mut(8) { *slot = b'C'; }
            if let Some(slot) = bytes.get_mut(9) { *slot &= 3; }
            if let Ok(packet) = Packet::parse(&bytes, order, if long { LONG_HEADER } else { SHORT_HEADER }) {
                assert!(packet.data().len() <= bytes.len());
                assert!(packet.iso_descriptors().count() * ISO_DESCRIPTOR <= bytes.len());
            }
        }
    }
}
