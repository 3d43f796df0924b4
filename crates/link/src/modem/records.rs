//! What a USB monitor sees of it.

use wire::usb::urb::{Urb, IN_PROGRESS};
use wire::usb::usbmon::EventKind;
use wire::usb::{EndpointAddress, TransferType};

use crate::engine::{Packet, Sink};
use crate::modem::encoding::Encoding;

/// The endpoints of a Quectel EC25 (its configuration descriptor).
const ENDPOINT_OUT: u8 = 0x05;
const ENDPOINT_IN: u8 = 0x88;
/// Device addresses are 1 to 127 (USB 2.0, 9.4.6); 1 is the root hub.
const FIRST_DEVICE: u8 = 2;
const LAST_DEVICE: u8 = 127;
const ESHUTDOWN: i32 = -108;

/// Numbers of URBs, and a buffer for their bytes.
#[derive(Clone, Debug)]
pub(super) struct Records {
    last_id: u64,
    device: u8,
    out_sequence: u16,
    in_sequence: u16,
    bytes: Vec<u8>,
}

impl Default for Records {
    fn default() -> Self {
        Self { last_id: 0, device: FIRST_DEVICE, out_sequence: 0, in_sequence: 0, bytes: Vec::new() }
    }
}

impl Records {
    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The device comes back under another address.
    pub(super) fn next_device(&mut self) {
        self.device = if self.device == LAST_DEVICE { FIRST_DEVICE } else { self.device + 1 };
        (self.out_sequence, self.in_sequence) = (0, 0);
    }

    fn urb(&self, at_ns: u64, id: u64, is_in: bool) -> Urb<'_> {
        Urb {
            at_ns,
            event: EventKind::Completion,
            id,
            device: self.device,
            endpoint: EndpointAddress(if is_in { ENDPOINT_IN } else { ENDPOINT_OUT }),
            transfer: TransferType::Bulk,
            status: 0,
            length: 0,
            setup: None,
            interval: 0,
            transfer_flags: 0,
            data: &[],
        }
    }

    pub(super) fn submit_out<'a, P: Packet + 'a>(
        &mut self,
        at_ns: u64,
        id: u64,
        encoding: &Encoding,
        packets: impl Iterator<Item = &'a P>,
        len: usize,
        sink: &mut impl Sink<P>,
    ) {
        encoding.write(packets, self.out_sequence, len, &mut self.bytes);
        self.out_sequence = self.out_sequence.wrapping_add(1);
        let urb = self.urb(at_ns, id, false);
        sink.bus(&Urb {
            event: EventKind::Submission,
            status: IN_PROGRESS,
            length: len as u32,
            data: &self.bytes,
            ..urb
        });
    }

    pub(super) fn complete_out<P>(&self, at_ns: u64, id: u64, len: usize, sink: &mut impl Sink<P>) {
        if sink.wants_bus() {
            sink.bus(&Urb { length: len as u32, ..self.urb(at_ns, id, false) });
        }
    }

    pub(super) fn submit_in<P>(&self, at_ns: u64, id: u64, len: u32, sink: &mut impl Sink<P>) {
        if sink.wants_bus() {
            let urb = self.urb(at_ns, id, true);
            sink.bus(&Urb { event: EventKind::Submission, status: IN_PROGRESS, length: len, ..urb });
        }
    }

    pub(super) fn complete_in<P: Packet>(
        &mut self,
        at_ns: u64,
        id: u64,
        encoding: &Encoding,
        packets: &[P],
        len: usize,
        sink: &mut impl Sink<P>,
    ) {
        encoding.write(packets.iter(), self.in_sequence, len, &mut self.bytes);
        self.in_sequence = self.in_sequence.wrapping_add(1);
        sink.bus(&Urb { length: len as u32, data: &self.bytes, ..self.urb(at_ns, id, true) });
    }

    /// The URB comes back because the device is gone.
    pub(super) fn abort<P>(&self, at_ns: u64, id: u64, is_in: bool, sink: &mut impl Sink<P>) {
        if sink.wants_bus() {
            sink.bus(&Urb { status: ESHUTDOWN, ..self.urb(at_ns, id, is_in) });
        }
    }
}
