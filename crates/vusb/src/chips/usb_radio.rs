//! What radio chips on USB share: a MAC behind vendor requests and endpoints, its air, and who else is there.

use std::os::fd::RawFd;

use wire::usb::setup::Setup;

use crate::air::{AirCounters, Medium, Station};
use crate::device::{ControlReply, Device, DeviceCounters, Effect, Identity, InReply, OutReply, Source, Speed};
use crate::peers::{PeerStatistics, Peers};
use crate::state::{Reader, State, StateError, Writer};

/// A chip as its driver sees it.
pub trait Chip: State {
    /// What is on the air.
    type Mac: Station;

    /// Its descriptors.
    fn identity(&self) -> &Identity;

    /// What is on the air.
    fn mac(&self) -> &Self::Mac;

    /// What is on the air.
    fn mac_mut(&mut self) -> &mut Self::Mac;

    /// As [`Device::control`].
    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply;

    /// As [`Device::transfer_out`].
    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply;

    /// As [`Device::transfer_in`].
    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply;

    /// Lets everything happen that is due before the air of `now_ns`.
    fn before_air(&mut self, _now_ns: u64) {}

    /// Lets everything happen that is due after the air of `now_ns`.
    fn after_air(&mut self, _now_ns: u64) {}

    /// When something happens next, except on the air. Everything up to `now_ns` has happened.
    fn next_event(&self, now_ns: u64) -> Option<u64>;

    /// As [`Device::reset`].
    fn reset(&mut self, now_ns: u64);

    /// Lets a fault happen. `true`: it is the chip's alone; `false`: the air gets it, too.
    fn inject(&mut self, effect: &Effect) -> bool;

    /// What it has counted, with what was counted around it.
    fn statistics(&self, now_ns: u64, air: AirCounters, peers: PeerStatistics) -> Box<dyn DeviceCounters>;
}

/// A chip, its air and who else is there.
pub struct UsbRadio<C> {
    chip: C,
    medium: Medium,
    peers: Box<dyn Peers>,
    /// The time up to which everything has happened.
    now_ns: u64,
}

impl<C: Chip> UsbRadio<C> {
    /// A chip that was just plugged in.
    pub(super) fn plugged_in(chip: C, medium: Medium, peers: Box<dyn Peers>) -> Self {
        Self { chip, medium, peers, now_ns: 0 }
    }

    /// What happened on the air.
    pub const fn air(&self) -> &AirCounters {
        self.medium.counters()
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
        self.now_ns = now_ns;
        self.peers.advance(now_ns);
        self.chip.before_air(now_ns);
        self.medium.advance(now_ns, self.chip.mac_mut(), &mut self.peers.stations_mut());
        self.chip.after_air(now_ns);
        self.peers.flush(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let air = self.medium.next_event(self.chip.mac(), &self.peers.stations());
        [self.chip.next_event(self.now_ns), air, self.peers.next_event()].into_iter().flatten().min()
    }

    fn reset(&mut self, now_ns: u64) {
        self.chip.reset(now_ns);
        self.now_ns = now_ns;
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.peers.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.peers.readable(now_ns, fd);
    }

    fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
        self.chip.inject(&effect) || self.medium.inject(effect)
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(self.chip.statistics(self.now_ns, self.medium.counters().clone(), self.peers.statistics()))
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.medium.finish()
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({C: Chip} UsbRadio<C> { chip, medium, now_ns } within { peers });
