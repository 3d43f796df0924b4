//! What radio chips on USB share: a MAC behind vendor requests and endpoints, its air, and who else is there.

use std::os::fd::RawFd;

use wire::usb::setup::Setup;

use super::on_air::{Around, OnAir};
use crate::air::{AirCounters, Medium};
use crate::device::{ControlReply, Device, DeviceCounters, Effect, Identity, InReply, OutReply, Source, Speed};
use crate::peers::{PeerStatistics, Peers};
use crate::state::{Reader, State, StateError, Writer};

/// A chip as its driver sees it.
pub trait Chip: OnAir {
    /// Its descriptors.
    fn identity(&self) -> &Identity;

    /// As [`Device::control`].
    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply;

    /// As [`Device::transfer_out`].
    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply;

    /// As [`Device::transfer_in`].
    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply;

    /// As [`Device::reset`].
    fn reset(&mut self, now_ns: u64);

    /// What it has counted, with what was counted around it.
    fn statistics(&self, now_ns: u64, air: AirCounters, peers: PeerStatistics) -> Box<dyn DeviceCounters>;
}

/// A chip, its air and who else is there.
pub struct UsbRadio<C> {
    chip: C,
    around: Around,
}

impl<C: Chip> UsbRadio<C> {
    /// A chip that was just plugged in.
    pub(super) fn plugged_in(chip: C, medium: Medium, peers: Box<dyn Peers>) -> Self {
        Self { chip, around: Around::new(medium, peers) }
    }

    /// What happened on the air.
    pub const fn air(&self) -> &AirCounters {
        self.around.air()
    }
}

/// An endpoint's address, attributes, largest packet and interval (USB 2.0, table 9-13).
pub(super) type Endpoint = (u8, u8, u16, u8);

/// A bulk endpoint of a high-speed device.
pub(super) const fn bulk(address: u8) -> Endpoint {
    (address, 2, 512, 0)
}

/// Descriptors of a high-speed dongle with one vendor interface that needs 500 mA (USB 2.0, clause 9.6).
/// `release`: bcdDevice; `strings`: manufacturer, product, serial number.
pub(super) fn dongle(
    (vendor, product): (u16, u16),
    release: u16,
    endpoints: impl IntoIterator<Item = Endpoint>,
    strings: [&str; 3],
) -> Identity {
    let ([v0, v1], [p0, p1]) = (vendor.to_le_bytes(), product.to_le_bytes());
    let [r0, r1] = release.to_le_bytes();
    let device = [18, 1, 0, 2, 0, 0, 0, 64, v0, v1, p0, p1, r0, r1, 1, 2, 3, 1];
    let mut count = 0u8;
    let mut described = Vec::new();
    for (address, attributes, max_packet, interval) in endpoints {
        let [low, high] = max_packet.to_le_bytes();
        described.extend([7, 5, address, attributes, low, high, interval]);
        count += 1;
    }
    let len = (9 + 9 + described.len()) as u8;
    let mut configuration = vec![9, 2, len, 0, 1, 1, 0, 0x80, 250, 9, 4, 0, 0, count, 0xff, 0xff, 0xff, 0];
    configuration.append(&mut described);
    Identity { device, configuration, strings: strings.map(String::from).to_vec(), speed: Speed::High }
}

impl<C: Chip> Device for UsbRadio<C> {
    fn identity(&self) -> &Identity {
        self.chip.identity()
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        self.chip.control(now_ns, setup, data)
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        self.chip.transfer_out(now_ns, endpoint, data)
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        self.chip.transfer_in(now_ns, endpoint, transfer)
    }

    fn advance(&mut self, now_ns: u64) {
        self.around.advance(now_ns, &mut self.chip);
    }

    fn next_event(&self) -> Option<u64> {
        self.around.next_event(&self.chip)
    }

    fn reset(&mut self, now_ns: u64) {
        self.chip.reset(now_ns);
        self.around.start_over(now_ns);
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.around.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.around.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        self.around.inject(now_ns, effect, &mut self.chip)
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        let (air, peers) = self.around.counted();
        Some(self.chip.statistics(self.around.now_ns(), air, peers))
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.around.finish()
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({C: Chip} UsbRadio<C> { chip, around });
