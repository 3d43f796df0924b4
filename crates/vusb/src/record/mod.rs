//! What went over the bus, written down.

mod room;
mod usbmon;

use wire::usb::setup::Setup;
use wire::usb::{EndpointAddress, TransferType};

pub use room::Room;
pub use usbmon::UsbmonRecorder;

/// An URB was submitted or has ended.
#[derive(Clone, Copy, Debug)]
pub struct UrbEvent<'a> {
    /// When, on the session's clock.
    pub now_ns: u64,
    /// Names the URB between the two events.
    pub sequence: u32,
    /// Where it goes.
    pub endpoint: EndpointAddress,
    /// How the endpoint transfers.
    pub transfer: TransferType,
    /// SETUP packet of a control transfer.
    pub setup: Option<Setup>,
    /// `transfer_flags`.
    pub flags: u32,
    /// Polling interval.
    pub interval: u32,
    /// Bytes of the buffer.
    pub length: u32,
    /// Status and bytes transferred; `None`: it was submitted.
    pub completion: Option<(i32, u32)>,
    /// OUT data with the submission, IN data with the completion.
    pub data: &'a [u8],
}

/// Is told of every URB.
pub trait Observer {
    /// An URB was submitted or has ended.
    fn urb(&mut self, event: &UrbEvent<'_>);

    /// The run ends.
    ///
    /// # Errors
    /// Those of its file.
    fn finish(&mut self) -> std::io::Result<()>;
}
