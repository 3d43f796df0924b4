//! The device, what its guest does to it, and what QEMU is to do next.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use clap::Parser;
use monitor::Origin;
use vusb::assembly::DeviceArgs;
use vusb::device::{Device, Effect};
use vusb::machine::Machine;
use vusb::options::HostKind;
use vusb::pci::{PciIdentity, SharedMemory};
use vusb::peers::Mailbox;
use vusb::session::Slot;
use vusb::state::{Reader, State, StateError, Writer};
use vusb::statistics::{DeviceStatistics, Statistics, FORMAT, FORMAT_VERSION};
use vusb::urbs::{Endpoint, Finished, Request as Transfer, UrbCounters, Urbs};
use vusb::wired::WiredQueues;

use crate::clock::Clock;
use crate::config::Config;
use crate::request::{Command, Line, Reply, Request, LINE_MAX};

/// Events handled in a row; what is left is due at once.
const EVENTS_MAX: usize = 4096;
/// While this many bytes are finished and were not taken, the device is asked for no more.
const WAITING_MAX: usize = 8 << 20;
/// Frames of the wired interface that wait for the device at most, as many as a TAP device keeps (txqueuelen).
const FRAMES_MAX: usize = 1000;
/// How long a device is away that is plugged in again.
const UNPLUGGED_MS: u64 = 1_000;
/// Files with counters that a guest may name.
const COUNTERS_MAX: usize = 32;
/// The number that wired interfaces are read by: none has a descriptor here.
const NO_DESCRIPTOR: std::os::fd::RawFd = -1;

/// What QEMU is to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Action {
    /// A transfer goes back to the host.
    Finished(Finished),
    /// The device is in the port now; its speed is a number of Linux' `enum usb_device_speed`.
    Attach(u32),
    /// It is not any more.
    Detach,
    /// The card is in the slot of the SD host controller.
    Insert,
    /// It is not any more.
    PullOut,
    /// The functions of the device are on PCI now, in this order.
    Appear(Vec<PciIdentity>),
    /// They are not any more.
    Vanish,
    /// A line for the control port.
    Reply(Vec<u8>),
    /// The guest stops, to be saved.
    Stop,
}

fn parsed(words: &[String]) -> Result<Command, clap::Error> {
    let words = std::iter::once("control").chain(words.iter().map(String::as_str));
    Request::try_parse_from(words).map(|request| request.command)
}

/// A device that was plugged in.
struct Plugged {
    /// The line that it was asked for with.
    words: Vec<String>,
    args: Box<DeviceArgs>,
    device: Box<dyn Device>,
    bus: Bus,
    /// What was counted before the last time it was plugged in.
    before: UrbCounters,
    /// It is in the port, or in the slot.
    present: bool,
}

