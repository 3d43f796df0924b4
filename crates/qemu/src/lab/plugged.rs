//! A device on its bus.

use std::collections::VecDeque;

use vusb::assembly::DeviceArgs;
use vusb::device::Device;
use vusb::fault::{Faulty, Script};
use vusb::session::Slot;
use vusb::statistics::{DeviceStatistics, Statistics, FORMAT, FORMAT_VERSION};
use vusb::urbs::{UrbCounters, Urbs};
use vusb::wired::WiredQueues;

use super::action::Action;

/// While this many bytes are finished and were not taken, the device is asked for no more.
pub(super) const WAITING_MAX: usize = 8 << 20;
/// The number that wired interfaces are read by: none has a descriptor here.
const NO_DESCRIPTOR: std::os::fd::RawFd = -1;

/// A device that was plugged in.
pub(super) struct Plugged {
    /// The line that it was asked for with.
    pub(super) words: Vec<String>,
    pub(super) args: Box<DeviceArgs>,
    pub(super) device: Box<dyn Device>,
    pub(super) bus: Bus,
    /// What was counted before the last time it was plugged in.
    pub(super) before: UrbCounters,
    /// It is in the port, or in the slot.
    pub(super) present: bool,
}

/// What a device is plugged into.
pub(super) enum Bus {
    /// A port of the USB host controller.
    Usb(Box<Urbs>),
    /// The slot of the SD host controller.
    Slot(Slot),
    /// PCI.
    Pci,
}

impl Bus {
    /// What is to be done when the device is pulled out.
    pub(super) const fn gone(&self) -> Action {
        match self {
            Self::Usb(_) => Action::Detach,
            Self::Slot(_) => Action::PullOut,
            Self::Pci => Action::Vanish,
        }
    }
}

impl Plugged {
    /// The same, and from now on a fault script is carried out.
    pub(super) fn with_faults(self, script: Script, now_ns: u64) -> Self {
        Self { device: Box::new(Faulty::from_now(self.device, script, now_ns)), ..self }
    }

    /// Runs the device and its bus up to `at_ns`.
    pub(super) fn turn(&mut self, at_ns: u64, wired: &WiredQueues) {
        if !wired.to_host.borrow().is_empty() {
            self.device.readable(at_ns, NO_DESCRIPTOR);
        }
        self.device.advance(at_ns);
        match &mut self.bus {
            _ if !self.present => {}
            Bus::Usb(urbs) => urbs.pump(at_ns, &mut self.device, 0),
            Bus::Slot(slot) => slot.pump(at_ns, &mut self.device),
            Bus::Pci => {}
        }
    }

    /// Notes what QEMU has to be told.
    pub(super) fn look(&mut self, now_ns: u64, actions: &mut VecDeque<Action>) {
        if let Bus::Usb(urbs) = &mut self.bus {
            while let Some(done) = urbs.finished() {
                actions.push_back(Action::Finished(done));
            }
        }
        let present = self.device.is_present(now_ns);
        match (self.present, present) {
            (true, false) => actions.push_back(self.bus.gone()),
            (false, true) => {
                self.device.reset(now_ns);
                match &mut self.bus {
                    Bus::Usb(urbs) => {
                        self.before.add(urbs.counters());
                        let observer = urbs.take_observer();
                        **urbs = Urbs::new(&self.device, observer, WAITING_MAX);
                        actions.push_back(Action::Attach(self.device.identity().speed as u32));
                    }
                    Bus::Slot(slot) => {
                        *slot = Slot::default();
                        actions.push_back(Action::Insert);
                    }
                    Bus::Pci => actions.push_back(Action::Appear(self.device.functions())),
                }
            }
            _ => {}
        }
        self.present = present;
    }

    pub(super) fn counters(&self, now_ns: u64, epoch_ns: i64) -> Statistics {
        let mut urbs = self.before;
        if let Bus::Usb(now) = &self.bus {
            urbs.add(now.counters());
        }
        let faults = || self.device.fault_counters();
        Statistics {
            format: FORMAT,
            version: FORMAT_VERSION,
            monotonic_ns: now_ns,
            epoch_ns,
            urbs,
            device: self.device.statistics().map(|counters| DeviceStatistics { counters, faults: faults() }),
        }
    }

    /// Writes all files, whatever happens to one of them.
    pub(super) fn finish(mut self, now_ns: u64, epoch_ns: i64) -> std::io::Result<()> {
        let statistics = match &self.args.surroundings.stats {
            Some(path) => self.counters(now_ns, epoch_ns).write(path),
            None => Ok(()),
        };
        let observer = match &mut self.bus {
            Bus::Usb(urbs) => urbs.take_observer(),
            Bus::Slot(_) | Bus::Pci => None,
        };
        let usb = observer.map_or(Ok(()), |mut observer| observer.finish());
        statistics.and(usb).and(self.device.finish())
    }
}
