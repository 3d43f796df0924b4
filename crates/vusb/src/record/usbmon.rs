//! URBs as a usbmon capture (link type 220, Linux Documentation/usb/usbmon.rst).

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use capture::{InterfaceSettings, PcapngWriter, WriteError};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::usb::usbmon::{EventKind, Header, LONG_HEADER};
use wire::usb::TransferType;

use super::{Observer, Room, UrbEvent};

/// `-EINPROGRESS`, which submissions have as their status.
const IN_PROGRESS: i32 = -115;
/// Bus and device number written down: those that the USB/IP import gives.
const BUS: u16 = 1;
const DEVICE: u8 = 2;

/// Writes URBs into a pcapng file, whose interface says what made it.
pub struct UsbmonRecorder {
    writer: PcapngWriter<BufWriter<File>>,
    interface: u32,
    /// What to add to the session's clock to get the time since 1970.
    epoch_ns: i64,
    /// Bytes of data kept per URB.
    snap_len: usize,
    room: Room,
    record: Vec<u8>,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl UsbmonRecorder {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn create(path: &Path, epoch_ns: i64, snap_len: usize, room: Room) -> io::Result<Self> {
        let mut writer = PcapngWriter::new(BufWriter::new(File::create(path)?), ByteOrder::Little).map_err(io_error)?;
        let settings = InterfaceSettings {
            name: Some("usbmon1".into()),
            description: Some(super::mark().to_owned()),
            ..InterfaceSettings::nanos(LinkType::USB_LINUX_MMAPPED)
        };
        let interface = writer.add_interface(&settings).map_err(io_error)?;
        Ok(Self { writer, interface, epoch_ns, snap_len, room, record: Vec::new(), failed: None })
    }
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl Observer for UsbmonRecorder {
    fn urb(&mut self, event: &UrbEvent<'_>) {
        if self.failed.is_some() {
            return;
        }
        let time_ns = self.epoch_ns.saturating_add(i64::try_from(event.now_ns).unwrap_or(i64::MAX));
        let data = event.data.get(..self.snap_len).unwrap_or(event.data);
        if !self.room.take(LONG_HEADER + data.len(), time_ns) {
            return;
        }
        self.record.clear();
        self.record.extend_from_slice(&header(event, time_ns, data.len()).emit(ByteOrder::Little));
        self.record.extend_from_slice(data);
        let whole = (LONG_HEADER + event.data.len()) as u32;
        if let Err(error) = self.writer.write(self.interface, time_ns, whole, &self.record) {
            self.failed = Some(io_error(error));
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.writer.flush().map_err(io_error),
        }
    }
}

/// What is written of an event of which `stored` bytes of data are kept.
fn header(event: &UrbEvent<'_>, time_ns: i64, stored: usize) -> Header {
    let (status, length) = event.completion.unwrap_or((IN_PROGRESS, event.length));
    Header {
        id: u64::from(event.sequence),
        event: if event.completion.is_some() { EventKind::Completion } else { EventKind::Submission },
        transfer: event.transfer,
        endpoint: event.endpoint,
        device: DEVICE,
        bus: BUS,
        time_us: time_ns.div_euclid(1_000),
        status,
        length,
        stored_length: u32::try_from(stored).unwrap_or(u32::MAX),
        setup: event.setup,
        interval: if event.transfer == TransferType::Interrupt { event.interval } else { 0 },
        transfer_flags: event.flags,
    }
}

#[cfg(test)]
mod tests {
    use wire::usb::setup::Setup;
    use wire::usb::usbmon::Packet;
    use wire::usb::EndpointAddress;

    use super::*;

    #[test]
    fn headers_are_read_back() {
        let setup = Setup { request_type: 0x40, request: 5, value: 0x100, index: 0, length: 4 };
        let event = UrbEvent {
            now_ns: 0,
            sequence: 77,
            endpoint: EndpointAddress(0),
            transfer: TransferType::Control,
            setup: Some(setup),
            flags: 0x200,
            interval: 0,
            length: 4,
            completion: None,
            data: &[1, 2, 3, 4],
        };
        let mut bytes = header(&event, 1_700_000_000_250_000_999, 4).emit(ByteOrder::Little).to_vec();
        bytes.extend([1, 2, 3, 4]);
        let packet = Packet::parse(&bytes, ByteOrder::Little, LONG_HEADER).unwrap();
        assert_eq!((packet.id(), packet.event(), packet.setup()), (77, EventKind::Submission, Some(setup)));
        assert_eq!((packet.time_us(), packet.status(), packet.length()), (1_700_000_000_250_000, -115, 4));
        assert_eq!((packet.data(), packet.transfer_flags()), (&[1u8, 2, 3, 4][..], Some(0x200)));

        let event = UrbEvent { endpoint: EndpointAddress(0x81), completion: Some((-32, 0)), data: &[], ..event };
        let bytes = header(&event, 0, 0).emit(ByteOrder::Little);
        let packet = Packet::parse(&bytes, ByteOrder::Little, LONG_HEADER).unwrap();
        assert_eq!((packet.event(), packet.status(), packet.endpoint().0), (EventKind::Completion, -32, 0x81));
    }
}