/// What a device is plugged into.
enum Bus {
    /// A port of the USB host controller.
    Usb(Box<Urbs>),
    /// The slot of the SD host controller.
    Slot(Slot),
    /// PCI.
    Pci,
}

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
    pub fn read_register(&mut self, now_ns: u64, function: usize, offset: u32) -> u32 {
        self.advance(now_ns);
        match &mut self.plugged {
            Some(Plugged { bus: Bus::Pci, device, present: true, .. }) => {
                device.read_register(self.reached_ns, function, offset)
            }
            _ => u32::MAX,
        }
    }

    /// The guest writes one.
    pub fn write_register(&mut self, now_ns: u64, function: usize, offset: u32, value: u32) {
        self.advance(now_ns);
        if let Some(Plugged { bus: Bus::Pci, device, present: true, .. }) = &mut self.plugged {
            device.write_register(self.reached_ns, function, offset, value);
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

    /// Bytes of the control port.
    pub fn control(&mut self, now_ns: u64, bytes: &[u8]) {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let reply = match serde_json::from_slice::<Line>(&line) {
                Ok(line) => self.answer(now_ns, &line),
                Err(error) => Reply::failed(2, format!("not a request: {error}")),
            };
            let mut text = serde_json::to_vec(&reply).unwrap_or_default();
            text.push(b'\n');
            self.actions.push_back(Action::Reply(text));
            if std::mem::take(&mut self.stops) {
                self.actions.push_back(Action::Stop);
            }
        }
        if self.line.len() > LINE_MAX {
            self.line.clear();
        }
    }

    fn answer(&mut self, now_ns: u64, line: &Line) -> Reply {
        if self.clock.is_none() || self.plugged.is_none() {
            // The device lives by the clock that it began with.
            self.clock = Some(Clock::new(now_ns, line.clocks()));
        }
        self.advance(now_ns);
        match parsed(&line.words) {
            Ok(command) => self.carry_out(now_ns, command, &line.words),
            Err(error) => Reply::failed(2, error.to_string().trim_end()),
        }
    }

    fn carry_out(&mut self, now_ns: u64, command: Command, words: &[String]) -> Reply {
        match command {
            Command::Clock => Reply::done(self.clocks(now_ns)),
            Command::Checkpoint if !self.config.checkpoints => {
                Reply::failed(3, "no process waits for a checkpoint of this guest")
            }
            Command::Checkpoint => {
                self.stops = true;
                Reply::done("")
            }
            Command::Run => match &self.config.run {
                Some(run) => {
                    if let Some(plugged) = &mut self.plugged {
                        // A device that draws nothing says no.
                        plugged.device.inject(self.reached_ns, Effect::Reseed(run.seed, run.loss));
                    }
                    Reply::done(run.script.clone())
                }
                None => Reply::failed(3, "this guest was not restored for a run"),
            },
            Command::Attach(args) => match self.attach(now_ns, args, words) {
                Ok(()) => Reply::done(""),
                Err(reply) => reply,
            },
            Command::Counters(args) => match self.config.written(&args.file) {
                Ok(path) if self.counted.len() >= COUNTERS_MAX && !self.counted.contains(&args.file) => {
                    Reply::failed(2, format!("{}: {COUNTERS_MAX} files have counters already", path.display()))
                }
                Ok(path) => {
                    self.counted.insert(args.file);
                    self.write_counters(path)
                }
                Err(error) => Reply::failed(2, error.to_string()),
            },
            Command::Struck => {
                let counters = self.plugged.as_ref().and_then(|plugged| plugged.device.fault_counters());
                let struck: u64 = counters.iter().flatten().map(|fault| fault.struck).sum();
                Reply::done(struck.to_string())
            }
            Command::Replug => match &mut self.plugged {
                Some(plugged) => {
                    plugged.device.inject(self.reached_ns, Effect::Unplug(UNPLUGGED_MS));
                    plugged.look(self.reached_ns, &mut self.actions);
                    Reply::done("")
                }
                None => Reply::failed(1, "no device is plugged in"),
            },
            Command::Alive => match &self.ended {
                Some(why) => Reply::failed(1, why.clone()),
                None => Reply::done(""),
            },
            Command::Detach => {
                let reply = self.detach();
                self.ended.get_or_insert_with(|| "it was detached".to_owned());
                reply
            }
        }
    }

    /// One moment by QEMU's clock, by the one of the device's files, and what the latter lacks to the time since 1970, ns.
    fn clocks(&self, now_ns: u64) -> String {
        let (monotonic_ns, epoch_ns) = (self.guest_ns(now_ns), self.clock.unwrap_or_default().epoch_ns());
        serde_json::json!({ "virtual_ns": now_ns, "monotonic_ns": monotonic_ns, "epoch_ns": epoch_ns }).to_string()
    }

    fn attach(&mut self, now_ns: u64, args: Box<DeviceArgs>, words: &[String]) -> Result<(), Reply> {
        if self.plugged.is_some() {
            return Err(Reply::failed(2, "a device is plugged in already"));
        }
        let mut plugged = self.made(args, words)?;
        self.radios.clear();
        self.reached_ns = self.guest_ns(now_ns);
        plugged.look(self.reached_ns, &mut self.actions);
        self.plugged = Some(plugged);
        self.ended = None;
        Ok(())
    }

    /// A device after its options, on its bus, not yet in the port.
    fn made(&self, mut args: Box<DeviceArgs>, words: &[String]) -> Result<Plugged, Reply> {
        let wrong = |error: crate::config::PathError| Reply::failed(2, error.to_string());
        let around = &mut args.surroundings;
        for path in [&mut around.usb, &mut around.command_log, &mut around.trace, &mut around.air, &mut around.stats] {
            if let Some(name) = path.take() {
                *path = Some(self.config.written(&name).map_err(wrong)?);
            }
        }
        for path in [&mut around.efuse, &mut around.faults] {
            if let Some(name) = path.take() {
                *path = Some(self.config.read(&name).map_err(wrong)?);
            }
        }
        let limit = around.capture_limit.unwrap_or(self.config.capture_limit);
        around.capture_limit = Some(limit.min(self.config.capture_limit));
        let epoch_ns = self.clock.unwrap_or_default().epoch_ns();
        let origin = if self.config.exact { Origin::GuestExact } else { Origin::GuestFast };
        let machine = Machine::Outside {
            origin,
            radios: self.radios.clone(),
            wired: self.wired.clone(),
            memory: self.memory.clone(),
        };
        let failed = |error: vusb::assembly::AssemblyError| Reply::failed(error.code(), error.to_string());
        let device = args.device(&machine, epoch_ns).map_err(failed)?;
        let observer = args.observer(&machine, epoch_ns).map_err(failed)?;
        let bus = if args.surroundings.host == HostKind::Virtual {
            Bus::Slot(Slot::default())
        } else if args.device.is_on_pci() {
            Bus::Pci
        } else {
            Bus::Usb(Box::new(Urbs::new(&device, observer, WAITING_MAX)))
        };
        let words = words.to_vec();
        Ok(Plugged { words, args, device, bus, before: UrbCounters::default(), present: false })
    }

    fn write_counters(&self, path: PathBuf) -> Reply {
        let Some(plugged) = &self.plugged else { return Reply::failed(1, "no device is plugged in") };
        let epoch_ns = self.clock.unwrap_or_default().epoch_ns();
        match plugged.counters(self.reached_ns, epoch_ns).write(&path) {
            Ok(()) => Reply::done(""),
            Err(error) => Reply::failed(3, format!("{}: {error}", path.display())),
        }
    }

    /// Ends the device and its files.
    fn detach(&mut self) -> Reply {
        let Some(plugged) = self.plugged.take() else { return Reply::done("") };
        if plugged.present {
            self.actions.push_back(plugged.bus.gone());
        }
        match plugged.finish(self.reached_ns, self.clock.unwrap_or_default().epoch_ns()) {
            Ok(()) => Reply::done(vusb::record::take_full().join("\n")),
            Err(error) => Reply::failed(3, error.to_string()),
        }
    }

    /// The device ends by itself.
    pub fn end(&mut self, why: &str) {
        self.ended = Some(why.to_owned());
        eprintln!("txop-vusb: {why}");
        self.detach();
    }

    /// QEMU ends.
    pub fn finish(&mut self, now_ns: u64) {
        self.advance(now_ns);
        let reply = self.detach();
        if reply.status != 0 {
            eprintln!("txop-vusb: {}", reply.text);
        }
    }
}

