//! A device that takes everything and always has something to send.

use vusb::device::{ControlReply, Device, Identity, InReply, OutReply, Speed};
use wire::usb::setup::Setup;

/// Vendor and product of the Linux kernel's own test gadget ("Gadget Zero", drivers/usb/misc/usbtest.c); no driver of a
/// distribution takes it for anything else.
pub const IDS: (u16, u16) = (0x0525, 0xa4a0);
/// Endpoints.
pub const OUT: u8 = 0x02;
/// See [`OUT`].
pub const IN: u8 = 0x81;

/// Bulk OUT 2 takes everything, bulk IN 1 gives 1500 bytes whenever it is asked.
pub struct Bulk {
    identity: Identity,
}

impl Default for Bulk {
    fn default() -> Self {
        let ((v0, v1), (p0, p1)) = ((0x25, 0x05), (0xa0, 0xa4));
        let device = [18, 1, 0, 2, 0xff, 0, 0, 64, v0, v1, p0, p1, 0, 1, 1, 0, 0, 1];
        let configuration = vec![
            9, 2, 32, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 2, 0xff, 0, 0, 0, 7, 5, IN, 2, 0, 2, 0, 7, 5, OUT, 2, 0, 2, 0,
        ];
        Self { identity: Identity { device, configuration, strings: vec!["bulk".into()], speed: Speed::High } }
    }
}

impl Device for Bulk {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, _setup: Setup, _data: &[u8]) -> ControlReply {
        ControlReply::Stall
    }

    fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, _data: &[u8]) -> OutReply {
        OutReply::Accepted
    }

    fn transfer_in(&mut self, _now_ns: u64, _endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        transfer.resize(crate::LEN, 0x5a);
        InReply::Transfer
    }

    fn advance(&mut self, _now_ns: u64) {}

    fn next_event(&self) -> Option<u64> {
        None
    }
}
