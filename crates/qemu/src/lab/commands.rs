//! What the guest asks for, and what comes of it.

use std::path::PathBuf;

use clap::Parser;
use monitor::Origin;
use vusb::assembly::DeviceArgs;
use vusb::device::Effect;
use vusb::fault::Script;
use vusb::machine::Machine;
use vusb::options::HostKind;
use vusb::session::Slot;
use vusb::urbs::{UrbCounters, Urbs};

use super::action::Action;
use super::plugged::{Bus, Plugged, WAITING_MAX};
use super::Lab;
use crate::clock::Clock;
use crate::request::{Command, Line, Reply, Request, LINE_MAX};

/// How long a device is away that is plugged in again.
const UNPLUGGED_MS: u64 = 1_000;
/// Files with counters that a guest may name.
const COUNTERS_MAX: usize = 32;

pub(super) fn parsed(words: &[String]) -> Result<Command, clap::Error> {
    let words = std::iter::once("control").chain(words.iter().map(String::as_str));
    Request::try_parse_from(words).map(|request| request.command)
}

impl Lab {
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
            Command::Run => self.begin_run(),
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

    /// The run begins for which the guest was restored.
    fn begin_run(&mut self) -> Reply {
        let Some(run) = &mut self.config.run else { return Reply::failed(3, "this guest was not restored for a run") };
        // Once: a guest may ask again, and what goes wrong has begun then.
        let faults = match run.faults.take().as_deref().map(Script::parse).transpose() {
            Ok(script) => script,
            Err(what) => return Reply::failed(2, format!("the faults of the run: {what}")),
        };
        let (seed, loss, words) = (run.seed, run.loss, run.script.clone());
        if faults.as_ref().is_some_and(Script::is_about_ap) {
            return Reply::failed(2, "the faults of the run: the access point is as it was saved");
        }
        if faults.is_some() && self.plugged.is_none() {
            return Reply::failed(1, "no device is plugged in");
        }
        if let Some(plugged) = &mut self.plugged {
            // A device that draws nothing says no.
            plugged.device.inject(self.reached_ns, Effect::Reseed(seed, loss));
        }
        if let Some(script) = faults {
            self.plugged = self.plugged.take().map(|plugged| plugged.with_faults(script, self.reached_ns));
        }
        Reply::done(words)
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
    pub(super) fn made(&self, mut args: Box<DeviceArgs>, words: &[String]) -> Result<Plugged, Reply> {
        let wrong = |error: crate::config::PathError| Reply::failed(2, error.to_string());
        let around = &mut args.surroundings;
        for path in [&mut around.usb, &mut around.command_log, &mut around.trace, &mut around.air, &mut around.stats] {
            if let Some(name) = path.take() {
                *path = Some(self.config.written(&name).map_err(wrong)?);
            }
        }
        for path in [&mut around.efuse, &mut around.faults, &mut around.replies] {
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