impl Bus {
    /// What is to be done when the device is pulled out.
    const fn gone(&self) -> Action {
        match self {
            Self::Usb(_) => Action::Detach,
            Self::Slot(_) => Action::PullOut,
            Self::Pci => Action::Vanish,
        }
    }
}

impl Plugged {
    /// What is due then, and what the bus makes of it.
    fn turn(&mut self, at_ns: u64, wired: &WiredQueues) {
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
    fn look(&mut self, now_ns: u64, actions: &mut VecDeque<Action>) {
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

    fn counters(&self, now_ns: u64, epoch_ns: i64) -> Statistics {
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
    fn finish(mut self, now_ns: u64, epoch_ns: i64) -> std::io::Result<()> {
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

/// The format of [`Lab::save`]. The version counts up with every change of what a device saves; the program that writes it is
/// known by its hash beside.
const STATE: (&str, u32) = ("txop-vusb-state", 1);

impl Lab {
    /// Everything that another process needs to continue, beside the files and the configuration.
    ///
    /// # Errors
    /// The device cannot be saved.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        let mut to = Writer::default();
        to.put(&STATE)?;
        self.state(&mut to)?;
        to.put(&self.plugged.as_ref().map(|plugged| &plugged.words))?;
        if let Some(plugged) = &self.plugged {
            plugged.save_state(&mut to)?;
        }
        Ok(to.into_bytes())
    }

    fn state(&self, to: &mut Writer) -> Result<(), StateError> {
        let Self {
            config: _,
            memory: _,
            clock,
            radios,
            wired,
            plugged: _,
            actions,
            line,
            reached_ns,
            ended,
            stops,
            counted,
        } = self;
        radios.save(to)?;
        wired.save(to)?;
        to.put(&(clock, actions, line, reached_ns))?;
        to.put(&(ended, stops, counted))
    }

    /// Continues as the one that was saved. The files of its device have to be in the folder of results as they were then.
    ///
    /// # Errors
    /// It is not such a state, or the device cannot be made; this one is without a device then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut from = Reader::new(bytes);
        if from.take::<(String, u32)>()? != (STATE.0.to_owned(), STATE.1) {
            return Err(StateError::Other("it is of another version of txop".to_owned()));
        }
        self.radios.restore(&mut from)?;
        self.wired.restore(&mut from)?;
        (self.clock, self.actions, self.line, self.reached_ns) = from.take()?;
        (self.ended, self.stops, self.counted) = from.take()?;
        if let Some(words) = from.take::<Option<Vec<String>>>()? {
            let Ok(Command::Attach(mut args)) = parsed(&words) else {
                return Err(StateError::Other(format!("no device is asked for by {words:?}")));
            };
            args.surroundings.continued = true;
            let mut plugged = self.made(args, &words).map_err(|reply| StateError::Other(reply.text))?;
            plugged.restore_state(&mut from)?;
            self.plugged = Some(plugged);
        }
        from.end()
    }
}

impl Plugged {
    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        let Self { words: _, args: _, device, bus, before, present } = self;
        to.put(&(before, present))?;
        device.save_state(to)?;
        match bus {
            Bus::Usb(urbs) => urbs.save_state(to),
            Bus::Slot(slot) => slot.save(to),
            Bus::Pci => Ok(()),
        }
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        (self.before, self.present) = from.take()?;
        self.device.restore_state(from)?;
        match &mut self.bus {
            Bus::Usb(urbs) => urbs.restore_state(from),
            Bus::Slot(slot) => slot.restore(from),
            Bus::Pci => Ok(()),
        }
    }
}
