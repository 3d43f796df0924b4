//! Notes of what was on the air and on the bus, taken while a run happens.

mod air;
mod bus;

use link::simulation::Observer;
use link::traffic::Modelled;
use link::Ppdu;
use wire::usb::urb::Urb;

pub(crate) use self::air::{Air, Direction};
pub(crate) use self::bus::Bus;
use crate::monitor_tap::Taps;

/// An observer that counts, from the end of the warm-up to the end of the run, and shows the same to the monitors.
pub(crate) struct Record {
    begin_ns: u64,
    end_ns: u64,
    pub(crate) air: Air,
    pub(crate) bus: Bus,
    pub(crate) taps: Taps,
}

impl Record {
    /// For this many hosts. `begin_ns` to `end_ns` counts; the time series begins at 0.
    pub(crate) fn new(hosts: usize, window_ns: (u64, u64), interval_ns: u64, taps: Taps) -> Self {
        let (begin_ns, end_ns) = window_ns;
        Self {
            begin_ns,
            end_ns,
            air: Air::new(hosts.saturating_sub(1), end_ns, interval_ns),
            bus: Bus::default(),
            taps,
        }
    }

    fn counts(&self, at_ns: u64) -> bool {
        (self.begin_ns..self.end_ns).contains(&at_ns)
    }
}

impl Observer for Record {
    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Modelled>) {
        self.air.note_time(ppdu);
        if self.counts(ppdu.start_ns) {
            self.air.note(ppdu);
            self.taps.air(ppdu);
        }
    }

    fn wants_bus(&self) -> bool {
        true
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        let counts = self.counts(urb.at_ns);
        self.bus.note(urb, counts);
        if counts {
            self.taps.usb(urb);
        }
    }
}
