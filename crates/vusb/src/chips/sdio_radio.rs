//! What radio chips on SDIO cards share: a MAC, or a firmware that is a station by itself, behind the registers of one function.

use std::os::fd::RawFd;

use sdio::{CardIdentity, Function};

use super::on_air::{Around, OnAir};
use crate::air::{AirCounters, Medium};
use crate::device::{DeviceCounters, Effect, Source};
use crate::peers::{PeerStatistics, Peers};
use crate::state::{Reader, State, StateError, Writer};
use crate::ushc::{SdioChip, SdioStatistics};

/// A chip as its driver sees it.
pub(super) trait Chip: OnAir {
    /// How the card introduces itself.
    fn identity(&self) -> CardIdentity;

    /// Reads registers into `data`, as [`Function::read`].
    fn read(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]);

    /// Writes registers, as [`Function::write`].
    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]);

    /// Whether it wants the host.
    fn interrupts(&self) -> bool;

    /// Power came.
    fn power_on(&mut self, now_ns: u64);

    /// What it has counted, with what was counted around it.
    fn statistics(
        &self,
        now_ns: u64,
        sdio: SdioStatistics,
        air: AirCounters,
        peers: PeerStatistics,
    ) -> Box<dyn DeviceCounters>;
}

/// The registers that a transfer reads or writes, byte by byte: those from `address` on, or always that one.
pub(super) fn registers(address: u32, incrementing: bool) -> impl Iterator<Item = u32> {
    (0..).map(move |at| if incrementing { address.wrapping_add(at) } else { address })
}

/// A chip, its air and who else is there.
pub(super) struct SdioRadio<C> {
    pub(super) chip: C,
    around: Around,
}

impl<C: Chip> SdioRadio<C> {
    /// A chip without power.
    pub(super) fn new(chip: C, medium: Medium, peers: Box<dyn Peers>) -> Self {
        Self { chip, around: Around::new(medium, peers) }
    }
}

impl<C: Chip> Function for SdioRadio<C> {
    fn identity(&self) -> CardIdentity {
        self.chip.identity()
    }

    fn read(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        self.chip.read(now_ns, address, incrementing, data);
    }

    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        self.chip.write(now_ns, address, incrementing, data);
    }

    fn interrupts(&self) -> bool {
        self.chip.interrupts()
    }

    fn advance(&mut self, now_ns: u64) {
        self.around.advance(now_ns, &mut self.chip);
    }

    fn next_event(&self) -> Option<u64> {
        self.around.next_event(&self.chip)
    }

    fn power_on(&mut self, now_ns: u64) {
        self.chip.power_on(now_ns);
    }
}

impl<C: Chip> SdioChip for SdioRadio<C> {
    fn sources(&self, sources: &mut Vec<Source>) {
        self.around.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.around.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        self.around.inject(now_ns, effect, &mut self.chip)
    }

    fn statistics(&self, sdio: SdioStatistics) -> Box<dyn DeviceCounters> {
        let (air, peers) = self.around.counted();
        self.chip.statistics(self.around.now_ns(), sdio, air, peers)
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

crate::state!({C: Chip} SdioRadio<C> { chip, around });
