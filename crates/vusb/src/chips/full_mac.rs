//! What full-MAC chips on SDIO cards share: registers before a firmware that is a station on the air by itself.

use std::os::fd::RawFd;

use sdio::{CardIdentity, Function};

use crate::air::{AirCounters, Medium, Station};
use crate::device::{DeviceCounters, Effect, Source};
use crate::peers::{PeerStatistics, Peers};
use crate::state::{Reader, State, StateError, Writer};
use crate::ushc::{SdioChip, SdioStatistics};

/// A firmware, besides what it does on the air.
pub(super) trait Firmware: Station {
    /// Lets everything happen that is due by `now_ns`, except on the air.
    fn advance(&mut self, now_ns: u64);

    /// When something happens next, except on the air.
    fn next_event(&self) -> Option<u64>;

    /// Counts what happened to its frames.
    fn flush(&mut self, now_ns: u64);
}

/// A chip as its driver sees it.
pub(super) trait Chip: State {
    /// What runs on it.
    type Firmware: Firmware;

    /// How the card introduces itself.
    fn identity(&self) -> CardIdentity;

    /// Reads registers into `data`, as [`Function::read`].
    fn read(&mut self, address: u32, incrementing: bool, data: &mut [u8]);

    /// Writes registers, as [`Function::write`].
    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]);

    /// Whether it wants the host.
    fn interrupts(&self) -> bool;

    /// Power came.
    fn power_on(&mut self);

    /// What runs on it.
    fn firmware(&self) -> &Self::Firmware;

    /// What runs on it.
    fn firmware_mut(&mut self) -> &mut Self::Firmware;

    /// Lets the host see what the firmware has for it.
    fn hand_over(&mut self);

    /// The firmware stops, and does not start before power has come again.
    fn hang_firmware(&mut self);

    /// What it has counted, with what was counted around it.
    fn statistics(&self, sdio: SdioStatistics, air: AirCounters, peers: PeerStatistics) -> Box<dyn DeviceCounters>;
}

/// The registers that a transfer reads or writes, byte by byte: those from `address` on, or always that one.
pub(super) fn registers(address: u32, incrementing: bool) -> impl Iterator<Item = u32> {
    (0..).map(move |at| if incrementing { address.wrapping_add(at) } else { address })
}

/// A chip, its air and who else is there.
pub(super) struct FullMac<C> {
    pub(super) chip: C,
    medium: Medium,
    peers: Box<dyn Peers>,
}

impl<C: Chip> FullMac<C> {
    /// A chip without power.
    pub(super) fn new(chip: C, medium: Medium, peers: Box<dyn Peers>) -> Self {
        Self { chip, medium, peers }
    }
}

impl<C: Chip> Function for FullMac<C> {
    fn identity(&self) -> CardIdentity {
        self.chip.identity()
    }

    fn read(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        self.chip.read(address, incrementing, data);
    }

    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        self.chip.write(now_ns, address, incrementing, data);
    }

    fn interrupts(&self) -> bool {
        self.chip.interrupts()
    }

    fn advance(&mut self, now_ns: u64) {
        let firmware = self.chip.firmware_mut();
        self.peers.advance(now_ns);
        firmware.advance(now_ns);
        self.medium.advance(now_ns, firmware, &mut self.peers.stations_mut());
        firmware.flush(now_ns);
        self.peers.flush(now_ns);
        self.chip.hand_over();
    }

    fn next_event(&self) -> Option<u64> {
        let firmware = self.chip.firmware();
        let air = self.medium.next_event(firmware, &self.peers.stations());
        [air, firmware.next_event(), self.peers.next_event()].into_iter().flatten().min()
    }

    fn power_on(&mut self, _now_ns: u64) {
        self.chip.power_on();
    }
}

impl<C: Chip> SdioChip for FullMac<C> {
    fn sources(&self, sources: &mut Vec<Source>) {
        self.peers.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.peers.readable(now_ns, fd);
    }

    fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
        match effect {
            Effect::FirmwareHang => self.chip.hang_firmware(),
            other => return self.medium.inject(other),
        }
        true
    }

    fn statistics(&self, sdio: SdioStatistics) -> Box<dyn DeviceCounters> {
        self.chip.statistics(sdio, self.medium.counters().clone(), self.peers.statistics())
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

crate::state!({C: Chip} FullMac<C> { chip, medium } within { peers });
