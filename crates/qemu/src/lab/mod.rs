//! The device, what its guest does to it, and what QEMU is to do next.

mod action;
mod commands;
mod plugged;
mod saved;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use vusb::device::Device;
use vusb::pci::{Register, SharedMemory};
use vusb::peers::Mailbox;
use vusb::urbs::{Endpoint, Finished, Request as Transfer};
use vusb::wired::WiredQueues;

pub use self::action::Action;
use self::plugged::{Bus, Plugged};
use crate::clock::Clock;
use crate::config::Config;

/// Events handled in a row; what is left is due at once.
const EVENTS_MAX: usize = 4096;
/// Frames of the wired interface that wait for the device at most, as many as a TAP device keeps (txqueuelen).
const FRAMES_MAX: usize = 1000;

/// All that is outside of the guest.
pub struct Lab {
    config: Config,
    clock: Option<Clock>,
    radios: Mailbox,
    wired: WiredQueues,
    memory: SharedMemory,
    plugged: Option<Plugged>,
    actions: VecDeque<Action>,
    /// What has come of a line.
    line: Vec<u8>,
    /// The time up to which everything has happened, by the guest's clock.
    reached_ns: u64,
    /// Why the device has ended by itself.
    ended: Option<String>,
    /// The guest has asked to be stopped.
    stops: bool,
    /// Files with counters.
    counted: BTreeSet<PathBuf>,
}

