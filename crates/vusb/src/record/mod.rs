//! What went over the bus, written down.

mod room;
mod usbmon;

use wire::usb::setup::Setup;
use wire::usb::{EndpointAddress, TransferType};

pub use room::Room;
pub use usbmon::UsbmonRecorder;

/// What a capture says of where it comes from, as the description of its interface: a guest's by the guest's mode, which its
/// init gives in `TXOP_MODE`; on other machines the chips' time is theirs, as that of emulated links.
pub fn mark() -> &'static str {
    mark_of(std::env::var("TXOP_MODE").ok().as_deref())
}

fn mark_of(mode: Option<&str>) -> &'static str {
    match mode {
        Some("exact") => capture::GUEST_EXACT,
        Some("fast") => capture::GUEST_FAST,
        _ => capture::EMULATED,
    }
}

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

#[cfg(test)]
mod tests {
    #[test]
    fn the_mark_is_that_of_the_mode() {
        let marks = [Some("exact"), Some("fast"), None, Some("")].map(super::mark_of);
        assert_eq!(marks, ["guest-exact by txop", "guest-fast by txop", "emulated by txop", "emulated by txop"]);
    }
}
