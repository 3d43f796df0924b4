//! One thing that happened to a transfer request, from whichever format.

use wire::pcap::ByteOrder;
use wire::usb::setup::Setup;
use wire::usb::usbmon::{self, EventKind};
use wire::usb::usbpcap::{self, Kind, Stage};
use wire::usb::{usbmon_text, EndpointAddress, TransferType};

/// `in` or `out`: the direction that an endpoint's address or a request's type has.
pub(crate) const fn direction(address: u8) -> &'static str {
    if address & 0x80 != 0 {
        "in"
    } else {
        "out"
    }
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Linux: 0 or a negative error number.
    Errno(i32),
    /// Windows.
    Usbd(u32),
    /// The log does not say.
    Unknown,
}

impl Status {
    /// Success, or nothing said against it.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Errno(0) | Self::Usbd(0) | Self::Unknown)
    }

    /// The driver took the request back: no error of the bus.
    pub const fn is_cancelled(self) -> bool {
        match self {
            Self::Errno(status) => wire::usb::status::is_unlinked(status),
            Self::Usbd(status) => wire::usb::status::is_cancelled(status),
            Self::Unknown => false,
        }
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Record or line number, from 1.
    pub number: u64,
    /// µs since 1970 or since an unknown moment; `None` when the log has no clock.
    pub time_us: Option<i64>,
    /// Pairs a submission with its completion.
    pub id: u64,
    /// What happened.
    pub kind: EventKind,
    /// How the endpoint transfers.
    pub transfer: TransferType,
    /// Number of the bus.
    pub bus: u16,
    /// Address of the device.
    pub device: u16,
    /// The endpoint, with the direction of the data.
    pub endpoint: EndpointAddress,
    /// How it ended, or that it is under way.
    pub status: Status,
    /// The SETUP packet of a control submission.
    pub setup: Option<Setup>,
    /// Bytes asked for (submission) or transferred (completion); `None` where this layer does not say.
    pub length: Option<u32>,
    /// There may be more bytes than `length`: the log shows no more.
    pub may_be_longer: bool,
    /// What of the data was captured.
    pub data: &'a [u8],
    /// Bytes of the record, where it is shorter than its recorder wrote it: a snap length, or a tool cut it.
    pub cut_at: Option<u32>,
    /// Isochronous packets that went wrong.
    pub iso_errors: u32,
}

/// Why a record gives no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// A request that moves no data (USBPcap).
    OtherRequest {
        /// URB function.
        function: u16,
        /// On its way up.
        is_completion: bool,
    },
    /// Part of a control transfer that its other records count already (old versions of USBPcap).
    ControlStage,
    /// The header cannot be read: why.
    Unreadable(String),
}

/// Reads a usbmon record.
///
/// # Errors
/// [`Skipped::Unreadable`].
#[inline]
pub fn from_usbmon(
    number: u64,
    time_us: Option<i64>,
    record: &[u8],
    order: ByteOrder,
    header_len: usize,
) -> Result<Event<'_>, Skipped> {
    let packet =
        usbmon::Packet::parse(record, order, header_len).map_err(|error| Skipped::Unreadable(error.to_string()))?;
    Ok(Event {
        number,
        time_us: time_us.or_else(|| Some(packet.time_us())),
        id: packet.id(),
        kind: packet.event(),
        transfer: packet.transfer(),
        bus: packet.bus(),
        device: u16::from(packet.device()),
        endpoint: packet.endpoint(),
        status: Status::Errno(packet.status()),
        setup: packet.setup(),
        length: Some(packet.length()),
        may_be_longer: false,
        data: packet.data(),
        cut_at: cut_at(record, header_len, packet.stored_length()),
        iso_errors: if packet.event() == EventKind::Completion { packet.iso_errors() } else { 0 },
    })
}

/// Reads a USBPcap record.
///
/// # Errors
/// See [`Skipped`].
#[inline]
pub fn from_usbpcap(number: u64, time_us: Option<i64>, record: &[u8]) -> Result<Event<'_>, Skipped> {
    let packet = usbpcap::Packet::parse(record).map_err(|error| Skipped::Unreadable(error.to_string()))?;
    let is_completion = packet.is_completion();
    let Kind::Transfer(transfer) = packet.kind() else {
        return Err(Skipped::OtherRequest { function: packet.function(), is_completion });
    };
    if matches!(packet.stage(), Some(Stage::Data | Stage::Status)) {
        return Err(Skipped::ControlStage);
    }
    let endpoint = packet.endpoint();
    let has_data = endpoint.is_in() == is_completion;
    Ok(Event {
        number,
        time_us,
        id: packet.id(),
        kind: if is_completion { EventKind::Completion } else { EventKind::Submission },
        transfer,
        bus: packet.bus(),
        device: packet.device(),
        endpoint,
        status: Status::Usbd(packet.status()),
        setup: packet.setup(),
        length: has_data.then(|| packet.data_length()),
        may_be_longer: false,
        data: packet.data(),
        cut_at: cut_at(record, record.len() - packet.data().len(), packet.data_length()),
        iso_errors: if is_completion { packet.iso_errors() } else { 0 },
    })
}

/// The length of `record`, where it ends before the data of `stored` bytes behind `before` bytes do.
fn cut_at(record: &[u8], before: usize, stored: u32) -> Option<u32> {
    (record.len().saturating_sub(before) < stored as usize).then(|| u32::try_from(record.len()).unwrap_or(u32::MAX))
}

/// What a line of usbmon's text says; `time_us` is the time without wraps.
pub fn from_text(number: u64, time_us: i64, line: &usbmon_text::Line) -> Event<'_> {
    Event {
        number,
        time_us: Some(time_us),
        id: line.id,
        kind: line.event,
        transfer: line.transfer,
        bus: line.bus.unwrap_or(0),
        device: line.device,
        endpoint: line.endpoint,
        status: line.status.map_or(Status::Unknown, Status::Errno),
        setup: line.setup,
        length: Some(line.length),
        may_be_longer: false,
        data: line.data(),
        cut_at: None,
        iso_errors: line.iso_errors,
    }
}