impl Lab {
    /// Without a device.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            clock: None,
            radios: Mailbox::default(),
            wired: WiredQueues::default(),
            memory: SharedMemory::default(),
            plugged: None,
            actions: VecDeque::new(),
            line: Vec::new(),
            reached_ns: 0,
            ended: None,
            stops: false,
            counted: BTreeSet::new(),
        }
    }

    /// The guest's CLOCK_MONOTONIC at a time of QEMU's clock, ns.
    pub fn guest_ns(&self, now_ns: u64) -> u64 {
        self.clock.unwrap_or_default().guest_ns(now_ns)
    }

    /// Lets everything happen that is due: one event after the other, each at its time, with the bus between them.
    pub fn advance(&mut self, now_ns: u64) {
        let now_ns = self.guest_ns(now_ns);
        let Some(plugged) = &mut self.plugged else { return };
        for _ in 0..EVENTS_MAX {
            let Some(at_ns) = plugged.device.next_event().filter(|&at_ns| at_ns < now_ns) else { break };
            self.reached_ns = at_ns.max(self.reached_ns);
            plugged.turn(self.reached_ns, &self.wired);
        }
        self.reached_ns = now_ns.max(self.reached_ns);
        plugged.turn(self.reached_ns, &self.wired);
        plugged.look(self.reached_ns, &mut self.actions);
    }

    /// When something happens next by QEMU's clock; `None`: never by itself.
    pub fn next_event(&self) -> Option<u64> {
        let at_ns = self.plugged.as_ref()?.device.next_event()?;
        Some(self.clock.unwrap_or_default().virtual_ns(at_ns))
    }

    /// The next of what QEMU is to do.
    pub fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether there is something to do.
    pub fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    /// The endpoints of the device but endpoint 0: number, whether it is IN, and what it is.
    pub fn endpoints(&self) -> Vec<(u8, bool, Endpoint)> {
        match self.plugged.as_ref().map(|plugged| &plugged.bus) {
            Some(Bus::Usb(urbs)) => urbs.endpoints().collect(),
            _ => Vec::new(),
        }
    }

    /// A transfer. `at_once`: it may be finished at once, as the host waits for no other of this endpoint; then it is no
    /// action, but returned.
    pub fn transfer(&mut self, now_ns: u64, transfer: Transfer, data: &[u8], at_once: bool) -> Option<Finished> {
        self.advance(now_ns);
        let plugged = self.plugged.as_mut()?;
        let Bus::Usb(urbs) = &mut plugged.bus else { return None };
        if let Err(error) = urbs.submit(self.reached_ns, transfer, data) {
            self.end(&format!("the guest broke the protocol: {error}"));
            return None;
        }
        plugged.turn(self.reached_ns, &self.wired);
        plugged.look(self.reached_ns, &mut self.actions);
        let is_it = |action: &Action| matches!(action, Action::Finished(done) if done.id == transfer.id);
        let at = self.actions.iter().position(is_it).filter(|_| at_once)?;
        match self.actions.remove(at) {
            Some(Action::Finished(done)) => Some(done),
            _ => None,
        }
    }

    /// The host takes a transfer back.
    pub fn cancel(&mut self, now_ns: u64, id: u32) {
        self.advance(now_ns);
        if let Some(Plugged { bus: Bus::Usb(urbs), .. }) = &mut self.plugged {
            urbs.unlink(self.reached_ns, id);
        }
        self.actions.retain(|action| !matches!(action, Action::Finished(done) if done.id == id));
    }

    /// The host resets the port.
    pub fn reset(&mut self, now_ns: u64) {
        self.advance(now_ns);
        if let Some(Plugged { bus: Bus::Usb(urbs), device, .. }) = &mut self.plugged {
            device.reset(self.reached_ns);
            urbs.reset(device);
        }
    }

    /// A command of the SD host controller.
    pub fn from_slot(&mut self, now_ns: u64, message: &[u8]) {
        self.advance(now_ns);
        let Some(Plugged { bus: Bus::Slot(slot), present: true, .. }) = &mut self.plugged else { return };
        if let Err(error) = slot.receive(message) {
            self.end(&format!("the SD host controller broke the protocol: {error}"));
        }
        self.advance(now_ns);
    }

    /// The next message for the SD host controller.
    pub fn to_slot(&mut self) -> Option<Vec<u8>> {
        match &mut self.plugged {
            Some(Plugged { bus: Bus::Slot(slot), .. }) => slot.output().pop_front(),
            _ => None,
        }
    }

    /// The computer's memory, for devices on PCI.
    pub fn set_memory(&mut self, memory: SharedMemory) {
        self.memory = memory;
    }

    /// The guest reads a register of a device on PCI.
    pub fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        self.advance(now_ns);
        match &mut self.plugged {
            Some(Plugged { bus: Bus::Pci, device, present: true, .. }) => {
                device.read_register(self.reached_ns, register)
            }
            _ => register.width.mask(),
        }
    }

    /// The guest writes one.
    pub fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        self.advance(now_ns);
        if let Some(Plugged { bus: Bus::Pci, device, present: true, .. }) = &mut self.plugged {
            device.write_register(self.reached_ns, register, value);
        }
    }

    /// The functions on PCI that hold their interrupt line, a bit for each.
    pub fn interrupts(&self) -> u32 {
        match &self.plugged {
            Some(Plugged { bus: Bus::Pci, device, present: true, .. }) => device.interrupts(),
            _ => 0,
        }
    }

    /// A message of mac80211_hwsim.
    pub fn from_radios(&mut self, now_ns: u64, message: &[u8]) {
        if self.plugged.is_some() {
            self.advance(now_ns);
            self.radios.put(message.to_vec());
            self.advance(now_ns);
            // A device without radios reads none.
            self.radios.clear();
        }
    }

    /// The next message for mac80211_hwsim.
    pub fn to_radios(&mut self) -> Option<Vec<u8>> {
        self.radios.take()
    }

    /// A frame that the guest sends on the wired interface.
    pub fn from_wired(&mut self, now_ns: u64, frame: &[u8]) {
        if self.plugged.is_some() && self.wired.to_host.borrow().len() < FRAMES_MAX {
            self.wired.to_host.borrow_mut().push_back(frame.to_vec());
            self.advance(now_ns);
        }
    }

    /// The next frame that the guest gets on the wired interface.
    pub fn to_wired(&mut self) -> Option<Vec<u8>> {
        let mut frames = self.wired.from_host.borrow_mut();
        (!frames.is_empty()).then(|| frames.remove(0))
    }
}
