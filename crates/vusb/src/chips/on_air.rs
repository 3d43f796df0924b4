//! What chips with one station share on every bus: they take turns with their air, and with who else is there. The AR9280,
//! with several stations and functions, has its own.

use std::os::fd::RawFd;

use crate::air::{AirCounters, Medium, Station};
use crate::device::{Effect, Source};
use crate::peers::{PeerStatistics, Peers};
use crate::state::State;

/// A chip with a station on the air.
pub trait OnAir: State {
    /// What is on the air.
    type Mac: Station;

    /// What is on the air.
    fn mac(&self) -> &Self::Mac;

    /// What is on the air.
    fn mac_mut(&mut self) -> &mut Self::Mac;

    /// Lets everything happen that is due before the air of `now_ns`.
    fn before_air(&mut self, _now_ns: u64) {}

    /// Lets everything happen that is due after the air of `now_ns`.
    fn after_air(&mut self, _now_ns: u64) {}

    /// When something happens next, except on the air. Everything up to `now_ns` has happened.
    fn next_event(&self, now_ns: u64) -> Option<u64>;

    /// Lets a fault happen. `true`: it is the chip's alone; `false`: the air gets it, too.
    fn inject(&mut self, now_ns: u64, effect: &Effect) -> bool;
}

/// [`OnAir::inject`] of a chip with one fault of its own: its firmware hangs.
pub(super) fn inject_hang(effect: &Effect, hang: impl FnOnce()) -> bool {
    let hangs = *effect == Effect::FirmwareHang;
    if hangs {
        hang();
    }
    hangs
}

/// What is around a chip: its air, and who else is there.
pub struct Around {
    medium: Medium,
    peers: Box<dyn Peers>,
    /// The time up to which everything has happened.
    now_ns: u64,
}

impl Around {
    /// At the beginning of time.
    pub(super) fn new(medium: Medium, peers: Box<dyn Peers>) -> Self {
        Self { medium, peers, now_ns: 0 }
    }

    /// The time up to which everything has happened.
    pub(super) const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// What happened on the air.
    pub(super) const fn air(&self) -> &AirCounters {
        self.medium.counters()
    }

    /// What happened on the air, and what the others have counted.
    pub(super) fn counted(&self) -> (AirCounters, PeerStatistics) {
        (self.air().clone(), self.peers.statistics())
    }

    /// The chip was reset.
    pub(super) fn start_over(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Lets everything happen that is due by `now_ns`.
    pub(super) fn advance(&mut self, now_ns: u64, chip: &mut impl OnAir) {
        self.now_ns = now_ns;
        self.peers.advance(now_ns);
        chip.before_air(now_ns);
        self.medium.advance(now_ns, chip.mac_mut(), &mut self.peers.stations_mut());
        chip.after_air(now_ns);
        self.peers.flush(now_ns);
    }

    /// When something happens next that was not caused from outside; `None`: never.
    pub(super) fn next_event(&self, chip: &impl OnAir) -> Option<u64> {
        let air = self.medium.next_event(chip.mac(), &self.peers.stations());
        [chip.next_event(self.now_ns), air, self.peers.next_event()].into_iter().flatten().min()
    }

    /// Lets a fault happen; `false`: neither the chip nor the air has it.
    pub(super) fn inject(&mut self, now_ns: u64, effect: Effect, chip: &mut impl OnAir) -> bool {
        chip.inject(now_ns, &effect) || self.medium.inject(effect)
    }

    /// Descriptors to wait for.
    pub(super) fn sources(&self, sources: &mut Vec<Source>) {
        self.peers.sources(sources);
    }

    /// One of them can be read.
    pub(super) fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.peers.readable(now_ns, fd);
    }

    /// The run ends.
    ///
    /// # Errors
    /// Those of the capture of the air.
    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        self.medium.finish()
    }
}

crate::state!(Around { medium, now_ns } within { peers });
